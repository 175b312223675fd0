"""Registration of images and volumes with missing samples, and with masks on a device."""

import json

import numpy as np
import pytest
from program_runs import run

import warpalign
from warpalign import to_device
from warpalign._nodata import can_hold


@pytest.fixture
def pair(scene, moved):
    return scene.copy(), moved(scene, 8, 1, (3, -5))


def test_nan_is_ignored_and_counted(pair):
    reference, moving = pair
    moving[40:70, 100:140] = np.nan
    moving[::9, ::7] = np.inf
    reference[3, 4] = np.nan
    found = warpalign.register(reference, moving)
    assert found.reliable
    assert found.rotation_deg == pytest.approx(8, abs=0.05)
    assert found.missing == (1, np.count_nonzero(~np.isfinite(moving)))


@pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.float32])
def test_nodata_is_ignored_and_counted(pair, dtype):
    reference, moving = (image.astype(dtype) for image in pair)
    masks = [np.ones(image.shape, bool) for image in pair]
    masks[0][:, :60] = masks[1][50:90, 40:90] = False
    nodata = 255 if dtype == np.uint8 else -9999
    reference[~masks[0]] = moving[~masks[1]] = nodata
    expected = warpalign.register(reference, moving, reference_mask=masks[0],
                                  moving_mask=masks[1])
    found = warpalign.register(reference, moving, nodata=nodata)
    assert found.reliable
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    assert found.missing == tuple(np.count_nonzero(~mask) for mask in masks)
    # Pixels that a mask excludes are not counted.
    both = warpalign.register(reference, moving, reference_mask=masks[0], nodata=nodata)
    assert both.missing == (0, found.missing[1])


def test_nodata_that_no_pixel_can_have_is_refused(pair):
    with pytest.raises(ValueError, match="nodata is -1, which no sample of the reference"):
        warpalign.register(pair[0].astype(np.uint8), pair[1], nodata=-1)


@pytest.mark.parametrize("dtype, nodata", [("float16", 1e5), ("float32", 1e300),
                                           ("float32", -1e39), ("complex64", 1e300)])
def test_no_sample_holds_what_its_type_would_make_infinite(dtype, nodata):
    assert not can_hold(np.dtype(dtype), nodata)


@pytest.mark.parametrize("dtype, nodata", [("float32", -9999), ("float32", -3.40282346638529e38),
                                           ("float32", float("inf")), ("float32", float("nan")),
                                           ("float64", 1e300)])
def test_samples_hold_values_within_the_range_of_their_type(dtype, nodata):
    assert can_hold(np.dtype(dtype), nodata)


def test_masks_and_nodata_of_images_on_a_device(pair):
    reference, moving = (image.astype(np.float32) for image in pair)
    mask = np.ones(moving.shape, bool)
    mask[:50] = False
    moving[~mask] = -9999
    expected = warpalign.register(reference, moving, moving_mask=mask)
    on_device = to_device(reference), to_device(moving)
    for options in ({"moving_mask": mask}, {"moving_mask": to_device(mask.astype(np.uint8))},
                    {"nodata": -9999}):
        found = warpalign.register(*on_device, **options)
        np.testing.assert_array_equal(found.matrix, expected.matrix)


def test_volumes(volume):
    moved = np.roll(volume, (2, -1, 3), axis=(0, 1, 2)).astype(np.float32)
    moved[:, :8] = np.nan
    found = warpalign.register_volume(volume, moved)
    assert found.reliable
    assert np.allclose(found.translation, (2, -1, 3), atol=0.02)
    assert found.missing == (0, np.count_nonzero(np.isnan(moved)))
    filled = np.where(np.isnan(moved), -32768, moved).astype(np.int16)
    by_value = warpalign.register_volume(volume, filled, nodata=-32768)
    assert np.allclose(by_value.translation, (2, -1, 3), atol=0.02)
    assert by_value.missing == found.missing
    mask = np.isfinite(moved)
    on_device = warpalign.register_volume(to_device(volume.astype(np.float32)), to_device(moved),
                                          moving_mask=to_device(mask.astype(np.uint8)))
    assert np.allclose(on_device.translation, found.translation, atol=1e-3)
    assert on_device.missing == (0, 0)


