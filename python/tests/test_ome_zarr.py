"""Geometry.of an image in OME-Zarr: the specification's formulas, and ngff-zarr's files."""

import json

import numpy as np
import pytest

from warpalign import Geometry

AXES = [{"name": "c", "type": "channel"},
        *({"name": name, "type": "space", "unit": "micrometer"} for name in "zyx")]


def written(folder, version, levels, axes=AXES, image=()):
    datasets = []
    for number, (shape, transforms) in enumerate(levels):
        array = folder / str(number)
        array.mkdir(parents=True)
        name = ".zarray" if version == "0.4" else "zarr.json"
        (array / name).write_text(json.dumps({"shape": shape}))
        datasets.append({"path": str(number), "coordinateTransformations": transforms})
    multiscale = {"axes": axes, "datasets": datasets, "version": version}
    if image:
        multiscale["coordinateTransformations"] = image
    if version == "0.4":
        (folder / ".zattrs").write_text(json.dumps({"multiscales": [multiscale]}))
    else:
        (folder / "zarr.json").write_text(json.dumps(
            {"attributes": {"ome": {"version": version, "multiscales": [multiscale]}}}))
    return folder


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_scale_and_translation_of_a_level(tmp_path, version):
    folder = written(
        tmp_path / "a.zarr", version,
        [([2, 8, 40, 60], [{"type": "scale", "scale": [1, 2, 0.5, 0.25]}]),
         ([2, 4, 20, 30], [{"type": "scale", "scale": [1, 4, 1, 0.5]},
                           {"type": "translation", "translation": [0, 1, 0.25, 0.125]}])],
        image=[{"type": "scale", "scale": [1, 10, 10, 10]}])
    fine, coarse = Geometry.of(folder), Geometry.of(folder, level=1)
    assert fine.shape == (8, 40, 60)
    np.testing.assert_allclose(fine.spacing, [2.5e-3, 5e-3, 20e-3], rtol=1e-14)
    np.testing.assert_allclose(coarse.spacing, [5e-3, 10e-3, 40e-3], rtol=1e-14)
    # A coarse pixel's centre is that of the fine pixels whose mean it is.
    np.testing.assert_allclose(coarse.points([[1, 2, 3]]), fine.points([[2.5, 4.5, 6.5]]),
                               atol=1e-15)


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_ngff_zarr_writes_what_we_read(tmp_path, version):
    ngff_zarr = pytest.importorskip("ngff_zarr")
    image = ngff_zarr.to_ngff_image(
        np.zeros((8, 20, 30), np.uint8), dims=("z", "y", "x"),
        scale={"z": 2.0, "y": 0.5, "x": 0.25}, translation={"z": 10.0, "y": 20.0, "x": 30.0},
        axes_units={axis: "micrometer" for axis in "zyx"})
    multiscales = ngff_zarr.to_multiscales(image, scale_factors=[])
    ngff_zarr.to_ngff_zarr(str(tmp_path / "a.zarr"), multiscales, version=version)
    found = Geometry.of(tmp_path / "a.zarr")
    assert found.shape == (8, 20, 30)
    np.testing.assert_allclose(found.spacing, [0.25e-3, 0.5e-3, 2e-3], rtol=1e-14)
    np.testing.assert_allclose(found.origin, [30e-3, 20e-3, 10e-3], rtol=1e-14)


@pytest.mark.parametrize("change, message", [
    ({"version": "0.7"}, "0.4 to 0.6 are supported"),
    ({"axes": [*AXES[:2], AXES[3], AXES[2]]}, "axes of space are z, x, y"),
    ({"axes": [{**axis, "unit": "parsec"} for axis in AXES]}, "unit 'parsec'"),
    ({"axes": None}, "lack"),
])
def test_other_metadata_are_refused(tmp_path, change, message):
    arguments = {"version": "0.5", "axes": AXES, **change}
    folder = written(tmp_path / "a.zarr", levels=[
        ([2, 8, 40, 60], [{"type": "scale", "scale": [1, 2, 0.5, 0.25]}])], **arguments)
    with pytest.raises(ValueError, match=message):
        Geometry.of(folder)
    with pytest.raises(ValueError):
        Geometry.of(folder, level=3)


def test_damaged_metadata_are_refused(tmp_path):
    (tmp_path / "zarr.json").write_text('{"attributes": {"ome"')
    with pytest.raises(ValueError, match="damaged"):
        Geometry.of(tmp_path)
