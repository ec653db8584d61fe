"""The engines there are: which serves which kind of subscription, by name, by profile, or as the user says.

A profile is the choice for a whole matcher. `full` serves every kind with compiled kernels and needs the extra
`match`. `small` serves exact conditions with the covering forest and needs nothing beyond the base install; it is
what an edge runs. Beside a profile a matcher may choose for single kinds: another engine by its name, or one of the
user's own, as a class or as a function of the matcher's interpretation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, get_args

from likewise.errors import InputError, UnsupportedSubscription
from likewise.extras import require
from likewise.matching.engine import Engine
from likewise.model import Kind
from likewise.model.probability import AS_SCORED

if TYPE_CHECKING:
    from likewise.matching.reference.locality import Locality
    from likewise.semantics.interpretation import Interpretation

Profile = Literal["full", "small"]
Make = Callable[["Interpretation"], Engine]
Choice = str | type[Engine] | Make

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
PROFILES: Final[Mapping[Profile, Mapping[Kind, str]]] = MappingProxyType(
    {
        "full": {
            "exact": "bitmap",
            "approximate": "thematic",
            "top": "topk",
            "statements": "hybrid",
            "interest": "bit-planes",
            "pattern": "automaton",
            "near": "mvr-tree",
            "alert": "alerts",
        },
        "small": {"exact": "forest"},
    }
)
ENGINES: Final[Mapping[str, tuple[Kind, ...]]] = MappingProxyType(
    {
        "bitmap": ("exact",),
        "forest": ("exact",),
        "sgim": ("exact", "interest"),
        "thematic": ("approximate",),
        "topk": ("top",),
        "hybrid": ("statements",),
        "bit-planes": ("interest",),
        "tree": ("interest",),
        "rapid": ("interest",),
        "rapid-modified": ("interest",),
        "automaton": ("pattern",),
        "mvr-tree": ("pattern", "near"),
        "r-tree": ("pattern", "near"),
        "alerts": ("alert",),
        "naive": KINDS,
    }
)
_LACKS: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        "exact": "exact conditions",
        "approximate": "relaxed parts (~), which need a space and compiled kernels",
        "top": "top-k windows, which need compiled kernels",
        "statements": "statements about RDF, which need a space and compiled kernels",
        "interest": "interest vectors, which need compiled kernels",
        "pattern": "graph patterns, which need compiled kernels",
        "near": "near triples, which need compiled kernels",
        "alert": "alerts (`for`, `once until` and their like), which need compiled kernels",
    }
)


class EngineSelection:
    """The engines of a matcher: those of a profile, and those chosen for single kinds in their place.

    >>> EngineSelection("small").name("exact"), EngineSelection("small", {"exact": "sgim"}).name("exact")
    ('forest', 'sgim')
    >>> EngineSelection("small").check("approximate")
    Traceback (most recent call last):
    ...
    likewise.errors.UnsupportedSubscription: the profile 'small' does not serve relaxed parts (~), ...
    """

    def __init__(self, profile: Profile = "full", chosen: Mapping[Kind, Choice] | None = None) -> None:
        if profile not in PROFILES:
            raise InputError(f"no profile is named {profile!r}; there are {', '.join(PROFILES)}")
        if chosen is not None and not isinstance(chosen, Mapping):
            raise InputError(f"engines are chosen by kind, as {{'exact': 'forest'}}, not by a {type(chosen).__name__}")
        self.profile: Final = profile
        self.chosen: Final[Mapping[Kind, Choice]] = MappingProxyType(dict(chosen or {}))
        for kind, choice in self.chosen.items():
            _check_choice(kind, choice)
        if profile == "full":
            require("match", "the profile 'full'", or_else="choose the profile 'small'")

    def name(self, kind: Kind) -> str:
        """Return what the engine of a kind is called; empty if none serves it."""
        choice = self.chosen.get(kind) or PROFILES[self.profile].get(kind, "")
        return choice if isinstance(choice, str) else getattr(choice, "__name__", type(choice).__name__)

    def names(self) -> dict[str, str]:
        """The name of each kind's engine, without the kinds that none serves."""
        return {kind: name for kind in KINDS if (name := self.name(kind))}

    def check(self, kind: Kind) -> None:
        """Refuse a kind that no engine serves, with what is missing."""
        if kind not in self.chosen and kind not in PROFILES[self.profile]:
            raise UnsupportedSubscription(
                f"the profile {self.profile!r} does not serve {_LACKS[kind]}; use the profile 'full' "
                f'(pip install "likewise[match]"), or choose an engine: engines={{{kind!r}: ...}}'
            )

    def make(self, kind: Kind, interpretation: Interpretation) -> Engine:
        """A fresh engine for a kind; only its own modules are loaded."""
        self.check(kind)
        choice = self.chosen.get(kind) or PROFILES[self.profile][kind]
        if isinstance(choice, str):
            return make_engine(choice, kind, interpretation)
        engine = _custom_engine(choice, interpretation)
        if getattr(engine, "kinds", None) is None:
            raise InputError(
                f"{type(engine).__name__}, chosen for the kind {kind!r}, is no engine: it has no `kinds`; "
                "derive it from BaseEngine (docs/guides/write-a-matcher.md)"
            )
        if kind not in engine.kinds:
            serves = ", ".join(sorted(engine.kinds)) or "none"
            raise InputError(
                f"{type(engine).__name__} was chosen for the kind {kind!r}, but serves {serves}; "
                "name the kind in its `kinds`"
            )
        return engine


