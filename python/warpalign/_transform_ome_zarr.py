"""Transforms in OME-Zarr 0.6: a group with a transformation, and its fields as images below it.

ngff.openmicroscopy.org/0.6. Coordinates and matrices have the order of array axes, z, y, x, as
pixels here; a coordinate system whose axes have a unit is in world coordinates, and one without is
in pixels.
"""

import json
import pathlib

import numpy as np

from . import _core
from ._axes import swap_axes
from ._geometry import need
from ._ome_zarr import MILLIMETRES, attributes_of, described, is_ome_zarr

FORMAT = "ome-zarr"
VERSION = "0.6"
_MOST_MEMBERS = 1000
_MOST_NESTED = 20
_MOST_BYTES = 8 << 30
_AXES = "zyx"
_LINEAR, _CUBIC = "linear", "cubic"


def is_transformation(path):
    """Whether the path is a group with transformations and no image."""
    path = pathlib.Path(path)
    if not path.is_dir() or not is_ome_zarr(path):
        return False
    attributes = attributes_of(path)
    return "coordinateTransformations" in attributes and "multiscales" not in attributes


# Writing

def axes_of(ndim, unit):
    """The axes of space; of pixels, if there is no unit."""
    axes = [{"name": name, "type": "space"} for name in _AXES[-ndim:]]
    if unit is not None:
        for axis in axes:
            axis["unit"] = unit
    return axes


def _unit(world):
    return "millimeter" if world else None


def image_metadata(name, axes, transforms):
    """The metadata of an image of one level, from whose pixels transforms lead to "physical"."""
    if len(transforms) == 1:
        found = transforms[0]
    else:
        found = {"type": "sequence", "transformations": transforms}
    return {"version": VERSION, "multiscales": [{
        "name": name, "coordinateSystems": [{"name": "physical", "axes": axes}],
        "datasets": [{"path": "0", "coordinateTransformations": [{
            "name": "0_to_physical", "input": {"path": "0"}, "output": {"name": "physical"},
            **found}]}]}]}


def _affine(matrix):
    return {"type": "affine", "affine": np.asarray(matrix, np.float64)[:-1].tolist()}


def _of_matrix(transform):
    # World coordinates are x, y, z.
    matrix = swap_axes(transform.matrix) if transform.coordinates == "world" else transform.matrix
    if (matrix[-1, :-1] != 0).any() or matrix[-1, -1] != 1:
        raise ValueError("OME-Zarr has no homographies: sample the transform on a grid first "
                         "(Transform.displacement(transform.field(shape)))")
    if (matrix[:-1, :-1] == np.eye(len(matrix) - 1)).all():
        return {"type": "translation", "translation": matrix[:-1, -1].tolist()}
    return _affine(matrix)


class _Writer:
    """Collects the fields of a transform while it is described."""

    def __init__(self, ndim, world):
        self.ndim = ndim
        self.world = world
        self.fields = []  # arrays (component, z, y, x), spacing and origin in this order

    def described(self, transform):
        kind = transform.kind
        if transform.matrix is not None:
            return _of_matrix(transform)
        if kind == "chain":
            return {"type": "sequence",
                    "transformations": [self.described(one) for one in transform.members]}
        if kind == "inverse":
            forward = self.described(_sampled(transform, transform.inverse()))
            return {"type": "bijection", "forward": forward,
                    "inverse": self.described(transform.inverse())}
        if kind != "displacement":
            return self.described(_sampled(transform, transform))
        return self.displacement(transform._core)

    def displacement(self, core):
        grid = core.grid
        axes = slice(self.ndim - 1, None, -1)
        samples = np.empty((self.ndim, *grid.shape[axes]))
        core.copy_samples(samples)  # components in array axes for pixels, else x, y, z
        samples = samples.astype(core.dtype, copy=False)
        if self.world:
            samples = samples[::-1]
        origin, spacing = np.array(grid.origin[axes]), np.array(grid.spacing[axes])
        direction = np.reshape(grid.direction, (3, 3))[axes, axes]
        path = f"field{len(self.fields)}"
        found = {"type": "displacements", "path": path,
                 "interpolation": _CUBIC if core.interpolation == "cubic" else _LINEAR}
        if (direction == np.eye(self.ndim)).all():
            self.fields.append((samples, spacing, origin))
            return found
        # A field lies along the axes of its coordinates: turn these to the grid's axes and back.
        turned = np.tensordot(np.linalg.inv(direction), samples, 1).astype(core.dtype)
        self.fields.append((turned, spacing, np.linalg.inv(direction) @ origin))
        whole = np.eye(self.ndim + 1)
        whole[:-1, :-1] = direction
        return {"type": "sequence", "transformations": [
            _affine(np.linalg.inv(whole)), found, _affine(whole)]}


