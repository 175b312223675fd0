"""The picture of a mosaic by chunks on Dask, and its pyramid in OME-Zarr."""

import errno
import json

import numpy as np
import pytest

import warpalign

da = pytest.importorskip("dask.array")
pytest.importorskip("zarr")
wd = pytest.importorskip("warpalign.dask")


class Found:
    """Two rows of three tiles of waves, located by their overlaps."""

    def __init__(self):
        y, x = np.mgrid[:300, :420].astype(float)
        random = np.random.default_rng(8)
        scene = np.full(y.shape, 20000.0)
        for _ in range(40):
            u, v = random.uniform(-0.7, 0.7, 2)
            scene += 1100 * np.cos(u * y + v * x + random.uniform(0, 2 * np.pi))
        self.corners = [(3, 2), (0, 131), (2, 255), (129, 0), (132, 128), (130, 258)]
        self.tiles = [np.rint(scene[r:r + 160, c:c + 160]).astype(np.uint16)
                      for r, c in self.corners]
        nominal = [(130 * (i // 3), 128 * (i % 3)) for i in range(6)]
        self.found = warpalign.mosaic(self.tiles, nominal)


@pytest.fixture(scope="module")
def scan():
    return Found()


def test_chunks_make_the_picture(scan):
    whole = scan.found.fuse(scan.tiles)
    for chunks in (64, (100, 400), 2048):
        picture = wd.fuse_tiles(scan.found, scan.tiles, chunks=chunks)
        assert picture.dtype == np.uint16 and picture.shape == scan.found.shape
        # Positions relative to a chunk are rounded differently.
        assert np.abs(picture.compute().astype(int) - whole).max() <= 1
    lazy = [da.from_array(tile, chunks=50) for tile in scan.tiles]
    assert np.array_equal(wd.fuse_tiles(scan.found, lazy, chunks=100).compute(),
                          wd.fuse_tiles(scan.found, scan.tiles, chunks=100).compute())


def test_chunks_are_flattened_alike(scan):
    flat = np.linspace(0.8, 1.2, 160) * np.ones((160, 1))
    whole = scan.found.fuse(scan.tiles, flat_field=flat, dark=100)
    picture = wd.fuse_tiles(scan.found, scan.tiles, chunks=150, flat_field=flat, dark=100)
    assert np.abs(picture.compute().astype(int) - whole).max() <= 1
    # As a process of a cluster receives it.
    assert np.array_equal(picture.compute(scheduler="processes", num_workers=1),
                          picture.compute())


def test_a_task_reads_the_tiles_in_its_chunk_only(scan):
    read = []

    def tile(i):
        def block():
            read.append(i)
            return scan.tiles[i]
        return da.from_delayed(wd._mosaics.dask.delayed(block)(), (160, 160), np.uint16)

    picture = wd.fuse_tiles(scan.found, [tile(i) for i in range(6)], chunks=100)
    picture[:90, :90].compute()
    assert read == [0]


def test_files_are_opened_by_tasks(scan, tmp_path):
    tifffile = pytest.importorskip("tifffile")
    paths = []
    for i, tile in enumerate(scan.tiles):
        paths.append(tmp_path / f"t{i}.tif")
        tifffile.imwrite(paths[-1], tile)
    picture = wd.fuse_tiles(scan.found, paths, chunks=100)
    assert picture.name == wd.fuse_tiles(scan.found, paths, chunks=100).name
    assert np.array_equal(picture.compute(),
                          wd.fuse_tiles(scan.found, scan.tiles, chunks=100).compute())


def test_a_pyramid_in_ome_zarr(tmp_path):
    random = np.random.default_rng(1)
    array = random.integers(0, 60000, (2, 601, 530)).astype(np.uint16)
    picture = da.from_array(array, chunks=(1, 128, 256))
    path = tmp_path / "m.ome.zarr"
    wd.write_ome_zarr(path, picture, pixel_size=0.5, channels=["DAPI", "CD8"])
    ome = json.loads((path / "zarr.json").read_text())["attributes"]["ome"]
    datasets = ome["multiscales"][0]["datasets"]
    assert [one["path"] for one in datasets] == ["0", "1", "2"]
    assert datasets[2]["coordinateTransformations"] == [
        {"type": "scale", "scale": [1.0, 2.0, 2.0]},
        {"type": "translation", "translation": [0.0, 0.75, 0.75]}]
    assert [one["label"] for one in ome["omero"]["channels"]] == ["DAPI", "CD8"]
    image = warpalign.open(path)
    assert image.axes == ("c", "y", "x") and image.spacing[1:] == (0.5, 0.5)
    assert np.array_equal(np.asarray(image), array)
    half = np.asarray(warpalign.open(path, level=1))
    assert half.shape == (2, 301, 265)
    means = array[:, :600].reshape(2, 300, 2, 265, 2).mean(axis=(2, 4))
    # A half is rounded either way.
    assert np.abs(half[:, :300] - means).max() <= 0.5
    assert np.abs(half[:, 300] - array[:, 600].reshape(2, 265, 2).mean(axis=2)).max() <= 0.5
    assert np.asarray(warpalign.open(path, level=2)).shape == (2, 151, 133)
    assert not (tmp_path / "m.ome.zarr.partial").exists()


def test_an_interrupted_pyramid_goes_on(tmp_path):
    array = np.arange(1, 400 * 400 + 1, dtype=np.float32).reshape(400, 400)
    computed, fails = [], [True]

    def block(block_info=None):
        where = block_info[None]["chunk-location"]
        if fails[0] and where == (3, 1):
            raise OSError(errno.ENOSPC, "No space left on device")
        computed.append(where)
        rows, columns = block_info[None]["array-location"]
        return array[slice(*rows), slice(*columns)]

    def picture():
        return da.map_blocks(block, chunks=((100,) * 4, (100,) * 4), dtype=np.float32,
                             name="warpalign-test-picture", meta=np.empty((0, 0), np.float32))

    path = tmp_path / "m.ome.zarr"
    with wd._mosaics.dask.config.set(scheduler="synchronous"):
        with pytest.raises(OSError, match="No space left"):
            wd.write_ome_zarr(path, picture())
        assert not path.exists() and (tmp_path / "m.ome.zarr.partial").is_dir()
        first, fails[0] = len(computed), False
        assert 0 < first < 16
        with pytest.raises(ValueError, match="is of another picture"):
            wd.write_ome_zarr(path, picture() + 1, resume=True)
        wd.write_ome_zarr(path, picture(), resume=True)
    assert len(computed) == 16 and len(set(computed)) == 16
    assert np.array_equal(np.asarray(warpalign.open(path)), array)
    with pytest.raises(FileExistsError, match="choose another name"):
        wd.write_ome_zarr(path, picture())
    wd.write_ome_zarr(tmp_path / "plain.zarr", array)  # an array in memory
    assert np.array_equal(np.asarray(warpalign.open(tmp_path / "plain.zarr")), array)


def test_wrong_arguments(scan, tmp_path):
    with pytest.raises(ValueError, match="6 located tiles, not 2"):
        wd.fuse_tiles(scan.found, scan.tiles[:2])
    with pytest.raises(ValueError, match="tile 1 has the shape"):
        wd.fuse_tiles(scan.found, [scan.tiles[0], scan.tiles[1][:100], *scan.tiles[2:]])
    with pytest.raises(TypeError, match="tile 5 is of type uint8"):
        wd.fuse_tiles(scan.found, [*scan.tiles[:5], scan.tiles[5].astype(np.uint8)])
    picture = da.zeros((50, 60), chunks=32)
    for arguments, message in [(("m.tif",), "must end in"), (("m.zarr",), "names of channels"),
                               (("m.zarr",), "pixel_size")]:
        options = {"names of channels": {"channels": ["a"]}, "pixel_size": {"pixel_size": 0}}
        with pytest.raises(ValueError, match=message):
            wd.write_ome_zarr(tmp_path / arguments[0], picture, **options.get(message, {}))
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        wd.write_ome_zarr(tmp_path / "none" / "m.zarr", picture)
    with pytest.raises(ValueError, match="rechunk"):
        wd.write_ome_zarr(tmp_path / "m.zarr", da.zeros((50, 60), chunks=((20, 30), (60,))))
