"""How the site is built: ``python -m sphinx -W -b html docs docs/_build``.

Pages are MyST markdown; the reference is made from the docstrings of ``gpop.__all__`` (public_names.py), the
gallery from the programs in ``apps/`` and ``docs/examples/``, which are executed. Pages load nothing from
elsewhere: neither this machine nor a reader's needs a network.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT)]
os.environ.setdefault("MPLBACKEND", "agg")

import public_names  # noqa: E402

import gpop  # noqa: E402

project = "gpop"
author = copyright = "the gpop developers"
version = release = gpop.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples", "gallery/**/*.ipynb", "gallery/**/*.md5"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [
    # Not documented here, and other projects' documentation would have to be loaded to know their names.
    (r"py:.*", r"(numpy|np|pandas|polars|pyarrow|scipy|networkx|matplotlib)\..*"),
]
default_role = "autolink"  # `gpop.run` in a docstring is a link, `sc` is not
suppress_warnings = ["config.cache"]  # the order of the gallery is an object that is not pickled

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autodoc_typehints = "none"  # the types are in the sections of the docstrings
autodoc_member_order = "bysource"
autosummary_generate = True
autosummary_imported_members = True
numpydoc_show_class_members = False  # the templates list them
numpydoc_use_plots = False

sphinx_gallery_conf = {
    "examples_dirs": ["../apps", "examples"],
    "gallery_dirs": ["gallery/programs", "gallery/answers"],
    "filename_pattern": ".*",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("gpop",),
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,  # seconds differ from build to build
    "plot_gallery": "True",
    "image_scrapers": ("matplotlib",),
    "capture_repr": ("_repr_html_",),
    "first_notebook_cell": (
        "# Start it in the folder of its Python file, in a copy of the repository: it reads data/.\n"
        "%matplotlib inline"
    ),
}

html_theme = "pydata_sphinx_theme"
html_title = "gpop"
html_static_path = ["_static"]
html_css_files = ["gpop.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "gpop"},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    # Code has lines of up to 100 characters: pages full of it take the width.
    "secondary_sidebar_items": {place: ["page-toc"] for place in ("guide/*", "inside/*", "reference/*")},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def setup(app):
    """What is generated, is generated before Sphinx looks for pages."""
    app.connect("config-inited", lambda app, config: public_names.write(Path(app.srcdir) / "reference"))
    app.connect("include-read", public_names.site_links)
    app.connect("missing-reference", public_names.inside)
