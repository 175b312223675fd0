"""Located tiles as a scene in OME-Zarr 0.6: an image for each tile, and its transform.

ngff.openmicroscopy.org/0.6, "scene" metadata.
"""

import shutil

import numpy as np

from ._geometry import need
from ._images import as_image
from ._ome_zarr import new_path
from ._transform_ome_zarr import VERSION, axes_of, image_metadata, write_field

_STEP = 8  # pixels between the samples of the distortion, which is a cubic polynomial
_CHUNK = 1024


def _write_tile(group, name, tile, pixel_size, unit):
    metadata = image_metadata(name, axes_of(2, unit),
                              [{"type": "scale", "scale": [pixel_size] * 2}])
    image = group.create_group(name, attributes={"ome": metadata})
    array = image.create_array("0", shape=tile.shape, dtype=tile.dtype,
                               chunks=tuple(min(length, _CHUNK) for length in tile.shape),
                               dimension_names=("y", "x"))
    array[...] = tile


def _write_distortion(group, distortion, shape, pixel_size, unit):
    """Write the displacements of the pixels of a tile; returns the transform."""
    nodes = [np.arange(0, length - 1 + _STEP, _STEP) for length in shape]
    pixels = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1)
    vectors = np.moveaxis(distortion.displacement(pixels), -1, 0) * pixel_size
    spacing = np.full(2, _STEP * pixel_size)
    write_field(group, "distortion", (vectors.astype(np.float32), spacing, np.zeros(2)), unit)
    return {"type": "displacements", "path": "distortion", "interpolation": "linear"}


def _transform_of(place, pixel_size):
    """The transform of a tile, whose place is a position or an affine matrix, in pixels."""
    if place.ndim == 1:
        return {"type": "translation", "translation": (place * pixel_size).tolist()}
    rows = place[:2].copy()
    rows[:, 2] *= pixel_size
    return {"type": "affine", "affine": rows.tolist()}


def save(path, tiles, shapes, places, distortion, pixel_size, unit):
    """Write the folder `path`, which must not exist. `places`: positions or affine matrices."""
    zarr = need("zarr", "zarr", "writing OME-Zarr")
    path = new_path(path)
    if pixel_size is not None and not (pixel_size > 0 and np.isfinite(pixel_size)):
        raise ValueError(f"pixel_size must be above 0, not {pixel_size}")
    if pixel_size is None:
        pixel_size, unit = 1.0, None
    partial = path.with_name(path.name + ".partial")
    if partial.exists():
        shutil.rmtree(partial)
    try:
        group = zarr.create_group(store=partial, zarr_format=3)
        bend = None
        if distortion is not None:
            bend = _write_distortion(group, distortion, shapes[0], pixel_size, unit)
        transforms = []
        for index, place in enumerate(places):
            tile = as_image(tiles[index], f"tile {index}")
            if tile.shape != tuple(shapes[index]):
                raise ValueError(f"tile {index} has the shape {tile.shape}, but "
                                 f"{tuple(shapes[index])} was located")
            name = f"tile{index}"
            _write_tile(group, name, tile, pixel_size, unit)
            shift = _transform_of(place, pixel_size)
            if bend is not None:
                shift = {"type": "sequence", "transformations": [bend, shift]}
            transforms.append({"name": f"{name}_to_mosaic",
                               "input": {"path": name, "name": "physical"},
                               "output": {"name": "mosaic"}, **shift})
        group.attrs["ome"] = {"version": VERSION, "scene": {
            "coordinateSystems": [{"name": "mosaic", "axes": axes_of(2, unit)}],
            "coordinateTransformations": transforms}}
        partial.rename(path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
