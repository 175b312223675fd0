"""``warpalign stack`` of series of volumes, against drawn motion; nibabel and NumPy are the oracles."""

import csv
import gzip
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from moving_head import AFFINE, PARAMETERS, draw, drawn_motion, framewise_displacement
from program_runs import kill_after_volumes, run

nibabel = pytest.importorskip("nibabel")

# Noise of 10 in tissue of up to 2500 leaves a few thousandths.
MILLIMETRES = DEGREES = 0.02
VOLUMES = 10


@pytest.fixture(scope="module")
def motion():
    return drawn_motion(VOLUMES)


@pytest.fixture(scope="module")
def series(motion):
    return np.rint(draw(motion)).astype(np.int16)


@pytest.fixture
def folder(tmp_path, series):
    save(series, tmp_path / "bold.nii.gz")
    return tmp_path


def save(series, path, affine=AFFINE, **header):
    image = nibabel.Nifti1Image(series, affine)
    image.header.set_xyzt_units("mm", "sec")
    image.header["pixdim"][4] = 1.5
    image.header["descrip"] = b"a series"
    image.set_sform(affine, 1)
    image.set_qform(affine, 1)
    for name, value in header.items():
        image.header[name] = value
    nibabel.save(image, path)


def stack(*arguments, status=0):
    done = run("stack", *arguments)
    assert done.returncode == status, done.stderr + done.stdout
    return done


def table_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


def parameters_of(rows):
    return np.array([[float(row[name]) for name in PARAMETERS] for row in rows])


def check_motion(rows, motion):
    errors = np.abs(parameters_of(rows) - motion)
    assert errors[:, :3].max() < MILLIMETRES and errors[:, 3:].max() < DEGREES, errors.max(axis=0)


def test_motion_displacement_and_dvars(program, folder, series, motion):
    stack(folder / "bold.nii.gz", "--csv", folder / "m.tsv", "--output", folder / "o.nii.gz",
          "--mean", folder / "mean.nii.gz", "--plot", folder / "m.svg", "--json", folder / "m.json")
    rows = table_of(folder / "m.tsv")
    assert [row["status"] for row in rows] == ["ok"] * VOLUMES
    check_motion(rows, motion)
    displacement = [float(row["framewise_displacement"]) for row in rows[1:]]
    assert rows[0]["framewise_displacement"] == rows[0]["dvars"] == "n/a"
    np.testing.assert_allclose(displacement, framewise_displacement(parameters_of(rows)), atol=1e-5)
    np.testing.assert_allclose(displacement, framewise_displacement(motion), atol=0.05)

    image = nibabel.load(folder / "o.nii.gz")
    before = nibabel.load(folder / "bold.nii.gz")
    assert image.get_data_dtype() == np.int16 and image.shape == series.shape
    np.testing.assert_array_equal(image.affine, before.affine)
    for name in ("pixdim", "xyzt_units", "descrip", "sform_code", "qform_code"):
        assert image.header[name].tobytes() == before.header[name].tobytes()
    aligned = np.asanyarray(image.dataobj).astype(float)
    np.testing.assert_array_equal(aligned[..., 0], series[..., 0])
    inner = (slice(5, -5),) * 3
    # What remains is noise of 10 in both, smoothed a little by the interpolation of one.
    assert (aligned[..., 1:] - series[..., :1])[inner].std() < 15
    np.testing.assert_allclose(nibabel.load(folder / "mean.nii.gz").get_fdata(), aligned.mean(-1),
                               atol=1e-3)
    low, high = np.percentile(series[..., 0], [2, 98], method="lower")
    head = series[..., 0] > low + 0.1 * (high - low)
    dvars = np.sqrt((np.diff(aligned, axis=-1)[head] ** 2).mean(axis=0))
    np.testing.assert_allclose([float(row["dvars"]) for row in rows[1:]], dvars, rtol=1e-4)

    report = json.loads((folder / "m.json").read_text())
    assert report["ok"] == VOLUMES and report["ended_early"] is None
    matrices = [np.vstack([volume["matrix"], [0, 0, 0, 1]]) for volume in report["volumes"]]
    world = AFFINE @ matrices[-1] @ np.linalg.inv(AFFINE)
    centre = AFFINE @ [*(np.array(series.shape[:3]) - 1) / 2, 1]
    np.testing.assert_allclose((world @ centre - centre)[:3], parameters_of(rows)[-1, :3], atol=1e-5)
    svg = (folder / "m.svg").read_text()
    assert "Translation" in svg and "Rotation" in svg and "Framewise displacement" in svg
    # One member, which every reader takes.
    compressed = (folder / "o.nii.gz").read_bytes()
    assert len(gzip.decompress(compressed)) == 352 + series.nbytes


