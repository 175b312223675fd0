"""Warps Dask arrays by transforms of any kind."""

import dask.array
import numpy as np

from .._axes import embedded
from .._tiles import checked_order
from .._transform import Transform
from .._transform_files import arrays_of
from ..ndimage import _rules
from ._at_points import AtPoints
from ._blocks import array_of_tasks, as_dask, bound, device_name, shared
from ._bounds import bounds_of, positions_in
from ._missing import divided
from ._transforms import check_options, checked_rule, dtype_for, transform as by_matrix


def _shape_of(transform, array, output_shape):
    if array.ndim < transform.ndim:
        raise ValueError(f"image must have at least {transform.ndim} axes, not {array.ndim}")
    if output_shape is None and transform.reference is not None:
        output_shape = transform.reference.shape
    if output_shape is None:
        return array.shape[:transform.ndim]
    shape = tuple(map(int, output_shape))
    if len(shape) != transform.ndim or min(shape) < 1:
        raise ValueError(f"output_shape must be {transform.ndim} extents of at least 1, not "
                         f"{output_shape}")
    return shape


def _chunks_of(array, shape, output_chunks):
    ndim = len(shape)
    if output_chunks is None:
        same = shape == array.shape[:ndim]
        output_chunks = array.chunks[:ndim] if same else array.chunksize[:ndim]
    chunks = dask.array.core.normalize_chunks(output_chunks, shape, dtype=array.dtype)
    return chunks + array.chunks[ndim:]


def _choice_of(missing, nodata, weights, labels, array):
    """The choice of `missing`: by default, what is missing is ignored if anything can be."""
    if missing is not None:
        return missing
    may_miss = array.dtype.kind in "fc" or nodata is not None or weights
    return "ignore" if may_miss and not labels else "spread"


def warp(image, transform, *, output_shape=None, output=None, order=3, mode="constant", cval=0.0,
         missing=None, nodata=None, weights=False, labels=False, output_chunks=None, device=None):
    """Warp a Dask array to the reference of a transform, one task for each chunk of the output.

    Parameters
    ----------
    image : dask.array.Array or array_like
        The moving image or volume, with as many axes as the transform, optionally followed by
        further ones such as channels.
    transform : Transform
        Maps pixels of the reference to pixels of the image: a :class:`warpalign.Transform` of any
        kind.
    output_shape : tuple of ints, optional
        The shape of the reference, without further axes. By default, that of the transform's
        geometry, or of the image.
    output : dtype, optional
        The dtype of the result. The default is the image's.
    order : int, optional
        The order of the spline, 0 to 5. The default is 3.
    mode : str, optional
        How to extend the image beyond its edges; see :func:`warpalign.ndimage.map_coordinates`. The
        default is ``'constant'``.
    cval : scalar, optional
        The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
    missing : {'ignore', 'spread'}, optional
        What missing samples do, which are NaN or infinite, or equal `nodata`; see
        :func:`warpalign.ndimage.affine_transform`. The default is ``'ignore'`` if any sample can be
        missing: not in labels, nor in integers without `nodata`.
    nodata : scalar, optional
        With ``missing='ignore'``: a value that stands for a missing sample, in the image and in the
        result. The default is NaN.
    weights : bool, optional
        With ``missing='ignore'``: whether to also return how much of each result's support is
        known. The default is False.
    labels : bool, optional
        Whether the image holds labels: integers or bool, of which orders above 0 give the one with
        the largest interpolated coverage; see :func:`warpalign.ndimage.affine_transform`. The
        default is False.
    output_chunks : int or tuple, optional
        The chunks of the output along the axes of the reference, as Dask takes them. By default,
        they have the size of the image's chunks. Further axes keep the image's chunks.
    device : str, optional
        The device that tasks compute on: a name that :func:`warpalign.open_device` accepts in the
        process that runs them.

    Returns
    -------
    dask.array.Array
        The warped image, of the shape of the reference plus the further axes.
    weights : dask.array.Array of float32
        With ``weights=True``: the known share of each result's support, from 0 to 1.

    Raises
    ------
    TypeError
        `transform` is no Transform; or `labels` is True, and the image or `output` is not of
        integers or bool.
    ValueError
        The image has too few axes, a shape is invalid, or the transform maps millimetres and does
        not know the geometry of its images; or no sample can have the value `nodata`, or the
        options for missing samples contradict each other. When the result is computed: samples are
        missing, and an output of integers has no `nodata`.
    RuntimeError
        The order, the mode or a dtype is not supported (SciPy's message).

    Notes
    -----
    Results are those of :meth:`warpalign.Transform.warp`, also at the edges of chunks, and with
    holes as :func:`affine_transform` describes them. Each task evaluates the transform at the
    pixels of its own chunk, in double precision on the host, and reads the samples that they need,
    with the halo of the prefilter [1]_. Which ones follows when the graph is made from bounds of
    the transform: of a field, the least and the greatest displacement in the part of its grid
    that the chunk depends on. They are exact for matrices, and some pixels wider for fields. Of a
    thin-plate spline, all positions are evaluated for that, as a second time by the tasks.

    The transform is one node of the graph, which all tasks share.

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.

    Examples
    --------
    >>> import dask.array
    >>> import numpy as np
    >>> import warpalign
    >>> import warpalign.dask
    >>> image = dask.array.arange(16.0, chunks=8).reshape(4, 4)
    >>> shift = np.zeros((2, 4, 4))
    >>> shift[1] = 0.5
    >>> bend = warpalign.Transform.displacement(shift)
    >>> warpalign.dask.warp(image, bend, order=1, mode="nearest").compute()[0]
    array([0.5, 1.5, 2.5, 3. ])
    """
    if not isinstance(transform, Transform):
        raise TypeError(f"transform must be a warpalign.Transform, not {type(transform).__name__}")
    order = checked_order(order)
    array = as_dask(image)
    shape = _shape_of(transform, array, output_shape)
    chunks = _chunks_of(array, shape, output_chunks)
    missing = _choice_of(missing, nodata, weights, labels, array)
    pixels = transform.in_pixels()
    ndim, matrix = pixels.ndim, pixels.matrix
    if matrix is not None and np.array_equal(matrix[-1], np.eye(ndim + 1)[-1]):
        matrix = embedded(matrix, array.ndim)
        return by_matrix(array, matrix[:-1, :-1], matrix[:-1, -1], shape + array.shape[ndim:],
                         output, order, mode, cval, True, chunks, device, labels, False, missing,
                         nodata, weights)
    dtype, labels = dtype_for(output, array), bool(labels)
    rule = checked_rule(missing, nodata, weights, array, dtype, order, True, labels)
    check_options(array, dtype, order, mode, cval, True, labels, False)
    _rules.named_mode(mode)
    device = device_name(device)
    node = shared("transform", pixels, arrays_of(pixels))
    box_of = bounds_of(pixels)
    boxes = {}  # of the regions of the reference: chunks along further axes share them
    at_points = AtPoints(array, ndim, rule, order, mode, cval, True, labels, device, dtype)

    def task(number, region):
        place, at = region[:ndim], number[:ndim]
        if at not in boxes:
            boxes[at] = box_of(place)
        return at_points.task(*boxes[at], node.key, bound(positions_in, region=place),
                              region[ndim:])

    token = (shape, order, mode, cval, labels, device, rule)
    made = array_of_tasks("warp", task, chunks, dtype, [array, node], token)
    return divided(made, rule.weights) if rule.ignore else made
