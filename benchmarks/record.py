"""Times, checks and records cases, in the format of `warpalign bench --json`."""

import argparse
import datetime
import json
import os
import platform
import statistics
import sys
import time

import numpy as np

BEYOND_CACHES = 256 << 20  # bytes of inputs and outputs, through which the runs rotate
VERSION = 1  # of the format: apps/bench/record.hpp


def arguments(what, sizes, volumes):
    """Parse the options that all scripts share."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--json", required=True, help="file of the record")
    numbers = lambda text: [int(word) for word in text.split(",")]
    parser.add_argument("--sizes", type=numbers, default=sizes, help="sides of square images")
    parser.add_argument("--volumes", type=numbers, default=volumes, help="sides of cubic volumes")
    return parser.parse_args()


def host_name():
    """The processor and its number of threads."""
    name = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(": ", 1)[1].strip() for line in file if line.startswith("model name")]
        name = names[0] if names else name
    return f"{name}, {os.cpu_count()} threads"


def noise(shape, dtype=np.float32):
    """Independent values from 0 to 1."""
    return np.random.default_rng(7).random(shape, dtype=np.float32).astype(dtype)


def rotation(side, degrees):
    """Matrix and offset of a rotation about the image's centre, for SciPy's affine_transform."""
    angle = np.deg2rad(degrees)
    matrix = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    centre = np.full(2, (side - 1) / 2)
    return matrix, centre - matrix @ centre


def diagonal_rotation(side, degrees):
    """Matrix and offset of a rotation of a cube about its diagonal."""
    angle = np.deg2rad(degrees)
    cross = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / np.sqrt(3)
    matrix = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return matrix, np.zeros(3)


def copies_of(image, copy=np.copy):
    """Enough copies that they and their outputs do not fit a cache."""
    count = min(max(BEYOND_CACHES // (2 * image.nbytes), 1), 64)
    return [copy(image) for _ in range(count)]


def wall_times(run, budget=1.0, most=20):
    """Milliseconds of each run by the host's clock, after a warm-up run."""
    times = []
    run(0)
    while not times or (sum(times) < budget * 1e3 and len(times) < most):
        start = time.perf_counter()
        run(len(times))
        times.append((time.perf_counter() - start) * 1e3)
    return times


class Record:
    """Collects columns and results. Wrong results are not recorded, but reported on stderr."""

    def __init__(self):
        self.columns = []
        self.results = []
        self.failures = []

    def add_column(self, name, device, library, kind):
        self.columns.append({"id": name, "name": device, "platform": library, "driver": "",
                             "kind": kind, "details": ""})

    def add(self, column, suite, case, shape, times, error, tolerance, *, clock="wall", unit="pixels",
            operations=None, byte_count=0, yardstick="", runs=1, buffers=1):
        """Add a result. `times` are milliseconds per run; `error` must be within `tolerance`."""
        size = list(reversed(shape)) + [1] * (3 - len(shape))
        if not error <= tolerance:
            reason = f"the result is wrong: off by {error:.3g}, {tolerance:.3g} is allowed"
            self.failures.append({"column": column, "suite": suite, "case": case, "size": size,
                                  "reason": reason})
            print(f"{column}: {suite} {case}: {reason}", file=sys.stderr)
            return
        low, high = np.percentile(times, [16, 84])
        self.results.append({
            "column": column, "suite": suite, "case": case, "size": size, "yardstick": yardstick,
            "unit": unit, "operations": operations or float(np.prod(shape)), "bytes": byte_count,
            "verified": True, "error": float(error), "tolerance": float(tolerance),
            "against": "SciPy in double precision, or the pair's true transform",
            "timing": {"clock": clock, "ms": statistics.median(times), "low_ms": float(low),
                       "high_ms": float(high), "samples": len(times), "runs_a_sample": runs,
                       "buffer_sets": buffers, "wall_ms": statistics.median(times),
                       "first_use_ms": None, "plan_ms": None, "upload_ms": None,
                       "download_ms": None, "parts": []}})
        print(f"{column}: {suite} {case} {'x'.join(map(str, size))}: "
              f"{statistics.median(times):.4g} ms", file=sys.stderr)

    def write(self, path, command):
        record = {"schema": "warpalign-bench", "version": VERSION, "program": "benchmarks",
                  "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                  "command": command, "host": host_name(), "hot": False, "columns": self.columns,
                  "results": self.results, "failures": self.failures, "notes": []}
        temporary = f"{path}.part"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
            file.write("\n")
        os.replace(temporary, path)


def sample_points(shape, count=64):
    """Indices of pixels spread over an array, including its corners."""
    generator = np.random.default_rng(3)
    points = np.stack([generator.integers(0, extent, count) for extent in shape])
    points[:, 0] = 0
    points[:, 1] = np.array(shape) - 1
    return points


def error_of_spectrum(found, image):
    """The error relative to the largest frequency, of which single precision keeps 24 bits."""
    truth = np.fft.rfft2(np.asarray(image, np.float64))
    return float(np.abs(np.asarray(found) - truth).max() / np.abs(truth).max())


class Checker:
    """The true values of spline tasks at sampled pixels, by SciPy in double precision."""

    def __init__(self, image):
        from scipy import ndimage

        self.ndimage = ndimage
        self.image = np.asarray(image, dtype=np.float64)
        self.points = sample_points(image.shape)
        self.filtered = None

    def coefficients(self):
        if self.filtered is None:
            self.filtered = self.ndimage.spline_filter(self.image, 3, np.float64, mode="mirror")
        return self.filtered

    def error_of_coefficients(self, found):
        at = tuple(self.points)
        return float(np.abs(np.asarray(found, np.float64)[at] - self.coefficients()[at]).max())

    def error_of_warp(self, found, matrix, offset, order, prefilter=True):
        """If `prefilter` is False, the image holds the coefficients."""
        where = matrix @ self.points + offset[:, None]
        source = self.coefficients() if order == 3 and prefilter else self.image
        truth = self.ndimage.map_coordinates(source, where, order=order, mode="mirror",
                                             prefilter=False)
        return float(np.abs(np.asarray(found, np.float64)[tuple(self.points)] - truth).max())
