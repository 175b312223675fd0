"""`warpalign stack --nodata`: drawn drifts, and pixels that are missing."""

import json

import numpy as np
import pytest
from program_runs import run

tifffile = pytest.importorskip("tifffile")

DRIFT = np.array([[0, 0], [3.25, -2.5], [-1.75, 4.0], [6.5, 1.25], [-5.0, -3.0]])  # x, y
HEIGHT, WIDTH = 120, 140
HOLE = np.s_[:, 40:75, 50:90]  # stays where it is, as dust on a sensor does
NODATA = 7


def frames(dtype=np.uint16):
    random = np.random.default_rng(3)
    spots = [(random.uniform(-20, WIDTH + 20), random.uniform(-20, HEIGHT + 20),
              random.uniform(2, 5), random.uniform(2000, 9000)) for _ in range(150)]
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    drawn = []
    for right, down in DRIFT:
        image = np.full(x.shape, 3000.0)
        for cx, cy, size, height in spots:
            image += height * np.exp(-((x - right - cx) ** 2 + (y - down - cy) ** 2)
                                     / (2 * size**2))
        drawn.append(image)
    values = np.array(drawn).round().astype(dtype)
    values[HOLE] = NODATA
    values[:, :, :20] = NODATA
    return values


def ok(*arguments):
    done = run("stack", *arguments)
    assert done.returncode == 0, done.stderr
    return done


def drift_of(path):
    return np.array([frame["translation"] for frame in json.loads(path.read_text())["frames"]])


def check_holes(image, right, down):
    """The hole and the edge have moved against the drift, and nothing else is missing."""
    rows = slice(int(np.ceil(42 - down)), int(np.floor(73 - down)))
    columns = slice(int(np.ceil(52 - right)), int(np.floor(88 - right)))
    assert (image[rows, columns] == NODATA).all()
    assert (image[80:110, 60:100] != NODATA).all()


@pytest.mark.parametrize("options", [[], ["--to", "previous"], ["--to", "mean"],
                                     ["--motion", "translation"]])
def test_missing_pixels_do_not_hold_frames_back(program, tmp_path, options):
    tifffile.imwrite(tmp_path / "a.tif", frames(), photometric="minisblack")
    ok(tmp_path / "a.tif", "--nodata", NODATA, "--json", tmp_path / "drift.json", "--output",
       tmp_path / "o.tif", *options)
    assert np.abs(drift_of(tmp_path / "drift.json") - DRIFT).max() < 0.1
    aligned = tifffile.imread(tmp_path / "o.tif")
    assert aligned.dtype == np.uint16 and aligned.shape == (5, HEIGHT, WIDTH)
    # Each hole has moved against the drift; two pixels from its edge nothing is left of the spline.
    for image, (right, down) in zip(aligned, DRIFT, strict=True):
        check_holes(image, right, down)
    known = (aligned != NODATA).all(axis=0)[10:-10, 30:-10]
    inner = aligned[:, 10:-10, 30:-10][:, known].astype(float)
    # Spots change by up to 2000 a pixel, and holes are filled smoothly for the spline.
    assert np.sqrt(np.mean((inner - inner[0]) ** 2)) < 150


def test_planes_of_a_recording_keep_their_holes(program, tmp_path):
    both = np.stack([frames(), frames()[:, ::-1]], axis=1)
    tifffile.imwrite(tmp_path / "a.tif", both, imagej=True, metadata={"axes": "TCYX"})
    ok(tmp_path / "a.tif", "--nodata", NODATA, "--channel", 0, "--json", tmp_path / "drift.json",
       "--output", tmp_path / "o.tif")
    assert np.abs(drift_of(tmp_path / "drift.json") - DRIFT).max() < 0.1
    aligned = tifffile.imread(tmp_path / "o.tif")
    assert aligned.shape == both.shape
    np.testing.assert_array_equal(aligned[0], both[0])  # the reference
    assert (aligned[1, 1, 62:70, 55:80] == NODATA).all()
    ok(tmp_path / "a.tif", "--nodata", NODATA, "--apply", tmp_path / "drift.json", "--output",
       tmp_path / "again.tif")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "again.tif")[1:], aligned[1:])


def test_a_reference_from_a_file_has_missing_pixels_too(program, tmp_path):
    values = frames()
    tifffile.imwrite(tmp_path / "first.tif", values[0])
    tifffile.imwrite(tmp_path / "a.tif", values[1:], photometric="minisblack")
    ok(tmp_path / "a.tif", "--nodata", NODATA, "--to", tmp_path / "first.tif", "--json",
       tmp_path / "drift.json")
    assert np.abs(drift_of(tmp_path / "drift.json") - DRIFT[1:]).max() < 0.1


