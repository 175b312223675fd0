"""Robust least squares over pairs of photographs: bundle adjustment."""

from typing import NamedTuple

import numpy as np

# The step of finite differences. Parameters are radians or parts of a photograph's side, so that
# residuals change by about 1e-3 pixels, with ten digits of which derivatives are known to six.
_STEP = 1e-6
_MAX_ITERATIONS = 40
_BEHIND = 1e-6  # the last component, relative to that in the middle of a photograph
_CONVERGED = 1e-9  # relative change of the cost


class Links(NamedTuple):
    """Points that pairs of photographs have in common.

    Attributes
    ----------
    reference, moving : ndarray of int, shape (pairs,)
        The numbers of the photographs.
    first : ndarray of int, shape (pairs + 1,)
        Points first[i] to first[i + 1] belong to pair i.
    pair : ndarray of int, shape (points,)
        The pair of each point.
    source, target : ndarray, shape (points, 2)
        The points in the reference photograph and in the moving one.
    """

    reference: np.ndarray
    moving: np.ndarray
    first: np.ndarray
    pair: np.ndarray
    source: np.ndarray
    target: np.ndarray

    @classmethod
    def of(cls, ends, sources, targets):
        """`ends`: (reference, moving) of each pair; the other two: its points, as lists."""
        counts = [len(points) for points in sources]
        ends = np.array(ends, int).reshape(-1, 2)
        return cls(ends[:, 0], ends[:, 1], np.concatenate([[0], np.cumsum(counts)]).astype(int),
                   np.repeat(np.arange(len(counts)), counts),
                   np.concatenate([np.empty((0, 2)), *sources]),
                   np.concatenate([np.empty((0, 2)), *targets]))

    def mean_squares(self, residuals):
        """The mean square of the residuals of each pair, in pixels^2."""
        squares = (residuals ** 2).sum(axis=1)
        return np.add.reduceat(squares, self.first[:-1]) / np.diff(self.first)


def homogeneous(points):
    """(x, y) to (x, y, 1)."""
    return np.concatenate([points, np.ones((*points.shape[:-1], 1))], axis=-1)


def projected(directions, least=0.1):
    """(x, y, z) to (x, y) / z. Directions more than 84 degrees from the axis are moved there, so
    that residuals stay finite while a fit is far from its minimum."""
    lengths = np.linalg.norm(directions, axis=-1)
    depth = np.maximum(directions[..., 2], least * lengths)
    return directions[..., :2] / depth[..., None]


def mapped(homographies, points):
    """Points (x, y) in pixels by one homography or by one for each. Those behind a camera go far
    away."""
    found = np.einsum("...ij,...j->...i", homographies, homogeneous(points))
    return found[..., :2] / np.maximum(found[..., 2:], _BEHIND)


def _derivatives(model, state, links, residuals):
    """The derivatives of the residuals by the parameters of the reference, of the moving
    photograph, and of those that all share: shape (points, 2, parameters)."""
    own, shared = model.parameters, model.shared
    columns = np.empty((*residuals.shape, 2 * own + shared))
    none = np.zeros(shared)
    for k in range(own):
        step = np.zeros(own)
        step[k] = _STEP
        moved = model.moved(state, step, none)
        columns[..., k] = model.residuals(moved, state, links)
        columns[..., own + k] = model.residuals(state, moved, links)
    for k in range(shared):
        step = np.zeros(shared)
        step[k] = _STEP
        moved = model.moved(state, np.zeros(own), step)
        columns[..., 2 * own + k] = model.residuals(moved, moved, links)
    return (columns - residuals[..., None]) / _STEP


def _normal_equations(model, state, links, residuals, weights, count):
    own, shared = model.parameters, model.shared
    size = count * own + shared
    matrix, right = np.zeros((size, size)), np.zeros(size)
    columns = _derivatives(model, state, links, residuals)
    for i, (reference, moving) in enumerate(zip(links.reference, links.moving)):
        points = slice(links.first[i], links.first[i + 1])
        jacobian = columns[points].reshape(-1, columns.shape[-1])
        at = np.concatenate([np.arange(own) + reference * own, np.arange(own) + moving * own,
                             np.arange(shared) + count * own])
        matrix[np.ix_(at, at)] += weights[i] * jacobian.T @ jacobian
        right[at] -= weights[i] * jacobian.T @ residuals[points].ravel()
    return matrix, right


def minimise(model, state, links, count, fixed, scale):
    """Minimise the sum over pairs of n log(1 + s / scale^2), where n is the number of points of a
    pair and s the mean square of its residuals: Cauchy's loss, by which a pair that contradicts the
    others has little weight. Levenberg and Marquardt's method with reweighting.

    Parameters
    ----------
    model : object
        Its `parameters` is the number of parameters of a photograph, and `shared` that of those
        that photographs share. `moved(state, steps, shared steps)` gives the state after steps of
        the shape (count, parameters) or (parameters,). `residuals(state of the reference, state of
        the moving photograph, links)` has the shape (points, 2), in pixels.
    state : object
        Where to begin, as the model takes it.
    links : Links
        The points.
    count : int
        The number of photographs.
    fixed : int
        The photograph that keeps its parameters.
    scale : float
        The residual of a pair, in pixels, beyond which its influence falls.

    Returns
    -------
    The state at the minimum.

    References
    ----------
    M. Brown and D. G. Lowe, "Automatic panoramic image stitching using invariant features",
    International Journal of Computer Vision 74(1), 2007, section 4.
    """
    counts = np.diff(links.first)

    def cost_of(residuals):
        means = links.mean_squares(residuals)
        return (counts * np.log1p(means / scale ** 2)).sum(), 1 / (1 + means / scale ** 2)

    own = model.parameters
    size = count * own + model.shared
    # Photographs without a pair have no equations, and keep their parameters, too.
    free = np.zeros(size, bool)
    for ends in (links.reference, links.moving):
        for index in ends:
            free[index * own:(index + 1) * own] = True
    free[fixed * own:(fixed + 1) * own] = False
    free[count * own:] = True
    residuals = model.residuals(state, state, links)
    cost, weights = cost_of(residuals)
    damping = 1e-4
    for _ in range(_MAX_ITERATIONS):
        matrix, right = _normal_equations(model, state, links, residuals, weights, count)
        matrix, right = matrix[np.ix_(free, free)], right[free]
        diagonal = np.diag(np.maximum(np.diag(matrix), 1e-12))
        before = cost
        while damping < 1e8:
            steps = np.zeros(size)
            steps[free] = np.linalg.solve(matrix + damping * diagonal, right)
            tried = model.moved(state, steps[:count * own].reshape(count, own), steps[count * own:])
            found = model.residuals(tried, tried, links)
            tried_cost, tried_weights = cost_of(found)
            if tried_cost <= cost:
                state, residuals, cost, weights = tried, found, tried_cost, tried_weights
                damping = max(damping / 10, 1e-9)
                break
            damping *= 10
        if before - cost <= _CONVERGED * before:
            break
    return state
