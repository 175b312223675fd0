"""Registration of pairs, batches, stacks and volumes from Python."""

import importlib
import os
import re
import signal
import struct
import typing
import weakref
import zlib

import numpy as np
import pytest
import scipy.ndimage

import warpalign


def test_a_rotation_a_scale_and_a_shift_are_found(scene, moved):
    moving = moved(scene, 12, 1.1, (6, -9))
    found = warpalign.register(scene, moving)
    assert found.reliable
    # Refinement is accurate to thousandths of a pixel on such images (docs/accuracy.md).
    assert found.rotation_deg == pytest.approx(12, abs=0.02)
    assert found.scale == pytest.approx(1.1, abs=5e-4)
    assert found.translation == pytest.approx((6, -9), abs=0.03)
    assert found.translation_xy == pytest.approx((-9, 6), abs=0.03)


def test_ndimage_accepts_the_matrix(scene, moved):
    moving = moved(scene, -20, 0.95, (-4, 7))
    found = warpalign.register(scene, moving)
    inner = (slice(60, 160), slice(60, 200))
    for module in (scipy.ndimage, warpalign.ndimage):
        warped = module.affine_transform(moving, found.matrix, output_shape=scene.shape)
        # Interpolated twice, from values of up to 200.
        assert np.abs(warped - scene)[inner].max() < 1
    np.testing.assert_allclose(found.warp(moving)[inner], scene[inner], atol=1)
    point = found.matrix_xy @ (20, 10, 1)  # x, y
    np.testing.assert_allclose(found.matrix @ (10, 20, 1), point[[1, 0, 2]])


def test_warping_keeps_types_and_channels(scene, moved):
    moving = moved(scene, 5, 1, (2, 3))
    found = warpalign.register(scene, moving)
    colour = np.stack([moving, moving / 2, 200 - moving], axis=-1).astype(np.uint8)
    warped = found.warp(colour)
    assert warped.shape == (*scene.shape, 3)
    assert warped.dtype == np.uint8
    np.testing.assert_array_equal(warped[..., 1], found.warp(colour[..., 1]))
    with pytest.raises(ValueError, match="must have the moving image's shape"):
        found.warp(np.ones((3, 3)))


def _projected(image, matrix):
    rows, columns = np.indices(image.shape)
    points = np.stack([rows, columns, np.ones_like(rows)]).reshape(3, -1)
    mapped = np.linalg.inv(matrix) @ points
    at = (mapped[:2] / mapped[2]).reshape(2, *image.shape)
    return warpalign.ndimage.map_coordinates(image, at, mode="mirror")


def test_homographies_are_found_and_undone(scene):
    rows, columns = scene.shape
    matrix = np.array([[1.02, 0.01, -2.0], [-0.02, 0.99, 3.0], [1e-4, -8e-5, 1.0]])
    moving = _projected(scene, matrix)
    for motion in ("homography", "auto"):
        found = warpalign.register(scene, moving, motion=motion)
        assert found.reliable and found.motion == "homography"
        corners = np.array([[0, 0, 1], [rows - 1, 0, 1], [0, columns - 1, 1],
                            [rows - 1, columns - 1, 1]]).T
        there, truth = found.matrix @ corners, matrix @ corners
        # The interpolation of the moving image, which has noise at the highest frequencies, costs
        # some hundredths of a pixel.
        np.testing.assert_allclose(there[:2] / there[2], truth[:2] / truth[2], atol=0.1)
        warped = found.warp(np.stack([moving, -moving], axis=-1))
        inner = (slice(20, -20), slice(20, -20))
        error = np.abs(warped[..., 0] - scene)[inner].mean()
        assert error < 0.2 * np.abs(moving - scene)[inner].mean()
        np.testing.assert_array_equal(warped[..., 1], -warped[..., 0])
        assert found._repr_png_() is not None
    assert warpalign.register(scene, moving, motion="affine").motion == "affine"
    assert warpalign.register(scene, np.roll(scene, 3, 0), motion="auto").motion == "similarity"
    with pytest.raises(ValueError, match="motion='homography' is for pairs"):
        warpalign.register_stack([scene, moving], motion="homography")


