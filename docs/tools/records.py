"""Makes the page of measured records: tables and charts of the files that `warpalign bench` and the
peers' scripts wrote to benchmarks/records/."""

import json

import matplotlib.pyplot as plot

SUITES = {
    "copy": "Copying on the device",
    "prefilter": "B-spline prefilter",
    "rotation": "Rotation of an image",
    "zoom": "Enlargement of an image",
    "truncation": "36 rotations by 10 degrees",
    "interpolation": "Evaluation at the pixels of a rotated image",
    "tricubic": "Rotation of a volume",
    "sobel": "Sobel gradient",
    "fft": "Fourier transform",
    "registration": "Registration of a pair",
    "search": "Registration of hard pairs",
    "batch": "Registration of many pairs",
    "windows": "Shifts of frames and of their windows",
    "stack": "Drift of 32 frames of a stack",
    "volumes": "Rigid registration of volumes",
    "deformation": "Deformable registration of images and volumes",
    "tiles": "Zoom and rotation of an image by tiles",
    "complex_bilinear": "Complex bilinear interpolation",
}
# The cases of the charts, with a size that every column has.
CHARTS = [
    ("prefilter", (2048, 2048, 1), ["exact", "fir:15", "iir:line"]),
    ("rotation", (2048, 2048, 1), ["bilinear, full", "evaluation alone, full", "exact + full"]),
    ("tricubic", (256, 256, 256), ["trilinear, full", "exact prefilter + 64 neighbours"]),
    ("registration", (2048, 2048, 1), [
        "pair, on the device", "pair, on the device, refined", "pair, from host memory, refined"]),
]
COLOURS = ["tab:blue", "tab:orange", "tab:green", "0.6", "tab:red", "tab:purple", "tab:brown"]


def _label(column):
    """The heading of a column of a record."""
    if column["id"] == "host":
        return "one thread"
    platform = column["platform"].split()[0]
    names = {"NVIDIA": "OpenCL, NVIDIA", "Portable": "OpenCL, PoCL", "Intel(R)": "OpenCL, Intel"}
    if column["id"].startswith("opencl"):
        return names.get(platform, f"OpenCL, {platform}")
    return {"cuda:0": "CUDA"}.get(column["id"], column["platform"])


def _size(size):
    return " x ".join(str(extent) for extent in size if extent != 1)


def _milliseconds(value):
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}" if value >= 0.1 else f"{value:.4f}"


class Record:
    """A record, with the records of other libraries that belong to it."""

    def __init__(self, path):
        self.own = json.loads(path.read_text())
        self.name = path.stem
        parts = [self.own]
        peers = path.with_name(f"{path.stem}-peers.json")
        if peers.exists():
            parts.append(json.loads(peers.read_text()))
        self.own_ids = {column["id"] for column in self.own["columns"]}
        self.columns = [column for part in parts for column in part["columns"]]
        self.labels = {column["id"]: _label(column) for column in self.columns}
        self.times = {}
        for part in parts:
            for result in part["results"]:
                if result["timing"] and result["verified"]:
                    key = result["suite"], result["case"], tuple(result["size"])
                    self.times.setdefault(key, {})[result["column"]] = result

    def keys(self, suite):
        return [key for key in self.times if key[0] == suite]

    def milliseconds(self, key, column):
        found = self.times.get(key, {}).get(column)
        return found["timing"]["ms"] if found else None


