"""source.py: what the law scripts share: the source files, and C without comments and strings."""
import os
import re

# Longest first: a comment or a literal is blanked, its line ends kept.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def files(root, folders, endings):
    """Paths relative to root, sorted."""
    found = []
    for folder in folders:
        for at, inner, names in os.walk(os.path.join(root, folder)):
            inner[:] = [d for d in inner if d != '__pycache__']
            found += [os.path.relpath(os.path.join(at, n), root) for n in names if n.endswith(endings)]
    return sorted(found)


def text(root, path):
    with open(os.path.join(root, path), encoding='utf-8', errors='replace') as f:
        return f.read()


def code(content):
    """The same number of lines without comments and the insides of literals."""
    return TOKEN.sub(lambda m: '\n' * m.group().count('\n') + ('""' if m.group()[0] in '"\'' else ' '), content)


def report(name, faults):
    for fault in faults:
        print(fault)
    print(f'{name}: {len(faults)} faults' if faults else f'{name}: ok')
    return 1 if faults else 0
