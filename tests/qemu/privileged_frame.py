"""Assembly around the system events of `privileged`: start, set-up between blocks, handlers, data."""

MIX = " xor x27, x27, x28\n mul x27, x27, x26\n srli x29, x27, 29\n xor x27, x27, x29\n"

HEAD = """
 .option norelax
 .option norvc
 .section .text.start,"ax"
 .globl _start
_start:
 la x5, m_handler
 csrw mtvec, x5
 la x5, s_handler
 csrw stvec, x5
 la x4, state
 la x5, results
 sd x5, 8(x4)
 li x5, 0x9E3779B97F4A7C15
 sd x5, 16(x4)
 mv x26, x5
 mv x27, x5
 li x5, {turns}
 sd x5, 24(x4)
 li x5, -1
 csrw pmpaddr7, x5
 li x6, 0x2004000
 sd x5, 0(x6)
 li x5, 0x1f << 56
 csrw pmpcfg0, x5
 li x23, 4
 li x5, {tables}
 la x6, root0
 li x7, 512
 jal x8, copy
 li x5, {pages}
 li x7, 256
 li x8, 0x8c028c028c028c02
2: .set k, 0
 .rept 4
 sd x8, 0(x5)
 li x9, 2048
 add x9, x9, x5
 sd x5, 0(x9)
 li x9, 4096
 add x5, x5, x9
 .endr
 li x9, 4*4096 - 8
 sub x5, x5, x9
 addi x7, x7, -1
 bnez x7, 2b
 fence.i
turn:
"""

HANDLERS = """
# M-mode, between blocks: no delegation, no translation, fresh tables and pages, seeded x5..x15.
reset:
 csrw satp, zero
 sfence.vma
 li x10, 0x6000
 csrs mstatus, x10
 csrw fcsr, zero
 li x10, 0x7e79aa
 csrc mstatus, x10
 csrw mie, zero
 csrwi mip, 0
 csrw mcountinhibit, zero
 csrw scause, zero
 csrw sepc, zero
 csrw stval, zero
 csrw sscratch, zero
 la x22, s_to_m
 li x5, {mid}
 la x6, mid0
 li x7, {n_mid}
 jal x8, copy
 li x5, {leaf}
 la x6, leaf0
 li x7, {n_leaf}
 jal x8, copy
 ld x5, 16(x4)
 la x6, pool_int
 .irp n, 8, 9, 10, 11, 12, 13, 14, 15
 slli x7, x5, 13
 xor x5, x5, x7
 srli x7, x5, 7
 xor x5, x5, x7
 slli x7, x5, 17
 xor x5, x5, x7
 srli x7, x5, 20
 andi x7, x7, 2047
 slli x7, x7, 3
 add x7, x7, x6
 ld x\\n, 0(x7)
 .endr
 sd x5, 16(x4)
 mv x5, x8
 mv x6, x9
 mv x7, x10
 ret

# x7 dwords from x6 to x5; back to x8.
copy:
 ld x9, 0(x6)
 sd x9, 0(x5)
 addi x5, x5, 8
 addi x6, x6, 8
 addi x7, x7, -1
 bnez x7, copy
 jr x8

# Folds x7 dwords from x5.
fold_words:
 ld x28, 0(x5)
{mix}
 addi x5, x5, 8
 addi x7, x7, -1
 bnez x7, fold_words
 jr x8

# M-mode, after a block: fold the page tables, keep the digest.
close:
 li x10, 1 << 17
 csrc mstatus, x10
 csrw satp, zero
 sfence.vma
 li x10, 0x1f << 56
 csrw pmpcfg0, x10
 li x5, {mid}
 li x7, {n_mid}
 jal x8, fold_words
 li x5, {leaf}
 li x7, {n_leaf}
 jal x8, fold_words
 csrr x28, mcause
{mix}
 ld x5, 8(x4)
 sd x27, 0(x5)
 addi x5, x5, 8
 sd x5, 8(x4)
 ret

 # Without compressed instructions the assembler takes every place for aligned.
 .option rvc
 .balign 4
 .option norvc
m_handler:
 li x28, 0x20000
 csrrc x30, mstatus, x28
 csrr x28, mcause
{mix}
 csrr x28, mepc
 slli x28, x28, 34
{mix}
 csrr x31, mcause
 addi x31, x31, -3
 csrr x28, mtval
 snez x31, x31
 neg x31, x31
 and x28, x28, x31
 csrw mtval, x28
{mix}
 li x28, {status}
 and x28, x28, x30
{mix}
 csrr x31, mcause
 bltz x31, 4f
 li x28, 8
 beq x31, x28, 1f
 li x28, 9
 bne x31, x28, 2f
1: li x28, {magic}
 beq x17, x28, 5f
2: li x28, 1
 beq x31, x28, 3f
 li x28, 12
 beq x31, x28, 3f
 csrr x28, mepc
 add x28, x28, x23
 csrw mepc, x28
 j 6f
3: csrw mepc, x24
 j 6f
4: csrci mip, 2
 j 6f
5: csrw mepc, x25
 li x28, 0x1800
 csrs mstatus, x28
 mret
6: li x28, 0x20000
 and x30, x30, x28
 csrs mstatus, x30
 mret

 .option rvc
 .balign 4
 .option norvc
s_handler:
 csrr x28, scause
{mix}
 csrr x28, sepc
 slli x28, x28, 34
{mix}
 csrr x31, scause
 addi x31, x31, -3
 csrr x28, stval
 snez x31, x31
 neg x31, x31
 and x28, x28, x31
 csrw stval, x28
{mix}
 csrr x30, sstatus
 li x28, 0xc0122
 and x28, x28, x30
{mix}
 csrr x31, scause
 bltz x31, 4f
 li x28, 8
 bne x31, x28, 2f
 li x28, {magic}
 bne x17, x28, 2f
s_to_m:
 ecall
 j s_to_m
2: li x28, 1
 beq x31, x28, 3f
 li x28, 12
 beq x31, x28, 3f
 csrr x28, sepc
 add x28, x28, x23
 csrw sepc, x28
 sret
3: csrw sepc, x24
 sret
4: csrci sip, 2
 sret
"""

DATA = """
 .data
 .balign 64
tohost: .dword 0
 .balign 64
fromhost: .dword 0
 .globl tohost
 .globl fromhost
 .type tohost, @object
 .type fromhost, @object
 .size tohost, 8
 .size fromhost, 8
 .balign 64
state: .zero 512
{pool}
root0:
{root}
mid0:
{mid}
leaf0:
{leaf}
 .bss
 .balign 64
results: .zero {results}
"""
