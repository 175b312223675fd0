"""The interpolation functions of ``scipy.ndimage``, computed by warpalign.

Functions check their arguments in SciPy's order, so that the same mistakes raise the same
exceptions.
"""

import operator
import warnings

import numpy as np

from .._device_array import DeviceArray
from .._devices import open_device
from .._docs import interpolates
from .._foreign import is_on_device, to_numpy
from . import _antialias, _double, _labels, _missing, _rules
from ._evaluate import Spline, evaluate_affine, evaluate_points, prefilter as _prefilter_along
from ._geometry import unchanged_axes
from ._on_device import GridPoints, as_array, for_arrays_of_any_library

__all__ = [
    "affine_transform", "geometric_transform", "map_coordinates", "rotate", "shift",
    "spline_filter", "spline_filter1d", "zoom",
]


def _parts(array, output, cval):
    """Split a complex task into real ones for the real and the imaginary part."""
    if isinstance(array, DeviceArray):
        if np.imag(cval) != 0:
            raise NotImplementedError("cval must be real for arrays on a device")
        return [(array, output, np.real(cval))]
    if array.dtype.kind == "c":
        return [(array.real, output.real, np.real(cval)), (array.imag, output.imag, np.imag(cval))]
    return [(array, output, cval)]


def _spline(order, mode, cval, prefilter, device, precision, antialias=False):
    order = operator.index(order)
    mode = _rules.named_mode(mode)
    return Spline(open_device(device), order, mode, _rules.real_cval(cval), bool(prefilter),
                  precision, antialias=antialias)


def _choice(missing, nodata, weights, order, prefilter, labels):
    return _missing.checked(missing, nodata, weights, labels=labels,
                            filtered=prefilter or order <= 1)


def _evaluate(function, array, output, order, mode, cval, prefilter, device, precision="single",
              labels=False, rule=_missing.SPREAD, axes=None, antialias=False, by_matrix=True):
    """Call function(part, its output, its spline) for the real and imaginary parts, or for parts of
    a label image.

    If samples may be missing, they are filled along `axes`, by default all. `by_matrix`: whether
    the function transforms by a matrix, rather than reading at points. Returns the output, or the
    output and the image of weights.
    """
    _rules.check_precision(precision)
    if rule.ignore:
        return _missing.evaluate_any(
            function, array, output, rule, range(array.ndim) if axes is None else axes,
            lambda part_cval: _spline(order, mode, part_cval, prefilter, device, precision,
                                      antialias), cval, by_matrix)
    if labels:
        cval = _labels.checked_cval(array, output, mode, cval)
        spline = _spline(order, mode, cval, prefilter, device, precision)
        _labels.evaluate(function, array, output, cval, spline)
        return output
    for part, part_output, part_cval in _parts(array, output, cval):
        function(part, part_output,
                 _spline(order, mode, part_cval, prefilter, device, precision, antialias))
    return output


def _with_rank(array):
    if array.ndim < 1:
        raise RuntimeError("input and output rank must be > 0")


@for_arrays_of_any_library
def spline_filter1d(input, order=3, axis=-1, output=np.float64, mode="mirror", *,
                    precision="single", device=None):
    """Compute the coefficients of a spline along one axis.

    Parameters
    ----------
    input : array_like
        The input array, real or complex, or the path of a file, whose array is read. An array on a
        device, such as one of CuPy or a :class:`warpalign.DeviceArray`, is processed there.
    order : int, optional
        The order of the spline, 0 to 5. Orders 0 and 1 copy the input. The default is 3.
    axis : int, optional
        The axis along which to filter. The default is the last one.
    output : array or dtype, optional
        The array in which to place the result, or its dtype. The default is float64.
    mode : str, optional
        How to extend the input beyond its edges; see :func:`shift`. The default is ``'mirror'``.
    precision : {'single', 'double'}, optional
        The precision of the arithmetic. ``'double'`` needs a device that supports it. The default
        is ``'single'``.
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.

    Returns
    -------
    ndarray
        The coefficients, in the input's shape. For an input on a device, an array of the same
        library on that device.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    ValueError
        The output is read-only; or the device lacks double precision, and `precision` requires it.
    warpalign.Error
        The computation failed; for example, the device has too little memory.

    Notes
    -----
    Signature and semantics are those of ``scipy.ndimage.spline_filter1d``.
    The prefilter is exact [1]_. Results are accurate to about 1e-6 of the largest sample, or to
    1e-14 with ``precision='double'``. Coefficients that are stored as integers are computed in
    double precision if the device supports it.

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from warpalign import ndimage
    >>> ndimage.spline_filter1d([0.0, 0, 1, 0, 0]).round(3)
    array([ 0.25, -0.5 ,  1.75, -0.5 ,  0.25])
    """
    _rules.check_order(order)
    _rules.check_precision(precision)
    array = as_array(input)
    result = _rules.output_for(output, array)
    if order in (0, 1):
        result[...] = array
        return result
    _rules.check_values(array)
    mode = _rules.named_mode(mode, _rules.FILTER_MODES)
    axis = _rules.axis_index(axis, array.ndim)
    opened = open_device(device)
    if _truncates_doubles(array, result, opened):
        precision = "double"
    for part, part_output, _ in _parts(array, result, 0):
        _prefilter_along(part, [axis], part_output, operator.index(order), mode, opened, precision)
    return result


def _truncates_doubles(array, result, device):
    """Whether to compute coefficients in double precision, because they are truncated to integers.

    Rounding errors of single precision just below an integer would change the result by 1.
    """
    return (not isinstance(array, DeviceArray) and result.dtype.kind in "iu" and array.size > 0
            and device.info.double_precision)


