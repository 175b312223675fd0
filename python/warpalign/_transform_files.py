"""Files of transforms: .json for matrices, .npz for all kinds, and those of other tools."""

import contextlib
import gzip
import io
import json
import os
import pathlib
import shutil
import zipfile
import zlib

import numpy as np

from . import _core, _suite2p
from ._axes import swap_axes
from ._geometry import Geometry
from ._transform_formats import transform_formats

SCHEMA = "warpalign-transform"
VERSION = 1

_MATRICES = ("translation", "rigid", "similarity", "affine", "homography")
_MOST_MEMBERS = 1000
_MOST_TEXT = 1 << 28  # bytes; larger files are something else
_MOST_BYTES = 1 << 31  # of arrays and warps
_BINARY = ("npy", "mgz")


def _flat(values):
    return np.asarray(values, np.float64).ravel().tolist()


def _grid_of_arrays(shape, origin, spacing, direction):
    return _core.PointGrid(shape, _flat(origin), _flat(spacing), _flat(direction))


def arrays_of(transform, prefix=""):
    """The transform as a dictionary of arrays, which transform_of reads."""
    core = transform._core
    kind = transform.kind
    pixels = transform.coordinates == "pixels"
    arrays = {prefix + "kind": np.array(kind)}
    if not pixels:
        arrays[prefix + "coordinates"] = np.array("world")
    for name in ("reference", "moving"):
        if (geometry := getattr(transform, name)) is not None:
            arrays[f"{prefix}{name}.shape"] = np.array(geometry.shape)
            for part in ("spacing", "origin", "direction"):
                arrays[f"{prefix}{name}.{part}"] = getattr(geometry, part)
    if kind in _MATRICES:
        arrays[prefix + "matrix"] = transform.matrix
    elif kind == "chain":
        members = transform.members
        arrays[prefix + "members"] = np.array(len(members))
        for number, member in enumerate(members):
            arrays |= arrays_of(member, f"{prefix}{number}.")
    elif kind == "thin_plate":  # in (x, y, z)
        arrays[prefix + "landmarks"] = np.array(core.landmarks).reshape(2, -1, transform.ndim)
    elif kind == "inverse":
        arrays |= arrays_of(transform._of(core.inverse()), prefix + "of.")
    else:
        grid = core.grid
        axes = slice(transform.ndim - 1, None, -1)
        samples = np.empty((transform.ndim, *grid.shape[axes]))
        core.copy_samples(samples)
        arrays[prefix + "samples"] = samples.astype(core.dtype, copy=False)
        if grid.direction == np.eye(3).ravel().tolist() and pixels:
            arrays[prefix + "origin"] = np.array(grid.origin[axes])
            arrays[prefix + "spacing"] = np.array(grid.spacing[axes])
        else:  # in (x, y, z)
            arrays[prefix + "grid"] = np.array([grid.origin, grid.spacing])
            arrays[prefix + "direction"] = np.array(grid.direction).reshape(3, 3)
        if kind == "displacement":
            arrays[prefix + "interpolation"] = np.array(core.interpolation)
    return arrays


def _of_matrix(cls, kind, matrix, coordinates="pixels"):
    """The transform of a matrix, in array axes for pixels. `kind` is one of _MATRICES."""
    if coordinates == "pixels":
        return cls.translation(matrix[:-1, -1]) if kind == "translation" else getattr(cls, kind)(
            matrix)
    if matrix.shape not in ((3, 3), (4, 4)):
        raise ValueError(f"its matrix has the shape {matrix.shape}")
    whole = np.eye(4)
    axes = [*range(len(matrix) - 1), 3]
    whole[np.ix_(axes, axes)] = matrix
    return cls._of(_core.Transform.of_matrix(kind, len(matrix) - 1, _flat(whole), "world"))


def _geometry_of(arrays, name):
    if f"{name}.shape" not in arrays:
        return None
    return Geometry(tuple(np.asarray(arrays[f"{name}.shape"]).tolist()),
                    **{part: arrays[f"{name}.{part}"]
                       for part in ("spacing", "origin", "direction")})


