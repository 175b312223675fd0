"""Makes the pages of the C++ and C interfaces from the comments of the public headers."""

import re

import check_cpp_docs
import doxygen

# The headers of each page. A header that is on no page is an error.
PAGES = {
    "registration": ("Registration", [
        "registrar", "registration_options", "motion_limits", "batch", "frame_registrar",
        "local_motion", "line_offset", "mosaic", "flat_field", "sensor_pattern",
        "volume_registrar", "volume_series", "volume_mosaic", "template"]),
    "splines": ("Splines", [
        "stages/spline_model", "stages/prefilter", "stages/interpolate", "stages/resample",
        "stages/double_spline", "stages/fill_missing", "stages/zoom",
        "stages/antialiased_resample", "tiles"]),
    "fourier": ("Stages of Fourier registration", [
        "stages/sobel", "stages/fft", "stages/magnitude", "stages/log_polar",
        "stages/phase_correlation", "stages/convert"]),
    "devices": ("Devices and memory", [
        "open_device", "device", "config", "compilation", "installation"]),
    "values": ("Images, shapes and transforms", [
        "pixel", "missing", "geometry", "homogeneous_matrix", "transform",
        "device_transform", "transform_warp", "point_fit",
        "deformation", "local_agreement", "boundary", "window"]),
    "interop": ("Memory and streams of other programs", [
        "interop", "interop/cuda", "interop/opencl", "interop/opencv"]),
    "error": ("Errors and version", ["error", "version"]),
}
# Headers without declarations of their own for users.
WITHOUT = {"warpalign", "export"}
C_HEADER = "warpalign/warpalign.h"


def heading(text, mark):
    return [text, mark * len(text), ""]


def indented(lines, by="   "):
    return [by + line if line else "" for line in lines]


def _field(member):
    initializer = member.initializer
    if initializer and not initializer.startswith("="):
        initializer = initializer if initializer.startswith("{") else "= " + initializer
    return f"{member.declaration} {initializer}".rstrip()


class Language:
    """Writes the directives of one of Sphinx's two domains."""

    def __init__(self, domain):
        self.domain = domain

    def directive(self, kind, declarations, text, members=()):
        first, *others = [declarations] if isinstance(declarations, str) else declarations
        start = f".. {self.domain}:{kind}:: "
        return [start + first, *(" " * len(start) + other for other in others), "",
                *indented(text), "", *indented(members), ""]

    def items(self, items):
        """Group functions without a comment with the overload above them."""
        lines = []
        for item, *overloads in check_cpp_docs.merged(items):
            lines += self.item(item, overloads)
        return lines

    def item(self, item, overloads=()):
        if item.kind in ("class", "struct"):
            kind = item.kind if self.domain == "cpp" else "struct"
            members = [line for member, *others in check_cpp_docs.merged(item.members)
                       for line in self.member(member, others)]
            return self.directive(kind, item.declaration, item.text, members)
        if item.kind == "enum":
            values = [line for value in item.members
                      for line in self.directive("enumerator", value.name, value.text)]
            if not item.short.startswith("@"):
                kind = "enum-class" if item.scoped else "enum"
                return self.directive(kind, item.name, item.text, values)
            # Constants of C: an enumeration without a name.
            return [line for value in item.members for line in self.directive(
                "enumerator", f"{value.name} {value.initializer}".strip(), value.text)]
        if item.kind == "function":
            qualified = [one.declaration.replace(one.short + "(", one.name + "(", 1)
                         for one in (item, *overloads)]
            return self.directive("function", qualified, item.text)
        if item.kind == "typedef":
            if self.domain == "c":
                return self.directive("type", f"{item.type} {item.name}", item.text)
            return self.directive("type", item.name.rpartition("::")[0] + "::" + item.declaration,
                                  item.text)
        if item.kind == "variable":
            return self.directive(
                "var", f"{item.type} {item.name} {item.initializer}".strip(), item.text)
        raise SystemExit(
            f"docs: {item.header}:{item.line}: cpp_reference.py does not support {item.kind}")

    def member(self, member, overloads):
        if member.kind == "function":
            declarations = [one.declaration for one in (member, *overloads)]
            return self.directive("function", declarations, member.text)
        return self.directive("member", _field(member), member.text)


def header_section(language, include, name, items):
    lines = heading(f"``warpalign/{name}.hpp``", "-")
    intro = doxygen.introduction(include / "warpalign" / f"{name}.hpp").removeprefix("Stage: ")
    intro = intro[:1].upper() + intro[1:]
    # Indented lines of a header's comment are code.
    intro = re.sub(r":\n\n((?:  .*(?:\n|$))+)", r"::\n\n\1", intro)
    lines += [*intro.split("\n"), ""]
    return lines + language.items(items)


def write(include, work, folder):
    """Write the pages; returns the problems of the headers' comments."""
    items, problems = doxygen.read(include, work)
    by_header = {}
    for item in items:
        by_header.setdefault(item.header, []).append(item)
    introductions = {name: doxygen.introduction(include / name) for name in by_header}
    problems += check_cpp_docs.problems_of(items, introductions)

    placed = {f"warpalign/{name}.hpp" for _, names in PAGES.values() for name in names}
    placed |= {f"warpalign/{name}.hpp" for name in WITHOUT} | {C_HEADER}
    headers = {str(path.relative_to(include)) for path in include.rglob("*.h*")}
    problems += [f"{header}: is on no page of docs/tools/cpp_reference.py"
                 for header in sorted(headers - placed)]
    problems += [f"{header}: docs/tools/cpp_reference.py names it, but it is not installed"
                 for header in sorted(placed - headers)]
    if problems:
        return problems

    (folder / "cpp").mkdir(parents=True, exist_ok=True)
    cpp = Language("cpp")
    for page, (title, names) in PAGES.items():
        lines = heading(title, "=")
        for name in names:
            lines += header_section(cpp, include, name, by_header.get(f"warpalign/{name}.hpp", []))
        (folder / "cpp" / f"{page}.rst").write_text("\n".join(lines))
    index = [*heading("C++", "="),
             "``#include <warpalign/warpalign.hpp>`` includes everything except the functions for "
             "foreign memory. Every function that fails throws ``warpalign::Error``; "
             ":doc:`errors` explains its kinds and what to do.", "",
             ".. toctree::", "   :maxdepth: 2", "", *(f"   cpp/{page}" for page in PAGES), ""]
    (folder / "cpp.rst").write_text("\n".join(index))
    (folder / "c.rst").write_text("\n".join(c_page(include, by_header[C_HEADER])))
    return []


def c_page(include, items):
    source = (include / C_HEADER).read_text()
    intro = doxygen.introduction(include / C_HEADER)
    structs = {item.name for item in items if item.kind == "struct"}
    # Separate comments such as "/* Registration. */" divide the header into sections.
    sections = [(source[:m.start()].count("\n") + 1, m[1])
                for m in re.finditer(r"^/\* ([A-Z][A-Za-z -]+)\. \*/$", source, re.M)]
    lines = [*heading("C", "="), "``#include <warpalign/warpalign.h>``", "", intro, ""]
    c = Language("c")
    for item in items:
        if item.kind == "typedef" and item.name in structs:
            continue
        while sections and sections[0][0] < item.line:
            lines += heading(sections.pop(0)[1], "-")
        lines += c.item(item)
    return lines
