"""Tests of the checks: each finds its problems, and accepts correct input."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import block_shell
import check_cpp_docs
import check_links
import check_options
import check_words
import code_blocks
import command_line
import doxygen
import error_messages
import gallery_run
import record_tables
import stage_pages
import stills
import terminal
import verified_tables


def item(kind, name, text="", **more):
    return doxygen.Item(kind=kind, name=name, header="a.hpp", line=1,
                        text=[text] if text else [], **more)


class CodeBlocks(unittest.TestCase):
    def test_blocks_with_and_without_a_mark(self):
        page = "text\n\n```sh\none\n```\n\n<!-- code: from a/b.c -->\n```c\ntwo\n```\n"
        first, second = code_blocks.blocks_of("page.md", page)
        self.assertEqual((first.language, first.text, first.mark), ("sh", "one\n", ""))
        self.assertEqual((second.place, second.marked("from")), ("page.md:8", "a/b.c"))
        self.assertIsNone(second.marked("output"))

    def test_outputs(self):
        same = code_blocks.same_output
        self.assertTrue(same("angle 31.70\n", "angle 31.7004\n"))
        self.assertTrue(same("first line\n", "first line\nand more\n"))
        self.assertTrue(same("second\nthird\n", "first\nsecond\nthird\n"))
        self.assertFalse(same("first\nthird\n", "first\nsecond\nthird\n"))
        self.assertTrue(same("a\n  device  one\nb\n", "a\n  device  other\nb\n"))
        self.assertFalse(same("angle 31.70\n", "angle 32.70\n"))
        self.assertFalse(same("angle 31.70\n", "turned by 31.70\n"))
        self.assertFalse(same("a\nb\n", "a\n"))

    def test_words_of_a_line(self):
        words = block_shell._words("WARPALIGN_DEVICE=opencl warpalign devices --json  # listed")
        self.assertEqual(words, ["warpalign", "devices", "--json"])


class Words(unittest.TestCase):
    def test_long_lines_of_prose_only(self):
        long = "word " * 30
        table, link = f"| {long} |", f"![{long}](picture.png)"
        code = f"```sh\n{long}\n```"
        self.assertEqual(list(check_words.problems("a.md", f"{table}\n{link}\n{code}\n")), [])
        found = list(check_words.problems("a.md", f"{table}\n\n{code}\n{long}\n"))
        self.assertEqual(found, ["a.md:6: 150 columns, at most 100"])

    def test_words_that_the_glossary_replaces(self):
        page = "It compares directions\nof edges.\n\n`rival` is a key. It turned out well.\n"
        found = list(check_words.problems("a.md", page))
        self.assertEqual(len(found), 1)
        self.assertIn("a.md:1: 'directions of edges'", found[0])
        for word in check_words.WORDS:
            self.assertEqual(len(list(check_words.problems("a.md", f"Now {word} is here."))), 1)

    def test_words_must_be_in_the_glossary(self):
        row = "| pose | where | ITK | place, `places searched` |"
        known = check_words.words_of_glossary(f"| term | | | replaces |\n| --- |\n{row}\n")
        self.assertEqual(known, {"place", "places searched"})


class Options(unittest.TestCase):
    HELP = ("Search:\n  --fast            Quick\n  --size N          Side of a window,\n"
            "                    in pixels [128]\nMessages:\n  -h, --help        Print this\n")

    def wrong(self, row):
        page = ("`--fast`\n<!-- options: align, Search -->\n| option | default |\n"
                f"| --- | --- |\n{row}\n")
        return list(check_options.problems("a.md", page, lambda command: self.HELP))

    def test_options_and_defaults(self):
        self.assertEqual(self.wrong("| `--size N` | `128` |"), [])
        self.assertEqual(self.wrong("| `--size N` | 64 |"),
                         ["a.md: the default of --size is 128, not 64"])
        self.assertEqual(self.wrong("| `--length N` | 1 |"),
                         ["a.md: lacks --size of align", "a.md: align has no --length"])


class CommandLine(unittest.TestCase):
    def test_commands_and_examples_are_distinguished(self):
        text = ("Warps.\n\nUsage: warpalign COMMAND ...\n\nDevices:\n  devices        List them\n"
                "  warm-up        Compile\n\nMessages:\n  -h, --help     Print this\n\n"
                "Examples:\n  warpalign devices   all\n")
        self.assertEqual(command_line.subcommands(text),
                         [("devices", "List them"), ("warm-up", "Compile")])


class CppDocs(unittest.TestCase):
    def problems(self, *items):
        return check_cpp_docs.problems_of(items, {"a.hpp": ""})

    def test_missing_comments_are_found(self):
        self.assertIn("is not documented", self.problems(item("struct", "n::S"))[0])
        field = item("variable", "n::S::side", type="int")
        self.assertIn("side: is not documented", self.problems(
            item("struct", "n::S", "A square.", members=[field]))[0])
        self.assertEqual(self.problems(
            item("struct", "n::S", "A square of this side.", members=[field])), [])

    def test_a_function_says_how_it_fails(self):
        self.assertIn("how it fails", self.problems(item("function", "n::f", "Does it."))[0])
        self.assertEqual(self.problems(item("function", "n::f", "Throws Error(x).")), [])
        self.assertEqual(self.problems(item("function", "n::f", "Does it.", noexcept=True)), [])

    def test_an_overload_shares_the_comment_above_it(self):
        documented = item("function", "n::f", "Throws Error(x).")
        self.assertEqual(self.problems(documented, item("function", "n::f")), [])
        self.assertEqual(len(self.problems(documented, item("function", "n::g"))), 1)

    def test_numbers_and_sources(self):
        number = item("variable", "n::S::length", "How long.", type="double")
        self.assertIn("no unit", self.problems(
            item("struct", "n::S", "A line.", members=[number]))[0])
        self.assertIn("the source", self.problems(item("class", "n::BlurPlan", "Blurs."))[0])


class ErrorMessages(unittest.TestCase):
    def found(self, source):
        return list(error_messages.messages_of(source))

    def test_inserted_text_becomes_an_ellipsis(self):
        self.assertEqual(
            self.found('if (n < 1) detail::refuse(stage, "there must be " + std::to_string(n) +\n'
                       '    " pixels, \\"or\\" more");'),
            [("invalid_argument", 'there must be \u2026 pixels, "or" more')])
        self.assertEqual(
            self.found('throw FileError(fmt::format("{}: cannot be {:x}", file, a ? "b" : "c"));'),
            [("FileError", "\u2026: cannot be \u2026")])

    def test_kinds_and_advice(self):
        self.assertEqual(
            self.found('throw Error(ErrorKind::build_failed, "does not compile, at all",\n'
                       '  {site.stage, "opencl", call, "see what the driver says"});'
                       '  // refuse("a b c")'),
            [("build_failed", "does not compile, at all; see what the driver says")])
        self.assertEqual(self.found('void refuse(const std::string& message);'), [])

    def test_a_kind_without_an_explanation_is_found(self):
        page = "| `a` |\n\n### a\n\n`WARPALIGN_A` `AError`\n"
        found = error_messages.problems(page, ["a"], ["WARPALIGN_A"], ["AError"])
        self.assertEqual(list(found), [])
        self.assertEqual(
            len(list(error_messages.problems(page, ["a", "b"], ["WARPALIGN_B"], ["BError"]))), 4)


class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        (self.folder / "docs").mkdir()

    def stager(self, **files):
        stager = stage_pages.Stager.__new__(stage_pages.Stager)
        stager.root, stager.staged, stager.broken = self.folder, self.folder / "staged", []
        stager.files, stager.folders = set(files.values()), {".", "docs"}
        return stager

    def test_links_follow_their_pages(self):
        stager = self.stager(page="docs/howto/a.md", other="CONTRIBUTING.md")
        link = stager.rewritten("docs/howto/a.md", "[x]", "../../CONTRIBUTING.md#rules")
        self.assertEqual(link, "[x](../project/contributing.md#rules)")
        self.assertEqual(stager.broken, [])

    def test_a_link_to_nothing_is_broken(self):
        stager = self.stager(page="docs/a.md")
        stager.rewritten("docs/a.md", "[x]", "b.md")
        self.assertEqual(stager.broken, ["docs/a.md: b.md"])

    def test_links_of_the_site(self):
        (self.folder / "a.html").write_text(
            '<a href="b.html#here">b</a><a href="https://example.org">fine</a>'
            '<img src="none.png" alt="x"><script src="https://example.org/a.js"></script>')
        (self.folder / "b.html").write_text('<p id="there"><img src="a.html">')
        found = "\n".join(check_links.problems(self.folder))
        for expected in ("b.html#here: has no such anchor", "none.png: does not exist",
                         "loads https://example.org/a.js from another site",
                         "has no alternative text"):
            self.assertIn(expected, found)
        self.assertEqual(found.count("\n"), 3)


class RecordTables(unittest.TestCase):
    TABLES = {"speed": ["| a |", "| --- |", "| 1.5 |"]}
    PAGE = "text\n\n<!-- table: speed -->\n<!-- end of table -->\nmore\n"

    def problems(self, page, tables=None):
        return list(record_tables.problems({"page.md": page}, tables or self.TABLES))

    def test_a_table_shows_the_record(self):
        written = record_tables.renewed(self.PAGE, self.TABLES)[0]
        self.assertIn("| 1.5 |", written)
        self.assertEqual(self.problems(written), [])
        self.assertEqual(record_tables.renewed(written, self.TABLES)[0], written)

    def test_a_changed_number_and_a_changed_record_are_found(self):
        written = record_tables.renewed(self.PAGE, self.TABLES)[0]
        self.assertIn("page.md: page: | 2.5 |", self.problems(written.replace("1.5", "2.5")))
        renewed = {"speed": ["| a |", "| --- |", "| 1.4 |"]}
        self.assertIn("page.md: record: | 1.4 |", self.problems(written, renewed))

    def test_tables_without_a_record_a_page_or_an_end(self):
        self.assertIn("no record makes the table speed", self.problems(self.PAGE, {"other": []})[0])
        self.assertIn("is in no page", self.problems("text")[0])
        self.assertIn("no <!-- end", self.problems("<!-- table: speed -->\n")[0])

    def test_an_older_run_of_one_suite_and_platform_is_refused(self):
        run = {"what": "a", "device": "CUDA, H100", "date": "1", "commit": "2", "result": "3"}
        drivers = {"CUDA": "13"}
        self.assertEqual(verified_tables.lines([run], drivers)[2],
                         "| a | CUDA, H100 | 13 | 1 | 2 | 3 |")
        with self.assertRaises(ValueError):
            verified_tables.lines([run, {**run, "device": "CUDA, H200"}], drivers)


class Terminal(unittest.TestCase):
    def shown(self, written):
        return ["".join(c for c, _ in line) for line in terminal.screen(written)]

    def test_overwritten_and_erased_text_is_removed(self):
        self.assertEqual(self.shown("working ... 3 s\r\x1b[Kdone\r\nnext\r\n"), ["done", "next"])
        self.assertEqual(self.shown("12345\rab\n"), ["ab345"])

    def test_the_text_of_a_picture_can_be_read(self):
        lines = terminal.screen("\x1b[32mok\x1b[0m     a <b>\r\n\r\n  c")
        picture = terminal.svg("some command", lines)
        self.assertIn("#56d364", picture)
        self.assertEqual(terminal.lines_of(picture), ["ok     a <b>", "", "  c"])

    def test_numbers_and_devices_may_differ_but_labels_not(self):
        was = ["The images fit: rotation 1.5", "", "  reference  a.jpg", "  device     one"]
        now = ["The images fit: rotation 2.25", "", "  reference  b.jpg", "  device     two"]
        self.assertEqual(list(stills.differences(was, now)), [])
        found = list(stills.differences(was, [*now[:3], "  machine    two"]))
        self.assertEqual(len(found), 2)
        drivers = ["OpenCL drivers (ICDs)", "  ok       pocl.icd"]
        self.assertEqual(stills.skeleton(drivers), [])


class Gallery(unittest.TestCase):
    def test_cells(self):
        page = "# %% [markdown]\n# # Title\n# text\n\n# %%\nx = 1\nx\n"
        self.assertEqual(list(gallery_run.cells_of(page)),
                         [(True, "# Title\ntext"), (False, "x = 1\nx")])

    def test_a_semicolon_hides_the_last_expression(self):
        names = {}
        self.assertEqual(gallery_run.run_cell("x = 2\nx + 1", Path("p"), names), 3)
        self.assertIsNone(gallery_run.run_cell("x + 1;", Path("p"), names))


if __name__ == "__main__":
    unittest.main()
