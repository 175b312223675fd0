"""Affine transforms of Dask arrays."""

import itertools

import dask.array
import numpy as np

from .. import ndimage
from .._docs import interpolates
from .._tiles import checked_order, linear_and_offset, tile_for_points, tile_of
from ..ndimage import _antialias, _labels, _missing, _rules
from ..ndimage._geometry import MAX_AXES, unchanged_axes
from ..ndimage._interpolation import _choice, _zoom_transform
from ._blocks import Part, array_of_tasks, as_dask, bound, device_name, put_together
from ._missing import Choice, WidePart, divided, transformed


def dtype_for(output, array):
    """The dtype of a result, by SciPy's rules and with its errors."""
    if output is not None and not isinstance(output, (type, str, np.dtype)):
        raise TypeError(
            f"output must be a dtype, not {type(output).__name__}: tasks cannot write to an array")
    return _rules.output_for(output, np.empty((1,) * array.ndim, array.dtype)).dtype


def check_options(array, dtype, order, mode, cval, prefilter, labels, antialias):
    """Raise the errors of the tasks before there are any."""
    if labels:
        one = np.empty((1,) * array.ndim, array.dtype)
        _labels.checked_cval(one, np.empty(one.shape, dtype), mode, cval)
    if isinstance(antialias, str):
        raise ValueError(f"invalid antialias {antialias!r} (choose from: False, True)")
    _antialias.method_of(antialias, order=order, prefilter=prefilter, labels=labels)


def _transformed(blocks, slices, matrix, shape, dtype, arguments):
    """One chunk of the output."""
    part = put_together(blocks, slices)
    return ndimage.affine_transform(part, matrix, output_shape=shape, output=dtype, **arguments)


def _changed_axes(matrix, offset, in_shape, out_shape, interpolates):
    unchanged = unchanged_axes(matrix, offset, in_shape, out_shape) if interpolates else []
    changed = [axis for axis in range(len(in_shape)) if axis not in unchanged]
    if len(changed) > MAX_AXES:
        raise NotImplementedError(
            f"warpalign.dask transforms up to {MAX_AXES} axes at once, but this transform changes "
            f"axes {changed}; divide it into several transforms")
    return changed


def _output_chunks(array, shape, output_chunks):
    if output_chunks is None:
        output_chunks = array.chunks if shape == array.shape else array.chunksize
    return dask.array.core.normalize_chunks(output_chunks, shape, dtype=array.dtype)


def _tile(in_lengths, linear, start, out_lengths, order, prefilter, mode, region, antialias):
    """The tile of a region of the output, and its matrix."""
    if not antialias:
        tile = tile_of(in_lengths, linear, start, out_lengths, order, prefilter, mode, region)
        return tile, tile.matrix
    corners = np.array(list(itertools.product(*((part.start, part.stop - 1) for part in region))))
    points = corners @ linear.T + start
    # A footprint's standard deviation is at most (s - 1) / 2 for the largest step s, and it ends
    # at 4 of them.
    reach = 2 * max(0.0, np.linalg.norm(linear, 2) - 1)
    tile = tile_for_points(in_lengths, order, prefilter, mode, points.min(0) - reach,
                           points.max(0) + reach)
    scale, shift = np.diagonal(tile.matrix), tile.matrix[:, -1]
    first = start + linear @ [part.start for part in region]
    return tile, np.column_stack([scale[:, None] * linear, scale * first + shift])


def checked_rule(missing, nodata, weights, array, dtype, order, prefilter, labels=False):
    """The choice for missing samples, a Missing. Raises ValueError."""
    rule = _choice(missing, nodata, weights, order, prefilter, labels)
    _missing.check_nodata(rule, array, np.empty(0, dtype))
    return rule


