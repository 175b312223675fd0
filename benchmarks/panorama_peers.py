"""Panoramas beside OpenCV's stitcher, of photographs that are drawn with known cameras.

    python benchmarks/panorama_peers.py --rows 6 --columns 8 --size 1200x1600 --json panorama.json

Needs NumPy, SciPy, Pillow and opencv-python-headless. The scene is a sphere of ten photographs of
this repository, each once, with noise of several scales on them, seen by a camera that rotates in
steps that leave `--overlap` in common along both axes, held by hand: each view is off by 1.5
degrees (standard deviation) about all axes, and exposed by a factor from 0.7 to 1. All are colour
photographs of 8 bits in memory, in the order of the rows, and each program runs once before it is
timed, on a few of them, so that kernels are compiled.

- `warpalign`: `warpalign.panorama(images, projection="spherical", fuse=False)` for the cameras, and
  `fuse()` for the picture, without and with `seams="opencv"`.
- `OpenCV`: `cv2.Stitcher_create(cv2.Stitcher_PANORAMA)` with its defaults: `estimateTransform()`
  for the cameras, and `composePanorama()` for the picture.

Of `--folders` it prints how many photographs each program places, without truth.

The record has, for each: how many photographs are placed, the seconds (by the clock, and of
processor time), the focal length over its truth, and the root mean square and the largest error of
where neighbours (views whose axes are closer than 1.2 steps) lie relative to each other: the angle
between the found and the true relative rotation, times the focal length, in pixels.
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

ROOT = Path(__file__).parents[1]
NAMES = ("tests/data/bridge.jpg", "docs/demo/reference.jpg", "tests/data/citrus.jpg",
         "tests/data/gravel.png", "examples/data/satellite.jpg", "tests/data/bee.jpg",
         "tests/data/retina.jpg", "examples/data/relief.jpg", "examples/data/cells.jpg",
         "tests/data/hubble.jpg")


class Scene:
    """A sphere of ten photographs, two rows of five, as an image of longitude and latitude."""

    def __init__(self, pixels_per_radian):
        self.scale = pixels_per_radian
        side = round(2 * np.pi * pixels_per_radian / 5)
        height = round(np.pi * pixels_per_radian) // 2
        rows = [np.concatenate([self._part(name, (height, side)) for name in names], axis=1)
                for names in (NAMES[:5], NAMES[5:])]
        self.texture = np.concatenate(rows).astype(np.float32)
        self.scale = self.texture.shape[1] / 2 / np.pi
        random = np.random.default_rng(1)
        for sigma in (1.2, 4, 16):  # where a photograph is enlarged or empty, there is detail, too
            noise = random.standard_normal([length // 4 + 1 if sigma > 4 else length
                                            for length in self.texture.shape]).astype(np.float32)
            if sigma > 4:
                noise = scipy.ndimage.gaussian_filter(noise, sigma / 4, mode="wrap")
                noise = np.kron(noise, np.ones((4, 4), np.float32))[:self.texture.shape[0],
                                                                    :self.texture.shape[1]]
                noise = scipy.ndimage.uniform_filter(noise, 5, mode="wrap")
            else:
                noise = scipy.ndimage.gaussian_filter(noise, sigma, mode="wrap")
            self.texture += 5 * noise / noise.std()
        self.texture = np.clip(np.rint(self.texture), 0, 255).astype(np.uint8)

    @staticmethod
    def _part(name, shape):
        image = Image.open(ROOT / name).convert("L")
        part = min(image.width / shape[1], image.height / shape[0])
        width, height = (round(length * part) for length in shape[::-1])
        box = ((image.width - width) // 2, (image.height - height) // 2)
        image = image.crop((*box, box[0] + width, box[1] + height))
        image = np.asarray(image.resize(shape[::-1], Image.Resampling.BICUBIC), np.float32)
        return np.clip(120 + 45 * (image - image.mean()) / image.std(), 10, 245)  # equal contrast

    def view(self, rotation, focal_length, shape, exposure):
        rows, columns = np.indices(shape, np.float32)
        x, y, z = np.moveaxis(np.stack(
            [columns - (shape[1] - 1) / 2, rows - (shape[0] - 1) / 2,
             np.full(shape, focal_length, np.float32)], axis=-1) @ rotation, -1, 0)
        at = [np.arctan2(y, np.hypot(x, z)) * self.scale + (len(self.texture) - 1) / 2,
              np.arctan2(x, z) % (2 * np.pi) * self.scale]
        gray = scipy.ndimage.map_coordinates(self.texture, at, np.float32, order=1,
                                             mode="grid-wrap")
        colours = np.stack([gray, 0.8 * gray + 30, 200 - 0.5 * gray], axis=-1)
        return np.clip(np.rint(exposure * colours), 0, 255).astype(np.uint8)


def drawn(rows, columns, shape, overlap, field_of_view, seed=5):
    """Photographs, their true rotations, the focal length, and the steps in radians."""
    random = np.random.default_rng(seed)
    focal_length = shape[1] / 2 / np.tan(np.radians(field_of_view) / 2)
    angles = [2 * np.arctan(side / 2 / focal_length) * (1 - overlap) for side in shape]
    scene = Scene(1.2 * focal_length)
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
    """The result, and the seconds: by the clock, and of processor time, which other work on the
    machine changes little."""
    start, before = time.perf_counter(), time.process_time()
    result = function()
    return result, [round(time.perf_counter() - start, 1), round(time.process_time() - before, 1)]


def by_warpalign(images, picture):
    warpalign.panorama(images[:3])
    found, cameras = timed(lambda: warpalign.panorama(images, projection="spherical", fuse=False))
    rotations = [camera and camera.rotation for camera in found.cameras]
    focal_length = [camera.focal_length for camera in found.cameras if camera][0]
    result = {"cameras": cameras, "pairs": len(found.pairs), "shape": list(found.shape)}
    if picture:
        _, result["picture"] = timed(lambda: found.fuse(images))
        _, result["picture with seams"] = timed(lambda: found.fuse(images, seams="opencv"))
    return rotations, focal_length, result


def by_opencv(images, picture):
    bgr = [np.ascontiguousarray(image[..., ::-1]) for image in images]
    cv2.Stitcher_create(cv2.Stitcher_PANORAMA).stitch(bgr[:3])
    stitcher = cv2.Stitcher_create(cv2.Stitcher_PANORAMA)
    status, cameras = timed(lambda: stitcher.estimateTransform(bgr))
    if status != cv2.Stitcher_OK:
        return [None] * len(images), float("nan"), {"cameras": cameras, "status": status}
    rotations = [None] * len(images)
    placed = np.array(stitcher.component()).ravel()
    for index, camera in zip(placed, stitcher.cameras()):
        rotations[index] = np.asarray(camera.R, float).T  # OpenCV's R leads from the camera
    scale = 1 / stitcher.workScale()
    focal_length = float(np.median([camera.focal for camera in stitcher.cameras()])) * scale
    result = {"cameras": cameras, "status": status}
    if picture:
        print(f"OpenCV placed {len(placed)} photographs in {cameras[0]} s", flush=True)
        (result["status"], joined), result["picture"] = timed(stitcher.composePanorama)
        result["shape"] = list(joined.shape[:2])
    return rotations, focal_length, result


def placed_of(folder):
    """How many photographs of a folder each program places, and the seconds of its cameras."""
    images = [np.asarray(Image.open(path).convert("RGB")) for path in sorted(folder.glob("*.jpg"))]
    found, seconds = timed(lambda: warpalign.panorama(images, fuse=False))
    stitcher = cv2.Stitcher_create(cv2.Stitcher_PANORAMA)
    status, peer = timed(lambda: stitcher.estimateTransform(
        [np.ascontiguousarray(image[..., ::-1]) for image in images]))
    placed = np.array(stitcher.component()).size if status == cv2.Stitcher_OK else 0
    return {"photographs": len(images), "field of view": found.field_of_view,
            "warpalign": [int(found.placed.sum()), *seconds], "OpenCV": [placed, *peer]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", type=int, default=6)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--size", default="900x1200", help="rows x columns of a photograph")
    parser.add_argument("--overlap", type=float, default=0.35)
    parser.add_argument("--field-of-view", type=float, default=50, help="horizontal, in degrees")
    parser.add_argument("--cameras-only", action="store_true", help="makes no pictures")
    parser.add_argument("--json")
    parser.add_argument("--folders", nargs="+", type=Path, default=[],
                        help="folders of photographs, of which the placed ones are counted instead")
    options = parser.parse_args()
    for folder in options.folders:
        print(folder.name, json.dumps(placed_of(folder)), flush=True)
    if options.folders:
        return
    shape = tuple(map(int, options.size.split("x")))
    images, truth, focal_length, angles = drawn(options.rows, options.columns, shape,
                                                options.overlap, options.field_of_view)
    record = {"date": datetime.date.today().isoformat(), "machine": platform.processor(),
              "processors": os.cpu_count(), "device": warpalign.open_device().info.name,
              "opencv": cv2.__version__, "warpalign": warpalign.__version__,
              "options": vars(options), "results": {}}
    for name, run in (("warpalign", by_warpalign), ("OpenCV", by_opencv)):
        rotations, found, result = run(images, not options.cameras_only)
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
