"""Transforms of points and images that are kept, composed, inverted and applied."""

import numpy as np

from . import _core
from ._axes import embedded, swap_axes

_OUTSIDE = ("edge", "zero", "nan")
_INTERPOLATIONS = ("linear", "cubic")


def _in_space(matrix):
    """The 4 x 4 matrix of a matrix for (x, y, 1) or (x, y, z, 1)."""
    whole = np.eye(4)
    axes = [*range(len(matrix) - 1), 3]
    whole[np.ix_(axes, axes)] = matrix
    return whole


def _of_matrix(kind, matrix):
    matrix = np.asarray(matrix, np.float64)
    if matrix.shape not in ((3, 3), (4, 4)):
        raise ValueError(f"the matrix of a transform must be 3 x 3 (two dimensions) or 4 x 4 "
                         f"(three), not of shape {matrix.shape}")
    numbers = _in_space(swap_axes(matrix)).ravel().tolist()
    return _core.Transform.of_matrix(kind, len(matrix) - 1, numbers, "pixels")


def _per_axis(values, ndim, what, beyond):
    """One number for each of x, y and z, of which the unused ones are `beyond`."""
    values = np.asarray(values, np.float64)
    if values.shape not in ((), (ndim,)):
        raise ValueError(f"{what} must be a number or {ndim} numbers, not {values.tolist()}")
    return [*np.broadcast_to(values, ndim)[::-1].tolist(), *[beyond] * (3 - ndim)]


def _grid(shape, origin=0.0, spacing=1.0):
    """A grid of points in array axes."""
    shape = tuple(int(extent) for extent in shape)
    ndim = len(shape)
    return _core.PointGrid([*shape[::-1], *[1] * (3 - ndim)],
                           _per_axis(origin, ndim, "origin", 0.0),
                           _per_axis(spacing, ndim, "spacing", 1.0), np.eye(3).ravel().tolist())


def _samples(values, what):
    values = np.asarray(values)
    if values.ndim not in (3, 4) or len(values) != values.ndim - 1:
        raise ValueError(f"{what} must have the shape (2, rows, columns) or "
                         f"(3, planes, rows, columns), not {values.shape}")
    kept = values.dtype if values.dtype == np.float32 else np.float64
    return np.ascontiguousarray(values, kept)


def _one_of(value, allowed, what):
    if value not in allowed:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, allowed))}, not {value!r}")
    return value


def _restored(make, cls, arrays, shape):
    restored = make(cls, arrays)
    restored._shape = shape
    return restored


