"""Checksums other than the Internet's: what their references compute, that all routines do so, and the user's own."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import zlib
from pathlib import Path

import pytest

from breakeven import api
from breakeven import points as pt
from breakeven.errors import UserError
from breakeven.files.binaries import guest_elf
from breakeven.routine.contract import check_contract
from tests.cli.conftest import _engine_is_built

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")

WORKLOADS = Path(__file__).resolve().parent.parent / "workloads"
ATOMIC = {"riscv": "atomic", "x86": "x86_atomic"}


def crc32c(data: bytes) -> int:
    """From the definition: the remainder of a polynomial, a bit at a time, the highest first."""
    bits = [byte >> i & 1 for byte in data for i in range(8)] + [0] * 32
    value = 0
    for i in range(min(32, len(bits))):
        bits[i] ^= 1
    for bit in bits:
        value = value << 1 | bit
        if value >> 32:
            value ^= 0x11EDC6F41
    return int(f"{value ^ 0xFFFFFFFF:032b}"[::-1], 2)


WANTED = {"crc32c": crc32c, "adler32": zlib.adler32}


def source(seed: int, size: int) -> bytes:
    """What the harness fills the source of a checksum with (data.c)."""
    whole = (1 << 64) - 1
    words, mix = [], seed + 1
    for _ in range(15):
        mix = (mix + 0x9E3779B97F4A7C15) * 0xD1342543DE82EF95 & whole
        words.append(mix ^ mix >> 32)
    while len(words) * 8 < size:
        words.append(words[-15] ^ words[-14])
    return b"".join(word.to_bytes(8, "little") for word in words)[:size]


# The references


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the harness's C is compiled for this host")
def test_the_references_compute_what_they_are_called(tmp_path: Path) -> None:
    """Compiled here: they are ours. Published check values, and the standard library."""
    shared = tmp_path / "references.so"
    file = WORKLOADS / "harness" / "references.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-masm=intel", str(file), "-o", str(shared)], check=True)
    library = ctypes.CDLL(str(shared))

    class Reference(ctypes.Structure):
        _fields_ = (("name", ctypes.c_char * 40), ("fn", ctypes.c_void_p))

    found = {}
    for name in WANTED:
        reference = Reference.in_dll(library, f"like_{name}")
        assert reference.name.decode() == name
        found[name] = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint64)(reference.fn)
    assert found["crc32c"](b"123456789", 9) == crc32c(b"123456789") == 0xE3069283
    assert found["crc32c"](bytes(32), 32) == 0x8A9136AA  # RFC 3720, B.4
    assert found["adler32"](b"Wikipedia", 9) == zlib.adler32(b"Wikipedia") == 0x11E60398
    for size in (*range(70), 255, 1448, 5551, 5552, 5553, 65537):
        for data in (source(size, size), b"\xff" * size, bytes(size)):
            for name, wanted in WANTED.items():
                assert found[name](data, size) == wanted(data), (name, size)


# The routines


def _routines(isa: str) -> list[tuple[str, str]]:
    return [(each.name, each.kind) for each in api.routines(ATOMIC[isa]) if each.kind in WANTED]


def test_each_instruction_set_has_plain_and_fast_ones() -> None:
    found = {isa: {name for name, _ in _routines(isa)} for isa in ATOMIC}
    both = {"crc32c-table-c", "crc32c-slicing8-c", "adler32-c", "adler32-unrolled-c"}
    assert found["riscv"] == both | {"rv-crc32c-zbc", "rvv-adler32"}
    assert found["x86"] == both | {"x64-crc32c-sse42", "x64-crc32c-sse42-3way", "x64-adler32-sse2"}


@pytest.mark.slow
@pytest.mark.parametrize(("isa", "name", "kind"), [(isa, *each) for isa in ATOMIC for each in _routines(isa)])
def test_a_routine_keeps_the_contract(isa: str, name: str, kind: str) -> None:
    assert check_contract(isa, guest_elf(isa), name, kind) > 5000


@pytest.mark.parametrize("isa", ATOMIC)
def test_a_routine_returns_what_is_computed_elsewhere(isa: str) -> None:
    """Not by the reference that it is checked against."""
    from breakeven import _engine
    from breakeven.machine.resolve import resolve
    from breakeven.routine.contract import checking_machine

    named = [
        (pt.Point(name, size, seed=size), kind) for name, kind in _routines(isa) for size in (0, 1, 7, 64, 1000, 5600)
    ]
    records = pt.points_file(pt.pack(point for point, _ in named))
    guest = _engine.Machine(resolve(checking_machine(isa)).text, guest_elf(isa), readfile=records)
    guest.run()
    for (point, kind), result in zip(named, pt.unpack_results(guest.outputs()["results.bin"]), strict=True):
        assert result.ok and result.ret == WANTED[kind](source(point.seed, point.size)), (point.routine, point.size)


@pytest.mark.parametrize(
    "given", [{"measure": "throughput"}, {"measure": "stream"}, {"cache": "cold"}, {"cache": "l2"}]
)
def test_other_checksums_have_the_measures_of_checksums(given: dict) -> None:
    assert api.run("crc32c-table-c", 300, machine="u74", store=False, **given).ok
    assert api.run("adler32-c", 4096, machine="u74", store=False, mix="1..256", calls=40).ok


def test_jobs_are_kept_apart() -> None:
    with pytest.raises(UserError, match="crc32c-table-c is a crc32c routine, csum-generic-c is a checksum routine"):
        api.compare("crc32c-table-c", "csum-generic-c", sizes="64", store=False)
    with pytest.raises(UserError, match="crc32c-table-c is a crc32c routine, adler32-c is a adler32 routine"):
        api.compare("crc32c-table-c", "adler32-c", sizes="64", store=False)
    with pytest.raises(
        UserError, match="crc32c-table-c is a crc32c routine: name one there that computes the Internet"
    ):
        api.run("copy+checksum:rv-word,crc32c-table-c", 64, store=False)
    found = api.best("adler32", ["atomic"], sizes=[64], src=0, store=False)
    assert set(found.rows[0].cells[0].fastest) <= {"adler32-c", "adler32-unrolled-c", "rvv-adler32"}
    internet = api.best("checksum", ["atomic"], sizes=[64], src=0, store=False)
    assert "crc32c" not in str(internet) and "adler32" not in str(internet)
    with pytest.raises(UserError, match="there is no kind 'crc32' of routine; did you mean 'crc32c'?"):
        api.best("crc32", ["atomic"], sizes=[64], store=False)
    with pytest.raises(UserError, match="rv-crc32c-zbc on u74: it needs Zbc, which this machine lacks: add --set"):
        api.run("rv-crc32c-zbc", 64, machine="u74", store=False)
    with pytest.raises(UserError, match="x64-crc32c-sse42 on pentium3: it needs SSE4.2, which this machine lacks"):
        api.run("x64-crc32c-sse42", 64, machine="pentium3", store=False)


# The user's own


#: CRC-16 of Modbus, a bit at a time, by the other order of a loop
CRC16 = """#include <stdint.h>
#include <stddef.h>
uint32_t my_crc16(const void *data, size_t size) {
    const uint8_t *p = data;
    uint32_t crc = START;
    while (size--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++)
            crc = crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1;
    }
    return crc;
}
"""
REFERENCE = """unsigned long crc16_reference(const void *data, unsigned long size) {
    const unsigned char *p = data;
    unsigned short crc = 0xffff;
    for (unsigned long bit = 0; bit < 8 * size; bit++) {
        unsigned short in = p[bit / 8] >> bit % 8 & 1;
        crc = ((crc ^ in) & 1) ? crc >> 1 ^ 0xa001 : crc >> 1;
    }
    return crc;
}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))
    (tmp_path / "my_crc16.c").write_text(CRC16.replace("START", "0xffff"))
    (tmp_path / "wrong_crc16.c").write_text(CRC16.replace("START", "0").replace("my_", "wrong_"))
    (tmp_path / "ref.c").write_text(REFERENCE)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("isa", ATOMIC)
