"""Mosaics whose tiles have missing pixels: dust on the sensor and dark corners."""

import numpy as np
import pytest

import warpalign

NODATA = 7
SIDE = 160
# The accuracy that is promised for tiles without holes is 0.05 pixels; holes take a tenth of the
# pixels away.
PROMISED_RMS = 0.06


class Scan:
    """Tiles of a scene of waves at true positions that the stage misses by some pixels."""

    def __init__(self, side, nominal, deviation, seed=3, waves=60):
        random = np.random.default_rng(seed)
        self.side = side
        self.nominal = np.array(nominal, float)
        self.truth = self.nominal + random.normal(0, deviation, self.nominal.shape)
        direction = random.normal(size=(waves, len(side)))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        self.waves = direction * random.uniform(0.1, 0.8, (waves, 1))
        self.phases = random.uniform(0, 2 * np.pi, waves)
        self.clean = [self.draw(position, side) for position in self.truth]

    def draw(self, position, shape):
        """The scene from this position on; its values are about 20000 and above 1000."""
        scene = np.full(shape, 20000.0)
        grid = np.indices(shape, float)
        for wave, phase in zip(self.waves, self.phases):
            at = np.tensordot(wave, grid, 1) + wave @ position + phase
            scene += 900 * np.cos(at)
        return np.rint(np.maximum(scene, 1000))

    def tiles(self, holes, value, dtype):
        return [np.where(holes, value, tile).astype(dtype) for tile in self.clean]


def rms(found, truth):
    errors = found.positions - truth
    return np.sqrt(((errors - errors.mean(axis=0)) ** 2).sum(axis=1).mean())


@pytest.fixture(scope="module")
def scan():
    return Scan((SIDE, SIDE), [(126 * row, 130 * column) for row in range(2)
                               for column in range(3)], 2)


@pytest.fixture(scope="module")
def holes():
    y, x = np.mgrid[:SIDE, :SIDE]
    mask = np.hypot(y - 79.5, x - 79.5) > 100
    mask[50:80, 135:158] = True  # where tiles overlap
    return mask


def known_in_picture(scan, found, holes):
    """Where a tile certainly has a value, 3 pixels from its holes, and where certainly none has."""
    certain, empty = np.zeros(found.shape, bool), np.ones(found.shape, bool)
    wide = np.lib.stride_tricks.sliding_window_view(np.pad(holes, 3), (7, 7)).any(axis=(2, 3))
    for position in found.positions:
        row, column = np.rint(position).astype(int)
        rows, columns = np.mgrid[:found.shape[0], :found.shape[1]]
        i, j = rows - row, columns - column
        inside = (i >= -2) & (j >= -2) & (i < SIDE + 2) & (j < SIDE + 2)
        i, j = np.clip(i, 0, SIDE - 1), np.clip(j, 0, SIDE - 1)
        inner = inside & (i > 1) & (j > 1) & (i < SIDE - 2) & (j < SIDE - 2)
        certain |= inner & ~wide[i, j]
        narrow = ~np.lib.stride_tricks.sliding_window_view(np.pad(~holes, 2), (5, 5)).any(
            axis=(2, 3))
        empty &= ~inside | narrow[i, j]
    return certain, empty


def check_picture(scan, found, picture, holes, value):
    certain, empty = known_in_picture(scan, found, holes)
    assert certain.mean() > 0.9 and empty.sum() > 500
    truth = scan.draw((scan.truth - found.positions).mean(axis=0), found.shape)
    # As in test_mosaic.py: positions are off by hundredths of a pixel in waves of 900.
    off = (picture.astype(float) - truth)[certain]
    assert np.sqrt((off**2).mean()) < 80
    seen = np.isnan(picture) if value is np.nan else picture == value
    assert seen[empty].all() and not seen[certain].any()


@pytest.mark.parametrize("value, dtype", [(NODATA, np.uint16), (NODATA, np.float32),
                                          (-9999, np.int32), (np.nan, np.float64)])
def test_missing_pixels_are_neither_registered_nor_blended(scan, holes, value, dtype):
    tiles = scan.tiles(holes, value, dtype)
    found = warpalign.mosaic(tiles, scan.nominal, nodata=value, fuse=True,
                             estimate_distortion=False)
    assert rms(found, scan.truth) < PROMISED_RMS
    assert all(pair.outcome == "used" for pair in found.pairs)
    assert found.image.dtype == (np.uint16 if dtype == np.uint16 else np.float32)
    check_picture(scan, found, found.image, holes, value)
    np.testing.assert_array_equal(found.fuse(tiles, nodata=value), found.image)


