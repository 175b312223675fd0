"""Tests of DeviceArray, on every device."""

import numpy as np
import pytest

import warpalign
from warpalign import ndimage, to_device


def pair(array):
    return to_device(array), array


@pytest.fixture
def image(random):
    return random.random((40, 50)).astype(np.float32)


def same(result, expected, tolerance=2e-6):
    """Compare results of the same kernels, which may differ in the number of arrays per launch."""
    assert isinstance(result, warpalign.DeviceArray)
    assert result.shape == expected.shape and result.dtype == expected.dtype
    np.testing.assert_allclose(result.numpy(), expected, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4", "f8", "c8"])
def test_arrays_survive_a_round_trip(dtype, random):
    values = (random.random((3, 5, 7)) * 100).astype(dtype)
    array = to_device(values)
    assert (array.shape, array.dtype, array.ndim, array.size, array.nbytes, len(array)) == (
        values.shape, values.dtype, 3, 105, values.nbytes, 3)
    np.testing.assert_array_equal(array.numpy(), values)
    np.testing.assert_array_equal(np.asarray(array), values)


def test_all_layouts_of_the_host_are_accepted(image):
    for layout in (image.T, image[::-1], image[:, ::2], image.astype(">f4")):
        np.testing.assert_array_equal(to_device(layout).numpy(), layout)


@pytest.mark.parametrize("dtype", ["i8", "?", "U3"])
def test_other_types_are_refused(dtype):
    with pytest.raises(TypeError, match="convert them"):
        to_device(np.zeros(3, dtype))


@pytest.mark.parametrize("call", [
    lambda m, x: m.shift(x, (0.4, -2.3)),
    lambda m, x: m.shift(x, (0, 1.5), mode="nearest", order=5),
    lambda m, x: m.zoom(x, (1, 1.7), mode="grid-wrap", grid_mode=True),
    lambda m, x: m.zoom(x, 1),
    lambda m, x: m.rotate(x, 20, cval=3.0),
    lambda m, x: m.affine_transform(x, [[0.9, 0.1], [-0.1, 1.1]], (1, 2), output_shape=(20, 30)),
    lambda m, x: m.affine_transform(x, [[0.9, 0.1], [-0.1, 1.1]], output=np.float64),
    lambda m, x: m.spline_filter(x),
    lambda m, x: m.spline_filter(x, output=np.float32, mode="reflect"),
    lambda m, x: m.spline_filter1d(x, axis=1),
    lambda m, x: m.spline_filter1d(x, order=1),
    lambda m, x: m.map_coordinates(x, np.linspace(-2, 41, 2 * 36).reshape(2, 36)),
    lambda m, x: m.map_coordinates(x, np.linspace(-2, 41, 2 * 36).reshape(2, 3, 12)),
    lambda m, x: m.map_coordinates(x, np.linspace(-2, 41, 2 * 36).reshape(2, 3, 4, 3)),
    lambda m, x: m.geometric_transform(x, lambda i: (i[0] - 0.5, i[1]), output_shape=(8, 9)),
])
def test_functions_give_the_results_for_numpy_arrays(call, image):
    array, values = pair(image)
    same(call(ndimage, array), call(ndimage, values))


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "f2", "f8", "c8"])
def test_types_are_kept(dtype, random):
    values = (random.random((20, 30)) * 200).astype(dtype)
    result = ndimage.zoom(to_device(values), 1.5)
    expected = ndimage.zoom(values, 1.5)
    assert result.dtype == expected.dtype
    # A value of one half may be rounded either way; half precision has 11 bits.
    step = 1 if np.dtype(dtype).kind in "iu" else 0.2 if dtype == "f2" else 1e-3
    assert np.abs(result.numpy().astype(complex) - expected.astype(complex)).max() <= step


