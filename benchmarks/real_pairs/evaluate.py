#!/usr/bin/env python3
"""Runs warpalign on every pair of a set and prints the tables.

    evaluate.py SET --program build/bin/warpalign [--device opencl:0] [-- OPTIONS]
    evaluate.py SET --package [--device opencl:0]     calls the Python package
    evaluate.py SET --answers answers.json            score stored answers again

Arguments after -- are passed to `warpalign register`, whose seconds include the start of the
program. The package runs all pairs in one process. --output stores the answers with their scores.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

import scoring


def by_program(arguments, extra):
    def run(pair):
        command = [arguments.program, "register", "--json", *extra]
        if arguments.device:
            command += ["--device", arguments.device]
        for side in ("reference", "moving"):
            if pair.get(f"{side}_mask"):
                command += [f"--{side}-mask", str(arguments.set / pair[f"{side}_mask"])]
        command += [str(arguments.set / pair["reference"]), str(arguments.set / pair["moving"])]
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begin
        if done.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        report = json.loads(done.stdout)
        return {"matrix": report.get("matrix"), "accepted": done.returncode == 0,
                "confidence": report.get("confidence"), "seconds": seconds,
                "significance": report.get("significance")}
    return run


def by_package(arguments):
    import numpy as np
    from PIL import Image

    import warpalign

    def grey(file):
        picture = np.asarray(Image.open(arguments.set / file), np.float32)
        return picture if picture.ndim == 2 else picture @ np.float32([0.2126, 0.7152, 0.0722])

    def run(pair):
        pictures = [grey(pair[side]) for side in ("reference", "moving")]
        masks = {f"{side}_mask": grey(pair[f"{side}_mask"]) > 0
                 for side in ("reference", "moving") if pair.get(f"{side}_mask")}
        begin = time.perf_counter()
        result = warpalign.register(*pictures, device=arguments.device, **masks)
        return {"matrix": np.asarray(result.matrix_xy).tolist(), "accepted": bool(result.reliable),
                "confidence": float(result.confidence), "seconds": time.perf_counter() - begin}
    return run


def answered(pairs, run, output):
    """Run all pairs, and write the answers after each, so that an interruption loses none."""
    answers = []
    for pair in pairs:
        answers.append({"name": pair["name"], **run(pair)})
        if output:
            output.write_text(json.dumps(answers, indent=1) + "\n")
        print(f"{len(answers)} of {len(pairs)}: {pair['name']}", end="\r", file=sys.stderr)
    return answers


def split_options(argv):
    """The arguments before and after --."""
    cut = argv.index("--") if "--" in argv else len(argv)
    return argv[:cut], argv[cut + 1:]


def main():
    argv, extra = split_options(sys.argv[1:])
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=pathlib.Path)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--program", help="the warpalign program")
    how.add_argument("--package", action="store_true", help="the Python package")
    how.add_argument("--answers", type=pathlib.Path, help="file that --output wrote")
    parser.add_argument("--device")
    parser.add_argument("--split", choices=("all", "tune", "held_back"), default="tune")
    parser.add_argument("--only", default="", help="pairs whose name contains this")
    parser.add_argument("--output", type=pathlib.Path, help="write answers and scores (JSON)")
    arguments = parser.parse_args(argv)
    pairs = scoring.load_set(arguments.set, arguments.split, arguments.only)
    if arguments.answers:
        answers = json.loads(arguments.answers.read_text())
    else:
        answers = answered(pairs, by_package(arguments) if arguments.package
                           else by_program(arguments, extra), arguments.output)
    rows = scoring.judged(pairs, answers)
    if arguments.output:
        arguments.output.write_text(json.dumps(rows, indent=1) + "\n")
    print(scoring.table(rows))
    print("\n" + scoring.failures(rows))


if __name__ == "__main__":
    main()
