"""warpalign.compat against the original packages, if these are installed."""

import contextlib
import warnings

import numpy as np
import pytest
import scipy.ndimage

import warpalign
from warpalign import compat


def test_phase_cross_correlation_is_that_of_skimage(scene, volume):
    original = pytest.importorskip("skimage.registration").phase_cross_correlation
    moving = scipy.ndimage.shift(scene, (6.4, -9.3), mode="mirror")
    theirs = original(scene, moving, upsample_factor=50)
    ours = compat.phase_cross_correlation(scene, moving)
    assert len(ours) == len(theirs) == 3
    # skimage has steps of 1/50 pixel and is biased by content outside the overlap.
    np.testing.assert_allclose(ours[0], theirs[0], atol=0.15)
    np.testing.assert_allclose(ours[0], (-6.4, 9.3), atol=0.02)
    assert ours[0].dtype == theirs[0].dtype
    # Applying the shift aligns the moving image with the reference.
    back = scipy.ndimage.shift(moving, ours[0])
    np.testing.assert_allclose(back[20:-20, 20:-20], scene[20:-20, 20:-20], atol=1)
    moving = np.roll(volume, (2, -3, 4), (0, 1, 2))
    np.testing.assert_allclose(
        compat.phase_cross_correlation(volume, moving)[0], original(volume, moving)[0], atol=0.05)


def test_shifts_between_images_of_different_shapes_are_those_of_their_origins(scene):
    shift, _, _ = compat.phase_cross_correlation(scene, scene[10:-30, 20:-4])
    np.testing.assert_allclose(shift, (10, 20), atol=0.05)


def test_shifts_between_masked_volumes(volume):
    original = pytest.importorskip("skimage.registration").phase_cross_correlation
    moving = np.roll(volume, (2, -3, 4), (0, 1, 2))
    # A bright pattern that stays where it is, and is stronger than what moves.
    pattern = np.random.default_rng(3).random(volume[:, 8:22].shape) * 2e5
    reference = volume.copy()
    reference[:, 8:22] = moving[:, 8:22] = pattern
    counts = np.ones(volume.shape, bool)
    counts[:, 8:22] = False
    theirs = original(reference, moving, reference_mask=counts, moving_mask=counts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = compat.phase_cross_correlation(
            reference, moving, reference_mask=counts, moving_mask=counts)
    np.testing.assert_allclose(ours[0], theirs[0], atol=0.05)  # theirs are whole voxels
    np.testing.assert_allclose(ours[0], (-2, 3, -4), atol=0.05)
    # Without masks the pattern is what registers, so that the masks above have an effect.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(
            compat.phase_cross_correlation(reference, moving)[0], 0, atol=0.05)
    moving[:, 8:22] = np.nan  # a masked voxel may hold any value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = compat.phase_cross_correlation(volume, moving, moving_mask=counts)
    np.testing.assert_allclose(ours[0], (-2, 3, -4), atol=0.05)
    with pytest.raises(ValueError, match="must have the volume's shape"):
        compat.phase_cross_correlation(volume, moving, moving_mask=counts[1:])


def _with_squares(shape, corners, side):
    image = np.zeros(shape)
    for row, column in corners:
        image[row:row + side, column:column + side] = 1
    return image


@pytest.mark.parametrize("shape, corners, side, shift, contrast", [
    ((64, 64), [(20, 20)], 10, (10, 10), 1),
    ((64, 64), [(20, 20)], 3, (-7, 12), 200),
    ((75, 131), [(40, 90), (12, 20)], 6, (9, -11), 0.05),  # odd sizes, contrast of 5e-4
    ((128, 128), [(90, 30)], 20, (-60, 41), 1)])
def test_small_objects_on_black_are_found_as_by_skimage(shape, corners, side, shift, contrast):
    original = pytest.importorskip("skimage.registration").phase_cross_correlation
    reference = 100 + contrast * _with_squares(shape, corners, side)
    moved = [(row + shift[0], column + shift[1]) for row, column in corners]
    moving = 100 + contrast * _with_squares(shape, moved, side)
    theirs = original(reference, moving)
    # A single structure is registered as such; several ones by plain phase correlation.
    single = contextlib.nullcontext() if len(corners) == 1 else pytest.warns(
        UserWarning, match="not reliable")
    with single:
        found, error, phase = compat.phase_cross_correlation(reference, moving)
    # The images are moved by whole pixels, which a correlation in single precision keeps to 1e-3.
    np.testing.assert_allclose(found, theirs[0], atol=1e-2)
    np.testing.assert_allclose(found, np.negative(shift), atol=1e-2)
    assert error < 1e-3 and phase == 0


