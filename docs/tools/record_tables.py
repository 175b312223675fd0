"""Makes the tables of pages from committed records.

    python docs/tools/record_tables.py             prints where a page and its records differ
    python docs/tools/record_tables.py --write     writes the tables into the pages

Pages contain their tables, between `<!-- table: NAME -->` and `<!-- end of table -->`, so that they
are readable outside the site. build.py fails if a table differs from its records.
"""

import argparse
import difflib
import re
import sys
from pathlib import Path

import accuracy_tables
import performance_tables
import verified_tables

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["docs/accuracy.md", "docs/accuracy-real.md", "docs/accuracy-confidence.md",
         "docs/accuracy-deformation.md", "docs/performance.md", "docs/verified.md",
         "docs/howto/devices.md"]
MARKED = re.compile(
    r"(<!-- table: (?P<name>[\w -]+) -->\n)(?P<table>.*?)(?P<end><!-- end of table -->)", re.DOTALL)


def all_tables(root):
    """All tables by name, as lines of Markdown."""
    return {**performance_tables.tables(root / "benchmarks/records"),
            **accuracy_tables.tables(root / "benchmarks/accuracy"),
            **verified_tables.tables(root / "benchmarks/verified.json")}


def renewed(text, tables):
    """The page with the tables of `tables`, and the names of the tables that it has."""
    names = []

    def table_of(found):
        names.append(found["name"])
        if found["name"] not in tables:
            return found[0]
        lines = "\n".join(tables[found["name"]])
        return f"{found[1]}\n{lines}\n\n{found['end']}"

    return MARKED.sub(table_of, text), names


def problems(texts, tables):
    """Yield the problems of pages: tables that differ, are unknown, or are on no page."""
    shown = []
    for page, text in texts.items():
        made, names = renewed(text, tables)
        shown += names
        if text.count("<!-- table:") != len(names):
            yield f"{page}: a table has no <!-- end of table -->, or an invalid name"
        for name in sorted(set(names) - set(tables)):
            yield f"{page}: no record makes the table {name}"
        for line in difflib.unified_diff(text.splitlines(), made.splitlines(), lineterm="", n=0):
            if line[0] in "+-" and line[:3] not in ("+++", "---"):
                yield f"{page}: {'page' if line[0] == '-' else 'record'}: {line[1:]}"
    for name in sorted(set(tables) - set(shown)):
        yield f"the table {name} is in no page"


def check(root):
    texts = {page: (root / page).read_text() for page in PAGES}
    return list(problems(texts, all_tables(root)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        tables = all_tables(ROOT)
        for page in PAGES:
            (ROOT / page).write_text(renewed((ROOT / page).read_text(), tables)[0])
    wrong = check(ROOT)
    for problem in wrong:
        print(f"record_tables: {problem}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
