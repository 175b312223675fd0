"""Affine transforms of Dask arrays."""

import dask.array
import numpy as np

from .. import ndimage
from .._tiles import checked_order, linear_and_offset, tile_of
from ..ndimage import _rules
from ..ndimage._geometry import MAX_AXES, axes_left_alone
from ..ndimage._interpolation import _zoom_transform
from ._blocks import Part, array_of_tasks, as_dask, bound, device_name, put_together


def dtype_for(output, array):
    """The dtype of a result, with SciPy's rules and errors."""
    if output is not None and not isinstance(output, (type, str, np.dtype)):
        raise TypeError("the output is a dtype: the array is made by its tasks")
    return _rules.output_for(output, np.empty((1,) * array.ndim, array.dtype)).dtype


def _transformed(blocks, slices, matrix, shape, dtype, arguments):
    """One chunk of the output."""
    part = put_together(blocks, slices)
    return ndimage.affine_transform(part, matrix, output_shape=shape, output=dtype, **arguments)


def _busy_axes(matrix, offset, in_shape, out_shape, interpolates):
    alone = axes_left_alone(matrix, offset, in_shape, out_shape) if interpolates else []
    busy = [axis for axis in range(len(in_shape)) if axis not in alone]
    if len(busy) > MAX_AXES:
        raise NotImplementedError(
            f"warpalign.dask transforms up to {MAX_AXES} axes at once, and this changes {busy}; do "
            "some of them first")
    return busy


def _output_chunks(array, shape, output_chunks):
    if output_chunks is None:
        output_chunks = array.chunks if shape == array.shape else array.chunksize
    return dask.array.core.normalize_chunks(output_chunks, shape, dtype=array.dtype)


def transform(array, matrix, offset, shape, output, order, mode, cval, prefilter, output_chunks,
              device):
    """The array read at matrix @ index + offset. All but dtypes and axes has been checked."""
    dtype = dtype_for(output, array)
    interpolates = prefilter or order <= 1
    busy = _busy_axes(matrix, offset, array.shape, shape, interpolates)
    linear, start = matrix[np.ix_(busy, busy)], offset[busy]
    in_lengths = tuple(array.shape[axis] for axis in busy)
    out_lengths = tuple(shape[axis] for axis in busy)
    library_mode = _rules.named_mode(mode)
    device = device_name(device)

    def task(_number, region):
        wanted, whole, tile_mode = list(region), np.eye(array.ndim, array.ndim + 1), mode
        if busy:
            tile = tile_of(in_lengths, linear, start, out_lengths, order, prefilter, library_mode,
                           [region[axis] for axis in busy])
            for axis, part in zip(busy, tile.input):
                wanted[axis] = part
            whole[np.ix_(busy, [*busy, array.ndim])] = tile.matrix
            tile_mode = tile.mode
        part = Part(array, wanted)
        arguments = {"order": order, "mode": tile_mode, "cval": cval, "prefilter": prefilter,
                     "device": device}
        lengths = tuple(axis.stop - axis.start for axis in region)
        return (bound(_transformed, slices=part.slices, matrix=whole, shape=lengths, dtype=dtype,
                      arguments=arguments), part.keys)

    token = (matrix, offset, shape, order, mode, cval, prefilter, device)
    return array_of_tasks("transform", task, _output_chunks(array, shape, output_chunks), dtype,
                          [array], token)


