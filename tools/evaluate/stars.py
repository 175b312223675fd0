#!/usr/bin/env python3
"""How well are sparse images of point sources registered? Needs the warpalign package.

    python tools/evaluate/stars.py [--pairs 200] [--unrelated 1000] [--seed 1] [--device opencl:pocl]
                                   [--kinds NAMES] [--search EFFORT] [--astroalign] [--json FILE]
                                   [--first N] [--seconds S]

Each image is 400 x 400 pixels and shows 25 stars: Gaussians with a sigma of 1.4 pixels, integrated
over each pixel, on a background of 100 photons, with photon noise. The integrated signal-to-noise
ratio of a star is 5 to 50, uniform in its logarithm. The moving image is rotated by any angle about
the centre and shifted by up to 20 pixels along each axis. Up to a third of its stars are missing, and
as many false ones are elsewhere. The sky goes on beyond the frame.

    plain      nothing else
    hot        30 hot pixels at the same places in both images, brighter than any star
    trail      a satellite's bright trail through each image
    cosmic     40 cosmic rays in each image, of 1 to 8 pixels
    saturated  the brightest stars are cut off at 60 % of the height of the brightest one
    nan        the moving image has values only where it overlaps the reference's frame: NaN, and
               masked, elsewhere
    unrelated  two different fields; every other pair has the hot pixels of `hot`

An error is the root mean square distance from the truth over the reference's frame. A pair is right
if its error is below one pixel. The Cramer-Rao bound is that of any unbiased estimator of the four
parameters from the stars that both images show, for photon noise. `--astroalign` registers the same
pairs with astroalign (Beroiz, Cabral & Sanchez 2020), which refuses by an exception.
"""

import argparse
import datetime
import json
import sys
import time

import numpy as np
import warpalign
from scipy.special import erf

SIDE, STARS, SIGMA, BACKGROUND = 400, 25, 1.4, 100.0
KINDS = ("plain", "hot", "trail", "cosmic", "saturated", "nan")
CENTRE = (SIDE - 1) / 2
GRID = np.stack(np.meshgrid(*2 * [np.linspace(0, SIDE - 1, 9)]), -1).reshape(-1, 2)


def profile(at, pixels):
    """The share of a star's light in each pixel along an axis, and its derivative by the place."""
    edges = np.append(pixels - 0.5, pixels[-1] + 0.5) - at
    whole = 0.5 * erf(edges / (SIGMA * np.sqrt(2)))
    height = np.exp(-edges**2 / (2 * SIGMA**2)) / (SIGMA * np.sqrt(2 * np.pi))
    return np.diff(whole), -np.diff(height)


def stamp(place):
    """The pixels that a star lights (two slices), its share in each, and the derivatives by x and y."""
    ranges = [np.arange(max(int(c) - 9, 0), min(int(c) + 11, SIDE)) for c in place]
    (x, dx), (y, dy) = (profile(c, r) for c, r in zip(place, ranges))
    where = slice(ranges[1][0], ranges[1][-1] + 1), slice(ranges[0][0], ranges[0][-1] + 1)
    return where, np.outer(y, x), np.outer(y, dx), np.outer(dy, x)


def ratio_of(flux):
    """The integrated signal-to-noise ratio of a star with so many photons, by the matched filter."""
    light = flux * stamp((CENTRE, CENTRE))[1]
    return np.sqrt(np.sum(light**2 / (BACKGROUND + light)))


FLUXES = np.geomspace(30, 1e5, 400)
RATIOS = np.array([ratio_of(flux) for flux in FLUXES])


def information(place, flux):
    """The Fisher information of a star's place, 2 x 2."""
    _, share, dx, dy = stamp(place)
    slopes = flux * np.stack([dx, dy]).reshape(2, -1)
    return slopes / (BACKGROUND + flux * share).ravel() @ slopes.T


def is_inside(places):
    return np.all((places >= 0) & (places <= SIDE - 1), axis=-1)


def drawn(places, fluxes):
    """Expected photons."""
    image = np.full((SIDE, SIDE), BACKGROUND)
    for place, flux in zip(places, fluxes):
        if np.all((place > -5) & (place < SIDE + 4)):
            where, share, _, _ = stamp(place)
            image[where] += flux * share
    return image


def random_fluxes(random, count):
    logs = random.uniform(np.log(5), np.log(50), count)
    return np.exp(np.interp(logs, np.log(RATIOS), np.log(FLUXES)))


def sky(random):
    """Stars of a square around the frame: exactly STARS in the frame, the same density outside."""
    margin = SIDE // 2
    outside = random.uniform(-margin, SIDE - 1 + margin, (4 * STARS, 2))
    outside = outside[~is_inside(outside)]
    places = np.concatenate([random.uniform(0, SIDE - 1, (STARS, 2)), outside])
    return places, random_fluxes(random, len(places))


