"""The program's registration of NIfTI files; nibabel and NumPy write the files and the answers."""

import json

import numpy as np
import pytest
from program_runs import run

nibabel = pytest.importorskip("nibabel")
ndimage = pytest.importorskip("scipy.ndimage")

AFFINE = np.array([[2., 0, 0, -30], [0, 2, 0, 10], [0, 0, 3, 5], [0, 0, 0, 1]])
# Float32 voxels of values up to 1000 are interpolated at most a thousandth of a voxel off.
VALUE_TOLERANCE = 1
# A shift of a millionth of a voxel moves a face out of the volume, where results are 0.
INNER = (slice(1, -1),) * 3


@pytest.fixture(scope="module")
def voxels():
    noise = np.random.default_rng(1).random((32, 36, 40))
    smooth = ndimage.gaussian_filter(noise, 2)
    return ((smooth - smooth.min()) / np.ptp(smooth) * 1000).astype(np.float32)


def save(path, voxels, affine, code=1):
    image = nibabel.Nifti1Image(voxels, affine)
    image.set_sform(affine, code)
    image.set_qform(affine, code)
    nibabel.save(image, path)
    return image


def oriented(voxels, codes):
    image = nibabel.Nifti1Image(voxels, AFFINE)
    change = nibabel.orientations.ornt_transform(
        nibabel.io_orientation(AFFINE), nibabel.orientations.axcodes2ornt(codes))
    return image.as_reoriented(change)


def register(*arguments, status=0):
    done = run("register-volume", *arguments, "--json")
    assert done.returncode == status, done.stderr + done.stdout
    return json.loads(done.stdout)


@pytest.mark.parametrize("codes", ["LAS", "PIR", "ASL"])
def test_axes_in_another_order_are_brought_to_the_references(program, tmp_path, voxels, codes):
    """FSL's templates are LAS, most scans RAS, and sagittal ones PIR or ASL."""
    save(tmp_path / "a.nii.gz", voxels, AFFINE)
    image = oriented(voxels, codes)
    nibabel.save(image, tmp_path / "b.nii.gz")
    found = register(tmp_path / "a.nii.gz", tmp_path / "b.nii.gz", "--output", tmp_path / "o.nii.gz")
    assert found["axes"] == ["RAS", codes]
    np.testing.assert_allclose(found["world_matrix"], np.eye(4)[:3], atol=1e-3)
    expected = np.linalg.inv(image.affine) @ AFFINE
    np.testing.assert_allclose(found["matrix"], expected[:3], atol=1e-3)
    assert found["header_difference_mm"] < 0.01
    aligned = nibabel.load(tmp_path / "o.nii.gz")
    np.testing.assert_array_equal(aligned.affine, AFFINE)
    np.testing.assert_allclose(aligned.get_fdata()[INNER], voxels[INNER], atol=VALUE_TOLERANCE)


