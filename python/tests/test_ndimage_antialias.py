"""Reduction without aliasing, against SciPy, scikit-image and dense least squares."""

import warnings

import numpy as np
import pytest
import scipy.interpolate
import scipy.ndimage
import warpalign
from warpalign import ndimage, to_device

needs_doubles = pytest.mark.skipif("not warpalign.open_device().info.double_precision",
                                   reason="the device has no double precision")

MODES = ["mirror", "reflect", "grid-mirror", "nearest", "constant", "grid-constant", "wrap",
         "grid-wrap"]
# The extension that SciPy's prefilter takes for each mode, by its name for filters.
EXTENSIONS = {"constant": "mirror", "wrap": "mirror", "grid-wrap": "wrap",
              "grid-constant": "constant", "grid-mirror": "reflect"}


def steps(in_shape, out_shape, grid_mode):
    return [n / m if grid_mode or m == 1 else (n - 1) / (m - 1)
            for n, m in zip(in_shape, out_shape)]


def gaussian_then_zoom(image, factors, order, mode, grid_mode, cval=0.0):
    """SciPy's Gaussian filter and SciPy's zoom, in double precision."""
    image = np.asarray(image, np.float64)
    shape = [round(n * f) for n, f in zip(image.shape, np.broadcast_to(factors, image.ndim))]
    sigma = [max(0, (step - 1) / 2) for step in steps(image.shape, shape, grid_mode)]
    smoothed = scipy.ndimage.gaussian_filter(
        image, sigma, mode=EXTENSIONS.get(mode, mode), cval=cval, truncate=4)
    # All points are inside, where these modes equal 'mirror'; but SciPy may round the last point
    # beyond the edge.
    inside = "mirror" if mode in ("constant", "wrap") else mode
    return scipy.ndimage.zoom(smoothed, factors, order=order, mode=inside, cval=cval,
                              grid_mode=grid_mode)


def noise(shape, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape)


@pytest.mark.parametrize("grid_mode", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_gaussian_agrees_with_scipy(order, mode, grid_mode):
    image = noise((61, 50))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # SciPy's and our advice on grid_mode
        for factors in [0.25, (0.41, 0.13), (0.5, 1.7), (0.09, 1)]:
            result = ndimage.zoom(image, factors, order=order, mode=mode, cval=0.7,
                                  grid_mode=grid_mode, antialias=True)
            expected = gaussian_then_zoom(image, factors, order, mode, grid_mode, cval=0.7)
            # Sums of up to 100 weighted samples of at most 1 in single precision. SciPy cuts the
            # prefilter of 'nearest' and 'grid-constant' 12 samples beyond the edge, where the pole
            # of order 5 has decayed to 4e-5.
            limit = 2e-5 if order > 3 and mode in ("nearest", "grid-constant") else 2e-6
            np.testing.assert_allclose(result, expected, rtol=0, atol=limit)


@pytest.mark.parametrize("shape, factors", [
    ((1000,), 0.1), ((7,), 0.3), ((3,), 0.34), ((2,), 0.5), ((40, 1, 30), (0.2, 1, 0.3)),
    ((24, 30, 28), 0.25), ((24, 30, 28), (0.5, 0.125, 1)),
    ((3, 12, 5, 14, 20), (1, 0.5, 1, 0.4, 0.3)),
    ((6, 7, 8, 9, 10), 0.4), ((9, 300), (1, 0.02)),
])
def test_gaussian_in_any_number_of_dimensions(shape, factors):
    # SciPy's prefilter is exact for 'mirror'; for 'reflect' and 3 samples it is off by 2e-5.
    image = noise(shape)
    for order in (1, 3):
        for grid_mode in (False, True):
            result = ndimage.zoom(image, factors, order=order, mode="mirror", grid_mode=grid_mode,
                                  antialias=True)
            expected = gaussian_then_zoom(image, factors, order, "mirror", grid_mode)
            assert result.shape == expected.shape
            np.testing.assert_allclose(result, expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("mode, name", [
    ("mirror", "reflect"), ("reflect", "symmetric"), ("nearest", "edge"), ("grid-wrap", "wrap"),
    ("grid-constant", "constant"),
])
def test_gaussian_agrees_with_scikit_image(mode, name, order):
    transform = pytest.importorskip("skimage.transform")
    image = noise((90, 120))
    result = ndimage.zoom(image, (30 / 90, 31 / 120), order=order, mode=mode, grid_mode=True,
                          antialias=True)
    expected = transform.resize(image, (30, 31), order=order, mode=name, anti_aliasing=True,
                                clip=False)
    # Single precision.
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-6)


def test_stripes_vanish():
    # 3 samples a cycle, less than one after the reduction. The Gaussian's standard deviation is 1.5
    # samples: it keeps exp(-(1.5 * 2 pi / 3)**2 / 2) = 0.7 % of the contrast.
    x = np.arange(400)
    stripes = np.tile(np.cos(2 * np.pi * x / 3), (40, 1)).astype(np.float32)
    aliased = ndimage.zoom(stripes, 0.25, order=1, grid_mode=True, mode="reflect")
    for antialias, contrast in [(True, 0.05), ("least-squares", 0.05)]:
        result = ndimage.zoom(stripes, 0.25, order=3, grid_mode=True, mode="reflect",
                              antialias=antialias)
        assert np.ptp(result[:, 20:-20]) < contrast * np.ptp(aliased[:, 20:-20])


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "uint16", "int32", "float16",
                                   "float32", "float64", ">f4"])