@for_arrays_of_any_library
def spline_filter(input, order=3, output=np.float64, mode="mirror", *, precision="single",
                  device=None):
    """Compute the coefficients of a spline along all axes.

    Parameters
    ----------
    input : array_like
        The input array, real or complex, or the path of a file, whose array is read. An array on a
        device, such as one of CuPy or a :class:`warpalign.DeviceArray`, is processed there.
    order : int, optional
        The order of the spline, 2 to 5. The default is 3.
    output : array or dtype, optional
        The array in which to place the result, or its dtype. The default is float64. Integers
        are truncated after each axis, as in SciPy.
    mode : str, optional
        How to extend the input beyond its edges; see :func:`shift`. The default is ``'mirror'``.
    precision : {'single', 'double'}, optional
        The precision of the arithmetic. ``'double'`` needs a device that supports it. The default
        is ``'single'``.
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.

    Returns
    -------
    ndarray
        The coefficients, in the input's shape. For an input on a device, an array of the same
        library on that device.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    ValueError
        The output is read-only; or the device lacks double precision, and `precision` requires it.
    warpalign.Error
        The computation failed; for example, the device has too little memory.

    Notes
    -----
    Signature and semantics are those of ``scipy.ndimage.spline_filter``.
    The prefilter is exact [1]_. Results are accurate to about 1e-6 of the largest sample, or to
    1e-14 with ``precision='double'``. Coefficients that are stored as integers are computed in
    double precision if the device supports it.

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from warpalign import ndimage
    >>> image = np.zeros((5, 5))
    >>> image[2, 2] = 1
    >>> ndimage.spline_filter(image)[2].round(3)
    array([ 0.438, -0.875,  3.062, -0.875,  0.438])
    """
    _rules.check_order(order, least=2)
    _rules.check_precision(precision)
    array = as_array(input)
    result = _rules.output_for(output, array)
    _rules.check_values(array)
    if array.ndim == 0:
        result[...] = array
        return result
    if result.dtype.kind in "biu":
        for axis in range(array.ndim):
            array = spline_filter1d(array, order, axis, result, mode, precision=precision,
                                    device=device)
        return result
    mode = _rules.named_mode(mode, _rules.FILTER_MODES)
    opened = open_device(device)
    for part, part_output, _ in _parts(array, result, 0):
        _prefilter_along(
            part, range(array.ndim), part_output, operator.index(order), mode, opened, precision)
    return result


def _mapped(mapping, shape, rank, arguments, keywords):
    """The points that a callable returns for all indices of the output."""
    points = np.empty((int(np.prod(shape)), rank))
    for row, index in zip(points, np.ndindex(*shape)):
        point = mapping(index, *arguments, **keywords)
        if len(point) < rank:
            raise TypeError(f"mapping must return {rank} coordinates, not {len(point)}")
        row[:] = point[:rank]
    return np.ascontiguousarray(points.T).reshape((rank,) + tuple(shape))


@interpolates
@for_arrays_of_any_library
def geometric_transform(input, mapping, output_shape=None, output=None, order=3, mode="constant",
                        cval=0.0, prefilter=True, extra_arguments=(), extra_keywords=None, *,
                        antialias=False, missing="spread", nodata=None, weights=False, precision="single",
                        labels=False, device=None):
    """Transform an array by a function from output to input coordinates.

    Parameters
    ----------
    input : array_like
        The input array, real or complex, of rank 1 or more, or the path of a file, whose array is
        read. An array on a device, such as one of CuPy or a :class:`warpalign.DeviceArray`, is
        processed there.
    mapping : callable
        A function from an index of the output, a tuple, to the point at which to read the input, a
        sequence with a coordinate for each axis. It is called on the host, once for each element
        of the output.
    output_shape : tuple of ints, optional
        The output's shape. The default is the input's.
    output : array or dtype, optional
        The array in which to place the result, or the dtype of the returned array. The default is
        a new array of the input's dtype.
    order : int, optional
        The order of the spline, 0 to 5. The default is 3.
    mode : str, optional
        How to extend the input beyond its edges, as in SciPy: ``'constant'`` (the default),
        ``'grid-constant'``, ``'nearest'``, ``'mirror'``, ``'reflect'`` or ``'grid-mirror'``,
        ``'wrap'``, ``'grid-wrap'``.
    cval : scalar, optional
        The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
    prefilter : bool, optional
        Whether to prefilter the input. With False, the input must hold the coefficients of the
        spline, as :func:`spline_filter` computes them. The default is True.
    extra_arguments : tuple, optional
        Further arguments for `mapping`.
    extra_keywords : dict, optional
        Further keyword arguments for `mapping`.
    antialias : bool, optional
        Whether each output is a mean over its footprint in the input, an ellipse, so that points
        that are more than a sample apart do not alias; see the notes. The default is False, as in
        SciPy.
    %(missing)s
    precision : {'single', 'double'}, optional
        The precision of the arithmetic. ``'double'`` needs a device that supports it. The default
        is ``'single'``.
    labels : bool, optional
        Whether the input is a label image, whose integers are names and not quantities. Orders
        above 0 then interpolate the coverage of each label, and the output takes the label with the
        largest coverage. With False, orders above 0 interpolate the integers themselves, as SciPy
        does, and may give labels that the input does not contain. The default is False.
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.

    Returns
    -------
    ndarray
        The transformed array. For an input on a device, an array of the same library
        on that device.
    weights : ndarray of float32
        With ``weights=True``: the known share of each result's support, from 0 to 1.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    ValueError
        The output is read-only; or the device lacks double precision, which orders above 0 need for
        ``precision='double'``, for integers beyond 2**24, and for a `cval` that is not finite with
        ``mode='grid-constant'``; or `labels` is True, and `cval` is no value of the input's type;
        or all samples are missing, no sample can have the value `nodata`, or the options contradict
        each other; or `antialias` is combined with order 0, labels, coefficients,
        or an output of another rank, or used on a
        device that lacks double precision.
    warpalign.Error
        The computation failed; for example, the device has too little memory.
    TypeError
        `mapping` is a ``scipy.LowLevelCallable``, which only SciPy can call; or `labels` is True,
        and the input holds no integers, or the output has another type.
    NotImplementedError
        The input has more than 3 dimensions.

    Notes
    -----
    Signature and semantics are those of ``scipy.ndimage.geometric_transform``.
    Order 0 copies samples of any type exactly; if two samples are equally near, it chooses the same
    one as SciPy. Higher orders compute in single precision, with the exact prefilter of [1]_;
    results are accurate to about 1e-6 of the largest sample. Integers beyond 2**24, which float32
    would round, are computed in double precision. With ``precision='double'`` all values are, and
    accurate to about 1e-14 of the largest sample.
    Points are in single precision too, except at order 0 and with ``precision='double'``.

    With ``antialias=True``, the footprint of an output is that of :func:`affine_transform` with the
    matrix ``J`` of the derivatives of the points along the axes of the output, central
    differences between its neighbours in the output. It is computed in double precision, with at
    most 64 points on each side of its centre along an axis (16 in volumes).

    %(missing_notes)s

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.
    .. [2] S. B. Damelin and N. S. Hoang, "On surface completion and image inpainting by biharmonic
       functions", International Journal of Mathematics and Mathematical Sciences, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from warpalign import ndimage
    >>> image = np.arange(12.0).reshape(4, 3)
    >>> ndimage.geometric_transform(image, lambda i: (i[0], i[1] - 1), order=1)
    array([[ 0.,  0.,  1.],
           [ 0.,  3.,  4.],
           [ 0.,  6.,  7.],
           [ 0.,  9., 10.]])
    """
    _rules.check_order(order)
    rule = _choice(missing, nodata, weights, order, prefilter, labels)
    method = _antialias.method_of(antialias, order=order, prefilter=prefilter, labels=labels)
    array = as_array(input)
    shape = array.shape if output_shape is None else tuple(output_shape)
    _with_rank(array)
    if len(shape) < 1:
        raise RuntimeError("input and output rank must be > 0")
    result = _rules.output_for(output, array, shape)
    _rules.check_values(array)
    if type(mapping).__name__ in ("LowLevelCallable", "PyCapsule"):
        raise TypeError("mapping is a LowLevelCallable, which only SciPy supports; pass a Python "
                        "function")
    if not callable(mapping):
        raise ValueError("invalid callable given")
    if method and array.ndim != result.ndim:
        raise ValueError(f"antialias needs an output of the input's rank, {array.ndim}, not "
                         f"{result.ndim}")
    points = _mapped(mapping, shape, array.ndim, extra_arguments, extra_keywords or {})

    def evaluate(part, part_output, spline):
        evaluate_points(part, points, part_output, spline)

    return _evaluate(evaluate, array, result, order, mode, cval, prefilter, device, precision,
                     labels, rule, antialias=bool(method), by_matrix=False)


