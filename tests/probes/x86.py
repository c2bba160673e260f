"""The probes of the x86 presets: tiny bare-metal programs, each of which measures what a row of uarch.csv is about.

A probe's name in `PROBES` is the row's parameter, with a word behind it where a row holds several numbers
(``rep_movs_bytes_per_cycle movsb``). What has no row begins with ``-``: it is shown, and compared with nothing.
Identity-mapped pages of 2 MiB, as the boot leaves them; `small_pages` maps a region by 4 KiB instead.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from breakeven.machine.presets import describe_machine
from tests.x86_asm import BEGIN, END, EXIT, measure

KIBI, MEBI = 1 << 10, 1 << 20
SOURCE, DESTINATION = 0x100_0000, 0x800_0000
_labels = itertools.count()


class Machine:
    """A described machine that runs snippets. `ghz`: cycles a nanosecond; `caches`: bytes of its largest cache."""

    def __init__(self, name: str, settings: Sequence[str] = ()) -> None:
        self.name, self.settings = name, list(settings)
        self.description: dict[str, Any] = describe_machine(name, settings)
        params = {each["path"]: each["params"] for each in self.description["objects"]}
        self.ghz = 1000 / params["system.clk_domain"]["clock"][0]
        self.caches = max(
            params[path]["size"] for path in params if re.fullmatch(r"system\.(l[234]|cpu\.dcache)", path)
        )
        self._last = next((level for level in ("l4", "l3") if f"system.{level}" in params), "")
        self._last_assoc = params[f"system.{self._last}"]["assoc"] if self._last else 0
        self._empty: dict[tuple[str, int, str], float] = {}

    def with_few_sets(self) -> Machine:
        """The machine with 1024 sets in its last level, if it has a third."""
        if not self._last:
            return self
        few = [f"{self._last}.slices=1", f"{self._last}.size={self._last_assoc * 64}KiB"]
        return Machine(self.name, [*self.settings, *few])

    def run(self, body: str, setup: str, turns: int, stat: str) -> float:
        """`stat` of the last of `turns` runs of `body`, which starts without registers; `setup` runs once before them.

        CPUID serialises: fences are younger than some of the presets.
        """
        source = f"mov r15d, {turns}\n{setup}\n9: {BEGIN}\ncpuid\n{body}\ncpuid\n{END}\ndec r15d\njnz 9b\n{EXIT}"
        # Labels are numbered by the session: the same program has the same text whoever asks.
        numbers = {label: str(i) for i, label in enumerate(dict.fromkeys(re.findall(r"\.L\d+\b", source)))}
        source = re.sub(r"\.L\d+\b", lambda match: f".L{numbers[match[0]]}", source)
        return measure(self.description, source, stat)[-1]

    def cycles(self, body: str, setup: str = "", turns: int = 2) -> float:
        """Cycles of the last of `turns` runs, less those of an empty body; the runs before warm the caches."""
        key = (setup, turns, "system.cpu.numCycles")
        if key not in self._empty:
            self._empty[key] = self.run("", *key)
        return self.run(body, *key) - self._empty[key]


Model = Callable[[Machine], float]


class Probe(NamedTuple):
    """A measurement in `unit`, and what it does in a few words."""

    unit: str
    what: str
    model: Model


def loop(body: str, times: int, counter: str = "ebp") -> str:
    label = f".L{next(_labels)}"
    return f"mov {counter}, {times}\n{label}:\n{body}\ndec {counter}\njnz {label}\n"


def each(body: str, start: str = "", unroll: int = 20, setup: str = "", count: int = 1) -> Model:
    """Cycles that one more `body` (of `count` instructions) in a row costs; `start` runs before the row."""

    def model(machine: Machine) -> float:
        few, many = (machine.cycles(start + loop(body * n, 100), setup) for n in (unroll, 2 * unroll))
        return (many - few) / (100 * unroll * count)

    return model


def per_cycle(count: int, body: str, start: str = "", setup: str = "", each_counts: int = 1) -> Model:
    """How many of the `count` instructions of `body` a cycle takes; each counts for `each_counts`."""
    model = each(body, start, setup=setup, count=count)
    return lambda machine: each_counts / model(machine)


def less(one: Model, other: Model) -> Model:
    return lambda machine: one(machine) - other(machine)


def ratio(one: Model, other: Model) -> Model:
    return lambda machine: one(machine) / other(machine)


def carry_loop(words: int) -> Model:
    """Cycles of a turn that adds numbers of 64-bit words, `words` a turn; the carry lives across the loop's dec.

    Like GNU MP's such loops it loads one number's words a turn ahead, so that adc is the first to meet dec's flags.
    """
    at = [(f"r{8 + i}", 8 * i) for i in range(words)]
    load = "".join(f"mov {reg}, [rsi+{offset}]\n" for reg, offset in at)
    add = "".join(f"adc {reg}, [rbx+{offset}]\n" for reg, offset in at)
    store = "".join(f"mov [rdi+{offset}], {reg}\n" for reg, offset in at)
    on = "".join(f"lea {reg}, [{reg}+{8 * words}]\n" for reg in ("rsi", "rbx", "rdi"))
    turn = add + store + on + load
    # No two streams agree in their low twelve bits.
    apart = f"mov rsi, {SOURCE}\nmov rbx, {SOURCE + 0x10400}\nmov rdi, {DESTINATION + 0x800}\n"

    def model(machine: Machine) -> float:
        few, many = (machine.cycles(apart + loop(turn, turns)) for turns in (32, 64))
        return (many - few) / 32

    return model


AT = f"mov rbx, {SOURCE}\n mov rsi, {SOURCE}\n mov rdi, {DESTINATION}\n"
ADDS = "add rax, 1\nadd rcx, 1\nadd rdx, 1\nadd r8, 1\nadd r9, 1\nadd r10, 1\nadd r11, 1\nadd r12, 1\n"
LOADS = "".join(f"mov r{8 + i % 4}, [rsi+{8 * i}]\n" for i in range(6))
STORES = "mov [rdi], rax\nmov [rdi+8], rcx\n"
VECTOR_LOADS = "".join(f"vmovups ymm{i}, [rsi+{32 * i}]\n" for i in range(4))
VECTOR_STORES = "vmovups [rdi], ymm0\nvmovups [rdi+32], ymm1\n"
SSE_LOADS = "".join(f"movaps xmm{i}, [rsi+{16 * i}]\n" for i in range(4))
SSE_STORES = "movaps [rdi], xmm0\nmovaps [rdi+16], xmm1\n"
AVX_ON = """
    mov rax, cr4
    or eax, 0x40600
    mov cr4, rax
    xor ecx, ecx
    xor edx, edx
    mov eax, 7
    xsetbv
