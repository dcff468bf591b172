"""The command line of the benchmarks."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click
from rich.console import Console

from benchmarks import contestants, docs_page, machine, tables
from benchmarks.measures import MEASURES
from benchmarks.measures.contract import QUICK, Measure, Sizes
from benchmarks.results import Results
from benchmarks.runner import run_all

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
PIPED_WIDTH = 140
CHOICES = (*contestants.NAMES, *(measure.name for measure in MEASURES))


@click.command()
@click.option("--quick", is_flag=True, help="A fifth of the jobs: a look, not a measurement.")
@click.option("--only", "names", multiple=True, type=click.Choice(CHOICES), help="A contestant or a measure; repeatable.")
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="Runs of each measure; 3 or more.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="Where the databases are made: on a disk. benchmarks/results unless given.",
)
@click.option("--write-docs", is_flag=True, help="Write docs/benchmarks.md from this run, which must be a whole one.")
def main(quick: bool, names: tuple[str, ...], repeats: int, folder: Path | None, write_docs: bool) -> None:
    """Measure Stanchion beside other queues that keep their jobs in SQLite.

    All of it takes about half an hour; --quick some minutes.
    """
    if write_docs and (names or repeats < 3):
        raise click.UsageError("--write-docs wants a whole run: no --only, 3 repeats or more")
    console = Console() if sys.stdout.isatty() else Console(width=PIPED_WIDTH)
    measures = _chosen(names)
    kinds = _load([name for name in contestants.NAMES if name in names] or list(contestants.NAMES))
    sizes = QUICK if quick else Sizes()
    RESULTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder or RESULTS) as fresh:
        try:
            found = machine.look(Path(fresh), {kind.facts.package for kind in kinds.values()})
        except ValueError as problem:
            raise click.ClickException(str(problem)) from None
        console.print(found.line(), highlight=False)
        results = Results(found, repeats, sizes._asdict())
        with console.status("") as status:
            run_all(measures, kinds, sizes, results, Path(fresh), status.update)
    _show(console, measures, kinds, results)
    results.write(RESULTS / "latest.json")
    if write_docs:
        PAGE.write_text(docs_page.page(measures, kinds, results))


def _chosen(names: tuple[str, ...]) -> list[Measure]:
    return [measure for measure in MEASURES if measure.name in names] or list(MEASURES)


def _load(names: list[str]) -> tables.Kinds:
    try:
        return {name: contestants.load(name) for name in names}
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is not installed: pip install -e '.[bench]', or make bench") from None


def _show(console: Console, measures: list[Measure], kinds: tables.Kinds, results: Results) -> None:
    for table in tables.series_tables(measures, kinds, results):
        console.print(table.rich())
    if "stanchion" in kinds and len(kinds) > 1:
        console.print(tables.summary_table(measures, kinds, results).rich())
    for failure in results.failures():
        console.print(f"no number: {failure}", style="red", markup=False)


if __name__ == "__main__":
    main()
