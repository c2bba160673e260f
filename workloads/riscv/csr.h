/* Bits of control registers, for C and assembly. */
#pragma once

#define MSTATUS_FS 0x6000
#define MSTATUS_VS 0x600
#define MSTATUS_MPP 0x1800
#define MSTATUS_MPP_S 0x800
#define MSTATUS_MPRV 0x20000
#define MSTATUS_MXR 0x80000
#define MSTATUS_SPP 0x100
#define MSTATUS_SPIE 0x20
#define MSTATUS_SIE 0x2
#define SUM 0x40000

#define CAUSE_MISALIGNED_LOAD 4
#define CAUSE_LOAD_ACCESS 5
#define CAUSE_MISALIGNED_STORE 6
#define CAUSE_STORE_ACCESS 7
#define CAUSE_FETCH_ACCESS 1
#define CAUSE_FETCH_PAGE 12
#define CAUSE_LOAD_PAGE 13
#define CAUSE_STORE_PAGE 15

/* The frame a trap leaves: x0..x31, then these. */
#define FRAME_PC 256
#define FRAME_STATUS 264
#define FRAME_SIZE 272

#ifndef __ASSEMBLER__
#include <stdint.h>

struct frame {
    uint64_t x[32], pc, status;
};
_Static_assert(sizeof(struct frame) == FRAME_SIZE, "frame");

#define read_csr(name) ({ uint64_t v_; __asm__ volatile("csrr %0, " #name : "=r"(v_)); v_; })
#define write_csr(name, value) __asm__ volatile("csrw " #name ", %0" ::"r"(value) : "memory")
#endif