@pytest.mark.parametrize("to", ["first", "mean"])
def test_local_motion_leaves_out_missing_pixels(program, tmp_path, to):
    tifffile.imwrite(tmp_path / "a.tif", frames(), photometric="minisblack")
    ok(tmp_path / "a.tif", "--motion", "local", "--window", 32, "--nodata", NODATA, "--to", to,
       "--json", tmp_path / "drift.json", "--field", tmp_path / "field.npy", "--output",
       tmp_path / "o.tif")
    field = np.load(tmp_path / "field.npy")
    # Windows of 32 pixels at a hole have few spots; elsewhere the field is the drift.
    errors = field[:, :, 80:105, 40:120] - DRIFT[:, :, None, None]
    assert np.sqrt((errors**2).mean()) < 0.15
    aligned = tifffile.imread(tmp_path / "o.tif")
    assert aligned.dtype == np.uint16 and aligned.shape == (5, HEIGHT, WIDTH)
    for image, (right, down) in list(zip(aligned, DRIFT, strict=True))[1:]:
        check_holes(image, right, down)
    ok(tmp_path / "a.tif", "--nodata", NODATA, "--apply", tmp_path / "field.npy", "--output",
       tmp_path / "again.tif")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "again.tif")[1:], aligned[1:])


@pytest.mark.parametrize("to", ["first", "mean"])
def test_deformable_motion_leaves_out_missing_pixels(program, tmp_path, to):
    tifffile.imwrite(tmp_path / "a.tif", frames(), photometric="minisblack")
    ok(tmp_path / "a.tif", "--motion", "deformable", "--nodata", NODATA, "--to", to, "--field",
       tmp_path / "field.npy", "--output", tmp_path / "o.tif")
    field = np.load(tmp_path / "field.npy")
    errors = field[:, :, 80:105, 40:120] - DRIFT[:, :, None, None]
    assert np.sqrt((errors**2).mean()) < 0.15  # as for local motion
    aligned = tifffile.imread(tmp_path / "o.tif")
    assert aligned.dtype == np.uint16 and aligned.shape == (5, HEIGHT, WIDTH)
    # The field bends a little where nothing is known: holes lie within a pixel of the drift.
    for image, (right, down) in list(zip(aligned, DRIFT, strict=True))[1:]:
        check_holes(image, right, down)
    ok(tmp_path / "a.tif", "--nodata", NODATA, "--apply", tmp_path / "field.npy", "--output",
       tmp_path / "again.tif")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "again.tif")[1:] == NODATA,
                                  aligned[1:] == NODATA)


@pytest.mark.parametrize("kind", ["nodata", "nan"])
def test_local_registration_counts_and_keeps_missing_pixels(program, tmp_path, kind):
    reference, moving = frames()[[0, 1]]
    options = ["--nodata", NODATA]
    if kind == "nan":
        reference, moving = (np.where(one == NODATA, np.nan, one).astype(np.float32)
                             for one in (reference, moving))
        options = []
    tifffile.imwrite(tmp_path / "r.tif", reference)
    tifffile.imwrite(tmp_path / "m.tif", moving)
    done = run("register", tmp_path / "r.tif", tmp_path / "m.tif", "--motion", "local", "--window",
               32, "--json", "--output", tmp_path / "o.tif", *options)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    missing = 35 * 40 + HEIGHT * 20
    assert report["missing"] == {"reference": missing, "moving": missing}
    for window in report["shifts"]:
        x, y = window["centre"]
        if 60 < x < 80 and 50 < y < 65:  # nearly all of its pixels are missing
            assert not window["reliable"]
    aligned = tifffile.imread(tmp_path / "o.tif")
    if kind == "nan":
        aligned = np.where(np.isnan(aligned), NODATA, aligned)
    check_holes(aligned, *DRIFT[1])
    assert (aligned[0, 50:90] == 0).all()  # above the frame, and not missing
    nothing = np.full_like(reference, NODATA)
    tifffile.imwrite(tmp_path / "none.tif", nothing)
    done = run("register", tmp_path / "none.tif", tmp_path / "m.tif", "--motion", "local",
               "--window", 32, "--nodata", NODATA)
    assert done.returncode == 2 and "none.tif: there is nothing in it" in done.stderr


@pytest.mark.parametrize("options, words", [
    (["--nodata", "-1"], "no sample"), (["--nodata", "0.5"], "no sample"),
    (["--nodata", "0", "--fast"], "--fast"),
    (["--nodata", "-1", "--motion", "local", "--window", "32"], "no sample"),
    (["--nodata", "0", "--bidirectional"], "lines")])
def test_options_that_do_not_fit_are_refused(program, tmp_path, options, words):
    tifffile.imwrite(tmp_path / "a.tif", frames(), photometric="minisblack")
    done = run("stack", tmp_path / "a.tif", "--output", tmp_path / "o.tif", *options)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "o.tif").exists()
