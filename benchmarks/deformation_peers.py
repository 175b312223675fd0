"""Deformable registration against ANTsPy, DIPY and NiftyReg, on pairs of images with truth.

    python benchmarks/deformation_peers.py --slices MalfLabelingExample \\
        --histology dataset-histology-landmarks --birl BIRL --json peers.json

The sets are those of `deformation_smoothness.py`, and a fourth one that needs no files: a drawn
scene, bent by fields that are drawn, too (Gaussian-filtered noise, up to 8 pixels), without and
with noise of 5 % of its deviation; of `drawn other`, the moving image has another modality: its
intensities are a function of the scene's that rises and falls.

Each method begins with an affine step of its own, and uses its own defaults for images of its
kind:

- `warpalign`: the program (`--program`) with `--motion deformable`; with `--modality other` for
  `drawn other`, and `auto` for stains. The whole process is timed. `warpalign 0.2` has `--bending-weight 0.2`, and
  `warpalign 0.2 2` also `--grid-spacing 2`.
- `ANTs SyN`, `ANTs SyNCC`: `ants.registration`, with its default measure (mutual information) and
  with local correlation.
- `DIPY SyN`: `AffineRegistration`, and `SymmetricDiffeomorphicRegistration` with `CCMetric(2)`.
- `NiftyReg`: `reg_aladin`, `reg_f3d` and `reg_resample` of the folder `--niftyreg`; all are timed.

Peers get `--threads` threads. For each method the record has, over the pairs
of a set: the mean overlap of labels (Dice), the median distance of landmarks over the diagonal
(rTRE), or the root mean square error of the drawn field 16 pixels and more from the edges; the
mean over pairs of SD log J, the standard deviation of the logarithm of the determinants of the
Jacobian matrix of the whole transform, by differences of its positions (those below 0.01 count as
0.01); the share of pixels with a determinant of 0 or less; and the median processor time, which
other work on the machine changes little. A result that warpalign calls unreliable has no field. A
record that exists is completed with the methods and sets that it lacks.

Needs NumPy, SciPy, NiBabel and Pillow, and of the peers those that are measured.
"""

import argparse
import datetime
import itertools
import json
import os
import platform
import resource
import subprocess
import tempfile
from pathlib import Path

import deformation_smoothness as real
import nibabel
import numpy as np
import scipy.ndimage
from PIL import Image


class Drawn:
    """A pair with a known field."""

    measure = "error, pixels"
    command = "register"

    def __init__(self, files, field, modality=None):
        self.files, self.field, self.modality = files, field, modality

    def evaluate(self, field):
        error = np.linalg.norm(np.stack(field) - self.field, axis=0)[16:-16, 16:-16]
        return np.sqrt(np.mean(error ** 2))

    @staticmethod
    def summary(values):
        return float(np.mean(values))


def scene(random, shape):
    """Blobs and stripes of several sizes, as a function of positions along x and y."""
    count = 400
    places = random.uniform(-20, np.array(shape) + 20, (count, 2))
    sizes = random.uniform(2, 12, count)
    heights = random.normal(0, 1, count)
    waves = random.uniform(0.03, 0.15, (6, 2)), random.uniform(0, 6, 6)

    def values(x, y):
        image = sum(0.3 * np.sin(k[0] * x + k[1] * y + phase) for k, phase in zip(*waves))
        for (px, py), size, height in zip(places, sizes, heights):
            x0, x1 = np.clip([int(px - 5 * size), int(px + 5 * size)], 0, x.shape[0])
            if x1 <= x0:
                continue
            near = np.s_[max(x0 - 12, 0):x1 + 12]
            image[near] += height * np.exp(
                -((x[near] - px) ** 2 + (y[near] - py) ** 2) / (2 * size ** 2))
        return image

    return values


