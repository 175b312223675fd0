"""Templates of several images."""

import numpy as np
import PIL.Image
import pytest
import scipy.ndimage

import warpalign


def texture(shape, seed):
    random = np.random.default_rng(seed)
    waves = [scipy.ndimage.gaussian_filter(random.standard_normal(shape), sigma)
             for sigma in (1.5, 3, 6)]
    return sum(wave / wave.std() for wave in waves)


def inverse_positions(field):
    """Where p -> p + u(p) comes from, for each pixel: by fixed-point iteration."""
    grid = np.indices(field.shape[1:]).astype(float)
    positions = grid.copy()
    for _ in range(15):
        moved = [scipy.ndimage.map_coordinates(u, positions, order=3, mode="nearest")
                 for u in field]
        positions = grid - moved
    return positions


def drawn(shape, largest, seed):
    """A scene, and four images of it. The transforms to them have the identity as their mean.

    The scene at p is shown by an image at p + u(p), where the fields u add up to 0.
    """
    random = np.random.default_rng(seed)
    scene = texture(shape, seed)
    fields = []
    for _ in range(2):
        field = np.stack([scipy.ndimage.gaussian_filter(random.standard_normal(shape), 18)
                          for _ in shape])
        field *= largest / np.sqrt((field ** 2).sum(0)).max()
        fields += [field, -field]
    images = [scipy.ndimage.map_coordinates(scene, inverse_positions(field), order=5,
                                            mode="mirror") for field in fields]
    return scene, images, fields


def rms(field):
    margin = 16 if len(field) == 2 else 8
    inside = (slice(None), *(slice(margin, -margin) for _ in field.shape[1:]))
    return np.sqrt((field[inside] ** 2).sum(0).mean())


@pytest.mark.parametrize("shape", [(180, 170), (40, 36, 44)])
def test_has_the_mean_shape_and_not_that_of_the_first_image(shape):
    scene, images, fields = drawn(shape, 4 if len(shape) == 2 else 3, 1)
    images = [gain * image + offset
              for image, gain, offset in zip(images, (1, 2, 5, 0.5), (0, 10, -3, 1))]
    near = {} if len(shape) == 2 else {"max_rotation": 10}
    template = warpalign.build_template(images, rounds=2, progress=False, **near)
    assert template.used == [True] * 4
    assert template.image.shape == shape and template.image.dtype == np.float32
    assert (template.confidences > 0.5).all()
    register = warpalign.register if len(shape) == 2 else warpalign.register_volume
    bias = register(scene, np.nan_to_num(template.image, nan=template.image[0, 0].mean()),
                    motion="deformable", **near).transform.field(shape)
    # The first image is off by its field, of some pixels. A cubic field through control points 5
    # pixels apart follows a field of sigma 18 to hundredths of a pixel.
    assert rms(fields[0]) > 0.7
    assert rms(bias) < 0.06 * rms(fields[0])
    for transform, field in zip(template.transforms, fields):
        assert rms(transform.field(shape) - field) < 0.12


def test_the_mean_of_the_transforms_is_the_identity():
    _, images, _ = drawn((160, 150), 4, 7)
    template = warpalign.build_template(images[:3], rounds=2, progress=False)
    mean = sum(transform.field((160, 150)) for transform in template.transforms) / 3
    assert rms(mean) < 0.02  # what sampling the inverse of the mean field changes
    assert template.changes[1] < template.changes[0]


def test_aligned_images_are_sharper_than_their_mean():
    _, images, _ = drawn((160, 150), 4, 9)
    template = warpalign.build_template(images, rounds=2, progress=False)
    inside = np.s_[16:-16, 16:-16]

    def sharpness(image):
        return scipy.ndimage.laplace(image)[inside].std()

    assert sharpness(template.image) > 0.9 * sharpness(images[0]) > 1.3 * sharpness(
        np.mean(images, axis=0))
    for image, transform in zip(images, template.transforms):
        warped = transform.warp(image)[inside]
        assert np.corrcoef(warped.ravel(), template.image[inside].ravel())[0, 1] > 0.99