@pytest.mark.parametrize("dtype", ["u1", "i2", "u2", "i4", "f4", "f8", ">u2"])
def test_every_pixel_type_is_accepted(scene, dtype):
    image = scene.astype(dtype)
    found = warpalign.register(image, np.roll(image, (3, 5), (0, 1)), motion="translation")
    assert found.reliable
    assert found.translation == pytest.approx((3, 5), abs=0.1)


def test_views_with_any_strides_are_accepted(scene):
    moving = np.roll(scene, (3, 5), (0, 1))
    found = warpalign.register(scene[::-1, ::-1], moving[::-1, ::-1], motion="translation")
    assert found.translation == pytest.approx((-3, -5), abs=0.1)


def test_masked_pixels_may_hold_anything(scene):
    moving = np.roll(scene, (4, -6), (0, 1))
    mask = np.ones(scene.shape, bool)
    mask[40:90, 50:120] = False
    spoilt = np.where(mask, scene, np.nan)
    found = warpalign.register(spoilt, moving, reference_mask=mask)
    assert found.reliable
    assert found.translation == pytest.approx((4, -6), abs=0.1)
    with pytest.raises(ValueError, match="must have the image's shape"):
        warpalign.register(scene, moving, moving_mask=mask[1:])


def test_unrelated_images_are_not_reliable(scene, random):
    found = warpalign.register(scene, random.random(scene.shape))
    assert not found.reliable
    assert "not reliable" in repr(found)


def test_every_option_reaches_the_library(scene, moved):
    moving = moved(scene, 30, 1, (0, 0))
    assert warpalign.register(scene, moving).reliable
    assert not warpalign.register(scene, moving, min_angle=-10, max_angle=10).reliable
    assert not warpalign.register(scene, moving, motion="translation").reliable
    assert not warpalign.register(scene, moving, refine=False).refined
    assert len(warpalign.register(scene, moving, candidates=3).runners_up) == 2
    assert "fft" in " ".join(warpalign.register(scene, moving, collect_timings=True).timings)
    assert warpalign.register(scene, moving, fast=True).overlap == 0
    small = moved(scene, 0, 0.8, (0, 0))
    assert not warpalign.register(scene, small, min_scale=0.95, max_scale=1.05).reliable
    far = moved(scene, 0, 1, (0, 40))
    assert not warpalign.register(scene, far, max_shift=10).reliable
    found = warpalign.register(scene, far, max_shift=(5, 41))  # along rows and columns
    assert found.reliable
    assert found.translation == pytest.approx((0, 40), abs=0.05)
    assert not warpalign.register(scene, far, max_shift=(41, 5)).reliable
    assert not warpalign.register(scene, far, max_shift=np.array([0, 5])).reliable
    for wrong in [(1, 2, 3), [4], ((1, 2), (3, 4))]:
        with pytest.raises(ValueError, match="max_shift must be a number, or two"):
            warpalign.register(scene, far, max_shift=wrong)
    with pytest.raises(ValueError, match="max_shift_y must be 0 or more"):
        warpalign.register(scene, far, max_shift=(-1, 2))
    for name, value in [("spectrum", "gradient"), ("window", "none"), ("spectrum_exponent", 0.5),
                        ("log_polar_sigma", 0.0)]:
        options = warpalign._options.options_of({name: value})
        assert getattr(options, name) == pytest.approx(value)


def test_the_package_has_the_options_of_the_library():
    described = {option["name"]: option for option in warpalign._core.registration_options()}
    typed = warpalign._options.RegistrationOptions.__annotations__
    along = warpalign._options.MAX_SHIFT_ALONG  # Python sets these by a pair for max_shift
    assert all(name in described for name in along)
    described = {name: option for name, option in described.items() if name not in along}
    assert list(typed) == list(described)
    text = warpalign.register.__doc__
    for name, option in described.items():
        assert re.search(rf"^ +(\w+, )*{name}\b.* : ", text, re.MULTILINE), name
        literal = typing.get_origin(typed[name]) is typing.Literal
        named = typing.get_args(typed[name]) if literal else ()
        assert set(named) == set(option["choices"]), name
    made = warpalign._options.options_of({"max_threads": 3})
    assert made.max_threads == 3


