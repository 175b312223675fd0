"""The photographs of a panorama: checked before work begins, and read when they are needed."""

import os

import numpy as np

from .._files._image_file import ImageFile, luminance
from .._files._open import is_file, opened
from .._foreign import to_numpy

_SMALLEST = 64  # pixels along a side: less leaves no overlap that can be verified
_LARGEST = 16384


def _shape_of_file(file, name):
    if not file._has_colours:
        file._check_others(["y", "x"], name)
    else:
        file._check_others(["y", "x", "c"], name)
    channels = (file._length("c"),) if file._has_colours else ()
    return (file._length("y"), file._length("x"), *channels)


class Photographs:
    """A sequence of photographs, gray or RGB, of one type.

    Attributes
    ----------
    names : list of str
        The paths; of arrays, ``image 0`` and so on.
    shapes : list of (rows, columns)
        Their sizes.
    channels : int
        1 or 3.
    dtype : dtype
        The type of their pixels.

    Raises
    ------
    ValueError
        There are fewer than two, or one of them has another shape or type than can be used.
    TypeError
        The pixels are not real numbers.
    FileNotFoundError, OSError
        A file cannot be read.
    """

    def __init__(self, images, least=2):
        if isinstance(images, (str, os.PathLike, ImageFile)):
            raise TypeError("images must be a sequence of photographs or of their paths, not one "
                            f"path ({images})")
        if len(images) < least:
            raise ValueError(f"a panorama needs at least {least} photographs, not {len(images)}")
        self._images = [opened(image) if is_file(image) else to_numpy(image) for image in images]
        self.names = [image.path if isinstance(image, ImageFile) else f"image {index}"
                      for index, image in enumerate(self._images)]
        self.shapes, channels, dtypes = [], [], []
        for image, name in zip(self._images, self.names):
            shape = (_shape_of_file(image, name) if isinstance(image, ImageFile)
                     else tuple(image.shape))
            if len(shape) not in (2, 3) or len(shape) == 3 and shape[2] != 3:
                raise ValueError(f"{name} must be a gray image (rows, columns) or RGB (rows, "
                                 f"columns, 3), not of shape {shape}")
            if image.dtype.kind not in "uif":
                raise TypeError(f"{name} must hold real numbers, not {image.dtype}")
            if min(shape[:2]) < _SMALLEST or max(shape[:2]) > _LARGEST:
                raise ValueError(f"{name} is {shape[0]} x {shape[1]} pixels; its sides must be "
                                 f"{_SMALLEST} to {_LARGEST}")
            self.shapes.append(shape[:2])
            channels.append(shape[2] if len(shape) == 3 else 1)
            dtypes.append(np.dtype(image.dtype).newbyteorder("="))
        for what, values in (("channels", channels), ("type of pixels", dtypes)):
            for name, value in zip(self.names, values):
                if value != values[0]:
                    raise ValueError(f"all photographs must have the same {what}: {name} has "
                                     f"{value}, but {self.names[0]} {values[0]}")
        self.channels, self.dtype = channels[0], dtypes[0]

    def __len__(self):
        return len(self._images)

    def read(self, index):
        """The pixels, of shape (rows, columns) or (rows, columns, 3)."""
        image = self._images[index]
        if isinstance(image, ImageFile):
            image = image._taken(("y", "x", "c") if self.channels == 3 else ("y", "x"))
        if self.dtype.kind == "f" and not np.isfinite(image).all():
            raise ValueError(f"{self.names[index]} has pixels that are NaN or infinite, which a "
                             "panorama cannot leave out; replace them")
        return image

    def gray(self, index, factor):
        """The luminance, reduced to the means of `factor` x `factor` pixels."""
        image = self.read(index)
        if factor > 1:
            rows, columns = (length // factor * factor for length in image.shape[:2])
            blocks = image[:rows, :columns].reshape(
                rows // factor, factor, columns // factor, factor, *image.shape[2:])
            mean = blocks.mean(axis=(1, 3), dtype=np.float32)
            if self.dtype.kind in "ui":
                mean = np.rint(mean)
            image = mean.astype(self.dtype)
        return luminance(image) if self.channels == 3 else image
