"""Compares warpalign, suite2p and NoRMCorre on frames with known local motion.

    python benchmarks/local_motion.py [--json benchmarks/accuracy/local-motion.json]

A scene of Gaussian blobs is evaluated in double precision at the position of each pixel of a frame,
without interpolation. Each frame drifts by up to 2.5 pixels along rows and columns, and has waves
of up to 1.5 pixels, half a wave to a whole one across the frame. A library's result is the
displacement at each pixel of the first, unmoved frame, which is the reference. An error is the
distance of that displacement from the true one.

Each installed library runs in a process of its own, on all processors, as its own pipeline calls
it:

- warpalign: `LocalRegistrar` with its default stride, and its default smoothness unless one is
  given.
- suite2p: `compute_filters_and_norm` and `compute_shifts` with its default settings, except the
  block size if another one is given. Shifts are multiples of 0.1 pixels.
- jnormcorre (NoRMCorre in JAX): `frame_corrector`, piecewise rigid, with the defaults of
  `MotionCorrect`: strides of 96 pixels (for windows of 64: 48), `overlaps` 32, which make patches
  of 128 (80), `max_shifts` 6 and `max_deviation_rigid` 3. The patches are then evenly spaced in 512
  pixels, as its upsampling assumes. Shifts are multiples of 0.1 pixels. Version 1.0.0 needs a JAX
  that still has `jax.numpy.fix`, such as 0.7.2.

The other libraries return no field. The script takes it from the positions at which they would
sample the frames, which includes their own upsampling. Each library must first find a shift of (3,
-2) pixels to half a pixel, so that a wrong sign or axis in this script does not count as a bad
result. A time is that of finding the fields of all frames, without warping, divided by their
number: the best of several after a first call, in two processes. warpalign gets one frame per call,
the others all frames.
"""

import argparse
import datetime
import importlib.metadata
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import numpy as np
from record import host_name

SIDE = 512
FRAMES = 8
RUNS = 2  # processes of each library and window
MARGIN = 32  # pixels at the edges, whose content may have left the frame
KNOWN_SHIFT = (3.0, -2.0)  # along rows and columns
PHOTONS = 3.0  # per pixel, on average
AVERAGED = 20  # frames of the mean that is the reference of the last setting
LEVELS_PER_PHOTON = 100  # in that setting, so that integers can represent the mean

BLOB_REACH = 6.0  # in standard deviations: 1.5e-8 of the peak
LARGEST = 8.0  # more than any displacement
BACKGROUND = 0.2
# The number of blobs, their standard deviations in pixels, and their peaks: cells and background.
BLOBS = [(400, (3.5, 6.0), (0.3, 1.0)), (12000, (1.2, 2.0), (0.05, 0.2))]


# ---- Frames and the truth


def motion(number):
    """The displacement of frame `number`, as an exact and smooth function of positions (2, ...)."""
    if number == 0:
        return np.zeros_like
    generator = np.random.default_rng([2, number])
    drift = generator.uniform(-2.5, 2.5, 2)
    length = generator.uniform(SIDE, 2 * SIDE, (2, 2))  # of two waves along each axis
    direction, phase = generator.uniform(0, 2 * np.pi, (2, 2, 2))
    along_rows = 2 * np.pi / length * np.cos(direction)
    along_columns = 2 * np.pi / length * np.sin(direction)

    def displacement(positions):
        phases = (np.multiply.outer(along_rows, positions[0])
                  + np.multiply.outer(along_columns, positions[1]))
        waves = np.sin(phases + phase[..., None, None])
        return drift[:, None, None] + 0.75 * waves.sum(axis=1)

    return displacement


def shifted(positions):
    return np.broadcast_to(np.reshape(KNOWN_SHIFT, (2, 1, 1)), positions.shape)


def pixels():
    return np.indices((SIDE, SIDE), np.float64)


def shown_at(displacement):
    """The position in the scene that pixel p of a frame shows: the x with x + u(x) = p."""
    positions = pixels()
    looked = positions
    while True:
        following = positions - displacement(looked)
        if np.abs(following - looked).max() < 1e-12:
            return following
        looked = following


def blobs():
    generator = np.random.default_rng(1)
    beyond = 64
    for count, deviations, peaks in BLOBS:
        yield from zip(generator.uniform(-beyond, SIDE + beyond, (count, 2)),
                       generator.uniform(*deviations, count), generator.uniform(*peaks, count))


def draw(displacement):
    """Evaluate the displaced scene in double precision."""
    looked = shown_at(displacement)
    image = np.full((SIDE, SIDE), BACKGROUND)
    for centre, deviation, peak in blobs():
        reach = BLOB_REACH * deviation + LARGEST
        low = np.clip(np.floor(centre - reach).astype(int), 0, SIDE)
        high = np.clip(np.ceil(centre + reach).astype(int) + 1, 0, SIDE)
        if (low >= high).any():
            continue
        part = (slice(low[0], high[0]), slice(low[1], high[1]))
        away = looked[(slice(None), *part)] - centre[:, None, None]
        image[part] += peak * np.exp(-(away**2).sum(axis=0) / (2 * deviation**2))
    return image