def test_types(dtype):
    image = (noise((40, 48)) * 100 + 100).astype(dtype)
    result = ndimage.zoom(image, 0.3, order=1, antialias=True, mode="reflect")
    assert result.dtype == image.dtype.newbyteorder("=")
    expected = ndimage.zoom(image.astype(np.float32), 0.3, order=1, antialias=True, mode="reflect")
    if image.dtype.kind in "iu":
        np.testing.assert_array_equal(result, np.floor(expected + 0.5))
    elif image.dtype.kind == "f":
        np.testing.assert_allclose(result, expected, rtol=1e-3 if dtype == "float16" else 1e-6)


def test_complex_and_output():
    image = noise((40, 48)) + 1j * noise((40, 48), 2)
    result = ndimage.zoom(image, 0.3, antialias=True, mode="reflect")
    for part in (np.real, np.imag):
        np.testing.assert_allclose(
            part(result), gaussian_then_zoom(part(image), 0.3, 3, "reflect", False), atol=2e-6)
    output = np.zeros((12, 14), np.float32)
    real = noise((40, 48))
    assert ndimage.zoom(real, 0.3, output=output, antialias=True) is output
    np.testing.assert_array_equal(output, ndimage.zoom(real, 0.3, output="f4", antialias=True))
    strided = np.zeros((14, 12), np.float32).T
    ndimage.zoom(real, 0.3, output=strided, antialias=True)
    np.testing.assert_array_equal(strided, output)


def projected(samples, m, order, mode, grid_mode):
    """The spline of m samples that is nearest to that of the samples, by dense least squares."""
    n = len(samples)
    extension = {"constant": "mirror", "wrap": "mirror", "grid-mirror": "reflect"}.get(mode, mode)
    first, last = (-0.5, n - 0.5) if grid_mode else (0.0, n - 1.0)
    step = n / m if grid_mode else (n - 1) / (m - 1)
    start = 0.5 * step - 0.5 if grid_mode else 0.0
    basis = scipy.interpolate.BSpline.basis_element(
        np.arange(order + 2) - (order + 1) / 2, extrapolate=False)

    def folded(k, length):
        if extension == "grid-wrap":
            return k % length
        period = 2 * length - (2 if extension == "mirror" else 0)
        k %= period
        return k if k < length else period - (0 if extension == "mirror" else 1) - k

    def matrix(points, length):
        values = np.zeros((len(points), length))
        for k in range(-order - 1, length + order + 1):
            values[:, folded(k, length)] += np.nan_to_num(basis(points - k))
        return values

    half = (order + 1) / 2
    knots = np.concatenate([np.arange(-5, n + 5) + half,
                            start + step * (np.arange(-5, m + 5) + half), [first, last]])
    knots = np.unique(np.clip(knots, first, last))
    nodes, weights = np.polynomial.legendre.leggauss(order + 2)
    middles, radii = (knots[1:] + knots[:-1]) / 2, np.diff(knots) / 2
    points = (middles[:, None] + radii[:, None] * nodes).ravel()
    root = np.sqrt((radii[:, None] * weights).ravel())
    coefficients = np.linalg.solve(matrix(np.arange(n), n), samples)
    target = matrix(points, n) @ coefficients
    system = matrix((points - start) / step, m)
    solution = np.linalg.lstsq(system * root[:, None], target * root, rcond=None)[0]
    return matrix(np.arange(m), m) @ solution


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("mode, grid_mode", [
    ("mirror", False), ("constant", False), ("reflect", True), ("grid-wrap", True)])
