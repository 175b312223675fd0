"""Arrays of pyopencl, processed on their own queue and in their own context."""

import atexit
import contextlib
import threading

import numpy as np

from . import _core
from ._complex_memory import device_memory
from ._device_array import DeviceArray
from ._devices import open_device

_MAX_CONTEXTS = 4
_opened: dict = {}  # maps (context, device) to the Device; the most recently used is last
_lock = threading.Lock()
atexit.register(_opened.clear)  # while the driver is still loaded


def _device_within(queue):
    """Open the queue's device within the queue's context. The Device keeps the context alive."""
    key = queue.context.int_ptr, queue.device.int_ptr
    with _lock:
        opened = _opened.pop(key, None) or _core.open_in_context("opencl", *key)
        _opened[key] = opened
        while len(_opened) > _MAX_CONTEXTS:
            del _opened[next(iter(_opened))]
        return opened


def _queue_of(array):
    if array.queue is None:
        raise ValueError("the array has no queue; set one with its method with_queue()")
    return array.queue


class PyopenclKind:
    """pyopencl's arrays. Calls return as soon as the work is enqueued on the array's queue."""

    @classmethod
    @contextlib.contextmanager
    def as_input(cls, array, device):
        yield cls.view(cls._dense(array), device)

    @staticmethod
    def _dense(array):
        """The array, or a copy if its offset is not aligned as OpenCL requires for buffers."""
        if array.offset == 0 or not array.flags.c_contiguous:
            return array
        bits = _queue_of(array).device.mem_base_addr_align
        return array if array.offset % (bits // 8) == 0 else array.copy()

    @classmethod
    def view(cls, array, device):
        import pyopencl

        if not array.flags.c_contiguous:
            raise ValueError("an array on a device must be C-contiguous; make a contiguous copy")
        queue = _queue_of(array)
        opened = _device_within(queue) if device is None else open_device(device)
        handle, read_only = 0, False
        if array.size:
            handle = array.base_data.int_ptr
            read_only = bool(array.base_data.flags & pyopencl.mem_flags.READ_ONLY)
        memory = device_memory(
            opened, array.dtype.name, array.shape, handle, array.offset, read_only)
        return DeviceArray(memory, kind=cls, native=array, queue=queue.int_ptr)

    @classmethod
    def output(cls, array, like):
        return cls.view(array, like.device)

    @classmethod
    def empty(cls, like, shape, dtype):
        import pyopencl.array

        native = like._native
        new = pyopencl.array.empty(native.queue, tuple(shape), dtype, allocator=native.allocator)
        return cls.view(new, like.device)

    @staticmethod
    def as_output(result):
        return result._native

    @classmethod
    def points(cls, array, like):
        """Coordinates in float32 with the last row first."""
        import pyopencl.array

        points = pyopencl.array.empty(_queue_of(array), array.shape, np.float32)
        for row in range(array.shape[0]):
            points[row] = array[array.shape[0] - 1 - row].astype(np.float32)
        return cls.view(points, like.device)

    @staticmethod
    def to_numpy(array):
        return array.get()