def transform(array, matrix, offset, shape, output, order, mode, cval, prefilter, output_chunks,
              device, labels=False, antialias=False, missing="spread", nodata=None, weights=False):
    """The array evaluated at matrix @ index + offset. Checks only the dtype, the number of axes and
    the options."""
    dtype = dtype_for(output, array)
    labels = bool(labels)
    rule = checked_rule(missing, nodata, weights, array, dtype, order, prefilter, labels)
    check_options(array, dtype, order, mode, cval, prefilter, labels, antialias)
    interpolates = prefilter or order <= 1
    changed = _changed_axes(matrix, offset, array.shape, shape, interpolates)
    linear, start = matrix[np.ix_(changed, changed)], offset[changed]
    in_lengths = tuple(array.shape[axis] for axis in changed)
    out_lengths = tuple(shape[axis] for axis in changed)
    library_mode = _rules.named_mode(mode)
    device = device_name(device)

    def task(_number, region):
        wanted, whole, tile_mode = list(region), np.eye(array.ndim, array.ndim + 1), mode
        if changed:
            tile, tile_matrix = _tile(in_lengths, linear, start, out_lengths, order, prefilter,
                                      library_mode, [region[axis] for axis in changed], antialias)
            for axis, part in zip(changed, tile.input):
                wanted[axis] = part
            whole[np.ix_(changed, [*changed, array.ndim])] = tile_matrix
            tile_mode = tile.mode
        lengths = tuple(axis.stop - axis.start for axis in region)
        if rule.ignore:
            part = WidePart(array, wanted, changed)
            choice = Choice(rule, order, tile_mode, cval, prefilter, bool(antialias), device, dtype)
            return (bound(transformed, lengths=part.lengths, pieces=part.pieces, axes=changed,
                          matrix=whole, shape=lengths, choice=choice), part.keys)
        part = Part(array, wanted)
        arguments = {"order": order, "mode": tile_mode, "cval": cval, "prefilter": prefilter,
                     "labels": labels, "antialias": antialias, "device": device}
        return (bound(_transformed, slices=part.slices, matrix=whole, shape=lengths, dtype=dtype,
                      arguments=arguments), part.keys)

    token = (matrix, offset, shape, order, mode, cval, prefilter, labels, antialias, device, rule)
    made = array_of_tasks("transform", task, _output_chunks(array, shape, output_chunks), dtype,
                          [array], token)
    return divided(made, rule.weights) if rule.ignore else made


