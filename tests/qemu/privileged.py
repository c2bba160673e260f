"""Random system events in M, S and U mode: traps, delegation, CSRs, Sv39 with A and D bits, PMP, software interrupts.

A block is set up in M-mode, then a run of events executes in one mode. Handlers fold cause, address and value of every
trap into a digest and skip the instruction; M-mode prints the digest per block. Everything that qemu decides otherwise
than the architecture demands (mstatus.FS, mtval of ebreak, identification registers) is kept out of the digests.

Registers that events leave alone: x4 state, x22 returns from S to M, x23 length of the instruction that may trap, x24
where a failed jump goes on, x25 where M-mode goes on, x26 a constant, x27 the digest, x28..x31 the handlers' own.
"""

from __future__ import annotations

import random

from .privileged_frame import DATA, HANDLERS, HEAD, MIX
from .scaffold import _END, _MASK, POOL, SCRATCH, _int, _words

TABLES = 0x8010_0000
PAGES = 0x8011_0000
ROOT, MID, LEAF = TABLES, TABLES + 0x1000, TABLES + 0x2000
TEST_VA = 4 << 30
N_LEAF, N_MID = 64, 16
MAGIC = 0x5EED
U_ALIAS = 0x4000_0000
V, R, W, X, U, G, A, D = (1 << n for n in range(8))
#: mstatus bits that are compared: all but FS, SD and the fixed XL fields.
STATUS = 0x7E_19AA


def _mix(reg: str, mask: int | None = None) -> list[str]:
    take = [f"mv x28, {reg}"] if mask is None else [f"li x28, {mask:#x}", f"and x28, x28, {reg}"]
    return [*take, *(line.strip() for line in MIX.splitlines())]


def _pte(address: int, flags: int) -> int:
    return address >> 12 << 10 | flags


def _tables(r: random.Random) -> tuple[list[int], list[int], list[int]]:
    """Root, middle and leaf tables. 2 GiB is mapped to itself for S, 1 GiB to the same place for U."""
    all_of = V | R | W | X | A | D
    root = [0] * 512
    root[1], root[2] = _pte(0x8000_0000, all_of | U), _pte(0x8000_0000, all_of)
    root[4] = _pte(MID, V)
    root[5] = _pte(0x8000_1000, all_of)  # misaligned
    root[6] = _pte(0x8000_0000, V | R | A | D)
    root[7] = _pte(MID, V | A)  # reserved bits in a pointer
    root[508] = _pte(0x8000_0000, all_of | G)
    mid = [0] * 512
    mid[0] = _pte(LEAF, V)
    for n in range(1, N_MID):
        flags = r.getrandbits(8) | (V if r.random() < 0.8 else 0)
        if r.random() < 0.7:
            flags |= R
        target = 0x8000_0000 if flags & (R | W | X) and r.random() < 0.7 else PAGES
        mid[n] = _pte(target, flags)
    leaf = [0] * 512
    for n in range(N_LEAF):
        flags = r.getrandbits(8) | (V if r.random() < 0.9 else 0)
        if r.random() < 0.6:
            flags |= R | r.choice((W, X, W | X))
        if r.random() < 0.3:
            flags |= A | D
        leaf[n] = _pte(PAGES + 0x1000 * (n % 4), flags)
        if r.random() < 0.06:
            leaf[n] |= 1 << r.choice((54, 55, 58, 60, 61, 62, 63))
    return root, mid, leaf


def _va(r: random.Random) -> int:
    kind = r.random()
    if kind < 0.6:
        base = TEST_VA + 0x1000 * r.randrange(N_LEAF)
    elif kind < 0.8:
        base = TEST_VA + 0x20_0000 * r.randrange(1, N_MID) + (PAGES & 0x1F_FFFF) + 0x1000 * r.randrange(4)
    elif kind < 0.95:
        base = r.choice((0, 1, 3, 5, 6, 7, 8, 508, 509)) << 30
        base = (base | PAGES & 0x3FFF_FFFF) | (_MASK << 39 & _MASK if base >> 38 else 0)
    else:  # bits 63..39 are no sign extension
        base = TEST_VA | 1 << r.choice((39, 45, 63))
    return base


