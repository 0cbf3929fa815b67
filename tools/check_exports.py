#!/usr/bin/env python3
"""check_exports.py ROOT LIBRARY: the shared library exports the functions that include/bergline declares with BL_API, and nothing
else."""
import re
import subprocess
import sys

import source

DECLARED = re.compile(r'\bBL_API\b[^;(]*?\b(bl_\w+)\s*\(')


def main():
    root, library = sys.argv[1:3]
    out = subprocess.run(['nm', '-D', '--defined-only', library], check=True, capture_output=True, text=True).stdout
    exported = {line.split()[-1].split('@')[0] for line in out.splitlines() if line.split()[-2] != 'A'}
    declared = set()
    for path in source.files(root, ['include'], ('.h',)):
        declared |= set(DECLARED.findall(source.code(source.text(root, path))))
    faults = [f'{name}: exported, but in no public header' for name in sorted(exported - declared)]
    faults += [f'{name}: declared in a public header, but not exported' for name in sorted(declared - exported)]
    return source.report('exports', faults)


if __name__ == '__main__':
    sys.exit(main())
