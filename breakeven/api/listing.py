"""What there is and what is kept: `report`, `reproduce`, `add`, `remove`, `routines`, `machines`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from breakeven.api.arguments import names_of, opened_engine, path_of
from breakeven.config.errors import ConfigError, OverrideError
from breakeven.errors import UserError
from breakeven.files.writing import default_place
from breakeven.machine.presets import MachineError
from breakeven.machine.resolve import resolve, resolving
from breakeven.sweeps.request import Settings, machine_spec, settings_texts

if TYPE_CHECKING:
    from breakeven.points.engine import Routine, SweepProgress
    from breakeven.routine.add import Added
    from breakeven.studies.study import Outcome
    from breakeven.web.report import Report


def report(
    *sources: str | Path,
    out: str | Path | None = None,
    title: str = "",
    machine: str | None = None,
    settings: Settings | None = None,
    machine_files: Sequence[str | Path] = (),
    command: str = "",
    store: str | Path | None = None,
) -> Report:
    """One web page of tables that `sweep` wrote, of studies' reports, or (no `sources`) of the store (docs/cli.md).

    A folder of studies' reports (``results``) alone: a page of each in it, and its ``index.html``; `out` is not used.
    `out`: None: ``report.html``, where no link lies.
    `machine`: of a store only this machine. `settings`: what the tables' sweep had. `machine_files`: machine files of
    yours that the tables name: they are run to show their parameters.
    """
    from breakeven.web.report import Report, write_report
    from breakeven.web.results_site import is_results, write_site

    if len(sources) == 1 and is_results(Path(sources[0])):
        site = write_site(Path(sources[0]))
        return Report(site.index, site.points, site.failures)
    page = Path(out) if out else default_place("report.html", "--out")
    try:
        return write_report(
            [str(source) for source in sources], page, title=title, machine=machine, settings=settings_texts(settings),
            machine_files=[Path(path) for path in machine_files], command=command, store=path_of(store),
        )  # fmt: skip
    except (ConfigError, OverrideError, MachineError) as error:
        raise UserError(str(error)) from None
    except OSError as error:
        raise UserError(f"cannot make {str(page)!r}: {error.strerror or error} ({error.filename})") from None


def reproduce(
    *studies: str | Path,
    every: bool = False,
    out: str | Path | None = None,
    threads: int = 0,
    store: bool | str | Path = True,
    progress: SweepProgress | None = None,
    on_report: Callable[[Outcome, Path], None] | None = None,
) -> list[tuple[Outcome, Path]]:
    """Runs studies of published claims and writes their reports, and the page of all verdicts, into the folder `out`
    (None: ``results``, which is no link):
    each outcome with its report (docs/studies.md).

    None named: the five founding ones, with `every` all there are. `progress`: work done, all of it, and the study it
    is at; `on_report`: called with each outcome and its report as soon as that is written.
    """
    from breakeven.studies.ahead import run_studies
    from breakeven.studies.finding import find_studies, founding_studies
    from breakeven.studies.report import check_reports, write_report
    from breakeven.studies.results_page import write_results_page

    if every and studies:
        raise UserError("either all studies or those named: leave out --all or the names")
    found = find_studies([str(name) for name in studies] or ([] if every else founding_studies()))
    folder = Path(out) if out else default_place("results", "--out")
    check_reports(folder)
    done = []
    with resolving(), opened_engine(store, None, durable=False) as engine:
        for outcome in run_studies(found, engine, threads, progress):
            done.append((outcome, write_report(outcome, folder / outcome.study.name)))
            if on_report is not None:
                on_report(*done[-1])
    write_results_page(folder)
    return done


def add(
    source: str | Path, isa: str = "", *, kind: str = "copy", name: str = "", needs: str | Sequence[str] = (),
    flags: str | Sequence[str] = (), symbol: str = "", defines: Mapping[str, int] | None = None,
    more: Sequence[str | Path] = (), reference: str | Path | None = None,
) -> Added:  # fmt: skip
    """Makes a ``.S`` or ``.c`` file of yours, or a function of compiled code, a routine like all others
    (docs/add-a-routine.md).

    `isa`: ``"riscv"`` or ``"x86"`` (compiled code says its own); `kind`: ``"copy"``, ``"checksum"``,
    ``"user-copy"``, ``"copy-checksum"``, ``"set"``, ``"move"``, ``"clear"``, ``"crc32c"`` or ``"adler32"``;
    `reference`: of another checksum a file with the function ``NAME_reference``; `needs`: extensions; `flags`: more
    of the compiler's. Of compiled code (``.o``, ``.a``, ``.so``): `symbol`, the function; `defines`, the values of
    variables that it reads; `more`, files that define what the first one lacks. A `UserError` has the compiler's
    words, or the first wrong byte. What was added: ``.file.routines``, ``.file.extensions``; at how many points it
    was right: ``.points``; what is to be known of it: ``.notes``.
    """
    from breakeven.routine.add import add as add_file
    from breakeven.routine.build import Build

    return add_file(
        Build(
            Path(source), tuple(Path(path) for path in more), kind, name, tuple(names_of(needs)),
            tuple(names_of(flags)),
            symbol, dict(defines or {}), reference=Path(reference) if reference else None,
        ),
        isa,
    )  # fmt: skip


def remove(name: str, isa: str = "") -> list[str]:
    """Removes what `add` has added, by the name of a routine in it; the names of all that are gone.

    `isa`: of this instruction set alone; without it of every one that has such a routine.
    """
    from breakeven.routine.registry import remove as remove_files

    return [routine for own in remove_files(name, isa) for routine in own.routines]


@resolving()
def routines(
    machine: str = "u74", *, settings: Settings | None = None, guest: str | Path | None = None
) -> list[Routine]:
    """The routines there are for a machine.

    >>> "rv-word" in [routine.name for routine in routines()]
    True
    """
    from breakeven.routine.guest import guest_routines

    spec = machine_spec(machine, settings)
    resolve(spec).check_settings()
    return guest_routines(spec, path_of(guest))[1]


def machines() -> list[str]:
    """The names of the machines there are.

    >>> "u74" in machines()
    True
    """
    from breakeven.machine.presets import list_presets

    return [preset.name for preset in list_presets()]