@pytest.mark.parametrize("factor, offset", [(1e30, 0), (1e-30, 0), (0.01, 1e7), (-1, -1e6), (1e300, 0),
                                            (-1e305, 3e307), (1e-300, 0)])
def test_values_of_any_size(pair, factor, offset):
    reference, moving = (image * factor + offset for image in pair)
    found = warpalign.register(reference, moving)
    assert found.reliable
    assert found.rotation_deg == pytest.approx(8, abs=0.05)


def test_deformable_ignores_missing_pixels(pair):
    complete = warpalign.register(*pair, motion="deformable")
    pair[1][60:80, 60:80] = np.nan
    found = warpalign.register(*pair, motion="deformable")
    assert found.reliable and found.missing == (0, 400)
    difference = found.transform.field() - complete.transform.field()
    # The field beneath the hole is only smooth.
    assert np.sqrt((difference[:, 12:-12, 12:-12] ** 2).mean()) < 0.1


def program_json(*arguments):
    done = run("register", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("nodata", [None, 0])
def test_the_program_keeps_missing_pixels(program, tmp_path, pair, nodata):
    tifffile = pytest.importorskip("tifffile")
    dtype = np.float32 if nodata is None else np.uint16
    reference, moving = (image.astype(dtype) + 1 for image in pair)
    moving[50:90, 100:140] = np.nan if nodata is None else nodata
    for name, image in (("a.tif", reference), ("b.tif", moving)):
        tifffile.imwrite(tmp_path / name, image)
    options = [] if nodata is None else ["--nodata", nodata]
    found = program_json(tmp_path / "a.tif", tmp_path / "b.tif", "--output", tmp_path / "out.tif",
                         *options)
    assert found["rotation_deg"] == pytest.approx(8, abs=0.05)
    assert found["missing"] == {"reference": 0, "moving": 1600}
    aligned = tifffile.imread(tmp_path / "out.tif")
    missing = np.isnan(aligned) if nodata is None else aligned == nodata
    inside = np.zeros(aligned.shape, bool)
    inside[30:-30, 30:-30] = True
    # The hole keeps its area, and nothing else is spoilt.
    assert np.count_nonzero(missing & inside) == pytest.approx(1600, rel=0.05)
    close = np.abs(aligned.astype(float) - reference) < 2
    assert np.count_nonzero(~close & ~missing & inside) < 20


@pytest.mark.parametrize("options, words", [
    (["--nodata", "0.5"], "no sample of the type u8"),
    (["--nodata", "0", "--fast"], "--fast does not support it"),
    (["--nodata", "0.5", "--motion", "deformable"], "no sample of the type u8"),
    (["--nodata", "-1", "--motion", "local"], "no sample of the type u8"),
])
def test_the_program_refuses_nodata(program, tmp_path, pair, options, words):
    image = pytest.importorskip("PIL.Image")
    for name in ("a.png", "b.png"):
        image.fromarray(pair[0].astype(np.uint8)).save(tmp_path / name)
    done = run("register", tmp_path / "a.png", tmp_path / "b.png", *options)
    assert done.returncode == 2
    assert words in done.stderr


def test_the_program_keeps_missing_voxels(program, tmp_path, volume):
    moved = np.roll(volume, (2, -1, 3), axis=(0, 1, 2)).astype(np.int16)
    moved[:, 5:9, 8:20] = -32768
    np.save(tmp_path / "a.npy", volume.astype(np.int16))
    np.save(tmp_path / "b.npy", moved)
    done = run("register-volume", tmp_path / "a.npy", tmp_path / "b.npy", "--nodata", -32768,
               "--output", tmp_path / "out.npy", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["missing"] == {"reference": 0, "moving": np.count_nonzero(moved == -32768)}
    assert np.allclose(found["translation"], (3, -1, 2), atol=0.02)
    aligned = np.load(tmp_path / "out.npy")
    expected = np.roll(moved, (-2, 1, -3), axis=(0, 1, 2))
    inside = (slice(4, -4), slice(4, -4), slice(4, -4))
    np.testing.assert_array_equal(aligned[inside] == -32768, expected[inside] == -32768)
    differs = np.abs(aligned[inside].astype(int) - expected[inside])
    assert np.quantile(differs, 0.99) <= 8  # of a range of about 2000
