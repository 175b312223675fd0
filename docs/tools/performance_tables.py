"""Makes the tables of docs/performance.md from records of `warpalign bench`."""

import json

GPU = "h200-2026-12-01"
TWO_CORES = "two-cores-suites-2026-11-30"
CPU_DRIVERS = "two-cores-2026-11-30"
CUDA, OPENCL = "cuda:0", "opencl:0"
ON_TWO_CORES = "opencl:0"


def square(side):
    return side, side, 1


def cube(side):
    return side, side, side


def number(value, digits=3):
    """Format a value with this many significant digits and no exponent."""
    text = f"{value:#.{digits}g}"
    return (f"{float(text):.0f}" if "e" in text else text).rstrip(".")


class Times:
    """The median times of one record, in milliseconds."""

    def __init__(self, path):
        self.record = json.loads(path.read_text())
        peers = path.with_name(f"{path.stem}-peers.json")
        parts = [self.record, *([json.loads(peers.read_text())] if peers.exists() else [])]
        self.results = {
            (one["column"], one["suite"], one["case"], tuple(one["size"])): one
            for part in parts for one in part["results"] if one["verified"] and one["timing"]}

    def ms(self, suite, case, size, column=CUDA):
        return self.results[column, suite, case, size]["timing"]["ms"]

    def copies(self, suite, case, size, column=CUDA):
        return self.ms(suite, case, size, column) / self.ms("copy", "copy", size, column)

    def a_second(self, suite, case, size, column=CUDA):
        one = self.results[column, suite, case, size]
        return one["operations"] / one["timing"]["ms"] * 1e3

    def ratio(self, over, under):
        """The ratio of the times of two (suite, case, size, column) tuples."""
        return self.ms(*over) / self.ms(*under)


def in_copies(times, case, sides):
    return ", ".join(f"{number(times.copies('prefilter', case, square(side)))} at {side}"
                     for side in sides)


def rotation_rows(times):
    def over(what, under, sides=(2048, 8192)):
        parts = []
        for side in sides:
            a, b = (times.ms("rotation", case, square(side)) for case in (what, under))
            parts.append(f"{number(a)} over {number(b)} ms, **{number(a / b)}**, at {side}")
        return "; ".join(parts)

    return [
        ("complete cubic rotation by 17 degrees (exact prefilter, full precision) over bilinear by "
         "the texture unit, mirrored edges both", "1.75 at 2048, 1.5 at 8192",
         over("exact + full", "bilinear, texture")),
        ("the same by 45 degrees", "",
         over("exact + full, 45 degrees", "bilinear, texture, 45 degrees")),
        ("the same by 17 degrees over the library's exact bilinear rotation", "",
         over("exact + full", "bilinear, full")),
    ]


def registration_rows(times):
    size = square(2048)
    whole = times.ms("registration", "pair, on the device", size)
    kept = times.ms("registration", "moving image, on the device", size)
    transforms = (5 * times.ms("fft", "forward", size) + times.ms("fft", "inverse", size)
                  + times.ms("fft", "inverse, two at once", size))
    refined = {(where, side): number(times.ms("registration", f"pair, {where}, refined",
                                              square(side)))
               for where in ("on the device", "from host memory") for side in (512, 1024, 2048)}
    return [
        ("registration, `fast`, 2048 x 2048, pair on the device", "below 0.6 ms",
         f"{number(whole)} ms ({number(kept)} with the reference kept)"),
        ("the same over its Fourier transforms by the suite `fft` (five forward, one inverse, two "
         "at once)", "1.5", f"{number(whole / transforms)}, of {number(transforms)} ms"),
        ("registration with search and refinement, pair on the device",
         "3 ms at 1024, 6 ms at 2048",
         ", ".join(f"{refined['on the device', side]} ms at {side}" for side in (512, 1024, 2048))),
        ("the same from host memory", "",
         ", ".join(f"{refined['from host memory', side]} ms at {side}"
                   for side in (512, 1024, 2048))),
        ("pairs of 512 x 512 a second, search and refinement, from host memory, 32 in one call", "",
         ", ".join(f"{times.a_second('batch', case, square(512)):.0f} on {case}"
                   for case in ("1 stream", "2 streams", "4 streams"))),
        ("the same, 512 in one call on 2 streams", "5000",
         f"{times.a_second('batch', 'many pairs, 2 streams', square(512)):.0f}"),
    ]


def provenance(times):
    """A paragraph that describes the run."""
    record = times.record
    verified = sum(one["verified"] for one in record["results"])
    devices = "; ".join(f"`{column['id']}`: {column['name']}, {column['platform']}, "
                        f"{column['driver']}" for column in record["columns"] if column["driver"])
    return [f"`{record['command']}`, {record['program']}, {record['date'][:10]}, on "
            f"{record['host']}: {verified} of {len(record['results'])} results verified, "
            f"{len(record['failures'])} failures. {devices}."]


