#!/usr/bin/env python3
"""run.py BERGLINE ROOT [--update] [FILE…]: the commands that the documents show, with what they print.

In README.md and docs/ a block

    ```console
    $ bergline …
    what it prints
    ```

is run on a terminal, line by line, in a scratch copy of the sample (examples/sample) with tests/fixtures/tables beside it, and what
it prints is compared. A line … stands for any lines. Where the text ends with an error line the command must fail, else it must not.
A block of C that begins with the comment /* examples/NAME.c must be that file; ./NAME in a console block is that program.
Links to other files must lead somewhere.
--update writes what came out into the documents; read the difference before it is committed."""
import fcntl
import glob
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

BLOCK = re.compile(r'^```(console|c)\n(.*?)^```$', re.M | re.S)
LINK = re.compile(r'\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)')
# What LeakSanitizer says of a thread that is ending when the program is: no finding.
ENDING = re.compile(r'==\d+==Running thread \d+ was not suspended\. False leaks are possible\.$')
C_FILE = re.compile(r'/\* (examples/\w+\.c)\b')


def scratch_copy(program, root, folder):
    os.makedirs(os.path.join(folder, 'bin'))
    os.symlink(program, os.path.join(folder, 'bin', 'bergline'))
    for path in glob.glob(os.path.join(os.path.dirname(program), 'examples', 'example_*')):
        if os.access(path, os.X_OK) and os.path.isfile(path):
            os.symlink(path, os.path.join(folder, os.path.basename(path)[len('example_'):]))
    shutil.copytree(os.path.join(root, 'examples', 'sample'), os.path.join(folder, 'examples', 'sample'))
    os.makedirs(os.path.join(folder, 'tests', 'fixtures'))
    os.symlink(os.path.join(root, 'tests', 'fixtures', 'tables'), os.path.join(folder, 'tests', 'fixtures', 'tables'))


def on_terminal(line, folder):
    """(exit status, lines) of a command line with its output and errors on a terminal, 250 columns wide."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 250, 0, 0))
    environment = {'PATH': os.path.join(folder, 'bin') + ':/usr/bin:/bin', 'HOME': folder, 'TERM': 'xterm', 'LANG': 'C.UTF-8'}
    for name in ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS', 'ARROW_DEFAULT_MEMORY_POOL'):
        if name in os.environ:
            environment[name] = os.environ[name]
    p = subprocess.Popen(['/bin/sh', '-c', line], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    data = b''
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not more:
            break
        data += more
    os.close(ours)
    text = data.decode('utf-8', 'backslashreplace').replace('\r\n', '\n')
    return p.wait(), [s.rstrip() for s in text.splitlines() if not ENDING.match(s)]


def steps(text):
    """[(command line, expected lines)] of a console block; a command goes on behind a backslash."""
    found = []
    for line in text.splitlines():
        if found and not found[-1][1] and found[-1][0].endswith('\\'):
            found[-1][0] += '\n' + line
        elif line.startswith('$ '):
            found.append([line[2:], []])
        elif found:
            found[-1][1].append(line.rstrip())
    return found


def matches(want, got):
    if '…' not in want:
        return want == got
    head, tail = want[:want.index('…')], want[want.index('…') + 1:]
    if got[:len(head)] != head:
        return False
    return not tail or any(matches(tail, got[i:]) for i in range(len(head), len(got) + 1))


def check_step(where, line, want, folder):
    """The lines that the command gives where they are not as wanted, else None"""
    status, got = on_terminal(line, folder)
    fails = any(s.startswith('bergline: error: ') for s in got)
    if (status != 0) != fails:
        print('FAIL %s: %s: exit status %d' % (where, line, status))
        print('\n'.join('  ' + s for s in got[-5:]))
    elif not matches(want, got):
        print('FAIL %s: %s' % (where, line))
        for i in range(max(len(want), len(got))):
            a, b = (x[i] if i < len(x) else '(end)' for x in (want, got))
            if a != b:
                print('  line %d\n  document: %s\n  program:  %s' % (i + 1, a[:250], b[:250]))
                break
    else:
        return None
    return got


def check_source(where, text, root):
    name = C_FILE.match(text)
    if not name:
        return None
    with open(os.path.join(root, name[1]), encoding='utf-8') as f:
        source = f.read()
    if source == text:
        return None
    print('FAIL %s: it is not what %s holds' % (where, name[1]))
    return source


def check_links(path, name, text):
    """(passed, failed)"""
    links = sorted(set(LINK.findall(BLOCK.sub('', text))))
    broken = [link for link in links if not os.path.exists(os.path.join(os.path.dirname(path), link))]
    for link in broken:
        print('FAIL %s: a link to nothing: %s' % (name, link))
    return len(links) - len(broken), len(broken)


def check_file(path, program, root, update):
    """(passed, failed)"""
    with open(path, encoding='utf-8') as f:
        text = f.read()
    name = os.path.relpath(path, root)
    counts = list(check_links(path, name, text))

    def block(match):
        where = '%s:%d' % (name, text.count('\n', 0, match.start()) + 1)
        if match[1] == 'c':
            source = check_source(where, match[2], root)
            counts[source is not None] += 1 if C_FILE.match(match[2]) else 0
            return match[0] if source is None else '```c\n%s```' % source
        lines = []
        for line, want in steps(match[2]):
            got = check_step(where, line, want, folder)
            counts[got is not None] += 1
            lines += ['$ ' + line] + (want if got is None else got)
        return '```console\n%s\n```' % '\n'.join(lines)

    with tempfile.TemporaryDirectory() as folder:
        scratch_copy(program, root, folder)
        new = BLOCK.sub(block, text)
    if update and new != text:
        with open(path, 'w', encoding='utf-8') as f:
            f.write(new)
    return counts


def main():
    args = [a for a in sys.argv[1:] if a != '--update']
    program, root = os.path.abspath(args[0]), os.path.abspath(args[1])
    files = args[2:] or [os.path.join(root, 'README.md')] + sorted(glob.glob(os.path.join(root, 'docs', '**', '*.md'), recursive=True))
    passed = failed = 0
    for path in files:
        good, bad = check_file(os.path.abspath(path), program, root, '--update' in sys.argv)
        passed, failed = passed + good, failed + bad
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
