"""The geometry of images in OME-Zarr 0.4 and 0.5: their metadata, without reading pixels.

ngff.openmicroscopy.org/0.4 and /0.5: `scale` and `translation` of a multiscale image's levels.
"""

import json
import pathlib

import numpy as np

_MILLIMETRES = {"meter": 1e3, "centimeter": 10.0, "millimeter": 1.0, "micrometer": 1e-3,
                "nanometer": 1e-6, "angstrom": 1e-7, "picometer": 1e-9}
_MOST_BYTES = 1 << 26


def is_ome_zarr(path):
    """Whether the path is a folder with the metadata of a Zarr group."""
    path = pathlib.Path(path)
    return (path / "zarr.json").is_file() or (path / ".zattrs").is_file()


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


def _multiscale(path):
    if (path / "zarr.json").is_file():
        attributes = _json_of(path / "zarr.json")["attributes"]["ome"]
        version = attributes["version"]
    else:
        attributes = _json_of(path / ".zattrs")
        version = attributes["multiscales"][0]["version"]
    if version not in ("0.4", "0.5"):
        raise ValueError(f"its version is {version!r}; 0.4 and 0.5 are supported")
    return attributes["multiscales"][0]


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
        elif one["type"] != "identity":
            raise ValueError(f"it has a transform of the type {one['type']!r}; scale and "
                             "translation are supported")
    return scale, translation


def _found(path, level):
    image = _multiscale(path)
    datasets = image["datasets"]
    if not 0 <= level < len(datasets):
        raise ValueError(f"it has {len(datasets)} levels, and no level {level}")
    axes = image["axes"]
    space = [i for i, axis in enumerate(axes) if axis.get("type") == "space"]
    names = [axes[i]["name"] for i in space]
    if names not in (["z", "y", "x"], ["y", "x"]):
        raise ValueError(f"its axes of space are {', '.join(names)}, not z, y, x or y, x")
    scale, translation = np.ones(len(axes)), np.zeros(len(axes))
    dataset = datasets[level]
    for transforms in (dataset["coordinateTransformations"],
                       image.get("coordinateTransformations", [])):
        scale, translation = _applied(transforms, scale, translation)
    units = [axes[i].get("unit", "millimeter") for i in space]
    if unknown := [unit for unit in units if unit not in _MILLIMETRES]:
        raise ValueError(f"its unit {unknown[0]!r} is not supported (choose from: "
                         f"{', '.join(_MILLIMETRES)})")
    millimetres = np.array([_MILLIMETRES[unit] for unit in units])
    shape = _shape(path / dataset["path"])
    return ([shape[i] for i in space], (scale[space] * millimetres)[::-1],
            (translation[space] * millimetres)[::-1])


def geometry_of(path, level=0):
    """The shape, spacing and origin (x, y, z in millimetres) of a level of an image."""
    path = pathlib.Path(path)
    try:
        return _found(path, level)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is no image of OME-Zarr 0.4 or 0.5: its metadata lack "
                         f"{error}") from error
    except ValueError as error:
        raise ValueError(f"{path} is no image of OME-Zarr that can be read: {error}") from error
