"""Spline coefficients of Dask arrays."""

import numpy as np

from .. import ndimage
from .._tiles import checked_order, tile_for_points
from ..ndimage import _rules
from ._blocks import Part, array_of_tasks, as_dask, bound, device_name, put_together
from ._transforms import dtype_for


def _filtered(blocks, slices, kept, dtype, arguments):
    """One chunk of the coefficients."""
    part = put_together(blocks, slices)
    return ndimage.spline_filter(part, output=dtype, **arguments)[kept]


def spline_filter(input, order=3, output=np.float64, mode="mirror", *, device=None):
    """Compute the coefficients of a spline along all axes, one task for each chunk.

    Parameters
    ----------
    input : dask.array.Array or array_like
        The input array, real or complex, of rank 1 or more.
    order : int, optional
        The order of the spline, 2 to 5. The default is 3.
    output : dtype, optional
        The dtype of the result. The default is float64.
    mode : str, optional
        How to extend the input beyond its edges; see :func:`warpalign.ndimage.spline_filter`. The
        default is ``'mirror'``.
    device : str, optional
        The device that tasks compute on: a name that :func:`warpalign.open_device` accepts in the
        process that runs them.

    Returns
    -------
    dask.array.Array
        The coefficients, in the input's shape and chunks.

    Raises
    ------
    RuntimeError
        The order, the mode or a dtype is not supported (SciPy's message).

    Notes
    -----
    Semantics are those of ``scipy.ndimage.spline_filter``, also at the edges of chunks: each task
    reads its chunk with a halo beyond which the impulse response of the prefilter [1]_ is below
    2 ** -25.

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.

    Examples
    --------
    >>> import dask.array
    >>> import warpalign.dask
    >>> line = dask.array.asarray([0.0, 0, 1, 0, 0])
    >>> warpalign.dask.spline_filter(line).compute().round(3)
    array([ 0.25, -0.5 ,  1.75, -0.5 ,  0.25])
    """
    order = checked_order(order)
    _rules.check_order(order, 2)
    array = as_dask(input)
    dtype = dtype_for(output, array)
    library_mode = _rules.named_mode(mode, _rules.FILTER_MODES)
    device = device_name(device)

    def task(_number, region):
        # The filter is separable: one tile for each axis allows arrays of any rank.
        tiles = [tile_for_points((length,), order, True, library_mode, [part.start],
                                 [part.stop - 1])
                 for length, part in zip(array.shape, region)]
        part = Part(array, [tile.input[0] for tile in tiles])
        begins = [span.start + int(tile.matrix[0, 1]) for span, tile in zip(region, tiles)]
        kept = tuple(slice(begin, begin + span.stop - span.start)
                     for begin, span in zip(begins, region))
        periodic = any(tile.mode == "grid-wrap" for tile in tiles)
        edge = mode if library_mode != "grid-wrap" or periodic else "mirror"
        return (bound(_filtered, slices=part.slices, kept=kept, dtype=dtype,
                      arguments={"order": order, "mode": edge, "device": device}), part.keys)

    return array_of_tasks("spline-filter", task, array.chunks, dtype, [array],
                          (order, mode, device))
