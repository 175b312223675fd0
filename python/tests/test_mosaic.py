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


def test_positions_are_searched_for(scan):
    order = [4, 0, 5, 2, 1, 3]
    found = warpalign.mosaic([scan.tiles[i] for i in order])
    assert rms(found, scan.truth[order]) < PROMISED_RMS
    assert found.stage is None and not found.placed_by_stage.any()
    assert len(found.pairs) >= 7 and not found.components.any()
    other = Scan(np.uint16)
    other.waves = tuple(wave[::-1] for wave in other.waves[:2]) + (other.waves[2] + 1,)
    lone = other.draw((40, 30), (scan.side, scan.side)).astype(np.uint16)
    apart = warpalign.mosaic([*scan.tiles, lone])
    assert apart.components.tolist() == [0] * 6 + [1]
    assert apart.positions[6, 1] > apart.positions[:6, 1].max() + scan.side
    with pytest.raises(ValueError, match="max_error is the error of positions"):
        warpalign.mosaic(scan.tiles, max_error=20)


def test_exchanged_axes_are_found(scan):
    with pytest.raises(ValueError, match="with x and y exchanged"):
        warpalign.mosaic(scan.tiles, scan.nominal[:, ::-1])


def test_uneven_illumination_is_estimated_and_removed(scan):
    y, x = np.mgrid[-1:1:160j, -1:1:160j]
    light = 1.1 - 0.25 * (x - 0.2) ** 2 - 0.3 * y ** 2 + 0.08 * x
    light /= light.mean()
    random = np.random.default_rng(5)
    positions = random.uniform(0, 4000, (40, 2))
    dark = 300
    tiles = [np.rint(light * scan.draw(position, (160, 160)) + dark).astype(np.uint16)
             for position in positions]
    flat = warpalign.flat_field(tiles, dark=dark)
    assert flat.shape == (160, 160) and flat.dtype == np.float32
    assert flat.mean() == pytest.approx(1, abs=1e-4)
    # The median of 40 tiles, whose local means differ by some 10 %, smoothed by a polynomial of 15
    # terms: half a per cent. It follows the darkest corner, of 0.4, less closely.
    off = flat / light - 1
    assert np.sqrt((off ** 2).mean()) < 0.01 and np.abs(off).max() < 0.1
    found = warpalign.mosaic(scan.tiles, scan.nominal)
    shaded = [np.rint(light * (tile - 0.0) + dark).astype(np.uint16) for tile in scan.tiles]
    inner = np.s_[20:-20, 20:-20]
    even = found.fuse(shaded, flat_field=light, dark=dark)[inner] - float(dark)
    assert np.sqrt(((even - found.fuse(scan.tiles)[inner]) ** 2).mean()) < 3  # rounding
    uneven = found.fuse(shaded)[inner] - float(dark)
    assert np.sqrt(((uneven - found.fuse(scan.tiles)[inner]) ** 2).mean()) > 500
    for wrong, message in [(light[:100], "flat_field has the shape"),
                           (light * 0, "flat field must be above 0")]:
        with pytest.raises(ValueError, match=message):
            found.fuse(scan.tiles, flat_field=wrong)
    with pytest.raises(ValueError, match="at least 3 tiles, not 2"):
        warpalign.flat_field(tiles[:2])
    with pytest.raises(ValueError, match="tile 2 has the shape"):
        warpalign.flat_field([*tiles[:2], tiles[2][:50]])
    with pytest.raises(ValueError, match="at least 3 tiles that are brighter than dark, not 0"):
        warpalign.flat_field(np.zeros((4, 20, 20)))