def _field_of(cls, kind, coordinates, arrays, prefix):
    samples = arrays[prefix + "samples"]
    if prefix + "direction" not in arrays:
        grid = {name: arrays[prefix + name] for name in ("origin", "spacing")}
        if kind == "bspline":
            return cls.bspline(samples, **grid)
        return cls.displacement(samples, interpolation=str(arrays[prefix + "interpolation"]),
                                **grid)
    if samples.ndim not in (3, 4) or samples.dtype not in (np.float32, np.float64):
        raise ValueError("its samples are not those of a field")
    shape = [*samples.shape[:0:-1], *[1] * (4 - samples.ndim)]
    grid = _grid_of_arrays(shape, *arrays[prefix + "grid"], arrays[prefix + "direction"])
    samples = np.ascontiguousarray(samples)
    if kind == "bspline":
        return cls._of(_core.Transform.bspline(samples, grid, coordinates))
    interpolation = "cubic" if str(arrays[prefix + "interpolation"]) == "cubic" else "linear"
    return cls._of(_core.Transform.displacement(samples, grid, interpolation, coordinates))


def transform_of(cls, arrays, prefix="", depth=0):
    """The transform of a dictionary of arrays. Raises KeyError or ValueError."""
    if depth > 20:
        raise ValueError("its chains are nested too deeply")
    found = _transform_of(cls, arrays, prefix, depth)
    geometry = [_geometry_of(arrays, prefix + name) for name in ("reference", "moving")]
    return cls._of(found._core).with_geometry(*geometry)


def _transform_of(cls, arrays, prefix, depth):
    kind = str(arrays[prefix + "kind"])
    coordinates = str(arrays.get(prefix + "coordinates", "pixels"))
    if coordinates not in ("pixels", "world"):
        raise ValueError(f"it has the unknown coordinates {coordinates!r}")
    if kind in _MATRICES:
        return _of_matrix(cls, kind, arrays[prefix + "matrix"], coordinates)
    if kind == "thin_plate":
        landmarks = np.asarray(arrays[prefix + "landmarks"], np.float64)
        if landmarks.ndim != 3 or len(landmarks) != 2:
            raise ValueError("its landmarks are not two lists of points")
        source, target = map(_flat, landmarks)
        return cls._of(_core.Transform.thin_plate(landmarks.shape[2], source, target, coordinates))
    if kind == "inverse":
        return transform_of(cls, arrays, prefix + "of.", depth + 1).inverse()
    if kind == "chain":
        count = int(arrays[prefix + "members"])
        if not 1 <= count <= _MOST_MEMBERS:
            raise ValueError(f"it is a chain of {count} transforms; 1 to {_MOST_MEMBERS} are "
                             "allowed")
        whole = transform_of(cls, arrays, f"{prefix}0.", depth + 1)
        for number in range(1, count):
            whole = transform_of(cls, arrays, f"{prefix}{number}.", depth + 1) @ whole
        return whole
    if kind in ("displacement", "bspline"):
        return _field_of(cls, kind, coordinates, arrays, prefix)
    raise ValueError(f"it has a transform of the unknown kind {kind!r}")


def _record_of(transform):
    matrix = transform.matrix
    if matrix is None:
        raise ValueError(f"a .json file holds only transforms with a matrix, not one of the kind "
                         f"{transform.kind!r}: save it as .npz")
    kind = "homography" if (matrix[-1, :-1] != 0).any() or matrix[-1, -1] != 1 else "affine"
    record = {"kind": transform.kind if transform.kind in _MATRICES else kind}
    if transform.coordinates == "world":
        record["coordinates"] = "world"
    record["matrix"] = (swap_axes(matrix) if transform.coordinates == "pixels" else matrix).tolist()
    for name in ("reference", "moving"):
        if (geometry := getattr(transform, name)) is not None:
            record[name] = {"shape": list(geometry.shape),
                            **{part: getattr(geometry, part).tolist()
                               for part in ("spacing", "origin", "direction")}}
    return record


def _json_of(transforms):
    head = {"schema": SCHEMA, "version": VERSION}
    records = [_record_of(transform) for transform in transforms]
    whole = head | (records[0] if len(records) == 1 else {"transforms": records})
    return json.dumps(whole, indent=1) + "\n"


def _from_json(cls, text):
    """The transforms of a saved file, or of the program's reports on images and stacks."""
    record = json.loads(text)
    head = {name: record[name] for name in ("schema", "version")
            if isinstance(record, dict) and name in record}
    for name in ("transforms", "frames", "volumes"):
        if isinstance(record, dict) and name in record:
            return tuple(_of_record(cls, one | head) for one in record[name])
    return (_of_record(cls, record),)


