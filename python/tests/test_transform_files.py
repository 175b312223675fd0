"""Files of other tools' transforms, against the tools themselves.

Matrices must map points as their owner does to 1e-9 of coordinates up to 200 (the texts have all
digits unless the owner writes fewer), single-precision fields to 1e-4 voxel.
"""

import numpy as np
import pytest
import scipy.ndimage

from warpalign import Geometry, Transform

LPS = np.diag([-1.0, -1.0, 1.0, 1.0])


def rotation(angles):
    cx, cy, cz = np.cos(angles)
    sx, sy, sz = np.sin(angles)
    return (np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
            @ np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
            @ np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]]))


REFERENCE = Geometry((20, 24, 28), spacing=(1.5, 2, 2.5), origin=(-30, -20, 10),
                     direction=rotation((0.1, -0.2, 0.3)))
# Mirrored, as most medical images are in RAS; other sizes.
MOVING = Geometry((22, 26, 30), spacing=(2, 1.25, 1.75), origin=(25, -28, 4),
                  direction=rotation((-0.2, 0.1, 0.15)) @ np.diag([-1, 1, 1]))
# AFNI ignores that an image is oblique.
CARDINAL = Geometry((20, 24, 28), spacing=(1.5, 2, 2.5), origin=(-30, -20, 10),
                    direction=np.diag([1, -1, 1]))
MATRIX = np.array([[0.95, 0.2, -0.1, 3.5], [-0.15, 1.1, 0.05, -2.25], [0.07, -0.12, 0.9, 5.125],
                   [0, 0, 0, 1]])
PLANE = np.array([[0.95, 0.2, 3.5], [-0.15, 1.1, -2.25], [0, 0, 1]])