@interpolates
@for_arrays_of_any_library
def map_coordinates(input, coordinates, output=None, order=3, mode="constant", cval=0.0,
                    prefilter=True, *, antialias=False, missing="spread", nodata=None,
                    weights=False, precision="single", labels=False, device=None):
    """Evaluate the spline of an array at given points.

    Parameters
    ----------
    input : array_like
        The input array, real or complex, of rank 1 or more, or the path of a file, whose array is
        read. An array on a device, such as one of CuPy or a :class:`warpalign.DeviceArray`, is
        processed there.
    coordinates : array_like
        The points, of shape (rank of the input, ...), in array axes and in samples. A NumPy array
        or, for an input of another library on a device, an array of that library on the same
        device.
    output : array or dtype, optional
        The array in which to place the result, or the dtype of the returned array. The default is
        a new array of the input's dtype.
    order : int, optional
        The order of the spline, 0 to 5. The default is 3.
    mode : str, optional
        How to extend the input beyond its edges, as in SciPy: ``'constant'`` (the default),
        ``'grid-constant'``, ``'nearest'``, ``'mirror'``, ``'reflect'`` or ``'grid-mirror'``,
        ``'wrap'``, ``'grid-wrap'``.
    cval : scalar, optional
        The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
    prefilter : bool, optional
        Whether to prefilter the input. With False, the input must hold the coefficients of the
        spline, as :func:`spline_filter` computes them. The default is True.
    antialias : bool, optional
        Whether each output is a mean over its footprint in the input, an ellipse, so that points
        that are more than a sample apart do not alias; see the notes. The default is False, as in
        SciPy.
    %(missing)s
    precision : {'single', 'double'}, optional
        The precision of the arithmetic. ``'double'`` needs a device that supports it. The default
        is ``'single'``.
    labels : bool, optional
        Whether the input is a label image, whose integers are names and not quantities. Orders
        above 0 then interpolate the coverage of each label, and the output takes the label with the
        largest coverage. With False, orders above 0 interpolate the integers themselves, as SciPy
        does, and may give labels that the input does not contain. The default is False.
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.

    Returns
    -------
    ndarray
        The values, of shape ``coordinates.shape[1:]``. For an input on a device, an array of the
        same library on that device. If a coordinate is NaN, the value is `cval`; with the modes
        ``'nearest'`` and ``'grid-constant'`` it is NaN, as in SciPy (at order 0: the first sample
        of that axis with ``'nearest'``, `cval` with ``'grid-constant'``).
    weights : ndarray of float32
        With ``weights=True``: the known share of each result's support, from 0 to 1.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    ValueError
        The output is read-only; or the device lacks double precision, which orders above 0 need for
        ``precision='double'``, for integers beyond 2**24, and for a `cval` that is not finite with
        ``mode='grid-constant'``; or `labels` is True, and `cval` is no value of the input's type;
        or all samples are missing, no sample can have the value `nodata`, or the options contradict
        each other; or `antialias` is combined with order 0, labels, coefficients,
        or coordinates that are no grid of as many axes as the input, or used on a
        device that lacks double precision.
    warpalign.Error
        The computation failed; for example, the device has too little memory.
    TypeError
        The coordinates are complex, or on another device than the input; or the input is a
        DeviceArray, and the coordinates are not a NumPy array; or `labels` is True, and the input
        holds no integers, or the output has another type.
    NotImplementedError
        The input has more than 3 dimensions.

    Notes
    -----
    Signature and semantics are those of ``scipy.ndimage.map_coordinates``.
    Order 0 copies samples of any type exactly; if two samples are equally near, it chooses the same
    one as SciPy. Higher orders compute in single precision, with the exact prefilter of [1]_;
    results are accurate to about 1e-6 of the largest sample. Integers beyond 2**24, which float32
    would round, are computed in double precision. With ``precision='double'`` all values are, and
    accurate to about 1e-14 of the largest sample.
    Points are in single precision too, except at order 0 and with ``precision='double'``; this
    rounds a coordinate of 1000 by up to 3e-5. For an input on a device, a NaN then gives `cval` in
    every mode, and points that are also on the device are in single precision at every order.

    With ``antialias=True``, the footprint of an output is that of :func:`affine_transform` with the
    matrix ``J`` of the derivatives of the coordinates along their axes, central
    differences between its neighbours in the output. It is computed in double precision, with at
    most 64 points on each side of its centre along an axis (16 in volumes).

    %(missing_notes)s

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.
    .. [2] S. B. Damelin and N. S. Hoang, "On surface completion and image inpainting by biharmonic
       functions", International Journal of Mathematics and Mathematical Sciences, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from warpalign import ndimage
    >>> image = np.arange(12.0).reshape(4, 3)
    >>> ndimage.map_coordinates(image, [[0.5, 2], [0.5, 1]], order=1)
    array([2., 7.])
    """
    _rules.check_order(order)
    rule = _choice(missing, nodata, weights, order, prefilter, labels)
    method = _antialias.method_of(antialias, order=order, prefilter=prefilter, labels=labels)
    array = as_array(input)
    points = _points_given(array, coordinates, on_host=labels)
    numbers = points.dtype.kind if isinstance(points, np.ndarray) else "f"
    if numbers == "c":
        raise TypeError("Complex type not supported")
    _with_rank(array)
    if points.ndim < 2:
        raise RuntimeError("input and output rank must be > 0")
    if points.shape[0] != array.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    result = _rules.output_for(output, array, points.shape[1:])
    _rules.check_values(array)
    if numbers not in "biuf":
        raise RuntimeError("coordinate array data type not supported")
    if method:
        _antialias.check_grid(points, array.ndim)
    if labels or rule.ignore and not _missing.stays_on_device(
            array, result, rule, _spline(order, mode, np.real(cval), prefilter, device, precision),
            range(array.ndim)):
        points = points.numpy() if isinstance(points, GridPoints) else to_numpy(points)

    def evaluate(part, part_output, spline):
        evaluate_points(part, points, part_output, spline)

    return _evaluate(evaluate, array, result, order, mode, cval, prefilter, device, precision,
                     labels, rule, antialias=bool(method), by_matrix=False)


