#!/usr/bin/env python3
"""Writes the set of real pairs from fetched repositories: pictures as PNG, and pairs.json.

    collect.py REPOSITORIES SET [--recipe fresh.json]

REPOSITORIES is a folder of clones (owner/name, owner+name or name). The recipe (default:
sources.json) lists the repositories and their commits. The script reports missing files and leaves
them out. See README.md.
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
import reduced
import splits
from repositories import Missing, Repositories

HERE = pathlib.Path(__file__).resolve().parent
Image.MAX_IMAGE_PIXELS = None
# The exposures on a plate of Prokudin-Gorskii, from top to bottom.
PLATE = ("b", "g", "r")


class Collector:
    def __init__(self, repositories, output, known):
        self.repositories, self.output, self.known = repositories, pathlib.Path(output), known
        (self.output / "images").mkdir(parents=True, exist_ok=True)
        self.pairs, self.missing, self.written = [], [], {}

    def read(self, source, path):
        return self.repositories.read(source["repository"], source["commit"], path)

    def picture(self, source, path):
        """Write a picture of the repository once; returns its name, its size, and the map from
        coordinates in the repository's picture to its own."""
        key = (source["repository"], path)
        if key not in self.written:
            file, _, part = path.partition("#")
            image = opened(self.read(source, file), part)
            if source.get("eight_bits"):
                image = eight_bits(image)
            image, change = within(plain(image), source.get("limit"))
            self.written[key] = (*self.save(image, source["name"] + "_" + path), change)
        return self.written[key]

    def pictures(self, source, entry):
        return [self.picture(source, entry[side]) for side in ("reference", "moving")]

    def save(self, image, name):
        image = plain(image)
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

    def add_marks(self, source, entry, fixed, moved):
        """Add a pair with landmarks, which are in pixels of the repository's pictures."""
        reference, moving = self.pictures(source, entry)
        truth = landmark_truth(geometry.apply(reference[2], fixed),
                               geometry.apply(moving[2], moved), entry)
        self.add(source, entry["name"], entry["kind"], reference, moving, truth)

    def run(self, source):
        for entry in source["pairs"]:
            for expanded in expand(entry):
                try:
                    READERS[expanded["truth"]](self, source, expanded)
                except Missing as error:
                    self.missing.append(str(error))


def opened(data, part=""):
    """The picture of a file, or of its `part`: a page number, an exposure of PLATE, or a variable
    of a .mat."""
    if data.startswith(b"MATLAB"):
        import scipy.io

        return Image.fromarray(scipy.io.loadmat(io.BytesIO(data))[part])
    image = Image.open(io.BytesIO(data))
    image.seek(int(part) if part.isdigit() else 0)
    image.load()
    return exposure(image, part) if part in PLATE else image


