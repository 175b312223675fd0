#!/usr/bin/env python3
"""Holds the truth of dumped pairs against an independent refinement: double precision, quintic
splines, least squares over the overlap with gain and offset, started 0.36 px off. Needs numpy,
scipy and opencv-python-headless; for pairs without frames, impulses or uneven illumination. See
README.md.
"""
import argparse
import json
import math
from pathlib import Path

import cv2
import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates, spline_filter

SMOOTHING = 0.7  # sigma, in pixels of the coarser picture
PIXEL = 1 / math.sqrt(12)  # the standard deviation of a pixel's box


def blurred_alike(reference, moving, scale):
    """Both at the coarser picture's point spread; and the margins that the blurs spoil."""
    finer = max(scale, 1 / scale)
    more = math.hypot(SMOOTHING * finer, PIXEL * math.sqrt(finer ** 2 - 1))
    sigmas = (SMOOTHING, more) if scale > 1 else (more, SMOOTHING)
    pictures = [gaussian_filter(p, s) for p, s in zip((reference, moving), sigmas)]
    return *pictures, *(int(4 * max(s, 1)) + 2 for s in sigmas)


def refine(reference, moving, start, scale):
    """Gauss-Newton on u = a x + b y + c, v = -b x + a y + d; returns the 2 x 3 matrix."""
    reference, moving, margin, moving_margin = blurred_alike(reference, moving, scale)
    coefficients = spline_filter(moving, order=5)
    def value(v, u):
        return map_coordinates(coefficients, [v, u], order=5, prefilter=False)
    step = max(1, round(1 / scale))
    height, width = reference.shape
    rows, columns = np.mgrid[margin:height - margin:step, margin:width - margin:step]
    x, y, target = columns.ravel(), rows.ravel(), reference[rows, columns].ravel()
    a, b, c, d = start[0][0], start[0][1], start[0][2], start[1][2]
    h = 0.02  # of the central differences, in pixels
    for _ in range(12):
        u, v = a * x + b * y + c, -b * x + a * y + d
        inside = ((u > moving_margin) & (u < moving.shape[1] - 1 - moving_margin) &
                  (v > moving_margin) & (v < moving.shape[0] - 1 - moving_margin))
        u, v, xi, yi, ti = u[inside], v[inside], x[inside], y[inside], target[inside]
        gx = (value(v, u + h) - value(v, u - h)) / (2 * h)
        gy = (value(v + h, u) - value(v - h, u)) / (2 * h)
        columns_of = np.stack([gx * xi + gy * yi, gx * yi - gy * xi, gx, gy, -ti,
                               -np.ones_like(gx)], axis=1)
        norms = np.linalg.norm(columns_of, axis=0)
        change = np.linalg.lstsq(columns_of / norms, -value(v, u), rcond=None)[0] / norms
        a, b, c, d = np.array([a, b, c, d]) + change[:4]
        if np.abs(change[2:4]).max() < 1e-6:
            break
    return np.array([[a, b, c], [-b, a, d]])


def main():
    parser = argparse.ArgumentParser(description="Holds dumped truth against a refinement")
    parser.add_argument("folder", type=Path, help="what `evaluate --dump` wrote")
    folder = parser.parse_args().folder
    if not (folder / "truth.json").is_file():
        parser.error(f"{folder}: holds no truth.json; write pairs by evaluate --dump")
    groups = {}
    for pair in json.loads((folder / "truth.json").read_text())["pairs"]:
        if not pair["related"]:
            continue
        pictures = [cv2.imread(str(folder / pair[key]), cv2.IMREAD_GRAYSCALE).astype(np.float64)
                    for key in ("reference", "moving")]
        truth = np.array(pair["matrix"])
        found = refine(*pictures, truth + [[0, 0, 0.3], [0, 0, -0.2]], pair["scale"])
        width, height = pair["reference_size"]
        corners = np.array([[x, y, 1] for x in (0, width - 1) for y in (0, height - 1)]).T
        off = (found - truth) @ corners
        groups.setdefault(pair["group"], []).append(np.hypot(*off).mean())
        print(f"{pair['group']}:{pair['index']}  {pair['original']}  corner error "
              f"{groups[pair['group']][-1]:.5f} px, mean shift {off.mean(axis=1).round(5)}",
              flush=True)
    for group, errors in groups.items():
        print(f"{group}: median {np.median(errors):.5f} px, largest {max(errors):.5f} px")


if __name__ == "__main__":
    main()
