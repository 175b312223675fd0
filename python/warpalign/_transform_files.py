"""Files of transforms: .json for matrices, .npz for all kinds."""

import io
import json
import os
import pathlib
import zipfile

import numpy as np

from ._axes import swap_axes

SCHEMA = "warpalign-transform"
VERSION = 1

_MATRICES = ("translation", "rigid", "similarity", "affine", "homography")
_MOST_MEMBERS = 1000
_MOST_JSON = 1 << 26  # bytes; larger files are something else


def arrays_of(transform, prefix=""):
    """The transform as a dictionary of arrays, which transform_of reads."""
    core = transform._core
    kind = transform.kind
    arrays = {prefix + "kind": np.array(kind)}
    if kind in _MATRICES:
        arrays[prefix + "matrix"] = transform.matrix
    elif kind == "chain":
        members = transform.members
        arrays[prefix + "members"] = np.array(len(members))
        for number, member in enumerate(members):
            arrays |= arrays_of(member, f"{prefix}{number}.")
    elif kind == "inverse":
        arrays |= arrays_of(transform.inverse(), prefix + "of.")
    else:
        grid = core.grid
        axes = slice(transform.ndim - 1, None, -1)
        shape = grid.shape[axes]
        samples = np.empty((transform.ndim, *shape))
        core.copy_samples(samples)
        arrays[prefix + "samples"] = samples.astype(core.dtype, copy=False)
        arrays[prefix + "origin"] = np.array(grid.origin[axes])
        arrays[prefix + "spacing"] = np.array(grid.spacing[axes])
        if kind == "displacement":
            arrays[prefix + "interpolation"] = np.array(core.interpolation)
    return arrays


def _of_matrix(cls, kind, matrix):
    """The transform of a matrix in array axes. `kind` is one of _MATRICES."""
    if kind == "translation":
        return cls.translation(matrix[:-1, -1])
    return getattr(cls, kind)(matrix)


def transform_of(cls, arrays, prefix="", depth=0):
    """The transform of a dictionary of arrays. Raises KeyError or ValueError."""
    if depth > 20:
        raise ValueError("its chains are nested too deeply")
    kind = str(arrays[prefix + "kind"])
    if kind in _MATRICES:
        return _of_matrix(cls, kind, arrays[prefix + "matrix"])
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
    grid = {name: arrays[prefix + name] for name in ("origin", "spacing")}
    samples = arrays[prefix + "samples"]
    if kind == "displacement":
        return cls.displacement(samples, interpolation=str(arrays[prefix + "interpolation"]),
                                **grid)
    if kind == "bspline":
        return cls.bspline(samples, **grid)
    raise ValueError(f"it has a transform of the unknown kind {kind!r}")


def _json_of(transform):
    matrix = transform.matrix
    if matrix is None:
        raise ValueError(f"a .json file holds only transforms with a matrix, not one of the kind "
                         f"{transform.kind!r}: save it as .npz")
    kind = "homography" if (matrix[-1, :-1] != 0).any() or matrix[-1, -1] != 1 else "affine"
    return json.dumps({"schema": SCHEMA, "version": VERSION,
                       "kind": transform.kind if transform.kind in _MATRICES else kind,
                       "matrix": swap_axes(matrix).tolist()}, indent=1) + "\n"


def save_transform(transform, path):
    path = pathlib.Path(path)
    if path.suffix == ".json":
        data = _json_of(transform).encode()
    elif path.suffix == ".npz":
        written = io.BytesIO()
        np.savez(written, schema=np.array(f"{SCHEMA} {VERSION}"), **arrays_of(transform))
        data = written.getbuffer()
    else:
        raise ValueError(f"cannot save a transform as {path.name!r}: use .json or .npz")
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _from_json(cls, text):
    record = json.loads(text)
    if not isinstance(record, dict) or "matrix" not in record:
        raise ValueError("it has no member 'matrix'")
    if record.get("schema") == SCHEMA and record.get("version") != VERSION:
        raise ValueError(f"it is of version {record.get('version')}, not {VERSION}")
    matrix = np.array(record["matrix"], np.float64)
    if matrix.shape in ((2, 3), (3, 4)):  # as the program prints affine transforms
        matrix = np.vstack([matrix, np.eye(matrix.shape[1])[-1:]])
    if matrix.shape not in ((3, 3), (4, 4)):
        raise ValueError(f"its matrix has the shape {matrix.shape}")
    kind = record.get("kind", record.get("motion", "affine"))
    if kind == "rotation":
        kind = "rigid"
    return _of_matrix(cls, kind if kind in _MATRICES else "affine", swap_axes(matrix))


def load_transform(cls, path):
    path = pathlib.Path(path)
    try:
        if zipfile.is_zipfile(path):
            with np.load(path, allow_pickle=False) as arrays:
                if str(arrays["schema"]) != f"{SCHEMA} {VERSION}":
                    raise ValueError(f"its schema is {arrays['schema']}")
                return transform_of(cls, arrays)
        if path.stat().st_size > _MOST_JSON:
            raise ValueError("it is too large for JSON")
        return _from_json(cls, path.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError, IndexError, EOFError, OverflowError, RecursionError,
            zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a transform: {error}") from error