def exposure(plate, name):
    """A third of a scanned plate, without the frame: a twentieth at each side."""
    width, height = plate.width, plate.height // 3
    top = PLATE.index(name) * height
    return plate.convert("L").crop((width // 20, top + height // 20,
                                    width - width // 20, top + height - height // 20))


def eight_bits(image):
    """Convert to 8 bits; with more bits, scale between the 0.1 and 99.9 percentiles."""
    if image.mode not in ("I;16", "I;16B", "I", "F"):
        return image
    values = np.asarray(image, float)
    low, high = np.percentile(values, (0.1, 99.9))
    scaled = (values - low) * 255 / max(high - low, 1)
    return Image.fromarray(np.clip(scaled, 0, 255).astype(np.uint8))


def plain(image):
    if image.mode in ("L", "RGB", "I;16"):
        return image
    return image.convert("L" if image.mode in ("1", "LA") else "RGB")


def within(image, limit):
    """Reduce a picture to at most `limit` pixels a side; also returns the map from its old
    coordinates to its new ones."""
    if limit is None or max(image.size) <= limit:
        return image, np.eye(3)
    size = reduced.smaller_size(image.size, limit)
    return image.resize(size, Image.Resampling.LANCZOS), reduced.to_smaller(image.size, size)


def expand(entry):
    """Expand an entry with "each" to one entry for every value, which replaces {} everywhere. Of a
    list of values, the first replaces {0}, the second {1}."""
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
    """A matrix from reference to moving in a text file of nine numbers, or "identity"."""
    reference, moving = self.pictures(source, entry)
    if entry["matrix"] == "identity":
        matrix = np.eye(3)
    else:
        matrix = numbers(self.read(source, entry["matrix"])).reshape(3, 3)
    matrix = moving[2] @ matrix @ np.linalg.inv(reference[2])
    truth = {"homography": (matrix / matrix[2, 2]).tolist(),
             "from": entry.get("from", "published homography"),
             "uncertainty": entry["uncertainty"]}
    self.add(source, entry["name"], entry["kind"], reference, moving, truth)


def landmarks_of_mat(self, source, entry):
    """A .mat of the multi-modality database: both pictures, landmarks and an affine matrix."""
    import scipy.io

    content = scipy.io.loadmat(io.BytesIO(self.read(source, entry["mat"])))
    marks = content["Landmarks"][0, 0]
    # MATLAB counts pixels from 1.
    fixed, moved = marks["LMfix"].astype(float) - 1, marks["LMmov"].astype(float) - 1
    stem = source["name"] + "_" + entry["name"]
    reference = self.save(Image.fromarray(as_bytes(content["I_fix"])), stem + "_fix")
    moving = self.save(Image.fromarray(as_bytes(content["I_move"])), stem + "_move")
    self.add(source, entry["name"], entry["kind"], reference, moving,
             landmark_truth(fixed, moved, entry))


def landmark_truth(fixed, moved, entry):
    """Fit a model to all landmarks; with "keep", this many of them stay in the truth."""
    model = entry.get("model", "affine")
    matrix = geometry.FITS[model](fixed, moved)
    residual = np.linalg.norm(geometry.apply(matrix, fixed) - moved, axis=1)
    marks = np.c_[fixed, moved]
    if "keep" in entry:
        count = min(len(marks), entry["keep"])
        marks = marks[np.linspace(0, len(marks) - 1, count).astype(int)].round(2)
    return {"landmarks": marks.tolist(), "homography": matrix.tolist(),
            "from": f"published landmarks, {model} fit",
            "uncertainty": max(round(float(residual.mean()), 2), entry.get("uncertainty", 0))}


def as_bytes(picture):
    if picture.dtype == np.uint8:
        return picture
    scale = 255.0 if picture.max() <= 1 else 255.0 / picture.max()
    return np.clip(picture * scale + 0.5, 0, 255).astype(np.uint8)


def annotated_points(self, source, entry):
    """Correspondences in a text file, x y 1 x' y' 1, or in the dataset's refined .mat."""
    import scipy.io

    data = self.read(source, entry["points"])
    points = scipy.io.loadmat(io.BytesIO(data))["validation"][0, 0]["pts"].T
    offset = entry.get("first_pixel", 1)
    fixed = points[:, 0:2] / points[:, 2:3] - offset
    moved = points[:, 3:5] / points[:, 5:6] - offset
    self.add_marks(source, {"model": "homography", **entry}, fixed, moved)


def labelled_matches(self, source, entry):
    """Matches in a text file, x y x' y' ... label; those with label 1 obey the homography."""
    data = self.read(source, entry["matches"])
    rows = [line.split() for line in data.decode().splitlines() if line.strip()]
    kept = np.array([[float(v) for v in row[:4]] for row in rows if row[-1] == "1"])
    self.add_marks(source, {"model": "homography", **entry}, kept[:, :2], kept[:, 2:])


def landmark_columns(self, source, entry):
    """Landmarks in a text file, x y x' y' per line; pixels count from "first_pixel"."""
    data = self.read(source, entry["landmarks"])
    rows = [line.replace(",", " ").split() for line in data.decode().splitlines()]
    marks = np.array([[float(v) for v in row[:4]] for row in rows if len(row) >= 4])
    marks -= entry["first_pixel"]
    self.add_marks(source, entry, marks[:, :2], marks[:, 2:])


def landmark_tables(self, source, entry):
    """Two CSV files of landmarks with columns X and Y, in the order of the landmarks."""
    marks = []
    for side in ("reference", "moving"):
        data = self.read(source, entry[f"{side}_landmarks"])
        rows = [line.split(",") for line in data.decode().split()]
        columns = [rows[0].index(c) for c in ("X", "Y")]
        marks.append(np.array([[float(r[c]) for c in columns] for r in rows[1:]]))
    count = min(map(len, marks))
    self.add_marks(source, entry, marks[0][:count], marks[1][:count])


def consensus(self, source, entry):
    """An unpublished homography: independent methods agree on it, or it was found from
    points by eye. It holds between the pictures as they are written."""
    name = f"{source['name']}-{entry['name']}"
    if name not in self.known:
        raise Missing(f"consensus.json has no entry for {name}")
    reference, moving = self.pictures(source, entry)
    self.add(source, entry["name"], entry["kind"], reference, moving, dict(self.known[name]))


READERS = {"matrix": published_matrix, "mat": landmarks_of_mat, "points": annotated_points,
           "tables": landmark_tables, "matches": labelled_matches,
           "columns": landmark_columns, "consensus": consensus}


def recipe_of(file):
    """Read a recipe. A list of sources is that of the first set, which uses consensus.json,
    derived.json and splits by scene. Other recipes name the files that they use."""
    recipe = json.loads(file.read_text())
    if isinstance(recipe, list):
        recipe = {"sources": recipe, "consensus": "consensus.json", "derived": "derived.json"}
    for part in ("consensus", "derived"):
        if part in recipe:
            recipe[part] = json.loads((file.parent / recipe[part]).read_text())
    return recipe


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories")
    parser.add_argument("set")
    parser.add_argument("--recipe", default="sources.json",
                        help="name of the recipe in the folder of this script, or its full path")
    arguments = parser.parse_args()
    recipe = recipe_of(HERE / arguments.recipe)
    collector = Collector(Repositories(arguments.repositories), arguments.set,
                          recipe["consensus"])
    for source in recipe["sources"]:
        collector.run(source)
    by_name = {pair["name"]: pair for pair in collector.pairs}
    for entry in recipe.get("derived", []):
        if entry["of"] in by_name:
            derived.make(collector, entry, by_name)
        else:
            collector.missing.append(f"derived-{entry['name']}: there is no {entry['of']}")
    splits.assign(collector.pairs, recipe.get("split"))
    path = collector.output / "pairs.json"
    path.write_text(json.dumps(collector.pairs, indent=1) + "\n")
    for line in sorted(set(collector.missing)):
        print("missing:", line, file=sys.stderr)
    print(f"{len(collector.pairs)} pairs in {path}")


if __name__ == "__main__":
    main()