def gpu_cuda(times):
    volume = cube(512)
    tricubic = times.ms("tricubic", "exact prefilter + 64 neighbours", volume)
    trilinear = times.ms("tricubic", "trilinear, full", volume)
    lookups = times.ms("tricubic", "exact prefilter + 8 lookups", volume)
    sobel = ", ".join(
        number(times.ratio(("sobel", "plain, nine reads", square(side)),
                           ("sobel", "packed", square(side)))) + f" at {side}"
        for side in (2048, 4096))
    rows = [
        ("exact cubic prefilter, 2-D, in copies", "1.25 at 2048, 1.10 at 8192",
         in_copies(times, "exact", (1024, 2048, 4096, 8192))),
        ("`fir:15` likewise", "1.3 at 2048, 1.15 at 8192",
         in_copies(times, "fir:15", (1024, 2048, 4096, 8192))),
        ("exact prefilter, 512 x 512 x 512, in copies", "2.2",
         number(times.copies("prefilter", "exact", volume))),
        ("recursive filter, a line a thread, over `fir:15`", "paper 10",
         number(times.ratio(("prefilter", "iir:line", square(2048)),
                            ("prefilter", "fir:15", square(2048)))) + " at 2048"),
        *rotation_rows(times),
        ("tricubic, 512 x 512 x 512, exact prefilter and full precision, over trilinear by loads",
         "4.0", f"{number(tricubic)} over {number(trilinear)} ms: "
         f"**{number(tricubic / trilinear)}** (by 8 lookups {number(lookups)} ms)"),
        *registration_rows(times),
        ("Sobel with nine reads over the packed one", "paper 3", sobel),
    ]
    return ["| what | aim | reached, CUDA |", "| --- | --- | --- |",
            *(f"| {what} | {aim} | {reached} |" for what, aim, reached in rows)]


# The cases whose times by OpenCL and CUDA are compared, with their sizes.
BESIDE = [
    ("prefilter", "exact", (2048, 4096, 8192)), ("prefilter", "fir:15", (2048, 4096, 8192)),
    ("rotation", "exact + full", (2048, 4096, 8192)),
    ("rotation", "evaluation alone, full", (2048, 4096, 8192)),
    ("rotation", "evaluation alone, texture", (2048, 4096, 8192)),
    ("rotation", "bilinear, full", (2048, 4096, 8192)),
    ("tricubic", "trilinear, full", (256, 512)),
    ("tricubic", "exact prefilter + 64 neighbours", (256, 512)),
    ("sobel", "packed", (1024, 2048, 4096)), ("fft", "forward", (512, 1024, 2048, 4096)),
    ("complex_bilinear", "from memory", (1024, 2048)),
    ("complex_bilinear", "texture filtering", (1024, 2048)),
    ("registration", "pair, on the device", (512, 1024, 2048)),
    ("registration", "pair, on the device, refined", (512, 1024, 2048)),
]


def gpu_opencl(times):
    lines = ["| suite | case | NVIDIA's OpenCL, times as long as CUDA |", "| --- | --- | --- |"]
    for suite, case, sides in BESIDE:
        shape = cube if suite == "tricubic" else square
        ratios = ", ".join(
            number(times.ms(suite, case, shape(side), OPENCL) / times.ms(suite, case, shape(side)))
            + f" at {side}" for side in sides)
        lines.append(f"| `{suite}` | {case} | {ratios} |")
    return lines


def gpu_deformation(times):
    lines = ["| pair | size | CUDA, ms | NVIDIA's OpenCL, ms |", "| --- | --- | --- | --- |"]
    for what, sizes in (("images", (square(512), square(2048))),
                        ("volumes", (cube(128), cube(192)))):
        for size in sizes:
            case = f"{what}, affine and deformable"
            extents = " x ".join(str(extent) for extent in size if extent > 1)
            lines.append(f"| {what} | {extents} | {number(times.ms('deformation', case, size))} | "
                         f"{number(times.ms('deformation', case, size, OPENCL))} |")
    return lines


HARD_PAIRS = ("unrelated, refused", "unrelated, any model and modality, refused",
              "zoomed by 6, by the grid", "a negative, by directions of edges",
              "perspective, as a homography")


def gpu_search(times):
    lines = ["| pair of 512 x 512 | CUDA, ms | NVIDIA's OpenCL, ms |", "| --- | --- | --- |"]
    for case in HARD_PAIRS:
        by_device = [number(times.ms("search", case, square(512), column))
                     for column in (CUDA, OPENCL)]
        lines.append(f"| {case} | " + " | ".join(by_device) + " |")
    return lines


