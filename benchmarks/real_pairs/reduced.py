#!/usr/bin/env python3
"""Writes a copy of a set with smaller, grey pictures, which is quick to copy to another machine.

    reduced.py SET SMALLER [--side 288]

Pictures are 8-bit grey with at most SIDE pixels a side, reduced by a filter without negative
weights, for which masks are exact. Truths and their uncertainty are converted. SMALLER is a set of
its own, which scoring.py scores in its own pixels. The two pictures of a pair are reduced
separately, which may change the scale between them.
"""

import argparse
import json
import pathlib

import numpy as np
from PIL import Image

import geometry


def grey(image):
    """Convert to 8 bits; with more bits, scale between the darkest and the brightest pixel."""
    if image.mode != "I;16":
        return image.convert("L")
    values = np.asarray(image, float)
    low, high = values.min(), values.max()
    return Image.fromarray(np.uint8(np.rint((values - low) * (255 / max(high - low, 1)))))


def smaller_size(size, side):
    share = min(1, side / max(size))
    return [max(1, round(n * share)) for n in size]


def to_smaller(size, smaller):
    """Map coordinates of a picture to its reduced one. Pixel centres have integer coordinates, so
    that edges are at halves."""
    x, y = smaller[0] / size[0], smaller[1] / size[1]
    return np.array([[x, 0, x / 2 - 0.5], [0, y, y / 2 - 0.5], [0, 0, 1]])


def reduced_truth(truth, reference, moving):
    """The truth between reduced pictures; `reference` and `moving` map to these."""
    matrix = moving @ np.array(truth["homography"]) @ np.linalg.inv(reference)
    result = {**truth, "homography": (matrix / matrix[2, 2]).tolist(),
              "uncertainty": truth["uncertainty"] * float(np.sqrt(moving[0, 0] * moving[1, 1]))}
    if "landmarks" in truth:
        marks = np.array(truth["landmarks"])
        result["landmarks"] = np.c_[geometry.apply(reference, marks[:, :2]),
                                    geometry.apply(moving, marks[:, 2:])].tolist()
    return result


class Reducer:
    def __init__(self, source, target, side):
        self.source, self.target, self.side = source, target, side
        self.known = set()

    def write(self, file, convert):
        if file in self.known:
            return
        self.known.add(file)
        with Image.open(self.source / file) as opened:
            image = opened.copy()
        size = smaller_size(image.size, self.side)
        path = self.target / file
        path.parent.mkdir(parents=True, exist_ok=True)
        convert(image, size).save(path, icc_profile=None, optimize=True)

    def picture(self, file):
        self.write(file, lambda image, size: grey(image).resize(size, Image.Resampling.HAMMING))

    def mask(self, file):
        """Reduce a mask: a pixel is unmasked if all pixels of its filter are."""
        def convert(image, size):
            counted = image.convert("L").point(lambda v: 255 if v else 0)
            shares = counted.resize(size, Image.Resampling.HAMMING)
            return shares.point(lambda v: 255 if v == 255 else 0)
        self.write(file, convert)

    def pair(self, pair):
        result, maps = dict(pair), []
        for side in ("reference", "moving"):
            self.picture(pair[side])
            if pair.get(f"{side}_mask"):
                self.mask(pair[f"{side}_mask"])
            size = pair[f"{side}_size"]
            result[f"{side}_size"] = smaller_size(size, self.side)
            maps.append(to_smaller(size, result[f"{side}_size"]))
        result["truth"] = reduced_truth(pair["truth"], *maps)
        return result


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=pathlib.Path)
    parser.add_argument("smaller", type=pathlib.Path)
    parser.add_argument("--side", type=int, default=288)
    arguments = parser.parse_args()
    reducer = Reducer(arguments.set, arguments.smaller, arguments.side)
    pairs = [reducer.pair(p) for p in json.loads((arguments.set / "pairs.json").read_text())]
    (arguments.smaller / "pairs.json").write_text(json.dumps(pairs) + "\n")
    print(f"{len(pairs)} pairs of {len(reducer.known)} pictures in {arguments.smaller}")


if __name__ == "__main__":
    main()
