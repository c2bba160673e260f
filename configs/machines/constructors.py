"""What a board's constructor takes: the parameters that one reaches for, by the same names on every board.

    from machines.u74 import U74Board
    board = U74Board(clk_freq="1.2GHz", l1d_size="64KiB", misaligned="hardware", zbb=True)

A preset says which of them its board has. Each is set on the finished board; None leaves the preset's value. Works
under a real gem5, too, where a parameter that gem5 has not is refused.
"""

import functools

from m5.objects import NULL, Root

from machines.provenance import assumed

#: option -> (paths below the board, what it is)
OPTIONS = {
    "clk_freq": (("clk_domain.clock",), "the clock of the core and its caches"),
    "l1i_size": (("cpu.icache.size",), "bytes of the first-level instruction cache"),
    "l1d_size": (("cpu.dcache.size",), "bytes of the first-level data cache"),
    "l1d_assoc": (("cpu.dcache.assoc",), "its ways"),
    "l2_size": (("l2.size",), "bytes of the second level"),
    "l2_assoc": (("l2.assoc",), "its ways"),
    "l3_size": (("l3.size",), "bytes of the third level"),
    "l3_assoc": (("l3.assoc",), "its ways"),
    "l4_size": (("l4.size",), "bytes of the fourth level"),
    "l4_assoc": (("l4.assoc",), "its ways"),
    "prefetchers": ((), "False: none in any cache"),
    "mem_latency": (("mem_ctrl.latency",), "time of a read in the memory itself"),
    "mem_bandwidth": (("mem_ctrl.bandwidth",), "bytes a second of the memory"),
    "misaligned": (("cpu.misaligned.policy",), "hardware, trap, emulate or pma"),
    "rob_entries": (("cpu.numROBEntries",), "micro-ops in the reorder buffer"),
    "load_queue": (("cpu.LQEntries",), "loads in the load queue"),
    "store_queue": (("cpu.SQEntries",), "stores in the store queue"),
    "issue_width": (("cpu.executeIssueLimit",), "instructions that may issue in a cycle"),
    "store_buffer": (("cpu.executeLSQStoreBufferSize",), "entries of the store buffer"),
    "zba": (("cpu.isa[0].enable_Zba",), "whether the core has Zba"),
    "zbb": (("cpu.isa[0].enable_Zbb",), "whether the core has Zbb"),
    "zbs": (("cpu.isa[0].enable_Zbs",), "whether the core has Zbs"),
    "avx2": (("cpu.isa[0].enable_avx2",), "whether the core has AVX2"),
    "erms": (("cpu.isa[0].enable_erms",), "whether CPUID offers ERMS"),
    "smap": (("cpu.isa[0].enable_smap",), "whether the core has SMAP"),
}

#: what goes together
L1 = ("l1i_size", "l1d_size", "l1d_assoc")
L2 = (*L1, "l2_size", "l2_assoc")
L3 = (*L2, "l3_size", "l3_assoc")
L4 = (*L3, "l4_size", "l4_assoc")
MEMORY = ("mem_latency", "mem_bandwidth")
IN_ORDER = ("clk_freq", "issue_width", "store_buffer", "misaligned")
OUT_OF_ORDER = ("clk_freq", "rob_entries", "load_queue", "store_queue", "misaligned")
RISCV = ("zba", "zbb", "zbs")
X86 = ("avx2", "erms", "smap")


def without_gem5_traits(cpu):
    """Switches off what gem5's core does because of how its code is written, and no processor does. Presets of silicon
    call it, in our engine only: docs/gem5-agreement.md lists the switches."""
    for name in cpu._params:
        if (name.startswith("gem5") or name == "serialResponses") and getattr(cpu, name):
            setattr(cpu, name, assumed(False, "a trait of gem5's code, which no processor has"))


def _owner(board, path):
    """The object and the name that a path ends in."""
    found, (*way, name) = board, path.split(".")
    for step in way:
        attribute, _, index = step.partition("[")
        found = getattr(found, attribute)
        found = found[int(index.rstrip("]"))] if index else found
    return found, name


def _without_prefetchers(board):
    for cache in (board.cpu.icache, board.cpu.dcache, *(getattr(board, name, None) for name in ("l2", "l3", "l4"))):
        if cache is not None:
            cache.prefetcher = NULL


def _apply(board, constructor, option, value):
    if option == "prefetchers":
        if not value:
            _without_prefetchers(board)
        return
    for path in OPTIONS[option][0]:
        try:
            owner, name = _owner(board, path)
            getattr(owner, name)
        except AttributeError:
            raise TypeError(f"{constructor}: {option} is breakeven's: this simulator has no {path}") from None
        setattr(owner, name, value)


def _documentation(build, options):
    lines = [(build.__doc__ or f"{build.__name__}: the board of this preset.").rstrip(), ""]
    for option in options:
        paths, meaning = OPTIONS[option]
        lines.append(f"{option}: {meaning}{' (' + ', '.join(paths) + ')' if paths else ''}")
    return "\n".join([*lines, "None leaves the preset's value; other parameters go to the board."])


def constructor(*options):
    """Gives a function that builds a board the options of these names."""

    def decorate(build):
        def construct(chosen, rest):
            board = build(**rest)
            for option, value in chosen.items():
                if value is not None:
                    _apply(board, build.__name__, option, value)
            board._constructor = made
            return board

        # Written out, so that the function has these keywords; `inspect` would cost every start some milliseconds.
        keywords = ", ".join(f"{option}=None" for option in options)
        chosen = ", ".join(f"{option}={option}" for option in options)
        names = {"construct": construct}
        exec(f"def made(*, {keywords}, **board):\n    return construct(dict({chosen}), board)\n", names)
        made = names["made"]
        made.__name__ = made.__qualname__ = build.__name__
        made.__module__ = build.__module__
        made.__doc__ = _documentation(build, options)
        made.options = {option: OPTIONS[option][0] for option in options}
        return made

    return decorate


def machine_of(board):
    """The `machine()` of a preset: the tree of its board, with the board's options."""

    @functools.wraps(board)
    def machine(**options):
        return Root(full_system=True, system=board(**options))

    return machine