def _of_record(cls, record):
    if not isinstance(record, dict) or "matrix" not in record:
        raise ValueError("it has no member 'matrix'")
    own = record.get("schema") == SCHEMA
    if own and record.get("version") != VERSION:
        raise ValueError(f"it is of version {record.get('version')}, not {VERSION}")
    matrix = np.array(record["matrix"], np.float64)
    if matrix.shape in ((2, 3), (3, 4)):  # as the program prints affine transforms
        matrix = np.vstack([matrix, np.eye(matrix.shape[1])[-1:]])
    if matrix.shape not in ((3, 3), (4, 4)):
        raise ValueError(f"its matrix has the shape {matrix.shape}")
    kind = record.get("kind", record.get("motion", "affine"))
    if kind == "rotation":
        kind = "rigid"
    world = own and record.get("coordinates") == "world"
    found = _of_matrix(cls, kind if kind in _MATRICES else "affine",
                       matrix if world else swap_axes(matrix), "world" if world else "pixels")
    geometry = [Geometry(**record[name]) if own and name in record else None
                for name in ("reference", "moving")]
    return found.with_geometry(*geometry)


def _from_npz(cls, path):
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    if str(arrays["schema"]) != f"{SCHEMA} {VERSION}":
        raise ValueError(f"its schema is {arrays['schema']}")
    if "count" not in arrays:
        return (transform_of(cls, arrays),)
    count = int(arrays["count"])
    if not 1 <= count <= len(arrays):
        raise ValueError(f"it tells of {count} transforms")
    return tuple(transform_of(cls, arrays, f"t{number}.") for number in range(count))


def _npz_of(transforms):
    if len(transforms) == 1:
        arrays = arrays_of(transforms[0])
    else:
        arrays = {"count": np.array(len(transforms))}
        for number, transform in enumerate(transforms):
            arrays |= arrays_of(transform, f"t{number}.")
    written = io.BytesIO()
    np.savez(written, schema=np.array(f"{SCHEMA} {VERSION}"), **arrays)
    return written.getbuffer()


def _grid(geometry):
    return None if geometry is None else geometry._grid


def _from_text(cls, path, format, data, geometry, depth=0):
    """The transforms of a format that the extension module reads."""
    cores, reference, moving, initial = _core.read_transforms(format, data, *map(_grid, geometry))
    found = [cls._of(core, Geometry._of_grid(reference, core.dimensions),
                     Geometry._of_grid(moving, core.dimensions)) for core in cores]
    if not initial:
        return found
    if depth == 20:
        raise ValueError("too many files name another one as their initial transform")
    # elastix: this file's transform comes after that of the file that it names.
    other = path.parent / pathlib.PurePath(initial).name
    try:
        data = other.read_bytes()
    except OSError as error:
        raise ValueError(f"it follows the transform of {initial}, and {other} cannot be read "
                         f"({error.strerror})") from error
    first = _from_text(cls, other, format, data, geometry, depth + 1)[0]
    return [one @ first for one in found]


def _found_format(path, start):
    from ._transform_images import format_of

    if zipfile.is_zipfile(path):
        return "npz"
    if start.lstrip()[:1] in (b"{", b"["):
        return "json"
    found = _core.transform_format(path.name, start) or format_of(path, start)
    if found == "npy" and _suite2p.is_pickle(io.BytesIO(start)):
        return _suite2p.FORMAT
    if found is None:
        raise ValueError("its format is not recognized; name it with format=")
    return found


