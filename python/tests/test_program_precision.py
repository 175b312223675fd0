"""`warpalign resample` and `prefilter` with --precision double: SciPy is the oracle.

SciPy and the device compute the same sums in double precision in another order. 1e-13 of the largest
sample is some hundred roundings.
"""

import numpy as np
import pytest
from program_runs import run
from scipy import ndimage

import warpalign

pytestmark = [
    pytest.mark.usefixtures("program"),
    pytest.mark.skipif(not warpalign.open_device().info.double_precision,
                       reason="the device has no double precision"),
]


@pytest.fixture
def volume(random):
    return random.random((14, 17, 19)) * 1000


def resampled(folder, array, *options, precision="double"):
    np.save(folder / "in.npy", array)
    done = run("resample", folder / "in.npy", folder / "out.npy", "--precision", precision,
               *options)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "out.npy")


def differs(result, expected):
    return np.abs(result - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("mode", ["mirror", "reflect", "nearest", "constant", "grid-constant",
                                  "wrap", "grid-wrap"])
@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_zoom_of_volumes(tmp_path, volume, mode, degree):
    result = resampled(tmp_path, volume, "--zoom", "1.3", "--degree", degree, "--boundary", mode,
                       "--cval", 7)
    expected = ndimage.zoom(volume, 1.3, order=degree, mode=mode, cval=7)
    if mode in ("constant", "wrap"):  # SciPy's last points are rounded beyond the edge
        result, expected = result[:-1, :-1, :-1], expected[:-1, :-1, :-1]
    # On short axes SciPy filters inaccurately with reflect, at degree 5 most.
    assert differs(result, expected) < (1e-10 if mode == "reflect" else 1e-13)


@pytest.mark.parametrize("mode", ["mirror", "nearest", "constant"])
def test_coordinates_keep_their_precision(tmp_path, volume, random, mode):
    coordinates = random.random((3, 50)) * np.array(volume.shape)[:, np.newaxis] - 0.5
    np.save(tmp_path / "points.npy", coordinates)
    result = resampled(tmp_path, volume, "--coordinates", tmp_path / "points.npy",
                       "--boundary", mode)
    expected = ndimage.map_coordinates(volume, coordinates, mode=mode)
    assert differs(result, expected) < 1e-13


def test_fields_and_holes(tmp_path, random):
    image = ndimage.gaussian_filter(random.random((60, 70)), 3) * 1e6
    field = random.random((2, 60, 70)) - 0.5  # displacements along x, then along y
    np.save(tmp_path / "field.npy", field)
    whole = resampled(tmp_path, image, "--field", tmp_path / "field.npy")
    rows, columns = np.indices(image.shape)
    expected = ndimage.map_coordinates(image, [rows + field[1], columns + field[0]], mode="mirror")
    assert differs(whole, expected) < 1e-13
    holed = image.copy()
    holed[20:23, 30:34] = np.nan
    result = resampled(tmp_path, holed, "--field", tmp_path / "field.npy")
    assert 4 <= np.count_nonzero(np.isnan(result)) <= 20
    far = np.ones(image.shape, bool)
    far[5:38, 15:49] = False
    assert differs(result[far], expected[far]) < 1e-6


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32",
                                   "float16", "float32"])
def test_other_types(tmp_path, random, dtype):
    limits = (np.finfo if dtype.startswith("float") else np.iinfo)(dtype)
    top = 60000 if dtype == "float16" else float(min(limits.max, 2**32))
    array = (random.random((30, 40)) * top).astype(dtype)
    array[5:9] = 0
    result = resampled(tmp_path, array, "--rotate", "20")
    assert result.dtype == array.dtype
    exact = resampled(tmp_path, array.astype(np.float64), "--rotate", "20")
    if dtype.startswith("float"):
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(result, exact.astype(dtype))
    else:  # halves away from zero
        rounded = np.copysign(np.floor(np.abs(exact) + 0.5), exact)
        np.testing.assert_array_equal(result, np.clip(rounded, limits.min, limits.max))