def test_a_routine_is_held_against_the_user_s_reference(home: Path, isa: str) -> None:
    added = api.add(home / "my_crc16.c", isa, kind="checksum", reference=home / "ref.c")
    assert added.points > 5000 and added.file.routines == ("my-crc16",) and "--reference" in added.file.options
    assert (added.file.folder / "ref.c").read_text() == REFERENCE
    (row,) = [each for each in api.routines(ATOMIC[isa]) if each.name == "my-crc16"]
    assert row.kind == "crc16"
    result = api.run("my-crc16", 9, machine=ATOMIC[isa], store=False)
    assert result.ok
    found = api.best("crc16", [ATOMIC[isa]], sizes=[64], src=0, store=False)
    assert found.rows[0].cells[0].fastest == ("my-crc16",)
    with pytest.raises(UserError, match="my-crc16 is a crc16 routine, crc32c-table-c is a crc32c routine"):
        api.compare("my-crc16", "crc32c-table-c", machine=ATOMIC[isa], sizes="64", store=False)
    message = r"wrong-crc16 is wrong at size 0, .* must return 0xffff, as the reference of crc16 does"
    with pytest.raises(UserError, match=message):
        api.add(home / "wrong_crc16.c", isa, kind="checksum", reference=home / "ref.c")
    assert "wrong-crc16" not in {each.name for each in api.routines(ATOMIC[isa])}
    with pytest.raises(UserError, match="crc16 is a checksum of yours: give --kind checksum and its --reference"):
        api.add(home / "my_crc16.c", isa, kind="crc16", name="again")


