"""The metadata of images in OME-Zarr 0.4 to 0.6, without reading pixels.

ngff.openmicroscopy.org/0.4, /0.5 and /0.6: `scale` and `translation` of a multiscale image's
levels.
"""

import json
import pathlib
from dataclasses import dataclass

import numpy as np

from ._files._units import MILLIMETRES

_MOST_BYTES = 1 << 26
SUPPORTED = "0.4 to 0.6"


@dataclass
class Described:
    """A level of an image: its array in the folder, and what its axes are."""

    path: pathlib.Path
    version: str
    levels: int
    axes: list  # dictionaries: name, type, unit
    shape: list
    scale: np.ndarray
    translation: np.ndarray
    channels: list
    attributes: dict


def is_ome_zarr(path):
    """Whether the path is a folder with the metadata of a Zarr group."""
    path = pathlib.Path(path)
    return (path / "zarr.json").is_file() or (path / ".zattrs").is_file()


def new_path(path):
    """The path of a folder to be written. Raises an error if it exists or has another ending."""
    path = pathlib.Path(path)
    if not path.name.endswith(".zarr"):
        raise ValueError(f"{path}: the name of a folder in OME-Zarr must end in .ome.zarr")
    if path.exists():
        raise FileExistsError(f"{path} exists; choose another name")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {path.parent}")
    return path


def _json_of(path):
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path} is too large for metadata")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} is damaged: it holds no object")
    return found


def attributes_of(path):
    """The attributes of a group that concern images."""
    if (path / "zarr.json").is_file():
        attributes = _json_of(path / "zarr.json").get("attributes", {})
        return attributes.get("ome", attributes)
    return _json_of(path / ".zattrs")


def images_of(path):
    """The folders of the images that a group of bioformats2raw's layout holds; else the group."""
    path = pathlib.Path(path)
    attributes = attributes_of(path)
    if "multiscales" in attributes or "bioformats2raw.layout" not in attributes:
        return [path]
    return sorted((folder for folder in path.iterdir() if folder.name.isdigit()),
                  key=lambda folder: int(folder.name))


def _multiscale(path):
    attributes = attributes_of(path)
    image = attributes["multiscales"][0]
    version = str(attributes.get("version") or image["version"])
    if version not in ("0.4", "0.5", "0.6") and not version.startswith("0.6."):
        raise ValueError(f"its version is {version!r}; {SUPPORTED} are supported")
    return image, version, attributes


def _shape(path):
    array = path / "zarr.json"
    return _json_of(array if array.is_file() else path / ".zarray")["shape"]


def _applied(transforms, scale, translation):
    """`scale` and `translation` followed by the transforms of a list."""
    for one in transforms:
        if one["type"] == "scale":
            factors = np.array(one["scale"], np.float64)
            scale, translation = scale * factors, translation * factors
        elif one["type"] == "translation":
            translation = translation + np.array(one["translation"], np.float64)
        elif one["type"] == "sequence":
            scale, translation = _applied(one["transformations"], scale, translation)
        elif one["type"] != "identity":
            raise ValueError(f"it has a transform of the type {one['type']!r}; scale and "
                             "translation are supported")
    return scale, translation


def _axes_and_transforms(image, dataset):
    """The axes of an image, and the transforms from the pixels of a level to them."""
    transforms = dataset["coordinateTransformations"]
    if "coordinateSystems" not in image:  # before 0.6
        return image["axes"], [transforms, image.get("coordinateTransformations", [])]
    # Those of the image lead on to other coordinate systems.
    output = transforms[0].get("output")
    name = output.get("name") if isinstance(output, dict) else output
    systems = {system["name"]: system["axes"] for system in image["coordinateSystems"]}
    return systems.get(name) or next(iter(systems.values())), [transforms[:1]]


def _described(path, level):
    image, version, attributes = _multiscale(path)
    datasets = image["datasets"]
    if not 0 <= level < len(datasets):
        raise ValueError(f"it has {len(datasets)} levels, and no level {level}")
    axes, lists = _axes_and_transforms(image, datasets[level])
    scale, translation = np.ones(len(axes)), np.zeros(len(axes))
    for transforms in lists:
        scale, translation = _applied(transforms, scale, translation)
    channels = [channel.get("label") or "" for channel in
                (attributes.get("omero") or {}).get("channels", [])]
    array = path / datasets[level]["path"]
    return Described(array, version, len(datasets), axes, list(_shape(array)), scale, translation,
                     channels, attributes)


def _space(found):
    """The numbers of the axes of space, and the millimetres of their units."""
    space = [i for i, axis in enumerate(found.axes) if axis.get("type") == "space"]
    names = [found.axes[i]["name"] for i in space]
    if names not in (["z", "y", "x"], ["y", "x"]):
        raise ValueError(f"its axes of space are {', '.join(names)}, not z, y, x or y, x")
    units = [found.axes[i].get("unit", "millimeter") for i in space]
    if unknown := [unit for unit in units if unit not in MILLIMETRES]:
        raise ValueError(f"its unit {unknown[0]!r} is not supported (choose from: "
                         f"{', '.join(MILLIMETRES)})")
    return space, np.array([MILLIMETRES[unit] for unit in units])


def described(path, level=0):
    """A level of an image. Raises ValueError if the metadata are damaged or not supported."""
    path = pathlib.Path(path)
    try:
        return _described(path, level)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is no image of OME-Zarr {SUPPORTED}: its metadata lack "
                         f"{error}") from error
    except FileNotFoundError as error:
        raise ValueError(f"{path} is no image of OME-Zarr that can be read: there is no "
                         f"{error.filename}") from error
    except ValueError as error:
        raise ValueError(f"{path} is no image of OME-Zarr that can be read: {error}") from error


def geometry_of(path, level=0):
    """The shape, spacing and origin (x, y, z in millimetres) of a level of an image."""
    found = described(path, level)
    try:
        space, millimetres = _space(found)
        return ([found.shape[i] for i in space], (found.scale[space] * millimetres)[::-1],
                (found.translation[space] * millimetres)[::-1])
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is no image of OME-Zarr {SUPPORTED}: its metadata lack "
                         f"{error}") from error
    except ValueError as error:
        raise ValueError(f"{path} is no image of OME-Zarr that can be read: {error}") from error
