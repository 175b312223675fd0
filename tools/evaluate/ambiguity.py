#!/usr/bin/env python3
"""How often is a pair accepted whose shift its content leaves open? Needs the warpalign package.

    python tools/evaluate/ambiguity.py [--pairs 200] [--seed 1] [--device opencl:pocl] [--kinds NAMES]

The kinds of pairs, of images of 128 to 400 pixels, as 8 bit values with noise:

    lattice   a texture that two vectors of 5 to 60 pixels repeat, at any angle between them
    grating   stripes: waves in one direction
    lines     lines of any profile in one direction, which does not repeat itself
    rotated   a lattice, of which the moving image is rotated by up to 40 degrees
    mirror    a cut of a photograph of tests/data, and its mirror image
    single    the same lattice with max_shift of a third of the shorter vector: one shift is left

For each kind a line says how many pairs were accepted, and how many wrongly: all of the accepted ones,
but for `single`, where those count that are more than a quarter of a pixel off.
"""

import argparse
import itertools
from pathlib import Path

import numpy as np
import warpalign

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
PHOTOGRAPHS = ("bridge.jpg", "bee.jpg", "gravel.png", "citrus.jpg", "hubble.jpg", "retina.jpg")


def waves(random, frequencies, heights):
    """A function of the plane that is a sum of waves; frequencies in cycles per pixel."""
    phases = random.uniform(0, 2 * np.pi, len(heights))

    def scene(x, y):
        value = np.zeros_like(x)
        for (u, v), height, phase in zip(frequencies, heights, phases):
            value += height * np.cos(2 * np.pi * (u * x + v * y) + phase)
        return value

    return scene


def random_lattice(random):
    """Two vectors, the shorter one first, and a texture that they repeat."""
    while True:
        length = np.exp(random.uniform(np.log(5), np.log(60), 2))
        angle = random.uniform(0, 2 * np.pi)
        between = np.radians(random.uniform(50, 130))
        first = length[0] * np.array([np.cos(angle), np.sin(angle)])
        second = length[1] * np.array([np.cos(angle + between), np.sin(angle + between)])
        if max(length) < 4 * min(length):
            break
    reciprocal = np.linalg.inv(np.array([first, second]).T)  # its rows are the frequencies
    orders = [(m, n) for m, n in itertools.product(range(-4, 5), repeat=2) if (m, n) > (0, 0)]
    frequencies = [m * reciprocal[0] + n * reciprocal[1] for m, n in orders]
    kept = [(f, random.normal() / np.hypot(*order)) for f, order in zip(frequencies, orders)
            if np.hypot(*f) < 0.4]
    return min(length), waves(random, [f for f, _ in kept], [height for _, height in kept])


def random_stripes(random, repeats):
    angle = random.uniform(0, np.pi)
    direction = np.array([np.cos(angle), np.sin(angle)])
    if repeats:
        period = random.uniform(6, 40)
        orders = [k for k in range(1, 6) if k / period < 0.4]
        lengths, heights = [k / period for k in orders], [random.normal() / k for k in orders]
    else:
        lengths = random.uniform(0.003, 0.3, 60)
        heights = random.normal(size=60)
    return waves(random, [f * direction for f in lengths], heights)


def drawn(random, scene, shift, degrees=0.0):
    """Two images of one size, as bytes. The moving one shows the scene rotated about the centre, then
    shifted; `shift` is (x, y)."""
    height, width = random.integers(128, 401, 2)
    noise = random.uniform(0, 0.3)
    y, x = np.mgrid[:height, :width].astype(float)
    cx, cy = (width - 1) / 2, (height - 1) / 2
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    dx, dy = x - shift[0] - cx, y - shift[1] - cy
    pair = [scene(x, y), scene(cos * dx + sin * dy + cx, cos * dy - sin * dx + cy)]
    spread = pair[0].std()
    pair = [image / spread + random.normal(0, noise, image.shape) for image in pair]
    return [np.clip(128 + 40 * image, 0, 255).astype(np.uint8) for image in pair]


def photograph(name):
    from PIL import Image

    return np.asarray(Image.open(DATA / name).convert("L"))


def pair_of(kind, random):
    """Two images, options, and the shift (rows, columns) if one is right."""
    if kind == "mirror":
        image = photograph(PHOTOGRAPHS[random.integers(len(PHOTOGRAPHS))])
        side = int(min(300, *image.shape))
        top, left = (random.integers(0, n - side + 1) for n in image.shape)
        cut = image[top:top + side, left:left + side]
        return cut, np.ascontiguousarray(cut[:, ::-1]), {}, None
    if kind in ("grating", "lines"):
        scene = random_stripes(random, kind == "grating")
        return *drawn(random, scene, random.uniform(-20, 20, 2)), {}, None
    length, scene = random_lattice(random)
    if kind == "single":
        bound = length / 3
        angle, part = random.uniform(0, 2 * np.pi), random.uniform(0, 0.6)
        shift = bound * part * np.array([np.cos(angle), np.sin(angle)])
        options = {"max_shift": float(bound), "motion": "translation"}
        return *drawn(random, scene, shift), options, shift[::-1]
    degrees = random.uniform(-40, 40) if kind == "rotated" else 0.0
    return *drawn(random, scene, random.uniform(-30, 30, 2), degrees), {}, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default=None)
    parser.add_argument("--kinds", default="lattice,grating,lines,rotated,mirror,single")
    options = parser.parse_args()
    device = warpalign.open_device(options.device)
    print(f"seed {options.seed}, {options.pairs} pairs of each kind, {device.name}")
    print("kind      accepted  wrongly  ambiguous  other")
    for kind in options.kinds.split(","):
        accepted = wrong = ambiguous = 0
        for number in range(options.pairs):
            random = np.random.default_rng([options.seed, number, *kind.encode()])
            reference, moving, settings, truth = pair_of(kind, random)
            found = warpalign.register(reference, moving, device=device, **settings)
            ambiguous += found.ambiguous
            if not found.reliable:
                continue
            accepted += 1
            if truth is None or np.hypot(*(np.array(found.translation) - truth)) > 0.25:
                wrong += 1
                print(f"  {kind} {number}: {found!r}")
        other = options.pairs - accepted - ambiguous
        print(f"{kind:9} {accepted:8} {wrong:8} {ambiguous:10} {other:6}", flush=True)


if __name__ == "__main__":
    main()
