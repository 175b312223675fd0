"""CuPy arrays give CuPy arrays."""

import threading
import time

import numpy as np
import pytest

import warpalign
from warpalign import _core, ndimage

cp = pytest.importorskip("cupy")


@pytest.fixture(autouse=True)
def device_of_cupy(cuda):
    if cp.cuda.runtime.getDeviceCount() == 0:
        pytest.skip("CuPy sees no device")


def expected(call, values):
    """The result for host arrays, by the same backend."""
    return call(values, device="cuda:0")


@pytest.mark.parametrize("call", [
    lambda x, **on: ndimage.shift(x, (0.4, -2.3), **on),
    lambda x, **on: ndimage.zoom(x, 1.7, mode="nearest", **on),
    lambda x, **on: ndimage.rotate(x, 20, **on),
    lambda x, **on: ndimage.affine_transform(x, [[0.9, 0.1], [-0.1, 1.1]], (1, 2), **on),
    lambda x, **on: ndimage.spline_filter(x, **on),
    lambda x, **on: ndimage.spline_filter1d(x, output=np.float32, **on),
    lambda x, **on: ndimage.map_coordinates(x, np.linspace(-2, 199, 400).reshape(2, 200), **on),
])
def test_results_are_those_of_numpy(call, image):
    result = call(cp.asarray(image))
    assert type(result) is cp.ndarray
    np.testing.assert_allclose(result.get(), expected(call, image), atol=2e-6)


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "f2", "f8", "c8"])
def test_types_are_kept(dtype, image):
    values = (image * 200).astype(dtype)
    result = ndimage.zoom(cp.asarray(values), 1.5)
    assert result.dtype == values.dtype
    step = 1 if np.dtype(dtype).kind in "iu" else 0.2 if dtype == "f2" else 1e-3
    assert abs(result.get().astype(complex)
               - ndimage.zoom(values, 1.5, device="cuda:0").astype(complex)).max() <= step


def test_nothing_is_copied(image, monkeypatch):
    addresses = []
    original = _core.transform_on_device

    def noted(device, images, output, *rest):
        addresses.append((images.handle, output.handle))
        return original(device, images, output, *rest)

    monkeypatch.setattr(_core, "transform_on_device", noted)
    x, output = cp.asarray(image), cp.empty(image.shape, np.float32)
    assert ndimage.shift(x, 0.5, output=output) is output
    result = ndimage.shift(x, 0.5)
    assert addresses == [(x.data.ptr, output.data.ptr), (x.data.ptr, result.data.ptr)]


def test_work_is_in_order_with_the_current_stream(image):
    values = np.full((2000, 3000), 7, np.float32)
    values = ndimage.shift(values, 0.5, mode="nearest", device="cuda:0")
    stream = cp.cuda.Stream(non_blocking=True)
    busy = cp.random.default_rng(0).random((4000, 4000), dtype=np.float32)
    cp.cuda.runtime.deviceSynchronize()
    with stream:
        for _ in range(5):  # keep the stream busy for some tens of milliseconds
            busy = busy @ busy
            busy /= abs(busy).max()
        x = cp.zeros((2000, 3000), np.float32)
        x += 7
        result = ndimage.shift(x, 0.5, mode="nearest")
        x[:] = -1  # runs after the shift has read x
        result += 1
    stream.synchronize()
    np.testing.assert_allclose(result.get(), values + 1, rtol=1e-6)


def test_calls_return_before_the_work_is_done(image):
    x = cp.asarray(image)
    ndimage.rotate(x, 10)  # compile and allocate
    cp.cuda.runtime.deviceSynchronize()
    stream, gate = cp.cuda.Stream(non_blocking=True), threading.Event()
    with stream:
        # Block the stream. A call that waited for its work would return only after that.
        stream.launch_host_func(lambda _: gate.wait(10), None)
        result = ndimage.rotate(x, 10)
        was_done = stream.done
    gate.set()
    stream.synchronize()
    assert not was_done
    np.testing.assert_allclose(
        result.get(), ndimage.rotate(image, 10, device="cuda:0"), atol=2e-6)


