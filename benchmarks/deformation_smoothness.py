"""How the bending weight and the grid spacing trade accuracy against smoothness, on real images.

    python benchmarks/deformation_smoothness.py --slices MalfLabelingExample \\
        --histology dataset-histology-landmarks --birl BIRL --brains malf.templates

The folders are clones of these repositories; a set whose folder is not given is left out:

- `--slices`: github.com/ntustison/MalfLabelingExample. Slice 118 of 20 brains (OASIS-TRT-20), 216 x
  291 pixels, with manual labels.
- `--histology`: github.com/Borda/dataset-histology-landmarks. Five stains of lung-lesion_3 at 5 %,
  about 890 x 660 pixels, with 80 landmarks, given at 50 %.
- `--birl`: github.com/Borda/BIRL. Two pairs of stains, a rat's kidney and a lesion, with landmarks.
- `--brains`: github.com/muschellij2/malf.templates. Brains of 1 mm with 138 manual structures.

Each pair is registered by the program (`--program`) with `--motion deformable`, once for each
setting. A line of the table says of how many pairs the result was reliable, and, over the pairs whose
result was reliable with every setting:

- the mean over pairs of the mean overlap of labels (Dice) that both images have, or the median over
  pairs of the median distance of landmarks, divided by the diagonal of the moving image (rTRE);
- SD log J: the mean over pairs of the standard deviation of the logarithm of the Jacobian
  determinant of the B-spline, without the affine step: over the whole reference and, with labels,
  where they are not 0;
- the least determinant of any pair.

Needs NumPy, NiBabel and Pillow.
"""

import argparse
import itertools
import subprocess
import tempfile
from pathlib import Path

import nibabel
import numpy as np
from PIL import Image


class Labels:
    """A pair with labels for each pixel, as arrays whose first axis is x."""

    measure = "Dice"

    def __init__(self, command, files, labels):
        self.command, self.files = command, files
        self.labels = [np.round(nibabel.load(file).get_fdata()).astype(int) for file in labels]

    def evaluate(self, field):
        """The Dice of the labels, given the displacements along x, y (and z), each x first."""
        fixed, moving = self.labels
        at = [np.round(axis + u).astype(int) for axis, u in zip(np.indices(fixed.shape), field)]
        inside = np.logical_and.reduce(
            [(k >= 0) & (k < side) for k, side in zip(at, moving.shape)])
        at = tuple(np.where(inside, k, 0) for k in at)
        warped = np.where(inside, moving[at], 0)
        names = np.intersect1d(fixed, moving)
        return np.mean([2 * np.sum((fixed == name) & (warped == name))
                        / (np.sum(fixed == name) + np.sum(warped == name))
                        for name in names if name != 0])

    def mask(self):
        return self.labels[0] > 0

    @staticmethod
    def summary(values):
        return f"{np.mean(values):.4f}"


class Landmarks:
    """A pair with landmarks, (x, y) in pixels."""

    measure = "median rTRE"
    command = "register"

    def __init__(self, files, points):
        count = min(len(each) for each in points)
        self.files = files
        self.points = [each[:count] for each in points]
        self.diagonal = np.hypot(*Image.open(files[1]).size)

    def evaluate(self, field):
        fixed, moving = self.points
        u = np.stack([linear(component, fixed) for component in field], axis=-1)
        return np.median(np.linalg.norm(fixed + u - moving, axis=-1)) / self.diagonal

    def mask(self):
        return None

    @staticmethod
    def summary(values):
        return f"{np.median(values):.5f}"


def linear(values, points):
    """An array, x first, interpolated at points (x, y)."""
    at = np.clip(points, 0, np.array(values.shape) - 1.001)
    low = at.astype(int)
    part = at - low
    return sum(values[low[:, 0] + i, low[:, 1] + j]
               * np.where(i, part[:, 0], 1 - part[:, 0]) * np.where(j, part[:, 1], 1 - part[:, 1])
               for i, j in itertools.product((0, 1), repeat=2))


def csv_points(file, factor=1.0):
    return np.loadtxt(file, delimiter=",", skiprows=1, usecols=(1, 2)) * factor