def test_least_squares_agrees_with_a_dense_solution(mode, grid_mode, order):
    for n, m in [(48, 12), (47, 20), (41, 40), (30, 7), (12, 3)]:
        samples = noise(n)
        result = ndimage.zoom(samples, m / n, order=order, mode=mode, grid_mode=grid_mode,
                              antialias="least-squares")
        expected = projected(samples, m, order, mode, grid_mode)
        # Weighted sums in single precision, with gains of up to 2.
        np.testing.assert_allclose(result, expected, rtol=0, atol=3e-6)


def test_least_squares_in_two_dimensions():
    image = noise((30, 34))
    result = ndimage.zoom(image, (0.5, 9 / 34), order=3, mode="mirror", antialias="least-squares")
    expected = np.apply_along_axis(projected, 0, image, 15, 3, "mirror", False)
    expected = np.apply_along_axis(projected, 1, expected, 9, 3, "mirror", False)
    np.testing.assert_allclose(result, expected, rtol=0, atol=3e-6)


def test_least_squares_loses_less_than_the_gaussian():
    grid = np.linspace(-1, 1, 200)
    rings = np.cos(30 * (grid[:, None] ** 2 + grid ** 2))
    errors = {}
    for antialias in (False, True, "least-squares"):
        small = ndimage.zoom(rings, 0.25, mode="mirror", antialias=antialias)
        back = ndimage.zoom(small, 4, mode="mirror")
        errors[antialias] = np.sqrt(np.mean((back - rings) ** 2))
    assert errors["least-squares"] < 0.8 * min(errors[False], errors[True])


@pytest.mark.parametrize("order", [1, 3])
def test_missing_samples(order):
    image = noise((60, 64)).astype(np.float32)
    mask = np.zeros(image.shape, bool)
    mask[20:33, 30:44] = True
    given = np.where(mask, np.nan, image)
    result, weights = ndimage.zoom(given, 0.25, order=order, mode="reflect", antialias=True,
                                   missing="ignore", weights=True)
    share = gaussian_then_zoom(~mask, 0.25, 1, "reflect", False)
    if order == 1:
        np.testing.assert_allclose(weights, share, atol=2e-6)
    np.testing.assert_array_equal(np.isnan(result), weights < 0.5 - 1e-5)
    assert np.isnan(result).any()
    # The Gaussian ends 6 samples from a point, and the spline's influence has decayed to 3e-6 of
    # the filling's difference from the image after 10 more.
    whole = ndimage.zoom(image, 0.25, order=order, mode="reflect", antialias=True)
    positions = np.ix_(*[np.round(np.linspace(0, n - 1, m)).astype(int)
                         for n, m in zip(image.shape, result.shape)])
    far = scipy.ndimage.distance_transform_edt(~mask)[positions] > 18
    np.testing.assert_allclose(result[far], whole[far], rtol=0, atol=2e-5)


@pytest.mark.parametrize("options, words", [
    ({"antialias": "gauss"}, "invalid antialias"),
    ({"antialias": 1}, "invalid antialias"),
    ({"antialias": True, "order": 0}, "order 1 or above"),
    ({"antialias": True, "prefilter": False}, "coefficients"),
    ({"antialias": True, "labels": True, "order": 1}, "labels"),
    ({"antialias": True, "zoom": 0.01}, "to nothing"),
    ({"antialias": "least-squares", "mode": "nearest"}, "does not support mode"),
    ({"antialias": "least-squares", "mode": "mirror", "grid_mode": True}, "use mode='reflect'"),
    ({"antialias": "least-squares", "mode": "mirror", "zoom": 0.05}, "at least two samples"),
    ({"antialias": True, "cval": np.inf, "mode": "grid-constant"}, "cval must be finite"),
])
def test_wrong_choices_are_refused(options, words):
    options = {"zoom": 0.5, **options}
    with pytest.raises(ValueError, match=words):
        ndimage.zoom(np.ones((20, 21), np.int32), **options)


