"""AMD's Zen 3 to 5: decoding, the string engine, prefetchers, buses. Rows are Zen 3's where the others have none."""

from m5 import objects
from m5.objects import L2XBar, ReturnAddrStack

from machines.extensions import path_predictor, target_buffer
from machines.families import x86
from machines.provenance import assumed, calibrated, sourced

ANY = 0xFFFF_FFFF  # bytes, no limit
#: bytes at a time of REP MOVS and STOS
BLOCK = assumed(32, "a vector register")
#: micro-ops that begin a REP MOVSB: of less than 128 bytes; of more; of more to what is no multiple of 32
BYTES = calibrated(
    {"short": 85, "long": 110, "misaligned": 170},
    "zen3/rep_movs_startup_long",
    "alone 28 cycles up to 127 bytes, 41 of 128, 56 to other destinations",
)
#: ... and one of wider elements, of up to so many bytes (the keys)
WIDE = calibrated(
    {95: 85, 255: 120, ANY: 165}, "zen3/rep_movs_startup_wide", "alone 31 cycles of 64 bytes, 47 of 128, 61 of 256"
)
STARTUP_UOPS = calibrated(85, "zen3/rep_movs_startup_long", "as a short REP MOVSB's")
#: micro-ops that begin a REP STOS of 128 elements or more, to a multiple of 32 bytes or not; others go by element
LONG_STOS = calibrated(
    {"aligned": 302, "misaligned": 496},
    "zen3/rep_stos_startup",
    "alone 74 cycles of 128 bytes, 122 to other destinations",
)
#: cycles before the first of bytes that are copied one by one
ONE_BY_ONE = calibrated(135, "zen3/rep_movs_by_element", "one byte makes 164")
#: pairs of address bits; their parities are the way predictor's hash
WAY_HASH = [(12, 27), (13, 26), (14, 25), (15, 20), (16, 21), (17, 22), (18, 23), (19, 24)]


class L2Bus(L2XBar):
    width = assumed(32, "as its guide has it")
    header_latency = calibrated(0, "zen3/store_commit", "a line every two cycles")


class L3Bus(L2XBar):
    width = assumed(32, "as its guide has it")


def predictor(entries, ways, returns):
    """The branch target buffer's second level: entries and ways; the return stack's entries."""
    return path_predictor(
        btb=target_buffer(entries, ways),
        ras=ReturnAddrStack(numEntries=returns),
        historyLengths=x86.PATHS,
    )


def fast(startups, bytes_per_cycle, block, **conditions):
    """Lines at once: up to so many bytes (the keys), so many micro-ops before the first access."""
    return [
        objects.X86StringMode(
            max_bytes=limit,
            startup_uops=startup,
            block=block,
            bytes_per_cycle=bytes_per_cycle,
            whole_lines=assumed(True, "as Intel's"),
            **conditions,
        )
        for limit, startup in startups.items()
    ]


def by_element(**conditions):
    """What the fast way does not take: an element a cycle."""
    return objects.X86StringMode(
        block=assumed(0, "microcode by element"),
        element_cycles=assumed(1, "microcode by element"),
        element_uops=assumed(2, "microcode by element"),
        startup_uops=STARTUP_UOPS,
        **conditions,
    )


def backwards():
    """Going down."""
    return by_element(backwards=sourced(True, "zen3/rep_movs_fast_conditions"))


def copies(rate, block, startups, one_by_one):
    """REP MOVS: fast unless the destination lies 1 to 15 bytes behind the source modulo 4 KiB."""
    conditions = {
        "min_page_offset": calibrated(16, "zen3/rep_movs_align_sensitivity", "1 to 15 are slow"),
        "equal_page_offset": sourced(True, "zen3/rep_movs_align_sensitivity"),
    }
    to_aligned = {"destination_alignment": sourced(32, "zen3/rep_movs_startup_long")}
    wide = calibrated(2, "zen3/rep_movs_startup_wide", "any but bytes")
    return [
        *fast(WIDE, rate, block, min_element=wide, **conditions),
        by_element(min_element=calibrated(2, "zen3/rep_movs_by_element", "any but bytes")),
        *fast({127: startups["short"]}, rate, block, **conditions),
        *fast({ANY: startups["long"]}, rate, block, **to_aligned, **conditions),
        *fast({ANY: startups["misaligned"]}, rate, block, **conditions),
        by_element(startup=one_by_one),
        backwards(),
    ]


