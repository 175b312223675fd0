"""Makes the page of all error messages from the sources that throw them, and checks that
docs/reference/errors.md, the page of the error kinds, names every kind of every language.

    python docs/tools/error_messages.py      lists the messages
"""

import collections
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ("core/src", "backend_common", "backend_opencl", "backend_cuda", "python/src")
PROGRAM = ("apps",)

THROWN = re.compile(
    r"\b(?:(Error|error|refuse\w*|complain|UsageError|FileError|damaged|contradictory|shortened)"
    r"\s*[({]|(problem) \+?= (?=\"))")
# Functions and types whose errors are all of one kind.
KINDS = {"refuse_voxels": "invalid_image", "complain": "configuration",
         "problem": "device_unavailable", "UsageError": "UsageError", "FileError": "FileError",
         "damaged": "FileError", "contradictory": "FileError", "shortened": "FileError"}
KIND = re.compile(r"\s*(?:warpalign::)?ErrorKind::(\w+)\s*$")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
LITERALS = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+')
CODES = re.compile(r'((?:\s*case \w+:)+)\s*return ((?:\s*"(?:[^"\\]|\\.)*")+);')
# Replaces names and numbers that are inserted at run time.
GAP = "\N{HORIZONTAL ELLIPSIS}"

TITLES = {
    "invalid_argument": "Wrong calls", "invalid_image": "Images that cannot be registered",
    "configuration": "Configuration", "device_unavailable": "Unavailable devices",
    "out_of_memory": "Memory", "build_failed": "Kernels that do not compile",
    "device_failure": "Devices that fail", "UsageError": "The program: wrong usage",
    "FileError": "The program: files and output",
}


def without_comments(text):
    """The source without comments; line numbers stay the same."""
    pattern = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.S)
    return pattern.sub(
        lambda m: m[0] if m[0][0] == '"' else "\n" * m[0].count("\n"), text)


def arguments(text, start):
    """The arguments of the call whose bracket opens before `start`."""
    parts, depth, begin, at = [], 0, start, start
    while at < len(text):
        if text[at] == '"':
            at = LITERAL.match(text, at).end() if LITERAL.match(text, at) else at + 1
            continue
        if text[at] in "({[":
            depth += 1
        elif text[at] in ")}]":
            if depth == 0:
                return [*parts, text[begin:at]]
            depth -= 1
        elif text[at] == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    return []


def _literals(text):
    text = "".join(found[1] for found in LITERAL.finditer(text))
    text = re.sub(r"\\(.)", lambda m: " " if m[1] in "nt" else m[1], text)
    return re.sub(r"\{[^{}]*\}", GAP, text)


def _summands(text):
    parts, depth, begin, at = [], 0, 0, 0
    while at < len(text):
        if text[at] == '"' and (literal := LITERAL.match(text, at)):
            at = literal.end()
            continue
        depth += (text[at] in "({[") - (text[at] in ")}]")
        if text[at] == "+" and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    return [*parts, text[begin:]]


def message_of(argument):
    """The text of a string expression, with an ellipsis for text that is inserted at run time."""
    words = []
    for part in _summands(argument):
        part = part.strip()
        call = re.match(r"(?:std::string|fmt::format)\((?=\")", part)
        if call:
            words.append(_literals(arguments(part, call.end())[0]))
        elif part.startswith('"'):
            words.append(_literals(part))
        elif "?" in part and LITERAL.search(part):
            choices = LITERAL.finditer(part.split("?", 1)[1])
            words.append("/".join(filter(None, (_literals(one[0]).strip() for one in choices))))
        elif part:
            words.append(GAP)
    text = re.sub(r"\s+", " ", "".join(words)).strip(" :;")
    # A log or a source after a message is not part of it.
    text = re.sub(rf"{GAP}+", GAP, text)
    return text if re.search(r"[a-z]{2,}.* ", text) else ""


def _advice_in(contexts):
    """The advice among the arguments of an error's context."""
    texts = [_literals(found[0]) for one in contexts for found in LITERALS.finditer(one)]
    return [text for text in texts if text.count(" ") > 1][-1:]


