"""The uneven illumination that all tiles of a mosaic have in common."""

import numpy as np

from . import _core
from ._images import as_image


def _dark_image(dark, shape):
    """What the camera reports without light at each pixel, or None if it is 0 everywhere."""
    if np.ndim(dark) == 0:
        return np.full(shape, dark, np.float32) if dark != 0 else None
    dark = as_image(dark, "dark")
    if dark.shape != tuple(shape):
        raise ValueError(f"dark has the shape {dark.shape}, but a tile {tuple(shape)}")
    return dark


def flat_field(tiles, *, dark=0.0):
    """Estimate the uneven illumination that all tiles have in common.

    The estimate is the median over the tiles of their local means, each divided by the mean of its
    tile, smoothed by a polynomial of degree 4, as in [1]_. It needs tens of tiles whose content
    lies at different pixels: what most tiles show at the same pixels counts as illumination.

    Parameters
    ----------
    tiles : sequence of array_like
        Images of 2 dimensions and of one shape, or their paths, at least 3. One of them is in
        memory at a time.
    dark : float or array_like, optional
        The value that the camera reports without light, or an image of such values, which is
        subtracted first. The default is 0.

    Returns
    -------
    ndarray of float32
        The illumination, of the shape of a tile and with the mean 1: pass it to
        :meth:`Mosaic.fuse`.

    Raises
    ------
    ValueError
        There are fewer than 3 tiles, their shapes differ, or fewer than 3 are brighter than
        `dark` (:class:`InvalidArgumentError`).
    TypeError
        The pixels are not real numbers.

    Notes
    -----
    BaSiC [2]_ separates the illumination from the content by sparsity; its package BaSiCPy makes a
    ``flatfield`` that :meth:`Mosaic.fuse` takes, too.

    References
    ----------
    .. [1] S. Singh, M.-A. Bray, T. R. Jones and A. E. Carpenter, "Pipeline for illumination
       correction of images for high-throughput microscopy", Journal of Microscopy 256(3), 2014.
    .. [2] T. Peng et al., "A BaSiC tool for background and shading correction of optical microscopy
       images", Nature Communications 8, 14836, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> light = np.linspace(0.8, 1.2, 64)
    >>> random = np.random.default_rng(0)
    >>> tiles = [light * random.uniform(90, 110, (64, 64)) for _ in range(30)]
    >>> flat = warpalign.flat_field(tiles)
    >>> bool(np.abs(flat - light).max() < 0.02)
    True
    """
    if len(tiles) < 3:
        raise ValueError(f"the illumination needs at least 3 tiles, not {len(tiles)}")
    shape = None
    for index in range(len(tiles)):
        image = as_image(tiles[index], f"tile {index}")
        if shape is None:
            shape = image.shape
            estimator = _core.FlatFieldEstimator(shape, _dark_image(dark, shape))
        if image.shape != shape:
            raise ValueError(f"tile {index} has the shape {image.shape}, but tile 0 {shape}")
        estimator.add(image)
    field = np.empty(shape, np.float32)
    estimator.estimate(field)
    return field


class Flattening:
    """Divides tiles by their illumination. Other processes can receive it."""

    def __init__(self, flat, dark):
        self._arrays = flat, dark
        self._field = None

    def __reduce__(self):
        return Flattening, self._arrays

    def __call__(self, tile):
        """A tile of uint8, uint16 or float32 as even illumination would have made it."""
        if self._field is None:
            self._field = _core.FlatField(*self._arrays)
        even = np.empty_like(tile)
        self._field.apply(tile, even)
        return even


def flattening(flat, dark, shapes):
    """The Flattening for tiles of these shapes; None without a flat field."""
    if flat is None:
        return None
    flat = as_image(flat, "flat_field")
    for index, shape in enumerate(shapes):
        if flat.shape != tuple(shape):
            raise ValueError(f"flat_field has the shape {flat.shape}, but tile {index} "
                             f"{tuple(shape)}")
    dark = _dark_image(dark, flat.shape)
    _core.FlatField(flat, dark)  # refuses wrong values before tiles are read
    return Flattening(flat, dark)