def test_tiles_are_registered_without_the_pattern_of_the_camera(scan):
    random = np.random.default_rng(9)
    light = np.clip(random.normal(1, 0.35, (160, 160)), 0.2, 1.5)
    # The camera's offset differs from pixel to pixel.
    dark = random.uniform(200, 400, (160, 160))
    shaded = [np.rint(light * tile + dark).astype(np.uint16) for tile in scan.tiles]
    options = dict(estimate_distortion=False)
    clean = warpalign.mosaic(scan.tiles, scan.nominal, fuse=True, **options)
    # In any unit: the mean becomes 1.
    found = warpalign.mosaic(shaded, scan.nominal, flat_field=7 * light, dark=dark, fuse=True,
                             **options)
    # Rounding of a pixel that is 5 times as dark as others leaves more noise than the tiles have.
    assert np.abs(found.positions - clean.positions).max() < 0.02
    assert all(pair.outcome == "used" for pair in found.pairs)
    inner = np.s_[20:-20, 20:-20]
    even = (found.image[inner] - dark.mean()) / light.mean()
    assert np.sqrt(((even - clean.image[inner]) ** 2).mean()) < 5
    bare = warpalign.mosaic(shaded, scan.nominal, **options)
    assert (np.abs(bare.positions - clean.positions).max() > 0.05
            or any(pair.outcome != "used" for pair in bare.pairs))
    for wrong, message in [(dark[:100], "dark has the shape"), (dark * np.nan, "dark must be")]:
        with pytest.raises(ValueError, match=message):
            warpalign.mosaic(shaded, scan.nominal, flat_field=light, dark=wrong)


def test_a_round_is_located_in_the_first(scan):
    found = warpalign.mosaic(scan.tiles, scan.nominal)
    random = np.random.default_rng(21)
    truth = scan.truth + (4.3, -6.2) + random.normal(0, 0.8, (6, 2))
    tiles = [scan.draw(position, (160, 160)).astype(np.uint16) for position in truth]
    tiles[2] = np.zeros_like(tiles[2])
    later = found.locate_round(scan.tiles, tiles)
    assert later.placed_by_stage.tolist() == [False, False, True, False, False, False]
    assert [pair.outcome for pair in later.pairs] == ["used"] * 2 + ["failed"] + ["used"] * 3
    # In the frame of the first round, whose errors are PROMISED_RMS.
    origin = (found.positions - scan.truth).mean(axis=0)
    errors = np.linalg.norm(later.positions - truth - origin, axis=1)
    assert np.delete(errors, 2).max() < 3 * PROMISED_RMS
    assert errors[2] < 4  # the stage's deviation is 0.8 pixels along each axis
    assert later.shape == found.shape
    picture = later.fuse(tiles)
    inner = np.s_[170:-20, 20:-20]  # without the empty tile
    off = picture[inner].astype(float) - found.fuse(scan.tiles)[inner]
    assert np.sqrt((off ** 2).mean()) < 60  # as in test_picture
    with pytest.raises(ValueError, match="tiles has 5 tiles, but 6 are located"):
        found.locate_round(scan.tiles, tiles[:5])
    with pytest.raises(ValueError, match="tile 3 of tiles has the shape"):
        found.locate_round(scan.tiles, [*tiles[:3], tiles[3][:100], *tiles[4:]])
    with pytest.raises(warpalign.Error, match="no tile of the round matches"):
        found.locate_round(scan.tiles, [np.zeros((160, 160))] * 6)


def test_wrong_arguments(scan):
    with pytest.raises(ValueError, match=r"positions must have the shape \(6, 2\)"):
        warpalign.mosaic(scan.tiles, scan.nominal[:5])
    with pytest.raises(ValueError, match="max_error"):
        warpalign.mosaic(scan.tiles, scan.nominal, max_error=0)
    with pytest.raises(ValueError, match="tile 0 must be an image of 2 dimensions"):
        warpalign.mosaic([np.zeros((20, 20, 3))] * 2, [(0, 0), (0, 9)])
    with pytest.raises(ValueError, match="tile 5 is the same picture as tile 2; give each"):
        warpalign.mosaic([*scan.tiles[:5], scan.tiles[2]], scan.nominal)
    with pytest.raises(ValueError, match="at least 2 tiles, not 0"):
        warpalign.mosaic([], [])
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
