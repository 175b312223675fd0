"""Reduction to a quarter without aliasing: time and error beside other packages.

    pip install scikit-image pillow opencv-python-headless
    python benchmarks/antialiased_reduction.py

Time: 4096 x 4096 float32, the least of nine runs: of the clock, and of the processor in all
threads, which other load changes less. Arrays are in host memory; the line "on the device" has
input and output there. Errors: rings that become finer outwards, reduced from 4096 x 4096 to 1024 x
1024. Below 0.3 cycles a pixel of the smaller image they should keep their values (root mean square
difference, relative to that of the rings); above 0.6 they should vanish (root mean square of what
is left).
"""

import time

import cv2
import numpy as np
import PIL.Image
import skimage.transform
import warpalign
from warpalign import ndimage

FACTOR, SIDE = 4, 4096


def timed(function, runs=9):
    function()
    clock, processor = [], []
    for _ in range(runs):
        start = time.perf_counter(), time.process_time()
        function()
        clock.append(time.perf_counter() - start[0])
        processor.append(time.process_time() - start[1])
    return min(clock) * 1e3, min(processor) * 1e3


def rings(side, step):
    """The rings at the centres of pixels that are `step` samples wide, and their frequency there,
    in cycles per reduced pixel."""
    at = (np.arange(side) + 0.5) * step
    squared = (at[:, None] - SIDE / 2) ** 2 + (at - SIDE / 2) ** 2
    rate = 0.125 / (SIDE / 2)  # cycles a sample, at the middles of the edges, per sample
    return np.cos(np.pi * rate * squared * 2), 2 * rate * np.sqrt(squared) * FACTOR


def main():
    image, _ = rings(SIDE, 1)
    image = image.astype(np.float32)
    ideal, frequency = rings(SIDE // FACTOR, FACTOR)
    small = (SIDE // FACTOR, SIDE // FACTOR)
    options = {"mode": "reflect", "grid_mode": True}
    device = warpalign.open_device()
    on_device = warpalign.to_device(image, device=device)
    output = warpalign.to_device(np.zeros(small, np.float32), device=device)
    pixel = warpalign.to_device(np.zeros((1, 1), np.float32), device=device)

    def zoom(order, antialias):
        return ndimage.zoom(image, 1 / FACTOR, order=order, antialias=antialias, device=device,
                            **options)

    def zoom_on_device():
        ndimage.zoom(on_device, 1 / FACTOR, output=output, order=1, antialias=True, **options)
        pixel.numpy()  # waits
        return None

    methods = {
        "zoom, order 1": lambda: zoom(1, False),
        "zoom, order 1, antialias=True": lambda: zoom(1, True),
        "the same on the device": zoom_on_device,
        "zoom, order 3, antialias=True": lambda: zoom(3, True),
        "zoom, order 3, 'least-squares'": lambda: zoom(3, "least-squares"),
        "skimage resize, order 1, anti_aliasing=True": lambda: skimage.transform.resize(
            image, small, order=1, anti_aliasing=True),
        "OpenCV INTER_AREA": lambda: cv2.resize(image, small, interpolation=cv2.INTER_AREA),
        "Pillow BILINEAR": lambda: np.asarray(PIL.Image.fromarray(image).resize(
            small, PIL.Image.Resampling.BILINEAR)),
        "Pillow LANCZOS": lambda: np.asarray(PIL.Image.fromarray(image).resize(
            small, PIL.Image.Resampling.LANCZOS)),
    }
    low, high = frequency < 0.3, frequency > 0.6
    print(f"{device.info.id}, {device.info.name}, {device.info.driver}")
    print("| method | clock, ms | processor, ms | error below 0.3 | left above 0.6 |")
    print("| --- | --- | --- | --- | --- |")
    for name, method in methods.items():
        clock, processor = timed(method, 2 if "skimage" in name else 9)
        result = method()
        if result is None:
            result = output.numpy()
        error = np.sqrt(np.mean((result - ideal)[low] ** 2) / np.mean(ideal[low] ** 2))
        left = np.sqrt(np.mean(result[high] ** 2))
        print(f"| {name} | {clock:.1f} | {processor:.1f} | {error:.3f} | {left:.4f} |")


if __name__ == "__main__":
    main()
