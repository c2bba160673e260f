"""Intel's cores since Sandy Bridge: decoding, the string engines, the parts that their large cores have alike.

`rows`: the processor's name in uarch.csv, where each of them has a row of that name.
"""

from m5 import objects
from m5.objects import X86O3CPU, L2XBar, ReturnAddrStack

from machines.extensions import path_predictor, target_buffer
from machines.families import x86
from machines.provenance import assumed, calibrated, sourced

#: what misaligned ends cost REP MOVS
ALIGN = "broadwell/rep_movs_align_sensitivity"
STARTUP_UOPS = calibrated(140, "broadwell/rep_movs_startup", "35 cycles at four a cycle")
#: of the branch target buffer: direct-mapped, it would lose a branch to any other 4 KiB apart
BTB_WAYS = assumed(4, "no source has the ways")
ANY = 0xFFFF_FFFF  # bytes, no limit


class FourWide(X86O3CPU):
    """The large cores from Ivy Bridge to Skylake."""

    fetchWidth = assumed(8, "the micro-op cache fills the queue faster than it is emptied")
    squashWidth = assumed(64, "recovery does not walk")


class L3Cache(x86.SiliconCache):
    tag_latency = assumed(20, "half of the data's")


class LineBus(L2XBar):
    """To the second level."""

    width = assumed(64, "a line a cycle, as since Haswell")


class Ring(L2XBar):
    """To the third."""

    width = assumed(32, "as its relatives")


def predictor(btb, returns, lengths=x86.PATHS, ways=BTB_WAYS):
    """Entries of the branch target buffer and of the return stack, paths in taken branches, ways of the buffer."""
    return path_predictor(
        btb=target_buffer(btb, ways),
        ras=ReturnAddrStack(numEntries=returns),
        historyLengths=lengths,
    )


def early_microcode(instructions, **values):
    """Micro-ops of the hardware in place of gem5's, since the Pentium M."""
    return objects.X86Microcode(
        gem5=assumed(False, "hardware has its own"),
        micro_fusion=assumed(True, "as every Intel core since the Pentium M"),
        stack_engine=assumed(True, "as micro_fusion"),
        zero_idioms=assumed(True, "as micro_fusion"),
        instructions=[*instructions, *x86.slow_loops()],
        **values,
    )


def microcode(instructions, **values):
    """The same since Ivy Bridge."""
    return early_microcode(
        instructions,
        fuse_cmp_test=assumed(True, "as every Intel core since Sandy Bridge"),
        fuse_add_sub_and=assumed(True, "as fuse_cmp_test"),
        fuse_inc_dec=assumed(True, "as fuse_cmp_test"),
        eliminate_zero_idioms=assumed(True, "since Sandy Bridge"),
        eliminate_moves=assumed(True, "since Ivy Bridge"),
        **values,
    )


def large_core(board, rows, second=None, flag_merge_note="", **code):
    """What the large cores since Ivy Bridge have alike, beside their numbers; `code`: values of the microcode.
    `second`: the cache that the streams go to."""
    split_stores = sourced(True, f"{rows}/port_map")
    flag_merge = sourced("none", f"{rows}/partial_flag_stall", flag_merge_note)
    cpu = board.cpu
    x86.hardware(board, microcode(split_stores=split_stores, flag_merge=flag_merge, **code))
    x86.memory_order(board, rows)
    cpu.misaligned.line_cross_store = calibrated(1, f"{rows}/split_store_cost", "a second access")
    cpu.misaligned.page_cross_store = sourced(25, f"{rows}/page_cross_store")
    prefetchers(board.cpu.dcache, second or board.l2, rows)


def prefetchers(first, second, rows):
    """The next line at the first level; streams and pairs at the second."""
    first.prefetcher = sourced(objects.NextLinePrefetcher(), f"{rows}/prefetchers")
    second.prefetcher = sourced(x86.streamer_and_pairs(), f"{rows}/prefetchers")


def four_wide(board, rows, **code):
    """As `large_core`, from Ivy Bridge to Skylake: short copies by REP MOVSB are no faster."""
    large_core(board, rows, **code)
    cpu = board.cpu
    cpu.isa[0].enable_fsrm = sourced(False, f"{rows}/rep_movs_fast_conditions")
    cpu.forwardFailPenalty = calibrated(5, f"{rows}/stlf_fail_penalty", "with the store's way to the cache, 12")
    cpu.misaligned.line_cross_load = sourced(5, f"{rows}/split_load_cost")
    cpu.mmu.itb.size = assumed(128, "as its relatives")


def erms(bytes_per_cycle, startup_uops=STARTUP_UOPS):
    """REP MOVS and STOS with ERMS: one start-up, then blocks of a line, written without being read first."""
    return [
        objects.X86StringMode(
            max_count=assumed(0, "the count is tested early"), startup_uops=assumed(20, "five cycles")
        ),
        objects.X86StringMode(
            startup_uops=startup_uops,
            block=sourced(64, "broadwell/rep_movs_fast_conditions"),
            alignment=sourced(16, "broadwell/rep_movs_fast_conditions"),
            bytes_per_cycle=bytes_per_cycle,
            bytes_per_cycle_misaligned=calibrated(bytes_per_cycle * 73 / 109, ALIGN, "109 ns, aligned 73"),
            bytes_per_cycle_crossed=calibrated(bytes_per_cycle * 73 / 126, ALIGN, "126 ns, aligned 73"),
            whole_lines=assumed(True, "Intel's manual speaks of a protocol without read for ownership"),
        ),
        backwards(startup_uops),
    ]


