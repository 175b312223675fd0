"""Renders photographs to a panorama, each pixel by one interpolation."""

import numpy as np

from .. import ndimage
from .._arrays import store
from .._device_array import to_device

_STRIP = 1 << 20  # pixels of the panorama that are computed at once


def strips(rows, columns):
    """The rows of a box, some at a time."""
    step = max(1, _STRIP // max(1, columns.stop - columns.start))
    for first in range(rows.start, rows.stop, step):
        yield slice(first, min(first + step, rows.stop))


class Spline:
    """The cubic spline of a photograph, on a device."""

    def __init__(self, image, device):
        self.shape = image.shape[:2]
        channels = np.moveaxis(image.reshape(*self.shape, -1), -1, 0)
        self._coefficients = [
            ndimage.spline_filter(to_device(np.ascontiguousarray(channel, np.float32), device), 3,
                                  output=np.float32)
            for channel in channels]

    def at(self, coordinates):
        """The values at (row, column), of shape (2, ...); the result's last axis is channels."""
        return np.stack([ndimage.map_coordinates(part, coordinates, order=3, mode="mirror",
                                                 prefilter=False).numpy()
                         for part in self._coefficients], axis=-1)


def coordinates(layout, frame, shape, rows, columns):
    """Where a photograph shows pixels of the panorama.

    Returns
    -------
    ndarray, shape (2, rows, columns)
        (row, column) of the photograph, moved to its edge for what it does not show.
    ndarray of float32, shape (rows, columns)
        The weight in the blend: the product of the distances to the nearest edges along both axes,
        as a part of the largest; 0 for what it does not show.
    """
    across, p, q = layout.surface.factors(layout.x(columns), layout.y(rows))
    x, y, z = (np.outer(p, one) + (q * down)[:, None]
               for one, down in zip(frame.matrix @ across, frame.matrix[:, 1]))
    behind = z < 1e-9
    z[behind] = 1
    at = np.stack([y, x])
    at /= z
    weight = np.ones(z.shape)
    for points, length in zip(at, shape):
        weight *= np.maximum(1 - np.abs(points) / (length / 2), 0)
        points += (length - 1) / 2
        np.clip(points, 0, length - 1, out=points)
    weight[behind] = 0
    return at, weight.astype(np.float32)


def render(layout, frames, read, gains, channels, dtype, device, advance):
    """The blended panorama.

    Parameters
    ----------
    layout : Layout
        The pixels of the panorama.
    frames : list of Frame
        The photographs that lie in it.
    read : callable
        Gives the pixels of the photograph of a frame by its number.
    gains : sequence of float
        A factor for each of them.
    channels : int
        1 or 3.
    dtype : dtype
        The type of the result.
    device : Device
        Where to interpolate.
    advance : callable
        Called after each photograph.

    Returns
    -------
    ndarray
        Of the layout's shape, followed by channels if there are 3. 0 where no photograph lies.
    """
    total = np.zeros((*layout.shape, channels), np.float32)
    weights = np.zeros(layout.shape, np.float32)
    for number, frame in enumerate(frames):
        image = read(number)
        spline = Spline(image, device)
        for box_rows, columns in layout.boxes(frame):
            for rows in strips(box_rows, columns):
                at, weight = coordinates(layout, frame, spline.shape, rows, columns)
                if not weight.any():
                    continue
                values = spline.at(at)
                total[rows, columns] += (weight * np.float32(gains[number]))[..., None] * values
                weights[rows, columns] += weight
        advance()
    result = np.zeros(total.shape, dtype)
    for rows in strips(slice(0, layout.shape[0]), slice(0, layout.shape[1])):
        known = weights[rows] > 0
        mean = total[rows] / np.where(known, weights[rows], 1)[..., None]
        store(mean, result[rows])
    return result if channels > 1 else result[..., 0]
