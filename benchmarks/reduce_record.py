"""Reduces a record to what pages and `warpalign bench --baseline` read.

    python benchmarks/reduce_record.py RECORD.json...

Rewrites each file. Of accuracy records it drops the scores of single pairs, and the pairs of
calibration.json that no table shows. Of benchmark records it drops the figures that follow from
others, and rounds the rest to six digits. Each measurement takes one line, so that a renewed record
has a readable diff.
"""

import json
import sys
from pathlib import Path

WIDTH = 100
SHOWN_OF_HIGHEST = 2  # as RESEMBLANCES_SHOWN of docs/tools/accuracy_tables.py
DERIVED = ("gigabytes_a_second", "operations_a_second", "to_copy", "share_of_copy", "to_yardstick")
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


def reduced_measurement(value):
    if isinstance(value, float):
        return value if value.is_integer() else float(f"{value:.6g}")
    if isinstance(value, list):
        return [reduced_measurement(part) for part in value]
    if isinstance(value, dict):
        return {key: reduced_measurement(part) for key, part in value.items()
                if key not in DERIVED}
    return value


def written_benchmark(record):
    """JSON with one line for each measurement."""
    kept = {**record, "results": [reduced_measurement(one) for one in record["results"]]}
    rows = []
    for key, value in kept.items():
        if isinstance(value, list) and value:
            parts = ",\n".join(f"  {json.dumps(part, ensure_ascii=False)}" for part in value)
            rows.append(f" {json.dumps(key)}: [\n{parts}\n ]")
        else:
            rows.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(rows) + "\n}"


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
        record = json.loads(path.read_text())
        is_benchmark = record.get("schema") == "warpalign-bench"
        text = written_benchmark(record) if is_benchmark else written(reduced(record))
        path.write_text(text + "\n")


if __name__ == "__main__":
    main()