def test_images_of_other_shapes_and_an_initial_image():
    scene, images, _ = drawn((160, 150), 3, 3)
    cut = [images[0], images[1][:150, :140], images[2][4:, 6:]]
    template = warpalign.build_template(cut, motion="affine", rounds=2, initial=scene[:, :148])
    assert template.image.shape == (160, 148)
    assert template.used == [True] * 3
    assert "of 3 of 3 images" in repr(template)


def test_an_unrelated_image_is_left_out():
    _, images, _ = drawn((160, 150), 3, 5)
    template = warpalign.build_template([*images[:2], texture((160, 150), 99)], rounds=2)
    assert template.used == [True, True, False]
    assert template.transforms[2] is None
    alone = warpalign.build_template(images[:2], rounds=2)
    assert np.nanmax(np.abs(template.image - template.image)) == 0
    assert rms(template.transforms[0].field((160, 150))
               - alone.transforms[0].field((160, 150))) < 0.01


def test_reads_files(tmp_path):
    _, images, _ = drawn((160, 150), 3, 11)
    arrays = [np.clip(30 * image + 128, 0, 255).astype(np.uint8) for image in images[:2]]
    paths = [tmp_path / f"{number}.png" for number in range(2)]
    for path, array in zip(paths, arrays):
        PIL.Image.fromarray(array).save(path)
    from_files = warpalign.build_template(paths, motion="affine", rounds=1)
    from_arrays = warpalign.build_template(arrays, motion="affine", rounds=1)
    assert np.array_equal(from_files.image, from_arrays.image, equal_nan=True)


def with_artefacts(images, shape, radius):
    """The images with an artefact at another place in each, the masks, and with NaN instead."""
    points = np.indices(shape)
    spoilt, masks, holed = [], [], []
    for number, (image, value) in enumerate(zip(images, (60, -20, 100))):
        centre = np.array(shape) // 2
        centre[-1] += (number - 1) * 2 * radius
        inside = np.hypot.reduce([p - c for p, c in zip(points, centre)]) <= radius
        spoilt.append(np.where(inside, value, image))
        masks.append(~inside)
        holed.append(np.where(inside, np.nan, image))
    return spoilt, masks, holed


@pytest.mark.parametrize("shape, radius, near", [((160, 150), 12, {}),
                                                 ((36, 32, 40), 6, {"max_rotation": 10})])
def test_masked_pixels_are_as_good_as_missing_ones(shape, radius, near):
    _, images, _ = drawn(shape, 3 if len(shape) == 2 else 2, 17)
    spoilt, masks, holed = with_artefacts(images[:3], shape, radius)
    masked = warpalign.build_template(spoilt, masks=masks, rounds=1, **near)
    missing = warpalign.build_template(holed, rounds=1, **near)
    assert masked.used == [True] * 3
    assert np.array_equal(masked.image, missing.image, equal_nan=True)
    assert np.array_equal(masked.confidences, missing.confidences)
    # Two images know each pixel, so the artefacts leave no trace. They hide 2 % of each image, of
    # deviation 1.7; where both means are known they differ by less than 0.05 (root mean square).
    clean = warpalign.build_template(images[:3], rounds=1, **near)
    difference = (masked.image - clean.image)[np.isfinite(masked.image) & np.isfinite(clean.image)]
    assert np.sqrt((difference ** 2).mean()) < 0.05
    for one, other in zip(masked.transforms, clean.transforms):
        assert rms(one.field(shape) - other.field(shape)) < 0.1  # interpolated in the artefacts


def test_nodata_is_as_good_as_missing_and_adds_to_masks(tmp_path):
    scene, images, _ = drawn((160, 150), 3, 19)
    spoilt, masks, holed = with_artefacts(images[:2], (160, 150), 12)
    for image, hole in zip(spoilt, holed):
        image[120:140, 40:70] = -99
        hole[120:140, 40:70] = np.nan
    start = scene.copy()
    start[20:40, 20:40] = -99
    path = tmp_path / "mask.png"
    PIL.Image.fromarray(masks[1].astype(np.uint8)).save(path)
    found = warpalign.build_template(spoilt, masks=[masks[0], path], nodata=-99, rounds=1,
                                     motion="affine", initial=start)
    start[20:40, 20:40] = np.nan
    missing = warpalign.build_template(holed, rounds=1, motion="affine", initial=start)
    assert np.array_equal(found.image, missing.image, equal_nan=True)
    assert np.isnan(found.image[130, 55])
    # A mask of one image only.
    one = warpalign.build_template([spoilt[0], images[1]], masks=[masks[0], None], nodata=-99,
                                   rounds=1, motion="affine")
    other = warpalign.build_template([holed[0], images[1]], rounds=1, motion="affine")
    assert np.array_equal(one.image, other.image, equal_nan=True)


