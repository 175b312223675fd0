"""Reads classes, functions, enumerations and comments of the public headers by Doxygen."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

OPTIONS = """
INPUT = {include}
FILE_PATTERNS = *.hpp *.h
RECURSIVE = YES
OUTPUT_DIRECTORY = {output}
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
JAVADOC_AUTOBRIEF = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = WARPALIGN_API= WARPALIGN_C_API= __cplusplus=202002L
EXCLUDE_SYMBOLS = warpalign::backend* warpalign::detail*
SORT_MEMBER_DOCS = NO
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_AS_ERROR = NO
"""


@dataclass
class Item:
    """One public declaration of a header."""

    kind: str  # class, struct, enum, function, variable, typedef, enumvalue, define
    name: str  # qualified by namespace and class
    header: str
    line: int
    text: list  # the comment, as lines of reStructuredText
    declaration: str = ""
    initializer: str = ""
    scoped: bool = False
    noexcept: bool = False
    type: str = ""
    members: list = field(default_factory=list)

    @property
    def short(self):
        return self.name.rsplit("::", 1)[-1]

    @property
    def words(self):
        return " ".join(self.text).strip()


def _escaped(text):
    return re.sub(r"([\\*`|_])", r"\\\1", text or "")


def _inline(node):
    """The text of a paragraph with its markup."""
    parts = [_escaped(node.text)]
    for child in node:
        if child.tag == "computeroutput":
            parts.append(f"``{''.join(child.itertext()).strip()}``")
        elif child.tag == "emphasis":
            parts.append(f"*{''.join(child.itertext()).strip()}*")
        elif child.tag == "bold":
            parts.append(f"**{''.join(child.itertext()).strip()}**")
        elif child.tag in ("ndash", "mdash"):
            parts.append("\N{EN DASH}")
        elif child.tag not in ("itemizedlist", "orderedlist", "verbatim", "programlisting",
                               "simplesect", "parameterlist"):
            parts.append(_inline(child))
        parts.append(_escaped(child.tail))
    return re.sub(r"\s+", " ", "".join(parts)).strip()


def _lines(description):
    """Convert a description to lines of reStructuredText."""
    lines = []
    for paragraph in description:
        if paragraph.tag != "para":
            continue
        text = _inline(paragraph)
        if text:
            lines += [text, ""]
        for child in paragraph:
            if child.tag in ("itemizedlist", "orderedlist"):
                for entry in child.findall("listitem"):
                    inner = _lines(entry)
                    lines += ["- " + inner[0], *("  " + line if line else "" for line in inner[1:])]
            elif child.tag == "verbatim":
                lines += ["::", "", *("   " + line for line in (child.text or "").split("\n")), ""]
    return lines


def _text(node):
    lines = []
    for tag in ("briefdescription", "detaileddescription"):
        found = node.find(tag)
        if found is not None:
            lines += _lines(found)
    return lines


def _plain(node):
    return re.sub(r"\s+", " ", "".join(node.itertext()).strip()) if node is not None else ""


def _cleaned(declaration):
    return re.sub(r"\s+", " ", declaration.replace("WARPALIGN_API", "").replace(
        "WARPALIGN_C_API", "").replace("[[nodiscard]]", "")).strip()


def _member(node, prefix, include):
    kind = node.get("kind")
    name = node.findtext("name")
    place = node.find("location")
    item = Item(kind=kind, name=prefix + name, text=_text(node), line=int(place.get("line")),
                header=str(Path(place.get("file")).resolve().relative_to(include)),
                type=_cleaned(_plain(node.find("type"))))
    if kind == "function":
        arguments = re.sub(r"\s*=\s*(default|delete)$", "", node.findtext("argsstring") or "")
        words = [] if "(" in item.type else [item.type]
        if node.get("explicit") == "yes":
            words.insert(0, "explicit")
        if node.get("static") == "yes":
            words.insert(0, "static")
        item.declaration = _cleaned(" ".join([*words, name + arguments]))
        item.noexcept = "noexcept" in arguments or node.get("noexcept") == "yes"
    elif kind == "variable":
        item.declaration = _cleaned(f"{item.type} {name}" + (node.findtext("argsstring") or ""))
        item.initializer = _plain(node.find("initializer"))
    elif kind == "typedef":
        item.declaration = f"{name} = {item.type}"
    elif kind == "enum":
        item.scoped = node.get("strong") == "yes"
        for value in node.findall("enumvalue"):
            item.members.append(Item(
                kind="enumvalue", name=value.findtext("name"), header=item.header, line=item.line,
                text=_text(value), initializer=_plain(value.find("initializer"))))
    return item


def _is_public(node):
    """Whether users call a member: it is public, and not a move operation or a destructor."""
    if node.get("prot") != "public" or node.get("kind") == "friend":
        return False
    name = node.findtext("name")
    arguments = node.findtext("argsstring") or ""
    moves = "&&" in arguments
    return not (name.startswith("~") or moves or name == "operator==" or "=default" in arguments
                or "=delete" in arguments)


def read(include, output):
    """All items of the headers below `include`, in the order of their lines."""
    include = Path(include).resolve()
    shutil.rmtree(output, ignore_errors=True)
    Path(output).mkdir(parents=True)
    options = Path(output) / "Doxyfile"
    options.write_text(OPTIONS.format(include=include, output=output))
    done = subprocess.run(["doxygen", str(options)], capture_output=True, text=True, check=True)
    problems = [line for line in done.stderr.splitlines() if "warning:" in line]

    items, seen = [], set()
    for path in sorted(Path(output).glob("xml/*.xml")):
        compound = ElementTree.parse(path).getroot().find("compounddef")
        if compound is None or compound.get("kind") not in ("class", "struct", "namespace", "file"):
            continue
        name = compound.findtext("compoundname")
        if compound.get("kind") in ("class", "struct"):
            if compound.get("prot") != "public" or re.search(r"::(backend|detail)::|State$", name):
                continue
            place = compound.find("location")
            owner = Item(kind=compound.get("kind"), name=name, text=_text(compound),
                         header=str(Path(place.get("file")).resolve().relative_to(include)),
                         line=int(place.get("line")))
            base = compound.find("basecompoundref")
            owner.declaration = name + (f" : public {base.text}" if base is not None else "")
            owner.members = [_member(node, name + "::", include)
                             for node in compound.iter("memberdef") if _is_public(node)]
            items.append(owner)
            continue
        prefix = name + "::" if compound.get("kind") == "namespace" else ""
        for node in compound.iter("memberdef"):
            if node.get("id") in seen or node.get("kind") == "define" or not _is_public(node):
                continue
            seen.add(node.get("id"))
            items.append(_member(node, prefix, include))
    return sorted(items, key=lambda item: (item.header, item.line)), problems


def introduction(header):
    """The first comment of a header."""
    text = Path(header).read_text()
    if text.startswith("/*"):
        return re.sub(r"\n \* ?", "\n", re.match(r"/\* ?(.*?) ?\*/", text, re.S)[1])
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return "\n".join(lines)
