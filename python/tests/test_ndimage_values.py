"""Values of warpalign.ndimage against SciPy's, which computes in double precision."""

import numpy as np
import pytest
import scipy.ndimage

from warpalign import ndimage

MODES = ["constant", "grid-constant", "nearest", "mirror", "reflect", "grid-mirror", "wrap",
         "grid-wrap"]

# Prefilter and evaluation are each within 4e-7 of the largest coefficient (single precision), and
# the largest coefficient of these noisy samples of degree 5 is 4 times the largest sample.
TOLERANCE = 4e-6

# SciPy pads by 12 samples in these modes. The error is z ** 12 of the degree's slowest pole, times
# the gain: 8e-9, 1.4e-7, 3.0e-6 (degree 4), 3.7e-5 (degree 5).
PADDED_TOLERANCE = {4: 2e-5, 5: 3e-4}


def tolerance_for(order, mode):
    if mode in ("nearest", "grid-constant"):
        return PADDED_TOLERANCE.get(order, TOLERANCE)
    return TOLERANCE


def assert_near(result, expected, tolerance):
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    largest = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance * largest)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(6))
def test_affine_transforms_agree(random, order, mode):
    # No point lies on a tie of order 0 or on an edge, where rounding would decide.
    image = random.random((24, 31))
    matrix = [[0.9, 0.2], [-0.25, 1.1]]
    arguments = {"offset": (-3.4137, 2.2291), "output_shape": (29, 33), "order": order,
                 "mode": mode, "cval": 0.75}
    assert_near(ndimage.affine_transform(image, matrix, **arguments),
                scipy.ndimage.affine_transform(image, matrix, **arguments),
                tolerance_for(order, mode))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("prefilter", [True, False])
def test_shifts_agree_in_every_number_of_dimensions(random, mode, prefilter):
    # SciPy's filter for reflected samples is inexact on lines of less than a dozen samples (by 1e-5
    # for 3, order 3, against the solution of the linear system), so no line is that short.
    for shape in [(40,), (12, 15), (12, 14, 13), (12, 13, 12, 14)]:
        array = random.random(shape)
        shift = random.uniform(-2, 2, len(shape))
        keywords = {"mode": mode, "prefilter": prefilter, "cval": -0.5}
        assert_near(ndimage.shift(array, shift, **keywords),
                    scipy.ndimage.shift(array, shift, **keywords), tolerance_for(3, mode))


@pytest.mark.parametrize("grid_mode", [False, True])
@pytest.mark.parametrize("order", range(6))
def test_zooms_agree(random, order, grid_mode):
    mode = "grid-constant" if grid_mode else "mirror"
    for shape, factors in [((11,), 2.7), ((12, 9), (0.7, 2.1)), ((5, 8, 6), (2, 1, 0.5)),
                           ((3, 4, 5, 4), (1.5, 2, 1, 1.25))]:
        array = random.random(shape)
        keywords = {"order": order, "mode": mode, "grid_mode": grid_mode}
        assert_near(ndimage.zoom(array, factors, **keywords),
                    scipy.ndimage.zoom(array, factors, **keywords), tolerance_for(order, mode))


@pytest.mark.parametrize("angle", [0, 90, 180, -270, 33.3])
@pytest.mark.parametrize("axes", [(1, 0), (0, 2), (-1, 1)])
@pytest.mark.parametrize("reshape", [True, False])
def test_rotations_agree(random, angle, axes, reshape):
    array = random.random((9, 12, 10))
    keywords = {"axes": axes, "reshape": reshape, "order": 3, "mode": "mirror"}
    assert_near(ndimage.rotate(array, angle, **keywords),
                scipy.ndimage.rotate(array, angle, **keywords), TOLERANCE)


@pytest.mark.parametrize("mode", MODES)
def test_scattered_points_agree(random, mode):
    for shape in [(30,), (20, 17), (9, 8, 11)]:
        image = random.random(shape)
        points = random.uniform(-15, 35, (len(shape), 7, 3))
        # Points are rounded to single precision, by up to 2e-6 at 35; slopes of noise are up to 3
        # per sample.
        assert_near(ndimage.map_coordinates(image, points, mode=mode, cval=9),
                    scipy.ndimage.map_coordinates(image, points, mode=mode, cval=9), 1e-5)


def test_many_scattered_points_fill_rows(random):
    image = random.random((40, 50))
    points = random.uniform(0, 39, (2, 10001))  # more than two rows of 4096, and not a multiple
    assert_near(ndimage.map_coordinates(image, points),
                scipy.ndimage.map_coordinates(image, points), 1e-5)


@pytest.mark.parametrize("mode", ["mirror", "reflect", "grid-wrap"])
def test_points_far_outside_keep_their_fractions(random, mode):
    image = random.random((20,))
    points = np.linspace(1e6, 1e6 + 40, 81)[None]  # single precision has steps of 1/16 there
    assert_near(ndimage.map_coordinates(image, points, mode=mode),
                scipy.ndimage.map_coordinates(image, points, mode=mode), 1e-5)


@pytest.mark.parametrize("order", range(2, 6))
@pytest.mark.parametrize("mode", MODES)
def test_coefficients_agree(random, order, mode):
    # No line is short; see the test of shifts.
    for shape in [(25,), (24, 22), (20, 19, 21), (18, 17, 16, 19)]:
        array = random.random(shape)
        assert_near(ndimage.spline_filter(array, order, mode=mode),
                    scipy.ndimage.spline_filter(array, order, mode=mode), TOLERANCE)
        assert_near(ndimage.spline_filter1d(array, order, axis=0, mode=mode),
                    scipy.ndimage.spline_filter1d(array, order, axis=0, mode=mode), TOLERANCE)


