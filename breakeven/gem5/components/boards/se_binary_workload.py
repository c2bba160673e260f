"""Boards that run one Linux program with emulated system calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from breakeven.m5.objects import Process, SEWorkload


class SEBinaryWorkload:
    """Mixed into a board: `set_se_binary_workload`."""

    def set_se_binary_workload(
        self,
        binary: Any,
        exit_on_work_items: bool = True,
        stdin_file: Any = None,
        stdout_file: Any = None,
        stderr_file: Any = None,
        env_list: Sequence[str] | None = None,
        arguments: Sequence[str] = (),
        simpoint: Any = None,
        checkpoint: Any = None,
    ) -> None:
        """Run the program `binary` (a resource) with `arguments`.

        `stdin_file`: a resource; `stdout_file`, `stderr_file`: names in the output folder. Checkpoints and SimPoints
        are not supported.
        """
        if simpoint is not None or checkpoint is not None:
            raise NotImplementedError("SimPoints and checkpoints are not supported here")
        board: Any = self
        board._set_fullsystem(False)
        path = binary.get_local_path()
        board.workload = SEWorkload.init_compatible(path)
        process = Process(executable=path, cmd=[path, *arguments])
        if stdin_file is not None:
            process.input = stdin_file.get_local_path()
        if stdout_file is not None:
            process.output = _name(stdout_file)
        if stderr_file is not None:
            process.errout = _name(stderr_file)
        if env_list is not None:
            process.env = list(env_list)
        for core in board.get_processor().get_cores():
            core.set_workload(process)
        board.exit_on_work_items = exit_on_work_items


def _name(file: Any) -> str:
    return file.as_posix() if isinstance(file, Path) else str(file)
