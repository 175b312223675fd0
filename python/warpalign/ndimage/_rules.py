"""SciPy's checks of the arguments of its interpolation functions, with its error messages."""

import math
import operator
import warnings

import numpy as np

from .._device_array import DeviceArray
from .._foreign import is_on_device
from ._outputs import output_on

# SciPy's names of modes, mapped to the library's.
MODES = {
    "nearest": "nearest",
    "wrap": "wrap",
    "reflect": "reflect",
    "grid-mirror": "reflect",
    "mirror": "mirror",
    "constant": "constant",
    "grid-wrap": "grid-wrap",
    "grid-constant": "grid-constant",
}

# The extension of the input with which SciPy's spline_filter computes coefficients for each mode.
# Unlike SciPy's interpolation functions, it does not pad the input.
FILTER_MODES = {
    "nearest": "reflect",
    "wrap": "mirror",
    "reflect": "reflect",
    "grid-mirror": "reflect",
    "mirror": "mirror",
    "constant": "mirror",
    "grid-wrap": "grid-wrap",
    "grid-constant": "mirror",
}


def check_order(order, least=0):
    if order < least or order > 5:
        raise RuntimeError("spline order not supported")


def named_mode(mode, names=MODES):
    if not isinstance(mode, str) or mode not in names:
        raise RuntimeError("boundary mode not supported")
    return names[mode]


def check_precision(precision):
    if not isinstance(precision, str) or precision not in ("single", "double"):
        raise ValueError(f"invalid precision {precision!r} (choose from: 'single', 'double')")


def real_cval(cval):
    math.fabs(cval)  # raises the same exception as SciPy if cval is not a real number
    return float(cval)


def check_values(array):
    if array.dtype.kind not in "biufc":
        raise RuntimeError("data type not supported")


def sequence_of(value, length):
    """Expand a value to one for each axis."""
    if not isinstance(value, str) and np.iterable(value):
        values = list(value)
        if len(values) != length:
            raise RuntimeError("sequence argument must have length equal to input rank")
        return values
    return [value] * length


def _complex_type(dtype, stacklevel):
    if np.dtype(dtype).kind != "c":
        warnings.warn("promoting specified output dtype to complex", stacklevel=stacklevel)
        return np.promote_types(dtype, np.complex64)
    return dtype


def output_for(output, source, shape=None, stacklevel=5):
    """The array to store a result in: a new one, or the caller's.

    Raises the same exceptions as SciPy, and NumPy's ValueError for a read-only array.
    """
    is_complex = source.dtype.kind == "c"
    shape = source.shape if shape is None else tuple(shape)
    new = source._like if isinstance(source, DeviceArray) else np.zeros
    if output is None:
        check_values(source)
        dtype = source.dtype.newbyteorder("=")
        result = new(shape, np.promote_types(dtype, np.complex64) if is_complex else dtype)
    elif isinstance(output, (type, np.dtype)):
        result = new(shape, _complex_type(output, stacklevel) if is_complex else output)
    elif isinstance(output, str):
        dtype = np.dtype(output)
        if is_complex and dtype.kind != "c":
            raise RuntimeError("output must have complex dtype")
        if not issubclass(dtype.type, np.number):
            raise RuntimeError("output must have numeric dtype")
        result = new(shape, dtype)
    else:
        result = _given_output(output, source)
        if result.shape != shape:
            raise RuntimeError("output shape not correct")
        if is_complex and result.dtype.kind != "c":
            raise RuntimeError("output must have complex dtype")
    check_values(result)
    if result.dtype.kind == "c" and not is_complex:
        raise RuntimeError("data type not supported")
    if not _is_writeable(result):
        raise ValueError("output array is read-only.")
    return result


def _given_output(output, source):
    if isinstance(source, DeviceArray):
        return output_on(source, output)
    if is_on_device(output):
        raise TypeError("the output is on a device, but the input is in host memory")
    return np.asarray(output)


def _is_writeable(array):
    if isinstance(array, DeviceArray):
        return not array._memory.read_only
    return array.flags.writeable


def axis_index(axis, ndim):
    index = operator.index(axis)
    if not -ndim <= index < ndim:
        raise np.exceptions.AxisError(index, ndim)
    return index % ndim


# Coefficients of the sine x + x^3 S(x^2) and the cosine 1 - x^2 C(x^2) for angles x of up to 45
# degrees, in radians, highest power first. They are those of the Cephes library (S. L. Moshier,
# Methods and Programs for Mathematical Functions, 1989), which SciPy uses. If a rotated point is
# half-way between two samples, the last bit of sine and cosine decides which one is nearer.
_SINE = (1.58962301572218447952e-10, -2.50507477628503540135e-8, 2.75573136213856773549e-6,
         -1.98412698295895384658e-4, 8.33333333332211858862e-3, -1.66666666666666307295e-1)
_COSINE = (1.13678171382044553091e-11, -2.08758833757683644217e-9, 2.75573155429816611547e-7,
           -2.48015872936186303776e-5, 1.38888888888806666760e-3, -4.16666666666666348141e-2,
           4.99999999999999999798e-1)
_DEGREE = 1.74532925199432957692e-2


def _polynomial(x, coefficients):
    value = 0.0
    for coefficient in coefficients:
        value = value * x + coefficient
    return value


def _sine_of_octants(degrees, quarter):
    """The sine of an angle >= 0 plus `quarter` quarter turns, rounded as in SciPy."""
    octants = math.floor(degrees / 45)
    octants += octants % 2  # the remainder is relative to the nearest multiple of 90 degrees
    x = (degrees - octants * 45.0) * _DEGREE
    square = x * x
    quarter += octants // 2
    if quarter % 2:
        value = 1.0 - square * _polynomial(square, _COSINE)
    else:
        value = x + x * (square * _polynomial(square, _SINE))
    return -value if quarter % 4 >= 2 else value


def cosine_and_sine(degrees):
    """Cosine and sine, equal to SciPy's to the last bit; exact at multiples of 90 degrees."""
    degrees = float(degrees)
    if not abs(degrees) <= 1e14:  # larger numbers cannot resolve an angle, and SciPy returns 0
        return (0.0, 0.0) if abs(degrees) > 1e14 else (math.nan, math.nan)
    sine = _sine_of_octants(abs(degrees), 0)
    return _sine_of_octants(abs(degrees), 1), -sine if degrees < 0 else sine
