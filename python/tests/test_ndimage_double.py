"""Calls that compute in double precision, because single precision is not enough."""

import numpy as np
import pytest
import scipy.ndimage

import warpalign
from warpalign import ndimage

MODES = ["constant", "grid-constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap"]

CALLS = {
    "zoom": lambda m, a, **k: m.zoom(a, (1.7, 0.8), **k),
    "shift": lambda m, a, **k: m.shift(a, (1.25, -2.5), **k),
    "affine": lambda m, a, **k: m.affine_transform(a, [[0.5, 0.25], [-0.25, 1.5]], (1, 2), **k),
    "points": lambda m, a, **k: m.map_coordinates(a, np.indices((9, 8)) * 1.4 - 1, **k),
}


def has_doubles():
    return warpalign.open_device().info.double_precision


needs_doubles = pytest.mark.skipif("not has_doubles()", reason="the device has no double precision")


@needs_doubles
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(1, 6))
def test_integers_beyond_24_bits_equal_those_of_scipy(random, order, mode):
    # Both compute in double precision. Sums of up to 36 products of integers up to 2^40 round
    # differently in the 53rd bit, so a result may be rounded to the other side of a half. SciPy's
    # filter of reflected samples is inexact on short lines, so no line is shorter than 44.
    for dtype in [np.int32, np.uint32, np.int64, np.uint64]:
        limits = np.iinfo(dtype)
        image = random.integers(max(limits.min, -2**40), min(limits.max, 2**40), (44, 48), dtype)
        for name, call in CALLS.items():
            for prefilter in (True, False):
                keywords = {"order": order, "mode": mode, "cval": 5, "prefilter": prefilter}
                result, expected = (call(m, image, **keywords) for m in (ndimage, scipy.ndimage))
                assert result.dtype == expected.dtype
                far = np.abs(result.astype(np.float64) - expected.astype(np.float64)).max()
                assert far <= 1, (name, dtype)


@needs_doubles
@pytest.mark.parametrize("mode", ["mirror", "reflect", "grid-wrap"])
@pytest.mark.parametrize("order", range(2, 6))
def test_double_values_are_exact(random, order, mode):
    # Compared with a solution in extended precision, errors on lines of such noise are at most
    # 1e-15 of the largest sample here, and 3e-15 in SciPy. Each further axis doubles them at most.
    # SciPy's filter of reflected samples is inexact on short lines, so no line is shorter than 60.
    for shape in [(61,), (60, 64), (60, 61, 62)]:
        array = random.integers(-2**52, 2**52, shape)
        offset = random.uniform(-3, 3, array.ndim)
        keywords = {"order": order, "mode": mode, "output": np.float64}
        result = ndimage.shift(array, offset, **keywords)
        expected = scipy.ndimage.shift(array, offset, **keywords)
        assert np.abs(result - expected).max() <= 2e-14 * np.abs(array).max()


@needs_doubles
@pytest.mark.parametrize("order", range(2, 6))
@pytest.mark.parametrize("mode", ["mirror", "reflect", "grid-wrap"])
def test_short_lines_are_interpolated(random, order, mode):
    # SciPy does not interpolate the samples with 'reflect', so they are the oracle.
    for length in range(1, 13):
        line = random.integers(2**30, 2**50, length)
        values = ndimage.map_coordinates(line, [np.arange(float(length))], order=order, mode=mode,
                                         output=np.float64)
        assert np.abs(values - line).max() <= 4e-15 * line.max()


@needs_doubles
@pytest.mark.parametrize("cval", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("order", range(6))
def test_an_infinite_cval_is_filtered_as_in_scipy(random, order, cval):
    image = random.random((10, 12))
    for call in CALLS.values():
        for prefilter in (True, False):
            keywords = {"order": order, "mode": "grid-constant", "cval": cval,
                        "prefilter": prefilter}
            result, expected = (call(m, image, **keywords) for m in (ndimage, scipy.ndimage))
            is_finite = np.isfinite(expected)
            np.testing.assert_array_equal(np.isfinite(result), is_finite)
            np.testing.assert_allclose(result[is_finite], expected[is_finite], rtol=1e-12)
            # At a sample, the weight of the last neighbour is 0 here, and its product with infinity
            # NaN. In SciPy the weight is up to 6e-17.
            if order not in (3, 5):
                np.testing.assert_array_equal(result[~is_finite], expected[~is_finite])


@needs_doubles
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.int64])
def test_integer_coefficients_are_truncated_as_in_scipy(random, dtype):
    image = random.integers(0, 100, (20, 16, 14))
    for order in range(2, 6):
        for mode in ("mirror", "grid-wrap"):
            np.testing.assert_array_equal(
                ndimage.spline_filter(image, order, output=dtype, mode=mode),
                scipy.ndimage.spline_filter(image, order, output=dtype, mode=mode))


def test_small_integers_use_single_precision(random, monkeypatch):
    # The values decide, not the type: single precision is faster.
    def refuse(*arguments):
        raise AssertionError("computed in double precision")

    monkeypatch.setattr("warpalign._core.transform_double", refuse)
    image = random.integers(-2**24, 2**24 + 1, (12, 12))
    ndimage.shift(image, 0.5, order=1)
    with pytest.raises(AssertionError, match="double"):
        ndimage.shift(image + 2**25, 0.5, order=1)


def test_devices_without_double_precision_refuse_by_value(random):
    from warpalign.ndimage import _double, _evaluate

    class Info:
        double_precision = False

    class Single:
        info = Info()
        id = "opencl:9"

    small, wide = np.array([1, 2**24]), np.array([1, 2**24 + 1])
    spline = _evaluate.Spline(Single(), 3, "mirror", 0.0, True)
    assert not _double.is_needed(small, spline)
    with pytest.raises(ValueError, match=r"integers beyond 16777216.*opencl:9.*float32"):
        _double.is_needed(wide, spline)
    spline = _evaluate.Spline(Single(), 3, "grid-constant", np.nan, True)
    with pytest.raises(ValueError, match="cval must be finite"):
        _double.is_needed(small, spline)