@pytest.mark.slow
def test_a_reference_may_stand_in_the_routine_s_file(home: Path) -> None:
    both = home / "both.c"
    both.write_text((home / "my_crc16.c").read_text() + REFERENCE)
    assert api.add(both, "riscv", kind="checksum", reference=both, name="mine").file.routines == ("mine",)
    assert api.run("mine", 100, machine="atomic", store=False).ok


@pytest.mark.slow
def test_a_file_that_registers_itself_names_the_user_s_checksum(home: Path) -> None:
    own = home / "own.c"
    text = CRC16.replace("START", "0xffff").replace("uint32_t my", "static uint32_t my").partition("static")
    own.write_text(
        f'{text[0]}#include "../routine.h"\nextern const struct reference like_crc16;\n{text[1]}{text[2]}'
        'CHECKSUM_LIKE(crc16, my_crc16, "own-crc16", 0);\n'
    )
    assert api.add(own, "riscv", kind="checksum", reference=home / "ref.c").file.routines == ("own-crc16",)


@pytest.mark.slow
def test_a_routine_may_be_like_a_checksum_of_breakeven_s(home: Path) -> None:
    text = CRC16.replace("START", "0xffffffff").replace("0xa001", "0x82f63b78").replace("return crc", "return ~crc")
    (home / "mine.c").write_text(text)
    assert api.add(home / "mine.c", "x86", kind="crc32c", name="my-crc32c").points > 5000
    found = api.compare("my-crc32c", "x64-crc32c-sse42", machine="x86_atomic", sizes="64,128", store=False)
    assert "x64-crc32c-sse42 leads" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int other(void) { return 1; }\n", "ref.c: it defines none: a reference is one function NAME_reference"),
        (REFERENCE + REFERENCE.replace("crc16", "b"), "it defines b_reference, crc16_reference|crc16_reference, b_ref"),
        (
            REFERENCE.replace("crc16", "crc32c"),
            "crc32c is a checksum of breakeven's: give --kind crc32c, or call yours",
        ),
        (REFERENCE.replace("crc16", "copy"), "'copy' cannot be a checksum's name: call the function otherwise"),
        (REFERENCE.replace("crc16", "c" * 40), "cannot be a checksum's name"),
        (REFERENCE.replace("return crc", "return nosuch"), "nosuch"),
        (REFERENCE.replace("p[bit / 8]", "*(volatile char *)8"), "traps at size 1,"),
    ],
)
def test_a_reference_that_is_none_is_refused(home: Path, text: str, message: str) -> None:
    (home / "ref.c").write_text(text)
    with pytest.raises(UserError, match=message):
        api.add(home / "my_crc16.c", "riscv", kind="checksum", reference=home / "ref.c")


def test_what_a_reference_is_not_of_is_refused(home: Path) -> None:
    for more, message in (
        (
            {"kind": "copy", "reference": home / "ref.c"},
            "--reference is of a checksum, and the kind is copy: give --kind checksum",
        ),
        ({"kind": "checksum", "reference": home / "no.c"}, "there is no file '.*no.c'"),
        ({"kind": "checksum", "reference": home}, "is no source: --reference names a .S, .s or .c file"),
        ({"kind": "nosuch"}, "unknown kind 'nosuch': one of copy, checksum, .*crc32c, adler32"),
        ({"name": "crc32c"}, "'crc32c' cannot be a routine's name, as it stands for several"),
    ):
        with pytest.raises(UserError, match=message):
            api.add(home / "my_crc16.c", "riscv", **more)


def test_a_reference_is_read_as_confined_as_the_routine(home: Path) -> None:
    """The explorer's additions read the guest's headers alone: so does their reference."""
    from breakeven.routine.add import add
    from breakeven.routine.build import Build

    secret = home / "secret.h"
    secret.write_text("#error seen\n")
    (home / "ref.c").write_text(f'#include "{secret}"\n{REFERENCE}')
    what = Build(home / "my_crc16.c", kind="checksum", reference=home / "ref.c", confined=True)
    with pytest.raises(UserError) as caught:
        add(what, "riscv")
    assert "#error seen" not in str(caught.value)
