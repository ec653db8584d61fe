"""Exceptions of Likewise, in one tree.

    LikewiseError
    ├── InputError                 something handed in is wrong; nothing was changed
    │   ├── ParseError             text that is not in the subscription language (line, column, caret)
    │   ├── InvalidEvent           an event that cannot exist
    │   ├── InvalidSubscription    a subscription that cannot exist, or never match
    │   ├── UnitError              an unknown unit, or units that cannot be compared
    │   │   └── UnitSyntaxError        the same in a subscription's text (line, column, caret; a ParseError, too)
    │   ├── FormatError            bytes or JSON that do not follow a published format
    │   │   └── PacketError        a packet of MQTT that is malformed or out of place (its reason code)
    │   └── LimitExceeded          a stated limit was passed
    ├── StateError                 the call does not fit what is there
    │   ├── DuplicateId            an id that is in use already
    │   ├── UnknownId              an id that is not in use
    │   ├── Conflict               the same id stands for other content already
    │   ├── RoutingLoop            brokers dial each other: something came back to where it went out
    │   ├── UnsupportedSubscription              no engine at hand serves this kind of subscription
    │   └── Unavailable            it cannot be done now: the disk is full, a queue blocks, the broker stops
    ├── AccessError                who asks may not
    │   ├── NotAuthenticated       no token, or an unknown one
    │   ├── NotAllowed             the token's scopes do not cover it
    │   └── RateExceeded           too many requests in too short a time
    │       └── BacklogExceeded    more waits already than may
    ├── ArtefactError              a stored artefact (space, saved matcher, log) cannot be used
    │   ├── ArtefactMissing        it is not there
    │   ├── ArtefactDamaged        truncated, altered or inconsistent
    │   └── ArtefactVersion        written by a newer version
    └── MissingDependency          an optional part is not installed; the message says what to install

    IndexRebuilt                   a warning, no error: a saved matcher's index did not fit and was built anew

Each error has a stable `code`, carries its facts as attributes, and its message says what was
expected, what was found and what to do next.

>>> try:
...     raise DuplicateId("s1")
... except LikewiseError as error:
...     print(error.code, "|", error)
duplicate_id | the id 's1' is in use already; remove it first or choose another
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import ClassVar


class LikewiseError(Exception):
    """Root of the tree. Catch this to catch everything that Likewise raises on purpose."""

    code: ClassVar[str] = "error"

    def to_dict(self) -> dict[str, object]:
        """Return the error's facts as a mapping, for `--json` and problem+json.

        Returns:
            The error's `code`, its message, and its attributes.

        >>> UnknownId("s9").to_dict()
        {'code': 'unknown_id', 'message': "there is nothing with the id 's9'", 'id': 's9'}
        """
        return {"code": self.code, "message": str(self), **vars(self)}


class InputError(LikewiseError):
    """An argument is invalid; nothing was changed."""

    code = "input"


class ParseError(InputError):
    """Text that is not in the subscription language.

    `line` and `column` count from 1; `expected` says in words what could have stood there. `correction` is
    text that parses and is probably what was meant, or empty.
    """

    code = "syntax"

    def __init__(
        self,
        problem: str,
        *,
        text: str = "",
        line: int = 1,
        column: int = 1,
        expected: str = "",
        correction: str = "",
    ) -> None:
        self.problem = problem
        self.line = line
        self.column = column
        self.expected = expected
        self.correction = correction
        self.excerpt, self.caret = _excerpt(text, line, column)
        message = f"line {line}, column {column}: {problem}"
        if expected and not correction:
            message += f"; expected {expected}"
        if self.excerpt:
            message += f"\n  {self.excerpt}\n  {self.caret}"
        if correction:
            message += f"\nDid you mean: {correction}"
        super().__init__(message)


def _excerpt(text: str, line: int, column: int, width: int = 76) -> tuple[str, str]:
    """Return the offending line, cut around the column, with a caret under the column."""
    lines = text.splitlines()
    if not 1 <= line <= len(lines):
        return "", ""
    start = max(0, column - 1 - width // 2)
    shown = "".join(c if c.isprintable() else " " for c in lines[line - 1][start : start + width])
    return shown, " " * min(column - 1 - start, len(shown)) + "^"


class InvalidEvent(InputError):
    """An impossible event: no tuples, a NaN, a naive datetime."""

    code = "invalid_event"


class InvalidSubscription(InputError):
    """A subscription that is impossible or can never match: empty, an empty interval, `~` on a number."""

    code = "invalid_subscription"
    clause: str = ""  # the one that cannot stand where it does, if it is one

    def __init__(self, message: str, *, clause: str = "") -> None:
        super().__init__(message)
        if clause:
            self.clause = clause


class UnitError(InputError):
    """An unknown unit, or two units that cannot be compared; `unit` is the one that does not fit, if known."""

    code = "unit"
    unit: str = ""

    def __init__(self, message: str, *, unit: str = "") -> None:
        super().__init__(message)
        if unit:
            self.unit = unit


class UnitSyntaxError(ParseError, UnitError):
    """An unknown or unfitting unit in a subscription's text, with its position and a suggestion."""

    code = "unit"


class FormatError(InputError):
    """Bytes that violate the published format that they claim."""

    code = "format"


