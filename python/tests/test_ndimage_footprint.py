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


def test_registrations_warp_without_aliasing():
    grid = np.indices((200, 220))
    image = sum(np.cos((a * grid[0] + b * grid[1]) / 9 + c)
                for a, b, c in np.random.default_rng(5).uniform(-1, 1, (40, 3)))
    small = ndimage.zoom(image, 0.5, mode="mirror", antialias=True)
    found = warpalign.register(small, image, motion="similarity")
    assert found.reliable
    aligned = found.warp(image, antialias=True)
    np.testing.assert_allclose(aligned[5:-5, 5:-5], small[5:-5, 5:-5], atol=0.05 * np.ptp(small))


needs_doubles = pytest.mark.skipif("not warpalign.open_device().info.double_precision",
                                   reason="the device has no double precision")


def local_means(image, positions, jacobians, order, mode, cval=0.0):
    """SciPy's spline at the points of each output's own footprint, summed in double precision.

    `positions` and `jacobians` are arrays of the output's shape with the point as the last axis,
    and the derivatives of its coordinates (rows) along the output's axes (columns) as the last two.
    """
    inside = "mirror" if mode == "constant" else mode
    coefficients = image if order < 2 else scipy.ndimage.spline_filter(image, order, mode=inside)
    result = np.empty(positions.shape[:-1])
    for index in np.ndindex(result.shape):
        centre, jacobian = positions[index], jacobians[index]
        if not np.isfinite(centre).all() or mode == "constant" and (
                (centre < 0) | (centre > np.array(image.shape) - 1)).any():
            result[index] = cval
            continue
        squares, axes = np.linalg.eigh(jacobian @ jacobian.T)
        if np.allclose(squares, squares[0], rtol=1e-9):
            axes = np.eye(len(squares))
        sigmas = np.maximum(0, (np.sqrt(squares) - 1) / 2)
        radii = (4 * sigmas + 0.5).astype(int)
        steps = np.array(list(itertools.product(*[range(-r, r + 1) for r in radii])))
        weights = np.exp(-0.5 * np.sum((steps / np.where(radii > 0, sigmas, 1)) ** 2, axis=1))
        values = scipy.ndimage.map_coordinates(
            coefficients, (centre + steps @ axes.T).T, order=order, mode=inside, prefilter=False)
        result[index] = weights @ values / weights.sum()
    return result


def homography_points(matrix, shape):
    """The points of all outputs under a homography in array axes, and the Jacobians there."""
    outputs = np.stack([*np.indices(shape), np.ones(shape)], axis=-1)
    mapped = outputs @ matrix.T
    points = mapped[..., :2] / mapped[..., 2:]
    jacobians = (matrix[:2, :2] - points[..., :, None] * matrix[2, :2]) / mapped[..., 2, None, None]
    return points, jacobians


# It shrinks by 1.5 at the top left, and by 6 along an oblique direction at the bottom right.
HOMOGRAPHY = np.array([[1.7, 0.3, 2.21], [-0.2, 1.6, 4.13], [-0.011, -0.013, 1]])


@needs_doubles
@pytest.mark.parametrize("mode", ["mirror", "reflect", "constant", "grid-wrap"])
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_homographies(order, mode):
    image = noise((70, 81))
    points, jacobians = homography_points(HOMOGRAPHY, (20, 23))
    expected = local_means(image, points, jacobians, order, mode, 0.7)
    options = {"output_shape": (20, 23), "order": order, "mode": mode, "cval": 0.7,
               "antialias": True}
    result = Transform.homography(HOMOGRAPHY).warp(image, **options)
    # Transform samples its points, so that J is a difference. It is within 3 % of the derivative.
    assert np.abs(result - expected).max() < 0.02
    from warpalign.ndimage._planes import transform_planes
    del options["output_shape"]
    exact = transform_planes(image, HOMOGRAPHY, (20, 23), **options)
    # Both compute in double precision; SciPy's filter of reflected samples is accurate to 1e-8 on
    # 70 samples.
    np.testing.assert_allclose(exact, expected, rtol=0, atol=1e-12 if mode != "reflect" else 1e-8)


@needs_doubles
@pytest.mark.parametrize("order", [1, 3])
def test_grids_of_points(order):
    image = noise((70, 81))
    grid = np.indices((30, 32))
    points = np.stack([2.2 * grid[0] + 0.4 * grid[1] + 3 * np.sin(grid[1] / 5) - 0.3,
                       1.9 * grid[1] - 0.3 * grid[0] + 0.02 * grid[0] * grid[1] + 6])
    jacobians = np.stack([np.stack(np.gradient(along), axis=-1) for along in points], axis=-2)
    expected = local_means(image, np.moveaxis(points, 0, -1), jacobians, order, "constant", -1)
    result = ndimage.map_coordinates(image, points, order=order, cval=-1, antialias=True)
    assert (expected == -1).any() and (expected != -1).any()
    # Elements of J J^T below 1e-4 of its trace count as 0, so that rounded coordinates do not choose
    # the axes.
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-4)
    assert np.median(np.abs(result - expected)) < 1e-14
    mapped = ndimage.geometric_transform(
        image, lambda index: points[:, index[0], index[1]], output_shape=(30, 32), order=order,
        cval=-1, antialias=True)
    np.testing.assert_array_equal(mapped, result)
    # Points that are missing give cval, and are no neighbours of others.
    points[:, 5, 6] = np.nan
    result = ndimage.map_coordinates(image, points, order=order, cval=-1, antialias=True)
    assert result[5, 6] == -1
    near = np.zeros(result.shape, bool)
    near[4:7, 5:8] = True
    np.testing.assert_allclose(result[~near], expected[~near], rtol=0, atol=2e-4)
    assert np.isfinite(result).all() and np.abs(result[5, 5] - expected[5, 5]) < 0.1


