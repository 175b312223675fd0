"""precision="double" in all functions, against splines in extended precision."""

import exact_splines
import numpy as np
import pytest
import scipy.ndimage

import warpalign
from warpalign import ndimage


def has_doubles():
    return warpalign.open_device().info.double_precision


def has_extended():
    return np.finfo(np.longdouble).eps < 1e-18


pytestmark = pytest.mark.skipif("not has_doubles()", reason="the device has no double precision")
needs_extended = pytest.mark.skipif("not has_extended()", reason="no extended precision")

CALLS = {
    "zoom": lambda m, a, **k: m.zoom(a, (1.7, 0.8), **k),
    "shift": lambda m, a, **k: m.shift(a, (1.25, -2.5), **k),
    "rotate": lambda m, a, **k: m.rotate(a, 33, **k),
    "affine": lambda m, a, **k: m.affine_transform(a, [[0.5, 0.25], [-0.25, 1.5]], (1, 2), **k),
    "scales": lambda m, a, **k: m.affine_transform(a, [0.3, 1.5], (-0.9, 2), **k),
    "points": lambda m, a, **k: m.map_coordinates(a, np.indices((9, 8)) * 1.4 - 1, **k),
    "function": lambda m, a, **k: m.geometric_transform(a, lambda i: (i[0] / 3, i[1] - 0.3),
                                                        output_shape=(5, 6), **k),
}


@needs_extended
@pytest.mark.parametrize("mode", ["mirror", "reflect", "grid-wrap"])
@pytest.mark.parametrize("order", range(1, 6))
def test_values_are_exact(random, order, mode):
    # Noise is the worst case: its coefficients at order 5 are up to 5 times the largest sample for
    # each axis, and rounding is relative to them.
    for shape in [(31,), (3,), (30, 17), (16, 15, 17)]:
        array = random.uniform(-1, 1, shape)
        moved = random.uniform(-9, 9, array.ndim)
        result = ndimage.shift(array, moved, order=order, mode=mode, precision="double")
        expected = exact_splines.on_grid(
            array, [np.arange(n) - start for n, start in zip(shape, moved)], order, mode)
        assert result.dtype == np.float64
        allowed = 1e-14 if order <= 3 and len(shape) <= 2 else 1e-13
        assert np.abs(result - expected).max() <= allowed * np.abs(array).max()


@needs_extended
@pytest.mark.parametrize("mode", ["mirror", "reflect", "grid-wrap"])
@pytest.mark.parametrize("order", range(2, 6))
def test_coefficients_are_exact(random, order, mode):
    array = random.uniform(-1, 1, (13, 12))
    along = exact_splines.coefficients(array, order, mode)
    both = exact_splines.coefficients(along.T, order, mode).T
    keywords = {"mode": mode, "precision": "double"}
    for result, expected in [(ndimage.spline_filter1d(array, order, axis=0, **keywords), along),
                             (ndimage.spline_filter(array, order, **keywords), both)]:
        assert np.abs(result - expected).max() <= 1e-14 * np.abs(expected).max()


@pytest.mark.parametrize("mode", ["constant", "grid-constant", "nearest", "mirror", "wrap",
                                  "grid-wrap"])
@pytest.mark.parametrize("order", [1, 3, 5])
def test_all_functions_compute_in_double_as_scipy_does(random, order, mode):
    image = random.uniform(-1, 1, (44, 48))
    for name, call in CALLS.items():
        for prefilter in (True, False):
            keywords = {"order": order, "mode": mode, "cval": 1 / 3, "prefilter": prefilter}
            np.testing.assert_allclose(
                call(ndimage, image, precision="double", **keywords),
                call(scipy.ndimage, image, **keywords), rtol=0, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float32", "float16", "uint8", ">f8"])
def test_other_types(random, dtype):
    array = (random.random((20, 24)) * 200).astype(dtype)
    keywords = {"order": 3, "mode": "mirror"}
    result = ndimage.rotate(array, 20, precision="double", **keywords)
    if dtype == "float16":
        expected = scipy.ndimage.rotate(array.astype(float), 20, **keywords).astype(dtype)
    else:
        expected = scipy.ndimage.rotate(array, 20, **keywords)
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-11)


def test_more_than_three_axes(random):
    array = random.random((8, 9, 7, 8, 9))
    for mode, cval in [("mirror", 0), ("constant", np.nan), ("constant", np.inf)]:
        keywords = {"order": 3, "mode": mode, "cval": cval}
        np.testing.assert_allclose(
            ndimage.shift(array, (0.5, 0, -1.5, 0.25, 2), precision="double", **keywords),
            scipy.ndimage.shift(array, (0.5, 0, -1.5, 0.25, 2), **keywords), atol=1e-13)
    np.testing.assert_allclose(ndimage.spline_filter(array, precision="double"),
                               scipy.ndimage.spline_filter(array), atol=1e-12)


@pytest.mark.parametrize("mode", ["constant", "grid-constant", "nearest", "mirror", "reflect"])
def test_few_points_read_only_a_part_of_the_input(random, mode):
    image = random.random((40, 50))
    for low, high in [((0, 30), (4, 35)), ((20, 49), (20, 49)), ((39, 0), (39, 0.5))]:
        points = random.uniform(low, high, (20, 2)).T
        for order in (1, 3, 5):
            keywords = {"order": order, "mode": mode, "cval": 7, "prefilter": False}
            np.testing.assert_allclose(
                ndimage.map_coordinates(image, points, precision="double", **keywords),
                scipy.ndimage.map_coordinates(image, points, **keywords), atol=1e-14)


@pytest.mark.parametrize("mode", ["constant", "wrap"])
def test_rounded_coordinates_do_not_step_over_the_edge(mode):
    # At some lengths, the product of the last index and the scale is above 6.
    line = np.arange(1.0, 8.0)
    for length in range(2, 120):
        zoomed = ndimage.zoom(line, length / 7, order=1, mode=mode, cval=-1, precision="double")
        np.testing.assert_allclose([zoomed[0], zoomed[-1]], [1, 7], rtol=1e-14)
    # SciPy computes (index + offset / scale) * scale, which rounds to below 0 at one scale and to
    # 0 at another one.
    for scale in [0.3, 0.7, 1.1]:
        for index in range(1, 12):
            call = (line, [scale], [-scale * index])
            np.testing.assert_allclose(
                ndimage.affine_transform(*call, order=1, mode=mode, cval=9, precision="double"),
                scipy.ndimage.affine_transform(*call, order=1, mode=mode, cval=9), atol=1e-13)


def test_patch_takes_the_precision(random):
    image = random.random((30, 30))
    expected = scipy.ndimage.shift(image, 0.3)
    with ndimage.patch(precision="double"):
        np.testing.assert_allclose(scipy.ndimage.shift(image, 0.3), expected, atol=1e-14)


def test_bad_precisions_are_refused(random):
    image = random.random((4, 4))
    for call in [lambda p: ndimage.zoom(image, 1, precision=p),
                 lambda p: ndimage.shift(image, 1, precision=p),
                 lambda p: ndimage.spline_filter(image, precision=p),
                 lambda p: ndimage.spline_filter1d(image, order=1, precision=p),
                 lambda p: ndimage.patch(precision=p).__enter__()]:
        for precision in ("quad", 64, None):
            with pytest.raises(ValueError, match="invalid precision.*'single', 'double'"):
                call(precision)


def test_a_device_without_double_precision_is_refused():
    from warpalign.ndimage import _double

    class Single:
        class info:
            double_precision = False

        id = "opencl:9"

    with pytest.raises(ValueError, match="opencl:9 does not support double precision; choose"):
        _double.check_device(Single())
