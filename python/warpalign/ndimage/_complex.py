"""Real and imaginary parts of complex arrays on a device, for what it computes of real arrays only.

The parts are moved by copies of nearest samples: seen as real, a complex array is an image of N
rows and 2 columns, and its parts are the transposed image of 2 rows.
"""

from dataclasses import replace

import numpy as np

from .. import _core
from .._device_array import DeviceArray
from . import _double

# Parts begin at multiples of so many bytes, which every OpenCL device accepts for a buffer within
# another one.
_ALIGNMENT = 4096
_MOST_SAMPLES = 2**31 - _ALIGNMENT
# Output (x, y) to input (y, x), row by row of a 4 x 4 matrix.
_TRANSPOSED = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]


class _Parts:
    """Memory for the real and the imaginary part of a complex array."""

    def __init__(self, array):
        if array.size > _MOST_SAMPLES:
            raise NotImplementedError(
                f"the array has {array.size} complex samples; a device computes the parts of up to "
                f"{_MOST_SAMPLES}; pass a NumPy array")
        self._array = array
        self._dtype = np.dtype(f"f{array.dtype.itemsize // 2}")
        step = _ALIGNMENT // self._dtype.itemsize
        self._length = -(-array.size // step) * step
        self._memory = _core.DeviceMemory(array.device, self._dtype.name, [2, self._length])

    def _interleaved(self):
        return self._array._memory.view(self._dtype.name, [self._array.size, 2])

    def _transpose(self, source, target):
        _core.transform_double_on_device(self._array.device, source, target, 2, _TRANSPOSED, 0,
                                         True, "constant", 0, False, self._array._queue)

    def read(self):
        """Take the parts from the array."""
        self._transpose(self._interleaved(), self._memory)
        return self

    def write(self):
        """Make the array of the parts."""
        self._transpose(self._memory, self._interleaved())

    def __iter__(self):
        for part in range(2):
            view = self._memory.view(self._dtype.name, list(self._array.shape),
                                     part * self._length * self._dtype.itemsize)
            yield DeviceArray(view, queue=self._array._queue)


def has_parts(source, output, in_double):
    """Whether results are computed by parts: the library has complex64 in single precision."""
    return source.dtype.kind == "c" and (
        in_double or np.complex128 in (source.dtype, output.dtype))


def by_parts(function, source, output):
    """Call function(part, its output, whether it is imaginary) for the parts of a complex array on
    a device, and store the results in `output`, which is complex, too."""
    _double.check_device(source.device)  # which moves samples, too
    results = _Parts(output)
    for imaginary, (part, result) in enumerate(zip(_Parts(source).read(), results)):
        function(part, result, bool(imaginary))
    results.write()


def evaluated_by_parts(function, source, output, spline):
    """by_parts() for function(part, its output, its spline). The value beyond the edges is real."""
    by_parts(lambda part, result, imaginary: function(
        part, result, replace(spline, cval=0.0) if imaginary else spline), source, output)
