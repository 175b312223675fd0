"""Arrays with missing samples, against the same arrays without holes, computed by SciPy."""

import numpy as np
import pytest
import scipy.ndimage
import warpalign
from warpalign import ndimage
from warpalign.ndimage import _missing_on_device

SHIFT = (0.3, -0.4)


@pytest.fixture(autouse=True, params=["by the host", "by the device"])
def filled(request, monkeypatch):
    """Holes are filled by processors' threads, or by the device as on GPUs; both are tested here.

    float32, float16 and the integers of 8 and 16 bits are filled on devices.
    """
    monkeypatch.setattr(_missing_on_device, "fills", lambda device: "device" in request.param)


def waves(shape, shortest=8.0, seed=1):
    """A sum of waves in [0, 1], none shorter than `shortest` samples."""
    rng = np.random.default_rng(seed)
    image = np.zeros(shape)
    grid = np.indices(shape)
    for _ in range(24):
        direction = rng.normal(size=len(shape))
        direction *= 2 * np.pi / (rng.uniform(1, 6) * shortest * np.linalg.norm(direction))
        image += np.cos(np.tensordot(direction, grid, 1) + rng.uniform(0, 2 * np.pi))
    return (image - image.min()) / np.ptp(image)


def holes(shape, count=12, seed=2):
    """A mask of boxes of 1 to 5 samples."""
    rng = np.random.default_rng(seed)
    mask = np.zeros(shape, bool)
    for _ in range(count):
        start = [rng.integers(0, n - 6) for n in shape]
        mask[tuple(slice(a, a + rng.integers(1, 6)) for a in start)] = True
    return mask


def distance_to(mask):
    return scipy.ndimage.distance_transform_edt(~mask)


def nearest_filled(image, mask):
    index = scipy.ndimage.distance_transform_edt(mask, return_distances=False, return_indices=True)
    return image[tuple(index)]


@pytest.mark.parametrize("shape", [(300,), (128, 160), (40, 44, 48)])
def test_errors_decay_with_the_distance_from_a_hole(shape):
    image, mask = waves(shape), holes(shape)
    shift = (0.3, -0.4, 0.2)[:len(shape)]
    expected = scipy.ndimage.shift(image, shift, mode="mirror")
    given = np.where(mask, np.nan, image)
    result = ndimage.shift(given, shift, mode="mirror", missing="ignore", precision="double")
    error = np.abs(result - expected)
    distance = distance_to(mask)
    # A hole's influence decays by 0.268 a sample, the pole of the cubic prefilter. The distance is
    # that of the output sample; the shift brings the point up to 0.6 samples nearer.
    assert error[distance >= 13].max(initial=0) <= 1e-6
    assert error[distance >= 9].max() <= 5e-5
    near = (distance > 0) & (distance <= 1.5) & np.isfinite(result)
    other = scipy.ndimage.shift(nearest_filled(image, mask), shift, mode="mirror")
    nearest_error = np.sqrt(np.mean((other - expected)[near] ** 2))
    assert np.sqrt(np.mean(error[near] ** 2)) <= nearest_error / 2


def test_result_is_missing_where_less_than_half_of_the_support_is_known():
    image, mask = waves((70, 80)), holes((70, 80))
    given = np.where(mask, np.nan, image).astype(np.float32)
    for order in range(6):
        result, weights = ndimage.rotate(
            given, 17, order=order, mode="mirror", missing="ignore", weights=True)
        share = scipy.ndimage.rotate(
            (~mask).astype(float), 17, order=order, mode="mirror", prefilter=False)
        if order > 0:  # at order 0 a tie may go either way
            np.testing.assert_allclose(weights, share, atol=2e-5)  # points in single precision
        np.testing.assert_array_equal(np.isnan(result), weights < 0.5 - 1e-5)
        assert np.isnan(result).any()


@pytest.mark.parametrize("mode", ["constant", "grid-constant", "nearest", "grid-wrap"])
def test_beyond_the_edges(mode):
    image = waves((40, 50)).astype(np.float32)
    given = image.copy()
    given[20, 25] = np.nan
    result, weights = ndimage.shift(given, (12.25, 0), mode=mode, cval=7, missing="ignore",
                                    weights=True)
    expected = scipy.ndimage.shift(image.astype(float), (12.25, 0), mode=mode, cval=7)
    far = distance_to(np.isnan(ndimage.shift(given, (12.25, 0), order=0, mode=mode))) > 14
    np.testing.assert_allclose(result[far], expected[far], atol=2e-6)
    assert (weights[:12] == (0 if mode == "constant" else 1)).all()


def test_clean_input_gives_the_same_bits():
    image = waves((64, 96)).astype(np.float32)
    for order in range(6):
        arguments = {"zoom": 1.7, "order": order, "mode": "reflect"}
        result, weights = ndimage.zoom(image, missing="ignore", weights=True, **arguments)
        np.testing.assert_array_equal(result, ndimage.zoom(image, **arguments))
        np.testing.assert_allclose(weights, 1, atol=1e-6)
    huge = np.full((8, 8), 1e30, np.float32)  # whose squares overflow
    np.testing.assert_array_equal(ndimage.shift(huge, 0.5, order=1, missing="ignore"),
                                  ndimage.shift(huge, 0.5, order=1))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.int32, np.float32])
