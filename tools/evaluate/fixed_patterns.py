#!/usr/bin/env python3
"""Is the motion of a scene found under a pattern that is fixed to the sensor? Needs the warpalign
package, Pillow and SciPy, and takes the photographs of scikit-image as well if it is installed.

    python tools/evaluate/fixed_patterns.py [--pairs 12] [--seed 1] [--device opencl:pocl]
                                            [--kinds NAMES] [--json FILE] [--list]
    python tools/evaluate/fixed_patterns.py --stacks 12 [--fixed-pattern off] ...

Each pair shows one photograph that has moved, under a pattern that has not:

    dust       spots that take 15 to 80 % of the light, 5 to 25 pixels wide, sharp or soft
    defects    columns and rows that are brighter or darker, some of them broken
    columns    each column with an offset, 0.2 to 1.2 times as strong as the photograph
    pixels     each pixel with an offset, as strong
    vignette   light that falls by 30 to 80 % towards the corners
    reticle    a cross, circles and a scale
    watermark  large letters, 20 to 60 % opaque
    stamp      digits in a corner, opaque, others in the second image
    caption    an opaque bar with text, 6 to 15 % of the height
    none       no pattern: the control

and one kind of pairs in which nothing moves but the noise:

    still      the same photograph under the same pattern of any of these kinds

The motion is a shift of 3 to 25 pixels, for half of the pairs with a rotation of up to 3 degrees.
Photographs are reduced by half as they are drawn, so that they can be sampled anywhere. An answer
is that of the scene or that of the sensor if no corner is farther than 0.1 pixels from where that
motion has it. Blends are accepted and neither.

With --stacks there are so many stacks of each kind instead, of 12 to 24 frames, and each frame but
the reference is counted. The scene drifts, walks or jumps by 2 to 25 pixels in all, in a third of
the stacks with rotations of up to 2 degrees. The stacks have two more kinds:

    stars      25 to 60 stars that move under 100 to 400 hot pixels, with cosmic rays in each frame
    empty      noise under the offsets of columns and pixels: no frame shows a scene, and what is
               accepted is wrong

and `still` frames differ by noise only, under any of the patterns.
"""

import argparse
import datetime
import functools
import json
from pathlib import Path

import numpy as np
import warpalign
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage, special

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
PATTERNS = ("dust", "defects", "columns", "pixels", "vignette", "reticle", "watermark", "stamp",
            "caption")
KINDS = (*PATTERNS, "none", "still")
STACK_KINDS = (*KINDS, "stars", "empty")
# Of scikit-image; of a size that leaves 128 pixels.
OTHERS = ("astronaut.png", "brick.png", "camera.png", "chelsea.png", "coffee.png", "coins.png",
          "grass.png", "ihc.png", "moon.png", "motorcycle_left.png", "rocket.jpg")
ALLOWED = 0.1
MOST = 25  # pixels of shift


@functools.cache
def photographs():
    """Paths, in the same order everywhere."""
    paths = sorted(DATA.glob("*.jpg")) + sorted(DATA.glob("*.png"))
    try:
        import skimage
    except ImportError:
        return paths
    return paths + [Path(skimage.__file__).parent / "data" / name for name in OTHERS]


@functools.cache
def photograph(path):
    """Its brightness, reduced by a Gaussian to what half the pixels can show."""
    grey = np.asarray(Image.open(path).convert("L"), dtype=float)
    return ndimage.gaussian_filter(grey, 1.0)