def _table(record, suite):
    keys = record.keys(suite)
    columns = [c["id"] for c in record.columns
               if any(record.milliseconds(key, c["id"]) is not None for key in keys)]
    lines = ["| case | size | " + " | ".join(record.labels[c] for c in columns) + " |",
             "| --- | --- |" + " ---: |" * len(columns)]
    for key in keys:
        values = [record.milliseconds(key, column) for column in columns]
        cells = ["" if value is None else _milliseconds(value) for value in values]
        lines.append(f"| {key[1]} | {_size(key[2])} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _peers(record):
    """Compare other libraries with the first column, in the cases that both have."""
    peers = [c["id"] for c in record.columns if c["id"] not in record.own_ids]
    first = record.columns[0]["id"]
    lines = []
    for key in record.times:
        ours = record.milliseconds(key, first)
        for peer in peers:
            theirs = record.milliseconds(key, peer)
            if ours is not None and theirs is not None and key[0] != "copy":
                lines.append(
                    f"| {SUITES[key[0]]}: {key[1]} | {_size(key[2])} | {record.labels[peer]} "
                    f"| {_milliseconds(theirs)} | {_milliseconds(ours)} | {theirs / ours:.1f} |")
    if not lines:
        return []
    return ["### Beside other libraries", "",
            f"| case | size | library | its ms | {record.labels[first]}, ms | times as fast |",
            "| --- | --- | --- | ---: | ---: | ---: |", *lines, ""]


def chart(record, suite, size, cases, path):
    """Draw bars of milliseconds on a logarithmic axis; returns whether there are any."""
    columns = [column["id"] for column in record.columns
               if any(record.milliseconds((suite, case, size), column["id"]) for case in cases)]
    if not columns:
        return False
    height = 0.8 / len(columns)
    figure, axis = plot.subplots(
        figsize=(7.2, 0.9 + 0.24 * len(columns) * len(cases)), layout="constrained")
    for index, column in enumerate(columns):
        for row, case in enumerate(cases):
            value = record.milliseconds((suite, case, size), column)
            if value is None:
                continue
            at = row + (index - (len(columns) - 1) / 2) * height
            axis.barh(at, value, height * 0.9, color=COLOURS[index],
                      label=record.labels[column])
            axis.text(value * 1.05, at, _milliseconds(value), va="center", fontsize=8)
    axis.set_yticks(range(len(cases)), cases)
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.margins(x=0.12)
    axis.set_xlabel(f"milliseconds, {_size(size)}; shorter is better")
    labels = dict(zip(*reversed(axis.get_legend_handles_labels())))
    axis.legend(labels.values(), labels.keys(), fontsize=8, loc="center left",
                bbox_to_anchor=(1.01, 0.5))
    figure.savefig(path)
    plot.close(figure)
    return True


def _page(record, folder):
    own = record.own
    devices = [f"| {record.labels[c['id']]} | {c['name']} | {c['platform']} | {c['driver']} "
               f"| {c['details']} |" for c in record.columns]
    checked = sum(result["verified"] for result in own["results"])
    lines = [f"## {record.columns[0]['name']}, {own['date'][:10]}", "",
             f"`{own['command']}`, {own['program']}, on {own['host']}. "
             f"{checked} of {len(own['results'])} results verified, "
             f"{len(own['failures'])} failures. Times are medians in milliseconds; "
             "[what the columns mean](performance.md#what-the-columns-mean).", "",
             "| column | device | platform | driver | |", "| --- | --- | --- | --- | --- |",
             *devices, "", *_peers(record)]
    for suite, title in SUITES.items():
        if not record.keys(suite):
            continue
        lines += [f"### {title}", ""]
        for charted, size, cases in CHARTS:
            name = f"{record.name}-{suite}.svg"
            if charted == suite and chart(record, suite, size, cases, folder / name):
                lines += [f"```{{image}} records/{name}", f":alt: {title}, {_size(size)}",
                          ":class: picture", "```", ""]
        lines += _table(record, suite)
    unknown = {key[0] for key in record.times} - set(SUITES)
    if unknown:
        raise SystemExit(f"docs: docs/tools/records.py does not know the suites {unknown}")
    return lines


def write(records, staged):
    plot.switch_backend("agg")
    plot.rcParams["svg.hashsalt"] = "warpalign"  # the same names in each build
    folder = staged / "records"
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# Measured records", "",
             "This page is made from the records in `benchmarks/records/`, which "
             "[`warpalign bench`](performance.md) and the scripts for other libraries wrote.", ""]
    found = sorted(path for path in records.glob("*.json") if not path.stem.endswith("-peers"))
    for path in found:
        lines += _page(Record(path), folder)
    (staged / "records.md").write_text("\n".join(lines))
