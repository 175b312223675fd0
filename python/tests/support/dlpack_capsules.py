"""DLPack capsules made by hand, for arrays on devices that this machine does not have."""

import ctypes

import numpy as np

HOST, CUDA, ROCM = 1, 2, 10
INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6
READ_ONLY = 1

_CODES = {"i": INT, "u": UINT, "f": FLOAT, "c": COMPLEX, "b": BOOL}


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", _Deleter), ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


_alive = {}


def alive():
    """The number of tensors that were exported and not deleted."""
    return len(_alive)


def capsule(address, shape, dtype, *, device=(CUDA, 0), strides=None, read_only=False, code=None,
            lanes=1):
    """Make a capsule of DLPack 1.0. The memory at the address is not accessed."""
    dtype = np.dtype(dtype)
    managed = _Managed(major=1, minor=0, flags=READ_ONLY if read_only else 0)
    extents = (ctypes.c_int64 * len(shape))(*shape)
    steps = None if strides is None else (ctypes.c_int64 * len(shape))(*strides)
    code = _CODES[dtype.kind] if code is None else code
    managed.tensor = _Tensor(
        data=address, device_type=device[0], device_id=device[1], ndim=len(shape), code=code,
        bits=8 * dtype.itemsize, lanes=lanes, shape=extents, strides=steps)
    key = ctypes.addressof(managed)
    managed.deleter = _Deleter(lambda pointer: _alive.pop(pointer) and None)
    _alive[key] = managed, extents, steps
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(key, b"dltensor_versioned", None)


class Tensor:
    """An array of a library that supports only DLPack."""

    def __init__(self, address, shape, dtype, **keywords):
        self._made = (address, shape, dtype), keywords
        self.shape, self.ndim = tuple(shape), len(shape)
        self.streams = []

    def __dlpack_device__(self):
        return self._made[1].get("device", (CUDA, 0))

    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        return capsule(*self._made[0], **self._made[1])
