"""Tiles of a transform, and arrays that are larger than the device's memory."""

import numpy as np
import pytest
import scipy.ndimage

import warpalign
from warpalign import ndimage

MODES = ["constant", "grid-constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap"]

# The error bound of two results: each is within 4e-7 of the largest coefficient, which for random
# samples of 0 to 1 is at most 4 (orders 2 and 3) or 8 (orders 4 and 5).
TOLERANCE = {0: 0, 1: 8e-7, 2: 3.2e-6, 3: 3.2e-6, 4: 6.4e-6, 5: 6.4e-6}

# SciPy pads by 12 samples in these modes, which limits its accuracy to this.
PADDED = {4: 2e-5, 5: 3e-4}

# Memory limits that cause tiling of arrays of more than a few dozen KiB. Under `wrap`, a tile
# across the seam needs whole rows.
LIMITS = {"wrap": "1000K"}


@pytest.fixture
def little_memory(monkeypatch):
    def limit(mode=None, memory="250K"):
        monkeypatch.setenv("WARPALIGN_MAX_DEVICE_MEMORY", LIMITS.get(mode, memory))
    return limit


def in_tiles(image, matrix, offset, shape, order, mode, tile):
    result = np.full(shape, np.nan)
    for part in warpalign.tiles(image.shape, matrix, shape, order, mode, tile, offset=offset):
        assert np.isnan(result[part.output]).all()  # no tile writes a pixel twice
        result[part.output] = ndimage.affine_transform(
            part.take(image), part.matrix, output_shape=part.shape, order=order, mode=part.mode,
            cval=0.25, output=np.float32)
    return result


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(6))
def test_tiles_equal_the_whole(random, order, mode):
    # No point lies on a tie of order 0 or on an edge, where rounding would decide.
    image = random.random((131, 117)).astype(np.float32)
    matrix, offset = [[0.93, 0.21], [-0.26, 1.11]], (-17.4137, 22.2291)
    tiled = in_tiles(image, matrix, offset, (90, 80), order, mode, (31, 40))
    whole = ndimage.affine_transform(image, matrix, offset, (90, 80), order=order, mode=mode,
                                     cval=0.25)
    np.testing.assert_allclose(tiled, whole, rtol=0, atol=TOLERANCE[order])


