"""Writes pixels that lie on the grid of an opened image."""

import contextlib
import os
import pathlib
import shutil
import tempfile

import numpy as np

from . import _write_files, _write_pictures, _write_tiff
from ._units import MILLIMETRES

# By the ending of a name, the longest first.
_WRITERS = {
    ".ome.zarr": _write_files.ome_zarr, ".zarr": _write_files.ome_zarr,
    ".nii.gz": _write_files.nifti, ".nii": _write_files.nifti,
    ".fits": _write_files.fits, ".fit": _write_files.fits, ".fits.gz": _write_files.fits,
    ".ome.tif": _write_tiff.ome, ".ome.tiff": _write_tiff.ome,
    ".tif": _write_tiff.tiff, ".tiff": _write_tiff.tiff,
    ".png": _write_pictures.picture, ".jpg": _write_pictures.picture,
    ".jpeg": _write_pictures.picture, ".webp": _write_pictures.picture,
    ".bmp": _write_pictures.picture,
}


def _writer(path):
    name = path.name.lower()
    for ending in sorted(_WRITERS, key=len, reverse=True):
        if name.endswith(ending) and len(name) > len(ending):
            return _WRITERS[ending]
    raise ValueError(f"{path}: the ending of the name tells no format that can be written "
                     f"(choose from: {', '.join(_WRITERS)})")


def axes_of(image, shape, axes):
    """The names of the axes of an array that lies on the grid of an image."""
    if axes is not None:
        axes = tuple(axes)
        if len(axes) != len(shape) or len(set(axes)) != len(axes):
            raise ValueError(f"axes must name each of the {len(shape)} axes of the array once, "
                             f"not {axes}")
    elif tuple(shape) == image.shape:
        axes = image.axes
    else:
        space = image.space
        grid = [image._length(axis) for axis in space]
        while len(space) > 2 and (grid[0] == 1 or list(shape[:len(grid)]) != grid):
            space, grid = space[1:], grid[1:]
        if list(shape[:len(grid)]) != grid or len(shape) > len(grid) + 1:
            raise ValueError(f"the array has the shape {tuple(shape)}, which is not on the grid of "
                             f"{image.path} with the axes {', '.join(image.axes)} and the shape "
                             f"{image.shape}; name its axes by axes=")
        axes = (*space, *("c",) * (len(shape) - len(grid)))
    for axis, length in zip(axes, shape):
        if axis in image.space and length != image._length(axis):
            raise ValueError(f"the array has {length} pixels along {axis}, but {image.path} has "
                             f"{image._length(axis)}")
    if not {"x", "y"} <= set(axes):
        raise ValueError(f"the array has the axes {', '.join(axes)}, without x or y")
    return axes


@contextlib.contextmanager
def _complete(path):
    """A path to write to, which replaces `path` only if nothing fails."""
    if path.is_dir() and not any((path / name).is_file() for name in
                                 ("zarr.json", ".zgroup", ".zarray")):
        raise FileExistsError(f"{path} is a folder, which is not replaced")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        new = pathlib.Path(folder) / path.name
        yield new
        if path.is_dir():
            old = pathlib.Path(folder) / "old"
            os.replace(path, old)
            shutil.rmtree(old, ignore_errors=True)
        os.replace(new, path)


class Pixels:
    """Pixels to write, with the names of their axes, and the image on whose grid they lie."""

    def __init__(self, array, axes, image):
        self.array = array.astype(np.uint8) if array.dtype == bool else array
        self.axes, self.image = axes, image

    @property
    def has_colours(self):
        """Whether the last axis holds the colours of each pixel."""
        return self.axes[-1] == "c" and self.array.shape[-1] in (3, 4)

    def ordered(self, order):
        """The array with its axes in the order of `order`, and their names. Raises ValueError for
        an axis that `order` lacks."""
        if unknown := [axis for axis in self.axes if axis not in order]:
            raise ValueError(f"the format has no axis {unknown[0]!r}; its axes are "
                             f"{', '.join(order)}")
        names = [axis for axis in order if axis in self.axes]
        return self.array.transpose([self.axes.index(axis) for axis in names]), names

    def spacing(self, axis):
        """The distance between pixels, and its unit or None."""
        if axis not in self.image.axes:
            return 1.0, None
        at = self.image.axes.index(axis)
        return self.image.spacing[at], self.image.units[at]

    def origin(self, axis):
        """The position of the first pixel, in the unit of the axis."""
        geometry, space = self.image.geometry, self.image.space
        unit = self.spacing(axis)[1]
        if geometry is None or axis not in space or unit not in MILLIMETRES:
            return 0.0
        return float(geometry.origin[::-1][space.index(axis)] / MILLIMETRES[unit])

    @property
    def channels(self):
        """The names of the channels, if they are as many as the array has."""
        count = self.array.shape[self.axes.index("c")] if "c" in self.axes else 0
        return self.image.channels if len(self.image.channels) == count else ()


def save(image, path, array, axes):
    """ImageFile.save()."""
    path = pathlib.Path(path)
    write = _writer(path)
    array = np.asarray(image) if array is None else np.asarray(array)
    axes = axes_of(image, array.shape, axes)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"the pixels must be numbers, not {array.dtype}")
    with _complete(path) as new:
        try:
            write(new, Pixels(array, axes, image))
        except (ValueError, TypeError) as error:
            raise type(error)(f"{path}: {error}") from error
