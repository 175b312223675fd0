"""TIFF: of OME, of ImageJ, and others."""

import xml.etree.ElementTree as ElementTree

import numpy as np

from .._geometry import need
from ._image_file import ImageFile
from ._lazy import LazyArray
from ._refusal import check_level, number_of_scene, refuse
from ._tiff_pixels import Meaning
from ._units import unit_named

# tifffile's names of axes. Q is an axis that is not explained, I a page.
_NAMES = {"T": "t", "Z": "z", "C": "c", "Y": "y", "X": "x", "S": "c", "Q": "i", "I": "i"}


def _named(axes):
    found = []
    for axis in axes:
        name = _NAMES.get(axis, axis.lower())
        found.append(name if name not in found else axis.lower())
    return found


def read(path, scene, level):
    tifffile = need("tifffile", "tiff", f"reading {path}")
    with tifffile.TiffFile(path) as file:
        numbers = _images_of(file)
        names = [file.series[one].name or "" for one in numbers]
        number = numbers[number_of_scene(scene, names)]
        series = file.series[number]
        check_level(level, len(series.levels))
        chosen = series.levels[level]
        axes, shape, dtype = chosen.axes, chosen.shape, chosen.dtype
        finest = series.levels[0]
        reduced = {axis: full / length for axis, full, length in
                   zip(finest.axes, finest.shape, shape)}
        meaning = Meaning(chosen.keyframe, axes, shape, dtype, bool(file.is_imagej))
        spacing, units, channels, metadata = _told(file, number)
        mapped = chosen.dataoffset is not None
        _check_offsets(path, chosen)
    if mapped:
        array = tifffile.memmap(path, series=number, level=level, mode="r")
    else:
        array = _chunked(tifffile, path, number, level, shape, dtype)
    spacing = {name: spacing[name] * reduced[axis]
               for axis, name in zip(axes, _named(axes)) if name in spacing}
    if not meaning.is_plain:
        array = _understood(array, meaning)
    if meaning.exchanged:
        spacing, units = _exchanged(spacing), _exchanged(units)
    return ImageFile(path, "TIFF", array, _named(meaning.axes), spacing=spacing, units=units,
                     channels=channels, scenes=names, metadata=metadata,
                     georeference=metadata.get("kind"))


def _images_of(file):
    """The numbers of the series, without thumbnails."""
    numbers = range(len(file.series))
    whole = [number for number in numbers if not file.series[number].keyframe.is_reduced]
    return whole or list(numbers)


def _understood(array, meaning):
    """The pixels that the samples of an array mean."""
    if meaning.views and isinstance(array, np.ndarray):
        return meaning.pixels(array)
    return LazyArray.of_whole(meaning.shape, meaning.dtype,
                              lambda: meaning.pixels(np.asarray(array[...])))


def _exchanged(by_axis):
    """What is told of x for y, and the reverse."""
    other = {"x": "y", "y": "x"}
    return {other.get(axis, axis): value for axis, value in by_axis.items()}


def _check_offsets(path, series):
    """Refuse a file that ends before the pixels of a page."""
    size = path.stat().st_size
    for number, page in enumerate(series.pages):
        if page is None or not hasattr(page, "dataoffsets"):
            continue
        if page.dataoffsets and page.dataoffsets[-1] + page.databytecounts[-1] > size:
            refuse(f"it is cut short: the pixels of page {number} end at byte "
                   f"{page.dataoffsets[-1] + page.databytecounts[-1]}, and the file at {size}")


def _chunked(tifffile, path, number, level, shape, dtype):
    """The pixels as a Zarr array of pages if Zarr is installed, else read whole."""
    try:
        import zarr

        store = tifffile.imread(path, aszarr=True, series=number, level=level, chunkmode="page")
        array = zarr.open_array(store, mode="r")
        if array.shape == tuple(shape):
            return array
    except ImportError:
        pass

    def whole():
        return tifffile.imread(path, series=number, level=level)

    return LazyArray.of_whole(shape, dtype, whole)


def _told(file, number):
    """Spacing and units by axis, names of channels, and metadata."""
    if file.is_ome and file.ome_metadata:
        return _told_by_ome(file.ome_metadata, number)
    page = file.pages[0]
    if file.is_imagej:
        return _told_by_imagej(file.imagej_metadata or {}, page)
    tags = {tag.name: tag.value for tag in page.tags.values()
            if tag.name in ("XResolution", "YResolution", "ResolutionUnit", "ImageDescription",
                            "Software", "DateTime", "Make", "Model")}
    return {}, {}, (), {"tags": tags}


def _told_by_ome(text, number):
    root = ElementTree.fromstring(text)
    namespace = root.tag.partition("}")[0] + "}" if root.tag.startswith("{") else ""
    images = root.findall(f"{namespace}Image")
    metadata = {"kind": "OME", "xml": text}
    if number >= len(images):
        return {}, {}, (), metadata
    pixels = images[number].find(f"{namespace}Pixels")
    spacing, units = {}, {}
    for axis in "XYZ":
        if (value := pixels.get(f"PhysicalSize{axis}")) is not None and float(value) > 0:
            unit = unit_named(pixels.get(f"PhysicalSize{axis}Unit", "µm"))
            spacing[axis.lower()], units[axis.lower()] = float(value), unit
    if (value := pixels.get("TimeIncrement")) is not None and float(value) > 0:
        spacing["t"] = float(value)
        units["t"] = unit_named(pixels.get("TimeIncrementUnit", "s"))
    channels = [channel.get("Name") or "" for channel in pixels.findall(f"{namespace}Channel")]
    return spacing, units, channels if any(channels) else (), metadata


def _told_by_imagej(found, page):
    unit = unit_named(str(found.get("unit", "")).replace("\\u00B5", "µ"))
    spacing, units = {}, {}
    for axis, name in (("x", "XResolution"), ("y", "YResolution")):
        above, below = page.tags[name].value if name in page.tags else (1, 1)
        if unit is not None and above > 0:
            spacing[axis], units[axis] = below / above, unit
    if unit is not None and float(found.get("spacing", 0) or 0) > 0:
        spacing["z"], units["z"] = float(found["spacing"]), unit
    if float(found.get("finterval", 0) or 0) > 0:
        spacing["t"], units["t"] = float(found["finterval"]), "second"
    labels = found.get("Labels") or ()
    count = int(found.get("channels", 1))
    channels = labels if count > 1 and len(labels) == count else ()
    return spacing, units, channels, {"kind": "ImageJ", "imagej": found}
