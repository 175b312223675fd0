"""Mosaics of tiles that are cut from one scene at known positions."""

import numpy as np
import pytest

import warpalign

# What users are promised where every tile has texture, in pixels.
PROMISED_RMS = 0.05


class Scan:
    """Six tiles, 2 rows of 3, of a scene of waves; the stage is wrong by pixels."""

    side = 160

    def __init__(self, dtype=np.uint16):
        random = np.random.default_rng(3)
        self.nominal = np.array(
            [(126.0 * row, 130.0 * column) for row in range(2) for column in range(3)])
        self.truth = self.nominal + random.normal(0, 2, (6, 2))
        frequency = random.uniform(0.02, 0.9, (60, 1, 1))
        direction = random.uniform(0, 2 * np.pi, (60, 1, 1))
        phase = random.uniform(0, 2 * np.pi, (60, 1, 1))
        self.waves = frequency * np.cos(direction), frequency * np.sin(direction), phase
        self.tiles = [self.draw(position, (self.side, self.side)).astype(dtype)
                      for position in self.truth]

    def draw(self, position, shape):
        """The scene from this position (row, column) on, as float64."""
        y, x = np.mgrid[:shape[0], :shape[1]].astype(float)
        u, v, phase = self.waves
        waves = np.cos(u * (y + position[0]) + v * (x + position[1]) + phase)
        return np.rint(20000 + 900 * waves.sum(axis=0))


@pytest.fixture(scope="module")
def scan():
    return Scan()


def rms(found, truth):
    errors = found.positions - truth
    return np.sqrt(((errors - errors.mean(axis=0)) ** 2).sum(axis=1).mean())


def test_positions_and_pairs(scan):
    found = warpalign.mosaic(scan.tiles, scan.nominal)
    assert rms(found, scan.truth) < PROMISED_RMS
    assert [(pair.reference, pair.moving) for pair in found.pairs] == [
        (0, 1), (1, 2), (0, 3), (1, 4), (3, 4), (2, 5), (4, 5)]
    for pair in found.pairs:
        assert pair.outcome == "used" and pair.reason == "" and pair.confidence > 0.5
        truth = scan.truth[pair.moving] - scan.truth[pair.reference]
        assert np.abs(truth - pair.shift).max() < 2 * PROMISED_RMS
    assert found.positions.min() == 0 and found.image is None and found.distortion is None
    assert not found.placed_by_stage.any() and not found.components.any()
    assert np.array_equal(found.matrices[:, :2, 2], found.positions)
    assert np.array_equal(found.matrices_xy[:, :2, 2], found.positions[:, ::-1])
    assert np.array_equal(found.matrices[:, :2, :2], np.tile(np.eye(2), (6, 1, 1)))


def test_picture(scan):
    found = warpalign.mosaic(scan.tiles, scan.nominal, fuse=True)
    assert found.image.dtype == np.uint16 and found.image.shape == found.shape
    origin = (scan.truth - found.positions).mean(axis=0)
    truth = scan.draw(origin, found.shape)
    inner = np.s_[20:-20, 20:-20]
    off = found.image[inner].astype(float) - truth[inner]
    # The waves have amplitudes of 900; positions are off by hundredths of a pixel, and the cubic
    # spline loses a little of the shortest waves.
    assert np.sqrt((off ** 2).mean()) < 60
    assert np.array_equal(found.fuse(scan.tiles), found.image)
    floats = found.fuse([tile.astype(np.float64) for tile in scan.tiles])
    assert floats.dtype == np.float32
    assert np.abs(floats[inner] - found.image[inner]).max() < 2


def test_a_distortion_of_all_tiles_is_removed(scan):
    # In order: u^2, uv, v^2, u^3, u^2 v, u v^2 and v^3.
    truth = warpalign.TileDistortion((79.5, 79.5), 80.0, np.array([0.4, -1, 0.7, 0, -0.3, 0, 0.3]),
                                     np.array([-0.7, 1.2, 0.5, 0.3, 0.2, 0.3, 0]))
    y, x = np.mgrid[:scan.side, :scan.side].astype(float)
    moved = truth.displacement(np.stack([y, x], axis=-1))
    assert np.allclose(truth.displacement([79.5, 159.5]),
                       [0.4, -0.7 + 0.3])  # u = 1 and v = 0: the terms u^2 and u^3
    u, v, phase = scan.waves
    tiles = []
    for position in scan.truth:
        waves = sum(
            np.cos(a * (y + moved[..., 0] + position[0])
                   + b * (x + moved[..., 1] + position[1]) + c)
            for a, b, c in zip(u.ravel(), v.ravel(), phase.ravel()))
        tiles.append(np.rint(20000 + 900 * waves).astype(np.uint16))
    found = warpalign.mosaic(tiles, scan.nominal, fuse=True)
    assert rms(found, scan.truth) < PROMISED_RMS
    corners = np.array([[10, 10], [20, 150], [150, 15], [140, 140]])
    assert np.abs(found.distortion.displacement(corners)
                  - truth.displacement(corners)).max() < 0.1
    origin = (scan.truth - found.positions).mean(axis=0)
    scene = scan.draw(origin, found.shape)
    inner = np.s_[25:-25, 25:-25]
    off = found.image[inner].astype(float) - scene[inner]
    assert np.sqrt((off ** 2).mean()) < 60  # as without a distortion
    plain = warpalign.mosaic(tiles, scan.nominal, estimate_distortion=False)
    assert plain.distortion is None and rms(plain, scan.truth) > 3 * PROMISED_RMS


def test_lazy_tiles_are_read_by_index(scan):
    class Tiles:
        def __len__(self):
            return len(scan.tiles)

        def __getitem__(self, index):
            return scan.tiles[index]

    assert rms(warpalign.mosaic(Tiles(), scan.nominal), scan.truth) < PROMISED_RMS


def test_an_empty_tile_follows_the_stage(scan):
    tiles = list(scan.tiles)
    tiles[1] = np.zeros_like(tiles[1])
    found = warpalign.mosaic(tiles, scan.nominal)
    assert found.placed_by_stage.tolist() == [False, True, False, False, False, False]
    for pair in found.pairs:
        assert (pair.outcome == "used") == (1 not in (pair.reference, pair.moving))


def test_exchanged_axes_are_found(scan):
    with pytest.raises(ValueError, match="with x and y exchanged"):
        warpalign.mosaic(scan.tiles, scan.nominal[:, ::-1])


def test_wrong_arguments(scan):
    with pytest.raises(ValueError, match=r"positions must have the shape \(6, 2\)"):
        warpalign.mosaic(scan.tiles, scan.nominal[:5])
    with pytest.raises(ValueError, match="max_error"):
        warpalign.mosaic(scan.tiles, scan.nominal, max_error=0)
    with pytest.raises(ValueError, match="tile 0 must be an image of 2 dimensions"):
        warpalign.mosaic([np.zeros((20, 20, 3))] * 2, [(0, 0), (0, 9)])
    with pytest.raises(ValueError, match="same position"):
        warpalign.mosaic(scan.tiles, np.zeros((6, 2)))
    found = warpalign.mosaic(scan.tiles, scan.nominal)
    with pytest.raises(ValueError, match="6 located tiles, not 2"):
        found.fuse(scan.tiles[:2])


def test_what_a_sequence_raises_ends_the_work(scan):
    class Tiles:
        def __len__(self):
            return 6

        def __getitem__(self, index):
            if index == 4:
                raise OSError("the disk is gone")
            return scan.tiles[index]

    with pytest.raises(OSError, match="the disk is gone"):
        warpalign.mosaic(Tiles(), scan.nominal)
