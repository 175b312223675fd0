"""Located tiles as a scene in OME-Zarr 0.6: ngff-zarr reads and validates it."""

import importlib.util
import json

import numpy as np
import pytest

import warpalign

pytest.importorskip("zarr")

BEND = np.array([3.0, 0, 0, 0, 0, 0, 0])  # displaces columns by 3 u^2


@pytest.fixture(scope="module")
def located():
    """A mosaic without a registration: what it says is chosen here."""
    random = np.random.default_rng(2)
    tiles = [random.integers(0, 60000, (70, 90)).astype(np.uint16) for _ in range(3)]
    positions = np.array([(0.0, 0.25), (1.5, 70.0), (60.75, 0.0)])
    distortion = warpalign.TileDistortion((34.5, 44.5), 60.0, np.zeros(7), BEND)

    def mosaic(distortion):
        return warpalign.Mosaic(positions=positions, pairs=[], components=np.zeros(3, int),
                                placed_by_stage=np.zeros(3, bool), stage=None,
                                distortion=distortion, shape=(131, 160), image=None,
                                _shapes=[(70, 90)] * 3, _device=None)

    return tiles, positions, mosaic(None), mosaic(distortion)


def metadata(path):
    return json.loads((path / "zarr.json").read_text())["attributes"]["ome"]


@pytest.mark.parametrize("pixel_size", [None, 0.65])
def test_a_scene_holds_tiles_and_translations(tmp_path, located, pixel_size):
    tiles, positions, plain, _ = located
    path = tmp_path / "tiles.ome.zarr"
    plain.save_scene(path, tiles, pixel_size=pixel_size)
    assert not (tmp_path / "tiles.ome.zarr.partial").exists()
    scene = metadata(path)["scene"]
    axes = scene["coordinateSystems"][0]["axes"]
    assert [axis.get("unit") for axis in axes] == [pixel_size and "micrometer"] * 2
    for index, found in enumerate(scene["coordinateTransformations"]):
        assert found["input"] == {"path": f"tile{index}", "name": "physical"}
        assert found["output"] == {"name": "mosaic"} and found["type"] == "translation"
        np.testing.assert_allclose(found["translation"], positions[index] * (pixel_size or 1))
        image = warpalign.open(path / f"tile{index}")
        np.testing.assert_array_equal(np.asarray(image), tiles[index])
        assert image.spacing == (pixel_size or 1,) * 2


def test_ngff_zarr_reads_the_scene(tmp_path, located):
    ngff_zarr = pytest.importorskip("ngff_zarr")
    if not hasattr(ngff_zarr, "NgffScene"):
        pytest.skip("this version of ngff-zarr has no scenes")
    tiles, positions, _, bent = located
    path = tmp_path / "tiles.ome.zarr"
    bent.save_scene(path, tiles, pixel_size=0.5)
    validate = importlib.util.find_spec("jsonschema") is not None
    scene = ngff_zarr.from_ome_zarr(path, kind="scene", validate=validate)
    assert sorted(scene.images) == ["tile0", "tile1", "tile2"]
    for index, transform in enumerate(scene.coordinateTransformations):
        assert transform.type == "sequence"
        bend, shift = transform.transformations
        assert (bend.type, bend.path, bend.interpolation) == ("displacements", "distortion",
                                                              "linear")
        np.testing.assert_allclose(shift.translation, positions[index] * 0.5)
        image = scene.images[f"tile{index}"].images[0]
        np.testing.assert_array_equal(np.asarray(image.data), tiles[index])
        assert [image.scale[name] for name in "yx"] == [0.5, 0.5]
    field = ngff_zarr.from_ome_zarr(path / "distortion", validate=validate).images[0]
    assert field.axes_types["c"] == "displacement"
    vectors = np.asarray(field.data)
    rows, columns = (np.arange(length) * field.scale[name] + field.translation[name]
                     for length, name in zip(vectors.shape[1:], "yx"))
    # In micrometres; it covers the tile of 70 x 90 pixels.
    assert rows[0] == columns[0] == 0 and rows[-1] >= 69 * 0.5 and columns[-1] >= 89 * 0.5
    expected = 0.5 * 3 * ((columns / 0.5 - 44.5) / 60) ** 2
    np.testing.assert_allclose(vectors[1], np.broadcast_to(expected, vectors[1].shape), atol=1e-6)
    assert (vectors[0] == 0).all()


def test_wrong_scenes_are_refused_and_leave_nothing(tmp_path, located):
    tiles, _, plain, _ = located
    path = tmp_path / "tiles.ome.zarr"
    for name, given, options, error, message in [
            ("a.zip", tiles, {}, ValueError, "must end in .ome.zarr"),
            ("none/a.zarr", tiles, {}, FileNotFoundError, "there is no folder"),
            ("a.zarr", tiles[:2], {}, ValueError, "there are 3 located tiles, not 2"),
            ("a.zarr", tiles, {"pixel_size": 0}, ValueError, "pixel_size must be above 0"),
            ("a.zarr", [*tiles[:2], tiles[2][:50]], {}, ValueError, "tile 2 has the shape"),
            ("a.zarr", [tiles[0] * 1j] * 3, {}, TypeError, "must hold real numbers")]:
        with pytest.raises(error, match=message):
            plain.save_scene(tmp_path / name, given, **options)
        assert list(tmp_path.iterdir()) == []
    plain.save_scene(path, tiles)
    with pytest.raises(FileExistsError):
        plain.save_scene(path, tiles)
    assert len(metadata(path)["scene"]["coordinateTransformations"]) == 3
