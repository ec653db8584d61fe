"""A report as one HTML page that needs nothing else: no scripts, no fonts, no pictures from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources

from likewise_experiments.report.sections import Block, Figure, Figures, Section, Table, Text

_STATUS = {"missing": "not run", "failed": "failed", "waiting": "not run yet"}


def page(
    sections: Sequence[Section], *, command: str, when: str, versions: Mapping[str, str], machine: Mapping[str, str]
) -> str:
    """The page.

    >>> text = page([Section("a", "Part A", (Text("with `code` & more"),))], command="likewise eval all", when="now",
    ...             versions={"likewise": "1"}, machine={"cores": "2"})
    >>> "<h2>Part A</h2>" in text, "<code>code</code> &amp; more" in text
    (True, True)
    """
    style = (resources.files("likewise_experiments.report") / "report.css").read_text(encoding="utf-8")
    links = "".join(f'<li><a href="#{escape(s.name)}">{escape(s.title)}</a>{_badge(s)}</li>' for s in sections)
    body = "".join(_section(section) for section in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>Likewise: evaluation</title>\n<style>\n{style}</style>\n</head>\n<body>\n<header>\n"
        f"<h1>Likewise: evaluation</h1>\n<p>likewise {escape(versions.get('likewise', ''))}, {escape(when)}</p>\n"
        f"<pre><code>{escape(command)}</code></pre>\n"
        f'<nav aria-label="Parts"><ul>{links}<li><a href="#machine">Versions and machine</a></li></ul></nav>\n'
        f"</header>\n<main>\n{_glances(sections)}{_side_by_side(sections)}{body}"
        f'<section id="machine"><h2>Versions and machine</h2>'
        f"{_pairs('Versions', versions)}{_pairs('Machine, as this page was written', machine)}</section>\n"
        "</main>\n</body>\n</html>\n"
    )


def _badge(section: Section) -> str:
    status = _STATUS.get(section.status)
    return f' <span class="badge {section.status}">{status}</span>' if status else ""


def _section(section: Section) -> str:
    told = f"<p class=told>{escape(section.when)}, {section.seconds:,.0f} s</p>" if section.when else ""
    command = f"<pre><code>{escape(section.command)}</code></pre>" if section.command else ""
    blocks = "".join(_block(block) for block in section.blocks)
    return (
        f'<section id="{escape(section.name)}" class="{section.status}"><h2>{escape(section.title)}</h2>'
        f"{told}{blocks}{command}</section>\n"
    )


def _block(block: Block) -> str:
    match block:
        case Text():
            return f"<p>{_inline(block.text)}</p>"
        case Table():
            return _table(block)
        case Figure():
            return _figure(block)
        case Figures():
            return f'<div class="beside">{"".join(map(_figure, block.figures))}</div>'


def _figure(figure: Figure) -> str:
    return f"<figure>{figure.svg}<figcaption>{_inline(figure.caption)}</figcaption></figure>"


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{_inline(cell)}</th>' for cell in table.header)
    rows = "".join(
        f'<tr><th scope="row">{_inline(row[0])}</th>{"".join(f"<td>{_inline(cell)}</td>" for cell in row[1:])}</tr>'
        for row in table.rows
    )
    caption = f"<caption>{_inline(table.caption)}</caption>" if table.caption else ""
    return f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _pairs(title: str, pairs: Mapping[str, str]) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in pairs.items())
    return f"<h3>{escape(title)}</h3><dl>{rows}</dl>"


def _glances(sections: Sequence[Section]) -> str:
    rows = tuple((g.what, g.here, g.compared) for section in sections for g in section.glances)
    if not rows:
        return ""
    table = _table(Table("", ("", "here", "the paper, or aimed at"), rows))
    return f'<section id="glance" class="glance"><h2>At a glance</h2>{table}</section>\n'


def _side_by_side(sections: Sequence[Section]) -> str:
    """Every measure with its figure in each part that compares measures."""
    columns = {column: figures for section in sections for column, figures in section.facts.items()}
    names = list(dict.fromkeys(name for figures in columns.values() for name in figures))
    if not names:
        return ""
    rows = tuple(
        (f"`{name}`", *(f"{figures[name]:.3f}" if name in figures else "" for figures in columns.values()))
        for name in names
    )
    table = _table(Table("", ("measure", *columns), rows))
    return (
        '<section id="measures"><h2>Measures side by side</h2><p>Spearman’s correlation with people’s judgements; '
        "maximal F1 on the thematic load (without themes) and on vendors’ attributes. Higher is better everywhere. "
        f"`combine` is the default.</p>{table}</section>\n"
    ).replace("`combine`", "<code>combine</code>")
