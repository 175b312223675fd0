"""Measures warpalign.ndimage and scipy.ndimage, from NumPy array to NumPy array.

    python benchmarks/python_package.py --shape 64,512,512 --output 77,614,614
    python benchmarks/python_package.py --shape 800,800,800 --output 560,560,1200 --without-scipy

The script resamples a volume by a cubic spline, mirrored at its edges, with the exact prefilter.
The error is the largest difference from SciPy's result in double precision, for values up to 1.

The script also measures calls on a small image, which mostly take host time: with a NumPy array,
and with an array on the device, where the call only enqueues. The latter includes the overhead of
Python over C++.
"""

import argparse
import resource
import time

import numpy as np

import warpalign
from warpalign import ndimage


def shape_of(text):
    return tuple(int(part) for part in text.split(","))


def best_seconds(call, repetitions):
    """The shortest time after a first call, which compiles and allocates."""
    call()
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peak_gigabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def resample_volume(options, device):
    random = np.random.default_rng(0)
    volume = random.random(options.shape, dtype=np.float32)
    output = np.zeros(options.output, np.float32)
    scale = [(n - 1) / (m - 1) for n, m in zip(options.shape, options.output)]
    before = peak_gigabytes()

    def ours():
        ndimage.affine_transform(volume, scale, output=output, mode="mirror", device=device)

    seconds = best_seconds(ours, options.repetitions)
    print(f"{options.shape} -> {options.output}, float32")
    print(f"warpalign  {seconds:8.3f} s, {peak_gigabytes() - before:.2f} GB of host memory "
          "beyond input and output")
    if options.without_scipy:
        return
    import scipy.ndimage

    start = time.perf_counter()
    expected = scipy.ndimage.affine_transform(
        volume, scale, output_shape=options.output, output=np.float64, mode="mirror")
    theirs = time.perf_counter() - start
    print(f"SciPy      {theirs:8.3f} s, {theirs / seconds:.1f} times as long; "
          f"largest difference {np.abs(output - expected).max():.1e}")


def call_small(device):
    image = np.random.default_rng(0).random((64, 64), dtype=np.float32)
    output = np.empty_like(image)

    def hundred():
        for _ in range(100):
            ndimage.shift(image, 0.5, output=output, device=device)

    print(f"shift of 64 x 64 pixels: {best_seconds(hundred, 10) * 1e4:.0f} microseconds a call")


def call_on_device(device):
    image = warpalign.to_device(np.random.default_rng(0).random((64, 64), dtype=np.float32), device)
    output = warpalign.to_device(np.empty((64, 64), np.float32), device)

    def hundred():
        for _ in range(100):
            ndimage.shift(image, 0.5, output=output)

    seconds = best_seconds(hundred, 50)
    output.numpy()
    print(f"the same on an array of the device: {seconds * 1e4:.0f} microseconds a call")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", type=shape_of, default=(64, 512, 512))
    parser.add_argument("--output", type=shape_of, default=(77, 614, 614))
    parser.add_argument("--device")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--without-scipy", action="store_true")
    options = parser.parse_args()
    if len(options.shape) != 3 or len(options.output) != 3 or min(options.output) < 2:
        parser.error("--shape and --output have three lengths, those of the output 2 or more")
    device = warpalign.open_device(options.device)
    print(f"{device.info.name} ({device.info.platform}), warpalign {warpalign.__version__}")
    resample_volume(options, device)
    call_small(device)
    call_on_device(device)


if __name__ == "__main__":
    main()