def _points_given(array, coordinates, on_host):
    """The points as a NumPy array, or as they are if they and the array are on a device."""
    if isinstance(coordinates, GridPoints):
        on_device = (isinstance(array, DeviceArray) and not on_host
                     and coordinates.can_be_on(array.device))
        return coordinates if on_device else coordinates.numpy()
    if not is_on_device(coordinates):
        return np.asarray(coordinates)
    if not isinstance(array, DeviceArray):
        raise TypeError("the coordinates are on a device, but the input is in host memory")
    return coordinates


def _split_homogeneous(matrix, offset, array):
    """The linear part and the offset; both from `matrix` if it is homogeneous."""
    n = array.ndim
    if matrix.ndim not in (1, 2) or matrix.shape[0] < 1:
        raise RuntimeError("no proper affine matrix provided")
    if matrix.ndim == 2 and matrix.shape[1] == n + 1 and matrix.shape[0] in (n, n + 1):
        expected = [0] * n + [1]
        if matrix.shape[0] == n + 1 and not np.all(matrix[n] == expected):
            raise ValueError(
                f"Expected homogeneous transformation matrix with shape {matrix.shape} for image "
                f"shape {array.shape}, but bottom row was not equal to {expected}")
        return matrix[:n, :n], matrix[:n, n]
    return matrix, offset


def _checked_affine(matrix, offset, array, output):
    matrix, offset = _split_homogeneous(np.asarray(matrix, dtype=np.float64), offset, array)
    if matrix.shape[0] != array.ndim:
        raise RuntimeError("affine matrix has wrong number of rows")
    if matrix.ndim == 2 and matrix.shape[1] != output.ndim:
        raise RuntimeError("affine matrix has wrong number of columns")
    offset = np.asarray(_rules.sequence_of(offset, array.ndim), dtype=np.float64)
    if offset.ndim != 1 or offset.shape[0] < 1:
        raise RuntimeError("no proper offset provided")
    if matrix.ndim == 1 and output.ndim != array.ndim:
        raise RuntimeError("affine matrix has wrong number of columns")
    if matrix.ndim == 2:
        return matrix, offset, None
    # SciPy adds offset / scale to the index first, and multiplies the sum by the scale.
    along = [(np.arange(n) + start / scale) * scale if scale != 0 else np.full(n, start)
             for n, start, scale in zip(output.shape, offset, matrix)]
    return np.diag(matrix), offset, along


def _changed_axes(matrix, offset, array, output):
    unchanged = unchanged_axes(matrix, offset, array.shape, output.shape)
    return [axis for axis in range(array.ndim) if axis not in unchanged]


def _points_of(matrix, offset, shape):
    """The points that an affine transform between arrays of different ranks reads."""
    indices = np.indices(shape, dtype=np.float64).reshape(len(shape), -1)
    return (matrix @ indices + offset[:, None]).reshape((len(offset),) + tuple(shape))