@pytest.mark.parametrize("to", ["mean", "4", "file"])
def test_references(program, folder, series, motion, to):
    if to == "file":
        save(series[..., 3], folder / "sbref.nii.gz")
        to = folder / "sbref.nii.gz"
    done = stack(folder / "bold.nii.gz", "--to", to, "--csv", folder / "m.csv")
    rows = table_of(folder / "m.csv")
    number = {"mean": 0, "4": 4}.get(to, 3)
    found = parameters_of(rows)
    if to == "mean":
        assert "the mean of 10 volumes" in done.stdout
        check_motion(rows, motion)
    else:
        assert np.abs(found[number]).max() < 1e-3
        # Differences of small rotations add up to second order.
        np.testing.assert_allclose(found - found[0], motion - motion[0], atol=0.06)


def test_scaled_values_and_voxels_in_another_order(program, tmp_path, series, motion):
    """The stored values and their scale stay; the parameters are in the scanner's axes."""
    orientation = nibabel.orientations.axcodes2ornt("SPL")
    image = nibabel.Nifti1Image(series, AFFINE)
    image = image.as_reoriented(nibabel.orientations.ornt_transform(
        nibabel.io_orientation(AFFINE), orientation))
    stored = nibabel.Nifti1Image(np.asanyarray(image.dataobj), image.affine)
    stored.header.set_slope_inter(0.5, -30)
    nibabel.save(stored, tmp_path / "bold.nii")
    raw = nibabel.load(tmp_path / "bold.nii")
    stack(tmp_path / "bold.nii", "--csv", tmp_path / "m.tsv", "--output", tmp_path / "o.nii",
          "--mean", tmp_path / "mean.nii")
    check_motion(table_of(tmp_path / "m.tsv"), motion)
    aligned = nibabel.load(tmp_path / "o.nii")
    assert aligned.get_data_dtype() == np.int16
    assert (aligned.dataobj.slope, aligned.dataobj.inter) == (raw.dataobj.slope, raw.dataobj.inter)
    np.testing.assert_allclose(nibabel.load(tmp_path / "mean.nii").get_fdata(),
                               aligned.get_fdata().mean(-1), atol=1e-3)


@pytest.mark.parametrize("kind", ["files", "folder", "npy", "pair"])
def test_other_inputs(program, tmp_path, series, motion, kind):
    volumes = tmp_path / "volumes"
    volumes.mkdir()
    names = [volumes / f"f{number}.nii.gz" for number in range(VOLUMES)]  # f2 before f10
    for number, name in enumerate(names):
        save(series[..., number], name)
    inputs = {"files": names, "folder": [volumes], "npy": [tmp_path / "bold.npy"],
              "pair": [tmp_path / "bold.hdr"]}[kind]
    np.save(tmp_path / "bold.npy", np.ascontiguousarray(series.transpose(3, 2, 1, 0)))
    nibabel.save(nibabel.Nifti1Pair(series, AFFINE), tmp_path / "bold.img")
    options = ["--spacing", "3.5,3,3"] if kind == "npy" else []
    output = tmp_path / ("o.npy" if kind == "npy" else "o.nii.gz")
    stack(*inputs, "--csv", tmp_path / "m.tsv", "--output", output, *options)
    rows = table_of(tmp_path / "m.tsv")
    if kind == "npy":  # along the stored axes, of which x runs to the left
        mirrored = motion * [-1, 1, 1, 1, -1, -1]
        check_motion(rows, mirrored)
        assert np.load(output).shape == (VOLUMES, *series.shape[2::-1])
    else:
        check_motion(rows, motion)
        assert nibabel.load(output).shape == series.shape


