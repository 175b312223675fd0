"""Panoramas beside OpenCV's stitcher, of photographs that are drawn with known cameras.

    python benchmarks/panorama_peers.py --rows 6 --columns 8 --size 1200x1600 --json panorama.json

Needs NumPy, SciPy, Pillow and opencv-python-headless. The scene is a sphere with the photographs of
`tests/data` (smoothed to the resolution of the views, and mirrored from copy to copy), seen by a
camera that turns in steps that leave `--overlap` in common along both axes, held by hand: each view
is off by 1.5 degrees (standard deviation) about all axes, and exposed by a factor from 0.7 to 1.
All are colour photographs of 8 bits in memory, in the order of the rows, and each program runs once
before it is timed, on a few of them, so that kernels are compiled.

- `warpalign`: `warpalign.panorama(images, projection="spherical")`, and the same without the
  picture (`fuse=False`) and with `seams="opencv"`.
- `OpenCV`: `cv2.Stitcher_create(cv2.Stitcher_PANORAMA)` with its defaults: `estimateTransform()`
  for the cameras and `composePanorama()` for the picture, timed apart.

The record has, for each: how many photographs are placed, the seconds, the focal length over its
truth, and the root mean square and the largest error of where neighbours (views whose axes are
closer than 1.2 steps) lie relative to each other: the angle between the found and the true relative
rotation, times the focal length, in pixels.
"""

import argparse
import datetime
import json
import os
import platform
import time
from pathlib import Path

import cv2
import numpy as np
import scipy.ndimage
from PIL import Image
from scipy.spatial.transform import Rotation

import warpalign

DATA = Path(__file__).parents[1] / "tests" / "data"
NAMES = ("bridge.jpg", "bee.jpg", "citrus.jpg", "gravel.png", "retina.jpg")


