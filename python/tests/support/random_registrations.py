"""Registers random cuts of photographs, and says which were accepted wrongly or raised.

Each case is drawn from a seed and its number alone. It cuts two images from the photographs of
tests/data, either from one by a known transform, or from two different ones; and draws their sizes,
types, contrast, noise, masks, missing pixels, and the options of the registration, which always
admit the truth. The photographs are sampled by SciPy in double precision.

    python benchmarks/random_registrations.py --calls 800 [--seed N] [--device opencl:pocl]

prints the seed, the counts, and each case that was accepted wrongly or raised, and fails if there
is one.
"""

import argparse
import collections
import functools
import pathlib
import secrets
import sys
import time

import numpy as np
import warpalign
from PIL import Image
from scipy import ndimage

DATA = pathlib.Path(__file__).parents[3] / "tests" / "data"
DTYPES = (np.uint8, np.uint16, np.int16, np.int32, np.uint32, np.float32, np.float64)
MOTIONS = ("translation", "rotation", "rigid", "similarity", "affine", "homography", "auto")
# An answer is right if it is within this of the truth where the images overlap: three pixels, or 2 %
# of the larger side. Fits of noisy images of 64 pixels are off by a pixel; wrong answers by tens.
ALLOWED, ALLOWED_PART = 3.0, 0.02
MARGIN = 8  # pixels between the truth and a limit of the shift
# Cases that a user expects to work: half in common, 128 pixels and more, and little noise.
EASY_SIDE, EASY_OVERLAP, EASY_NOISE = 128, 0.5, 0.1