def test_a_file_that_ends_in_a_volume(program, folder, series, motion):
    """What is whole is done, and one line says what is missing."""
    plain = gzip.decompress((folder / "bold.nii.gz").read_bytes())
    size = series[..., 0].nbytes
    (folder / "cut.nii").write_bytes(plain[:352 + 6 * size + 100])
    compressed = (folder / "bold.nii.gz").read_bytes()
    (folder / "cut.nii.gz").write_bytes(compressed[:len(compressed) * 2 // 3])
    for name in ("cut.nii", "cut.nii.gz"):
        done = stack(folder / name, "--csv", folder / "m.tsv", "--output", folder / "o.nii.gz",
                     status=2)
        assert done.stderr.count("\n") == 1 and name in done.stderr
        assert "truncated" in done.stderr and "of 10 volumes are whole" in done.stderr
        rows = table_of(folder / "m.tsv")
        assert 5 <= len(rows) <= 7
        check_motion(rows, motion[:len(rows)])
        image = nibabel.load(folder / "o.nii.gz")
        assert image.shape == (*series.shape[:3], len(rows))
        assert np.asanyarray(image.dataobj).shape == image.shape


def test_volumes_that_cannot_be_used(program, tmp_path, series, motion):
    broken = series.astype(np.float32)
    broken[..., 3] = 5
    broken[..., 5] = np.nan
    save(broken, tmp_path / "bold.nii")
    done = stack(tmp_path / "bold.nii", "--csv", tmp_path / "m.tsv", "--output",
                 tmp_path / "o.nii", status=2)
    assert done.stderr.count("\n") == 2
    assert "bold.nii[3]: the volume is constant" in done.stderr
    assert "bold.nii[5]: the volume has no finite voxel" in done.stderr
    rows = table_of(tmp_path / "m.tsv")
    assert [row["status"] for row in rows] == [
        "failed" if number in (3, 5) else "ok" for number in range(VOLUMES)]
    assert rows[3]["trans_x"] == rows[4]["framewise_displacement"] == rows[4]["dvars"] == "n/a"
    good = [number for number in range(VOLUMES) if number not in (3, 5)]
    check_motion([rows[number] for number in good], motion[good])
    aligned = np.asanyarray(nibabel.load(tmp_path / "o.nii").dataobj)
    np.testing.assert_array_equal(aligned[..., 3], broken[..., 3])  # as it was


@pytest.mark.parametrize("to", ["first", "mean"])
def test_voxels_that_are_not_finite_are_missing(program, tmp_path, series, motion, to):
    holes = series.astype(np.float32)
    holes[:5] = np.nan  # outside of a mask
    holes[12:17, 10:15, 8:12, 4] = np.nan
    save(holes, tmp_path / "bold.nii")
    stack(tmp_path / "bold.nii", "--csv", tmp_path / "m.tsv", "--output", tmp_path / "o.nii",
          "--mean", tmp_path / "mean.nii", "--to", to)
    rows = table_of(tmp_path / "m.tsv")
    assert {row["status"] for row in rows} == {"ok"}
    if to == "first":
        found = np.array([[float(row[name]) for name in PARAMETERS] for row in rows])
        assert np.abs(found - motion).max() < 2 * MILLIMETRES  # of fewer voxels
    assert all(row["dvars"] != "n/a" for row in rows[1:])
    aligned = np.asanyarray(nibabel.load(tmp_path / "o.nii").dataobj)
    assert np.isnan(aligned[14, 12, 10, 4]) and np.isnan(aligned[2, 15, 15]).all()
    with np.errstate(invalid="ignore"):
        expected = np.nansum(aligned, axis=3, dtype=np.float64) / np.isfinite(aligned).sum(axis=3)
    mean = np.asanyarray(nibabel.load(tmp_path / "mean.nii").dataobj)
    np.testing.assert_allclose(mean, expected, rtol=1e-5, atol=1e-3)


def test_an_unrelated_volume_is_unreliable(program, tmp_path, series):
    noise = np.random.default_rng(1).normal(500, 100, series.shape[:3])
    mixed = series.copy()
    mixed[..., 4] = noise
    save(mixed, tmp_path / "bold.nii")
    stack(tmp_path / "bold.nii", "--csv", tmp_path / "m.tsv", status=1)
    assert [row["status"] for row in table_of(tmp_path / "m.tsv")].count("unreliable") == 1


def test_files_of_other_sizes(program, tmp_path, series):
    names = [tmp_path / f"{number}.nii" for number in range(3)]
    save(series[..., 0], names[0])
    save(series[2:, :, :, 1], names[1])
    save(series[..., 2], names[2])
    done = stack(*names, "--csv", tmp_path / "m.tsv", status=2)
    assert done.stderr.count("\n") == 1
    assert "1.nii: is 34 x 40 x 26, but the first volume is 36 x 40 x 26" in done.stderr
    assert [row["status"] for row in table_of(tmp_path / "m.tsv")] == ["ok", "failed", "ok"]


@pytest.mark.parametrize("options, words", [
    (["--to", "previous"], "--to previous"), (["--to", "77"], "--to 77"),
    (["--mask", "mask.png"], "--mask"), (["--motion", "local"], "--motion"),
    (["--output", "o.tif"], ".nii"), (["--plot", "p.png"], ".svg"), (["--radius", "0"], "--radius"),
    (["--modality", "other"], "--modality"), (["--mean", "bold.nii.gz"], "--mean"),
    (["--spacing", "1,2"], "--spacing"), (["--crop-at", "1,2,3"], "--apply"),
    (["--apply", "bold.nii.gz"], "bold.nii.gz"), (["--apply", "none.json"], "none.json")])
def test_wrong_options_are_refused_in_one_line(program, folder, options, words):
    files = {"mask.png", "o.tif", "p.png", "bold.nii.gz", "none.json"}
    options = [folder / option if option in files else option for option in options]
    done = stack(folder / "bold.nii.gz", *options, status=2)
    assert done.stderr.count("\n") == 1 and words in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["bold.nii.gz"]


def test_options_of_volumes_need_volumes(program, tmp_path):
    np.save(tmp_path / "frames.npy", np.zeros((3, 32, 32), np.uint8))
    done = stack(tmp_path / "frames.npy", "--mean", tmp_path / "m.nii", status=2)
    assert "--mean" in done.stderr and "images" in done.stderr


def test_a_full_disk_or_a_missing_file_leaves_no_output(program, folder):
    shutil.copy(folder / "bold.nii.gz", folder / "other.nii.gz")
    done = stack(folder / "bold.nii.gz", "--output", folder / "missing" / "o.nii", status=2)
    assert "missing" in done.stderr and done.stderr.count("\n") == 1
    done = stack(folder / "none.nii.gz", "--csv", folder / "m.tsv", status=2)
    assert "none.nii.gz" in done.stderr and not (folder / "m.tsv").exists()


@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
def test_an_interrupted_run_is_continued(program, tmp_path, series, ending):
    """The outputs are those of an uninterrupted run."""
    long = np.concatenate([series[..., ::step] for step in (1, -1)] * 15, axis=-1)
    save(long, tmp_path / "bold.nii")
    outputs = {"--output": "o" + ending, "--csv": "m.tsv", "--mean": "mean.nii", "--plot": "p.svg",
               "--json": "m.json"}

    def arguments(folder):
        folder.mkdir(exist_ok=True)
        return [tmp_path / "bold.nii", "--resume",
                *(word for option, name in outputs.items() for word in (option, folder / name))]

    stack(*arguments(tmp_path / "whole"))
    assert sorted(path.name for path in (tmp_path / "whole").iterdir()) == sorted(outputs.values())
    broken = tmp_path / "broken"
    journal = broken / f"o{ending}.journal"
    kill_after_volumes("stack", *arguments(broken), journal=journal)
    if not journal.exists():
        pytest.skip("the run ended before it was interrupted")
    assert not (broken / outputs["--output"]).exists()
    done = run("stack", *arguments(broken), "--motion", "affine")
    assert done.returncode == 2 and "other inputs or options" in done.stderr
    stack(*arguments(broken))
    for name in ("o" + ending, "m.tsv", "mean.nii", "p.svg"):
        assert (broken / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    theirs, ours = (json.loads((folder / "m.json").read_text())["volumes"]
                    for folder in (tmp_path / "whole", broken))
    # The start of the first fit after the interruption is rounded.
    np.testing.assert_allclose([volume["matrix"] for volume in ours],
                               [volume["matrix"] for volume in theirs], atol=1e-9)
    assert sorted(path.name for path in broken.iterdir()) == sorted(outputs.values())
    done = stack(tmp_path / "bold.nii", "--resume", "--csv", tmp_path / "m.tsv", status=2)
    assert "--output" in done.stderr


def test_a_reference_that_lies_elsewhere(program, folder, series):
    elsewhere = AFFINE.copy()
    elsewhere[2, 3] += 12
    save(series[..., 3], folder / "sbref.nii.gz", elsewhere)
    done = stack(folder / "bold.nii.gz", "--to", folder / "sbref.nii.gz")
    assert "up to 12 mm from those of the series" in done.stdout


def test_memory_does_not_grow_with_the_volumes(program, tmp_path, series):
    def peak_mib(repetitions):
        name = tmp_path / "bold.nii.gz"
        save(np.concatenate([series] * repetitions, axis=-1), name)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "warpalign", "stack", name, "--output", tmp_path / "o.nii.gz",
             "--csv", tmp_path / "m.tsv", "--mean", tmp_path / "mean.nii", "--quiet"], env=os.environ)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_maxrss / 1024

    # 250 volumes more have 19 MB.
    assert peak_mib(27) - peak_mib(2) < 6


@pytest.fixture(scope="module")
def found(program_module, tmp_path_factory, series):
    """A folder with a series, and what a run found of it."""
    folder = tmp_path_factory.mktemp("found")
    save(series, folder / "bold.nii")
    stack(folder / "bold.nii", "--json", folder / "m.json", "--csv", folder / "m.csv",
          "--output", folder / "o.nii")
    return folder


@pytest.fixture(scope="module")
def program_module():
    if run("--version").returncode != 0:
        pytest.skip("there is no program")


def test_known_transforms_give_the_same_volumes(found, tmp_path):
    stack(found / "bold.nii", "--apply", found / "m.json", "--output", tmp_path / "o.nii",
          "--csv", tmp_path / "m.csv", "--mean", tmp_path / "mean.nii")
    assert (tmp_path / "o.nii").read_bytes() == (found / "o.nii").read_bytes()
    assert (tmp_path / "m.csv").read_bytes() == (found / "m.csv").read_bytes()
    aligned = nibabel.load(found / "o.nii").get_fdata()
    np.testing.assert_allclose(nibabel.load(tmp_path / "mean.nii").get_fdata(), aligned.mean(-1),
                               atol=1e-3)


def test_known_transforms_of_another_series(found, tmp_path, series):
    """Another contrast of the same head, which the registration alone could not align."""
    other = (20000 - 4 * series.astype(np.int32)).astype(np.float32)
    other[..., 6] = 7  # a volume without contrast is warped, too
    save(other, tmp_path / "other.nii")
    done = stack(tmp_path / "other.nii", "--apply", found / "m.json", "--output",
                 tmp_path / "o.nii.gz", "--json", tmp_path / "m.json")
    assert "that of " in done.stdout
    aligned = nibabel.load(tmp_path / "o.nii.gz").get_fdata()
    first = nibabel.load(found / "o.nii").get_fdata()
    inner = (slice(5, -5),) * 3
    for volume in (1, 4, 9):
        # The spline is linear; the first output is rounded to integers, which 4 multiplies.
        np.testing.assert_allclose(aligned[..., volume][inner],
                                   20000 - 4 * first[..., volume][inner], atol=2.1)
    np.testing.assert_allclose(aligned[..., 6][inner], 7, atol=1e-4)
    # A run's matrices are those that it was given.
    theirs, ours = (json.loads(path.read_text()) for path in (found / "m.json", tmp_path / "m.json"))
    assert [v["matrix"] for v in ours["volumes"]] == [v["matrix"] for v in theirs["volumes"]]


def test_known_transforms_of_a_part(found, tmp_path, series):
    corner = (4, 3, 2)
    part = tuple(slice(first, first + length) for first, length in zip(corner, (28, 34, 20)))
    save(series[part], tmp_path / "part.nii")
    done = stack(tmp_path / "part.nii", "--apply", found / "m.json", "--output",
                 tmp_path / "o.nii", status=2)
    assert "--crop-at" in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "o.nii").exists()
    stack(tmp_path / "part.nii", "--apply", found / "m.json", "--crop-at", "4,3,2", "--output",
          tmp_path / "o.nii")
    whole = nibabel.load(found / "o.nii").get_fdata()[part]
    inner = (slice(9, -9), slice(9, -9), slice(7, -7))  # a spline's memory of its ends
    difference = (nibabel.load(tmp_path / "o.nii").get_fdata() - whole)[inner]
    assert np.abs(difference).max() <= 1  # both are rounded
    for crop in ("4,3", "20,3,2", "-1,3,2"):
        done = stack(tmp_path / "part.nii", "--apply", found / "m.json", "--crop-at=" + crop,
                     status=2)
        assert done.stderr.count("\n") == 1 and "--crop-at" in done.stderr