def random_scene(random):
    """Two images of one photograph, and the matrix from reference to moving pixels (x, y)."""
    while True:
        image = photograph(photographs()[random.integers(len(photographs()))])
        free = min(image.shape) // 2 - 2 * MOST - 16
        if free < 128:
            continue
        side = int(random.integers(128, min(free, 400) + 1))
        shift = np.zeros(2)
        while not 3 <= np.hypot(*shift) <= MOST:
            shift = random.uniform(-MOST, MOST, 2)
        degrees = random.uniform(-3, 3) if random.random() < 0.5 else 0.0
        margin = MOST + 8
        origin = [random.uniform(margin, n / 2 - side - margin) for n in image.shape]  # y, x
        centre = (side - 1) / 2
        angle = np.radians(degrees)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        matrix = np.eye(3)
        matrix[:2, :2] = turn
        matrix[:2, 2] = centre + shift - turn @ [centre, centre]
        y, x = np.mgrid[:side, :side].astype(float)

        def drawn(to_scene):
            at = np.einsum("ij,jyx->iyx", to_scene, np.stack([x, y, np.ones_like(x)]))
            place = [2 * (at[1] + origin[0]), 2 * (at[0] + origin[1])]
            return ndimage.map_coordinates(image, place, order=3, mode="mirror")

        reference, moving = drawn(np.eye(3)), drawn(np.linalg.inv(matrix))
        if reference.std() > 8:  # more than a cut of sky
            return reference, moving, matrix


def random_cut(random):
    """A function that draws the cut of a photograph that a matrix to its pixels (x, y) shows, and
    the side of the cut."""
    while True:
        image = photograph(photographs()[random.integers(len(photographs()))])
        free = min(image.shape) // 2 - 2 * MOST - 16
        if free < 128:
            continue
        side = int(random.integers(128, min(free, 400) + 1))
        margin = MOST + 8
        origin = [random.uniform(margin, n / 2 - side - margin) for n in image.shape]  # y, x
        y, x = np.mgrid[:side, :side].astype(float)

        def drawn(to_scene):
            at = np.einsum("ij,jyx->iyx", to_scene, np.stack([x, y, np.ones_like(x)]))
            place = [2 * (at[1] + origin[0]), 2 * (at[0] + origin[1])]
            return ndimage.map_coordinates(image, place, order=3, mode="mirror")

        if drawn(np.eye(3)).std() > 8:  # more than a cut of sky
            return drawn, side


def rigid(side, shift, degrees):
    """The matrix from reference to moving pixels, of a rotation about the centre and a shift."""
    centre = (side - 1) / 2
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix = np.eye(3)
    matrix[:2, :2] = turn
    matrix[:2, 2] = centre + shift - turn @ [centre, centre]
    return matrix


def text(random, side, words, size, at):
    """An image that is 1 where letters are."""
    picture = Image.new("L", (side, side))
    font = ImageFont.load_default(size)
    ImageDraw.Draw(picture).text(at, words, fill=255, font=font)
    return np.asarray(picture) / 255.0


def words(random, letters, count):
    return "".join(random.choice(list(letters), count))


def spots(random, side):
    light = np.ones((side, side))
    y, x = np.mgrid[:side, :side]
    width = random.uniform(5, 25)
    soft = random.choice([0.5, 2.0])
    covered = random.uniform(0.01, 0.12)
    count = max(3, int(covered * side * side / (np.pi * width * width / 4)))
    for _ in range(count):
        cy, cx = random.uniform(0, side, 2)
        radius = width / 2 * random.uniform(0.6, 1.2)
        depth = random.uniform(0.15, 0.8)
        spot = special.expit((radius - np.hypot(y - cy, x - cx)) / soft)
        light *= 1 - depth * spot
    return light


