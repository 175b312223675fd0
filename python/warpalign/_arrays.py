"""Conversion of NumPy arrays to and from the types that the library takes."""

import numpy as np

# Types that are uploaded without conversion. Other types are converted to float32 first, even
# float64, which the library accepts: transferring twice the bytes costs more than converting.
_UPLOADED = frozenset(np.dtype(name) for name in (
    "uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32"))
# Types that are downloaded without conversion. 32-bit integers are not among them: the library
# converts NaN to another integer than C does.
_DOWNLOADED = _UPLOADED - {np.dtype(np.uint32), np.dtype(np.int32)}

# Number of elements that are converted at once; bounds temporary memory.
_BLOCK = 1 << 22


def for_upload(array):
    """Return the values as a C-contiguous array that can be uploaded."""
    kept = array.dtype if array.dtype in _UPLOADED else np.dtype(np.float32)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=kept)


def can_hold_result(output, *inputs):
    """Whether results can be downloaded straight into `output`."""
    return (
        output.dtype in _DOWNLOADED  # which are of native byte order
        and output.flags.c_contiguous
        and output.flags.writeable
        and not any(np.may_share_memory(output, array) for array in inputs)
    )


def _saturated(values, dtype):
    """Round halves away from zero and saturate. NaN gives the same integer as C's conversion."""
    limits = np.iinfo(dtype)
    values = np.asarray(values)
    in_double = limits.bits > 16 or values.dtype == np.float64
    values = values.astype(np.float64 if in_double else np.float32, copy=False)
    nan = limits.min if limits.bits > 16 else 0
    values = np.nan_to_num(values, nan=nan, posinf=np.inf, neginf=-np.inf)
    values += np.copysign(values.dtype.type(0.5), values)
    np.trunc(values, out=values)
    # float64 cannot hold 2**63 - 1: values that are too large are replaced after the conversion.
    too_large = values >= float(limits.max)
    np.clip(values, limits.min, limits.max, out=values)
    values[too_large] = 0
    integers = values.astype(dtype)
    integers[too_large] = limits.max
    return integers


def _truncated(values, dtype):
    """Convert as C does: drop fractions, and wrap values that are too large."""
    with np.errstate(invalid="ignore"):
        return np.asarray(values).astype(np.int64).astype(dtype)


def _in_blocks(values, output, convert):
    if values.size > _BLOCK and values.shape[0] > 1:
        middle = values.shape[0] // 2
        _in_blocks(values[:middle], output[:middle], convert)
        _in_blocks(values[middle:], output[middle:], convert)
    else:
        output[...] = convert(values, output.dtype)


def store(values, output, *, rounded=True):
    """Store real results in an output of any type, with SciPy's conversions.

    Interpolated values are rounded to integers and saturated. Coefficients (``rounded=False``)
    are truncated, as SciPy's filters do.
    """
    if output.dtype.kind == "b":
        output[...] = ~(np.abs(values) < 1)
    elif output.dtype.kind in "iu":
        _in_blocks(values, output, _saturated if rounded else _truncated)
    else:
        with np.errstate(over="ignore"):
            output[...] = values