@pytest.mark.parametrize("degree", [2, 3, 4, 5])
@pytest.mark.parametrize("mode", ["mirror", "reflect", "grid-wrap", "nearest"])
def test_coefficients(tmp_path, volume, degree, mode):
    np.save(tmp_path / "in.npy", volume)
    done = run("prefilter", tmp_path / "in.npy", tmp_path / "out.npy", "--precision", "double",
               "--degree", degree, "--boundary", mode)
    assert done.returncode == 0, done.stderr
    result = np.load(tmp_path / "out.npy")
    assert result.dtype == np.float64
    if mode == "nearest":  # the coefficients of a long extension by the edges
        margin = {2: 10, 3: 13, 4: 17, 5: 20}[degree]
        extended = np.pad(volume, 80, mode="edge")
        expected = ndimage.spline_filter(extended, degree, mode="mirror")
        inner = slice(80 - margin, margin - 80)
        assert differs(result, expected[inner, inner, inner]) < 1e-13
    else:
        off = 1e-10 if mode == "reflect" else 1e-13  # as above
        assert differs(result, ndimage.spline_filter(volume, degree, mode=mode)) < off


@pytest.mark.parametrize("method, antialias", [("gaussian", True),
                                               ("least-squares", "least-squares")])
def test_zoom_without_aliasing(tmp_path, random, method, antialias):
    image = random.random((50, 61)) * 1000
    options = {"mode": "mirror", "antialias": antialias}
    expected = warpalign.ndimage.zoom(image, 0.4, precision="double", **options)
    result = resampled(tmp_path, image, "--zoom", 0.4, "--antialias", method)
    assert differs(result, expected) < 1e-14
    assert differs(warpalign.ndimage.zoom(image, 0.4, **options), expected) > 1e-9


REDUCING = np.array([[2.0, -1.0, 3.0], [1.1, 2.2, -4.0]])  # (row, column), and an offset


def test_affine_transforms_without_aliasing(tmp_path, random):
    image = random.random((70, 61)).astype(np.float32)
    expected = warpalign.ndimage.affine_transform(
        image, REDUCING[:, :2], REDUCING[:, 2], output_shape=(30, 25), mode="mirror",
        antialias=True)
    (a, b, c), (d, e, f) = REDUCING
    matrix = f"{e},{d},{f},{b},{a},{c}"  # x first
    result = resampled(tmp_path, image, "--matrix", matrix, "--shape", "30x25", "--antialias",
                       "gaussian", precision="full")
    # Both are the same computation in single precision.
    assert differs(result, expected) < 1e-6
    in_double = warpalign.ndimage.affine_transform(
        image.astype(float), REDUCING[:, :2], REDUCING[:, 2], output_shape=(30, 25),
        mode="mirror", antialias=True, precision="double")
    result = resampled(tmp_path, image.astype(float), "--matrix", matrix, "--shape", "30x25",
                       "--antialias", "gaussian")
    assert differs(result, in_double) < 1e-13


def test_points_without_aliasing(tmp_path, random):
    image = random.random((70, 61))
    rows, columns = np.mgrid[:20, :15].astype(float)
    points = np.stack([3.2 * rows + np.sin(columns / 4), 3.9 * columns + rows / 9])
    np.save(tmp_path / "points.npy", points)
    expected = warpalign.ndimage.map_coordinates(image, points, mode="mirror", antialias=True,
                                                 precision="double")
    for precision in ("full", "double"):
        result = resampled(tmp_path, image, "--coordinates", tmp_path / "points.npy",
                           "--antialias", "gaussian", precision=precision)
        assert differs(result, expected) < 1e-13
    np.save(tmp_path / "points.npy", points.reshape(2, -1))
    np.save(tmp_path / "in.npy", image)
    done = run("resample", tmp_path / "in.npy", tmp_path / "out2.npy", "--coordinates",
               tmp_path / "points.npy", "--antialias", "gaussian")
    assert done.returncode == 2
    assert "need the same number" in done.stderr
    assert not (tmp_path / "out2.npy").exists()


@pytest.mark.parametrize("command, options, words", [
    ("resample", ["--zoom", 2, "--prefilter", "fir:15"], "computes in single precision"),
    ("resample", ["--zoom", 2, "--precision", "half"], "full, double, texture"),
    ("prefilter", ["--precision", "texture"], "choose from: full, double"),
    ("prefilter", ["--prefilter", "iir:line"], "computes in single precision"),
])
def test_bad_options(tmp_path, volume, command, options, words):
    np.save(tmp_path / "in.npy", volume)
    if "--precision" not in options:
        options = [*options, "--precision", "double"]
    done = run(command, tmp_path / "in.npy", tmp_path / "out.npy", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (tmp_path / "out.npy").exists()


def test_complex_numbers_are_refused(tmp_path, volume):
    np.save(tmp_path / "in.npy", volume.astype(np.complex64))
    done = run("resample", tmp_path / "in.npy", tmp_path / "out.npy", "--zoom", 2, "--precision",
               "double")
    assert done.returncode == 2
    assert "requires real numbers" in done.stderr
