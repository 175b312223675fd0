#!/usr/bin/env python3
"""How often is a pair or a frame accepted whose shift its content leaves open? Needs the warpalign
package, and Pillow for mirror images.

    python tools/evaluate/ambiguity.py [--pairs 200] [--stacks 20] [--seed 1] [--device opencl:pocl]
                                       [--kinds NAMES] [--json FILE]

The kinds of pairs, of images of 128 to 400 pixels, as 8 bit values with noise:

    lattice   a texture that two vectors of 5 to 60 pixels repeat, at any angle between them
    grating   stripes: waves in one direction
    lines     lines of any profile in one direction, which does not repeat itself
    rotated   a lattice, of which the moving image is rotated by up to 40 degrees
    mirror    a cut of a photograph of tests/data, and its mirror image
    hot       two empty images of one camera: noise, and hot pixels at the same places
    columns   a photograph that moves under a camera's fixed pattern, each column with an offset,
              0.3 to 1.5 times as strong as the photograph
    pixels    the same, each pixel with an offset
    dust      the same, 40 dark spots of 9 x 9 pixels
    defects   the same, 20 bright columns and 20 bright rows
    single    the same lattice with max_shift of a third of the shorter vector: one shift is left

The kinds of stacks, of 10 frames of a lattice, each registered to the first frame and to the
previous one; p is the length of the shortest vector:

    slow      the frames drift by up to p / 5 from one to the next, in any direction
    fast      they drift by 0.3 to 0.7 p along that vector, each time the same: which way is open
    jump      they drift slowly, but for one step of 0.3 to 0.7 p

For each kind a line says how many pairs (or frames) were accepted, and how many wrongly: all of the
accepted ones, but for those under a fixed pattern, `single` and the stacks, where those count that
are more than a quarter of a pixel off.
"""

import argparse
import datetime
import itertools
import json
from pathlib import Path

import numpy as np
import warpalign

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
# Without citrus.jpg: slices of fruit are symmetric.
PHOTOGRAPHS = ("bridge.jpg", "bee.jpg", "gravel.png", "hubble.jpg", "retina.jpg")
# Of a camera.
PATTERNS = ("columns", "pixels", "dust", "defects")


def waves(random, frequencies, heights):
    """A function of the plane that is a sum of waves; frequencies in cycles per pixel."""
    phases = random.uniform(0, 2 * np.pi, len(heights))

    def scene(x, y):
        value = np.zeros_like(x)
        for (u, v), height, phase in zip(frequencies, heights, phases):
            value += height * np.cos(2 * np.pi * (u * x + v * y) + phase)
        return value

    return scene


def shortest(first, second):
    """The shortest vector of a lattice."""
    multiples = itertools.product(range(-3, 4), repeat=2)
    vectors = [m * first + n * second for m, n in multiples if (m, n) != (0, 0)]
    return min(vectors, key=np.linalg.norm)


def random_lattice(random):
    """The shortest vector of a lattice, and a texture that it repeats."""
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
    texture = waves(random, [f for f, _ in kept], [height for _, height in kept])
    return shortest(first, second), texture


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


def drawn(random, scene, shifts, degrees=0.0):
    """Images of one size, as bytes. They show the scene rotated about the centre, the first one
    excepted, and then shifted by each of `shifts`, (x, y)."""
    height, width = random.integers(128, 401, 2)
    noise = random.uniform(0, 0.3)
    y, x = np.mgrid[:height, :width].astype(float)
    cx, cy = (width - 1) / 2, (height - 1) / 2
    images = []
    for number, shift in enumerate(shifts):
        angle = np.radians(degrees if number > 0 else 0)
        cos, sin = np.cos(angle), np.sin(angle)
        dx, dy = x - shift[0] - cx, y - shift[1] - cy
        images.append(scene(cos * dx + sin * dy + cx, cos * dy - sin * dx + cy))
    spread = images[0].std()
    images = [image / spread + random.normal(0, noise, image.shape) for image in images]
    return [np.clip(128 + 40 * image, 0, 255).astype(np.uint8) for image in images]


def random_vector(random, length):
    angle = random.uniform(0, 2 * np.pi)
    return length * np.array([np.cos(angle), np.sin(angle)])


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
    if kind == "hot":
        return *hot_images(random), {}, None
    if kind in PATTERNS:
        images, shift = under_a_pattern(kind, random)
        return *images, {}, shift
    if kind in ("grating", "lines"):
        scene = random_stripes(random, kind == "grating")
        return *drawn(random, scene, [(0, 0), random.uniform(-20, 20, 2)]), {}, None
    period, scene = random_lattice(random)
    if kind == "single":
        bound = np.linalg.norm(period) / 3
        shift = random_vector(random, bound * random.uniform(0, 0.6))
        options = {"max_shift": float(bound), "motion": "translation"}
        return *drawn(random, scene, [(0, 0), shift]), options, shift[::-1]
    degrees = random.uniform(-40, 40) if kind == "rotated" else 0.0
    return *drawn(random, scene, [(0, 0), random.uniform(-30, 30, 2)], degrees), {}, None


def hot_images(random):
    height, width = random.integers(128, 401, 2)
    part = np.exp(random.uniform(np.log(2e-4), np.log(1e-2)))
    is_hot = random.random((height, width)) < part
    offset = np.where(is_hot, random.uniform(30, 200, (height, width)), 0) + 30
    images = (offset + random.normal(0, 3, offset.shape) for _ in range(2))
    return [np.clip(image, 0, 255).astype(np.uint8) for image in images]


