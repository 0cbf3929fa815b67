"""examples/changes.py TABLE: every change of a table since its first snapshot, by libbergline, ctypes and pyarrow."""
import ctypes
import sys
from ctypes import byref, c_char, c_char_p, c_int, c_int64, c_void_p

import pyarrow

lib = ctypes.CDLL('libbergline.so.0')


class Error(ctypes.Structure):
    _fields_ = [('status', c_int), ('position', c_int64), ('message', c_char * 1000)]


class Stream(ctypes.Structure):  # the Arrow C stream
    _fields_ = [(name, c_void_p) for name in ('get_schema', 'get_next', 'get_last_error', 'release', 'private_data')]


def check(status, error):
    if status:
        raise RuntimeError(error.message.decode())


def main(path):
    context, table, stream, error = c_void_p(), c_void_p(), Stream(), Error()
    check(lib.bl_ctx_new(None, byref(context), byref(error)), error)
    check(lib.bl_table_open(context, c_char_p(path.encode()), None, byref(table), byref(error)), error)
    check(lib.bl_changes(table, None, byref(stream), byref(error)), error)
    for batch in pyarrow.RecordBatchReader._import_from_c(ctypes.addressof(stream)):
        for row in batch.to_pylist():
            print(row)
    # A table outlives its streams, a context all that came from it, batches too: both stay until the program ends.


if __name__ == '__main__':
    main(sys.argv[1])
