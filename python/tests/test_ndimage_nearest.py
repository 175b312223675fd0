"""Order 0 copies samples exactly, and decides ties as SciPy does."""

import itertools

import numpy as np
import pytest
import scipy.ndimage

from warpalign import ndimage

MODES = ["constant", "grid-constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap"]
TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
         "float32", "float64"]

CALLS = {
    "zoom": lambda m, a, **k: m.zoom(a, 1.7, **k),
    "shift": lambda m, a, **k: m.shift(a, (1.25, -2.5), **k),
    "rotate": lambda m, a, **k: m.rotate(a, 33, **k),
    "affine": lambda m, a, **k: m.affine_transform(a, [[0.5, 0.25], [-0.25, 1.5]], (1, 2), **k),
    "scales": lambda m, a, **k: m.affine_transform(a, [0.75, -1.5], (1, 9), **k),
    "points": lambda m, a, **k: m.map_coordinates(a, np.indices((9, 8)) * 1.5 - 1, **k),
}


def labels_of(dtype, shape, random):
    """Labels that float32 cannot hold; with 64 bits, float64 cannot either."""
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return (random.random(shape) + 1 / 3).astype(dtype)
    limits = np.iinfo(dtype)
    return random.choice(np.array([limits.min, limits.min + 1, 5, limits.max - 2, limits.max],
                                  dtype), shape)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
@pytest.mark.parametrize("dtype", TYPES)
def test_results_contain_only_samples_of_the_input(random, dtype, call):
    labels = labels_of(dtype, (11, 9), random)
    result = call(ndimage, labels, order=0, mode="nearest")
    assert result.dtype == labels.dtype
    assert np.isin(result, labels).all()
    # SciPy chooses the same samples: it warps their numbers, which floats hold exactly.
    numbers = np.arange(labels.size).reshape(labels.shape)
    chosen = call(scipy.ndimage, numbers, order=0, mode="nearest")
    np.testing.assert_array_equal(result, labels.ravel()[chosen])


def test_labels_of_64_bits_stay_exact(random):
    # SciPy converts samples to float64, which holds 53 bits, and so changes labels.
    labels = random.integers(2**63, 2**64 - 1, (8, 8), dtype=np.uint64)
    assert not np.isin(scipy.ndimage.zoom(labels, 2, order=0), labels).all()
    assert np.isin(ndimage.zoom(labels, 2, order=0), labels).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_points_half_way_between_samples_choose_scipys(random, mode, length):
    line = random.random(length)
    points = np.arange(-60, 80, 0.25)[np.newaxis]
    np.testing.assert_array_equal(
        ndimage.map_coordinates(line, points, order=0, mode=mode, cval=7),
        scipy.ndimage.map_coordinates(line, points, order=0, mode=mode, cval=7))


@pytest.mark.parametrize("mode", MODES)
def test_transforms_with_ties_agree_with_scipy(random, mode):
    image = random.integers(0, 2**31, (13, 14, 10))
    keywords = {"order": 0, "mode": mode, "cval": -3}
    for grid_mode, factor in itertools.product([False, True], [2, 0.5, (3, 1.5, 0.25)]):
        if grid_mode and mode in ("constant", "wrap"):
            continue  # SciPy warns
        np.testing.assert_array_equal(
            ndimage.zoom(image, factor, grid_mode=grid_mode, **keywords),
            scipy.ndimage.zoom(image, factor, grid_mode=grid_mode, **keywords))
    for call in [
        lambda m: m.shift(image, (-2.2, 5.5, -2.9), **keywords),
        lambda m: m.shift(image, (0.5, -1.5, 30.5), **keywords),
        lambda m: m.rotate(image, 45, **keywords),
        lambda m: m.rotate(image, 135, axes=(2, 0), reshape=False, **keywords),
        lambda m: m.affine_transform(image, np.diag([0.5, 1, 2]), (0.5, 0, -1), **keywords),
        lambda m: m.affine_transform(image, [0.3, 1.1, 2], (0.5, 0, -1), **keywords),
        lambda m: m.affine_transform(image, [[0.5, 0.5, 0], [-1, 0.5, 0], [0, 0, 1]], **keywords),
        lambda m: m.affine_transform(image, np.full((3, 3), 0.5), (-1, 0, 2.5), **keywords),
    ]:
        np.testing.assert_array_equal(call(ndimage), call(scipy.ndimage))


