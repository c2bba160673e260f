"""What the standard library does at an exit event when the script says nothing: each a generator that yields whether to
end the run."""

from __future__ import annotations

from collections.abc import Generator


def exit_generator() -> Generator[bool | None, None, None]:
    while True:
        yield True


def reset_stats_generator() -> Generator[bool | None, None, None]:
    from breakeven.m5 import stats

    while True:
        stats.reset()
        yield False


def dump_stats_generator() -> Generator[bool | None, None, None]:
    from breakeven.m5 import stats

    while True:
        stats.dump()
        yield False


def dump_reset_generator() -> Generator[bool | None, None, None]:
    from breakeven.m5 import stats

    while True:
        stats.dump()
        stats.reset()
        yield False


def skip_generator() -> Generator[bool | None, None, None]:
    while True:
        yield False


def unsupported_generator(what: str) -> Generator[bool | None, None, None]:
    raise NotImplementedError(f"{what} is not supported here")
    yield True
