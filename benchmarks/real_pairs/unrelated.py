#!/usr/bin/env python3
"""Makes pairs of pictures of different scenes, to calibrate the confidence: none may be accepted.

    unrelated.py SET [--pairs 2400] [--seed 1] [--whole] [--masks]  write them
    unrelated.py SET --program build/bin/warpalign [--device ...]   and run them [-- OPTIONS]

The script crops every original picture of the set (not derived ones) to 192 to 448 pixels a side,
and pairs crops of different scenes; it leaves out crops without texture. unrelated.json lists the
pairs like pairs.json, without truth, with the scene and kind of both crops. A pair is held back if
one of its scenes is. With --whole, pictures are not cropped, and every two scenes are paired, in
random order, before any two are paired again. With --masks, only an ellipse of each picture is
unmasked, with 0.6 to 1 of its width and height. Different scenes may resemble each other (two
retinas, two facades), so accepted pairs are listed for inspection by eye. In this way, two pairs of
scenes turned out to show the same place; they count as one scene each (SAME_PLACE).
"""

import argparse
import itertools
import json
import pathlib
import sys
import time

import numpy as np
from PIL import Image

import evaluate

CROPS_PER_PICTURE = 3
MIN_DEVIATION = 12

# The mouth of the Yangtze and Lake Tai, which warpalign accepted at a scale of 1.62, and a river
# and its roads in a forest, at 4.22.
SAME_PLACE = {"multimodal-rs-infrared2": "multimodal-rs-map6",
              "multimodal-rs-infrared4": "multimodal-rs-infrared1"}


def originals(folder):
    """All pictures of pairs that are not derived, with scene, kind and split."""
    pictures = {}
    for pair in json.loads((folder / "pairs.json").read_text()):
        if "derived_from" not in pair:
            for side in ("reference", "moving"):
                about = {k: pair[k] for k in ("scene", "kind", "split")}
                about["scene"] = SAME_PLACE.get(about["scene"], about["scene"])
                pictures.setdefault(pair[side], about)
    return pictures


def write_crops(folder, random):
    crops = []
    (folder / "unrelated").mkdir(exist_ok=True)
    for file, about in sorted(originals(folder).items()):
        with Image.open(folder / file) as image:
            grey = image.copy() if image.mode == "I;16" else image.convert("L")
        for index in range(CROPS_PER_PICTURE):
            size = [min(int(random.integers(192, 449)), n) for n in grey.size]
            left, top = (int(random.integers(0, n - s + 1)) for n, s in zip(grey.size, size))
            crop = grey.crop((left, top, left + size[0], top + size[1]))
            values = np.asarray(crop, float)
            low, high = np.percentile(values, (1, 99))
            deviation = values.std()
            if grey.mode != "L":
                deviation *= 255 / max(high - low, 1)
            if deviation < MIN_DEVIATION or min(size) < 160:
                continue
            name = f"unrelated/{pathlib.Path(file).stem[-60:]}-{index}.png"
            crop.save(folder / name, icc_profile=None)
            crops.append({"file": name, **about})
    return crops


def write_masks(folder, pictures, random):
    """Write a mask for each picture: an ellipse within it."""
    (folder / "masks").mkdir(exist_ok=True)
    for number, picture in enumerate(pictures):
        with Image.open(folder / picture["file"]) as image:
            width, height = image.size
        half = random.uniform(0.3, 0.5, 2) * (width, height)
        centre = half + random.uniform(0, 1, 2) * ((width, height) - 2 * half)
        y, x = np.mgrid[0:height, 0:width]
        counts = ((x - centre[0]) / half[0]) ** 2 + ((y - centre[1]) / half[1]) ** 2 <= 1
        picture["mask"] = f"masks/{number:04d}.png"
        Image.fromarray(np.uint8(255 * counts)).save(folder / picture["mask"])


def any_two(crops, random):
    """Yield pairs of crops of different scenes, endlessly."""
    while True:
        a, b = (crops[int(i)] for i in random.integers(0, len(crops), 2))
        if a["scene"] != b["scene"]:
            yield a, b