def messages_of(text):
    """Yield (kind, message) of every error that a source throws."""
    text = without_comments(text)
    for call in THROWN.finditer(text):
        name = call[1] or call[2]
        if name == "problem":
            given = [text[call.end():text.index(";\n", call.end())]]
        else:
            given = arguments(text, call.end())
        kind, advice = KINDS.get(name, "invalid_argument"), []
        if name in ("Error", "error"):
            if not given or not (named := KIND.match(given[0])):
                continue
            kind, advice = named[1], _advice_in(given[2:])
            given = given[1:2]
        # The caller or the stage is the first argument.
        messages = [found for argument in given if (found := message_of(argument))][:2]
        if messages:
            yield kind, "; ".join(messages + advice)


def collected(folders=LIBRARY + PROGRAM):
    """All messages, as {kind: {message: files}}."""
    found = collections.defaultdict(dict)
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".cu", ".cuh"):
                continue
            for kind, message in messages_of(path.read_text()):
                # The program has functions with the same names.
                if folder in PROGRAM:
                    kind = {"invalid_argument": "UsageError",
                            "configuration": "FileError"}.get(kind, kind)
                found[kind].setdefault(message, set()).add(path.relative_to(ROOT))
    return found


def advice_of_codes():
    """Yield (symbolic code of a driver, advice)."""
    for name in ("backend_opencl/device/errors.cpp", "backend_cuda/device/errors.cpp"):
        for codes, advice in CODES.findall((ROOT / name).read_text()):
            for code in re.findall(r"case (\w+):", codes):
                if code.startswith(("CL_", "cuda")):
                    yield code, _literals(advice)


def _row(*cells):
    return "| " + " | ".join(re.sub(r"([|<>*_`\[\]\\])", r"\\\1", cell) for cell in cells) + " |"


def page():
    """The text of the page, which the build writes next to errors.md."""
    lines = ["# All messages", "",
             "All error messages of warpalign, which the build collects from the sources. Search "
             f"this page for a word of your message. {GAP} replaces text that is inserted at run "
             "time: a name, a number, a list. [Errors](errors.md) explains each kind of error, and "
             "what to do.", "", "## Codes of the drivers", "",
             "If a call to OpenCL or CUDA fails, the message contains the call and its symbolic "
             "code. For these codes, it also contains advice:", "",
             "| code | what to do |", "| --- | --- |"]
    lines += [_row(code, advice) for code, advice in advice_of_codes()]
    found = collected()
    for kind, title in TITLES.items():
        lines += ["", f"## {title}", ""]
        if kind in ("UsageError", "FileError"):
            lines += ["They end the program with exit status 2, or with 3 if memory is short.", ""]
        else:
            lines += [f"Kind: [`{kind}`](errors.md#{kind}).", ""]
        lines += ["| message | from |", "| --- | --- |"]
        for message, paths in sorted(found[kind].items(), key=lambda one: one[0].lower()):
            lines.append(_row(message, ", ".join(sorted({path.stem for path in paths}))))
    return "\n".join(lines) + "\n"


def problems(text, kinds, statuses, classes):
    """Yield the problems of the page of kinds."""
    for kind in kinds:
        if f"| `{kind}` |" not in text:
            yield f"the kind {kind} is not in the table"
        if f"\n### {kind}\n" not in text:
            yield f"there is no section about {kind}"
    yield from (f"{name} is not named" for name in [*statuses, *classes] if f"`{name}`" not in text)


def check(root=ROOT):
    """The kinds and names of the sources that docs/reference/errors.md lacks."""
    include = root / "core/include/warpalign"
    kinds = re.findall(r"^  (\w+),? +///<", (include / "error.hpp").read_text(), re.M)
    header = (include / "warpalign.h").read_text()
    first = header[header.index("enum {"):header.index("};")]
    statuses = [name for name in re.findall(r"WARPALIGN_\w+", first) if name != "WARPALIGN_OK"]
    classes = re.findall(r"^class (\w+Error)\b", (root / "python/warpalign/_errors.py").read_text(),
                         re.M)
    page_of_kinds = (root / "docs/reference/errors.md").read_text()
    found = list(problems(page_of_kinds, kinds, statuses, classes))
    missing = set(kinds) ^ (set(TITLES) - {"UsageError", "FileError"})
    return found + [f"docs/tools/error_messages.py and error.hpp differ: {kind}"
                    for kind in missing]


def write(folder):
    """Write the page of messages; returns the problems of the page of kinds."""
    (folder / "messages.md").write_text(page())
    return [f"docs/reference/errors.md: {problem}" for problem in check()]


if __name__ == "__main__":
    print(page())
    sys.exit(1 if check() else 0)
