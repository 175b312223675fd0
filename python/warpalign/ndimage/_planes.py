"""The first two axes of an array moved by a field or a homography; further axes stay.

Arrays on a device stay there. The library moves the last axes of these, so that those with further
axes go by way of the host.
"""

import numpy as np

from .._device_array import DeviceArray
from . import _on_device, _rules
from ._evaluate import evaluate_homography
from ._interpolation import _evaluate, map_coordinates
from ._on_device import as_array, for_arrays_of_any_library


def by_way_of_host(function, array, result):
    """Store function(the array on the host), of the result's shape and dtype, in `result`."""
    values = np.ascontiguousarray(function(array.numpy()), result.dtype)
    result._memory.upload(values, array._queue)
    return result


@for_arrays_of_any_library
def transform_planes(image, matrix, shape, *, output=None, order=3, mode="constant", cval=0.0,
                     device=None):
    """The image at matrix @ (row, column, 1), divided by its last number, for an output of `shape`.

    `matrix` has the shape (3, 3) and maps no pixel of the output to infinity. Further axes stay.
    The other parameters are those of :func:`warpalign.ndimage.affine_transform`.
    """
    _rules.check_order(order)
    array = as_array(image)
    result = _rules.output_for(output, array, tuple(shape) + array.shape[2:])
    _rules.check_values(array)
    _rules.named_mode(mode)
    if isinstance(array, DeviceArray) and array.ndim > 2:
        return by_way_of_host(
            lambda values: transform_planes(values, matrix, shape, output=result.dtype, order=order,
                                            mode=mode, cval=cval, device=device), array, result)
    matrix = np.asarray(matrix, np.float64)
    evaluate_on = (_on_device.homography if isinstance(array, DeviceArray)
                   else evaluate_homography)

    def evaluate(part, part_output, spline):
        evaluate_on(part, matrix, part_output, spline)

    return _evaluate(evaluate, array, result, order, mode, cval, True, device)


def displaced_planes(image, places, *, order, mode, cval, device):
    """The image at `places`, of shape (2, rows, columns), which are its rows and columns.

    The other parameters are those of :func:`warpalign.ndimage.map_coordinates`.
    """
    if image.ndim == 2:
        return map_coordinates(image, places, order=order, mode=mode, cval=cval, device=device)
    return _displaced_one_by_one(image, places, order, mode, cval, device=device)


@for_arrays_of_any_library
def _displaced_one_by_one(image, places, order, mode, cval, *, device):
    array = as_array(image)
    if isinstance(array, DeviceArray):
        result = array._like(places.shape[1:] + array.shape[2:], array.dtype)
        return by_way_of_host(
            lambda values: _displaced_one_by_one(values, places, order, mode, cval, device=device),
            array, result)
    result = np.empty(places.shape[1:] + array.shape[2:], array.dtype.newbyteorder("="))
    for index in np.ndindex(array.shape[2:]):
        plane = (slice(None), slice(None), *index)
        result[plane] = map_coordinates(
            np.ascontiguousarray(array[plane]), places, order=order, mode=mode, cval=cval,
            device=device)
    return result
