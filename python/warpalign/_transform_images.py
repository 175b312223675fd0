"""Transforms in NIfTI images (displacement fields), in ITK's HDF5, and in OME-Zarr.

A field is an image of vectors on the pixels of a reference image. Arrays of nibabel have the axes
(x, y, z, 1, component); samples of a transform (component, z, y, x).
"""

import numpy as np

from . import _core, _transform_ome_zarr
from ._geometry import Geometry, need
from ._transform_formats import IMAGE_FORMATS as FORMATS

_VECTOR = 1007  # NIfTI's intent codes
_FNIRT_FIELD, _FNIRT_LAST = 2006, 2009
_NIFTYREG = b"NREG_TRANS"
_DEFORMATION, _DISPLACEMENT = 0, 1  # NiftyReg's intent_p1
_MOST_BYTES = 8 << 30
_MOST_MEMBERS = 1000


def _nibabel():
    return need("nibabel", "nifti", "a field in NIfTI")


def format_of_name(path):
    """The format that an ending stands for, or None."""
    if path.suffix in (".h5", ".hdf5", ".hdf"):
        return "itk-h5"
    if path.name.endswith((".nii", ".nii.gz")):
        return "itk-nifti"
    if path.suffix == ".zarr":
        return _transform_ome_zarr.FORMAT
    return None


def format_of(path, start):
    """The format of a file by its content. Raises ValueError if the content does not tell."""
    if start.startswith(b"\x89HDF\r\n\x1a\n"):
        return "itk-h5"
    if not path.name.endswith((".nii", ".nii.gz")):
        return None
    header = _open(path).header
    if _intent_name(header) == _NIFTYREG:
        return "niftyreg"
    if int(header["intent_code"]) == _VECTOR:
        return "itk-nifti"
    if int(header["intent_code"]) == _FNIRT_FIELD or header.get_data_shape()[3:] == (3,):
        raise ValueError("its header does not tell whether its vectors are relative or absolute: "
                         "pass format='fnirt-relative' or 'fnirt-absolute'")
    return None


def _intent_name(header):
    return bytes(header["intent_name"].item() if hasattr(header["intent_name"], "item")
                 else header["intent_name"]).rstrip(b"\0")


def _open(path):
    nibabel = _nibabel()
    try:
        return nibabel.load(path)
    except (nibabel.filebasedimages.ImageFileError, nibabel.spatialimages.HeaderDataError) as error:
        raise ValueError(str(error)) from error


def _vectors(image):
    """The field of an image as (component, z, y, x) in float64 or float32."""
    shape = image.shape
    if len(shape) == 5 and shape[3] == 1:
        shape = (*shape[:3], shape[4])
    if len(shape) != 4 or shape[3] not in (2, 3) or (shape[3] == 2 and shape[2] != 1):
        raise ValueError(f"it is an image of the shape {image.shape}, not a field of 2 or 3 "
                         "components")
    kept = np.float32 if image.get_data_dtype().itemsize <= 4 else np.float64
    if np.prod(shape, dtype=np.float64) * np.dtype(kept).itemsize > _MOST_BYTES:
        raise ValueError("its field is larger than 8 GiB")
    try:
        values = np.asanyarray(image.dataobj, dtype=kept).reshape(shape)
    except (OSError, EOFError) as error:
        raise ValueError(f"it is cut short or damaged ({error})") from error
    values = values.transpose(3, 2, 1, 0)
    return np.ascontiguousarray(values[:, 0] if shape[3] == 2 else values)


def _geometry(image, ndim):
    whole = Geometry._of_ras(image.shape, np.asarray(image.affine, np.float64))
    if ndim == 3:
        return whole
    return Geometry(whole.shape[1:], spacing=whole.spacing[:2], origin=whole.origin[:2],
                    direction=whole.direction[:2, :2])


def _displacement(vectors, grid):
    return _core.Transform.displacement(np.ascontiguousarray(vectors), grid, "linear", "world")


def _affine(matrix):
    return _core.Transform.of_matrix("affine", 3, np.asarray(matrix, float).ravel().tolist(),
                                     "world")


def _need_volumes(reference, moving):
    if reference is None or moving is None or len(reference.shape) != 3 or len(moving.shape) != 3:
        raise ValueError("FSL's fields depend on both images, which are volumes: give the "
                         "reference and the moving image")


def _relative(positions, grid):
    """Positions less the points of their grid, (component, z, y, x), in their own dtype."""
    ndim = len(positions)
    identity = _core.Transform.of_matrix("affine", ndim, np.eye(4).ravel().tolist(), "world")
    points = np.empty(positions.shape)
    identity.field(grid, points, "edge", False)
    return (positions - points).astype(positions.dtype)