def drawn(scratch, other):
    """Pairs of which the reference shows at p what the moving image shows at p + u(p)."""
    pairs = []
    shape = (320, 300)  # x, y
    for seed, (sigma, noise) in enumerate(itertools.product((12, 28), (0, 0.05))):
        random = np.random.default_rng(100 + seed)
        values = scene(random, shape)
        field = np.stack([scipy.ndimage.gaussian_filter(random.normal(size=shape), sigma)
                          for _ in range(2)])
        field *= 8 / np.abs(field).max()
        x, y = np.indices(shape).astype(float)
        moving = values(x, y)
        fixed = values(x + field[0], y + field[1])
        low, high = moving.min(), moving.max()
        fixed, moving = (fixed - low) / (high - low), (moving - low) / (high - low)
        if other:
            moving = 4 * moving * (1 - moving) + 0.15 * moving
        deviation = noise * fixed.std()
        files = []
        for name, image in (("fixed", fixed), ("moving", moving)):
            image = image + random.normal(0, 1, shape) * deviation
            files.append(scratch / f"{'other' if other else 'same'}-{seed}-{name}.npy")
            np.save(files[-1], image.T.astype(np.float32))
        pairs.append(Drawn(files, field, "other" if other else None))
    return pairs


def gray(file):
    """An image as floating point, x first."""
    if Path(file).suffix == ".npy":
        return np.load(file).T.astype(np.float32)
    return np.asarray(Image.open(file).convert("F")).T.astype(np.float32)


def warpalign_method(given, *numbers):
    grid = [word for option, number in zip(("--bending-weight", "--grid-spacing"), numbers)
            for word in (option, number)]

    def method(pair, fixed, moving, scratch):
        field = scratch / "field.npy"
        field.unlink(missing_ok=True)
        options = ["--modality", pair.modality] if getattr(pair, "modality", None) else []
        device = ["--device", given.device] if given.device else []
        done = subprocess.run(
            [given.program, "register", *pair.files, "--motion", "deformable", "--quiet", "--field",
             field, *grid, *options, *device], capture_output=True, text=True, check=False)
        if done.returncode > 1:
            raise RuntimeError(done.stderr)
        reliable = done.returncode == 0
        return ([component.T for component in np.load(field)] if reliable else None), reliable
    return method


def ants_method(kind):
    import ants

    def method(pair, fixed, moving, scratch):
        a, b = ants.from_numpy(fixed), ants.from_numpy(moving)
        found = ants.registration(a, b, kind, outprefix=str(scratch / "ants_"))
        outside = -1e6
        at = [ants.apply_transforms(a, ants.from_numpy(axis.astype(np.float32)),
                                    found["fwdtransforms"], "linear", defaultvalue=outside).numpy()
              for axis in np.indices(moving.shape)]
        return displacements([np.where(axis < -1, np.nan, axis) for axis in at], fixed.shape), True
    return method


def dipy_method():
    from dipy.align.imaffine import AffineRegistration, MutualInformationMetric
    from dipy.align.imwarp import SymmetricDiffeomorphicRegistration
    from dipy.align.metrics import CCMetric
    from dipy.align.transforms import AffineTransform2D

    def method(pair, fixed, moving, scratch):
        a, b = fixed.astype(np.float64), moving.astype(np.float64)
        affine = AffineRegistration(metric=MutualInformationMetric(), verbosity=0)
        start = affine.optimize(a, b, AffineTransform2D(), None).affine
        syn = SymmetricDiffeomorphicRegistration(CCMetric(2))
        syn.verbosity = 0
        mapping = syn.optimize(a, b, np.eye(3), np.eye(3), start)
        at = [mapping.transform(axis.astype(np.float64), interpolation="linear")
              for axis in np.indices(moving.shape)]
        outside = mapping.transform(np.ones(moving.shape), interpolation="nearest") < 0.5
        return displacements([np.where(outside, np.nan, axis) for axis in at], fixed.shape), True
    return method


def niftyreg_method(folder, threads):
    def run(program, *arguments):
        subprocess.run([folder / program, *map(str, arguments), "-omp", str(threads)], check=True,
                       capture_output=True)

    def method(pair, fixed, moving, scratch):
        files = {name: scratch / f"{name}.nii" for name in ("fixed", "moving", "cpp", "out", "x")}
        for name, image in (("fixed", fixed), ("moving", moving)):
            nibabel.save(nibabel.Nifti1Image(image, np.eye(4)), files[name])
        affine = scratch / "affine.txt"
        run("reg_aladin", "-ref", files["fixed"], "-flo", files["moving"], "-aff", affine, "-res",
            files["out"])
        run("reg_f3d", "-ref", files["fixed"], "-flo", files["moving"], "-aff", affine, "-cpp",
            files["cpp"], "-res", files["out"])
        at = []
        for axis in np.indices(moving.shape):
            nibabel.save(nibabel.Nifti1Image(axis.astype(np.float32), np.eye(4)), files["x"])
            run("reg_resample", "-ref", files["fixed"], "-flo", files["x"], "-trans", files["cpp"],
                "-res", files["out"], "-inter", "1", "-pad", "nan")
            at.append(np.squeeze(nibabel.load(files["out"]).get_fdata()))
        return displacements(at, fixed.shape), True
    return method


