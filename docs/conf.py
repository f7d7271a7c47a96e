"""How the documentation is built: `make docs`. Nothing is fetched while it is."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("MPLBACKEND", "Agg")

import specavg  # noqa: E402

project = "specavg"
author = "the specavg developers"
copyright = author
version = release = specavg.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "generated_pages",  # docs/_ext: the API from the names of the package, benchmarks from their results
    "readable_formulas",  # docs/_ext: real indices in text, links from code
    "plain_mathematics",  # docs/_ext: |G| in a docstring means what it says, and `name` is a link
]
exclude_patterns = [
    "_build",
    "examples",
    "_ext",
    "**sg_execution_times.rst",
    "auto_examples/**/*.ipynb",
    "**.ipynb_checkpoints",
]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # the gallery's sorting function cannot be stored between builds

# --- docstrings: `name` links where the name is known, and is code elsewhere
default_role = "name"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
toc_object_entries_show_parents = "hide"  # `evaluate()`, not `InvariantBasis.evaluate()`, beside the page
numpydoc_show_class_members = False
# --- pages
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# --- the gallery: real problems, run at every build
warnings.filterwarnings("ignore", message=".*is non-interactive, and thus cannot be shown.*")


def _without_folder(message, category, filename, lineno, line=None):
    """A warning as pages show it: the folder of the build means nothing to a reader."""
    return f"{Path(filename).name}:{lineno}: {category.__name__}: {message}\n"


warnings.formatwarning = _without_folder
sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("specavg",),
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1,
    "write_computation_times": False,  # its pages would fetch scripts from elsewhere
    "plot_gallery": "True",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "default_thumb_file": None,
}

# --- the site
html_theme = "pydata_sphinx_theme"
html_title = "specavg"
html_static_path = ["_static"]
html_css_files = ["specavg.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "specavg"},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,  # more do not fit beside the search in a window of 1300 pixels
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
_without_sidebar = (
    "index",
    "start",
    "choose",
    "defaults",
    "discovery",
    "own_group",
    "orientations",
    "change_experiment",
    "command_line",
    "theory",
    "notation",
    "design",
    "benchmarks",
    "cite",
    "versions",
)
html_sidebars = {page: [] for page in (*_without_sidebar, "changelog", "auto_examples/*")}
