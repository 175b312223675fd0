"""Writes GeoTIFF, and TIFF of OME, of ImageJ, and without either."""

import numpy as np

from .._geometry import need
from .._nodata import can_hold
from ._units import SYMBOLS

_COMPRESSIONS = ("deflate", "lzw", "zstd", "lzma", "packbits")
_IMAGEJ = ("uint8", "uint16", "float32")


def _sizes(pixels):
    """The known pixel sizes, by axis: (size, unit)."""
    found = {axis: pixels.spacing(axis) for axis in pixels.axes if axis in "tzyx"}
    return {axis: one for axis, one in found.items() if one[1] in SYMBOLS}


def tiff(path, pixels):
    """Write a GeoTIFF for an image on a map; else a TIFF like the one that was opened, or of OME if
    there are pixel sizes or more than an image."""
    image = pixels.image
    if image.format == "GeoTIFF" and image._georeference is not None:
        geotiff(path, pixels)
    elif (image.format == "TIFF" and image._georeference == "ImageJ"
          and pixels.array.dtype.name in _IMAGEJ):
        imagej(path, pixels)
    elif set(pixels.axes) <= set("tczyx") and (
            _sizes(pixels) or len(pixels.axes) - pixels.has_colours > 2):
        ome(path, pixels)
    else:
        tifffile = need("tifffile", "tiff", "writing TIFF")
        array, options = _planes(pixels)
        tifffile.imwrite(path, array, **options)


def _planes(pixels):
    """The array with channels in front, or behind if they are colours, and tifffile's options."""
    if pixels.has_colours:
        array, names = pixels.ordered((*(axis for axis in pixels.axes if axis not in "yxc"),
                                       "y", "x", "c"))
        return np.ascontiguousarray(array), {"photometric": "rgb"}
    array, names = pixels.ordered((*(axis for axis in pixels.axes if axis not in "yx"), "y", "x"))
    return np.ascontiguousarray(array), {"photometric": "minisblack"}


def ome(path, pixels):
    """Write OME-TIFF with pixel sizes and the names of channels."""
    tifffile = need("tifffile", "tiff", "writing OME-TIFF")
    colours = pixels.has_colours
    array, names = pixels.ordered(("t", "z", "y", "x", "c") if colours
                                  else ("t", "c", "z", "y", "x"))
    metadata = {"axes": "".join("S" if name == "c" and colours else name.upper()
                                for name in names)}
    for axis, (size, unit) in _sizes(pixels).items():
        if axis == "t":
            metadata |= {"TimeIncrement": size, "TimeIncrementUnit": SYMBOLS[unit]}
        else:
            metadata |= {f"PhysicalSize{axis.upper()}": size,
                         f"PhysicalSize{axis.upper()}Unit": SYMBOLS[unit]}
    if any(pixels.channels) and not colours:
        metadata["Channel"] = {"Name": list(pixels.channels)}
    tifffile.imwrite(path, np.ascontiguousarray(array), ome=True, metadata=metadata,
                     bigtiff=array.nbytes > 3 << 30,
                     photometric="rgb" if colours else "minisblack")


def imagej(path, pixels):
    """Write ImageJ's TIFF with pixel sizes."""
    tifffile = need("tifffile", "tiff", "writing TIFF")
    colours = pixels.has_colours and pixels.array.dtype == np.uint8
    array, names = pixels.ordered(("t", "z", "y", "x", "c") if colours
                                  else ("t", "z", "c", "y", "x"))
    metadata = {"axes": "".join("S" if name == "c" and colours else name.upper()
                                for name in names)}
    sizes = _sizes(pixels)
    options = {}
    if "x" in sizes and "y" in sizes:
        metadata["unit"] = SYMBOLS[sizes["x"][1]].replace("µ", "\\u00B5")
        options["resolution"] = (1 / sizes["x"][0], 1 / sizes["y"][0])
    if "z" in sizes:
        metadata["spacing"] = sizes["z"][0]
    if "t" in sizes:
        metadata["finterval"] = sizes["t"][0]
    tifffile.imwrite(path, np.ascontiguousarray(array), imagej=True, metadata=metadata, **options)


def geotiff(path, pixels):
    """Write a GeoTIFF with the coordinate reference system, the transform of the map, nodata and
    the names of the bands."""
    rasterio = need("rasterio", "geotiff", "writing GeoTIFF")
    image = pixels.image
    array, names = pixels.ordered(("c", "y", "x"))
    array = array if "c" in names else array[None]
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    profile = {"driver": "GTiff", "count": len(array), "height": array.shape[1],
               "width": array.shape[2], "dtype": array.dtype, "BIGTIFF": "IF_SAFER"}
    told = image.metadata
    points, points_crs = told["gcps"]
    if points and told["transform"].is_identity:
        profile |= {"gcps": points, "crs": points_crs}
    else:
        profile |= {"crs": told["crs"], "transform": told["transform"]}
    if image.nodata is not None and can_hold(array.dtype, image.nodata):
        profile["nodata"] = image.nodata
    compression = str(image._georeference["profile"].get("compress", "deflate")).lower()
    profile["compress"] = compression if compression in _COMPRESSIONS else "deflate"
    with rasterio.open(path, "w", **profile) as file:
        file.write(np.ascontiguousarray(array))
        if len(image.channels) == len(array):
            for number, name in enumerate(image.channels, 1):
                file.set_band_description(number, name)
        if len(told["colours"]) == len(array):
            from rasterio.enums import ColorInterp

            file.colorinterp = [ColorInterp[name] for name in told["colours"]]
        file.update_tags(**{name: value for name, value in told["tags"].items()
                            if not name.startswith("TIFFTAG_")})