@needs_doubles
def test_volumes_of_points():
    image = noise((24, 26, 28))
    grid = np.indices((8, 9, 7))
    points = np.stack([2.1 * grid[0] + 0.2 * grid[2] + 1, 1.8 * grid[1] + 0.05 * grid[1] ** 2 + 2,
                       2.6 * grid[2] - 0.3 * grid[0] + 4])
    jacobians = np.stack([np.stack(np.gradient(along), axis=-1) for along in points], axis=-2)
    expected = local_means(image, np.moveaxis(points, 0, -1), jacobians, 3, "mirror")
    result = ndimage.map_coordinates(image, points, mode="mirror", antialias=True)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


@needs_doubles
@pytest.mark.parametrize("mode", ["mirror", "constant", "grid-wrap", "nearest", "grid-constant"])
def test_double_precision(mode):
    image = noise((48, 61))
    offset = np.array([-3.123, -2.617])
    for matrix in MATRICES:
        for order in (1, 3):
            result = ndimage.affine_transform(image, matrix, offset, (22, 25), order=order,
                                              mode=mode, cval=0.7, antialias=True,
                                              precision="double")
            expected = mean_over_footprints(image, matrix, offset, (22, 25), order, mode, cval=0.7)
            np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)
    # Integers beyond the 24 bits of a float stay apart.
    wide = np.round(image * 2**40).astype(np.int64)
    result = ndimage.affine_transform(wide, MATRICES[0], offset, (22, 25), order=1, mode="mirror",
                                      antialias=True)
    expected = mean_over_footprints(wide, MATRICES[0], offset, (22, 25), 1, "mirror")
    assert np.abs(result - expected).max() <= 0.51


@needs_doubles
def test_strong_reductions_sample_the_footprint_sparsely():
    # Beyond a step of 33 a footprint keeps 129 points along each axis, which are farther apart.
    image = scipy.ndimage.gaussian_filter(noise((900, 900)), 2) + 1
    matrix = 50 * rotation(20)
    result = ndimage.affine_transform(image, matrix, (100, 300), (10, 10), order=1, mode="mirror",
                                      antialias=True, precision="double")
    expected = mean_over_footprints(image, matrix, (100, 300), (10, 10), 1, "mirror")
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-3)


@needs_doubles
def test_local_footprints_of_arrays_on_a_device_types_and_channels():
    image = (noise((70, 81)) * 100 + 128).astype(np.uint8)
    transform = Transform.homography(HOMOGRAPHY)
    options = {"output_shape": (20, 23), "antialias": True, "order": 1}
    result = transform.warp(image, **options)
    assert result.dtype == np.uint8
    np.testing.assert_array_equal(transform.warp(to_device(image), **options).numpy(), result)
    colour = np.stack([image, 255 - image], axis=-1)
    both = transform.warp(colour, **options)
    assert both.shape == (20, 23, 2)
    np.testing.assert_array_equal(both[..., 0], result)
    waves = image + 1j * (255 - image.astype(np.float32))
    both = transform.warp(waves.astype(np.complex64), **options)
    on_device = transform.warp(to_device(waves.astype(np.complex64)), **options)
    assert on_device.dtype == np.complex64
    np.testing.assert_allclose(on_device.numpy(), both, atol=3e-5)  # of up to 255, in float32


@needs_doubles
def test_local_footprints_and_missing_samples():
    image = noise((70, 81))
    image[30:40, 30:44] = np.nan
    points, jacobians = homography_points(HOMOGRAPHY, (20, 23))
    from warpalign.ndimage._planes import transform_planes
    result, weights = transform_planes(image, HOMOGRAPHY, (20, 23), order=1, cval=-9,
                                       antialias=True, missing="ignore", weights=True)
    share = local_means(np.isfinite(image).astype(float), points, jacobians, 1, "constant")
    np.testing.assert_allclose(weights, share, atol=1e-6)
    outside = ((points < 0) | (points > np.array(image.shape) - 1)).any(axis=-1)
    np.testing.assert_array_equal(np.isnan(result), (weights < 0.5 - 1e-5) & ~outside)


@pytest.mark.parametrize("options, words", [
    ({"coordinates": np.zeros((2, 5))}, "grid of points with 2 axes"),
    ({"order": 0}, "order 1 or above"),
    ({"prefilter": False}, "coefficients"),
    ({"antialias": "least-squares"}, "zoom only"),
])
def test_wrong_points_are_refused(options, words):
    options = {"coordinates": np.zeros((2, 4, 4)), "antialias": True, **options}
    with pytest.raises(ValueError, match=words):
        ndimage.map_coordinates(np.ones((20, 21)), **options)
    if "coordinates" not in options or options["coordinates"].ndim == 2:
        with pytest.raises(ValueError, match="rank"):
            ndimage.geometric_transform(np.ones((20, 21)), lambda i: (i[0], i[0]),
                                        output_shape=(5,), antialias=True)


@needs_doubles
def test_results_warp_without_aliasing(scene):
    noisy = scene + 20 * noise(scene.shape)
    found = warpalign.register(scene, scene, motion="homography", refine=True)
    np.testing.assert_allclose(found.warp(noisy, antialias=True, mode="mirror"), noisy, atol=1)
    local = warpalign.register_local(scene, np.roll(scene, 2, axis=1), window=64)
    np.testing.assert_allclose(local.warp(scene, antialias=True), local.warp(scene), atol=1)
    stack = warpalign.register_stack([scene, scene], motion="translation")
    for frame in stack.warp([scene, scene], antialias=True):
        np.testing.assert_allclose(frame, scene, atol=1e-3)
