"""Which OpenCL library the package opens, and the driver that pip installs for machines without."""

import os
import pathlib
import subprocess
import sys

import pytest

from warpalign import _pip_drivers

COMPUTE = """
import numpy as np, warpalign
print(warpalign.ndimage.shift([1.0, 2, 3, 4], 1, order=1, device="opencl"))
"""


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-P", "-c", code], env={**os.environ, **environment}, text=True,
        capture_output=True, check=False)


@pytest.fixture
def driver():
    """The path of the system's PoCL."""
    for entry in pathlib.Path("/etc/OpenCL/vendors").glob("pocl*.icd"):
        return entry.read_text().strip()
    pytest.skip("the system has no PoCL")


def test_the_driver_is_opened_if_opencl_finds_no_platform(driver):
    nothing = {"OCL_ICD_VENDORS": "/nowhere"}
    assert "there is no OpenCL platform" in run_python(COMPUTE, **nothing).stderr
    done = run_python(COMPUTE, WARPALIGN_OPENCL_DRIVER=driver, **nothing)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[0. 1. 2. 3.]")


def test_the_driver_is_not_opened_if_there_are_platforms(driver):
    done = run_python(COMPUTE, WARPALIGN_OPENCL_DRIVER="/nowhere/libpocl.so")
    assert done.returncode == 0, done.stderr


def test_a_named_loader_is_the_only_one(driver):
    done = run_python(COMPUTE, WARPALIGN_OPENCL_LOADER="/nowhere/libOpenCL.so.1",
                      WARPALIGN_OPENCL_DRIVER=driver)
    assert "/nowhere/libOpenCL.so.1" in done.stderr


@pytest.mark.parametrize("file, words", [
    ("/nowhere/libpocl.so", "cannot open shared object file"),
    ("libm.so.6", "is not an OpenCL driver")])
def test_an_invalid_driver_is_reported(file, words):
    code = """
import warpalign
print(warpalign.backends()[1].reason)
"""
    done = run_python(code, WARPALIGN_OPENCL_DRIVER=file, OCL_ICD_VENDORS="/nowhere")
    # The machine has a loader: the message has the driver's error and that no platform was found.
    assert words in done.stdout and file in done.stdout, done.stdout


def test_the_loader_of_pyopencl_is_shared():
    pytest.importorskip("pyopencl")
    done = run_python("""
import pyopencl, warpalign
warpalign.devices()
loaders = {line.split()[-1] for line in open("/proc/self/maps") if "/libOpenCL" in line}
print(len(loaders))
""")
    assert done.stdout == "1\n", done.stderr


def test_the_driver_of_pip_is_found(tmp_path, monkeypatch):
    (tmp_path / "pocl_binary_distribution").mkdir()
    (tmp_path / "pocl_binary_distribution" / "__init__.py").touch()
    (tmp_path / "pyopencl" / ".libs").mkdir(parents=True)
    library = tmp_path / "pyopencl" / ".libs" / "libpocl-0123abcd.so"
    library.touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "pocl_binary_distribution", raising=False)
    assert _pip_drivers.pocl_library() == str(library)
    monkeypatch.delenv("WARPALIGN_OPENCL_DRIVER", raising=False)
    _pip_drivers.set_driver()
    assert os.environ["WARPALIGN_OPENCL_DRIVER"] == str(library)
    monkeypatch.setenv("WARPALIGN_OPENCL_DRIVER", "/another/libpocl.so")
    _pip_drivers.set_driver()
    assert os.environ["WARPALIGN_OPENCL_DRIVER"] == "/another/libpocl.so"


def test_intels_driver_of_pip_is_found_and_preferred(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(_pip_drivers, "pocl_library", lambda: "/somewhere/libpocl.so")
    monkeypatch.delenv("WARPALIGN_OPENCL_DRIVER", raising=False)
    _pip_drivers.set_driver()
    assert os.environ["WARPALIGN_OPENCL_DRIVER"] == "/somewhere/libpocl.so"
    library = tmp_path / "lib" / "libintelocl.so"
    library.parent.mkdir()
    library.touch()
    monkeypatch.delenv("WARPALIGN_OPENCL_DRIVER")
    _pip_drivers.set_driver()
    assert os.environ["WARPALIGN_OPENCL_DRIVER"] == str(library)


def test_without_the_package_no_driver_is_set(monkeypatch):
    monkeypatch.delenv("WARPALIGN_OPENCL_DRIVER", raising=False)
    monkeypatch.setattr(_pip_drivers.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "prefix", "/nowhere")
    _pip_drivers.set_driver()
    assert "WARPALIGN_OPENCL_DRIVER" not in os.environ
