"""pyopencl's arrays: in their own context, on their own queue, in their own memory."""

import resource
import time

import numpy as np
import pytest

import warpalign
import warpalign._opencl_arrays
from warpalign import ndimage

cl = pytest.importorskip("pyopencl")
cl_array = pytest.importorskip("pyopencl.array")


def devices():
    found = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    usable = {info.name for info in warpalign.backends()[1].devices}
    return [device for device in found if device.name in usable]


@pytest.fixture(scope="module")
def context():
    usable = devices()
    if not usable:
        pytest.skip("pyopencl has none of warpalign's devices")
    return cl.Context([usable[0]])


@pytest.fixture
def queue(context):
    return cl.CommandQueue(context)


@pytest.fixture
def image(random):
    return random.random((40, 50)).astype(np.float32)


def handle_of(array):
    return array.base_data.int_ptr


class Spy:
    """Records the memory that is passed to the extension module."""

    def __init__(self, monkeypatch):
        self.handles = []
        made = warpalign._core.DeviceMemory

        def noted(device, dtype, shape, handle, *rest):
            self.handles.append(handle)
            return made(device, dtype, shape, handle, *rest)

        monkeypatch.setattr(warpalign._opencl_arrays._core, "DeviceMemory", noted)


def test_pyopencl_in_pyopencl_out(queue, image):
    x = cl_array.to_device(queue, image)
    result = ndimage.rotate(x, 20)
    assert isinstance(result, cl_array.Array)
    assert result.queue == queue and result.context == queue.context
    np.testing.assert_array_equal(result.get(), ndimage.rotate(image, 20))


def test_nothing_is_copied(queue, image, monkeypatch):
    x, output = cl_array.to_device(queue, image), cl_array.empty(queue, image.shape, np.float32)
    spy = Spy(monkeypatch)
    assert ndimage.shift(x, 0.5, output=output) is output
    assert spy.handles == [handle_of(x), handle_of(output)]
    result = ndimage.shift(x, 0.5)
    assert spy.handles[2:] == [handle_of(x), handle_of(result)]
    np.testing.assert_array_equal(result.get(), ndimage.shift(image, 0.5))
    np.testing.assert_array_equal(output.get(), result.get())


def test_work_is_in_order_with_the_queue(queue, random):
    image = random.random((500, 600)).astype(np.float32)
    x = cl_array.to_device(queue, np.zeros_like(image))
    y = cl_array.to_device(queue, image)
    for _ in range(50):
        x += y  # enqueued only
    moved = ndimage.shift(x, (2, 3), order=1)
    moved *= 2
    total = np.zeros_like(image)
    for _ in range(50):
        total += image
    np.testing.assert_allclose(moved.get(), 2 * ndimage.shift(total, (2, 3), order=1), rtol=1e-5)


def test_calls_return_before_the_work_is_done(queue, random):
    # A batch that takes about a second on two cores.
    x = cl_array.to_device(queue, random.random((8, 400, 1000)).astype(np.float32))
    ndimage.rotate(x, 10, axes=(1, 2), order=5)  # compile first
    queue.finish()
    start = time.perf_counter()
    ndimage.rotate(x, 10, axes=(1, 2), order=5)
    enqueued = time.perf_counter() - start
    queue.finish()
    assert enqueued < 0.5 * (time.perf_counter() - start)


def test_queues_share_plans(context, image):
    queues = [cl.CommandQueue(context) for _ in range(2)]
    images = [image + i for i in range(2)]
    arrays = [cl_array.to_device(q, i) for q, i in zip(queues, images)]
    device = warpalign.open_device(arrays[0])
    device.release_memory()
    results = [ndimage.shift(arrays[i % 2], 0.5) for i in range(40)]
    assert device.kept_plans == 1
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result.get(), ndimage.shift(images[i % 2], 0.5))