def parse_engines(texts: Iterable[str]) -> dict[str, str]:
    """Return engines by kind from texts such as `interest=sgim`.

    >>> parse_engines(["interest=sgim", "near=r-tree"])
    {'interest': 'sgim', 'near': 'r-tree'}
    """
    engines = {}
    for text in texts:
        kind, equals, name = (part.strip() for part in text.partition("="))
        if not equals:
            raise InputError(f"an engine is chosen for a kind, as in interest=sgim; found {text!r}")
        engines[kind] = name
    return engines


def _custom_engine(choice: type[Engine] | Make, interpretation: Interpretation) -> Engine:
    if isinstance(choice, type):
        made_for = getattr(choice, "serving", None)
        return choice() if made_for is None else made_for(interpretation)  # type: ignore[no-any-return]
    return choice(interpretation)


def _check_choice(kind: Kind, choice: Choice) -> None:
    if kind not in KINDS:
        raise InputError(f"no kind of subscription is named {kind!r}; there are {', '.join(KINDS)}")
    if isinstance(choice, str):
        serving = [name for name, kinds in ENGINES.items() if kind in kinds]
        if choice not in serving:
            raise InputError(f"no engine named {choice!r} serves the kind {kind!r}; there are {', '.join(serving)}")
    elif not callable(choice):
        raise InputError(
            f"an engine for the kind {kind!r} is a name, a class, or a function of the interpretation; "
            f"found {type(choice).__name__}: an engine cannot be shared by several matchers"
        )


