"""Reduces a record to the data that pages show: aggregates without scores of single pairs.

    python benchmarks/reduce_record.py RECORD.json...

Rewrites each file without the scores of single pairs, and without the pairs of calibration.json
that no table shows. Each innermost object takes one line, so that changes have a readable diff.
"""

import json
import sys
from pathlib import Path

WIDTH = 100
SHOWN_OF_HIGHEST = 2  # the same as RESEMBLANCES_SHOWN in docs/tools/accuracy_tables.py
SHOWN_KEYS = ("scenes", "confidence", "excess", "rival", "proposed_by", "overlap")


def reduced(value):
    if isinstance(value, list):
        return [reduced(part) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {key: reduced(part) for key, part in value.items() if key != "scores"}
    if "curve" in kept:  # a search of calibration.json
        kept["highest"] = [{key: pair[key] for key in SHOWN_KEYS}
                           for pair in kept["highest"][:SHOWN_OF_HIGHEST]]
    return kept


def written(value, indent=""):
    """JSON in which each object without nested objects takes one line."""
    line = json.dumps(value, ensure_ascii=False)
    if "{" not in line.lstrip("{") or len(indent) + len(line) <= WIDTH:
        return line
    deeper = indent + " "
    if isinstance(value, dict):
        rows = [f"{json.dumps(key)}: {written(part, deeper)}" for key, part in value.items()]
    else:
        rows = [written(part, deeper) for part in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(deeper + row for row in rows) + f"\n{indent}{closing}"


def main():
    for name in sys.argv[1:]:
        path = Path(name)
        record = reduced(json.loads(path.read_text()))
        path.write_text(written(record) + "\n")


if __name__ == "__main__":
    main()
