"""Memory of complex128 samples on a device, for which the library has no type: pairs of float64."""

import numpy as np

from . import _core


class Complex128Memory:
    """The same interface as the library's DeviceMemory."""

    dtype = np.dtype(np.complex128)

    def __init__(self, pairs, shape):
        self._pairs = pairs
        self.shape = tuple(shape)

    @property
    def device(self):
        return self._pairs.device

    @property
    def read_only(self):
        return self._pairs.read_only

    @property
    def handle(self):
        return self._pairs.handle

    def view(self, dtype, shape, offset=0):
        return self._pairs.view(dtype, shape, offset)

    def upload(self, values, queue=None):
        self._pairs.upload(values.reshape(-1).view(np.float64), queue)

    def download(self, values, queue=None):
        self._pairs.download(values.reshape(-1).view(np.float64), queue)

    def capsule(self):
        raise BufferError("arrays of complex128 cannot be exported by DLPack; use the CUDA array "
                          "interface, or convert them to complex64")


def device_memory(device, dtype, shape, *where):
    """Memory on a device for samples of a type, by its name: new, or at a handle, with an offset
    in bytes, and whether it is read-only. Raises TypeError for an unsupported type."""
    if dtype != "complex128":
        return _core.DeviceMemory(device, dtype, list(shape), *where)
    return Complex128Memory(_core.DeviceMemory(device, "float64", [*shape, 2], *where), shape)


def as_pairs(array):
    """A view of a complex DeviceArray's memory as real and imaginary parts."""
    real = "float64" if array.dtype == np.complex128 else "float32"
    return array._memory.view(real, [*array.shape, 2])