def test_a_negative_is_of_another_modality(scene, moved):
    moving = 1 - moved(scene, 12, 1.1, (5, -3))
    assert not warpalign.register(scene, moving).reliable
    for modality in ("other", "auto"):
        found = warpalign.register(scene, moving, modality=modality)
        assert found.reliable
        assert found.modality == "other"
        assert found.proposed_by == found.tried[-1] == "gradient-field"
        assert found.chance.deviations > found.chance.by_chance + 1
        assert found.rotation_deg == pytest.approx(12, abs=0.05)
        assert found.scale == pytest.approx(1.1, abs=0.001)


def test_search_selects_the_proposers(scene, moved):
    moving = moved(scene, 12, 1.1, (5, -3))
    fast = warpalign.register(scene, moving, search="fast")
    assert fast.tried == ("log-polar",)
    assert fast.chance is None
    assert fast.places_searched > 1e6
    assert warpalign.register(scene, moving, search="thorough").tried == ("log-polar", "grid")


@pytest.mark.parametrize("options, error, words", [
    ({"modality": "mri"}, ValueError, "modality must be one of 'same', 'other', 'auto'"),
    ({"search": "quick"}, ValueError, "search must be one of 'fast'"),
    ({"modality": "other", "search": "fast"}, ValueError, "log-polar spectra"),
    ({"motion": "projective"}, ValueError, "motion must be one of 'similarity', 'rigid'"),
    ({"motion": 3}, TypeError, "invalid value 3 for the option 'motion'"),
    ({"refine": "yes"}, TypeError, "invalid value 'yes' for the option 'refine'"),
    ({"max_angel": 3}, TypeError, "there is no option 'max_angel'"),
    ({"candidates": 11}, warpalign.InvalidArgumentError, "candidates"),
    ({"max_threads": 17}, warpalign.InvalidArgumentError, "max_threads must be 0 to 16"),
    ({"max_threads": 1.5}, TypeError, "invalid value 1.5 for the option 'max_threads'"),
    ({"fast": True, "candidates": 2}, ValueError, "fast"),
])
def test_wrong_options_are_refused(scene, options, error, words):
    with pytest.raises(error, match=words):
        warpalign.register(scene, scene, **options)


@pytest.mark.parametrize("dtype, compiled", [
    ("uint8", "uint8"), (np.uint8, "uint8"), (np.dtype("u2"), "uint16"), ("float32", "float32"),
    (np.float64, "float32"), (np.int16, "float32"), (bool, "uint8")])
def test_warm_up_compiles_for_the_type(monkeypatch, dtype, compiled):
    seen = set()
    monkeypatch.setattr(warpalign._core, "compile_registration_piece",
                        lambda device, piece, name: seen.add(name))
    warpalign.warm_up(dtype=dtype)
    assert seen == {compiled}


@pytest.mark.parametrize("dtype", ["complex64", "float23", np.dtype("U3")])
def test_warm_up_refuses_other_types(dtype):
    with pytest.raises(TypeError):
        warpalign.warm_up(dtype=dtype)


@pytest.mark.parametrize("image, error, words", [
    (np.ones((40, 40)), warpalign.InvalidImageError, "constant"),
    (np.full((40, 40), np.nan), warpalign.InvalidImageError, "no pixel to register"),
    (np.ones((8, 40)), warpalign.InvalidArgumentError, "16"),
    (np.ones((40, 40, 3)), ValueError, "must be an image of 2 dimensions"),
    (np.ones((40, 40), complex), TypeError, "real numbers"),
    ("picture.png", FileNotFoundError, "there is no file picture.png"),
])
def test_invalid_images_raise(scene, image, error, words):
    with pytest.raises(error, match=words):
        warpalign.register(scene, image)


def test_a_registrar_needs_a_reference(scene):
    registrar = warpalign.Registrar()
    with pytest.raises(warpalign.InvalidArgumentError, match="reference"):
        registrar.align(scene)


def test_pictures_for_notebooks(scene):
    found = warpalign.register(scene, np.roll(scene, 5, 1), motion="translation")
    data = found._repr_png_()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert (height, width) == scene.shape
    length = struct.unpack(">I", data[33:37])[0]
    rows = np.frombuffer(zlib.decompress(data[41:41 + length]), np.uint8).reshape(height, -1)
    pixels = rows[:, 1:].reshape(height, width, 3).astype(int)
    assert np.abs(pixels[20:-20, 20:-20, 0] - pixels[20:-20, 20:-20, 1]).mean() < 3  # gray
    html = found._repr_html_()
    assert "<img" in html and "rotation" in html and "confidence" in html
    registrar = warpalign.Registrar(motion="translation")
    registrar.set_reference(scene)
    plain = registrar.align(scene)  # keeps no images
    assert plain._repr_png_() is None
    assert "<img" not in plain._repr_html_() and "rotation" in plain._repr_html_()


