"""Times `warpalign stack` on a recording of two channels and on a series of volumes, with truth.

    python benchmarks/recordings.py --device cuda:0 --folder /dev/shm

The recording has uint16 frames, which drift by known fractions of a pixel; it is registered by its
first channel, and both are written, from TIFF to TIFF. The volumes are int16, of a head of Gaussian
spots that moves as one; they are registered by rigid motions, from `.nii` to `.nii`. Each command
runs twice, and the time of the second whole process counts. The errors are root mean squares of
the reported motion: in pixels, and in millimetres and degrees.

With `--peers`, those of these programs that are installed do the same, on all processors:

- suite2p: rigid, with its default settings, from TIFF to TIFF in batches of 100 frames, the second
  channel moved as the first. It moves frames by whole pixels.
- jnormcorre (1.0.0, which needs JAX before 0.8): rigid, to the first frame, up to 16 pixels; as
  above. It finds tenths of a pixel, and moves frames by their spectra.
- niimath: `-moco` of the volumes, with the table of its parameters.

Needs NumPy, NiBabel, tifffile, and the program (`--program`). Both inputs need 2.1 GB.
"""

import argparse
import csv
import importlib.util
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nibabel
import numpy as np
import tifffile

SPOTS = 220
VOXEL = np.array([3.5, 3.0, 3.0])  # millimetres along z, y and x


def scene(random, side, cutoff):
    """The spectrum of smooth noise, of mean 0 and deviation 1."""
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side))
    noise = np.fft.irfft2(np.fft.rfft2(random.standard_normal((side, side)))
                          * np.exp(-((frequency / cutoff) ** 2)), (side, side))
    return np.fft.rfft2((noise - noise.mean()) / noise.std())


def draw_recording(path, frames, side):
    """Writes the recording. Returns the drifts of its frames along y and x, in pixels."""
    random = np.random.default_rng(1)
    margin = 64
    whole = side + 2 * margin
    channels = [scene(random, whole, cutoff) for cutoff in (0.08, 0.05)]
    t = np.arange(frames)
    drift = np.stack([6 * np.sin(t / 37), 5 * np.cos(t / 53)], 1)
    drift += random.normal(0, 0.7, drift.shape)
    waves = -2j * np.pi * np.fft.fftfreq(whole)[:, None], -2j * np.pi * np.fft.rfftfreq(whole)

    def pages():
        for along in drift:
            moved = np.exp(waves[0] * along[0] + waves[1] * along[1])
            for channel in channels:
                image = np.fft.irfft2(channel * moved, (whole, whole))
                image = 600 + 150 * image[margin:-margin, margin:-margin]
                image += 30 * random.standard_normal((side, side))
                yield np.clip(image, 0, 65535).astype(np.uint16)

    tifffile.imwrite(path, pages(), shape=(frames, 2, side, side), dtype=np.uint16, imagej=True,
                     metadata={"axes": "TCYX"})
    return drift - drift[0]


def rotation(degrees):
    """About x, then y, then z."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def draw_series(path, volumes, shape=(36, 64, 64)):
    """Writes the series. Returns the translations (mm) and rotations (degrees) about x, y, z."""
    random = np.random.default_rng(2)
    half = (np.array(shape) - 1) / 2 * VOXEL
    centers = random.uniform(-0.8, 0.8, (SPOTS, 3)) * half[::-1]
    widths = random.uniform(5, 12, SPOTS)
    heights = random.uniform(0.3, 1, SPOTS)
    axes = [np.arange(n) * v - h for n, v, h in zip(shape, VOXEL, half)]
    motion = np.cumsum(random.normal(0, 1, (volumes, 6)) * ([0.05] * 3 + [0.04] * 3), axis=0)
    motion -= motion[0]
    series = np.empty((*shape[::-1], volumes), np.int16)
    for i, parameters in enumerate(motion):
        volume = np.zeros(shape)
        moved = centers @ rotation(parameters[3:]).T + parameters[:3]
        for (x, y, z), width, height in zip(moved, widths, heights):
            along = [np.exp(-((axis - c) ** 2) / (2 * width**2))
                     for axis, c in zip(axes, (z, y, x))]
            volume += height * np.einsum("i,j,k->ijk", *along)
        volume = 300 + 900 * volume + 8 * random.standard_normal(shape)
        series[..., i] = volume.T.astype(np.int16)
    affine = np.diag([*VOXEL[::-1], 1.0])
    affine[:3, 3] = -half[::-1]
    image = nibabel.Nifti1Image(series, affine)
    image.header.set_zooms((*VOXEL[::-1], 2.0))
    nibabel.save(image, path)
    return motion


SUITE2P = """
import sys
import numpy as np
import tifffile
import torch
from suite2p import default_settings
from suite2p.registration import register

settings = default_settings()["registration"]
frames = tifffile.memmap(sys.argv[1])
masks = register.compute_filters_and_norm(
    frames[0, 0].astype(np.int16), norm_frames=settings["norm_frames"],
    spatial_smooth=settings["smooth_sigma"], spatial_taper=settings["spatial_taper"],
    block_size=None, subpixel=settings["subpixel"], device=torch.device("cpu"))
