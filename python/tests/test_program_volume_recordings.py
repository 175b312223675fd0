"""``warpalign stack`` of recordings of whole volumes, with drawn motion; tifffile is the oracle."""

import csv
import json

import numpy as np
import pytest
from moving_head import PARAMETERS, draw, drawn_motion
from program_runs import kill_after_volumes, run

tifffile = pytest.importorskip("tifffile")

# As for NIfTI; the voxels have 3 x 3 x 3.5 micrometres.
MICROMETRES = DEGREES = 0.02
VOLUMES = 6
SIZES = {"PhysicalSizeX": 3.0, "PhysicalSizeY": 3.0, "PhysicalSizeZ": 3.5}


@pytest.fixture(scope="module")
def motion():
    """Along the stored axes, of which x runs to the left in the drawing."""
    return drawn_motion(VOLUMES) * [-1, 1, 1, 1, -1, -1]


@pytest.fixture(scope="module")
def volumes():
    """(T, Z, Y, X)"""
    drawn = draw(drawn_motion(VOLUMES))
    return np.ascontiguousarray(np.rint(drawn).astype(np.uint16).transpose(3, 2, 1, 0))


@pytest.fixture(scope="module")
def channels(volumes):
    """(T, Z, C, Y, X): the second channel is the first one's negative, the third one is flat."""
    flat = np.full_like(volumes, 7)
    return np.stack([volumes, 5000 - volumes, flat], axis=2)


def stack(*arguments, status=0):
    done = run("stack", *arguments)
    assert done.returncode == status, done.stderr + done.stdout
    return done


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def check_motion(rows, motion):
    assert [row["status"] for row in rows] == ["ok"] * len(motion)
    found = np.array([[float(row[name]) for name in PARAMETERS] for row in rows])
    errors = np.abs(found - motion)
    assert errors[:, :3].max() < MICROMETRES and errors[:, 3:].max() < DEGREES, errors.max(axis=0)


def check_aligned(aligned, first):
    """What remains is noise of 10 in both, smoothed a little by the interpolation of one."""
    assert aligned.dtype == first.dtype
    difference = (aligned.astype(float) - first)[:, 5:-5, 5:-5, 5:-5]
    np.testing.assert_array_equal(aligned[0], first)
    assert difference[1:].std() < 15


@pytest.mark.parametrize("order", ["TZYX", "ZTYX"])
def test_ome(program, tmp_path, volumes, motion, order):
    stored = volumes if order == "TZYX" else volumes.transpose(1, 0, 2, 3)
    path, out = tmp_path / "in.ome.tif", tmp_path / "out.ome.tif"
    tifffile.imwrite(path, stored, metadata={"axes": order, **SIZES})
    stack(path, "--output", out, "--csv", tmp_path / "m.csv", "--json", tmp_path / "m.json",
          "--plot", tmp_path / "m.svg", "--mean", tmp_path / "mean.tif")
    check_motion(rows_of(tmp_path / "m.csv"), motion)
    with tifffile.TiffFile(out) as file:
        assert file.is_ome and file.series[0].axes == order  # as in the input
        aligned = file.asarray().transpose([order.index(axis) for axis in "TZYX"])
        check_aligned(aligned, volumes[0])
        pixels = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
        assert {key: pixels[key] for key in SIZES} == SIZES
    report = json.loads((tmp_path / "m.json").read_text())
    assert report["ok"] == VOLUMES and "trans_um" in report["volumes"][0]
    assert report["radius_um"] == 60  # half of the longest side, 40 voxels of 3 micrometres
    assert "um" in (tmp_path / "m.svg").read_text()
    with tifffile.TiffFile(tmp_path / "mean.tif") as file:
        assert file.series[0].axes == "ZYX" and file.imagej_metadata["spacing"] == 3.5
        mean = file.asarray()
        numerator, denominator = file.pages[0].tags["XResolution"].value
        assert denominator / numerator == pytest.approx(3)
    np.testing.assert_allclose(mean, aligned.mean(0), atol=0.01)


