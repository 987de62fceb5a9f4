"""Sphinx's settings for the book: the name conf.py is Sphinx's own."""

TITLE = "Parallel neural-network training"

project = html_title = TITLE
copyright = "text and figures CC BY 4.0, code BSD-3-Clause"
language = "en"
extensions = ["sphinx.ext.autodoc", "myst_nb"]
OURS = ("answers", "callouts", "terms", "drawn", "mathml", "docstrings", "cuda_strings")
extensions += [f"course_tools.book.{name}" for name in OURS]

nb_execution_mode = (
    "off"  # the outputs are the stored ones, which the tests compare with fresh runs
)
nb_merge_streams = True
nb_render_error_lexer = "myst-ansi"  # a check's message is no traceback
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
add_module_names = False

html_theme = "furo"
html_math_renderer = "mathml"
html_static_path = ["static", "../../course_lib/plots/stepper/stepper.js"]
html_css_files = ["book.css"]
html_js_files = ["stepper.js", "book.js"]  # book.js looks at what stepper.js makes
html_copy_source = False  # no _sources: a book without solutions must not have them there
html_show_sourcelink = False
html_domain_indices = False
html_show_sphinx = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_theme_options = {"navigation_with_keys": False}
templates_path = ["templates"]


def setup(app):
    """What the theme leaves out for screen readers."""
    app.connect("html-page-context", _level_of_captions, priority=900)  # after the theme's own


def _level_of_captions(app, page, template, context, doctree):
    """The captions of the list of pages are headings; a heading has a level."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )
