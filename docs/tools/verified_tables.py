"""Makes the tables of docs/verified.md from benchmarks/verified.json."""

import json

COLUMNS = ("what", "device", "driver", "date", "commit", "result")


def lines(rows, drivers):
    """One row for the newest run of each suite on each platform."""
    seen = set()
    table = [f"| {' | '.join(COLUMNS)} |", "| --- " * len(COLUMNS) + "|"]
    for row in rows:
        platform = row["device"].split(",")[0]
        if (row["what"], platform) in seen:
            raise ValueError(f"benchmarks/verified.json has {row['what']} on {platform} twice: "
                             "keep the newest run")
        seen.add((row["what"], platform))
        cells = {**row, "driver": drivers[platform]}
        table.append(f"| {' | '.join(cells[column] for column in COLUMNS)} |")
    return table


def tables(path):
    record = json.loads(path.read_text())
    return {"verified": lines(record["tests"], record["drivers"]),
            "measured": lines(record["measurements"], record["drivers"])}