def world_affine(matrix=MATRIX):
    """A world transform, through the format whose rows are the matrix itself."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/t.aff12.1D"
        np.savetxt(path, matrix[:3].reshape(1, 12), fmt="%.17g")
        return Transform.load(path)


def world_points(count=200, seed=5):
    return np.random.default_rng(seed).uniform(-60, 60, (count, 3))


def applied(matrix, points):
    return points @ matrix[:-1, :-1].T + matrix[:-1, -1]


def ras_image(geometry):
    nibabel = pytest.importorskip("nibabel")
    return nibabel.Nifti1Image(np.zeros(geometry.shape[::-1], np.float32), geometry.ras)


def smooth_vectors(shape, largest, seed=7):
    """A field in millimetres, (component x y z, then the shape)."""
    random = np.random.default_rng(seed)
    field = np.stack([scipy.ndimage.gaussian_filter(random.standard_normal(shape), 4)
                      for _ in shape])
    return field * (largest / np.abs(field).max())


# --- conventions without an owner --------------------------------------------------------------

def test_a_world_transform_maps_pixels_by_the_geometry_of_its_images():
    transform = world_affine().with_geometry(REFERENCE, MOVING)
    assert transform.coordinates == "world"
    indices = np.random.default_rng(1).uniform(0, 19, (50, 3))
    world = applied(REFERENCE.matrix, indices[:, ::-1])
    there = applied(MATRIX, world)
    expected = applied(np.linalg.inv(MOVING.matrix), there)[:, ::-1]
    np.testing.assert_allclose(REFERENCE.points(indices), world, atol=1e-11)
    np.testing.assert_allclose(transform.points(world, world=True), there, atol=1e-11)
    np.testing.assert_allclose(transform.points(indices), expected, atol=1e-11)
    pixels = transform.in_pixels()
    np.testing.assert_allclose(pixels.points(indices), expected, atol=1e-11)
    np.testing.assert_allclose(pixels.points(world, world=True), there, atol=1e-10)
    np.testing.assert_allclose(transform.inverse().points(expected), indices, atol=1e-10)
    np.testing.assert_allclose(applied(pixels.matrix, indices), expected, atol=1e-11)


def test_without_a_geometry_the_other_coordinates_are_refused():
    with pytest.raises(ValueError, match="with_geometry"):
        world_affine().points([[1, 2, 3]])
    with pytest.raises(ValueError, match="with_geometry"):
        Transform.affine(MATRIX).points([[1, 2, 3]], world=True)
    with pytest.raises(ValueError, match="2 dimensions"):
        Transform.affine(MATRIX).with_geometry(Geometry((4, 5)))


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_own_files_keep_coordinates_and_geometry(tmp_path, suffix):
    transform = world_affine().with_geometry(REFERENCE, MOVING)
    path = tmp_path / f"t{suffix}"
    transform.save(path)
    loaded = Transform.load(path)
    assert loaded == transform
    assert loaded.reference == REFERENCE and loaded.moving == MOVING
    assert loaded != transform.in_pixels()


def test_a_stack_of_transforms_is_kept_as_a_whole(tmp_path):
    stack = [Transform.translation((k, 2.5 * k)) for k in range(5)]
    for name in ("stack.npz", "stack.npy"):
        Transform.save_all(stack, tmp_path / name)
        assert Transform.load_all(tmp_path / name) == tuple(stack)
        with pytest.raises(ValueError, match="5 transforms"):
            Transform.load(tmp_path / name)


@pytest.mark.parametrize("name, format", [
    ("t.tfm", None), ("t.txt", "itk"), ("t.mat", "itk-matlab"), ("t.mat", "flirt"),
    ("t.lta", None), ("t.aff12.1D", None), ("t.txt", "elastix"), ("t.xml", None),
    ("t.npy", None), ("t.json", None), ("t.npz", None)])
def test_affine_transforms_come_back(tmp_path, name, format):
    reference, moving = (CARDINAL, CARDINAL) if "1D" in name else (REFERENCE, MOVING)
    transform = world_affine().with_geometry(reference, moving)
    transform.save(tmp_path / name, format=format)
    loaded = Transform.load(tmp_path / name, reference=reference, moving=moving)
    points = world_points()
    # The geometry's matrices multiply a rounding of 1e-16 by the coordinates, several times.
    np.testing.assert_allclose(loaded.points(points, world=True), applied(MATRIX, points),
                               atol=1e-11)


# --- ITK ----------------------------------------------------------------------------------------

def itk_map(transform, points):
    return np.array([transform.TransformPoint(p) for p in np.asarray(points).tolist()])


@pytest.mark.parametrize("name", ["t.tfm", "t.txt", "t.mat", "t.h5"])
def test_itk_reads_a_transform_of_pixels_of_images_without_geometry(tmp_path, name):
    sitk = pytest.importorskip("SimpleITK")
    if name == "t.h5":
        pytest.importorskip("h5py")
    transform = Transform.affine([[1.1, 0.2, 3], [-0.1, 0.9, 4], [0, 0, 1]])
    transform.save(tmp_path / name, format="itk-matlab" if name == "t.mat" else None)
    x, y = sitk.ReadTransform(str(tmp_path / name)).TransformPoint((20.0, 10.0))
    assert np.allclose(transform.points([[10.0, 20.0]]), [[y, x]], atol=1e-12, rtol=0)
    if name in ("t.tfm", "t.txt"):
        assert Transform.load(tmp_path / name) == transform


def itk_transforms():
    sitk = pytest.importorskip("SimpleITK")
    euler = sitk.Euler3DTransform((3.0, -4, 5), 0.1, -0.2, 0.3, (1, 2, 3))
    zyx = sitk.Euler3DTransform((3.0, -4, 5), 0.1, -0.2, 0.3, (1, 2, 3))
    zyx.SetComputeZYX(True)
    versor = sitk.VersorRigid3DTransform((0.1, 0.2, -0.3, 0.9), (1, -2, 3), (4, 5, 6))
    similarity = sitk.Similarity3DTransform(1.3, (0.1, 0.2, -0.3, 0.9), (1, -2, 3), (4, 5, 6))
    scale = sitk.ScaleVersor3DTransform((1.1, 0.9, 1.2), (0.1, 0.2, -0.3, 0.9), (1, 2, 3),
                                        (3, 2, 1))
    skew = sitk.ScaleSkewVersor3DTransform((1.1, 0.9, 1.2),
                                           (0.01, 0.02, 0.03, 0.04, 0.05, 0.06),
                                           (0.1, 0.2, -0.3, 0.9), (1, 2, 3), (3, 2, 1))
    affine = sitk.AffineTransform(MATRIX[:3, :3].ravel().tolist(), (3, -2, 1), (10, 20, 30))
    composite = sitk.CompositeTransform([euler, affine, versor])
    return {
        "translation": sitk.TranslationTransform(3, (1, 2, -3)), "identity": sitk.Transform(),
        "euler": euler, "euler zyx": zyx, "versor": versor, "similarity": similarity,
        "scale versor": scale, "scale skew": skew, "affine": affine, "composite": composite,
        "scale": sitk.ScaleTransform(3, (1.1, 0.8, 1.3)),
        "euler 2": sitk.Euler2DTransform((3, 4), 0.3, (1, 2)),
        "similarity 2": sitk.Similarity2DTransform(1.2, 0.3, (1, 2), (5, 6)),
        "affine 2": sitk.AffineTransform((1.1, 0.1, -0.2, 0.9), (1, 2), (3, 4)),
    }


@pytest.mark.parametrize("name", [
    "translation", "identity", "euler", "euler zyx", "versor", "similarity", "scale versor",
    "scale skew", "affine", "composite", "scale", "euler 2", "similarity 2", "affine 2"])
@pytest.mark.parametrize("suffix", [".tfm", ".txt", ".h5"])
def test_itk_writes_and_we_map_as_it_does(tmp_path, name, suffix):
    sitk = pytest.importorskip("SimpleITK")
    if suffix == ".h5":
        pytest.importorskip("h5py")
    transform = itk_transforms()[name]
    path = tmp_path / f"t{suffix}"
    sitk.WriteTransform(transform, str(path))
    points = world_points()[:, :transform.GetDimension()]
    loaded = Transform.load(path)
    assert loaded.coordinates == "world"
    np.testing.assert_allclose(loaded.points(points, world=True), itk_map(transform, points),
                               atol=1e-9)


@pytest.mark.parametrize("suffix", [".tfm", ".h5"])
def test_we_write_and_itk_maps_as_we_do(tmp_path, suffix):
    sitk = pytest.importorskip("SimpleITK")
    if suffix == ".h5":
        pytest.importorskip("h5py")
    path = tmp_path / f"t{suffix}"
    chain = bspline_of_itk(tmp_path) @ world_affine()
    chain.save(path)
    points = REFERENCE.points(np.random.default_rng(3).uniform(4, 15, (100, 3)))
    np.testing.assert_allclose(itk_map(sitk.ReadTransform(str(path)), points),
                               chain.points(points, world=True), atol=1e-9)
    assert Transform.load(path) == chain


def itk_bspline():
    sitk = pytest.importorskip("SimpleITK")
    domain = sitk.Image(REFERENCE.shape[::-1], sitk.sitkFloat32)
    domain.SetSpacing(REFERENCE.spacing.tolist())
    domain.SetOrigin(REFERENCE.origin.tolist())
    domain.SetDirection(REFERENCE.direction.ravel().tolist())
    bspline = sitk.BSplineTransformInitializer(domain, [4, 5, 6], 3)
    count = len(bspline.GetParameters())
    bspline.SetParameters(np.random.default_rng(2).uniform(-2, 2, count).tolist())
    return bspline


def bspline_of_itk(folder):
    sitk = pytest.importorskip("SimpleITK")
    sitk.WriteTransform(itk_bspline(), str(folder / "bspline.tfm"))
    return Transform.load(folder / "bspline.tfm")


def test_splines_of_itk_bend_as_they_do_there(tmp_path):
    bspline = itk_bspline()
    points = REFERENCE.points(np.random.default_rng(3).uniform(0, 18, (100, 3)))
    loaded = bspline_of_itk(tmp_path)
    assert loaded.kind == "bspline"
    np.testing.assert_allclose(loaded.points(points, world=True), itk_map(bspline, points),
                               atol=1e-9)


@pytest.mark.parametrize("suffix", [".tfm", ".mat"])
def test_antspy_and_we_read_each_other(tmp_path, suffix):
    ants = pytest.importorskip("ants")
    theirs = ants.create_ants_transform(
        transform_type="AffineTransform", dimension=3, matrix=MATRIX[:3, :3],
        offset=MATRIX[:3, 3], center=(1.0, 2.0, 3.0))
    ants.write_transform(theirs, str(tmp_path / f"theirs{suffix}"))
    points = world_points(20)
    expected = np.array([theirs.apply_to_point(p) for p in points.tolist()])
    loaded = Transform.load(tmp_path / f"theirs{suffix}")
    # ANTsPy keeps parameters in single precision: 6e-8 of 100.
    np.testing.assert_allclose(loaded.points(points, world=True), expected, atol=2e-5)
    format = "itk-matlab" if suffix == ".mat" else None
    world_affine().save(tmp_path / f"ours{suffix}", format=format)
    read = ants.read_transform(str(tmp_path / f"ours{suffix}"))
    found = np.array([read.apply_to_point(p) for p in points.tolist()])
    np.testing.assert_allclose(found, applied(MATRIX, points), atol=2e-5)


# --- fields -------------------------------------------------------------------------------------

def world_field(tmp_path):
    """A field that SimpleITK wrote, and SimpleITK's transform of it."""
    sitk = pytest.importorskip("SimpleITK")
    vectors = smooth_vectors(REFERENCE.shape, 5).astype(np.float32)
    image = sitk.GetImageFromArray(np.moveaxis(vectors, 0, -1), isVector=True)
    image.SetSpacing(REFERENCE.spacing.tolist())
    image.SetOrigin(REFERENCE.origin.tolist())
    image.SetDirection(REFERENCE.direction.ravel().tolist())
    path = tmp_path / "itk.nii.gz"
    sitk.WriteImage(image, str(path))
    field = sitk.DisplacementFieldTransform(sitk.Cast(image, sitk.sitkVectorFloat64))
    return path, field