def _access(r: random.Random, base: int) -> list[str]:
    """A load, store, atomic or jump; jumps go to the first half of a page, stores to the second."""
    kind = r.randrange(10)
    if kind < 4:
        op, size = r.choice((("lb", 1), ("lhu", 2), ("lw", 4), ("ld", 8)))
        return [f"li x10, {base + r.randrange(0, 4096, size):#x}", f"{op} x11, 0(x10)", *_mix("x11")]
    if kind < 7:
        op, size = r.choice((("sb", 1), ("sh", 2), ("sw", 4), ("sd", 8)))
        return [f"li x10, {base + r.randrange(2048, 4096, size):#x}", f"{op} x12, 0(x10)"]
    if kind < 8:
        # No AMOs: qemu 7.2 reports those that may not read as load faults (they are store faults; `selfcheck`).
        op, size = r.choice((("lr.w x11,", 4), ("lr.d x11,", 8)))
        return [f"li x10, {base + r.randrange(2048, 4096, size):#x}", f"{op} (x10)", *_mix("x11")]
    return ["la x24, 1f", f"li x10, {base + r.randrange(0, 2048, 2):#x}", "jr x10", "1:"]


_ILLEGAL = [
    0xFFFF_FFFF,
    0x0000_0000,
    0x0000_000B,
    0x0200_305B,
    0x8000_0033,
    0x4000_7033,
    0x0000_7003,
    0x0000_4023,
    0x0000_2063,
    0x3020_0173,
    0x0000_4073,
    0xFE00_0053,
    0x0000_505B,
    0x1000_30AF,
]


def _illegal(r: random.Random) -> list[str]:
    if r.random() < 0.2:
        return ["li x23, 2", f".hword {r.choice((0x0000, 0x8002, 0x4002, 0x2001, 0x9C41)):#x}", "li x23, 4"]
    word = r.choice(_ILLEGAL)
    return [f".word {word:#x}"] if word & 3 == 3 else ["li x23, 2", f".hword {word & 0xFFFF:#x}", "li x23, 4"]


_FORMS = [
    "csrrw {d}, {c}, {s}",
    "csrrs {d}, {c}, {s}",
    "csrrc {d}, {c}, {s}",
    "csrrwi {d}, {c}, {i}",
    "csrrsi {d}, {c}, {i}",
    "csrrci {d}, {c}, {i}",
]
#: qemu 7.2 keeps bit 0 of sepc and mepc, which is always zero.
_EVEN = _MASK ^ 1
#: CSR, mask of the values written, mask of the bits compared.
_U_CSRS = [("fflags", _MASK, 31), ("frm", 7, 7), ("fcsr", 255, 255)]
_S_CSRS = [
    ("sscratch", _MASK, _MASK),
    ("sepc", _EVEN, _MASK),
    ("scause", _MASK, _MASK),
    ("stval", _MASK, _MASK),
    ("sie", 0x222, 0x222),
    ("scounteren", 7, 7),
    ("sstatus", 0xC_0120, STATUS),
]
_M_CSRS = [
    ("mscratch", _MASK, _MASK),
    ("mepc", _EVEN, _MASK),
    ("mcause", _MASK, _MASK),
    ("mtval", _MASK, _MASK),
    ("mie", 0xAAA, 0xAAA),
    ("medeleg", 0xB1FF, 0xFFFF),
    ("mideleg", 0x222, 0x222),
    ("mcounteren", 7, 7),
    ("mstatus", 0x7C_01A0, STATUS),
    ("pmpaddr12", (1 << 54) - 1, _MASK),
    ("mcountinhibit", 5, 5),
]
_READ_ONLY = ["misa", "mhartid", "mideleg", "pmpcfg2"]


