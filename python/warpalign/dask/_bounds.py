"""Where a transform leads the points of a box: boxes that are guaranteed to hold all of them.

A graph needs to know the samples that each of its tasks reads before any position is evaluated.
Boxes follow from the transform's own numbers, so they cost a pass over the coefficients near the
box instead of one over its points. For 128 x 128 x 128 points and a B-spline with a control point
every 5 pixels, that takes 1.5 ms; evaluating the points takes 500 ms on two cores.

* A matrix leads a box to the hull of its corners, and so does a homography that leads no point of
  the box to infinity.
* The displacement of a field is a mean of its samples or B-spline coefficients with weights of 0 or
  more that add up to 1. It lies between their extremes (the convex hull property). The weighted
  mean of the points of the grid is the point itself, so the position also lies between the extremes
  of the grid's points plus their displacements. The box is where both bounds hold: the first one is
  tight for fields of small slopes, the second one for fields with rotations or scales in them.
* The inverse of a field leads p to a point x with x = p - u(x), so to where p minus the bounds of
  the displacement is. Bounds of u in that box are narrower, which makes the box narrower, and so
  on.
* A chain leads the box from one of its transforms to the next one. In addition, each position is
  the product of the chain's matrices plus displacements that later matrices turn and scale, which
  bounds it without growing twice where one matrix undoes another, as directions of millimetres do.
* A thin-plate spline has no such bounds, since its weights cancel. All points are evaluated.
"""

from dataclasses import dataclass, replace

import numpy as np

from .._axes import swap_axes
from .._transform import _grid

# Of a point, for rounding in the evaluation of transforms: an absolute and a relative share. A box
# that is larger than necessary by so little reads no more than one sample more.
_ROUNDING = 1e-6, 1e-9
# The box of an inverse narrows by the field's slope in each step, which is mostly below 1/2.
_STEPS = 8


def positions_in(transform, region):
    """The positions in the moving image of the pixels in a region, a tuple of slices of the
    reference: an array of shape (ndim, ...). `transform` maps pixels."""
    shape = tuple(span.stop - span.start for span in region)
    positions = np.empty((len(shape), *shape))
    grid = _grid(shape, [span.start for span in region])
    transform._core.field(grid, positions, "edge", False)
    return positions


def _wider(box):
    absolute, relative = _ROUNDING
    size = np.where(np.isfinite(box), np.abs(box), 0)
    return box + np.array([[-1], [1]]) * (absolute + relative * size)


def _both(box, other):
    """Where two boxes overlap. Rounding must not make it empty."""
    low, high = np.maximum(box[0], other[0]), np.minimum(box[1], other[1])
    return np.stack([np.minimum(low, high), np.maximum(low, high)])


def _linear(matrix, box):
    """The box of matrix @ p for the points p of a box."""
    positive, negative = np.maximum(matrix, 0), np.minimum(matrix, 0)
    return np.stack([positive @ box[0] + negative @ box[1], positive @ box[1] + negative @ box[0]])


@dataclass(frozen=True)
class _Where:
    """Where transforms have led the points p of the first box: into `box`, and to
    linear @ p + shift plus a vector in `rest`."""

    box: np.ndarray
    linear: np.ndarray
    shift: np.ndarray
    rest: np.ndarray

    @classmethod
    def at(cls, box):
        ndim = box.shape[1]
        return cls(box, np.zeros((ndim, ndim)), np.zeros(ndim), box)


class _Matrix:
    def __init__(self, transform):
        self._matrix = transform.matrix

    def lead(self, where):
        linear, shift = self._matrix[:-1, :-1], self._matrix[:-1, -1]
        below = _linear(self._matrix[-1:, :-1], where.box)[:, 0] + self._matrix[-1, -1]
        if below[0] == below[1] == 1:
            return _Where(_linear(linear, where.box) + shift, linear @ where.linear,
                          linear @ where.shift + shift, _linear(linear, where.rest))
        return _Where.at(self._projected(where.box, below))

    def _projected(self, box, below):
        ndim = box.shape[1]
        if below[0] <= 0 <= below[1]:
            return np.array([[-np.inf], [np.inf]]).repeat(ndim, 1)
        choices = np.indices((2,) * ndim).reshape(ndim, -1)
        corners = np.take_along_axis(box, choices.T, 0)
        corners = np.column_stack([corners, np.ones(len(corners))]) @ self._matrix.T
        found = corners[:, :-1] / corners[:, -1:]
        return np.stack([found.min(0), found.max(0)])


def _cubic_coefficients(samples):
    """The coefficients of the cubic B-splines through samples, mirrored at the edges, and one more
    at each end of the axes after the first one. Computed here, because the process that makes the
    graph may have no device."""
    pole = np.sqrt(3) - 2
    for axis in range(1, samples.ndim):
        n = samples.shape[axis]
        if n == 1:
            continue
        lines = np.ascontiguousarray(np.moveaxis(samples, axis, 0)) * 6
        # The sum over all mirrored samples before the first one; the pole's 40th power is 1e-23.
        far = np.arange(40) % (2 * n - 2)
        lines[0] = np.tensordot(pole ** np.arange(40), lines[np.minimum(far, 2 * n - 2 - far)], 1)
        for i in range(1, n):
            lines[i] += pole * lines[i - 1]
        lines[-1] = pole / (pole ** 2 - 1) * (lines[-1] + pole * lines[-2])
        for i in range(n - 2, -1, -1):
            lines[i] = pole * (lines[i + 1] - lines[i])
        samples = np.moveaxis(lines, 0, axis)
    return np.pad(samples, [(0, 0)] + [(1, 1)] * (samples.ndim - 1), "reflect")


