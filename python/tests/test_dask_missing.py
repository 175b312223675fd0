"""warpalign.dask with missing samples, against warpalign.ndimage for the whole arrays."""

import numpy as np
import pytest
import scipy.ndimage
from dask_tolerances import TOLERANCE, tolerance_for

import warpalign
from warpalign import ndimage

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402

import warpalign.dask as wd  # noqa: E402

MODES = ["constant", "grid-constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap"]
MATRIX, OFFSET = [[0.93, 0.21], [-0.26, 1.11]], (-7.4137, 22.2291)


@pytest.fixture
def image(random):
    return random.random((190, 170))


@pytest.fixture
def holes(random):
    """Holes of up to 32 samples, many of them across the edges of chunks of 48, and at the edges
    of the array."""
    mask = np.zeros((190, 170), bool)
    for row in range(8, 190, 48):
        for column in range(8, 170, 48):
            rows, columns = random.integers(1, 33, 2)
            mask[row:row + rows, column:column + columns] = True
    mask[:5, 100:120] = mask[-9:, 20:30] = mask[60:70, -6:] = True
    return mask


def chunked(array):
    return da.from_array(array, chunks=48)


def computed(*arrays):
    return dask.compute(*arrays, scheduler="threads", num_workers=2)


def agree(result, expected, tolerance):
    values, weights = computed(*result)
    assert values.dtype == expected[0].dtype and weights.dtype == np.float32
    assert np.isnan(values).any()
    np.testing.assert_array_equal(np.isnan(values), np.isnan(expected[0]))
    np.testing.assert_allclose(values, expected[0], rtol=0, atol=tolerance)
    # Points and weights are computed in single precision.
    np.testing.assert_allclose(weights, expected[1], rtol=0, atol=2e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(6))
def test_transforms_of_holes_within_the_margin_agree(image, holes, order, mode):
    given = np.where(holes, np.nan, image)
    options = {"order": order, "mode": mode, "cval": 0.25, "missing": "ignore", "weights": True}
    agree(wd.affine_transform(chunked(given), MATRIX, OFFSET, **options),
          ndimage.affine_transform(given, MATRIX, OFFSET, **options), tolerance_for(order, mode))


@pytest.mark.parametrize("mode", ["constant", "nearest", "wrap", "grid-wrap"])
@pytest.mark.parametrize("order", [0, 1, 3])
def test_points_agree(image, holes, order, mode):
    given = np.where(holes, np.nan, image)
    rows, columns = np.mgrid[:120, :130]
    points = np.stack([1.57 * rows + 3 * np.sin(columns / 7) - 3.137, 1.3 * columns - 7.221])
    points[:, 5, 7] = np.nan
    options = {"order": order, "mode": mode, "cval": 0.25, "missing": "ignore", "weights": True}
    # Coordinates are rounded to float32.
    agree(wd.map_coordinates(chunked(given), da.from_array(points, chunks=(2, 40, 40)), **options),
          ndimage.map_coordinates(given, points, **options), TOLERANCE + 2e-5)


@pytest.mark.parametrize("factors", [(1.31, 0.77), (1, 1.2), (1, 1)])
def test_zooms_agree(image, holes, factors):
    given = np.where(holes, np.nan, image)
    options = {"zoom": factors, "mode": "mirror", "missing": "ignore", "weights": True}
    agree(wd.zoom(chunked(given), **options), ndimage.zoom(given, **options), TOLERANCE)


def test_reductions_agree(image, holes):
    given = np.where(holes, np.nan, image)
    options = {"mode": "mirror", "antialias": True, "missing": "ignore", "weights": True}
    agree(wd.affine_transform(chunked(given), [[1.8, 0.3], [-0.4, 2.1]], (3, 9),
                              output_shape=(90, 75), **options),
          ndimage.affine_transform(given, [[1.8, 0.3], [-0.4, 2.1]], (3, 9), output_shape=(90, 75),
                                   **options), TOLERANCE)


def test_the_mask_is_smoothed_where_a_chunk_sees_the_identity(image, holes):
    # The output is longer than the input, whose axis is therefore evaluated; the first chunk is as
    # long.
    given = np.where(holes, np.nan, image)
    options = {"mode": "mirror", "output_shape": (200, 170), "missing": "ignore", "weights": True}
    agree(wd.affine_transform(chunked(given), [1, 1], output_chunks=(190, 170), **options),
          ndimage.affine_transform(given, [1, 1], **options), TOLERANCE)


