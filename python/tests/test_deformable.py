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


@pytest.mark.parametrize("shape", [(160, 150), (56, 52, 60)])
@pytest.mark.parametrize("value", [np.nan, -9999])
def test_missing_pixels_of_both_images_do_not_change_the_field(shape, value):
    fixed, moving, field = drawn_pair(shape, 4, 7)
    given = {}
    outside = np.zeros(shape, bool)
    outside[tuple(slice(12, -12) for _ in shape)] = True
    for name, image, start in (("reference", fixed, 16), ("moving", moving, 20)):
        # Stripes of missing pixels: as a pattern they would be registered.
        hole = tuple(slice(start, start + n // 4) for n in shape)
        marks = np.zeros(shape, bool)
        marks[hole] = np.arange(shape[-1] // 4) % 8 < 6
        outside[tuple(slice(start - 8, start + n // 4 + 8) for n in shape)] = False
        given[name] = np.where(marks, value, np.rint(200 * image)).astype(
            np.float32 if np.isnan(value) else np.int16)
    register = warpalign.register if len(shape) == 2 else warpalign.register_volume
    options = {} if np.isnan(value) else {"nodata": value}
    found = register(given["reference"], given["moving"], motion="deformable", **options)
    assert found.reliable and found.deformation is not None
    assert found.missing == tuple(
        np.count_nonzero(~np.isfinite(image) | (image == value)) for image in given.values())
    # Beneath the holes the field is only smooth. Elsewhere it is found as in complete images.
    error = np.sqrt(((found.transform.field() - field) ** 2).sum(0))
    assert np.sqrt((error[outside] ** 2).mean()) < 0.05
    warped = found.warp(given["moving"], **options)
    missing = np.isnan(warped) if np.isnan(value) else warped == value
    assert 0 < np.count_nonzero(missing) < 1.2 * found.missing[1]
    if not np.isnan(value):
        without = register(given["reference"], given["moving"], motion="deformable")
        assert (rms_inside(without.transform.field(), field)
                > 2 * rms_inside(found.transform.field(), field))


@pytest.mark.parametrize("modality", ["other", "auto"])
def test_finds_fields_of_another_modality(modality):
    fixed, moving, field = drawn_pair((200, 180), 4, 3)
    moving = (moving - moving.min()) / np.ptp(moving)
    moving = np.where(moving < 0.6, 1 - moving, 0.4 + 0.5 * (moving - 0.6))
    found = warpalign.register(fixed, moving, modality=modality, motion="deformable")
    assert found.reliable and found.modality == "other"
    # Where the function turns, the contrast is low.
    assert rms_inside(found.transform.field(), field) < 0.2
    assert found.deformation.correlation > found.deformation.correlation_before


def test_the_grid_and_the_weight_are_the_chosen_ones():
    fixed, moving, _ = drawn_pair((160, 150), 5, 11)
    usual = warpalign.register(fixed, moving, motion="deformable", initial="identity")
    coarse = warpalign.register(fixed, moving, motion="deformable", initial="identity",
                                grid_spacing=30)
    stiff = warpalign.register(fixed, moving, motion="deformable", initial="identity",
                               bending_weight=50)
    spread = [np.log(found.transform.jacobian()).std() for found in (usual, coarse, stiff)]
    assert spread[1] < 0.8 * spread[0] and spread[2] < 0.8 * spread[0]
    for options in ({"grid_spacing": -5}, {"grid_spacing": 1.5}, {"grid_spacing": 161},
                    {"bending_weight": 0}, {"bending_weight": 1e6}, {"bending_weight": np.nan}):
        with pytest.raises(ValueError, match=next(iter(options))):
            warpalign.register(fixed, moving, motion="deformable", **options)
    with pytest.raises(ValueError, match="deformable"):
        warpalign.register(fixed, moving, motion="affine", grid_spacing=8)


def test_the_grid_of_volumes_is_in_millimetres():
    fixed, moving, _ = drawn_pair((32, 36, 40), 3, 12)
    options = {"motion": "deformable", "initial": "identity", "spacing": (1, 0.5, 0.5)}
    usual = warpalign.register_volume(fixed, moving, **options)
    coarse = warpalign.register_volume(fixed, moving, grid_spacing=9, **options)
    assert (np.log(coarse.transform.jacobian()).std()
            < 0.8 * np.log(usual.transform.jacobian()).std())
    for wrong in (0.9, 33, -1):
        with pytest.raises(ValueError, match="grid_spacing"):
            warpalign.register_volume(fixed, moving, grid_spacing=wrong, **options)


@pytest.mark.parametrize("to", ["first", "mean"])
def test_the_frames_of_a_stack_are_deformed(to, tmp_path):
    fixed, moving, field = drawn_pair((120, 130), 4, 13)
    second = scipy.ndimage.shift(moving, (1.5, -2), order=5, mode="mirror")
    frames = np.stack([fixed, moving, np.zeros_like(fixed), second]).astype(np.float32)
    stack = warpalign.register_stack(frames, to=to, motion="deformable")
    assert [deformation is None for deformation in stack.deformations] == [True, False, True, False]
    assert list(stack.errors) == [2]
    assert rms_inside(stack.transforms[1].field(), field) < 0.05
    expected = field + np.array([1.5, -2]).reshape(2, 1, 1)
    # The mean has the interpolation errors of the frames in it.
    assert rms_inside(stack.transforms[3].field(), expected) < (0.05 if to == "first" else 0.1)
    # Channels behind the pixels are warped by the same deformation.
    coloured = np.stack([frames, -frames], axis=-1)
    warped = list(stack.warp(coloured))
    assert warped[2] is None
    inside = (slice(12, -12), slice(12, -12))
    assert np.abs(warped[1][..., 0] - fixed)[inside].max() < 0.05 * np.ptp(fixed)
    assert np.array_equal(warped[1][..., 1], -warped[1][..., 0])
    again = pickle.loads(pickle.dumps(stack))
    assert again.transforms[3] == stack.transforms[3]
    # The sequence is saved and applied as a whole.
    found = [transform for transform in stack.transforms if transform is not None]
    warpalign.Transform.save_all(found, tmp_path / "frames.npz")
    loaded = warpalign.Transform.load_all(tmp_path / "frames.npz")
    assert np.allclose(loaded[1].warp(frames[1]), warped[1][..., 0], atol=1e-6)


def test_stacks_refuse_what_deformations_do_not_support():
    frames = np.stack([texture((64, 64), 1)] * 2)
    with pytest.raises(ValueError, match="previous"):
        warpalign.register_stack(frames, to="previous", motion="deformable")
    with pytest.raises(ValueError, match="pairs"):
        warpalign.register_stack(frames, motion="affine")
    with pytest.raises(ValueError, match="grid_spacing"):
        warpalign.register_stack(frames, motion="deformable", grid_spacing=1)


@pytest.mark.parametrize("shape", [(60, 70), (24, 26, 28)])
def test_local_agreement_is_the_correlation_of_windows(shape):
    fixed, moving = texture(shape, 3), texture(shape, 3) + 0.5 * texture(shape, 4)
    found = warpalign.local_agreement(fixed, moving.astype(np.float32))
    assert found.shape == shape and found.dtype == np.float32

    def mean(values):
        return scipy.ndimage.uniform_filter(values, 5, mode="constant")

    a, b = fixed - fixed.mean(), moving - moving.mean()
    covariance = mean(a * b) - mean(a) * mean(b)
    expected = covariance / np.sqrt((mean(a * a) - mean(a)**2) * (mean(b * b) - mean(b)**2))
    inside = tuple(slice(2, -2) for _ in shape)
    # The correlation allows for the noise: its estimate is small in these images.
    assert np.nanmax(np.abs(found - expected)[inside]) < 0.1
    assert np.nanmean(np.abs(found - expected)[inside]) < 0.02
    mask = np.ones(shape, bool)
    mask[:10] = False
    masked = warpalign.local_agreement(fixed, moving, mask)
    assert np.isnan(masked[:10]).all() and not np.isnan(masked[12:]).any()
    unknown = np.where(mask, moving, np.nan)
    assert np.array_equal(warpalign.local_agreement(fixed, unknown), masked, equal_nan=True)


def test_local_agreement_refuses_wrong_arrays():
    image = texture((32, 32), 1)
    with pytest.raises(ValueError, match="shape"):
        warpalign.local_agreement(image, image[:-1])
    with pytest.raises(ValueError, match="mask"):
        warpalign.local_agreement(image, image, np.ones(32))
    with pytest.raises(ValueError, match="dimensions"):
        warpalign.local_agreement(image[0], image[0])
    with pytest.raises(TypeError, match="real"):
        warpalign.local_agreement(image + 1j, image)
