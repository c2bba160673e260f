"""scripts/with-profile: what it hands to the build of the engine."""

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

REPO = Path(__file__).resolve().parent.parent
PRINT = ["sh", "-c", 'printf %s "$CARGO_ENCODED_RUSTFLAGS"']


def flags(**given: str) -> list[str]:
    """The compiler's flags that a build gets."""
    kept = {name: value for name, value in os.environ.items() if name not in ("RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS")}
    done = subprocess.run(
        [REPO / "scripts/with-profile", "release", *PRINT],
        env=kept | given,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [flag for flag in done.stdout.split("\x1f") if flag]


def test_without_a_profile_the_build_is_as_it_would_be():
    assert flags(BREAKEVEN_PROFILE="off") == []
    assert flags(BREAKEVEN_PROFILE="off", CARGO_ENCODED_RUSTFLAGS="-Cdebuginfo=2") == ["-Cdebuginfo=2"]


STATE = subprocess.run(["git", "rev-parse", "HEAD:engine"], cwd=REPO, capture_output=True, text=True).stdout[:12]


with_a_profile = pytest.mark.skipif(
    not list(REPO.glob(f"target/profile/release-*-{STATE}.profdata")), reason="the engine was built without a profile"
)


@with_a_profile
def test_a_later_engine_does_not_get_this_ones_profile(tmp_path):
    for name, text in {"git": "echo 0123456789abcdef", "cargo": "exit 1"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    assert flags(PATH=f"{tmp_path}:{os.environ['PATH']}") == []


@with_a_profile
def test_the_profile_comes_behind_the_flags_that_the_user_gives():
    user, separate, profile, quiet = flags(RUSTFLAGS="-Cdebuginfo=2 -Copt-level=3")
    assert (user, separate) == ("-Cdebuginfo=2", "-Copt-level=3")
    assert profile.startswith("-Cprofile-use=") and Path(profile.partition("=")[2]).is_file()
    assert quiet == "-Cllvm-args=-pgo-warn-missing-function=false"


def test_a_failing_build_fails():
    command = [REPO / "scripts/with-profile", "release", "false"]
    done = subprocess.run(command, env=os.environ | {"BREAKEVEN_PROFILE": "off"})
    assert done.returncode == 1