@interpolates
@for_arrays_of_any_library
def affine_transform(input, matrix, offset=0.0, output_shape=None, output=None, order=3,
                     mode="constant", cval=0.0, prefilter=True, *, antialias=False,
                     missing="spread", nodata=None, weights=False, precision="single",
                     labels=False, device=None):
    """Transform an array by a matrix and an offset.

    The output at index ``o`` is the value of the input at ``matrix @ o + offset``.

    Parameters
    ----------
    input : array_like
        The input array, real or complex, of rank 1 or more, or the path of a file, whose array is
        read. An array on a device, such as one of CuPy or a :class:`warpalign.DeviceArray`, is
        processed there.
    matrix : array_like
        Maps output to input coordinates, in array axes. Its shape is (n, n), (n,) for a diagonal
        matrix, or (n + 1, n + 1) or (n, n + 1) for a homogeneous one, where n is the rank. The
        ``matrix`` of a result of :func:`warpalign.register` has the shape (n + 1, n + 1).
    offset : float or sequence, optional
        The offset along each axis, in samples. Ignored if the matrix is homogeneous. The default
        is 0.
    output_shape : tuple of ints, optional
        The output's shape. The default is the input's, or that of `output`.
    output : array or dtype, optional
        The array in which to place the result, or the dtype of the returned array. The default is
        a new array of the input's dtype.
    order : int, optional
        The order of the spline, 0 to 5. The default is 3.
    mode : str, optional
        How to extend the input beyond its edges, as in SciPy: ``'constant'`` (the default),
        ``'grid-constant'``, ``'nearest'``, ``'mirror'``, ``'reflect'`` or ``'grid-mirror'``,
        ``'wrap'``, ``'grid-wrap'``.
    cval : scalar, optional
        The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
    prefilter : bool, optional
        Whether to prefilter the input. With False, the input must hold the coefficients of the
        spline, as :func:`spline_filter` computes them. The default is True.
    antialias : bool, optional
        Whether each output is a mean over its footprint in the input, an ellipse, so that
        transforms that shrink do not alias; see the notes. The default is False, as in SciPy.
    %(missing)s
    precision : {'single', 'double'}, optional
        The precision of the arithmetic. ``'double'`` needs a device that supports it. The default
        is ``'single'``.
    labels : bool, optional
        Whether the input is a label image, whose integers are names and not quantities. Orders
        above 0 then interpolate the coverage of each label, and the output takes the label with the
        largest coverage. With False, orders above 0 interpolate the integers themselves, as SciPy
        does, and may give labels that the input does not contain. The default is False.
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.

    Returns
    -------
    ndarray
        The transformed array. For an input on a device, an array of the same library
        on that device.
    weights : ndarray of float32
        With ``weights=True``: the known share of each result's support, from 0 to 1.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    ValueError
        The output is read-only; or the device lacks double precision, which orders above 0 need for
        ``precision='double'``, for integers beyond 2**24, and for a `cval` that is not finite with
        ``mode='grid-constant'``; or `labels` is True, and `cval` is no value of the input's type;
        or all samples are missing, no sample can have the value `nodata`, or the options contradict
        each other; or `antialias` is combined with order 0, labels, coefficients, or an output of
        another rank.
    TypeError
        `labels` is True, and the input holds no integers, or the output has another type.
    warpalign.Error
        The computation failed; for example, the device has too little memory.
    NotImplementedError
        The matrix mixes more than 3 axes.

    Notes
    -----
    Signature and semantics are those of ``scipy.ndimage.affine_transform``.
    Order 0 copies samples of any type exactly; if two samples are equally near, it chooses the same
    one as SciPy. Higher orders compute in single precision, with the exact prefilter of [1]_;
    results are accurate to about 1e-6 of the largest sample. Integers beyond 2**24, which float32
    would round, are computed in double precision. With ``precision='double'`` all values are, and
    accurate to about 1e-14 of the largest sample.

    With ``antialias=True``, the footprint is a Gaussian (elliptical weighted average [3]_). If
    ``J`` is the matrix, the square roots ``s`` of the eigenvalues of ``J J^T`` are the numbers of
    input samples for each output sample along its eigenvectors, and the Gaussian's standard
    deviation along each of them is ``max(0, (s - 1) / 2)``, for a zoom that of :func:`zoom`. The
    result is the sum of the spline at points one sample apart along each eigenvector, up to 4
    standard deviations, weighted by the Gaussian scaled to the sum 1. With ``mode='constant'``,
    results whose point is outside the input are `cval`, and the spline is mirrored for the others,
    so that `cval` never mixes with samples; ``'grid-constant'`` mixes them. In double precision,
    a footprint has at most 64 points on each side of its centre along an axis (16 in volumes), which
    lie farther apart if the array shrinks by more than 33 (9).

    %(missing_notes)s

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.
    .. [2] S. B. Damelin and N. S. Hoang, "On surface completion and image inpainting by biharmonic
       functions", International Journal of Mathematics and Mathematical Sciences, 2018.
    .. [3] P. S. Heckbert, "Fundamentals of Texture Mapping and Image Warping", Master's thesis,
       University of California, Berkeley, 1989.

    Examples
    --------
    >>> import numpy as np
    >>> from warpalign import ndimage
    >>> image = np.arange(9.0).reshape(3, 3)
    >>> ndimage.affine_transform(image, [[0, 1], [1, 0]], order=1)
    array([[0., 3., 6.],
           [1., 4., 7.],
           [2., 5., 8.]])
    """
    _rules.check_order(order)
    rule = _choice(missing, nodata, weights, order, prefilter, labels)
    method = _antialias.method_of(antialias, order=order, prefilter=prefilter, labels=labels)
    array = as_array(input)
    if output_shape is None:
        has_shape = isinstance(output, np.ndarray) or is_on_device(output)
        output_shape = tuple(output.shape) if has_shape else array.shape
    _with_rank(array)
    if len(output_shape) < 1:
        raise RuntimeError("input and output rank must be > 0")
    result = _rules.output_for(output, array, output_shape)
    _rules.check_values(array)
    _rules.named_mode(mode)
    linear, start, along = _checked_affine(matrix, offset, array, result)
    points = None
    if method and array.ndim != result.ndim:
        raise ValueError(f"antialias needs an output of the input's rank, {array.ndim}, not "
                         f"{result.ndim}")
    if array.ndim != result.ndim:
        points = _points_of(linear, start, result.shape)

    def evaluate(part, part_output, spline):
        if points is None:
            evaluate_affine(part, linear, start, part_output, spline,
                            along=None if method else along)
        else:
            evaluate_points(part, points, part_output, spline)

    axes = _changed_axes(linear, start, array, result) if points is None else None
    return _evaluate(evaluate, array, result, order, mode, cval, prefilter, device, precision,
                     labels, rule, axes, antialias=bool(method), by_matrix=points is None)


