#!/usr/bin/env python3
"""check_layers.py ROOT: who may include whom (docs/architecture.md).

A floor includes itself, the floors named for it here, and include/bergline. The command line includes only
include/bergline, and public headers only public headers and the C standard library. Arrow C++ headers are
for src/edge/arrow alone."""
import os
import re
import sys

import source

CORE = ['base', 'model', 'format', 'table', 'rows', 'scan']
ALLOWED = {name: CORE[:i] for i, name in enumerate(CORE)}
ALLOWED.update({
    'changes': CORE,
    'inspect': CORE + ['changes'],
    'write': CORE,
    'verify': CORE + ['changes'],
    'maintain': CORE + ['changes', 'write', 'verify'],
    'edge': ['base', 'model', 'format', 'table', 'rows'],
    'edge/arrow': ['base', 'model', 'format', 'rows', 'edge'],
    'cli': [],
})
# The C face of Arrow's compute kernels and writers is plain structs and functions: no vtable stands between.
FACES = {'edge/arrow/arrow_edge.h': ['rows', 'scan', 'changes', 'inspect', 'write', 'verify', 'maintain', 'edge']}
C_HEADERS = {'errno.h', 'stdarg.h', 'stdbool.h', 'stddef.h', 'stdint.h'}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def floor_of(folder):
    """src/edge/arrow/x -> edge/arrow; src/scan/y -> scan"""
    parts = folder.split('/')
    return '/'.join(parts[:2]) if parts[:2] == ['edge', 'arrow'] else parts[0]


def check_floor(root, path):
    inner = os.path.relpath(path, 'src')
    floor = floor_of(os.path.dirname(inner))
    if floor not in ALLOWED:
        return [f'{path}: no floor is named "{floor}" (tools/check_layers.py)']
    faults = []
    for kind, name in INCLUDE.findall(source.text(root, path)):
        if kind == '<':
            if name.split('/')[0] in ('arrow', 'parquet') and floor != 'edge/arrow':
                faults.append(f'{path}: <{name}>: Arrow C++ is for src/edge/arrow only')
            continue
        if not name.endswith('.h'):
            faults.append(f'{path}: "{name}": only headers are included')
        elif name.startswith('bergline/'):
            if not os.path.exists(os.path.join(root, 'include', name)):
                faults.append(f'{path}: "{name}": no such public header')
        elif '/' in name:
            target = floor_of(os.path.dirname(name))
            if target != floor and target not in ALLOWED[floor] and floor not in FACES.get(name, ()):
                faults.append(f'{path}: "{name}": {floor} may not include {target}')
        elif not os.path.exists(os.path.join(root, os.path.dirname(path), name)):
            faults.append(f'{path}: "{name}": a header of another folder is named with its folder')
    return faults


def check_public(root, path):
    faults = []
    for kind, name in INCLUDE.findall(source.text(root, path)):
        if kind == '<' and name not in C_HEADERS:
            faults.append(f'{path}: <{name}>: public headers include only {", ".join(sorted(C_HEADERS))}')
        if kind == '"' and not (name.startswith('bergline/') and os.path.exists(os.path.join(root, 'include', name))):
            faults.append(f'{path}: "{name}": public headers include only public headers')
    return faults


def main():
    root = sys.argv[1]
    faults = []
    for path in source.files(root, ['src'], ('.c', '.h', '.cc')):
        faults += check_floor(root, path)
    for path in source.files(root, ['include'], ('.h',)):
        faults += check_public(root, path)
    return source.report('layers', faults)


if __name__ == '__main__':
    sys.exit(main())
