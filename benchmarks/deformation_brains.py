"""Deformable registration of brains with manual labels, in 3-D.

    python benchmarks/deformation_brains.py malf.templates/inst/extdata results --json brains.json
    python benchmarks/deformation_brains.py --commands > brains.sh
    sh brains.sh malf.templates/inst/extdata cuda:0 results

The data are eight of the 35 skull-stripped T1 brains of github.com/muschellij2/malf.templates:
1 mm, about 162 x 214 x 167 voxels, a grid of its own for each, with up to 138 manual structures.
PAIRS names 20 ordered pairs of them, the reference first. Each method brings the labels of the
moving brain to the grid of the reference by nearest neighbours, and leaves them in the folder of
results, together with the determinants of the Jacobian matrix. Pairs whose files are there are not
run again.

- `warpalign`: the program (`--program`) with `--motion deformable` on `--device`. `warpalign 0.1`
  is the same with `--bending-weight 0.1`, and `warpalign 0.2 2` also with `--grid-spacing 2`.
- `NiftyReg`: `reg_aladin`, `reg_f3d`, `reg_resample` and `reg_jacobian` of the folder `--niftyreg`.
- `greedy`: the Python package picsl_greedy, affine and then deformable, with normalised correlation
  of windows of 5 voxels, 100, 50 and 10 iterations, and smoothing of 1.732 and 0.7071 voxels.

Peers get `--threads` threads. `--commands` prints a shell script that runs warpalign only and needs
no Python; run this script on its results afterwards, on any machine. It takes Jacobians that hold
only every n-th voxel of each axis, too.

For each pair the record has the mean overlap (Dice) of the labels that both brains have; SD log J,
the standard deviation of the logarithm of the determinants (those below 0.01 count as 0.01), over
the volume and where the reference has labels, which an affine step does not change; the share of
voxels with a determinant of 0 or less; and the wall and processor seconds of the registration.

Needs NumPy, and of the peers those that are measured.
"""

import argparse
import datetime
import gzip
import json
import platform
import resource
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

PAIRS = [
    ("1000", "1001"), ("1000", "1010"), ("1000", "1104"), ("1001", "1005"), ("1001", "1036"),
    ("1005", "1000"), ("1005", "1010"), ("1005", "1104"), ("1010", "1001"), ("1010", "1036"),
    ("1015", "1000"), ("1015", "1005"), ("1015", "1104"), ("1036", "1001"), ("1036", "1015"),
    ("1104", "1000"), ("1104", "1005"), ("1104", "1036"), ("1122", "1001"), ("1122", "1036")]
TYPES = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4"}


def read_nifti(file):
    """The values of a NIfTI file of one volume, x first."""
    content = file.read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    order = "<" if np.frombuffer(content, "<i4", 1)[0] == 348 else ">"
    sides = np.frombuffer(content, order + "i2", 8, 40)
    code = int(np.frombuffer(content, order + "i2", 1, 70)[0])
    start, slope, offset = np.frombuffer(content, order + "f4", 3, 108)
    shape = [int(side) for side in sides[1:4]]
    values = np.frombuffer(content, order + TYPES[code], int(np.prod(shape)), int(start))
    values = values.reshape(shape, order="F")
    return values if slope in (0, 1) and offset == 0 else values * slope + offset


def image(folder, name):
    return f"{folder}/{name}_SS.nii.gz"


def labels(folder, name):
    return f"{folder}/{name}_glm.nii.gz"


def warpalign_commands(program, device, folder, stem, fixed, moving, options=()):
    """The registration and the warp of the labels, as lists of words."""
    register = [program, "register-volume", image(folder, fixed), image(folder, moving),
                "--motion", "deformable", "--field", f"{stem}-field.npy",
                "--jacobian", f"{stem}-jacobian.npy", "--json", *options, *device]
    warp = [program, "transform", "labels", f"{stem}-field.npy", labels(folder, moving),
            f"{stem}-labels.nii.gz", "--like", image(folder, fixed), *device]
    return register, warp