"""


# Memory


def pointers(count: int, apart: int) -> str:
    """Setup: a cycle of `count` (a power of two) pointers from SOURCE on, `apart` bytes from each other.

    A full-period linear congruence orders them: no prefetcher follows.
    """
    return f"""
        mov ecx, {count}
        xor eax, eax
        1: imul edx, eax, 1664525
        add edx, 1013904223
        and edx, {count - 1}
        imul r8, rax, {apart}
        imul r9, rdx, {apart}
        lea r9, [r9 + {SOURCE}]
        mov [r8 + {SOURCE}], r9
        mov eax, edx
        dec ecx
        jnz 1b
    """


def chase(count: int, apart: int, before: str = "", after: str = "", cold: bool = False, most: int = 8192) -> Model:
    """Load-to-use cycles around a cycle of pointers. `before`, `after`: setup around theirs; `cold`: one round only."""

    def model(machine: Machine) -> float:
        steps = count if cold else min(max(2 * count, 1024), most)
        # A turn goes on where the one before stopped.
        setup = f"{before}{pointers(count, apart)}{after}\nmov r14, {SOURCE}\n"
        return machine.cycles(loop("mov r14, [r14]\n" * 16, steps // 16), setup, 1 if cold else 2) / steps

    return model


def latency(size: int) -> Model:
    """Load-to-use cycles of lines over `size` bytes."""
    return chase(size // 64, 64)


def over_lines(size: int, start: int, body: str) -> str:
    """`body` for each line (rsi) of `size` bytes from `start` on."""
    return f"mov rsi, {start}\n" + loop(f"{body}\nadd rsi, 64", size // 64)


def flushed(size: int, start: int = SOURCE, apart: int = 64) -> str:
    """Setup: no cache has the lines, `apart` bytes from each other, of `size` bytes."""
    return f"mov rsi, {start}\n" + loop(f"clflush [rsi]\nadd rsi, {apart}", size // apart)


def in_ns(model: Model) -> Model:
    return lambda machine: model(machine) / machine.ghz


#: lines of different sets and rows, more than a DRAM page apart
COLD_LINES, COLD_APART = 2048, 8256


def small_pages(size: int) -> str:
    """Setup: `size` bytes from SOURCE on are mapped by pages of 4 KiB; their tables are at 4 MiB, and in no cache."""
    tables, directory = 4 * MEBI, 0x72000
    return f"""
        mov ecx, {size // (4 * KIBI)}
        mov eax, {SOURCE + 3}
        mov edi, {tables}
        1: mov [rdi], rax
        add rax, 4096
        add rdi, 8
        dec ecx
        jnz 1b
        mov ecx, {size // (2 * MEBI)}
        mov eax, {tables + 3}
        mov edi, {directory + 8 * (SOURCE >> 21)}
        2: mov [rdi], rax
        add rax, 4096
        add rdi, 8
        dec ecx
        jnz 2b
        mov rax, cr3
        mov cr3, rax
        {flushed(size // 512, tables)}
    """


def pages(count: int) -> Model:
    """Load-to-use cycles of lines of `count` different pages of 4 KiB."""
    return chase(count, 4096 + 64, small_pages(max(2 * MEBI, 2 * count * 4 * KIBI)))


def walk(count: int) -> Model:
    """Cycles that pages of 4 KiB add to those of 2 MiB where each line lies in another of `count` pages."""
    return less(pages(count), chase(count, 4096 + 64))


def bandwidth(
    size: int, body: str, bytes_each: float, setup: Callable[[Machine], str] = lambda _: "", turns: int = 1
) -> Model:
    """GB/s of `body`, which handles the line at rsi (its partner at rsi + rbx), over `size` bytes.

    `bytes_each`: bytes that count for a byte of `size`: 2 where those read and those written do.
    """

    def model(machine: Machine) -> float:
        program = f"mov rbx, {DESTINATION - SOURCE}\n" + over_lines(size, SOURCE, body)
        return bytes_each * size / machine.cycles(program, setup(machine), turns) * machine.ghz

    return model


def stream(body: str, bytes_each: float) -> Model:
    """GB/s from and to memory, with caches full of other, written lines: as a long stream leaves them.

    The third level is cut to 1024 sets, so that they are soon full.
    """
    read = bandwidth(MEBI, body, bytes_each, lambda machine: over_lines(machine.caches, 0x1000_0000, "mov [rsi], rax"))
    return lambda machine: read(machine.with_few_sets())


READ_LINE = "".join(f"mov rax, [rsi+{8 * i}]\n" for i in range(8))
WRITE_LINE = "".join(f"mov [rsi+{8 * i}], rax\n" for i in range(8))
COPY_LINE = "".join(f"mov rax, [rsi+{8 * i}]\nmov [rsi+rbx+{8 * i}], rax\n" for i in range(8))
AVX_LINE = "".join(f"vmovups ymm0, [rsi+{32 * i}]\nvmovups [rsi+rbx+{32 * i}], ymm0\n" for i in range(2))


def copied(size: int) -> Model:
    """GB/s, read and written, of a warm copy by 32-byte vectors; source and destination together are `size` bytes."""
    return bandwidth(size // 2, AVX_LINE, 2, lambda _: AVX_ON, 3)


# Misaligned accesses


def pointer_at(offset: int) -> Model:
    """Load-to-use cycles of a pointer that lies `offset` bytes behind a page's end."""
    at = SOURCE + 64 * KIBI + offset
    return each("mov rbx, [rbx]\n", f"mov ebx, {at}\nmov [rbx], rbx\n")


def accesses_at(instruction: str, offset: int) -> Model:
    """Cycles of each of many independent accesses, `offset` bytes behind a page's end."""
    at = SOURCE + 64 * KIBI + offset
    return each(instruction, f"mov esi, {at}\nmov edi, {at}\n")


LOAD, STORE = "mov rax, [rsi]\n", "mov [rdi], rax\n"
VECTOR_LOAD, VECTOR_STORE = "movdqu xmm0, [rsi]\n", "movdqu [rdi], xmm0\n"


def apart_at(instruction: str) -> Model:
    """Cycles of 16-byte accesses one after another, all 4 bytes off: every fourth crosses a line."""
    body = "".join(instruction.replace("]", f"+{16 * i + 4}]") for i in range(16))
    return each(body, AT, unroll=4, count=16)


def strided_stores(size: int) -> Model:
    """Cycles of a store of a byte to each line of `size` bytes."""
    lines = size // 64
    program = f"mov edi, {DESTINATION}\n" + loop(
        "".join(f"mov [rdi+{64 * i}], al\n" for i in range(8)) + "add rdi, 512", lines // 8
    )
    return lambda machine: machine.cycles(program, turns=3) / lines


# Branches, strings


def mispredict(machine: Machine) -> float:
    """Cycles of a wrongly predicted branch over those of the same branch predicted rightly.

    The carry out of a shift register decides the branch; with zero in it there never is one. The register goes on from
    run to run: a long history would learn carries that come again.
    """
    times = 3000
    body = loop("add r8, r8\njnc 1f\nxor r8, r9\n1:\n", times)
    random, never = (f"mov r8, {seed}\nmov r9, 0x800000000000000d\n" for seed in (0x9E3779B97F4A7C15, 0))
    more = machine.cycles(body, random) - machine.cycles(body, never)
    # The in-order core does not count them: half of the branches, whatever its predictor.
    return more / (machine.run(body, random, 2, "system.cpu.branchPred.mispredicted_0::DirectCond") or times / 2)


def string(op: str, count: int, source: int = 0, destination: int = 0) -> str:
    """A string instruction; the ends are half a page apart within their pages."""
    to = DESTINATION + 2048 + destination
    return f"mov rsi, {SOURCE + source}\n mov rdi, {to}\n mov ecx, {count}\n cld\n rep {op}\n"


def bytes_per_cycle(op: str, element: int = 1, source: int = 0, destination: int = 0, size: int = 8 * KIBI) -> Model:
    """Of a string instruction in the first level, start-up left out."""

    def model(machine: Machine) -> float:
        programs = (string(op, n // element, source, destination) for n in (size // 2, size))
        few, many = (machine.cycles(program, turns=4) for program in programs)
        return (size - size // 2) / (many - few)

    return model


def start_up(op: str, count: int, turns: int = 2) -> Model:
    """Cycles of a string instruction of `count` elements, its bytes left in: from one to the next of a chain."""
    return lambda machine: machine.cycles(loop(string(op, count), 50), turns=turns) / 50


def in_elements(op: str, count: int) -> Model:
    """Cycles that `count` more elements of a string instruction take."""
    return less(start_up(op, 2 * count), start_up(op, count))


FORWARD = "mov [rsi], rax\nmov rax, [rsi]\n"
FORWARD_TWO = "mov [rsi], eax\nmov [rsi+4], eax\nmov rax, [rsi]\n"
ALIAS = "mov [rsi], rax\nmov rbx, [rbx+4096]\n"

PROBES = {
    "lat_int_add": Probe("cycles", "add of registers, a chain", each("add rax, rbx\n")),
    "tput_int_add": Probe("per cycle", "independent adds", per_cycle(8, ADDS)),
    "lat_adc": Probe("cycles", "adc of registers, a chain", each("adc rax, rbx\n")),
    "tput_adc": Probe("per cycle", "adc to different registers", per_cycle(8, ADDS.replace("add", "adc"))),
    "lat_adc_zero": Probe("cycles", "adc of 0 to a register, a chain", each("adc rax, 0\n")),
    "lat_inc": Probe("cycles", "inc, a chain", each("inc rax\n")),
    "lat_adcx_adox": Probe("cycles", "adcx and adox, two chains", each("adcx rax, rbx\nadox rcx, rbx\n")),
    "partial_flag_stall": Probe(
        "cycles", "dec between two adc of a chain", less(each("adc rax, rbx\ndec rcx\n"), each("adc rax, rbx\n"))
    ),
    "adc_dec_loop two": Probe(
        "cycles", "an iteration of two words: adc from memory, stores, lea, loads for the next, dec, jnz", carry_loop(2)
    ),
    "adc_dec_loop four": Probe("cycles", "the same with four words per iteration", carry_loop(4)),
    "lat_imul": Probe("cycles", "imul of registers, a chain", each("imul rax, rbx\n")),
    "lat_mul_wide low": Probe("cycles", "mul, a chain through rax", each("mul rbx\n")),
    "lat_mul_wide high": Probe("cycles", "mul, a chain through rdx", less(each("mul rbx\nmov rax, rdx\n"), each(""))),
    "lat_shift": Probe("cycles", "shl by one, a chain", each("shl rax, 1\n")),
    "lat_bswap": Probe("cycles", "bswap of 32 bits, a chain", each("bswap eax\n")),
    "lat_lea": Probe("cycles", "lea of a base and a displacement, a chain", each("lea rax, [rax+8]\n")),
    "lat_lea three": Probe("cycles", "lea of three components, a chain", each("lea rax, [rax+rbx+8]\n")),
    "lat_simd_add": Probe("cycles", "paddd of xmm, a chain", each("paddd xmm0, xmm1\n")),
    "lat_simd_add mmx": Probe("cycles", "paddd of mm, a chain", each("paddd mm0, mm1\n")),
    "lat_psadbw": Probe("cycles", "psadbw of xmm, a chain", each("psadbw xmm0, xmm1\n")),
    "lat_psadbw mmx": Probe("cycles", "psadbw of mm, a chain", each("psadbw mm0, mm1\n")),
    "tput_load": Probe("per cycle", "independent loads of 8 bytes", per_cycle(6, LOADS, AT)),
    "tput_load vector": Probe("per cycle", "independent loads of 32 bytes", per_cycle(4, VECTOR_LOADS, AT, AVX_ON)),
    "tput_store": Probe("per cycle", "stores of 8 bytes to one line", per_cycle(2, STORES, AT)),
    "tput_store vector": Probe("per cycle", "stores of 32 bytes to one line", per_cycle(2, VECTOR_STORES, AT, AVX_ON)),
    "store_commit": Probe(
        "cycles", "stores of a byte to one line", each("mov [rdi], al\nmov [rdi+1], al\n", AT, 10, "", 2)
    ),
    "store_commit lines": Probe(
        "cycles", "stores of a byte, one a line, within the first level", strided_stores(8 * KIBI)
    ),
    "store_commit l2": Probe(
        "cycles", "stores of a byte, one a line, within the second level", strided_stores(128 * KIBI)
    ),
    "l1d_load_bytes_per_cycle": Probe(
        "B/cycle", "independent loads of 32 bytes", per_cycle(4, VECTOR_LOADS, AT, AVX_ON, 32)
    ),
    "l1d_load_bytes_per_cycle sse": Probe(
        "B/cycle", "independent loads of 16 bytes", per_cycle(4, SSE_LOADS, AT, each_counts=16)
    ),
    "l1d_load_bytes_per_cycle word": Probe(
        "B/cycle", "independent loads of 8 bytes", per_cycle(6, LOADS, AT, each_counts=8)
    ),
    "l1d_store_bytes_per_cycle": Probe(
        "B/cycle", "stores of 32 bytes to one line", per_cycle(2, VECTOR_STORES, AT, AVX_ON, 32)
    ),
    "l1d_store_bytes_per_cycle sse": Probe(
        "B/cycle", "stores of 16 bytes to one line", per_cycle(2, SSE_STORES, AT, each_counts=16)
    ),
    "l1d_store_bytes_per_cycle word": Probe(
        "B/cycle", "stores of 8 bytes to one line", per_cycle(2, STORES, AT, each_counts=8)
    ),
    "tput_movdqu_load_off4": Probe("cycles", "16-byte loads in a row, 4 bytes off", apart_at(VECTOR_LOAD)),
    "tput_movdqu_store_off4": Probe("cycles", "16-byte stores in a row, 4 bytes off", apart_at(VECTOR_STORE)),
    "lat_load_l1": Probe("cycles", "a pointer to itself", pointer_at(8)),
    "l1d_latency": Probe("cycles", "pointers over 8 KiB", latency(8 * KIBI)),
    "l2_latency": Probe("cycles", "pointers over 128 KiB", latency(128 * KIBI)),
    "l3_latency": Probe("cycles", "pointers over 1 MiB", latency(1 * MEBI)),
    "l3_latency 4M": Probe("cycles", "pointers over 4 MiB", latency(4 * MEBI)),
    "dram_latency_ns": Probe(
        "ns",
        "pointers in lines that were flushed",
        in_ns(
            chase(
                COLD_LINES,
                COLD_APART,
                after=flushed(COLD_LINES * COLD_APART, apart=COLD_APART),
                cold=True,
            )
        ),
    ),
    "dram_latency_ns evicted": Probe(
        "ns",
        "pointers in lines that others have evicted",
        in_ns(chase(COLD_LINES, COLD_APART, after=over_lines(4 * MEBI, DESTINATION, "mov rax, [rsi]"), cold=True)),
    ),
    "dram_bw_single_core_gbps load": Probe(
        "GB/s", "loads of 8 bytes over 1 MiB that no cache has", bandwidth(MEBI, READ_LINE, 1)
    ),
    "dram_bw_single_core_gbps copy": Probe(
        "GB/s",
        "copy of 1 MiB by 8 bytes, the caches full of written lines; read and written",
        stream(COPY_LINE, 2),
    ),
    "- plain stores": Probe(
        "GB/s",
        "stores of 8 bytes to 1 MiB that no cache has, the caches full of written lines",
        stream(WRITE_LINE, 1),
    ),
    "- non-temporal stores": Probe(
        "GB/s",
        "the same with movnti",
        stream(WRITE_LINE.replace("mov ", "movnti "), 1),
    ),
    "- non-temporal stores mmx": Probe(
        "GB/s", "the same with movntq", stream(WRITE_LINE.replace("mov ", "movntq ").replace("rax", "mm0"), 1)
    ),
    "l1_copy_gbps": Probe("GB/s", "copy by 32-byte vectors over 16 KiB; read and written", copied(16 * KIBI)),
    "l2_copy_gbps": Probe("GB/s", "copy by 32-byte vectors over 128 KiB; read and written", copied(128 * KIBI)),
    "l3_copy_gbps": Probe("GB/s", "copy by 32-byte vectors over 1 MiB; read and written", copied(MEBI)),
    "stlb_hit_penalty": Probe("cycles", "128 pages over one line", less(pages(128), latency(8 * KIBI))),
    "dtlb_miss_cycles": Probe("cycles", "32 pages over one line", less(pages(32), latency(8 * KIBI))),
    "dtlb_miss_cycles 128": Probe("cycles", "128 pages over one line", less(pages(128), latency(8 * KIBI))),
    "page_walk_cycles": Probe("cycles", "2048 pages, less the same lines in pages of 2 MiB", walk(2048)),
    "page_walk_cycles far": Probe("cycles", "32768 pages, the same", walk(32 * KIBI)),
    "unaligned_within_line": Probe(
        "cycles", "a pointer 3 bytes off, over an aligned one", less(pointer_at(3), pointer_at(8))
    ),
    "split_load_cost": Probe("cycles", "a pointer across lines, over one within", less(pointer_at(60), pointer_at(8))),
    "split_load_cost slots": Probe(
        "ratio", "loads across lines over ones within", ratio(accesses_at(LOAD, 60), accesses_at(LOAD, 8))
    ),
    "split_store_cost": Probe("cycles", "stores across lines", accesses_at(STORE, 60)),
    "split_store_cost slots": Probe(
        "ratio", "stores across lines over ones within", ratio(accesses_at(STORE, 60), accesses_at(STORE, 8))
    ),
    "page_cross_load": Probe("cycles", "a pointer across pages, over one within", less(pointer_at(-4), pointer_at(8))),
    "page_cross_store": Probe(
        "cycles", "stores across pages, over ones within", less(accesses_at(STORE, -4), accesses_at(STORE, 8))
    ),
    "stlf_latency": Probe("cycles", "store and load of the same 8 bytes, a chain", each(FORWARD, AT)),
    "stlf_fail_penalty": Probe(
        "cycles", "8 bytes from two stores, over those from one", less(each(FORWARD_TWO, AT), each(FORWARD, AT))
    ),
    "stlf_split_store": Probe(
        "cycles", "store and load of the same 8 bytes across lines, a chain", each(FORWARD, AT + "add rsi, 60\n")
    ),
    "alias_4k": Probe(
        "cycles",
        "pointers, each behind a store to the same address 4 KiB away, over those without one",
        less(
            each(ALIAS, AT + "sub rbx, 4096\nmov [rbx+4096], rbx\nsub rsi, 8192\n"),
            each("mov rbx, [rbx+4096]\n", AT + "sub rbx, 4096\nmov [rbx+4096], rbx\n"),
        ),
    ),
    "branch_mispredict": Probe("cycles", "branches on a shift register, over ones never taken", mispredict),
    "rep_movs_startup": Probe("cycles", "rep movsb of 64 bytes after another, predicted", start_up("movsb", 64, 4)),
    "rep_movs_startup 128": Probe("cycles", "rep movsb of 128 bytes after another", start_up("movsb", 128)),
    "rep_movs_startup 256": Probe("cycles", "rep movsb of 256 bytes after another", start_up("movsb", 256)),
    "rep_movs_startup movsq": Probe("cycles", "rep movsq of 64 bytes after another", start_up("movsq", 8)),
    "rep_movs_startup alone": Probe(
        "cycles",
        "rep movsd of 16 elements, their share left out",
        less(start_up("movsd", 16), in_elements("movsd", 16)),
    ),
    "rep_movs_bytes_per_cycle movsb": Probe("B/cycle", "rep movsb of 4 and 8 KiB", bytes_per_cycle("movsb")),
    "rep_movs_bytes_per_cycle movsd": Probe("B/cycle", "rep movsd of 4 and 8 KiB", bytes_per_cycle("movsd", 4)),
    "rep_movs_bytes_per_cycle movsq": Probe("B/cycle", "rep movsq of 4 and 8 KiB", bytes_per_cycle("movsq", 8)),
    "rep_movs_bytes_per_cycle both": Probe(
        "B/cycle", "rep movsb of 4 and 8 KiB, both ends 3 bytes off", bytes_per_cycle("movsb", source=3, destination=3)
    ),
    "rep_movs_bytes_per_cycle one": Probe(
        "B/cycle", "rep movsb of 4 and 8 KiB, the source 3 bytes off", bytes_per_cycle("movsb", source=3)
    ),
    "rep_movs_slow_bytes_per_cycle": Probe(
        "B/cycle", "rep movsd of 4 and 8 KiB, the source 4 bytes off", bytes_per_cycle("movsd", 4, source=4)
    ),
    "rep_movs_align_sensitivity both": Probe(
        "ratio",
        "rep movsb, both ends 3 bytes off: cycles over those of aligned ones",
        ratio(bytes_per_cycle("movsb"), bytes_per_cycle("movsb", source=3, destination=3)),
    ),
    "rep_movs_align_sensitivity one": Probe(
        "ratio",
        "rep movsb, the source 3 bytes off: cycles over those of aligned ones",
        ratio(bytes_per_cycle("movsb"), bytes_per_cycle("movsb", source=3)),
    ),
    "- rep movsb at equal page offsets": Probe(
        "B/cycle",
        "rep movsb of 4 and 8 KiB, the ends multiples of 4 KiB apart",
        bytes_per_cycle("movsb", destination=-2048),
    ),
    "rep_stos_bytes_per_cycle stosd": Probe("B/cycle", "rep stosd of 4 and 8 KiB", bytes_per_cycle("stosd", 4)),
    "rep_stos_bytes_per_cycle": Probe("B/cycle", "rep stosb of 4 and 8 KiB", bytes_per_cycle("stosb")),
}
