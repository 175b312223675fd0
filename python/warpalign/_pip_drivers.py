"""Finds drivers and libraries that pip installed with the package."""

import importlib.util
import os
import pathlib
import site
import sys

_FOLDER = pathlib.Path(__file__).parent
_VARIABLE = "WARPALIGN_OPENCL_DRIVER"


def pocl_library() -> str | None:
    """The path of the driver in the package pocl-binary-distribution, or None."""
    found = importlib.util.find_spec("pocl_binary_distribution")
    if found is None or not found.origin:
        return None
    # The package installs its library where pyopencl looks for drivers.
    folder = pathlib.Path(found.origin).parent.parent / "pyopencl" / ".libs"
    return next((str(path) for path in sorted(folder.glob("libpocl-*.so"))), None)


def intel_library() -> str | None:
    """The path of the driver in the package intel-opencl-rt, or None."""
    # pip installs the libraries of that package below the environment, not in site-packages.
    folders = [sys.prefix, site.getuserbase()]
    found = (pathlib.Path(folder, "lib", "libintelocl.so") for folder in folders if folder)
    return next((str(path) for path in found if path.is_file()), None)


def set_driver() -> None:
    """Set the driver that the OpenCL backend opens if OpenCL finds no other platform.

    An environment variable names it, so that child processes use it too. Who installed Intel's
    driver beside PoCL did so because PoCL's does not serve.
    """
    if os.environ.get(_VARIABLE):
        return
    library = intel_library() or pocl_library()
    if library is not None:
        os.environ[_VARIABLE] = library


def load_cufft() -> None:
    """Load cuFFT for the CUDA backend if the backend's module cannot find it itself.

    The module of the package warpalign-cuda13 looks for cuFFT's package in the same site-packages
    folder. cuda-pathfinder finds cuFFT elsewhere: in a parent environment, in conda, or in a system
    toolkit. If there is none, the backend reports that when it is opened.
    """
    module = _FOLDER / "warpalign_cuda.so"
    if not module.is_file() or any(_FOLDER.parent.glob("nvidia/cu13/lib/libcufft.so.*")):
        return
    try:
        from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib
    except ImportError:
        return
    try:
        load_nvidia_dynamic_lib("cufft")
    except DynamicLibNotFoundError:
        return