class PacketError(FormatError):
    """A malformed, oversized or unexpected MQTT packet: `reason` is the reason code of the answer."""

    code = "packet"

    def __init__(self, problem: str, *, reason: int) -> None:
        self.reason = int(reason)
        super().__init__(f"{problem} (reason code {self.reason:#04x}); the connection ends")


class LimitExceeded(InputError):
    """A documented limit was exceeded: `limit` names it, `allowed` and `found` are its values."""

    code = "limit"

    def __init__(self, limit: str, *, allowed: int, found: int | None = None) -> None:
        self.limit = limit
        self.allowed = allowed
        self.found = found
        was = "more" if found is None else f"{found:,}"
        super().__init__(f"{limit}: at most {allowed:,} are allowed, found {was}; split the input or shorten it")


class StateError(LikewiseError):
    """The call does not fit the current state; nothing was changed."""

    code = "state"


class DuplicateId(StateError):
    """The id is in use."""

    code = "duplicate_id"

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__(f"the id {id!r} is in use already; remove it first or choose another")


class UnknownId(StateError):
    """The id is not in use; the nearest of the known ones is proposed, else `remedy` says what to do."""

    code = "unknown_id"
    near: str = ""

    def __init__(self, id: str, *, remedy: str = "", known: Iterable[str] = ()) -> None:
        from difflib import get_close_matches

        self.id = id
        if near := get_close_matches(id, known, 1):
            self.near = near[0]
            remedy = f"did you mean {self.near!r}?"
        super().__init__(f"there is nothing with the id {id!r}" + (f"; {remedy}" if remedy else ""))


class RoutingLoop(StateError):
    """An event returned to the broker that sent it: brokers are connected in a circle."""

    code = "circle"


class UnsupportedSubscription(StateError):
    """No engine here supports this kind of subscription."""

    code = "not_served"


class Conflict(StateError):
    """The same id belongs to other content."""

    code = "conflict"

    def __init__(self, id: str, *, source: str = "") -> None:
        self.id = id
        self.source = source
        of = f" of the source {source!r}" if source else ""
        super().__init__(
            f"the id {id!r}{of} stands for an event with other content already; choose another id for other content"
        )


class Unavailable(StateError):
    """The operation is not possible now; nothing was changed, and a retry may succeed."""

    code = "unavailable"


class AccessError(LikewiseError):
    """The caller is not authorised; nothing was changed."""

    code = "access"


class NotAuthenticated(AccessError):
    """The token is missing or unknown."""

    code = "not_authenticated"


class NotAllowed(AccessError):
    """The token lacks a scope: `scope` names it."""

    code = "not_allowed"

    def __init__(self, scope: str) -> None:
        self.scope = scope
        super().__init__(f"this needs a token with the scope {scope!r}; ask who runs the broker for one")


def _come_again(retry_after: float) -> str:
    """Return when to come again, rounded up: whoever comes before `retry_after` is refused again.

    >>> _come_again(0.004), _come_again(2.0), _come_again(2.01)
    ('come again in 0.1 s', 'come again in 2.0 s', 'come again in 2.1 s')
    """
    return f"come again in {ceil(retry_after * 10) / 10:.1f} s"


class RateExceeded(AccessError):
    """Too many requests: `retry_after` is the number of seconds to wait."""

    code = "rate"

    def __init__(self, *, allowed: float, retry_after: float) -> None:
        self.allowed = allowed
        self.retry_after = retry_after
        super().__init__(f"at most {allowed:g} events a second are allowed; {_come_again(retry_after)}")


class BacklogExceeded(RateExceeded):
    """The backlog is full: `waiting` of `allowed` entries; `retry_after` is the number of seconds to wait."""

    code = "backlog"

    def __init__(self, what: str, *, waiting: int, allowed: float, retry_after: float) -> None:
        super().__init__(allowed=allowed, retry_after=retry_after)
        self.waiting = waiting
        self.args = (f"{waiting:,} {what} already, at most {allowed:,.0f} may; {_come_again(retry_after)}",)


class ArtefactError(LikewiseError):
    """A stored artefact cannot be used."""

    code = "artefact"


class ArtefactMissing(ArtefactError):
    """The artefact does not exist."""

    code = "artefact_missing"


class ArtefactDamaged(ArtefactError):
    """The artefact is truncated, altered or inconsistent."""

    code = "artefact_damaged"


class ArtefactVersion(ArtefactError):
    """The artefact has a format that this version cannot read."""

    code = "artefact_version"


class IndexRebuilt(UserWarning):
    """The index of a saved matcher does not fit this version or machine; it was rebuilt from the subscriptions."""


class MissingDependency(LikewiseError):
    """An optional dependency is not installed. One that no extra has is installed under its own name."""

    code = "missing_dependency"

    def __init__(self, what: str, extra: str, *, or_else: str = "") -> None:
        self.what = what
        self.extra = extra
        otherwise = f", or {or_else}" if or_else else ""
        package = f'"likewise[{extra}]"' if extra else what
        super().__init__(f"{what} is missing; install it with: pip install {package}{otherwise}")


# Names of release 0.1, still importable.
_RENAMED: dict[str, type[LikewiseError]] = {
    "Circle": RoutingLoop,
    "NotServed": UnsupportedSubscription,
    "UnitMistake": UnitSyntaxError,
}


def __getattr__(name: str) -> type[LikewiseError]:
    try:
        return _RENAMED[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
