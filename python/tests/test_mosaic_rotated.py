"""Mosaics of tiles that each are rotated, scaled or tilted."""

import pathlib

import numpy as np
import pytest
from scipy import ndimage

import warpalign
import warpalign.dask

PHOTO = pathlib.Path(__file__).parents[2] / "tests/data/bridge.jpg"
TILE = (200, 220)
STEP = (160, 176)


def scene_at(rows, columns):
    """A smooth texture with structure at many scales, at any places: sums of waves."""
    random = np.random.default_rng(3)
    value = np.zeros(np.shape(rows))
    for _ in range(120):
        period = np.exp(random.uniform(np.log(7), np.log(60)))
        angle = random.uniform(0, np.pi)
        wave = (np.cos(angle) * rows + np.sin(angle) * columns) * 2 * np.pi / period
        value += np.sqrt(period) * np.cos(wave + random.uniform(0, 2 * np.pi))
    return value


def matrix_of(position, angle, scale, tile=TILE):
    """From pixels (row, column, 1) of a tile to the scene: a rotation about its middle."""
    middle = (np.array(tile) - 1) / 2
    turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix = np.eye(3)
    matrix[:2, :2] = turn
    matrix[:2, 2] = np.asarray(position) + middle - turn @ middle
    return matrix


def mapped(matrix, points):
    places = np.column_stack([points, np.ones(len(points))]) @ matrix.T
    return places[:, :2] / places[:, 2:]


def drawn(scaled=0.0):
    """Four tiles, the positions of the stage, and the true matrices."""
    random = np.random.default_rng(5)
    tiles, nominal, truth = [], [], []
    grid = np.stack(np.meshgrid(*map(np.arange, TILE), indexing="ij"), -1).reshape(-1, 2)
    for row in range(2):
        for column in range(2):
            nominal.append((row * STEP[0], column * STEP[1]))
            matrix = matrix_of(nominal[-1] + random.normal(0, 1.5, 2),
                               np.deg2rad(random.normal(0, 2)), 1 + scaled * random.normal())
            truth.append(matrix)
            places = mapped(matrix, grid)
            values = scene_at(places[:, 0], places[:, 1]).reshape(TILE)
            tiles.append(np.uint16(np.clip(20000 + 80 * values, 0, 65535)))
    return tiles, np.array(nominal, float), np.array(truth)


