"""Series of volumes: the drawn motion, and the numbers of the program."""

import csv

import numpy as np
import pytest
from moving_head import AFFINE, PARAMETERS, SHAPE, draw, drawn_motion, framewise_displacement
from program_runs import run

import warpalign

# Noise of 10 in tissue of up to 2500 leaves a few thousandths.
TOLERANCE = 0.02  # millimetres and degrees
VOLUMES = 8


@pytest.fixture(scope="module")
def motion():
    return drawn_motion(VOLUMES)


@pytest.fixture(scope="module")
def series(motion):
    """Of shape (volumes, x, y, z): an image of nibabel with its last axis first."""
    return np.moveaxis(np.rint(draw(motion)).astype(np.int16), -1, 0)


def parameters_of(found):
    return np.stack([found.motion[name] for name in PARAMETERS], axis=1)


def test_motion_displacement_dvars_and_mean(series, motion):
    aligned = np.empty_like(series)
    found = warpalign.register_series(series, affine=AFFINE, output=aligned)
    assert len(found) == VOLUMES and (found.motion["status"] == "ok").all() and not found.errors
    assert np.abs(parameters_of(found) - motion).max() < TOLERANCE
    np.testing.assert_allclose(found.motion["framewise_displacement"][1:],
                               framewise_displacement(parameters_of(found)), atol=1e-9)
    assert np.isnan(found.motion[["framewise_displacement", "dvars"]][0].item()).all()
    low, high = np.percentile(series[0], [2, 98], method="lower")
    head = series[0] > low + 0.1 * (high - low)
    dvars = np.sqrt((np.diff(aligned.astype(float), axis=0)[:, head] ** 2).mean(axis=1))
    np.testing.assert_allclose(found.motion["dvars"][1:], dvars)
    np.testing.assert_allclose(found.mean, aligned.mean(axis=0), rtol=1e-5)
    np.testing.assert_array_equal(found.reference, series[0])
    world = AFFINE @ found.matrices[-1] @ np.linalg.inv(AFFINE)
    centre = AFFINE @ [*(np.array(SHAPE) - 1) / 2, 1]
    np.testing.assert_allclose((world @ centre - centre)[:3], parameters_of(found)[-1, :3])


def test_the_program_finds_the_same(program, series, tmp_path):
    nibabel = pytest.importorskip("nibabel")
    image = nibabel.Nifti1Image(np.moveaxis(series, 0, -1), AFFINE)
    nibabel.save(image, tmp_path / "bold.nii")
    done = run("stack", tmp_path / "bold.nii", "--csv", tmp_path / "m.csv")
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "m.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    found = warpalign.register_series(series, affine=AFFINE)
    for name in (*PARAMETERS, "correlation", "confidence"):
        theirs = [float(row[name]) for row in rows]
        # The axes are in another order in memory, so sums are rounded differently.
        np.testing.assert_allclose(found.motion[name], theirs, atol=2e-4)
    for name, tolerance in (("framewise_displacement", 1e-3), ("dvars", 0.05)):
        np.testing.assert_allclose(found.motion[name][1:], [float(row[name]) for row in rows[1:]],
                                   atol=tolerance)


@pytest.mark.parametrize("to", ["mean", 3, "volume"])
def test_references(series, motion, to):
    number = 3 if to in (3, "volume") else 0
    found = warpalign.register_series(
        iter(series), to=series[3] if to == "volume" else to, affine=AFFINE)
    parameters = parameters_of(found)
    if to == "mean":
        assert np.abs(parameters - motion).max() < TOLERANCE
    else:
        assert np.abs(parameters[number]).max() < 1e-3
        # Small rotations add up to second order.
        np.testing.assert_allclose(parameters - parameters[0], motion - motion[0], atol=0.06)


