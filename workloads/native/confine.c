/* confine PROGRAM WORD...: becomes a program that may compute, and read and write the files that it was given open.

   Whatever else it asks of the system (to open a file, a socket, a process, another's memory) is answered as if the system
   knew of no such call. It runs somebody else's routine in the native engine's harness; the filter holds from the program's
   first instruction on, so for code ahead of its main, too. Where the kernel has no seccomp the program runs all the same:
   breakeven/files/sandbox.py bounds it in other ways. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __riscv
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#define ARCHITECTURE AUDIT_ARCH_X86_64
#endif

#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW (1UL << 2)
#endif

/* What a static C program does as it starts and ends, and what the harness does (native.c). */
static const unsigned short allowed[] = {
    SYS_execve, SYS_exit, SYS_exit_group, SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_set_tid_address,
    SYS_set_robust_list, SYS_rseq, SYS_getrandom, SYS_read, SYS_write, SYS_lseek, SYS_close, SYS_fstat, SYS_newfstatat,
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_clock_gettime, SYS_futex,
#ifdef __riscv
    SYS_perf_event_open, /* of the cycle counter */
    258, 259,            /* riscv_hwprobe, riscv_flush_icache */
#else
    SYS_arch_prctl,
#endif
};
/* What may be asked with one value of an argument alone. */
static const struct {
    unsigned short number, argument;
    unsigned value;
} conditional[] = {
    {SYS_sched_setaffinity, 0, 0},  /* pins itself, no other process */
    {SYS_fcntl, 1, F_GETFL},        /* how a file is open */
    /* As root, other advice can take a page of the host's memory out of use. */
    {SYS_madvise, 2, MADV_DONTNEED},
    {SYS_madvise, 2, MADV_NOHUGEPAGE},
};
enum { ALLOWED = sizeof allowed / sizeof *allowed, CONDITIONAL = sizeof conditional / sizeof *conditional };

/* Without the flag kernels before 5.16 would also make speculation slower, and with it what is measured. */
static int install(struct sock_fprog *program) {
    if (!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, program))
        return 0;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
}

static int confine(void) {
    struct sock_filter code[2 * ALLOWED + 5 * CONDITIONAL + 8];
    struct sock_filter *at = code;
    const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_filter number =
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    *at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    *at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    *at++ = number;
    for (unsigned i = 0; i < ALLOWED; i++) {
        *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
        *at++ = allow;
    }
    for (unsigned i = 0; i < CONDITIONAL; i++) {
        unsigned low = offsetof(struct seccomp_data, args) + 8 * conditional[i].argument;
        *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, conditional[i].number, 0, 4);
        *at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low);
        *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, conditional[i].value, 0, 1);
        *at++ = allow;
        *at++ = number;
    }
    *at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
    struct sock_fprog program = {.len = (unsigned short)(at - code), .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    /* ENOSYS, EINVAL: a kernel without it. */
    return install(&program) && errno != ENOSYS && errno != EINVAL ? -1 : 0;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s PROGRAM WORD...\n", argv[0]);
        return 2;
    }
    if (confine()) {
        perror("cannot confine");
        return 2;
    }
    execv(argv[1], argv + 1);
    perror(argv[1]);
    return 2;
}