def every_two_scenes(pictures, random):
    """Yield every ordered pair of scenes once per round, each with a random picture."""
    scenes = {}
    for picture in pictures:
        scenes.setdefault(picture["scene"], []).append(picture)
    meetings = list(itertools.permutations(sorted(scenes), 2))
    while True:
        for index in random.permutation(len(meetings)):
            yield tuple(scenes[scene][int(random.integers(len(scenes[scene])))]
                        for scene in meetings[index])


def draw_pairs(meetings, count):
    pairs, seen = [], set()
    for a, b in meetings:
        if len(pairs) == count:
            return pairs
        if (a["file"], b["file"]) in seen:
            continue
        seen.add((a["file"], b["file"]))
        held = "held_back" in (a["split"], b["split"])
        pairs.append({"name": f"unrelated-{len(pairs):04d}", "reference": a["file"],
                      "moving": b["file"], "scenes": [a["scene"], b["scene"]],
                      "kinds": [a["kind"], b["kind"]], "split": "held_back" if held else "tune"})
        if "mask" in a:
            pairs[-1] |= {"reference_mask": a["mask"], "moving_mask": b["mask"]}


def run_pairs(arguments, pairs, extra):
    run = evaluate.by_program(arguments, extra)
    answers, begin = [], time.perf_counter()
    for pair in pairs:
        answers.append({**pair, **run(pair)})
        print(f"{len(answers)} of {len(pairs)}, "
              f"{sum(a['accepted'] for a in answers)} accepted", end="\r", file=sys.stderr)
    if arguments.output:
        arguments.output.write_text(json.dumps(answers, indent=1) + "\n")
    accepted = [a for a in answers if a["accepted"]]
    confidences = np.array([a["confidence"] or 0 for a in answers])
    print(f"{len(answers)} unrelated pairs, {len(accepted)} accepted, "
          f"{(time.perf_counter() - begin) / max(len(answers), 1):.2f} s a pair")
    print("confidence: " + ", ".join(f"{q} % {np.percentile(confidences, q):.4f}"
                                     for q in (50, 90, 99, 99.9)) +
          f", highest {confidences.max():.4f}")
    for a in accepted:
        print(f"- {a['name']}: {a['scenes'][0]} and {a['scenes'][1]}, "
              f"confidence {a['confidence']:.3f}")


def main():
    argv, extra = evaluate.split_options(sys.argv[1:])
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=2400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--whole", action="store_true", help="whole pictures instead of crops")
    parser.add_argument("--masks", action="store_true", help="mask a part of each picture")
    parser.add_argument("--program")
    parser.add_argument("--device")
    parser.add_argument("--split", choices=("all", "tune", "held_back"), default="tune")
    parser.add_argument("--limit", type=int, help="only the first LIMIT pairs")
    parser.add_argument("--output", type=pathlib.Path)
    arguments = parser.parse_args(argv)
    listed = arguments.set / "unrelated.json"
    if not arguments.program:
        random = np.random.default_rng(arguments.seed)
        if arguments.whole:
            pictures = [{"file": file, **about}
                        for file, about in sorted(originals(arguments.set).items())]
        else:
            pictures = write_crops(arguments.set, random)
        if arguments.masks:
            write_masks(arguments.set, pictures, random)
        meetings = every_two_scenes if arguments.whole else any_two
        pairs = draw_pairs(meetings(pictures, random), arguments.pairs)
        listed.write_text(json.dumps(pairs, indent=1) + "\n")
        print(f"{len(pairs)} pairs of {len(pictures)} pictures, "
              f"{len({p['scene'] for p in pictures})} scenes, seed {arguments.seed}, in {listed}")
        return
    pairs = [p for p in json.loads(listed.read_text())
             if arguments.split in ("all", p["split"])][:arguments.limit]
    run_pairs(arguments, pairs, extra)


if __name__ == "__main__":
    main()
