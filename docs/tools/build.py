"""Builds the documentation site; script/docs calls it in its own environment.

    python docs/tools/build.py --prefix INSTALLED --work FOLDER --output FOLDER
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import charts
import check_links
import check_options
import command_line
import cpp_reference
import error_messages
import gallery
import pictures
import python_reference
import record_tables
import records
import stage_pages
import stills
import task_pictures

ROOT = Path(__file__).resolve().parents[2]


def note(text, since=time.monotonic()):
    print(f"docs: {text} ({time.monotonic() - since:.0f} s)", flush=True)


def fail(title, problems):
    print(f"docs: {title}:", file=sys.stderr)
    for problem in problems:
        print(f"  {problem}", file=sys.stderr)
    sys.exit(1)


def run_sphinx(staged, work, output):
    """Build the site. Any warning of Sphinx is an error, after all have been printed."""
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q",
               "-j", "auto", "-c", str(ROOT / "docs"), "-d", str(work / "doctrees"),
               str(staged), str(output)]
    if subprocess.run(command).returncode != 0:
        sys.exit("docs: Sphinx has warnings; see above")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", type=Path, required=True, help="an installed warpalign")
    parser.add_argument("--work", type=Path, required=True, help="for what is made on the way")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()

    staged = options.work / "source"
    shutil.rmtree(staged, ignore_errors=True)
    shutil.rmtree(options.output, ignore_errors=True)
    # Use another kernel cache than the user's.
    os.environ.setdefault("XDG_CACHE_HOME", str(options.work / "cache"))
    os.environ.setdefault("POCL_CACHE_DIR", str(options.work / "cache/pocl"))
    Path(os.environ["POCL_CACHE_DIR"]).mkdir(parents=True, exist_ok=True)

    note("the repository's pages")
    broken = stage_pages.stage(ROOT, staged)
    if broken:
        fail("links to what is not there", broken)
    note("the command line")
    command_line.write(options.prefix / "bin/warpalign", staged / "reference")
    problems = list(check_options.check(ROOT, options.prefix / "bin/warpalign"))
    if problems:
        fail("options of how-to pages that the program does not have so", problems)
    note("C++ and C reference")
    problems = cpp_reference.write(
        options.prefix / "include", options.work / "doxygen", staged / "reference")
    if problems:
        fail("public C++ and C without the documentation that it needs", problems)
    note("Python reference")
    problems = python_reference.write(staged / "reference")
    if problems:
        fail("public Python without the documentation that it needs", problems)
    note("errors")
    problems = error_messages.write(staged / "reference")
    if problems:
        fail("kinds of errors that docs/reference/errors.md does not explain", problems)
    note("tables of records")
    problems = record_tables.check(ROOT)
    if problems:
        fail("tables that are not what the records say; docs/tools/record_tables.py --write renews "
             "them", problems)
    note("pictures of the terminal")
    cache = Path(os.environ["XDG_CACHE_HOME"])
    problems, why = stills.check(options.prefix.resolve(), cache.resolve())
    if problems:
        fail("pictures of the terminal", problems)
    if why:
        note(f"skipped: pictures of the terminal are not compared: {why}")
    note("performance records")
    records.write(ROOT / "benchmarks/records", staged)
    charts.write(ROOT / "benchmarks", staged)
    note("pictures")
    pictures.write(staged / "pictures")
    task_pictures.write(staged / "pictures")
    note("gallery")
    gallery.write(ROOT / "examples/python", staged / "gallery", options.work / "gallery")
    note("Sphinx")
    run_sphinx(staged, options.work, options.output)
    problems = list(check_links.problems(options.output))
    if problems:
        fail("the built site's links", problems)
    note(f"done: {options.output / 'index.html'}")


if __name__ == "__main__":
    main()
