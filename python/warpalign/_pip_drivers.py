"""Drivers and libraries that pip has installed beside the package."""

import importlib.util
import os
import pathlib

_FOLDER = pathlib.Path(__file__).parent
_VARIABLE = "WARPALIGN_OPENCL_DRIVER"


def pocl_library() -> str | None:
    """The driver of the package pocl-binary-distribution, or None."""
    found = importlib.util.find_spec("pocl_binary_distribution")
    if found is None or not found.origin:
        return None
    # It installs its library where pyopencl looks for one, and nothing else of that package.
    folder = pathlib.Path(found.origin).parent.parent / "pyopencl" / ".libs"
    return next((str(path) for path in sorted(folder.glob("libpocl-*.so"))), None)


def announce_pocl() -> None:
    """Tell the OpenCL backend, in this process and in those that it starts, which driver to open
    where OpenCL finds no platform otherwise."""
    if os.environ.get(_VARIABLE):
        return
    library = pocl_library()
    if library is not None:
        os.environ[_VARIABLE] = library


def load_cufft() -> None:
    """Load cuFFT for the CUDA backend where its module does not find it by itself.

    The module of the package warpalign-cuda13 looks for cuFFT's package beside it. Elsewhere (an
    environment over another one, conda, a toolkit of the system) cuda-pathfinder finds it. What it
    cannot find is reported by the backend, when that is opened.
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
