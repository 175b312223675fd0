"""The tables of docs/accuracy*.md, from the records in benchmarks/accuracy/."""

import json

GROUPS = {
    "mild": "mild",
    "any_angle": "any angle",
    "scale2": "scale 0.5 to 2",
    "scale4": "scale 0.25 to 4",
    "noise": "noise, sigma to 40",
    "salt_pepper": "salt and pepper, 20 %",
    "illumination": "uneven illumination, gamma, contrast",
    "overlap": "shifts of 20 to 40 %",
    "odd_sizes": "odd and unequal sizes",
    "low_texture": "low texture",
    "subpixel": "sub-pixel shifts",
    "corners": "black corners, borders",
    "mixed": "scale 0.4 to 2.5, noise, uneven illumination, shifts at once",
    "affine": "affine",
    "homography": "homography",
}
METHODS = {
    "orb": "ORB", "sift": "SIFT", "sift_ecc": "SIFT + ECC", "phase_correlate": "phaseCorrelate",
    "skimage_log_polar": "scikit-image", "imreg_dft": "imreg_dft",
}
STARS = {
    "plain": "stars, a third missing or false",
    "hot": "hot pixels at the same places in both",
    "trail": "a satellite's trail in each image",
    "cosmic": "40 cosmic rays in each image",
    "saturated": "saturated cores",
    "nan": "NaN at the edge, masked",
    "unrelated": "unrelated fields",
}
CALIBRATION_SHOWN = (0.1, 0.3, 0.5, 0.7, 0.9)
RESEMBLANCES_SHOWN = 2
PACKAGES = {"cv2": "OpenCV", "skimage": "scikit-image", "scipy": "SciPy", "imreg_dft": "imreg_dft"}


def significant(value, digits=2):
    """Format a value with significant digits and no exponent: 0.0014, 0.50, 25."""
    if value is None:
        return "-"
    text = f"{value:#.{digits}g}"
    return (f"{float(text):.0f}" if "e" in text else text).rstrip(".")


def related(record):
    return [group for group in record["groups"] if group["group"] != "unrelated"]


def provenance(record):
    """The command and the device of a record of `evaluate`, as a line above its table."""
    return (f"`{record['command']}`, {record['program']}, on {record['device_name']} "
            f"({record['platform']}, {record['driver']}), {record['date'][:10]}.")