def test_nodata_is_written_back(dtype):
    image = (waves((60, 70)) * 200 + 20).astype(dtype)
    mask = holes((60, 70), count=6)
    nodata = 7
    given = np.where(mask, nodata, image).astype(dtype)
    result, weights = ndimage.shift(given, SHIFT, mode="mirror", missing="ignore", nodata=nodata,
                                    weights=True)
    assert result.dtype == dtype
    is_missing = weights < 0.5 - 1e-5
    assert is_missing.any()
    assert (result[is_missing] == nodata).all()
    expected = ndimage.shift(image, SHIFT, mode="mirror")
    far = distance_to(mask) > 9
    # 5e-5 of the range of 200, and a rounding
    np.testing.assert_allclose(result[far].astype(float), expected[far].astype(float), atol=1.01)


@pytest.mark.parametrize("nodata, instead", [(0, 1), (255, 254)])
def test_values_that_round_to_nodata_become_the_next_integer(nodata, instead):
    image = np.full((20, 30), 128, np.uint8)
    image[:, 15:] = 1 if nodata == 0 else 254  # the spline overshoots beyond the type's range
    plain = ndimage.shift(image, (0, 0.5), mode="nearest")
    assert (plain == nodata).any()
    result = ndimage.shift(image, (0, 0.5), mode="nearest", missing="ignore", nodata=nodata)
    np.testing.assert_array_equal(result, np.where(plain == nodata, instead, plain))
    beyond = ndimage.shift(image, (0, 2.5), cval=nodata, missing="ignore", nodata=nodata)
    assert (beyond[:, :2] == nodata).all()


def test_wide_integers_keep_their_last_bits():
    image = (np.round(waves((40, 40)) * 1000) + 2**28).astype(np.int32)
    mask = holes((40, 40), count=3)
    nodata = np.iinfo(np.int32).min
    given = np.where(mask, nodata, image)
    result = ndimage.shift(given, SHIFT, mode="mirror", missing="ignore", nodata=nodata)
    expected = scipy.ndimage.shift(image.astype(float), SHIFT, mode="mirror")
    far = distance_to(mask) > 9
    # 5e-5 of the range of 1000 is 0.05, and half for rounding; float32 would be off by up to 16.
    assert np.abs(result[far] - expected[far]).max() < 0.6


def test_channels_do_not_mix():
    image = np.stack([waves((50, 60), seed=s) for s in range(5)], axis=-1).astype(np.float32)
    given = image.copy()
    given[20:24, 30:34, 2] = np.nan
    result, weights = ndimage.rotate(given, 10, reshape=False, missing="ignore", weights=True)
    expected = ndimage.rotate(image, 10, reshape=False)
    for channel in (0, 1, 3, 4):
        np.testing.assert_array_equal(result[..., channel], expected[..., channel])
    assert np.isnan(result[..., 2]).any()
    moved = ndimage.affine_transform(given, np.eye(3), (0.5, 0.25, 0), missing="ignore")
    assert not np.isnan(moved[..., [0, 1, 3, 4]]).any()
    assert np.isnan(moved[..., 2]).any()


def test_points_complex_numbers_and_conversions():
    image = waves((40, 50)) + 1j * waves((40, 50), seed=5)
    given = image.copy()
    given[10, 12] = np.nan
    given[30, 33] = complex(1, np.inf)
    points = np.random.default_rng(3).uniform(0, 39, (2, 400))
    result = ndimage.map_coordinates(given, points, missing="ignore")
    expected = ndimage.map_coordinates(image, points)
    far = np.hypot(points[0] - 10, points[1] - 12) > 13
    far &= np.hypot(points[0] - 30, points[1] - 33) > 13
    np.testing.assert_allclose(result[far], expected[far], atol=2e-6)
    assert np.isfinite(result[far]).all()
    real = given.real.copy()
    as_bytes = ndimage.map_coordinates(real * 200, points, output=np.uint8, missing="ignore",
                                       nodata=255)
    np.testing.assert_allclose(as_bytes[far], expected[far].real * 200, atol=0.51)
    with pytest.raises(ValueError, match="cannot hold NaN"):
        ndimage.map_coordinates(real, points, output=np.uint8, missing="ignore")


def test_order_0_copies():
    image = np.arange(48, dtype=np.float32).reshape(6, 8)
    image[2, 3], image[4, 5] = np.nan, np.inf
    np.testing.assert_array_equal(ndimage.shift(image, (1, 1), order=0, missing="ignore"),
                                  ndimage.shift(image, (1, 1), order=0))