def counted(clean, generator):
    return generator.poisson(clean * (PHOTONS / clean.mean()))


def as_u16(levels):
    return np.clip(np.rint(levels), 0, 32767).astype(np.uint16)  # suite2p uses int16


def exact(scenes, generator):
    frames = as_u16(8000 * scenes)
    return frames[0], frames[1:]


def grainy(scenes, generator):
    noise = generator.normal(0, 0.5 * scenes[0].std(), scenes.shape)
    frames = as_u16(8000 * np.maximum(scenes + noise + 0.5, 0))  # no value is clipped at 0
    return frames[0], frames[1:]


def few_photons(scenes, generator):
    frames = as_u16([counted(scene, generator) for scene in scenes])
    return frames[0], frames[1:]


def few_photons_mean(scenes, generator):
    first = sum(counted(scenes[0], generator) for _ in range(AVERAGED)) / AVERAGED
    frames = [counted(scene, generator) for scene in scenes[1:]]
    return as_u16(LEVELS_PER_PHOTON * first), as_u16(LEVELS_PER_PHOTON * np.stack(frames))


SETTINGS = {
    "no noise": exact,
    "noise of half the scene's deviation": grainy,
    "3 photons a pixel": few_photons,
    f"3 photons, {AVERAGED} frames as reference": few_photons_mean,
}


def write_frames(folder):
    """All settings' references and frames, the frame of the known shift, and the true fields."""
    moves = [motion(number) for number in range(FRAMES + 1)]
    scenes = np.stack([draw(move) for move in moves])
    arrays = {"truth": np.stack([move(pixels()) for move in moves[1:]]),
              "check": as_u16(8000 * draw(shifted))[None]}
    for number, make in enumerate(SETTINGS.values()):
        generator = np.random.default_rng([3, number])
        arrays[f"reference{number}"], arrays[f"frames{number}"] = make(scenes, generator)
    np.savez(folder / "frames.npz", **arrays)


# ---- Libraries. Each function returns three values: a function that takes a reference and returns
# ---- find(frames), which returns the displacement at each pixel of the reference, an array of
# ---- shape (frames, 2, rows, columns); the settings; and the device.


def warpalign_finder(window, options):
    import warpalign

    device = warpalign.open_device(options.device)
    smoothness = {} if options.smoothness is None else {"smoothness": options.smoothness}

    def prepared(reference):
        registrar = warpalign.LocalRegistrar(device, window=window, **smoothness)
        registrar.set_reference(reference)

        def find(frames):
            found = [registrar.align(frame) for frame in frames]
            return np.stack([one.field for one in found])

        return find

    label = "".join(f", {name} {value:g}" for name, value in smoothness.items())
    return prepared, f"window {window}{label}", f"{device.info.name}, {device.info.platform}"


def suite2p_finder(window, options):
    import torch
    from suite2p import default_settings
    from suite2p.registration import nonrigid, register

    settings = default_settings()["registration"]
    cpu = torch.device("cpu")

    def prepared(reference):
        masks = register.compute_filters_and_norm(
            reference.astype(np.int16), norm_frames=settings["norm_frames"],
            spatial_smooth=settings["smooth_sigma"], spatial_taper=settings["spatial_taper"],
            block_size=(window, window), subpixel=settings["subpixel"], device=cpu)
        blocks = masks[6]
        size = torch.tensor(reference.shape).reshape(2, 1, 1)

        def find(frames):
            given = torch.from_numpy(frames.astype(np.int16))
            rows, columns, _, block_rows, block_columns, *_ = register.compute_shifts(
                masks, given, maxregshift=settings["maxregshift"],
                smooth_sigma_time=settings["smooth_sigma_time"],
                snr_thresh=settings["snr_thresh"], maxregshiftNR=settings["maxregshiftNR"])
            # The positions at which it samples the frames, after rolling them by whole pixels.
            with mock.patch.object(nonrigid.F, "grid_sample") as sample:
                nonrigid.transform_data(given, blocks[2], blocks[1], blocks[0], block_rows,
                                        block_columns)
            # In the range -1 to 1, x first.
            positions = sample.call_args.args[1].permute(0, 3, 1, 2)[:, [1, 0]]
            positions = (positions + 1) / 2 * (size - 1)
            rigid = torch.stack([rows, columns], dim=1)[..., None, None]
            return (positions + rigid).numpy() - pixels()

        return find

    return prepared, f"block size {window}", f"CPU, torch {torch.__version__}"


def jnormcorre_finder(window, options):
    import jax.numpy as jnp
    import jax.scipy.ndimage
    from jnormcorre.motion_correction import frame_corrector

    stride, overlap = 3 * window // 4, 32

    def prepared(reference):
        # Make it return the positions at which it would sample the frames.
        corrector = frame_corrector(
            reference.astype(np.float32), max_shifts=(6, 6), strides=(stride, stride),
            overlaps=(overlap, overlap), max_deviation_rigid=3)

        def find(frames):
            with mock.patch.object(jax.scipy.ndimage, "map_coordinates",
                                   lambda image, positions, **_: jnp.stack(positions)):
                positions = corrector.register_frames(frames.astype(np.float32), pw_rigid=True)
            return positions - pixels()

        return find

    return prepared, f"strides {stride}, overlaps {overlap}", f"CPU, JAX {jax.__version__}"