def test_known_transforms_in_afnis_file(found, tmp_path):
    """Rows of millimetres, such as 3dvolreg's -1Dmatrix_save, are converted by the header."""
    done = run("transform", "convert", found / "m.json", tmp_path / "m.aff12.1D", "--reference",
               found / "bold.nii", "--moving", found / "bold.nii")
    assert done.returncode == 0, done.stderr
    stack(found / "bold.nii", "--apply", tmp_path / "m.aff12.1D", "--csv", tmp_path / "m.csv")
    np.testing.assert_allclose(parameters_of(table_of(tmp_path / "m.csv")),
                               parameters_of(table_of(found / "m.csv")), atol=2e-6)


def test_known_transforms_that_do_not_fit(found, tmp_path, series):
    save(series[..., :7], tmp_path / "seven.nii")
    report = json.loads((found / "m.json").read_text())
    mirrored = json.loads((found / "m.json").read_text())
    mirrored["volumes"][3]["matrix"][0] = [-1, 0, 0, 20]
    report["volumes"][2].pop("matrix")
    (tmp_path / "bad.json").write_text(json.dumps(report))
    (tmp_path / "mirrored.json").write_text(json.dumps(mirrored))
    (tmp_path / "cut.json").write_text((found / "m.json").read_text()[:900])
    np.save(tmp_path / "frames.npy", np.zeros((10, 32, 32), np.uint8))
    for file, drift, words in [
            (tmp_path / "seven.nii", found / "m.json", "of 10 volumes, and there are 7"),
            (found / "bold.nii", found / "m.csv", "use the JSON"),
            (found / "bold.nii", tmp_path / "bad.json", "cut short"),
            (found / "bold.nii", tmp_path / "cut.json", "cut short"),
            (found / "bold.nii", tmp_path / "mirrored.json", "transform 3 is singular or mirrors"),
            (tmp_path / "frames.npy", found / "m.json", "pixels of images")]:
        done = stack(file, "--apply", drift, "--output", tmp_path / "o.npy", status=2)
        assert done.stderr.count("\n") == 1 and words in done.stderr, done.stderr
        assert not (tmp_path / "o.npy").exists()
    for option, value in (("--to", "mean"), ("--motion", "affine")):
        done = stack(found / "bold.nii", "--apply", found / "m.json", option, value, status=2)
        assert "registers nothing" in done.stderr