def _compressed(path):
    """Whether a file is compressed, and no image that nibabel reads."""
    if path.name.endswith(".nii.gz"):
        return False
    with open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _read(path, most):
    """The bytes of a file, decompressed, of which there are at most so many."""
    if path.stat().st_size > most:
        raise ValueError("it is too large for its format")
    if not _compressed(path):
        return path.read_bytes()
    with gzip.open(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError("it is too large for its format")
    return data


def _load(cls, path, format, geometry, trust):
    from . import _transform_images

    if path.is_dir():
        return (_load_folder(cls, path, format),)
    with gzip.open(path) if _compressed(path) else open(path, "rb") as file:
        start = file.read(4096)
    format = format or _found_format(path, start)
    if format == _suite2p.FORMAT:
        return _suite2p.load(cls, path, trust)
    if format == "npz":
        return _from_npz(cls, path)
    if format in _transform_images.FORMATS:
        return (_transform_images.load(cls, path, format, *geometry),)
    data = _read(path, _MOST_BYTES if format in _BINARY else _MOST_TEXT)
    if format == "json":
        return _from_json(cls, data.decode("utf-8"))
    return _from_text(cls, path, format, data, geometry)


def _load_folder(cls, path, format):
    from . import _transform_ome_zarr

    if format not in (None, _transform_ome_zarr.FORMAT):
        raise ValueError(f"it is a folder, and the format {format} is a file")
    if not _transform_ome_zarr.is_transformation(path):
        raise ValueError("it is a folder, and no group of OME-Zarr with a transformation")
    return _transform_ome_zarr.load(cls, path)


def _checked_format(format):
    if format is not None and format not in transform_formats():
        raise ValueError(f"unknown format {format!r} (choose from: "
                         f"{', '.join(transform_formats())})")
    return format


def load_transforms(cls, path, format, reference, moving, trust):
    path = pathlib.Path(path)
    _checked_format(format)
    geometry = [None if image is None else Geometry.of(image) for image in (reference, moving)]
    try:
        return tuple(transform.with_geometry(*geometry)
                     for transform in _load(cls, path, format, geometry, trust))
    except (ValueError, KeyError, TypeError, IndexError, EOFError, OverflowError, RecursionError,
            zipfile.BadZipFile, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is not a transform: {error}") from error


def _written(transforms, path, format):
    """The bytes of a file."""
    if format == "npz":
        return _npz_of(transforms)
    if format == "json":
        return _json_of(transforms).encode()
    geometry = [next((image for image in images if image is not None), None)
                for images in ([one.reference for one in transforms],
                               [one.moving for one in transforms])]
    data = _core.write_transforms(format, [one._core for one in transforms], *map(_grid, geometry))
    if format == "mgz" and path.suffix != ".mgh":
        return gzip.compress(data, mtime=0)
    return data


def _format_to_write(path):
    from ._transform_images import format_of_name

    if path.suffix in (".json", ".npz"):
        return path.suffix[1:]
    found = _core.transform_format_of_name(path.name) or format_of_name(path)
    if found is None:
        raise ValueError(f"cannot tell the format of {path.name!r}: use .json or .npz, or name it "
                         f"with format= ({', '.join(transform_formats())})")
    return found


@contextlib.contextmanager
def _replaced(path, ending=""):
    """The name of a temporary file, which replaces the one at `path` if all goes well."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part{ending}")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def _replaced_folder(path):
    """The same for a folder with a transformation, which replaces no other folder."""
    from ._transform_ome_zarr import is_transformation

    if path.exists() and not is_transformation(path):
        raise FileExistsError(f"{path} exists and is no transformation in OME-Zarr: remove it or "
                              "choose another name")
    part, old = (path.with_name(f"{path.name}.{os.getpid()}.{ending}")
                 for ending in ("part", "old"))
    try:
        yield part
        if path.exists():
            path.replace(old)
        part.replace(path)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def save_transforms(transforms, path, format):
    from . import _transform_images

    path = pathlib.Path(path)
    format = _checked_format(format) or _format_to_write(path)
    if format == _suite2p.FORMAT:
        raise ValueError("warpalign reads suite2p's files and does not write them")
    if not transforms:
        raise ValueError("there is no transform to save")
    ending = ".nii.gz" if path.name.endswith(".nii.gz") else path.suffix
    with _replaced_folder(path) if format == "ome-zarr" else _replaced(path, ending) as part:
        if format in _transform_images.FORMATS:
            if len(transforms) > 1:
                raise ValueError(f"the format {format} holds one transform, not {len(transforms)}")
            _transform_images.save(transforms[0], part, format)
        else:
            part.write_bytes(_written(transforms, path, format))


def load_landmarks(path):
    try:
        ndim, source, target = _core.read_landmarks(pathlib.Path(path).read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} has no landmarks of BigWarp: {error}") from error
    return np.array(source).reshape(-1, ndim), np.array(target).reshape(-1, ndim)


def save_landmarks(path, source, target):
    with _replaced(pathlib.Path(path)) as part:
        part.write_bytes(_core.write_landmarks(source.shape[1], _flat(source), _flat(target)))
