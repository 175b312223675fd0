"""Gains that make photographs of different exposure equally bright."""

import numpy as np

from ._solution import overlap_points

# Standard deviations of the mean gray level of an overlap, in parts of the range of gray levels,
# and of a gain. Brown & Lowe take 10 / 255 and 0.1, which leave a third of a usual difference.
_LEVEL = 2 / 255
_GAIN = 0.3
_PER_SIDE = 32  # points along a photograph's longer side
_SATURATED = 0.98  # of the range: there, gray levels no longer follow the exposure


def _levels(gray, factor, shape, points):
    """The reduced image at points (x, y) from the whole one's centre: the nearest pixels."""
    at = (points + (np.array(shape[::-1]) - 1) / 2 + 0.5) / factor
    columns, rows = np.clip(at.astype(int), 0, np.array(gray.shape[::-1]) - 1).T
    return gray[rows, columns].astype(float)


def full_scale(dtype, grays):
    """The largest gray level: of integers that of the type, of others what is measured."""
    if dtype.kind in "ui":
        return float(np.iinfo(dtype).max)
    return float(max(np.nanmax(np.where(np.isfinite(gray), gray, 0)) for gray in grays))


def estimate_gains(grays, factors, shapes, matrices, dtype):
    """A gain for each photograph, by least squares over all overlaps.

    Minimises the sum over overlaps of N ((g_i I_ij - g_j I_ji)^2 / level^2 + (1 - g_i)^2 / gain^2),
    where N is the number of points in the overlap and I_ij the mean of photograph i there: M. Brown
    and D. G. Lowe, "Automatic panoramic image stitching using invariant features", International
    Journal of Computer Vision 74(1), 2007, section 6.

    `grays`: of each photograph, reduced by its factor. `matrices`: of each photograph, from
    directions.
    """
    count = len(grays)
    whole = full_scale(dtype, grays)
    if not whole > 0:
        return np.ones(count)
    matrix, right = np.zeros((count, count)), np.zeros(count)
    inverses = np.linalg.inv(matrices)
    for i in range(count):
        for j in range(i + 1, count):
            between = matrices[j] @ inverses[i]
            source, target = overlap_points(between, shapes[i], shapes[j], _PER_SIDE, None)
            if not len(source):
                continue
            levels = np.stack([_levels(grays[i], factors[i], shapes[i], source),
                               _levels(grays[j], factors[j], shapes[j], target)])
            usable = (np.isfinite(levels) & (levels < _SATURATED * whole)).all(axis=0)
            if not usable.any():
                continue
            number = int(usable.sum())
            one, other = levels[:, usable].mean(axis=1) / whole
            ends = np.ix_([i, j], [i, j])
            matrix[ends] += number / _LEVEL ** 2 * np.array(
                [[one * one, -one * other], [-one * other, other * other]])
            matrix[[i, j], [i, j]] += number / _GAIN ** 2
            right[[i, j]] += number / _GAIN ** 2
    alone = matrix.diagonal() == 0
    matrix[alone, alone], right[alone] = 1, 1
    return np.linalg.solve(matrix, right)