def _sampled(transform, shaped):
    """A displacement field of the transform: on the grid of `shaped`, if that is a field, else at
    the pixels of the reference."""
    core = shaped._core
    if shaped.kind in ("displacement", "bspline"):
        grid = core.grid
    elif transform.reference is None:
        raise ValueError(f"OME-Zarr has no transforms of the kind {shaped.kind!r}: give the "
                         "reference, at whose pixels its displacements are taken "
                         "(with_geometry(reference, moving))")
    else:
        shape = [*transform.reference.shape[::-1], 1][:3]
        grid = (transform.reference._grid if transform.coordinates == "world"
                else _core.PointGrid(shape, [0.0] * 3, [1.0] * 3, np.eye(3).ravel().tolist()))
    vectors = np.empty((transform.ndim, *grid.shape[transform.ndim - 1::-1]))
    transform._core.field(grid, vectors, "edge", True)
    return transform._of(_core.Transform.displacement(vectors, grid, "linear",
                                                      transform.coordinates))


def write_field(group, path, field, unit):
    """Write a displacement field: samples (component, z, y, x), spacing and origin."""
    samples, spacing, origin = field
    ndim = len(spacing)
    names = ("c", *_AXES[-ndim:])
    component = {"name": "c", "type": "displacement", "discrete": True}
    transforms = [{"type": "scale", "scale": [1.0, *map(float, spacing)]},
                  {"type": "translation", "translation": [0.0, *map(float, origin)]}]
    metadata = image_metadata(path, [component, *axes_of(ndim, unit)], transforms)
    image = group.create_group(path, attributes={"ome": metadata})
    chunks = tuple(ndim if i == 0 else min(extent, 256) for i, extent in enumerate(samples.shape))
    array = image.create_array("0", shape=samples.shape, dtype=samples.dtype, chunks=chunks,
                               dimension_names=names)
    array[...] = samples


def save(transform, path):
    """Write a group. `path` must not exist."""
    zarr = need("zarr", "zarr", "writing OME-Zarr")
    world = transform.coordinates == "world"
    writer = _Writer(transform.ndim, world)
    found = {"input": {"name": "reference"}, "output": {"name": "moving"},
             "name": "reference_to_moving", **writer.described(transform)}
    systems = [{"name": name, "axes": axes_of(transform.ndim, _unit(world))}
               for name in ("reference", "moving")]
    ome = {"version": VERSION, "coordinateSystems": systems,
           "coordinateTransformations": [found]}
    group = zarr.create_group(store=path, zarr_format=3, attributes={"ome": ome})
    for number, field in enumerate(writer.fields):
        write_field(group, f"field{number}", field, _unit(world))


# Reading

class _Reader:
    def __init__(self, cls, path, world, factors):
        self.cls = cls
        self.path = path
        self.world = world
        self.factors = np.asarray(factors, np.float64)  # millimetres of the unit of each axis
        self.members = 0

    @property
    def ndim(self):
        return len(self.factors)

    def transform(self, found, depth=0):
        if depth > _MOST_NESTED:
            raise ValueError("its transforms are nested too deeply")
        self.members += 1
        if self.members > _MOST_MEMBERS:
            raise ValueError(f"it has more than {_MOST_MEMBERS} transforms")
        kind = found["type"]
        if kind == "sequence":
            members = [self.transform(one, depth + 1) for one in found["transformations"]]
            if not members:
                raise ValueError("it has an empty sequence")
            whole = members[0]
            for one in members[1:]:
                whole = one @ whole
            return whole
        if kind == "bijection":
            return self.transform(found["forward"], depth + 1)
        if kind in ("displacements", "coordinates"):
            return self.field(found, kind == "coordinates")
        return self.matrix(kind, found)

    def matrix(self, kind, found):
        ndim = self.ndim
        matrix = np.eye(ndim + 1)
        if kind == "translation":
            matrix[:-1, -1] = self.numbers(found["translation"], (ndim,))
        elif kind == "scale":
            matrix[:-1, :-1] = np.diag(self.numbers(found["scale"], (ndim,)))
        elif kind == "rotation":
            matrix[:-1, :-1] = self.numbers(found["rotation"], (ndim, ndim))
        elif kind == "affine":
            matrix[:-1] = self.numbers(found["affine"], (ndim, ndim + 1))
        elif kind == "mapAxis":
            order = self.numbers(found["mapAxis"], (ndim,)).astype(int)
            if sorted(order) != list(range(ndim)):
                raise ValueError(f"its mapAxis {order.tolist()} is no order of the axes")
            matrix[:-1, :-1] = np.eye(ndim)[order]
        elif kind != "identity":
            raise ValueError(f"it has a transform of the type {kind!r}, which is not supported")
        if self.world:  # in the unit, to millimetres
            scale = np.diag([*self.factors, 1.0])
            matrix = swap_axes(scale @ matrix @ np.linalg.inv(scale))
        translation = (matrix[:-1, :-1] == np.eye(ndim)).all()
        whole = np.eye(4)
        axes = [*range(ndim), 3]
        whole[np.ix_(axes, axes)] = matrix if self.world else swap_axes(matrix)
        return self.cls._of(_core.Transform.of_matrix(
            "translation" if translation else "affine", ndim, whole.ravel().tolist(),
            "world" if self.world else "pixels"))

    @staticmethod
    def numbers(values, shape):
        values = np.asarray(values, np.float64)
        if values.shape != shape or not np.isfinite(values).all():
            raise ValueError(f"it has numbers of the shape {values.shape}, not {shape}, or some "
                             "that are not finite")
        return values

    def field(self, found, absolute):
        path = str(found["path"])
        if path.startswith("/") or ".." in pathlib.PurePosixPath(path).parts:
            raise ValueError(f"its field {path!r} lies outside of it")
        place = self.path / path
        if not is_ome_zarr(place):
            raise ValueError(f"its field {path!r} is missing")
        image = described(place)
        types = [axis.get("type") for axis in image.axes]
        ndim = self.ndim
        component = "coordinate" if absolute else "displacement"
        if types != [component, *["space"] * ndim] or image.shape[0] != ndim:
            raise ValueError(f"its field {path!r} has not {ndim} components of the type "
                             f"{component!r} in front of {ndim} axes of space")
        samples = _samples(image.path)
        spacing, origin = image.scale[1:], image.translation[1:]
        if (spacing <= 0).any():
            raise ValueError(f"its field {path!r} has a spacing that is not above 0")
        if absolute:
            indices = np.indices(samples.shape[1:], np.float64)
            places = indices * spacing.reshape(-1, *[1] * ndim) + origin.reshape(-1, *[1] * ndim)
            samples = (samples - places).astype(samples.dtype)
        interpolation = _CUBIC if found.get("interpolation") == _CUBIC else _LINEAR
        if self.world:
            samples = samples * self.factors.reshape(-1, *[1] * ndim).astype(samples.dtype)
            spacing, origin = spacing * self.factors, origin * self.factors
            grid = _core.PointGrid([*samples.shape[:0:-1], *[1] * (3 - ndim)],
                                   [*origin[::-1], *[0.0] * (3 - ndim)],
                                   [*spacing[::-1], *[1.0] * (3 - ndim)],
                                   np.eye(3).ravel().tolist())
            return self.cls._of(_core.Transform.displacement(
                np.ascontiguousarray(samples[::-1]), grid, interpolation, "world"))
        return self.cls.displacement(samples, origin=origin, spacing=spacing,
                                     interpolation=interpolation)


