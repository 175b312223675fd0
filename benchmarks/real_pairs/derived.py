"""Derives pairs from collected ones for kinds that are not published: two exposures, cropped,
rotated, reduced or masked. derived.json lists them.

    {"of": the pair, "name", "kind",
     "reference" and "moving": {"crop": [x0, y0, x1, y1] as fractions of the sides,
                                "shrink": an integer factor, by area,
                                "rotate": degrees, counter-clockwise, about the centre,
                                "noise": sigma in grey levels, "blur": sigma, "jpeg": quality},
     "masks": {"reference": [x0, y0, x1, y1], "moving": [...]}, ellipses in fractions of the sides,
     "filler": for each side, a pair whose reference fills the masked area}
"""

import io

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

import geometry


def translation(x, y):
    return np.array([[1, 0, x], [0, 1, y], [0, 0, 1.0]])


def cropped(image, shares):
    box = [round(s * n) for s, n in zip(shares, (*image.size, *image.size))]
    return image.crop(box), translation(-box[0], -box[1])


def shrunk(image, factor):
    size = (image.width // factor, image.height // factor)
    whole = image.crop((0, 0, size[0] * factor, size[1] * factor))
    # Pixel k of the result covers the pixels factor k to factor k + factor - 1.
    centre = (factor - 1) / 2
    change = np.diag([1 / factor, 1 / factor, 1]) @ translation(-centre, -centre)
    return whole.resize(size, Image.Resampling.BOX), change


def rotated(image, degrees):
    """Rotate about the centre into a frame that contains the whole picture, black outside."""
    angle = np.deg2rad(degrees)
    cosine, sine = np.cos(angle), np.sin(angle)
    width, height = image.size
    size = (int(np.ceil(abs(cosine) * width + abs(sine) * height)),
            int(np.ceil(abs(sine) * width + abs(cosine) * height)))
    # Counter-clockwise as displayed, with y downwards.
    linear = np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]])
    change = (translation((size[0] - 1) / 2, (size[1] - 1) / 2) @ linear
              @ translation(-(width - 1) / 2, -(height - 1) / 2))
    # PIL counts from pixel corners: shift by half a pixel on both sides.
    pull = translation(0.5, 0.5) @ np.linalg.inv(change) @ translation(-0.5, -0.5)
    rotated = image.transform(size, Image.Transform.AFFINE, pull[:2].ravel(),
                             Image.Resampling.BICUBIC)
    return rotated, change


def changed(image, steps, random):
    """Apply the steps to a picture; also returns the map from old to new coordinates."""
    total = np.eye(3)
    for step, apply in (("crop", cropped), ("shrink", shrunk), ("rotate", rotated)):
        if step in steps:
            image, change = apply(image, steps[step])
            total = change @ total
    if "blur" in steps:
        image = image.filter(ImageFilter.GaussianBlur(steps["blur"]))
    if "noise" in steps:
        grey = np.asarray(image, float) + random.normal(0, steps["noise"], np.asarray(image).shape)
        image = Image.fromarray(np.clip(grey + 0.5, 0, 255).astype(np.uint8))
    if "jpeg" in steps:
        data = io.BytesIO()
        image.save(data, "JPEG", quality=steps["jpeg"])
        image = Image.open(data)
        image.load()
    return image, total


def masked(image, shares, filler):
    """The picture with the filler outside an ellipse, and the mask of the ellipse."""
    mask = Image.new("L", image.size, 0)
    ImageDraw.Draw(mask).ellipse([s * n for s, n in zip(shares, (*image.size, *image.size))],
                                 fill=255)
    return Image.composite(image, filler.resize(image.size), mask), mask


def moved_truth(truth, before, after):
    """The truth between the changed pictures, including landmarks outside of them."""
    matrix = after @ geometry.full(truth["homography"]) @ np.linalg.inv(before)
    result = {**truth, "homography": (matrix / matrix[2, 2]).tolist()}
    if "landmarks" in truth:
        marks = np.array(truth["landmarks"])
        result["landmarks"] = np.c_[geometry.apply(before, marks[:, :2]),
                                    geometry.apply(after, marks[:, 2:])].tolist()
    result["uncertainty"] = round(
        truth["uncertainty"] * geometry.scale_at(after, (0, 0)), 3)
    return result


def make(collector, entry, pairs):
    """Add one derived pair to the collector, or report why it cannot be added."""
    pair = pairs[entry["of"]]
    random = np.random.default_rng(len(entry["name"]))
    pictures, maps, files, valid = {}, {}, {}, {}
    for side in ("reference", "moving"):
        with Image.open(collector.output / pair[side]) as image:
            steps = entry.get(side, {})
            loaded = image.copy() if image.mode in ("L", "I;16") else image.convert("L")
            pictures[side], maps[side] = changed(loaded, steps, random)
        if side in entry.get("masks", {}):
            # A different filler for each side: the same one would match itself.
            filler = pairs[entry["filler"][side]]["reference"]
            with Image.open(collector.output / filler) as filler:
                pictures[side], valid[side] = masked(pictures[side], entry["masks"][side],
                                                     filler.convert("L"))
        files[side] = collector.save(pictures[side], f"{entry['name']}_{side}")
    truth = moved_truth(pair["truth"], maps["reference"], maps["moving"])
    if any("crop" in entry.get(side, {}) for side in files) or valid:
        truth.pop("landmarks", None)  # few would be left: scoring uses the grid over the overlap
    if valid:
        truth["landmarks"] = in_both_masks(truth["homography"], valid, files)
    collector.add({"name": "derived"}, entry["name"], entry["kind"], files["reference"],
                  files["moving"], truth, derived_from=entry["of"],
                  **{f"{side}_mask": collector.save(mask, f"{entry['name']}_{side}_mask")[0]
                     for side, mask in valid.items()})


def in_both_masks(matrix, valid, files):
    """Points of a grid that are unmasked in both pictures: scoring uses only these."""
    grid = geometry.overlap_grid(matrix, files["reference"][1], files["moving"][1], 41)
    there = geometry.apply(matrix, grid)
    keep = np.ones(len(grid), bool)
    for side, points in (("reference", grid), ("moving", there)):
        mask = np.asarray(valid[side])
        index = np.rint(points).astype(int)
        keep &= mask[index[:, 1], index[:, 0]] > 0
    return np.c_[grid, there][keep].tolist()
