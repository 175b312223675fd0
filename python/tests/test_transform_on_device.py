"""Transforms whose fields lie on a device."""

import numpy as np
import pytest
import warpalign
from warpalign import Transform, ndimage

# Both compute in double precision: a few roundings of coordinates below 100.
ROUNDING = 1e-11


@pytest.fixture(scope="module")
def device():
    device = warpalign.open_device()
    if not device.info.double_precision:
        pytest.skip("the device has no double precision")
    return device


def _field(ndim, dtype=np.float64):
    shape = (19, 23) if ndim == 2 else (9, 12, 14)
    grid = np.indices(shape, dtype=np.float64)
    waves = [1.5 * np.sin(0.3 * grid[a - 1] + a) for a in range(ndim)]
    return Transform.displacement(np.array(waves, dtype))


def _chain(ndim):
    matrix = np.eye(ndim + 1)
    matrix[:ndim, :ndim] += 0.05 * np.arange(ndim * ndim).reshape(ndim, ndim) / ndim
    matrix[:ndim, ndim] = 1.5
    affine = Transform.affine(matrix)
    return affine @ _field(ndim, np.float32) @ affine


TRANSFORMS = [_field(2), _field(3), _field(2).inverse(), _field(3, np.float32).inverse(), _chain(2),
              _chain(3), Transform.affine([[1, 0.1, 2], [0, 1.2, -1], [0, 0, 1]]),
              Transform.homography([[1, 0.1, 2], [0, 1.2, -1], [1e-3, 0, 1]]),
              Transform.bspline(np.random.default_rng(1).normal(0, 0.3, (2, 8, 9)), spacing=3.0)]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_points_are_mapped_as_on_the_host(device, transform):
    points = np.random.default_rng(2).uniform(-3, 25, (200, transform.ndim))
    found = transform.points(warpalign.to_device(points, device))
    assert isinstance(found, warpalign.DeviceArray)
    # The iterations of an inverse end within 1e-10.
    tolerance = 1e-9 if transform.kind == "inverse" else ROUNDING
    np.testing.assert_allclose(found.numpy(), transform.points(points), atol=tolerance)


@pytest.mark.parametrize("transform", TRANSFORMS[:6], ids=repr)
@pytest.mark.parametrize("what", ["field", "positions"])
def test_grids_are_mapped_as_on_the_host(device, transform, what):
    tolerance = 1e-9 if transform.kind == "inverse" else ROUNDING
    shape = (7, 11) if transform.ndim == 2 else (5, 6, 7)
    for grid in (shape,) if transform.kind == "chain" else (None, shape):
        found = getattr(transform, what)(grid, device=device)
        expected = getattr(transform, what)(grid)
        assert found.shape == expected.shape and found.dtype == np.float64
        np.testing.assert_allclose(found.numpy(), expected, atol=tolerance)
    single = getattr(transform, what)(shape, device=device, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single.numpy(), getattr(transform, what)(shape), atol=3e-6)


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_images_on_the_device_are_warped_as_on_the_host(device, ndim, precision):
    transform = _chain(ndim)
    image = np.random.default_rng(3).random((19, 23) if ndim == 2 else (9, 12, 14))
    image = image.astype(np.float32 if precision == "single" else np.float64)
    expected = ndimage.map_coordinates(image, transform.positions(image.shape), mode="nearest",
                                       precision="double", output=np.float64)
    found = transform.warp(warpalign.to_device(image, device), mode="nearest", precision=precision)
    # Single precision: coordinates below 25 are rounded to 1e-6, where slopes are below 3.
    np.testing.assert_allclose(found.numpy(), expected,
                               atol=1e-5 if precision == "single" else 1e-12)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("transform", [
    _field(2), _field(3, np.float32), _chain(3),
    Transform.homography([[1, 0.1, 2], [0, 1.1, -1], [1e-3, 0, 1]]) @ _field(2),
    _field(2) @ _field(2), _field(2).inverse()], ids=repr)
def test_any_transform_and_order_warps_as_on_the_host(device, transform, order):
    """On GPUs, one kernel serves orders 1 and 3 of the first four."""
    shape = (19, 23) if transform.ndim == 2 else (9, 12, 14)
    image = np.random.default_rng(5).random(shape).astype(np.float32)
    expected = ndimage.map_coordinates(image, transform.positions(shape), order=order,
                                       mode="mirror", precision="double", output=np.float64)
    found = transform.warp(warpalign.to_device(image, device), order=order, mode="mirror")
    assert found.dtype == np.float32
    # Coordinates below 25 are rounded to 1e-6 at most, where slopes are below 3.
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64, np.complex64])
def test_images_of_any_type_are_warped(device, dtype):
    image = np.arange(19 * 23).reshape(19, 23).astype(dtype)
    found = _field(2).warp(warpalign.to_device(image, device), mode="nearest")
    assert found.dtype == dtype
    expected = _field(2).warp(image, mode="nearest")
    # Integers may be rounded to either neighbour.
    np.testing.assert_allclose(found.numpy(), expected, atol=1.001 if dtype in (np.uint8, np.int32)
                               else 2e-3)


def test_the_plan_of_a_warp_is_kept(device):
    image = warpalign.to_device(np.ones((19, 23), np.float32), device)
    device.release_memory()
    for _ in range(2):
        _field(2).warp(image)
    assert device.kept_plans == 1
    device.release_memory()
    assert device.kept_plans == 0


def test_the_field_is_copied_to_the_device_once(device):
    transform = _field(2)
    transform.field(device=device)
    copy = transform._copy
    transform.warp(warpalign.to_device(np.ones((19, 23), np.float32), device))
    assert transform._copy is copy


def test_options_that_need_the_host_still_work(device):
    transform = _chain(2)
    image = warpalign.to_device(np.arange(19 * 23, dtype=np.float32).reshape(19, 23), device)
    found = transform.warp(image, missing="ignore", mode="nearest")
    np.testing.assert_allclose(found.numpy(), transform.warp(image, mode="nearest").numpy(),
                               atol=1e-3)  # of values up to 437


def test_points_of_another_type_and_no_points(device):
    transform = _field(2)
    points = np.array([[1, 2], [3, 4]], np.float32)
    found = transform.points(warpalign.to_device(points, device))
    np.testing.assert_allclose(found.numpy(), transform.points(points), atol=ROUNDING)


def test_a_thin_plate_spline_is_for_the_host(device):
    points = [[0, 0], [0, 10], [10, 0], [10, 10.0], [5, 5]]
    moved = np.array(points) + [[0, 0], [0, 1], [1, 0], [0, 0], [1, 1]]
    plate = Transform.from_points(points, moved, "thin-plate")
    with pytest.raises(NotImplementedError, match="thin-plate spline"):
        plate.field((8, 8), device=device)
    image = warpalign.to_device(np.eye(12, dtype=np.float32), device)
    assert plate.warp(image).shape == (12, 12)


def test_wrong_points_are_refused(device):
    transform = _field(2)
    with pytest.raises(ValueError, match=r"\(n, 2\)"):
        transform.points(warpalign.to_device(np.zeros((4, 3)), device))
    with pytest.raises(TypeError, match="real"):
        transform.points(warpalign.to_device(np.zeros((4, 2), np.complex64), device))