@pytest.mark.parametrize("call", [
    lambda m, x: m.zoom(x, (1, 1, 1.4, 0.8)),
    lambda m, x: m.rotate(x, 15, axes=(2, 3)),
    lambda m, x: m.shift(x, (0, 0.5, 0, 1.5)),
    lambda m, x: m.shift(x, (0, 0, 0, 0.5), order=1),
    lambda m, x: m.spline_filter1d(x),
])
def test_leading_axes_are_a_batch(call, random):
    values = random.random((3, 4, 20, 24)).astype(np.float32)
    same(call(ndimage, to_device(values)), call(ndimage, values))


@pytest.mark.parametrize("mode", ["constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap"])
@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i4", "f4", "f8", "c8"])
def test_order_0_copies_samples_and_decides_ties_as_for_numpy(dtype, mode, random):
    if not warpalign.open_device().info.double_precision:
        pytest.skip("the device has no double precision")
    labels = (random.random((9, 12, 8)) * 2**31).astype(dtype)
    keywords = {"order": 0, "mode": mode, "cval": 3}
    points = random.integers(-30, 40, (3, 50)) / 2
    for call in [
        lambda a: ndimage.zoom(a, 2, **keywords),
        lambda a: ndimage.shift(a, (0, 0.5, -1.5), **keywords),
        lambda a: ndimage.rotate(a, 45, axes=(1, 2), **keywords),
        lambda a: ndimage.map_coordinates(a, points, **keywords),
    ]:
        result, expected = call(to_device(labels)), call(labels)
        assert result.dtype == labels.dtype
        np.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.skipif("not warpalign.open_device().info.double_precision",
                    reason="the device has no double precision")
@pytest.mark.parametrize("mode", ["constant", "grid-constant", "nearest", "mirror", "reflect", "wrap",
                                  "grid-wrap"])
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_double_precision_is_that_of_numpy_arrays(order, mode, random):
    values = random.random((3, 21, 24)) * 1e5
    keywords = {"order": order, "mode": mode, "cval": 0.1, "precision": "double"}
    points = random.random((3, 5, 7)) * 30 - 4
    for call in [
        lambda a: ndimage.zoom(a, (1, 1.7, 0.8), **keywords),
        lambda a: ndimage.shift(a, (0.5, -1.25, 2.1), **keywords),
        lambda a: ndimage.rotate(a, 20, axes=(1, 2), **keywords),
        lambda a: ndimage.affine_transform(a, [0.9, 1.1, 0.8], (0.11, 0.21, 0.31), **keywords),
        lambda a: ndimage.map_coordinates(a, points, **keywords),
    ]:
        result, expected = call(to_device(values)), call(values)
        assert result.dtype == np.float64
        # The host rounds some coordinates as SciPy does, and so may step over an edge.
        np.testing.assert_allclose(result.numpy(), expected, rtol=0, atol=1e-9)
    if order > 1 and mode in ("mirror", "reflect", "grid-wrap"):
        result = ndimage.spline_filter(to_device(values), order, mode=mode, precision="double")
        np.testing.assert_allclose(
            result.numpy(), ndimage.spline_filter(values, order, mode=mode, precision="double"),
            rtol=0, atol=1e-9)


@pytest.mark.skipif("not warpalign.open_device().info.double_precision",
                    reason="the device has no double precision")
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4", "f8"])
def test_double_precision_of_every_type(dtype, random):
    values = random.random((20, 30)) * (2.0 ** 31 if dtype in ("u4", "i4") else 120)
    values = values.astype(dtype)
    for output in (dtype, "f8", "u1"):
        result = ndimage.shift(to_device(values), (0.25, -0.5), precision="double", output=output)
        expected = ndimage.shift(values, (0.25, -0.5), precision="double", output=output)
        assert result.dtype == expected.dtype
        error = np.abs(result.numpy().astype(float) - expected.astype(float)).max()
        limits = {"f2": 0.2, "f4": 1e-4, "f8": 1e-5}  # integers may be rounded either way
        assert error <= limits.get(output, 1), output
    filtered = ndimage.spline_filter(to_device(values), precision="double")
    expected = ndimage.spline_filter(values, precision="double")
    # In blocks of its own on GPUs, with a warm-up that leaves less than 1e-16 of the samples.
    np.testing.assert_allclose(filtered.numpy(), expected, rtol=0,
                               atol=1e-14 * np.abs(expected).max())


