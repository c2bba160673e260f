/* Code that changes, for syscall emulation of x86: functions are written, called and written over at random distances, in pages
 * that are writable and executable. The writer is a store of any kind, a store to another mapping of the page, or the kernel.
 * Prints what the functions return: the same natively and simulated. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, SIZE = 3 * PAGE, ROUNDS = 6000, REPORT = 250, RECENT = 64 };
/* mov eax, imm32; nops; ret */
enum { OPCODE = 0xb8, NOP = 0x90, RET = 0xc3, SHORTEST = 6, LONGEST = 21 };

static unsigned char *code, *other;
static int file, tube[2];
static unsigned recent[RECENT];
static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

static void check(int fine, const char *what)
{
	if (!fine) {
		perror(what);
		exit(1);
	}
}

/* Bytes of the function at `at`; 0: there is none. */
static unsigned length_at(unsigned at)
{
	unsigned n = 5;
	if (at + LONGEST > SIZE || code[at] != OPCODE)
		return 0;
	while (n < LONGEST && code[at + n] == NOP)
		n++;
	return n < LONGEST && code[at + n] == RET ? n + 1 : 0;
}

/* A function that was written lately and is still whole; SIZE: none was found. */
static unsigned some_function(void)
{
	for (int tries = 0; tries < 8; tries++) {
		unsigned at = recent[draw(RECENT)];
		if (length_at(at))
			return at;
	}
	return SIZE;
}

static uint32_t call(unsigned at)
{
	/* Serialises: processors ask for it where another mapping has been written. */
	__asm__ volatile("cpuid" : : "a"(0) : "rbx", "rcx", "rdx", "memory");
	return ((uint32_t (*)(void))(void *)(code + at))();
}

static void put(unsigned at, const unsigned char *bytes, unsigned n)
{
	unsigned char *to = (draw(3) ? code : other) + at;
	void *start = to;
	switch (draw(5)) {
	case 0:
		for (unsigned i = 0; i < n; i++)
			((volatile unsigned char *)to)[i] = bytes[i];
		break;
	case 1:
		__asm__ volatile("rep movsb" : "+D"(start), "+S"(bytes), "+c"(n) : : "memory");
		break;
	case 2:
		check(write(tube[1], bytes, n) == (ssize_t)n && read(tube[0], to, n) == (ssize_t)n, "pipe");
		break;
	case 3:
		check(pwrite(file, bytes, n, at) == (ssize_t)n, "pwrite");
		break;
	default:
		memcpy(to, bytes, n);
	}
	__asm__ volatile("" : : : "memory");
}

int main(void)
{
	unsigned last = 0, calls = 0;
	uint32_t sum = 0;

	file = open("rewritten.code", O_RDWR | O_CREAT | O_TRUNC, 0700);
	check(file >= 0 && !unlink("rewritten.code") && !ftruncate(file, SIZE) && !pipe(tube), "file");
	code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, file, 0);
	other = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	check(code != MAP_FAILED && other != MAP_FAILED, "mmap");
	for (unsigned round = 1; round <= ROUNDS; round++) {
		unsigned char bytes[LONGEST];
		unsigned n = SHORTEST + (unsigned)draw(LONGEST - SHORTEST), at, found;
		/* Near the last one, across a page's end, or anywhere. */
		switch (draw(4)) {
		case 0:
			at = (unsigned)draw(SIZE - LONGEST);
			break;
		case 1:
			at = PAGE * (1 + (unsigned)draw(2)) - 1 - (unsigned)draw(LONGEST);
			break;
		default:
			at = (last + SIZE - 80 + (unsigned)draw(160)) % (SIZE - LONGEST);
		}
		memset(bytes, NOP, sizeof bytes);
		bytes[0] = OPCODE;
		uint32_t value = (uint32_t)draw(1ull << 32);
		memcpy(bytes + 1, &value, 4);
		bytes[n - 1] = RET;
		found = some_function();
		if (found < SIZE && draw(3) == 0) { /* another operand for a function that is there */
			at = found;
			put(at + 1 + (unsigned)draw(4), bytes + 1, 1);
		} else {
			put(at, bytes, n);
			recent[round % RECENT] = at;
		}
		for (unsigned k = (unsigned)draw(4); k > 0; k--) {
			found = k == 1 ? at : some_function();
			if (found == SIZE)
				continue;
			last = found;
			sum = sum * 31 + call(found);
			calls++;
		}
		if (round % REPORT == 0)
			printf("%u rounds, %u calls: %08x\n", round, calls, sum);
	}
	return 0;
}