def displacements(at, shape):
    """Positions in the moving image as displacements. Outside of it, those of the nearest pixel."""
    unknown = np.isnan(at[0]) | np.isnan(at[1])
    found = [axis - index for axis, index in zip(at, np.indices(shape))]
    if unknown.any():
        nearest = scipy.ndimage.distance_transform_edt(unknown, return_distances=False,
                                                       return_indices=True)
        found = [axis[tuple(nearest)] for axis in found]
    return found


def determinants(field):
    gradients = [np.gradient(component) for component in field]
    (xx, xy), (yx, yy) = gradients
    return (1 + xx) * (1 + yy) - xy * yx


def processor_seconds():
    """Of this process and of its children that have ended."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(
        resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def measured(method, pair, scratch):
    fixed, moving = (gray(file) for file in pair.files)
    start = processor_seconds()
    field, reliable = method(pair, fixed, moving, scratch)
    seconds = processor_seconds() - start
    if field is None:
        return {"reliable": False, "seconds": seconds}
    jacobian = determinants(field)
    return {"reliable": reliable, "seconds": seconds, "value": float(pair.evaluate(field)),
            "sd_log_j": float(np.log(np.maximum(jacobian, 0.01)).std()),
            "folded": float(np.mean(jacobian <= 0))}


def unregistered(pair):
    fixed = gray(pair.files[0])
    return {"value": float(pair.evaluate([np.zeros(fixed.shape)] * 2))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("slices", "histology", "birl"):
        parser.add_argument(f"--{name}", type=Path, help="folder of the clone")
    parser.add_argument("--niftyreg", type=Path, help="folder of its programs")
    parser.add_argument("--program", default="warpalign")
    parser.add_argument("--device", default="")
    parser.add_argument("--slice-pairs", type=int, default=20)
    parser.add_argument("--histology-pairs", type=int, default=10)
    parser.add_argument("--only", help="names of sets")
    parser.add_argument("--methods", default="warpalign,ANTs SyN,ANTs SyNCC,DIPY SyN,NiftyReg")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--device-name", default=platform.processor() or platform.machine())
    given = parser.parse_args()
    os.environ["ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS"] = str(given.threads)
    makers = {"ANTs SyN": lambda: ants_method("SyN"), "ANTs SyNCC": lambda: ants_method("SyNCC"),
              "DIPY SyN": dipy_method,
              "NiftyReg": lambda: niftyreg_method(given.niftyreg, given.threads)}

    def method_of(title):
        if title.split()[0] == "warpalign":
            return warpalign_method(given, *title.split()[1:])
        return makers[title]()

    record = {"date": datetime.date.today().isoformat(), "device": given.device_name,
              "command": "python benchmarks/deformation_peers.py", "threads": given.threads,
              "sets": []}
    if given.json.exists():
        record = json.loads(given.json.read_text())
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        sets = {"drawn": drawn(scratch, False), "drawn other": drawn(scratch, True)}
        if given.slices:
            sets["slices"] = real.slices(given.slices, given.slice_pairs, scratch)
        if given.histology:
            sets["histology"] = real.evenly(
                real.histology(given.histology), given.histology_pairs)
        if given.birl:
            sets["BIRL"] = real.birl(given.birl)
        for pair in sets.get("histology", []) + sets.get("BIRL", []):
            pair.modality = "auto"
        methods = {name: method_of(name) for name in given.methods.split(",")}
        for name, pairs in sets.items():
            if given.only and name not in given.only.split(","):
                continue
            found = next((one for one in record["sets"] if one["set"] == name), None)
            if found is None:
                found = {"set": name, "pairs": len(pairs), "measure": pairs[0].measure,
                         "before": [unregistered(pair) for pair in pairs], "methods": {}}
                record["sets"].append(found)
            for title, method in methods.items():
                if title in found["methods"]:
                    continue
                results = []
                for pair in pairs:
                    results.append(measured(method, pair, scratch))
                    print(name, title, results[-1], flush=True)
                found["methods"][title] = results
                given.json.write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