COMPLEX_CALLS = {
    "affine": lambda a, **k: ndimage.affine_transform(a, [[0.5, 0.25], [-0.25, 1.5]], (1, 2), **k),
    "zoom": lambda a, **k: ndimage.zoom(a, (1.7, 0.8), **k),
    "rotate": lambda a, **k: ndimage.rotate(a, 20, **k),
    "points": lambda a, **k: ndimage.map_coordinates(a, np.indices((9, 8)) * 1.4 - 1, **k),
    "reduction": lambda a, **k: ndimage.zoom(a, 0.4, antialias=True, **k),
    "footprints": lambda a, **k: ndimage.affine_transform(a, [2, 3], output_shape=(9, 8),
                                                          antialias=True, **k),
}


@pytest.mark.skipif("not warpalign.open_device().info.double_precision",
                    reason="the device has no double precision")
@pytest.mark.parametrize("name", COMPLEX_CALLS)
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("order", [0, 1, 3])
def test_arrays_of_complex128(name, precision, order, random):
    values = random.random((33, 42)) + 1j * random.random((33, 42))
    if order == 0 and name in ("reduction", "footprints"):
        return  # means need order 1 or above
    options = {"order": order, "mode": "constant", "cval": 7.5, "precision": precision}
    expected = COMPLEX_CALLS[name](values, **options)
    result = COMPLEX_CALLS[name](to_device(values), **options)
    assert result.dtype == expected.dtype == np.complex128
    # Both are within 1e-6 of the exact value in single precision, which at order 0 copies.
    tolerance = 0 if order == 0 else 2e-6 if precision == "single" else 1e-14
    np.testing.assert_allclose(result.numpy(), expected, rtol=0, atol=tolerance)
    if order == 0:
        return  # samples of another type are copied by points in single precision
    narrow = COMPLEX_CALLS[name](to_device(values), output=np.complex64, **options)
    assert narrow.dtype == np.complex64
    np.testing.assert_allclose(narrow.numpy(), expected, rtol=0, atol=2e-6)
    wide = COMPLEX_CALLS[name](to_device(values.astype(np.complex64)), output=np.complex128,
                               **options)
    assert wide.dtype == np.complex128
    np.testing.assert_allclose(wide.numpy(), expected, rtol=0, atol=2e-6)


@pytest.mark.skipif("not warpalign.open_device().info.double_precision",
                    reason="the device has no double precision")
def test_complex128_is_stored_copied_and_filtered(random):
    values = random.random((5, 7)) + 1j * random.random((5, 7))
    array = to_device(values)
    assert array.dtype == np.complex128 and array.nbytes == values.nbytes
    np.testing.assert_array_equal(array.numpy(), values)
    np.testing.assert_array_equal(to_device(values[0, 0]).numpy(), values[0, 0])
    target = to_device(np.zeros((5, 7), np.complex64))
    target[...] = array
    np.testing.assert_array_equal(target.numpy(), values.astype(np.complex64))
    array[...] = target
    np.testing.assert_array_equal(array.numpy(), target.numpy())
    for given, tolerance in ((values, 1e-13), (values.astype(np.complex64), 1e-13)):
        expected = ndimage.spline_filter(given, output=np.complex128, precision="double")
        result = ndimage.spline_filter(to_device(given), output=np.complex128, precision="double")
        np.testing.assert_allclose(result.numpy(), expected, rtol=0, atol=tolerance)
    holed = values.copy()
    holed[2, 3] = np.nan
    result = ndimage.shift(to_device(holed), 0.25, missing="ignore", precision="double")
    np.testing.assert_array_equal(
        result.numpy(), ndimage.shift(holed, 0.25, missing="ignore", precision="double"))
    with pytest.raises(TypeError, match="must hold real numbers"):
        warpalign.register(to_device(np.ones((32, 32), complex)), np.ones((32, 32)))