def evenly(pairs, count):
    """`count` of the pairs, evenly spaced."""
    return [pairs[i * len(pairs) // count] for i in range(min(count, len(pairs)))]


def slices(folder, count, scratch):
    """Slices of brains, as arrays that the program reads."""
    names = [f"OASIS-TRT-20-{n}" for n in range(1, 21)]
    for name in names:
        image = nibabel.load(folder / f"Atlases/{name}_slice118.nii.gz").get_fdata()
        np.save(scratch / f"{name}.npy", np.squeeze(image).T.astype(np.float32))
    labels = [folder / f"Labels/{name}_DKT31_CMA_labels_slice118.nii.gz" for name in names]
    chosen = evenly(list(itertools.permutations(range(20), 2)), count)
    return [Labels("register", [scratch / f"{names[i]}.npy" for i in pair],
                   [labels[i] for i in pair]) for pair in chosen]


def histology(folder):
    names = ["He", "CD31-3", "Cc10-5", "Ki67-7", "proSPC-4"]
    files = [folder / f"dataset/lung-lesion_3/scale-5pc/29-041-Izd2-w35-{name}-les3.jpg"
             for name in names]
    points = [csv_points(folder / "annotations/lung-lesion_3/user-PS_scale-50pc"
                         / f"29-041-Izd2-w35-{name}-les3.csv", 0.1) for name in names]
    return [Landmarks([files[i], files[j]], [points[i], points[j]])
            for i, j in itertools.combinations(range(5), 2)]


def birl(folder):
    pairs = []
    for stem, stains in (("rat-kidney_/scale-5pc/Rat-Kidney_", ("HE", "PanCytokeratin")),
                         ("lesions_/scale-5pc/Izd2-29-041-w35_", ("HE", "proSPC"))):
        base = str(folder / "data-images" / stem)
        pairs.append(Landmarks([base + stain + ".jpg" for stain in stains],
                               [csv_points(base + stain + ".csv") for stain in stains]))
    return pairs


def brains(folder, count):
    folder = folder / "inst/extdata"
    numbers = sorted(file.name[:4] for file in folder.glob("????_SS.nii.gz"))
    pairs = evenly(list(zip(numbers[:-1], numbers[1:])), count)
    return [Labels("register-volume", [folder / f"{n}_SS.nii.gz" for n in pair],
                   [folder / f"{n}_glm.nii.gz" for n in pair]) for pair in pairs]


def results(program, pair, options, scratch):
    """The displacements and determinants of a pair, x first; None if it is not reliable."""
    field, jacobian = scratch / "field.npy", scratch / "jacobian.npy"
    done = subprocess.run(
        [program, pair.command, *pair.files, "--motion", "deformable", "--quiet", "--field", field,
         "--jacobian", jacobian, *options], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise RuntimeError(done.stderr)
    if done.returncode == 1:
        return None
    return [component.T for component in np.load(field)], np.load(jacobian).T


def measured(program, pair, options, scratch):
    """What the table needs of a pair and a setting; None if the result is not reliable."""
    found = results(program, pair, options, scratch)
    if found is None:
        return None
    field, jacobian = found
    mask = pair.mask()
    within = np.nan if mask is None else np.log(jacobian[mask]).std()
    return pair.evaluate(field), np.log(jacobian).std(), within, jacobian.min()


def table_of(name, pairs, settings, measure):
    """The lines of the table for one set. Means are over pairs that are reliable in all settings."""
    found = [[measure(pair, *setting) for pair in pairs] for setting in settings]
    common = [i for i in range(len(pairs)) if all(each[i] is not None for each in found)]
    for (spacing, weight), each in zip(settings, found):
        reliable = sum(one is not None for one in each)
        cells = [name, f"{spacing:g}", f"{weight:g}", f"{reliable} of {len(pairs)}"]
        if common:
            values, whole, within, least = np.array([each[i] for i in common]).T
            within = "" if np.isnan(within).any() else f"{within.mean():.3f}"
            cells += [f"{pairs[0].measure} {pairs[0].summary(values)}", f"{whole.mean():.3f}",
                      within, f"{least.min():.2f}"]
        yield "| " + " | ".join(cells) + " |"


def main():
    numbers = lambda text: [float(word) for word in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("slices", "histology", "birl", "brains"):
        parser.add_argument(f"--{name}", type=Path, help="folder of the clone")
    parser.add_argument("--program", default="warpalign")
    parser.add_argument("--device", default="")
    parser.add_argument("--weights", type=numbers, default=[0.1, 0.5, 1.5, 5, 15, 50])
    parser.add_argument("--spacings", type=numbers, default=[5.0], help="pixels or millimetres")
    parser.add_argument("--slice-pairs", type=int, default=38)
    parser.add_argument("--brain-pairs", type=int, default=3)
    given = parser.parse_args()
    device = ["--device", given.device] if given.device else []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        sets = []
        if given.slices:
            sets.append(("slices", slices(given.slices, given.slice_pairs, scratch)))
        if given.histology:
            sets.append(("histology", histology(given.histology)))
        if given.birl:
            sets.append(("BIRL", birl(given.birl)))
        if given.brains:
            sets.append(("brains", brains(given.brains, given.brain_pairs)))
        print("| set | grid spacing | weight | reliable | measure | SD log J | within labels | least |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        settings = list(itertools.product(given.spacings, given.weights))
        measure = lambda pair, spacing, weight: measured(
            given.program, pair,
            [*device, "--grid-spacing", f"{spacing:g}", "--bending-weight", f"{weight:g}"], scratch)
        for name, pairs in sets:
            for line in table_of(name, pairs, settings, measure):
                print(line, flush=True)


if __name__ == "__main__":
    main()
