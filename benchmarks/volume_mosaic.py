"""Locates and fuses a drawn mosaic of volumes, and prints the times and the error.

    python benchmarks/volume_mosaic.py

The scene is a sum of Gaussian spots, which is exact at any position; voxels are uint16 with noise.
All sizes are planes, rows and columns. The error is the root mean square distance of the positions
from the truth, after their mean.
"""

import argparse
import itertools
import time

import numpy as np

import warpalign

VOXELS_PER_SPOT = 250
REACH = 4.5  # standard deviations of a spot


def sizes(text, kind=int):
    return np.array([kind(part) for part in text.replace(",", "x").split("x")])


class Scene:
    def __init__(self, random, shape):
        count = int(np.prod(shape) / VOXELS_PER_SPOT)
        self.centers = random.uniform(-12, shape, (count, 3))
        self.widths = random.uniform(1.6, 3.0, count)
        self.heights = random.uniform(2000, 12000, count)

    def draw(self, position, shape):
        """A tile at this position, as float32."""
        tile = np.full(shape, 2000, np.float32)
        centers = self.centers - position
        reach = REACH * self.widths[:, None]
        near = ((centers > -reach) & (centers < shape + reach)).all(axis=1)
        for center, width, height in zip(centers[near], self.widths[near], self.heights[near]):
            box, parts = [], []
            for middle, length in zip(center, shape):
                begin = max(0, int(np.ceil(middle - REACH * width)))
                end = min(length, int(middle + REACH * width) + 1)
                box.append(slice(begin, end))
                parts.append(np.exp(-((np.arange(begin, end) - middle) / width) ** 2 / 2))
            rows = np.multiply.outer(height * parts[0], parts[1])
            tile[tuple(box)] += np.multiply.outer(rows, parts[2])
        return tile


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--grid", default="2x3x3", help="of tiles")
    parser.add_argument("--tile", default="64x256x256", help="its shape")
    parser.add_argument("--overlap", type=float, default=0.15, help="of a tile's sides")
    parser.add_argument("--stage", default="1,4,4", help="standard deviations, in voxels")
    parser.add_argument("--noise", type=float, default=200, help="of the camera")
    parser.add_argument("--device")
    choices = parser.parse_args()
    random = np.random.default_rng(1)
    grid, tile = sizes(choices.grid), sizes(choices.tile)
    cells = np.array(list(itertools.product(*map(range, grid))))
    steps = np.rint((1 - choices.overlap) * tile)
    nominal = cells * steps
    truth = nominal + random.normal(0, 1, nominal.shape) * sizes(choices.stage, float)
    scene = Scene(random, grid * steps + tile)
    tiles = []
    for position in truth:
        drawn = scene.draw(position, tile) + choices.noise * random.standard_normal(tile)
        tiles.append(np.rint(np.clip(drawn, 0, 65535)).astype(np.uint16))
    device = warpalign.open_device(choices.device)
    print(f"{device.info.name}: {len(tiles)} tiles of {' x '.join(map(str, tile))}")
    for name in ("first", "second"):
        start = time.perf_counter()
        found = warpalign.mosaic(tiles, nominal, devices=device, progress=False)
        seconds = time.perf_counter() - start
        errors = found.positions - truth
        rms = np.sqrt(((errors - errors.mean(axis=0)) ** 2).sum(axis=1).mean())
        used = sum(pair.outcome == "used" for pair in found.pairs)
        print(f"{name} call: {used} of {len(found.pairs)} pairs used, rms {rms:.4f} voxels, "
              f"{seconds:.2f} s")
    for pair in found.pairs:
        if pair.outcome != "used":
            print(f"tiles {pair.reference} and {pair.moving}: {pair.outcome}: {pair.reason}")
    start = time.perf_counter()
    volume = found.fuse(tiles)
    seconds = time.perf_counter() - start
    print(f"fused to {' x '.join(map(str, volume.shape))} in {seconds:.2f} s, "
          f"{volume.size / seconds / 1e6:.0f} million voxels/s")


if __name__ == "__main__":
    main()
