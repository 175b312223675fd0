"""The mean of the frames of a stack that have been registered so far."""

import numpy as np

from . import ndimage


def _unmasked_neighbourhoods(mask):
    """For each pixel, whether the 4 x 4 support of a cubic spline has no masked pixel."""
    padded = np.pad(mask, (1, 2), mode="constant", constant_values=True)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (4, 4))
    return windows.all(axis=(2, 3))


class RunningMean:
    """The mean of warped frames on the first frame's grid. A frame contributes to the pixels that
    it covers, except where the spline's support has a masked pixel."""

    def __init__(self, shape, mask, device):
        self._device = device
        self._sums = np.zeros(shape, np.float64)
        self._counts = np.zeros(shape, np.uint32)
        self._mask = None if mask is None else mask.astype(bool)
        self._usable = None if mask is None else _unmasked_neighbourhoods(self._mask)

    def add(self, frame, matrix):
        """Add a frame; `matrix` maps pixels of the first frame to this frame, in array axes."""
        rows, columns = np.ogrid[:self._sums.shape[0], :self._sums.shape[1]]
        points = [matrix[i, 0] * rows + matrix[i, 1] * columns + matrix[i, 2] for i in range(2)]
        self._add(points, ndimage.affine_transform(
            self._filled(frame), matrix, missing="ignore", cval=np.nan, device=self._device))

    def add_deformed(self, frame, transform):
        """The same for a Transform."""
        values = self._filled(frame)
        self._add(transform.positions(self._sums.shape), transform.warp(
            values, output_shape=self._sums.shape, missing="ignore", cval=np.nan,
            device=self._device))

    def _filled(self, frame):
        """The frame, missing pixels as NaN, and masked ones as the mean of the others."""
        values = np.array(frame, np.float32)
        values[~np.isfinite(values)] = np.nan
        if self._mask is not None:
            values = np.where(self._mask, values, np.nanmean(values[self._mask]))
        return values

    def _add(self, points, aligned):
        """Add a warped frame, given the points of it that lie on the pixels."""
        covered = self._covered(points) & np.isfinite(aligned)
        self._sums[covered] += aligned[covered]
        self._counts[covered] += 1

    def _covered(self, points):
        """A mask of the pixels to which a frame contributes."""
        shape = self._sums.shape
        inside = np.ones(shape, bool)
        for point, length in zip(points, shape):
            inside &= (point >= 0) & (point <= length - 1)
        if self._usable is not None:
            nearest = [np.floor(np.clip(point, 0, length - 1)).astype(int)
                       for point, length in zip(points, shape)]
            inside &= self._usable[nearest[0], nearest[1]]
        return inside

    def mean(self):
        """The mean as float32. Pixels that no frame covers are 0 with a mask, else NaN."""
        mean = (self._sums / np.maximum(self._counts, 1)).astype(np.float32)
        if self._mask is None:
            mean[self._counts == 0] = np.nan
        return mean

    def mask(self):
        """A mask of the pixels that a frame covers. None if there is no mask: the first frame then
        covers all pixels that are not missing."""
        return None if self._mask is None else (self._counts > 0).astype(np.uint8)
