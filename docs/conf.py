"""Sphinx's configuration of the documentation site; script/docs builds it."""

import os
import re
import sys
from pathlib import Path

# The pages are staged elsewhere (tools/stage_pages.py), so this folder is not the one they are in.
folder = Path(__file__).parent
sys.path.insert(0, str(folder / "tools"))

project = "warpalign"
copyright = "the warpalign authors; Apache-2.0"
version = release = re.search(
    r"project\(warpalign VERSION ([0-9.]+)", (folder.parent / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton", "sphinx_design",
              "mathml"]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["files/**", "demo/overlay*"]

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence", "attrs_block", "attrs_inline"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_links_external_new_tab = False

autodoc_typehints = "none"
# The contents of a page name its functions without the class that they stand below.
toc_object_entries_show_parents = "hide"
numpydoc_class_members_toctree = False  # attributes have no pages of their own
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = f"warpalign {release}"
html_static_path = [str(folder / "static")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_math_renderer = "mathml"
pygments_style = "friendly"
pygments_dark_style = "monokai"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_theme_options = {"navigation_with_keys": True}
