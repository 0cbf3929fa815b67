#!/usr/bin/env python3
"""check_banned.py ROOT: calls that the code does without.

EVERYWHERE holds for all of src/ and examples/; CORE for the library without src/base and the C++ of src/edge/arrow. A line may
say why it must: a comment with the word "banned-ok:" and the reason."""
import re
import sys

import source

EVERYWHERE = {
    'gets': 'reads without a limit',
    'strcpy strcat sprintf vsprintf strncpy strncat stpcpy': 'writes without a limit: bl_buf, bl_asprintf, snprintf',
    'atoi atol atoll atof sscanf fscanf scanf strtol strtoll strtoul strtoull strtof strtod strtold':
        'base/text.h reads numbers whole and without the locale',
    'strtok tmpnam tempnam mktemp alloca rand srand random srandom drand48': 'no state, no guessing',
    'localtime localtime_r mktime strftime strptime gmtime gmtime_r ctime asctime setlocale':
        'base/text.h has dates; no locale, no time zone',
    'system popen': 'no shell',
}
CORE = {
    'malloc calloc realloc reallocarray free strdup strndup asprintf vasprintf getline getdelim posix_memalign '
    'aligned_alloc open_memstream': 'memory comes through base/alloc.h',
    'time gettimeofday clock_gettime': 'bl_now_ms is the clock',
    'getrandom getentropy arc4random': 'bl_random is the source',
    'printf puts putchar perror vprintf': 'a library does not write to the terminal: bl_warn, bl_fail',
    'exit abort _exit quick_exit': 'a library does not end the program',
    'qsort qsort_r': 'bl_sort takes an empty array too',
    'signal sigaction': 'signals are the program\'s',
    'pthread_create': 'base/pool.h has threads',
}
# base/number.c feeds strtod digits and an exponent only; the rest of base is what the others must use.
EXCEPT = {'src/base/number.c': {'strtod', 'strtof'}}


def words(table):
    return {name: why for names, why in table.items() for name in names.split()}


def check(root, path, table):
    content = source.text(root, path)
    lines = content.split('\n')
    call = re.compile(r'(?<![\w.>:])(' + '|'.join(table) + r')\s*\(')
    faults = []
    for number, line in enumerate(source.code(content).split('\n')):
        for name in call.findall(line):
            if name not in EXCEPT.get(path, ()) and 'banned-ok:' not in lines[number]:
                faults.append(f'{path}:{number + 1}: {name}: {table[name]}')
    return faults


def main():
    root = sys.argv[1]
    everywhere, core = words(EVERYWHERE), words(CORE)
    faults = []
    for path in source.files(root, ['src', 'examples'], ('.c', '.h', '.cc')):
        free = ('src/base/', 'src/edge/arrow/', 'src/cli/', 'examples/')
        faults += check(root, path, everywhere if path.startswith(free) else {**everywhere, **core})
    return source.report('banned', faults)


if __name__ == '__main__':
    sys.exit(main())
