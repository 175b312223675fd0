"""The transform near which a registration looks for its answer."""

import numpy as np

from . import _core
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


def _is_one(initial):
    """Whether `initial` is a transform for all images, not a sequence with one for each."""
    if isinstance(initial, str) or hasattr(initial, "matrix"):
        return True
    if isinstance(initial, np.ndarray):
        return initial.ndim == 2
    return (isinstance(initial, (list, tuple)) and len(initial) > 0
            and all(np.ndim(row) == 1 for row in initial))


def initial_matrices(initial, count, motion, what):
    """The matrix of initial_matrix() or None for each of `count` images, by its index: a list, or
    Repeated. `initial`: one for all images, a sequence with one or None for each, or a
    StackRegistration. `what`: the plural of the images, for messages. `count`: None if it is not
    known. Raises ValueError."""
    if initial is None:
        return None
    if _is_one(initial):
        return Repeated(initial_matrix(initial, 2, motion))
    if count is None:
        raise ValueError(f"initial has a transform for each of the {what}, which must be counted "
                         "first: pass them as an array or a list")
    if hasattr(initial, "matrices"):
        initial = [matrix if reliable else None for matrix, reliable
                   in zip(initial.matrices, initial.drift["reliable"], strict=True)]
    if len(initial) != count:
        raise ValueError(f"initial has {len(initial)} transforms, but there are {count} {what}; "
                         "give one for each, or one for all")
    matrices = []
    for index, one in enumerate(initial):
        try:
            matrices.append(initial_matrix(one, 2, motion))
        except ValueError as error:
            raise ValueError(f"transform {index} of {count}: {error}") from None
    return matrices


class Repeated:
    """The same item for every index."""

    def __init__(self, item):
        self._item = item

    def __getitem__(self, index):
        return self._item


def check_initial(matrix, options, reference, moving, what):
    """Raise ValueError for a matrix that no registration of images of these shapes accepts."""
    try:
        _core.check_initial(numbers_xy(matrix), options, reference, moving)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None


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

_EACH = """\
    initial : optional
        Where to look for the answer first: what :func:`register` takes as ``initial`` (but two
        arrays of points only within a sequence), for all {0}, or a sequence with one or None for
        each.{1} The wrong number of them raises ValueError before anything is registered, and so
        does a transform that is singular, mirrored or outside of the limits, or that puts the
        images apart{2}."""

INITIAL_OF_PAIRS = _EACH.format(
    "pairs", "", "; with pairs that are read one by one, when its pair is read")
INITIAL_OF_FRAMES = _EACH.format(
    "frames", " One for all leads from the reference, and several from the same image, such as "
    "those of another run; a former result of register_stack() stands for the transforms of its "
    "reliable frames.", "")
