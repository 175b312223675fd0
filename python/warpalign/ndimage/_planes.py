"""Warps the first two axes of an array by a displacement field or a homography; other axes stay.

Arrays on a device stay there. Since the library transforms the last axes of arrays on a device,
arrays with more than two axes are copied through the host.
"""

import numpy as np

from .._device_array import DeviceArray
from . import _on_device, _rules
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
                     device=None):
    """Warp an image by a homography to an output of the given shape.

    An output pixel is the image at matrix @ (row, column, 1), divided by its last component.
    `matrix` has the shape (3, 3) and must not map any pixel of the output to infinity. Axes after
    the first two stay. Other parameters: see :func:`warpalign.ndimage.affine_transform`.
    """
    _rules.check_order(order)
    array = as_array(image)
    result = _rules.output_for(output, array, tuple(shape) + array.shape[2:])
    _rules.check_values(array)
    _rules.named_mode(mode)
    if isinstance(array, DeviceArray) and array.ndim > 2:
        return compute_on_host(
            lambda values: transform_planes(values, matrix, shape, output=result.dtype, order=order,
                                            mode=mode, cval=cval, device=device), array, result)
    matrix = np.asarray(matrix, np.float64)
    evaluate_on = (_on_device.homography if isinstance(array, DeviceArray)
                   else evaluate_homography)

    def evaluate(part, part_output, spline):
        evaluate_on(part, matrix, part_output, spline)

    return _evaluate(evaluate, array, result, order, mode, cval, True, device)


def displaced_planes(image, positions, *, order, mode, cval, device):
    """Evaluate the image at `positions`, an array of rows and columns of shape (2, rows, columns).

    Axes after the first two stay. Other parameters: see
    :func:`warpalign.ndimage.map_coordinates`.
    """
    if image.ndim == 2:
        return map_coordinates(image, positions, order=order, mode=mode, cval=cval, device=device)
    return _displaced_one_by_one(image, positions, order, mode, cval, device=device)


@for_arrays_of_any_library
def _displaced_one_by_one(image, positions, order, mode, cval, *, device):
    array = as_array(image)
    if isinstance(array, DeviceArray):
        result = array._like(positions.shape[1:] + array.shape[2:], array.dtype)
        return compute_on_host(
            lambda values: _displaced_one_by_one(values, positions, order, mode, cval,
                                                 device=device),
            array, result)
    result = np.empty(positions.shape[1:] + array.shape[2:], array.dtype.newbyteorder("="))
    for index in np.ndindex(array.shape[2:]):
        plane = (slice(None), slice(None), *index)
        result[plane] = map_coordinates(
            np.ascontiguousarray(array[plane]), positions, order=order, mode=mode, cval=cval,
            device=device)
    return result
