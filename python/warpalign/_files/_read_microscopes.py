"""The files of microscopes: CZI of Zeiss, ND2 of Nikon, LIF of Leica."""

import xml.etree.ElementTree as ElementTree

import numpy as np

from .._geometry import need
from ._image_file import ImageFile
from ._lazy import LazyArray
from ._refusal import check_level, number_of_scene, refuse

# What the formats call axes.
_NAMES = {"T": "t", "Z": "z", "C": "c", "Y": "y", "X": "x", "S": "c", "M": "m", "P": "p"}


def _named(axes):
    """Names of ours for axes, each of them once."""
    found = []
    for axis in axes:
        name = _NAMES.get(axis, axis.lower())
        found.append(name if name not in found else axis.lower() + "2")
    return found


def czi_scaling(root):
    """The distances between pixels in micrometres, by axis."""
    spacing = {}
    for distance in root.iterfind(".//Scaling/Items/Distance"):
        value = distance.findtext("Value")
        name = (distance.get("Id") or "").lower()
        if value and name in ("x", "y", "z") and float(value) > 0:
            spacing[name] = float(value) * 1e6
    return spacing


def read_czi(path, scene, level):
    czifile = need("czifile", "czi", f"reading {path}")
    check_level(level, 1)
    with czifile.CziFile(str(path)) as file:
        axes, shape, dtype = str(file.axes), tuple(file.shape), np.dtype(file.dtype)
        text = file.metadata()
    text = text() if callable(text) else text
    root = ElementTree.fromstring(text) if text else ElementTree.Element("none")
    # Axes of one element, and those of pyramids and blocks, say nothing.
    kept = [i for i, (axis, length) in enumerate(zip(axes, shape)) if length > 1 or axis in "YX"]
    scenes = [i for i in kept if axes[i] == "S"]
    names = [""]
    if scenes:
        names = [element.get("Name") or str(number) for number, element in enumerate(
            root.iterfind(".//Dimensions/S/Scenes/Scene"))]
        if len(names) != shape[scenes[0]]:
            names = [str(number) for number in range(shape[scenes[0]])]
    number = number_of_scene(scene, names)
    kept = [i for i in kept if i not in scenes]
    index = tuple(number if i in scenes else slice(None) if i in kept else 0
                  for i in range(len(axes)))

    def whole():
        with czifile.CziFile(str(path)) as file:
            return np.asarray(file.asarray())[index]

    named = _named(["c" if axes[i] == "0" else axes[i] for i in kept])
    spacing = czi_scaling(root)
    channels = [channel.get("Name") or channel.get("Id") or "" for channel in root.iterfind(
        ".//Information/Image/Dimensions/Channels/Channel")]
    array = LazyArray.of_whole([shape[i] for i in kept], dtype, whole)
    return ImageFile(path, "CZI", array, named, spacing=spacing,
                     units=dict.fromkeys(spacing, "micrometer"), channels=channels, scenes=names,
                     metadata={"xml": text})


def _nd2_spacing(file):
    """The calibrated distances between pixels in micrometres."""
    channels = getattr(file.metadata, "channels", None)
    if not channels:
        return {}
    volume = channels[0].volume
    return {axis: size for axis, size, known in
            zip("xyz", volume.axesCalibration, volume.axesCalibrated)
            if known and (axis != "z" or "Z" in file.sizes)}


def read_nd2(path, scene, level):
    nd2 = need("nd2", "nd2", f"reading {path}")
    check_level(level, 1)
    with nd2.ND2File(path) as file:
        sizes, dtype = dict(file.sizes), file.dtype
        spacing = _nd2_spacing(file)
        channels = [one.channel.name for one in getattr(file.metadata, "channels", None) or ()]
        metadata = {"metadata": file.metadata, "attributes": file.attributes,
                    "text_info": file.text_info}
    positions = sizes.get("P", 1)
    names = [f"position {number + 1}" for number in range(positions)] if positions > 1 else [""]
    number = number_of_scene(scene, names)
    axes = [axis for axis in sizes if axis != "P"]
    index = tuple(number if axis == "P" else slice(None) for axis in sizes)
    try:
        array = nd2.imread(path, dask=True)[index]  # frame by frame
    except ImportError:  # without Dask
        array = LazyArray.of_whole([sizes[axis] for axis in axes], dtype,
                                   lambda: nd2.imread(path)[index])
    return ImageFile(path, "ND2", array, _named(axes), spacing=spacing,
                     units=dict.fromkeys(spacing, "micrometer"), channels=channels, scenes=names,
                     metadata=metadata)


def _lif_spacing(image, sizes):
    """The distances between pixels in micrometres, of coordinates in metres."""
    spacing, units = {}, {}
    for axis in ("X", "Y", "Z"):
        along = image.coords.get(axis)
        if along is None or len(along) < 2 or axis not in sizes:
            continue
        step = abs(float(along[-1] - along[0])) / (len(along) - 1)
        if step > 0:
            spacing[axis.lower()], units[axis.lower()] = step * 1e6, "micrometer"
    return spacing, units


def read_lif(path, scene, level):
    liffile = need("liffile", "lif", f"reading {path}")
    check_level(level, 1)
    with liffile.LifFile(path) as file:
        names = [image.name for image in file.images]
        if not names:
            refuse("it has no image")
        number = number_of_scene(scene, names)
        image = file.images[number]
        sizes, dtype = dict(image.sizes), image.dtype
        spacing, units = _lif_spacing(image, sizes)
        labels = image.coords.get("C")
        channels = [str(label) for label in labels] if labels is not None else []
        xml = file.xml_header()

    def whole():
        with liffile.LifFile(path) as file:
            return np.asarray(file.images[number].asarray())

    array = LazyArray.of_whole(sizes.values(), dtype, whole)
    return ImageFile(path, "LIF", array, _named(sizes), spacing=spacing, units=units,
                     channels=channels, scenes=names, metadata={"xml": xml})
