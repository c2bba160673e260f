/* For tests under qemu: from a PVH entry (32-bit protected mode, no paging) to the state that gem5 starts a kernel in.
   */
.intel_syntax noprefix

#define CR0_PG 0x80000000
#define CR4_PAE 0x20
#define EFER 0xc0000080
#define EFER_LME 0x100
#define XEN_ELFNOTE_PHYS32_ENTRY 18
#define GIGABYTES 4
#define PAGE_BITS 0x83 /* present, writable, 2 MiB */

    .pushsection .note.Xen, "a", @note
    .long 4, 4, XEN_ELFNOTE_PHYS32_ENTRY
    .asciz "Xen"
    .long pvh_entry
    .popsection

    .section .boot_tables, "aw", @nobits
    .balign 4096
boot_root:
    .zero 4096
boot_gigabytes:
    .zero 4096
boot_low:
    .zero 4096 * GIGABYTES

    .section .data
    .balign 8
boot_gdt:
    .quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff /* none, 64-bit code, data */
boot_gdt_end:
boot_gdtr:
    .short boot_gdt_end - boot_gdt - 1
    .quad boot_gdt

    .text
    .code32
    .balign 16
pvh_entry:
    cli
    lea eax, boot_gigabytes
    or eax, 3
    mov [boot_root], eax
    lea edi, boot_gigabytes
    lea eax, boot_low
    or eax, 3
    mov ecx, GIGABYTES
1:  mov [edi], eax
    add edi, 8
    add eax, 4096
    dec ecx
    jnz 1b
    lea edi, boot_low
    mov eax, PAGE_BITS
    mov ecx, 512 * GIGABYTES
2:  mov [edi], eax
    add edi, 8
    add eax, 0x200000
    dec ecx
    jnz 2b

    lgdt [boot_gdtr]
    mov eax, cr4
    or eax, CR4_PAE
    mov cr4, eax
    lea eax, boot_root
    mov cr3, eax
    mov ecx, EFER
    rdmsr
    or eax, EFER_LME
    wrmsr
    mov eax, cr0
    or eax, CR0_PG
    mov cr0, eax
    mov eax, 16
    mov ds, eax
    mov es, eax
    mov ss, eax
    .att_syntax
    ljmp $8, $_start
.section .note.GNU-stack, "", @progbits
