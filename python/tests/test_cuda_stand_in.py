"""Tests of arrays of CuPy, PyTorch and JAX on a machine without CUDA.

Stand-ins for CuPy, and for a library with only an array namespace, keep their arrays in OpenCL
memory and claim that it is CUDA's. The extension module treats handles of both the same way.
tests/gpu tests the libraries themselves.
"""

import contextlib
import sys
import types

import dlpack_capsules as made
import numpy as np
import pytest

import warpalign
from warpalign import _core, _cuda_arrays, ndimage

cl = pytest.importorskip("pyopencl")


class Library:
    """The memory and the queue of a stand-in library, with a record of its calls."""

    def __init__(self, monkeypatch):
        from warpalign._opencl_arrays import _device_within

        names = {info.name for info in warpalign.backends()[1].devices}
        devices = [device for platform in cl.get_platforms() for device in platform.get_devices()
                   if device.name in names]
        if not devices:
            pytest.skip("pyopencl has none of warpalign's devices")
        self.queue = cl.CommandQueue(cl.Context(devices[:1]))
        self.device = _device_within(self.queue)
        self.streams = []
        monkeypatch.setattr(_cuda_arrays, "open_device", lambda name: self.device)
        monkeypatch.setattr(_cuda_arrays, "_id_of", lambda opened: "cuda:0")


class Array:
    """An array of the stand-in library."""

    library: Library

    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.ndim = tuple(shape), np.dtype(dtype), len(shape)
        self.memory = _core.DeviceMemory(self.library.device, self.dtype.name, list(shape))
        self.data = types.SimpleNamespace(ptr=self.memory.handle)
        self.device = _Active()

    @classmethod
    def of(cls, values):
        values = np.ascontiguousarray(values)
        new = cls(values.shape, values.dtype)
        new.memory.upload(values, cls.library.queue.int_ptr)
        return new

    def get(self):
        values = np.empty(self.shape, self.dtype)
        self.memory.download(values, self.library.queue.int_ptr)
        return values

    def __getitem__(self, index):
        return type(self).of(self.get()[index])

    def __dlpack_device__(self):
        return made.CUDA, 0

    def __dlpack__(self, *, stream=None, max_version=None):
        self.library.streams.append(stream)
        return made.capsule(self.memory.handle, self.shape, self.dtype)


class _Active(contextlib.nullcontext):
    id = 0


@pytest.fixture
def cupy(monkeypatch):
    """A stand-in for the module cupy."""
    library = Library(monkeypatch)
    array = type("ndarray", (Array,), {"__module__": "cupy", "library": library})
    module = types.ModuleType("cupy")
    stream = types.SimpleNamespace(ptr=library.queue.int_ptr)
    module.cuda = types.SimpleNamespace(get_current_stream=lambda ordinal: stream)
    module.ndarray, module.library = array, library
    module.asarray = array.of
    module.empty = array
    module.ascontiguousarray = lambda a, dtype=None: (
        a if dtype in (None, a.dtype) else array.of(a.get().astype(dtype)))
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


@pytest.fixture
def image(random):
    return random.random((30, 40)).astype(np.float32)


def test_cupy_in_cupy_out(cupy, image):
    before = made.alive()
    result = ndimage.rotate(cupy.asarray(image), 20)
    assert type(result) is cupy.ndarray
    np.testing.assert_array_equal(result.get(), ndimage.rotate(image, 20))
    # The work is on the library's own stream, so no wait was requested.
    assert set(cupy.library.streams) == {-1}
    assert made.alive() == before


def test_cupy_is_not_copied(cupy, image, monkeypatch):
    handles = []
    original = _core.transform_on_device

    def noted(device, images, output, dimensions, matrix, spline, queue):
        handles.extend([images.handle, output.handle, queue])
        return original(device, images, output, dimensions, matrix, spline, queue)

    monkeypatch.setattr(_core, "transform_on_device", noted)
    x, output = cupy.asarray(image), cupy.empty(image.shape, np.float32)
    assert ndimage.shift(x, 0.5, output=output) is output
    assert handles == [x.memory.handle, output.memory.handle, cupy.library.queue.int_ptr]
    result = ndimage.shift(x, 0.5)
    assert handles[3:5] == [x.memory.handle, result.memory.handle]


def test_cupy_is_evaluated_at_its_points_and_registered(cupy, image, random, scene, moved):
    points = random.random((2, 50)) * 29
    result = ndimage.map_coordinates(cupy.asarray(image), cupy.asarray(points))
    np.testing.assert_allclose(result.get(), ndimage.map_coordinates(image, points), atol=2e-6)
    moving = moved(scene, 8, 1.1, (3, -5))
    found = warpalign.register(cupy.asarray(scene), cupy.asarray(moving))
    np.testing.assert_array_equal(found.matrix, warpalign.register(scene, moving).matrix)
    assert found._repr_png_() is not None