@pytest.mark.parametrize("mode", MODES)
def test_a_nan_coordinate_gives_what_scipy_gives(random, mode):
    image = random.random((9, 8))
    points = random.uniform(0, 7, (2, 12))
    points[0, 3] = points[1, 7] = np.nan
    for order, dtype in itertools.product([0, 2], [np.float32, np.float64, np.int32]):
        keywords = {"order": order, "mode": mode, "cval": 2, "output": dtype}
        np.testing.assert_allclose(
            ndimage.map_coordinates(image, points, **keywords),
            scipy.ndimage.map_coordinates(image, points, **keywords), atol=1e-5)


def test_the_last_sample_of_a_zoom_is_the_last_sample():
    # At some lengths the last coordinate rounds up to above 6, and SciPy returns cval there.
    line = np.arange(1.0, 8.0)
    for length in range(2, 200):
        zoomed = ndimage.zoom(line, length / 7, order=0, mode="constant", cval=-1)
        assert zoomed.min() >= 1
        assert zoomed[-1] == 7


def test_an_empty_array_is_zoomed_at_once():
    assert ndimage.zoom(np.ones((3, 0)), (2**33, 2), order=1).shape == (3 * 2**33, 0)


def test_other_output_types(random):
    image = random.uniform(-300, 300, (12, 10))
    image[0] = [0.5, -0.5, 1.5, 2.5, 0.49999999999999994, 255.5, 1e20, -1e20, 127.5, -128.5]
    for dtype in [np.uint8, np.int8, np.uint16, np.int32, np.float32]:
        keywords = {"order": 0, "mode": "constant", "cval": 1.5, "output": dtype}
        np.testing.assert_array_equal(ndimage.shift(image, (1, -1), **keywords),
                                      scipy.ndimage.shift(image, (1, -1), **keywords))
    wide = np.array([2**62 + 1, -2**62 - 1, 3])
    assert ndimage.shift(wide, 0, order=0, output=np.uint64).tolist() == [2**62 + 1, 0, 3]
    assert ndimage.shift(wide, 0, order=0, output=np.int32).tolist() == [2**31 - 1, -2**31, 3]


def test_every_rank_and_layout(random):
    array = random.integers(0, 2**62, (4, 5, 3, 4, 2))
    for given in [array, np.asfortranarray(array), array[::-1, :, ::2], array.astype(">i8")]:
        np.testing.assert_array_equal(
            ndimage.zoom(given, 1.5, order=0, mode="mirror"),
            _by_numbers(given, lambda numbers: scipy.ndimage.zoom(numbers, 1.5, order=0,
                                                                  mode="mirror")))
        np.testing.assert_array_equal(
            ndimage.rotate(given, 45, axes=(1, 3), order=0, mode="reflect"),
            _by_numbers(given, lambda numbers: scipy.ndimage.rotate(
                numbers, 45, axes=(1, 3), order=0, mode="reflect")))


def _by_numbers(array, call):
    numbers = call(np.arange(array.size).reshape(array.shape))
    return np.ascontiguousarray(array).ravel()[numbers]


@pytest.mark.parametrize("axes", [(1, 0), (2, 0), (1, 2)])
@pytest.mark.parametrize("mode", ["constant", "mirror", "nearest"])
@pytest.mark.parametrize("order", [1, 3])
def test_rotations_of_coefficients_do_not_change_the_third_axis(random, axes, mode, order):
    coefficients = random.random((6, 7, 12))
    keywords = {"axes": axes, "order": order, "mode": mode, "prefilter": False}
    # Single precision: accurate to 4e-7 of the largest coefficient for each of the axes.
    np.testing.assert_allclose(ndimage.rotate(coefficients, 33, **keywords),
                               scipy.ndimage.rotate(coefficients, 33, **keywords), atol=2e-6)
