#!/usr/bin/env python3
"""Draws every pair under its claimed truth, for inspection by eye.

    show.py SET OUTPUT [--only TEXT] [--per-sheet N]

Each row has the reference, the moving picture resampled on the reference's grid, a checkerboard of
both, and their edges (reference red, moving green, both yellow).
"""

import argparse
import json
import pathlib

import cv2
import numpy as np

import geometry

HEIGHT = 300


def grey(path):
    picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION)
    if picture is None:
        raise SystemExit(f"cannot read {path}")
    return picture


def stretched(picture):
    low, high = np.percentile(picture, (1, 99))
    return np.clip((picture - low) * 255.0 / max(high - low, 1), 0, 255).astype(np.uint8)


def row(folder, pair):
    reference, moving = grey(folder / pair["reference"]), grey(folder / pair["moving"])
    truth = geometry.full(pair["truth"]["homography"])
    height, width = reference.shape
    factor = HEIGHT / height
    shrink = np.diag([factor, factor, 1])
    size = (round(width * factor), HEIGHT)
    small = cv2.resize(reference, size, interpolation=cv2.INTER_AREA)
    # Blur first, so that a much finer moving picture is not aliased.
    scale = geometry.scale_at(truth, (width / 2, height / 2)) / factor
    if scale > 1.5:
        moving = cv2.GaussianBlur(moving, (0, 0), scale / 2.5)
    warped = cv2.warpPerspective(moving, truth @ np.linalg.inv(shrink), size,
                                 flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    a, b = stretched(small), stretched(warped)
    ys, xs = np.mgrid[:size[1], :size[0]]
    checks = np.where((ys // 38 + xs // 38) % 2 == 0, a, b)
    edges = np.zeros((*a.shape, 3), np.uint8)
    edges[..., 2], edges[..., 1] = cv2.Canny(a, 60, 160), cv2.Canny(b, 60, 160)
    cells = [cv2.cvtColor(c, cv2.COLOR_GRAY2BGR) for c in (a, b, checks)] + [edges]
    strip = np.hstack(cells)
    label = f"{pair['name']} | {pair['kind']} | +-{pair['truth']['uncertainty']} px"
    cv2.putText(strip, label, (5, 14), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 255, 255), 1)
    return strip


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--only", default="", help="pairs whose name contains this")
    parser.add_argument("--per-sheet", type=int, default=6)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    pairs = json.loads((arguments.set / "pairs.json").read_text())
    pairs = [p for p in pairs if arguments.only in p["name"]]
    for start in range(0, len(pairs), arguments.per_sheet):
        rows = [row(arguments.set, p) for p in pairs[start:start + arguments.per_sheet]]
        width = max(r.shape[1] for r in rows)
        rows = [np.pad(r, ((0, 4), (0, width - r.shape[1]), (0, 0))) for r in rows]
        file = arguments.output / f"sheet-{start // arguments.per_sheet:03d}.png"
        cv2.imwrite(str(file), np.vstack(rows))
        print(file, *(p["name"] for p in pairs[start:start + arguments.per_sheet]))


if __name__ == "__main__":
    main()
