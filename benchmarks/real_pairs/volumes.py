#!/usr/bin/env python3
"""Writes the set of real volumes from fetched repositories, as NIfTI with its geometry.

    volumes.py REPOSITORIES SET                        writes SET/volumes and SET/volumes.json
    volumes.py --judge SET/volumes.json answers.json   errors of [{"name", "matrix"}, ...]

Both volumes of a pair show the same subject. The headers define the true transform. If the headers
use different spaces, "world" maps the reference's millimetres to those of the moving volume: a
rigid registration by SimpleITK (Mattes mutual information), which agrees with a repetition with
other samples to 0.6 mm. Each pair was inspected by eye under its truth. A matrix is 4 x 4 and maps
reference voxels (x, y, z) to moving voxels. "turn" rotates the moving volume about its centre by
these degrees about x, y and z, and resamples it into a box that contains all of it. Needs nibabel.
"""

import argparse
import json
import pathlib

import nibabel
import numpy as np
from scipy.ndimage import affine_transform
from scipy.spatial.transform import Rotation

from repositories import Repositories

HERE = pathlib.Path(__file__).resolve().parent


def first_frame(path):
    image = nibabel.load(path)
    data = np.asarray(image.dataobj)
    return (data[..., 0] if data.ndim == 4 else data), image.affine


def box_of(shape):
    return np.array(np.meshgrid(*[(0, n - 1) for n in shape])).reshape(3, -1).T.astype(float)


def apply(matrix, points):
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def rotated(data, affine, degrees):
    """Rotate a volume in the scanner's space; also returns the map from old to new voxels."""
    spacing = np.linalg.norm(affine[:3, :3], axis=0)
    rotation = Rotation.from_euler("xyz", degrees, degrees=True).as_matrix()
    linear = np.eye(4)
    linear[:3, :3] = np.diag(1 / spacing) @ rotation @ np.diag(spacing)
    corners = apply(linear, box_of(data.shape))
    shape = np.ceil(np.ptp(corners, axis=0)).astype(int) + 1
    linear[:3, 3] = -corners.min(0)
    back = np.linalg.inv(linear)
    result = affine_transform(data.astype(np.float32), back[:3, :3], back[:3, 3],
                              tuple(shape), order=3)
    if np.issubdtype(data.dtype, np.integer):
        limits = np.iinfo(data.dtype)
        result = np.clip(np.rint(result), limits.min, limits.max)
    # The header keeps only the spacing, since the rotation is to be found.
    return result.astype(data.dtype), np.diag([*spacing, 1]), linear


def spacing_of(affine):
    return np.linalg.norm(affine[:3, :3], axis=0).round(6).tolist()


def write_pair(entry, folder, paths):
    reference, reference_affine = first_frame(paths[entry["reference"]])
    moving, moving_affine = first_frame(paths[entry["moving"]])
    world = np.array(entry.get("world", np.eye(4)))
    truth = np.linalg.inv(moving_affine) @ world @ reference_affine
    file = paths[entry["moving"]].name
    if "turn" in entry:
        moving, header, change = rotated(moving, moving_affine, entry["turn"])
        truth, moving_affine = change @ truth, header
        file = entry["name"] + ".nii.gz"
        nibabel.save(nibabel.Nifti1Image(moving, header), folder / file)
    return {"name": entry["name"], "kind": entry["kind"],
            "reference": f"volumes/{paths[entry['reference']].name}", "moving": f"volumes/{file}",
            "reference_shape": reference.shape, "moving_shape": moving.shape,
            "reference_spacing": spacing_of(reference_affine),
            "moving_spacing": spacing_of(moving_affine),
            "truth": {"matrix": truth.tolist(), "uncertainty_mm": entry["uncertainty_mm"]}}


def judge(pair, matrix):
    """The mean distance in mm over the grid points of the reference inside the moving volume."""
    truth = np.array(pair["truth"]["matrix"])
    sides = [np.linspace(0, n - 1, 9) for n in pair["reference_shape"]]
    grid = np.stack(np.meshgrid(*sides), -1).reshape(-1, 3)
    there = apply(truth, grid)
    inside = ((there >= 0) & (there <= np.array(pair["moving_shape"]) - 1)).all(1)
    difference = (apply(np.asarray(matrix, float), grid) - there)[inside] * pair["moving_spacing"]
    return float(np.linalg.norm(difference, axis=1).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("first", help="REPOSITORIES, or volumes.json")
    parser.add_argument("second", type=pathlib.Path, help="SET, or answers.json")
    arguments = parser.parse_args()
    if arguments.judge:
        answers = {a["name"]: a for a in json.loads(arguments.second.read_text())}
        for pair in json.loads(pathlib.Path(arguments.first).read_text())["pairs"]:
            if pair["name"] in answers:
                error = judge(pair, answers[pair["name"]]["matrix"])
                print(f"{pair['name']}: {error:.3f} mm, truth +-{pair['truth']['uncertainty_mm']}")
        return
    listed = json.loads((HERE / "volumes.json").read_text())
    folder = arguments.second / "volumes"
    folder.mkdir(parents=True, exist_ok=True)
    repositories, paths = Repositories(arguments.first), {}
    for name, file in listed["files"].items():
        paths[name] = folder / f"{name}.nii.gz"
        paths[name].write_bytes(
            repositories.read(file["repository"], file["commit"], file["path"]))
    pairs = [write_pair(entry, folder, paths) for entry in listed["pairs"]]
    unrelated = [[f"volumes/{name}.nii.gz" for name in two] for two in listed["unrelated"]]
    (arguments.second / "volumes.json").write_text(
        json.dumps({"pairs": pairs, "unrelated": unrelated}, indent=1) + "\n")
    print(f"{len(pairs)} pairs and {len(unrelated)} unrelated ones in {arguments.second}")


if __name__ == "__main__":
    main()