def test_memory_is_released_after_an_error(cupy, image):
    x = cupy.asarray(image)
    before = made.alive()
    for call in (lambda: ndimage.shift(x, 1, order=9), lambda: ndimage.shift(x, (1, 2, 3)),
                 lambda: ndimage.shift(x, 1, output=np.zeros((30, 40))),
                 lambda: ndimage.shift(x, 1, cval=np.nan)):
        with pytest.raises((RuntimeError, TypeError, ValueError)) as error:
            call()
        del error
    assert made.alive() == before


@pytest.fixture
def namespace(monkeypatch):
    """Arrays of a library with only an __array_namespace__."""
    library = Library(monkeypatch)
    taken = []

    class Names:
        float32 = np.float32

        @staticmethod
        def from_dlpack(array):
            taken.append(array.handle)
            return Own.of(array.numpy())

        @staticmethod
        def flip(array, axis):
            return Own.of(np.flip(array.get(), axis))

        @staticmethod
        def astype(array, dtype):
            return Own.of(array.get().astype(dtype))

    class Own(Array):
        def __array_namespace__(self):
            return Names

    Own.library, Own.taken = library, taken
    # The library's arrays are made on another queue than the device's own; results wait for it.
    original = Own.of.__func__

    def of(cls, values):
        new = original(cls, values)
        library.queue.finish()
        return new

    Own.of = classmethod(of)
    return Own


def test_results_are_arrays_of_the_namespace(namespace, image, random):
    x = namespace.of(image)
    result = ndimage.rotate(x, 20)
    assert type(result) is namespace and len(namespace.taken) == 1
    np.testing.assert_array_equal(result.get(), ndimage.rotate(image, 20))
    assert set(namespace.library.streams) == {1}  # CUDA's default stream, which reads the array
    points = random.random((2, 50)) * 29
    result = ndimage.map_coordinates(x, namespace.of(points))
    np.testing.assert_allclose(result.get(), ndimage.map_coordinates(image, points), atol=2e-6)


@pytest.mark.parametrize("motion", ["affine", "homography", "local"])
@pytest.mark.parametrize("name", ["cupy", "namespace"])
def test_warp_gives_arrays_of_the_same_library(request, scene, name, motion):
    library = request.getfixturevalue(name)
    library = getattr(library, "ndarray", library)
    image, moving = scene.astype(np.float32), np.roll(scene, 3, axis=1).astype(np.float32)
    if motion == "local":
        found = warpalign.register_local(image, moving, window=64, device=library.of(image))
    else:
        found = warpalign.register(library.of(image), library.of(moving), motion=motion)
    for array in (moving, np.stack([moving, 200 - moving], axis=-1)):
        warped = found.warp(library.of(array))
        assert type(warped) is library
        # The same kernels computed both, from values of up to 200.
        np.testing.assert_allclose(warped.get(), found.warp(array), atol=1e-4)


def test_arrays_of_a_namespace_are_not_written(namespace, image):
    x = namespace.of(image)
    with pytest.raises(TypeError, match="output"):
        ndimage.shift(x, 0.5, output=namespace.of(image))


def test_without_a_namespace_results_are_arrays_of_warpalign(monkeypatch, image):
    class Plain(Array):
        library = Library(monkeypatch)

    x = Plain.of(image)
    Plain.library.queue.finish()
    result = ndimage.rotate(x, 20)
    assert isinstance(result, warpalign.DeviceArray)
    np.testing.assert_array_equal(result.numpy(), ndimage.rotate(image, 20))


def test_the_cuda_array_interface_is_accepted(monkeypatch, image):
    ordered = []
    library = Library(monkeypatch)
    Plain = type("Plain", (Array,), {"library": library})
    original = _core.order_queues

    def noted(device, before, after):
        ordered.append((before, after))
        return original(device, before, after)

    monkeypatch.setattr(_core, "order_queues", noted)
    x = Plain.of(image)

    class Interface:
        __cuda_array_interface__ = {
            "shape": image.shape, "typestr": "<f4", "data": (x.memory.handle, False), "version": 3,
            "stream": library.queue.int_ptr}

    result = ndimage.shift(Interface(), 0.5)
    assert isinstance(result, warpalign.DeviceArray)
    np.testing.assert_array_equal(result.numpy(), ndimage.shift(image, 0.5))
    assert ordered == [(library.queue.int_ptr, None)]
    constant = Interface()
    constant.__cuda_array_interface__ = {
        **Interface.__cuda_array_interface__, "data": (x.memory.handle, True)}
    with pytest.raises(ValueError, match="read-only"):
        ndimage.shift(Interface(), 0.5, output=constant)


def test_deleted_arrays_are_refused():
    class Deleted:
        """Like a deleted array of JAX."""

        def __dlpack_device__(self):
            return len(None)

        def is_deleted(self):
            return True

    with pytest.raises(RuntimeError, match="deleted"):
        ndimage.shift(Deleted(), 0.5)