@interpolates
@for_arrays_of_any_library
def shift(input, shift, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *,
          missing="spread", nodata=None, weights=False, precision="single", labels=False,
          device=None):
    """Shift an array.

    Parameters
    ----------
    input : array_like
        The input array, real or complex, of rank 1 or more, or the path of a file, whose array is
        read. An array on a device, such as one of CuPy or a :class:`warpalign.DeviceArray`, is
        processed there.
    shift : float or sequence
        The shift in samples, one for each axis or one for all axes. A positive shift moves the
        content towards larger indices.
    output : array or dtype, optional
        The array in which to place the result, or the dtype of the returned array. The default is
        a new array of the input's dtype.
    order : int, optional
        The order of the spline, 0 to 5. The default is 3.
    mode : str, optional
        How to extend the input beyond its edges, as in SciPy: ``'constant'`` (the default),
        ``'grid-constant'``, ``'nearest'``, ``'mirror'``, ``'reflect'`` or ``'grid-mirror'``,
        ``'wrap'``, ``'grid-wrap'``.
    cval : scalar, optional
        The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
    prefilter : bool, optional
        Whether to prefilter the input. With False, the input must hold the coefficients of the
        spline, as :func:`spline_filter` computes them. The default is True.
    %(missing)s
    precision : {'single', 'double'}, optional
        The precision of the arithmetic. ``'double'`` needs a device that supports it. The default
        is ``'single'``.
    labels : bool, optional
        Whether the input is a label image, whose integers are names and not quantities. Orders
        above 0 then interpolate the coverage of each label, and the output takes the label with the
        largest coverage. With False, orders above 0 interpolate the integers themselves, as SciPy
        does, and may give labels that the input does not contain. The default is False.
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.

    Returns
    -------
    ndarray
        The shifted array. For an input on a device, an array of the same library on that device.
    weights : ndarray of float32
        With ``weights=True``: the known share of each result's support, from 0 to 1.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    ValueError
        The output is read-only; or the device lacks double precision, which orders above 0 need for
        ``precision='double'``, for integers beyond 2**24, and for a `cval` that is not finite with
        ``mode='grid-constant'``; or `labels` is True, and `cval` is no value of the input's type;
        or all samples are missing, no sample can have the value `nodata`, or the options contradict
        each other.
    TypeError
        `labels` is True, and the input holds no integers, or the output has another type.
    warpalign.Error
        The computation failed; for example, the device has too little memory.

    Notes
    -----
    Signature and semantics are those of ``scipy.ndimage.shift``.
    Order 0 copies samples of any type exactly; if two samples are equally near, it chooses the same
    one as SciPy. Higher orders compute in single precision, with the exact prefilter of [1]_;
    results are accurate to about 1e-6 of the largest sample. Integers beyond 2**24, which float32
    would round, are computed in double precision. With ``precision='double'`` all values are, and
    accurate to about 1e-14 of the largest sample.

    %(missing_notes)s

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.
    .. [2] S. B. Damelin and N. S. Hoang, "On surface completion and image inpainting by biharmonic
       functions", International Journal of Mathematics and Mathematical Sciences, 2018.

    Examples
    --------
    >>> from warpalign import ndimage
    >>> ndimage.shift([1.0, 2, 3, 4], 1, order=1)
    array([0., 1., 2., 3.])
    """
    _rules.check_order(order)
    rule = _choice(missing, nodata, weights, order, prefilter, labels)
    array = as_array(input)
    _with_rank(array)
    result = _rules.output_for(output, array)
    _rules.check_values(array)
    _rules.named_mode(mode)
    offset = np.asarray(
        [-value for value in _rules.sequence_of(shift, array.ndim)], dtype=np.float64)
    along = [np.arange(n) + start for n, start in zip(array.shape, offset)]

    def evaluate(part, part_output, spline):
        evaluate_affine(part, np.eye(array.ndim), offset, part_output, spline, along=along)

    return _evaluate(evaluate, array, result, order, mode, cval, prefilter, device, precision,
                     labels, rule, _changed_axes(np.eye(array.ndim), offset, array, result))


def _zoom_transform(in_shape, out_shape, grid_mode):
    """Scale and offset along each axis, from output to input."""
    lengths = np.array(in_shape, dtype=np.float64)
    zoomed = np.array(out_shape, dtype=np.float64)
    if not grid_mode:
        lengths, zoomed = lengths - 1, zoomed - 1
    # An output of one sample is the first sample of the input.
    scale = np.divide(lengths, zoomed, out=np.ones(len(lengths)), where=zoomed != 0)
    offset = 0.5 * scale - 0.5 if grid_mode else np.zeros(len(lengths))
    if 0 in out_shape:  # no points; another axis may be too long for an array of them
        along = None
    elif grid_mode:
        along = [(np.arange(n) + 0.5) * factor - 0.5 for n, factor in zip(out_shape, scale)]
    else:
        # The last coordinate is that of the last sample. SciPy may round it up, and then takes
        # another value in the modes 'constant' and 'wrap'.
        along = [np.minimum(np.arange(n) * factor, last)
                 for n, factor, last in zip(out_shape, scale, np.maximum(lengths, 0))]
    return np.diag(scale), offset, along


def _advise_grid_mode(mode):
    better = {"constant": "grid-constant", "wrap": "grid-wrap"}.get(mode)
    if better is not None:
        warnings.warn(
            f"It is recommended to use mode = {better} instead of {mode} "
            "when grid_mode is True.",
            stacklevel=4)


