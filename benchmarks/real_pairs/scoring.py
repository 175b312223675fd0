"""Scores answers against the truth of a set, and prints the tables.

An answer is {"name", "matrix" (or None), "accepted", "seconds"}. Its error is the mean distance
between the reference's points mapped by the answer and by the truth, in pixels of the coarser
picture. The points are the published landmarks, or a grid over the overlap.

An answer is correct if

    error <= 1.25 floor + tolerance

where the floor is the error of the best answer of its model (a least-squares fit to the same
points: a similarity cannot fit a perspective, and no model fits noisy landmarks). The tolerance is
2.5 px or 0.5 % of the longer side of the moving picture, whichever is larger, plus the uncertainty
of the truth, all in those pixels. If the floor of its model is above 4 % of that side, an answer
cannot be correct. It is correct as a homography if the same holds with the floor of a homography,
whatever its model.
"""

import json
import pathlib
import statistics

import numpy as np

import geometry

FLOOR_FACTOR = 1.25
FLOOR_LIMIT = 0.04
TOLERANCE_PX = 2.5
TOLERANCE_SHARE = 0.005


def load_set(folder, split="all", only=""):
    pairs = json.loads((pathlib.Path(folder) / "pairs.json").read_text())
    return [p for p in pairs if split in ("all", p["split"]) and only in p["name"]]


def points_of(pair):
    """The points of the reference and their true positions in the moving picture."""
    truth = pair["truth"]
    if "landmarks" in truth:
        marks = np.array(truth["landmarks"])
        return marks[:, :2], marks[:, 2:]
    grid = geometry.overlap_grid(truth["homography"], pair["reference_size"], pair["moving_size"])
    return grid, geometry.apply(truth["homography"], grid)


def model_of(matrix):
    matrix = geometry.full(matrix)
    matrix = matrix / matrix[2, 2]
    if np.abs(matrix[2, :2]).max() > 1e-9:
        return "homography"
    (a, b), (c, d) = matrix[:2, :2]
    return "similarity" if np.hypot(a - d, b + c) <= 1e-6 * np.hypot(a, c) else "affine"


class Judge:
    """The data for scoring the answers for one pair."""

    def __init__(self, pair):
        self.source, self.target = points_of(pair)
        scale = geometry.scale_at(pair["truth"]["homography"], self.source.mean(0))
        self.per_pixel = 1 / max(scale, 1)
        self.longer = max(pair["moving_size"]) * self.per_pixel
        self.tolerance = (max(TOLERANCE_PX, TOLERANCE_SHARE * self.longer)
                          + pair["truth"]["uncertainty"] * self.per_pixel)

    def distances(self, matrix):
        distance = np.linalg.norm(geometry.apply(matrix, self.source) - self.target, axis=1)
        return np.nan_to_num(distance * self.per_pixel, nan=np.inf)

    def floor(self, model):
        return float(self.distances(geometry.FITS[model](self.source, self.target)).mean())

    def judge(self, matrix):
        distance = self.distances(matrix)
        error, floor = float(distance.mean()), self.floor(model_of(matrix))
        limit = FLOOR_FACTOR * floor + self.tolerance
        right = error <= limit and floor <= FLOOR_LIMIT * self.longer
        strict = error <= FLOOR_FACTOR * self.floor("homography") + self.tolerance
        return {"right": bool(right), "right_as_homography": bool(strict), "error": error,
                "floor": floor, "limit": limit,
                "share_near": float((distance <= self.tolerance).mean())}


def judged(pairs, answers):
    """One row per pair: the answer with its error and verdict."""
    by_name = {a["name"]: a for a in answers}
    rows = []
    for pair in pairs:
        answer = by_name.get(pair["name"])
        if answer is None:
            continue
        row = {**answer, "kind": pair["kind"], "split": pair["split"]}
        if answer.get("matrix") is None:
            row.update(error=None, floor=None, limit=None, right=False,
                       right_as_homography=False, share_near=0.0)
        else:
            row.update(Judge(pair).judge(answer["matrix"]))
        rows.append(row)
    return rows


def table(rows):
    """A Markdown table by kind."""
    lines = ["| kind | pairs | right | as a homography | right and accepted | accepted wrongly "
             "| refused although right | median error of right | above the floor "
             "| median seconds |",
             "| --- " * 10 + "|"]
    kinds = sorted({r["kind"] for r in rows})
    for kind in [*kinds, None]:
        lines.append(table_line(kind or "all", [r for r in rows if kind in (None, r["kind"])]))
    return "\n".join(lines)


def table_line(label, rows):
    right = [r for r in rows if r["right"]]
    both = [r for r in right if r["accepted"]]
    wrong = [r for r in rows if r["accepted"] and not r["right"]]
    errors = f"{statistics.median(r['error'] for r in right):.2f} px" if right else "-"
    above = f"{statistics.median(r['error'] - r['floor'] for r in right):.2f} px" if right else "-"
    seconds = statistics.median(r["seconds"] for r in rows) if rows else 0
    strict = sum(r["right_as_homography"] for r in rows)
    return (f"| {label} | {len(rows)} | {len(right)} | {strict} | {len(both)} | {len(wrong)} | "
            f"{len(right) - len(both)} | {errors} | {above} | {seconds:.2f} |")


def failures(rows):
    """One line for each answer that is not both correct and accepted."""
    lines = []
    for row in rows:
        if row["right"] and row["accepted"]:
            continue
        verdict = ("accepted wrongly" if row["accepted"] else
                   "refused although right" if row["right"] else "not found")
        detail = "" if row["error"] is None else (
            f", error {row['error']:.1f} px, floor {row['floor']:.1f}, limit {row['limit']:.1f}, "
            f"{100 * row['share_near']:.0f} % of the points near")
        lines.append(f"- {row['name']} ({row['kind']}): {verdict}{detail}")
    return "\n".join(lines)