def _csr(r: random.Random, mode: str) -> list[str]:
    known = {"U": _U_CSRS, "S": _U_CSRS + _S_CSRS, "M": _U_CSRS + _S_CSRS + _M_CSRS}[mode]
    if r.random() < 0.2:  # above the mode, read-only, or none at all
        above = [c for c in _S_CSRS + _M_CSRS if c not in known]
        wrong = [
            "csrw cycle, x12",
            "csrwi mhartid, 1",
            "csrr x11, 0x5c0",
            "csrw 0x7ff, x12",
            "csrr x0, cycle",
            "csrr x0, instret",
            "csrr x0, 0x9ff",
        ]
        if above and r.random() < 0.6:
            return [f"csrrw x11, {r.choice(above)[0]}, x12"]
        return [r.choice(wrong)]
    if mode == "M" and r.random() < 0.15:
        return [f"csrr x11, {r.choice(_READ_ONLY)}", *_mix("x11")]
    name, writes, compared = r.choice(known)
    form = r.choice(_FORMS)
    immediate = (
        r.randrange(32) & writes if name not in ("sstatus", "mstatus", "medeleg", "mie", "sie", "mideleg") else 0
    )
    source = r.randrange(5, 16)
    masked = [f"li x14, {writes:#x}", f"and x14, x14, x{source}"]
    setup = [f"mv x14, x{source}"] if writes == _MASK else masked
    if name in ("sstatus", "mstatus") and form.startswith(("csrrw ", "csrrwi")):
        form = r.choice(_FORMS[1:3])
    if name in ("mie", "sie") and form.endswith("{i}"):
        form = _FORMS[1]
    line = form.format(d="x11", c=name, s="x14", i=immediate)
    return [*setup, "li x11, 0", line, *_mix("x11", compared)]


def _privileged_op(r: random.Random, mode: str) -> list[str]:
    kind = r.randrange(8)
    if kind == 0:
        return ["li x17, 0", "ecall"]
    if kind == 1:
        return ["ebreak"]
    if kind == 2 and mode != "M":
        return ["mret"]
    if kind == 3 and mode == "U":
        return ["sret"]
    if kind == 3 and mode == "S":
        return [
            "la x10, 1f",
            "csrw sepc, x10",
            "li x10, 0x100",
            "csrs sstatus, x10",
            "sret",
            "1:",
            "csrr x11, sstatus",
            *_mix("x11", STATUS & 0xC_0122),
        ]
    if kind == 3 and mode == "M":
        return [
            "la x10, 1f",
            "csrw mepc, x10",
            "li x10, 0x1800",
            "csrs mstatus, x10",
            "mret",
            "1:",
            "csrr x11, mstatus",
            *_mix("x11", STATUS),
        ]
    if kind == 4:
        return [r.choice(("sfence.vma", "sfence.vma x10", "sfence.vma x10, x11"))]
    if kind == 5 and mode == "S":  # a supervisor software interrupt, taken at once when enabled
        return ["csrsi sip, 2", "nop", "csrr x11, sip", *_mix("x11", 2), "csrci sip, 2"]
    if kind == 6:
        op = r.choice(("lr.w x11, (x10)", "lr.d x11, (x10)"))
        base = {"M": 0, "S": 0, "U": -U_ALIAS}[mode]
        return [f"li x10, {PAGES + 0x800 + base + r.choice((1, 2, 3, 5, 6, 7)):#x}", op]
    if kind == 7:
        return [
            r.choice(
                (
                    "fadd.d f1, f2, f3",
                    "fld f1, 0(x4)" if mode == "M" else "fmv.x.d x11, f1",
                    "fcvt.s.w f3, x11",
                    "csrr x11, fcsr",
                )
            )
        ]
    return ["csrr x11, satp", *_mix("x11", 0xF << 60)] if mode != "U" else ["csrr x11, satp"]


def _event(r: random.Random, mode: str, translated: bool, mprv: bool) -> list[str]:
    kind = r.random()
    if kind < 0.35:
        if translated:
            return _access(r, _va(r))
        if mprv:
            lines = _access(r, _va(r))
            return lines if "jr x10" not in lines else _csr(r, mode)
        base = PAGES + 0x1000 * r.randrange(4)
        return _access(r, base)
    if kind < 0.50:
        return _illegal(r)
    if kind < 0.75:
        return _csr(r, mode)
    return _privileged_op(r, mode)