@interpolates
@for_arrays_of_any_library
def zoom(input, zoom, output=None, order=3, mode="constant", cval=0.0, prefilter=True, *,
         grid_mode=False, antialias=False, missing="spread", nodata=None, weights=False,
         precision="single", labels=False, device=None):
    """Zoom an array.

    Parameters
    ----------
    input : array_like
        The input array, real or complex, of rank 1 or more, or the path of a file, whose array is
        read. An array on a device, such as one of CuPy or a :class:`warpalign.DeviceArray`, is
        processed there.
    zoom : float or sequence
        The zoom factor, one for each axis or one for all axes. The lengths of the output are
        rounded.
    output : array or dtype, optional
        The array in which to place the result, or the dtype of the returned array. The default is
        a new array of the input's dtype.
    order : int, optional
        The order of the spline, 0 to 5. The default is 3.
    mode : str, optional
        How to extend the input beyond its edges, as in SciPy: ``'constant'`` (the default),
        ``'grid-constant'``, ``'nearest'``, ``'mirror'``, ``'reflect'`` or ``'grid-mirror'``,
        ``'wrap'``, ``'grid-wrap'``.
    cval : scalar, optional
        The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
    prefilter : bool, optional
        Whether to prefilter the input. With False, the input must hold the coefficients of the
        spline, as :func:`spline_filter` computes them. The default is True.
    grid_mode : bool, optional
        Whether to align the outer edges of the first and last pixels, instead of their centres. The
        default is False.
    antialias : bool or 'least-squares', optional
        How to reduce the array without aliasing, along the axes that shrink. With True, a Gaussian
        smooths the input before the interpolation, as in scikit-image's ``resize``.
        ``'least-squares'`` takes the spline of the output's spacing that is nearest to the spline
        of the input. With False (the default, as in SciPy) the output only takes the input's values
        at its points; see the notes.
    %(missing)s
    precision : {'single', 'double'}, optional
        The precision of the arithmetic. ``'double'`` needs a device that supports it. The default
        is ``'single'``.
    labels : bool, optional
        Whether the input is a label image, whose integers are names and not quantities. Orders
        above 0 then interpolate the coverage of each label, and the output takes the label with the
        largest coverage. With False, orders above 0 interpolate the integers themselves, as SciPy
        does, and may give labels that the input does not contain. The default is False.
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.

    Returns
    -------
    ndarray
        The zoomed array. For an input on a device, an array of the same library on that device.
    weights : ndarray of float32
        With ``weights=True``: the known share of each result's support, from 0 to 1.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    ValueError
        The output is read-only; or the device lacks double precision, which orders above 0 need for
        ``precision='double'``, for integers beyond 2**24, and for a `cval` that is not finite with
        ``mode='grid-constant'``; or `labels` is True, and `cval` is no value of the input's type;
        or all samples are missing, no sample can have the value `nodata`, or the options contradict
        each other; or `antialias` is combined with order 0, labels, coefficients or an axis that
        shrinks to nothing, or ``'least-squares'`` with a mode that it does not support.
    TypeError
        `labels` is True, and the input holds no integers, or the output has another type.
    warpalign.Error
        The computation failed; for example, the device has too little memory.

    Notes
    -----
    Signature and semantics are those of ``scipy.ndimage.zoom``.
    Order 0 copies samples of any type exactly; if two samples are equally near, it chooses the same
    one as SciPy. Higher orders compute in single precision, with the exact prefilter of [1]_;
    results are accurate to about 1e-6 of the largest sample. Integers beyond 2**24, which float32
    would round, are computed in double precision. With ``precision='double'`` all values are, and
    accurate to about 1e-14 of the largest sample.

    With ``antialias=True``, the result is that of a Gaussian filter, followed by the zoom. The step
    ``s`` of an axis is the number of input samples for each output sample: ``n / m`` for lengths
    ``n`` and ``m`` with `grid_mode`, else ``(n - 1) / (m - 1)``, or ``n`` if ``m`` is 1. Along axes
    of ``s > 1``, the standard deviation is ``(s - 1) / 2`` samples, as in scikit-image [3]_; the
    weights are those of ``scipy.ndimage.gaussian_filter`` with ``truncate=4``. Beyond the edges the
    Gaussian sees the samples as SciPy's prefilter does: mirrored with ``'constant'`` and
    ``'wrap'``, so that `cval` never mixes with samples, and as `mode` says otherwise. Filter and
    interpolation are one sum for each output sample and axis, the axis that shrinks most first;
    nothing is computed between output samples. With ``grid_mode=True`` the result is that of
    ``skimage.transform.resize(anti_aliasing=True)``.

    ``antialias='least-squares'`` minimises the integral of the squared difference between the
    splines of output and input [4]_, for any factor [5]_. It keeps more detail than the Gaussian,
    and overshoots at sharp edges. The mode must extend input and output alike: ``'reflect'`` or
    ``'grid-wrap'`` with `grid_mode`, else ``'mirror'``, ``'constant'`` or ``'wrap'``, which all
    mirror the samples. With ``missing='ignore'``, known shares are those of the Gaussian.

    %(missing_notes)s

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.
    .. [2] S. B. Damelin and N. S. Hoang, "On surface completion and image inpainting by biharmonic
       functions", International Journal of Mathematics and Mathematical Sciences, 2018.
    .. [3] S. van der Walt et al., "scikit-image: image processing in Python", PeerJ 2:e453, 2014.
    .. [4] M. Unser, A. Aldroubi and M. Eden, "Enlargement or reduction of digital images with
       minimum loss of information", IEEE Transactions on Image Processing 4(3), 1995.
    .. [5] A. Munoz, T. Blu and M. Unser, "Least-squares image resizing using finite differences",
       IEEE Transactions on Image Processing 10(9), 2001.

    Examples
    --------
    >>> from warpalign import ndimage
    >>> ndimage.zoom([0.0, 2, 4], 5 / 3, order=1)
    array([0., 1., 2., 3., 4.])
    >>> stripes = [0.0, 1, 0, 1, 0, 1, 0, 1, 0]
    >>> ndimage.zoom(stripes, 5 / 9, order=1)
    array([0., 0., 0., 0., 0.])
    >>> ndimage.zoom(stripes, 5 / 9, order=1, antialias=True).round(2)
    array([0.21, 0.21, 0.21, 0.21, 0.21])
    """
    _rules.check_order(order)
    rule = _choice(missing, nodata, weights, order, prefilter, labels)
    method = _antialias.method_of(antialias, order=order, prefilter=prefilter, labels=labels,
                                  has_least_squares=True)
    array = as_array(input)
    _with_rank(array)
    factors = _rules.sequence_of(zoom, array.ndim)
    shape = tuple(int(round(n * factor)) for n, factor in zip(array.shape, factors))
    if method:
        _antialias.check_shape(array.shape, shape)
    result = _rules.output_for(output, array, shape)
    _rules.check_precision(precision)
    if prefilter and not labels and not rule.ignore and all(factor == 1 for factor in factors):
        result[...] = array
        return result
    _rules.check_values(array)
    if grid_mode:
        _advise_grid_mode(mode)
    matrix, offset, along = _zoom_transform(array.shape, shape, grid_mode)
    if method:
        _rules.named_mode(mode)
        if method == _antialias.LEAST_SQUARES:
            _antialias.check_projection(array.shape, shape, mode, grid_mode)

    def evaluate(part, part_output, spline):
        if method:
            return _antialias.zoom(part, part_output, spline, grid_mode, method)
        evaluate_affine(part, matrix, offset, part_output, spline, along=along)

    return _evaluate(evaluate, array, result, order, mode, cval, prefilter, device, precision,
                     labels, rule, _changed_axes(matrix, offset, array, result))