def similarity(record):
    lines = [
        provenance(record), "",
        "| group | pairs | solved | reliable | false ok | refused | corner error, px: median "
        "| 95 % | rotation, 0.001 deg | scale, 1e-6 | shift, px |", "| --- " * 11 + "|"]
    for group in related(record):
        errors = [group["corner_error_median"], group["corner_error_p95"],
                  1e3 * group["rotation_error_deg_median"], 1e6 * group["scale_error_median"],
                  group["translation_error_median"]]
        counts = [group[key] for key in ("pairs", "solved", "reliable", "false_ok",
                                         "false_refused")]
        cells = [GROUPS[group["group"]], *map(str, counts), *map(significant, errors)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def motions(records):
    """One table of the records of several models."""
    lines = [f"- {provenance(record)}" for record in records]
    lines += ["", "| group | motion | pairs | solved | reliable | corner error, px: median | 95 % "
              "| affine or homography chosen |", "| --- " * 8 + "|"]
    for record in records:
        for group in related(record):
            chosen = group["richer"] if record["motion"] == "auto" else ""
            lines.append(
                f"| {GROUPS[group['group']]} | `{record['motion']}` | {group['pairs']} "
                f"| {group['solved']} | {group['reliable']} "
                f"| {significant(group['corner_error_median'])} "
                f"| {significant(group['corner_error_p95'])} | {chosen} |")
    return lines


def peers(reports):
    """The number of solved pairs and the median error, by group (rows) and method (columns)."""
    rows = {}
    for report in reports:
        for group in related(report):
            rows.setdefault(group["group"], []).append(group)
    versions = {PACKAGES[name]: version for report in reports
                for name, version in report["versions"].items()}
    label = ", ".join(f"{name} {version}" for name, version in versions.items())
    lines = [f"{label}, {reports[0]['date']}.", "",
             f"| group | pairs | {' | '.join(METHODS[report['method']] for report in reports)} |",
             "| --- " * (len(reports) + 2) + "|"]
    for name, groups in rows.items():
        cells = []
        for group in groups:
            # If few pairs are solved, the median over all pairs has no meaning.
            error = group["corner_error_median"]
            label = f" ({significant(error)})" if group["solved"] * 2 > group["pairs"] else ""
            cells.append(f"{group['solved']}{label}")
        lines.append(f"| {GROUPS[name]} | {groups[0]['pairs']} | {' | '.join(cells)} |")
    return lines


def local_motion(record):
    """The results of benchmarks/local_motion.py, by frames and library."""
    libraries = dict.fromkeys(f"{row['library']} {row['version']} ({row['on']})"
                              for row in record["rows"])
    lines = [f"`python {record['command']}`, {', '.join(libraries)}, on {record['host']}, "
             f"{record['date']}.", "",
             "| frames | library | settings | error, px: rms | 95 % "
             f"| {record['margin']} px from the edges: rms | 95 % | time a frame |",
             "| --- " * 8 + "|"]
    for row in record["rows"]:
        errors = [significant(row[key]) for key in ("rms", "p95", "rms_inner", "p95_inner")]
        lines.append(f"| {row['frames']} | {row['library']} | {row['what']} | {' | '.join(errors)} "
                     f"| {row['ms_per_frame']:.0f} ms |")
    return lines


def stars(records):
    """The results of tools/evaluate/stars.py, by kind and method. Runs with other seeds are added."""
    lines = []
    for record in records:
        also = f", astroalign {record['astroalign']}" if "astroalign" in record else ""
        lines.append(f"- `{record['command']}`, {record['program']}{also}, on "
                     f"{record['device_name']} ({record['platform']}, {record['driver']}), "
                     f"{record['date']}.")
    groups = {}
    for row in (row for record in records for row in record["rows"]):
        effort = f", `--search {row['search']}`" if row["search"] != "standard" else ""
        method = row["method"] + (effort if row["method"] == "warpalign" else "")
        groups.setdefault((row["kind"], method), []).append(row)
    lines += ["", "| images | method | pairs | right | right and accepted | wrong and accepted "
              "| error, px | Cramer-Rao bound, px | ratio |", "| --- " * 9 + "|"]
    for (kind, method), rows in groups.items():
        counts = [str(sum(row[key] for row in rows))
                  for key in ("pairs", "right", "right_and_accepted", "wrong_and_accepted")]
        if kind == "unrelated":
            counts[1:3] = ["", ""]
        errors = ["", "", ""]
        if len(rows) == 1 and "ratio" in rows[0]:
            errors = [f"{rows[0]['error_rms']:.3f}", f"{rows[0]['bound_rms']:.3f}",
                      f"{rows[0]['ratio']:.2f}"]
        lines.append(f"| {STARS[kind]} | {method} | {' | '.join(counts + errors)} |")
    return lines


def counts_of(rows):
    right = [row for row in rows if row["right"]]
    accepted = sum(row["accepted"] for row in right)
    wrong = sum(row["accepted"] and not row["right"] for row in rows)
    return f"{len(right)} / {accepted} / {wrong}"


def real_pairs(record):
    """Correct / correct and accepted / falsely accepted, by kind and method."""
    methods = record["methods"]
    pairs = record["pairs"]

    def line(label, chosen):
        cells = [counts_of([pair["answers"][method] for pair in chosen]) for method in methods]
        return f"| {label} | {len(chosen)} | {' | '.join(cells)} |"

    lines = [f"| kind | pairs | {' | '.join(methods.values())} |",
             "| --- " * (len(methods) + 2) + "|"]
    for kind in sorted({pair["kind"] for pair in pairs}):
        lines.append(line(kind, [pair for pair in pairs if pair["kind"] == kind]))
    lines.append(line("all", pairs))
    held_back = [pair for pair in pairs if pair["split"] == "held_back"]
    if len(held_back) < len(pairs):
        lines.append(line("held back, of these", held_back))
    strict = [str(sum(pair["answers"][method]["right_as_homography"] for pair in pairs))
              for method in methods]
    lines.append(f"| all, right as homographies | {len(pairs)} | {' | '.join(strict)} |")
    return lines


def calibration(record):
    """The accepted correct results, wrong results and unrelated pairs, by threshold of confidence;
    then the unrelated pairs with the highest confidence."""
    commands = ", ".join(f"`{command}`" for command in record["commands"])
    lines = [f"{commands}, {record['program']}, on {record['device']} ({record['driver']}), "
             f"{record['date']}.", "",
             "| search | accepted from a confidence of | right answers | other answers "
             "| unrelated pairs |", "| --- " * 5 + "|"]
    for search in record["searches"]:
        for point in search["curve"]:
            if point["confidence"] in CALIBRATION_SHOWN:
                lines.append(
                    f"| {search['search']} | {point['confidence']} "
                    f"| {point['right']} of {search['right']} "
                    f"| {point['wrong']} of {search['related'] - search['right']} "
                    f"| {point['unrelated']} of {search['unrelated']} |")
    return lines


def resemblances(record):
    """The unrelated pairs with the highest confidence."""
    lines = ["| search | scenes | confidence | found by | above chance | rival | in common |",
             "| --- " * 7 + "|"]
    for search in record["searches"]:
        for pair in search["highest"][:RESEMBLANCES_SHOWN]:
            above = "beyond doubt" if pair["excess"] is None else f"{pair['excess']:.1f}"
            rival = "-" if pair["rival"] is None else f"{pair['rival']:.2f}"
            lines.append(
                f"| {search['search']} | {pair['scenes'][0]}, {pair['scenes'][1]} "
                f"| {pair['confidence']:.2f} | {pair['proposed_by']} | {above} | {rival} "
                f"| {100 * pair['overlap']:.0f} % |")
    return lines


SETS = {
    "drawn": ("drawn fields", "error, pixels"),
    "drawn other": ("drawn fields, another modality", "error, pixels"),
    "slices": ("slices of brains", "Dice"),
    "histology": ("stains of a lung lesion", "median rTRE"),
    "BIRL": ("stains of a kidney and a lesion", "median rTRE"),
}


def deformation_peers(record):
    """Deformable registration beside other libraries, a line for each set and method."""
    lines = [
        f"`{record['command']}`,",
        f"{record['device']}, {record['date']}.", "",
        "| set | method | reliable | agreement | SD log J | folded, % | processor s a pair |",
        "| --- | --- | --- | --- | --- | --- | --- |"]
    for one in record["sets"]:
        title, measure = SETS[one["set"]]
        # Of pairs that every method has registered, so that lines can be compared.
        measured = [i for i in range(one["pairs"])
                    if all("value" in results[i] for results in one["methods"].values())]
        median = measure == "median rTRE"

        def agreement(results):
            values = sorted(results[i]["value"] for i in measured)
            if not values:
                return "-"
            middle = (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2
            return f"{middle:.4f}" if median else f"{sum(values) / len(values):.3f}"

        lines.append(f"| {title}, {len(measured)} of {one['pairs']} pairs | none | | {measure} "
                     f"{agreement(one['before'])} | | | |")
        for name, results in one["methods"].items():
            kept = [results[i] for i in measured]
            seconds = sorted(result["seconds"] for result in results)
            smooth = sum(result["sd_log_j"] for result in kept) / max(len(kept), 1)
            folded = 100 * sum(result["folded"] for result in kept) / max(len(kept), 1)
            reliable = (f"{sum(result['reliable'] for result in results)} of {one['pairs']}"
                        if name.startswith("warpalign") else "")
            lines.append(f"| | {name} | {reliable} | {agreement(results)} | {smooth:.3f} | "
                         f"{folded:.2f} | {seconds[len(seconds) // 2]:.2f} |")
    return lines


def deformation_brains(record):
    """Deformable registration of brains, a line for each method, over the pairs that all have."""
    found = record["sets"][0]
    methods = found["methods"]
    common = [i for i in range(min(map(len, methods.values())))
              if all("value" in results[i] for results in methods.values())]

    def mean(results, name):
        return sum(results[i][name] for i in common) / len(common)

    everyone = [result for results in methods.values() for result in results]
    clock = "processor" if all("processor_seconds" in one for one in everyone) else "wall"
    lines = [
        f"`{record['command']}`,",
        f"{record['device']}, {record['date']}; pairs "
        f"{', '.join(found['pairs'][i] for i in common)}.", "",
        f"| method | reliable | Dice | SD log J | within labels | folded, % | {clock} s a pair |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        f"| none | | {mean(found['before'], 'value'):.3f} | | | | |"]
    for name, results in methods.items():
        seconds = sorted(result[f"{clock}_seconds"] for result in results)
        reliable = sum(result.get("reliable", False) for result in results)
        share = f"{reliable} of {len(results)}" if "reliable" in results[0] else ""
        lines.append(
            f"| {name} | {share} | {mean(results, 'value'):.3f} | {mean(results, 'sd_log_j'):.3f} "
            f"| {mean(results, 'sd_log_j_within'):.3f} | {100 * mean(results, 'folded'):.2f} "
            f"| {seconds[len(seconds) // 2]:.1f} |")
    return lines


def tables(folder):
    def read(name):
        return json.loads((folder / f"{name}.json").read_text())

    calibrated = {}
    if (folder / "calibration.json").exists():
        calibrated = {"calibration": calibration(read("calibration")),
                      "resemblances": resemblances(read("calibration"))}
    return {
        **calibrated,
        "accuracy": similarity(read("similarity")),
        "motions": motions([read(f"motion-{name}") for name in ("affine", "homography", "auto")]),
        "peers": peers(read("peers")),
        "stars": stars(read("stars")),
        "local motion": local_motion(read("local-motion")),
        "real pairs": real_pairs(read("real-pairs")),
        "fresh pairs": real_pairs(read("fresh-pairs")),
        "deformation peers": deformation_peers(read("deformation-peers")),
        "deformation brains": deformation_brains(read("deformation-brains")),
    }