def defects(random, side, spread):
    pattern = np.zeros((side, side))
    for axis in (0, 1):
        for _ in range(random.integers(0, side // 10 + 1)):
            line = np.full(side, random.uniform(-2, 2) * spread)
            if random.random() < 0.3:
                line[random.integers(side):] = 0
            number = random.integers(side)
            if axis == 0:
                pattern[number] += line
            else:
                pattern[:, number] += line
    return pattern


def reticle(random, side, picture):
    draw = ImageDraw.Draw(picture)
    cy, cx = random.uniform(0.4, 0.6, 2) * side
    width = int(random.integers(1, 4))
    draw.line([(0, cy), (side, cy)], fill=255, width=width)
    draw.line([(cx, 0), (cx, side)], fill=255, width=width)
    for radius in random.uniform(0.1, 0.45, random.integers(0, 3)) * side:
        draw.ellipse([cx - radius, cy - radius, cx + radius, cy + radius], outline=255, width=width)
    step = side / random.integers(10, 30)
    for number in range(-15, 16):
        draw.line([(cx + number * step, cy - 4), (cx + number * step, cy + 4)], fill=255)
        draw.line([(cx - 4, cy + number * step), (cx + 4, cy + number * step)], fill=255)


def under(kind, random, images):
    """The images under a pattern."""
    side, spread, mean = len(images[0]), images[0].std(), images[0].mean()
    strength = np.exp(random.uniform(np.log(0.2), np.log(1.2))) * spread
    if kind == "none":
        return images
    if kind == "dust":
        light = spots(random, side)
        return [image * light for image in images]
    if kind == "vignette":
        y, x = np.mgrid[:side, :side] / (side - 1) - random.uniform(0.4, 0.6, (2, 1, 1))
        light = 1 - random.uniform(0.3, 0.8) * 2 * (x * x + y * y)
        return [image * light for image in images]
    if kind == "defects":
        pattern = defects(random, side, spread)
        return [image + pattern for image in images]
    if kind == "columns":
        pattern = strength * random.normal(size=side) * np.ones((side, 1))
        return [image + pattern for image in images]
    if kind == "pixels":
        pattern = strength * random.normal(size=(side, side))
        return [image + pattern for image in images]
    bright = mean + random.choice([-1, 1]) * random.uniform(1.5, 3) * spread
    if kind == "reticle":
        picture = Image.new("L", (side, side))
        reticle(random, side, picture)
        opacity = [random.uniform(0.5, 1) * np.asarray(picture) / 255.0] * len(images)
    elif kind == "watermark":
        at = tuple(random.uniform(0, 0.3, 2) * side)
        mark = text(random, side, words(random, "ABCDEFGHKLMNRSTXZ", 4),
                    int(side * random.uniform(0.2, 0.4)), at)
        mark = ndimage.rotate(mark, random.choice([0, 30, 45]), reshape=False, order=1)
        opacity = [random.uniform(0.2, 0.6) * mark] * len(images)
    elif kind == "stamp":
        at = (4, random.choice([4, side - side // 8 - 6]))
        same = words(random, "0123456789", 4)
        opacity = [text(random, side, same + words(random, "0123456789", 3),
                        max(10, side // 10), at) for _ in images]
    else:
        height = int(side * random.uniform(0.06, 0.15))
        bar = text(random, side, words(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 14), height * 2 // 3,
                   (6, side - height + 2))
        shown = [image.copy() for image in images]
        for image in shown:
            image[-height:] = 235 * bar[-height:]
        return shown
    return [image * (1 - part) + bright * part for image, part in zip(images, opacity)]


def pair_of(kind, number, seed):
    """Two images of bytes, and the matrix of the scene's motion."""
    random = np.random.default_rng([seed, number, *kind.encode()])
    reference, moving, matrix = random_scene(random)
    if kind == "still":
        matrix = np.eye(3)
        moving, kind = reference, PATTERNS[random.integers(len(PATTERNS))]
    images = under(kind, random, [reference, moving])
    noise = random.uniform(0.5, 4)
    images = [image + random.normal(0, noise, image.shape) for image in images]
    return *(np.clip(np.rint(image), 0, 255).astype(np.uint8) for image in images), matrix


def random_motions(random, side, frames):
    """Matrices from the first frame to each, which drift, walk or jump by 2 to 25 pixels."""
    reach = np.exp(random.uniform(np.log(2), np.log(MOST)))
    kind = random.choice(["drift", "walk", "jump"])
    if kind == "drift":
        path = np.linspace(0, 1, frames)[:, None] * random.normal(size=2)
    elif kind == "walk":
        path = np.cumsum(random.normal(size=(frames, 2)), axis=0)
    else:
        path = random.uniform(-1, 1, (frames, 2))
    path = path - path[0]
    path *= reach / np.linalg.norm(path, axis=1).max()
    turns = np.zeros(frames)
    if random.random() < 1 / 3:
        turns = np.cumsum(random.normal(size=frames))
        turns *= random.uniform(0.5, 2) / max(np.abs(turns - turns[0]).max(), 1e-9)
    return [rigid(side, shift, turn) for shift, turn in zip(path, turns - turns[0])]


def star_frames(random, motions, side):
    y, x = np.mgrid[:side, :side]
    places = random.uniform(8, side - 8, (random.integers(25, 61), 2))
    fluxes = np.exp(random.uniform(np.log(200), np.log(3000), len(places)))
    hot = np.zeros((side, side))
    hot.flat[random.choice(side * side, random.integers(100, 401), replace=False)] = 150
    for matrix in motions:
        frame = np.full((side, side), 20.0)
        for place, flux in zip(places, fluxes):
            cx, cy = (matrix @ [*place, 1])[:2]
            frame += flux / (2 * np.pi * 1.4**2) * np.exp(
                -((x - cx)**2 + (y - cy)**2) / (2 * 1.4**2))
        for _ in range(random.integers(3, 12)):
            frame[tuple(random.integers(0, side, 2))] += random.uniform(50, 200)
        yield frame + hot


def stack_of(kind, number, seed):
    """Frames of bytes, and the matrices of the scene's motion from the first one, or None."""
    random = np.random.default_rng([seed, number, 1, *kind.encode()])
    frames = int(random.integers(12, 25))
    drawn, side = random_cut(random)
    motions = random_motions(random, side, frames)
    if kind == "still":
        motions, kind = [np.eye(3)] * frames, PATTERNS[random.integers(len(PATTERNS))]
    if kind == "stars":
        images = list(star_frames(random, motions, side))
    elif kind == "empty":
        offsets = random.normal(size=side) * random.uniform(0, 8)
        offsets = offsets + random.normal(size=(side, side)) * random.uniform(2, 8)
        images, motions = [100 + offsets] * frames, None
    else:
        images = under(kind, random, [drawn(np.linalg.inv(matrix)) for matrix in motions])
    noise = random.uniform(0.5, 4)
    images = [image + random.normal(0, noise, image.shape) for image in images]
    return [np.clip(np.rint(image), 0, 255).astype(np.uint8) for image in images], motions


def corner_error(found, matrix, shape):
    """The largest distance between where two matrices have a corner, in pixels."""
    right, bottom = shape[1] - 1, shape[0] - 1
    corners = np.array([[0, right, 0, right], [0, 0, bottom, bottom], [1, 1, 1, 1]])
    return float(np.linalg.norm(((found - matrix) @ corners)[:2], axis=0).max())


def outcome(found, matrix, shape):
    xy = found.matrix[[1, 0, 2]][:, [1, 0, 2]]  # of rows and columns
    errors = {"scene": corner_error(xy, matrix, shape),
              "sensor": corner_error(xy, np.eye(3), shape)}
    nearest = min(errors, key=errors.get)
    if not found.reliable:
        return ("right, refused" if errors["scene"] <= ALLOWED else "refused"), errors
    return (nearest if errors[nearest] <= ALLOWED else "blend"), errors


OUTCOMES = ("scene", "sensor", "blend", "right, refused", "refused")


def outcome_of_stack(frames, motions, device, fixed_pattern):
    """The counts of the frames but the reference, the largest error of those that are accepted, and
    whether a pattern was found."""
    stack = warpalign.register_stack(frames, device=device, progress=False,
                                     fixed_pattern=fixed_pattern)
    counts = dict.fromkeys(OUTCOMES, 0)
    worst = 0.0
    reference = stack.reference
    for number, line in enumerate(stack.drift):
        if number == reference:
            continue
        matrix = stack[number].matrix
        if motions is None or not np.isfinite(matrix).all():
            counts["blend" if line["reliable"] else "refused"] += 1
            continue
        xy = matrix[[1, 0, 2]][:, [1, 0, 2]]  # of rows and columns
        expected = motions[number] @ np.linalg.inv(motions[reference])
        errors = {"scene": corner_error(xy, expected, frames[0].shape),
                  "sensor": corner_error(xy, np.eye(3), frames[0].shape)}
        nearest = min(errors, key=errors.get)
        if not line["reliable"]:
            counts["right, refused" if errors["scene"] <= ALLOWED else "refused"] += 1
            continue
        counts[nearest if errors[nearest] <= ALLOWED else "blend"] += 1
        worst = max(worst, min(errors.values()))
    return counts, worst, stack.fixed_pattern is not None


def count_stacks(kind, options, device):
    counts = dict.fromkeys(OUTCOMES, 0)
    found = 0
    for number in range(options.stacks):
        frames, motions = stack_of(kind, number, options.seed)
        of_stack, worst, has_pattern = outcome_of_stack(frames, motions, device,
                                                        options.fixed_pattern)
        found += has_pattern
        for name in OUTCOMES:
            counts[name] += of_stack[name]
        if options.list:
            print(f"  {kind} {number}: {of_stack}, worst {worst:.3f}, "
                  f"{'a' if has_pattern else 'no'} pattern", flush=True)
    return {**counts, "found": found}


def count_pairs(kind, options, device):
    counts = dict.fromkeys(OUTCOMES, 0)
    for number in range(options.pairs):
        reference, moving, matrix = pair_of(kind, number, options.seed)
        found = warpalign.register(reference, moving, device=device)
        result, errors = outcome(found, matrix, reference.shape)
        counts[result] += 1
        if options.list:
            print(f"  {kind} {number}: {result}, {errors['scene']:.3f} from the scene, "
                  f"{errors['sensor']:.3f} from the sensor, confidence {found.confidence:.3f}, "
                  f"matrix {found.matrix[:2].ravel().tolist()}", flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=12, help="of each kind")
    parser.add_argument("--stacks", type=int, help="of each kind, in place of pairs")
    parser.add_argument("--fixed-pattern", choices=["auto", "off"], help="for stacks")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default=None)
    parser.add_argument("--kinds", help="names with commas; all without")
    parser.add_argument("--json", help="a record of the counts")
    parser.add_argument("--list", action="store_true", help="a line for each pair or stack")
    options = parser.parse_args()
    kinds = options.kinds or ",".join(STACK_KINDS if options.stacks else KINDS)
    device = warpalign.open_device(options.device)
    what = f"{options.stacks} stacks" if options.stacks else f"{options.pairs} pairs"
    names = (*OUTCOMES, "found") if options.stacks else OUTCOMES
    print(f"seed {options.seed}, {what} of each kind, {device.info.name}")
    print(f"{'kind':10} " + " ".join(f"{name:>14}" for name in names))
    rows = []
    for kind in kinds.split(","):
        counts = (count_stacks if options.stacks else count_pairs)(kind, options, device)
        rows.append({"kind": kind, **counts})
        print(f"{kind:10} " + " ".join(f"{counts[name]:14}" for name in names), flush=True)
    if options.json:
        chosen = (f"--stacks {options.stacks} --fixed-pattern {options.fixed_pattern or 'auto'}"
                  if options.stacks else f"--pairs {options.pairs}")
        record = {"command": f"fixed_patterns.py {chosen} --seed {options.seed} --kinds {kinds}",
                  "program": f"warpalign {warpalign.__version__}", "device": device.info.name,
                  "driver": device.info.driver, "date": datetime.date.today().isoformat(),
                  "rows": rows}
        Path(options.json).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