def spoil(random, kind, image, spots):
    """Adds what the kind names to the expected photons. `spots` are the same for both images."""
    if kind == "hot":
        image[spots[:, 0], spots[:, 1]] += spots[:, 2]
    elif kind == "trail":
        y, x = np.mgrid[:SIDE, :SIDE]
        angle, offset = random.uniform(0, np.pi), random.uniform(-150, 150)
        distance = (x - CENTRE) * np.sin(angle) - (y - CENTRE) * np.cos(angle) - offset
        image += random.uniform(500, 4000) * np.exp(-distance**2 / (2 * SIGMA**2))
    elif kind == "cosmic":
        for _ in range(40):
            place, angle = random.uniform(0, SIDE - 1, 2), random.uniform(0, np.pi)
            for step in np.arange(0, random.integers(1, 9)):
                x, y = np.rint(place + step * np.array([np.cos(angle), np.sin(angle)])).astype(int)
                if 0 <= x < SIDE and 0 <= y < SIDE:
                    image[y, x] += random.uniform(200, 4000)


def pair_of(kind, random, related=True):
    """Two images, the options of a registration, the true transform (2 x 3), and the variance of the
    Cramer-Rao bound (the mean over the frame)."""
    places, fluxes = sky(random)
    angle, shift = random.uniform(0, 2 * np.pi), random.uniform(-20, 20, 2)
    linear = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    truth = np.column_stack([linear, CENTRE + shift - linear @ [CENTRE, CENTRE]])
    if related:
        moved, moved_fluxes = places @ linear.T + truth[:, 2], fluxes.copy()
    else:
        moved, moved_fluxes = sky(random)
    shown = is_inside(moved)
    missing = np.zeros(len(moved), bool)
    candidates = np.flatnonzero(shown)
    count = random.integers(0, len(candidates) // 3 + 1)
    missing[random.choice(candidates, count, replace=False)] = True
    false = random.uniform(0, SIDE - 1, (count, 2))
    images = [drawn(places, fluxes),
              drawn(np.concatenate([moved[~missing], false]),
                    np.concatenate([moved_fluxes[~missing], random_fluxes(random, count)]))]
    spots = np.column_stack([random.integers(1, SIDE - 1, (30, 2)), random.integers(500, 5000, 30)])
    top = 0.6 * (max(image.max() for image in images) - BACKGROUND) + BACKGROUND
    for image in images:
        spoil(random, kind, image, spots)
    images = [random.poisson(image) for image in images]
    if kind == "saturated":
        images = [np.minimum(image, int(top)) for image in images]
    images = [image.astype(np.uint16) for image in images]
    settings = {}
    if kind == "nan":
        y, x = np.mgrid[:SIDE, :SIDE]
        back = (np.stack([x, y], -1) - truth[:, 2]) @ linear
        images[1] = images[1].astype(np.float32)
        images[1][~is_inside(back)] = np.nan
        settings["moving_mask"] = np.isfinite(images[1])
    matrix = np.zeros((4, 4))  # of the parameters (a, b, x, y): a p + b turned p + (x, y), from the centre
    common = is_inside(places) & shown & ~missing if related else []
    for place, to, flux in zip(places[common], moved[common], fluxes[common]):
        slope = jacobian(place)
        covariance = (linear @ np.linalg.inv(information(place, flux)) @ linear.T
                      + np.linalg.inv(information(to, flux)))
        matrix += slope.T @ np.linalg.inv(covariance) @ slope
    if not related:
        return images, settings, None, None
    covariance = np.linalg.inv(matrix)
    bound = np.mean([np.trace(jacobian(p) @ covariance @ jacobian(p).T) for p in GRID])
    return images, settings, truth, bound


def jacobian(place):
    x, y = np.asarray(place) - CENTRE
    return np.array([[x, -y, 1, 0], [y, x, 0, 1]])


def squared_error(matrix, truth):
    difference = np.asarray(matrix)[:2] - truth
    return np.mean(np.sum((GRID @ difference[:, :2].T + difference[:, 2]) ** 2, axis=-1))


def by_warpalign(images, settings, registrar):
    registrar.set_reference(images[0])
    found = registrar.align(images[1], settings.get("moving_mask"))
    matrix = np.asarray(found.matrix)  # of rows and columns
    return matrix[[1, 0]][:, [1, 0, 2]], found.reliable, found


def by_astroalign(images, settings):
    import astroalign

    images = [image.astype(np.float64) for image in images]
    masks = [~np.isfinite(image) for image in images]
    images = [np.where(mask, BACKGROUND, image) for image, mask in zip(images, masks)]
    try:
        found, _ = astroalign.find_transform(*images)
    except Exception as refused:  # of several types
        return None, False, refused
    return found.params, True, found


def evaluate(kind, numbers, seed, method, verbose, limit):
    """One row of the table: of the pairs with these numbers, until `limit` seconds have passed."""
    row = dict(kind=kind, pairs=0, right=0, accepted=0, right_and_accepted=0, wrong_and_accepted=0)
    squares, bounds, seconds = [], [], 0.0
    begin = time.monotonic()
    for number in numbers:
        if time.monotonic() - begin > limit:
            break
        row["pairs"] += 1
        random = np.random.default_rng([seed, number, *kind.encode()])
        related = kind != "unrelated"
        content = kind if related else ("plain", "hot")[number % 2]
        images, settings, truth, bound = pair_of(content, random, related)
        start = time.perf_counter()
        matrix, reliable, found = method(images, settings)
        seconds += time.perf_counter() - start
        square = squared_error(matrix, truth) if related and matrix is not None else np.inf
        right = square < 1
        row["accepted"] += bool(reliable)
        row["right"] += bool(right)
        row["right_and_accepted"] += bool(right and reliable)
        row["wrong_and_accepted"] += bool(reliable and not right)
        if right and reliable:
            squares.append(square)
            bounds.append(bound)
        elif verbose and (related or reliable):
            print(f"  {kind} {number}: error {np.sqrt(square):.3g} px, {found!r}", flush=True)
    if squares:
        row["error_rms"] = float(np.sqrt(np.mean(squares)))
        row["bound_rms"] = float(np.sqrt(np.mean(bounds)))
        row["ratio"] = row["error_rms"] / row["bound_rms"]
        row["normalized_rms"] = float(np.sqrt(np.mean(np.divide(squares, bounds))))
    row["seconds_per_pair"] = seconds / max(row["pairs"], 1)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200, help="of each related kind")
    parser.add_argument("--unrelated", type=int, default=1000, help="unrelated pairs")
    parser.add_argument("--first", type=int, default=0, help="number of the first pair of each kind")
    parser.add_argument("--seconds", type=float, default=np.inf, help="end each kind after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default=None)
    parser.add_argument("--search", default="standard", choices=("fast", "standard", "thorough"))
    parser.add_argument("--motion", default="similarity")
    parser.add_argument("--kinds", default=",".join((*KINDS, "unrelated")))
    parser.add_argument("--astroalign", action="store_true", help="register with astroalign as well")
    parser.add_argument("--verbose", action="store_true", help="print each pair that is not right")
    parser.add_argument("--json", help="write the table to a file")
    options = parser.parse_args()
    device = warpalign.open_device(options.device)
    registrar = warpalign.Registrar(device, search=options.search, motion=options.motion)
    methods = {"warpalign": lambda images, settings: by_warpalign(images, settings, registrar)}
    if options.astroalign:
        methods["astroalign"] = by_astroalign
    print(f"seed {options.seed}, {device.info.name}, search {options.search}, motion {options.motion}")
    print("kind       method      pairs  right  right and accepted  wrong and accepted  "
          "error, px  bound, px  ratio  ms")
    rows = []
    for kind in options.kinds.split(","):
        for name, method in methods.items():
            count = options.unrelated if kind == "unrelated" else options.pairs
            numbers = range(options.first, options.first + count)
            row = evaluate(kind, numbers, options.seed, method, options.verbose, options.seconds)
            rows.append({"method": name, "search": options.search, "seed": options.seed, **row})
            errors = (f"{row['error_rms']:9.4f}  {row['bound_rms']:9.4f}  {row['ratio']:5.2f}"
                      if "ratio" in row else f"{'':27}")
            print(f"{kind:10} {name:10} {row['pairs']:6} {row['right']:6} {row['right_and_accepted']:19} "
                  f"{row['wrong_and_accepted']:19}  {errors} {1e3 * row['seconds_per_pair']:5.0f}",
                  flush=True)
    if options.json:
        info = device.info
        record = {"command": " ".join(["stars.py", *sys.argv[1:]]),
                  "program": f"warpalign {warpalign.__version__}", "device_name": info.name,
                  "platform": info.platform, "driver": info.driver,
                  "date": datetime.date.today().isoformat(), "rows": rows}
        if options.astroalign:
            import astroalign

            record["astroalign"] = astroalign.__version__
        with open(options.json, "w") as file:
            json.dump(record, file, indent=1)


if __name__ == "__main__":
    main()
