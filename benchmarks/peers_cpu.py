#!/usr/bin/env python3
"""Measures SciPy, OpenCV and scikit-image on the CPU, in the cases of `warpalign bench`."""

import sys

import numpy as np
import recipe
import record

BILINEAR = "bilinear, texture"


def scipy_cases(results, options):
    import scipy
    from scipy import fft, ndimage

    column = "scipy"
    results.add_column(column, record.host_name(), f"SciPy {scipy.__version__}", "cpu")
    for side in options.sizes:
        images = record.copies_of(record.noise((side, side)))
        copy(results, column, images, np.copyto)
        check = record.Checker(images[0])
        spline(results, column, ndimage, images, check)
        warp(results, column, ndimage, images, check, *record.rotation(side, 17), "rotation",
             {(1, True): "bilinear, full", (3, False): "evaluation alone, full",
              (3, True): "exact + full"}, BILINEAR)
        forward = lambda i: fft.rfft2(images[i % len(images)], workers=-1)
        results.add(column, "fft", "forward", (side, side), record.wall_times(forward),
                    record.error_of_spectrum(forward(0), images[0]), 1e-6, unit="images",
                    operations=1, buffers=len(images))
        registration(results, column, recipe.Registration(np, ndimage, fft, side), side)
    for side in options.volumes:
        volumes = record.copies_of(record.noise((side,) * 3))
        copy(results, column, volumes, np.copyto)
        check = record.Checker(volumes[0])
        spline(results, column, ndimage, volumes, check)
        warp(results, column, ndimage, volumes, check, *record.diagonal_rotation(side, 17),
             "tricubic", {(1, True): "trilinear, full", (3, False): "tricubic, 64 neighbours",
                          (3, True): "exact prefilter + 64 neighbours"}, "trilinear, texture")


def copy(results, column, images, copy_to):
    targets = [np.empty_like(image) for image in images]
    run = lambda i: copy_to(targets[i % len(images)], images[i % len(images)])
    results.add(column, "copy", "copy", images[0].shape, record.wall_times(run), 0, 0,
                byte_count=2 * images[0].nbytes, buffers=len(images))


def spline(results, column, ndimage, images, check):
    run = lambda i: ndimage.spline_filter(images[i % len(images)], 3, np.float32, mode="mirror")
    error = check.error_of_coefficients(run(0))
    results.add(column, "prefilter", "exact", images[0].shape, record.wall_times(run), error, 1e-5,
                byte_count=2 * images[0].nbytes, buffers=len(images))


def warp(results, column, ndimage, images, check, matrix, offset, suite, names, yardstick):
    for (order, prefilter), name in names.items():
        run = lambda i: ndimage.affine_transform(images[i % len(images)], matrix, offset,
                                                 order=order, mode="mirror", prefilter=prefilter,
                                                 output=np.float32)
        error = check.error_of_warp(run(0), matrix, offset, order, prefilter)
        unit = "interpolations" if images[0].ndim == 3 else "pixels"
        results.add(column, suite, name, images[0].shape, record.wall_times(run), error, 1e-4,
                    byte_count=2 * images[0].nbytes, yardstick=yardstick, unit=unit,
                    buffers=len(images))


def registration(results, column, register, side):
    reference, moving, matrix, offset = recipe.pair(side)
    found = register(reference, moving)
    error = recipe.corner_error(*found, matrix, offset, side)
    results.add(column, "registration", "pair, from host memory", (side, side),
                record.wall_times(lambda _: register(reference, moving)), error,
                recipe.TOLERANCE * side, unit="frames", operations=1)


def opencv_cases(results, options):
    import cv2

    column = "opencv"
    results.add_column(column, record.host_name(),
                       f"OpenCV {cv2.__version__}, {cv2.getNumThreads()} threads", "cpu")
    for side in options.sizes:
        images = record.copies_of(record.noise((side, side)))
        copy(results, column, images, lambda target, source: cv2.copyTo(source, None, target))
        matrix, offset = record.rotation(side, 17)
        swap = np.array([[0, 1], [1, 0]])  # OpenCV: columns before rows
        affine = np.hstack([swap @ matrix @ swap, (swap @ offset)[:, None]])
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        run = lambda i: cv2.warpAffine(images[i % len(images)], affine, (side, side), flags=flags,
                                       borderMode=cv2.BORDER_REFLECT_101)
        # OpenCV's weights have 5 fractional bits, those of a texture unit 8.
        error = record.Checker(images[0]).error_of_warp(run(0), matrix, offset, 1)
        results.add(column, "rotation", BILINEAR, (side, side), record.wall_times(run), error,
                    2 / 32, byte_count=2 * images[0].nbytes, yardstick=BILINEAR,
                    buffers=len(images))
        opencv_sobel(results, column, cv2, side)
        registration(results, column, OpencvRegistration(cv2, side), side)