def test_known_transforms_of_unreliable_volumes(found, tmp_path, series):
    report = json.loads((found / "m.json").read_text())
    report["volumes"][3]["status"] = "unreliable"
    report["volumes"][5] = {"volume": 5, "status": "failed", "reason": "is constant"}
    (tmp_path / "m.json").write_text(json.dumps(report))
    stack(found / "bold.nii", "--apply", tmp_path / "m.json", "--output", tmp_path / "o.nii",
          "--csv", tmp_path / "m.csv", status=1)
    aligned = np.asanyarray(nibabel.load(tmp_path / "o.nii").dataobj)
    expected = np.asanyarray(nibabel.load(found / "o.nii").dataobj).copy()
    expected[..., [3, 5]] = series[..., [3, 5]]  # as they were
    np.testing.assert_array_equal(aligned, expected)
    assert [row["status"] for row in table_of(tmp_path / "m.csv")].count("unreliable") == 2


def test_a_folder_of_images_stays_a_stack_of_images(program, tmp_path, series):
    image_module = pytest.importorskip("PIL.Image")
    frame = np.clip(series[:, :, 13, 0] / 8, 0, 255).astype(np.uint8)
    frame = np.kron(frame, np.ones((2, 2), np.uint8))
    folder = tmp_path / "frames"
    folder.mkdir()
    for number in range(2):
        image_module.fromarray(frame).save(folder / f"{number}.png")
    save(series[..., 0], folder / "stray.nii")
    done = run("stack", folder, "--csv", tmp_path / "m.csv")
    assert done.returncode == 0, done.stderr
    assert len(table_of(tmp_path / "m.csv")) == 2
