#!/usr/bin/env python3
"""Are pictures registered to their own mirror image? Needs NumPy and Pillow, and register_pairs.

    cmake --build build --target register_pairs
    python tools/evaluate/mirror_images.py draw SET FOLDER... [--pictures 300] [--side 300] [--seed 1]
    build/bin/register_pairs SET/pairs.json [OPTIONS OF REGISTER] > lines.jsonl
    python tools/evaluate/mirror_images.py judge SET lines.jsonl [--show FOLDER]

No rotation, scale and shift maps a picture to its mirror image, unless what it shows is symmetric.
The two have the same statistics, the same edges and the same lines. A picture that is accepted is
therefore a false accept, and one that is hard to avoid, unless the picture is symmetric, which
somebody has to look at.

`draw` takes pictures from the folders, and the folders in them, in random order, the same for a
seed; reduces them to at most SIDE pixels; mirrors each along x; and writes the pairs to SET. Of
pictures with the same pixels it takes only one. `judge` prints which pictures were accepted, the
highest confidences of the others, and the counts. With `--show`, it draws each accepted picture
beside what its mirror image shows at the pose that was found: a symmetric scene looks the same.
"""

import argparse
import hashlib
import json
import pathlib
import random

import numpy as np
from PIL import Image

KINDS = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".pgm", ".ppm"}
MIN_SIDE = 100  # pixels
MIN_DEVIATION = 4  # of 255 grey levels


def pictures_in(folders):
    """The names and paths of all pictures, in an order that does not depend on the machine."""
    found = {}
    for folder in map(pathlib.Path, folders):
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() in KINDS and path.is_file():
                found.setdefault(f"{folder.name}/{path.relative_to(folder)}", path)
    return sorted(found.items())


def gray(path, side):
    """The picture as 8-bit gray, reduced to at most `side` pixels; None if it is not usable."""
    try:
        image = Image.open(path)
        image.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    if image.mode in ("I;16", "I;16B", "I", "F"):
        values = np.asarray(image, float)
        low, high = np.percentile(values, (0.1, 99.9))
        image = Image.fromarray(
            np.clip((values - low) * 255 / max(high - low, 1e-9), 0, 255).astype(np.uint8))
    image = image.convert("RGB").convert("L")
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    if min(image.size) < MIN_SIDE or np.asarray(image, float).std() < MIN_DEVIATION:
        return None
    return image


def drawn(folders, count, side, seed):
    """(name, picture) of up to `count` different pictures."""
    paths = pictures_in(folders)
    random.Random(seed).shuffle(paths)
    known = set()
    for name, path in paths:
        if len(known) == count:
            return
        image = gray(path, side)
        digest = None if image is None else hashlib.sha256(image.tobytes()).digest()
        if image is None or digest in known:
            continue
        known.add(digest)
        yield name, image


def draw(arguments):
    output = pathlib.Path(arguments.set)
    (output / "images").mkdir(parents=True, exist_ok=True)
    pairs = []
    for number, (name, image) in enumerate(
            drawn(arguments.folders, arguments.pictures, arguments.side, arguments.seed)):
        reference, moving = f"images/{number:04}.png", f"images/{number:04}-mirrored.png"
        image.save(output / reference)
        image.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(output / moving)
        pairs.append({"name": name, "reference": reference, "moving": moving})
    (output / "pairs.json").write_text(json.dumps(pairs, indent=1) + "\n")
    print(f"{len(pairs)} pairs in {output / 'pairs.json'}")


def beside(reference, moving, matrix):
    """The reference, and beside it what the moving image shows at each of its pixels."""
    numbers = np.array(matrix, float).ravel()[:6]
    aligned = moving.transform(reference.size, Image.Transform.AFFINE, numbers,
                               Image.Resampling.BILINEAR)
    both = Image.new("L", (2 * reference.width + 8, reference.height), 128)
    both.paste(reference, (0, 0))
    both.paste(aligned, (reference.width + 8, 0))
    return both


def judge(arguments):
    folder = pathlib.Path(arguments.set)
    pairs = {pair["name"]: pair for pair in json.loads((folder / "pairs.json").read_text())}
    lines = [json.loads(line) for line in pathlib.Path(arguments.lines).read_text().splitlines()]
    failed = [line for line in lines if "error" in line]
    lines = sorted((line for line in lines if "error" not in line),
                   key=lambda line: -line["confidence"])
    accepted = [line for line in lines if line["status"] == "ok"]
    for line in failed:
        print(f"not registered: {line['name']}: {line['error']}")
    for line in accepted:
        print(f"accepted: {line['name']}: confidence {line['confidence']:.2f}, rotation "
              f"{line['rotation_deg']:.1f} degrees, scale {line['scale']:.3f}, overlap "
              f"{line['overlap']:.2f}, by {line['proposed_by']}")
        if arguments.show:
            pathlib.Path(arguments.show).mkdir(parents=True, exist_ok=True)
            pair = pairs[line["name"]]
            picture = beside(Image.open(folder / pair["reference"]),
                             Image.open(folder / pair["moving"]), line["matrix"])
            picture.save(pathlib.Path(arguments.show) / pathlib.Path(pair["reference"]).name)
    for line in [line for line in lines if line["status"] != "ok"][:5]:
        print(f"refused: {line['name']}: confidence {line['confidence']:.2f}, {line['status']}")
    print(f"{len(accepted)} of {len(lines)} pictures accepted, {len(failed)} not registered")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("set")
    drawing.add_argument("folders", nargs="+", metavar="folder")
    drawing.add_argument("--pictures", type=int, default=300)
    drawing.add_argument("--side", type=int, default=300)
    drawing.add_argument("--seed", type=int, default=1)
    drawing.set_defaults(run=draw)
    judging = commands.add_parser("judge")
    judging.add_argument("set")
    judging.add_argument("lines")
    judging.add_argument("--show")
    judging.set_defaults(run=judge)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
