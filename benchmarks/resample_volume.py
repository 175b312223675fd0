"""Compares libraries that resample a volume by a cubic spline, from NumPy array to NumPy array.

    python benchmarks/resample_volume.py --shape 64,512,512 --output 77,614,614
    python benchmarks/resample_volume.py --shape 800,800,800 --output 560,560,1200 --device cuda

Each installed library runs in a process of its own, whose peak host memory is measured. A time is
the best of several after a first call that compiles and allocates (for SciPy, one call). The error
is the largest difference from double precision on some planes, away from the edges, which libraries
extend in different ways. Values are 0 to 1. Rows that are not splines are marked.
"""

import argparse
import importlib.metadata
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

EDGE = 24  # samples after which the edge has no influence on a cubic spline in single precision
PLANES = 3


def shape_of(text):
    return tuple(int(part) for part in text.split(","))


def scale_of(options):
    return [(n - 1) / (m - 1) for n, m in zip(options.shape, options.output)]


def warpalign_call(volume, output, options):
    import warpalign

    device = warpalign.open_device(options.device)
    scale = scale_of(options)
    return lambda: warpalign.ndimage.affine_transform(
        volume, scale, output=output, mode="mirror", device=device), device.info.name


def scipy_call(volume, output, options):
    from scipy import ndimage

    def call():
        ndimage.affine_transform(
            volume, scale_of(options), output_shape=output.shape, output=output, mode="mirror")

    return call, "1 thread"


def cupy_call(volume, output, options):
    import cupy
    from cupyx.scipy import ndimage

    def call():
        moved = ndimage.affine_transform(
            cupy.asarray(volume), cupy.asarray(scale_of(options)), output_shape=output.shape,
            mode="mirror")
        moved.get(out=output)

    return call, cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()


def torch_call(volume, output, options):
    import torch

    where = "cuda" if torch.cuda.is_available() else "cpu"

    def call():
        given = torch.from_numpy(volume)[None, None].to(where)
        moved = torch.nn.functional.interpolate(
            given, output.shape, mode="trilinear", align_corners=True)
        output[...] = moved[0, 0].cpu().numpy()

    return call, f"{where}, trilinear, no spline"


def volresample_call(volume, output, options):
    import volresample

    volresample.set_num_threads(os.cpu_count())

    def call():
        output[...] = volresample.resample(volume, output.shape, mode="cubic", align_corners=True)

    return call, f"{os.cpu_count()} threads"


def splineops_call(volume, output, options):
    from splineops.resize import resize

    resize = getattr(resize, "resize", resize)

    def call():
        resize(volume, output=output, output_size=output.shape, method="cubic")

    return call, f"{os.cpu_count()} threads"


def torch_interpol_call(volume, output, options):
    import interpol
    import torch

    where = "cuda" if torch.cuda.is_available() else "cpu"

    def call():
        given = torch.from_numpy(volume)[None, None].to(where)
        moved = interpol.resize(
            given, shape=list(output.shape), anchor="centers", interpolation=3, bound="dct1")
        output[...] = moved[0, 0].cpu().numpy()

    return call, where


def jitfields_call(volume, output, options):
    import torch
    from jitfields.resize import resize

    where = "cuda" if torch.cuda.is_available() else "cpu"

    def call():
        given = torch.from_numpy(volume).to(where)
        moved = resize(
            given, shape=list(output.shape), anchor="center", order=3, bound="dct1")
        output[...] = moved.cpu().numpy()

    return call, where


LIBRARIES = {
    "warpalign": ("warpalign", warpalign_call), "scipy": ("scipy", scipy_call),
    "cupy": ("cupy-cuda13x", cupy_call), "torch": ("torch", torch_call),
    "volresample": ("volresample", volresample_call), "splineops": ("splineops", splineops_call),
    "torch-interpol": ("torch-interpol", torch_interpol_call),
    "jitfields": ("jitfields", jitfields_call),
}


def weights(n, m):
    """The matrix in double precision that resamples n samples at m points."""
    from scipy import ndimage

    return ndimage.affine_transform(
        np.eye(n), [(n - 1) / (m - 1), 1.0], output_shape=(m, n), mode="mirror")


def error_of(volume, output):
    """The largest difference from double precision on some planes, away from the edges."""
    axes = [weights(n, m) for n, m in zip(volume.shape, output.shape)]
    inner = []
    for n, m in zip(volume.shape, output.shape):
        skipped = min(-(-EDGE * m // n), (m - 1) // 2)
        inner.append(slice(skipped, m - skipped))
    planes = np.linspace(inner[0].start, inner[0].stop - 1, PLANES).astype(int)
    worst = 0.0
    for plane in planes:
        layer = np.tensordot(axes[0][plane], volume, axes=(0, 0))
        expected = axes[1] @ layer @ axes[2].T
        difference = output[plane] - expected
        worst = max(worst, float(np.abs(difference[inner[1], inner[2]]).max()))
    return worst


def peak_gigabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure(name, options):
    """Measure time, memory and error of one library, in this process."""
    volume = np.random.default_rng(0).random(options.shape, dtype=np.float32)
    output = np.zeros(options.output, np.float32)
    output += 1  # touch the memory before the peak is measured
    call, what = LIBRARIES[name][1](volume, output, options)
    before = peak_gigabytes()
    seconds = []
    for _ in range(1 if name == "scipy" else options.repetitions + 1):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    memory = peak_gigabytes() - before
    return {"version": importlib.metadata.version(LIBRARIES[name][0]), "what": what,
            "first": seconds[0], "seconds": min(seconds[1:] or seconds), "gigabytes": memory,
            "error": error_of(volume, output)}


def run_apart(name, options):
    command = [sys.executable, __file__, *sys.argv[1:], "--only", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        print(f"skipped: {name}: {lines[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", type=shape_of, default=(64, 512, 512))
    parser.add_argument("--output", type=shape_of, default=(77, 614, 614))
    parser.add_argument("--device", help="device of warpalign")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--libraries", default=",".join(LIBRARIES))
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if len(options.shape) != 3 or len(options.output) != 3 or min(options.output) < 2:
        parser.error("--shape and --output have three lengths, those of the output 2 or more")
    unknown = set(options.libraries.split(",")) - set(LIBRARIES)
    if unknown:
        parser.error(f"--libraries: there is no {', '.join(sorted(unknown))}")
    if options.only:
        print(json.dumps(measure(options.only, options)))
        return
    print(f"{options.shape} -> {options.output}, float32, {os.cpu_count()} processors\n")
    print("| library | on | time | first call | host memory beyond input and output | error |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in options.libraries.split(","):
        found = run_apart(name, options)
        if found is not None:
            print(f"| {name} {found['version']} | {found['what']} | {found['seconds']:.3f} s | "
                  f"{found['first']:.3f} s | {found['gigabytes']:.2f} GB | {found['error']:.1e} |",
                  flush=True)


if __name__ == "__main__":
    main()
