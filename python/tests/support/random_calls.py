"""Random calls of warpalign.ndimage, compared with SciPy's results in double precision.

``python random_calls.py --calls 100000`` runs many calls and prints which differ, and why.
"""

import argparse
import collections
import itertools
import sys
import time
import warnings
from dataclasses import dataclass, field

import numpy as np
import scipy.ndimage

MODES = ("constant", "grid-constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap")
TYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
         "float32", "float64")

# In single precision, prefilter and evaluation are each accurate to 4e-7 of the largest
# coefficient, which for noise at degree 5 is at most 5 times the largest sample for each axis.
SINGLE = 4e-6
# For the modes nearest and grid-constant, SciPy pads 12 samples and ignores what the filter reads
# beyond them: 4e-5 of the largest sample at degree 5, times a gain of 13 for each axis.
PADDED = {4: 4e-5, 5: 1e-3}
# Integers beyond 24 bits are computed in double precision, and all values if a call requires it.
# SciPy's error is 3e-15 for each axis.
DOUBLE = 2e-14
# A result in double precision that is stored as float32 may be rounded to its other neighbour. At
# degree 5 it may be 4 times the largest sample.
STORED = 2.0**-22
# The relative rounding error of a coordinate in single precision, and the largest slope of noise,
# in units of its range per sample.
POINT = 2.0**-23
SLOPE = 8.0

BEYOND_EDGE = "SciPy's zoom reads the last samples beyond the edge"


@dataclass
class Call:
    """A call, and the points it reads: coordinates in double precision, one array for each axis."""

    name: str
    array: np.ndarray
    arguments: tuple
    keywords: dict
    points: list = field(repr=False)
    precision: str = "single"

    def run(self, module, dtype=None):
        array = self.array if dtype is None else self.array.astype(dtype)
        keywords = self.keywords
        if module is not scipy.ndimage and self.precision != "single":
            keywords = {**keywords, "precision": self.precision}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(module, self.name)(array, *self.arguments, **keywords)

    def __str__(self):
        return (f"{self.name}({self.array.dtype} {self.array.shape}, "
                f"{', '.join(map(repr, self.arguments))}, {self.keywords}, {self.precision})")


def _random_array(random, shape, dtype, bits):
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return (random.random(shape) * 10.0 ** random.integers(-3, 4)).astype(dtype)
    limits = np.iinfo(dtype)
    bits = random.integers(*bits)
    return random.integers(max(limits.min, -2**bits), min(limits.max, 2**bits), shape,
                           np.int64).astype(dtype)


def _grid(matrix, offset, shape):
    start = np.reshape(offset, (-1,) + (1,) * len(shape))
    return np.tensordot(matrix, np.indices(shape), 1) + start


