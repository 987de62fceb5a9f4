"""Templates: what is missing is an error, HTML is escaped and Markdown is not."""

import pytest
from jinja2 import UndefinedError

from course_tools.text import count, render


def test_values_are_escaped_in_html_alone(tmp_path):
    for name in ("page.html", "page.html.jinja", "page.md", "page.md.jinja"):
        (tmp_path / name).write_text("{{ text }}\n", encoding="utf-8")
        made = render(tmp_path / name, text="a < b")
        assert made == ("a &lt; b\n" if "html" in name else "a < b\n")


def test_a_name_without_a_value_is_an_error(tmp_path):
    (tmp_path / "page.md").write_text("{{ text }}", encoding="utf-8")
    with pytest.raises(UndefinedError, match="'text' is undefined"):
        render(tmp_path / "page.md", words="x")


def test_a_template_extends_the_one_beside_it(tmp_path):
    (tmp_path / "page.md").write_text("# {% block title %}{% endblock %}!\n", encoding="utf-8")
    child = '{% extends "page.md" %}\n{% block title %}{{ title }}{% endblock %}\n'
    (tmp_path / "child.md").write_text(child, encoding="utf-8")
    assert render(tmp_path / "child.md", title="Here") == "# Here!\n"


def test_counted_nouns():
    assert [count(n, "line") for n in (0, 1, 2)] == ["0 lines", "1 line", "2 lines"]
