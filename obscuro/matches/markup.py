"""Build HTML and SVG as trees of elements. Text and attributes are escaped when they are written."""

from __future__ import annotations

from typing import TypeAlias
from xml.etree import ElementTree

Element: TypeAlias = "ElementTree.Element[str]"
Content: TypeAlias = "str | Element"


def element(tag: str, *contents: Content, **attributes: str | float) -> Element:
    """Return an element with these texts and elements inside.

    attributes: `class_` stands for `class`, and other underscores for hyphens. Numbers are written
    with at most two decimals.
    """
    made = ElementTree.Element(
        tag, {name.rstrip("_").replace("_", "-"): text(value) for name, value in attributes.items()}
    )
    for content in contents:
        append(made, content)
    return made


def append(parent: Element, content: Content) -> None:
    """Add a text or an element at the end of another element."""
    if not isinstance(content, str):
        parent.append(content)
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + content
    else:
        parent.text = (parent.text or "") + content


def text(value: str | float) -> str:
    """Write an attribute's value; a number gets at most two decimals."""
    if isinstance(value, str):
        return value
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # + 0.0: no minus zero


_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may do for a page: apply its style, and load or run nothing."""


def page(title: str, style: str, *contents: Content) -> str:
    """Return a whole HTML page with this style sheet, as text."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", style),
    )
    root = element("html", head, element("body", *contents), lang="en")
    written = ElementTree.tostring(root, encoding="unicode", method="html")
    return f"<!DOCTYPE html>\n{written}\n"