def test_without_an_affine_x_is_the_last_axis(series, motion):
    """The stored x axis runs to the left."""
    volumes = series.transpose(0, 3, 2, 1)
    found = warpalign.register_series(volumes, spacing=(3.5, 3, 3))
    mirrored = motion * [-1, 1, 1, 1, -1, -1]
    assert np.abs(parameters_of(found) - mirrored).max() < TOLERANCE


def test_volumes_that_cannot_be_used(series, motion):
    broken = series.astype(np.float32)
    broken[0] = 3
    broken[4] = np.nan
    aligned = np.empty_like(broken)
    found = warpalign.register_series(broken, affine=AFFINE, output=aligned)
    assert set(found.errors) == {0, 4}
    assert "constant" in str(found.errors[0]) and "no finite" in str(found.errors[4])
    assert found.motion["status"].tolist() == ["failed", "ok", "ok", "ok", "failed"] + ["ok"] * 3
    assert np.isnan(found.matrices[4]).all() and np.isnan(found.motion["dvars"][5])
    np.testing.assert_array_equal(found.reference, broken[1])
    np.testing.assert_array_equal(aligned[4], broken[4])
    assert repr(found) == "<SeriesRegistration: 8 volumes, 6 ok>"


def test_voxels_that_are_not_finite_are_missing(series, motion):
    """A corner outside of a mask in all volumes, and a hole in one."""
    holes = series.astype(np.float32)
    holes[:, :5] = np.nan
    holes[4, 12:17, 10:15, 8:12] = np.inf
    aligned = np.empty_like(holes)
    found = warpalign.register_series(holes, affine=AFFINE, output=aligned)
    assert (found.motion["status"] == "ok").all() and not found.errors
    assert np.abs(parameters_of(found) - motion).max() < 2 * TOLERANCE  # of fewer voxels
    assert np.isnan(aligned[4, 14, 12, 10]) and np.isnan(aligned[:, 2, 15, 15]).all()
    assert np.isfinite(found.mean[14, 12, 10]) and np.isnan(found.mean[2, 15, 15])
    others = np.delete(aligned, 4, axis=0)[:, 14, 12, 10]
    assert found.mean[14, 12, 10] == pytest.approx(others.mean(dtype=np.float64), rel=1e-5)
    assert np.isfinite(found.motion["dvars"][1:]).all()
    plain = warpalign.register_series(series, affine=AFFINE)
    np.testing.assert_allclose(found.motion["dvars"][1:], plain.motion["dvars"][1:], rtol=0.2)


def test_a_table_of_pandas(series):
    pytest.importorskip("pandas")
    table = warpalign.register_series(series[:3], affine=AFFINE).to_pandas()
    assert table.index.name == "volume" and table.shape == (3, 11)


@pytest.mark.parametrize("options, error, words", [
    ({"motion": "homography"}, ValueError, "motion"), ({"to": "previous"}, ValueError, "to must"),
    ({"to": 8}, ValueError, "8 volumes"), ({"radius": 0}, ValueError, "radius"),
    ({"spacing": -1}, ValueError, "spacing"), ({"affine": np.eye(3)}, ValueError, "4 x 4"),
    ({"affine": np.diag([1., 1, 0, 1])}, ValueError, "singular"),
    ({"affine": AFFINE, "spacing": 1}, ValueError, "omit one"),
    ({"to": np.ones((9, 9, 9))}, ValueError, "constant|9")])
def test_wrong_options(series, options, error, words):
    with pytest.raises((error, warpalign.Error), match=words):
        warpalign.register_series(series, **options)


def test_wrong_volumes(series):
    with pytest.raises(ValueError, match="no volumes"):
        warpalign.register_series([])
    with pytest.raises(ValueError, match="volume 1 has the shape"):
        warpalign.register_series([series[0], series[1, 2:]])
    with pytest.raises(ValueError, match="3 dimensions"):
        warpalign.register_series(series[0])
    with pytest.raises(TypeError, match="complex"):
        warpalign.register_series(series.astype(complex))