def relative(matrices):
    """The matrices from each tile to the middle one, which no choice of the frame changes."""
    matrices = np.linalg.inv(matrices[len(matrices) // 2]) @ matrices
    return matrices / matrices[:, 2:, 2:]


def largest_error(matrices, truth, tile=TILE):
    corners = np.array([(row, column) for row in (0, tile[0] - 1) for column in (0, tile[1] - 1)])
    return max(np.abs(mapped(a, corners) - mapped(b, corners)).max()
               for a, b in zip(relative(matrices), relative(truth)))


@pytest.fixture(scope="module")
def rotated():
    return drawn()


@pytest.mark.parametrize(("motion", "scaled"), [("rigid", 0.0), ("similarity", 0.01),
                                                ("homography", 0.01)])
def test_tiles_are_located_with_their_turns(motion, scaled):
    tiles, nominal, truth = drawn(scaled)
    found = warpalign.mosaic(tiles, nominal, motion=motion)
    assert found.motion == motion and found.distortion is None
    assert [pair.outcome for pair in found.pairs] == ["used"] * 4
    # Beyond the corners of overlaps, homographies extrapolate.
    assert largest_error(found.matrices, truth) < (0.3 if motion == "homography" else 0.05)
    np.testing.assert_allclose(found.positions, mapped_origins(found.matrices), atol=1e-9)
    order = [1, 0, 2]
    np.testing.assert_array_equal(found.matrices_xy, found.matrices[:, order][:, :, order])
    for pair in found.pairs:
        between = np.linalg.inv(truth[pair.reference]) @ truth[pair.moving]
        middle = np.array([TILE]) / 2
        off = mapped(np.array(pair.matrix), middle) - mapped(between / between[2, 2], middle)
        assert np.abs(off).max() < (1 if motion == "homography" else 0.1)


def mapped_origins(matrices):
    return matrices[:, :2, 2] / matrices[:, 2:, 2]


@pytest.mark.parametrize(("motion", "scaled"), [("rigid", 0.0), ("similarity", 0.01)])
def test_tiles_of_a_photograph_are_located(motion, scaled):
    photo = np.asarray(warpalign.open(PHOTO))
    photo = photo.reshape(*photo.shape[:2], -1).mean(axis=-1)
    coefficients = ndimage.spline_filter(photo)
    random = np.random.default_rng(1)
    nominal = [(20 + 270 * row, 20 + 380 * column) for row in range(3) for column in range(3)]
    tile = (340, 470)
    grid = np.stack(np.meshgrid(*map(np.arange, tile), indexing="ij"), -1).reshape(-1, 2)
    tiles, truth = [], []
    for position in nominal:
        truth.append(matrix_of(position + random.normal(0, 2, 2),
                               np.deg2rad(random.normal(0, 1.5)), 1 + scaled * random.normal(),
                               tile))
        values = ndimage.map_coordinates(coefficients, mapped(truth[-1], grid).T, prefilter=False,
                                         mode="mirror").reshape(tile)
        tiles.append(np.uint8(np.clip(values + random.normal(0, 2, tile) + 0.5, 0, 255)))
    found = warpalign.mosaic(tiles, nominal, motion=motion)
    assert all(pair.outcome == "used" for pair in found.pairs) and len(found.pairs) == 12
    # Of such mosaics 0.04 to 0.2 is usual, at a corner of a tile that is far from all overlaps.
    assert largest_error(found.matrices, np.array(truth), tile) < 0.3


def test_shifted_tiles_have_matrices_of_translations(rotated):
    tiles, nominal, _ = rotated
    found = warpalign.mosaic([tiles[0], tiles[0][:, 40:].copy()], [(0, 0), (0, 38)])
    assert found.motion == "translation"
    np.testing.assert_allclose(found.matrices[1], [[1, 0, 0], [0, 1, 40], [0, 0, 1]], atol=0.05)
    np.testing.assert_allclose(found.pairs[0].matrix, found.matrices[1], atol=0.05)


def test_picture_and_chunks_are_the_scene(rotated):
    tiles, nominal, truth = rotated
    found = warpalign.mosaic(tiles, nominal, motion="rigid", fuse=True)
    # From the picture to the scene, by the first tile.
    to_scene = truth[0] @ np.linalg.inv(found.matrices[0])
    inner = np.stack(np.meshgrid(np.arange(20, 320), np.arange(20, 350), indexing="ij"), -1)
    places = mapped(to_scene, inner.reshape(-1, 2))
    expected = 20000 + 80 * scene_at(places[:, 0], places[:, 1]).reshape(inner.shape[:2])
    got = found.image[20:320, 20:350].astype(float)
    # Rounding to integers, and the positions' errors on slopes of some 500 a pixel.
    assert np.sqrt(np.mean((got - expected) ** 2)) < 30
    chunked = warpalign.dask.fuse_tiles(found, tiles, chunks=150).compute()
    # Places relative to a chunk round differently in single precision.
    assert np.abs(chunked.astype(int) - found.image).max() <= 4


def test_missing_pixels_are_left_to_other_tiles(rotated):
    tiles, nominal, _ = rotated
    found = warpalign.mosaic(tiles, nominal, motion="rigid", fuse=True)
    holed = [tile.copy() for tile in tiles]
    holed[0][60:80, 195:210] = 0  # which the tile to the right covers
    place = np.rint(mapped(found.matrices[0], np.array([(70.0, 202.0)]))[0]).astype(int)
    picture = found.fuse(holed, nodata=0)
    assert abs(int(picture[tuple(place)]) - int(found.image[tuple(place)])) < 60


def test_round_follows_rotated_tiles(rotated):
    tiles, nominal, truth = rotated
    found = warpalign.mosaic(tiles, nominal, motion="rigid")
    grid = np.stack(np.meshgrid(*map(np.arange, TILE), indexing="ij"), -1).reshape(-1, 2)
    moved = []
    for matrix in truth:
        places = mapped(matrix, grid + (2.5, -1.25))
        values = scene_at(places[:, 0], places[:, 1]).reshape(TILE)
        moved.append(np.uint16(np.clip(20000 + 80 * values, 0, 65535)))
    other = found.locate_round(tiles, moved)
    expected = found.matrices @ np.array([[1, 0, 2.5], [0, 1, -1.25], [0, 0, 1]])
    np.testing.assert_allclose(other.matrices, expected, atol=0.05)
    np.testing.assert_allclose(other.positions, expected[:, :2, 2], atol=0.05)
    assert other.fuse(moved).shape == found.shape


def test_scene_has_affine_transforms(rotated, tmp_path):
    zarr = pytest.importorskip("zarr")
    tiles, nominal, _ = rotated
    found = warpalign.mosaic(tiles, nominal, motion="similarity")
    found.save_scene(tmp_path / "tiles.ome.zarr", tiles, pixel_size=0.5)
    scene = zarr.open_group(tmp_path / "tiles.ome.zarr", mode="r").attrs["ome"]["scene"]
    transform = scene["coordinateTransformations"][1]
    assert transform["type"] == "affine"
    expected = found.matrices[1][:2].copy()
    expected[:, 2] *= 0.5
    np.testing.assert_allclose(transform["affine"], expected)
    tilted = warpalign.mosaic(tiles, nominal, motion="homography")
    with pytest.raises(ValueError, match="OME-Zarr has no homographies"):
        tilted.save_scene(tmp_path / "tilted.ome.zarr", tiles)


def test_wrong_motions_are_refused(rotated):
    tiles, nominal, _ = rotated
    with pytest.raises(ValueError, match="motion must be one of translation, rigid"):
        warpalign.mosaic(tiles, nominal, motion="affine")
    with pytest.raises(ValueError, match="omit estimate_distortion"):
        warpalign.mosaic(tiles, nominal, motion="rigid", estimate_distortion=True)
    blocks = [np.zeros((8, 16, 16), np.float32)] * 2
    with pytest.raises(ValueError, match="serves mosaics of images"):
        warpalign.mosaic(blocks, [(0, 0, 0), (0, 0, 8)], motion="rigid")