def test_fields_of_itk_in_nifti(tmp_path):
    sitk = pytest.importorskip("SimpleITK")
    path, field = world_field(tmp_path)
    points = REFERENCE.points(np.random.default_rng(3).uniform(1, 18, (200, 3)))
    loaded = Transform.load(path, moving=MOVING)
    np.testing.assert_allclose(loaded.points(points, world=True), itk_map(field, points),
                               atol=1e-4)
    loaded.save(tmp_path / "ours.nii.gz")
    image = sitk.ReadImage(str(tmp_path / "ours.nii.gz"))
    assert image.GetNumberOfComponentsPerPixel() == 3
    ours = sitk.DisplacementFieldTransform(sitk.Cast(image, sitk.sitkVectorFloat64))
    np.testing.assert_allclose(itk_map(ours, points), itk_map(field, points), atol=1e-4)


def test_fields_of_itk_in_hdf5(tmp_path):
    sitk = pytest.importorskip("SimpleITK")
    pytest.importorskip("h5py")
    path, field = world_field(tmp_path)
    points = REFERENCE.points(np.random.default_rng(3).uniform(1, 18, (200, 3)))
    sitk.WriteTransform(field, str(tmp_path / "theirs.h5"))
    expected = itk_map(field, points)
    loaded = Transform.load(tmp_path / "theirs.h5")
    np.testing.assert_allclose(loaded.points(points, world=True), expected, atol=1e-9)
    loaded.save(tmp_path / "ours.h5")
    found = itk_map(sitk.ReadTransform(str(tmp_path / "ours.h5")), points)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("format", ["fnirt-relative", "fnirt-absolute"])
@pytest.mark.parametrize("mirrored", [False, True])
def test_fields_of_fnirt(tmp_path, format, mirrored):
    pytest.importorskip("fsl.transform.fnirt")
    from fsl.data.image import Image
    from fsl.transform import fnirt

    reference, moving = (MOVING, REFERENCE) if mirrored else (REFERENCE, MOVING)
    field = smooth_vectors(reference.shape, 3)
    bend = Transform.displacement(field)
    # The affine transform of world coordinates makes voxels land in the moving image.
    transform = (world_affine().with_geometry(reference, moving).in_pixels() @ bend)
    transform = transform.with_geometry(reference, moving)
    path = tmp_path / "warp.nii.gz"
    transform.save(path, format=format)
    images = [Image(ras_image(one)) for one in (reference, moving)]
    theirs = fnirt.readFnirt(str(path), src=images[1], ref=images[0])
    assert theirs.deformationType == format.split("-")[1]
    indices = np.random.default_rng(4).integers(2, 17, (100, 3))  # (z, y, x)
    expected = theirs.transform(indices[:, ::-1].astype(float), "voxel", "voxel")[:, ::-1]
    np.testing.assert_allclose(transform.points(indices), expected, atol=1e-4)
    loaded = Transform.load(path, format=format, reference=reference, moving=moving)
    np.testing.assert_allclose(loaded.points(indices), expected, atol=1e-4)
    with pytest.raises(ValueError, match="fnirt-relative"):
        Transform.load(path, reference=reference, moving=moving)


