"""Random blocks of RVV 1.0: configuration, memory, integer, fixed point, floating point, masks, permutations.

A block begins with a random ``vtype`` and ``vl``; registers are drawn so that groups are aligned and do not overlap
where the specification forbids it. What is drawn beyond that and turns out illegal is skipped by the trap handler on
both machines, so legality is compared as well. ``vl``, ``vtype``, ``vcsr`` and all vector registers go into the digest.
"""

from __future__ import annotations

import random

from .integer import compose, reg
from .scaffold import Program

_SEW = [8, 16, 32, 64]
_LMUL = ["mf8", "mf4", "mf2", "m1", "m2", "m4", "m8"]
_EMUL = {"mf8": 1 / 8, "mf4": 1 / 4, "mf2": 1 / 2, "m1": 1, "m2": 2, "m4": 4, "m8": 8}

_VV_VX_VI = ["vadd", "vand", "vor", "vxor", "vsll", "vsrl", "vsra", "vsaddu", "vsadd", "vssrl", "vssra"]
_VV_VX = ["vsub", "vminu", "vmin", "vmaxu", "vmax", "vssubu", "vssub", "vsmul", "vaaddu", "vaadd", "vasubu", "vasub"]
_VV_VX += ["vmul", "vmulh", "vmulhu", "vmulhsu", "vdivu", "vdiv", "vremu", "vrem"]
_MULTIPLY_ADD = ["vmacc", "vnmsac", "vmadd", "vnmsub"]
_UNSIGNED_IMMEDIATE = {"vsll", "vsrl", "vsra", "vssrl", "vssra"}
_COMPARE = {"vmseq": "vxi", "vmsne": "vxi", "vmsltu": "vx", "vmslt": "vx", "vmsleu": "vxi", "vmsle": "vxi"}
_COMPARE |= {"vmsgtu": "xi", "vmsgt": "xi"}
_WIDENING = ["vwaddu", "vwadd", "vwsubu", "vwsub", "vwmul", "vwmulu", "vwmulsu"]
_WIDENING_ADD = ["vwmaccu", "vwmacc", "vwmaccsu"]
_REDUCE = ["sum", "and", "or", "xor", "minu", "min", "maxu", "max"]
_MASK_LOGIC = ["vmand", "vmnand", "vmandn", "vmxor", "vmor", "vmnor", "vmorn", "vmxnor"]
_FLOAT = ["vfadd", "vfsub", "vfmul", "vfdiv", "vfmin", "vfmax", "vfsgnj", "vfsgnjn", "vfsgnjx"]
_FUSED = ["vfmacc", "vfnmacc", "vfmsac", "vfnmsac", "vfmadd", "vfnmadd", "vfmsub", "vfnmsub"]