def test_imagej_hyperstack_of_channels(program, tmp_path, channels, volumes, motion):
    path, out = tmp_path / "in.tif", tmp_path / "out.tif"
    tifffile.imwrite(path, channels, imagej=True, resolution=(1 / 3, 1 / 3),
                     metadata={"axes": "TZCYX", "unit": "um", "spacing": 3.5})
    done = stack(path, "--output", out, status=2)
    assert "has 3 channels" in done.stderr and done.stderr.count("\n") == 1 and not out.exists()
    stack(path, "--channel", 1, "--output", out, "--csv", tmp_path / "m.csv")
    check_motion(rows_of(tmp_path / "m.csv"), motion)
    with tifffile.TiffFile(out) as file:
        assert file.is_imagej and file.series[0].axes == "TZCYX"
        assert file.imagej_metadata["spacing"] == 3.5 and file.imagej_metadata["unit"] == "um"
        aligned = file.asarray()
    check_aligned(aligned[:, :, 0], volumes[0])
    np.testing.assert_array_equal(aligned[1:, 5:-5, 2, 5:-5, 5:-5], 7)
    stack(path, "--channel-weights", "1,0,2", "--output", tmp_path / "sum.tif",
          "--csv", tmp_path / "sum.csv")
    check_motion(rows_of(tmp_path / "sum.csv"), motion)
    check_aligned(tifffile.imread(tmp_path / "sum.tif")[:, :, 0], volumes[0])
    only = tmp_path / "only.tif"
    stack(path, "--channel", 0, "--only-channel", "--output", only)
    np.testing.assert_array_equal(tifffile.imread(only).shape, volumes.shape)


@pytest.mark.parametrize("order", ["TZYX", "TCZYX", "ZYXT"])
def test_arrays(program, tmp_path, volumes, channels, motion, order):
    stored = {"TZYX": volumes, "ZYXT": volumes.transpose(1, 2, 3, 0),
              "TCZYX": channels.transpose(0, 2, 1, 3, 4)}[order]
    np.save(tmp_path / "in.npy", np.ascontiguousarray(stored))
    chosen = ["--channel", 0] if "C" in order else []
    stack(tmp_path / "in.npy", "--axes", order, "--spacing", "3.5,3,3", *chosen, "--csv",
          tmp_path / "m.csv", "--output", tmp_path / "out.npy")
    check_motion(rows_of(tmp_path / "m.csv"), motion)
    out = np.load(tmp_path / "out.npy")
    assert out.shape == stored.shape and out.dtype == stored.dtype
    if order == "ZYXT":
        out = out.transpose(3, 0, 1, 2)
    check_aligned(out[:, 0] if "C" in order else out, volumes[0])


def test_a_folder_of_volumes(program, tmp_path, volumes, motion):
    folder = tmp_path / "volumes"
    folder.mkdir()
    for number in range(VOLUMES):
        tifffile.imwrite(folder / f"v{number}.ome.tif", volumes[number],
                         metadata={"axes": "ZYX", **SIZES})
    stack(folder, "--z", "all", "--csv", tmp_path / "m.csv", "--output", tmp_path / "out.tif")
    check_motion(rows_of(tmp_path / "m.csv"), motion)
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        assert file.series[0].axes == "TZYX"
        check_aligned(file.asarray(), volumes[0])


@pytest.mark.parametrize("to", ["mean", "2", "file"])
def test_references(program, tmp_path, volumes, motion, to):
    path = tmp_path / "in.ome.tif"
    tifffile.imwrite(path, volumes, metadata={"axes": "TZYX", **SIZES})
    if to == "file":
        to = tmp_path / "reference.tif"
        tifffile.imwrite(to, volumes[2], imagej=True, metadata={"axes": "ZYX"})
    stack(path, "--to", to, "--csv", tmp_path / "m.csv")
    found = np.array([[float(row[name]) for name in PARAMETERS]
                      for row in rows_of(tmp_path / "m.csv")])
    if to == "mean":
        assert np.abs(found - motion).max() < MICROMETRES
    else:
        assert np.abs(found[2]).max() < 1e-3