def test_fields_of_niftyreg_hold_ras_positions(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    vectors = smooth_vectors(REFERENCE.shape, 3)  # RAS
    indices = np.moveaxis(np.indices(REFERENCE.shape[::-1]), 0, -1)
    positions = indices @ REFERENCE.ras[:3, :3].T + REFERENCE.ras[:3, 3]
    positions = positions + vectors.transpose(3, 2, 1, 0)
    for kind, values in ((0, positions), (1, vectors.transpose(3, 2, 1, 0))):
        image = nibabel.Nifti1Image(values[:, :, :, None].astype(np.float32), REFERENCE.ras)
        image.header["intent_code"] = 1007
        image.header["intent_name"] = "NREG_TRANS"
        image.header["intent_p1"] = kind
        nibabel.save(image, tmp_path / "theirs.nii")
        loaded = Transform.load(tmp_path / "theirs.nii")
        at = (5, 7, 9)  # x, y, z
        start = REFERENCE.matrix @ [*at, 1]
        found = loaded.points([start[:3]], world=True)[0]
        np.testing.assert_allclose(found * [-1, -1, 1], positions[at], atol=1e-4)
        loaded.save(tmp_path / "ours.nii", format="niftyreg")
        np.testing.assert_allclose(nibabel.load(tmp_path / "ours.nii").get_fdata()[:, :, :, 0],
                                   positions, atol=1e-4)


# --- FSL, FreeSurfer, AFNI ----------------------------------------------------------------------

@pytest.mark.parametrize("mirrored", [False, True])
def test_matrices_of_flirt(tmp_path, mirrored):
    pytest.importorskip("fsl.transform.flirt")
    from fsl.data.image import Image
    from fsl.transform import flirt

    reference, moving = (MOVING, REFERENCE) if mirrored else (REFERENCE, MOVING)
    images = [Image(ras_image(one)) for one in (reference, moving)]
    ras = LPS @ MATRIX @ LPS  # reference to moving
    matrix = flirt.toFlirt(np.linalg.inv(ras), images[1], images[0], "world", "world")
    flirt.writeFlirt(matrix, str(tmp_path / "theirs.mat"))
    points = world_points()
    loaded = Transform.load(tmp_path / "theirs.mat", reference=reference, moving=moving)
    # writeFlirt keeps all digits; NIfTI keeps the images' matrices in float32, 6e-8 of 60.
    np.testing.assert_allclose(loaded.points(points, world=True), applied(MATRIX, points),
                               atol=3e-5)
    ours = world_affine().with_geometry(reference, moving)
    ours.save(tmp_path / "ours.mat", format="flirt")
    back = flirt.fromFlirt(flirt.readFlirt(str(tmp_path / "ours.mat")), images[1], images[0],
                           "world", "world")
    np.testing.assert_allclose(np.linalg.inv(back), ras, atol=3e-5)
    with pytest.raises(ValueError, match="reference and the moving image"):
        Transform.load(tmp_path / "theirs.mat")


@pytest.mark.parametrize("format, name", [("fs", "t.lta"), ("afni", "t.aff12.1D"),
                                          ("itk", "t.tfm"), ("fsl", "t.mat")])
def test_nitransforms_reads_and_writes_as_we_do(tmp_path, format, name):
    pytest.importorskip("nitransforms")
    import nitransforms.linear

    grids = (CARDINAL, CARDINAL) if format == "afni" else (REFERENCE, MOVING)
    reference, moving = map(ras_image, grids)
    ours = world_affine().with_geometry(*grids)
    ours.save(tmp_path / name, format="flirt" if format == "fsl" else None)
    theirs = nitransforms.linear.load(tmp_path / name, fmt=format, reference=reference,
                                      moving=moving)
    points = world_points()
    ras = applied(LPS, points)
    # float32 of the images' matrices in NIfTI
    np.testing.assert_allclose(applied(LPS, theirs.map(ras)), applied(MATRIX, points), atol=1e-4)
    wanted = nitransforms.linear.Affine(LPS @ MATRIX @ LPS, reference=reference)
    wanted.to_filename(tmp_path / f"theirs-{name}", fmt=format, moving=moving)
    loaded = Transform.load(tmp_path / f"theirs-{name}", reference=grids[0], moving=grids[1])
    # nitransforms writes AFNI's numbers with six digits.
    np.testing.assert_allclose(loaded.points(points, world=True), applied(MATRIX, points),
                               atol=1e-3 if format == "afni" else 1e-4)


def test_oblique_images_of_afni_are_refused(tmp_path):
    with pytest.raises(ValueError, match="oblique"):
        world_affine().with_geometry(REFERENCE, MOVING).save(tmp_path / "t.1D")


@pytest.mark.parametrize("space", ["world", "voxel"])
def test_surfa_reads_and_writes_lta_as_we_do(tmp_path, space):
    surfa = pytest.importorskip("surfa")
    geometries = [surfa.ImageGeometry(one.shape[::-1], vox2world=one.ras)
                  for one in (REFERENCE, MOVING)]
    ras = LPS @ MATRIX @ LPS
    push = surfa.Affine(np.linalg.inv(ras), source=geometries[1], target=geometries[0],
                        space="world")
    push.convert(space=space).save(str(tmp_path / "theirs.lta"))
    loaded = Transform.load(tmp_path / "theirs.lta")
    points = world_points()
    # The text has about 7 digits of coordinates of 60.
    np.testing.assert_allclose(loaded.points(points, world=True), applied(MATRIX, points),
                               atol=1e-4)
    np.testing.assert_allclose(loaded.reference.matrix, REFERENCE.matrix, atol=1e-4)
    np.testing.assert_allclose(loaded.moving.matrix, MOVING.matrix, atol=1e-4)
    world_affine().with_geometry(REFERENCE, MOVING).save(tmp_path / "ours.lta")
    read = surfa.load_affine(str(tmp_path / "ours.lta")).convert(space="world")
    np.testing.assert_allclose(np.linalg.inv(read.matrix), ras, atol=1e-5)


# --- elastix ------------------------------------------------------------------------------------

@pytest.fixture
def surfa(monkeypatch):
    module = pytest.importorskip("surfa")
    # surfa 0.6.3 reads by a function that NumPy 2.3 has no more.
    monkeypatch.setattr(np, "fromstring", lambda data, dtype: np.frombuffer(data, dtype))
    return module


def surfa_geometry(surfa, geometry):
    return surfa.ImageGeometry(geometry.shape[::-1], vox2world=geometry.ras)


def mapped_by_surfa(surfa, warp, indices):
    """The moving voxels (x, y, z) of voxels of the reference, by the samples of surfa's warp."""
    moved = np.asarray(warp.convert(surfa.Warp.Format.abs_crs).data)
    return moved[tuple(np.asarray(indices).T[::-1])]


@pytest.mark.parametrize("name", ["t.mgz", "t.mgh"])
def test_surfa_reads_our_warps_as_we_map(tmp_path, surfa, name):
    vectors = smooth_vectors(REFERENCE.shape, 3.0)
    ours = Transform.displacement(vectors.astype(np.float32)).with_geometry(REFERENCE, MOVING)
    ours.save(tmp_path / name)
    theirs = surfa.load_warp(str(tmp_path / name))
    indices = np.random.default_rng(4).integers(0, min(REFERENCE.shape), (100, 3))  # (z, y, x)
    # Differences are kept in single precision: 3e-7 of 3 voxels.
    np.testing.assert_allclose(mapped_by_surfa(surfa, theirs, indices)[:, ::-1],
                               ours.points(indices), atol=1e-5)
    np.testing.assert_allclose(theirs.target.vox2world.matrix, REFERENCE.ras, atol=1e-4)
    np.testing.assert_allclose(theirs.source.vox2world.matrix, MOVING.ras, atol=1e-4)
    back = Transform.load(tmp_path / name)
    np.testing.assert_allclose(back.points(indices), ours.points(indices), atol=1e-4)


@pytest.mark.parametrize("values", ["abs_crs", "disp_crs", "abs_ras", "disp_ras"])
def test_warps_of_surfa_map_as_they_do_there(tmp_path, surfa, values):
    shape = REFERENCE.shape[::-1]
    moved = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1) * 0.9 + 1.5
    moved += np.moveaxis(smooth_vectors(shape, 2.0), 0, -1)
    geometry = [surfa_geometry(surfa, image) for image in (MOVING, REFERENCE)]
    crs = surfa.Warp(moved.astype(np.float32), *geometry, format=surfa.Warp.Format.abs_crs)
    kind = getattr(surfa.Warp.Format, values)
    surfa.Warp(crs.convert(kind).data, *geometry, format=kind).save(str(tmp_path / "t.mgz"))
    ours = Transform.load(tmp_path / "t.mgz")
    indices = np.random.default_rng(4).integers(0, min(REFERENCE.shape), (100, 3))  # (z, y, x)
    wanted = moved[tuple(indices.T[::-1])][:, ::-1]
    # Positions of up to 100 mm in single precision, and geometries, too.
    np.testing.assert_allclose(ours.points(indices), wanted, atol=1e-4)


