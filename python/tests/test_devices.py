"""Devices, the plans that they keep, and the libraries that the package loads."""

import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import warpalign
from warpalign import ndimage

FOLDER = pathlib.Path(warpalign.__file__).parent


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, text=True,
        capture_output=True, check=False)


def test_a_device_is_listed_and_opened():
    listed = warpalign.devices()
    assert listed, [backend.reason for backend in warpalign.backends()]
    device = warpalign.Device(listed[0].id)
    assert device.id == listed[0].id
    assert device.info.name == listed[0].name
    assert device.info.kind in ("cpu", "gpu", "other")
    assert repr(device).startswith("<warpalign.Device ")


def test_a_malformed_name_is_a_value_error():
    with pytest.raises(ValueError) as error:
        warpalign.Device("opencl:")
    assert isinstance(error.value, warpalign.InvalidArgumentError)


def test_the_environment_selects_the_device():
    code = "import warpalign\ntry: warpalign.open_device()\nexcept warpalign.Error as e: print(e)"
    assert "no such thing" in run_python(code, WARPALIGN_DEVICE="opencl:no such thing").stdout


def test_missing_opencl_library_is_reported():
    code = "import warpalign; print(warpalign.backends()[1].reason); print(warpalign.devices())"
    done = run_python(code, WARPALIGN_OPENCL_LOADER="/nowhere/libOpenCL.so.1")
    assert done.returncode == 0, done.stderr
    assert "/nowhere/libOpenCL.so.1" in done.stdout
    assert "named by WARPALIGN_OPENCL_LOADER" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_the_wheel_holds_the_package_and_nothing_else():
    files = importlib.metadata.files("warpalign")
    folders = {file.parts[0] for file in files}
    assert folders == {"warpalign", f"warpalign-{warpalign.__version__}.dist-info"}
    names = [file.name for file in files]
    assert {"_core.pyi", "py.typed"} <= set(names)
    assert sum("libwarpalign" in name for name in names) == 1  # a wheel contains no links
    assert not any(name.endswith((".hpp", ".h", ".cmake", ".a", ".pc")) for name in names)


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed")
def test_no_library_of_opencl_is_linked():
    names = [path for path in FOLDER.iterdir() if ".so" in path.name]
    assert {path.name.split(".")[0] for path in names} >= {
        "_core", "libwarpalign", "warpalign_opencl"}
    for path in names:
        text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True,
                              check=True).stdout
        needed = re.findall(r"NEEDED.*\[(.*)\]", text)
        assert not any("OpenCL" in name or "cuda" in name for name in needed), (path, needed)


def test_plans_are_reused_and_limited_in_number(random):
    device = warpalign.Device()
    image = random.random((40, 50))
    ndimage.shift(image, 0.5, device=device)
    assert device.kept_plans == 1
    ndimage.shift(image, 1.5, device=device)
    assert device.kept_plans == 1
    for n in range(10, 50):
        ndimage.shift(image[:n], 0.5, order=1, device=device)
    assert device.kept_plans == 16
    device.release_memory()
    assert device.kept_plans == 0


def test_nothing_leaks_over_many_calls(random):
    code = """
import resource, numpy as np
from warpalign import ndimage
image = np.ones((8, 9)); bad = 0
def call(i):
    global bad
    ndimage.shift(image, 0.1 * (i % 7), order=1)
    try: ndimage.shift(image, 1, order=7)
    except RuntimeError: bad += 1
    try: ndimage.shift(image, 1, device="opencl:")
    except ValueError: bad += 1
for i in range(1000): call(i)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for i in range(10000): call(i)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, bad)
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    grown, bad = map(int, done.stdout.split())
    assert bad == 22000
    assert grown < 3000  # KiB; leaking an array of 8 x 9 doubles per call would be 5600


def test_threads_share_a_device(random):
    image = random.random((60, 70))
    expected = ndimage.rotate(image, 17)
    results = []

    def work():
        for _ in range(5):
            results.append(ndimage.rotate(image, 17))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 20
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_a_forked_process_raises():
    code = """
import os, numpy as np, warpalign
from warpalign import ndimage
ndimage.shift(np.ones(5), 1)
child = os.fork()
if child == 0:
    try:
        ndimage.shift(np.ones(5), 1)
    except warpalign.DeviceUnavailableError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(ndimage.shift(np.ones(5), 1, order=1))
"""
    done = run_python(code)
    assert "forked from one that had opened a device" in done.stdout
    assert done.stdout.endswith("[0. 1. 1. 1. 1.]\n"), done.stderr


def test_other_threads_run_during_work(random):
    volume = random.random((90, 160, 160)).astype(np.float32)
    ndimage.zoom(volume, 1.1)  # compile first
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    ndimage.zoom(volume, 1.1)
    end = time.perf_counter()
    done.set()
    thread.join()
    during = [t for t in ticks if start < t < end]
    # If the GIL were held, there would be almost none; a busy machine may delay most of them.
    assert len(during) > 5, (len(during), end - start)


def test_importing_is_quick():
    def seconds(module):  # processor time, which other load on the machine hardly changes
        code = f"import time, {module}; print(time.process_time())"
        return min(float(run_python(code).stdout) for _ in range(5))

    # Importing NumPy alone takes 0.1 s; the limit for all is 0.2 s.
    assert seconds("warpalign") - seconds("numpy") < 0.1
    done = run_python("import sys, warpalign; print([m for m in ('scipy', 'pandas', 'tqdm', "
                      "'matplotlib') if m in sys.modules])")
    assert done.stdout == "[]\n"