@needs_doubles
@pytest.mark.parametrize("mode", ["reflect", "mirror", "nearest", "grid-wrap"])
@pytest.mark.parametrize("order", [1, 3, 5])
def test_gaussian_in_double_precision(order, mode):
    image = noise((61, 90))
    factors = (0.2, 0.35)
    result = ndimage.zoom(image, factors, order=order, mode=mode, grid_mode=mode == "reflect",
                          antialias=True, precision="double")
    single = ndimage.zoom(image, factors, order=order, mode=mode, grid_mode=mode == "reflect",
                          antialias=True)
    assert 0 < np.abs(result - single).max() < 1e-5
    if mode == "nearest" and order > 1:
        return  # SciPy cuts the prefilter 12 samples beyond the edge
    expected = gaussian_then_zoom(image, factors, order, mode, mode == "reflect")
    # SciPy's filter of reflected samples is accurate to 1e-8 on some 60 samples.
    limit = 1e-7 if mode == "reflect" and order > 1 else 1e-13
    np.testing.assert_allclose(result, expected, rtol=0, atol=limit)


@needs_doubles
def test_least_squares_in_double_precision():
    line = noise(97)
    result = ndimage.zoom(line, 0.3, order=3, mode="mirror", antialias="least-squares",
                          precision="double")
    single = ndimage.zoom(line, 0.3, order=3, mode="mirror", antialias="least-squares")
    assert 0 < np.abs(result - single).max() < 1e-5
    # A cubic polynomial beside the middle of the line is its own projection.
    x = np.linspace(-1, 1, 769)
    cubic = 0.3 * x ** 3 - x ** 2 + 0.2
    projected = ndimage.zoom(cubic, 193 / 769, order=3, mode="mirror", antialias="least-squares",
                             precision="double")
    middle = slice(92, 101)  # mirrored edges are no polynomials; their influence decays by 0.535
    np.testing.assert_allclose(projected[middle], cubic[::4][middle], rtol=0, atol=1e-13)


@needs_doubles
def test_wide_integers_are_computed_in_double_precision():
    wide = np.full((8, 8), (1 << 40) + 1)
    np.testing.assert_array_equal(ndimage.zoom(wide, 0.5, antialias=True, mode="mirror"), wide[:4, :4])


def test_arrays_beyond_the_devices_memory(monkeypatch):
    image = noise((200, 300, 3)).astype(np.float32)
    options = {"order": 3, "mode": "reflect", "grid_mode": True, "antialias": True}
    expected = ndimage.zoom(image, (0.3, 0.2, 1), **options)
    monkeypatch.setenv("WARPALIGN_MAX_DEVICE_MEMORY", "100K")
    # The axes are computed one after the other, in another order.
    np.testing.assert_allclose(ndimage.zoom(image, (0.3, 0.2, 1), **options), expected, rtol=0,
                               atol=2e-6)


def test_wrong_modes_raise_scipys_exception():
    with pytest.raises(RuntimeError, match="boundary mode not supported"):
        ndimage.zoom(np.ones(9), 0.5, mode="other", antialias=True)


def test_arrays_on_a_device():
    image = noise((4, 40, 48)).astype(np.float32)
    on_device = to_device(image)
    for antialias in (True, "least-squares"):
        options = {"order": 3, "mode": "mirror", "antialias": antialias}
        result = ndimage.zoom(on_device, (1, 0.25, 0.5), **options)
        np.testing.assert_array_equal(
            result.numpy(), ndimage.zoom(image, (1, 0.25, 0.5), **options))
    with pytest.raises(NotImplementedError, match="move the unchanged axes"):
        ndimage.zoom(to_device(np.ones((8, 3, 4, 5), np.float32)), (0.5, 1, 1, 1),
                     antialias=True)
    if warpalign.open_device().info.double_precision:
        counts = (image * 2**30).astype(np.int32)
        options = {"order": 3, "mode": "mirror", "antialias": True, "precision": "double"}
        result = ndimage.zoom(to_device(counts), (1, 0.25, 0.5), **options)
        assert np.abs(result.numpy().astype(np.int64)
                      - ndimage.zoom(counts, (1, 0.25, 0.5), **options)).max() <= 1
    mixed = (image[0] + 1j * image[1]).astype(np.complex64)
    result = ndimage.zoom(to_device(mixed), 0.25, mode="mirror", antialias=True)
    np.testing.assert_allclose(
        result.numpy(), ndimage.zoom(mixed, 0.25, mode="mirror", antialias=True), atol=1e-6)