def affine_transform(input, matrix, offset=0.0, output_shape=None, output=None, order=3,
                     mode="constant", cval=0.0, prefilter=True, *, output_chunks=None, device=None):
    """Transform a Dask array by a matrix and an offset, one task for each chunk of the output.

    The output at index ``o`` is the input at ``matrix @ o + offset``.

    Parameters
    ----------
    input : dask.array.Array or array_like
        The input array, real or complex, of any rank from 1; at most 3 axes may be transformed.
    matrix : array_like
        From output to input coordinates, in array axes, as
        :func:`warpalign.ndimage.affine_transform` takes it; of shape (n, n), (n,) for a diagonal,
        (n + 1, n + 1) or (n, n + 1).
    offset : float or sequence, optional
        One offset for each axis, in samples. Ignored with a homogeneous matrix. The default is 0.
    output_shape : tuple of ints, optional
        The output's shape. The default is the input's.
    output : dtype, optional
        The dtype of the result. The default is the input's.
    order : int, optional
        The order of the spline, 0 to 5. The default is 3.
    mode : str, optional
        What lies beyond the edges; see :func:`warpalign.ndimage.affine_transform`. The default is
        ``'constant'``.
    cval : scalar, optional
        The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
    prefilter : bool, optional
        Whether the input is to be prefiltered, which orders above 1 need to interpolate. The
        default is True.
    output_chunks : int or tuple, optional
        The chunks of the output, as Dask takes them. The default is the input's.
    device : str, optional
        Where tasks compute, as :func:`warpalign.open_device` takes it in the process that runs
        them.

    Returns
    -------
    dask.array.Array
        The transformed array.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    ValueError
        The matrix does not fit.
    NotImplementedError
        More than 3 axes are transformed.

    Notes
    -----
    The meaning is that of ``scipy.ndimage.affine_transform`` in all modes, at chunks' edges too:
    each task prefilters what its own chunk needs, with a halo beyond which the prefilter's impulse
    response [1]_ is below 2 ** -25. With ``mode='wrap'`` a chunk on both sides of the seam needs
    the whole axis.

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.

    Examples
    --------
    >>> import dask.array
    >>> import numpy as np
    >>> import warpalign.dask
    >>> image = dask.array.arange(9.0, chunks=9).reshape(3, 3)
    >>> warpalign.dask.affine_transform(image, [[0, 1], [1, 0]], order=1).compute()
    array([[0., 3., 6.],
           [1., 4., 7.],
           [2., 5., 8.]])
    """
    order = checked_order(order)
    array = as_dask(input)
    linear, start = linear_and_offset(matrix, offset, array.ndim)
    shape = array.shape if output_shape is None else tuple(map(int, output_shape))
    if len(shape) != array.ndim:
        raise ValueError(f"the output has {len(shape)} axes, and the input {array.ndim}")
    return transform(array, linear, start, shape, output, order, mode, cval, bool(prefilter),
                     output_chunks, device)


def zoom(input, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *,
         grid_mode=False, output_chunks=None, device=None):
    """Zoom a Dask array, one task for each chunk of the output.

    Parameters
    ----------
    input : dask.array.Array or array_like
        The input array, real or complex, of any rank from 1; at most 3 axes may be zoomed.
    zoom : float or sequence
        The factor along each axis, or along all alike. The output's lengths are rounded.
    output : dtype, optional
        The dtype of the result. The default is the input's.
    order : int, optional
        The order of the spline, 0 to 5. The default is 3.
    mode : str, optional
        What lies beyond the edges; see :func:`warpalign.ndimage.zoom`. The default is
        ``'constant'``.
    cval : scalar, optional
        The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
    prefilter : bool, optional
        Whether the input is to be prefiltered. The default is True.
    grid_mode : bool, optional
        Whether the edges of the outer pixels coincide, not their centres. The default is False.
    output_chunks : int or tuple, optional
        The chunks of the output, as Dask takes them. The default is the size of the input's.
    device : str, optional
        Where tasks compute, as :func:`warpalign.open_device` takes it in the process that runs
        them.

    Returns
    -------
    dask.array.Array
        The zoomed array.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    NotImplementedError
        More than 3 axes are zoomed.

    Notes
    -----
    The meaning is that of ``scipy.ndimage.zoom``; see :func:`affine_transform`, with the prefilter
    of [1]_.

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.

    Examples
    --------
    >>> import dask.array
    >>> import warpalign.dask
    >>> line = dask.array.asarray([0.0, 2, 4])
    >>> warpalign.dask.zoom(line, 5 / 3, order=1).compute()
    array([0., 1., 2., 3., 4.])
    """
    order = checked_order(order)
    array = as_dask(input)
    factors = _rules.sequence_of(zoom, array.ndim)
    shape = tuple(int(round(n * factor)) for n, factor in zip(array.shape, factors))
    if prefilter and all(factor == 1 for factor in factors):
        return array.astype(dtype_for(output, array))
    matrix, offset = _zoom_transform(array.shape, shape, grid_mode)
    return transform(array, matrix, offset, shape, output, order, mode, cval, bool(prefilter),
                     output_chunks, device)
