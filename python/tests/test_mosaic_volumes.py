"""Mosaics whose tiles are volumes, cut from one scene at known positions."""

import numpy as np
import pytest

import warpalign

# What users are promised where every tile has texture, in voxels.
PROMISED_RMS = 0.05


class Block:
    """Eight tiles, 2 layers of 2 x 2, of a scene of waves; the stage is wrong by voxels."""

    def __init__(self, seed=7, side=(24, 64, 72), step=(16, 50, 56), waves=50):
        random = np.random.default_rng(seed)
        self.side = side
        self.nominal = np.array(list(np.ndindex(2, 2, 2))) * np.array(step, float)
        self.truth = self.nominal + random.normal(0, 1, (8, 3)) * (0.6, 2, 2)
        frequency = random.uniform(0.1, 0.9, waves)
        direction = random.normal(0, 1, (3, waves))
        self.waves = frequency * direction / np.linalg.norm(direction, axis=0)
        self.phase = random.uniform(0, 2 * np.pi, waves)
        self.tiles = [self.draw(position, self.side).astype(np.uint16) for position in self.truth]

    def draw(self, position, shape):
        """The scene from this position (plane, row, column) on, as float64."""
        scene = np.zeros(shape)
        for wave, phase in zip(self.waves.T, self.phase):
            parts = [np.exp(1j * f * (np.arange(length) + start))
                     for f, length, start in zip(wave, shape, position)]
            parts[0] *= np.exp(1j * phase)
            scene += np.einsum("i,j,k->ijk", *parts).real
        return np.rint(20000 + 900 * scene)


@pytest.fixture(scope="module")
def block():
    return Block()


@pytest.fixture(scope="module")
def found(block):
    return warpalign.mosaic(block.tiles, block.nominal, fuse=True)


def rms(positions, truth):
    errors = positions - truth
    return np.sqrt(((errors - errors.mean(axis=0)) ** 2).sum(axis=1).mean())


def test_positions_and_pairs(block, found):
    assert rms(found.positions, block.truth) < PROMISED_RMS
    assert [(pair.reference, pair.moving) for pair in found.pairs] == [
        (0, 1), (0, 2), (1, 3), (2, 3), (0, 4), (1, 5), (4, 5), (2, 6), (4, 6), (3, 7), (5, 7),
        (6, 7)]
    for pair in found.pairs:
        assert pair.outcome == "used" and pair.reason == "" and pair.confidence > 0.5
        truth = block.truth[pair.moving] - block.truth[pair.reference]
        assert np.abs(truth - pair.shift).max() < 2 * PROMISED_RMS
        assert len(pair.residual) == 3 and min(pair.uncertainty) > 0
    assert (found.positions.min(axis=0) == 0).all() and found.distortion is None
    assert not found.placed_by_stage.any() and not found.components.any()
    assert np.array_equal(found.matrices[:, :3, 3], found.positions)
    assert np.array_equal(found.matrices_xy[:, :3, 3], found.positions[:, ::-1])
    assert found.stage.matrix.shape == (3, 3) and len(found.stage.backlash) == 3
    assert 0.5 < found.stage.deviation < 4


def test_the_fused_volume_is_the_scene(block, found):
    assert found.image.dtype == np.uint16 and found.image.shape == found.shape
    origin = (block.truth - found.positions).mean(axis=0)
    truth = block.draw(origin, found.shape)
    inner = np.s_[4:-4, 6:-6, 6:-6]
    off = found.image[inner].astype(float) - truth[inner]
    # The waves have amplitudes of 900; the cubic spline loses a little of the shortest ones.
    assert np.sqrt((off ** 2).mean()) < 60
    assert np.array_equal(found.fuse(block.tiles), found.image)
    floats = found.fuse([tile.astype(np.float64) for tile in block.tiles])
    assert floats.dtype == np.float32
    assert np.abs(floats[inner] - found.image[inner]).max() < 2  # rounding, twice


def test_thin_overlaps_of_a_scene_that_nearly_repeats():
    # Of windows that are wider by max_error, thin overlaps are a small part, and other shifts agree
    # as well. Where the located tiles say that they overlap, the shifts are found.
    block = Block(0, side=(32, 80, 80), step=(25, 64, 64), waves=12)
    found = warpalign.mosaic(block.tiles, block.nominal)
    assert [pair.outcome for pair in found.pairs] == ["used"] * 12
    assert rms(found.positions, block.truth) < PROMISED_RMS


def test_lazy_tiles_and_an_empty_one(block, found):
    class Tiles:
        def __len__(self):
            return len(block.tiles)

        def __getitem__(self, index):
            return np.zeros_like(block.tiles[0]) if index == 6 else block.tiles[index]

    part = warpalign.mosaic(Tiles(), block.nominal, estimate_distortion=False)
    assert part.placed_by_stage.tolist() == [index == 6 for index in range(8)]
    for pair in part.pairs:
        assert (pair.outcome == "used") == (6 not in (pair.reference, pair.moving))
    textured = np.arange(8) != 6
    assert rms(part.positions[textured], block.truth[textured]) < PROMISED_RMS


def test_files_of_volumes(block, tmp_path, found):
    tifffile = pytest.importorskip("tifffile")
    paths = [tmp_path / f"tile{index}.tif" for index in range(2)]
    for path, tile in zip(paths, block.tiles):
        tifffile.imwrite(path, tile, photometric="minisblack")
    pair = warpalign.mosaic(paths, block.nominal[:2]).pairs[0]
    assert pair.outcome == "used" and pair.shift == found.pairs[0].shift


def test_what_volumes_do_not_have_is_refused(block, found):
    tiles, nominal = block.tiles[:2], block.nominal[:2]
    with pytest.raises(ValueError, match=r"volumes need positions of shape \(2, 3\)"):
        warpalign.mosaic(tiles)
    with pytest.raises(ValueError, match=r"volumes need positions of shape \(2, 3\)"):
        warpalign.mosaic(tiles, nominal[:, 1:])
    with pytest.raises(ValueError, match="tile 0 must be a volume of 3 dimensions"):
        warpalign.mosaic([tile[0] for tile in tiles], nominal)
    with pytest.raises(ValueError, match="estimate_distortion serves mosaics of images"):
        warpalign.mosaic(tiles, nominal, estimate_distortion=True)
    with pytest.raises(ValueError, match="flat_field serves mosaics of images"):
        warpalign.mosaic(tiles, nominal, flat_field=tiles[0][0])
    with pytest.raises(ValueError, match="a flat field serves mosaics of images"):
        found.fuse(block.tiles, flat_field=tiles[0][0])
    with pytest.raises(ValueError, match=r"locate_round\(\) serves mosaics of images"):
        found.locate_round(block.tiles, block.tiles)
    with pytest.raises(ValueError, match=r"save_scene\(\) serves mosaics of images"):
        found.save_scene("scene.zarr", block.tiles)
    with pytest.raises(ValueError, match="tile 1 is the same volume as tile 0"):
        warpalign.mosaic([tiles[0], tiles[0]], nominal)
    with pytest.raises(ValueError, match="no tiles overlap"):
        warpalign.mosaic(tiles, [(0, 0, 0), (0, 0, 500)])
    with pytest.raises(ValueError, match="8 located tiles, not 2"):
        found.fuse(tiles)


def test_dask_refuses_volumes(block, found):
    pytest.importorskip("dask.array")
    import warpalign.dask

    with pytest.raises(ValueError, match=r"fuse_tiles\(\) serves mosaics of images"):
        warpalign.dask.fuse_tiles(found, block.tiles)