def _pmp(r: random.Random) -> list[str]:
    """Entries 0 to 3 over the test pages, everything else open through entry 7. None is locked."""
    cfg = 0x1F << 56
    lines = []
    low = PAGES + r.randrange(0, 0x2000, 4)
    for n in range(4):
        # Top-of-range in entry 0 would begin at address 0 and take the code in.
        kind = r.choice((0, 1, 2, 3) if n else (0, 2, 3))
        flags = r.choice((0, R, R | W, X, R | X, R | W | X)) >> 1
        if kind == 3:
            span = r.randrange(3, 13)
            address = (PAGES + r.randrange(0, 0x4000)) >> span << span
            value = address >> 2 | (1 << span - 3) - 1
        else:
            low = min(low + r.randrange(0, 0x1000, 4), PAGES + 0x4000)
            value = low >> 2
        cfg |= (kind << 3 | flags) << 8 * n
        lines += [f"li x10, {value:#x}", f"csrw pmpaddr{n}, x10"]
    return [*lines, f"li x10, {cfg:#x}", "csrw pmpcfg0, x10"]


def _block(r: random.Random, index: int, length: int) -> list[str]:
    mode = r.choice("MSSUU")
    use_pmp = mode != "M" and r.random() < 0.25
    translated = mode != "M" and not use_pmp
    mprv = mode == "M" and r.random() < 0.5
    status = r.choice((0, 0x4_0000)) | r.choice((0, 0x8_0000)) | r.choice((0, 0x6000, 0x6000)) | 0x80
    status |= r.choice((0, 0x10_0000)) | r.choice((0, 0x20_0000)) | r.choice((0, 2))
    if mprv:
        status |= 1 << 17 | r.choice((0, 0x800))
    deleg, interrupts = (
        (0, 0) if mode == "M" or r.random() < 0.3 else (r.getrandbits(16) & 0xB1FF, r.choice((2, 0x222)))
    )
    if not deleg:  # the handler in S returns with sret
        status |= r.choice((0, 0x40_0000))
    lines = [f"la x25, end_{index}", "csrw medeleg, zero", "jal x1, reset", f"li x10, {deleg:#x}", "csrw medeleg, x10"]
    lines += [f"li x10, {interrupts:#x}", "csrw mideleg, x10", "csrw sie, x10"]
    lines += [f"csrwi mcounteren, {r.randrange(8)}", f"csrwi scounteren, {r.randrange(8)}"]
    satp = 8 << 60 | ROOT >> 12
    lines += [f"li x10, {satp if translated or mprv else 0:#x}", "csrw satp, x10", "sfence.vma"]
    lines += _pmp(r) if use_pmp else []
    level = {"M": 0x1800, "S": 0x800, "U": 0}[mode]
    if mode == "M":
        lines += [f"li x10, {status:#x}", "csrs mstatus, x10"]
    else:
        offset = U_ALIAS if mode == "U" and translated else 0
        lines += [f"li x10, {status | level:#x}", "csrs mstatus, x10", "la x10, 1f"]
        lines += [f"li x11, {offset:#x}", "sub x10, x10, x11", "csrw mepc, x10", "mret", "1:"]
    for _ in range(length):
        lines += _event(r, mode, translated, mprv)
    if mode != "M":
        lines += [f"li x17, {MAGIC}", "1: ecall", "j 1b"]
    lines += [f"end_{index}:", "jal x1, close"]
    return lines


def assembly(seed: int, blocks: int = 60, length: int = 40, turns: int = 42) -> tuple[str, int]:
    """The program and how many events it executes."""
    r = random.Random(f"privileged {seed}")
    root, mid, leaf = _tables(r)
    body = [f" {line}" for n in range(blocks) for line in _block(r, n, length)]
    pool = "pool_int:\n" + _words(_int(r) for _ in range(POOL))
    text = "\n".join(
        [
            HEAD.format(turns=turns, tables=TABLES, pages=PAGES),
            *body,
            " .option rvc\n",
            _END.replace("la x5, scratch\n li x6, 512", f"li x5, {PAGES:#x}\n li x6, 2048", 1),
            " .option norvc\n",
            HANDLERS.format(magic=MAGIC, status=STATUS, mix=MIX, mid=MID, leaf=LEAF, n_mid=N_MID, n_leaf=N_LEAF),
            DATA.format(
                root=_words(root),
                mid=_words(mid),
                leaf=_words(leaf),
                pool=pool,
                results=8 * turns * (blocks + 1) + 8,
                scratch=SCRATCH,
            ),
        ]
    )
    return text, blocks * length * turns