def fills(rate, block):
    """REP STOS."""
    many = calibrated(128, "zen3/rep_stos_startup", "elements, not bytes")
    to_aligned = calibrated(32, "zen3/rep_stos_startup", "destinations of 8 and 48 are slow")
    return [
        *fast({ANY: LONG_STOS["aligned"]}, rate, block, min_count=many, destination_alignment=to_aligned),
        *fast({ANY: LONG_STOS["misaligned"]}, rate, block, min_count=many),
        by_element(startup=calibrated(5, "zen3/rep_stos_startup", "16 bytes make 35")),
        backwards(),
    ]


def microcode(movs, stos, block, startups, one_by_one):
    """Micro-ops of the hardware in place of gem5's."""
    guide = ("stack_engine", "zero_idioms", "eliminate_zero_idioms", "eliminate_moves", "fuse_cmp_test")
    return objects.X86Microcode(
        gem5=assumed(False, "hardware has its own"),
        micro_fusion=assumed(True, "an operation with its load or store is one macro-op"),
        split_stores=assumed(False, "a store is one operation"),
        **assumed(dict.fromkeys(guide, True), "as its guide has it"),
        **assumed({"fuse_add_sub_and": False, "fuse_inc_dec": False}, "as its guide has it"),
        flag_merge=sourced("none", "zen3/partial_flag_stall"),
        max_access=assumed(32, "a vector register"),
        instructions=[
            x86.instruction("adc sbb", latency=sourced(1, "zen3/lat_adc")),
            x86.instruction("adcx adox", latency=assumed(1, "as adc")),
            x86.instruction("mul mulx", latency=assumed(3, "as imul, an operation a result")),
            x86.instruction("psadbw vpsadbw", latency=sourced(3, "zen3/lat_psadbw")),
        ],
        rep_movs=copies(movs, block, startups, one_by_one),
        rep_stos=fills(stos, block),
    )


def zen_core(board, movs, stos, block=BLOCK, startups=BYTES, one_by_one=ONE_BY_ONE):
    """What the three have alike. `movs`, `stos`: bytes a cycle of REP MOVS and REP STOS; `block`: at a time;
    `startups`: as `BYTES`; `one_by_one`: as `ONE_BY_ONE`."""
    cpu = board.cpu
    x86.hardware(board, microcode(movs, stos, block, startups, one_by_one))
    x86.memory_order(board, "zen3")
    cpu.decoupledFrontEnd = sourced(True, "zen3/fetch_targets")
    cpu.numFTQEntries = assumed(16, "no source; more than the calls of a probe need")
    cpu.branchIssueWidth = sourced(2, "zen3/branch_units")
    cpu.callReturnDelay = calibrated(1, "zen3/call_return", "one more for each of the pair")
    cpu.forwardLatency = calibrated(5, "zen3/stlf_latency", "with the store's and the load's own cycles, 7 to 8")
    cpu.forwardFailPenalty = calibrated(10, "zen3/stlf_fail_penalty", "with the store's way to the cache, 14")
    cpu.misaligned.line_cross_load = calibrated(4, "zen3/split_load_cost", "a vector's 11 less its 7")
    cpu.misaligned.line_cross_store = sourced(5, "zen3/split_store_cost")
    cpu.misaligned.page_cross_load = calibrated(4, "zen3/page_cross_load", "as line_cross_load")
    cpu.misaligned.page_cross_store = sourced(25, "zen3/page_cross_store")
    cpu.mmu.itb.size = assumed(64, "as the data side's")
    cpu.mmu.dtb.l2_assoc = sourced(8, "zen3/stlb_entries")
    cpu.mmu.dtb.l2_latency = sourced(8, "zen3/stlb_hit_penalty")
    caches = {"pml4e": 64, "pdpte": 64, "pde": 1024}
    x86.walk_caches(cpu, **assumed(caches, "Zen has a cache of 64 entries; PDEs lie in the TLB"))
    cpu.write_combining = x86.write_combining(buffers=sourced(10, "zen3/wc_buffers"))
    cpu.dcache.prefetcher = sourced(objects.StreamPrefetcher(), "zen3/prefetchers")
    masks = [1 << a | 1 << b for a, b in WAY_HASH]
    cpu.dcache.way_predictor_masks = calibrated(masks, "zen3/way_predictor", "its pairs of bits as masks")
    board.l2.prefetcher = sourced(x86.streamer_and_pairs(), "zen3/prefetchers")


def zen_board(cpu, clock, ours, memory, caches, **options):
    """A machine of such a core and these caches."""
    return x86.silicon_board(cpu, clock, ours, memory, caches, buses=(L2Bus(), L3Bus()), **options)
