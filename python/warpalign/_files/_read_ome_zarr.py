"""OME-Zarr 0.4 to 0.6."""

import warnings

from .. import _ome_zarr
from .._geometry import Geometry, need
from ._image_file import ImageFile
from ._refusal import check_level, number_of_scene
from ._units import unit_named

# Of larger arrays, missing chunks are not counted: that lists every file of the folder.
_MOST_CHUNKS = 100_000


def _warn_of_missing_chunks(path, array):
    if array.nchunks > _MOST_CHUNKS:
        return
    missing = array.nchunks - array.nchunks_initialized
    if missing > 0:
        warnings.warn(f"{path}: {missing} of {array.nchunks} chunks are not stored; their pixels "
                      f"read as {array.fill_value}", stacklevel=4)


def _geometry(path, level, found):
    """The geometry, or None if the axes of space have no order or unit that it can express."""
    if any(axis.get("unit") is None for axis in found.axes if axis.get("type") == "space"):
        return None
    try:
        shape, spacing, origin = _ome_zarr.geometry_of(path, level)
    except ValueError:
        return None
    return Geometry(shape, spacing=spacing, origin=origin)


def read(path, scene, level):
    zarr = need("zarr", "zarr", f"reading {path}")
    images = _ome_zarr.images_of(path)
    names = [image.name if len(images) > 1 else "" for image in images]
    image = images[number_of_scene(scene, names)]
    levels = _ome_zarr.described(image, 0).levels
    check_level(level, levels)
    found = _ome_zarr.described(image, level)
    array = zarr.open_array(found.path, mode="r")
    if list(array.shape) != found.shape or len(found.axes) != array.ndim:
        raise ValueError(f"its array has the shape {array.shape}, which its metadata contradict")
    _warn_of_missing_chunks(path, array)
    axes = [str(axis["name"]).lower() for axis in found.axes]
    units = {axis: unit_named(one.get("unit")) or one.get("unit")
             for axis, one in zip(axes, found.axes)}
    return ImageFile(path, "OME-Zarr", array, axes, spacing=dict(zip(axes, found.scale)),
                     units=units, channels=found.channels, scenes=names,
                     geometry=_geometry(image, level, found),
                     metadata={"version": found.version, "attributes": found.attributes})
