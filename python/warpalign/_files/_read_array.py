"""Arrays of NumPy (.npy)."""

import numpy as np

from ._image_file import ImageFile
from ._refusal import check_level, number_of_scene, refuse

# The axes in front of rows and columns, by their number.
_LEADING = {0: (), 1: ("i",), 2: ("t", "z"), 3: ("t", "c", "z")}


def _axes(shape):
    """The names of the axes. Three or four samples at the end are colours, as in pictures."""
    colours = ("c",) if len(shape) > 2 and shape[-1] in (3, 4) else ()
    leading = _LEADING.get(len(shape) - 2 - len(colours))
    if leading is None or colours and "c" in leading:
        refuse(f"it has {len(shape)} axes, of the shape {tuple(shape)}; load it with numpy.load, "
               "and pass the image, volume or stack in it")
    return (*leading, "y", "x", *colours)


def read(path, scene, level):
    number_of_scene(scene, [""])
    check_level(level, 1)
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.dtype.kind not in "biufc":
        refuse(f"it holds {array.dtype}, which are no pixels")
    axes = _axes(array.shape)
    return ImageFile(path, "array", array, axes,
                     channels=("red", "green", "blue", "alpha")[:array.shape[-1]]
                     if axes[-1] == "c" else ())
