#!/usr/bin/env python3
"""Merges the scored answers of several tools into one record that can be committed.

    record.py SET --answers eval.json --peers peers.json --about FILE.json --output RECORD.json

`eval.json` is the output of evaluate.py, `peers.json` that of peers.py. Pairs without an answer of
every tool are left out. FILE.json describes how the answers were made: {"date", "program",
"device", "commands", "methods": {"warpalign": "warpalign", "sift": "SIFT"}}. The record has no
matrices, since pictures and truth are not in the repository either.
"""

import argparse
import json
import pathlib

import scoring

KEPT = ("right", "accepted", "right_as_homography")
LENGTHS = ("error", "floor")


def verdict(row):
    lengths = {key: None if row[key] is None else round(row[key], 3) for key in LENGTHS}
    return {**{key: bool(row[key]) for key in KEPT}, **lengths}


def merged(pairs, answers, methods):
    """The pairs that every method has answered, with all verdicts."""
    judged = {method: {row["name"]: row for row in scoring.judged(pairs, answers[method])}
              for method in methods}
    return [{"name": pair["name"], "kind": pair["kind"], "split": pair["split"],
             "answers": {method: verdict(judged[method][pair["name"]]) for method in methods}}
            for pair in pairs if all(pair["name"] in judged[method] for method in methods)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=pathlib.Path)
    for name in ("answers", "peers", "about", "output"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    given = parser.parse_args()
    about = json.loads(given.about.read_text())
    answers = {"warpalign": json.loads(given.answers.read_text()),
               **json.loads(given.peers.read_text())}
    if missing := set(about["methods"]) - set(answers):
        parser.error(f"no answers by {', '.join(sorted(missing))}")
    pairs = merged(scoring.load_set(given.set), answers, about["methods"])
    lines = ",\n".join(json.dumps(pair) for pair in pairs)
    head = json.dumps(about, indent=1)[:-2]
    given.output.write_text(f'{head},\n "pairs": [\n{lines}\n]}}\n')
    print(f"record.py: {len(pairs)} pairs in {given.output}")


if __name__ == "__main__":
    main()