def test_wrong_masks():
    image = texture((64, 64), 1)
    whole = np.ones((64, 64), bool)
    integers = (100 * image).astype(np.int16)
    for words, arguments in [
            ("masks must have a mask or None for each of the 2 images, not 1", {"masks": [whole]}),
            (r"image 1's mask must have the image's shape \(64, 64\), not \(64, 63\)",
             {"masks": [None, whole[:, :63]]}),
            ("image 1 has no pixel to register: all are NaN, infinite or masked",
             {"masks": [whole, ~whole]}),
            ("image 0 has no pixel to register", {"images": [0 * image, image], "nodata": 0}),
            ("nodata is 0.5, which no sample of image 0 can have; its type is int16",
             {"images": [integers, integers], "nodata": 0.5}),
            ("nodata is -1, which no sample of the initial image can have",
             {"initial": integers.astype(np.uint8), "nodata": -1}),
            ("the fast pipeline does not support masks",
             {"masks": [whole, whole], "fast": True, "motion": "similarity"})]:
        with pytest.raises(ValueError, match=words):
            warpalign.build_template(**{"images": [image, image], **arguments})


def test_wrong_arguments():
    image = texture((64, 64), 1)
    for words, arguments in [
            ("at least 2 images, not 1", {"images": [image]}),
            ("motion must be one of", {"images": [image, image], "motion": "homography"}),
            ("rounds must be from 1 to 100", {"images": [image, image], "rounds": 0}),
            ("image 1 is constant", {"images": [image, np.ones((64, 64))]}),
            ("image 1 has 3 dimensions, but image 0 2",
             {"images": [image, np.random.default_rng(0).random((16, 16, 16))]}),
            ("spacing is for volumes", {"images": [image, image], "spacing": 2}),
            ("bending_weight", {"images": [image, image], "bending_weight": -1}),
            ("only 1 of 2 images register reliably to the template in round 1",
             {"images": [image, texture((64, 64), 2)]})]:
        with pytest.raises(ValueError, match=words):
            warpalign.build_template(**arguments)
    with pytest.raises(TypeError, match="no option 'weight'"):
        warpalign.build_template([image, image], weight=1)


def test_reads_one_image_at_a_time_and_passes_on_its_errors():
    _, images, _ = drawn((160, 150), 3, 13)

    class Reader:
        def __init__(self, broken=None):
            self.broken, self.reads = broken, []

        def __len__(self):
            return 2

        def __getitem__(self, index):
            self.reads.append(index)
            if len(self.reads) == self.broken:
                raise OSError("the disk is gone")
            return images[index]

    reader = Reader()
    template = warpalign.build_template(reader, motion="similarity", rounds=1)
    assert all(template.used)
    # For their dimensions, their intensities, the first template, the registrations, and the mean.
    assert reader.reads == [0, 0, 1, 0, 0, 1, 0, 1]
    with pytest.raises(OSError, match="the disk is gone"):
        warpalign.build_template(Reader(broken=6), motion="similarity", rounds=1)


def test_volumes_have_similarities_too():
    random = np.random.default_rng(2)
    volume = scipy.ndimage.gaussian_filter(random.standard_normal((32, 30, 34)), 1.5)
    volumes = [scipy.ndimage.shift(volume, (0, shift, 0), order=5, mode="mirror")
               for shift in (-1, 1)]
    template = warpalign.build_template(volumes, motion="similarity", rounds=1, spacing=(1, 1, 2),
                                        max_rotation=10)
    assert all(template.used)
    assert template.transforms[0].points([[15, 15, 17]])[0, 1] == pytest.approx(14, abs=0.1)
    with pytest.raises(ValueError, match="reference_spacing and moving_spacing must be equal"):
        warpalign.build_template(volumes, moving_spacing=2)
