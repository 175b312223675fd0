#!/usr/bin/env python3
"""Draw the demo's pair before and after its registration: docs/demo/before-after.jpg.

The reference is green and the moving image magenta, so that they are gray where they agree. Before:
the images with common centres. After: the moving image warped by the result; the line is its frame.

Needs warpalign, numpy and Pillow.
"""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import warpalign

DEMO = Path(__file__).resolve().parents[1] / "docs" / "demo"
SIDE = 512  # of each half
GAP = 4
GAMMA = 0.75  # brightens the dark background


def load(name):
    image = Image.open(DEMO / name).convert("L")
    return np.asarray(image)


def levels(image):
    return (255 * (image / 255) ** GAMMA).astype(np.uint8)


def overlay(reference, moving, size=(SIDE, SIDE)):
    """The two images, as large as the reference, in complementary colours."""
    picture = Image.fromarray(np.dstack([levels(image) for image in (moving, reference, moving)]))
    return picture.resize(size, Image.Resampling.BOX)


def label(picture, text):
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=22)
    box = draw.textbbox((14, SIDE - 42), text, font=font)
    draw.rectangle((box[0] - 7, box[1] - 5, box[2] + 7, box[3] + 5), fill="black")
    draw.text((14, SIDE - 42), text, fill="white", font=font)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=DEMO / "before-after.jpg")
    output = parser.parse_args().output

    reference, moving = load("reference.jpg"), load("moving.jpg")
    found = warpalign.register(reference, moving)
    if not found.reliable:
        raise SystemExit("the demo's pair is not registered reliably")

    # Both centres at the same pixel: whole pixels, without interpolation.
    rows, columns = ((np.array(moving.shape) - reference.shape) // 2)
    y, x = np.indices(reference.shape)
    y, x = y + rows, x + columns
    inside = (y >= 0) & (x >= 0) & (y < moving.shape[0]) & (x < moving.shape[1])
    unaligned = np.zeros_like(reference)
    unaligned[inside] = moving[y[inside], x[inside]]

    before, after = overlay(reference, unaligned), overlay(reference, found.warp(moving))
    height, width = moving.shape
    corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1], [0, 0, 1]])
    frame = (corners @ np.linalg.inv(found.matrix_xy).T)[:, :2] * SIDE / reference.shape[0]
    ImageDraw.Draw(after).line([tuple(corner) for corner in frame], fill="white", width=2)
    label(before, "before")
    label(after, f"after: {found.rotation_deg:.2f}\N{DEGREE SIGN}, {found.scale:.3f} times as large")

    both = Image.new("RGB", (2 * SIDE + GAP, SIDE), "white")
    both.paste(before, (0, 0))
    both.paste(after, (SIDE + GAP, 0))
    both.save(output, quality=88, optimize=True)


if __name__ == "__main__":
    main()