def test_a_batch_gives_results_in_the_order_of_the_pairs(scene):
    shifts = [(2, 3), (-5, 1), (0, 8), (7, -7)]
    pairs = [(scene, np.roll(scene, shift, (0, 1))) for shift in shifts]
    results = warpalign.register_batch(iter(pairs), motion="translation", progress=True)
    again = warpalign.register_batch(
        pairs, devices=warpalign.open_device().id, streams=1, motion="translation")
    assert [found.translation for found in again] == [found.translation for found in results]
    with pytest.raises(warpalign.InvalidArgumentError, match="64"):
        warpalign.register_batch(pairs, streams=65)
    for found, shift in zip(results, shifts, strict=True):
        assert found.translation == pytest.approx(shift, abs=0.1)
        assert found.warp(pairs[0][1]).shape == scene.shape


def test_a_pair_that_fails(scene):
    pairs = [(scene, scene), (scene, np.ones_like(scene)), (scene, scene)]
    with pytest.raises(warpalign.InvalidImageError) as error:
        warpalign.register_batch(pairs)
    assert error.value.__notes__ == ["This error concerns pair 1."]
    results = warpalign.register_batch(pairs, on_error="return")
    assert isinstance(results[1], warpalign.InvalidImageError)
    assert results[0].reliable and results[2].reliable
    with pytest.raises(ValueError, match="pair 1 must be"):
        warpalign.register_batch([(scene, scene), (scene,)])
    with pytest.raises(ZeroDivisionError):
        warpalign.register_batch(Unreadable())


def bad_pairs(scene):
    """Pairs with arrays of a wrong shape or type, and the exceptions that they raise."""
    colour = np.stack([scene] * 3, axis=-1)
    return [((colour, scene), ValueError), ((scene, scene.astype(complex)), TypeError),
            ((scene, scene, np.ones((3, 3)), None), ValueError), ((scene,), ValueError)]


def test_arrays_of_one_pair_do_not_end_a_batch(scene):
    good = (scene, np.roll(scene, 3, axis=1))
    bad = bad_pairs(scene)
    pairs = [good]
    for pair, _ in bad:
        pairs += [pair, good]
    results = warpalign.register_batch(
        pairs, on_error="return", motion="translation", progress=True)
    for i, (_, expected) in enumerate(bad):
        assert type(results[2 * i + 1]) is expected
        assert f"pair {2 * i + 1}" in str(results[2 * i + 1])
    for found in results[::2]:
        assert found.translation == pytest.approx((0, 3), abs=0.1)
    for i, (_, expected) in enumerate(bad):
        with pytest.raises(expected, match=f"pair {2 * i + 1}"):
            warpalign.register_batch([good] * (2 * i + 1) + [pairs[2 * i + 1]])
    # Also for the first pair, which is examined before the others.
    first = warpalign.register_batch([bad[0][0], good], on_error="return", motion="translation")
    assert isinstance(first[0], ValueError) and first[1].reliable
    with pytest.raises(ZeroDivisionError):
        warpalign.register_batch(Unreadable(), on_error="return")


class Unreadable:
    def __len__(self):
        return 2

    def __getitem__(self, index):
        raise ZeroDivisionError


