#!/usr/bin/env python3
"""man_pages.py BERGLINE FOLDER: writes the man pages of the program and of each command that its --help names."""
import os
import re
import shutil
import subprocess
import sys


def run(program, *args):
    return subprocess.run([program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout


def main():
    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    commands = re.findall(r'^  ([a-z][a-z-]*) ', run(program, '--help').decode(), re.M)
    for page, name in [('bergline', 'bergline')] + [('bergline-' + c, c) for c in commands]:
        with open(os.path.join(folder, page + '.1'), 'wb') as f:
            f.write(run(program, 'help', '--man', name))


if __name__ == '__main__':
    sys.exit(main())