@pytest.mark.parametrize("shape", [(64, 64), (17, 96), (101, 53)])
def test_plain_phase_correlation_against_double_precision(shape, random):
    image = random.random(shape)
    shift = (shape[0] // 2 - 3, -(shape[1] // 3))
    moving = np.roll(image, shift, (0, 1)) + 0.2 * random.random(shape)
    product = np.fft.fft2(image) * np.fft.fft2(moving).conj()
    surface = np.fft.ifft2(product / np.abs(product)).real
    expected = np.array(np.unravel_index(surface.argmax(), shape))
    expected -= np.where(2 * expected > shape, shape, 0)
    found = warpalign._core.phase_correlation_shift(
        warpalign.open_device(), image.astype(np.float32), moving.astype(np.float32))
    # The oracle is in whole pixels, and the peak of white images is one pixel wide.
    np.testing.assert_allclose(found, expected, atol=0.1)
    np.testing.assert_array_equal(expected, np.negative(shift))


def test_plain_phase_correlation_takes_two_float_images_of_one_shape():
    device, image = warpalign.open_device(), np.zeros((32, 32), np.float32)
    find = warpalign._core.phase_correlation_shift
    for other in (image[:16], image.astype(np.float64), image[0]):
        with pytest.raises(ValueError, match="float32|one shape|two dimensions"):
            find(device, image, other)


def test_small_objects_that_plain_phase_correlation_does_not_serve():
    reference = _with_squares((64, 64), [(20, 20), (40, 12)], 3)
    moving = _with_squares((64, 64), [(25, 25), (45, 17)], 3)
    counts = np.ones((64, 64), bool)
    for arguments in ({"moving_image": moving[:60]},
                      {"moving_image": moving, "reference_mask": counts}):
        with pytest.warns(UserWarning, match="not reliable"):
            shift, error, _ = compat.phase_cross_correlation(reference, **arguments)
        assert np.isfinite(shift).all() and error <= 1


@pytest.mark.parametrize("name, degrees, scale", [
    ("TRANSLATION", 0, 1), ("RIGID_BODY", 4, 1), ("SCALED_ROTATION", 4, 1.05)])
def test_matrices_are_those_of_pystackreg(scene, name, degrees, scale, moved):
    original = pytest.importorskip("pystackreg").StackReg
    moving = moved(scene, degrees, scale, (4, -6))
    theirs = original(getattr(original, name))
    ours = compat.StackReg(getattr(compat.StackReg, name))
    assert not ours.is_registered()
    expected, matrix = theirs.register(scene, moving), ours.register(scene, moving)
    assert ours.is_registered()
    # Both are accurate to a few hundredths of a pixel over the 260 pixels of the image.
    np.testing.assert_allclose(matrix[:2, :2], expected[:2, :2], atol=5e-4)
    np.testing.assert_allclose(matrix[:2, 2], expected[:2, 2], atol=0.1)
    inner = (slice(50, -50), slice(50, -50))
    np.testing.assert_allclose(
        ours.transform(moving)[inner], theirs.transform(moving)[inner], atol=1.5)
    np.testing.assert_allclose(
        ours.transform(moving, tmat=expected)[inner], theirs.transform(moving)[inner], atol=0.5)


def test_an_affine_stackreg(scene):
    # Maps (x, y, 1) of the scene to the moving image.
    sheared = np.array([[1.02, 0.03, -4.0], [-0.02, 0.98, 5.0], [0, 0, 1]])
    moving = _moved_by(sheared, scene)
    ours = compat.StackReg(compat.StackReg.AFFINE)
    # Accurate to a tenth of a pixel over 260 pixels, since the moving image was interpolated.
    found = ours.register(scene, moving)
    np.testing.assert_allclose(found[:, :2], sheared[:, :2], atol=5e-4)
    np.testing.assert_allclose(found[:, 2], sheared[:, 2], atol=0.1)
    inner = (slice(20, -20), slice(20, -20))
    np.testing.assert_allclose(ours.transform(moving)[inner], scene[inner], atol=2)
    stackreg = pytest.importorskip("pystackreg").StackReg
    assert (compat.StackReg.AFFINE, compat.StackReg.SCALED_ROTATION) == (
        stackreg.AFFINE, stackreg.SCALED_ROTATION)
    theirs = stackreg(stackreg.AFFINE).register(scene, moving)
    np.testing.assert_allclose(found[:, :2], theirs[:, :2], atol=2e-3)
    np.testing.assert_allclose(found[:, 2], theirs[:, 2], atol=0.3)


def _moved_by(matrix, image):
    """Warp an image so that its pixel at (x, y) moves to matrix @ (x, y, 1)."""
    y, x = np.indices(image.shape)
    at = np.linalg.inv(matrix) @ np.stack([x, y, np.ones_like(x)]).reshape(3, -1)
    return scipy.ndimage.map_coordinates(
        image, (at[1::-1] / at[2]).reshape(2, *image.shape), mode="mirror")


def test_a_stackreg_without_bilinear_maps(scene):
    with pytest.raises(ValueError, match="TRANSLATION, RIGID_BODY, SCALED_ROTATION or AFFINE"):
        compat.StackReg(8)
    with pytest.raises(ValueError, match="register first"):
        compat.StackReg(compat.StackReg.TRANSLATION).transform(scene)


def test_warps_have_the_direction_of_opencv(scene, moved):
    cv2 = pytest.importorskip("cv2")
    moving = moved(scene, 3, 1, (2, -3)).astype(np.float32)
    template = scene.astype(np.float32)
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 200, 1e-8)
    _, expected = cv2.findTransformECC(
        template, moving, np.eye(2, 3, dtype=np.float32), cv2.MOTION_EUCLIDEAN, criteria, None, 5)
    correlation, matrix = compat.find_transform_ecc(template, moving, motion="rigid")
    assert correlation > 0.9
    assert matrix.dtype == expected.dtype
    np.testing.assert_allclose(matrix[:, :2], expected[:, :2], atol=5e-4)
    np.testing.assert_allclose(matrix[:, 2], expected[:, 2], atol=0.1)
    warped = cv2.warpAffine(moving, matrix, moving.shape[::-1],
                            flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP)
    inner = (slice(50, -50), slice(50, -50))
    assert np.abs(warped - template)[inner].mean() < 1


