"""Names of modules as they were before version 0.2: each is found in its new place, with a `DeprecationWarning`.

Goes with the next release. `breakeven` asks here only for a module that it does not have, so that nothing is loaded
for those who use none of them.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

#: former module -> the modules that have its names now, all below ``breakeven``
FORMER = {
    "baseline": "analysis.baseline",
    "blind": "studies.blind",
    "compare": "analysis.compare analysis.comparison",
    "console": "output.console",
    "contract": "routine.contract",
    "crossings": "analysis.crossings",
    "distribution": "tuning.distribution",
    "explain": "analysis.topdown",
    "extensions": "routine.extensions",
    "find": "analysis.find analysis.search_result",
    "gem5_engine": "engines.gem5_binary",
    "gem5_options": "m5.command_line",
    "host_preset": "machine.host",
    "html": "output.html analysis.comparison analysis.search_result analysis.sensitivity tuning.run",
    "ledger": "studies.ledger",
    "m5.build": "config.gem5_build",
    "m5.describe": "config.describe config.simobject",
    "m5.element_names": "config.element_names",
    "m5.errors": "config.errors errors",
    "m5.former": "config.former",
    "m5.library": "config.library",
    "m5.methods": "config.methods",
    "m5.modelled": "config.modelled",
    "m5.overrides": "config.overrides",
    "m5.params": "config.params",
    "m5.ports": "config.ports",
    "m5.proxy": "config.proxy",
    "m5.simobject": "config.simobject config.metaclass",
    "m5.units": "config.units",
    "m5.values": "config.values",
    "machine_diff": "machine.diff",
    "machine_page": "machine.page",
    "machine_parameters": "machine.parameters",
    "machine_sources": "machine.sources",
    "machines": "machine.presets",
    "measurements": "points.measurements",
    "native": "engines.native machine.host",
    "neighbours": "files.importing",
    "object_files": "routine.object_files",
    "open_engine": "engines.open",
    "output_file": "files.writing",
    "own": "routine.registry",
    "own_add": "routine.add",
    "own_build": "routine.build routine.recipe",
    "own_engine": "engines.user_routines",
    "paths": "files.data files.reading files.writing",
    "plot_target": "sweeps.plot_target output.plot_file",
    "plots": "output.plots",
    "process": "machine.process",
    "ranges": "points.ranges",
    "report": "studies.report",
    "request": "sweeps.request",
    "resolved": "machine.resolve",
    "results_page": "studies.results_page",
    "routine_errors": "routine.checks",
    "routine_page": "routine.page",
    "runner": "engines.embedded points.machine_spec points.engine files.reading files.binaries "
    "routine.guest routine.checks engines.run_points",
    "search": "analysis.search",
    "search_surrogate": "analysis.surrogate",
    "sensitivity": "analysis.sensitivity",
    "sensitivity_note": "analysis.sensitivity_note analysis.sensitivity_question",
    "sensitivity_steps": "analysis.sensitivity_steps",
    "shared_library": "routine.shared_library",
    "spread": "engines.dask",
    "store_repair": "store.repair",
    "stored": "engines.stored",
    "study": "studies.study",
    "study_parts": "studies.parts",
    "sweep": "sweeps.run points.engine points.table sweeps.spec",
    "sweep_file": "sweeps.file",
    "taken_function": "routine.taken_function",
    "tune": "tuning.plans tuning.plan_search",
    "tune_build": "tuning.codegen",
    "tune_run": "tuning.run tuning.request",
    "tune_sites": "tuning.call_sites",
    "verdict": "analysis.verdict",
    "web_page": "web.page",
    "web_report": "web.report",
    "web_sources": "web.sources",
}
#: names that have changed with their place
RENAMED = {
    "Answer": "TuneResult", "Found": "SearchResult", "Leads": "Lead", "OwnEngine": "UserRoutinesEngine",
    "OwnFile": "UserRoutineFile", "OwnSession": "UserRoutinesSession", "Question": "TuneRequest",
    "SpreadEngine": "DaskEngine", "SpreadSession": "DaskSession", "own_by_routine": "user_file_by_routine",
    "own_files": "user_files", "with_own": "with_user_routines",
}  # fmt: skip
#: of these, what is a function of the package's, too: ``breakeven.sweep(...)`` must go on when ``breakeven.sweep`` was
#: imported as a module
_VERBS = frozenset(("compare", "explain", "find", "machines", "report", "sensitivity", "sweep", "tune"))


class FormerModule(ModuleType):
    """A module that has moved."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        former, name = name, RENAMED.get(name, name)
        modules = [import_module(f"breakeven.{place}") for place in FORMER[self.__name__[len("breakeven.") :]].split()]
        having = [module for module in modules if name in vars(module)]
        # Where it is defined rather than where it is imported.
        having.sort(key=lambda module: getattr(vars(module)[name], "__module__", "") != module.__name__)
        if not having:
            raise AttributeError(f"module {self.__name__!r} has no attribute {former!r}", name=former)
        _warn(f"{self.__name__}.{former}", f"{having[0].__name__}.{name}", 3)
        return vars(having[0])[name]

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        former = self.__name__.removeprefix("breakeven.")
        place = "api" if former in _VERBS else FORMER[former].split()[0]
        function = getattr(import_module(f"breakeven.{place}"), former.rpartition(".")[2], None)
        if function is None:
            raise TypeError("'module' object is not callable")
        return function(*args, **keywords)


def _warn(former: str, present: str, level: int) -> None:
    warnings.warn(f"{former} is now {present}", DeprecationWarning, stacklevel=level)


class _Loader:
    """Makes a `FormerModule`."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return FormerModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """It finds its names when they are asked for."""

    def get_code(self, name: str) -> CodeType:
        """What ``python -m`` runs."""
        place = f"breakeven.{FORMER[name.removeprefix('breakeven.')].split()[0]}"
        _warn(name, place, 2)
        return compile(f"import runpy; runpy.run_module({place!r}, run_name='__main__')", name, "exec")


def spec_of(name: str) -> ModuleSpec | None:
    """How the module `name` is loaded if that is what it was once called."""
    loader: Any = _Loader()
    return ModuleSpec(name, loader) if name.removeprefix("breakeven.") in FORMER else None
