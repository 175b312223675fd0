"""Mosaics in CZI files: tiles and positions from the subblocks, by the writer of Zeiss' library and
by stand-ins for both interfaces of czifile."""

import copy
import pickle
import sys
import types

import numpy as np
import pytest

import warpalign

SHAPE = (150, 170)
# Where the stage says that tiles lie, (row, column), and where they do lie.
NOMINAL = np.array([(0, 0), (0, 140), (0, 280), (120, 280), (120, 140), (120, 0)])
TRUTH = NOMINAL + np.array([(0, 0), (2, -3), (-1, 2), (3, 1), (-2, -2), (1, 3)])


@pytest.fixture(scope="module")
def scene():
    random = np.random.default_rng(4)
    from scipy.ndimage import gaussian_filter
    smooth = gaussian_filter(random.normal(size=(2, 300, 480)), (0, 2, 2))
    return (2000 + 8000 * (smooth - smooth.min()) / np.ptp(smooth)).astype(np.uint16)


def tile_of(scene, position, channel=0):
    row, column = np.asarray(position) + 5
    return scene[channel, row:row + SHAPE[0], column:column + SHAPE[1]]


@pytest.fixture
def czi(tmp_path, scene):
    pytest.importorskip("czifile")
    pylibczi = pytest.importorskip("pylibCZIrw.czi")
    path = tmp_path / "mosaic.czi"
    with pylibczi.create_czi(str(path)) as file:
        for number in (0, 1):
            for c in (0, 1):
                for nominal, truth in zip(NOMINAL, TRUTH):
                    pixels = tile_of(scene, truth, c) + np.uint16(number)
                    # The first pixel of a scene may lie anywhere, left of 0, too.
                    file.write(pixels[..., None], plane={"C": c, "Z": 0, "T": 0}, scene=number,
                               location=(int(nominal[1]) - 700 + 5000 * number, int(nominal[0])))
        file.write_metadata("mosaic", channel_names={0: "nuclei", 1: "actin"}, scale_x=0.65e-6,
                            scale_y=0.5e-6)
    return path


def test_tiles_of_a_czi_file(czi, scene):
    tiles = warpalign.open_tiles(czi)
    assert len(tiles) == 6 and tiles.shapes == [SHAPE] * 6
    np.testing.assert_array_equal(tiles.positions, NOMINAL)
    assert tiles.channels == ("nuclei", "actin") and len(tiles.scenes) == 2
    np.testing.assert_allclose(tiles.spacing, (0.5, 0.65))
    for index, truth in enumerate(TRUTH):
        np.testing.assert_array_equal(tiles[index], tile_of(scene, truth))
    np.testing.assert_array_equal(tiles[-1], tiles[5])
    np.testing.assert_array_equal(warpalign.open_tiles(czi, c="actin", scene=1)[2],
                                  tile_of(scene, TRUTH[2], 1) + 1)
    again = pickle.loads(pickle.dumps(warpalign.open_tiles(czi, c=1)))
    np.testing.assert_array_equal(again[3], tile_of(scene, TRUTH[3], 1))
    assert "6 tiles" in repr(tiles)
    with pytest.raises(IndexError, match="there are 6 tiles, and no number 6"):
        tiles[6]


def test_mosaic_of_a_czi_file(czi, scene):
    found = warpalign.mosaic(czi, fuse=True)
    # Whole pixels: the registration is within hundredths.
    np.testing.assert_allclose(found.positions, TRUTH - TRUTH.min(axis=0), atol=0.05)
    assert found.stage is not None and len(found.pairs) == 7
    whole = scene[0, 5 + TRUTH[:, 0].min():, 5 + TRUTH[:, 1].min():]
    rows, columns = (length - 25 for length in found.shape)
    off = found.image[25:rows, 25:columns] - whole[25:rows, 25:columns].astype(float)
    assert np.abs(off).max() < 100  # of 8000, at 0.05 pixels
    actin = found.fuse(warpalign.open_tiles(czi, c="actin"))
    off = actin[25:rows, 25:columns] - scene[1, 5 + TRUTH[:, 0].min():, 5 + TRUTH[:, 1].min():][
        25:rows, 25:columns].astype(float)
    assert np.abs(off).max() < 100
    assert found.fuse(str(czi)).shape == found.shape