def random_call(random, orders=range(6), modes=MODES, types=TYPES, bits=(3, 53),
                precision="single"):
    """Return a random call. Half of the calls have many points half-way between two samples.

    Integers have a random number of bits, from the range `bits`.
    """
    order = int(random.choice(orders))
    mode = str(random.choice(modes))
    ndim = int(random.integers(1, 4))
    dtype = str(random.choice(types))
    # SciPy's filter of reflected samples is inexact on lines shorter than a dozen samples, or 44 in
    # comparison with double precision.
    least = 1 if order < 2 else 14
    if order > 1 and mode == "reflect" and (
            precision == "double" or dtype in ("int32", "uint32", "int64", "uint64")):
        least, ndim = 44, min(ndim, 2)
    shape = tuple(int(n) for n in random.integers(least, least + 12, ndim))
    array = _random_array(random, shape, dtype, bits)
    keywords = {"order": order, "mode": mode, "cval": float(random.choice([0, 1, -3, 0.7])),
                "prefilter": bool(random.integers(4) > 0)}
    if array.dtype.kind == "u" or array.dtype.kind == "b":
        keywords["cval"] = abs(keywords["cval"])
    tied = bool(random.integers(2))
    halves = lambda *size: random.integers(-50, 70, size) / 2
    name = str(random.choice(["zoom", "shift", "rotate", "affine_transform", "map_coordinates"]))
    if name == "rotate" and ndim < 2:
        name = "shift"
    if name == "zoom":
        choices = [0.5, 1, 1.5, 2, 3] if tied else random.uniform(0.3, 2.5, 5)
        factors = tuple(float(factor) for factor in random.choice(choices, ndim))
        if random.integers(2) and mode not in ("constant", "wrap"):
            keywords["grid_mode"] = True
        arguments = (factors,)
        zoomed = tuple(round(n * factor) for n, factor in zip(shape, factors))
        inset = 0 if keywords.get("grid_mode") else 1
        steps = [(n - inset) / (m - inset) if m > inset else 1 for n, m in zip(shape, zoomed)]
        points = np.stack(np.meshgrid(*[
            (np.arange(m) + (1 - inset) / 2) * step - (1 - inset) / 2
            for m, step in zip(zoomed, steps)], indexing="ij"))
    elif name == "shift":
        moved = halves(ndim) if tied else np.round(random.uniform(-20, 20, ndim), 1)
        arguments = (tuple(moved.tolist()),)
        points = _grid(np.eye(ndim), -moved, shape)
    elif name == "rotate":
        axes = tuple(int(axis) for axis in random.permutation(ndim)[:2])
        angle = float(random.choice([30, 45, 60, 90, -45, 135]) if tied
                      else random.uniform(-180, 180))
        keywords["reshape"] = bool(random.integers(2))
        arguments, points = (angle, axes), None
    elif name == "affine_transform":
        matrix = halves(ndim, ndim) / 16 if tied else random.uniform(-1.2, 1.2, (ndim, ndim))
        offset = halves(ndim)
        arguments = (matrix, tuple(offset.tolist()))
        points = _grid(matrix, offset, shape)
    else:
        points = halves(ndim, 60) if tied else random.uniform(-30, 50, (ndim, 60))
        if random.integers(4) == 0 and order < 2:
            points[random.integers(ndim), random.integers(60, size=3)] = np.nan
        arguments = (points,)
    if name == "rotate":
        points = _rotated(shape, angle, sorted(axes), keywords["reshape"])
    if array.dtype.kind == "f" and order < 2 and random.integers(5) == 0:
        array.ravel()[random.integers(array.size)] = np.nan
    return Call(name, array, arguments, keywords, points, precision)


def _rotated(shape, angle, plane, reshape):
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    matrix, offset = np.eye(len(shape)), np.zeros(len(shape))
    lengths = np.array(shape)[plane]
    out = np.array(shape)
    rotation = np.array([[c, s], [-s, c]])
    if reshape:
        corners = rotation @ [[0, 0, lengths[0], lengths[0]], [0, lengths[1], 0, lengths[1]]]
        # If this rounds differently than SciPy, the shape of `points` differs from the result's.
        out[plane] = (np.ptp(corners, axis=1).round(9) + 0.5).astype(int)
    matrix[np.ix_(plane, plane)] = rotation
    offset[plane] = (lengths - 1) / 2 - rotation @ ((out[plane] - 1) / 2)
    return _grid(matrix, offset, out)


def _near_jumps(call, tolerance):
    """A mask of points so near a jump of the mode that rounding may move them across it."""
    mode, order = call.keywords["mode"], call.keywords["order"]
    is_near = np.zeros(call.points.shape[1:], bool)
    for at, length in zip(call.points, call.array.shape):
        near = tolerance * np.maximum(1, np.abs(at))
        if mode == "constant":
            is_near |= (np.abs(at) < near) | (np.abs(at - (length - 1)) < near)
        if mode == "wrap" and length > 1:
            is_near |= np.mod(at + near / 2, length - 1) < near
        if not np.isfinite(call.array).all() or order == 0:
            # Rounding across a sample changes which neighbours, and hence which NaN, a point reads.
            is_near |= np.abs(at - np.round(at)) < near
    return is_near


