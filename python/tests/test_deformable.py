"""Registration with motion='deformable'."""

import pickle

import numpy as np
import pytest
import scipy.ndimage

import warpalign


def texture(shape, seed):
    random = np.random.default_rng(seed)
    waves = [scipy.ndimage.gaussian_filter(random.standard_normal(shape), sigma)
             for sigma in (1.5, 3, 6)]
    return sum(wave / wave.std() for wave in waves)


def drawn_pair(shape, largest, seed):
    """Two images and the field between them: the reference at p is the moving image at p + u."""
    random = np.random.default_rng(seed)
    field = np.stack([scipy.ndimage.gaussian_filter(random.standard_normal(shape), 16, mode="wrap")
                      for _ in shape])
    field *= largest / np.sqrt((field**2).sum(0)).max()
    moving = texture(shape, seed + 1)
    points = np.indices(shape) + field
    return scipy.ndimage.map_coordinates(moving, points, order=5, mode="mirror"), moving, field


def rms_inside(found, field, margin=12):
    inside = (slice(None), *(slice(margin, -margin) for _ in field.shape[1:]))
    return np.sqrt(((found - field)[inside] ** 2).sum(0).mean())


@pytest.mark.parametrize("shape", [(200, 180), (56, 52, 60)])
def test_finds_a_drawn_field(shape):
    fixed, moving, field = drawn_pair(shape, 5, 3)
    register = warpalign.register if len(shape) == 2 else warpalign.register_volume
    found = register(fixed, moving, motion="deformable")
    assert found.reliable and found.motion == "deformable"
    assert rms_inside(found.transform.field(), field) < 0.05
    assert found.transform.jacobian().shape == shape
    assert found.transform.jacobian().min() > 0.1
    deformation = found.deformation
    assert deformation.correlation > deformation.correlation_before
    assert 0.1 < deformation.min_jacobian <= 1 <= deformation.max_jacobian
    warped = found.warp(moving)
    inside = tuple(slice(12, -12) for _ in shape)
    assert np.corrcoef(warped[inside].ravel(), fixed[inside].ravel())[0, 1] > 0.999
    points = np.array([[30.0] * len(shape)])
    assert np.abs(found.transform.inverse().points(found.transform.points(points))
                  - points).max() < 1e-3
    again = pickle.loads(pickle.dumps(found))
    assert again.transform == found.transform
    assert again.transform.field().shape == field.shape


def test_identity_skips_the_affine_step():
    fixed, moving, field = drawn_pair((160, 150), 4, 5)
    found = warpalign.register(fixed, moving, motion="deformable", initial="identity")
    assert found.reliable
    assert np.array_equal(found.matrix, np.eye(3))
    assert rms_inside(found.transform.field(), field) < 0.05
    with pytest.raises(ValueError, match="'identity'"):
        warpalign.register(fixed, moving, initial="none")


@pytest.mark.parametrize("initial", [None, "identity"])
def test_unrelated_images_have_no_deformation(initial):
    found = warpalign.register(texture((160, 150), 1), texture((160, 150), 2), motion="deformable",
                               initial=initial)
    assert not found.reliable
    assert found.deformation is None
    assert found.transform.kind == "affine"


def test_masked_pixels_do_not_change_the_field():
    fixed, moving, field = drawn_pair((160, 150), 4, 7)
    mask = np.ones(fixed.shape, bool)
    mask[60:90, 70:100] = False
    marked = np.where(mask, fixed, 5 * (np.arange(150) // 4 % 2))
    found = warpalign.register(marked, moving, reference_mask=mask, motion="deformable")
    # Beneath the mask, the field is only smooth.
    assert rms_inside(found.transform.field(), field) < 0.15
    without = warpalign.register(marked, moving, motion="deformable")
    assert rms_inside(without.transform.field(), field) > 0.3


def test_refuses_other_modalities():
    image = texture((64, 64), 1)
    with pytest.raises(ValueError, match="modality"):
        warpalign.register(image, image, modality="other", motion="deformable")
    with pytest.raises(ValueError, match="stacks"):
        warpalign.register_stack(np.stack([image, image]), motion="deformable")
