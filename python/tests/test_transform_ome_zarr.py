"""Transforms in OME-Zarr 0.6: ngff-zarr, and points mapped by NumPy, are the oracle."""

import importlib.util
import json

import numpy as np
import pytest

from warpalign import Geometry, Transform

pytest.importorskip("zarr")

AFFINE = np.array([[0.9, 0.2, 3.5], [-0.1, 1.1, -2.0], [0, 0, 1]])
POINTS = np.random.default_rng(0).uniform(2, 25, (40, 2))


def field(shape=(30, 34)):
    rows, columns = np.indices(shape)
    return np.stack([1.5 * np.sin(columns / 6), 1.2 * np.cos(rows / 5)])


def field_of_space():
    z, y, x = np.indices((8, 10, 12))
    return np.stack([np.sin(x / 5), np.cos(z / 4), np.sin(y / 6 + z / 5)]).astype(np.float32)


def saved(transform, tmp_path):
    transform.save(tmp_path / "t.ome.zarr")
    return Transform.load(tmp_path / "t.ome.zarr")


@pytest.mark.parametrize("transform", [
    Transform.translation((2, -3)), Transform.affine(AFFINE),
    Transform.displacement(field(), origin=(-1, 2), spacing=(1, 0.5)),
    Transform.displacement(field(), interpolation="cubic"),
    Transform.affine(AFFINE) @ Transform.displacement(field()) @ Transform.translation((1, 2)),
    Transform.displacement(field_of_space()), Transform.translation((1, 2, 3))])
def test_transforms_come_back(tmp_path, transform):
    back = saved(transform, tmp_path)
    points = np.random.default_rng(1).uniform(0, 9, (30, transform.ndim))
    np.testing.assert_allclose(back.points(points), transform.points(points), atol=1e-12)
    assert back.coordinates == "pixels"
    assert back.kind == transform.kind or transform.kind == "chain"


def test_a_field_in_millimetres_along_oblique_axes(tmp_path):
    c, s = np.cos(0.3), np.sin(0.3)
    grid = Geometry((8, 10, 12), spacing=(1.5, 2, 2.5), origin=(5, -3, 2),
                    direction=[[c, -s, 0], [s, c, 0], [0, 0, 1]])
    pixels = Transform.displacement(field_of_space()).with_geometry(reference=grid, moving=grid)
    transform = pixels.in_world()
    back = saved(transform, tmp_path)
    assert back.coordinates == "world"
    points = np.random.default_rng(1).uniform(2, 10, (30, 3))
    np.testing.assert_allclose(back.points(points, world=True),
                               transform.points(points, world=True), atol=1e-9)
    system = json.loads((tmp_path / "t.ome.zarr/zarr.json").read_text())
    axes = system["attributes"]["ome"]["coordinateSystems"][0]["axes"]
    assert [axis["name"] for axis in axes] == ["z", "y", "x"]
    assert {axis["unit"] for axis in axes} == {"millimeter"}


def test_an_inverse_is_a_bijection(tmp_path):
    transform = Transform.displacement(field()).inverse()
    back = saved(transform, tmp_path)
    found = json.loads((tmp_path / "t.ome.zarr/zarr.json").read_text())
    (found,) = found["attributes"]["ome"]["coordinateTransformations"]
    assert found["type"] == "bijection" and found["inverse"]["type"] == "displacements"
    # At samples of the field the inverse is exact; between them it is linear.
    samples = np.argwhere(np.ones((20, 20))) + 5.0
    np.testing.assert_allclose(back.points(samples), transform.points(samples), atol=1e-9)
    assert np.abs(back.points(POINTS) - transform.points(POINTS)).max() < 0.02


def test_other_kinds_are_sampled_at_the_pixels_of_the_reference(tmp_path):
    spline = Transform.bspline(np.random.default_rng(2).normal(0, 0.3, (2, 8, 9)),
                               origin=(-10, -10), spacing=(10, 10))
    plate = Transform.from_points(POINTS, POINTS + [1, 2] + np.sin(POINTS), "thin-plate",
                                  robust=False)
    grid = Geometry((30, 32))
    pixels = np.argwhere(np.ones((30, 32))).astype(float)
    located = plate.with_geometry(reference=grid, moving=grid)
    np.testing.assert_allclose(saved(located, tmp_path).points(pixels), plate.points(pixels),
                               atol=1e-9)
    assert saved(spline, tmp_path).kind == "displacement"
    with pytest.raises(ValueError, match="with_geometry"):
        plate.save(tmp_path / "no.ome.zarr")
    with pytest.raises(ValueError, match="homographies"):
        Transform.homography([[1, 0, 0], [0, 1, 0], [1e-3, 0, 1]]).save(tmp_path / "no.ome.zarr")
    assert not (tmp_path / "no.ome.zarr").exists()