def compare(call, module):
    """Return None if the results agree, else the reason why they differ, or '' if it is unknown."""
    expected = call.run(scipy.ndimage)
    found = call.run(module)
    order, mode = call.keywords["order"], call.keywords["mode"]
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return ""
    with np.errstate(all="ignore"):
        same = (found == expected) | ((found != found) & (expected != expected))
    if same.all():
        return None
    if order == 0:
        if call.name == "zoom" and mode in ("constant", "wrap") and _rounds_beyond(call, same):
            return BEYOND_EDGE
        return ""
    is_integer = found.dtype.kind in "biu"
    values = (f.astype(np.float64) for f in (found, expected))
    with np.errstate(invalid="ignore"):
        far = np.abs(np.subtract(*values))
    finite = np.abs(call.array.astype(np.float64))
    largest = max(float(np.nanmax(finite, initial=0)), abs(call.keywords["cval"]))
    is_wide = call.array.dtype.kind in "iu" and largest > 2**24
    in_double = is_wide or call.precision == "double"
    reach = max(1.0, float(np.nanmax(np.abs(call.points), initial=0)))
    if in_double:
        tolerance = DOUBLE + 2.0**-52 * SLOPE * reach + (STORED if found.dtype == "float32" else 0)
    else:
        tolerance = SINGLE if order > 1 else 1e-6
        if mode in ("nearest", "grid-constant"):
            tolerance = max(tolerance, PADDED.get(order, 0))
        tolerance += POINT * SLOPE * reach
    allowed = tolerance * largest + (1 if is_integer else 0)
    if found.dtype == bool:
        allowed = 1
    wrong = ~same & ~(far <= allowed)
    if not wrong.any():
        if not in_double:
            return "single precision"
        stored = {"f": "a float", "b": "a bool"}.get(found.dtype.kind, "an integer")
        return f"rounding to {stored} in double precision"
    if in_double and call.name == "zoom" and mode in ("constant", "wrap") and _rounds_beyond(
            call, ~wrong):
        return BEYOND_EDGE
    if call.points.shape[1:] == found.shape and not (
            wrong & ~_near_jumps(call, 1e-12 if in_double else 1e-5)).any():
        return "a rounded coordinate steps over a jump"
    if call.name == "zoom" and mode in ("constant", "wrap") and _rounds_beyond(call, same):
        return BEYOND_EDGE
    return ""


def _rounds_beyond(call, same):
    """Whether all differences are in the last row of an axis."""
    last = np.zeros(same.shape, bool)
    for axis in range(same.ndim):
        last[(slice(None),) * axis + (-1,)] = True
    return not (~same & ~last).any()


def run(random, calls, module, **choices):
    """Return the number of calls for each reason, and the calls that differ for an unknown one."""
    reasons, unexplained = collections.Counter(), []
    for _ in range(calls):
        call = random_call(random, **choices)
        try:
            reason = compare(call, module)
        except Exception as error:  # one of the two modules refuses the call
            reason = ""
            call.keywords["raised"] = repr(error)
        if reason == "":
            unexplained.append(str(call))
        reasons[reason or ("no difference" if reason is None else "unexplained")] += 1
    return reasons, unexplained


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--orders", type=int, nargs="+", default=list(range(6)))
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=MODES)
    parser.add_argument("--precision", default="single", choices=("single", "double"))
    options = parser.parse_args()
    from warpalign import ndimage

    print(f"seed {options.seed}", flush=True)
    random = np.random.default_rng(options.seed)
    total, unexplained, begin = collections.Counter(), [], time.monotonic()
    for _ in itertools.repeat(None, -(-options.calls // 1000)):
        calls = min(1000, options.calls - sum(total.values()))
        reasons, more = run(random, calls, ndimage, orders=options.orders, modes=options.modes,
                            precision=options.precision)
        total += reasons
        unexplained += more
        print(f"{sum(total.values())} calls, {time.monotonic() - begin:.0f} s: {dict(total)}",
              flush=True)
    print("\n".join(unexplained))
    return bool(unexplained)


if __name__ == "__main__":
    sys.exit(main())
