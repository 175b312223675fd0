"""The kinds of images that the program reads, one test for each row of the documentation's table."""

import pathlib
import re

import numpy as np
import pytest
import tifffile
from image_kinds import KINDS, table
from program_runs import run

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "reference" / "image-files.md"


def read_by_program(name, folder):
    """The array that the program reads, by a resampling that copies every pixel."""
    output = folder / "read.tif"
    done = run("resample", name, output, "--matrix", "1,0,0,0,1,0", "--degree", "0")
    assert done.returncode == 0, done.stderr
    return tifffile.imread(output)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_is_read(program, tmp_path, kind):
    name, expected = kind.write(tmp_path / "image")
    found = read_by_program(name, tmp_path)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    difference = np.abs(found.astype(float) - expected.astype(float))
    assert difference.max() <= kind.tolerance


def test_the_documentation_has_the_table():
    text = PAGE.read_text()
    assert re.search(r"<!-- kinds -->\n(.*?)<!-- end -->", text, re.S).group(1).strip() == table().strip()
