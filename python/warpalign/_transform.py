"""Transforms of points and images that are kept, composed, inverted and applied."""

import numpy as np

from . import _core
from ._axes import embedded, swap_axes
from ._device_array import DeviceArray
from ._devices import open_device
from ._docs import warps
from ._foreign import as_input, is_on_device, kind_of
from ._geometry import Geometry

_OUTSIDE = ("edge", "zero", "nan")
_INTERPOLATIONS = ("linear", "cubic")
_MODELS = ("translation", "rigid", "similarity", "affine", "homography", "thin-plate")
_UNITS = {"pixels": "pixels", "world": "millimetres"}


def _in_space(matrix):
    """The 4 x 4 matrix of a matrix for (x, y, 1) or (x, y, z, 1)."""
    whole = np.eye(4)
    axes = [*range(len(matrix) - 1), 3]
    whole[np.ix_(axes, axes)] = matrix
    return whole


def _real(values, what):
    """The values as an array of real numbers."""
    values = np.asarray(values)
    if values.dtype.kind == "c":
        raise ValueError(f"{what} must be of real numbers")
    return values


def _of_matrix(kind, matrix):
    matrix = _real(matrix, "the matrix of a transform").astype(np.float64)
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
    values = _real(values, what)
    if values.ndim not in (3, 4) or len(values) != values.ndim - 1:
        raise ValueError(f"{what} must have the shape (2, rows, columns) or "
                         f"(3, planes, rows, columns), not {values.shape}")
    kept = values.dtype if values.dtype == np.float32 else np.float64
    return np.ascontiguousarray(values, kept)


def _pairs(source, target):
    """Both as contiguous float64, checked."""
    source, target = (np.ascontiguousarray(points, np.float64) for points in (source, target))
    if source.ndim != 2 or source.shape[1] not in (2, 3) or source.shape != target.shape:
        raise ValueError("the points must both have the shape (n, 2) or (n, 3), not "
                         f"{source.shape} and {target.shape}")
    return source, target


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

    Points and components are in array axes, (row, column) or (plane, row, column), in pixels. Those
    of a file of another tool may be in world coordinates: millimetres x, y and z, as ITK's. A
    transform that knows the geometry of both images maps both; see :meth:`with_geometry`.

    Warping the moving image with a transform lays it on the reference. A Transform is immutable;
    copies share its data. Transforms can be pickled, and compared with ``==``, which compares all
    numbers exactly. They compute in double precision, on all processors of the host, or on a device
    where arrays are there or a `device` is named.

    Make one by :meth:`translation`, :meth:`rigid`, :meth:`similarity`, :meth:`affine`,
    :meth:`homography`, :meth:`displacement`, :meth:`bspline` or :meth:`from_points`, or take that
    of a result.

    Attributes
    ----------
    ndim : int
        2 or 3.
    kind : str
        ``'translation'``, ``'rigid'``, ``'similarity'``, ``'affine'``, ``'homography'``,
        ``'displacement'``, ``'bspline'``, ``'inverse'`` (of a field), ``'chain'`` or
        ``'thin_plate'``.
    matrix : ndarray of shape (ndim + 1, ndim + 1), or None
        The homogeneous matrix in array axes; for world coordinates, for x, y and z. None for
        fields, and chains that have one.
    coordinates : str
        What the numbers of the transform refer to: ``'pixels'`` or ``'world'``.
    reference, moving : Geometry or None
        The geometry of the images that the transform belongs to, if it is known.
    members : tuple of Transform
        The transforms of a chain, in the order in which they are applied.
    residual : float
        For the inverse of a field: the largest distance in pixels between a point and where the
        transform and its inverse lead it, over up to 32768 points. 0 for other kinds.
    """

    __slots__ = ("_copy", "_core", "_moving", "_reference", "_shape")
    __array_ufunc__ = None  # transform @ array is an error, as is array @ transform

    def __init__(self):
        raise TypeError("make a transform with Transform.affine(matrix) or its like")

    @classmethod
    def _of(cls, core, reference=None, moving=None, shape=None):
        new = object.__new__(cls)
        new._core, new._reference, new._moving = core, reference, moving
        new._shape = shape  # of the reference, for the result of a registration
        new._copy = None  # the device used last, what was copied there, and that copy
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
    def from_points(cls, source, target, model="affine", *, robust=True, world=False,
                    return_inliers=False):
        """Fit a transform to pairs of corresponding points by least squares.

        Parameters
        ----------
        source, target : array_like, shape (n, ndim)
            Points of the reference and the same points of the moving image: pixels in array axes,
            or with `world`, millimetres x, y, z.
        model : str, optional
            ``'translation'``, ``'rigid'``, ``'similarity'``, ``'affine'`` (the default),
            ``'homography'`` (two dimensions), or ``'thin-plate'``: the spline through all points
            that bends as little as a thin plate.
        robust : bool, optional
            Whether to find pairs that do not belong to the others, and leave them out: by least
            median of squares, and for a thin-plate spline by their distance from the spline through
            the others. The default is True.
        world : bool, optional
            Whether the points are in world coordinates. The default is False.
        return_inliers : bool, optional
            Whether to return which pairs were used. The default is False.

        Returns
        -------
        Transform
            The transform, which maps `source` to `target`. The same points give the same result.
        ndarray of bool, shape (n,)
            Which pairs were used, if `return_inliers` is True.

        Raises
        ------
        ValueError
            The points have another shape, are not finite, are too few for the model or too many for
            a thin-plate spline (2000; 500 if robust), or do not determine it.

        References
        ----------
        .. [1] B. K. P. Horn, "Closed-form solution of absolute orientation using unit
           quaternions", J. Opt. Soc. Am. A 4, 1987.
        .. [2] P. J. Rousseeuw, "Least median of squares regression", J. Am. Stat. Assoc. 79, 1984.
        .. [3] F. L. Bookstein, "Principal warps: thin-plate splines and the decomposition of
           deformations", IEEE Trans. Pattern Anal. Mach. Intell. 11, 1989.
        """
        source, target = _pairs(source, target)
        _one_of(model, _MODELS, "model")
        core, used = _core.fit_points(model, source, target, bool(robust),
                                      "world" if world else "pixels")
        return (cls._of(core), np.array(used, bool)) if return_inliers else cls._of(core)

    def registration_error(self, source, target, *, world=False, quantiles=(0.5, 0.9, 0.95)):
        """Measure how far points are from where they belong: the target registration error.

        Use points that the transform was not fitted to.

        Parameters
        ----------
        source, target : array_like, shape (n, ndim)
            Points of the reference and the same points of the moving image: pixels in array axes,
            or with `world`, millimetres x, y, z. At least one.
        world : bool, optional
            Whether the points are in world coordinates. The default is False.
        quantiles : sequence of floats, optional
            Fractions of the pairs, from 0 to 1.

        Returns
        -------
        PointErrors
            The distances in pixels or millimetres, and their mean, rms, maximum and quantiles.

        Raises
        ------
        ValueError
            The points have another shape or there are none, a quantile is not from 0 to 1, or the
            transform is of the other coordinates and does not know the geometry of its images.
        """
        from ._point_errors import PointErrors

        source, target = _pairs(source, target)
        if not len(source):
            raise ValueError("there are no points to measure an error of")
        distances = np.linalg.norm(self.points(source, world=world) - target, axis=1)
        found = np.quantile(distances, quantiles)
        return PointErrors(distances=distances, mean=float(distances.mean()),
                           rms=float(np.sqrt((distances ** 2).mean())),
                           max=float(distances.max()),
                           quantiles=dict(zip(map(float, quantiles), map(float, found),
                                              strict=True)))

    @staticmethod
    def load_landmarks(path):
        """Read BigWarp's landmarks (.csv), for :meth:`from_points`.

        Parameters
        ----------
        path : path-like
            The file. Pairs that are switched off or lack a point are left out.

        Returns
        -------
        source, target : ndarray of float64, shape (n, ndim)
            BigWarp's fixed points and its moving points, x, y and z in the units of the images:
            pass them on with ``world=True``.

        Raises
        ------
        ValueError
            The file is something else; the message says why.
        OSError
            The file cannot be read.
        """
        from ._transform_files import load_landmarks

        return load_landmarks(path)

    @staticmethod
    def save_landmarks(path, source, target):
        """Write landmarks for BigWarp (.csv).

        Parameters
        ----------
        path : path-like
            The file, which is replaced only by a complete one.
        source, target : array_like, shape (n, ndim)
            Points of the reference, which are BigWarp's fixed ones, and the same points of the
            moving image, x, y and z in millimetres or the units of the images.

        Raises
        ------
        ValueError
            The points have another shape.
        OSError
            The file cannot be written.
        """
        from ._transform_files import save_landmarks

        save_landmarks(path, *_pairs(source, target))

    @classmethod
    def load(cls, path, *, format=None, reference=None, moving=None, trust=False):
        """Read a transform from a file.

        Parameters
        ----------
        path : path-like
            A file that :meth:`save` wrote, the JSON that ``warpalign register`` and
            ``register-volume`` print, or a file of another tool (:doc:`/howto/transform-files`).
        format : str, optional
            One of :meth:`formats`. By default, it is recognized by the file's content and
            name.
        reference, moving : Geometry, or what Geometry.of takes, optional
            The images. FSL's and NiftyReg's files are read only with them. They override what a
            file tells.
        trust : bool, optional
            Whether to read files of Python objects, suite2p's ``ops.npy``, which can run any code
            when they are read. The default is False.

        Returns
        -------
        Transform
            The transform, equal to the one that was saved. Those of other tools have the
            coordinates of the format, pixels or world.

        Raises
        ------
        ValueError
            The file is something else, or holds several transforms; the message says why.
        ImportError
            The format needs a package that is not installed: nibabel, h5py or zarr.
        OSError
            The file cannot be read.
        """
        from ._transform_files import load_transforms

        found = load_transforms(cls, path, format, reference, moving, trust)
        if len(found) != 1:
            raise ValueError(f"{path} holds {len(found)} transforms: use Transform.load_all")
        return found[0]

    @classmethod
    def load_all(cls, path, *, format=None, reference=None, moving=None, trust=False):
        """Read all transforms of a file, such as those of the frames of a stack.

        Parameters
        ----------
        path : path-like
            As in :meth:`load`.
        format : str, optional
            As in :meth:`load`.
        reference, moving : Geometry, or what Geometry.of takes, optional
            As in :meth:`load`.
        trust : bool, optional
            As in :meth:`load`.

        Returns
        -------
        tuple of Transform
            The transforms in the order of the file.

        Raises
        ------
        ValueError
            The file is something else; the message says why.
        ImportError
            The format needs a package that is not installed: nibabel, h5py or zarr.
        OSError
            The file cannot be read.
        """
        from ._transform_files import load_transforms

        return load_transforms(cls, path, format, reference, moving, trust)

    def save(self, path, *, format=None):
        """Write the transform to a file, which is replaced only by a complete one.

        Parameters
        ----------
        path : path-like
            A name that ends in ``.json``, for transforms with a matrix, which is stored for (x, y)
            as in the reports of the program; in ``.npz``, for all transforms; or as a file of
            another tool (:doc:`/howto/transform-files`).
        format : str, optional
            One of :meth:`formats`. By default, the ending of the name tells it; ``.mat``
            and ``.txt`` belong to several formats.

        Raises
        ------
        ValueError
            The name does not tell a format, the format cannot hold the transform, or it needs the
            geometry of the images (:meth:`with_geometry`).
        ImportError
            The format needs a package that is not installed: nibabel, h5py or zarr.
        OSError
            The file cannot be written.
        """
        from ._transform_files import save_transforms

        save_transforms((self,), path, format)

    @staticmethod
    def save_all(transforms, path, *, format=None):
        """Write several transforms to a file, such as those of the frames of a stack.

        Parameters
        ----------
        transforms : sequence of Transform
            The transforms, at least one.
        path : path-like
            As in :meth:`save`.
        format : str, optional
            As in :meth:`save`. Files of several transforms are ``.npz``, ``.npy``, ``.1D`` of AFNI,
            ``.xml`` of BigDataViewer, and MultiStackReg's text.

        Raises
        ------
        ValueError
            As in :meth:`save`, or the format holds one transform only.
        ImportError
            As in :meth:`save`.
        OSError
            The file cannot be written.
        """
        from ._transform_files import save_transforms

        save_transforms(tuple(transforms), path, format)

    @staticmethod
    def formats():
        """List the names of the file formats.

        Returns
        -------
        tuple of str
            Names for ``format`` in :meth:`load` and :meth:`save`.
        """
        from ._transform_formats import transform_formats

        return transform_formats()

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
        matrix = np.array(numbers).reshape(4, 4)[np.ix_(axes, axes)]
        return swap_axes(matrix) if self._core.coordinates == "pixels" else matrix

    @property
    def coordinates(self):
        return self._core.coordinates

    @property
    def reference(self):
        return self._reference

    @property
    def moving(self):
        return self._moving

    def with_geometry(self, reference=None, moving=None):
        """Tell the transform where the pixels of its images lie in world coordinates.

        Parameters
        ----------
        reference, moving : Geometry, or what Geometry.of takes, optional
            The images. One that is not given stays as it was.

        Returns
        -------
        Transform
            The same transform, which maps pixels and millimetres (``points(..., world=True)``).

        Raises
        ------
        ValueError
            A geometry has other dimensions than the transform.
        TypeError
            There is no geometry of such an object.
        """
        geometries = []
        for given, known in ((reference, self._reference), (moving, self._moving)):
            geometry = known if given is None else Geometry.of(given)
            if geometry is not None and len(geometry.shape) != self.ndim:
                raise ValueError(f"an image of {len(geometry.shape)} dimensions does not belong to "
                                 f"a transform of {self.ndim}")
            geometries.append(geometry)
        return self._of(self._core, *geometries)

    def _in(self, coordinates):
        """The same transform for pixels or world coordinates."""
        if self._core.coordinates == coordinates:
            return self
        if self._reference is None or self._moving is None:
            raise ValueError(
                f"the transform maps {_UNITS[self._core.coordinates]}, and the geometry of its "
                f"images, which would tell the {_UNITS[coordinates]}, is unknown: use "
                "with_geometry(reference, moving)")
        core = self._core.in_coordinates(coordinates, self._reference._grid, self._moving._grid)
        return self._of(core, self._reference, self._moving)

    def in_world(self):
        """Convert the transform to one of world coordinates.

        Returns
        -------
        Transform
            The transform for millimetres x, y and z.

        Raises
        ------
        ValueError
            The transform maps pixels, and the geometry of its images is unknown.
        """
        return self._in("world")

    def in_pixels(self):
        """Convert the transform to one of pixels.

        Returns
        -------
        Transform
            The transform for pixels in array axes.

        Raises
        ------
        ValueError
            The transform maps millimetres, and the geometry of its images is unknown.
        """
        return self._in("pixels")

    @property
    def members(self):
        return tuple(self._of(member) for member in self._core.members)

    @property
    def residual(self):
        return self._core.residual

    def on_grids(self, reference=None, moving=None):
        """Convert a transform that was found on reduced or cropped images to the whole ones.

        Parameters
        ----------
        reference, moving : tuple of (origin, spacing), optional
            Where the pixels of the image lie in the whole image: the position of the first one, and
            the distances between neighbours, each a number or one for each axis, in pixels of the
            whole image. By default, the image is the whole one: (0, 1).

        Returns
        -------
        Transform
            The transform from pixels of the whole reference to pixels of the whole moving image. It
            does not know the geometry of these images.

        Raises
        ------
        ValueError
            A grid is something else, or the transform is one of world coordinates.

        Notes
        -----
        A crop from row 10 and column 20 has the grid ``((10, 20), 1)``. In an image that was
        reduced to the means of 2 x 2 pixels, the first pixel's centre is at 0.5: ``(0.5, 2)``.
        """
        if self.coordinates != "pixels":
            raise ValueError("the transform maps millimetres, which are the same in reduced images")
        shape = (1,) * self.ndim
        grids = []
        for name, grid in (("reference", reference), ("moving", moving)):
            try:
                origin, spacing = (0, 1) if grid is None else grid
            except (TypeError, ValueError):
                raise ValueError(f"{name} must be a pair (origin, spacing), not {grid!r}") from None
            grids.append(_grid(shape, origin, spacing))
        # Pixels of the whole images are the world of the reduced ones.
        whole = self._core.in_coordinates("world", *grids)
        return self._of(whole.in_coordinates("pixels", _grid(shape), _grid(shape)))

    def points(self, points, *, world=False, outside="edge"):
        """Map points.

        Parameters
        ----------
        points : array_like, shape (n, ndim) or (..., ndim)
            Points of the reference: pixels in array axes, or with `world`, millimetres x, y, z.
            Those of an array on a device are mapped there.
        world : bool, optional
            Whether points are in world coordinates. The default is False.
        outside : {'edge', 'zero', 'nan'}, optional
            The displacement beyond the grid of a field: that at the nearest edge, none, or NaN.

        Returns
        -------
        ndarray of float64, of the shape of `points`
            The points in the moving image; NaN where the inverse of a field does not converge. For
            an array on a device, an array of the same library on that device.

        Raises
        ------
        ValueError
            The points have another shape, ``outside`` is something else, or the transform is of
            the other coordinates and does not know the geometry of its images.
        NotImplementedError
            The points are on a device without double precision, or the transform has a thin-plate
            spline.
        """
        _one_of(outside, _OUTSIDE, "outside")
        if is_on_device(points):
            return self._points_on_device(points, "world" if world else "pixels", outside)
        points = np.ascontiguousarray(points, np.float64)
        if points.ndim < 1 or points.shape[-1] != self.ndim:
            raise ValueError(f"points must have the shape (n, {self.ndim}), not {points.shape}")
        rows = points.reshape(-1, self.ndim)
        mapped = np.empty_like(rows)
        self._in("world" if world else "pixels")._core.points(rows, mapped, outside)
        return mapped.reshape(points.shape)

    def _points_on_device(self, points, coordinates, outside):
        kind = kind_of(points)
        with as_input(points) as given:
            if given.ndim < 1 or given.shape[-1] != self.ndim:
                raise ValueError(f"points must have the shape (n, {self.ndim}), not {given.shape}")
            if given.dtype.kind not in "fiu":
                raise TypeError(f"points must have real numbers, not {given.dtype}")
            mapped = given._like(given.shape, np.float64)
            if given.size:
                _core.copy_on_device(given.device, given._memory, mapped._memory, given._queue)
                self._on(given.device, coordinates).points(
                    mapped._memory, outside, coordinates == "world", given._queue)
            return kind.as_output(mapped)

    def _is_supported_on(self, device):
        """Whether a device can map pixels."""
        return _core.DeviceTransform.is_supported(device, self._in("pixels")._core)

    def _on(self, device, coordinates):
        """The copy on a device, which is kept for the next call."""
        if self._copy is not None and self._copy[:2] == (device, coordinates):
            return self._copy[2]
        core = self._in(coordinates)._core
        if not _core.DeviceTransform.is_supported(device, core):
            why = ("has a thin-plate spline" if device.info.double_precision
                   else f"needs double precision, which {device.id} does not have")
            raise NotImplementedError(
                f"the transform cannot be evaluated on a device: it {why}. Leave out the device, "
                "or give the points in host memory")
        copy = _core.DeviceTransform(device, core)
        self._copy = (device, coordinates, copy)
        return copy

    def _grid_on_device(self, device, shape, outside, *, relative, x_first, queue=None):
        """The points of a grid on a device, in float64, or their displacements."""
        core, grid, shape = self._default_grid(shape)
        memory = _core.DeviceMemory(device, "float64", [self.ndim, *shape])
        self._on(device, core.coordinates).field(
            grid, memory, outside, relative, x_first or core.coordinates == "world", queue)
        return DeviceArray(memory)

    def _default_grid(self, shape):
        """What maps the points of a grid, the grid, and its shape in array axes."""
        if shape is not None:
            if len(shape) != self.ndim or min(shape) < 1:
                raise ValueError(f"shape must be {self.ndim} extents of at least 1, not {shape}")
            return self._in("pixels")._core, _grid(shape), tuple(shape)
        if self._shape is not None:
            return self._core, _grid(self._shape), self._shape
        # What a chain maps are the points of the transform that it applies first.
        first = self._core.members[0] if self.kind == "chain" else self._core
        # The grid of the field serves its inverse, too.
        grid = first.inverse().grid if first.kind == "inverse" else first.grid
        if grid is not None:
            return self._core, grid, tuple(grid.shape[:self.ndim][::-1])
        if self._reference is not None:
            shape = self._reference.shape
            return self._in("pixels")._core, _grid(shape), shape
        raise ValueError(f"a transform of the kind {self.kind!r} has no grid: give a shape")

    def field(self, shape=None, *, dtype=np.float64, outside="edge", device=None):
        """Compute the displacements T(p) - p at the points of a grid.

        Parameters
        ----------
        shape : tuple of ints, optional
            The shape of an image, whose pixels are the points p. By default, the points are the
            grid of the field (of an inverse, that of the inverted field) or, if there is none, the
            pixels of the reference, as those of a registration's deformation.
        dtype : {float64, float32}, optional
            The type of the array. The default is float64.
        outside : {'edge', 'zero', 'nan'}, optional
            As in :meth:`points`.
        device : Device or str, optional
            The device to compute on and to leave the result on, as a :class:`DeviceArray`. By
            default, the host computes.

        Returns
        -------
        ndarray or DeviceArray, shape (ndim, ...)
            The displacements in pixels, a component for each axis.

        Raises
        ------
        ValueError
            An argument is invalid, or the transform has no grid and `shape` is not given.
        NotImplementedError
            The device has no double precision, or the transform has a thin-plate spline.
        """
        return self._on_grid(shape, dtype, outside, True, device)

    def positions(self, shape=None, *, dtype=np.float64, outside="edge", device=None):
        """Compute the points T(p) for the points p of a grid.

        Parameters
        ----------
        shape : tuple of ints, optional
            The shape of an image, whose pixels are the points p. By default, the points are the
            grid of the field (of an inverse, that of the inverted field) or, if there is none, the
            pixels of the reference, as those of a registration's deformation.
        dtype : {float64, float32}, optional
            The type of the array. The default is float64.
        outside : {'edge', 'zero', 'nan'}, optional
            As in :meth:`points`.
        device : Device or str, optional
            The device to compute on and to leave the result on, as a :class:`DeviceArray`. By
            default, the host computes.

        Returns
        -------
        ndarray or DeviceArray, shape (ndim, ...)
            The coordinates in pixels, as
            :func:`warpalign.ndimage.map_coordinates` takes them.

        Raises
        ------
        ValueError
            An argument is invalid, or the transform has no grid and `shape` is not given.
        NotImplementedError
            The device has no double precision, or the transform has a thin-plate spline.
        """
        return self._on_grid(shape, dtype, outside, False, device)

    def _on_grid(self, shape, dtype, outside, relative, device):
        _one_of(outside, _OUTSIDE, "outside")
        _one_of(np.dtype(dtype).name, ("float32", "float64"), "dtype")
        if device is not None:
            found = self._grid_on_device(open_device(device), shape, outside, relative=relative,
                                         x_first=False)
            if found.dtype == dtype:
                return found
            result = found._like(found.shape, dtype)
            result[...] = found
            return result
        core, grid, shape = self._default_grid(shape)
        values = np.empty((self.ndim, *shape), dtype)
        core.field(grid, values, outside, relative)
        return values

    def jacobian(self, shape=None):
        """Compute the determinants of the Jacobian matrix at the points of a grid.

        Parameters
        ----------
        shape : tuple of ints, optional
            The shape of an image, whose pixels are the points p. By default, the points are the
            grid of the field (of an inverse, that of the inverted field) or, if there is none, the
            pixels of the reference, as those of a registration's deformation.

        Returns
        -------
        ndarray of float64, of `shape`
            The factor by which areas or volumes grow; 0 or less where the transform folds. Without
            `shape`, the one number of an affine transform, which is the same everywhere.

        Raises
        ------
        ValueError
            `shape` is invalid, or the transform has no grid and `shape` is not given.
        """
        matrix = self.matrix
        if shape is None and matrix is not None and self.kind != "homography":
            return np.array(np.linalg.det(matrix))
        core, grid, shape = self._default_grid(shape)
        determinants = np.empty(shape)
        core.jacobian(grid, determinants)
        return determinants

    def inverse(self):
        """Invert the transform. The inverse of a field is solved for at each point.

        Returns
        -------
        Transform
            The transform from the moving image to the reference, which finds the inverse of a field
            or thin-plate spline by Newton's method.

        Raises
        ------
        ValueError
            The matrix is singular, or the field or thin-plate spline folds; the message says where.
        """
        return self._of(self._core.inverse(), self._moving, self._reference)

    def __matmul__(self, first):
        """``(second @ first).points(p)`` is ``second.points(first.points(p))``.

        Of a transform of pixels and one of world coordinates, the former is converted.
        """
        if not isinstance(first, Transform):
            return NotImplemented
        second = self
        if first.coordinates != second.coordinates:
            first, second = first._in("world"), second._in("world")
        return self._of(second._core.after(first._core), first._reference, second._moving)

    @warps
    def warp(self, image, *, output_shape=None, order=3, mode="constant", cval=0.0, missing=None,
             nodata=None, weights=False, precision="single", antialias=False, labels=False,
             output=None, device=None):
        """Warp the moving image to the reference, with one interpolation.

        Parameters
        ----------
        image : array_like
            An image of `ndim` axes, optionally followed by further axes such as channels, or the
            path of a file with its axes in any order.
        output_shape : tuple of ints, optional
            The shape of the reference. By default, that of its geometry, or of the image.
        %(warping)s
        %(antialias)s
        %(labels)s
        output : array or dtype, optional
            The array in which to place the result, or its dtype.
        device : Device or str, optional
            The device to compute on; see :func:`warpalign.open_device`.

        Returns
        -------
        ndarray
            The warped image, of the shape of the reference plus the further axes, and of the
            image's dtype.
        weights : ndarray of float32
            With ``weights=True``: the known share of each result's support, from 0 to 1.

        Raises
        ------
        ValueError
            The image has too few axes, a shape is invalid, or the transform maps millimetres and
            does not know the geometry of its images; or all samples are missing, or no sample can
            have the value `nodata`; or `antialias` is True for an order of 0, or for a transform
            that is not affine on a device that lacks double precision.
        RuntimeError
            ``order``, ``mode`` or a dtype is not supported (SciPy's message).
        warpalign.Error
            The computation failed.
        """
        from . import ndimage
        from ._foreign import warpable
        from .ndimage._missing import default_for
        from .ndimage._on_device import GridPoints
        from .ndimage._planes import at_positions

        image, nodata = warpable(image, nodata, missing, self.ndim)
        if image.ndim < self.ndim:
            raise ValueError(f"image must have at least {self.ndim} axes, not {image.ndim}")
        if output_shape is None and self._reference is not None:
            output_shape = self._reference.shape
        shape = tuple(image.shape[:self.ndim] if output_shape is None else output_shape)
        further = tuple(image.shape[self.ndim:])
        options = {"order": order, "mode": mode, "cval": cval, "device": device, "output": output,
                   "missing": default_for(missing, image, labels), "nodata": nodata,
                   "weights": weights, "precision": precision, "antialias": antialias,
                   "labels": labels}
        matrix = self._in("pixels").matrix
        if matrix is not None and np.array_equal(matrix[-1], np.eye(self.ndim + 1)[-1]):
            return ndimage.affine_transform(image, embedded(matrix, image.ndim),
                                            output_shape=shape + further, **options)
        if not further and is_on_device(image):
            return ndimage.map_coordinates(image, GridPoints(self, shape), **options)
        positions = self.positions(shape)
        if not further:
            return ndimage.map_coordinates(image, positions, **options)
        return at_positions(image, positions, **options)

    def __eq__(self, other):
        if not isinstance(other, Transform):
            return NotImplemented
        return (self._core.equals(other._core) and self._reference == other._reference
                and self._moving == other._moving)

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
        if self.coordinates == "world":
            text += ", millimetres"
        if self.kind == "chain":
            text += ": " + ", ".join(member.kind for member in self.members)
        elif (grid := self._core.grid) is not None:
            text += ", grid " + " x ".join(str(n) for n in grid.shape[:self.ndim][::-1])
        return text + ">"