def test_damaged_warps_of_freesurfer_are_refused(tmp_path):
    ours = Transform.translation((1.0, 2, 3)).with_geometry(REFERENCE, MOVING)
    path = tmp_path / "t.mgh"
    ours.save(path)
    whole = path.read_bytes()
    for size in (0, 3, 100, 284, 5000, len(whole) // 2, len(whole) - 20):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="not a transform"):
            Transform.load(path, format="mgz")
    path.write_bytes(b"\0\0\0\1" + whole[4:])
    with pytest.raises(ValueError, match="is an image of FreeSurfer, not a warp"):
        Transform.load(path)
    with pytest.raises(ValueError, match="depends on both images"):
        Transform.translation((1.0, 2, 3)).save(tmp_path / "none.mgz")
    assert not (tmp_path / "none.mgz").exists()


def suite2p_ops(blocks):
    random = np.random.default_rng(8)
    ops = {"yoff": random.integers(-5, 6, 4).astype(np.int32),
           "xoff": random.integers(-5, 6, 4).astype(np.int32), "Ly": 90, "Lx": 110}
    if blocks:
        starts = np.round(np.linspace(0, 58, 3)), np.round(np.linspace(0, 78, 4))
        ops |= {"nblocks": [3, 4],
                "yblock": [np.array([y, y + 32]) for y in starts[0] for _ in starts[1]],
                "xblock": [np.array([x, x + 32]) for _ in starts[0] for x in starts[1]],
                "yoff1": random.normal(0, 1, (4, 12)).astype(np.float32),
                "xoff1": random.normal(0, 1, (4, 12)).astype(np.float32)}
    return ops


def moved_by_suite2p(ops, frame, point):
    """Where a pixel of a registered frame was read: its blocks' shift and then the frame's."""
    moved = np.array(point, float)
    if "yoff1" in ops:
        centres = (np.array(ops["yblock"][::4]).mean(1), np.array(ops["xblock"][:4]).mean(1))
        for axis, key in enumerate(("yoff1", "xoff1")):
            rows = [np.interp(point[1], centres[1], row) for row in ops[key][frame].reshape(3, 4)]
            moved[axis] += np.interp(point[0], centres[0], rows)
    return moved + (ops["yoff"][frame], ops["xoff"][frame])


@pytest.mark.parametrize("blocks", [False, True])
def test_shifts_of_suite2p(tmp_path, blocks):
    ops = suite2p_ops(blocks)
    np.save(tmp_path / "ops.npy", ops, allow_pickle=True)
    with pytest.raises(ValueError, match="trust=True"):
        Transform.load_all(tmp_path / "ops.npy")
    found = Transform.load_all(tmp_path / "ops.npy", trust=True)
    assert len(found) == 4
    for frame, transform in enumerate(found):
        for point in [(0, 0), (10, 20), (37, 55), (44, 100), (89, 109)]:
            # Fields are in single precision.
            np.testing.assert_allclose(transform.points([point])[0],
                                       moved_by_suite2p(ops, frame, point), atol=1e-5)
    with pytest.raises(ValueError, match="does not write"):
        Transform.save_all(found, tmp_path / "out.npy", format="suite2p")


def test_a_frame_that_suite2p_shifted_is_what_warp_gives(tmp_path):
    frame = np.random.default_rng(1).integers(0, 255, (40, 50)).astype(np.uint8)
    np.save(tmp_path / "ops.npy", {"yoff": np.array([3]), "xoff": np.array([-4])},
            allow_pickle=True)
    found = Transform.load(tmp_path / "ops.npy", trust=True)
    shifted = np.roll(frame, (-3, 4), (0, 1))  # suite2p's shift_frame
    np.testing.assert_array_equal(found.warp(frame, order=0)[:37, 4:], shifted[:37, 4:])


@pytest.mark.parametrize("ops, message", [
    ({"xoff": [1]}, "no shifts of suite2p"),
    ({"yoff": [np.nan], "xoff": [1]}, "finite"),
    ({"yoff": [1], "xoff": [1], "yoff1": [[1.0]]}, "but no xoff1"),
    ([1, "x"], "no shifts of suite2p"),
])
def test_other_pickles_are_refused(tmp_path, ops, message):
    np.save(tmp_path / "ops.npy", np.array(ops, object), allow_pickle=True)
    with pytest.raises(ValueError, match=message):
        Transform.load_all(tmp_path / "ops.npy", trust=True)


def elastix_points(folder, name, points):
    """The points as transformix maps them, in millimetres with six decimals."""
    itk = pytest.importorskip("itk")
    if not hasattr(itk, "transformix_filter"):
        pytest.skip("itk-elastix is not installed")
    listed = folder / "points.txt"
    listed.write_text(f"point\n{len(points)}\n"
                      + "".join(" ".join(f"{v:.9f}" for v in p) + "\n" for p in points))
    parameters = itk.ParameterObject.New()
    parameters.ReadParameterFile(str(folder / name))
    image = itk.image_from_array(np.zeros(REFERENCE.shape, np.float32))
    itk.transformix_filter(image, transform_parameter_object=parameters,
                           fixed_point_set_file_name=str(listed), output_directory=str(folder))
    text = (folder / "outputpoints.txt").read_text().splitlines()
    return np.array([[float(v) for v in line.split("OutputPoint = [")[1].split("]")[0].split()]
                     for line in text])


@pytest.mark.parametrize("bends", [False, True])
def test_elastix_maps_as_we_do(tmp_path, bends):
    pytest.importorskip("itk")
    transform = bspline_of_itk(tmp_path) if bends else world_affine()
    transform = transform.with_geometry(REFERENCE)
    transform.save(tmp_path / "TransformParameters.0.txt", format="elastix")
    points = REFERENCE.points(np.random.default_rng(3).uniform(2, 17, (40, 3)))
    expected = elastix_points(tmp_path, "TransformParameters.0.txt", points)
    # transformix prints six digits after the point.
    np.testing.assert_allclose(transform.points(points, world=True), expected, atol=2e-6)
    loaded = Transform.load(tmp_path / "TransformParameters.0.txt")
    np.testing.assert_allclose(loaded.points(points, world=True), expected, atol=2e-6)
    assert loaded.reference == REFERENCE


EULER = """// A file of elastix.
(Transform "EulerTransform")
(NumberOfParameters 6)
(TransformParameters 0.1 -0.2 0.3 1.5 -2.5 3.5)
(InitialTransformParameterFileName "NoInitialTransform")
(UseBinaryFormatForTransformationParameters "false")
(HowToCombineTransforms "Compose")
(FixedImageDimension 3)
(MovingImageDimension 3)
(FixedInternalImagePixelType "float")
(MovingInternalImagePixelType "float")
(Size 28 24 20)
(Index 0 0 0)
(Spacing 1 1 1)
(Origin 0 0 0)
(Direction 1 0 0 0 1 0 0 0 1)
(UseDirectionCosines "true")
(CenterOfRotationPoint 10 11 12)
(ComputeZYX "false")
(ResampleInterpolator "FinalBSplineInterpolator")
(FinalBSplineInterpolationOrder 3)
(Resampler "DefaultResampler")
(DefaultPixelValue 0)
(ResultImageFormat "nii")
(ResultImagePixelType "float")
(CompressResultImage "false")
"""


def test_rotations_of_elastix(tmp_path):
    (tmp_path / "t.txt").write_text(EULER)
    points = world_points(40)
    expected = elastix_points(tmp_path, "t.txt", points)
    np.testing.assert_allclose(Transform.load(tmp_path / "t.txt").points(points, world=True),
                               expected, atol=2e-6)


def test_elastix_applies_the_initial_transform_first(tmp_path):
    (tmp_path / "TransformParameters.0.txt").write_text(EULER)
    second = EULER.replace("NoInitialTransform", "/elsewhere/TransformParameters.0.txt")
    second = second.replace("EulerTransform", "TranslationTransform").replace(
        "0.1 -0.2 0.3 1.5 -2.5 3.5", "7 8 9")
    (tmp_path / "TransformParameters.1.txt").write_text(second)
    points = world_points(40)
    first = Transform.load(tmp_path / "TransformParameters.0.txt").points(points, world=True)
    both = Transform.load(tmp_path / "TransformParameters.1.txt").points(points, world=True)
    np.testing.assert_allclose(both, first + [7, 8, 9], atol=1e-11)


# --- ImageJ and BigDataViewer -------------------------------------------------------------------

def test_pystackreg_matrices(tmp_path):
    pystackreg = pytest.importorskip("pystackreg")
    random = np.random.default_rng(6)
    frames = np.stack([scipy.ndimage.gaussian_filter(random.standard_normal((60, 80)), 3)] * 3)
    frames[1] = scipy.ndimage.shift(frames[0], (2, -3), mode="reflect")
    frames[2] = scipy.ndimage.shift(frames[0], (-1, 4), mode="reflect")
    found = pystackreg.StackReg(pystackreg.StackReg.RIGID_BODY)
    found.register_stack(frames, reference="first")
    np.save(tmp_path / "t.npy", found._tmats)
    warped = found.transform_stack(frames)
    inner = (slice(8, -8), slice(8, -8))
    for frame, transform, expected in zip(frames, Transform.load_all(tmp_path / "t.npy"), warped,
                                          strict=True):
        # Oracle of the direction: a shift the wrong way leaves differences of the frame's range.
        ours = scipy.ndimage.map_coordinates(
            frame, transform.positions((60, 80)), order=3, mode="mirror")
        spread = np.ptp(frame)
        assert np.abs(ours[inner] - expected[inner]).max() < 0.05 * spread
    Transform.save_all(Transform.load_all(tmp_path / "t.npy"), tmp_path / "ours.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "ours.npy"), found._tmats)


TURBOREG = """Transformation: SCALED_ROTATION

Source size
80\t60

Target size
80\t60

Refined source landmarks
20.0\t10.0
20.0\t50.0

Target landmarks
10.0\t12.0
30.0\t12.0
"""


def test_turboreg_maps_target_landmarks_to_source_landmarks(tmp_path):
    (tmp_path / "t.txt").write_text(TURBOREG)
    transform = Transform.load(tmp_path / "t.txt")
    np.testing.assert_allclose(transform.points([[12.0, 10], [12, 30]]), [[10, 20], [50, 20]],
                               atol=1e-12)
    plane = Transform.affine(PLANE).with_geometry(Geometry((60, 80)), Geometry((60, 80)))
    plane.save(tmp_path / "ours.txt", format="turboreg")
    np.testing.assert_allclose(Transform.load(tmp_path / "ours.txt").matrix, PLANE, atol=1e-12)


def test_multistackreg_composes_to_the_reference(tmp_path):
    block = ("TRANSLATION\nSource img: {} Target img: {}\n"
             "{}\t{}\n0\t0\n0\t0\n\n{}\t{}\n0\t0\n0\t0\n\n")
    (tmp_path / "t.txt").write_text(
        "MultiStackReg Transformation File\nFile Version 1.0\n0\n"
        + block.format(2, 1, 33.0, 34.5, 30, 30) + block.format(3, 2, 31.0, 29.0, 30, 30))
    shifts = [one.points([[0.0, 0]])[0] for one in Transform.load_all(tmp_path / "t.txt")]
    np.testing.assert_allclose(shifts, [[0, 0], [4.5, 3], [3.5, 4]], atol=1e-12)
    stack = [Transform.translation((0, 0)), Transform.affine(PLANE)]
    Transform.save_all(stack, tmp_path / "ours.txt", format="multistackreg")
    np.testing.assert_allclose(Transform.load_all(tmp_path / "ours.txt")[1].matrix, PLANE,
                               atol=1e-12)


def test_views_of_bigdataviewer(tmp_path):
    calibration = "<affine>2.0 0 0 0 0 2.0 0 0 0 0 5.0 0</affine>"
    shift = "<affine>1 0 0 10 0 1 0 20 0 0 1 30</affine>"
    view = ('<ViewRegistration timepoint="0" setup="{}"><ViewTransform type="affine">{}'
            "</ViewTransform><ViewTransform type=\"affine\">{}</ViewTransform></ViewRegistration>")
    identity = "<affine>1 0 0 0 0 1 0 0 0 0 1 0</affine>"
    (tmp_path / "t.xml").write_text(
        "<?xml version='1.0'?><SpimData version='0.2'><!-- <ViewRegistration> -->"
        "<ViewRegistrations>" + view.format(0, identity, calibration)
        + view.format(1, shift, calibration) + "</ViewRegistrations></SpimData>")
    # The first view's pixel (x, y, z) lies at (2x, 2y, 5z); the second's at that plus the shift,
    # which is applied last.
    found = Transform.load(tmp_path / "t.xml").points([[6.0, 10, 8]])  # (z, y, x)
    np.testing.assert_allclose(found, [[6 - 30 / 5, 10 - 20 / 2, 8 - 10 / 2]], atol=1e-12)


# --- bad input ----------------------------------------------------------------------------------

def test_files_cut_short_are_refused(tmp_path):
    """Cut anywhere, a file is refused or it lacks only what the transform does not need."""
    transform = world_affine().with_geometry(REFERENCE, MOVING)
    points = world_points(5)
    for name, format in (("t.tfm", None), ("t.mat", "itk-matlab"), ("t.npy", None),
                         ("t.xml", None)):
        path = tmp_path / name
        transform.save(path, format=format)
        data = path.read_bytes()
        for end in range(0, len(data) - 40, 7):
            path.write_bytes(data[:end])
            with pytest.raises(ValueError, match="is not a transform"):
                Transform.load(path, format=format, reference=REFERENCE,
                               moving=MOVING).points(points, world=True)


@pytest.mark.parametrize("text, message", [
    ("#Insight Transform File V1.0\nTransform: AffineTransform_double_3_3\n"
     "Parameters: 1 0 0\nFixedParameters: 0 0 0\n", "3 numbers instead of 12"),
    ("#Insight Transform File V1.0\nTransform: AffineTransform_double_3_2\n"
     "Parameters: 1\nFixedParameters: 0\n", "does not map 2 to 2 or 3 to 3"),
    ("#Insight Transform File V1.0\nTransform: TranslationTransform_double_2_2\n"
     "Parameters: nan 1\nFixedParameters:\n", "'nan' is not a finite number"),
    ("#Insight Transform File V1.0\nTransform: ThinPlateSplineKernelTransform_double_2_2\n"
     "Parameters: 1 1\nFixedParameters:\n", "not supported"),
    ("#Insight Transform File V1.0\nTransform: CompositeTransform_double_2_2\n"
     + "Transform: TranslationTransform_double_2_2\nParameters: 1 1\nFixedParameters:\n" * 10000,
     "composite of 10000 transforms"),
    ("#Insight Transform File V1.0\nTransform: BSplineTransform_double_2_2\nParameters: 1\n"
     "FixedParameters: 1e9 1e9 0 0 1 1 1 0 0 1\n", "more than 1e9 points"),
    ("hello\n", "not recognized"),
])
def test_wrong_texts_are_refused_with_the_reason(tmp_path, text, message):
    path = tmp_path / "t.tfm"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        Transform.load(path)


def test_what_a_format_cannot_hold_is_refused_and_nothing_is_written(tmp_path):
    field = Transform.displacement(np.zeros((3, 5, 6, 7)))
    with pytest.raises(ValueError, match="pixels: give the reference"):
        field.save(tmp_path / "t.lta")
    located = field.with_geometry(Geometry((5, 6, 7)), Geometry((5, 6, 7)))
    for name in ("t.lta", "t.1D"):  # its direction is the identity: not oblique
        with pytest.raises(ValueError, match="fields"):
            located.save(tmp_path / name)
    with pytest.raises(ValueError, match="tell the format"):
        located.save(tmp_path / "t.dat")
    with pytest.raises(ValueError, match="unknown format 'tfm'"):
        located.save(tmp_path / "t.txt", format="tfm")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("shape", [(9, 11), (5, 6, 7)])
def test_a_field_in_npy_has_the_order_of_x_y_z(tmp_path, shape):
    samples = np.random.default_rng(0).normal(size=(len(shape), *shape)).astype(np.float32)
    field = Transform.displacement(samples)
    field.save(tmp_path / "t.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), samples[::-1])
    assert Transform.load(tmp_path / "t.npy") == field
    shifted = field @ Transform.translation([1] * len(shape))
    with pytest.raises(ValueError, match="reference"):
        shifted.save(tmp_path / "no.npy")
    grid = Geometry(shape)
    shifted.with_geometry(reference=grid, moving=grid).save(tmp_path / "s.npy")
    np.testing.assert_allclose(np.load(tmp_path / "s.npy"), shifted.field(shape)[::-1], atol=1e-6)
    assert not (tmp_path / "no.npy").exists()


def test_formats_lists_the_names():
    assert {"itk", "flirt", "itk-h5", "fnirt-absolute"} <= set(Transform.formats())


def test_json_of_a_series_of_volumes_is_read_volume_by_volume(tmp_path):
    path = tmp_path / "motion.json"
    path.write_text('{"series": "bold.nii", "volumes": [{"volume": 0, "status": "ok",'
                    ' "matrix": [[1, 0, 0, 3], [0, 1, 0, -2], [0, 0, 1, 0.5]]}]}')
    found = Transform.load_all(path)
    np.testing.assert_array_equal(found[0].points([[10.0, 20, 30]]), [[10.5, 18, 33]])


def test_json_of_a_stack_is_read_frame_by_frame(tmp_path):
    path = tmp_path / "stack.json"
    path.write_text('{"frames": [{"frame": 0, "matrix": [[1, 0, 0], [0, 1, 0]]},'
                    ' {"frame": 1, "matrix": [[1, 0, 3], [0, 1, -2]]}]}')
    found = Transform.load_all(path)
    np.testing.assert_array_equal(found[1].points([[10.0, 20]]), [[8, 23]])
    Transform.save_all(found, tmp_path / "ours.json")
    assert Transform.load_all(tmp_path / "ours.json") == found
    path.write_text('{"frames": [{"frame": 0, "status": "failed"}]}')
    with pytest.raises(ValueError, match="matrix"):
        Transform.load_all(path)