def _fsl_matrix(geometry):
    """From indices (x, y, z) to FSL's millimetres."""
    return np.reshape(_core.fsl_millimetres(geometry._grid), (4, 4))


def _fsl_grid(shape, geometry):
    """The grid of the reference's voxels in FSL's millimetres."""
    matrix = _fsl_matrix(geometry)
    direction = np.diag(np.sign(np.diag(matrix)[:3]))
    return _core.PointGrid(shape[::-1], matrix[:3, 3].tolist(), geometry.spacing.tolist(),
                           direction.ravel().tolist())


def _load_fnirt(cls, image, relative, reference, moving):
    reference = reference or Geometry._of_ras(image.shape, np.asarray(image.affine, np.float64))
    _need_volumes(reference, moving)
    if _FNIRT_FIELD < int(image.header["intent_code"]) <= _FNIRT_LAST:
        raise ValueError("it holds coefficients of fnirt: convert them to a field with FSL's "
                         "fnirtfileutils")
    vectors = _vectors(image)
    if vectors.shape != (3, *reference.shape):
        raise ValueError(f"its field has the shape {vectors.shape[1:]}, and the reference "
                         f"{reference.shape}")
    grid = _fsl_grid(reference.shape, reference)
    if not relative:
        vectors = _relative(vectors, grid)
    # Between voxels of the images, the field's coordinates are FSL's millimetres.
    chain = _affine(np.linalg.inv(_fsl_matrix(moving))).after(
        _displacement(vectors, grid).after(_affine(_fsl_matrix(reference))))
    unit = Geometry((1, 1, 1))._grid
    return cls._of(chain.in_coordinates("pixels", unit, unit), reference, moving)


def _load_niftyreg(cls, image, reference, moving):
    kind = int(image.header["intent_p1"])
    if kind not in (_DEFORMATION, _DISPLACEMENT):
        raise ValueError("it is a grid of control points or of velocities: convert it to a "
                         "deformation field with reg_transform -def")
    vectors = _vectors(image)
    geometry = _geometry(image, len(vectors))
    vectors[:2] *= -1  # RAS to LPS
    if kind == _DEFORMATION:
        vectors = _relative(vectors, geometry._grid)
    return cls._of(_displacement(vectors, geometry._grid), reference or geometry, moving)


def _load_image(cls, path, format, reference, moving):
    image = _open(path)
    if format.startswith("fnirt"):
        return _load_fnirt(cls, image, format == "fnirt-relative", reference, moving)
    if format == "niftyreg":
        return _load_niftyreg(cls, image, reference, moving)
    vectors = _vectors(image)
    geometry = _geometry(image, len(vectors))
    return cls._of(_displacement(vectors, geometry._grid), reference or geometry, moving)


def _in_world(transform):
    """The transform for millimetres. A transform of pixels, of images without a geometry, gets the
    one that ITK gives such images: the coordinates of a pixel are its indices."""
    if transform.coordinates == "world" or transform.reference or transform.moving:
        return transform.in_world()
    plain = Geometry((1,) * transform.ndim)
    return transform._of(transform.with_geometry(plain, plain).in_world()._core)


def _sampled(transform):
    """The geometry of a field and its displacements in millimetres, (component, z, y, x)."""
    core = _in_world(transform)._core
    if core.kind == "displacement" and core.interpolation == "linear":
        geometry = Geometry._of_grid(core.grid, transform.ndim)
    elif transform.reference is not None:
        geometry = transform.reference
    else:
        raise ValueError("a field needs the grid of the reference: use with_geometry(reference, "
                         "moving)")
    vectors = np.empty((transform.ndim, *geometry.shape))
    core.field(geometry._grid, vectors, "edge", True)
    return geometry, vectors


def _save_image(path, vectors, geometry, intent, name="", parameter=0):
    nibabel = _nibabel()
    vectors = vectors.astype(np.float32)
    if vectors.ndim == 3:
        vectors = vectors[:, None]
    values = vectors.transpose(3, 2, 1, 0)
    if intent == _VECTOR:
        values = values[:, :, :, None]
    image = nibabel.Nifti1Image(values, geometry.ras)
    image.header.set_xyzt_units("mm")
    image.header["intent_code"] = intent
    image.header["intent_name"] = name
    image.header["intent_p1"] = parameter
    image.header["cal_max"] = 0
    nibabel.save(image, path)


def _save_fnirt(transform, path, relative):
    reference, moving = transform.reference, transform.moving
    _need_volumes(reference, moving)
    positions = transform.in_pixels().positions(reference.shape)[::-1].reshape(3, -1)
    matrix = _fsl_matrix(moving)
    vectors = (matrix[:3, :3] @ positions + matrix[:3, 3:]).reshape(3, *reference.shape)
    if relative:
        vectors = _relative(vectors, _fsl_grid(reference.shape, reference))
    _save_image(path, vectors, reference, _FNIRT_FIELD)


