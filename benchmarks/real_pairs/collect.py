#!/usr/bin/env python3
"""Writes the set of real pairs from fetched repositories: pictures as PNG, and pairs.json.

    collect.py REPOSITORIES SET

REPOSITORIES is a folder of clones (owner/name, owner+name or name); sources.json says which, at
which commits. What is missing is named and left out. See README.md.
"""

import argparse
import io
import json
import pathlib
import sys

import numpy as np
from PIL import Image

import derived
import geometry
import splits
from repositories import Missing, Repositories

HERE = pathlib.Path(__file__).resolve().parent
Image.MAX_IMAGE_PIXELS = None


class Collector:
    def __init__(self, repositories, output):
        self.repositories, self.output = repositories, pathlib.Path(output)
        (self.output / "images").mkdir(parents=True, exist_ok=True)
        self.pairs, self.missing, self.written = [], [], {}

    def picture(self, source, path):
        """Writes a picture of the repository once, and returns its name and size."""
        key = (source["repository"], path)
        if key not in self.written:
            file, _, page = path.partition("#")
            data = self.repositories.read(source["repository"], source["commit"], file)
            self.written[key] = self.save(opened(data, int(page or 0)), source["name"] + "_" + path)
        return self.written[key]

    def save(self, image, name):
        if image.mode not in ("L", "RGB", "I;16"):
            image = image.convert("L" if image.mode in ("1", "LA") else "RGB")
        short = "".join(c if c.isalnum() or c in "-_" else "_" for c in str(name))
        file = f"images/{short[-80:]}.png"
        image.save(self.output / file, icc_profile=None)
        return file, image.size

    def add(self, source, name, kind, reference, moving, truth, **extra):
        pair = {
            "name": f"{source['name']}-{name}",
            "kind": kind,
            "reference": reference[0],
            "moving": moving[0],
            "reference_size": reference[1],
            "moving_size": moving[1],
            "truth": truth,
            "source": source["name"],
            **extra,
        }
        self.pairs.append(pair)

    def run(self, source):
        for entry in source["pairs"]:
            for expanded in expand(entry):
                try:
                    READERS[expanded["truth"]](self, source, expanded)
                except Missing as error:
                    self.missing.append(str(error))


def opened(data, page=0):
    image = Image.open(io.BytesIO(data))
    image.seek(page)
    image.load()
    return image


def expand(entry):
    """An entry with "each": one entry for every value, which replaces {} everywhere; of a list of
    values, the first replaces {0}, the second {1}."""
    if "each" not in entry:
        return [entry]
    result = []
    for value in entry["each"]:
        parts = value if isinstance(value, list) else [value]
        def filled(text):
            text = text.replace("{}", "-".join(str(p) for p in parts))
            for i, part in enumerate(parts):
                text = text.replace(f"{{{i}}}", str(part))
            return text
        result.append({k: filled(v) if isinstance(v, str) else v
                       for k, v in entry.items() if k != "each"})
    return result


def numbers(data):
    return np.array([float(v) for v in data.decode().replace(",", " ").split()])


def published_matrix(self, source, entry):
    """A text file of nine numbers, reference to moving, or "identity"."""
    reference = self.picture(source, entry["reference"])
    moving = self.picture(source, entry["moving"])
    if entry["matrix"] == "identity":
        matrix = np.eye(3)
    else:
        data = self.repositories.read(source["repository"], source["commit"], entry["matrix"])
        matrix = numbers(data).reshape(3, 3)
    truth = {"homography": (matrix / matrix[2, 2]).tolist(), "from": "published homography",
             "uncertainty": entry["uncertainty"]}
    self.add(source, entry["name"], entry["kind"], reference, moving, truth)


def landmarks_of_mat(self, source, entry):
    """A .mat of the multi-modality database: both pictures, landmarks and an affine matrix."""
    import scipy.io

    data = self.repositories.read(source["repository"], source["commit"], entry["mat"])
    content = scipy.io.loadmat(io.BytesIO(data))
    marks = content["Landmarks"][0, 0]
    # MATLAB counts pixels from one.
    fixed, moved = marks["LMfix"].astype(float) - 1, marks["LMmov"].astype(float) - 1
    stem = source["name"] + "_" + entry["name"]
    reference = self.save(Image.fromarray(as_bytes(content["I_fix"])), stem + "_fix")
    moving = self.save(Image.fromarray(as_bytes(content["I_move"])), stem + "_move")
    self.add(source, entry["name"], entry["kind"], reference, moving,
             landmark_truth(fixed, moved, entry))