@pytest.mark.skipif("not warpalign.open_device().info.double_precision",
                    reason="the device has no double precision")
@pytest.mark.parametrize("name", COMPLEX_CALLS)
@pytest.mark.parametrize("mode", ["constant", "grid-constant", "nearest", "mirror", "grid-wrap"])
def test_complex_arrays_in_double_precision(name, mode, random):
    values = (random.random((33, 42)) + 1e6 + 1j * random.random((33, 42))).astype(np.complex64)
    call = COMPLEX_CALLS[name]
    for order in (1, 3, 5):
        options = {"order": order, "mode": mode, "cval": 7.5, "precision": "double"}
        result = call(to_device(values), **options)
        expected = call(values, **options)
        assert isinstance(result, warpalign.DeviceArray)
        assert result.dtype == expected.dtype == np.complex64 and result.shape == expected.shape
        # Both round to complex64, whose last bit is 0.0625 at 1e6 and 1.2e-7 at 1. Single precision
        # is off by several of them.
        assert np.abs(result.numpy().real - expected.real).max() <= 0.0625
        assert np.abs(result.numpy().imag - expected.imag).max() <= 1.2e-7


@pytest.mark.skipif("not warpalign.open_device().info.double_precision",
                    reason="the device has no double precision")
def test_complex_arrays_of_other_shapes_in_double_precision(random):
    # Batches, volumes, and lengths whose parts do not fill their memory.
    for shape in [(1,), (5,), (1025,), (3, 1024), (2, 9, 11, 13)]:
        values = (random.random(shape) + 1j * random.random(shape)).astype(np.complex64)
        shift = [0] * (len(shape) - min(len(shape), 3)) + [0.25] * min(len(shape), 3)
        result = ndimage.shift(to_device(values), shift, mode="mirror", precision="double")
        expected = ndimage.shift(values, shift, mode="mirror", precision="double")
        np.testing.assert_allclose(result.numpy(), expected, rtol=0, atol=3e-7)
        if min(shape) > 1 and len(shape) <= 3:
            result = ndimage.spline_filter(to_device(values), output=np.complex64,
                                           precision="double")
            expected = ndimage.spline_filter(values, output=np.complex64, precision="double")
            np.testing.assert_allclose(result.numpy(), expected, rtol=0, atol=3e-6)  # of up to 10
    given = to_device(np.zeros((9, 10), np.complex64))
    values = (random.random((9, 10)) * (1 + 2j)).astype(np.complex64)
    ndimage.shift(to_device(values), 0.5, output=given, precision="double")
    np.testing.assert_allclose(given.numpy(), ndimage.shift(values, 0.5, precision="double"),
                               rtol=0, atol=3e-7)
    unmoved = ndimage.shift(to_device(values), 0, precision="double")
    np.testing.assert_array_equal(unmoved.numpy(), values)
    with pytest.raises(NotImplementedError, match="cval must be real"):
        ndimage.shift(to_device(values), 0.5, cval=1j, precision="double")


@pytest.mark.skipif("not warpalign.open_device().info.double_precision",
                    reason="the device has no double precision")
def test_results_warp_arrays_on_a_device_in_double_precision(scene, moved):
    moving = moved(scene, 8, 1, (3, -5))
    for motion in ("rigid", "homography"):
        found = warpalign.register(scene, moving, motion=motion)
        expected = found.warp(moving, precision="double")
        result = found.warp(to_device(moving), precision="double")
        np.testing.assert_allclose(result.numpy(), expected, rtol=0, atol=1e-10)