LIBRARIES = {
    "warpalign": warpalign_finder, "suite2p": suite2p_finder, "jnormcorre": jnormcorre_finder,
}


# ---- Measuring


def check_conventions(prepared, arrays):
    """Refuse a library if this script has its axes or signs wrong."""
    found = prepared(arrays["reference0"])(arrays["check"])
    found = np.median(found, axis=(0, 2, 3))
    assert np.abs(found - KNOWN_SHIFT).max() <= 0.5, (
        f"a shift of {KNOWN_SHIFT} was found as ({found[0]:.2f}, {found[1]:.2f})")


def errors_of(fields, truth):
    """Root mean square and 95th percentile, everywhere and away from the edges."""
    distance = np.sqrt(((fields - truth) ** 2).sum(axis=1))
    inner = distance[:, MARGIN:-MARGIN, MARGIN:-MARGIN]
    return {f"{name}{where}": float(value) for where, of in (("", distance), ("_inner", inner))
            for name, value in (("rms", np.sqrt(np.mean(of**2))), ("p95", np.percentile(of, 95)))}


def measure(name, window, options):
    """Measure all settings for one library, in this process."""
    arrays = np.load(options.folder / "frames.npz")
    prepared, what, where = LIBRARIES[name](window, options)
    check_conventions(prepared, arrays)
    rows = []
    for number, setting in enumerate(SETTINGS):
        find = prepared(arrays[f"reference{number}"])
        frames = arrays[f"frames{number}"]
        fields = find(frames)
        seconds = []
        for _ in range(options.repetitions):
            start = time.perf_counter()
            find(frames)
            seconds.append(time.perf_counter() - start)
        rows.append({"library": name, "version": importlib.metadata.version(name), "what": what,
                     "on": where, "frames": setting,
                     "ms_per_frame": 1e3 * min(seconds) / len(frames),
                     **errors_of(fields, arrays["truth"])})
    return rows


def run_apart(name, window, folder):
    command = [sys.executable, __file__, *sys.argv[1:], "--only", name, "--windows", str(window),
               "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        why = next((line for line in reversed(lines) if "Error" in line), lines[-1])
        print(f"skipped: {name}, windows of {window}: {why}", file=sys.stderr)
        return []
    return json.loads(done.stdout.splitlines()[-1])


def rows_of(name, windows, folder):
    """The rows of one library, with the shortest times of all runs, whose results must agree."""
    for window in windows:
        rows = run_apart(name, window, folder)
        if not rows:
            return
        for _ in range(RUNS - 1):
            for row, again in zip(rows, run_apart(name, window, folder)):
                row["ms_per_frame"] = min(row["ms_per_frame"], again["ms_per_frame"])
        yield from rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--windows", type=lambda text: [int(word) for word in text.split(",")],
                        default=[128, 64], help="sides of windows and blocks, in pixels [128,64]")
    parser.add_argument("--smoothness", type=float, help="smoothness of warpalign")
    parser.add_argument("--device", help="device of warpalign")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--libraries", default=",".join(LIBRARIES))
    parser.add_argument("--json", type=Path, help="file of the record")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = set(options.libraries.split(",")) - set(LIBRARIES)
    if unknown:
        parser.error(f"--libraries: there is no {', '.join(sorted(unknown))}")
    if options.only:
        print(json.dumps(measure(options.only, options.windows[0], options)))
        return
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write_frames(folder)
        truth = np.load(folder / "frames.npz")["truth"]
        rows = [row for name in options.libraries.split(",")
                for row in rows_of(name, options.windows, folder)]
    spread = float(np.sqrt(truth.var(axis=(2, 3)).sum(axis=1).mean()))
    record = {
        "command": "benchmarks/local_motion.py",
        "date": datetime.date.today().isoformat(),
        "host": host_name(), "side": SIDE, "frames": FRAMES, "margin": MARGIN,
        "displacement_rms": float(np.sqrt((truth**2).sum(axis=1).mean())), "spread": spread,
        "rows": sorted(rows, key=lambda row: list(SETTINGS).index(row["frames"]))}
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    print(f"{FRAMES} frames of {SIDE} x {SIDE}; displacements {record['displacement_rms']:.2f} px "
          f"(root mean square), {spread:.2f} px without each frame's mean; {record['host']}\n")
    print("| frames | library | settings | error, px: rms | 95 % "
          f"| {MARGIN} px from the edges: rms | 95 % | time a frame |")
    print("| --- " * 8 + "|")
    for row in record["rows"]:
        numbers = " | ".join(f"{row[key]:.3f}" for key in ("rms", "p95", "rms_inner", "p95_inner"))
        print(f"| {row['frames']} | {row['library']} {row['version']} | {row['what']} | {numbers} "
              f"| {row['ms_per_frame']:.0f} ms |")


if __name__ == "__main__":
    main()