def test_files_without_such_tiles_are_refused(czi, tmp_path, scene):
    for options, message in [({"scene": 2}, "has 2 images, and no number 2"),
                             ({"c": "dna"}, "no channel 'dna'; it has 'nuclei', 'actin'"),
                             ({"z": 1}, "has 1 element along z, and no number 1"),
                             ({"t": -1}, "has 1 element along t, and no number -1")]:
        with pytest.raises(ValueError, match=message) as caught:
            warpalign.open_tiles(czi, **options)
        assert str(czi) in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError):
        warpalign.open_tiles(tmp_path / "none.czi")
    other = tmp_path / "a.txt"
    other.write_text("text")
    with pytest.raises(ValueError, match="is no CZI file"):
        warpalign.mosaic(other)
    with pytest.raises(ValueError, match="is a folder; pass a list of the paths"):
        warpalign.mosaic(tmp_path)
    cut = tmp_path / "cut.czi"
    cut.write_bytes(czi.read_bytes()[:3000])
    with pytest.raises(ValueError, match="cut short, damaged or not supported|has no mosaic"):
        warpalign.open_tiles(cut)
    # A single image.
    single = tmp_path / "single.czi"
    with sys.modules["pylibCZIrw.czi"].create_czi(str(single)) as file:
        file.write(tile_of(scene, TRUTH[0])[..., None], plane={"C": 0, "Z": 0, "T": 0})
    with pytest.raises(ValueError, match="it has a single tile|it has no mosaic"):
        warpalign.open_tiles(single)


class OldEntry:
    """A subblock as czifile until 2019 describes it."""

    def __init__(self, tile, position, pixels, stored=None, scene=0, z=0):
        self.axes = "SZYX0"
        self.start = (scene, z, *position, 0)
        self.shape = (1, 1, *pixels.shape)
        self.stored_shape = self.shape if stored is None else (1, 1, *stored, pixels.shape[-1])
        self.mosaic_index = tile
        self._pixels = pixels

    def data_segment(self):
        return self

    def data(self, resize):
        assert resize is False
        return self._pixels.reshape(self.shape)


class NewEntry:
    """The same as later versions describe it."""

    def __init__(self, tile, position, pixels, stored=None, scene=0, z=0):
        self.dims = ("Z", "Y", "X", "S")
        self.start = (z, *position, 0)
        self.shape = (1, *pixels.shape)
        self.stored_shape = self.shape if stored is None else (1, *stored, pixels.shape[-1])
        self.mosaic_index = -1 if tile is None else tile
        self.scene_index = scene
        self._pixels = pixels

    def read_segment_data(self, file):
        assert file.path.endswith(".czi")
        entry = copy.copy(self)
        entry.data = lambda: self._pixels.reshape(self.shape)
        return entry


@pytest.mark.parametrize("entry", [OldEntry, NewEntry])
def test_both_interfaces_of_czifile(tmp_path, monkeypatch, entry):
    random = np.random.default_rng(1)
    pixels = random.integers(0, 255, (2, 2, 3, 20, 30, 3)).astype(np.uint8)  # scene, z, tile
    entries = [entry(0, (0, 0), pixels[0, 0, 0], stored=(10, 15)),  # reduced
               entry(None, (0, 0), pixels[0, 0, 0])]  # of no mosaic
    for scene in (0, 1):
        for z in (0, 1):
            for tile in (2, 0, 1):  # in any order
                entries.append(entry(tile, (10, 25 * tile - 40), pixels[scene, z, tile],
                                     scene=scene, z=z))

    class CziFile:
        def __init__(self, path):
            self.path = path
            self.subblock_directory = entries

        def metadata(self):
            return ("<ImageDocument><Metadata><Information><Image><Dimensions><S><Scenes>"
                    '<Scene Index="0" Name="A1"/><Scene Index="1" Name="B7"/>'
                    "</Scenes></S></Dimensions></Image></Information></Metadata></ImageDocument>")

    monkeypatch.setitem(sys.modules, "czifile", types.SimpleNamespace(CziFile=CziFile))
    path = tmp_path / "a.czi"
    path.write_bytes(b"ZISRAWFILE")
    tiles = warpalign.open_tiles(path, scene="B7", z=1)
    assert tiles.scenes == ("A1", "B7") and tiles.spacing is None
    np.testing.assert_array_equal(tiles.positions, [(0, 0), (0, 25), (0, 50)])
    for index in range(3):
        gray = np.rint(pixels[1, 1, index] @ [0.2126, 0.7152, 0.0722]).astype(np.uint8)
        np.testing.assert_array_equal(tiles[index], gray)
    entries[:] = [one for one in entries if one.mosaic_index in (None, -1, 0)]
    with pytest.raises(ValueError, match="it has a single tile"):
        warpalign.open_tiles(path)