def test_nifti_of_one_channel(program, tmp_path, volumes, channels):
    nibabel = pytest.importorskip("nibabel")
    path = tmp_path / "in.ome.tif"
    tifffile.imwrite(path, volumes, metadata={"axes": "TZYX", **SIZES})
    stack(path, "--output", tmp_path / "out.nii.gz")
    image = nibabel.load(tmp_path / "out.nii.gz")
    assert image.shape == volumes.shape[::-1]
    np.testing.assert_allclose(image.header.get_zooms()[:3], [0.003, 0.003, 0.0035], rtol=1e-6)
    check_aligned(np.asanyarray(image.dataobj).transpose(3, 2, 1, 0), volumes[0])
    tifffile.imwrite(path, channels, metadata={"axes": "TZCYX", **SIZES})
    done = stack(path, "--channel", 0, "--output", tmp_path / "no.nii", status=2)
    assert "NIfTI has no channels" in done.stderr and not (tmp_path / "no.nii").exists()


def test_planes_are_still_registered_by_choice(program, tmp_path, volumes):
    path = tmp_path / "in.ome.tif"
    tifffile.imwrite(path, volumes, metadata={"axes": "TZYX", **SIZES})
    done = stack(path, "--z", "max", "--motion", "translation", "--csv", tmp_path / "m.csv")
    assert "frames" in done.stdout
    few = tmp_path / "few.ome.tif"
    tifffile.imwrite(few, volumes[:, :4], metadata={"axes": "TZYX"})
    assert "choose by which to register with --z 0 to 3" in stack(few, status=2).stderr
    assert "needs at least 8" in stack(few, "--z", "all", status=2).stderr


@pytest.mark.parametrize("options, words", [
    (["--mask", "m.png"], "--mask"), (["--report", "r.html"], "--report"),
    (["--output-folder", "f"], "--output-folder"), (["--motion", "local"], "local"),
    (["--only-z"], "--only-z"), (["--bidirectional"], "--bidirectional"),
    (["--line-offset", "1"], "--line-offset"), (["--align-channels", "rigid"], "--align-channels"),
    (["--to", "99"], "--to 99"), (["--to", "previous"], "--to previous"),
    (["--output", "o.png"], ".nii"), (["--channel", "4"], "--channel"),
    (["--shard", "1/2"], "--shard"), (["--window", "32"], "--window")])
def test_wrong_options_are_refused_in_one_line(program, tmp_path, volumes, options, words):
    path = tmp_path / "in.ome.tif"
    tifffile.imwrite(path, volumes, metadata={"axes": "TZYX", **SIZES})
    done = stack(path, *options, status=2)
    assert done.stderr.count("\n") == 1 and words in done.stderr, done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["in.ome.tif"]


def test_z_all_needs_planes(program, tmp_path, volumes):
    tifffile.imwrite(tmp_path / "frames.tif", volumes[:, 0], imagej=True, metadata={"axes": "TYX"})
    done = stack(tmp_path / "frames.tif", "--z", "all", status=2)
    assert "--z all" in done.stderr and done.stderr.count("\n") == 1
    done = stack(tmp_path / "none.tif", "--z", "all", status=2)
    assert "none.tif" in done.stderr and done.stderr.count("\n") == 1


def test_a_file_that_ends_in_a_volume(program, tmp_path, volumes, motion):
    path, out = tmp_path / "cut.tif", tmp_path / "out.tif"
    tifffile.imwrite(path, volumes, imagej=True, resolution=(1 / 3, 1 / 3),
                     metadata={"axes": "TZYX", "unit": "um", "spacing": 3.5})
    with tifffile.TiffFile(path) as file:
        start = file.pages[0].dataoffsets[0]
    path.write_bytes(path.read_bytes()[:start + 4 * volumes[0].nbytes + 5000])
    done = stack(path, "--output", out, "--csv", tmp_path / "m.csv", status=2)
    assert done.stderr.count("\n") == 1 and "cut.tif" in done.stderr
    check_motion(rows_of(tmp_path / "m.csv"), motion[:4])
    assert tifffile.imread(out).shape == (4, *volumes.shape[1:])


