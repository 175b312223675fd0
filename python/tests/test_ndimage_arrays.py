"""Inputs and outputs of warpalign.ndimage: types, memory layouts, output arguments."""

import numpy as np
import pytest
import scipy.ndimage

from warpalign import ndimage

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8"]


@pytest.mark.parametrize("dtype", [*INTEGERS, "u8"])
def test_results_are_rounded_and_saturated_as_scipy_does(dtype):
    values = np.array([0.5, -0.5, 1.5, 2.5, -1.5, -2.49, 300.7, -300.7, 70000.0, 3e9, -3e9, 1e20,
                       -1e20, np.nan, np.inf, -np.inf])
    if dtype == "u8":  # SciPy wraps values that are too large for uint64
        values = values[:11]
    result = ndimage.shift(values, 0.0, order=0, output=dtype, prefilter=False)
    # Order 0 and a shift of 0 do not change values: this tests only the conversion. float32
    # represents all of these values except 300.7, which is rounded anyway.
    expected = scipy.ndimage.shift(values, 0.0, order=0, output=dtype, prefilter=False)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_integer_type_is_interpolated(dtype):
    image = np.arange(48).reshape(6, 8).astype(dtype)
    result = ndimage.zoom(image, 1.7)
    expected = scipy.ndimage.zoom(image, 1.7)
    assert result.dtype == expected.dtype
    # Single precision may round a value of one half the other way.
    assert np.abs(result.astype(int) - expected.astype(int)).max() <= 1
    assert (result == expected).mean() > 0.95


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
def test_results_of_these_types_come_straight_from_the_device(dtype):
    image = np.linspace(0, 255, 600).reshape(20, 30).astype(dtype)
    output = np.empty((20, 30), dtype)
    assert ndimage.shift(image, (0.4, 0), output=output) is output
    np.testing.assert_allclose(
        output.astype(float), scipy.ndimage.shift(image, (0.4, 0)).astype(float), atol=1 + 1e-3)


def test_booleans_are_truncated():
    mask = np.zeros((8, 8), bool)
    mask[2:6, 3:7] = True
    np.testing.assert_array_equal(
        ndimage.zoom(mask, 2, order=0), scipy.ndimage.zoom(mask, 2, order=0))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u2"])
def test_coefficients_are_truncated_and_wrap_around(dtype):
    line = np.array([0.5, 10.7, -3.3, 300.9])
    np.testing.assert_array_equal(
        ndimage.spline_filter1d(line, output=dtype),
        scipy.ndimage.spline_filter1d(line, output=dtype))


def layouts_of(array):
    reversed_rows = array[::-1].copy()[::-1]
    wide = np.zeros((array.shape[0], 2 * array.shape[1]))
    wide[:, ::2] = array
    return {
        "Fortran order": np.asfortranarray(array),
        "negative strides": reversed_rows,
        "gaps": wide[:, ::2],
        "big-endian": array.astype(">f8"),
        "half": array.astype(np.float16),
        "list": array.tolist(),
        "read-only": np.broadcast_to(array, array.shape),
    }


def test_every_layout_of_the_input_is_accepted(random):
    image = random.integers(0, 50, (11, 14)).astype(float)
    expected = ndimage.affine_transform(image, [[0.9, 0.1], [0, 1.2]])
    for name, layout in layouts_of(image).items():
        result = ndimage.affine_transform(layout, [[0.9, 0.1], [0, 1.2]])
        np.testing.assert_allclose(
            np.asarray(result, float), expected, rtol=1e-3, atol=1e-2 if name == "half" else 1e-12,
            err_msg=name)


def test_every_layout_of_the_output_is_written(random):
    image = random.random((10, 12))
    expected = ndimage.shift(image, 0.5)
    for output in [np.empty((12, 10)).T, np.empty((10, 24))[:, ::2], np.empty((10, 12))[::-1],
                   np.empty((10, 12), ">f4"), np.empty((10, 12), np.float32)]:
        assert ndimage.shift(image, 0.5, output=output) is output
        np.testing.assert_allclose(output, expected, atol=1e-6)


def test_the_output_may_be_the_input(random):
    image = random.random((10, 12)).astype(np.float32)
    expected = ndimage.shift(image, 0.5)
    ndimage.shift(image, 0.5, output=image)
    np.testing.assert_array_equal(image, expected)


def test_outputs_named_by_type(random):
    image = random.random((5, 6))
    for output in [np.float32, "float32", np.dtype("f4"), ">f4"]:
        assert ndimage.shift(image, 0.5, output=output).dtype == np.dtype(output)
    with pytest.warns(UserWarning, match="promoting specified output dtype to complex"):
        assert ndimage.shift(image + 1j, 0.5, output=np.float32).dtype == np.complex64


def test_the_callers_arrays_stay_as_they_are(random):
    image = random.random((10, 12)).astype(np.float32)
    points = random.random((2, 5)) * 9
    copies = image.copy(), points.copy()
    ndimage.map_coordinates(image, points)
    ndimage.spline_filter(image)
    np.testing.assert_array_equal(image, copies[0])
    np.testing.assert_array_equal(points, copies[1])


@pytest.mark.parametrize("call", [
    lambda m: m.shift(np.zeros((0, 4)), 1),
    lambda m: m.zoom(np.zeros((0, 4)), 2),
    lambda m: m.zoom(np.ones((4, 4)), 0.01),
    lambda m: m.spline_filter(np.zeros((0, 4))),
    lambda m: m.spline_filter1d(np.zeros((0, 4)), axis=0),
    lambda m: m.map_coordinates(np.zeros((0, 4)), np.zeros((2, 3))),
    lambda m: m.map_coordinates(np.ones((2, 2)), np.zeros((2, 0))),
    lambda m: m.affine_transform(np.zeros((0, 4)), np.eye(2), output_shape=(3, 3)),
    lambda m: m.rotate(np.zeros((0, 4)), 30),
    lambda m: m.spline_filter(np.float64(3)),
    lambda m: m.shift(np.ones((1, 1)), 0.5, mode="nearest"),
    lambda m: m.zoom(np.ones((1, 5)), (3, 2), mode="nearest"),
])
def test_empty_and_tiny_arrays_give_the_results_of_scipy(call):
    result, expected = call(ndimage), call(scipy.ndimage)
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, atol=1e-6)