def test_without_nodata_the_holes_are_content(scan, holes):
    # The dust, at the same pixels of all tiles, pulls pairs, or shows in the picture.
    tiles = scan.tiles(holes, NODATA, np.uint16)
    found = warpalign.mosaic(tiles, scan.nominal, fuse=True, estimate_distortion=False)
    known, _ = known_in_picture(scan, found, holes)
    truth = scan.draw((scan.truth - found.positions).mean(axis=0), found.shape)
    # Values near 7 are blended with those near 20000.
    assert np.abs(found.image.astype(float) - truth)[known].max() > 5000


def test_nan_is_missing_without_nodata(scan, holes):
    tiles = scan.tiles(holes, np.nan, np.float32)
    found = warpalign.mosaic(tiles, scan.nominal, fuse=True, estimate_distortion=False)
    assert rms(found, scan.truth) < PROMISED_RMS
    check_picture(scan, found, found.image, holes, 0)
    # Any value that pixels can have may mark what no tile shows.
    check_picture(scan, found, found.fuse(tiles, nodata=-1), holes, -1)


def test_numbers_that_float32_confuses_stay_apart():
    # 16777217 is no float32 and becomes 16777216, which marks missing pixels.
    tiles = [np.full((64, 64), 16777217, np.int32) + np.arange(64, dtype=np.int32) * 8
             for _ in range(2)]
    scene = np.random.default_rng(2).integers(0, 1 << 20, (64, 110)).cumsum(1) // 64
    for tile, left in zip(tiles, (0, 46)):
        tile[:] = 16777220 + scene[:, left:left + 64] % 4096 * 8
        tile[10:14, 10:14] = 16777217
        tile[50:56, 20:26] = 16777216
    found = warpalign.mosaic(tiles, [(0, 0), (0, 45)], estimate_distortion=False)
    picture = found.fuse(tiles, nodata=16777216)
    corner = np.rint(found.positions[0]).astype(int)
    inside = picture[corner[0]:corner[0] + 64, corner[1]:corner[1] + 40]
    # Pixels of 16777217 are values, of which overshoot makes no hole; those of 16777216 are none.
    assert (inside[51:55, 21:25] == 16777216).all()
    near = inside[11:13, 11:13]
    assert np.abs(near.astype(float) - 16777217).max() <= 4096 * 2


def test_files_and_dask_give_the_same(scan, holes, tmp_path):
    tifffile = pytest.importorskip("tifffile")
    tiles = scan.tiles(holes, NODATA, np.uint16)
    options = {"nodata": NODATA, "estimate_distortion": False}
    found = warpalign.mosaic(tiles, scan.nominal, fuse=True, **options)
    paths = [tmp_path / f"t{i}.tif" for i in range(6)]
    for path, tile in zip(paths, tiles):
        tifffile.imwrite(path, tile)
    again = warpalign.mosaic(paths, scan.nominal, fuse=True, **options)
    np.testing.assert_array_equal(again.image, found.image)
    da = pytest.importorskip("dask.array")
    import warpalign.dask as wd
    for given in (paths, [da.from_array(tile, chunks=100) for tile in tiles]):
        picture = wd.fuse_tiles(found, given, chunks=120, nodata=NODATA)
        result = picture.compute(scheduler="threads", num_workers=2)
        np.testing.assert_array_equal(result == NODATA, found.image == NODATA)
        # Positions relative to a chunk are rounded differently.
        assert np.abs(result.astype(int) - found.image).max() <= 1
    # A chunk that no tile reaches, as all others.
    beyond = warpalign.mosaic(tiles[:2], [(0, 0), (0, 130)], **options)
    lone = wd.fuse_tiles(beyond, [tile.astype(float) for tile in tiles[:2]], chunks=(160, 50),
                         nodata=NODATA).compute(scheduler="synchronous")
    np.testing.assert_allclose(lone, beyond.fuse([tile.astype(float) for tile in tiles[:2]],
                                                 nodata=NODATA), rtol=1e-5)