def test_a_flat_volume_keeps_its_number(program, tmp_path, volumes):
    broken = volumes.copy()
    broken[2] = 7
    path, out = tmp_path / "in.ome.tif", tmp_path / "out.tif"
    tifffile.imwrite(path, broken, metadata={"axes": "TZYX", **SIZES})
    done = stack(path, "--output", out, "--csv", tmp_path / "m.csv", status=2)
    assert "[2]: the volume is constant" in done.stderr
    assert [row["status"] for row in rows_of(tmp_path / "m.csv")][2] == "failed"
    np.testing.assert_array_equal(tifffile.imread(out)[2], broken[2])


def test_an_interrupted_run_is_continued(program, tmp_path, channels):
    """The outputs are those of an uninterrupted run."""
    long = np.concatenate([channels[:, :, :2], channels[::-1, :, :2]] * 8)
    tifffile.imwrite(tmp_path / "in.ome.tif", long, metadata={"axes": "TZCYX", **SIZES})
    outputs = {"--output": "o.tif", "--csv": "m.csv", "--mean": "mean.tif"}

    def arguments(folder):
        folder.mkdir(exist_ok=True)
        return [tmp_path / "in.ome.tif", "--resume", "--channel", 0,
                *(word for option, name in outputs.items() for word in (option, folder / name))]

    stack(*arguments(tmp_path / "whole"))
    assert sorted(path.name for path in (tmp_path / "whole").iterdir()) == sorted(outputs.values())
    broken = tmp_path / "broken"
    journal = broken / "o.tif.journal"
    kill_after_volumes("stack", *arguments(broken), journal=journal)
    if not journal.exists():
        pytest.skip("the run ended before it was interrupted")
    done = run("stack", *arguments(broken), "--channel", 1)
    assert done.returncode == 2
    stack(*arguments(broken))
    for name in outputs.values():
        assert (broken / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_known_transforms(program, tmp_path, channels, volumes):
    """All channels of another recording, without --channel and --z."""
    np.save(tmp_path / "in.npy", volumes)
    stack(tmp_path / "in.npy", "--axes", "TZYX", "--json", tmp_path / "m.json",
          "--output", tmp_path / "found.npy")
    tifffile.imwrite(tmp_path / "all.tif", channels, imagej=True, metadata={"axes": "TZCYX"})
    stack(tmp_path / "all.tif", "--apply", tmp_path / "m.json", "--output", tmp_path / "out.tif")
    aligned = tifffile.imread(tmp_path / "out.tif")
    np.testing.assert_array_equal(aligned[:, :, 0], np.load(tmp_path / "found.npy"))
    inner = (slice(None),) + (slice(5, -5),) * 3
    # Outside, both are 0. Each channel is rounded on its own.
    total = aligned[:, :, 0][inner].astype(int) + aligned[:, :, 1][inner]
    assert np.abs(total - 5000).max() <= 1
    np.testing.assert_array_equal(aligned[:, :, 2][inner], 7)
    done = stack(tmp_path / "all.tif", "--apply", tmp_path / "m.json", "--crop-at", "1,1,1",
                 status=2)
    assert "--crop-at" in done.stderr


def test_several_devices_take_turns(program, tmp_path, volumes, motion):
    path = tmp_path / "in.ome.tif"
    tifffile.imwrite(path, volumes, metadata={"axes": "TZYX", **SIZES})
    outputs = []
    for name in ("opencl:pocl", "opencl:pocl,opencl:pocl"):
        done = run("stack", path, "--device", name, "--csv", tmp_path / "m.csv", "--output",
                   tmp_path / "o.tif")
        if done.returncode == 3:
            pytest.skip("PoCL is not installed")
        assert done.returncode == 0, done.stderr
        check_motion(rows_of(tmp_path / "m.csv"), motion)
        outputs.append(tifffile.imread(tmp_path / "o.tif").astype(float))
    # Fits start from another volume, and end within thousandths of a voxel of each other.
    assert np.abs(outputs[0] - outputs[1]).max() < 12
    assert np.abs(outputs[0] - outputs[1])[:, 2:-2, 2:-2, 2:-2].mean() < 0.5