@pytest.mark.parametrize("motion, last_row", [("affine", (0, 0)), ("homography", (1e-4, -8e-5))])
def test_further_motions_of_opencv(scene, motion, last_row):
    truth = np.array([[1.02, 0.03, -4.0], [-0.02, 0.98, 5.0], [*last_row, 1]])
    template, moving = scene.astype(np.float32), _moved_by(truth, scene).astype(np.float32)
    _, matrix = compat.find_transform_ecc(template, moving, motion=motion)
    assert matrix.dtype == np.float32
    assert matrix.shape == ((3, 3) if motion == "homography" else (2, 3))
    rows, columns = scene.shape
    corners = np.array([[0, columns - 1, 0, columns - 1], [0, 0, rows - 1, rows - 1], [1] * 4])
    there, expected = matrix @ corners, truth @ corners
    weight = there[2] if motion == "homography" else 1
    # The interpolation of the moving image costs some hundredths of a pixel.
    np.testing.assert_allclose(there[:2] / weight, expected[:2] / expected[2], atol=0.1)
    cv2 = pytest.importorskip("cv2")
    warp = cv2.warpPerspective if motion == "homography" else cv2.warpAffine
    warped = warp(moving, matrix, moving.shape[::-1], flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP)
    inner = (slice(20, -20), slice(20, -20))
    assert np.abs(warped - template)[inner].mean() < 1


def test_unknown_motions_raise(scene):
    with pytest.raises(ValueError, match="motion must be"):
        compat.find_transform_ecc(scene, scene, motion="auto")
    with pytest.raises(ValueError, match="motion must be"):
        compat.pairwise_registration(scene, scene, motion="homography")


@pytest.mark.parametrize("call", [
    lambda one, other: compat.phase_cross_correlation(one, other),
    lambda one, other: compat.find_transform_ecc(one, other),
    lambda one, other: compat.StackReg(compat.StackReg.RIGID_BODY).register(one, other),
    lambda one, other: compat.StackReg(compat.StackReg.RIGID_BODY).register_transform(one, other)])
def test_unrelated_images_warn(scene, random, call):
    with pytest.warns(UserWarning, match="not reliable .confidence 0") as warned:
        call(scene, random.random(scene.shape))
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(scene, np.roll(scene, 3, axis=1))


def test_shifts_between_volumes_of_different_shapes_are_those_of_their_origins(volume):
    shift, _, _ = compat.phase_cross_correlation(volume, volume[4:, 3:-5, :-6])
    np.testing.assert_allclose(shift, (4, 3, 0), atol=0.05)


def test_unrelated_volumes_bring_a_warning(volume, random):
    with pytest.warns(UserWarning, match="not reliable"):
        compat.phase_cross_correlation(volume, random.random(volume.shape))


def test_tiles_are_registered_as_multiview_stitcher_does(scene, volume):
    registration = pytest.importorskip("multiview_stitcher.registration")
    xarray = pytest.importorskip("xarray")
    # The original has steps of a tenth of a pixel or half a voxel, and is off by one step here.
    for array, shift, tolerance in [(scene, (3, -5), 0.1), (volume, (2, -3, 1), 0.5)]:
        dims = ["z", "y", "x"][-array.ndim:]
        fixed = xarray.DataArray(array, dims=dims)
        moving = xarray.DataArray(scipy.ndimage.shift(array, shift, mode="mirror"), dims=dims)
        theirs = registration.phase_correlation_registration(fixed, moving)
        ours = compat.pairwise_registration(fixed, moving)
        assert set(ours) >= set(theirs)
        matrix = np.asarray(ours["affine_matrix"])
        np.testing.assert_allclose(matrix, theirs["affine_matrix"], atol=tolerance + 0.02)
        np.testing.assert_allclose(matrix[:-1, -1], shift, atol=0.02)
        assert 0.5 < ours["quality"] <= 1


