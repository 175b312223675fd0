"""Arrays in the memory of a device."""

import math

import numpy as np

from . import _core
from ._complex_memory import as_pairs, device_memory
from ._core import Device
from ._devices import open_device
from ._files._open import is_file, opened

_DLPACK_CUDA, _DLPACK_OPENCL = 2, 4
_LEGACY_STREAM = 1  # CUDA's default stream, as DLPack and the CUDA array interface name it


class DeviceArray:
    """A C-contiguous array in the memory of a device.

    :func:`to_device` makes one. Functions of the package take it and return another one, without
    copies. Interpolation functions do not wait for the device; registrations do. On CUDA, it
    supports DLPack and the CUDA array interface, so that CuPy, PyTorch and JAX take it directly.

    Attributes
    ----------
    shape : tuple of ints
    dtype : numpy.dtype
    ndim, size, nbytes : int
        As for NumPy arrays.
    device : Device
        The device that holds the array.
    handle : int
        The address on the device; on OpenCL, the ``cl_mem``.
    """

    __slots__ = ("__weakref__", "_keep", "_kind", "_memory", "_native", "_queue", "dtype", "shape")

    def __init__(self, memory, *, kind=None, native=None, keep=None, queue=None):
        self._memory = memory
        self._kind = kind  # the kind of the array's library; None: this package
        self._native = native  # that library's array object
        self._keep = keep  # another object that must stay alive as long as the memory
        self._queue = queue  # the queue that work on the array goes to; None: the device's own
        self.dtype = memory.dtype
        self.shape = memory.shape

    @property
    def device(self) -> Device:
        return self._memory.device

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def handle(self) -> int:
        return self._memory.handle

    def numpy(self) -> np.ndarray:
        """Copy the array to the host.

        Returns
        -------
        ndarray
            The values, after waiting for the device to compute them.
        """
        values = np.empty(self.shape, self.dtype)
        self._memory.download(values, self._queue)
        return values

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("an array on a device cannot be read on the host with copy=False")
        values = self.numpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def _ordinal(self):
        return int(self.device.id.split(":")[1])

    def __dlpack_device__(self):
        kind = _DLPACK_CUDA if self.device.info.backend == "cuda" else _DLPACK_OPENCL
        return kind, self._ordinal()

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if self.device.info.backend != "cuda":
            raise BufferError(
                f"an array on {self.device.id} cannot be exported by DLPack, which does not "
                "describe the context and the queue of OpenCL; copy it to the host with numpy()")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(
                f"the array is on {self.device.id} and cannot be exported to another device")
        if copy:
            raise BufferError("exporting a copy is not supported; leave out copy=True")
        if stream not in (None, -1, _LEGACY_STREAM):
            _core.order_queues(self.device, self._queue, stream)
        return self._memory.capsule()

    @property
    def __cuda_array_interface__(self):
        if self.device.info.backend != "cuda":
            raise AttributeError(f"the array is on {self.device.id}, not on a CUDA device")
        return {
            "shape": self.shape, "typestr": self.dtype.str, "strides": None, "version": 3,
            "data": (self.handle, self._memory.read_only), "stream": _LEGACY_STREAM,
        }

    def __repr__(self):
        return f"<warpalign.DeviceArray {self.shape} {self.dtype} on {self.device.id}>"

    def __setitem__(self, index, source):
        """Support ``array[...] = source`` for an array of the same shape on the same device."""
        if index is not Ellipsis or not isinstance(source, DeviceArray):
            raise TypeError(
                "arrays on a device cannot be indexed; copy the array to the host with numpy()")
        copied, target = source._memory, self._memory
        if source.dtype.kind == self.dtype.kind == "c":
            copied, target = as_pairs(source), as_pairs(self)
        _core.copy_on_device(self.device, copied, target, self._queue)

    def _like(self, shape, dtype):
        """A new array of the same library, ordered with the same queue."""
        dtype = np.dtype(dtype)
        if self._kind is not None:
            return self._kind.empty(self, shape, dtype)
        return DeviceArray(device_memory(self.device, dtype.name, shape))


def to_device(array, device=None) -> DeviceArray:
    """Copy an array to a device.

    Parameters
    ----------
    array : array_like
        An array of any shape, or the path of a file, of type (u)int8, (u)int16, (u)int32, float16,
        float32, float64, complex64 or complex128. Functions compute the parts of complex128 as
        arrays of float64, on devices that support double precision.
    device : Device or str, optional
        The device to copy to; see :func:`warpalign.open_device`.

    Returns
    -------
    DeviceArray
        The copy, of the array's shape and type.

    Raises
    ------
    TypeError
        The device does not support the array's type.

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> image = warpalign.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
    >>> warpalign.ndimage.shift(image, (0, 1), order=1).numpy()[0]
    array([0., 0., 1., 2.], dtype=float32)
    """
    array = np.asarray(opened(array) if is_file(array) else array)
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
    memory = device_memory(open_device(device), array.dtype.name, array.shape)
    memory.upload(array)
    return DeviceArray(memory)
