"""GeoTIFF, with its place on the map."""

import numpy as np

from .._geometry import Geometry, need
from ._image_file import ImageFile
from ._lazy import LazyArray
from ._refusal import check_level, number_of_scene
from ._units import MILLIMETRES, unit_named


def _window(index):
    """The rows and columns to read for an index of two axes, and the index within them."""
    bounds, inner = [], []
    for one in index:
        if isinstance(one, int):
            bounds.append((one, one + 1))
            inner.append(0)
        else:
            bounds.append((one.start, max(one.start, one.stop)))
            inner.append(slice(None, None, one.step))
    return bounds, tuple(inner)


def read(path, scene, level):
    rasterio = need("rasterio", "geotiff", f"reading {path}, which is a GeoTIFF,")
    from rasterio.windows import Window

    with rasterio.open(path) as file:
        levels = 1 + len(file.overviews(1))
        shape, bands, profile = file.shape, file.count, dict(file.profile)
        crs, transform = file.crs, file.transform
        gcps = file.gcps
        kind = np.result_type(*file.dtypes)
        names = [name or "" for name in file.descriptions]
        colours = [one.name for one in file.colorinterp]
        tags, nodata, chunks = file.tags(), file.nodata, file.block_shapes[0]
    number_of_scene(scene, [""])
    check_level(level, levels)
    options = {"overview_level": level - 1} if level else {}
    if level:
        with rasterio.open(path, **options) as file:
            shape, transform, chunks = file.shape, file.transform, file.block_shapes[0]

    def part(index):
        index = [one if isinstance(one, int) else slice(*one.indices(length))
                 for one, length in zip(index, array.shape)]
        band, (rows, columns) = (index[0], index[1:]) if bands > 1 else (0, index)
        (bounds, inner) = _window((rows, columns))
        (top, bottom), (left, right) = bounds
        wanted = [band + 1] if isinstance(band, int) else list(
            range(bands)[band])
        wanted = wanted if isinstance(band, int) else [one + 1 for one in wanted]
        with rasterio.open(path, **options) as file:
            found = file.read(wanted, window=Window(left, top, right - left, bottom - top))
        return (found[0] if isinstance(band, int) else found)[(..., *inner)]

    axes = ("c", "y", "x") if bands > 1 else ("y", "x")
    whole = (bands, *shape) if bands > 1 else shape
    array = LazyArray(whole, kind, part, ((1,) if bands > 1 else ()) + tuple(chunks))
    spacing, units, geometry = _place(crs, transform, shape)
    return ImageFile(path, "GeoTIFF", array, axes, spacing=spacing, units=units,
                     channels=names if any(names) else (), geometry=geometry, nodata=nodata,
                     metadata={"crs": crs, "transform": transform, "tags": tags,
                               "colours": colours, "gcps": gcps},
                     georeference={"profile": profile, "level": level})


def _place(crs, transform, shape):
    """The sizes of pixels and their units, and the geometry of projected maps."""
    columns = np.array([[transform.a, transform.b], [transform.d, transform.e]], float)
    lengths = np.linalg.norm(columns, axis=0)
    if transform.is_identity or not (lengths > 0).all():
        return {}, {}, None
    spacing = {"x": float(lengths[0]), "y": float(lengths[1])}
    if crs is None or crs.is_geographic:
        unit = "degree" if crs is not None else None
        return spacing, dict.fromkeys("xy", unit), None
    unit = unit_named(crs.linear_units) or ("foot" if "foot" in crs.linear_units.lower() else None)
    if unit is None:
        return spacing, {}, None
    # The name of a unit such as the US survey foot is not exact; its factor is.
    factor = crs.linear_units_factor[1] * 1e3 if unit == "foot" else MILLIMETRES[unit]
    # The centre of the first pixel.
    first = columns.sum(axis=1) / 2 + (transform.c, transform.f)
    return spacing, dict.fromkeys("xy", unit), Geometry(
        shape, spacing=lengths * factor, origin=first * factor, direction=columns / lengths)
