"""``warpalign mosaic --nodata``: drawn tiles with missing pixels."""

import json

import numpy as np
import pytest
from program_runs import run

tifffile = pytest.importorskip("tifffile")

HEIGHT, WIDTH = 150, 180
NODATA = 7
STEP_X, STEP_Y = 140, 115  # so that neighbours overlap by 40 and 35 pixels
COLUMNS, ROWS = 3, 2
RANDOM = np.random.default_rng(5)
# The true positions: those of the stage, and its errors.
TRUE = np.array([[column * STEP_X, row * STEP_Y] for row in range(ROWS)
                 for column in range(COLUMNS)]) + RANDOM.uniform(0, 4, (ROWS * COLUMNS, 2))
SPOTS = np.stack([RANDOM.uniform(-20, 500, 1500), RANDOM.uniform(-20, 300, 1500),
                  RANDOM.uniform(1.5, 4, 1500), RANDOM.uniform(2000, 9000, 1500)], axis=1)


def scene(x, y):
    """The picture at points, which is smooth: cubic splines are nearly exact."""
    image = np.full(x.shape, 3000.0)
    for cx, cy, size, height in SPOTS:
        near = (np.abs(x - cx) < 6 * size) & (np.abs(y - cy) < 6 * size)
        image[near] += height * np.exp(-((x[near] - cx) ** 2 + (y[near] - cy) ** 2) / (2 * size**2))
    return image


def missing():
    """Dust on the sensor, at the right edge, and the corners outside of a round field of view."""
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    holes = np.zeros((HEIGHT, WIDTH), bool)
    holes[60:90, 145:175] = True
    return holes | (np.hypot((x - 89.5) / 1.2, y - 74.5) > 102)


def draw(displace=None):
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    dx, dy = displace(x, y) if displace else (0, 0)
    return [scene(x + dx + left, y + dy + top) for left, top in TRUE]


def write(folder, tiles):
    folder.mkdir()
    lines = ["file,x,y"]
    for number, (tile, place) in enumerate(zip(tiles, TRUE, strict=True)):
        tifffile.imwrite(folder / f"t{number}.tif", tile, photometric="minisblack")
        lines.append(f"t{number}.tif,{round(place[0] - 2)},{round(place[1] - 2)}")
    (folder / "stage.csv").write_text("\n".join(lines) + "\n")


def join(folder, *options, status=0):
    done = run("mosaic", folder, "--positions", folder / "stage.csv", "--json",
               folder / "m.json", "--output", folder / "m.ome.tif", *options)
    assert done.returncode == status, done.stderr + done.stdout
    return done


def located(folder):
    report = json.loads((folder / "m.json").read_text())
    return np.array([[tile["matrix"][0][2], tile["matrix"][1][2]] for tile in report["tiles"]])


@pytest.fixture(scope="module")
def tiles():
    return draw()


def known_in_picture(positions, shape):
    """Where the nearest pixel of a tile is known, and where that is certain for a cubic spline."""
    y, x = np.mgrid[:shape[0], :shape[1]]
    nearest, certain = np.zeros(shape, bool), np.zeros(shape, bool)
    known = ~missing()
    padded = np.pad(known, 3)
    wide = np.ones_like(known)
    for j in range(7):
        for i in range(7):
            wide &= padded[j:j + HEIGHT, i:i + WIDTH]
    for left, top in positions:
        i, j = np.rint(x - left).astype(int), np.rint(y - top).astype(int)
        inside = (i >= 0) & (j >= 0) & (i < WIDTH) & (j < HEIGHT)
        i, j = np.clip(i, 0, WIDTH - 1), np.clip(j, 0, HEIGHT - 1)
        nearest |= inside & known[j, i]
        certain |= inside & wide[j, i]
    return nearest, certain


@pytest.mark.parametrize("kind", ["nodata", "nan"])
def test_missing_pixels_are_neither_registered_nor_blended(program, tmp_path, tiles, kind):
    stored = np.rint(tiles).astype(np.uint16)
    options = ["--nodata", NODATA]
    if kind == "nan":
        stored, options = np.array(tiles, np.float32), []
    for tile in stored:
        tile[missing()] = NODATA if kind == "nodata" else np.nan
    write(tmp_path / "scan", stored)
    join(tmp_path / "scan", "--no-distortion", *options)
    positions = located(tmp_path / "scan")
    errors = (positions - positions[0]) - (TRUE - TRUE[0])
    assert np.abs(errors).max() < 0.1
    picture = tifffile.imread(tmp_path / "scan" / "m.ome.tif", level=0).astype(float)
    y, x = np.mgrid[:picture.shape[0], :picture.shape[1]].astype(float)
    nearest, certain = known_in_picture(positions, picture.shape)
    expected = scene(x + TRUE[0, 0] - positions[0, 0], y + TRUE[0, 1] - positions[0, 1])
    assert certain.mean() > 0.9
    # Errors of a twentieth of a pixel in slopes of up to 3000 a pixel, and filled holes nearby.
    difference = (picture - expected)[certain]
    assert np.sqrt(np.mean(difference**2)) < 60 and np.abs(difference).max() < 600
    empty = 0 if kind == "nan" else NODATA
    padded = np.pad(nearest, 2, constant_values=False)
    far = ~np.any([padded[j:j + nearest.shape[0], i:i + nearest.shape[1]]
                   for j in range(5) for i in range(5)], axis=0)
    assert far.sum() > 50
    assert (picture[far] == empty).all() and (picture[certain] != empty).all()


def test_a_distortion_is_found_beside_missing_pixels(program, tmp_path):
    def displace(x, y):
        u, v = (x - 89.5) / 117, (y - 74.5) / 117
        return 4 * u * u, 3 * u * v

    stored = np.rint(draw(displace)).astype(np.uint16)
    for tile in stored:
        tile[missing()] = NODATA
    write(tmp_path / "scan", stored)
    join(tmp_path / "scan", "--nodata", NODATA)
    report = json.loads((tmp_path / "scan" / "m.json").read_text())
    assert report["distortion"] is not None
    # The fit leaves 0.1 pixels or less; without the distortion up to 2 remain.
    assert report["rms_residual"] < 0.1
    picture = tifffile.imread(tmp_path / "scan" / "m.ome.tif", level=0).astype(float)
    assert ((picture == NODATA) | (picture > 2500)).all()  # no ringing around the holes


@pytest.mark.parametrize("value", ["-1", "0.5", "70000"])
def test_a_value_that_no_pixel_has_is_refused(program, tmp_path, tiles, value):
    write(tmp_path / "scan", np.rint(tiles).astype(np.uint16))
    done = join(tmp_path / "scan", f"--nodata={value}", status=2)
    assert "no sample" in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "scan" / "m.ome.tif").exists()