@pytest.mark.parametrize("shape", [(700,), (60, 72, 66)])
def test_tiles_of_lines_and_volumes(random, shape):
    array = random.random(shape).astype(np.float32)
    n = len(shape)
    matrix = np.eye(n) * 0.9 + 0.05
    for mode in ("constant", "reflect", "grid-wrap"):
        tiled = in_tiles(array, matrix, 3.137, shape, 3, mode, tuple(k // 2 for k in shape))
        whole = ndimage.affine_transform(array, matrix, 3.137, mode=mode, cval=0.25)
        # Each further axis may double the largest coefficient of random samples.
        np.testing.assert_allclose(tiled, whole, rtol=0, atol=2 * TOLERANCE[3])


def test_random_tiles_equal_the_whole():
    seed = np.random.SeedSequence().entropy % 2 ** 32
    print(f"seed {seed}")  # pytest shows this if the test fails
    random = np.random.default_rng(seed)
    for _ in range(40):
        n = int(random.integers(1, 4))
        # All extents differ, so that no axis is unchanged in a tile but not in the whole.
        longest = {1: 400, 2: 90, 3: 40}[n]
        shape = random.integers(1, longest, n)
        out_shape = random.integers(1, longest, n)
        matrix = np.diag(random.uniform(-1.5, 1.5, n)) + random.uniform(-0.2, 0.2, (n, n))
        offset = random.uniform(-2 * longest, 2 * longest, n)
        order, mode = int(random.integers(1, 6)), MODES[random.integers(7)]
        tile = tuple(int(random.integers(max(1, k // 3), k + 1)) for k in out_shape)
        image = random.random(shape).astype(np.float32)
        tiled = in_tiles(image, matrix, offset, tuple(out_shape), order, mode, tile)
        whole = ndimage.affine_transform(image, matrix, offset, tuple(out_shape), order=order,
                                         mode=mode, cval=0.25)
        np.testing.assert_allclose(tiled, whole, rtol=0, atol=4 * TOLERANCE[order], err_msg=(
            f"seed {seed}, {shape}, {out_shape}, {order}, {mode}, {tile}"))


def test_tiles_of_an_image_larger_than_any_memory_are_small():
    tiles = warpalign.tiles((2 ** 20, 2 ** 20), [[1, 0, 0.5], [0, 1, 0.5]], (2 ** 20, 2 ** 20),
                            tile=(2 ** 16, 2 ** 16))
    assert len(tiles) == 256
    assert all(part.stop - part.start < 2 ** 16 + 40 for tile in tiles for part in tile.input)


def test_invalid_arguments_raise():
    image, eye = (40, 30), np.eye(2)
    with pytest.raises(RuntimeError, match="spline order"):
        warpalign.tiles(image, eye, image, order=6)
    with pytest.raises(RuntimeError, match="boundary mode"):
        warpalign.tiles(image, eye, image, mode="around")
    with pytest.raises(ValueError, match="a matrix for 2 axes"):
        warpalign.tiles(image, np.eye(4), image)
    with pytest.raises(ValueError, match="1 to 3 axes"):
        warpalign.tiles((2, 3, 4, 5), np.eye(4), (2, 3, 4, 5))
    with pytest.raises(warpalign.InvalidArgumentError, match="the tile"):
        warpalign.tiles(image, eye, image, tile=0)
    tile = warpalign.tiles(image, eye, image)[0]
    with pytest.raises(ValueError, match="3 axes"):
        tile.take(np.zeros((2, 3, 4)))


def assert_near_scipy(name, array, *arguments, **keywords):
    order, mode = keywords.get("order", 3), keywords.get("mode", "constant")
    padded = PADDED.get(order, 0) if mode in ("nearest", "grid-constant") else 0
    np.testing.assert_allclose(
        getattr(ndimage, name)(array, *arguments, **keywords),
        getattr(scipy.ndimage, name)(array.astype(float), *arguments, **keywords), rtol=0,
        atol=max(2 * TOLERANCE[order], padded))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [1, 3, 5])
def test_functions_use_tiles_if_memory_is_small(random, little_memory, order, mode):
    little_memory(mode)
    image = random.random((231, 217)).astype(np.float32)
    keywords = {"order": order, "mode": mode}
    assert_near_scipy("affine_transform", image, [[0.93, 0.21], [-0.26, 1.11]],
                      offset=(-17.4137, 22.2291), **keywords)
    assert_near_scipy("zoom", image, (1.31, 0.77), **keywords)
    assert_near_scipy("shift", image, (3.37, -11.71), **keywords)
    assert_near_scipy("rotate", image, 33.3, **keywords)


@pytest.mark.parametrize("mode", MODES)
def test_points_use_tiles_if_memory_is_small(random, little_memory, mode):
    image = random.random((231, 217)).astype(np.float32)
    rows, columns = np.mgrid[:180, :190]
    # float32 represents these coordinates exactly, so their rounding does not matter.
    points = np.stack([1.25 * rows + columns / 32 - 3, 1.25 * columns + rows / 64 - 7])
    whole = ndimage.map_coordinates(image, points, mode=mode, cval=0.25)
    # The whole needs 800K. If points lie beyond the edges, a tile may need the whole image, twice
    # 200K.
    little_memory(mode, "500K")
    np.testing.assert_allclose(ndimage.map_coordinates(image, points, mode=mode, cval=0.25), whole,
                               rtol=0, atol=4 * TOLERANCE[3])


def test_many_small_images_need_no_tiles(random, little_memory):
    # A batch is divided among calls before an image is.
    stack = random.random((40, 30, 30)).astype(np.float32)
    whole = ndimage.affine_transform(stack, [1, 0.9, 0.8], offset=(0, 1.1, 2.2))
    little_memory()
    assert np.array_equal(
        ndimage.affine_transform(stack, [1, 0.9, 0.8], offset=(0, 1.1, 2.2)), whole)


def test_invalid_and_too_small_memory_limits(little_memory, monkeypatch):
    image = np.zeros((300, 300), np.float32)
    monkeypatch.setenv("WARPALIGN_MAX_DEVICE_MEMORY", "plenty")
    with pytest.raises(warpalign.ConfigurationError, match="WARPALIGN_MAX_DEVICE_MEMORY=plenty"):
        ndimage.shift(image, 0.5)
    monkeypatch.setenv("WARPALIGN_MAX_DEVICE_MEMORY", "1K")
    with pytest.raises(MemoryError, match="WARPALIGN_MAX_DEVICE_MEMORY"):
        ndimage.shift(image, 0.5)


def test_offset_applies_to_matrices_without_one(random):
    image = random.random((60, 70))
    offset = (2.5, -3.25)
    for matrix in ([1.1, 0.9], [[1.1, 0.1], [0, 0.9]], [[1.1, 0.1, 4], [0, 0.9, 5]],
                   [[1.1, 0.1, 4], [0, 0.9, 5], [0, 0, 1]]):
        whole = ndimage.affine_transform(image, matrix, offset, cval=0.25)
        tiled = in_tiles(image, matrix, offset, image.shape, 3, "constant", 25)
        np.testing.assert_allclose(tiled, whole, rtol=0, atol=TOLERANCE[3])