@functools.cache
def photographs():
    """The photographs as doubles, reduced by half, which makes them sharp at every pixel."""
    found = {}
    for path in sorted([*DATA.glob("*.jpg"), *DATA.glob("*.png")]):
        image = np.asarray(Image.open(path).convert("L"), float)
        rows, columns = (length // 2 * 2 for length in image.shape)
        found[path.stem] = image[:rows, :columns].reshape(rows // 2, 2, columns // 2, 2).mean((1, 3))
    return found


def similarity(angle, scale, shift):
    """A 3 x 3 matrix for (row, column, 1): counter-clockwise as displayed about the origin, then the
    shift."""
    c, s = scale * np.cos(np.radians(angle)), scale * np.sin(np.radians(angle))
    return np.array([[c, -s, shift[0]], [s, c, shift[1]], [0, 0, 1]])


def centred(matrix, shape, other):
    """The same about the centres of an image and of the other one."""
    to, back = np.eye(3), np.eye(3)
    to[:2, 2] = -(np.array(shape) - 1) / 2
    back[:2, 2] = (np.array(other) - 1) / 2
    return back @ matrix @ to


def cut(photograph, shape, to_photograph, light):
    """The image of this shape whose pixel p shows the photograph at to_photograph(p); NaN beyond
    it."""
    step = np.sqrt(abs(np.linalg.det(to_photograph[:2, :2])))
    if step > 1:  # a pixel takes in as much as its distance to the next one
        photograph = ndimage.gaussian_filter(photograph, 0.5 * np.sqrt(step**2 - 1))
    at = np.einsum("ij,jrc->irc", to_photograph[:2, :2], np.indices(shape, float))
    at += to_photograph[:2, 2, None, None]
    image = ndimage.map_coordinates(photograph, at, order=3, mode="constant", cval=np.nan)
    gain, offset, gamma = light
    return gain * 255 * np.clip(image / 255, 0, 1)**gamma + offset


class Case:
    """A pair with its truth and the options of its registration."""

    def __init__(self, seed, number):
        self.random = np.random.default_rng([seed, number])
        random = self.random
        self.related = random.random() < 0.7
        names = random.permutation(list(photographs()))[:2]
        self.names = (names[0], names[0] if self.related else names[1])
        low = random.choice([64, 96, 128])
        self.shapes = [tuple(int(n) for n in random.integers(low, 220, 2)) for _ in range(2)]
        self.motion = str(random.choice(MOTIONS))
        self.dtypes = [np.dtype(DTYPES[i]) for i in random.integers(len(DTYPES), size=2)]
        self.noise = float(random.choice([0, 0.02, 0.1, 0.3]))
        self._draw_truth()
        self._draw_images()
        self._draw_masks()
        self._draw_options()

    def _draw_truth(self):
        random = self.random
        turns = self.motion != "translation"
        scales = self.motion not in ("translation", "rotation", "rigid")
        self.angle = random.uniform(-180, 180) if turns else 0.0
        self.scale = 2**random.uniform(-0.8, 0.8) if scales else 1.0
        reach = 0.0 if self.motion == "rotation" else 0.35 * min(*self.shapes[0], *self.shapes[1])
        self.shift = random.uniform(-reach, reach, 2)
        linear = similarity(self.angle, self.scale, self.shift)
        if self.motion in ("affine", "homography", "auto"):
            linear[:2, :2] = linear[:2, :2] @ (np.eye(2) + random.uniform(-0.04, 0.04, (2, 2)))
        self.truth = centred(linear, *self.shapes)

    def _draw_images(self):
        random = self.random
        first, second = (photographs()[name] for name in self.names)
        placed = self._placed(first, self.shapes[0])
        to_moving = placed @ np.linalg.inv(self.truth)
        if not self.related:
            to_moving = self._placed(second, self.shapes[1])
        lights = [(random.uniform(0.4, 1), random.uniform(0, 20), random.uniform(0.8, 1.25))
                  for _ in range(2)]
        images = [cut(first, self.shapes[0], placed, lights[0]),
                  cut(second, self.shapes[1], to_moving, lights[1])]
        self.images, self.masks = [], [None, None]
        for i, (image, dtype) in enumerate(zip(images, self.dtypes)):
            beyond = np.isnan(image)
            deviation = np.nanstd(image) if not beyond.all() else 1
            image = image + random.normal(0, self.noise * deviation + 1e-6, image.shape)
            if dtype.kind == "f" and random.random() < 0.5:
                image[beyond] = np.nan
            else:  # the photograph ends in its mean, or is masked there
                image[beyond] = np.nanmean(image) if not beyond.all() else 0
                if beyond.any() and random.random() < 0.5:
                    self.masks[i] = ~beyond
            if dtype.kind == "f":
                factor = 10.0**random.integers(-3, 4)
            else:
                factor = 1 if dtype.itemsize == 1 else 30
                image = np.clip(np.rint(image), 0, 255)
            self.images.append((image * factor).astype(dtype))

    def _placed(self, photograph, shape):
        """Where an image lies in its photograph: inside, if it is not larger."""
        return similarity(0, 1, [self.random.uniform(0, max(1, length - n))
                                 for length, n in zip(photograph.shape, shape)])

    def _draw_masks(self):
        for i, shape in enumerate(self.shapes):
            if self.random.random() > 0.2:
                continue
            centre = self.random.uniform(0.3, 0.7, 2) * shape
            radii = self.random.uniform(0.35, 0.7, 2) * shape
            rows, columns = np.indices(shape)
            mask = ((rows - centre[0]) / radii[0])**2 + ((columns - centre[1]) / radii[1])**2 < 1
            self.masks[i] = mask if self.masks[i] is None else mask & self.masks[i]

    def _draw_options(self):
        random = self.random
        self.options = {"motion": self.motion}
        maybe = {
            "modality": lambda: str(random.choice(["other", "auto"])),
            "search": lambda: str(random.choice(["fast", "thorough"])),
            "spectrum": lambda: "gradient",
            "candidates": lambda: int(random.integers(1, 6)),
            "refine": lambda: False,
            "max_threads": lambda: int(random.integers(1, 4)),
            "max_shift": self._max_shift,
            "angle": lambda: None,
            "initial": lambda: None,
        }
        for name, value in maybe.items():
            if random.random() < 0.15:
                self.options[name] = value()
        if "angle" in self.options:
            del self.options["angle"]
            if self.motion != "translation":
                width = random.uniform(5, 60)
                self.options["min_angle"] = max(self.angle - width, -180)
                self.options["max_angle"] = min(self.angle + width, 180)
        if "initial" in self.options:
            error = random.uniform(-MARGIN, MARGIN, 2) / 2 * (self.motion != "rotation")
            self.options["initial"] = similarity(0, 1, error) @ self.truth
        # A rotation has no shift, and that of the nearest similarity is another one.
        if self.motion in ("rotation", "affine", "homography", "auto"):
            self.options.pop("max_shift", None)
        # Options that exclude each other.
        if self.options.get("modality") == "other" and self.options.get("search") == "fast":
            del self.options["search"]
        if self.motion == "translation" or self.options.get("modality") == "other":
            self.options.pop("spectrum", None)

    def _max_shift(self):
        if self.random.random() < 0.5:
            return float(np.hypot(*self.shift) + MARGIN)
        return tuple(float(abs(n) + MARGIN) for n in self.shift)

    def overlap(self):
        """The part of the smaller image that both show, by the truth."""
        points = np.indices(self.shapes[0]).reshape(2, -1)
        at = self.truth[:2, :2] @ points + self.truth[:2, 2:]
        limits = np.array(self.shapes[1])[:, None] - 1
        inside = np.all((at >= 0) & (at <= limits), axis=0)
        smaller = min(np.prod(self.shapes[0]), np.prod(self.shapes[1]) / abs(
            np.linalg.det(self.truth[:2, :2])))
        return inside.sum() / smaller

    def is_easy(self):
        gives_little = any(name in self.options for name in ("modality", "search", "refine",
                                                             "spectrum"))
        known = [np.isfinite(image) if mask is None else np.isfinite(image) & (mask != 0)
                 for image, mask in zip(self.images, self.masks)]
        return (self.related and min(*self.shapes[0], *self.shapes[1]) >= EASY_SIDE
                and self.overlap() >= EASY_OVERLAP and self.noise <= EASY_NOISE
                and not gives_little and min(k.mean() for k in known) > 0.9)

    def run(self, device):
        return warpalign.register(*self.images, reference_mask=self.masks[0],
                                  moving_mask=self.masks[1], device=device, **self.options)

    def error(self, matrix):
        """The largest distance from the truth, in pixels of the moving image, over the reference's
        pixels that the moving image shows; infinite if it shows none."""
        rows, columns = (np.linspace(0, n - 1, 9) for n in self.shapes[0])
        points = np.stack([*np.meshgrid(rows, columns, indexing="ij"), np.ones((9, 9))])
        points = points.reshape(3, -1)
        truth, found = self.truth @ points, matrix @ points
        limits = np.array(self.shapes[1])[:, None] - 1
        inside = np.all((truth[:2] >= 0) & (truth[:2] <= limits), axis=0)
        if not inside.any():
            return np.inf
        distance = np.hypot(*(found[:2] / found[2] - truth[:2]))
        return distance[inside].max()

    def __str__(self):
        sizes = " and ".join("x".join(map(str, shape)) for shape in self.shapes)
        return (f"{self.names[0]} and {self.names[1]}, {sizes}, "
                f"{self.dtypes[0]} and {self.dtypes[1]}, rotated by {self.angle:.1f}, scaled by "
                f"{self.scale:.2f}, shifted by {self.shift.round(1)}, noise {self.noise}, masks "
                f"{[mask is not None for mask in self.masks]}, {self.options}")


# Images of which one, or one within its mask, is constant or has no pixels are refused as such.
REFUSED = (warpalign.InvalidImageError,)


def verdict_of(case, found):
    """(verdict, details): 'right', 'refused' or 'wrong'."""
    if not found.reliable:
        return "refused", f"confidence {found.confidence:.2f}"
    error = case.error(found.matrix) if case.related else np.inf
    allowed = max(ALLOWED, ALLOWED_PART * max(*case.shapes[0], *case.shapes[1]))
    details = f"confidence {found.confidence:.2f}, {error:.2f} px off, by {found.proposed_by}"
    return ("right" if error <= allowed else "wrong"), details


def outcome_of(case, device=None):
    """The verdict and details of verdict_of(), or of 'raised' or 'no image'."""
    try:
        found = case.run(device)
    except REFUSED as error:
        return "no image", str(error)
    except Exception as error:  # noqa: BLE001: any other is what is looked for
        return "raised", f"{type(error).__name__}: {error}"
    return verdict_of(case, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--device")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    arguments = parser.parse_args()
    seed = secrets.randbelow(10**9) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    counts, easy = collections.Counter(), collections.Counter()
    begin = time.monotonic()
    for number in range(arguments.first, arguments.first + arguments.calls):
        if time.monotonic() - begin > arguments.seconds:
            break
        case = Case(seed, number)
        verdict, details = outcome_of(case, arguments.device)
        counts[verdict if case.related else f"unrelated: {verdict}"] += 1
        if case.is_easy():
            easy[verdict] += 1
        if verdict in ("wrong", "raised") or (case.is_easy() and verdict != "right"):
            print(f"{verdict}: case {number}: {details}: {case}", flush=True)
    print(f"{sum(counts.values())} cases: {dict(counts)}; easy ones: {dict(easy)}")
    bad = sum(count for name, count in counts.items() if name.split()[-1] in ("wrong", "raised"))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
