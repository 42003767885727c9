"""How Sphinx builds the site: ./dev docs."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

project = "Heddle"
version = release = re.search(r"project\(heddle VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser", "sphinx_copybutton", "breathe"]
breathe_projects = {"heddle": str(ROOT / "build/docs-xml/xml")}  # docs/Doxyfile
breathe_default_project = "heddle"
breathe_show_include = False
# Each header opens the namespace, and forward declarations declare classes again.
suppress_warnings = ["duplicate_declaration.cpp"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_heading_anchors = 4  # links to headings, as on GitHub
myst_enable_extensions = ["html_image"]

html_theme = "furo"
html_title = f"Heddle {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
highlight_language = "none"
pygments_style = "friendly"
pygments_dark_style = "native"
copybutton_selector = "div.highlight-python pre, div.highlight-cpp pre, div.highlight-sh pre, div.highlight-cmake pre"
