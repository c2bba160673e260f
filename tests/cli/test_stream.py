"""Streams on the command line."""


def test_the_command(breakeven) -> None:
    """Calls follow from the total; mistakes are one sentence."""
    done = breakeven("run", "x64-copy-unrolled", "-m", "x86_atomic", "-n", "4096", "--measure", "stream",
                     "--total", "64KiB", "--stream", "moving,reader", "--repetitions", "1")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "for 16 calls" in done.stdout
    done = breakeven(
        "sweep", "rv-word", "-n", "256,4096", "-m", "atomic", "--measure", "stream", "--total", "8192", "--json"
    )
    assert done.returncode == 0 and '"calls": 32' in done.stdout and '"calls": 2' in done.stdout
    for wrong, words in (
        (("run", "rv-word", "-n", "64", "--stream", "moving"), "stream measure"),
        (("run", "rv-word", "-n", "4096", "--measure", "stream", "--total", "65MiB"), "67108864"),
        (("sweep", "rv-word", "-n", "64", "--measure", "latency,stream", "--stream", "reader"), "alone"),
    ):
        done = breakeven(*wrong)
        assert done.returncode == 1 and words in done.stderr and len(done.stderr.splitlines()) == 1
