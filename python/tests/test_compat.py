"""Other packages' conventions, against these packages themselves where they are installed."""

import numpy as np
import pytest
import scipy.ndimage

from warpalign import compat


def test_phase_cross_correlation_is_that_of_skimage(scene, volume):
    original = pytest.importorskip("skimage.registration").phase_cross_correlation
    moving = scipy.ndimage.shift(scene, (6.4, -9.3), mode="mirror")
    theirs = original(scene, moving, upsample_factor=50)
    ours = compat.phase_cross_correlation(scene, moving)
    assert len(ours) == len(theirs) == 3
    # Theirs has steps of 1/50 pixel and is drawn aside by what is not common.
    np.testing.assert_allclose(ours[0], theirs[0], atol=0.15)
    np.testing.assert_allclose(ours[0], (-6.4, 9.3), atol=0.02)
    assert ours[0].dtype == theirs[0].dtype
    # What it is for: the shift brings the moving image onto the reference.
    back = scipy.ndimage.shift(moving, ours[0])
    np.testing.assert_allclose(back[20:-20, 20:-20], scene[20:-20, 20:-20], atol=1)
    moving = np.roll(volume, (2, -3, 4), (0, 1, 2))
    np.testing.assert_allclose(
        compat.phase_cross_correlation(volume, moving)[0], original(volume, moving)[0], atol=0.05)


def test_shifts_between_images_of_different_shapes_are_those_of_their_origins(scene):
    shift, _, _ = compat.phase_cross_correlation(scene, scene[10:-30, 20:-4])
    np.testing.assert_allclose(shift, (10, 20), atol=0.05)


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
    # Both are good to a few hundredths of a pixel over the image's 260.
    np.testing.assert_allclose(matrix[:2, :2], expected[:2, :2], atol=5e-4)
    np.testing.assert_allclose(matrix[:2, 2], expected[:2, 2], atol=0.1)
    inner = (slice(50, -50), slice(50, -50))
    np.testing.assert_allclose(
        ours.transform(moving)[inner], theirs.transform(moving)[inner], atol=1.5)
    np.testing.assert_allclose(
        ours.transform(moving, tmat=expected)[inner], theirs.transform(moving)[inner], atol=0.5)


def test_a_stackreg_without_shear(scene):
    with pytest.raises(ValueError, match="TRANSLATION, RIGID_BODY or SCALED_ROTATION"):
        compat.StackReg(6)
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


def test_motions_that_opencv_has_and_this_has_not(scene):
    with pytest.raises(ValueError, match="motion must be"):
        compat.find_transform_ecc(scene, scene, motion="affine")


def test_tiles_are_registered_as_multiview_stitcher_does(scene, volume):
    registration = pytest.importorskip("multiview_stitcher.registration")
    xarray = pytest.importorskip("xarray")
    # Theirs has steps of a tenth of a pixel, and of half a voxel, which it misses by one here.
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
    with pytest.raises(ValueError, match="translation only"):
        compat.pairwise_registration(np.ones((9, 9, 9)), np.ones((9, 9, 9)), motion="rigid")