def make_engine(name: str, kind: Kind, by: Interpretation) -> Engine:
    """A fresh engine by its name, for a kind that it serves."""
    match name:
        case "bitmap":
            from likewise.matching.bitmap.engine import BitmapEngine

            return BitmapEngine(types=by.types)
        case "forest":
            from likewise.matching.forest.engine import ForestEngine

            return ForestEngine(types=by.types)
        case "thematic":
            from likewise.matching.thematic.engine import ThematicEngine

            return ThematicEngine(
                by.measure, by.threshold, by.cache_bytes, by.probability_curve("conditions"), by.types
            )
        case "topk":
            from likewise.matching.topk.engine import TopKEngine

            return TopKEngine(
                by.measure,
                by.threshold,
                lateness=by.lateness,
                cache_bytes=by.cache_bytes,
                curve=by.probability_curve("conditions"),
                types=by.types,
                named=by.statement_measure,
                meaning=_semantic_locality(by),
            )
        case "alerts":
            from likewise.matching.alerts.engine import AlertEngine

            return AlertEngine(
                by.measure,
                by.threshold,
                lateness=by.alert_lateness,
                cache_bytes=by.cache_bytes,
                curve=by.probability_curve("conditions"),
                types=by.types,
                forget=by.forget,
                stale=by.stale,
            )
        case "hybrid":
            from likewise.matching.hybrid.statements import StatementsEngine

            return StatementsEngine(
                by.statement_measure,
                threshold=by.threshold,
                cache_bytes=by.cache_bytes,
                curve=by.probability_curve("statements"),
            )
        case "bit-planes":
            from likewise.matching.interests.bitmap import InterestBitmapEngine

            return InterestBitmapEngine()
        case "automaton":
            from likewise.matching.graphs.engine import GraphPatternEngine

            return GraphPatternEngine()
        case "mvr-tree" | "r-tree" if kind == "near":
            from likewise.matching.graphs_nearby.engine import NearEngine
            from likewise.matching.graphs_nearby.mvr_tree import MvrTree
            from likewise.matching.graphs_nearby.rtree_index import RTreeIndex

            return NearEngine(_semantic_locality(by), MvrTree if name == "mvr-tree" else RTreeIndex)
        case _:
            return _baseline_engine(name, kind, by)


def _baseline_engine(name: str, kind: Kind, by: Interpretation) -> Engine:
    """An engine that no profile chooses: a paper's own, or the oracle."""
    match name:
        case "sgim":
            from likewise.matching.classical.sgim import SgimEngine

            return SgimEngine(types=by.types)
        case "tree":
            from likewise.matching.interests.tree import TreeEngine

            return TreeEngine()
        case "rapid":
            from likewise.matching.interests.rapid import RapidEngine

            return RapidEngine()
        case "rapid-modified":
            from likewise.matching.interests.rapid_modified import ModifiedRapidEngine

            return ModifiedRapidEngine()
        case "mvr-tree" | "r-tree":
            from likewise.matching.graphs.engine import GraphPatternEngine
            from likewise.matching.graphs_nearby.exact_patterns import ExactPatterns

            return GraphPatternEngine(ExactPatterns(name))
        case "naive":
            from likewise.matching.oracle.engine import OracleEngine

            if kind == "statements":
                jcn, esa, sameness, background = (
                    by.statement_measure(name) for name in ("jcn", "esa", "sameness", "background")
                )
                return OracleEngine(
                    jcn=jcn,
                    esa=esa,
                    sameness=sameness,
                    background=background,
                    threshold=by.threshold,
                    curve=by.probability_curve("statements"),
                )
            if kind == "near":
                return OracleEngine(meaning=_semantic_locality(by))
            if kind == "top":
                return _ranking_oracle(by)
            measured = kind in ("approximate", "alert")
            return OracleEngine(
                by.measure if measured else None,
                threshold=by.threshold,
                lateness=by.lateness,
                curve=by.probability_curve("conditions") if measured else AS_SCORED,
                types=by.types,
                stale=by.stale,
            )
    raise InputError(f"no engine is named {name!r}; there are {', '.join(ENGINES)}")


def _ranking_oracle(by: Interpretation) -> Engine:
    """The oracle for windows, with the measures of statements and the vectors of near triples."""
    from likewise.matching.oracle.engine import OracleEngine

    jcn, esa, sameness, background = (by.statement_measure(name) for name in ("jcn", "esa", "sameness", "background"))
    return OracleEngine(
        by.measure,
        jcn=jcn,
        esa=esa,
        sameness=sameness,
        background=background,
        threshold=by.threshold,
        lateness=by.lateness,
        meaning=_semantic_locality(by),
        curve=by.probability_curve("conditions"),
        types=by.types,
        stale=by.stale,
    )


def _semantic_locality(by: Interpretation) -> Callable[[], Locality]:
    """Return what makes vectors of terms by meaning, from the matcher's space, when they are first needed."""

    def make() -> Locality:
        from likewise.matching.reference.locality import SemanticLocality

        return SemanticLocality(by.space)

    return make
