"""Affine transforms without aliasing, against sums in double precision."""

import itertools

import numpy as np
import pytest
import scipy.ndimage
import warpalign
from warpalign import Transform, ndimage, to_device


def noise(shape, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape)


def mean_over_footprints(image, matrix, offset, shape, order, mode, cval=0.0):
    """SciPy's splines at the points of each footprint, weighted by Gaussians along the principal
    axes, in double precision."""
    image, matrix = np.asarray(image, np.float64), np.asarray(matrix, np.float64)
    squares, axes = np.linalg.eigh(matrix @ matrix.T)
    if np.allclose(squares, squares[0]):
        axes = np.eye(len(squares))
    filters = []
    for square in squares:
        sigma = max(0.0, (np.sqrt(square) - 1) / 2)
        steps = np.arange(-int(4 * sigma + 0.5), int(4 * sigma + 0.5) + 1)
        weights = np.exp(-0.5 * (steps / sigma) ** 2) if len(steps) > 1 else np.ones(1)
        filters.append(list(zip(steps, weights / weights.sum())))
    inside = "mirror" if mode == "constant" else mode
    coefficients = image if order < 2 or mode in ("nearest", "grid-constant") else (
        scipy.ndimage.spline_filter(image, order, mode=inside))
    result = np.zeros(shape)
    for points in itertools.product(*filters):
        step = axes @ [step for step, _ in points]
        result += np.prod([weight for _, weight in points]) * scipy.ndimage.affine_transform(
            coefficients, matrix, offset + step, shape, order=order, mode=inside, cval=cval,
            prefilter=coefficients is image)
    if mode == "constant":
        column = (-1,) + (1,) * len(shape)
        at = np.tensordot(matrix, np.indices(shape), 1) + np.reshape(offset, column)
        last = np.reshape(image.shape, column) - 1
        result[((at < 0) | (at > last)).any(axis=0)] = cval
    return result


def rotation(degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s], [s, c]])


# A rotation with the same step along both axes, a shear with different ones, one that enlarges
# along an oblique direction, and one that does not shrink.
MATRICES = [2.7 * rotation(20), [[2.0, 1.1], [0.3, 3.5]],
            rotation(30) @ np.diag([0.6, 3]) @ rotation(11), 0.8 * rotation(40)]
# Points are accurate to 1e-6 of a sample, coefficients and sums to 1e-6 of the largest coefficient.
LIMIT = 4e-6


@pytest.mark.parametrize("mode", ["mirror", "reflect", "nearest", "constant", "grid-constant",
                                  "grid-wrap"])
@pytest.mark.parametrize("matrix", MATRICES)
def test_planes(matrix, mode):
    image = noise((48, 61))
    offset = np.array([-3.123, -2.617])
    for order in (1, 2, 3, 4, 5):
        result = ndimage.affine_transform(image, matrix, offset, (22, 25), order=order, mode=mode,
                                          cval=0.7, antialias=True)
        expected = mean_over_footprints(image, matrix, offset, (22, 25), order, mode, cval=0.7)
        limit = LIMIT * (1 + order)
        if mode in ("nearest", "grid-constant"):
            # SciPy cuts the prefilter 12 samples beyond the edge, where the poles of orders 4 and 5
            # have decayed to 4e-6 and 4e-5.
            limit = {4: 2e-5, 5: 1.5e-4}.get(order, limit)
        np.testing.assert_allclose(result, expected, rtol=0, atol=limit)