def test_time_of_a_call(image):
    x, output = cp.asarray(image[:8, :8]), cp.empty((8, 8), np.float32)
    for _ in range(100):
        ndimage.shift(x, 0.5, output=output, order=1)
    cp.cuda.runtime.deviceSynchronize()
    seconds = []
    for _ in range(1000):
        start = time.perf_counter()
        ndimage.shift(x, 0.5, output=output, order=1)
        seconds.append(time.perf_counter() - start)
    median = sorted(seconds)[500]
    print(f"\na call on CuPy's arrays: {1e6 * median:.0f} us")  # printed for the record, not tested


def test_layouts_and_offsets(image):
    x = cp.asarray(image)
    for view in (x.T, x[::-1], x[:, ::2], x[1:], x.ravel()[3:]):
        np.testing.assert_allclose(
            ndimage.shift(view, 0.5).get(), ndimage.shift(view.get(), 0.5, device="cuda:0"),
            atol=2e-6)
    with pytest.raises(ValueError, match="C-contiguous"):
        ndimage.shift(x, 0.5, output=cp.empty((300, 200), np.float32).T)


def test_points_on_the_device(image):
    points = cp.random.default_rng(1).random((2, 50, 7)) * 199
    result = ndimage.map_coordinates(cp.asarray(image), points)
    np.testing.assert_allclose(
        result.get(), ndimage.map_coordinates(image, points.get(), device="cuda:0"), atol=5e-5)


def test_pairs_are_registered(scene, moved):
    moving = moved(scene, 8, 1.1, (3, -5))
    x, y = cp.asarray(scene), cp.asarray(moving)
    found = warpalign.register(x, y)
    host = warpalign.register(scene, moving, device="cuda:0")
    np.testing.assert_allclose(found.matrix, host.matrix, atol=1e-5)
    assert type(found.warp(y)) is cp.ndarray
    assert found._repr_png_() is not None


def test_images_that_a_stream_still_computes_are_registered(scene, moved):
    moving = moved(scene, 8, 1.1, (3, -5)).astype(np.float32)
    with cp.cuda.Stream(non_blocking=True):
        busy = cp.ones((4000, 4000), np.float32)
        for _ in range(5):
            busy = busy @ busy / 4000
        x = cp.asarray(scene.astype(np.float32)) + 0 * busy[0, 0]
        y = cp.asarray(moving) + 0 * busy[0, 0]
        found = warpalign.register(x, y)
    assert found.reliable and abs(found.rotation_deg - 8) < 0.01


def test_volumes_are_registered(volume):
    x = cp.asarray(volume)
    found = warpalign.register_volume(x, cp.roll(x, (1, -2, 3), (0, 1, 2)))
    assert np.round(found.translation).tolist() == [1, -2, 3]


def test_unsupported_calls_raise(image):
    x = cp.asarray(image)
    for call, kind, words in [
        (lambda: ndimage.shift(x.astype(np.int64), 1), TypeError, "int64"),
        (lambda: ndimage.shift(x, 1, output=np.zeros((200, 300))), TypeError, "output must be"),
        (lambda: ndimage.shift(image, 1, output=x), TypeError, "on a device"),
        (lambda: ndimage.shift(x, 1, order=6), RuntimeError, "spline order"),
        (lambda: ndimage.shift(x, 1, output=x), ValueError, "memory"),
        (lambda: warpalign.Registrar().set_reference(x, cp.ones((200, 300))), NotImplementedError,
         "masks"),
    ]:
        with pytest.raises(kind, match=words):
            call()


def test_cupy_accepts_arrays_of_warpalign(image, cuda):
    array = warpalign.to_device(image, cuda)
    assert array.__dlpack_device__() == (2, 0)
    for taken in (cp.from_dlpack(array), cp.asarray(array)):
        assert taken.data.ptr == array.handle
        np.testing.assert_array_equal(taken.get(), image)
    shifted = ndimage.shift(array, 0.5)
    with cp.cuda.Stream(non_blocking=True):
        taken = cp.from_dlpack(shifted) + 1
    np.testing.assert_allclose(
        taken.get(), ndimage.shift(image, 0.5, device="cuda:0") + 1, atol=2e-6)


def test_the_current_device_stays():
    before = cp.cuda.Device().id
    ndimage.shift(cp.ones((8, 8), np.float32), 0.5)
    assert cp.cuda.Device().id == before
    if cp.cuda.runtime.getDeviceCount() > 1:
        with cp.cuda.Device(1):
            x = cp.ones((8, 8), np.float32)
        assert ndimage.shift(x, 0.5).device.id == 1
        assert cp.cuda.Device().id == before
