"""The transform near which a registration looks for its answer."""

import numpy as np

from ._axes import swap_axes


def _points(given, dimensions, what):
    points = np.asarray(given, np.float64)
    if points.ndim != 2 or points.shape[1] != dimensions or not len(points):
        raise ValueError(f"the {what} points of initial must have the shape "
                         f"(points, {dimensions}), not {points.shape}")
    if not np.isfinite(points).all():
        raise ValueError(f"the {what} points of initial must be finite")
    return points


def matrix_of_points(reference, moving, motion):
    """The transform that maps points of the reference to points of the moving image, by least
    squares: a translation for one point, an affine transform for motions beyond a similarity if
    there are enough points, else a similarity [Umeyama 1991]."""
    dimensions = reference.shape[1]
    centre, target = reference.mean(axis=0), moving.mean(axis=0)
    before, after = reference - centre, moving - target
    linear = np.eye(dimensions)
    if motion in ("affine", "homography", "deformable") and len(reference) > dimensions:
        linear = np.linalg.lstsq(before, after, rcond=None)[0].T
    elif motion != "translation" and len(reference) > 1:
        u, values, vt = np.linalg.svd(after.T @ before)
        signs = np.ones(dimensions)
        signs[-1] = np.sign(np.linalg.det(u @ vt))
        spread = np.sum(before**2)
        if spread == 0:
            raise ValueError("the reference points of initial are all the same point")
        scale = 1.0 if motion in ("rigid", "rotation") else values @ signs / spread
        linear = scale * (u * signs) @ vt
    matrix = np.eye(dimensions + 1)
    matrix[:-1, :-1] = linear
    matrix[:-1, -1] = target - linear @ centre
    return matrix


def _is_pair_of_points(initial):
    return (isinstance(initial, (tuple, list)) and len(initial) == 2
            and all(np.ndim(points) == 2 for points in initial))


def initial_matrix(initial, dimensions, motion, spacings=(1, 1)):
    """The homogeneous matrix, in array axes, of what the caller gave as `initial`. None if it is
    None. `spacings`: of the samples of the reference and of the moving image, in which the
    transform of points is rigid. Raises ValueError."""
    if initial is None:
        return None
    if isinstance(initial, str):
        if initial != "identity":
            raise ValueError(f"initial must be a matrix, a former result, a pair of arrays of "
                             f"points or 'identity', not {initial!r}")
        return np.eye(dimensions + 1)
    if _is_pair_of_points(initial):
        reference = _points(initial[0], dimensions, "reference")
        moving = _points(initial[1], dimensions, "moving")
        if len(reference) != len(moving):
            raise ValueError(f"initial has {len(reference)} reference points, but {len(moving)} "
                             "moving points")
        before, after = (np.diag([*np.broadcast_to(spacing, dimensions), 1.0])
                         for spacing in spacings)
        matrix = matrix_of_points(reference @ before[:-1, :-1], moving @ after[:-1, :-1], motion)
        return np.linalg.inv(after) @ matrix @ before
    matrix = np.asarray(getattr(initial, "matrix", initial), np.float64)
    if matrix.shape == (dimensions, dimensions + 1):
        matrix = np.vstack([matrix, np.eye(dimensions + 1)[-1:]])
    if matrix.shape != (dimensions + 1,) * 2:
        raise ValueError(
            f"initial must be a matrix of shape ({dimensions + 1}, {dimensions + 1}) or "
            f"({dimensions}, {dimensions + 1}), a former result, or two arrays of points, not of "
            f"shape {matrix.shape}")
    return matrix


def numbers_xy(matrix):
    """The elements, row by row, of a homogeneous matrix for (x, y, ..., 1), or None."""
    if matrix is None:
        return None
    return swap_axes(matrix).ravel().tolist()


INITIAL = """\
    initial : array_like, result, pair of array_like or 'identity', optional
        Where to look for the answer first: a matrix from pixels (or voxels) of the reference,
        (row, column, 1), to the moving image; a former result; or a pair of arrays of corresponding
        points, of the shape (points, axes), in the reference and in the moving image; or
        ``'identity'``, for images that are aligned already. If a fit that
        starts there gives a reliable result, that is the answer, unless the point sources of sparse
        images agree on one. Otherwise the search runs as without it. Of poses that match equally
        well, as in repeating textures, the one nearest to ``initial`` is the answer. A transform
        that is singular, mirrored or outside of the limits, or that puts the images apart, raises
        ValueError."""