shifts = []
with tifffile.TiffWriter(sys.argv[2], imagej=True) as writer:
    aligned = np.empty(frames.shape, np.uint16)
    for first in range(0, len(frames), 100):
        batch = [torch.from_numpy(frames[first:first + 100, c].astype(np.int16)) for c in (0, 1)]
        y, x = register.compute_shifts(
            masks, batch[0].clone(), maxregshift=settings["maxregshift"],
            smooth_sigma_time=settings["smooth_sigma_time"])[:2]
        for c in (0, 1):
            aligned[first:first + 100, c] = register.shift_frames(batch[c], y, x)
        shifts += zip(y.tolist(), x.tolist())
    writer.write(aligned, metadata={"axes": "TCYX"})
np.savetxt(sys.argv[3], shifts)
"""

JNORMCORRE = """
import sys
import jax
import jax.numpy as jnp
import numpy as np
import tifffile
from jnormcorre import motion_correction as jn

frames = tifffile.memmap(sys.argv[1])
template = frames[0, 0].astype(np.float32)
move = jax.jit(jax.vmap(lambda image, shift: jn.apply_shifts_dft_fast_1(
    jnp.fft.fftn(image), shift[0], shift[1], jnp.array(0.0))))
shifts = []
with tifffile.TiffWriter(sys.argv[2], imagej=True) as writer:
    aligned = np.empty(frames.shape, np.uint16)
    for first in range(0, len(frames), 100):
        batch = [frames[first:first + 100, c].astype(np.float32) for c in (0, 1)]
        moved, by = jn.register_frames_to_template_rigid(
            batch[0], template, jnp.array([16, 16]), jnp.array(0.0))
        for c, one in enumerate((moved, move(batch[1], by))):
            aligned[first:first + 100, c] = np.rint(np.clip(one, 0, 65535))
        shifts += np.asarray(by).tolist()
    writer.write(aligned, metadata={"axes": "TCYX"})
np.savetxt(sys.argv[3], shifts)
"""


def run(command):
    """Runs a command twice. Returns the seconds of the second run, and those of its processors."""
    for _ in range(2):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL)
    elapsed = time.perf_counter() - start
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def table(path, columns):
    with open(path, newline="") as file:
        return np.array([[float(row[name]) for name in columns] for row in csv.DictReader(file)])


def motion_of_niimath(path):
    """The translations and rotations about x, y and z that 3dvolreg's columns undo."""
    roll, pitch, yaw, superior, left, posterior = np.loadtxt(path).T
    turns = np.stack([pitch, yaw, -roll], 1)
    back = np.stack([left, posterior, -superior], 1)
    return np.hstack([[rotation(turn) @ shift for turn, shift in zip(turns, back)], turns])


def is_installed(name):
    return importlib.util.find_spec(name) is not None


def rms(error):
    return np.sqrt(np.mean(np.square(error)))


def report(what, times, error):
    print(f"{what}: {times[0]:.2f} s, {times[1]:.2f} s of processors, error {error}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--program", default="warpalign")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--folder", help="of the temporary files")
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--side", type=int, default=512, help="of a frame, in pixels")
    parser.add_argument("--volumes", type=int, default=300)
    parser.add_argument("--peers", action="store_true", help="measure other programs, too")
    options = parser.parse_args()
    stack = [options.program, "stack", "--device", options.device]
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        drift = draw_recording(folder / "two.tif", options.frames, options.side)
        what = f"{options.frames} frames of {options.side} x {options.side}, two channels"
        times = run([*stack, folder / "two.tif", "--channel", 0, "--motion", "translation",
                     "--output", folder / "aligned.tif", "--csv", folder / "drift.csv"])
        found = table(folder / "drift.csv", ["translation_y", "translation_x"])
        report(what, times, f"{rms(found - drift):.4f} px")
        for peer, script, sign in (("suite2p", SUITE2P, 1), ("jnormcorre", JNORMCORRE, -1)):
            if not options.peers or not is_installed(peer):
                continue
            times = run([sys.executable, "-c", script, folder / "two.tif", folder / "aligned.tif",
                         folder / "shifts.txt"])
            found = sign * np.loadtxt(folder / "shifts.txt")
            report(f"{what}, {peer}", times, f"{rms(found - drift):.4f} px")
        motion = draw_series(folder / "bold.nii", options.volumes)
        times = run([*stack, folder / "bold.nii", "--output", folder / "aligned.nii", "--csv",
                     folder / "motion.csv"])
        columns = [f"{kind}_{axis}" for kind in ("trans", "rot") for axis in "xyz"]
        error = table(folder / "motion.csv", columns) - motion
        report(f"{options.volumes} volumes of 64 x 64 x 36", times,
               f"{rms(error[:, :3]):.4f} mm, {rms(error[:, 3:]):.4f} degrees")
        niimath = shutil.which("niimath", path=f"{Path(sys.executable).parent}{os.pathsep}"
                                               f"{os.environ['PATH']}")
        if options.peers and niimath:
            times = run([niimath, folder / "bold.nii", "-moco", "-1Dfile", folder / "motion.1D",
                         folder / "aligned.nii"])
            error = motion_of_niimath(folder / "motion.1D") - motion
            report(f"{options.volumes} volumes, niimath -moco", times,
                   f"{rms(error[:, :3]):.4f} mm, {rms(error[:, 3:]):.4f} degrees")


if __name__ == "__main__":
    main()
