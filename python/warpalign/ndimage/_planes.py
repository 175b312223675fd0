"""Warps the first two axes of an array by a displacement field or a homography; other axes stay.

Arrays on a device stay there. Since the library transforms the last axes of arrays on a device,
arrays with more than two axes are copied through the host.
"""

import numpy as np

from .._device_array import DeviceArray
from . import _antialias, _missing, _on_device, _rules
from ._evaluate import evaluate_homography
from ._interpolation import _evaluate, map_coordinates
from ._on_device import as_array, for_arrays_of_any_library


def compute_on_host(function, array, result):
    """Copy the array to the host, call `function` with it, and store its value in `result`."""
    values = np.ascontiguousarray(function(array.numpy()), result.dtype)
    result._memory.upload(values, array._queue)
    return result


@for_arrays_of_any_library
def transform_planes(image, matrix, shape, *, output=None, order=3, mode="constant", cval=0.0,
                     antialias=False, missing="spread", nodata=None, weights=False,
                     precision="single", labels=False, device=None):
    """Warp an image by a homography to an output of the given shape.

    An output pixel is the image at matrix @ (row, column, 1), divided by its last component.
    `matrix` has the shape (3, 3) and must not map any pixel of the output to infinity. Axes after
    the first two stay. Other parameters: see :func:`warpalign.ndimage.affine_transform`.
    """
    _rules.check_order(order)
    rule = _missing.checked(missing, nodata, weights, labels=labels)
    method = _antialias.method_of(antialias, order=order, prefilter=True, labels=labels)
    array = as_array(image)
    result = _rules.output_for(output, array, tuple(shape) + array.shape[2:])
    _rules.check_values(array)
    _rules.named_mode(mode)
    if isinstance(array, DeviceArray) and array.ndim > 2 and not rule.ignore:
        return compute_on_host(
            lambda values: transform_planes(values, matrix, shape, output=result.dtype, order=order,
                                            mode=mode, cval=cval, antialias=antialias,
                                            precision=precision, labels=labels, device=device),
            array, result)
    matrix = np.asarray(matrix, np.float64)

    def evaluate(part, part_output, spline):
        evaluate_on = (_on_device.homography if isinstance(part, DeviceArray)
                       else evaluate_homography)
        evaluate_on(part, matrix, part_output, spline)

    return _evaluate(evaluate, array, result, order, mode, cval, True, device, precision, labels,
                     rule, axes=[0, 1], antialias=bool(method))


def displaced_planes(image, positions, **options):
    """Evaluate the image at `positions`, an array of rows and columns of shape (2, rows, columns).

    Axes after the first two stay. Options: see :func:`warpalign.ndimage.map_coordinates`.
    """
    if image.ndim == 2:
        return map_coordinates(image, positions, **options)
    return _displaced_one_by_one(image, positions, **options)


@for_arrays_of_any_library
def _displaced_one_by_one(image, positions, **options):
    array = as_array(image)
    if not isinstance(array, DeviceArray):
        return at_positions(array, positions, **options)
    results = at_positions(array.numpy(), positions, **options)
    if isinstance(results, tuple):
        return tuple(_uploaded(values, array) for values in results)
    return _uploaded(results, array)


def _uploaded(values, array):
    """The values on the device of `array`, and of its library."""
    result = array._like(values.shape, values.dtype)
    result._memory.upload(values, array._queue)
    return result


def at_positions(array, positions, output=None, **options):
    """Evaluate the first axes of a NumPy array at points, for each index of its further axes.

    As :func:`warpalign.ndimage.map_coordinates`, but the result has the further axes, too.
    """
    ndim = len(positions)
    shape = positions.shape[1:] + array.shape[ndim:]
    if not isinstance(output, np.ndarray):
        dtype = array.dtype.newbyteorder("=") if output is None else np.dtype(output)
        output = np.empty(shape, dtype)
    weights = np.empty(shape, np.float32) if options.get("weights") else None
    for index in np.ndindex(array.shape[ndim:]):
        samples = np.ascontiguousarray(array[(slice(None),) * ndim + index])
        values = map_coordinates(samples, positions, output=output.dtype, **options)
        if weights is not None:
            values, weights[(..., *index)] = values
        output[(..., *index)] = values
    return output if weights is None else (output, weights)
