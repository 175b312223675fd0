"""Interpolation and registration of Dask arrays, one task for each chunk of the output.

Each task reads the chunks of the input that its part of the output needs, with the prefilter's
halo, and is independent of the others (:func:`warpalign.tiles`). So graphs have as many tasks as
the output has chunks, no intermediate array is made, and a task that is lost with its worker is
done again by itself.

A task computes on the best device of the process that runs it, or on the one that
``WARPALIGN_DEVICE`` names there; ``CUDA_VISIBLE_DEVICES`` binds a worker to a GPU, and dask-cuda
sets it. Needs Dask: ``pip install warpalign[dask]``.
"""

from ._filters import spline_filter
from ._points import map_coordinates
from ._stacks import StackDrift, register_stack
from ._transforms import affine_transform, zoom

__all__ = [
    "StackDrift",
    "affine_transform",
    "map_coordinates",
    "register_stack",
    "spline_filter",
    "zoom",
]
