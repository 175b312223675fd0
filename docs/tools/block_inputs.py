"""Makes small synthetic files for the commands of the pages."""

from pathlib import Path

import numpy as np
from PIL import Image

from warpalign import ndimage

REFERENCE = ["reference.jpg", "fixed.png", "fixed.tif", "fixed.jpg", "scan1.tif", "in.png",
             "in.tif", "photograph.png"]
MOVING = ["moving.png", "moved.png", "moved.tif", "moved.jpg", "scan2.tif"]
# Pairs of which one image is the negative of the other.
MODALITIES = [("t1.png", "t2.png"), ("visible.png", "infrared.png")]
PROGRAM = """#include <warpalign/warpalign.hpp>
int main() { return warpalign::version() == nullptr; }
"""
MASKS = ["mask.png", "fixed-mask.png", "logo-mask.png"]


def scene(side=160):
    """A smooth random 8-bit image."""
    random = np.random.default_rng(4)
    total = 0
    for scale in (4, 8, 16):
        noise = random.random((side // scale, side // scale))
        total = total + scale * ndimage.zoom(noise, scale, mode="mirror")
    return (255 * (total - total.min()) / np.ptp(total)).astype(np.uint8)


def write(folder, repository):
    """Fill a folder with the files that the commands need."""
    folder = Path(folder)
    for name in ("docs", "tests", "tools", "examples", "script", "benchmarks"):
        (folder / name).symlink_to(repository / name)
    (folder / "main.cpp").write_text(PROGRAM)
    image = scene()
    moved = ndimage.rotate(image, 2, reshape=False, mode="mirror")
    for name in REFERENCE:
        Image.fromarray(image).save(folder / name)
    for name in MOVING:
        Image.fromarray(moved).save(folder / name)
    for one, other in MODALITIES:
        Image.fromarray(image).save(folder / one)
        Image.fromarray(255 - moved).save(folder / other)
    bent = np.indices(image.shape, np.float32)
    bent[1] += 2 * np.sin(bent[0] / 40)
    bent = ndimage.map_coordinates(image, bent, mode="mirror")
    Image.fromarray(bent).save(folder / "bent.tif")
    for name in MASKS:
        mask = np.full(image.shape, 255, np.uint8)
        mask[:20, :40] = 0
        Image.fromarray(mask).save(folder / name)
    frames = [ndimage.shift(image, (number, -2 * number), mode="mirror") for number in range(3)]
    first, *others = (Image.fromarray(frame) for frame in frames)
    first.save(folder / "recording.tif", save_all=True, append_images=others)
    np.save(folder / "columns.npy", np.stack(frames, axis=-1))
    np.save(folder / "corner.npy", np.stack(frames)[:, 20:120, 40:140])
    # An ImageJ hyperstack of two channels.
    first, *others = (Image.fromarray(plane) for frame in frames for plane in (frame, 255 - frame))
    axes = "ImageJ=1.54f\nimages=6\nchannels=2\nframes=3\nhyperstack=true\n"
    first.save(folder / "cells.tif", save_all=True, append_images=others, tiffinfo={270: axes})
    (folder / "night").mkdir()
    for number, frame in enumerate(frames):
        Image.fromarray(frame).save(folder / "night" / f"{number}.png")
        for name in (f"frame{number}.png", f"frame{number}.tif", f"video{number}.png"):
            Image.fromarray(frame).save(folder / name)
    random = np.random.default_rng(5)
    volume = ndimage.zoom(random.random((10, 12, 14)), 2, mode="mirror").astype(np.float32)
    for name in ("in.npy", "reference.npy", "fixed.npy"):
        np.save(folder / name, volume)
    mask = np.ones(volume.shape, np.uint8)
    mask[:4] = 0
    np.save(folder / "fixed-mask.npy", mask)
    for name in ("moving.npy", "moved.npy"):
        np.save(folder / name, np.roll(volume, (1, 2, 0), (0, 1, 2)))
    # SciPy's layout: (z, y, x) along the first axis.
    coordinates = np.indices((6, 8, 9)).astype(np.float32) + 0.5
    for name in ("coordinates.npy", "c.npy"):
        np.save(folder / name, coordinates)