def test_offsets_into_buffers(queue, random):
    images = random.random((4, 40, 64)).astype(np.float32)  # 10240 bytes each
    stack = cl_array.to_device(queue, images)
    np.testing.assert_array_equal(ndimage.shift(stack[2], 0.5).get(), ndimage.shift(images[2], 0.5))
    line = cl_array.to_device(queue, images.ravel())[7:107]  # no buffer can begin there: copied
    np.testing.assert_array_equal(
        ndimage.shift(line, 0.5).get(), ndimage.shift(images.ravel()[7:107], 0.5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_on_the_device(queue, image, random, dtype):
    points = (random.random((2, 3, 7)) * 39).astype(dtype)
    x = cl_array.to_device(queue, image)
    result = ndimage.map_coordinates(x, cl_array.to_device(queue, points))
    np.testing.assert_allclose(
        result.get(), ndimage.map_coordinates(image, points), atol=2e-6)


def test_other_types_and_filters(queue, random):
    values = (random.random((30, 40)) * 200).astype(np.uint8)
    x = cl_array.to_device(queue, values)
    np.testing.assert_array_equal(ndimage.zoom(x, 2).get(), ndimage.zoom(values, 2))
    assert ndimage.spline_filter(x).dtype == np.float64
    waves = np.exp(1j * np.arange(300).reshape(15, 20)).astype(np.complex64)
    result = ndimage.shift(cl_array.to_device(queue, waves), 0.5, mode="wrap")
    np.testing.assert_allclose(result.get(), ndimage.shift(waves, 0.5, mode="wrap"), atol=2e-6)


def test_complex_arrays_in_double_precision(queue, random):
    if not queue.device.double_fp_config:
        pytest.skip("the device has no double precision")
    waves = random.random((15, 20)) + 1j * random.random((15, 20))
    for dtype, tolerance in ((np.complex64, 1.2e-7), (np.complex128, 1e-14)):  # of values up to 1
        values = waves.astype(dtype)
        # Within a larger array: the parts of its memory begin at an offset.
        x = cl_array.to_device(queue, np.stack([values * 0, values]))[1]
        result = ndimage.shift(x, (0.5, -0.25), mode="mirror", precision="double")
        assert isinstance(result, cl_array.Array) and result.dtype == dtype
        expected = ndimage.shift(values, (0.5, -0.25), mode="mirror", precision="double")
        np.testing.assert_allclose(result.get(), expected, rtol=0, atol=tolerance)


def test_pairs_are_registered(queue, scene, moved):
    moving = moved(scene, 8, 1.1, (3, -5))
    expected = warpalign.register(scene, moving, device=None)
    x, y = cl_array.to_device(queue, scene), cl_array.to_device(queue, moving)
    found = warpalign.register(x, y)
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    warped = found.warp(y)
    assert isinstance(warped, cl_array.Array)
    np.testing.assert_allclose(warped.get(), expected.warp(moving), atol=2e-4)


def test_batches_of_pairs_are_registered_where_they_are(queue, scene, moved, monkeypatch):
    moving = [moved(scene, 8, 1.1, (3, -5)), moved(scene, -4, 0.95, (1, 2))]
    expected = warpalign.register_batch([(scene, image) for image in moving])
    x, *y = (cl_array.to_device(queue, image) for image in (scene, *moving))
    with monkeypatch.context() as patched:
        patched.setattr(cl_array.Array, "get", None)  # nothing is copied to the host
        found = warpalign.register_batch(((x, image) for image in y), progress=True)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.matrix, other.matrix)
    constant = cl_array.zeros_like(x)
    with pytest.raises(warpalign.InvalidImageError) as error:
        warpalign.register_batch([(x, y[0]), (x, constant)])
    assert error.value.__notes__ == ["This error concerns pair 1."]
    results = warpalign.register_batch([(x, constant), (x, y[1])], on_error="return")
    assert isinstance(results[0], warpalign.InvalidImageError)
    np.testing.assert_array_equal(results[1].matrix, expected[1].matrix)
    with pytest.raises(warpalign.InvalidArgumentError, match="64"):
        warpalign.register_batch([(x, y[0])], streams=65)
    mask = np.ones(scene.shape, bool)
    mask[:, :30] = False
    [masked] = warpalign.register_batch([(x, y[0], mask, None)])
    on_host = warpalign.register(x.get(), y[0].get(), reference_mask=mask)
    np.testing.assert_array_equal(masked.matrix, on_host.matrix)


def test_stacks_are_registered(queue, scene):
    frames = np.stack([np.roll(scene, shift, 1) for shift in (0, 2, 5)]).astype(np.float32)
    expected = warpalign.register_stack(frames)
    found = warpalign.register_stack(cl_array.to_device(queue, frames))
    np.testing.assert_array_equal(found.drift, expected.drift)
    one_by_one = (cl_array.to_device(queue, frame) for frame in frames)
    np.testing.assert_array_equal(warpalign.register_stack(one_by_one).drift, expected.drift)


def test_an_array_of_a_device_among_pairs_on_the_host(queue, scene):
    shifted = np.roll(scene, 3, 1)
    pairs = [(scene, shifted), (scene, cl_array.to_device(queue, shifted))]
    first, second = warpalign.register_batch(pairs, motion="translation")
    np.testing.assert_array_equal(first.matrix, second.matrix)


def test_volumes_are_registered(queue, volume):
    x = cl_array.to_device(queue, volume)
    y = cl_array.to_device(queue, np.roll(volume, (1, -2, 3), (0, 1, 2)))
    assert np.round(warpalign.register_volume(x, y).translation).tolist() == [1, -2, 3]


def test_read_only_memory_is_read_and_not_written(queue, image):
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    buffer = cl.Buffer(queue.context, flags, hostbuf=image)
    constant = cl_array.Array(queue, image.shape, np.float32, data=buffer)
    np.testing.assert_array_equal(ndimage.shift(constant, 0.5).get(), ndimage.shift(image, 0.5))
    with pytest.raises(ValueError, match="read-only"):
        ndimage.shift(cl_array.to_device(queue, image), 0.5, output=constant)


def test_unsupported_calls_raise(queue, image):
    x = cl_array.to_device(queue, image)
    other = cl.CommandQueue(cl.Context([queue.device]))
    unordered = cl.CommandQueue(
        queue.context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
    cases = [
        (lambda: ndimage.shift(x, 1, device="opencl"), ValueError, "another cl_context"),
        (lambda: ndimage.shift(x, 1, output=cl_array.to_device(other, image)), ValueError,
         "another cl_context"),
        (lambda: ndimage.shift(x.with_queue(None), 1), ValueError, "with_queue"),
        (lambda: ndimage.shift(x.with_queue(unordered), 1), ValueError, "out of order"),
        (lambda: ndimage.shift(x.T, 1), ValueError, "C-contiguous"),
        (lambda: ndimage.shift(x, 1, output=np.zeros(image.shape)), TypeError, "output must be"),
        (lambda: ndimage.shift(image, 1, output=x), TypeError, "on a device"),
        (lambda: ndimage.shift(x.astype(np.int64), 1), TypeError, "int64"),
        (lambda: warpalign.Registrar("opencl").set_reference(x), ValueError, "another cl_context"),
    ]
    for call, kind, words in cases:
        with pytest.raises(kind, match=words):
            call()


def test_nothing_leaks_over_many_calls(queue, image):
    x = cl_array.to_device(queue, image)

    def call(i):
        ndimage.shift(x, 0.1 * (i % 7), order=1)
        with pytest.raises(RuntimeError):
            ndimage.shift(x, 1, order=7)

    for i in range(500):
        call(i)
    queue.finish()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(5000):
        call(i)
        if i % 100 == 0:
            queue.finish()
    queue.finish()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 10000  # KiB; leaking the results of 8000 bytes would be 39000
