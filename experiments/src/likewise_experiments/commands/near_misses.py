"""`likewise eval near-misses`: does "why not?" name the right reading?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, SpaceName

if TYPE_CHECKING:
    from likewise_experiments.near_misses.experiment import NearMissResult

WHOLE, QUICK = 2_000, 100


def near_misses(
    count: Annotated[int, typer.Option("--count", min=1, help="How many are generated.")] = WHOLE,
    seed: Annotated[int, typer.Option("--seed", help="Which ones.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help=f"{QUICK} generated ones, and a smaller city.")] = False,
    wrong: Annotated[bool, typer.Option("--wrong", help="List those explained by another reading.")] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Explain events that just miss a subscription: the demo city's, and generated ones whose right answer is known.

    Example: `likewise eval near-misses --quick --wrong`
    """
    import msgspec

    from likewise.matching.matcher import Matcher
    from likewise_experiments.near_misses.city import near_misses as of_the_city
    from likewise_experiments.near_misses.experiment import evaluate_near_misses
    from likewise_experiments.near_misses.generated import generated_misses
    from likewise_experiments.report.machine import machine, versions

    sets = {
        "the city's": of_the_city(seed, 30 if quick else 60),
        "generated": generated_misses(QUICK if quick else count, seed),
    }
    results = [
        msgspec.structs.replace(
            evaluate_near_misses(cases, Matcher(space=space), name), versions=versions(), machine=machine()
        )
        for name, cases in sets.items()
    ]
    if as_json:
        output.print_json(results)
        return
    _show(results, wrong=wrong)


def _show(results: list[NearMissResult], *, wrong: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    console = output.console()
    table = Table("near misses", "all", "right", "another", "none", "with a threshold", box=None, pad_edge=False)
    for result in results:
        counts = (result.misses, result.named, result.another, result.nothing, result.advised)
        table.add_row(result.cases, *map(str, counts))
    console.print(table)
    for result in results if wrong else ():
        for each in result.wrong:
            console.print(Text(f"{each.text}: {each.named or 'nothing'} for {', '.join(each.right)} ({each.verdict})"))