class Transform:
    """A transform of the plane or of space, which maps points of a reference to a moving image.

    Points and components are in array axes, (row, column) or (plane, row, column), in pixels.
    Warping the moving image with a transform lays it on the reference. A Transform is immutable;
    copies share its data. Transforms can be pickled, and compared with ``==``, which compares all
    numbers exactly. They compute in double precision on the host, on all of its processors.

    Make one by :meth:`translation`, :meth:`rigid`, :meth:`similarity`, :meth:`affine`,
    :meth:`homography`, :meth:`displacement` or :meth:`bspline`, or take that of a result.

    Attributes
    ----------
    ndim : int
        2 or 3.
    kind : str
        ``'translation'``, ``'rigid'``, ``'similarity'``, ``'affine'``, ``'homography'``,
        ``'displacement'``, ``'bspline'``, ``'inverse'`` (of a field) or ``'chain'``.
    matrix : ndarray of shape (ndim + 1, ndim + 1), or None
        The homogeneous matrix in array axes. None for fields, and chains that have one.
    members : tuple of Transform
        The transforms of a chain, in the order in which they are applied.
    residual : float
        For the inverse of a field: the largest distance in pixels between a point and where the
        transform and its inverse lead it, over up to 32768 points. 0 for other kinds.
    """

    __slots__ = ("_core", "_shape")
    __array_ufunc__ = None  # transform @ array is an error, as is array @ transform

    def __init__(self):
        raise TypeError("make a transform with Transform.affine(matrix) or its like")

    @classmethod
    def _of(cls, core, shape=None):
        new = object.__new__(cls)
        new._core = core
        new._shape = shape  # of the reference, for the result of a registration
        return new

    @classmethod
    def translation(cls, shift):
        """Make a translation, p -> p + shift.

        Parameters
        ----------
        shift : array_like, shape (ndim,)
            2 or 3 finite numbers: pixels along each axis.

        Raises
        ------
        ValueError
            The shift is something else.
        """
        shift = np.asarray(shift, np.float64)
        if shift.shape not in ((2,), (3,)):
            raise ValueError(f"a shift must have 2 or 3 numbers, not the shape {shift.shape}")
        matrix = np.eye(len(shift) + 1)
        matrix[:-1, -1] = shift
        return cls._of(_of_matrix("translation", matrix))

    @classmethod
    def rigid(cls, matrix):
        """Make a rotation with a translation.

        Parameters
        ----------
        matrix : array_like, shape (3, 3) or (4, 4)
            Its homogeneous matrix in array axes: the last column is the translation in pixels.

        Raises
        ------
        ValueError
            The matrix has another shape, is not finite, or is no rotation (to 1e-6).
        """
        return cls._of(_of_matrix("rigid", matrix))

    @classmethod
    def similarity(cls, matrix):
        """Make a rotation with a uniform scale and a translation.

        Parameters
        ----------
        matrix : array_like, shape (3, 3) or (4, 4)
            Its homogeneous matrix in array axes: the last column is the translation in pixels.

        Raises
        ------
        ValueError
            The matrix has another shape, is not finite, or is no similarity (to 1e-6).
        """
        return cls._of(_of_matrix("similarity", matrix))

    @classmethod
    def affine(cls, matrix):
        """Make an affine transform.

        Parameters
        ----------
        matrix : array_like, shape (3, 3) or (4, 4)
            Its homogeneous matrix in array axes: the last column is the translation in pixels.

        Raises
        ------
        ValueError
            The matrix has another shape, is not finite, or its last row is not (0, ..., 0, 1).
        """
        return cls._of(_of_matrix("affine", matrix))

    @classmethod
    def homography(cls, matrix):
        """Make a homography, a projective transform.

        Parameters
        ----------
        matrix : array_like, shape (3, 3) or (4, 4)
            Its homogeneous matrix in array axes: the last column is the translation in pixels.

        Raises
        ------
        ValueError
            The matrix has another shape or is not finite.
        """
        return cls._of(_of_matrix("homography", matrix))

    @classmethod
    def displacement(cls, samples, *, interpolation="linear", origin=0.0, spacing=1.0):
        """Make p -> p + u(p), with u sampled on a regular grid.

        Parameters
        ----------
        samples : array_like, shape (ndim, ...)
            The displacements in pixels, a component for each axis in the order of the axes.
            float32 is kept; other types become float64. They must be finite.
        interpolation : {'linear', 'cubic'}, optional
            How to interpolate between samples: 'cubic' is the cubic B-spline through them,
            mirrored at the edges. The default is 'linear'.
        origin, spacing : float or sequence of floats, optional
            The position of the first sample, and the distances between samples along each axis, in
            pixels. By default the samples are at the pixels of an image.

        Raises
        ------
        ValueError
            The samples have another shape or are not finite, or an option is invalid.
        """
        samples = _samples(samples, "the samples of a displacement")
        grid = _grid(samples.shape[1:], origin, spacing)
        _one_of(interpolation, _INTERPOLATIONS, "interpolation")
        return cls._of(_core.Transform.displacement(samples, grid, interpolation, "pixels"))

    @classmethod
    def bspline(cls, coefficients, *, origin=0.0, spacing=1.0):
        """Make p -> p + u(p), with u given by the coefficients of a uniform cubic B-spline.

        Parameters
        ----------
        coefficients : array_like, shape (ndim, ...)
            The coefficients in pixels, at least 4 along each axis of the grid, as in
            :meth:`displacement`. u is defined up to the outermost points but one.
        origin, spacing : float or sequence of floats, optional
            As in :meth:`displacement`, in pixels.

        Raises
        ------
        ValueError
            The coefficients have another shape or are not finite, or an option is invalid.
        """
        coefficients = _samples(coefficients, "the coefficients of a B-spline")
        grid = _grid(coefficients.shape[1:], origin, spacing)
        return cls._of(_core.Transform.bspline(coefficients, grid, "pixels"))

    @classmethod
    def load(cls, path):
        """Read a transform from a file.

        Parameters
        ----------
        path : path-like
            A file that :meth:`save` wrote, or the JSON that ``warpalign register`` and
            ``register-volume`` print.

        Returns
        -------
        Transform
            The transform, equal to the one that was saved.

        Raises
        ------
        ValueError
            The file is something else; the message says why.
        OSError
            The file cannot be read.
        """
        from ._transform_files import load_transform

        return load_transform(cls, path)

    def save(self, path):
        """Write the transform to a file, which is replaced only by a complete one.

        Parameters
        ----------
        path : path-like
            A name that ends in ``.json``, for transforms with a matrix, which is stored for (x, y)
            as in the reports of the program; or in ``.npz``, for all transforms.

        Raises
        ------
        ValueError
            The name has another ending, or a ``.json`` file cannot hold the transform.
        OSError
            The file cannot be written.
        """
        from ._transform_files import save_transform

        save_transform(self, path)

    @property
    def ndim(self):
        return self._core.dimensions

    @property
    def kind(self):
        return self._core.kind

    @property
    def matrix(self):
        numbers = self._core.matrix
        if numbers is None:
            return None
        axes = [*range(self.ndim), 3]
        return swap_axes(np.array(numbers).reshape(4, 4)[np.ix_(axes, axes)])

    @property
    def members(self):
        return tuple(self._of(member) for member in self._core.members)

    @property
    def residual(self):
        return self._core.residual

    def points(self, points, *, outside="edge"):
        """Map points.

        Parameters
        ----------
        points : array_like, shape (n, ndim)
            Points of the reference, in array axes.
        outside : {'edge', 'zero', 'nan'}, optional
            The displacement beyond the grid of a field: that at the nearest edge, none, or NaN.

        Returns
        -------
        ndarray of float64, shape (n, ndim)
            The points in the moving image; NaN where the inverse of a field does not converge.

        Raises
        ------
        ValueError
            The points have another shape, or ``outside`` is something else.
        """
        _one_of(outside, _OUTSIDE, "outside")
        points = np.ascontiguousarray(points, np.float64)
        if points.ndim != 2 or points.shape[1] != self.ndim:
            raise ValueError(f"points must have the shape (n, {self.ndim}), not {points.shape}")
        mapped = np.empty_like(points)
        self._core.points(points, mapped, outside)
        return mapped

    def _default_shape(self, shape):
        if shape is not None:
            if len(shape) != self.ndim or min(shape) < 1:
                raise ValueError(f"shape must be {self.ndim} extents of at least 1, not {shape}")
            return _grid(shape), tuple(shape)
        if self._shape is not None:
            return _grid(self._shape), self._shape
        grid = self._core.grid
        if grid is None:
            raise ValueError(f"a transform of the kind {self.kind!r} has no grid: give a shape")
        return grid, tuple(grid.shape[:self.ndim][::-1])

    def field(self, shape=None, *, dtype=np.float64, outside="edge"):
        """Compute the displacements T(p) - p at the points of a grid.

        Parameters
        ----------
        shape : tuple of ints, optional
            The shape of an image, whose pixels are the points p. By default, the points are the
            grid of the field, and those of a registration's deformation the pixels of the
            reference.
        dtype : {float64, float32}, optional
            The type of the array. The default is float64.
        outside : {'edge', 'zero', 'nan'}, optional
            As in :meth:`points`.

        Returns
        -------
        ndarray, shape (ndim, ...)
            The displacements in pixels, a component for each axis.

        Raises
        ------
        ValueError
            An argument is invalid, or the transform has no grid and `shape` is not given.
        """
        return self._on_grid(shape, dtype, outside, True)

    def positions(self, shape=None, *, dtype=np.float64, outside="edge"):
        """Compute the points T(p) for the points p of a grid.

        Parameters
        ----------
        shape : tuple of ints, optional
            The shape of an image, whose pixels are the points p. By default, the points are the
            grid of the field, and those of a registration's deformation the pixels of the
            reference.
        dtype : {float64, float32}, optional
            The type of the array. The default is float64.
        outside : {'edge', 'zero', 'nan'}, optional
            As in :meth:`points`.

        Returns
        -------
        ndarray, shape (ndim, ...)
            The coordinates in pixels, as
            :func:`warpalign.ndimage.map_coordinates` takes them.

        Raises
        ------
        ValueError
            An argument is invalid, or the transform has no grid and `shape` is not given.
        """
        return self._on_grid(shape, dtype, outside, False)

    def _on_grid(self, shape, dtype, outside, relative):
        _one_of(outside, _OUTSIDE, "outside")
        _one_of(np.dtype(dtype).name, ("float32", "float64"), "dtype")
        grid, shape = self._default_shape(shape)
        values = np.empty((self.ndim, *shape), dtype)
        self._core.field(grid, values, outside, relative)
        return values

    def jacobian(self, shape=None):
        """Compute the determinants of the Jacobian matrix at the points of a grid.

        Parameters
        ----------
        shape : tuple of ints, optional
            The shape of an image, whose pixels are the points p. By default, the points are the
            grid of the field, and those of a registration's deformation the pixels of the
            reference.

        Returns
        -------
        ndarray of float64, of `shape`
            The factor by which areas or volumes grow; 0 or less where the transform folds.

        Raises
        ------
        ValueError
            `shape` is invalid, or the transform has no grid and `shape` is not given.
        """
        grid, shape = self._default_shape(shape)
        determinants = np.empty(shape)
        self._core.jacobian(grid, determinants)
        return determinants

    def inverse(self):
        """Invert the transform. The inverse of a field is solved for at each point.

        Returns
        -------
        Transform
            The transform from the moving image to the reference, which finds the inverse of a field
            by Newton's method.

        Raises
        ------
        ValueError
            The matrix is singular, or the field folds; the message says where.
        """
        return self._of(self._core.inverse())

    def __matmul__(self, first):
        """``(second @ first).points(p)`` is ``second.points(first.points(p))``."""
        if not isinstance(first, Transform):
            return NotImplemented
        return self._of(self._core.after(first._core))

    def warp(self, image, *, output_shape=None, order=3, mode="constant", cval=0.0, output=None,
             device=None):
        """Warp the moving image to the reference, with one interpolation.

        Parameters
        ----------
        image : array_like
            An image of `ndim` axes, optionally followed by further axes such as channels.
        output_shape : tuple of ints, optional
            The shape of the reference. By default, that of the image.
        order, mode, cval, output, device : optional
            As in :func:`warpalign.ndimage.map_coordinates`. The default mode is ``'constant'``.

        Returns
        -------
        ndarray
            The warped image, of the shape of the reference plus the further axes, and of the
            image's dtype.

        Raises
        ------
        ValueError
            The image has too few axes, or a shape is invalid.
        RuntimeError
            ``order``, ``mode`` or a dtype is not supported (SciPy's message).
        warpalign.Error
            The computation failed.
        """
        from . import ndimage
        from ._foreign import as_array

        image = as_array(image)
        if image.ndim < self.ndim:
            raise ValueError(f"image must have at least {self.ndim} axes, not {image.ndim}")
        shape = tuple(image.shape[:self.ndim] if output_shape is None else output_shape)
        further = tuple(image.shape[self.ndim:])
        options = {"order": order, "mode": mode, "cval": cval, "device": device}
        matrix = self.matrix
        if matrix is not None and np.array_equal(matrix[-1], np.eye(self.ndim + 1)[-1]):
            return ndimage.affine_transform(image, embedded(matrix, image.ndim),
                                            output_shape=shape + further, output=output, **options)
        positions = self.positions(shape)
        if not further:
            return ndimage.map_coordinates(image, positions, output=output, **options)
        if not isinstance(output, np.ndarray):
            output = np.empty(shape + further, image.dtype if output is None else output)
        for index in np.ndindex(further):
            # The first axes of the image, at this index of the others.
            at = (slice(None),) * self.ndim + index
            output[at] = ndimage.map_coordinates(image[at], positions, output=output.dtype,
                                                 **options)
        return output

    def __eq__(self, other):
        return self._core.equals(other._core) if isinstance(other, Transform) else NotImplemented

    __hash__ = None

    def __reduce__(self):
        from ._transform_files import arrays_of, transform_of

        return _restored, (transform_of, type(self), arrays_of(self), self._shape)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        text = f"<Transform: {self.kind}, {self.ndim} dimensions"
        if self.kind == "chain":
            text += ": " + ", ".join(member.kind for member in self.members)
        elif (grid := self._core.grid) is not None:
            text += ", grid " + " x ".join(str(n) for n in grid.shape[:self.ndim][::-1])
        return text + ">"
