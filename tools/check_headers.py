#!/usr/bin/env python3
"""check_headers.py ROOT CC CXX: every public header compiles alone, as C11 and as C++11, without a warning."""
import subprocess
import sys

import source


def main():
    root, cc, cxx = sys.argv[1:4]
    faults = []
    for path in source.files(root, ['include'], ('.h',)):
        name = path[len('include/'):]
        for compiler, language, standard in ((cc, 'c', 'c11'), (cxx, 'c++', 'c++11')):
            command = compiler.split() + ['-x', language, '-std=' + standard, '-pedantic', '-Wall', '-Wextra', '-Werror',
                                          '-fsyntax-only', '-I', root + '/include', '-']
            done = subprocess.run(command, input=f'#include "{name}"\n', capture_output=True, text=True)
            if done.returncode != 0:
                faults.append(f'{path} as {standard}:\n{done.stderr}')
    return source.report('headers', faults)


if __name__ == '__main__':
    sys.exit(main())
