"""Interpolation and registration of Dask arrays, one task for each chunk of the output.

Each task reads the chunks of the input that its part of the output needs, including the halo of the
prefilter, and is independent of the others (:func:`warpalign.tiles`). A graph therefore has as many
tasks as the output has chunks and no intermediate arrays, and Dask can repeat a task that was lost
with its worker. Functions are lazy, except :func:`register_volume`, which reduces volumes by Dask
and registers them at once.

A task computes on the best device of the process that runs it, or on the device that
``WARPALIGN_DEVICE`` names there. ``CUDA_VISIBLE_DEVICES``, which dask-cuda sets, binds a worker to
a GPU. The module needs Dask: ``pip install warpalign[dask]``.
"""

from ._filters import spline_filter
from ._mosaics import fuse_tiles, write_ome_zarr
from ._points import map_coordinates
from ._stacks import StackDrift, register_stack
from ._transforms import affine_transform, zoom
from ._volumes import ReducedRegistration, register_volume
from ._warp import warp

__all__ = [
    "ReducedRegistration",
    "StackDrift",
    "affine_transform",
    "fuse_tiles",
    "map_coordinates",
    "register_stack",
    "register_volume",
    "spline_filter",
    "warp",
    "write_ome_zarr",
    "zoom",
]
