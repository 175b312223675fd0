"""Arrays with DLPack: reading their capsules, and arrays in host memory."""

import gc

import dlpack_capsules as made
import numpy as np
import pytest

import warpalign
from warpalign import _core, ndimage


def has_cuda():
    return warpalign.backends()[0].available


@pytest.mark.parametrize("dtype, code, name", [
    ("f4", None, "float32"), ("u2", None, "uint16"), ("i1", None, "int8"),
    ("c8", None, "complex64"), ("?", None, "bool"), ("u2", made.BFLOAT, "bfloat16")])
def test_a_capsule_is_read(dtype, code, name):
    tensor = _core.DlpackTensor(made.capsule(4096, (3, 5), dtype, device=(made.CUDA, 2), code=code))
    assert (tensor.address, tensor.shape, tensor.device) == (4096, (3, 5), (made.CUDA, 2))
    assert tensor.dtype == name
    assert tensor.contiguous and not tensor.read_only


@pytest.mark.parametrize("shape, strides, dense", [
    ((3, 5), None, True), ((3, 5), (5, 1), True), ((3, 5), (6, 1), False), ((3, 5), (1, 3), False),
    ((1, 5), (99, 1), True), ((0, 5), (7, 7), True), ((4,), (2,), False), ((4,), (-1,), False)])
def test_strides_are_checked(shape, strides, dense):
    assert _core.DlpackTensor(made.capsule(4096, shape, "f4", strides=strides)).contiguous == dense


def test_read_only_memory_is_recognized():
    assert _core.DlpackTensor(made.capsule(4096, (3,), "f4", read_only=True)).read_only


def test_a_capsule_is_used_once_and_releases_its_memory():
    before = made.alive()
    capsule = made.capsule(4096, (3,), "f4")
    tensor = _core.DlpackTensor(capsule)
    with pytest.raises(TypeError, match="used before"):
        _core.DlpackTensor(capsule)
    assert made.alive() == before + 1
    del tensor
    gc.collect()
    assert made.alive() == before


@pytest.mark.parametrize("thing", [None, 3, "dltensor", np.zeros(3).__array_interface__])
def test_objects_that_are_no_capsules_are_refused(thing):
    with pytest.raises(TypeError):
        _core.DlpackTensor(thing)


def test_an_array_of_cuda_is_refused_on_a_device_of_opencl():
    tensor = made.Tensor(4096, (8, 9), "f4")
    device = warpalign.open_device("opencl")
    with pytest.raises(ValueError, match=r"the array is on cuda:0, but device selects opencl:\d"):
        ndimage.shift(tensor, 1, device=device)
    with pytest.raises(ValueError, match="the array is on cuda:0"):
        warpalign.Registrar(device).set_reference(tensor)
    with pytest.raises(ValueError, match="the array is on cuda:0"):
        warpalign.VolumeRegistrar(device).set_reference(tensor)


@pytest.mark.skipif(has_cuda(), reason="there is a device of CUDA here")
def test_a_cuda_array_without_cuda_reports_the_missing_backend():
    with pytest.raises(warpalign.DeviceUnavailableError, match="cuda"):
        ndimage.shift(made.Tensor(4096, (8, 9), "f4"), 1)


def test_memory_of_other_vendors_is_refused():
    with pytest.raises(TypeError, match="DLPack's type 10"):
        ndimage.shift(made.Tensor(4096, (8, 9), "f4", device=(made.ROCM, 0)), 1)


def test_gaps_are_refused():
    with pytest.raises(ValueError, match="C-contiguous"):
        ndimage.shift(made.Tensor(4096, (8, 9), "f4", strides=(10, 1)), 1)


class InterfaceOnly:
    def __init__(self, **changes):
        self.__cuda_array_interface__ = {
            "shape": (8, 9), "typestr": "<f4", "data": (4096, False), "version": 3,
            "strides": None, **changes}


def test_the_cuda_array_interface_is_checked_as_dlpack_is():
    device = warpalign.open_device("opencl")
    with pytest.raises(ValueError, match="on a CUDA device, but device selects opencl"):
        ndimage.shift(InterfaceOnly(), 1, device=device)
    with pytest.raises(ValueError, match="C-contiguous"):
        ndimage.shift(InterfaceOnly(strides=(40, 4)), 1, device=device)
    with pytest.raises(TypeError, match="mask"):
        ndimage.shift(InterfaceOnly(mask=object()), 1, device=device)


class HostTensor:
    """An array in host memory, of another library."""

    def __init__(self, array):
        self.array = array
        self.shape, self.ndim = array.shape, array.ndim

    def __dlpack_device__(self):
        return made.HOST, 0

    def __dlpack__(self, **keywords):
        keywords.pop("stream", None)
        return self.array.__dlpack__(**keywords)

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("arrays that speak DLPack are taken by it")

    def __array_namespace__(self):
        return HostTensor

    @staticmethod
    def from_dlpack(array):
        return HostTensor(np.from_dlpack(array))


def test_host_arrays_give_arrays_of_the_same_library(random):
    image = random.random((30, 40)).astype(np.float32)
    tensor = HostTensor(image)
    result = ndimage.rotate(tensor, 10)
    assert type(result) is HostTensor
    np.testing.assert_array_equal(result.array, ndimage.rotate(image, 10))


def test_warp_returns_arrays_of_the_same_library(scene):
    image, moving = scene.astype(np.float32), np.roll(scene, 3, axis=1).astype(np.float32)
    colour = np.stack([moving, 200 - moving], axis=-1)
    for found in (warpalign.register(image, moving, motion="affine"),
                  warpalign.register(image, moving, motion="homography"),
                  warpalign.register_local(image, moving, window=64)):
        for array in (moving, colour):
            warped = found.warp(HostTensor(array))
            assert type(warped) is HostTensor
            np.testing.assert_array_equal(warped.array, found.warp(array))
    stack = warpalign.register_stack([image, moving])
    (_, warped) = stack.warp([HostTensor(image), HostTensor(moving)])
    assert type(warped) is HostTensor


def test_arrays_on_the_host_are_not_copied(random):
    image = random.random((30, 40)).astype(np.float32)
    result = ndimage.zoom(HostTensor(image), 1)  # a copy: the input itself is never returned
    assert not np.shares_memory(result.array, image)
    seen = []

    def mapping(index):
        return index

    class Watched(HostTensor):
        @staticmethod
        def from_dlpack(array):
            seen.append(array.__array_interface__["data"][0])
            return HostTensor(np.from_dlpack(array))

        def __array_namespace__(self):
            return Watched

    output = ndimage.geometric_transform(Watched(image[:4, :4].copy()), mapping, order=1)
    assert seen == [output.array.__array_interface__["data"][0]]
    np.testing.assert_array_equal(output.array, image[:4, :4])


def test_arrays_on_the_host_are_registered(scene, moved):
    moving = moved(scene, 6, 1, (2, -3))
    expected = warpalign.register(scene, moving)
    found = warpalign.register(HostTensor(scene), HostTensor(moving))
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    assert found._repr_png_() == expected._repr_png_()
    assert type(found.warp(HostTensor(moving))) is HostTensor
