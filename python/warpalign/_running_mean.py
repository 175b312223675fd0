"""The mean of the frames of a stack that have been aligned so far."""

import numpy as np

from . import ndimage


def _unmasked_neighbourhoods(mask):
    """Whether no pixel is masked of the 4 x 4 that a cubic spline draws on from each pixel."""
    padded = np.pad(mask, (1, 2), mode="constant", constant_values=True)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (4, 4))
    return windows.all(axis=(2, 3))


class RunningMean:
    """Frames are added where they cover the first frame's grid, and not where the spline would
    draw on a masked pixel."""

    def __init__(self, shape, mask, device):
        self._device = device
        self._sums = np.zeros(shape, np.float64)
        self._counts = np.zeros(shape, np.uint32)
        self._mask = None if mask is None else mask.astype(bool)
        self._usable = None if mask is None else _unmasked_neighbourhoods(self._mask)

    def add(self, frame, matrix):
        """Add a frame; `matrix` maps pixels of the first frame to its own, in array axes."""
        levels = np.nan_to_num(np.asarray(frame, np.float32), posinf=0, neginf=0)
        if self._mask is not None:
            levels = np.where(self._mask, levels, levels[self._mask].mean())
        aligned = ndimage.affine_transform(levels, matrix, device=self._device)
        counts = self._counting(matrix)
        self._sums[counts] += aligned[counts]
        self._counts[counts] += 1

    def _counting(self, matrix):
        """Where a frame counts."""
        shape = self._sums.shape
        rows, columns = np.ogrid[:shape[0], :shape[1]]
        points = [matrix[i, 0] * rows + matrix[i, 1] * columns + matrix[i, 2] for i in range(2)]
        inside = np.ones(shape, bool)
        for point, length in zip(points, shape):
            inside &= (point >= 0) & (point <= length - 1)
        if self._usable is not None:
            nearest = [np.floor(np.clip(point, 0, length - 1)).astype(int)
                       for point, length in zip(points, shape)]
            inside &= self._usable[nearest[0], nearest[1]]
        return inside

    def mean(self):
        """The mean as float32; 0 where no frame counted."""
        return (self._sums / np.maximum(self._counts, 1)).astype(np.float32)

    def mask(self):
        """Where a frame counted, or None without a mask: the first frame then counts everywhere."""
        return None if self._mask is None else (self._counts > 0).astype(np.uint8)