def test_volumes():
    nominal = np.array(list(np.ndindex(1, 2, 2))) * (16, 50, 56)
    scan = Scan((24, 64, 72), nominal, (0.5, 1, 1), waves=40)
    holes = np.zeros((24, 64, 72), bool)
    holes[4:14, 52:60, 20:40] = True  # where tiles overlap
    tiles = scan.tiles(holes, NODATA, np.uint16)
    found = warpalign.mosaic(tiles, nominal, nodata=NODATA, fuse=True)
    assert rms(found, scan.truth) < PROMISED_RMS
    # Tile 3 is the last along all axes: in its hole no other tile has a value.
    start = np.rint(found.positions[3]).astype(int)
    inside = tuple(slice(first + a, first + b)
                   for first, (a, b) in zip(start, ((6, 12), (54, 58), (22, 38))))
    assert (found.image[inside] == NODATA).all()
    # That of tile 0 is filled by tile 2, which begins at about 50 rows.
    start = np.rint(found.positions[0]).astype(int)
    inside = tuple(slice(first + a, first + b)
                   for first, (a, b) in zip(start, ((6, 12), (55, 58), (22, 38))))
    truth = scan.draw((scan.truth - found.positions).mean(axis=0), found.shape)
    off = found.image[inside].astype(float) - truth[inside]
    assert np.sqrt((off**2).mean()) < 150  # waves of 900 in three dimensions


@pytest.mark.parametrize("value", [-1, 0.5, 70000, np.nan])
def test_a_value_that_no_pixel_has_is_refused(scan, holes, value):
    tiles = scan.tiles(holes, NODATA, np.uint16)
    with pytest.raises(ValueError, match="no pixel of tile [0-9] can have"):
        warpalign.mosaic(tiles, scan.nominal, nodata=value)
    found = warpalign.mosaic(tiles, scan.nominal, nodata=NODATA, estimate_distortion=False)
    with pytest.raises(ValueError, match="no pixel of tile 0 can have"):
        found.fuse(tiles, nodata=value)
    wd = pytest.importorskip("warpalign.dask")
    with pytest.raises(ValueError, match="no pixel of tile 0 can have"):
        wd.fuse_tiles(found, tiles, nodata=value)


def test_other_contradictions(scan, holes):
    tiles = scan.tiles(holes, NODATA, np.uint16)
    flat = np.ones((SIDE, SIDE))
    with pytest.raises(ValueError, match="flat_field would change"):
        warpalign.mosaic(tiles, scan.nominal, nodata=NODATA, flat_field=flat)
    found = warpalign.mosaic(tiles, scan.nominal, nodata=NODATA, estimate_distortion=False)
    with pytest.raises(ValueError, match="flat_field would change"):
        found.fuse(tiles, nodata=NODATA, flat_field=flat)
    wd = pytest.importorskip("warpalign.dask")
    with pytest.raises(ValueError, match="flat_field would change"):
        wd.fuse_tiles(found, tiles, nodata=NODATA, flat_field=flat)
    # A picture of float32 cannot hold what a tile of float64 can.
    with pytest.raises(ValueError, match="no pixel of the picture can have"):
        found.fuse([tile.astype(float) for tile in tiles], nodata=-1.7e308)


def test_a_tile_without_any_known_pixel_has_no_pairs(scan, holes):
    tiles = scan.tiles(holes, NODATA, np.uint16)
    tiles[1] = np.full((SIDE, SIDE), NODATA, np.uint16)
    found = warpalign.mosaic(tiles, scan.nominal, nodata=NODATA, fuse=True,
                             estimate_distortion=False)
    assert {pair.outcome for pair in found.pairs if 1 in (pair.reference, pair.moving)} == {
        "failed"}
    assert found.placed_by_stage.tolist() == [False, True, False, False, False, False]
    middle = np.rint(found.positions[1]).astype(int) + (60, 80)
    assert found.image[tuple(middle)] == NODATA


def test_a_round_is_located_without_missing_pixels(scan, holes):
    found = warpalign.mosaic(scan.tiles(holes, NODATA, np.uint16), scan.nominal, nodata=NODATA)
    truth = scan.truth + (4.3, -6.2)
    # The dust stays where it is while the scene moves by the stage's error.
    tiles = [np.where(holes, NODATA, scan.draw(position, scan.side)).astype(np.uint16)
             for position in truth]
    later = found.locate_round(scan.tiles(holes, NODATA, np.uint16), tiles, nodata=NODATA)
    assert [pair.outcome for pair in later.pairs] == ["used"] * 6
    np.testing.assert_allclose(later.positions - found.positions,
                               np.broadcast_to((4.3, -6.2), (6, 2)), atol=PROMISED_RMS)
    with pytest.raises(ValueError, match="nodata is 0.5, which no pixel of tile 0"):
        found.locate_round(tiles, tiles, nodata=0.5)
