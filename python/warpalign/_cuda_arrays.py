"""Arrays of other libraries on CUDA devices."""

import contextlib

import numpy as np

from . import _core
from ._complex_memory import device_memory
from ._device_array import DeviceArray
from ._devices import open_device

_ALIGNMENT = 16  # bytes; the library requires addresses to be multiples of it
_LEGACY_STREAM = 1


def _capsule(array, stream):
    try:
        return array.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # an older library does not have max_version
        return array.__dlpack__(stream=stream)


def _id_of(opened):
    return opened.id


def _wrong_device(where, wanted):
    return ValueError(
        f"the array is on {where}, but device selects {wanted.id}; leave out device, or copy the "
        "array there")


def _opened(ordinal, device):
    """Open the device of an array. Raises ValueError if `device` selects another one."""
    if device is not None:
        wanted = open_device(device)
        if _id_of(wanted) == f"cuda:{ordinal}":
            return wanted
        raise _wrong_device(f"cuda:{ordinal}", wanted)
    return open_device(f"cuda:{ordinal}")


def _view(array, tensor, device, queue, kind):
    """A DeviceArray over the memory that a DLPack tensor describes."""
    if not tensor.contiguous:
        raise ValueError("an array on a device must be C-contiguous; make a contiguous copy")
    opened = _opened(tensor.device[1], device)
    memory = device_memory(
        opened, tensor.dtype, tensor.shape, tensor.address, 0, tensor.read_only)
    return DeviceArray(memory, kind=kind, native=array, keep=tensor, queue=queue)


class _StreamKind:
    """A library with a current stream, which orders all work. A call may return before its result
    is computed, and the caller may reuse the memory at once."""

    @classmethod
    @contextlib.contextmanager
    def as_input(cls, array, device):
        with cls.active(array):
            yield cls.view(cls.dense(array), device)

    @classmethod
    def view(cls, array, device):
        queue = cls.stream(array)
        tensor = _core.DlpackTensor(_capsule(array, -1))
        return _view(array, tensor, device, queue, cls)

    @classmethod
    def output(cls, array, like):
        view = cls.view(array, like.device)
        if view.device is not like.device:
            raise ValueError(
                f"the output is on {view.device.id}, but the input is on {like.device.id}")
        return view

    @classmethod
    def empty(cls, like, shape, dtype):
        return cls.view(cls.new(like._native, tuple(shape), dtype), like.device)

    @staticmethod
    def as_output(result):
        return result._native


class CupyKind(_StreamKind):
    """CuPy's arrays, ordered with its current stream."""

    @staticmethod
    def active(array):
        return array.device  # a context that makes this device the current one

    @staticmethod
    def stream(array):
        import cupy

        return cupy.cuda.get_current_stream(array.device.id).ptr

    @staticmethod
    def dense(array):
        import cupy

        array = cupy.ascontiguousarray(array)
        return array if array.data.ptr % _ALIGNMENT == 0 else array.copy()

    @staticmethod
    def new(like, shape, dtype):
        import cupy

        return cupy.empty(shape, dtype)

    @classmethod
    def points(cls, array, like):
        """Coordinates in float32 with the last row first."""
        import cupy

        return cls.view(cupy.ascontiguousarray(array[::-1], dtype=np.float32), like.device)

    @staticmethod
    def to_numpy(array):
        return array.get()


class TorchKind(_StreamKind):
    """PyTorch's tensors, ordered with its current stream."""

    @staticmethod
    def active(array):
        import torch

        return torch.cuda.device(array.device)

    @staticmethod
    def stream(array):
        import torch

        return torch.cuda.current_stream(array.device).cuda_stream

    @staticmethod
    def dense(array):
        array = array.contiguous()
        return array if array.data_ptr() % _ALIGNMENT == 0 else array.clone()

    @staticmethod
    def new(like, shape, dtype):
        import torch

        return torch.empty(shape, dtype=getattr(torch, dtype.name), device=like.device)

    @classmethod
    def points(cls, array, like):
        """Coordinates in float32 with the last row first."""
        import torch

        return cls.view(array.flip(0).to(torch.float32).contiguous(), like.device)

    @staticmethod
    def to_numpy(array):
        return array.cpu().numpy()


class _WaitingKind:
    """A library that does not expose its streams. Work runs on CUDA's default stream, and calls
    wait for it to finish, because nothing else would keep the arrays alive until then."""

    @contextlib.contextmanager
    def as_input(self, array, device):
        view = self.view(array, device)
        try:
            yield view
        finally:
            _core.finish_queue(view.device, None)

    def output(self, array, like):
        return self.view(array, like.device)

    @staticmethod
    def empty(like, shape, dtype):
        return DeviceArray(device_memory(like.device, dtype.name, shape))

    def as_output(self, result):
        return result if result._native is None else result._native

    def points(self, array, like):
        raise TypeError("coordinates for an input of this type must be a NumPy array")


class InterfaceKind(_WaitingKind):
    """Arrays that support only the CUDA array interface. Results are DeviceArrays."""

    def view(self, array, device):
        interface = array.__cuda_array_interface__
        if interface.get("mask") is not None:
            raise TypeError("arrays with a mask are not supported; pass the data without the mask")
        dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
        if not _is_dense(shape, interface.get("strides"), dtype.itemsize):
            raise ValueError("an array on a device must be C-contiguous; make a contiguous copy")
        opened = open_device("cuda" if device is None else device)
        if not _id_of(opened).startswith("cuda:"):
            raise _wrong_device("a CUDA device", opened)
        address, read_only = interface["data"]
        memory = device_memory(opened, dtype.name, shape, address, 0, read_only)
        stream = interface.get("stream")
        if stream not in (None, _LEGACY_STREAM):
            _core.order_queues(opened, stream, None)
        return DeviceArray(memory, kind=self, native=array)

    def to_numpy(self, array):
        return self.view(array, None).numpy()


class NamespaceKind(_WaitingKind):
    """Other libraries that support DLPack, such as JAX. Results are arrays of the library if its
    ``__array_namespace__`` has from_dlpack, else DeviceArrays."""

    def __init__(self, give):
        self._give = give

    def view(self, array, device):
        tensor = _core.DlpackTensor(_capsule(array, _LEGACY_STREAM))
        return _view(array, tensor, device, None, self)

    def as_output(self, result):
        if result._native is not None or self._give is None:
            return super().as_output(result)
        return self._give(result)

    def output(self, array, like):
        raise TypeError("arrays of this library cannot be written to; leave out output")

    def points(self, array, like):
        """Coordinates in float32 with the last row first."""
        if not hasattr(array, "__array_namespace__"):
            return super().points(array, like)
        names = array.__array_namespace__()
        return self.view(names.astype(names.flip(array, axis=0), names.float32), like.device)

    def to_numpy(self, array):
        return self.view(array, None).numpy()


def _is_dense(shape, strides, itemsize):
    if strides is None or 0 in shape:
        return True
    dense = itemsize
    for length, stride in zip(reversed(shape), reversed(strides)):
        if length != 1 and stride != dense:
            return False
        dense *= length
    return True


def kind_of_cuda(array, library, give):
    """The kind of an array that supports DLPack and is on a CUDA device."""
    if library == "cupy":
        return CupyKind
    if library == "torch":
        return TorchKind
    return NamespaceKind(give)