def _numbers(group, *names):
    """A list of numbers of an HDF5 group, checked before it is read."""
    h5py = need("h5py", "hdf5", "ITK's HDF5")
    for name in names:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        dataset = group[name]
        if (not isinstance(dataset, h5py.Dataset) or dataset.external or dataset.is_virtual
                or dataset.ndim > 1 or dataset.dtype.kind != "f"):
            raise ValueError(f"its {name} are not a list of floating-point numbers")
        if dataset.size is None:  # an empty list
            return np.empty(0)
        if dataset.size * 8 > _MOST_BYTES:
            raise ValueError(f"its {name} are larger than 8 GiB")
        return np.asarray(dataset[()], np.float64).reshape(-1)
    return np.empty(0)


def _type_name(group):
    """The name of a transform's class in an HDF5 group."""
    h5py = need("h5py", "hdf5", "ITK's HDF5")
    dataset = group.get("TransformType")
    if (not isinstance(dataset, h5py.Dataset) or dataset.external or dataset.is_virtual
            or dataset.size != 1 or dataset.dtype.kind not in "OS"):
        raise ValueError("it has a transform without a type")
    name = dataset[()] if dataset.ndim == 0 else dataset[0]
    return name.decode("ascii") if isinstance(name, bytes) else str(name)


def _load_h5(cls, path, reference, moving):
    h5py = need("h5py", "hdf5", "ITK's HDF5")
    try:
        with h5py.File(path, "r") as file:
            groups = file.get("TransformGroup")
            if not isinstance(groups, h5py.Group):
                raise ValueError("it has no transforms of ITK")
            if not 1 <= len(groups) <= _MOST_MEMBERS + 1:
                raise ValueError(f"it has {len(groups)} transforms; up to {_MOST_MEMBERS} are "
                                 "allowed")
            found = []
            for number in range(len(groups)):
                if not isinstance(groups.get(str(number), getlink=True), h5py.HardLink):
                    raise ValueError(f"it has no transform {number}")
                group = groups[str(number)]
                found.append((_type_name(group),
                              _numbers(group, "TransformParameters", "TranformParameters"),
                              _numbers(group, "TransformFixedParameters",
                                       "TranformFixedParameters")))
    except (OSError, RuntimeError) as error:  # what h5py raises for damaged files
        raise ValueError(f"it is cut short or damaged ({error})") from error
    return cls._of(_core.transform_of_itk(found), reference, moving)


def _save_h5(transform, path):
    h5py = need("h5py", "hdf5", "ITK's HDF5")
    listed = _core.itk_of_transform(_in_world(transform)._core)
    text = h5py.string_dtype("ascii")
    with h5py.File(path, "w") as file:
        for name, value in (("HDFVersion", h5py.version.hdf5_version), ("ITKVersion", "5.3.0"),
                            ("OSName", "Linux"), ("OSVersion", "0")):
            file.create_dataset(name, data=[value], dtype=text)
        for number, (kind, parameters, fixed) in enumerate(listed):
            group = file.create_group(f"TransformGroup/{number}")
            group.create_dataset("TransformType", data=[kind], dtype=text)
            if not kind.startswith("CompositeTransform"):
                group.create_dataset("TransformParameters", data=np.frombuffer(parameters))
                group.create_dataset("TransformFixedParameters", data=np.frombuffer(fixed))


def load(cls, path, format, reference, moving):
    """Read a file of one of FORMATS."""
    if format == "itk-h5":
        return _load_h5(cls, path, reference, moving)
    if format == _transform_ome_zarr.FORMAT:
        return _transform_ome_zarr.load(cls, path)
    return _load_image(cls, path, format, reference, moving)


def save(transform, path, format):
    """Write a file of one of FORMATS."""
    if format == "itk-h5":
        _save_h5(transform, path)
    elif format == _transform_ome_zarr.FORMAT:
        _transform_ome_zarr.save(transform, path)
    elif format.startswith("fnirt"):
        _save_fnirt(transform, path, format == "fnirt-relative")
    else:
        geometry, vectors = _sampled(transform)
        if format == "niftyreg":
            core = transform.in_world()._core
            core.field(geometry._grid, vectors, "edge", False)
            vectors[:2] *= -1  # LPS to RAS
            _save_image(path, vectors, geometry, _VECTOR, "NREG_TRANS", _DEFORMATION)
        else:
            _save_image(path, vectors, geometry, _VECTOR)