def test_outputs_are_written_in_place(image):
    output = to_device(np.zeros((40, 50), np.float32))
    handle = output.handle
    assert ndimage.shift(to_device(image), 0.5, output=output) is output
    assert output.handle == handle
    same(output, ndimage.shift(image, 0.5))


def test_the_input_stays_as_it_is(image):
    array = to_device(image)
    ndimage.shift(array, 0.5)
    ndimage.spline_filter(array)
    np.testing.assert_array_equal(array.numpy(), image)


def test_calls_follow_one_another_without_waiting(image):
    array, values = pair(image)
    for i in range(30):
        array = ndimage.shift(array, (0.25, -0.5), mode="mirror", order=1 + 2 * (i % 2))
        values = ndimage.shift(values, (0.25, -0.5), mode="mirror", order=1 + 2 * (i % 2))
    same(array, values, 2e-5)  # thirty interpolations


def test_images_are_registered(scene, moved):
    moving = moved(scene, 8, 1.1, (3, -5))
    expected = warpalign.register(scene, moving)
    a, b = to_device(scene), to_device(moving)
    found = warpalign.register(a, b)
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    assert found._repr_png_() == expected._repr_png_()
    same(found.warp(b), expected.warp(moving), 2e-4)  # values of 0 to 200
    registrar = warpalign.Registrar(device=a)
    registrar.set_reference(a)
    np.testing.assert_array_equal(registrar.align(moving).matrix, expected.matrix)


def test_volumes_are_registered(volume):
    moving = np.roll(volume, (1, -2, 3), (0, 1, 2))
    expected = warpalign.register_volume(volume, moving)
    found = warpalign.register_volume(to_device(volume), to_device(moving))
    assert found.translation == expected.translation
    same(found.warp(to_device(moving)), expected.warp(moving), 1e-3)  # values up to some hundreds


@pytest.mark.parametrize("call, kind, words", [
    (lambda x: ndimage.shift(x, 1, output=np.zeros((40, 50))), TypeError, "output must be"),
    (lambda x: ndimage.shift(x, 1, output="int64"), TypeError, "int64"),
    (lambda x: ndimage.shift(x, 1, order=6), RuntimeError, "spline order not supported"),
    (lambda x: ndimage.shift(x, 1, mode="no"), RuntimeError, "boundary mode not supported"),
    (lambda x: ndimage.shift(x, np.nan), ValueError, "finite"),
    (lambda x: ndimage.shift(x, 1, cval=np.inf), ValueError, "cval must be finite"),
    (lambda x: ndimage.shift(x, 1, output=x), ValueError, "memory"),
    (lambda x: ndimage.shift(x, 1, output=to_device(np.zeros((3, 3)))), RuntimeError, "shape"),
    (lambda x: ndimage.spline_filter1d(x, axis=0), NotImplementedError, "axes"),
    (lambda x: ndimage.spline_filter(x, output=np.int32), TypeError, "int32"),
    (lambda x: ndimage.map_coordinates(x, to_device(np.zeros((2, 3)))), TypeError, "NumPy array"),
    (lambda x: ndimage.map_coordinates(x, np.zeros((3, 3))), RuntimeError, "coordinate array"),
    (lambda x: ndimage.shift(np.zeros((40, 50)), 1, output=x), TypeError, "on a device"),
    (lambda x: ndimage.map_coordinates(np.zeros((4, 5)), x), TypeError, "on a device"),
    (lambda x: warpalign.Registrar().set_reference(x, np.ones((4, 5))), ValueError,
     "mask must have"),
    (lambda x: warpalign.VolumeRegistrar().set_reference(x), ValueError, "3 dimensions"),
    (lambda x: x.__dlpack__(copy=True), BufferError, "."),
    (lambda x: np.array(x, copy=False), ValueError, "copy=False"),
    (lambda x: x.__setitem__(0, 1), TypeError, "cannot be indexed"),
])
def test_unsupported_calls_raise(call, kind, words, image):
    with pytest.raises(kind, match=words):
        call(to_device(image))