def test_tiles_with_pixels_that_are_nan(scene):
    fixed = scene.copy()
    fixed[:30] = np.nan
    moving = np.roll(scene, (3, -5), (0, 1))
    found = compat.pairwise_registration(fixed, moving)
    np.testing.assert_allclose(found["affine_matrix"][:2, 2], (3, -5), atol=0.1)


def test_volumes_of_tiles_with_voxels_that_are_nan(volume):
    moving = np.roll(volume, (2, -3, 1), (0, 1, 2))
    moving[:, :8] = np.nan
    found = compat.pairwise_registration(volume, moving)
    # Masked voxels do not bias the fit. Measured error: below 0.01 voxels.
    np.testing.assert_allclose(found["affine_matrix"][:3, 3], (2, -3, 1), atol=0.03)
    assert found["quality"] > 0.5


@pytest.mark.parametrize("empty", [0, 7.25, np.nan, np.inf])
@pytest.mark.parametrize("name", ["scene", "volume"])
def test_an_empty_tile_does_not_end_a_stitching(name, empty, request):
    tile = request.getfixturevalue(name)
    blank = np.full_like(tile, empty)
    for fixed, moving in [(blank, tile), (tile, blank), (blank, blank)]:
        found = compat.pairwise_registration(fixed, moving)
        np.testing.assert_array_equal(found["affine_matrix"], np.eye(tile.ndim + 1))
        assert found["quality"] == 0


def test_an_empty_tile_of_integers(scene):
    blank = np.zeros(scene.shape, np.uint16)
    found = compat.pairwise_registration(blank, scene.astype(np.uint16))
    assert found["quality"] == 0


def test_what_is_wrong_with_a_call_is_not_taken_for_an_empty_tile(scene, volume):
    with pytest.raises(ValueError, match="2 dimensions"):
        compat.pairwise_registration(scene, volume)
    with pytest.raises(ValueError, match="16 to 16384"):
        compat.pairwise_registration(scene[:8], scene)


def test_volumes_of_tiles_may_be_rotated(volume):
    rotated = np.rot90(volume, axes=(1, 2))
    found = compat.pairwise_registration(volume, rotated, motion="rigid")
    expected = warpalign.register_volume(volume, rotated, motion="rigid")
    np.testing.assert_array_equal(found["affine_matrix"], expected.matrix)
    assert found["quality"] > 0.5
    # np.rot90 moves (plane, row, column) to (plane, columns - 1 - column, row).
    point = found["affine_matrix"] @ (10, 5, 7, 1)
    np.testing.assert_allclose(point[:3], (10, volume.shape[2] - 1 - 7, 5), atol=0.1)


def test_files_in_place_of_arrays(tmp_path, scene):
    tifffile = pytest.importorskip("tifffile")
    ours = [scene, scipy.ndimage.shift(scene, (6.4, -9.3), mode="mirror")]
    ours = [image.astype(np.float32) for image in ours]
    paths = [str(tmp_path / "a.tif"), tmp_path / "b.tif"]
    for image, path in zip(ours, paths, strict=True):
        tifffile.imwrite(path, image)
    for function in (compat.phase_cross_correlation, compat.find_transform_ecc):
        np.testing.assert_allclose(function(*paths)[0], function(*ours)[0])
    np.testing.assert_allclose(compat.pairwise_registration(*paths)["affine_matrix"],
                               compat.pairwise_registration(*ours)["affine_matrix"])
    of_files, of_arrays = (compat.StackReg(compat.StackReg.TRANSLATION) for _ in range(2))
    np.testing.assert_allclose(of_files.register_transform(*paths),
                               of_arrays.register_transform(*ours))


def test_volumes_in_files(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    volume = scipy.ndimage.gaussian_filter(np.random.default_rng(3).standard_normal((30, 34, 38)), 2)
    volumes = [volume.astype(np.float32), np.roll(volume, (2, -1, 3), (0, 1, 2)).astype(np.float32)]
    paths = [tmp_path / "a.nii", tmp_path / "b.nii"]
    for one, path in zip(volumes, paths, strict=True):
        nibabel.save(nibabel.Nifti1Image(one.T, np.eye(4)), path)
    shift = compat.phase_cross_correlation(*paths)[0]
    np.testing.assert_allclose(shift, compat.phase_cross_correlation(*volumes)[0], atol=1e-6)
    np.testing.assert_allclose(shift, [-2, 1, -3], atol=0.05)
