"""Homographies, fits to landmarks, and the error measure of all tables.

Truths and answers map reference coordinates (x, y) to moving coordinates. Pixel centres have
integer coordinates.
"""

import numpy as np


def apply(matrix, points):
    """Map `points` (n x 2) by a 2 x 3 or 3 x 3 matrix."""
    matrix = full(matrix)
    mapped = np.c_[points, np.ones(len(points))] @ matrix.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return mapped[:, :2] / mapped[:, 2:]


def full(matrix):
    matrix = np.asarray(matrix, float)
    return matrix if matrix.shape == (3, 3) else np.vstack([matrix, [0, 0, 1]])


def scale_at(matrix, point):
    """The scale factor at `point`: the square root of the determinant of the Jacobian."""
    step = 0.5
    corner = np.array([[0, 0], [step, 0], [0, step]]) + np.asarray(point)
    across = apply(matrix, corner)
    a, b = across[1] - across[0], across[2] - across[0]
    return float(np.sqrt(abs(a[0] * b[1] - a[1] * b[0])) / step)


def fit_similarity(source, target):
    """Least-squares fit of rotation, scale and translation, without reflection."""
    s, t = source - source.mean(0), target - target.mean(0)
    power = (s**2).sum()
    a = (s * t).sum() / power
    b = (s[:, 0] * t[:, 1] - s[:, 1] * t[:, 0]).sum() / power
    linear = np.array([[a, -b], [b, a]])
    return full(np.c_[linear, target.mean(0) - linear @ source.mean(0)])


def fit_affine(source, target):
    design = np.c_[source, np.ones(len(source))]
    solution, *_ = np.linalg.lstsq(design, target, rcond=None)
    return full(solution.T)


def fit_homography(source, target):
    """Direct linear transform on normalised points, then Gauss-Newton on the distances."""
    def normaliser(points):
        centre = points.mean(0)
        size = np.sqrt(2) / np.sqrt(((points - centre) ** 2).sum(1)).mean()
        return np.array([[size, 0, -size * centre[0]], [0, size, -size * centre[1]], [0, 0, 1]])

    before, after = normaliser(source), normaliser(target)
    s, t = apply(before, source), apply(after, target)
    rows = []
    for (x, y), (u, v) in zip(s, t):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y, -u], [0, 0, 0, x, y, 1, -v * x, -v * y, -v]]
    h = np.linalg.svd(np.array(rows))[2][-1].reshape(3, 3)
    h /= h[2, 2]
    for _ in range(10):
        mapped = apply(h, s)
        w = s @ h[2, :2] + 1
        one, zero = 1 / w, np.zeros(len(s))
        du = np.c_[s * one[:, None], one, zero, zero, zero, -s * (mapped[:, :1] * one[:, None])]
        dv = np.c_[zero, zero, zero, s * one[:, None], one, -s * (mapped[:, 1:] * one[:, None])]
        step, *_ = np.linalg.lstsq(np.vstack([du, dv]), np.r_[t[:, 0] - mapped[:, 0],
                                                              t[:, 1] - mapped[:, 1]], rcond=None)
        h += np.append(step, 0).reshape(3, 3)
    h = np.linalg.inv(after) @ h @ before
    return h / h[2, 2]


FITS = {"similarity": fit_similarity, "affine": fit_affine, "homography": fit_homography}


def overlap_grid(matrix, reference_size, moving_size, steps=15):
    """Points of a grid over the reference that the truth maps inside the moving picture."""
    xs = np.linspace(0, reference_size[0] - 1, steps)
    ys = np.linspace(0, reference_size[1] - 1, steps)
    grid = np.stack(np.meshgrid(xs, ys), -1).reshape(-1, 2)
    homogeneous = np.c_[grid, np.ones(len(grid))] @ full(matrix)[2]
    mapped = apply(matrix, grid)
    limit = np.array(moving_size) - 1
    inside = (mapped >= 0).all(1) & (mapped <= limit).all(1)
    centre = full(matrix)[2] @ np.array([reference_size[0] / 2, reference_size[1] / 2, 1])
    return grid[inside & (homogeneous * np.sign(centre) > 0)]
