"""`warpalign transform`: the Python package and NumPy are the oracle."""

import json
import subprocess
import sys

import numpy as np
import pytest
from program_runs import run

from warpalign import Geometry, Transform

AFFINE = np.array([[0.9, 0.2, 3.5], [-0.1, 1.1, -2.0], [0, 0, 1]])
VOLUME = np.array([[0.95, 0.2, -0.1, 3.5], [-0.15, 1.1, 0.05, -2.25], [0.07, -0.12, 0.9, 5.125],
                   [0, 0, 0, 1]])


def ok(*arguments):
    done = run("transform", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(*arguments):
    done = run("transform", *arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture
def plane(tmp_path):
    Transform.affine(AFFINE).save(tmp_path / "t.json")
    return tmp_path / "t.json"


def oblique(angle, mirrored):
    c, s = np.cos(angle), np.sin(angle)
    axes = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.diag([2, 1.5, 2.5])
    affine = np.eye(4)
    affine[:3, :3] = axes @ np.diag([-1 if mirrored else 1, 1, 1])
    affine[:3, 3] = (5, -7, 3)
    return affine


@pytest.fixture
def images(tmp_path):
    """A reference with an sform, and a moving image with a qform alone."""
    nibabel = pytest.importorskip("nibabel")
    reference = nibabel.Nifti1Image(np.zeros((9, 8, 7), np.float32), oblique(0.3, False))
    moving = nibabel.Nifti1Image(np.zeros((6, 7, 8), np.int16), None)
    moving.set_qform(oblique(-0.2, True), 1)
    moving.set_sform(None, 0)
    paths = tmp_path / "reference.nii", tmp_path / "moving.nii.gz"
    for image, path in zip((reference, moving), paths, strict=True):
        nibabel.save(image, path)
    return paths


def test_show_prints_json(program, plane):  # noqa: F811
    shown = json.loads(ok("show", plane, "--json"))
    assert shown["kind"] == "affine"
    np.testing.assert_array_equal(shown["matrix"], [[1.1, -0.1, -2], [0.2, 0.9, 3.5], [0, 0, 1]])
    assert "affine, 2 dimensions, pixels" in ok("show", plane)


@pytest.mark.parametrize("name, format", [
    ("t.tfm", None), ("t.mat", "itk-matlab"), ("t.mat", "flirt"), ("t.lta", None),
    ("t.txt", "elastix"), ("t.xml", None), ("t.npy", None)])
def test_the_program_and_python_read_each_other(program, images, tmp_path,  # noqa: F811
                                                name, format):
    geometry = [Geometry.of(path) for path in images]
    ours = Transform.affine(VOLUME).with_geometry(*geometry)
    ours.save(tmp_path / "in.npz")
    ours.save(tmp_path / name, format=format)
    back = tmp_path / "back.json"
    chosen = ["--reference", images[0], "--moving", images[1]]
    ok("convert", tmp_path / name, back, *chosen, *(["--from", format] if format else []))
    points = np.random.default_rng(1).uniform(0, 6, (20, 3))
    expected = ours.points(points)
    # NIfTI's matrices are in float32, and a qform's is made of a quaternion of float32.
    np.testing.assert_allclose(
        Transform.load(back).with_geometry(*geometry).points(points), expected, atol=1e-5)
    written = tmp_path / ("again" + name)
    ok("convert", back, written, *chosen, *(["--to", format] if format else []))
    loaded = Transform.load(written, format=format, reference=geometry[0], moving=geometry[1])
    np.testing.assert_allclose(loaded.points(points), expected, atol=1e-5)


def every_kind():
    random = np.random.default_rng(3)
    field = random.normal(0, 0.05, (3, 6, 7, 8))  # does not fold
    plate = Transform.from_points(*random.uniform(0, 20, (2, 8, 3)), "thin-plate", robust=False)
    coarse = Transform.displacement(field.astype(np.float32), interpolation="cubic",
                                    origin=(1, 2, 3), spacing=(2, 1, 1.5))
    bend = Transform.displacement(field)
    return {"affine": Transform.affine(VOLUME), "homography": Transform.homography(
                np.vstack([VOLUME[:3], [0.001, 0.002, 0, 1]])),
            "displacement": coarse, "bspline": Transform.bspline(field), "inverse": bend.inverse(),
            "chain": bend @ Transform.translation((1, 2, 3)) @ coarse, "thin_plate": plate}


@pytest.mark.parametrize("kind", ["affine", "homography", "displacement", "bspline", "inverse",
                                  "chain", "thin_plate"])
def test_npz_holds_every_kind(program, images, tmp_path, kind):  # noqa: F811
    geometry = [Geometry.of(path) for path in images]
    for ours in (every_kind()[kind], every_kind()[kind].with_geometry(*geometry),
                 every_kind()[kind].with_geometry(*geometry).in_world()):
        ours.save(tmp_path / "in.npz")
        ok("convert", tmp_path / "in.npz", tmp_path / "out.npz")
        assert Transform.load(tmp_path / "out.npz") == ours


def test_npz_holds_the_transforms_of_a_stack(program, tmp_path):  # noqa: F811
    stack = [Transform.translation((1, 2)), Transform.displacement(np.ones((2, 4, 5)))]
    Transform.save_all(stack, tmp_path / "in.npz")
    ok("convert", tmp_path / "in.npz", tmp_path / "out.npz")
    assert list(Transform.load_all(tmp_path / "out.npz")) == stack


def test_damaged_archives_are_refused(program, tmp_path):  # noqa: F811
    path = tmp_path / "t.npz"
    Transform.displacement(np.ones((2, 40, 50))).save(path)
    whole = path.read_bytes()
    for size in (4, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        refused("show", path)
    path.write_bytes(whole[:2000] + bytes([whole[2000] ^ 1]) + whole[2001:])
    assert "checksum is wrong" in refused("show", path)
    np.savez_compressed(path, schema="warpalign-transform 1")
    assert "is compressed" in refused("show", path)
    np.savez(path, other=np.ones(3))
    assert "not one of transforms" in refused("show", path)
    np.savez(path, schema="warpalign-transform 1", kind="magic")
    assert "unknown kind 'magic'" in refused("show", path)


@pytest.mark.parametrize("name", ["t.mgz", "t.mgh"])
def test_warps_of_freesurfer(program, images, tmp_path, name):  # noqa: F811
    geometry = [Geometry.of(path) for path in images]
    field = np.random.default_rng(3).normal(0, 0.2, (3, *geometry[0].shape)).astype(np.float32)
    ours = Transform.displacement(field).with_geometry(*geometry)
    ours.save(tmp_path / name)
    ok("convert", tmp_path / name, tmp_path / "t.npz")
    ok("convert", tmp_path / "t.npz", tmp_path / ("again" + name))
    points = np.random.default_rng(1).uniform(0, 6, (20, 3))
    for path in ("t.npz", "again" + name):
        back = Transform.load(tmp_path / path)
        # The voxels of both images are kept in float32: 1e-6 of 20 mm.
        np.testing.assert_allclose(back.points(points), ours.points(points), atol=1e-4)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[:len(whole) // 2])
    refused("show", tmp_path / name)


def test_formats_of_python_alone_are_refused_with_the_way_out(program, tmp_path):  # noqa: F811
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5", "w") as file:
        file.create_group("TransformGroup")
    message = refused("show", tmp_path / "t.h5")
    assert "HDF5" in message and "Transform.load(" in message
    Transform.translation((1, 2)).save(tmp_path / "t.json")
    for name in ("out.h5", "out.zarr"):
        assert ".save(" in refused("convert", tmp_path / "t.json", tmp_path / name)
        assert not (tmp_path / name).exists()


def test_compose_applies_the_first_file_first(program, plane, tmp_path):  # noqa: F811
    Transform.translation((10, 20)).save(tmp_path / "shift.json")
    ok("compose", plane, tmp_path / "shift.json", tmp_path / "both.json")
    both = Transform.load(tmp_path / "both.json")
    expected = Transform.translation((10, 20)) @ Transform.affine(AFFINE)
    np.testing.assert_allclose(both.matrix, expected.matrix, atol=1e-12)


def test_pipes(program, plane):  # noqa: F811
    command = [sys.executable, "-P", "-m", "warpalign", "transform"]
    inverse = subprocess.run([*command, "invert", "-", "-"], input=plane.read_text(), text=True,
                             capture_output=True, check=True).stdout
    found = json.loads(inverse)["matrix"]
    swapped = np.linalg.inv(AFFINE)[np.ix_([1, 0, 2], [1, 0, 2])]
    np.testing.assert_allclose(found, swapped, atol=1e-12)


def test_points_in_both_directions(program, plane, tmp_path):  # noqa: F811
    points = np.random.default_rng(1).uniform(0, 100, (20, 2))  # x, y
    np.savetxt(tmp_path / "p.csv", points, delimiter=",", header="x,y", comments="", fmt="%.17g")
    ok("points", plane, tmp_path / "p.csv", tmp_path / "q.csv")
    mapped = np.loadtxt(tmp_path / "q.csv", delimiter=",", skiprows=1)
    expected = Transform.affine(AFFINE).points(points[:, ::-1])[:, ::-1]
    np.testing.assert_allclose(mapped, expected, atol=1e-11)
    back = ok("points", plane, tmp_path / "q.csv", "-", "--inverse").splitlines()
    assert back[0] == "x,y"
    np.testing.assert_allclose(np.loadtxt(back[1:], delimiter=","), points, atol=1e-10)


def test_points_in_millimetres(program, images, tmp_path):  # noqa: F811
    (tmp_path / "t.aff12.1D").write_text(" ".join(map(str, VOLUME[:3].ravel())) + "\n")
    (tmp_path / "p.csv").write_text("1 2 3\n")
    found = ok("points", tmp_path / "t.aff12.1D", tmp_path / "p.csv", "-", "--world")
    np.testing.assert_allclose(np.fromstring(found, sep=","), (VOLUME @ [1, 2, 3, 1])[:3],
                               atol=1e-12)
    assert "--reference" in refused("points", tmp_path / "t.aff12.1D", tmp_path / "p.csv", "-")


def test_frames_of_a_stack(program, tmp_path):  # noqa: F811
    stack = [Transform.translation((k, -k)) for k in range(3)]
    Transform.save_all(stack, tmp_path / "stack.npy")
    (tmp_path / "p.csv").write_text("5,5\n")
    assert ok("points", tmp_path / "stack.npy", tmp_path / "p.csv", "-",
              "--frame", 2) == "3,7\n"
    assert "3 transforms" in refused("points", tmp_path / "stack.npy", tmp_path / "p.csv", "-",
                                     "--frame", 3)
    ok("invert", tmp_path / "stack.npy", tmp_path / "back.npy")
    assert Transform.load_all(tmp_path / "back.npy") == tuple(one.inverse() for one in stack)


@pytest.mark.parametrize("command", ["apply", "labels"])
def test_images_are_warped_once(program, tmp_path, command):  # noqa: F811
    import scipy.ndimage

    random = np.random.default_rng(2)
    image = (scipy.ndimage.gaussian_filter(random.standard_normal((50, 60)), 2) * 1000)
    image = image.astype(np.float32) if command == "apply" else (image > 0).astype(np.uint8) * 7
    np.save(tmp_path / "in.npy", image)
    np.save(tmp_path / "like.npy", np.zeros((40, 45), np.float32))
    Transform.affine(AFFINE).save(tmp_path / "t.json")
    ok(command, tmp_path / "t.json", tmp_path / "in.npy", tmp_path / "out.npy",
       "--like", tmp_path / "like.npy")
    order = 3 if command == "apply" else 0
    expected = scipy.ndimage.affine_transform(image.astype(np.float64), AFFINE,
                                              output_shape=(40, 45), order=order,
                                              mode="constant")
    found = np.load(tmp_path / "out.npy")
    assert found.dtype == image.dtype and found.shape == (40, 45)
    if command == "apply":  # in single precision, 1e-7 of 300
        np.testing.assert_allclose(found, expected, atol=2e-3)
    else:  # half-way between pixels, both neighbours are right
        at = Transform.affine(AFFINE).positions((40, 45))
        clear = (np.abs(at - np.floor(at) - 0.5) > 1e-4).all(axis=0)
        assert clear.mean() > 0.8
        np.testing.assert_array_equal(found[clear], expected[clear])


@pytest.mark.parametrize("kind", ["affine", "homography", "field"])
def test_images_are_reduced_without_aliasing(program, tmp_path, kind):  # noqa: F811
    image = np.random.default_rng(2).random((90, 80))
    matrix = np.array([[2.5, 0.4, 3.5], [-0.2, 3.1, 2.0], [0, 0, 1]])
    transform = Transform.affine(matrix)
    if kind == "homography":
        transform = Transform.homography(matrix + [[0, 0, 0], [0, 0, 0], [0.004, 0.002, 0]])
    if kind == "field":
        rows, columns = np.mgrid[:25, :22]
        transform = Transform.displacement(np.stack([1.8 * rows, 2.1 * columns + np.sin(rows)]))
    np.save(tmp_path / "in.npy", image)
    np.save(tmp_path / "like.npy", np.zeros((25, 22)))
    transform.save(tmp_path / "t.npz")
    ok("apply", tmp_path / "t.npz", tmp_path / "in.npy", tmp_path / "out.npy", "--like",
       tmp_path / "like.npy", "--antialias", "gaussian", "--boundary", "mirror")
    expected = transform.warp(image, output_shape=(25, 22), mode="mirror", antialias=True,
                              precision="double")
    # Affine transforms are computed in single precision. The derivative of a homography is exact in
    # the program, and in Python the difference of neighbouring points, which are 5 % apart here.
    np.testing.assert_allclose(
        np.load(tmp_path / "out.npy"), expected,
        atol={"affine": 2e-6, "homography": 5e-3, "field": 1e-12}[kind])
    assert "choose from: gaussian" in refused(
        "apply", tmp_path / "t.npz", tmp_path / "in.npy", tmp_path / "none.npy", "--antialias",
        "least-squares")


def test_volumes_in_nifti_are_warped(program, images, tmp_path):  # noqa: F811
    nibabel = pytest.importorskip("nibabel")
    import scipy.ndimage

    data = np.random.default_rng(3).integers(1, 5, (6, 7, 8)).astype(np.int16)  # x, y, z
    moving = nibabel.load(images[1])
    nibabel.save(nibabel.Nifti1Image(data, None, moving.header), tmp_path / "labels.nii")
    geometry = [Geometry.of(images[0]), Geometry.of(tmp_path / "labels.nii")]
    shift = np.eye(4)
    shift[:3, 3] = (1.5, -2, 0.5)
    (tmp_path / "t.aff12.1D").write_text(" ".join(map(str, shift[:3].ravel())) + "\n")
    world = Transform.load(tmp_path / "t.aff12.1D").with_geometry(*geometry)
    world.save(tmp_path / "t.tfm")
    ok("labels", tmp_path / "t.tfm", tmp_path / "labels.nii", tmp_path / "out.nii",
       "--like", images[0])
    written = nibabel.load(tmp_path / "out.nii")
    np.testing.assert_allclose(written.affine, nibabel.load(images[0]).affine, atol=1e-5)
    expected = scipy.ndimage.map_coordinates(
        data.T, world.positions(geometry[0].shape), order=0, mode="constant")
    found = np.asarray(written.dataobj).T
    assert set(np.unique(found)) <= {0, 1, 2, 3, 4}
    np.testing.assert_array_equal(found, expected)


def test_bad_input_is_refused_in_one_line(program, plane, tmp_path):  # noqa: F811
    (tmp_path / "cut.json").write_text(plane.read_text()[:40])
    assert "cut short" in refused("show", tmp_path / "cut.json")
    Transform.affine([[1, 1, 0], [1, 1, 0], [0, 0, 1]]).save(tmp_path / "flat.json")
    assert "singular" in refused("invert", tmp_path / "flat.json", tmp_path / "out.json")
    Transform.affine(VOLUME).save(tmp_path / "volume.json")
    assert "dimensions" in refused("compose", plane, tmp_path / "volume.json",
                                   tmp_path / "out.json")
    assert "--to" in refused("convert", plane, tmp_path / "out.xyz")
    assert "choose from" in refused("convert", plane, tmp_path / "out.xyz", "--to", "tfm")
    assert "choose from" in refused("show", plane, "--from", "tfm")
    assert "reference" in refused("convert", tmp_path / "volume.json", tmp_path / "out.lta")
    (tmp_path / "p.csv").write_text("x,y\n1,2\n1,2,3\n")
    assert "line 3" in refused("points", plane, tmp_path / "p.csv", "-")
    many = "Transform: TranslationTransform_double_2_2\nParameters: 1 1\nFixedParameters:\n"
    (tmp_path / "many.tfm").write_text("#Insight Transform File V1.0\n"
                                       "Transform: CompositeTransform_double_2_2\n" + many * 10000)
    assert "10000 transforms" in refused("show", tmp_path / "many.tfm")
    assert not list(tmp_path.glob("out*"))


def smooth_field(shape=(10, 12, 14)):
    """A field that bends by 1.5 mm, (z, y, x, component) along x, y, z."""
    z, y, x = np.mgrid[tuple(slice(extent) for extent in shape)]
    return np.stack([1.5 * np.sin(y / 5 + z / 9), 1.2 * np.cos(x / 6), 0.8 * np.sin(x / 7 + y / 8)],
                    axis=-1)


@pytest.fixture
def field(tmp_path):
    """A field that SimpleITK wrote, and SimpleITK's transform of it."""
    sitk = pytest.importorskip("SimpleITK")
    image = sitk.GetImageFromArray(smooth_field(), isVector=True)
    image.SetSpacing((1.5, 2, 2.5))
    image.SetOrigin((5, -3, 2))
    c, s = np.cos(0.3), np.sin(0.3)
    image.SetDirection((c, -s, 0, s, c, 0, 0, 0, 1))
    sitk.WriteImage(sitk.Cast(image, sitk.sitkVectorFloat32), tmp_path / "field.nii.gz")
    like = sitk.GetImageFromArray(np.zeros(image.GetSize()[::-1], np.float32))
    like.CopyInformation(image)
    sitk.WriteImage(like, tmp_path / "like.nii")
    return tmp_path / "field.nii.gz", sitk.DisplacementFieldTransform(image)


def points_inside(geometry, count=50):
    """World points of a grid, a voxel and more from its edge."""
    inside = np.random.default_rng(5).uniform(1.5, np.array(geometry.shape) - 2.5, (count, 3))
    homogeneous = np.c_[inside[:, ::-1], np.ones(count)] @ geometry.ras.T
    return homogeneous[:, :3] * (-1, -1, 1)


def mapped(tmp_path, file, points, *options):
    np.savetxt(tmp_path / "p.csv", points, delimiter=",", fmt="%.17g")
    ok("points", file, tmp_path / "p.csv", tmp_path / "q.csv", *options)
    return np.loadtxt(tmp_path / "q.csv", delimiter=",")


def test_fields_of_itk_map_as_simpleitk_does(program, field, tmp_path):  # noqa: F811
    path, theirs = field
    points = points_inside(Geometry.of(tmp_path / "like.nii"))
    expected = [theirs.TransformPoint(point) for point in points]
    # The file is in single precision: 1e-7 of 30 mm.
    np.testing.assert_allclose(mapped(tmp_path, path, points, "--world"), expected, atol=1e-5)


def test_written_fields_map_as_simpleitk_does(program, field, tmp_path):  # noqa: F811
    sitk = pytest.importorskip("SimpleITK")
    path, theirs = field
    ok("convert", path, tmp_path / "field.tfm")
    ok("convert", tmp_path / "field.tfm", tmp_path / "again.nii.gz")
    image = sitk.ReadImage(tmp_path / "again.nii.gz", sitk.sitkVectorFloat64)
    again = sitk.DisplacementFieldTransform(image)
    points = points_inside(Geometry.of(tmp_path / "like.nii"))
    np.testing.assert_allclose([again.TransformPoint(point) for point in points],
                               [theirs.TransformPoint(point) for point in points], atol=1e-5)


@pytest.mark.parametrize("format", ["itk-nifti", "fnirt-relative", "fnirt-absolute", "niftyreg",
                                    "npy"])
def test_fields_go_to_python_and_back(program, field, images, tmp_path, format):  # noqa: F811
    path, _ = field
    suffix = "npy" if format == "npy" else "nii.gz"
    like, moving = tmp_path / "like.nii", images[1]
    geometry = {"reference": Geometry.of(like), "moving": Geometry.of(moving)}
    chosen = "--reference", like, "--moving", moving
    ok("convert", path, tmp_path / f"ours.{suffix}", "--to", format, *chosen)
    expected = Transform.load(path, **geometry).points(pixels := points_of_pixels(like))
    # Single precision, and NIfTI's matrices in single precision.
    if format != "npy":  # which keeps components in (x, y, z)
        found = Transform.load(tmp_path / f"ours.{suffix}", format=format, **geometry)
        np.testing.assert_allclose(found.points(pixels), expected, atol=2e-5)
        Transform.load(path, **geometry).save(tmp_path / f"theirs.{suffix}", format=format)
    else:
        samples = Transform.load(path, **geometry).field(geometry["reference"].shape)[::-1]
        np.testing.assert_allclose(np.load(tmp_path / "ours.npy"), samples, atol=2e-5)
        np.save(tmp_path / "theirs.npy", samples)
    found = mapped(tmp_path, tmp_path / f"theirs.{suffix}", pixels[:, ::-1], "--from", format,
                   *chosen)
    np.testing.assert_allclose(found[:, ::-1], expected, atol=2e-5)


def points_of_pixels(path):
    return np.random.default_rng(6).uniform(1, np.array(Geometry.of(path).shape) - 2, (40, 3))


def test_a_field_is_inverted_with_its_residual(program, field, tmp_path):  # noqa: F811
    path, theirs = field
    done = run("transform", "invert", path, tmp_path / "inverse.nii.gz")
    assert done.returncode == 0 and "mm rms" in done.stderr
    points = points_inside(Geometry.of(tmp_path / "like.nii"))[:20]
    points = points[np.abs(points - points.mean(axis=0)).max(axis=1) < 8]
    there = mapped(tmp_path, tmp_path / "inverse.nii.gz", points, "--world")
    back = np.array([theirs.TransformPoint(point) for point in there])
    # Between samples 2 mm apart, sines of a period of 60 mm are linear up to 0.01 mm.
    assert np.abs(back - points).max() < 0.03
    ok("compose", path, tmp_path / "inverse.nii.gz", tmp_path / "both.nii.gz")
    both = mapped(tmp_path, tmp_path / "both.nii.gz", points, "--world")
    assert np.abs(both - points).max() < 0.05


def test_a_volume_is_warped_by_a_field(program, field, tmp_path):  # noqa: F811
    sitk = pytest.importorskip("SimpleITK")
    path, theirs = field
    like = sitk.ReadImage(tmp_path / "like.nii")
    values = np.random.default_rng(7).integers(1, 9, like.GetSize()[::-1]).astype(np.int16)
    image = sitk.GetImageFromArray(values)
    image.CopyInformation(like)
    sitk.WriteImage(image, tmp_path / "in.nii")
    ok("labels", path, tmp_path / "in.nii", tmp_path / "out.nii", "--like", tmp_path / "like.nii")
    expected = sitk.Resample(image, like, theirs, sitk.sitkNearestNeighbor)
    found = sitk.GetArrayFromImage(sitk.ReadImage(tmp_path / "out.nii"))
    # SimpleITK extends the outermost voxels by half a voxel. Half-way between voxels, both answers
    # are right.
    inner = (slice(2, -2),) * 3
    assert np.mean(found[inner] != sitk.GetArrayFromImage(expected)[inner]) < 0.01


def test_show_tells_how_a_field_bends(program, field, tmp_path):  # noqa: F811
    path, _ = field
    shown = json.loads(ok("show", path, "--json"))
    assert shown["kind"] == "displacement" and shown["grid"]["shape"] == [10, 12, 14]
    largest = np.linalg.norm(smooth_field(), axis=-1).max()
    assert shown["largest_displacement"] == pytest.approx(largest, rel=1e-6)
    field = Transform.load(path)
    jacobian = field.jacobian()
    assert shown["jacobian"] == pytest.approx([jacobian.min(), jacobian.max()], abs=1e-6)
    piped = subprocess.run([sys.executable, "-P", "-m", "warpalign", "transform", "show", "-"],
                           input=path.read_bytes(), capture_output=True, check=True).stdout
    assert piped == ok("show", path).encode()


def test_wrong_fields_are_refused_in_one_line(program, images, tmp_path):  # noqa: F811
    nibabel = pytest.importorskip("nibabel")
    vectors = np.zeros((8, 9, 7, 1, 3), np.float32)
    # Voxel i lies at x = -i in LPS, and is mapped to 2 i.
    vectors[..., 0] = 3 * np.arange(8)[:, None, None, None]

    def write(name, values, code):
        image = nibabel.Nifti1Image(values, np.eye(4))
        image.header["intent_code"] = code
        nibabel.save(image, tmp_path / name)
        return tmp_path / name

    folded = write("folded.nii", vectors, 1007)
    assert "folds" in (message := refused("invert", folded, tmp_path / "out.nii"))
    assert "determinant is -2 at x = " in message
    assert "it folds" in ok("show", folded)
    cut = tmp_path / "cut.nii"
    cut.write_bytes(folded.read_bytes()[:3000])
    assert "truncated" in refused("show", cut)
    assert "fnirt-relative" in refused("show", write("unknown.nii", vectors[..., 0, :], 0))
    assert "no field" in refused("show", images[0])
    vectors[2, 3, 4] = np.nan
    assert "NaN" in refused("show", write("nan.nii", vectors, 1007))
    assert "fnirtfileutils" in refused("show", write("bend.nii", vectors[..., 0, :], 2007),
                                       "--from", "fnirt-relative", "--moving", images[0])
    np.save(tmp_path / "cut.npy", np.zeros((3, 5, 6, 7)))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:-1])
    assert "cut short" in refused("show", tmp_path / "cut.npy")
    np.save(tmp_path / "flat.npy", np.zeros((5, 6, 7)))
    assert "(2, height, width)" in refused("show", tmp_path / "flat.npy")
    assert not list(tmp_path.glob("out*"))


def test_the_field_of_a_registration_is_applied(program, tmp_path):  # noqa: F811
    rows, columns = np.mgrid[:70, :90].astype(np.float64)
    shift = np.stack([2 * np.sin(rows / 12), 1.5 * np.cos(columns / 11)]).astype(np.float32)  # x, y
    np.save(tmp_path / "u.npy", shift)
    image = np.exp(-((columns - 40) ** 2 + (rows - 30) ** 2) / 200).astype(np.float32)
    np.save(tmp_path / "in.npy", image)
    ok("apply", tmp_path / "u.npy", tmp_path / "in.npy", tmp_path / "out.npy", "--boundary",
       "nearest")
    import scipy.ndimage

    expected = scipy.ndimage.map_coordinates(image, [rows + shift[1], columns + shift[0]],
                                             mode="nearest")
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), expected, atol=1e-5)