def fixed_pattern(kind, random, side):
    """A camera's pattern, of standard deviation 1."""
    pattern = np.zeros((side, side))
    if kind == "columns":
        pattern += random.normal(size=side)
    elif kind == "pixels":
        pattern = random.normal(size=(side, side))
    elif kind == "dust":
        for top, left in random.integers(4, side - 13, (40, 2)):
            pattern[top:top + 9, left:left + 9] = -1
    else:
        pattern[:, random.integers(0, side, 20)] = 1
        pattern[random.integers(0, side, 20)] += 0.7
    return pattern / pattern.std()


def under_a_pattern(kind, random):
    """Two images of a photograph under a fixed pattern, and the photograph's shift."""
    image = photograph(PHOTOGRAPHS[random.integers(len(PHOTOGRAPHS))]).astype(float)
    most = 12
    side = int(min(random.integers(160, 301), *(n - 2 * most for n in image.shape)))
    top, left = (random.integers(most, n - side - most + 1) for n in image.shape)
    shift = np.zeros(2, int)
    while np.hypot(*shift) < 3:
        shift = random.integers(-most, most + 1, 2)
    cuts = [image[top - y:top - y + side, left - x:left - x + side] for y, x in ((0, 0), shift)]
    strength = np.exp(random.uniform(np.log(0.3), np.log(1.5)))
    pattern = strength * cuts[0].std() * fixed_pattern(kind, random, side)
    mean = cuts[0].mean()
    images = (128 + 0.5 * (cut - mean + pattern) + random.normal(0, 2, cut.shape) for cut in cuts)
    return [np.clip(image, 0, 255).astype(np.uint8) for image in images], shift


FRAMES = 10


def stack_of(kind, random):
    """Frames, and the shift (rows, columns) of each."""
    period, scene = random_lattice(random)
    length = np.linalg.norm(period)
    steps = [random_vector(random, random.uniform(0, 0.2) * length) for _ in range(1, FRAMES)]
    if kind == "fast":
        steps = [random.uniform(0.3, 0.7) * period] * len(steps)
    if kind == "jump":
        steps[random.integers(len(steps))] = random.uniform(0.3, 0.7) * period
    shifts = np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
    return drawn(random, scene, shifts), shifts[:, ::-1]


class Count:
    """What became of the pairs or frames of one kind."""

    def __init__(self, kind):
        self.kind = kind
        self.tried = self.accepted = self.wrong = self.ambiguous = 0

    def add(self, reliable, ambiguous, is_wrong, description):
        self.tried += 1
        self.accepted += bool(reliable)
        self.ambiguous += bool(ambiguous)
        if reliable and is_wrong:
            self.wrong += 1
            print(f"  {self.kind} {description}", flush=True)

    def row(self):
        return {"kind": self.kind, "tried": self.tried, "accepted": self.accepted,
                "wrongly": self.wrong, "ambiguous": self.ambiguous,
                "other": self.tried - self.accepted - self.ambiguous}


def is_off(translation, truth):
    return np.hypot(*(np.array(translation) - truth)) > 0.25


def count_pairs(kind, options, device):
    count = Count(kind)
    for number in range(options.pairs):
        random = np.random.default_rng([options.seed, number, *kind.encode()])
        reference, moving, settings, truth = pair_of(kind, random)
        found = warpalign.register(reference, moving, device=device, **settings)
        is_wrong = truth is None or is_off(found.translation, truth)
        count.add(found.reliable, found.ambiguous, is_wrong, f"{number}: {found!r}")
    return count


def count_frames(kind, to, options, device):
    count = Count(f"{kind}, to {to}")
    for number in range(options.stacks):
        random = np.random.default_rng([options.seed, number, *kind.encode()])
        frames, shifts = stack_of(kind, random)
        stack = warpalign.register_stack(frames, to=to, motion="translation", device=device)
        for line, shift in list(zip(stack.drift, shifts))[1:]:
            found = (line["shift_row"], line["shift_column"])
            count.add(line["reliable"], line["ambiguous"], is_off(found, shift),
                      f"{number}, frame {line['frame']}: {found}, not {tuple(shift)}")
    return count


def counts(options, device):
    for kind in options.kinds.split(","):
        if kind in ("slow", "fast", "jump"):
            for to in ("first", "previous"):
                yield count_frames(kind, to, options, device)
        else:
            yield count_pairs(kind, options, device)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200, help="of each kind")
    parser.add_argument("--stacks", type=int, default=20, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default=None)
    parser.add_argument("--kinds",
                        default="lattice,grating,lines,rotated,mirror,hot,columns,pixels,dust,"
                                "defects,single,slow,fast,jump")
    parser.add_argument("--json", help="a record of the counts")
    options = parser.parse_args()
    device = warpalign.open_device(options.device)
    print(f"seed {options.seed}, {options.pairs} pairs and {options.stacks} stacks of each kind, "
          f"{device.info.name}")
    print("kind                tried accepted wrongly ambiguous other")
    rows = []
    for count in counts(options, device):
        row = count.row()
        rows.append(row)
        print(f"{row['kind']:19} {row['tried']:5} {row['accepted']:8} {row['wrongly']:7} "
              f"{row['ambiguous']:9} {row['other']:5}", flush=True)
    if options.json:
        record = {"command": f"ambiguity.py --pairs {options.pairs} --stacks {options.stacks} "
                             f"--seed {options.seed} --kinds {options.kinds}",
                  "program": f"warpalign {warpalign.__version__}", "device": device.info.name,
                  "driver": device.info.driver,
                  "date": datetime.date.today().isoformat(), "rows": rows}
        Path(options.json).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