def _samples(path):
    zarr = need("zarr", "zarr", "reading OME-Zarr")
    try:
        array = zarr.open_array(store=path, mode="r")
        if array.dtype.kind not in "fiu" or array.size * 8 > _MOST_BYTES:
            raise ValueError("its field is not of real numbers, or larger than 8 GiB")
        kept = np.float32 if array.dtype.itemsize <= 4 else np.float64
        return np.ascontiguousarray(array[...], kept)
    except (OSError, RuntimeError, zarr.errors.BaseZarrError) as error:
        raise ValueError(f"its field cannot be read: {error}") from error


def _system(attributes, transform):
    """The axes of the coordinate system that the transform takes, or None."""
    systems = {system["name"]: system["axes"] for system in attributes.get("coordinateSystems", [])}
    named = transform.get("input")
    name = named.get("name") if isinstance(named, dict) else named
    return systems.get(name)


def _axes_of_matrices(found):
    """The number of axes that a transform without a system tells by its numbers, or None."""
    for key in ("translation", "scale", "rotation", "affine", "mapAxis"):
        if isinstance(found.get(key), list):
            return len(found[key])
    for one in [*found.get("transformations", []), *filter(None, [found.get("forward")])]:
        if (count := _axes_of_matrices(one)) is not None:
            return count
    return None


def _first_field(found):
    if found.get("type") in ("displacements", "coordinates"):
        return found["path"]
    for one in [*found.get("transformations", []), *filter(None, [found.get("forward")])]:
        if (path := _first_field(one)) is not None:
            return path
    return None


def _space_axes(path, attributes, found):
    """The axes of space that the transform maps, from its system, its field, or its numbers."""
    axes = _system(attributes, found)
    if axes is None and (field := _first_field(found)) is not None:
        axes = described(path / str(field)).axes[1:]
    if axes is None:
        count = _axes_of_matrices(found)
        if count is None:
            raise ValueError("it does not tell how many axes it maps")
        axes = [{"name": name, "type": "space"} for name in _AXES[-count:]]
    names = [axis["name"] for axis in axes]
    if "".join(names) not in ("yx", "zyx"):
        raise ValueError(f"its axes are {', '.join(names)}, not z, y, x or y, x")
    return axes


def load(cls, path):
    """Read a group that holds one transformation."""
    need("zarr", "zarr", "reading OME-Zarr")
    attributes = attributes_of(path)
    version = str(attributes.get("version"))
    if version != VERSION and not version.startswith(VERSION + "."):
        raise ValueError(f"its version is {version!r}; transforms are kept from {VERSION} on")
    all_found = attributes["coordinateTransformations"]
    if not isinstance(all_found, list) or len(all_found) != 1:
        raise ValueError("it does not hold one transformation")
    try:
        axes = _space_axes(path, attributes, all_found[0])
        units = [axis.get("unit") for axis in axes]
        world = any(unit is not None for unit in units)
        if world and any(unit not in MILLIMETRES for unit in units):
            raise ValueError(f"its units {units} are not all known")
        factors = [MILLIMETRES[unit] for unit in units] if world else [1.0] * len(axes)
        return _Reader(cls, path, world, factors).transform(all_found[0])
    except (AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"its metadata are damaged: {error}") from error
