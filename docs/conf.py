"""The site of the documentation: these pages and the reference of the Python package. `./dev docs` builds it."""

import mfga

project = "mfga"
author = "The mfga authors"
version = release = mfga.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]


html_theme = "furo"
html_title = f"mfga {release}"
html_copy_source = False
html_show_copyright = False

# Links to headings are written as GitHub has them.
myst_heading_anchors = 4
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
# Backquotes in docstrings are code, as in Markdown.
default_role = "code"