class _Field:
    """A displacement or a B-spline."""

    def __init__(self, transform):
        core, ndim = transform._core, transform.ndim
        grid = core.grid
        values = np.empty((ndim, *grid.shape[ndim - 1::-1]))
        core.copy_samples(values)
        matrix = np.eye(4)
        matrix[:3, :3] = np.reshape(grid.direction, (3, 3)) * np.array(grid.spacing)
        matrix[:3, -1] = grid.origin
        axes = [*range(ndim), 3]
        matrix = swap_axes(matrix[np.ix_(axes, axes)])
        cubic = core.interpolation == "cubic"
        if cubic and transform.kind == "displacement":
            values = _cubic_coefficients(values)
            matrix[:-1, -1] -= matrix[:-1, :-1].sum(1)  # of the coefficients before the first ones
        self._values = values
        self._to_point, self._to_index = matrix[:-1, :-1], np.linalg.inv(matrix[:-1, :-1])
        self._origin = matrix[:-1, -1]
        self._before = int(cubic)  # of the four coefficients of a point, those before its cell
        # The displacement is constant beyond these indices.
        self._first = np.full(ndim, self._before)
        self._last = np.array(values.shape[1:]) - 1 - self._before
        axes = tuple(range(1, ndim + 1))
        self.extremes = np.stack([values.min(axes), values.max(axes)])  # of all displacements

    def _nodes(self, box):
        """The slices of the grid that the displacements in a box depend on, and the box of indices
        beyond the ends of the grid."""
        indices = _wider(_linear(self._to_index, box - self._origin))
        inside = np.clip(indices, self._first, self._last)
        low = np.maximum(np.floor(inside[0]) - self._before, 0).astype(int)
        high = np.ceil(inside[1] + self._before).astype(int)
        high = np.minimum(high, np.array(self._values.shape[1:]) - 1)
        return tuple(map(slice, low.tolist(), (high + 1).tolist())), indices - inside

    def displacements(self, box):
        """Bounds of the displacements in a box."""
        nodes, _ = self._nodes(box)
        values = self._values[:, *nodes].reshape(len(self._values), -1)
        return np.stack([values.min(1), values.max(1)])

    def lead(self, where):
        nodes, beyond = self._nodes(where.box)
        places = np.ogrid[nodes]
        displaced, points = np.empty_like(where.box), np.empty_like(where.box)
        for axis, along in enumerate(self._values[:, *nodes]):
            displaced[:, axis] = along.min(), along.max()
            there = along + self._origin[axis]
            for step, place in zip(self._to_point[axis], places):
                if step:
                    there += step * place
            points[:, axis] = there.min(), there.max()
        points += _linear(self._to_point, beyond)
        return replace(where, box=_both(where.box + displaced, points),
                       rest=where.rest + displaced)


class _InverseOfField:
    def __init__(self, transform):
        self._field = _Field(transform._of(transform._core.inverse()))

    def lead(self, where):
        displaced = self._field.extremes
        box = where.box - displaced[::-1]
        for _ in range(_STEPS):
            displaced = self._field.displacements(box)
            before, box = box, _both(box, _wider(where.box - displaced[::-1]))
            if np.abs(box - before).max() < 0.5:
                break
        return replace(where, box=box, rest=where.rest - displaced[::-1])


def _steps_of(transform):
    """What leads boxes from each transform of a chain to the next one."""
    if transform.kind == "chain":
        return [step for member in transform.members for step in _steps_of(member)]
    if transform.matrix is not None:
        return [_Matrix(transform)]
    return [(_InverseOfField if transform.kind == "inverse" else _Field)(transform)]


def _box_of(steps, region):
    start = np.array([[span.start for span in region], [span.stop - 1 for span in region]], float)
    ndim = len(region)
    where = _Where(start, np.eye(ndim), np.zeros(ndim), np.zeros((2, ndim)))
    for step in steps:
        where = step.lead(where)
        if not np.isfinite(where.box).all():  # beyond the horizon of a homography
            return where.box
        # A homography starts again: `linear` is then 0.
        direct = _linear(where.linear, start) + where.shift + where.rest
        where = replace(where, box=_wider(_both(where.box, direct)))
    return where.box


def _has_plate(transform):
    if transform.kind == "chain":
        return any(map(_has_plate, transform.members))
    of = transform._core.inverse() if transform.kind == "inverse" else transform._core
    return of.kind == "thin_plate"


def _evaluated(transform, region):
    """The box of all positions that are numbers."""
    rows = positions_in(transform, region).reshape(transform.ndim, -1)
    low = np.nanmin(rows, 1, initial=np.inf)
    high = np.nanmax(rows, 1, initial=-np.inf)
    return np.where(low > high, 0, np.stack([low, high]))


def bounds_of(transform):
    """A function from a region, a tuple of slices of the reference, to a box, an array of the
    lowest and the highest coordinates that its pixels have in the moving image. `transform` maps
    pixels."""
    if _has_plate(transform):
        return lambda region: _wider(_evaluated(transform, region))
    steps = _steps_of(transform)
    return lambda region: _box_of(steps, region)