def landmark_truth(fixed, moved, entry):
    model = entry.get("model", "affine")
    matrix = geometry.FITS[model](fixed, moved)
    residual = np.linalg.norm(geometry.apply(matrix, fixed) - moved, axis=1)
    return {"landmarks": np.c_[fixed, moved].tolist(), "homography": matrix.tolist(),
            "from": f"published landmarks, {model} fit",
            "uncertainty": max(round(float(residual.mean()), 2), entry.get("uncertainty", 0))}


def as_bytes(picture):
    if picture.dtype == np.uint8:
        return picture
    scale = 255.0 if picture.max() <= 1 else 255.0 / picture.max()
    return np.clip(picture * scale + 0.5, 0, 255).astype(np.uint8)


def annotated_points(self, source, entry):
    """A text file of correspondences x y 1 x' y' 1, or the dataset's refined .mat of them."""
    import scipy.io

    reference = self.picture(source, entry["reference"])
    moving = self.picture(source, entry["moving"])
    data = self.repositories.read(source["repository"], source["commit"], entry["points"])
    points = scipy.io.loadmat(io.BytesIO(data))["validation"][0, 0]["pts"].T
    offset = entry.get("first_pixel", 1)
    fixed = points[:, 0:2] / points[:, 2:3] - offset
    moved = points[:, 3:5] / points[:, 5:6] - offset
    truth = landmark_truth(fixed, moved, {"model": "homography", **entry})
    self.add(source, entry["name"], entry["kind"], reference, moving, truth)


def labelled_matches(self, source, entry):
    """A text file of matches x y x' y' ... label, of which those labelled 1 obey the homography."""
    reference = self.picture(source, entry["reference"])
    moving = self.picture(source, entry["moving"])
    data = self.repositories.read(source["repository"], source["commit"], entry["matches"])
    rows = [line.split() for line in data.decode().splitlines() if line.strip()]
    kept = np.array([[float(v) for v in row[:4]] for row in rows if row[-1] == "1"])
    truth = landmark_truth(kept[:, :2], kept[:, 2:], {"model": "homography", **entry})
    self.add(source, entry["name"], entry["kind"], reference, moving, truth)


def landmark_tables(self, source, entry):
    """Two CSV files of landmarks with columns X and Y, in the order of the landmarks."""
    reference = self.picture(source, entry["reference"])
    moving = self.picture(source, entry["moving"])
    marks = []
    for side in ("reference", "moving"):
        data = self.repositories.read(source["repository"], source["commit"],
                                      entry[f"{side}_landmarks"])
        rows = [line.split(",") for line in data.decode().split()]
        columns = [rows[0].index(c) for c in ("X", "Y")]
        marks.append(np.array([[float(r[c]) for c in columns] for r in rows[1:]]))
    count = min(map(len, marks))
    truth = landmark_truth(marks[0][:count], marks[1][:count], entry)
    self.add(source, entry["name"], entry["kind"], reference, moving, truth)


def consensus(self, source, entry):
    """A homography on which two independent methods agree; the numbers stand in consensus.json."""
    known = json.loads((HERE / "consensus.json").read_text())
    name = f"{source['name']}-{entry['name']}"
    if name not in known:
        raise Missing(f"consensus.json has no {name}")
    reference = self.picture(source, entry["reference"])
    moving = self.picture(source, entry["moving"])
    truth = {"homography": known[name]["homography"], "from": known[name]["from"],
             "uncertainty": known[name]["uncertainty"]}
    self.add(source, entry["name"], entry["kind"], reference, moving, truth)


READERS = {"matrix": published_matrix, "mat": landmarks_of_mat, "points": annotated_points,
           "tables": landmark_tables, "matches": labelled_matches,
           "consensus": consensus}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories")
    parser.add_argument("set")
    arguments = parser.parse_args()
    collector = Collector(Repositories(arguments.repositories), arguments.set)
    for source in json.loads((HERE / "sources.json").read_text()):
        collector.run(source)
    by_name = {pair["name"]: pair for pair in collector.pairs}
    for entry in json.loads((HERE / "derived.json").read_text()):
        if entry["of"] in by_name:
            derived.make(collector, entry, by_name)
        else:
            collector.missing.append(f"derived-{entry['name']}: there is no {entry['of']}")
    splits.assign(collector.pairs)
    path = collector.output / "pairs.json"
    path.write_text(json.dumps(collector.pairs, indent=1) + "\n")
    for line in sorted(set(collector.missing)):
        print("missing:", line, file=sys.stderr)
    print(f"{len(collector.pairs)} pairs in {path}")


if __name__ == "__main__":
    main()