def test_a_motion_between_mirrored_files(program, tmp_path, voxels):
    """The matrices map stored voxels and world positions, whatever the order of the axes."""
    angle = np.radians(7)
    motion = np.eye(4)  # of world positions, from the reference to the moving volume
    motion[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    motion[:3, 3] = [4, -3, 2]
    pull = np.linalg.inv(AFFINE) @ np.linalg.inv(motion) @ AFFINE  # moving voxels to the reference's
    moved = ndimage.affine_transform(voxels, pull, order=3, mode="mirror")
    save(tmp_path / "a.nii", voxels, AFFINE)
    image = oriented(moved.astype(np.float32), "LPS")
    nibabel.save(image, tmp_path / "b.nii")
    found = register(tmp_path / "a.nii", tmp_path / "b.nii", "--motion", "rigid")
    expected = np.linalg.inv(image.affine) @ motion @ AFFINE
    # SciPy's interpolation of the moving volume costs some hundredths of a voxel of 2 mm.
    np.testing.assert_allclose(found["world_matrix"], motion[:3], atol=0.1)
    corner = np.array([31, 35, 39, 1])
    np.testing.assert_allclose(found["matrix"] @ corner, (expected @ corner)[:3], atol=0.1)
    assert 4 < found["header_difference_mm"] < 15
    # The JSON is an initial transform of the same files.
    (tmp_path / "found.json").write_text(json.dumps(found))
    again = register(tmp_path / "a.nii", tmp_path / "b.nii", "--motion", "rigid",
                     "--initial", tmp_path / "found.json")
    np.testing.assert_allclose(again["matrix"], found["matrix"], atol=0.02)


def test_headers_that_contradict_the_picture_are_named_in_one_line(program, tmp_path, voxels):
    save(tmp_path / "a.nii", voxels, AFFINE)
    elsewhere = AFFINE.copy()
    elsewhere[:3, 3] += 20
    save(tmp_path / "b.nii", voxels, elsewhere)
    done = run("register-volume", tmp_path / "a.nii", tmp_path / "b.nii")
    assert done.returncode == 0, done.stderr
    assert "DISAGREE with the result: they place the volumes up to 34.6 mm" in done.stdout
    found = register(tmp_path / "a.nii", tmp_path / "b.nii")
    np.testing.assert_allclose(found["translation"], [0, 0, 0], atol=0.01)
    assert found["header_difference_mm"] == pytest.approx(20 * 3 ** 0.5, abs=0.05)
    ignored = register(tmp_path / "a.nii", tmp_path / "b.nii", "--ignore-positions")
    assert ignored["world_matrix"] is None and ignored["axes"] is None


def test_sform_and_qform(program, tmp_path, voxels):
    """The sform counts if its code is above 0, else the qform; a contradiction is reported."""
    image = save(tmp_path / "a.nii", voxels, AFFINE)
    elsewhere = AFFINE.copy()
    elsewhere[0, 3] += 40
    image.set_qform(elsewhere, 1)
    nibabel.save(image, tmp_path / "both.nii")
    found = register(tmp_path / "a.nii", tmp_path / "both.nii")
    assert found["header_difference_mm"] < 0.01
    assert len(found["notes"]) == 1 and "40 mm apart; the sform counts" in found["notes"][0]
    image.set_sform(None, 0)
    nibabel.save(image, tmp_path / "qform.nii")
    found = register(tmp_path / "a.nii", tmp_path / "qform.nii")
    assert found["header_difference_mm"] == pytest.approx(40, abs=0.05) and not found["notes"]


@pytest.mark.parametrize("unit, factor", [("meter", 1e-3), ("mm", 1), ("micron", 1e3)])
def test_units_of_length(program, tmp_path, voxels, unit, factor):
    save(tmp_path / "a.nii", voxels, AFFINE)
    scaled = np.diag([factor, factor, factor, 1]) @ AFFINE
    image = nibabel.Nifti1Image(voxels[::-1], scaled @ np.diag([-1, 1, 1, 1]) + 31 * np.outer(
        scaled[:, 0], [0, 0, 0, 1]))
    image.header.set_xyzt_units(unit)
    nibabel.save(image, tmp_path / "b.nii")
    found = register(tmp_path / "a.nii", tmp_path / "b.nii", "--motion", "rigid")
    assert found["scale"] == 1 and found["axes"] == ["RAS", "LAS"]
    np.testing.assert_allclose(found["world_matrix"], np.eye(4)[:3], atol=2e-3)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_of_64_bits(program, tmp_path, voxels, dtype):
    save(tmp_path / "a.nii", voxels, AFFINE)
    image = nibabel.Nifti1Image(voxels.astype(dtype), AFFINE, dtype=dtype)
    nibabel.save(image, tmp_path / "b.nii")
    register(tmp_path / "a.nii", tmp_path / "b.nii", "--output", tmp_path / "o.nii")
    aligned = nibabel.load(tmp_path / "o.nii")
    assert aligned.get_data_dtype() == np.int32
    np.testing.assert_allclose(np.asanyarray(aligned.dataobj)[INNER],
                               voxels.astype(dtype)[INNER], atol=1)


def test_scaled_voxels(program, tmp_path, voxels):
    save(tmp_path / "a.nii", voxels, AFFINE)
    image = nibabel.Nifti1Image(voxels, AFFINE)
    image.set_data_dtype(np.int16)  # nibabel chooses scl_slope and scl_inter
    nibabel.save(image, tmp_path / "b.nii")
    register(tmp_path / "a.nii", tmp_path / "b.nii", "--output", tmp_path / "o.nii")
    np.testing.assert_allclose(nibabel.load(tmp_path / "o.nii").get_fdata()[INNER],
                               voxels[INNER], atol=VALUE_TOLERANCE)


@pytest.mark.parametrize("ending", [".hdr", ".img"])
def test_pairs_of_files(program, tmp_path, voxels, ending):
    save(tmp_path / "a.nii", voxels, AFFINE)
    nibabel.save(nibabel.Nifti1Pair(voxels, AFFINE), tmp_path / "pair.img")
    found = register(tmp_path / f"pair{ending}", tmp_path / "a.nii", "--output", tmp_path / "o.nii")
    assert found["header_difference_mm"] < 0.01
    np.testing.assert_array_equal(nibabel.load(tmp_path / "o.nii").affine, AFFINE)
    (tmp_path / "pair.img").rename(tmp_path / "lost")
    done = run("register-volume", tmp_path / "pair.hdr", tmp_path / "a.nii")
    assert done.returncode == 2 and "there is no pair.img" in done.stderr


def test_a_volume_of_a_series(program, tmp_path, voxels):
    series = np.stack([np.roll(voxels, 2 * shift, axis=0) for shift in range(3)], axis=-1)
    save(tmp_path / "series.nii.gz", series, AFFINE)
    save(tmp_path / "a.nii.gz", voxels, AFFINE)
    np.save(tmp_path / "series.npy", series.transpose(3, 2, 1, 0))
    done = run("register-volume", tmp_path / "a.nii.gz", tmp_path / "series.nii.gz")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "holds 3 volumes" in done.stderr and "--volume N" in done.stderr
    assert "warpalign stack" in done.stderr
    found = register(tmp_path / "a.nii.gz", tmp_path / "series.nii.gz", "--volume", 2)
    assert found["translation"] == pytest.approx([4, 0, 0], abs=0.01)
    found = register(tmp_path / "series.nii.gz", tmp_path / "series.nii.gz", "--volume", "2,1")
    assert found["translation"] == pytest.approx([-2, 0, 0], abs=0.01)
    found = register(tmp_path / "series.npy", tmp_path / "series.npy", "--volume", "0,1")
    assert found["translation"] == pytest.approx([2, 0, 0], abs=0.01)
    done = run("register-volume", tmp_path / "a.nii.gz", tmp_path / "series.nii.gz", "--volume", 3)
    assert done.returncode == 2 and "there is no volume 3" in done.stderr


def test_the_mask_and_the_field_of_a_mirrored_volume(program, tmp_path, voxels):
    save(tmp_path / "a.nii", voxels, AFFINE)
    image = oriented(voxels, "LAS")
    nibabel.save(image, tmp_path / "b.nii")
    mask = np.ones(voxels.shape, np.uint8)
    mask[:8] = 0  # left in the stored order of b
    spoilt = np.asarray(image.dataobj).copy()
    spoilt[:8] = np.nan
    save(tmp_path / "spoilt.nii", spoilt, image.affine)
    save(tmp_path / "mask.nii", mask, image.affine)
    found = register(tmp_path / "a.nii", tmp_path / "spoilt.nii", "--moving-mask",
                     tmp_path / "mask.nii")
    np.testing.assert_allclose(found["world_matrix"], np.eye(4)[:3], atol=1e-2)
    register(tmp_path / "a.nii", tmp_path / "b.nii", "--motion", "deformable", "--field",
             tmp_path / "field.npy")
    along_x = np.load(tmp_path / "field.npy")[0]
    x = np.arange(32, dtype=np.float32)
    np.testing.assert_allclose(along_x, np.broadcast_to(31 - 2 * x, along_x.shape), atol=0.05)


def test_an_oblique_grid(program, tmp_path, voxels):
    """A volume stored on a grid turned by 20 degrees shows the same, where its header says."""
    angle = np.radians(20)
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    centre = (AFFINE @ [15.5, 17.5, 19.5, 1])[:3]
    turn[:3, 3] = centre - turn[:3, :3] @ centre
    oblique = turn @ AFFINE
    pull = np.linalg.inv(AFFINE) @ oblique
    turned = ndimage.affine_transform(voxels, pull, order=3, mode="mirror")
    save(tmp_path / "a.nii", voxels, AFFINE)
    save(tmp_path / "b.nii", turned.astype(np.float32), oblique)
    found = register(tmp_path / "a.nii", tmp_path / "b.nii", "--motion", "rigid")
    np.testing.assert_allclose(found["world_matrix"], np.eye(4)[:3], atol=0.05)
    assert found["rotation_deg"] == pytest.approx(20, abs=0.1) and found["axes"] == ["RAS", "RAS"]
    # A translation cannot follow the grids, and the line says by how much they differ.
    done = run("register-volume", tmp_path / "a.nii", tmp_path / "b.nii")
    assert "headers" in done.stdout
