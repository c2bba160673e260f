/* From reset to guest_main: machine mode set up as firmware does, then supervisor mode under Sv39. */
#include "csr.h"

/* A register that a machine may lack: the trap that says so only skips the write. */
.macro WRITE_IF_THERE csr:req, value:req
    la t1, 1f
    csrw mtvec, t1
    li t0, \value
    csrw \csr, t0
    .balign 4
1:
.endm

    .section .text.start, "ax"
    .globl _start
_start:
    csrw mie, zero
    WRITE_IF_THERE pmpaddr0, -1          /* one region: all memory, all accesses */
    WRITE_IF_THERE pmpcfg0, 0x1f
    WRITE_IF_THERE 0x30a, 0xf0           /* menvcfg: cache-block operations below machine mode */
    WRITE_IF_THERE 0x320, 0              /* mcountinhibit */
    WRITE_IF_THERE mcounteren, 7
    la t0, machine_trap_entry
    csrw mtvec, t0
    csrw mscratch, zero                  /* zero: in machine mode */
    csrw mideleg, zero
    li t0, 0xb1af                        /* everything but misaligned data accesses and calls from supervisor mode */
    csrw medeleg, t0

    la t0, __bss_start
    la t1, __bss_end
1:  sd zero, 0(t0)
    sd zero, 8(t0)
    sd zero, 16(t0)
    sd zero, 24(t0)
    addi t0, t0, 32
    bltu t0, t1, 1b

    la sp, machine_stack_top
    call paging_init                     /* returns satp */
    csrw satp, a0
    sfence.vma

    la t0, supervisor_trap_entry
    csrw stvec, t0
    la t0, trap_stack_top
    csrw sscratch, t0
    csrw mscratch, sp
    csrw sie, zero
    li t0, MSTATUS_MPP
    csrc mstatus, t0
    li t0, MSTATUS_MPP_S | MSTATUS_FS | MSTATUS_VS | SUM
    csrs mstatus, t0
    la t0, 2f
    csrw mepc, t0
    la sp, stack_top
    mret
2:  call guest_main