def test_wide_holes_and_empty_channels():
    image = waves((120, 130))
    given = image.copy()
    given[:, 40:] = np.nan  # wider than the samples that are smoothed
    result = ndimage.shift(given, SHIFT, mode="mirror", missing="ignore")
    expected = scipy.ndimage.shift(image, SHIFT, mode="mirror")
    assert np.abs(result - expected)[:, :30].max() <= 5e-5
    assert np.isnan(result[:, 42:]).all()
    pair = np.stack([image, np.full_like(image, np.nan)])
    one = ndimage.shift(pair, (0,) + SHIFT, mode="mirror", missing="ignore")
    np.testing.assert_allclose(one[0], expected, atol=2e-6)
    assert np.isnan(one[1]).all()


def test_arrays_on_a_device():
    given = waves((40, 50)).astype(np.float32)
    given[20, 25] = np.nan
    expected, shares = ndimage.shift(given, SHIFT, missing="ignore", weights=True)
    result, weights = ndimage.shift(warpalign.to_device(given), SHIFT, missing="ignore",
                                    weights=True)
    np.testing.assert_array_equal(result.numpy(), expected)
    np.testing.assert_array_equal(weights.numpy(), shares)


def test_transforms_ignore_missing_samples():
    given = waves((60, 70)).astype(np.float32)
    given[20:23, 25:27] = np.nan
    transform = warpalign.Transform.translation((0.5, 0.25))
    assert 0 < np.isnan(transform.warp(given)).sum() < 30
    assert np.isnan(transform.warp(given, missing="spread")).sum() > 500
    colour = np.stack([given, waves((60, 70), seed=4)], axis=-1).astype(np.float32)
    field = np.zeros((2, 60, 70), np.float32)
    field[0] = 0.25
    warped, weights = warpalign.Transform.displacement(field).warp(colour, weights=True)
    assert warped.shape == weights.shape == colour.shape
    assert 0 < np.isnan(warped[..., 0]).sum() < 30
    assert not np.isnan(warped[..., 1]).any()


@pytest.mark.parametrize("arguments, message", [
    ({"missing": "drop"}, "invalid missing"),
    ({"nodata": 0}, "needs missing='ignore'"),
    ({"weights": True}, "needs missing='ignore'"),
    ({"missing": "ignore", "prefilter": False}, "not coefficients"),
    ({"missing": "ignore", "labels": True}, "labels"),
    ({"missing": "ignore", "nodata": 300}, "no sample of an input"),
    ({"missing": "ignore", "nodata": 0.5}, "no sample of an input"),
    ({"missing": "ignore", "nodata": np.nan}, "no sample of an input"),
    ({"missing": "ignore", "nodata": 255, "output": np.int8}, "no sample of an output"),
    ({"missing": "ignore", "nodata": 9}, "all samples of the input are missing"),
])
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        ndimage.zoom(np.full((6, 7), 9, np.uint8), 2, **arguments)


def test_all_missing():
    with pytest.raises(ValueError, match="all samples of the input are missing"):
        ndimage.shift(np.full((6, 7), np.nan), 1, missing="ignore")


@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("dtype, nodata", [(np.float32, None), (np.float16, None), (np.uint8, 0),
                                           (np.int16, -9)])
def test_device_and_host_agree(monkeypatch, dtype, nodata, on_device):
    shape = (90, 110)
    image = (waves(shape) * 200 + 1).astype(dtype)
    holed = np.where(holes(shape, 40), dtype(np.nan if nodata is None else nodata), image)
    calls = []

    def turned(by_device):
        monkeypatch.setattr(_missing_on_device, "fills", lambda device: by_device)
        given = warpalign.to_device(holed) if on_device else holed
        cval = 7 if nodata is not None else np.nan
        return [np.asarray(part) for part in ndimage.rotate(
            given, 25, missing="ignore", nodata=nodata, weights=True, cval=cval)]

    evaluate = _missing_on_device.evaluate
    monkeypatch.setattr(_missing_on_device, "evaluate",
                        lambda *given: calls.append(given) or evaluate(*given))
    by_host, host_weights = turned(False)
    assert not calls
    by_device, device_weights = turned(True)
    assert len(calls) == 1
    np.testing.assert_allclose(device_weights, host_weights, atol=2e-6)
    assert np.array_equal(np.isnan(by_device), np.isnan(by_host))
    # Both fills stop early, in the widest holes; a difference of rounding is one step of integers,
    # or of float16 at 200.
    step = {np.float32: 0, np.float16: 0.125}.get(dtype, 1)
    assert np.nanmax(np.abs(by_device.astype(float) - by_host)) <= 0.05 + step
    if nodata is not None:
        assert np.array_equal(by_device == nodata, by_host == nodata)


def test_device_fills_stacks_one_by_one(monkeypatch):
    monkeypatch.setattr(_missing_on_device, "fills", lambda device: True)
    image = waves((3, 40, 50)).astype(np.float32)
    image[1, 10:14, 20:24] = np.nan
    together = ndimage.shift(image, (0, 0.5, 0.25), missing="ignore")
    for plane, result in zip(image, together):
        alone = ndimage.shift(plane, (0.5, 0.25), missing="ignore")
        np.testing.assert_allclose(result, alone, atol=1e-6)  # rounding of two orders of sums
