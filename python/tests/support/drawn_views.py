"""Photographs of drawn scenes: what a camera sees that rotates within a sphere."""

import pathlib

import numpy as np
import PIL.Image
import scipy.ndimage
from scipy.spatial.transform import Rotation

_DATA = pathlib.Path(__file__).parents[3] / "tests" / "data"
_NAMES = ("bridge.jpg", "bee.jpg", "citrus.jpg", "gravel.png", "retina.jpg")


def photograph(name, shape):
    """A photograph of tests/data, cut and scaled to a shape, as float64."""
    image = PIL.Image.open(_DATA / name).convert("L")
    part = min(image.width / shape[1], image.height / shape[0])
    width, height = (round(length * part) for length in shape[::-1])
    left, top = (image.width - width) // 2, (image.height - height) // 2
    image = image.crop((left, top, left + width, top + height))
    return np.asarray(image.resize(shape[::-1], PIL.Image.Resampling.LANCZOS), float)


class Sphere:
    """The view around: photographs side by side along the horizon, each higher than wide."""

    def __init__(self, pixels_per_radian, height=120, names=_NAMES):
        self.scale = pixels_per_radian
        columns = round(2 * np.pi * pixels_per_radian)
        rows = round(np.radians(height) * pixels_per_radian)
        edges = np.linspace(0, columns, len(names) + 1).round().astype(int)
        self.texture = np.concatenate([photograph(name, (rows, end - start)) for name, start, end
                                       in zip(names, edges, edges[1:])], axis=1)
        self.texture = scipy.ndimage.gaussian_filter(self.texture, 0.7, mode=("nearest", "wrap"))

    def at(self, directions):
        """The scene in the directions (x, y, z), of shape (..., 3)."""
        x, y, z = np.moveaxis(directions, -1, 0)
        columns = np.arctan2(x, z) % (2 * np.pi) * self.scale
        rows = np.arctan2(y, np.hypot(x, z)) * self.scale + (len(self.texture) - 1) / 2
        return scipy.ndimage.map_coordinates(self.texture, [rows, columns], order=3,
                                             mode="grid-wrap")

    def view(self, rotation, focal_length, shape):
        """What a camera sees whose axes are those of the world after a rotation."""
        rows, columns = np.indices(shape)
        rays = np.stack([columns - (shape[1] - 1) / 2, rows - (shape[0] - 1) / 2,
                         np.full(shape, focal_length)], axis=-1)
        return self.at(rays @ rotation)


def rotated(longitude, latitude=0.0, roll=0.0):
    """The rotation from the world's axes to those of a camera, by angles in degrees: the longitude
    and the latitude (down) to which it looks, and how it is rolled."""
    return Rotation.from_euler("yxz", [-longitude, latitude, roll], degrees=True).as_matrix()


def as_pixels(image, exposure=1.0):
    return np.clip(np.rint(exposure * image), 0, 255).astype(np.uint8)
