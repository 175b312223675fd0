"""Arrays of other libraries: recognizes them, and converts inputs and results."""

import contextlib

import numpy as np

from ._device_array import DeviceArray
from ._devices import open_device, set_device_of_array
from ._files._open import is_file, opened

# DLPack's device types.
_HOST, _CUDA, _PINNED, _MANAGED = 1, 2, 3, 13


class OwnKind:
    """DeviceArrays, the package's own arrays."""

    @staticmethod
    @contextlib.contextmanager
    def as_input(array, device):
        check_device(array.device, device)
        yield array

    @staticmethod
    def as_output(result):
        return result

    @staticmethod
    def output(array, like):
        return array

    @staticmethod
    def points(array, like):
        raise TypeError("coordinates for an input of this type must be a NumPy array")

    @staticmethod
    def to_numpy(array):
        return array.numpy()


class HostKind:
    """Arrays in host memory that support DLPack, such as PyTorch's on the CPU."""

    def __init__(self, give):
        self._give = give

    @contextlib.contextmanager
    def as_input(self, array, device):
        yield np.from_dlpack(array)

    def as_output(self, result):
        return self._give(result)

    @staticmethod
    def to_numpy(array):
        return np.from_dlpack(array)


def check_device(opened, device):
    """Raise ValueError if `device` is given and the array is on another one."""
    if device is None:
        return
    wanted = open_device(device)
    if wanted is not opened and (wanted.id != opened.id or wanted.id.startswith("opencl")):
        raise ValueError(
            f"the array is on {opened.id}, but device selects {wanted.id}; leave out device, or "
            "copy the array there")


def _library(array):
    return type(array).__module__.partition(".")[0]


def _from_dlpack_of(array):
    """The from_dlpack function of the array's library, or None."""
    if _library(array) == "torch":
        import torch

        return torch.from_dlpack
    namespace = getattr(array, "__array_namespace__", None)
    if namespace is None:
        return None
    return getattr(namespace(), "from_dlpack", None)


def _by_dlpack(array):
    """The kind of an array that supports DLPack."""
    is_deleted = getattr(array, "is_deleted", None)  # JAX: avoids a confusing TypeError below
    if is_deleted is not None and is_deleted():
        raise RuntimeError("the array has been deleted")
    device_type = array.__dlpack_device__()[0]
    if device_type in (_HOST, _PINNED):
        give = _from_dlpack_of(array)
        return None if give is None else HostKind(give)
    if device_type in (_CUDA, _MANAGED):
        from ._cuda_arrays import kind_of_cuda

        return kind_of_cuda(array, _library(array), _from_dlpack_of(array))
    raise TypeError(
        f"arrays on devices of DLPack's type {int(device_type)} are not supported; pass an array "
        "in host memory or on a CUDA device")


def kind_of(array):
    """The kind of an array of another library or on a device; None for anything NumPy converts."""
    if isinstance(array, (np.ndarray, np.generic, list, tuple, int, float)) or is_file(array):
        return None
    if isinstance(array, DeviceArray):
        return array._kind or OwnKind
    if _library(array) == "pyopencl" and hasattr(array, "base_data"):
        from ._opencl_arrays import PyopenclKind

        return PyopenclKind
    if hasattr(array, "__dlpack_device__"):
        return _by_dlpack(array)
    if hasattr(array, "__cuda_array_interface__"):
        from ._cuda_arrays import InterfaceKind

        return InterfaceKind()
    return None


def is_on_device(array):
    """Whether the array is in the memory of a device."""
    kind = kind_of(array)
    return kind is not None and not isinstance(kind, HostKind)


def as_array(array):
    """The array itself if its library is supported, else a NumPy array of it or of its file."""
    if is_file(array):
        return np.asarray(opened(array))
    return np.asarray(array) if kind_of(array) is None else array


def warpable(image, nodata, missing, ndim=2):
    """An image as results warp it, its first `ndim` axes being those of space, and the value of its
    missing samples. Of a file, `nodata` is by default the file's."""
    if not is_file(image):
        return as_array(image), nodata
    file = opened(image)
    if nodata is None and missing != "spread":
        nodata = file._nodata_of(file.dtype)
    return file._warpable(ndim), nodata


def as_input(array, device=None):
    """A context that gives the array as a NumPy array or as a DeviceArray on its device."""
    return kind_of(array).as_input(array, device)


def to_numpy(array):
    """The array, or that of a file, as a NumPy array in host memory."""
    if is_file(array):
        return np.asarray(opened(array))
    kind = kind_of(array)
    return np.asarray(array) if kind is None else kind.to_numpy(array)


def _device_of(array):
    if not is_on_device(array):
        raise TypeError(
            f"device must be a name, a Device or an array on a device, not {type(array).__name__}")
    with as_input(array) as view:
        return view.device


set_device_of_array(_device_of)
