"""Homographies of the first two axes of an array."""

import numpy as np

from . import _rules
from ._evaluate import evaluate_homography
from ._interpolation import _evaluate


def transform_planes(image, matrix, shape, *, output=None, order=3, mode="constant", cval=0.0,
                     device=None):
    """The image at matrix @ (row, column, 1), divided by its last number, for an output of `shape`.

    `matrix` has the shape (3, 3) and maps no pixel of the output to infinity. Further axes stay.
    The other parameters are those of :func:`warpalign.ndimage.affine_transform`.
    """
    _rules.check_order(order)
    array = np.asarray(image)
    result = _rules.output_for(output, array, tuple(shape) + array.shape[2:])
    _rules.check_values(array)
    _rules.named_mode(mode)

    def evaluate(part, part_output, spline):
        evaluate_homography(part, np.asarray(matrix, np.float64), part_output, spline)

    return _evaluate(evaluate, array, result, order, mode, cval, True, device)
