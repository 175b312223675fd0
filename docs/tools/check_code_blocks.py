"""Compiles or runs every code block of the README and of all other pages.

    python docs/tools/check_code_blocks.py --prefix INSTALLED --work FOLDER [PAGE.md ...]
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import block_cpp
import block_inputs
import block_shell
import code_blocks
import stage_pages

ROOT = Path(__file__).resolve().parents[2]
# Languages of blocks that are not code for users.
TEXT = {"", "text"}


class PageCheck:
    """Checks the blocks of one page, in a folder for this page."""

    def __init__(self, folder, prefix, count):
        self.folder, self.prefix, self.count = folder, prefix, count
        self.wrong = []
        block_inputs.write(folder, ROOT)
        self.shell = block_shell.Shell(folder, prefix, ROOT)
        self.printed = None  # the output of the previous block

    def note(self, block, kind, problem=""):
        self.count[block.language, kind] += 1
        if problem:
            self.wrong.append(f"{block.place}: {problem}")

    def check(self, blocks):
        python = [block for block in blocks if block.language == "python" and not block.mark]
        outputs = dict(zip((block.place for block in python), self.run_python(python)))
        for block in blocks:
            # An output block belongs to the block before it.
            if block.marked("output") is None:
                self.printed = None
            if block.language == "python" and not block.mark:
                self.python(block, outputs[block.place])
            else:
                self.block(block)
        return self.wrong

    def block(self, block):
        if (source := block.marked("from")) is not None:
            self.from_file(block, source)
        elif block.marked("output") is not None:
            self.output(block)
        elif (why := block.marked("not run:")) is not None:
            self.note(block, f"not run: {why}")
        elif block.mark and block.marked("keys of") is None:
            self.note(block, "", f"'{block.mark}' is not a valid mark of a code block")
        elif block.language not in TEXT:
            method = getattr(self, block.language, None)
            if method is None:
                self.note(block, "", f"no check for the language '{block.language}'")
            else:
                method(block)

    def from_file(self, block, source):
        path = ROOT / source
        same = path.exists() and block.text in path.read_text()
        # Other blocks of the page may build the program.
        if path.exists():
            shutil.copyfile(path, self.folder / path.name)
        self.note(block, "the text of a file that is built",
                  "" if same else f"does not occur literally in {source}")

    def output(self, block):
        if self.printed is None:
            self.note(block, "", "follows no block that prints")
        elif not code_blocks.same_output(block.text, self.printed):
            self.note(block, "compared", f"the output differs; it is now:\n{self.printed}")
        else:
            self.note(block, "compared with what was printed")

    def run_python(self, blocks):
        if not blocks:
            return []
        blocks_file, outputs_file = self.folder / "blocks.json", self.folder / "outputs.json"
        blocks_file.write_text(json.dumps([{"place": b.place, "text": b.text} for b in blocks]))
        script = Path(__file__).with_name("block_python.py")
        done = subprocess.run(
            [sys.executable, str(script), str(blocks_file), str(outputs_file)], cwd=self.folder,
            capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"docs: {blocks[0].page}: {done.stderr}")
        return json.loads(outputs_file.read_text())

    def python(self, block, output):
        self.printed = output.get("printed")
        self.note(block, "run", output.get("failed", ""))

    def sh(self, block):
        kinds, wrong, self.printed = block_shell.check(block, self.shell)
        for kind in kinds:
            self.count["sh, lines", kind] += 1
        self.wrong += [f"{block.place}: {problem}" for problem in wrong]

    def cpp(self, block):
        self.note(block, *block_cpp.check(block, self.prefix, self.folder))

    def c(self, block):
        self.note(block, *block_cpp.check(block, self.prefix, self.folder))

    def cmake(self, block):
        """Keep a whole project for the page's shell block; configure and build a fragment."""
        text = block.text
        if "project(" not in text:
            (self.folder / "main.cpp").write_text(block_inputs.PROGRAM)
            find, rest = text.split("\n", 1)
            text = ("cmake_minimum_required(VERSION 3.25)\nproject(page LANGUAGES CXX)\n"
                    f"{find}\nadd_executable(your_program main.cpp)\n{rest}")
        (self.folder / "CMakeLists.txt").write_text(text)
        tree = self.folder / "cmake-block"
        for command in (["cmake", "-S", str(self.folder), "-B", str(tree),
                         f"-DCMAKE_PREFIX_PATH={self.prefix}"], ["cmake", "--build", str(tree)]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                break
        self.note(block, "configured and built", done.stderr if done.returncode else "")

    def toml(self, block):
        path = self.folder / "page.toml"
        path.write_text(block.text)
        done = self.shell.run(f"warpalign devices --config {path}")
        # 3: this machine does not have the device that it names.
        self.note(block, "read by the program", "" if done.returncode in (0, 3) else done.stderr)

    def json(self, block):
        try:
            written = json.loads(block.text)
        except ValueError as error:
            self.note(block, "parsed", str(error))
            return
        command = block.marked("keys of")
        if command is None:
            self.note(block, "parsed")
            return
        printed = json.loads(self.shell.run(command).stdout or "{}")
        differs = set(written) ^ set(printed)
        self.note(block, "keys compared", f"differs from {command}: {differs}" if differs else "")


def pages_of(names):
    files, _ = stage_pages.known_files(ROOT)
    return names or sorted(name for name in files if name.endswith(".md"))


def check_pages(names, prefix, work):
    """The problems, and the number of blocks by language and kind of check."""
    wrong, count = [], collections.Counter()
    for page in pages_of(names):
        blocks = list(code_blocks.blocks_of(page, (ROOT / page).read_text()))
        if not any(b.mark or b.language not in TEXT and b.language[0] != "{" for b in blocks):
            continue
        folder = work / page.replace("/", "-")
        folder.mkdir(parents=True)
        blocks = [block for block in blocks if not block.language.startswith("{")]
        wrong += PageCheck(folder, prefix, count).check(blocks)
    return wrong, count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", type=Path, required=True, help="an installed warpalign")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    os.environ.setdefault("XDG_CACHE_HOME", str(options.work.resolve() / "cache"))
    os.environ.setdefault("POCL_CACHE_DIR", str(options.work.resolve() / "cache/pocl"))
    Path(os.environ["POCL_CACHE_DIR"]).mkdir(parents=True, exist_ok=True)
    folder = options.work.resolve() / "blocks"
    shutil.rmtree(folder, ignore_errors=True)

    wrong, count = check_pages(options.pages, options.prefix.resolve(), folder)
    for (language, kind), number in sorted(count.items()):
        print(f"code blocks: {language}: {number} {kind}")
    for problem in wrong:
        print(f"code blocks: {problem}", file=sys.stderr)
    print(f"code blocks: {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
