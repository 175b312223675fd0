"""How much longer warps take that keep labels, holes or precision: ratios to plain ones.

``warp_ratios.py [--device cuda:0] [--runs 20]`` prints a table and, with ``--json FILE``, writes it.
Needs warpalign, NumPy and SciPy, and a device with double precision.

The first ratio is that of calls with arrays in host memory, of which 5 % of the samples are missing,
singly or in squares of 1 to 6. All others are times on the device: calls for arrays there are
enqueued together, and the clock stops when the last one has finished. Images are a batch where one
of them would take less time than its call. "Reading" an image is half the time of copying it.
Each result is checked against the same call for host arrays or in the other precision.
"""

import argparse
import json
import time

import numpy as np
import warpalign
from warpalign import ndimage

BATCH = 16


def turned(degrees, shape):
    """The matrix and offset that turn an image about its centre."""
    angle = np.radians(degrees)
    matrix = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    centre = (np.array(shape) - 1) / 2
    return matrix, centre - matrix @ centre


def median_of_calls(call, runs):
    """The median time of a call that waits for its result, in milliseconds."""
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times))


class DeviceClock:
    def __init__(self, device, runs):
        self._pixel = warpalign.to_device(np.zeros((1, 1), np.float32), device=device)
        self._runs = runs

    def __call__(self, call):
        """The time of a call that only enqueues its work, in milliseconds: the least of five."""
        call()
        self._pixel.numpy()
        times = []
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(self._runs):
                call()
            self._pixel.numpy()  # waits
            times.append(time.perf_counter() - start)
        return 1e3 * min(times) / self._runs


def with_holes(image, kind, rng):
    missing = np.zeros(image.shape, bool)
    if kind == "single samples":
        missing = rng.random(image.shape) < 0.05
    while missing.mean() < 0.05:
        for _ in range(500):
            row, column = (rng.integers(0, n - 6) for n in image.shape)
            size = rng.integers(1, 7)
            missing[row:row + size, column:column + size] = True
    return np.where(missing, np.float32(np.nan), image)


def holes(device, runs, rng):
    image = rng.random((2048, 2048), np.float32)
    matrix, offset = turned(17, image.shape)
    options = {"mode": "mirror", "missing": "ignore", "device": device}
    clean = median_of_calls(lambda: ndimage.affine_transform(image, matrix, offset, **options), runs)
    for kind in ("single samples", "squares"):
        holed = with_holes(image, kind, rng)
        taken = median_of_calls(
            lambda: ndimage.affine_transform(holed, matrix, offset, **options), min(runs, 5))
        yield (f"cubic warp of 2048 x 2048 with 5 % holes ({kind}) over the same without holes",
               taken, clean, 2.0)


def labels(device, clock, rng):
    image = rng.integers(0, 2**64, (8192, 8192), np.uint64)
    matrix, offset = turned(17, image.shape)
    # Eight bytes a sample: order 0 copies them as they are, whatever they stand for.
    given = warpalign.to_device(image.view(np.float64), device=device)
    output = warpalign.to_device(np.zeros(image.shape), device=device)

    def turn():
        ndimage.affine_transform(given, matrix, offset, order=0, output=output)

    def copy():
        output[...] = given

    taken, copied = clock(turn), clock(copy)
    turn()
    expected = ndimage.affine_transform(image, matrix, offset, order=0, device=device)
    assert np.array_equal(output.numpy().view(np.uint64), expected)
    yield "order 0, uint64, 8192 x 8192 turned by 17 degrees, over a copy", taken, copied, 1.5


def reduction(device, clock, rng):
    image = rng.random((8192, 8192), np.float32)
    given = warpalign.to_device(image, device=device)
    same = warpalign.to_device(np.zeros(image.shape, np.float32), device=device)
    output = warpalign.to_device(np.zeros((2048, 2048), np.float32), device=device)
    options = {"order": 1, "mode": "reflect", "grid_mode": True, "antialias": True}

    def copy():
        same[...] = given

    taken = clock(lambda: ndimage.zoom(given, 0.25, output=output, **options))
    read = clock(copy) / 2
    expected = ndimage.zoom(image[:512, :512], 0.25, **options, device=device)
    assert np.abs(output.numpy()[:120, :120] - expected[:120, :120]).max() < 1e-5
    yield "antialiased zoom by 1/4 of 8192 x 8192 float32, over reading it once", taken, read, 1.5


def double(device, clock, rng):
    image = rng.random((2048, 2048))
    matrix, offset = np.eye(3), np.zeros(3)
    matrix[1:, 1:], offset[1:] = turned(17, image.shape)
    times, results = {}, {}
    for precision, dtype in (("single", np.float32), ("double", np.float64)):
        given = np.broadcast_to(image.astype(dtype), (BATCH,) + image.shape)
        given = warpalign.to_device(np.ascontiguousarray(given), device=device)
        output = warpalign.to_device(np.zeros((BATCH,) + image.shape, dtype), device=device)
        times[precision] = clock(lambda: ndimage.affine_transform(
            given, matrix, offset, mode="mirror", output=output, precision=precision)) / BATCH
        results[precision] = output.numpy()[BATCH - 1]
        del given, output
    assert 0 < np.abs(results["double"] - results["single"]).max() < 1e-4
    yield "double, cubic rotation of 2048 x 2048, over single", times["double"], times["single"], 3.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="the device; see warpalign.open_device")
    parser.add_argument("--runs", type=int, default=20, help="calls per measurement (20)")
    parser.add_argument("--only", help="run only functions of this name: holes, labels, ...")
    parser.add_argument("--json", help="a file for the table")
    arguments = parser.parse_args()
    device = warpalign.open_device(arguments.device)
    clock = DeviceClock(device, arguments.runs)
    rng = np.random.default_rng(1)
    print(f"{device.info.id}, {device.info.name}, {device.info.driver}")
    print("| what | ms | beside, ms | ratio | aim |\n| --- | --- | --- | --- | --- |")
    rows = []
    for measure in (holes, labels, reduction, double):
        if arguments.only not in (None, measure.__name__):
            continue
        given = arguments.runs if measure is holes else clock
        for what, taken, beside, aim in measure(device, given, rng):
            rows.append({"what": what, "ms": taken, "beside_ms": beside, "ratio": taken / beside,
                         "aim": aim})
            print(f"| {what} | {taken:.4g} | {beside:.4g} | {taken / beside:.2f} | {aim} |",
                  flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"device": device.info.name, "driver": device.info.driver, "rows": rows},
                      file, indent=1)


if __name__ == "__main__":
    main()