@pytest.fixture
def python_handles_sigint():
    """Whether Python handles SIGINT: a shell that starts tests in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("python_handles_sigint")
def test_a_batch_ends_at_ctrl_c(scene):
    class Interrupting(list):
        def __getitem__(self, index):
            if index == 1:
                os.kill(os.getpid(), signal.SIGINT)
            return super().__getitem__(index)

    pairs = Interrupting([(scene, scene)] * 1000)
    with pytest.raises(KeyboardInterrupt):
        warpalign.register_batch(pairs)


def test_a_batch_with_masks_and_none(scene):
    mask = np.ones(scene.shape, bool)
    mask[:50, :50] = False
    spoilt = np.where(mask, np.roll(scene, 3, 1), np.inf)
    (found,) = warpalign.register_batch([(scene, spoilt, None, mask)])
    assert found.translation == pytest.approx((0, 3), abs=0.1)
    assert warpalign.register_batch([]) == []


@pytest.fixture(scope="module")
def frames(scene, moved):
    """Five drifting frames, of which the fourth is constant."""
    drift = [(0, 0, 0), (1, 2, 1), (2, 3.5, 2), None, (4, 6, -3)]
    images = [np.ones_like(scene) if step is None else moved(scene, step[0], 1, step[1:])
              for step in drift]
    return images, drift


@pytest.mark.parametrize("to", ["first", "previous", "mean"])
def test_the_drift_of_a_stack(frames, to):
    images, drift = frames
    stack = warpalign.register_stack((image for image in images), to=to, progress=True)
    assert len(stack) == 5
    table = stack.drift
    for i, step in enumerate(drift):
        if step is None:
            assert not table[i]["reliable"]
            assert isinstance(stack.errors[i], warpalign.InvalidImageError)
            assert np.isnan(stack.matrices[i]).all()
            continue
        assert table[i]["reliable"]
        assert table[i]["rotation_deg"] == pytest.approx(step[0], abs=0.03)
        assert table[i]["shift_row"] == pytest.approx(step[1], abs=0.05)
        assert table[i]["shift_column"] == pytest.approx(step[2], abs=0.05)
    assert "<table>" in stack._repr_html_()


@pytest.fixture(scope="module")
def bad_first_frames(scene, moved):
    """Noise, a constant, noise again, and four frames of a scene, of which the third is sharp."""
    random = np.random.default_rng(3)
    noise = [random.random(scene.shape) * np.ptp(scene) for _ in range(2)]
    good = [moved(scene, 0, 1, (0.5 * k, -1.5 * k)) for k in range(4)]
    soft = [image if k == 2 else scipy.ndimage.gaussian_filter(image, 2)
            for k, image in enumerate(good)]
    return np.array([noise[0], np.ones_like(scene), noise[1], *soft])


@pytest.mark.parametrize("to", ["first", "previous", "mean"])
def test_the_first_usable_frame_is_the_reference(bad_first_frames, to):
    for frames in (bad_first_frames, iter(bad_first_frames)):
        stack = warpalign.register_stack(frames, to=to, motion="translation")
        assert stack.reference == 3
        assert stack.reference_reason == "the first usable frame"
        assert "frame 3" in repr(stack)
        assert list(stack.errors) == [1]
        assert list(stack.drift["reliable"]) == [False] * 3 + [True] * 4
        np.testing.assert_allclose(stack.drift["shift_row"][3:], 0.5 * np.arange(4), atol=0.1)
        np.testing.assert_array_equal(stack.matrices[3], np.eye(3))


def test_a_usable_first_frame_stays_the_reference(bad_first_frames):
    good, noise = bad_first_frames[3:5], bad_first_frames[[0, 2]]
    stack = warpalign.register_stack([good[0], *noise, good[1]], motion="translation")
    assert stack.reference == 0
    assert list(stack.drift["reliable"]) == [True, False, False, True]


def test_a_stack_without_a_usable_frame_says_so(bad_first_frames):
    constant = warpalign.register_stack(bad_first_frames[[1, 1, 1]])
    assert constant.reference is None
    assert constant.reference_reason == "no frame is usable"
    assert list(constant.errors) == [0, 1, 2]
    assert not constant.drift["reliable"].any()
    noise = warpalign.register_stack(bad_first_frames[[0, 2]], motion="translation")
    assert noise.reference == 0
    assert "none of the next frames registers" in noise.reference_reason


def test_a_stack_is_registered_to_a_frame_or_an_image(bad_first_frames):
    def shifts(frames, to):
        stack = warpalign.register_stack(frames, to=to, motion="translation")
        assert stack.drift["reliable"][3:].all()
        return stack, stack.drift["shift_row"][3:]

    stack, named = shifts(bad_first_frames, 4)
    assert (stack.reference, stack.reference_reason) == (4, "named by to")
    np.testing.assert_allclose(named, 0.5 * (np.arange(4) - 1), atol=0.1)
    np.testing.assert_array_equal(shifts(iter(bad_first_frames), np.int64(4))[1], named)
    stack, sharpest = shifts(bad_first_frames, "auto")
    assert stack.reference == 5
    np.testing.assert_allclose(sharpest, 0.5 * (np.arange(4) - 2), atol=0.1)
    stack, image = shifts(bad_first_frames, bad_first_frames[5])
    assert stack.reference is None
    np.testing.assert_allclose(image, sharpest, atol=0.02)


def test_a_wrong_reference_of_a_stack_raises(bad_first_frames):
    for to, message in ((7, "the stack has 7 frames; choose 0 to 6"), (90, "has 7 frames"),
                        (-1, "0 or more"), ("last", "to must be"), (True, "the reference"),
                        (bad_first_frames[3][:-1], "the reference has the shape"),
                        (1, "constant")):
        with pytest.raises(ValueError, match=message):
            warpalign.register_stack(bad_first_frames, to=to)
    for to in ("auto", 90):
        with pytest.raises(ValueError, match="can be read only once"):
            warpalign.register_stack(iter(bad_first_frames), to=to)


def test_a_stack_is_warped_back(frames, scene):
    images, _ = frames
    stack = warpalign.register_stack(np.array(images))
    inner = (slice(60, 160), slice(60, 200))
    warped = list(stack.warp(images))
    assert warped[3] is None
    for image in (warped[1], warped[2], warped[4]):
        np.testing.assert_allclose(image[inner], scene[inner], atol=1)


def test_a_stack_warps_frames_of_its_shape_and_their_channels(frames, scene):
    images = frames[0][:3]
    stack = warpalign.register_stack(images)
    colour = [np.stack([image, 200 - image], axis=-1) for image in images]
    for image, plain in zip(stack.warp(colour), stack.warp(images), strict=True):
        assert image.shape == (*scene.shape, 2)
        np.testing.assert_array_equal(image[..., 0], plain)
    rows, columns = scene.shape
    for other in (scene[:-1], scene.T, np.stack([scene[:, 1:]] * 3, axis=-1)):
        with pytest.raises(ValueError, match=rf"frame 1 has the shape .*{rows}, {columns}"):
            list(stack.warp([images[0], other]))


def test_the_mean_of_masked_frames(frames, scene):
    images, drift = frames
    mask = np.ones(scene.shape, bool)
    mask[100:130, 100:130] = False
    spoilt = [np.where(mask, image, np.nan) for image in images]
    stack = warpalign.register_stack(spoilt, to="mean", mask=mask)
    assert stack.drift[4]["shift_row"] == pytest.approx(drift[4][1], abs=0.1)


def test_a_drift_table_for_pandas(frames):
    pandas = pytest.importorskip("pandas")
    table = warpalign.register_stack(frames[0][:2]).to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert list(table.index) == [0, 1]
    assert table.loc[1, "rotation_deg"] == pytest.approx(1, abs=0.03)


def test_frames_come_from_memory_maps_zarr_and_dask(frames, tmp_path):
    images = np.array(frames[0])
    expected = warpalign.register_stack(images).drift

    def same(drift):
        assert drift.tobytes() == expected.tobytes()  # bytes, since one frame has NaN

    np.save(tmp_path / "frames.npy", images)
    same(warpalign.register_stack(np.load(tmp_path / "frames.npy", mmap_mode="r")).drift)
    same(warpalign.register_stack(iter(images)).drift)
    same(warpalign.register_stack(list(images)).drift)
    if zarr := _module("zarr"):
        for chunks in (1, 2, 3, 5):
            stored = zarr.open(str(tmp_path / f"{chunks}.zarr"), mode="w", shape=images.shape,
                               chunks=(chunks, 50, 60), dtype=images.dtype)
            stored[:] = images
            same(warpalign.register_stack(stored).drift)
    if _module("dask"):
        from dask import array

        lazy = array.from_array(images, chunks=((2, 1, 2), 50, 60))
        same(warpalign.register_stack(lazy).drift)
        warped = list(warpalign.register_stack(lazy).warp(lazy))
        assert len(warped) == 5


def _module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def test_a_chunk_is_read_once():
    class Chunked:
        """A chunked array like those of Zarr and h5py, which counts reads."""

        ndim, shape, dtype, chunks = 3, (7, 96, 96), np.dtype(np.float32), (3, 96, 96)
        reads = []

        def __len__(self):
            return 7

        def __getitem__(self, key):
            self.reads.append(key)
            return np.random.default_rng(0).random((7, 96, 96), np.float32)[key]

    warpalign.register_stack(Chunked(), motion="translation")
    assert Chunked.reads == [slice(0, 3), slice(3, 6), slice(6, 7)]


@pytest.mark.parametrize("to", ["first", "previous", "mean"])
def test_one_frame_at_a_time_is_in_memory(scene, to):
    alive = set()
    most = 0

    def reader():
        nonlocal most
        for number in range(8):
            image = np.roll(scene, number, axis=1).astype(np.float32)
            if number == 4:
                image[:] = 1  # cannot be registered; its error must not keep it alive
            alive.add(number)
            weakref.finalize(image, alive.discard, number)
            most = max(most, len(alive))
            yield image
            del image

    stack = warpalign.register_stack(reader(), to=to, motion="translation")
    assert len(stack) == 8
    assert list(stack.errors) == [4]
    assert most == 1


def _lattice(row, column):
    """A texture that (16, 0) and (0, 20) repeat, shifted."""
    y, x = np.mgrid[:128, :144]
    v, u = 2 * np.pi * (y - row) / 16, 2 * np.pi * (x - column) / 20
    texture = np.cos(u) + np.sin(v) + np.cos(u + v) + np.cos(2 * u - v)
    return (30000 + 5000 * texture).astype(np.uint16)


@pytest.mark.parametrize("to", ["first", "previous", "mean"])
def test_a_repeating_texture_is_followed_while_it_drifts_slowly(to):
    shifts = [(-1.5 * i, 3 * i) for i in range(8)]
    stack = warpalign.register_stack([_lattice(*shift) for shift in shifts], to=to,
                                     motion="translation")
    assert stack.drift["reliable"].all() and not stack.drift["ambiguous"].any()
    found = np.stack([stack.drift["shift_row"], stack.drift["shift_column"]], 1)
    # Frames are drawn, so that this is the error of the fit alone.
    np.testing.assert_allclose(found, shifts, atol=0.02)


@pytest.mark.parametrize("to", ["first", "previous"])
def test_a_repeating_texture_that_jumps_is_ambiguous_from_there_on(to):
    frames = [_lattice(0, column) for column in (0, 2, 10, 12)]
    stack = warpalign.register_stack(frames, to=to, motion="translation")
    assert stack.drift["reliable"].tolist() == [True, True, False, False]
    assert stack.drift["ambiguous"].tolist() == [False, False, True, True]
    assert sorted(stack.periods) == [2, 3]
    first, second = np.abs(stack.periods[2])
    # Measured over several periods, to a fraction of a pixel.
    np.testing.assert_allclose(first, (16, 0), atol=0.3)
    np.testing.assert_allclose(second, (0, 20), atol=0.3)
    assert next(iter(stack.warp(frames[:1]))) is not None


def test_invalid_stacks_raise(scene):
    with pytest.raises(ValueError, match="there are no frames"):
        warpalign.register_stack([])
    with pytest.raises(ValueError, match="frame 1 has the shape"):
        warpalign.register_stack([scene, scene[1:]])
    with pytest.raises(ValueError, match="to must be"):
        warpalign.register_stack([scene], to="last")


def test_a_volumes_translation(volume):
    moving = scipy.ndimage.shift(volume, (2.25, -3, 1.5), mode="mirror")
    found = warpalign.register_volume(volume, moving)
    assert found.reliable
    assert found.translation == pytest.approx((2.25, -3, 1.5), abs=0.02)
    assert found.translation_xyz == pytest.approx((1.5, -3, 2.25), abs=0.02)
    inner = (slice(6, -6),) * 3
    # Interpolated twice; the standard deviation of the volume is about 130.
    np.testing.assert_allclose(found.warp(moving)[inner], volume[inner], atol=15)
    whole = warpalign.register_volume(volume, moving, refine=False)
    assert all(value == round(value) for value in whole.translation)
    near = warpalign.register_volume(volume, moving, max_shift=(1, 10, 10))
    assert abs(near.translation[0]) <= 1.5


def test_a_rotated_volume(volume):
    cosine, sine = np.cos(np.radians(20)), np.sin(np.radians(20))
    rotation = np.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]])
    centre = (np.array(volume.shape) - 1) / 2
    shift = np.array([1.5, -1, 0.75])
    # Index p of the volume moves to rotation (p - centre) + centre + shift.
    moving = scipy.ndimage.affine_transform(
        volume, rotation.T, centre - rotation.T @ (centre + shift), mode="mirror")
    found = warpalign.register_volume(volume, moving, motion="rigid", max_rotation=45)
    assert found.reliable
    assert found.motion == "rigid"
    # Interpolated twice, and mirrored at the edges.
    np.testing.assert_allclose(found.matrix[:3, :3], rotation, atol=0.01)
    assert found.translation == pytest.approx(shift, abs=0.1)
    assert found.rotation_deg == pytest.approx(20, abs=0.5)
    # The rotation is about the middle array axis; from z to x is the negative direction.
    assert found.rotation_axis_xyz == pytest.approx((0, -1, 0), abs=0.02)
    assert found.scale == pytest.approx(1, abs=1e-9)
    inner = (slice(8, -8),) * 3
    np.testing.assert_allclose(found.warp(moving)[inner], volume[inner], atol=40)
    scaled = warpalign.register_volume(
        volume, moving, motion="rigid", spacing=(2, 2, 2), moving_spacing=2)
    assert scaled.translation == pytest.approx(found.translation, abs=0.05)


def test_a_negative_volume_is_of_another_modality(volume):
    moving = np.max(volume) - np.roll(volume, (2, 0, -3), axis=(0, 1, 2))
    assert not warpalign.register_volume(volume, moving).reliable
    found = warpalign.register_volume(volume, moving, modality="other")
    assert found.reliable
    assert found.modality == "other"
    assert warpalign.register_volume(volume, moving, modality="auto").modality == "other"
    assert warpalign.register_volume(volume, volume, modality="auto").modality == "same"
    # np.roll wraps some voxels around the faces, where they are wrong.
    assert found.translation == pytest.approx((2, 0, -3), abs=0.1)


def test_masked_voxels_may_hold_anything(volume):
    moving = np.roll(volume, (2, 0, -3), axis=(0, 1, 2))
    mask = np.ones(volume.shape, bool)
    mask[5:15, 8:20, 8:20] = False
    spoilt = np.where(mask, volume, np.nan)
    found = warpalign.register_volume(spoilt, moving, reference_mask=mask)
    assert found.reliable
    # np.roll wraps some voxels around the faces, where they are wrong.
    assert found.translation == pytest.approx((2, 0, -3), abs=0.1)
    same = warpalign.register_volume(np.where(mask, volume, 1e6), moving, reference_mask=mask)
    assert same.translation == found.translation
    # An object that does not move with the content.
    fixed = [np.where(mask, array, 20 * volume.max()) for array in (volume, moving)]
    assert warpalign.register_volume(*fixed).translation == pytest.approx((0, 0, 0), abs=0.1)
    found = warpalign.register_volume(*fixed, reference_mask=mask, moving_mask=mask)
    assert found.translation == pytest.approx((2, 0, -3), abs=0.1)
    with pytest.raises(ValueError, match="must have the volume's shape"):
        warpalign.register_volume(volume, moving, moving_mask=mask[1:])
    with pytest.raises(warpalign.InvalidImageError, match="leaves no voxel"):
        warpalign.register_volume(volume, moving, moving_mask=np.zeros(volume.shape))


def test_invalid_volumes_raise(volume):
    with pytest.raises(ValueError, match="modality must be one of same, other, auto"):
        warpalign.register_volume(volume, volume, modality="another")
    with pytest.raises(ValueError, match="translation, rigid"):
        warpalign.register_volume(volume, volume, motion="homography")
    with pytest.raises(warpalign.InvalidArgumentError, match="max_rotation"):
        warpalign.register_volume(volume, volume, motion="rigid", max_rotation=-1)
    with pytest.raises(warpalign.InvalidArgumentError, match="spacing"):
        warpalign.register_volume(volume, volume, motion="rigid", spacing=(1, 0, 1))
    with pytest.raises(ValueError, match="3 dimensions"):
        warpalign.register_volume(volume[0], volume)
    with pytest.raises(warpalign.InvalidImageError):
        warpalign.register_volume(volume, np.ones_like(volume))
    with pytest.raises(warpalign.InvalidArgumentError, match="reference"):
        warpalign.VolumeRegistrar().align(volume)
