#!/usr/bin/env python3
"""How exactly pairs under noise can be registered at all: a lower bound of the corner error from the
pictures' own spectra, beside what a record of `evaluate --json` reached. Needs numpy and Pillow; for
pairs whose pictures differ by white noise alone (group `noise`). See README.md.

Two pictures of one scene with spectral density S and white noise of density N in each have the
coherence g = S / (S + N). No unbiased estimate of their shift along x varies by less than
1 / sum of w_x^2 g^2 / (1 - g^2) over all frequencies (Knapp and Carter, The generalized correlation
method for estimation of time delay, IEEE Trans. ASSP 24, 1976, for a plane of frequencies). The same
information also has to fix rotation and scale, to which pixels count by their squared distance from
the centre: on a square of side n, n^2 / 6 in the mean, n^2 / 2 at the corners. So the corners' mean
square is (2 + 2 * 3) times the shift's.
"""
import argparse
import json
import math
from pathlib import Path

import numpy as np
from PIL import Image

FLOOR_FROM = 2.8  # radians a pixel: beyond, pictures drawn by area hold noise alone
LEAST_EVIDENCE = 3  # standard deviations of a ring's mean power above the noise
# The mean length of a normally distributed vector over its root mean square.
MEAN_OF_RMS = math.sqrt(math.pi) / 2


def ring_means(power, rings):
    count = np.bincount(rings.ravel())
    return np.bincount(rings.ravel(), power.ravel()) / count, count


def bound_of(picture, common):
    """The mean corner error, in pixels, that no method falls below on average."""
    height, width = picture.shape
    window = np.hanning(height)[:, None] * np.hanning(width)[None]
    spectrum = np.fft.fft2((picture - picture.mean()) * window)
    power = np.abs(spectrum) ** 2 / (window ** 2).mean() / picture.size
    frequency = 2 * math.pi * np.hypot(np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width))
    noise = power[frequency > FLOOR_FROM].mean()
    rings = np.rint(frequency / (2 * math.pi) * min(height, width)).astype(int)
    mean, count = ring_means(power, rings)
    evident = (mean - noise) / noise * np.sqrt(count) > LEAST_EVIDENCE
    signal = np.where(evident, mean - noise, 0)[rings]
    coherence = signal / (signal + noise)
    along_x = (frequency ** 2 / 2 * coherence ** 2 / (1 - coherence ** 2)).sum() * common
    return MEAN_OF_RMS * math.sqrt(8 / along_x)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="that evaluate --dump wrote")
    parser.add_argument("--record", type=Path, help="of evaluate --json, of the same pairs")
    parser.add_argument("--group", default="noise")
    arguments = parser.parse_args()
    truth = json.loads((arguments.folder / "truth.json").read_text())
    reached = {}
    if arguments.record:
        for group in json.loads(arguments.record.read_text())["groups"]:
            if group["group"] == arguments.group:
                reached = {s["index"]: s["corner_error"] for s in group["scores"]}
    bounds, errors = [], []
    for pair in truth["pairs"]:
        if pair["group"] != arguments.group:
            continue
        picture = np.asarray(Image.open(arguments.folder / pair["reference"]), dtype=float)
        bounds.append(bound_of(picture, pair["common"]))
        errors.append(reached.get(pair["index"], math.nan))
        print(f"{arguments.group}:{pair['index']}  bound {bounds[-1]:.4f}  reached {errors[-1]:.4f} px")
    print(f"median: bound {np.median(bounds):.4f}, reached {np.median(errors):.4f} px")


if __name__ == "__main__":
    main()
