#!/usr/bin/env python3
"""Measures CuPy, PyTorch and cuCIM on one NVIDIA GPU, in the cases of `warpalign bench`."""

import sys

import numpy as np
import recipe
import record

BILINEAR = "bilinear, texture"
RUNS = 16  # in one sample


def event_times(make_event, elapsed, run, budget=0.3, most=30):
    """Milliseconds per run, from events around RUNS consecutive runs."""
    turn = 0
    for _ in range(3):
        run(turn)
        turn += 1
    times = []
    while not times or (sum(times) * RUNS < budget * 1e3 and len(times) < most):
        before, after = make_event(), make_event()
        before.record()
        for _ in range(RUNS):
            run(turn)
            turn += 1
        after.record()
        after.synchronize()
        times.append(elapsed(before, after) / RUNS)
    return times


def cupy_cases(results, options):
    import cupy
    from cupyx.scipy import fft, ndimage

    column = "cupy"
    card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    results.add_column(column, card, f"CuPy {cupy.__version__}", "gpu")
    time = lambda run: event_times(cupy.cuda.Event, cupy.cuda.get_elapsed_time, run)
    for side in options.sizes:
        images, check = cupy_images(cupy, (side, side))
        cupy_copy(results, column, cupy, time, images)
        cupy_spline(results, column, cupy, ndimage, time, images, check)
        cupy_warp(results, column, cupy, ndimage, time, images, check, *record.rotation(side, 17),
                  "rotation", {(1, True): "bilinear, full", (3, False): "evaluation alone, full",
                               (3, True): "exact + full"}, BILINEAR)
        cupy_texture(results, column, cupy, ndimage, time, images, check, side)
        spectrum = cupy.asnumpy(fft.rfft2(images[0]))
        results.add(column, "fft", "forward", (side, side),
                    time(lambda i: fft.rfft2(images[i % len(images)])),
                    record.error_of_spectrum(spectrum, cupy.asnumpy(images[0])), 1e-6,
                    clock="device", unit="images", operations=1, runs=RUNS, buffers=len(images))
        cupy_registration(results, column, cupy, ndimage, fft, side)
    for side in options.volumes:
        volumes, check = cupy_images(cupy, (side,) * 3)
        cupy_copy(results, column, cupy, time, volumes)
        cupy_spline(results, column, cupy, ndimage, time, volumes, check)
        cupy_warp(results, column, cupy, ndimage, time, volumes, check,
                  *record.diagonal_rotation(side, 17), "tricubic",
                  {(1, True): "trilinear, full", (3, False): "tricubic, 64 neighbours",
                   (3, True): "exact prefilter + 64 neighbours"}, "trilinear, texture")


def cupy_images(cupy, shape):
    image = record.noise(shape)
    return record.copies_of(cupy.asarray(image), cupy.copy), record.Checker(image)


def cupy_copy(results, column, cupy, time, images):
    targets = [cupy.empty_like(image) for image in images]
    run = lambda i: cupy.copyto(targets[i % len(images)], images[i % len(images)])
    results.add(column, "copy", "copy", images[0].shape, time(run), 0, 0, clock="device",
                byte_count=2 * images[0].nbytes, runs=RUNS, buffers=len(images))


def cupy_spline(results, column, cupy, ndimage, time, images, check):
    run = lambda i: ndimage.spline_filter(images[i % len(images)], 3, cupy.float32, mode="mirror")
    error = check.error_of_coefficients(cupy.asnumpy(run(0)))
    results.add(column, "prefilter", "exact", images[0].shape, time(run), error, 1e-4,
                clock="device", byte_count=2 * images[0].nbytes, runs=RUNS, buffers=len(images))


def cupy_warp(results, column, cupy, ndimage, time, images, check, matrix, offset, suite, names,
              yardstick):
    on_device = cupy.asarray(matrix)
    for (order, prefilter), name in names.items():
        run = lambda i: ndimage.affine_transform(images[i % len(images)], on_device, offset,
                                                 order=order, mode="mirror", prefilter=prefilter,
                                                 output=cupy.float32)
        error = check.error_of_warp(cupy.asnumpy(run(0)), matrix, offset, order, prefilter)
        unit = "interpolations" if images[0].ndim == 3 else "pixels"
        results.add(column, suite, name, images[0].shape, time(run), error, 1e-2, clock="device",
                    byte_count=2 * images[0].nbytes, yardstick=yardstick, unit=unit, runs=RUNS,
                    buffers=len(images))


def cupy_texture(results, column, cupy, ndimage, time, images, check, side):
    """CuPy's bilinear textures. They have no mirrored edges, so only the inside is checked."""
    matrix, offset = record.rotation(side, 17)
    whole = np.vstack([np.column_stack([matrix, offset]), [0, 0, 1]])
    on_device = cupy.asarray(whole, dtype=cupy.float32)
    run = lambda i: ndimage.affine_transform(images[i % len(images)], on_device, order=1,
                                             mode="nearest", texture_memory=True)
    inside = record.Checker(cupy.asnumpy(images[0]))
    where = matrix @ inside.points + offset[:, None]
    inside.points = inside.points[:, ((where >= 0) & (where <= side - 1)).all(axis=0)]
    error = inside.error_of_warp(cupy.asnumpy(run(0)), matrix, offset, 1)
    results.add(column, "rotation", BILINEAR, (side, side), time(run), error, 3 / 256,
                clock="device", byte_count=2 * images[0].nbytes, yardstick=BILINEAR, runs=RUNS,
                buffers=len(images))