def opencv_sobel(results, column, cv2, side):
    from scipy import ndimage

    images = record.copies_of((record.noise((side, side)) * 255).astype(np.uint8))

    def run(i):
        edge = cv2.BORDER_REPLICATE
        image = images[i % len(images)]
        return cv2.magnitude(cv2.Sobel(image, cv2.CV_32F, 1, 0, borderType=edge),
                             cv2.Sobel(image, cv2.CV_32F, 0, 1, borderType=edge))

    exact = images[0].astype(np.float64)
    truth = np.hypot(ndimage.sobel(exact, 0, mode="nearest"), ndimage.sobel(exact, 1, mode="nearest"))
    results.add(column, "sobel", "packed", (side, side), record.wall_times(run),
                float(np.abs(run(0) - truth).max()), 1e-3, byte_count=5 * side * side,
                yardstick="plain, nine reads", buffers=len(images))


class OpencvRegistration:
    """The recipe with functions of OpenCV."""

    def __init__(self, cv2, side):
        self.cv2, self.side = cv2, side
        self.window = cv2.createHanningWindow((side, side), cv2.CV_32F)

    def gradient(self, image):
        cv2 = self.cv2
        magnitude = cv2.magnitude(cv2.Sobel(image, cv2.CV_32F, 1, 0),
                                  cv2.Sobel(image, cv2.CV_32F, 0, 1))
        return (magnitude - magnitude.mean()) * self.window

    def log_polar(self, gradient):
        cv2, side = self.cv2, self.side
        spectrum = cv2.dft(gradient, flags=cv2.DFT_COMPLEX_OUTPUT)
        magnitude = np.fft.fftshift(cv2.pow(cv2.magnitude(spectrum[..., 0], spectrum[..., 1]), 0.3))
        return cv2.warpPolar(magnitude, (side, side), (side / 2, side / 2), side / 2,
                             cv2.INTER_LINEAR | cv2.WARP_POLAR_LOG)[: side // 2]

    def __call__(self, reference, moving):
        cv2, side = self.cv2, self.side
        first, second = self.gradient(reference), self.gradient(moving)
        (column, row), _ = cv2.phaseCorrelate(self.log_polar(first), self.log_polar(second))
        angle, scale = -row * 2 * np.pi / side, np.exp(-column * np.log(side / 2) / side)
        centre = np.full(2, (side - 1) / 2)
        best = None
        for half_turn in (0, np.pi):
            c, s = scale * np.cos(angle + half_turn), scale * np.sin(angle + half_turn)
            matrix = np.array([[c, -s], [s, c]])  # rows before columns
            offset = centre - matrix @ centre
            affine = np.array([[c, s, offset[1]], [-s, c, offset[0]]])
            rotated = cv2.warpAffine(second, affine, (side, side),
                                    flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
            (x, y), height = cv2.phaseCorrelate(first, rotated)
            if best is None or height > best[0]:
                best = (height, matrix, offset + matrix @ np.array([y, x]))
        return best[1], best[2]


def skimage_cases(results, options):
    import skimage
    from skimage import transform

    column = "scikit-image"
    results.add_column(column, record.host_name(), f"scikit-image {skimage.__version__}", "cpu")
    for side in options.sizes:
        images = record.copies_of(record.noise((side, side)))
        matrix, offset = record.rotation(side, 17)
        swap = np.array([[0, 1], [1, 0]])
        full = np.eye(3)
        full[:2, :2], full[:2, 2] = swap @ matrix @ swap, swap @ offset
        run = lambda i: transform.warp(images[i % len(images)], full, order=1, mode="reflect",
                                       preserve_range=True)
        error = record.Checker(images[0]).error_of_warp(run(0), matrix, offset, 1)
        results.add(column, "rotation", "bilinear, full", (side, side), record.wall_times(run),
                    error, 1e-3, byte_count=2 * images[0].nbytes, yardstick=BILINEAR,
                    buffers=len(images))


def main():
    options = record.arguments(__doc__, [512, 1024, 2048], [128])
    results = record.Record()
    for name, cases in (("scipy", scipy_cases), ("cv2", opencv_cases), ("skimage", skimage_cases)):
        try:
            cases(results, options)
        except ImportError as error:
            print(f"{name} is skipped: {error}", file=sys.stderr)
    results.write(options.json, "benchmarks/peers_cpu.py")
    return 3 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
