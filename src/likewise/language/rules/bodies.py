"""Statements, graph patterns and interest vectors."""

from __future__ import annotations

from likewise.language.mistakes import Mistake
from likewise.language.prefixes import PREFIXES
from likewise.language.rdf_terms import read_iri, read_term
from likewise.language.reading import read_text, unquote
from likewise.language.rules.tokens import Token
from likewise.model.rdf import TriplePattern
from likewise.model.subscription import GraphPattern, Interest, Near, Statement, Statements


class Bodies:
    """Makes the bodies that are no condition."""

    def statement(self, parts: list[str]) -> Statement:
        """`event property "value"`."""
        return Statement(read_text(parts[0])[0], unquote(parts[1]))

    def statements(self, items: list[Statement]) -> Statements:
        """Statements joined by `.`."""
        return Statements(tuple(items))

    def prefix(self, parts: list[str]) -> tuple[str, str]:
        """`PREFIX p: <namespace>`."""
        return parts[0][:-1], read_iri(parts[1])[1:-1]

    def triples(self, parts: list[Token]) -> list[Token]:
        """The terms of one subject, with the `;` and `,` between them; read once all prefixes are known."""
        return parts

    def pattern(self, parts: list[object]) -> GraphPattern:
        """Prefixes, then triples joined by `.`."""
        prefixes: dict[str, str] | None = None
        found: list[TriplePattern] = []
        for part in parts:
            if isinstance(part, tuple):
                prefixes = dict(PREFIXES) if prefixes is None else prefixes
                prefixes[part[0]] = part[1]
                continue
            assert isinstance(part, list)
            terms = iter(part)
            subject, verb = _term(next(terms), prefixes), _term(next(terms), prefixes)
            for token in terms:
                match token.type:
                    case "SEMICOLON":
                        verb = _term(next(terms), prefixes)
                    case "COMMA":
                        continue
                    case _:
                        found.append(TriplePattern(subject, verb, _term(token, prefixes)))
        return GraphPattern(tuple(found))

    def near(self, parts: list[object]) -> Near:
        """Prefixes, then `near (s, p, o) radius r by meaning`."""
        *before, subject, verb, object_, radius, by = parts
        prefixes = {**PREFIXES, **dict(before)} if before else None  # type: ignore[arg-type]
        terms = [_term(token, prefixes) for token in (subject, verb, object_)]  # type: ignore[arg-type]
        return Near(TriplePattern(*terms), float(str(radius)), str(by))  # type: ignore[arg-type]

    def interest(self, bits: list[str]) -> Interest:
        """`[1, 0, *]`."""
        return Interest("".join(bits))


def _term(token: Token, prefixes: dict[str, str] | None) -> str:
    try:
        return read_term(token.type, str(token), prefixes or PREFIXES)
    except Mistake as found:
        found.position = token.start_pos
        raise