def _rotation_plane(axes, ndim):
    if ndim < 2:
        raise ValueError("input array should be at least 2D")
    axes = list(axes)
    if len(axes) != 2:
        raise ValueError("axes should contain exactly two values")
    if not all(float(axis).is_integer() for axis in axes):
        raise ValueError("axes should contain only integer values")
    axes = [axis + ndim if axis < 0 else axis for axis in axes]
    if not all(0 <= axis < ndim for axis in axes):
        raise ValueError("invalid rotation plane specified")
    return sorted(int(axis) for axis in axes)


@interpolates
@for_arrays_of_any_library
def rotate(input, angle, axes=(1, 0), reshape=True, output=None, order=3, mode="constant",
           cval=0.0, prefilter=True, *, missing="spread", nodata=None, weights=False,
           precision="single", labels=False, device=None):
    """Rotate an array in the plane of two of its axes.

    Parameters
    ----------
    input : array_like
        The input array, real or complex, of rank 2 or more, or the path of a file, whose array is
        read. An array on a device, such as one of CuPy or a :class:`warpalign.DeviceArray`, is
        processed there.
    angle : float
        The angle in degrees. With the default axes, positive angles rotate an image
        counter-clockwise as displayed.
    axes : tuple of 2 ints, optional
        The plane of rotation. The default is the first two axes.
    reshape : bool, optional
        Whether to enlarge the output so that it holds the whole rotated input. The default is
        True.
    output : array or dtype, optional
        The array in which to place the result, or the dtype of the returned array. The default is
        a new array of the input's dtype.
    order : int, optional
        The order of the spline, 0 to 5. The default is 3.
    mode : str, optional
        How to extend the input beyond its edges, as in SciPy: ``'constant'`` (the default),
        ``'grid-constant'``, ``'nearest'``, ``'mirror'``, ``'reflect'`` or ``'grid-mirror'``,
        ``'wrap'``, ``'grid-wrap'``.
    cval : scalar, optional
        The value beyond the edges for ``'constant'`` and ``'grid-constant'``. The default is 0.
    prefilter : bool, optional
        Whether to prefilter the input. With False, the input must hold the coefficients of the
        spline, as :func:`spline_filter` computes them. The default is True.
    %(missing)s
    precision : {'single', 'double'}, optional
        The precision of the arithmetic. ``'double'`` needs a device that supports it. The default
        is ``'single'``.
    labels : bool, optional
        Whether the input is a label image, whose integers are names and not quantities. Orders
        above 0 then interpolate the coverage of each label, and the output takes the label with the
        largest coverage. With False, orders above 0 interpolate the integers themselves, as SciPy
        does, and may give labels that the input does not contain. The default is False.
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.

    Returns
    -------
    ndarray
        The rotated array. For an input on a device, an array of the same library on that device.
    weights : ndarray of float32
        With ``weights=True``: the known share of each result's support, from 0 to 1.

    Raises
    ------
    RuntimeError
        The order, the mode, a shape or a dtype is not supported (SciPy's message).
    ValueError
        The axes do not define a plane of the input; the output is read-only; or the device lacks
        double precision, which orders above 0 need for ``precision='double'``, for integers beyond
        2**24, and for a `cval` that is not finite with ``mode='grid-constant'``; or `labels` is
        True, and `cval` is no value of the input's type; or all samples are missing, no sample can
        have the value `nodata`, or the options contradict each other.
    TypeError
        `labels` is True, and the input holds no integers, or the output has another type.
    warpalign.Error
        The computation failed; for example, the device has too little memory.

    Notes
    -----
    Signature and semantics are those of ``scipy.ndimage.rotate``.
    Order 0 copies samples of any type exactly; if two samples are equally near, it chooses the same
    one as SciPy. Higher orders compute in single precision, with the exact prefilter of [1]_;
    results are accurate to about 1e-6 of the largest sample. Integers beyond 2**24, which float32
    would round, are computed in double precision. With ``precision='double'`` all values are, and
    accurate to about 1e-14 of the largest sample.

    %(missing_notes)s

    References
    ----------
    .. [1] M. Unser, "Splines: a perfect fit for signal and image processing", IEEE Signal
       Processing Magazine 16(6), 1999.
    .. [2] S. B. Damelin and N. S. Hoang, "On surface completion and image inpainting by biharmonic
       functions", International Journal of Mathematics and Mathematical Sciences, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from warpalign import ndimage
    >>> ndimage.rotate(np.arange(6.0).reshape(2, 3), 90, order=1)
    array([[2., 5.],
           [1., 4.],
           [0., 3.]])
    """
    array = as_array(input)
    plane = _rotation_plane(axes, array.ndim)
    c, s = _rules.cosine_and_sine(angle)
    rotation = np.array([[c, s], [-s, c]])
    lengths = np.array(array.shape)[plane]
    out_lengths = lengths
    if reshape:
        y, x = lengths
        corners = rotation @ [[0, 0, y, y], [0, x, 0, x]]
        out_lengths = (np.ptp(corners, axis=1) + 0.5).astype(int)
    shape = list(array.shape)
    shape[plane[0]], shape[plane[1]] = (int(length) for length in out_lengths)
    result = _rules.output_for(output, array, shape)
    _rules.check_order(order)
    rule = _choice(missing, nodata, weights, order, prefilter, labels)
    _rules.check_values(array)
    _rules.named_mode(mode)
    matrix, offset = np.eye(array.ndim), np.zeros(array.ndim)
    matrix[np.ix_(plane, plane)] = rotation
    offset[plane] = (lengths - 1) / 2 - rotation @ ((out_lengths - 1) / 2)

    def evaluate(part, part_output, spline):
        evaluate_affine(part, matrix, offset, part_output, spline, plane=plane)

    return _evaluate(evaluate, array, result, order, mode, cval, prefilter, device, precision,
                     labels, rule, plane)