@interpolates
def affine_transform(input, matrix, offset=0.0, output_shape=None, output=None, order=3,
                     mode="constant", cval=0.0, prefilter=True, *, labels=False, antialias=False,
                     missing="spread", nodata=None, weights=False, output_chunks=None,
                     device=None):
    """Transform a Dask array by a matrix and an offset, one task for each chunk of the output.

    The output at index ``o`` is the value of the input at ``matrix @ o + offset``.

    Parameters
    ----------
    input : dask.array.Array or array_like
        The input array, real or complex, of rank 1 or more. The transform may change at most 3
        axes.
    matrix : array_like
        Maps output to input coordinates, in array axes, as
        :func:`warpalign.ndimage.affine_transform` takes it; of shape (n, n), (n,) for a diagonal
        matrix, (n + 1, n + 1) or (n, n + 1).
    offset : float or sequence, optional
        The offset along each axis, in samples. Ignored if the matrix is homogeneous. The default
        is 0.
    output_shape : tuple of ints, optional
        The output's shape. The default is the input's.
    output : dtype, optional
        The dtype of the result. The default is the input's.
    order : int, optional
        The order of the spline, 0 to 5. The default is 3.
    mode : str, optional
        How to extend the input beyond its edges; see :func:`warpalign.ndimage.affine_transform`.
        The default is ``'constant'``.
    cval : scalar, optional
        The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
    prefilter : bool, optional
        Whether to prefilter the input. With False, the input must hold the coefficients of the
        spline. The default is True.
    labels : bool, optional
        Whether the input holds labels: integers or bool, of which orders above 0 give the one with
        the largest interpolated coverage; see :func:`warpalign.ndimage.affine_transform`. The
        default is False.
    antialias : bool, optional
        Whether each output is a mean over its footprint in the input, so that reductions do not
        alias; see :func:`warpalign.ndimage.affine_transform`. The default is False.
    %(missing)s
    output_chunks : int or tuple, optional
        The chunks of the output, as Dask takes them. The default is the chunks of the input.
    device : str, optional
        The device that tasks compute on: a name that :func:`warpalign.open_device` accepts in the
        process that runs them.

    Returns
    -------
    dask.array.Array
        The transformed array.
    weights : dask.array.Array of float32
        With ``weights=True``: the known share of each result's support, from 0 to 1.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    ValueError
        The shape of the matrix or `antialias` is invalid, or `antialias` is combined with order 0,
        labels or coefficients; or no sample can have the value `nodata`, or the options for missing
        samples contradict each other. When the result is computed: samples are missing, and an
        output of integers has no `nodata`.
    TypeError
        `labels` is True, and the input or `output` is not of integers or bool.
    NotImplementedError
        The transform changes more than 3 axes.

    Notes
    -----
    Semantics are those of ``scipy.ndimage.affine_transform`` in all modes, also at the edges of
    chunks: each task prefilters the samples that its own chunk needs, with a halo beyond which the
    impulse response of the prefilter [1]_ is below 2 ** -25. With ``mode='wrap'``, a chunk that
    crosses the seam needs the whole axis.

    With ``missing='ignore'``, each task fills the holes of the samples that it reads as
    :func:`warpalign.ndimage.affine_transform` does, and reads 34 further samples on each side for
    that. A hole of up to 32 samples along each axis gets the same values in every chunk: results
    are then as close to those for the whole array as without holes. Two holes count as one if they
    are at most one sample apart. Of a larger hole, chunks see different parts. Results that use
    missing samples then differ by up to 0.01 of the range, and others by up to 2e-4, in images of
    white noise. The weights, and thus which results are missing, never depend on the chunks. Where
    a chunk has no known sample, its result is missing, without an error.

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
        raise ValueError(f"output_shape must have {array.ndim} axes, not {len(shape)}")
    return transform(array, linear, start, shape, output, order, mode, cval, bool(prefilter),
                     output_chunks, device, labels, antialias, missing, nodata, weights)


@interpolates
def zoom(input, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *,
         grid_mode=False, labels=False, antialias=False, missing="spread", nodata=None,
         weights=False, output_chunks=None, device=None):
    """Zoom a Dask array, one task for each chunk of the output.

    Parameters
    ----------
    input : dask.array.Array or array_like
        The input array, real or complex, of rank 1 or more. At most 3 axes may be zoomed.
    zoom : float or sequence
        The zoom factor, one for each axis or one for all axes. The lengths of the output are
        rounded.
    output : dtype, optional
        The dtype of the result. The default is the input's.
    order : int, optional
        The order of the spline, 0 to 5. The default is 3.
    mode : str, optional
        How to extend the input beyond its edges; see :func:`warpalign.ndimage.zoom`. The default is
        ``'constant'``.
    cval : scalar, optional
        The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
    prefilter : bool, optional
        Whether to prefilter the input. With False, the input must hold the coefficients of the
        spline. The default is True.
    grid_mode : bool, optional
        Whether to align the outer edges of the first and last pixels, instead of their centres. The
        default is False.
    labels : bool, optional
        Whether the input holds labels: integers or bool, of which orders above 0 give the one with
        the largest interpolated coverage; see :func:`warpalign.ndimage.affine_transform`. The
        default is False.
    antialias : bool, optional
        Whether each output is a mean over its footprint in the input, so that reductions do not
        alias; see :func:`warpalign.ndimage.affine_transform`. The default is False.
    %(missing)s
    output_chunks : int or tuple, optional
        The chunks of the output, as Dask takes them. By default, they have the size of the input's
        chunks.
    device : str, optional
        The device that tasks compute on: a name that :func:`warpalign.open_device` accepts in the
        process that runs them.

    Returns
    -------
    dask.array.Array
        The zoomed array.
    weights : dask.array.Array of float32
        With ``weights=True``: the known share of each result's support, from 0 to 1.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    ValueError
        `antialias` is invalid, or combined with order 0, labels or coefficients; or no sample can
        have the value `nodata`, or the options for missing samples contradict each other. When the
        result is computed: samples are missing, and an output of integers has no `nodata`.
    TypeError
        `labels` is True, and the input or `output` is not of integers or bool.
    NotImplementedError
        More than 3 axes are zoomed.

    Notes
    -----
    Semantics are those of ``scipy.ndimage.zoom``. See :func:`affine_transform` for the halo of
    the prefilter [1]_. With `antialias`, results are those of :func:`warpalign.ndimage.zoom` in
    single precision, except that at orders above 1 with ``'nearest'`` and ``'grid-constant'`` they
    differ near the edges, by some thousandths of the range. See :func:`affine_transform` for
    missing samples.

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
    if prefilter and missing == "spread" and all(factor == 1 for factor in factors):
        checked_rule(missing, nodata, weights, array, dtype_for(output, array), order, prefilter)
        return array.astype(dtype_for(output, array))
    matrix, offset, _ = _zoom_transform(array.shape, shape, grid_mode)
    if order == 0 and not grid_mode and _rules.named_mode(mode) in ("constant", "wrap"):
        mode = "nearest"  # all points are inside, but rounding may move the last one outside
    return transform(array, matrix, offset, shape, output, order, mode, cval, bool(prefilter),
                     output_chunks, device, labels, antialias, missing, nodata, weights)
