#!/usr/bin/env python3
"""Writes SciPy's results to spline_filter.txt, spline_map.txt and spline_affine.txt.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install numpy scipy
    /tmp/venv/bin/python tests/goldens/make_spline_goldens.py

One record per line. Coordinates are (x, y, z), and x varies fastest in arrays:
    array NAME width height depth values...
    points NAME dimensions count  all x, then all y, then all z
    filter ARRAY dimensions order mode  coefficients...
    map ARRAY POINTS dimensions order mode cval  values...
    affine ARRAY dimensions order mode cval  rows (d x (d+1))  width height depth  values...
"""
import pathlib
import numpy as np
import scipy
from scipy import ndimage

HERE = pathlib.Path(__file__).parent
MODES = ["mirror", "reflect", "nearest", "constant", "grid-constant", "wrap", "grid-wrap"]
CVAL = 0.75
rng = np.random.default_rng(20240229)


def text(values):
    # 15 digits: half a unit of the last digit is 5e-15 for a value of 10, far below the tolerance
    # of 1e-9.
    return " ".join(f"{v:.15g}" for v in np.asarray(values, dtype=float).ravel())


def array(*shape):
    return rng.integers(-160, 160, shape) / 16.0


# Before 1.18 SciPy's `reflect` filter is wrong for short lines: it reads a sample that it has
# already changed (scipy pull request 24615), an error of 4e-4 of the sample for n = 2, order 3. A
# reflected line of n is a periodic line of 2n, which SciPy filters correctly, so the coefficients
# come from `grid-wrap` here.
REPAIRED = tuple(int(n) for n in scipy.__version__.split(".")[:2]) < (1, 18)


def spline_filter(a, order, mode):
    if not REPAIRED or mode != "reflect":
        return ndimage.spline_filter(a, order, mode=mode)
    doubled = np.pad(a, [(0, n) for n in a.shape], mode="symmetric")
    c = ndimage.spline_filter(doubled, order, mode="grid-wrap")
    return c[tuple(slice(n) for n in a.shape)]


def filtered(a, order, mode):
    """The array and the arguments with which SciPy gets the right coefficients for `mode`."""
    if mode == "reflect" and order > 1 and REPAIRED:
        return spline_filter(a, order, mode), {"prefilter": False}
    return a, {}


def write(name, lines):
    head = f"# {name} by make_spline_goldens.py: scipy {scipy.__version__}, numpy {np.__version__}"
    head += "; reflect by way of grid-wrap" if REPAIRED else ""
    (HERE / f"spline_{name}.txt").write_text("\n".join([head, *lines]) + "\n")


def extents(a):
    return " ".join(str(n) for n in (a.shape[::-1] + (1, 1))[:3])


ARRAYS = {f"line{n}": array(n) for n in (1, 2, 3, 7, 20)}
ARRAYS["plane"] = array(9, 12)
ARRAYS["volume"] = array(7, 5, 6)


def declare(names):
    return [f"array {n} {extents(ARRAYS[n])} {text(ARRAYS[n])}" for n in names]


# Coordinates are multiples of 1/64, exact in single precision. They avoid ties of order 0 (k +
# 1/2) outside of the image, and multiples of n - 1 outside under `wrap`, because SciPy folds the
# point before it rounds.
def coordinates(shape, count):
    axes = []
    for n in shape:
        inside = rng.integers(0, max(64 * (n - 1), 1), count) / 64.0
        outside = rng.integers(-64 * (2 * n + 3), 64 * (3 * n + 3), count) / 64.0
        outside[outside % 0.5 == 0] += 1 / 64.0
        axis = np.where(np.arange(count) % 2 == 0, inside, outside)
        exact = [0, n - 1, min(1, n - 1), n / 2.0 - 0.5, -1 / 64.0, n - 1 + 1 / 64.0, -0.75,
                 n - 0.75, -11.984375, n + 11.015625, -40.015625, n + 40.015625]
        axis[: len(exact)] = exact
        axes.append(axis)
    # Rotates the axes' lists, so that special positions of one axis meet others of the next.
    return [np.roll(axis, i) for i, axis in enumerate(axes)]


def filters():
    lines = declare(ARRAYS)
    for name, a in ARRAYS.items():
        for order in range(2, 6):
            for mode in ("mirror", "reflect", "grid-wrap"):
                c = spline_filter(a, order, mode)
                lines.append(f"filter {name} {a.ndim} {order} {mode} {text(c)}")
    return lines


def maps():
    names = ["line1", "line2", "line7", "plane", "volume"]
    lines = declare(names)
    points = {}
    for name in names:
        p = coordinates(ARRAYS[name].shape, 40 if ARRAYS[name].ndim > 1 else 28)
        points[name] = p
        lines.append(f"points at_{name} {len(p)} {p[0].size} {text(p[::-1])}")
    for name in names:
        a = ARRAYS[name]
        for order in range(6):
            for mode in MODES:
                c, how = filtered(a, order, mode)
                v = ndimage.map_coordinates(c, points[name], order=order, mode=mode, cval=CVAL,
                                            **how)
                lines.append(f"map {name} at_{name} {a.ndim} {order} {mode} {CVAL} {text(v)}")
    return lines


def affines():
    lines = declare(["plane", "volume"])
    cases = {
        "plane": ([[0.875, 0.34375, -2.109375], [-0.34375, 0.8125, 3.265625]], (6, 8)),
        "volume": ([[0.9375, 0.203125, -0.1875, -0.578125], [-0.21875, 1.0625, 0.109375, 0.328125],
                    [0.140625, -0.15625, 0.8125, 1.453125]], (3, 4, 4)),
    }
    for name, (rows, shape) in cases.items():
        a = ARRAYS[name]
        rows = np.array(rows)  # in SciPy's order: z, y, x
        flipped = np.hstack([rows[::-1, -2::-1], rows[::-1, -1:]])
        size = " ".join(str(n) for n in (shape[::-1] + (1, 1))[:3])
        for order in range(6):
            for mode in MODES:
                c, how = filtered(a, order, mode)
                v = ndimage.affine_transform(c, rows[:, :-1], rows[:, -1], output_shape=shape,
                                             order=order, mode=mode, cval=CVAL, **how)
                lines.append(f"affine {name} {a.ndim} {order} {mode} {CVAL} {text(flipped)} "
                             f"{size} {text(v)}")
    return lines


write("filter", filters())
write("map", maps())
write("affine", affines())