def test_ngff_zarr_reads_what_we_write(tmp_path):
    ngff_zarr = pytest.importorskip("ngff_zarr")
    bend = Transform.displacement(field_of_space(), origin=(1, 2, 3), spacing=(2, 1.5, 1))
    (bend @ Transform.translation((1, 2, 3))).save(tmp_path / "t.ome.zarr")
    validate = importlib.util.find_spec("jsonschema") is not None
    found = ngff_zarr.from_ome_zarr(tmp_path / "t.ome.zarr", kind="transformation",
                                    validate=validate)
    assert (found.type, found.input.name, found.output.name) == ("sequence", "reference", "moving")
    shift, warp = found.transformations
    assert shift.type == "translation" and shift.translation == [1, 2, 3]
    assert warp.type == "displacements" and warp.interpolation == "linear"
    image = ngff_zarr.from_ome_zarr(tmp_path / "t.ome.zarr" / warp.path,
                                    validate=validate).images[0]
    np.testing.assert_array_equal(np.asarray(image.data), field_of_space())
    assert [image.scale[name] for name in "zyx"] == [2, 1.5, 1]
    assert [image.translation[name] for name in "zyx"] == [1, 2, 3]
    assert image.axes_types["c"] == "displacement"


@pytest.mark.parametrize("absolute", [False, True])
def test_we_read_what_ngff_zarr_writes(tmp_path, absolute):
    ngff_zarr = pytest.importorskip("ngff_zarr")
    from ngff_zarr.v06 import zarr_metadata as v06

    samples = field((12, 14)).astype(np.float32)
    spacing, origin = np.array([2, 1.5]), np.array([5, -3])
    places = np.indices((12, 14)) * spacing[:, None, None] + origin[:, None, None]
    values = samples + places if absolute else samples
    image = ngff_zarr.to_ngff_image(values, dims=["c", "y", "x"],
                                    scale={"c": 1.0, "y": 2.0, "x": 1.5},
                                    translation={"c": 0.0, "y": 5.0, "x": -3.0})
    component = "coordinate" if absolute else "displacement"
    image.axes_types = {"c": component, "y": "space", "x": "space"}
    image.axes_units = {"y": "micrometer", "x": "micrometer"}
    store = tmp_path / "t.ome.zarr"
    ngff_zarr.to_ome_zarr(store / "warp", ngff_zarr.to_multiscales(image, scale_factors=[]),
                          version="0.6")
    kind = v06.Coordinates if absolute else v06.Displacements
    ngff_zarr.to_ome_zarr(store, v06.TransformSequence(transformations=[
        v06.Affine(affine=AFFINE[:2].tolist()), kind(path="warp", interpolation="linear")],
        input=v06.CoordinateSystemIdentifier(name="a"),
        output=v06.CoordinateSystemIdentifier(name="b")), overwrite=False, version="0.6")
    found = Transform.load(store)
    assert found.coordinates == "world"  # its axes have a unit
    points = np.random.default_rng(3).uniform(5, 20, (20, 2))  # y, x in micrometres
    there = points @ AFFINE[:2, :2].T + AFFINE[:2, 2]
    expected = Transform.displacement(samples, spacing=spacing, origin=origin).points(there)
    mapped = found.points(points[:, ::-1] / 1000, world=True)[:, ::-1] * 1000
    np.testing.assert_allclose(mapped, expected, atol=1e-4)


def damaged(path, change):
    document = json.loads(path.read_text())
    change(document["attributes"]["ome"])
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("change, message", [
    (lambda ome: ome.update(version="0.5"), "0.6 on"),
    (lambda ome: ome.update(coordinateTransformations=[]), "one transformation"),
    (lambda ome: ome["coordinateTransformations"][0].update(type="rubber"), "'rubber'"),
    (lambda ome: ome["coordinateTransformations"][0].update(path="../.."), "outside"),
    (lambda ome: ome["coordinateTransformations"][0].update(path="none"), "is missing"),
    (lambda ome: ome["coordinateTransformations"][0].pop("path"), "path"),
    (lambda ome: ome["coordinateTransformations"][0].update(
        type="translation", translation=[1, "x"]), "not a transform"),
    (lambda ome: ome["coordinateTransformations"][0].update(
        type="affine", affine=[[1, 0], [0, 1]]), r"shape \(2, 2\)"),
    (lambda ome: ome["coordinateSystems"][0]["axes"].reverse(), "z, y, x or y, x")])
def test_damaged_groups_are_refused(tmp_path, change, message):
    Transform.displacement(field()).save(tmp_path / "t.ome.zarr")
    damaged(tmp_path / "t.ome.zarr" / "zarr.json", change)
    with pytest.raises(ValueError, match=message):
        Transform.load(tmp_path / "t.ome.zarr")


def test_a_nested_group_ends(tmp_path):
    Transform.translation((1, 2)).save(tmp_path / "t.ome.zarr")
    nested = {"type": "identity"}
    for _ in range(60):
        nested = {"type": "sequence", "transformations": [nested]}
    damaged(tmp_path / "t.ome.zarr" / "zarr.json",
            lambda ome: ome.update(coordinateTransformations=[nested]))
    with pytest.raises(ValueError, match="nested"):
        Transform.load(tmp_path / "t.ome.zarr")


def test_only_transformations_are_replaced(tmp_path):
    path = tmp_path / "t.ome.zarr"
    Transform.displacement(field()).save(path)
    Transform.translation((1, 2)).save(path)
    assert Transform.load(path) == Transform.translation((1, 2))
    (tmp_path / "other.ome.zarr").mkdir()
    with pytest.raises(FileExistsError, match="choose another name"):
        Transform.translation((1, 2)).save(tmp_path / "other.ome.zarr")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["other.ome.zarr", "t.ome.zarr"]
    with pytest.raises(ValueError, match="no group"):
        Transform.load(tmp_path / "other.ome.zarr")
