"""Compiles the C and C++ blocks of the pages against an installed warpalign."""

import re
import subprocess
from pathlib import Path

CUDA = ("/usr/local/cuda/include",)


def _source(block, cpp):
    """A translation unit: the block itself or, for a snippet, a function around it."""
    if "#include" in block.text or not cpp:
        return block.text
    setup = Path(__file__).with_name("block_setup.hpp")
    given = "PAGE_NAMES"
    if "cuda_stream" in block.text:
        extra = ("cudaStream_t cuda_stream", "const float* source", "float* target",
                 "warpalign::ResamplePlan& plan")
        given += "".join(f", [[maybe_unused]] {name}" for name in extra)
    # In its own braces, a snippet may declare a name that the setup also declares.
    return (f'#include "{setup}"\nvoid snippet({given});\nvoid snippet({given}) {{\n{{\n'
            f'{block.text}}}\n}}\n')


def _why_not(block):
    if re.search(r"\bcuda::", block.text):
        if not any(Path(folder, "cuda_runtime_api.h").exists() for folder in CUDA):
            return "CUDA's headers are not here"
    return ""


def check(block, prefix, folder):
    """Compile one block; returns (action, problem)."""
    if why := _why_not(block):
        return f"not compiled: {why}", ""
    cpp = block.language == "cpp"
    source = folder / ("block.cpp" if cpp else "block.c")
    source.write_text(_source(block, cpp))
    compiler = ["c++", "-std=c++20"] if cpp else ["cc", "-std=c11"]
    done = subprocess.run(
        [*compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{prefix / 'include'}",
         *(f"-isystem{path}" for path in CUDA), str(source)], capture_output=True, text=True)
    return "compiled", done.stderr if done.returncode else ""