def backwards(startup_uops):
    """Going down: by element."""
    return objects.X86StringMode(
        backwards=assumed(True, "microcode by element"),
        block=assumed(0, "microcode by element"),
        element_cycles=assumed(2, "microcode by element"),
        element_uops=assumed(4, "as element_cycles"),
        startup_uops=startup_uops,
    )


def bands(startups, pace, **conditions):
    """ERMS: up to so many bytes (the keys), so many cycles before the first access; then `pace` bytes a cycle."""
    align = "goldencove/rep_movs_align_sensitivity"
    return [
        objects.X86StringMode(
            max_bytes=limit,
            startup=startup,
            block=assumed(64, "as on Broadwell"),
            alignment=calibrated(64, align, "a line"),
            bytes_per_cycle=pace,
            bytes_per_cycle_misaligned=calibrated(64, align, "as aligned"),
            bytes_per_cycle_crossed=calibrated(50, align, "between the two"),
            whole_lines=assumed(True, "as on Broadwell"),
            **conditions,
        )
        for limit, startup in startups.items()
    ]


def fsrm(pace, backwards_uops):
    """REP MOVS with FSRM. Wider elements, at multiples of 8 or else one by one; then bytes: FSRM up to 128, none
    included."""
    wide, align = "goldencove/rep_movs_startup_wide", "goldencove/rep_movs_align_sensitivity"
    not_bytes = {"min_element": calibrated(2, wide, "any but bytes")}
    alone = "alone 36 cycles up to 256 bytes, 46 of 384, 54 of 512"
    bytes_alone = "alone 32 cycles up to 256 bytes, 44 of 384, 54 of 512"
    return [
        objects.X86StringMode(
            max_count=calibrated(0, wide, "none"),
            startup=calibrated(60, wide, "with the way through the pipeline, 66"),
            **not_bytes,
        ),
        *bands(
            calibrated({128: 21, 256: 19, 511: 26, ANY: 32}, wide, alone),
            pace,
            co_alignment=sourced(8, align),
            **not_bytes,
        ),
        objects.X86StringMode(
            block=calibrated(0, align, "by element"),
            startup=calibrated(76, align, "64 bytes make 99 cycles"),
            **not_bytes,
        ),
        objects.X86StringMode(
            max_bytes=sourced(128, "goldencove/rep_movs_fast_conditions"),
            startup=calibrated(8, "goldencove/rep_movs_startup", "up to 128 bytes make 9 cycles"),
            block=assumed(64, "as ERMS"),
            whole_lines=assumed(True, "as ERMS"),
        ),
        *bands(calibrated({256: 15, 511: 24, ANY: 32}, "goldencove/rep_movs_startup_long", bytes_alone), pace),
        backwards(backwards_uops),
    ]


def by_count(bytes_per_cycle, byte_rate):
    """REP MOVS and STOS of Nehalem, by count: a short way, one by element, and 16 bytes at a time. Single bytes have a
    longer start-up. A start-up's micro-ops need a computing port: they go three a cycle."""
    startup = "nehalem/rep_movs_startup"
    words = {"min_element": calibrated(2, startup, "not single bytes")}
    return [
        objects.X86StringMode(
            max_count=sourced(12, startup),
            startup_uops=calibrated(48, startup, "three a cycle; 20 cycles in all"),
            **words,
        ),
        objects.X86StringMode(
            max_count=calibrated(75, startup, "below 76"),
            startup_uops=calibrated(45, startup, "15 cycles"),
            block=calibrated(0, startup, "by element"),
            element_cycles=sourced(1, startup),
            **words,
        ),
        pieces(bytes_per_cycle, startup_uops=calibrated(120, startup, "40 cycles"), **words),
        objects.X86StringMode(
            max_count=assumed(3, "a few bytes are done one by one"), startup_uops=assumed(27, "nine cycles")
        ),
        pieces(
            byte_rate,
            min_element=assumed(1, "single bytes"),
            startup_uops=assumed(150, "ten cycles more than for words"),
        ),
        backwards(assumed(45, "as the way by element going up")),
    ]


def pieces(bytes_per_cycle, **costs):
    """Lines of 16-byte pieces: four cycles a line, six where pieces are split.

    Lines written whole are read first, as other stores' are: Intel's manual of the time (Software Developer's Manual
    3A, order number 253668-032, 8.2.4) gives the way without that read to the P6 family, Pentium 4, Core and Core 2,
    not to this one.
    """
    split = calibrated(bytes_per_cycle * 4 / 6, "nehalem/rep_movs_align_sensitivity", "half as many cycles again")
    return objects.X86StringMode(
        block=sourced(64, "nehalem/line_bytes"),
        alignment=sourced(16, "nehalem/rep_movs_fast_conditions"),
        bytes_per_cycle=bytes_per_cycle,
        bytes_per_cycle_misaligned=split,
        bytes_per_cycle_crossed=split,
        **costs,
    )
