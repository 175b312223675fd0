"""warpalign.dask.register_volume: the transform of volumes that are reduced to be registered."""

import pickle

import numpy as np
import pytest
import scipy.ndimage

import warpalign

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402

import warpalign.dask as wd  # noqa: E402
from warpalign.dask._volumes import _Volume  # noqa: E402


def scene(points):
    """A sum of plane waves of 9 to 30 mm, at points of shape (3, ...) in millimetres."""
    random = np.random.default_rng(2)
    directions = random.standard_normal((24, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    waves = 2 * np.pi / random.uniform(9, 30, 24)
    phases = random.uniform(0, 2 * np.pi, 24)
    return sum(np.cos(np.tensordot(wave * direction, points, 1) + phase)
               for direction, wave, phase in zip(directions, waves, phases)).astype(np.float32)


def of_scene(shape, spacing, shift=0.0):
    """A volume of the scene, moved by `shift` millimetres."""
    along = (np.array(spacing) * np.ones(3)).reshape(3, 1, 1, 1)
    return scene(np.indices(shape) * along - np.reshape(shift * np.ones(3), (3, 1, 1, 1)))


@pytest.fixture(scope="module")
def bent():
    """A reference, a moving volume, and the field between them: the reference at p is the moving
    volume at p + u(p). Factors of 2 divide none of the sides."""
    random = np.random.default_rng(0)
    shape = (97, 113, 105)
    moving = sum(scipy.ndimage.gaussian_filter(random.standard_normal(shape), s) * s ** 1.5
                 for s in (4, 6, 10))
    field = np.stack([scipy.ndimage.gaussian_filter(random.standard_normal(shape), 16)
                      for _ in range(3)])
    field *= 4 / np.abs(field).max()
    reference = scipy.ndimage.map_coordinates(moving, np.indices(shape) + field, mode="mirror")
    return reference.astype(np.float32), moving.astype(np.float32), field


def test_a_drawn_deformation_is_found_with_reduced_volumes(bent):
    reference, moving, field = bent
    source = da.from_array(moving, chunks=40)
    found = wd.register_volume(da.from_array(reference, chunks=40), source, motion="deformable",
                               max_voxels=60**3)
    assert found.reliable and found.reference_factors == found.moving_factors == (2, 2, 2)
    assert found.reduced.reference_shape == (48, 56, 52) and found.reference_shape == (97, 113, 105)
    inside = (slice(None), *[slice(16, -16)] * 3)
    error = (found.transform.field(moving.shape) - field)[inside]
    # In voxels of full size, of which the field has 1.41. The registration of the full volumes
    # leaves 0.07, and reduced voxels are twice as long: 0.16 was measured.
    assert np.sqrt((error ** 2).sum(0).mean()) < 0.2
    # Half a voxel of shift between the grids would be half a voxel of this mean.
    assert np.abs(error.mean((1, 2, 3))).max() < 0.03
    straight = found.warp(source)
    assert straight.chunks == da.from_array(reference, chunks=40).chunks
    values = straight.compute()
    np.testing.assert_allclose(
        values, found.transform.warp(moving, output_shape=reference.shape), atol=1e-4)
    difference, before = ((a - reference)[inside[1:]].std() for a in (values, moving))
    assert difference < 0.2 * before


def test_the_transform_is_that_of_full_indices_for_other_voxel_sizes():
    shift = np.array([1.7, -2.4, 3.1])  # in millimetres
    reference = of_scene((48, 56, 52), 1)
    moving = of_scene((97, 113, 105), 0.5, shift)
    for motion in ("translation", "affine"):
        found = wd.register_volume(reference, da.from_array(moving, chunks=50), motion=motion,
                                   spacing=1, moving_spacing=0.5, max_voxels=48 * 56 * 52)
        assert found.reliable and found.reference_factors == (1, 1, 1)
        assert found.moving_factors == (2, 2, 2) and found.moving_spacing == (0.5, 0.5, 0.5)
        points = np.array([[0, 0, 0], [24, 28, 26], [47, 55, 51]])
        # A tenth of a reduced voxel. Without the offset of half a block, this is off by 0.5.
        np.testing.assert_allclose(found.transform.points(points), 2 * (points + shift), atol=0.2)
        np.testing.assert_allclose((found.matrix @ [24, 28, 26, 1])[:3],
                                   2 * (points[1] + shift), atol=0.1)


def test_options_in_voxels_and_millimetres_hold_for_full_volumes():
    reference = of_scene((64, 64, 64), 0.5)
    moving = of_scene((64, 64, 64), 0.5, (0, 3, 0))  # 6 voxels
    options = {"spacing": 0.5, "max_voxels": 32**3}
    assert wd.register_volume(reference, moving, max_shift=7, **options).reliable
    limited = wd.register_volume(reference, moving, max_shift=4, **options)
    assert abs(limited.reduced.translation[1]) <= 2.5  # 2 reduced voxels, and their rounding
    start = np.eye(4)
    start[1, 3] = 6
    with pytest.raises(ValueError, match="its shift is 3.00 voxels"):  # of the reduced volumes
        wd.register_volume(reference, moving, initial=start, max_shift=4, **options)
    found = wd.register_volume(reference, moving, initial=start, **options)
    np.testing.assert_allclose(found.matrix[:3, 3], (0, 6, 0), atol=0.05)
    again = wd.register_volume(reference, moving, initial=found, **options)
    np.testing.assert_allclose(again.matrix, found.matrix, atol=0.02)
    bend = wd.register_volume(reference, moving, motion="deformable", grid_spacing=4, **options)
    # The control points of the full volumes are 4 mm apart, which is 8 of their voxels.
    spline = next(one for one in bend.reduced.transform.members if one.kind == "bspline")
    assert spline._core.grid.spacing == pytest.approx([4, 4, 4])


def test_it_is_the_registration_of_the_means(bent):
    reference, moving, _ = (part[:64, :70, :66] for part in bent)
    found = wd.register_volume(reference, moving, motion="rigid", max_voxels=32 * 35 * 33)
    small = [scipy.ndimage.uniform_filter(part.astype(float), 2, origin=-1, mode="mirror")
             [::2, ::2, ::2].astype(np.float32) for part in (reference, moving)]
    expected = warpalign.register_volume(*small, motion="rigid")
    np.testing.assert_allclose(found.reduced.matrix, expected.matrix, atol=1e-3)
    assert found.reduced.confidence == pytest.approx(expected.confidence, abs=1e-3)


@pytest.mark.parametrize("shapes, spacings, max_voxels, expected", [
    ([(64, 64, 64)], [1], 64**3, [(1, 1, 1)]),
    ([(64, 64, 64)], [1], 64**3 - 1, [(2, 2, 2)]),
    ([(40, 128, 128)], [(3, 1, 1)], 40 * 45**2, [(1, 3, 3)]),
    ([(40, 128, 128)], [(3, 1, 1)], 40 * 35**2, [(1, 4, 4)]),
    ([(64, 64, 64), (128, 128, 128)], [1, 0.5], 64**3, [(1, 1, 1), (2, 2, 2)]),
    ([(10, 512, 512)], [1], 10 * 64**2, [(1, 8, 8)]),  # planes are too few to be reduced
    ([(8, 20000, 8)], [1], 2**25, [(1, 2, 1)]),  # sides of more than 16384
])
def test_factors(shapes, spacings, max_voxels, expected):
    from warpalign.dask._volumes import _choose_factors

    volumes = [_Volume(da.zeros(shape), None, None, None, spacing, "a volume")
               for shape, spacing in zip(shapes, spacings)]
    _choose_factors(volumes, max_voxels)
    assert [volume.factors for volume in volumes] == expected


def reduced(array, factors, mask=None, nodata=None):
    volume = _Volume(array, mask, nodata, None, 1.0, "a volume")
    volume.factors = factors
    return [None if part is None else part.compute() for part in volume.reduced()]


@pytest.mark.parametrize("chunks", [(7, 9, 20), (17, 3, 64)])
@pytest.mark.parametrize("factors", [(1, 2, 3), (4, 1, 5)])
def test_means_and_masks_of_blocks(random, chunks, factors):
    array = random.integers(0, 50, (17, 25, 43)).astype(np.int16)
    mask = random.random(array.shape) > 0.02
    found, known = reduced(da.from_array(array, chunks=chunks), factors,
                           da.from_array(mask, chunks=chunks[::-1]))
    _, missing = np.unique(array, return_counts=True)
    with_nodata, _ = reduced(da.from_array(array, chunks=chunks), factors, nodata=7)
    shape = tuple(n // factor for n, factor in zip(array.shape, factors))
    assert found.shape == known.shape == shape and found.dtype == np.float32
    for index in np.ndindex(shape):
        block = tuple(slice(i * factor, (i + 1) * factor) for i, factor in zip(index, factors))
        assert found[index] == pytest.approx(array[block].mean())
        assert known[index] == mask[block].all()
        assert np.isnan(with_nodata[index]) == (array[block] == 7).any()


def test_a_pedestal_and_missing_voxels(random):
    array = 1e9 + random.random((16, 16, 16))
    array[3, 3, 3], array[8, 8, 8] = np.nan, np.inf
    found, _ = reduced(array, (2, 2, 2))
    assert found.dtype == np.float64
    assert np.argwhere(~np.isfinite(found)).tolist() == [[1, 1, 1], [4, 4, 4]]
    np.testing.assert_allclose(found[7, 7, 7], array[14:, 14:, 14:].mean(), rtol=0, atol=1e-6)


def test_masked_voxels_do_not_count():
    reference, moving = of_scene((64, 64, 64), 1), of_scene((64, 64, 64), 1, (2, 0, -2))
    clean = wd.register_volume(reference, moving, max_voxels=32**3)
    mask = np.ones(moving.shape, bool)
    mask[20:44, 20:44, 20:44] = False
    damaged = np.where(mask, moving, 1e4).astype(np.float32)
    masked = wd.register_volume(reference, da.from_array(damaged, chunks=32), max_voxels=32**3,
                                moving_mask=da.from_array(mask, chunks=32))
    np.testing.assert_allclose(masked.matrix, clean.matrix, atol=0.1)
    ignored = wd.register_volume(reference, damaged, max_voxels=32**3, nodata=1e4)
    np.testing.assert_allclose(ignored.matrix, clean.matrix, atol=0.1)
    assert ignored.reduced.missing == (0, 12**3)


def test_files_tell_their_spacing(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    spacing = (2.0, 1.0, 1.0)
    reference = of_scene((36, 64, 64), spacing)
    moving = of_scene((36, 64, 64), spacing, (2, 1, -3))
    for name, volume in (("a", reference), ("b", moving)):
        image = nibabel.Nifti1Image(volume.T, np.diag([*spacing[::-1], 1]))
        nibabel.save(image, tmp_path / f"{name}.nii.gz")
    found = wd.register_volume(tmp_path / "a.nii.gz", tmp_path / "b.nii.gz", max_voxels=36 * 32**2)
    assert found.spacing == spacing and found.reference_factors == (1, 2, 2)
    np.testing.assert_allclose(found.matrix[:3, 3], (1, 1, -3), atol=0.1)
    assert found.transform.reference == warpalign.Geometry.of(tmp_path / "a.nii.gz")
    np.save(tmp_path / "c.npy", np.zeros((2, 9, 9, 9)))
    with pytest.raises(ValueError, match="must have the axes"):
        wd.register_volume(tmp_path / "c.npy", moving)


def test_results_are_pickled_and_warp_other_volumes():
    reference, moving = of_scene((32, 32, 32), 1), of_scene((33, 34, 35), 1, 1)
    found = wd.register_volume(reference, moving, motion="deformable")
    again = pickle.loads(pickle.dumps(found))
    assert again.transform == found.transform and "by (1, 1, 1);" in repr(again)
    np.testing.assert_array_equal(again.warp(moving).compute(), found.warp(moving).compute())
    labels = (moving > 0).astype(np.uint8)
    values = found.warp(labels, labels=True, output_chunks=16).compute()
    assert set(np.unique(values)) == {0, 1}
    with pytest.raises(ValueError, match="moving volume's shape"):
        found.warp(reference)


@pytest.mark.parametrize("options, error, message", [
    ({"max_voxels": 511}, ValueError, "max_voxels must be at least 512"),
    ({"max_voxels": 600}, ValueError, "max_voxels=600 is too small"),
    ({"max_voxels": 1e6}, TypeError, "float"),
    ({"spacing": 0}, ValueError, "the spacing of the reference must be"),
    ({"spacing": (1, 2)}, ValueError, "the spacing of the reference must be"),
    ({"moving_spacing": np.nan}, ValueError, "the spacing of the moving volume must be"),
    ({"nodata": 0.5}, ValueError, "nodata is 0.5, which no pixel of the reference can have"),
    ({"reference_mask": np.ones((30, 40, 49))}, ValueError, "the reference's mask must have"),
    ({"moving_mask": np.ones((30, 40))}, ValueError, "the moving volume's mask must have"),
    ({"device": "quantum:0"}, warpalign.Error, "quantum"),
    ({"motion": "homography"}, ValueError, "motion must be one of"),
    ({"speed": 9}, TypeError, "speed"),
    ({"initial": np.eye(3)}, ValueError, "initial must be a matrix"),
    ({"max_shift": (1, 2)}, ValueError, "max_shift"),
    ({"motion": "deformable", "grid_spacing": 3.9, "max_voxels": 10**4}, ValueError,
     r"grid_spacing must be 4 to 50 mm.*reduced by \(2, 2, 2\)"),
    ({"motion": "deformable", "grid_spacing": 51}, ValueError, "grid_spacing must be 2 to 50 mm"),
])
def test_wrong_arguments_are_refused_before_anything_is_read(options, error, message):
    def read(_block):
        raise AssertionError("a chunk was read")

    volume = da.zeros((30, 40, 50), np.int16, chunks=20).map_blocks(
        read, dtype=np.int16, meta=np.empty((0, 0, 0), np.int16))
    with pytest.raises(error, match=message):
        wd.register_volume(volume, volume, **options)


@pytest.mark.parametrize("volume, error, message", [
    (np.zeros((40, 50)), ValueError, "must be a volume of 3 dimensions"),
    (np.zeros((7, 40, 50)), ValueError, "must have at least 8 voxels along each axis"),
    (np.zeros((9, 9, 9), complex), TypeError, "must hold real numbers, not complex128"),
])
def test_other_arrays_are_refused(volume, error, message):
    good = np.zeros((9, 9, 9))
    with pytest.raises(error, match=f"the reference {message}"):
        wd.register_volume(volume, good)
    with pytest.raises(error, match=f"the moving volume {message}"):
        wd.register_volume(good, volume)
