#!/usr/bin/env python3
"""run.py BERGLINE ROOT [--update] [CASE…]: golden cases of the program.

A case is a folder here with `cmd`: one command line a line, as a shell would split it, without the program's name; a line
may begin with NAME=VALUE words for its environment. It runs in ROOT, so that paths in it are relative. What comes out of
all its lines, in order, is compared with `expected`: the exit status where it is not 0, stdout, then stderr with "! " before
each line. --update writes what came out; read the difference before it is committed."""
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CLEAN = ('BERGLINE_CONFIG', 'PYICEBERG_HOME', 'HOME', 'LC_ALL', 'LANG', 'TZ')


def run_line(program, root, line):
    words = shlex.split(line)
    env = {k: v for k, v in os.environ.items() if k not in CLEAN}
    while words and '=' in words[0] and not words[0].startswith('-'):
        name, value = words.pop(0).split('=', 1)
        env[name] = value
    p = subprocess.run([program] + words, cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=60)
    out = ['$ ' + line]
    if p.returncode:
        out.append('exit %d' % p.returncode)
    out += p.stdout.decode('utf-8', 'backslashreplace').splitlines()
    out += ['! ' + s for s in p.stderr.decode('utf-8', 'backslashreplace').splitlines()]
    return out


def run_case(program, root, name):
    with open(os.path.join(HERE, name, 'cmd'), encoding='utf-8') as f:
        lines = [s.strip() for s in f if s.strip() and not s.startswith('#')]
    out = []
    for line in lines:
        out += run_line(program, root, line)
    return '\n'.join(out) + '\n'


def first_difference(want, got):
    a, b = want.splitlines(), got.splitlines()
    for i in range(max(len(a), len(b))):
        x = a[i] if i < len(a) else '(end)'
        y = b[i] if i < len(b) else '(end)'
        if x != y:
            return 'line %d\n  expected %s\n  got      %s' % (i + 1, x[:300], y[:300])
    return ''


def main():
    args = [a for a in sys.argv[1:] if a != '--update']
    update = '--update' in sys.argv
    program, root, names = os.path.abspath(args[0]), args[1], args[2:]
    names = names or sorted(n for n in os.listdir(HERE) if os.path.exists(os.path.join(HERE, n, 'cmd')))
    failed = 0
    for name in names:
        got = run_case(program, root, name)
        path = os.path.join(HERE, name, 'expected')
        want = open(path, encoding='utf-8').read() if os.path.exists(path) else ''
        if update:
            with open(path, 'w', encoding='utf-8') as f:
                f.write(got)
        elif got != want:
            failed += 1
            print('FAIL %s: %s' % (name, first_difference(want, got)))
    print('%d passed, %d failed' % (len(names) - failed, failed))
    return 1 if failed or not names else 0


if __name__ == '__main__':
    sys.exit(main())