def test_lines_and_volumes():
    for image, matrix, offset, shape in [
            (noise(200), [[5.3]], [-3.2], (40,)),
            (noise((20, 24, 22)), [[1.5, 0.4, 0], [0.2, 2.1, 0.3], [0, -0.5, 1.8]],
             [1.2, 0.3, 2.4], (8, 9, 7))]:
        for order in (1, 3):
            result = ndimage.affine_transform(image, matrix, offset, shape, order=order,
                                              mode="mirror", antialias=True)
            expected = mean_over_footprints(image, matrix, offset, shape, order, "mirror")
            np.testing.assert_allclose(result, expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize("order", [1, 3])
def test_a_zoom_is_that_of_zoom(order):
    image = noise((60, 81)).astype(np.float32)
    zoomed = ndimage.zoom(image, (15 / 60, 21 / 81), order=order, mode="mirror", antialias=True)
    result = ndimage.affine_transform(image, [59 / 14, 80 / 20], output_shape=(15, 21), order=order,
                                      mode="mirror", antialias=True)
    np.testing.assert_allclose(result, zoomed, rtol=0, atol=LIMIT)


def test_quarter_turns_commute():
    image = noise((64, 64)).astype(np.float32)
    half = np.diag([4.0, 2.5])
    upright = ndimage.affine_transform(image, half, output_shape=(15, 24), antialias=True)
    turned = ndimage.affine_transform(np.rot90(image), half[::-1, ::-1].copy(), [0.5, 0],
                                      output_shape=(24, 15), antialias=True)
    moved = ndimage.affine_transform(image, half, [0, 63 - 0.5 - 23 * 2.5], output_shape=(15, 24),
                                     antialias=True)
    assert upright.shape == (15, 24)
    np.testing.assert_allclose(turned, np.rot90(moved), rtol=0, atol=LIMIT)


def test_other_axes_stay_and_types():
    image = (noise((3, 30, 31)) * 100 + 100).astype(np.uint8)
    matrix = np.eye(3)
    matrix[1:, 1:] = 2 * rotation(10)
    result = ndimage.affine_transform(image, matrix, output_shape=(3, 12, 11), order=1,
                                      antialias=True)
    assert result.dtype == np.uint8
    for plane, plane_result in zip(image, result):
        expected = mean_over_footprints(plane, matrix[1:, 1:], np.zeros(2), (12, 11), 1, "constant")
        np.testing.assert_allclose(plane_result, expected, atol=0.5 + 1e-3)
    mixed = image[0] + 1j * image[1]
    result = ndimage.affine_transform(mixed, matrix[1:, 1:], output_shape=(12, 11), antialias=True)
    np.testing.assert_allclose(
        result.imag, ndimage.affine_transform(mixed.imag, matrix[1:, 1:], output_shape=(12, 11),
                                              antialias=True), atol=1e-5)


def test_arrays_on_a_device_and_missing_samples():
    image = noise((2, 40, 41)).astype(np.float32)
    matrix = np.eye(3)
    matrix[1:, 1:] = 2.2 * rotation(15)
    options = {"output_shape": (2, 16, 17), "antialias": True}
    result = ndimage.affine_transform(to_device(image), matrix, **options)
    np.testing.assert_array_equal(
        result.numpy(), ndimage.affine_transform(image, matrix, **options))
    plane = image[0].copy()
    plane[10:20, 12:22] = np.nan
    result, weights = ndimage.affine_transform(
        plane, matrix[1:, 1:], output_shape=(16, 17), order=1, cval=-9, antialias=True,
        missing="ignore", weights=True)
    share = mean_over_footprints(np.isfinite(plane), matrix[1:, 1:], np.zeros(2), (16, 17), 1,
                                 "constant")
    np.testing.assert_allclose(weights, share, atol=1e-5)
    at = np.tensordot(matrix[1:, 1:], np.indices((16, 17)), 1)
    outside = ((at < 0) | (at > np.reshape(plane.shape, (2, 1, 1)) - 1)).any(axis=0)
    np.testing.assert_array_equal(result[outside], -9)
    np.testing.assert_array_equal(np.isnan(result), (weights < 0.5 - 1e-5) & ~outside)


@pytest.mark.parametrize("options, words", [
    ({"antialias": "least-squares"}, "zoom only"),
    ({"antialias": "yes"}, "invalid antialias"),
    ({"antialias": True, "order": 0}, "order 1 or above"),
    ({"antialias": True, "prefilter": False}, "coefficients"),
    ({"antialias": True, "precision": "double"}, "single precision"),
    ({"antialias": True, "output_shape": (4,), "matrix": np.ones((2, 1))}, "rank"),
])
def test_wrong_choices_are_refused(options, words):
    options = {"matrix": np.eye(2) * 2, **options}
    with pytest.raises(ValueError, match=words):
        ndimage.affine_transform(np.ones((20, 21)), **options)


def test_transforms_warp_without_aliasing():
    image = noise((40, 44)).astype(np.float32)
    matrix = np.eye(3)
    matrix[:2, :2] = 2.2 * rotation(15)
    matrix[:2, 2] = 3.1, -1.7
    result = Transform.affine(matrix).warp(image, output_shape=(16, 17), antialias=True)
    np.testing.assert_array_equal(result, ndimage.affine_transform(
        image, matrix, output_shape=(16, 17), antialias=True))
    matrix[2, 0] = 1e-3
    with pytest.raises(ValueError, match="affine transforms only"):
        Transform.homography(matrix).warp(image, output_shape=(16, 17), antialias=True)


def test_registrations_warp_without_aliasing():
    grid = np.indices((200, 220))
    image = sum(np.cos((a * grid[0] + b * grid[1]) / 9 + c)
                for a, b, c in np.random.default_rng(5).uniform(-1, 1, (40, 3)))
    small = ndimage.zoom(image, 0.5, mode="mirror", antialias=True)
    found = warpalign.register(small, image, motion="similarity")
    assert found.reliable
    aligned = found.warp(image, antialias=True)
    np.testing.assert_allclose(aligned[5:-5, 5:-5], small[5:-5, 5:-5], atol=0.05 * np.ptp(small))
