#!/usr/bin/env python3
"""Computes the accepted fraction of correct results and the false-accept rate, by kind of search.

    calibration.py SET --about FILE.json --lines FOLDER [--output RECORD.json]

FOLDER has two files for every kind of search, which tools/register_pairs wrote:
NAME-related.jsonl, of SET/pairs.json, and NAME-unrelated.jsonl, of SET/unrelated.json. Each may
end before its list does. FILE.json says how they were made: {"date", "program", "device",
"driver", "commands", "searches": {NAME: what a reader calls it}}. Prints for each kind of search
how many unrelated pairs are accepted and the ten with the highest confidence, and writes the
record that docs/tools/record_tables.py makes a table and a chart of.
"""

import argparse
import json
import pathlib

import scoring

DECISION = 0.5
THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, DECISION, 0.55, 0.6,
              0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
HIGHEST = 10


def read_lines(path):
    """The answers for scoring.py, and the names of pairs that could not be registered."""
    answers, failed = [], []
    for line in path.read_text().splitlines():
        found = json.loads(line)
        if "error" in found:
            failed.append(found["name"])
            continue
        answers.append({**found, "accepted": found["status"] == "ok", "seconds": 0})
    return answers, failed


def highest_rate(count, of, doubt=0.05):
    """The rate at which so few, or fewer, occur with the probability `doubt` (Clopper and
    Pearson 1934)."""
    from scipy.stats import beta

    return float(beta.ppf(1 - doubt, count + 1, of - count)) if count < of else 1.0


def excess(answer):
    """The z-score above that of the best wrong pose; None for results that need no null test."""
    chance = answer["chance"]
    return round(chance["deviations"] - chance["by_chance"], 2) if chance else None


def described(answer, pair):
    return {"name": answer["name"], "scenes": pair["scenes"],
            **{key: answer[key] for key in ("motion", "modality", "proposed_by")},
            **{key: round(answer[key], 4) for key in ("confidence", "correlation", "overlap")},
            "significance": round(answer["significance"], 1), "excess": excess(answer),
            "rival": round(answer["chance"]["rival"], 3) if answer["chance"] else None}


def at_least(answers, threshold):
    return sum(a["confidence"] >= threshold for a in answers)


def curve(right, wrong, unrelated):
    return [{"confidence": threshold, "right": at_least(right, threshold),
             "wrong": at_least(wrong, threshold), "unrelated": at_least(unrelated, threshold)}
            for threshold in THRESHOLDS]


def search_record(label, pairs, related, unrelated_pairs, unrelated):
    """The counts of one kind of search; `related` and `unrelated` are values of read_lines."""
    rows = scoring.judged(pairs, related[0])
    right = [row for row in rows if row["right"]]
    wrong = [row for row in rows if not row["right"]]
    by_name = {pair["name"]: pair for pair in unrelated_pairs}
    ranked = sorted(unrelated[0], key=lambda answer: -answer["confidence"])
    accepted = sum(answer["accepted"] for answer in ranked)
    scenes = {scene for answer in ranked for scene in by_name[answer["name"]]["scenes"]}
    return {"search": label,
            "related": len(rows), "right": len(right), "related_not_registered": len(related[1]),
            "right_accepted": sum(row["accepted"] for row in right),
            "wrong_accepted": [{"name": row["name"], "error": round(row["error"], 2),
                                "limit": round(row["limit"], 2),
                                "confidence": round(row["confidence"], 4)}
                               for row in wrong if row["accepted"]],
            "unrelated": len(ranked), "unrelated_scenes": len(scenes),
            "unrelated_not_registered": len(unrelated[1]), "unrelated_accepted": accepted,
            "unrelated_rate_at_most": highest_rate(accepted, len(ranked)),
            "curve": curve(right, wrong, ranked),
            "highest": [described(a, by_name[a["name"]]) for a in ranked[:HIGHEST]]}


def summary_of(search):
    """Describe the record of a kind of search."""
    lines = [f"{search['search']}: {search['unrelated']} unrelated pairs of "
             f"{search['unrelated_scenes']} scenes, {search['unrelated_accepted']} accepted (95 %: "
             f"at most {search['unrelated_rate_at_most']:.1e}), "
             f"{search['unrelated_not_registered']} not registered",
             f"  {search['related']} related pairs: {search['right']} right, of these "
             f"{search['right_accepted']} accepted; {len(search['wrong_accepted'])} others accepted"]
    lines += [f"  wrong: {w['name']}, {w['error']} px of {w['limit']}, "
              f"confidence {w['confidence']}" for w in search["wrong_accepted"]]
    lines += [f"  {h['confidence']:.4f} {' / '.join(h['scenes'])}: {h['motion']} by "
              f"{h['proposed_by']}, significance {h['significance']}, excess {h['excess']}, "
              f"rival {h['rival']}, correlation {h['correlation']}, overlap {h['overlap']}"
              for h in search["highest"]]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=pathlib.Path)
    parser.add_argument("--about", type=pathlib.Path, required=True)
    parser.add_argument("--lines", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path)
    given = parser.parse_args()
    about = json.loads(given.about.read_text())
    pairs = scoring.load_set(given.set)
    unrelated_pairs = json.loads((given.set / "unrelated.json").read_text())
    searches = [search_record(label, pairs, read_lines(given.lines / f"{name}-related.jsonl"),
                              unrelated_pairs, read_lines(given.lines / f"{name}-unrelated.jsonl"))
                for name, label in about["searches"].items()]
    for search in searches:
        print(summary_of(search))
    if given.output:
        given.output.write_text(json.dumps({**about, "searches": searches}, indent=1) + "\n")


if __name__ == "__main__":
    main()