def test_geometric_transforms_agree(random):
    image = random.random((12, 9))

    def mapping(index, factor, power=1):
        return index[0] * factor, index[1] ** power

    keywords = {"extra_arguments": (0.7,), "extra_keywords": {"power": 0.9},
                "output_shape": (10, 8)}
    assert_near(ndimage.geometric_transform(image, mapping, **keywords),
                scipy.ndimage.geometric_transform(image, mapping, **keywords), 1e-5)


def test_the_ranks_of_input_and_output_may_differ(random):
    volume = random.random((8, 9, 10))
    plane = [[1, 0.1], [0, 1], [0.5, 0.5]]
    keywords = {"offset": (0.5, 1, 2), "output_shape": (6, 5)}
    assert_near(ndimage.affine_transform(volume, plane, **keywords),
                scipy.ndimage.affine_transform(volume, plane, **keywords), 1e-5)


@pytest.mark.parametrize("call", [
    lambda module, a, **k: module.shift(a, (1.5, -2.25), **k),
    lambda module, a, **k: module.zoom(a, 1.7, **k),
    lambda module, a, **k: module.rotate(a, 20, **k),
    lambda module, a, **k: module.map_coordinates(a, [[0.5, 2, 99], [1.5, 3, 0]], **k),
    lambda module, a, **k: module.affine_transform(a, [1.1, 0.9], **k),
])
def test_complex_images_agree(random, call):
    image = random.random((11, 13)) + 1j * random.random((11, 13))
    keywords = {"cval": 2 - 3j}
    assert_near(call(ndimage, image, **keywords), call(scipy.ndimage, image, **keywords), 1e-5)
    single = image.astype(np.complex64)
    assert call(ndimage, single).dtype == np.complex64


@pytest.mark.parametrize("cval", [np.nan, np.inf, 0.1, 1e300, -7])
@pytest.mark.parametrize("shape", [(12, 15), (3, 4, 6, 5)])
def test_any_cval_comes_out_exactly(random, cval, shape):
    array = random.random(shape)
    shift = [1.5] * len(shape)
    result = ndimage.shift(array, shift, cval=cval)
    expected = scipy.ndimage.shift(array, shift, cval=cval)
    outside = np.ones(shape, bool)
    outside[(slice(2, None),) * len(shape)] = False
    np.testing.assert_array_equal(result[outside], expected[outside])
    np.testing.assert_allclose(result[~outside], expected[~outside], atol=TOLERANCE)


@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_cval_is_exact_after_the_filters_of_further_axes(random, order):
    # Axes are processed in two groups: the second one filters lines of cval, whose results would be
    # off by rounding errors.
    array = random.random((9, 4, 6, 5)).astype(np.float32)
    outside = np.ones(array.shape, bool)
    outside[2:, 2:, 2:, 2:] = False
    for cval in np.float32([-7, 1234.567, 1e-3, 3e5]):
        result = ndimage.shift(array, 1.5, order=order, cval=float(cval))
        np.testing.assert_array_equal(result[outside], cval)


@pytest.mark.parametrize("mode", ["mirror", "reflect", "nearest", "wrap", "grid-wrap"])
def test_a_cval_that_no_point_needs_may_be_anything(random, mode):
    image = random.random((12, 15)).astype(np.float32)
    expected = ndimage.shift(image, 2.5, mode=mode)
    for cval in [np.nan, 0.1, 1e300]:
        np.testing.assert_array_equal(ndimage.shift(image, 2.5, mode=mode, cval=cval), expected)


def test_coordinates_that_are_nan_give_cval(random):
    image = random.random((9, 9))
    for mode in MODES:
        result = ndimage.map_coordinates(image, [[np.nan, 2], [1, np.nan]], mode=mode, cval=5)
        # As in SciPy: with these two modes no point is outside.
        expected = np.nan if mode in ("nearest", "grid-constant") else 5
        np.testing.assert_array_equal(result, [expected, expected])


def test_unchanged_axes_form_batches(random):
    stack = random.random((2, 70, 3, 80))
    shift = (0, 0.4, 0, -1.3)
    result = ndimage.shift(stack, shift)
    for i in range(2):
        for j in range(3):
            np.testing.assert_allclose(
                result[i, :, j], ndimage.shift(stack[i, :, j], (0.4, -1.3)), atol=TOLERANCE)


def test_a_nan_spoils_only_its_neighbours_without_a_prefilter(random):
    image = random.random((40, 50))
    image[20, 30] = np.nan
    spoilt = np.isnan(ndimage.shift(image, (0.25, 0.5), order=1))
    theirs = scipy.ndimage.shift(image, (0.25, 0.5), order=1)
    np.testing.assert_array_equal(spoilt, np.isnan(theirs))
    assert spoilt.sum() == 4
    assert np.isnan(ndimage.shift(image, (0.25, 0.5))).sum() > 4


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
def test_types_that_scipy_does_not_support(random, dtype):
    image = random.random((40, 50)).astype(dtype)
    result = ndimage.shift(image, (0.25, 0.5))
    assert result.dtype == dtype
    # Half precision has 11 bits.
    np.testing.assert_allclose(
        result, scipy.ndimage.shift(image.astype(np.float64), (0.25, 0.5)), atol=1e-3)
