"""The wheel's dependencies, and how it finds libraries of other packages."""

import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys
import types

import pytest

import warpalign
from warpalign import _pip_drivers


def test_extras_name_their_packages():
    requirements = importlib.metadata.requires("warpalign")
    for extra, package in (("cpu", "pocl-binary-distribution"), ("cuda13", "warpalign-cuda13")):
        named = [line for line in requirements if f'extra == "{extra}"' in line.replace("'", '"')]
        assert len(named) == 1 and named[0].startswith(package), requirements


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder like the package's, with the CUDA module."""
    folder = tmp_path / "warpalign"
    folder.mkdir()
    (folder / "warpalign_cuda.so").touch()
    monkeypatch.setattr(_pip_drivers, "_FOLDER", folder)
    return folder


@pytest.fixture
def pathfinder(monkeypatch):
    """A stand-in for cuda-pathfinder, which records the requested names."""
    asked = []
    module = types.ModuleType("cuda.pathfinder")
    module.DynamicLibNotFoundError = type("DynamicLibNotFoundError", (RuntimeError,), {})
    module.load_nvidia_dynamic_lib = asked.append
    monkeypatch.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", module)
    return asked, module


def test_cufft_is_found_by_cuda_pathfinder(package, pathfinder):
    _pip_drivers.load_cufft()
    assert pathfinder[0] == ["cufft"]


def test_cufft_beside_the_package_is_found_by_the_module_itself(package, pathfinder):
    folder = package.parent / "nvidia" / "cu13" / "lib"
    folder.mkdir(parents=True)
    (folder / "libcufft.so.12").touch()
    _pip_drivers.load_cufft()
    assert pathfinder[0] == []


def test_without_the_cuda_backend_nothing_is_loaded(package, pathfinder):
    (package / "warpalign_cuda.so").unlink()
    _pip_drivers.load_cufft()
    assert pathfinder[0] == []


def test_missing_cufft_is_left_to_the_backend(package, pathfinder):
    def fail(name):
        raise pathfinder[1].DynamicLibNotFoundError(name)

    pathfinder[1].load_nvidia_dynamic_lib = fail
    _pip_drivers.load_cufft()


def test_libraries_need_only_the_c_and_cpp_runtimes():
    """The package's own libraries need only the C and C++ runtimes."""
    if shutil.which("readelf") is None:
        pytest.skip("readelf is not installed")
    system = {"libc", "libm", "libstdc++", "libgcc_s", "libdl", "libpthread", "ld-linux-x86-64",
              "ld-linux-aarch64", "libwarpalign"}
    folder = pathlib.Path(warpalign.__file__).parent
    for path in [path for path in folder.iterdir() if ".so" in path.name]:
        if path.name == "warpalign_cuda.so":
            continue
        text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True,
                              check=True).stdout
        needed = {name.split(".so")[0] for name in re.findall(r"NEEDED.*\[(.*)\]", text)}
        assert needed <= system, path