def cupy_registration(results, column, cupy, ndimage, fft, side):
    reference, moving, matrix, offset = recipe.pair(side)
    register = recipe.Registration(cupy, ndimage, with_frequencies(cupy, fft), side)
    first, second = cupy.asarray(reference), cupy.asarray(moving)
    for name, run in (
            ("pair, on the device", lambda _: register(first, second)),
            ("pair, from host memory",
             lambda _: register(cupy.asarray(reference), cupy.asarray(moving)))):
        error = recipe.corner_error(*run(0), matrix, offset, side)
        results.add(column, "registration", name, (side, side), record.wall_times(run), error,
                    recipe.TOLERANCE * side, unit="frames", operations=1)


def with_frequencies(cupy, fft):
    """cupyx.scipy.fft, which caches plans, with the helpers that only cupy.fft has."""

    class Fft:
        rfft2, irfft2 = staticmethod(fft.rfft2), staticmethod(fft.irfft2)
        fftfreq, rfftfreq = staticmethod(cupy.fft.fftfreq), staticmethod(cupy.fft.rfftfreq)
        fftshift = staticmethod(cupy.fft.fftshift)

    return Fft


def torch_cases(results, options):
    import torch

    if not torch.cuda.is_available():
        raise ImportError("PyTorch finds no GPU")
    column = "torch"
    results.add_column(column, torch.cuda.get_device_name(0), f"PyTorch {torch.__version__}", "gpu")
    time = lambda run: event_times(lambda: torch.cuda.Event(enable_timing=True),
                                   lambda before, after: before.elapsed_time(after), run)
    for side in options.sizes:
        image = record.noise((side, side))
        images = record.copies_of(torch.from_numpy(image).cuda()[None, None], torch.clone)
        targets = [torch.empty_like(one) for one in images]
        results.add(column, "copy", "copy", image.shape,
                    time(lambda i: targets[i % len(images)].copy_(images[i % len(images)])), 0, 0,
                    clock="device", byte_count=2 * image.nbytes, runs=RUNS, buffers=len(images))
        matrix, offset = record.rotation(side, 17)
        field = torch.from_numpy(torch_field(side, matrix, offset)).cuda()
        for mode, name in (("bilinear", "bilinear, full"), ("bicubic", "Keys, no B-spline")):
            run = lambda i: torch.nn.functional.grid_sample(
                images[i % len(images)], field, mode=mode, padding_mode="reflection",
                align_corners=True)
            error = 0.0
            if mode == "bilinear":
                found = run(0)[0, 0].cpu().numpy()
                error = record.Checker(image).error_of_warp(found, matrix, offset, 1)
            results.add(column, "rotation", name, image.shape, time(run), error, 1e-2,
                        clock="device", byte_count=2 * image.nbytes, yardstick=BILINEAR, runs=RUNS,
                        buffers=len(images))


def torch_field(side, matrix, offset):
    """The points for grid_sample: (x, y) from -1 to 1 between the centres of the corner pixels."""
    rows, columns = np.indices((side, side))
    where = np.tensordot(matrix, np.stack([rows, columns]), 1) + offset[:, None, None]
    return (2 * where[::-1] / (side - 1) - 1).transpose(1, 2, 0)[None].astype(np.float32)


def cucim_cases(results, options):
    import cucim
    import cupy
    from cucim.skimage import transform

    column = "cucim"
    card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    results.add_column(column, card, f"cuCIM {cucim.__version__}", "gpu")
    time = lambda run: event_times(cupy.cuda.Event, cupy.cuda.get_elapsed_time, run)
    swap = np.array([[0, 1], [1, 0]])  # columns before rows
    for side in options.sizes:
        images, check = cupy_images(cupy, (side, side))
        matrix, offset = record.rotation(side, 17)
        full = np.eye(3)
        full[:2, :2], full[:2, 2] = swap @ matrix @ swap, swap @ offset
        on_device = cupy.asarray(full)
        for order, name in ((1, "bilinear, full"), (3, "exact + full")):
            run = lambda i: transform.warp(images[i % len(images)], on_device, order=order,
                                           mode="reflect", preserve_range=True, clip=False)
            error = check.error_of_warp(cupy.asnumpy(run(0)), matrix, offset, order)
            results.add(column, "rotation", name, (side, side), time(run), error, 1e-2,
                        clock="device", byte_count=2 * images[0].nbytes, yardstick=BILINEAR,
                        runs=RUNS, buffers=len(images))


def main():
    options = record.arguments(__doc__, [512, 1024, 2048, 4096, 8192], [256, 512])
    results = record.Record()
    for name, cases in (("cupy", cupy_cases), ("torch", torch_cases), ("cucim", cucim_cases)):
        try:
            cases(results, options)
        except ImportError as error:
            print(f"{name} is skipped: {error}", file=sys.stderr)
    results.write(options.json, "benchmarks/peers_gpu.py")
    return 3 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
