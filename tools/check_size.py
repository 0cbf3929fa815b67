#!/usr/bin/env python3
"""check_size.py ROOT: no file over 1,500 lines, no function of src/ over 120. With --long: the 20 longest functions."""
import re
import sys

import source

MOST_LINES, MOST_FUNCTION = 1500, 120
# A line at the margin that opens a body, and is not a type, a namespace or an initialiser.
OPENS = re.compile(r'^[A-Za-z_][^;={}]*\)[^;={}]*\{\s*$')
CONTINUES = re.compile(r'^\s+[^;={}]*\)[^;={}]*\{\s*$')
HEAD = re.compile(r'^[A-Za-z_][^;={}]*\([^;={}]*$')


def functions(content):
    """(first line, lines, head) of each function whose body ends with a brace at the margin."""
    lines = source.code(content).split('\n')
    original = content.split('\n')
    start = head = None
    for i, line in enumerate(lines):
        if start is None:
            if HEAD.match(line):
                head = i
            if OPENS.match(line):
                start = i
            elif head is not None and CONTINUES.match(line):
                start = head
            elif line.endswith((';', '}')):
                head = None
        elif line.startswith('}'):
            yield start + 1, i - start + 1, original[start]
            start = head = None


def main():
    root = sys.argv[1]
    faults, all_functions = [], []
    for path in source.files(root, ['src', 'include', 'tests', 'fuzz', 'tools', 'bench', 'examples'],
                             ('.c', '.h', '.cc', '.py', '.sh')):
        content = source.text(root, path)
        n = content.count('\n')
        if n > MOST_LINES:
            faults.append(f'{path}: {n} lines, {MOST_LINES} at most')
        if path.startswith('src/') and not path.endswith('.py'):
            all_functions += [(n, path, line, head) for line, n, head in functions(content)]
    faults += [f'{path}:{line}: a function of {n} lines, {MOST_FUNCTION} at most: {head}'
               for n, path, line, head in all_functions if n > MOST_FUNCTION]
    if '--long' in sys.argv:
        for n, path, line, head in sorted(all_functions, reverse=True)[:20]:
            print(f'{n:4} {path}:{line}: {head}')
    if all_functions:
        lengths = sorted(n for n, *_ in all_functions)
        print(f'{len(lengths)} functions, median {lengths[len(lengths) // 2]} lines, longest {lengths[-1]}')
    return source.report('size', faults)


if __name__ == '__main__':
    sys.exit(main())
