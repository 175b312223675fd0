"""Where the pixels of an image lie in world coordinates."""

import os

import numpy as np

from . import _core

_LPS = np.array([-1.0, -1.0, 1.0])  # of RAS coordinates


def _numbers(values, ndim, what):
    values = np.asarray(values, np.float64)
    if values.shape not in ((), (ndim,)) or not np.isfinite(values).all():
        raise ValueError(f"{what} must be a finite number or {ndim} of them, for x, y"
                         f"{', z' if ndim == 3 else ''}, not {values.tolist()}")
    return np.broadcast_to(values, ndim)


def need(module, extra, what):
    """Import an optional package, or raise ImportError that says how to get it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} needs the package {module}: "
                          f"pip install 'warpalign[{extra}]'") from error


def _open(path, level):
    raise TypeError("no reader of files is known")


def set_opener(function):
    """Set the function that opens images. Its module calls this when it is imported: it imports
    this module, and an import in the other direction would be circular."""
    global _open
    _open = function


class Geometry:
    """Where the pixels of an image lie in world coordinates, which are millimetres x, y and z.

    In medical images, x grows to the patient's left, y to the back and z to the head, as in ITK and
    DICOM ("LPS"). A pixel at the index (i, j, k) along x, y and z, which is the last, the last but
    one, and the first axis of a volume, lies at origin + direction @ (spacing * (i, j, k)).

    Parameters
    ----------
    shape : tuple of ints
        The shape of the image, (rows, columns) or (planes, rows, columns).
    spacing : float or sequence of floats, optional
        The distances between pixels along x, y and z in millimetres, above 0. The default is 1.
    origin : float or sequence of floats, optional
        The point x, y, z of the first pixel's centre in millimetres. The default is 0.
    direction : array_like, shape (ndim, ndim), optional
        Its columns are the unit vectors of the image's x, y and z axis. By default, the identity.

    Attributes
    ----------
    shape : tuple of ints
        The shape of the image.
    spacing, origin : ndarray of float64, shape (ndim,)
        As above, in millimetres.
    direction : ndarray of float64, shape (ndim, ndim)
        As above.
    matrix : ndarray of float64, shape (ndim + 1, ndim + 1)
        The homogeneous matrix that maps indices (i, j, k) along x, y and z to points in
        millimetres.

    Raises
    ------
    ValueError
        A parameter has another shape, is not finite, or a spacing is not above 0.
    """

    __slots__ = ("_grid", "_ndim")

    def __init__(self, shape, *, spacing=1.0, origin=0.0, direction=None):
        shape = tuple(int(extent) for extent in shape)
        ndim = len(shape)
        if ndim not in (2, 3) or min(shape) < 1:
            raise ValueError(f"shape must be 2 or 3 extents of at least 1, not {shape}")
        spacing = _numbers(spacing, ndim, "spacing")
        if not (spacing > 0).all():
            raise ValueError(f"spacing must be above 0, not {spacing.tolist()}")
        direction = np.eye(ndim) if direction is None else np.asarray(direction, np.float64)
        if direction.shape != (ndim, ndim) or not np.isfinite(direction).all():
            raise ValueError(f"direction must be a finite matrix of {ndim} x {ndim} numbers, not "
                             f"of shape {direction.shape}")
        if np.abs(np.linalg.det(direction)) < 1e-6:
            raise ValueError("direction must not be singular")
        whole = np.eye(3)
        whole[:ndim, :ndim] = direction
        rest = 3 - ndim
        origin = _numbers(origin, ndim, "origin")
        self._ndim = ndim
        self._grid = _core.PointGrid([*shape[::-1], *[1] * rest],
                                     [*origin.tolist(), *[0.0] * rest],
                                     [*spacing.tolist(), *[1.0] * rest], whole.ravel().tolist())

    @classmethod
    def _of_grid(cls, grid, ndim):
        if grid is None:
            return None
        new = object.__new__(cls)
        new._grid, new._ndim = grid, ndim
        return new

    @classmethod
    def of(cls, image, *, level=0):
        """Take the geometry of an image.

        Parameters
        ----------
        image : Geometry, ImageFile, path-like, or an image of nibabel, SimpleITK, ITK or ANTsPy
            A path names what :func:`warpalign.open` reads, such as NIfTI, DICOM or OME-Zarr, whose
            units are converted to millimetres. Of more than three axes of NIfTI the first three
            count. The axes of nibabel's and ANTsPy's arrays are (x, y, z): transpose them to get
            the array that belongs to the geometry.
        level : int, optional
            The level of resolution of a file that has several. The default is 0, the finest one.

        Returns
        -------
        Geometry
            Its shape, and its spacing, origin and direction in millimetres.

        Raises
        ------
        TypeError
            The image is something else.
        ValueError
            The geometry is singular, or the file is damaged, not supported, or tells none.
        ImportError
            The package that reads the file is not installed.
        OSError
            The file cannot be read.
        """
        if isinstance(image, Geometry):
            return image
        if isinstance(image, (str, os.PathLike)):
            from . import _ome_zarr

            if _ome_zarr.is_ome_zarr(image):
                shape, spacing, origin = _ome_zarr.geometry_of(image, level)
                return cls(shape, spacing=spacing, origin=origin)
            image = _open(image, level=level)
        if hasattr(image, "geometry") and hasattr(image, "axes"):  # an ImageFile
            if image.geometry is None:
                raise ValueError(f"{image.path} does not tell where its pixels lie in millimetres")
            return image.geometry
        if hasattr(image, "affine") and hasattr(image, "header"):
            return cls._of_ras(image.shape, np.asarray(image.affine, np.float64))
        if hasattr(image, "GetSpacing") and hasattr(image, "GetDirection"):
            spacing = np.asarray(image.GetSpacing())
            size = (image.GetSize() if hasattr(image, "GetSize")
                    else image.GetLargestPossibleRegion().GetSize())
            direction = np.asarray(image.GetDirection()).reshape(len(spacing), -1)
            return cls(tuple(size)[::-1], spacing=spacing, origin=np.asarray(image.GetOrigin()),
                       direction=direction)
        if all(hasattr(image, name) for name in ("spacing", "origin", "direction", "shape")):
            return cls(tuple(image.shape)[::-1], spacing=image.spacing, origin=image.origin,
                       direction=image.direction)
        raise TypeError(f"no geometry is known of a {type(image).__name__}: pass a Geometry, a "
                        "path, or an image of nibabel, SimpleITK, ITK or ANTsPy")

    @classmethod
    def _of_ras(cls, shape, affine):
        """Of nibabel's shape (x, y, z, ...) and 4 x 4 matrix from indices to RAS millimetres."""
        shape = (tuple(shape) + (1, 1, 1))[:3]
        columns = affine[:3, :3] * _LPS[:, None]
        spacing = np.linalg.norm(columns, axis=0)
        if not (spacing > 0).all():
            raise ValueError("the image's voxels have no extent along an axis")
        return cls(shape[::-1], spacing=spacing, origin=affine[:3, 3] * _LPS,
                   direction=columns / spacing)

    @property
    def ras(self):
        """The 4 x 4 matrix from indices (x, y, z) to RAS millimetres, as nibabel's images have."""
        matrix = np.eye(4)
        axes = [*range(self._ndim), 3]
        matrix[np.ix_(axes, axes)] = self.matrix
        matrix[:3] *= _LPS[:, None]
        return matrix

    @property
    def shape(self):
        return tuple(self._grid.shape[:self._ndim][::-1])

    @property
    def spacing(self):
        return np.array(self._grid.spacing[:self._ndim])

    @property
    def origin(self):
        return np.array(self._grid.origin[:self._ndim])

    @property
    def direction(self):
        return np.array(self._grid.direction).reshape(3, 3)[:self._ndim, :self._ndim]

    @property
    def matrix(self):
        matrix = np.eye(self._ndim + 1)
        matrix[:-1, :-1] = self.direction * self.spacing
        matrix[:-1, -1] = self.origin
        return matrix

    def points(self, indices):
        """Map positions in the array to points in millimetres.

        Parameters
        ----------
        indices : array_like, shape (n, ndim)
            Positions in array axes, (row, column) or (plane, row, column), in pixels.

        Returns
        -------
        ndarray of float64, shape (n, ndim)
            The points x, y and z in millimetres.

        Raises
        ------
        ValueError
            The positions have another shape.
        """
        indices = np.asarray(indices, np.float64)
        if indices.ndim != 2 or indices.shape[1] != self._ndim:
            raise ValueError(f"indices must have the shape (n, {self._ndim}), not {indices.shape}")
        return indices[:, ::-1] @ self.matrix[:-1, :-1].T + self.origin

    def __eq__(self, other):
        if not isinstance(other, Geometry):
            return NotImplemented
        return self._ndim == other._ndim and self._grid.equals(other._grid)

    __hash__ = None

    def __reduce__(self):
        return _restored, (self.shape, self.spacing, self.origin, self.direction)

    def __repr__(self):
        return (f"Geometry({self.shape}, spacing={self.spacing.tolist()}, "
                f"origin={self.origin.tolist()}, direction={self.direction.tolist()})")


def _restored(shape, spacing, origin, direction):
    return Geometry(shape, spacing=spacing, origin=origin, direction=direction)