LARGE = {
    "disk": lambda rows, columns: np.hypot(rows - 95, columns - 85) < 55,
    "frame": lambda rows, columns: (np.abs(rows - 90) > 70) | (columns < 40),
    "columns": lambda rows, columns: (columns > 50) & (columns < 54),
    "everywhere but in a corner": lambda rows, columns: rows + columns > 60,
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("order", [1, 3])
def test_holes_beyond_the_margin_stay_the_same_holes(image, name, order):
    given = np.where(LARGE[name](*np.mgrid[:190, :170]), np.nan, image)
    options = {"order": order, "mode": "mirror", "missing": "ignore", "weights": True}
    values, weights = computed(*wd.affine_transform(chunked(given), MATRIX, OFFSET, **options))
    expected, shares = ndimage.affine_transform(given, MATRIX, OFFSET, **options)
    np.testing.assert_array_equal(np.isnan(values), np.isnan(expected))
    np.testing.assert_allclose(weights, shares, rtol=0, atol=2e-5)
    # As the docstring states, for noise with the range 1: the 20 steps of the solver see another
    # part of the hole.
    np.testing.assert_allclose(values, expected, rtol=0, atol=0.01)
    known = shares == 1
    np.testing.assert_allclose(values[known], expected[known], rtol=0, atol=2e-4)


def test_chunks_without_a_known_sample_are_missing(image):
    given = np.full_like(image, np.nan)
    values, weights = computed(*wd.affine_transform(
        chunked(given), [1, 1], (0.5, 100), missing="ignore", weights=True, cval=7))
    assert (weights == 0).all()
    assert np.isnan(values[:-1, :69]).all()
    assert (values[:, 70:] == 7).all()  # beyond the edge


def test_integers_keep_nodata(image, holes):
    given = np.where(holes, 0, 1 + image * 250).astype(np.uint8)
    options = {"missing": "ignore", "nodata": 0, "mode": "mirror"}
    [values] = computed(wd.affine_transform(chunked(given), MATRIX, OFFSET, **options))
    expected = ndimage.affine_transform(given, MATRIX, OFFSET, **options)
    assert values.dtype == np.uint8
    np.testing.assert_array_equal(values == 0, expected == 0)
    # TOLERANCE of 250 is far below 1: only roundings of a half may differ.
    assert (values != expected).mean() < 1e-3
    assert np.abs(values.astype(int) - expected).max() <= 1


def test_channels_volumes_and_complex_numbers(random):
    colour = random.random((2, 90, 100))
    colour[1, 30:60, 40:52] = np.nan
    matrix = np.diag([1, 0.9, 1.1])
    options = {"mode": "mirror", "missing": "ignore", "weights": True}
    agree(wd.affine_transform(da.from_array(colour, chunks=(1, 40, 50)), matrix, (0, 3, -4),
                              **options),
          ndimage.affine_transform(colour, matrix, (0, 3, -4), **options), TOLERANCE)
    volume = random.random((40, 44, 90))
    volume[10:20, 15:30, 30:50] = np.inf
    agree(wd.zoom(da.from_array(volume, chunks=(40, 22, 30)), 1.1, **options),
          ndimage.zoom(volume, 1.1, **options), 2 * TOLERANCE)  # a third axis
    waves = random.random((90, 80)) + 1j * random.random((90, 80))
    waves[30:40, 35:42] = complex(1, np.nan)
    agree(wd.zoom(da.from_array(waves, chunks=40), 1.1, **options),
          ndimage.zoom(waves, 1.1, **options), TOLERANCE)


def test_a_chunk_reads_its_margin_and_not_the_whole_array(random):
    array = da.from_array(random.random((1000, 1000)), chunks=100)
    shifted = wd.affine_transform(array, [1, 1], (0.5, 0.5), missing="ignore")
    needed = shifted.blocks[5, 5].__dask_optimize__(shifted.dask, [(shifted.name, 5, 5)])
    assert sum(str(key[0]).startswith("array") for key in needed if isinstance(key, tuple)) <= 9


@pytest.mark.parametrize("arguments, message", [
    ({"missing": "drop"}, "invalid missing"),
    ({"nodata": 0}, "needs missing='ignore'"),
    ({"weights": True}, "needs missing='ignore'"),
    ({"missing": "ignore", "prefilter": False}, "not coefficients"),
    ({"missing": "ignore", "nodata": 300}, "no sample of an input"),
    ({"missing": "ignore", "nodata": 255, "output": np.int8}, "no sample of an output"),
])
def test_wrong_choices_are_refused_before_anything_runs(arguments, message):
    array = da.full((60, 70), 9, dtype=np.uint8, chunks=30)
    with pytest.raises(ValueError, match=message):
        wd.zoom(array, 1, **arguments)
    with pytest.raises(ValueError, match=message):
        wd.affine_transform(array, MATRIX, **arguments)
    with pytest.raises(ValueError, match=message):
        wd.map_coordinates(array, np.zeros((2, 5)), **arguments)


def test_other_contradictions():
    array = da.full((60, 70), 9, dtype=np.uint8, chunks=30)
    with pytest.raises(ValueError, match="labels"):
        wd.zoom(array, 2, labels=True, missing="ignore")
    holed = wd.zoom(da.full((60, 70), np.nan, chunks=30), 2, missing="ignore", output=np.uint8)
    with pytest.raises(ValueError, match="cannot hold NaN"):
        holed.compute(scheduler="synchronous")


def test_a_stack_warps_frames_with_holes():
    random = np.random.default_rng(3)
    scene = scipy.ndimage.gaussian_filter(random.standard_normal((140, 160)), 2)
    frames = np.stack([scene[10:106, 10 + shift:138 + shift] for shift in (0, 2, 5)])
    frames[:, 40:44, 60:65] = np.nan
    stack = wd.register_stack(frames, motion="translation").persist(scheduler="synchronous")
    values, weights = computed(*stack.warp(frames, weights=True))
    whole = warpalign.register_stack(frames, motion="translation")
    for frame, shares, expected in zip(values, weights, whole.warp(frames, weights=True)):
        np.testing.assert_array_equal(frame, expected[0])
        np.testing.assert_array_equal(shares, expected[1])
        assert 0 < np.isnan(frame).sum() < 60
    [spread] = computed(stack.warp(frames, missing="spread"))
    assert np.isnan(spread[1]).sum() > 500
    with pytest.raises(ValueError, match="needs missing='ignore'"):
        stack.warp(frames, missing="spread", nodata=0)
