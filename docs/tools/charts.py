"""Draws charts of the committed records for the pages of the site, where a page has

    <!-- chart: NAME -->

Outside the site, the page shows nothing there.
"""

import json
import re
import textwrap

import matplotlib.pyplot as plot

import accuracy_tables
import records

GPU = "h200-2026-12-01"
MARK = re.compile(r"<!-- chart: ([\w -]+) -->")


def accuracy(folder, path):
    """The median and 95th percentile of the corner errors of each group."""
    record = json.loads((folder / "accuracy/similarity.json").read_text())
    groups = accuracy_tables.related(record)
    rows = range(len(groups))
    medians = [group["corner_error_median"] for group in groups]
    tails = [group["corner_error_p95"] for group in groups]
    figure, axis = plot.subplots(figsize=(7.2, 4.2), layout="constrained")
    axis.hlines(rows, medians, tails, color="0.75", linewidth=3)
    axis.plot(medians, rows, "o", color="tab:blue", label="median")
    axis.plot(tails, rows, "|", color="tab:red", markersize=12, label="95th percentile")
    axis.set_yticks(rows, [textwrap.fill(accuracy_tables.GROUPS[group["group"]], 36)
                           for group in groups])
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.grid(axis="x", alpha=0.3)
    axis.set_xlabel("mean corner error in pixels")
    axis.legend()
    figure.savefig(path)
    plot.close(figure)


def calibration(folder, path):
    """The accepted fractions of correct results and of unrelated pairs, by threshold."""
    record = json.loads((folder / "accuracy/calibration.json").read_text())
    figure, (left, right) = plot.subplots(1, 2, figsize=(7.2, 3.4), sharey=True,
                                          layout="constrained")
    for search, colour in zip(record["searches"], records.COLOURS):
        of = search["unrelated"]
        shares = [point["right"] / search["right"] for point in search["curve"]]
        left.plot([point["confidence"] for point in search["curve"]], shares, ".-", color=colour,
                  label=search["search"])
        # If no pair was accepted, the rate is only known to be below that of one pair.
        rates = [max(point["unrelated"], 1) / of for point in search["curve"]]
        right.plot(rates, shares, ".-", color=colour)
        for point, rate, share in zip(search["curve"], rates, shares):
            if point["confidence"] == 0.5:
                right.plot(rate, share, "o", color=colour, markersize=9, fillstyle="none")
    left.axvline(0.5, color="0.75", linewidth=1)
    left.set_xlabel("least confidence that is accepted")
    left.set_ylabel("right answers accepted")
    left.legend(fontsize=8, loc="lower left")
    right.set_xscale("log")
    right.set_xlabel("unrelated pairs accepted (circle: at 0.5;\nleftmost: one pair or none)")
    for axis in (left, right):
        axis.grid(alpha=0.3)
    figure.savefig(path)
    plot.close(figure)


def of_record(suite):
    def draw(folder, path):
        record = records.Record(folder / f"records/{GPU}.json")
        for charted, size, cases in records.CHARTS:
            if charted == suite:
                records.chart(record, suite, size, cases, path)
    return draw


DRAWN = {
    "accuracy": (accuracy, "Corner errors by group: medians from 0.001 to 0.05 pixels"),
    "calibration": (calibration, "Right answers accepted, by confidence, and by the rate of "
                                 "unrelated pairs accepted"),
    "prefilter": (of_record("prefilter"), "Times of the B-spline prefilter by device"),
    "rotation": (of_record("rotation"), "Times of the rotation of an image by device"),
    "registration": (of_record("registration"), "Times of a registration by device"),
}


def write(benchmarks, staged):
    """Draw the charts of the staged pages."""
    plot.switch_backend("agg")
    plot.rcParams["svg.hashsalt"] = "warpalign"  # the same names in each build
    folder = staged / "charts"
    folder.mkdir(parents=True, exist_ok=True)

    def picture(found):
        if found[1] not in DRAWN:
            raise SystemExit(f"docs: docs/tools/charts.py has no chart {found[1]}")
        draw, text = DRAWN[found[1]]
        draw(benchmarks, folder / f"{found[1]}.svg")
        return f"```{{image}} charts/{found[1]}.svg\n:alt: {text}\n:class: picture\n```"

    for page in staged.glob("*.md"):
        text = page.read_text()
        if MARK.search(text):
            page.write_text(MARK.sub(picture, text))
