"""Deformable registration of slices of brains whose contrast differs, with drawn fields.

    python benchmarks/deformation_modality.py --slices MalfLabelingExample

`--slices`: a clone of github.com/ntustison/MalfLabelingExample. Slice 118 of four brains (T1) is
bent by a drawn field (Gaussian-filtered noise of sigma 14, up to 6 pixels), and registered to
itself as it is (`--modality same`), and with the contrast of T2 (`--modality other`): within the
head, dark becomes bright, and the function is not linear. The error is the root mean square
distance within the head, in pixels, by the program (`--program`). Needs NumPy, SciPy and NiBabel.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import nibabel
import numpy as np
import scipy.ndimage

BRAINS = (1, 5, 9, 14)


def drawn_pair(image, random):
    """The bent image, the field, and the pixels of the head."""
    field = np.stack([scipy.ndimage.gaussian_filter(random.normal(size=image.shape), 14)
                      for _ in range(2)])
    field *= 6 / np.abs(field).max()
    bent = scipy.ndimage.map_coordinates(image, np.indices(image.shape) + field, order=3,
                                         mode="nearest")
    head = scipy.ndimage.binary_closing(bent > 0.15, iterations=3)
    return bent, field, head


def like_t2(image):
    """Fluid is brighter than grey matter, and that is brighter than white matter."""
    within = np.clip(1.25 - image, 0, None) + 0.15 * image ** 2
    return np.where(image > 0.1, within, 0.6 * image)


def rms(vectors, where):
    return np.sqrt((np.linalg.norm(vectors, axis=0)[where] ** 2).mean())


def found_field(program, fixed, moving, options, scratch):
    """The displacements that the program finds; None if the result is not reliable."""
    names = [scratch / f"{name}.npy" for name in ("fixed", "moving", "field")]
    for name, image in zip(names, (fixed, moving)):
        np.save(name, image.T.astype(np.float32))
    done = subprocess.run([program, "register", *names[:2], "--motion", "deformable", "--quiet",
                           "--field", names[2], *options], check=False)
    if done.returncode > 1:
        raise RuntimeError("the registration failed")
    return None if done.returncode == 1 else np.stack([c.T for c in np.load(names[2])])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slices", type=Path, required=True, help="folder of the clone")
    parser.add_argument("--program", default="warpalign")
    given = parser.parse_args()
    random = np.random.default_rng(3)
    print("| brain | noise, % | before | same | other |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for number in BRAINS:
            name = given.slices / f"Atlases/OASIS-TRT-20-{number}_slice118.nii.gz"
            image = np.squeeze(nibabel.load(name).get_fdata())
            image = image / np.percentile(image, 99.5)
            bent, field, head = drawn_pair(image, random)
            for noise in (0, 0.05):
                fixed = bent + random.normal(0, noise * bent.std(), bent.shape)
                cells = [str(number), f"{100 * noise:g}", f"{rms(field, head):.2f}"]
                for moving, options in ((image, []), (like_t2(image), ["--modality", "other"])):
                    moving = moving + random.normal(0, noise * moving.std(), moving.shape)
                    found = found_field(given.program, fixed, moving, options, Path(folder))
                    cells.append("not reliable" if found is None
                                 else f"{rms(found - field, head):.3f}")
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