def shell_script():
    """The commands of all pairs for a shell, with the arguments FOLDER DEVICE RESULTS [PROGRAM]."""
    register, warp = (" ".join(f'"{word}"' if "$" in word else word for word in command)
                      for command in warpalign_commands("$program", ["--device", "$2"], "$1",
                                                        "$stem", "${fixed}", "${moving}"))
    pairs = " ".join("-".join(pair) for pair in PAIRS)
    return f"""#!/bin/sh
# sh brains.sh FOLDER DEVICE RESULTS [PROGRAM]
program=${{4:-warpalign}}
mkdir -p "$3" || exit 2
for pair in {pairs}; do
  fixed=${{pair%-*}} moving=${{pair#*-}} stem=$3/$pair
  start=$(date +%s.%N)
  {register} > "$stem.json"
  status=$?
  end=$(date +%s.%N)
  echo "$start $end" | awk '{{ printf "{{\\"wall_seconds\\": %.3f}}\\n", $2 - $1 }}' \\
    > "$stem-time.json"
  echo "$pair: status $status, $(cat "$stem-time.json")"
  [ $status -eq 0 ] && {warp}
  rm -f "$stem-field.npy"
done
"""


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Clock:
    """Runs commands and adds up their time."""

    def __init__(self):
        self.wall = self.processor = 0.0

    def run(self, command, allowed=(0,)):
        wall, processor = time.monotonic(), children_seconds()
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode not in allowed:
            raise RuntimeError(f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
        self.wall += time.monotonic() - wall
        self.processor += children_seconds() - processor
        return done

    def save(self, stem):
        Path(f"{stem}-time.json").write_text(json.dumps(
            {"wall_seconds": self.wall, "processor_seconds": self.processor}))


def run_warpalign(given, stem, fixed, moving, weight=None, spacing=None):
    device = ["--device", given.device] if given.device else []
    options = ["--bending-weight", weight] if weight else []
    options += ["--grid-spacing", spacing] if spacing else []
    register, warp = warpalign_commands(given.program, device, given.folder, stem, fixed, moving,
                                        options)
    clock = Clock()
    done = clock.run(register, allowed=(0, 1))
    clock.save(stem)
    Path(f"{stem}.json").write_text(done.stdout)
    if done.returncode == 0:
        Clock().run(warp)
        Path(f"{stem}-field.npy").unlink()


def run_niftyreg(given, stem, fixed, moving):
    files = [image(given.folder, fixed), image(given.folder, moving)]
    threads = ["-omp", given.threads]
    program = lambda name: given.niftyreg / name
    affine, grid, out = f"{stem}-affine.txt", f"{stem}-grid.nii", f"{stem}-out.nii"
    clock = Clock()
    clock.run([program("reg_aladin"), "-ref", files[0], "-flo", files[1], "-aff", affine,
               "-res", out, *threads])
    clock.run([program("reg_f3d"), "-ref", files[0], "-flo", files[1], "-aff", affine,
               "-cpp", grid, "-res", out, *threads])
    clock.save(stem)
    Clock().run([program("reg_resample"), "-ref", files[0], "-flo", labels(given.folder, moving),
                 "-trans", grid, "-res", f"{stem}-labels.nii.gz", "-inter", "0", *threads])
    Clock().run([program("reg_jacobian"), "-ref", files[0], "-trans", grid, "-jac", out, *threads])
    np.save(f"{stem}-jacobian.npy", read_nifti(Path(out)).T.astype(np.float32))
    for file in (affine, grid, out):
        Path(file).unlink()


def greedy(threads, arguments):
    """The command that runs greedy in a process of its own."""
    code = "import sys, picsl_greedy; picsl_greedy.Greedy3D().execute(sys.argv[1])"
    return [sys.executable, "-c", code, f"-threads {threads} {arguments}"]


def run_greedy(given, stem, fixed, moving):
    files = image(given.folder, fixed), image(given.folder, moving)
    pair = "-m NCC 2x2x2 -n 100x50x10 -i {} {}".format(*files)
    affine, warp, out = f"{stem}-affine.mat", f"{stem}-warp.nii.gz", f"{stem}-out.nii.gz"
    clock = Clock()
    clock.run(greedy(given.threads, f"-a {pair} -ia-image-centers -o {affine}"))
    clock.run(greedy(given.threads, f"{pair} -it {affine} -s 1.732vox 0.7071vox -o {warp}"))
    clock.save(stem)
    Clock().run(greedy(given.threads, f"-rf {files[0]} -ri NN -rm {labels(given.folder, moving)} "
                                      f"{stem}-labels.nii.gz -r {warp} {affine}"))
    Clock().run(greedy(given.threads, f"-rf {files[0]} -rj {out} -r {warp}"))
    np.save(f"{stem}-jacobian.npy", read_nifti(Path(out)).T.astype(np.float32))
    for file in (affine, warp, out):
        Path(file).unlink()


RUNNERS = {"warpalign": run_warpalign, "NiftyReg": run_niftyreg, "greedy": run_greedy}


def mean_dice(fixed, warped, moving):
    """The mean Dice of the labels that both brains have."""
    count = int(max(fixed.max(), moving.max())) + 1
    sizes = np.bincount(fixed.ravel(), minlength=count)
    there = np.bincount(moving.ravel(), minlength=count)
    warped_sizes = np.bincount(warped.ravel(), minlength=count)
    common = np.bincount(fixed[fixed == warped], minlength=count)
    names = np.flatnonzero((sizes > 0) & (there > 0))
    names = names[names != 0]
    return float(np.mean(2 * common[names] / (sizes[names] + warped_sizes[names])))


def evaluated(folder, stem, fixed, moving):
    """What the record has of a pair."""
    found = json.loads(Path(f"{stem}-time.json").read_text())
    report = Path(f"{stem}.json")
    if report.exists():
        report = json.loads(report.read_text())
        found["reliable"] = report["status"] == "ok"
        if not found["reliable"]:
            return found
        found["device"] = report["device"]
        found |= {name: report["deformation"][name] for name in ("correlation", "min_jacobian")}
    fixed_labels, moving_labels = (
        np.round(read_nifti(Path(labels(folder, name)))).astype(int) for name in (fixed, moving))
    warped = np.round(read_nifti(Path(f"{stem}-labels.nii.gz"))).astype(int)
    jacobian = np.load(f"{stem}-jacobian.npy").T
    step = -(-fixed_labels.shape[0] // jacobian.shape[0])
    within = fixed_labels[::step, ::step, ::step] > 0
    logarithm = np.log(np.maximum(jacobian, 0.01))
    return found | {
        "value": mean_dice(fixed_labels, warped, moving_labels),
        "sd_log_j": float(logarithm.std()), "sd_log_j_within": float(logarithm[within].std()),
        "folded": float(np.mean(jacobian <= 0))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="folder of the NIfTI files")
    parser.add_argument("results", nargs="?", type=Path, help="folder of the results")
    parser.add_argument("--commands", action="store_true", help="print a shell script, and end")
    parser.add_argument("--pairs", type=int, default=len(PAIRS), help="number of pairs, the first")
    parser.add_argument("--methods", default="warpalign",
                        help="of these: warpalign, warpalign WEIGHT, "
                             "warpalign WEIGHT SPACING, NiftyReg, greedy")
    parser.add_argument("--program", default="warpalign")
    parser.add_argument("--device", default="")
    parser.add_argument("--niftyreg", type=Path, help="folder of its programs")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device-name", default=platform.processor() or platform.machine())
    parser.add_argument("--json", type=Path, help="the record; completed if it exists")
    given = parser.parse_args()
    if given.commands:
        print(shell_script(), end="")
        return
    if not (given.folder and given.results and given.json):
        parser.error("FOLDER, RESULTS and --json are needed")
    pairs = PAIRS[:given.pairs]
    record = {"date": datetime.date.today().isoformat(), "device": given.device_name,
              "command": "python benchmarks/deformation_brains.py malf.templates/inst/extdata "
                         f"results --pairs {given.pairs} --methods \"{given.methods}\" "
                         f"--threads {given.threads} --json brains.json", "threads": given.threads,
              "sets": [{"set": "brains", "measure": "Dice", "pairs": list(map("-".join, pairs)),
                        "before": [], "methods": {}}]}
    if given.json.exists():
        record = json.loads(given.json.read_text())
    found = record["sets"][0]
    found["before"] = [{"value": unregistered(given.folder, *pair)} for pair in pairs]
    for method in given.methods.split(","):
        results = given.results
        if method != "warpalign":
            results /= method.replace(" ", "-")
        results.mkdir(parents=True, exist_ok=True)
        found["methods"][method] = []
        for fixed, moving in pairs:
            stem = results / f"{fixed}-{moving}"
            if not Path(f"{stem}-time.json").exists():
                name, *weight = method.split()
                RUNNERS[name](given, stem, fixed, moving, *weight)
            found["methods"][method].append(evaluated(given.folder, stem, fixed, moving))
            print(method, stem.name, found["methods"][method][-1], flush=True)
            given.json.write_text(json.dumps(record, indent=1) + "\n")


def unregistered(folder, fixed, moving):
    """The Dice of the labels in the same place of the voxel grids, from their first voxels."""
    pair = [np.round(read_nifti(Path(labels(folder, name)))).astype(int)
            for name in (fixed, moving)]
    moved = np.zeros_like(pair[0])
    common = tuple(slice(min(sides)) for sides in zip(*(each.shape for each in pair)))
    moved[common] = pair[1][common]
    return mean_dice(pair[0], moved, pair[1])


if __name__ == "__main__":
    main()
