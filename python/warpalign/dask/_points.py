"""Evaluates Dask arrays at points."""

import dask
import dask.array
import numpy as np

from .._docs import interpolates
from .._tiles import checked_order
from ..ndimage import _rules
from ..ndimage._geometry import MAX_AXES
from ._at_points import AtPoints
from ._blocks import array_of_tasks, as_dask, device_name
from ._missing import divided
from ._transforms import checked_rule, dtype_for


def _bounds(block):
    """The smallest and the largest coordinate along each axis, ignoring NaN."""
    rows = np.asarray(block, np.float64).reshape(block.shape[0], -1)
    if rows.size == 0:
        return np.zeros((2, block.shape[0]))
    numbers = ~np.isnan(rows)
    low = np.min(rows, axis=1, where=numbers, initial=np.inf)
    high = np.max(rows, axis=1, where=numbers, initial=-np.inf)
    empty = low > high
    return np.stack([np.where(empty, 0, low), np.where(empty, 0, high)])


def _as_they_are(points):
    return points


@interpolates
def map_coordinates(input, coordinates, output=None, order=3, mode="constant", cval=0.0,
                    prefilter=True, *, missing="spread", nodata=None, weights=False, device=None):
    """Evaluate a Dask array at points, one task for each chunk of the points.

    Parameters
    ----------
    input : dask.array.Array or array_like
        The input array, real or complex, of 1 to 3 axes.
    coordinates : dask.array.Array or array_like, shape (n, ...)
        The points, with one row of coordinates for each axis of the input. A chunk of points needs
        all samples between its smallest and largest coordinates: the points of a chunk should
        therefore be close to each other. This function computes these bounds when it is called,
        which for a Dask array takes one pass over the coordinates.
    output : dtype, optional
        The dtype of the result. The default is the input's.
    order : int, optional
        The order of the spline, 0 to 5. The default is 3.
    mode : str, optional
        How to extend the input beyond its edges; see :func:`warpalign.ndimage.map_coordinates`. The
        default is ``'constant'``.
    cval : scalar, optional
        The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
    prefilter : bool, optional
        Whether to prefilter the input. With False, the input must hold the coefficients of the
        spline. The default is True.
    %(missing)s
    device : str, optional
        The device that tasks compute on: a name that :func:`warpalign.open_device` accepts in the
        process that runs them.

    Returns
    -------
    dask.array.Array
        The values, in the shape of ``coordinates[0]`` and its chunks.
    weights : dask.array.Array of float32
        With ``weights=True``: the known share of each result's support, from 0 to 1.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    ValueError
        No sample can have the value `nodata`, or the options for missing samples contradict each
        other. When the result is computed: samples are missing, and an output of integers has no
        `nodata`.
    NotImplementedError
        The input has more than 3 axes.

    Notes
    -----
    Semantics are those of ``scipy.ndimage.map_coordinates`` in all modes: the result is that of the
    spline through the whole array, not through each chunk. The prefilter is that of [1]_. See
    :func:`affine_transform` for missing samples.

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.

    Examples
    --------
    >>> import dask.array
    >>> import warpalign.dask
    >>> image = dask.array.arange(12.0, chunks=12).reshape(3, 4)
    >>> warpalign.dask.map_coordinates(image, [[0.5, 2], [1, 1.5]], order=1).compute()
    array([3. , 9.5])
    """
    order = checked_order(order)
    array = as_dask(input)
    if array.ndim > MAX_AXES:
        raise NotImplementedError(
            f"warpalign evaluates arrays at points in up to {MAX_AXES} dimensions, "
            f"but the input has {array.ndim}")
    points = as_dask(coordinates)
    if points.ndim < 1 or points.shape[0] != array.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    if points.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    points = points.rechunk({0: -1})
    dtype = dtype_for(output, array)
    rule = checked_rule(missing, nodata, weights, array, dtype, order, prefilter)
    _rules.named_mode(mode)
    prefilter, device = bool(prefilter), device_name(device)
    numbers = list(np.ndindex(points.numblocks))
    bounds = dask.compute(*[dask.delayed(_bounds)(points.blocks[number].to_delayed().item())
                            for number in numbers])
    bounds = {number[1:]: found for number, found in zip(numbers, bounds)}

    at_points = AtPoints(array, array.ndim, rule, order, mode, cval, prefilter, False, device,
                         dtype)

    def task(number, _region):
        return at_points.task(*bounds[number], (points.name, 0, *number), _as_they_are)

    token = (order, mode, cval, prefilter, device, rule)
    made = array_of_tasks("points", task, points.chunks[1:], dtype, [array, points], token)
    return divided(made, rule.weights) if rule.ignore else made
