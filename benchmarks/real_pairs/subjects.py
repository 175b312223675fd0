#!/usr/bin/env python3
"""Registers brains of different subjects and modalities, and holds the result against two tools.

    subjects.py prepare REPOSITORIES SET          writes SET/NAME.nii.gz, voxels of 2 mm or coarser
    subjects.py truth SET development|reported    writes SET/truth-GROUP.json (ANTsPy and elastix)
    subjects.py judge PROGRAM SET GROUP [option]  runs `warpalign register-volume`, prints a table

`subjects.json` names the files and the pairs. Thresholds were chosen on the development pairs; no
volume is in both groups. REPOSITORIES holds bare git directories owner+name/repo. The truth of a
pair is the mean of both tools' affine transforms, if they agree within 2 voxels of 2 mm (root mean
square over the reference's foreground); a result is right within the same distance. Needs nibabel
and SciPy, and for the truth antspyx and itk-elastix.
"""

import argparse
import json
import pathlib
import subprocess

import nibabel
import numpy as np
from scipy import ndimage

HERE = pathlib.Path(__file__).resolve().parent
SPACING = 2.0
NEAR = 2 * SPACING
LPS = np.diag([-1.0, -1.0, 1.0, 1.0])


def prepare(repositories, folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in files.items():
        git = repositories / source["repository"].replace("/", "+") / "repo"
        raw = folder / f"raw-{name}{''.join(pathlib.Path(source['path']).suffixes[-2:])}"
        raw.write_bytes(subprocess.run(["git", "--git-dir", git, "show", "HEAD:" + source["path"]],
                                       check=True, capture_output=True).stdout)
        image = nibabel.load(raw)
        data = np.asarray(image.dataobj).astype(np.float32)
        while data.ndim > 3:
            data = data[..., 0]
        image = nibabel.as_closest_canonical(nibabel.Nifti1Image(data, image.affine))
        spacing = np.array(image.header.get_zooms()[:3])
        factor = np.maximum(spacing, SPACING) / spacing
        data = np.nan_to_num(np.asarray(image.dataobj))
        data = ndimage.gaussian_filter(data, 0.5 * np.sqrt(np.maximum(0, factor**2 - 1)))
        shape = np.maximum(1, np.floor(np.array(data.shape) / factor)).astype(int)
        offset = (factor - 1) / 2
        data = ndimage.affine_transform(data, np.diag(factor), offset, output_shape=tuple(shape),
                                        order=1, mode="nearest")
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = np.diag(factor), offset
        nibabel.save(nibabel.Nifti1Image(data, image.affine @ step), folder / f"{name}.nii.gz")
        raw.unlink()


def by_ants(reference, moving):
    import ants

    result = ants.registration(ants.image_read(str(reference)), ants.image_read(str(moving)),
                               "Affine", aff_metric="mattes", random_seed=1)
    transform = ants.read_transform(result["fwdtransforms"][-1])
    return world(transform.parameters, transform.fixed_parameters)


def by_elastix(reference, moving):
    import itk

    parameters = itk.ParameterObject.New()
    affine = parameters.GetDefaultParameterMap("affine", 3)
    affine["AutomaticTransformInitialization"] = ["true"]
    affine["AutomaticTransformInitializationMethod"] = ["CenterOfGravity"]
    affine["NumberOfSpatialSamples"] = ["3000"]
    affine["RandomSeed"] = ["1"]
    parameters.AddParameterMap(affine)
    _, result = itk.elastix_registration_method(
        itk.imread(str(reference), itk.F), itk.imread(str(moving), itk.F),
        parameter_object=parameters, log_to_console=False)
    found = result.GetParameterMap(0)
    return world([float(x) for x in found["TransformParameters"]],
                 [float(x) for x in found["CenterOfRotationPoint"]])


def world(parameters, centre):
    """From the reference's to the moving volume's NIfTI millimetres, 4 x 4."""
    parameters, centre = np.array(parameters), np.array(centre)
    matrix = np.eye(4)
    matrix[:3, :3] = parameters[:9].reshape(3, 3)
    matrix[:3, 3] = parameters[9:] + centre - matrix[:3, :3] @ centre
    return LPS @ matrix @ LPS


def distance(a, b, path):
    image = nibabel.load(path)
    smooth = ndimage.gaussian_filter(np.asarray(image.dataobj), 1.5)
    low, high = np.percentile(smooth, [1, 99])
    points = np.argwhere(smooth > low + 0.25 * (high - low))[::37]
    points = points @ image.affine[:3, :3].T + image.affine[:3, 3]
    apart = points @ (a - b)[:3, :3].T + (a - b)[:3, 3]
    return float(np.sqrt((apart**2).sum(1).mean()))


def truth(folder, group, pairs):
    answers = []
    for reference, moving, kind in pairs:
        paths = [folder / f"{name}.nii.gz" for name in (reference, moving)]
        a, b = by_ants(*paths), by_elastix(*paths)
        answers.append({"reference": reference, "moving": moving, "kind": kind,
                        "world": ((a + b) / 2).tolist(), "apart_mm": distance(a, b, paths[0])})
        print(reference, moving, kind, f"{answers[-1]['apart_mm']:.2f} mm", flush=True)
    (folder / f"truth-{group}.json").write_text(json.dumps(answers, indent=1))


def judge(program, folder, group, options):
    right = accepted = counted = 0
    for pair in json.loads((folder / f"truth-{group}.json").read_text()):
        if pair["apart_mm"] > NEAR:
            continue
        reference = folder / f"{pair['reference']}.nii.gz"
        moving = folder / f"{pair['moving']}.nii.gz"
        answer = json.loads(subprocess.run(
            [program, "register-volume", reference, moving, "--json", *options],
            capture_output=True, text=True).stdout)
        off = distance(np.vstack([np.array(answer["world_matrix"])[:3], [0, 0, 0, 1]]),
                       np.array(pair["world"]), reference)
        counted += 1
        accepted += answer["status"] == "ok"
        right += answer["status"] == "ok" and off <= NEAR
        print(f"{pair['reference']:12} {pair['moving']:12} {pair['kind']:9} {off:6.2f} mm "
              f"confidence {answer['confidence']:.2f}", flush=True)
    print(f"{counted} pairs: {accepted} accepted, {right} of them right")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["prepare", "truth", "judge"])
    parser.add_argument("arguments", nargs="+")
    arguments, options = parser.parse_known_args()
    recipe = json.loads((HERE / "subjects.json").read_text())
    given = arguments.arguments
    if arguments.what == "prepare":
        prepare(pathlib.Path(given[0]), pathlib.Path(given[1]), recipe["files"])
    elif arguments.what == "truth":
        truth(pathlib.Path(given[0]), given[1], recipe["pairs"][given[1]])
    else:
        judge(given[0], pathlib.Path(given[1]), given[2], options + given[3:])


if __name__ == "__main__":
    main()