# The comparisons with other libraries on two cores: the suite, our case, the size, and the case of
# each library.
BESIDE_PEERS = [
    ("prefilter", "exact", square(2048), {"scipy": "exact"}),
    ("rotation", "exact + full", square(2048), {"scipy": "exact + full"}),
    ("rotation", "bilinear, full", square(2048),
     {"scipy": "bilinear, full", "opencv": "bilinear, texture",
      "scikit-image": "bilinear, full"}),
    ("tricubic", "exact prefilter + 64 neighbours", cube(128),
     {"scipy": "exact prefilter + 64 neighbours"}),
    ("fft", "forward", square(512), {"scipy": "forward"}),
    ("fft", "forward", square(1024), {"scipy": "forward"}),
    ("registration", "pair, from host memory", square(1024),
     {"scipy": "pair, from host memory", "opencv": "pair, from host memory"}),
    ("registration", "pair, from host memory, refined", square(1024),
     {"scipy": "pair, from host memory", "opencv": "pair, from host memory"}),
]
PEERS = {"scipy": "SciPy", "opencv": "OpenCV", "scikit-image": "scikit-image"}


def two_cores_peers(times):
    lines = ["| suite | case | size | PoCL, ms | others, ms | times as fast |",
             "| --- | --- | --- | --- | --- | --- |"]
    for suite, case, size, peers in BESIDE_PEERS:
        ours = times.ms(suite, case, size, ON_TWO_CORES)
        theirs = {PEERS[peer]: times.ms(suite, of_peer, size, peer)
                  for peer, of_peer in peers.items()}
        extents = " x ".join(str(extent) for extent in size if extent > 1)
        lines.append(
            f"| `{suite}` | {case} | {extents} | {number(ours)} | "
            + ", ".join(f"{peer} {number(ms)}" for peer, ms in theirs.items()) + " | "
            + ", ".join(number(ms / ours) for ms in theirs.values()) + " |")
    return lines


def two_cores_run(times):
    peers = sorted({column for column, *_ in times.results if column in PEERS})
    return [provenance(times)[0] + " Beside it `python3 benchmarks/peers_cpu.py`: "
            + ", ".join(PEERS[peer] for peer in peers) + "."]


# The drivers for CPUs by their platforms, and the cases by which they are compared.
POCL, INTEL, RUSTICL = "Portable Computing Language", "Intel(R) OpenCL", "rusticl"
BESIDE_DRIVERS = [
    ("copy", "copy", square(1024)), ("sobel", "packed", square(1024)),
    ("fft", "forward", square(1024)), ("fft", "inverse", square(1024)),
    ("prefilter", "exact", square(1024)), ("prefilter", "fir:15", square(1024)),
    ("rotation", "bilinear, full", square(1024)),
    ("rotation", "evaluation alone, full", square(1024)),
    ("rotation", "exact + full", square(1024)),
    ("tricubic", "trilinear, full", cube(64)),
    ("tricubic", "exact prefilter + 64 neighbours", cube(64)),
    ("registration", "pair, from host memory", square(1024)),
    ("registration", "pair, from host memory, refined", square(1024)),
]


def cpu_drivers(times):
    """Compare by the 16th percentile, which other work on the machine disturbs less."""
    columns = {column["platform"]: column["id"] for column in times.record["columns"]}

    def low_ms(platform, *case):
        found = times.results.get((columns[platform], *case))
        return found["timing"]["low_ms"] if found else None

    lines = ["| suite | case | size | PoCL, ms | Intel, times as long | rusticl, times as long |",
             "| --- | --- | --- | --- | --- | --- |"]
    for suite, case, size in BESIDE_DRIVERS:
        pocl = low_ms(POCL, suite, case, size)
        others = ["" if time is None else number(time / pocl, 2)
                  for time in (low_ms(other, suite, case, size) for other in (INTEL, RUSTICL))]
        extents = " x ".join(str(extent) for extent in size if extent > 1)
        lines.append(f"| `{suite}` | {case} | {extents} | {number(pocl)} | {' | '.join(others)} |")
    return lines


def tables(records):
    times = Times(records / f"{GPU}.json")
    two = Times(records / f"{TWO_CORES}.json")
    drivers = Times(records / f"{CPU_DRIVERS}.json")
    return {"gpu run": provenance(times), "gpu cuda": gpu_cuda(times),
            "gpu opencl": gpu_opencl(times), "gpu search": gpu_search(times),
            "gpu deformation": gpu_deformation(times),
            "two cores run": two_cores_run(two), "two cores peers": two_cores_peers(two),
            "cpu drivers run": provenance(drivers), "cpu drivers": cpu_drivers(drivers)}