class _State:
    """What the assembler-side registers of a block may be: groups of the block's LMUL."""

    def __init__(self, r: random.Random, widths: list[int], *, settled: bool = False) -> None:
        self.r = r
        self.sew = r.choice(widths)
        # Newer qemus take choices that the specification leaves open: wider elements of a fraction of a register are
        # legal, v0 as mask and as data at once is not. ``settled`` draws neither.
        self.settled = settled
        self.lmul = r.choice([x for x in _LMUL if not settled or 64 * _EMUL[x] >= self.sew])
        self.size = max(1, int(_EMUL[self.lmul]))

    def setting(self) -> list[str]:
        r = self.r
        policy = f"{r.choice(('ta', 'tu'))}, {r.choice(('ma', 'mu'))}"
        kind = r.random()
        if kind < 0.5:
            return [f"li x5, {r.randrange(0, 300)}", f"vsetvli {reg(r)}, x5, e{self.sew}, {self.lmul}, {policy}"]
        if kind < 0.7:
            return [f"vsetivli {reg(r)}, {r.randrange(0, 32)}, e{self.sew}, {self.lmul}, {policy}"]
        if kind < 0.9:
            return [f"vsetvli {reg(r)}, x0, e{self.sew}, {self.lmul}, {policy}"]
        code = _LMUL.index(self.lmul) - 3 & 7 | _SEW.index(self.sew) << 3 | r.getrandbits(2) << 6
        return [f"li x6, {code}", f"li x5, {r.randrange(0, 64)}", f"vsetvl {reg(r)}, x5, x6"]

    def v(self, size: int | None = None) -> int:
        """A register that a group of ``size`` may begin at; now and then any at all."""
        n = size or self.size
        if self.settled:
            return self.r.randrange(8, 32) // n * n
        if self.r.random() < 0.02:
            return self.r.randrange(32)
        return self.r.randrange(32 // n) * n

    def other(self, taken: int, size: int, of: int) -> int:
        """A group of ``of`` registers away from the group of ``size`` at ``taken``."""
        for _ in range(20):
            n = self.v(of)
            if n + of <= taken or taken + size <= n:
                return n
        return self.v(of)

    def mask(self) -> str:
        return ", v0.t" if self.r.random() < 0.4 else ""


def _integer(s: _State) -> list[str]:
    r, m = s.r, s.mask()
    a, b, d = s.v(), s.v(), s.v()
    match r.randrange(12):
        case 0 | 1 | 2:
            op = r.choice(_VV_VX_VI)
            form = r.choice("vxi")
            number = r.randrange(32) if op in _UNSIGNED_IMMEDIATE else r.randrange(-16, 16)
            last = {"v": f"v{b}", "x": reg(r), "i": str(number)}[form]
            return [f"{op}.v{form} v{d}, v{a}, {last}{m}"]
        case 3 | 4 | 5:
            op, form = r.choice(_VV_VX), r.choice("vx")
            return [f"{op}.v{form} v{d}, v{a}, {f'v{b}' if form == 'v' else reg(r)}{m}"]
        case 6:
            op, form = r.choice(_MULTIPLY_ADD), r.choice("vx")
            return [f"{op}.v{form} v{d}, {f'v{b}' if form == 'v' else reg(r)}, v{a}{m}"]
        case 7 | 8:
            op = r.choice(list(_COMPARE))
            form = r.choice(_COMPARE[op])
            last = {"v": f"v{b}", "x": reg(r), "i": str(r.randrange(-15, 16))}[form]
            return [f"{op}.v{form} v{r.choice((0, s.v(1)))}, v{a}, {last}{m}"]
        case 9:
            op, form = r.choice((("vadc", "vxi"), ("vsbc", "vx"), ("vmerge", "vxi")))
            f = r.choice(form)
            last = {"v": f"v{b}", "x": reg(r), "i": str(r.randrange(-16, 16))}[f]
            return [f"{op}.v{f}m v{d}, v{a}, {last}, v0"]
        case 10:
            op, form = r.choice((("vmadc", "vxi"), ("vmsbc", "vx")))
            f = r.choice(form)
            last = {"v": f"v{b}", "x": reg(r), "i": str(r.randrange(-16, 16))}[f]
            carry = r.random() < 0.5
            return [f"{op}.v{f}{'m' if carry else ''} v{s.v(1)}, v{a}, {last}{', v0' if carry else ''}"]
        case _:
            form = r.choice(["vrsub.vx", "vrsub.vi", "vmv.v.v", "vmv.v.x", "vmv.v.i"])
            if form.startswith("vmv"):
                last = {"v": f"v{b}", "x": reg(r), "i": str(r.randrange(-16, 16))}[form[-1]]
                return [f"{form} v{d}, {last}"]
            return [f"{form} v{d}, v{a}, {reg(r) if form[-1] == 'x' else r.randrange(-16, 16)}{m}"]


def _widths(s: _State) -> list[str]:
    r, m = s.r, s.mask()
    wide = max(1, int(2 * _EMUL[s.lmul]))
    d = s.v(min(wide, 8))
    a, b = s.other(d, wide, s.size), s.other(d, wide, s.size)
    match r.randrange(6):
        case 0:
            op, form = r.choice(_WIDENING), r.choice("vx")
            return [f"{op}.v{form} v{d}, v{a}, {f'v{b}' if form == 'v' else reg(r)}{m}"]
        case 1:
            op, form = r.choice(["vwaddu", "vwadd", "vwsubu", "vwsub"]), r.choice("vx")
            w = s.v(min(wide, 8))
            return [f"{op}.w{form} v{d}, v{w}, {f'v{b}' if form == 'v' else reg(r)}{m}"]
        case 2:
            op, form = r.choice([*_WIDENING_ADD, "vwmaccus"]), r.choice("vx")
            form = "x" if op == "vwmaccus" else form
            return [f"{op}.v{form} v{d}, {f'v{b}' if form == 'v' else reg(r)}, v{a}{m}"]
        case 3 | 4:
            op, form = r.choice(["vnsrl", "vnsra", "vnclipu", "vnclip"]), r.choice("vxi")
            w = s.v(min(wide, 8))
            to = w if r.random() < 0.3 else s.other(w, wide, s.size)
            last = {"v": f"v{s.v()}", "x": reg(r), "i": str(r.randrange(32))}[form]
            return [f"{op}.w{form} v{to}, v{w}, {last}{m}"]
        case _:
            factor = r.choice((2, 4, 8))
            d = s.v()
            source = s.other(d, s.size, max(1, int(_EMUL[s.lmul] / factor)))
            return [f"v{r.choice('zs')}ext.vf{factor} v{d}, v{source}{m}"]


def _masks(s: _State) -> list[str]:
    r, m = s.r, s.mask()
    d, a = r.randrange(32), r.randrange(32)
    match r.randrange(7):
        case 0 | 1:
            return [f"{r.choice(_MASK_LOGIC)}.mm v{r.choice((0, d))}, v{a}, v{r.randrange(32)}"]
        case 2:
            return [f"{r.choice(('vcpop.m', 'vfirst.m'))} {reg(r)}, v{a}{m}"]
        case 3:
            return [f"{r.choice(('vmsbf.m', 'vmsif.m', 'vmsof.m'))} v{d}, v{a}{m}"]
        case 4:
            d = s.v()
            return [f"viota.m v{d}, v{s.other(d, s.size, 1)}{m}"]
        case 5:
            return [f"vid.v v{s.v()}{m}"]
        case _:
            return [r.choice([f"vmv.x.s {reg(r)}, v{a}", f"vmv.s.x v{d}, {reg(r)}"])]


def _permute(s: _State) -> list[str]:
    r, m = s.r, s.mask()
    d = s.v()
    a = s.other(d, s.size, s.size)
    match r.randrange(8):
        case 0 | 1:
            op, form = r.choice(("vslideup", "vslidedown")), r.choice("xi")
            if form == "i":
                return [f"{op}.vi v{d}, v{a}, {r.randrange(32)}{m}"]
            return [f"li x7, {r.choice((r.randrange(80), -1))}", f"{op}.vx v{d}, v{a}, x7{m}"]
        case 2:
            return [f"{r.choice(('vslide1up', 'vslide1down'))}.vx v{d}, v{a}, {reg(r)}{m}"]
        case 3:
            # Indices that hit: element numbers, folded.
            i = s.other(d, s.size, s.size)
            return [f"vid.v v{i}", f"vxor.vi v{i}, v{i}, {r.randrange(16)}", f"vrgather.vv v{d}, v{a}, v{i}{m}"]
        case 4:
            return [f"li x7, {r.randrange(40)}", f"vrgather.vx v{d}, v{a}, x7{m}", f"vrgather.vi v{d}, v{a}, 3{m}"]
        case 5:
            size = max(1, min(8, int(_EMUL[s.lmul] * 16 / s.sew)))
            return [f"vrgatherei16.vv v{d}, v{a}, v{s.other(d, s.size, size)}{m}"]
        case 6:
            return [f"vcompress.vm v{d}, v{a}, v{s.other(d, s.size, 1)}"]
        case _:
            n = r.choice((1, 2, 4, 8))
            return [f"vmv{n}r.v v{s.v(n)}, v{s.v(n)}"]


def _reduce(s: _State) -> list[str]:
    r, m = s.r, s.mask()
    op = r.choice([*(f"vred{x}" for x in _REDUCE), "vwredsum", "vwredsumu"])
    return [f"{op}.vs v{r.randrange(32)}, v{s.v()}, v{r.randrange(32)}{m}"]


def _memory(s: _State) -> list[str]:
    r, m = s.r, s.mask()
    eew = r.choice(_SEW)
    emul = _EMUL[s.lmul] * eew / s.sew
    size = max(1, min(8, int(emul)))
    load = r.random() < 0.5
    align = eew // 8 if r.random() < 0.9 else 1
    base = [f"addi x7, x3, {r.randrange(-1024, 1024) // align * align}"]
    d = s.v(size)
    op = "l" if load else "s"
    match r.randrange(10):
        case 0 | 1 | 2:
            return [*base, f"v{op}e{eew}.v v{d}, (x7){m}"]
        case 3:
            stride = r.choice((0, 1, -1, 2, -2, 3)) * (eew // 8)
            return [*base, "addi x7, x7, 0", f"li x8, {stride}", f"v{op}se{eew}.v v{d}, (x7), x8{m}"]
        case 4 | 5:
            # Indices: element numbers times the element's size, within the scratch memory.
            i = s.v(size)
            d = s.other(i, size, s.size)
            shift = {8: 0, 16: 1, 32: 2, 64: 3}[s.sew]
            setup = [
                f"vsetvli x8, x0, e{eew}, {_lmul(emul)}, ta, ma",
                f"vid.v v{i}",
                f"vxor.vi v{i}, v{i}, {r.randrange(8)}",
                f"vsll.vi v{i}, v{i}, {shift}",
            ]
            if _lmul(emul) is None:
                return []
            back = [f"vsetvli x8, x0, e{s.sew}, {s.lmul}, ta, ma"]
            order = r.choice("uo")
            base = [f"addi x7, x3, {r.randrange(-1024, 1024) & -8}"]
            return [*base, *setup, *back, f"v{op}{order}xei{eew}.v v{d}, (x7), v{i}{m}"]
        case 6:
            return [*base, f"v{op}m.v v{r.randrange(32)}, (x7)"]
        case 7:
            n = r.choice((1, 2, 4, 8))
            kind = f"vl{n}re{eew}.v" if load else f"vs{n}r.v"
            return [*base, f"{kind} v{s.v(n)}, (x7)"]
        case 8:
            fields = r.randrange(2, 9)
            if r.random() < 0.3:
                stride = r.choice((1, 3, -2)) * (eew // 8) * fields
                return [*base, f"li x8, {stride}", f"v{op}sseg{fields}e{eew}.v v{d}, (x7), x8{m}"]
            return [*base, f"v{op}seg{fields}e{eew}.v v{d}, (x7){m}"]
        case _:
            return [*base, f"vle{eew}ff.v v{d}, (x7){m}"]


def _lmul(emul: float) -> str | None:
    return next((name for name, e in _EMUL.items() if e == emul), None)


def _fixed(s: _State) -> list[str]:
    return [f"csrwi vxrm, {s.r.randrange(4)}", *_integer(s)]


def _float(s: _State) -> list[str]:
    r, m = s.r, s.mask()
    a, b, d = s.v(), s.v(), s.v()
    f = f"f{r.randrange(32)}"
    wide = max(1, int(2 * _EMUL[s.lmul]))
    match r.randrange(14):
        case 0 | 1 | 2:
            op, form = r.choice(_FLOAT), r.choice("vf")
            return [f"{op}.v{form} v{d}, v{a}, {f'v{b}' if form == 'v' else f}{m}"]
        case 3 | 4:
            op, form = r.choice(_FUSED), r.choice("vf")
            return [f"{op}.v{form} v{d}, {f'v{b}' if form == 'v' else f}, v{a}{m}"]
        case 5:
            op = r.choice(["vfsqrt.v", "vfrsqrt7.v", "vfrec7.v", "vfclass.v"])
            return [f"{op} v{d}, v{a}{m}"]
        case 6 | 7:
            op = r.choice(["vmfeq", "vmfne", "vmflt", "vmfle", "vmfgt", "vmfge"])
            form = "f" if op in ("vmfgt", "vmfge") else r.choice("vf")
            return [f"{op}.v{form} v{r.choice((0, s.v(1)))}, v{a}, {f'v{b}' if form == 'v' else f}{m}"]
        case 8:
            # qemu 7.2 aborts on the forms with a rounding of their own (rtz, rod) where they begin a translated block.
            kind = r.choice(["xu.f", "x.f", "f.xu", "f.x"])
            return [f"vfcvt.{kind}.v v{d}, v{a}{m}"]
        case 9:
            d = s.v(min(8, wide))
            a = s.other(d, wide, s.size)
            kind = r.choice(["xu.f", "x.f", "f.xu", "f.x", "f.f"])
            return [f"vfwcvt.{kind}.v v{d}, v{a}{m}"]
        case 10:
            a = s.v(min(8, wide))
            d = s.other(a, wide, s.size)
            kind = r.choice(["xu.f", "x.f", "f.xu", "f.x", "f.f"])
            return [f"vfncvt.{kind}.w v{d}, v{a}{m}"]
        case 11:
            d = s.v(min(8, wide))
            a, b = s.other(d, wide, s.size), s.other(d, wide, s.size)
            form = r.choice("vf")
            last = f"v{b}" if form == "v" else f
            if r.random() < 0.5:
                op = r.choice(["vfwadd", "vfwsub", "vfwmul"])
                return [f"{op}.v{form} v{d}, v{a}, {last}{m}"]
            op = r.choice(["vfwmacc", "vfwnmacc", "vfwmsac", "vfwnmsac"])
            return [f"{op}.v{form} v{d}, {last}, v{a}{m}"]
        case 12:
            op = r.choice(["vfredosum", "vfredmin", "vfredmax", "vfwredosum"])
            return [f"{op}.vs v{r.randrange(32)}, v{a}, v{r.randrange(32)}{m}"]
        case _:
            return [
                r.choice(
                    [
                        f"vfmv.f.s {f}, v{a}",
                        f"vfmv.s.f v{d}, {f}",
                        f"vfmv.v.f v{d}, {f}",
                        f"vfmerge.vfm v{d}, v{a}, {f}, v0",
                        f"vfslide1down.vf v{d}, v{s.other(d, s.size, s.size)}, {f}{m}",
                        f"vfrsub.vf v{d}, v{a}, {f}{m}",
                        f"vfrdiv.vf v{d}, v{a}, {f}{m}",
                        f"fsrmi {r.randrange(5)}",
                    ]
                )
            ]


#: Zvbb, which binutils 2.40 cannot write: funct6 and the forms of those with two sources; vs1's code of those with one.
_BITS = {0x01: "vx", 0x14: "vxi", 0x15: "vxi", 0x35: "vxi"}
_BITS_UNARY = [8, 9, 10, 12, 13, 14]


def _bits(s: _State) -> list[str]:
    r, masked = s.r, int(s.mask() != "")
    wide = max(1, min(8, int(2 * _EMUL[s.lmul])))
    if r.random() < 0.4:
        funct6, last, form = 0x12, r.choice(_BITS_UNARY), "m"
    else:
        funct6 = r.choice(list(_BITS))
        form = r.choice(_BITS[funct6])
        last = s.v() if form == "v" else r.randrange(5, 32)
    vd, vs2 = s.v(), s.v()
    if funct6 == 0x35:
        vd = s.v(wide)
        vs2, last = s.other(vd, wide, s.size), s.other(vd, wide, s.size) if form == "v" else last
    funct3 = {"v": 0, "i": 3, "x": 4, "m": 2}[form]
    word = funct6 << 26 | (1 - masked) << 25 | vs2 << 20 | last << 15 | funct3 << 12 | vd << 7 | 0x57
    return [f".4byte {word:#x}"]


_GROUPS = {
    "vi": [_integer, _integer, _widths],
    "vmem": [_memory, _memory, _memory, _integer],
    "vperm": [_permute, _masks, _reduce, _integer],
    "vfixed": [_fixed, _widths],
    "vf": [_float, _float, _float, _memory],
    "vbb": [_bits, _bits, _integer],
}

MARCH = "rv64gcv_zba_zbb_zbs_zicbom_zicboz_zicbop"


def _instructions(group: str):  # noqa: ANN202 - a generator of blocks for `compose`
    parts = _GROUPS[group]

    # qemu 7.2 takes 16-bit floating point for legal without Zvfh.
    widths = [32, 64] if group == "vf" else _SEW

    def one(r: random.Random) -> list[str]:
        s = _State(r, widths, settled=group == "vbb")
        lines = s.setting()
        for _ in range(r.randrange(3, 7)):
            lines += r.choice(parts)(s)
        return lines

    return one


def programs(seed: int, blocks: int = 150, length: int = 8) -> list[Program]:
    out = []
    for group in _GROUPS:
        p = compose(group, _instructions(group), seed, blocks=blocks, length=length, floats=True)
        p.march, p.vectors = MARCH, True
        out.append(p)
    return out