class Scene:
    """A sphere of photographs, as an image of longitude and latitude."""

    def __init__(self, pixels_per_radian, rows):
        self.scale = pixels_per_radian
        height, width = round(rows * pixels_per_radian), round(2 * np.pi * pixels_per_radian)
        self.texture = np.empty((height, width, 3), np.uint8)
        side = round(0.9 * pixels_per_radian)  # of a copy of a photograph
        number = 0
        for top in range(0, height, side):
            for left in range(0, width, side):
                image = Image.open(DATA / NAMES[number % len(NAMES)]).convert("L")
                image = image.rotate(90 * (number // 5 % 4), expand=True)
                length = min(image.size)
                image = np.asarray(image.crop((0, 0, length, length)).resize((side, side)))
                tint = 0.7 + 0.3 * np.array([number % 2, number // 2 % 2, number // 4 % 2])
                part = self.texture[top:top + side, left:left + side]
                part[...] = (image[:part.shape[0], :part.shape[1], None] * tint).astype(np.uint8)
                number += 1
        for channel in range(3):
            self.texture[..., channel] = scipy.ndimage.gaussian_filter(
                self.texture[..., channel], 0.8, mode=("nearest", "wrap"))

    def view(self, rotation, focal_length, shape, exposure):
        rows, columns = np.indices(shape, np.float32)
        x, y, z = np.moveaxis(np.stack(
            [columns - (shape[1] - 1) / 2, rows - (shape[0] - 1) / 2,
             np.full(shape, focal_length, np.float32)], axis=-1) @ rotation, -1, 0)
        at = [np.arctan2(y, np.hypot(x, z)) * self.scale + (len(self.texture) - 1) / 2,
              np.arctan2(x, z) % (2 * np.pi) * self.scale]
        channels = [scipy.ndimage.map_coordinates(self.texture[..., channel], at, np.float32,
                                                  order=1, mode="grid-wrap")
                    for channel in range(3)]
        return np.clip(np.rint(exposure * np.stack(channels, axis=-1)), 0, 255).astype(np.uint8)


def drawn(rows, columns, shape, overlap, field_of_view, seed=5):
    """Photographs, their true rotations, the focal length, and the steps between them in radians."""
    random = np.random.default_rng(seed)
    focal_length = shape[1] / 2 / np.tan(np.radians(field_of_view) / 2)
    angles = [2 * np.arctan(side / 2 / focal_length) * (1 - overlap) for side in shape]
    scene = Scene(1.2 * focal_length, (rows + 1) * angles[0] + 2 * np.radians(field_of_view) / 2)
    rotations, images = [], []
    for row in range(rows):
        for column in range(columns):
            at = [-(column - (columns - 1) / 2) * angles[1], (row - (rows - 1) / 2) * angles[0], 0]
            rotation = (Rotation.from_rotvec(np.radians(random.normal(0, 1.5, 3)))
                        * Rotation.from_euler("yxz", at)).as_matrix()
            rotations.append(rotation)
            images.append(scene.view(rotation, focal_length, shape, random.uniform(0.7, 1)))
    return images, rotations, focal_length, angles


def errors(found, truth, focal_length, step):
    """Errors of the relative rotations of neighbours in pixels. `found`: None if not placed."""
    result = []
    for i, (one, true_one) in enumerate(zip(found, truth)):
        for other, true_other in zip(found[i + 1:], truth[i + 1:]):
            if one is None or other is None or true_one[2] @ true_other[2] < np.cos(1.2 * step):
                continue
            difference = Rotation.from_matrix(one @ other.T @ true_other @ true_one.T)
            result.append(difference.magnitude() * focal_length)
    return np.array(result)


def timed(function):
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def by_warpalign(images):
    warpalign.panorama(images[:3])
    found, cameras = timed(lambda: warpalign.panorama(images, projection="spherical", fuse=False))
    rotations = [camera and camera.rotation for camera in found.cameras]
    focal_length = [camera.focal_length for camera in found.cameras if camera][0]
    picture, feather = timed(lambda: found.fuse(images))
    cut, seams = timed(lambda: found.fuse(images, seams="opencv"))
    return rotations, focal_length, {"cameras": cameras, "picture": feather,
                                     "picture with seams": seams,
                                     "pairs": len(found.pairs), "shape": list(found.shape)}


def by_opencv(images):
    bgr = [np.ascontiguousarray(image[..., ::-1]) for image in images]
    cv2.Stitcher_create(cv2.Stitcher_PANORAMA).stitch(bgr[:3])
    stitcher = cv2.Stitcher_create(cv2.Stitcher_PANORAMA)
    status, cameras = timed(lambda: stitcher.estimateTransform(bgr))
    if status != cv2.Stitcher_OK:
        return [None] * len(images), float("nan"), {"cameras": cameras, "status": status}
    (status, picture), seconds = timed(stitcher.composePanorama)
    rotations = [None] * len(images)
    placed = np.array(stitcher.component()).ravel()
    for index, camera in zip(placed, stitcher.cameras()):
        rotations[index] = np.asarray(camera.R, float).T  # OpenCV's R leads from the camera
    scale = 1 / stitcher.workScale()
    focal_length = float(np.median([camera.focal for camera in stitcher.cameras()])) * scale
    return rotations, focal_length, {
        "cameras": cameras, "picture": seconds, "status": status,
        "shape": [] if picture is None else list(picture.shape[:2])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", type=int, default=6)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--size", default="900x1200", help="rows x columns of a photograph")
    parser.add_argument("--overlap", type=float, default=0.35)
    parser.add_argument("--field-of-view", type=float, default=50, help="horizontal, in degrees")
    parser.add_argument("--json")
    options = parser.parse_args()
    shape = tuple(map(int, options.size.split("x")))
    images, truth, focal_length, angles = drawn(options.rows, options.columns, shape,
                                                options.overlap, options.field_of_view)
    record = {"date": datetime.date.today().isoformat(), "machine": platform.processor(),
              "processors": os.cpu_count(), "device": warpalign.open_device().info.name,
              "opencv": cv2.__version__, "warpalign": warpalign.__version__,
              "options": vars(options), "results": {}}
    for name, run in (("warpalign", by_warpalign), ("OpenCV", by_opencv)):
        rotations, found, result = run(images)
        wrong = errors(rotations, truth, focal_length, max(angles))
        result.update(
            placed=sum(rotation is not None for rotation in rotations), of=len(images),
            focal=found / focal_length, rms=float(np.sqrt((wrong ** 2).mean())) if len(wrong) else
            None, largest=float(wrong.max(initial=0)))
        record["results"][name] = result
        print(name, json.dumps(result), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
