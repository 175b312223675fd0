"""Checks the prose of the pages: line lengths, and words that the glossary replaces.

    python docs/tools/check_words.py [PAGE.md ...]

Tables, code, formulas and lines with only an unbreakable link are ignored.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = "docs/glossary.md"
MAX_COLUMNS = 100

# Words of the right column of the glossary, with their patterns. The list has only words without
# another meaning on these pages, so that every hit is a mistake.
WORDS = {
    "directions of edges": r"\b(?:edge directions?|directions? of edges)\b",
    "richer": r"\bricher\b",
    "seen from aside": r"\bseen from (?:far )?(?:aside|the side)\b",
    "turned": r"\bturned\b(?! (?:out|off|on|into|over|up)\b)",
    "settled": r"\bsettled\b",
    "rival": r"\brivals?\b",
    "let go of": r"\blet go of\b",
    "stands once": r"\bstands? once\b",
    "places searched": r"\bplaces searched\b",
    "light field": r"\blight field\b",
    "squeeze": r"\bsqueezed?\b",
    "asked for": r"\basked for\b",
    "is told": r"\b(?:is|are) told\b",
}

# Pages that do not pass yet. main() reports the pages that pass and can leave the list.
NOT_CHECKED = (
    "benchmarks/README.md",
    "benchmarks/real_pairs/README.md",
    "docs/performance.md",
)

FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
GENERATED = re.compile(r"<!-- table: [\w -]+ -->.*?<!-- end of table -->", re.DOTALL)
CODE_SPAN = re.compile(r"`[^`]*`")
LINK_TARGET = re.compile(r"\]\([^)\s]*\)")


def _blank(found):
    return "\n" * found[0].count("\n")


def prose_lines(text):
    """Yield (number, line) for each line of prose."""
    fence, formula = None, False
    for number, line in enumerate(GENERATED.sub(_blank, text).split("\n"), 1):
        stripped = line.strip()
        mark = FENCE.match(line)
        if fence:
            fence = None if stripped == fence else fence
        elif mark:
            fence = mark[1]
        elif stripped == "$$":
            formula = not formula
        elif not formula and not stripped.startswith("|"):
            yield number, line


def is_breakable(line):
    """Whether a line can be broken: it is more than a single link, picture or word."""
    text = line.strip()
    return " " in text and not re.fullmatch(r"!?\[[^\]]*\]\([^)]*\)|<!--.*-->", text)


def problems(page, text):
    """Yield the problems of a page."""
    for number, line in prose_lines(text):
        if len(line) > MAX_COLUMNS and is_breakable(line):
            yield f"{page}:{number}: {len(line)} columns, at most {MAX_COLUMNS}"
    # A line break may divide an expression of several words.
    lines = list(prose_lines(text))
    prose = "\n".join(line for _, line in lines)
    for pattern in (CODE_SPAN, LINK_TARGET):
        prose = pattern.sub(lambda found: " " + _blank(found), prose)
    for word, wrong in WORDS.items():
        for found in re.finditer(wrong.replace(" ", r"\s+"), prose, re.IGNORECASE):
            number = lines[prose[:found.start()].count("\n")][0]
            yield f"{page}:{number}: '{word}': {GLOSSARY} has the term to use"


def words_of_glossary(text):
    """The words in the right column of the glossary."""
    rows = [line.strip("|").split("|") for line in text.split("\n") if line.startswith("| ")]
    return {word.strip(" `") for row in rows[2:] for word in row[-1].split(",")}


def check(root, pages, not_checked=NOT_CHECKED):
    """Yield the problems of the pages, which are paths relative to `root`."""
    unknown = sorted(set(WORDS) - words_of_glossary((root / GLOSSARY).read_text()))
    yield from (f"{GLOSSARY}: has no term that replaces '{word}'" for word in unknown)
    for page in not_checked:
        if not (root / page).exists():
            yield f"{page}: is listed as not checked, but does not exist"
    for page in pages:
        if page != GLOSSARY and page not in not_checked:
            yield from problems(page, (root / page).read_text())


def pages_of(root):
    """The Markdown pages that git tracks or would track."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(page for page in set(listed) if (root / page).is_file())


def main():
    wrong = list(check(ROOT, sys.argv[1:] or pages_of(ROOT)))
    for problem in wrong:
        print(f"check_words: {problem}", file=sys.stderr)
    for page in NOT_CHECKED:
        if (ROOT / page).exists() and not any(problems(page, (ROOT / page).read_text())):
            print(f"check_words: {page} passes now: remove it from NOT_CHECKED")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