def test_too_many_axes_are_refused(random):
    array = to_device(random.random((2, 3, 8, 9)).astype(np.float32))
    with pytest.raises(NotImplementedError, match="axis 0 of 4"):
        ndimage.zoom(array, 1.5)
    with pytest.raises(NotImplementedError):
        ndimage.map_coordinates(array, np.zeros((4, 3)))


def test_arrays_of_another_opened_device_are_refused(image):
    other = warpalign.Device()
    with pytest.raises(ValueError):
        ndimage.shift(to_device(image), 1, output=to_device(image, other))


def test_empty_arrays(image):
    assert ndimage.zoom(to_device(image), 0.001).shape == (0, 0)
    assert ndimage.shift(to_device(image[:0]), 1).numpy().shape == (0, 50)


def test_opencl_memory_is_not_exported(image):
    array = to_device(image)
    if array.device.info.backend == "cuda":
        pytest.skip("the device is of CUDA")
    assert not hasattr(array, "__cuda_array_interface__")
    with pytest.raises(BufferError, match="OpenCL"):
        array.__dlpack__()


def test_homographies_of_arrays_on_a_device(scene):
    matrix = np.array([[1.02, 0.01, -2.0], [-0.02, 0.99, 3.0], [1e-4, -8e-5, 1.0]])
    rows, columns = np.indices(scene.shape)
    mapped = np.linalg.inv(matrix) @ np.stack([rows, columns, np.ones_like(rows)]).reshape(3, -1)
    moving = ndimage.map_coordinates(
        scene, (mapped[:2] / mapped[2]).reshape(2, *scene.shape), mode="mirror").astype(np.float32)
    found = warpalign.register(scene, moving, motion="homography")
    assert found.motion == "homography"
    same(found.warp(to_device(moving), mode="nearest"), found.warp(moving, mode="nearest"), 1e-4)
    colour = np.stack([moving, 200 - moving], axis=-1)
    same(found.warp(to_device(colour)), found.warp(colour), 1e-4)
    output = to_device(np.zeros((*scene.shape, 2), np.uint8))
    assert found.warp(to_device(colour), output=output) is output
    np.testing.assert_array_equal(output.numpy(), found.warp(colour, output=np.uint8))


def test_stacks_and_fields_warp_arrays_on_a_device(scene):
    images = [np.roll(scene, 2 * shift, axis=1).astype(np.float32) for shift in range(3)]
    stack = warpalign.register_stack(images, motion="translation")
    warped = stack.warp([to_device(image) for image in images])
    for found, expected in zip(warped, stack.warp(images), strict=True):
        same(found, expected, 1e-4)
    local = warpalign.register_local(images[0], images[1], window=64)
    same(local.warp(to_device(images[1])), local.warp(images[1]), 1e-4)
    colour = np.stack([images[1], images[2]], axis=-1)
    same(local.warp(to_device(colour)), local.warp(colour), 1e-4)


def test_a_batch_continues_after_an_invalid_pair(scene):
    image, moving = to_device(scene), to_device(np.roll(scene, 3, axis=1))
    mask = np.ones((4, 5), bool)
    pairs = [(image, moving), (image, to_device(np.zeros((40, 40, 3)))),
             (image, moving, mask, None), (image,), (image, moving)]
    results = warpalign.register_batch(pairs, on_error="return", motion="translation")
    assert [type(found) for found in results[1:4]] == [ValueError] * 3
    for found in (results[0], results[4]):
        assert found.translation == pytest.approx((0, 3), abs=0.1)
    with pytest.raises(ValueError, match="2 dimensions") as error:
        warpalign.register_batch(pairs)
    assert error.value.__notes__ == ["This error concerns pair 1."]
