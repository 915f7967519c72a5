"""HTML and SVG that keep what users write as text."""

from html.parser import HTMLParser

from obscuro.matches.report_page import append, element, page, text


class Reader(HTMLParser):
    """Collects the tags and the texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_names_of_users_are_escaped_everywhere() -> None:
    evil = "</style><script>alert('&\"')</script>"
    html = page(evil, "p { color: red }", element("p", evil, title=evil))
    read = Reader(html)
    assert "script" not in read.tags
    assert read.texts.count(evil) == 2  # the title and the paragraph
    assert html.startswith("<!DOCTYPE html>\n<html")


def test_texts_and_elements_keep_their_order() -> None:
    made = element("p", "one ", element("b", "two"), " three")
    append(made, " four")
    assert "".join(made.itertext()) == "one two three four"


def test_attributes_of_python_become_those_of_html() -> None:
    made = element("line", class_="grid", stroke_width=1.0, x1=2.34567, y1=-0.001)
    assert made.attrib == {"class": "grid", "stroke-width": "1", "x1": "2.35", "y1": "0"}
    assert text(1e6) == "1000000"
    assert text(100) == "100"
