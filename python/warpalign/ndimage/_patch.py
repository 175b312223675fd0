"""Replaces the interpolation functions of ``scipy.ndimage``, to run existing code on warpalign."""

import contextlib
import functools
import importlib

from .._devices import open_device
from . import _interpolation, _rules


def _on(device, precision, function):
    @functools.wraps(function)
    def call(*arguments, **keywords):
        keywords.setdefault("device", device)
        keywords.setdefault("precision", precision)
        return function(*arguments, **keywords)

    return call


@contextlib.contextmanager
def patch(*, device=None, precision="single"):
    """Replace the interpolation functions of ``scipy.ndimage`` within a context.

    Within the context, ``scipy.ndimage.zoom`` and the seven other functions are those of this
    module. This affects code that looks the functions up when it calls them
    (``scipy.ndimage.zoom(...)`` or ``ndi.zoom(...)``), as scikit-image does. It does not affect
    names that were imported before (``from scipy.ndimage import zoom``).

    Parameters
    ----------
    device : Device or str, optional
        The device to compute on; see :func:`warpalign.open_device`.
    precision : {'single', 'double'}, optional
        The precision of the arithmetic; see :func:`shift`. The default is ``'single'``.

    Yields
    ------
    None
        Nothing. The functions are replaced until the context ends.

    Raises
    ------
    ImportError
        SciPy is not installed.
    ValueError
        The precision is unknown.

    Notes
    -----
    The replacement affects all threads of the process.

    Examples
    --------
    >>> import scipy.ndimage
    >>> from warpalign import ndimage
    >>> with ndimage.patch():
    ...     scipy.ndimage.shift([1.0, 2, 3, 4], 1, order=1)
    array([0., 1., 2., 3.])
    """
    _rules.check_precision(precision)
    target = importlib.import_module("scipy.ndimage")
    opened = open_device(device)
    names = _interpolation.__all__
    originals = {name: getattr(target, name) for name in names}
    try:
        for name in names:
            setattr(target, name, _on(opened, precision, getattr(_interpolation, name)))
        yield
    finally:
        for name, original in originals.items():
            setattr(target, name, original)
