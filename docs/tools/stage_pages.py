"""Copies the project's Markdown pages into one tree that Sphinx reads.

The pages are readable at their paths in the repository. This script copies each to its path on the
site and rewrites its relative links. A link to a file that does not exist is an error.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path, PurePosixPath

# Pages whose path on the site differs from that below docs/.
PLACES = {
    "docs/README.md": "project/docs.md",
    "README.md": "project/readme.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
    "python/README.md": "reference/python-package.md",
    "examples/python/README.md": "gallery/index.md",
}
# Pages that the build writes itself; the repository's page is only a target of links.
REPLACED = {"examples/python/README.md"}

# Pages of docs/ that the build writes.
GENERATED = re.compile(r"docs/(records\.md|gallery/.*|reference/(cpp|c|python)\.rst"
                       r"|reference/(command-line|messages)\.md)")
# The programs of the gallery become pages.
EXAMPLE = re.compile(r"examples/python/(\w+)\.py")

LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")
FENCE = re.compile(r"^(`{3,}|~{3,})")


def place_of(page):
    """The path on the site of a page of the repository."""
    if page in PLACES:
        return PLACES[page]
    if example := EXAMPLE.fullmatch(page):
        return f"gallery/{example[1]}/index.md"
    if page.startswith("docs/"):
        return page.removeprefix("docs/")
    folder = str(PurePosixPath(page).parent).replace("/", "-")
    return f"project/folders/{folder}.md"


def known_files(root):
    """All files of the checkout that git does not ignore, and their folders."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout.splitlines()
    files = {name for name in listed if (root / name).is_file()}
    folders = {str(parent) for name in files for parent in PurePosixPath(name).parents}
    return files, folders


def from_to(start, target):
    return os.path.relpath(target, PurePosixPath(start).parent).replace(os.sep, "/")


class Stager:
    def __init__(self, root, staged):
        self.root, self.staged = root, staged
        self.files, self.folders = known_files(root)
        self.broken = []

    def rewritten(self, page, text, link):
        """Rewrite a Markdown link for the path of its page on the site."""
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link) or not target:
            return f"{text}({link})"
        path = os.path.normpath(PurePosixPath(page).parent / target).replace(os.sep, "/")
        if path in self.folders and f"{path}/README.md" in self.files:
            path += "/README.md"
        here = place_of(page)
        anchor = f"#{anchor}" if anchor else ""
        if (path.endswith(".md") or EXAMPLE.fullmatch(path)) and path in self.files or (
                GENERATED.fullmatch(path)):
            return f"{text}({from_to(here, place_of(path))}{anchor})"
        if path in self.files:
            return f"{text}({from_to(here, self.copied(path))}{anchor})"
        if path in self.folders:
            return text[1:-1]
        self.broken.append(f"{page}: {link}")
        return f"{text}({link})"

    def copied(self, path):
        """Copy a file that is not a page to the site; returns its path."""
        place = path.removeprefix("docs/") if path.startswith("docs/") else f"files/{path}"
        target = self.staged / place
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / path, target)
        return place

    def page(self, page):
        fence, lines, prose = None, [], []

        def flush():
            joined = "\n".join(prose)
            lines.append(LINK.sub(lambda m: self.rewritten(page, m[1], m[2]), joined))
            prose.clear()

        for line in (self.root / page).read_text().split("\n"):
            mark = FENCE.match(line)
            # A fenced directive such as {figure} may contain links; code does not.
            if mark and fence is None:
                flush()
                fence = mark[1]
            elif mark and line.strip() == fence:
                prose.append(line)
                lines.append("\n".join(prose))
                prose.clear()
                fence = None
                continue
            prose.append(line)
        flush()
        target = self.staged / place_of(page)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines))

    def folders_page(self):
        """Write the list of the folders' READMEs."""
        names = sorted(p.stem for p in (self.staged / "project/folders").glob("*.md"))
        entries = "\n".join(f"{name.replace('-', '/')} <folders/{name}>" for name in names)
        (self.staged / "project/folders.md").write_text(
            "# The folders\n\nWhat belongs into each folder of the sources, and which file to read "
            f"first.\n\n```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n")


def stage(root, staged):
    """Write all pages below `staged`; returns the broken links."""
    stager = Stager(Path(root), Path(staged))
    for page in sorted(stager.files):
        if page.endswith(".md") and page not in REPLACED and not page.startswith("."):
            stager.page(page)
    stager.folders_page()
    # Pages that only some checkouts have.
    optional = [name for name in ("security", "conduct")
                if (stager.staged / f"project/{name}.md").exists()]
    index = stager.staged / "index.md"
    kept = [line for line in index.read_text().split("\n")
            if not re.fullmatch(r"project/(security|conduct)", line)
            or line.removeprefix("project/") in optional]
    index.write_text("\n".join(kept))
    return stager.broken
