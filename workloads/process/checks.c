/* A Linux program that uses its C library and its kernel in many small ways and prints what came of it. It prints the same
 * natively, under qemu-user and under the simulator's syscall emulation: times, addresses and process numbers are judged
 * here, never printed. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void arguments(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("argv[%d] = %s\n", i, argv[i]);
	const char *value = getenv("CHECKS");
	printf("CHECKS = %s\n", value ? value : "(none)");
}

static void numbers(void)
{
	volatile double third = 1.0 / 3, huge = 1e300, tiny = 5e-324, zero = 0;
	printf("%d %u %lx %c %s %5d|%-5d|%05d %%\n", -5, 7u, 0xfeedfacecafel, 'x', "str", 42, 42, 42);
	printf("%f %e %g %.17g %a\n", third, third * 1e20, huge, third, third);
	printf("%g %g %g %f\n", tiny, -1 / zero, huge * huge, -zero);
	printf("%.0f %.3f %10.2f|%-10.2f|\n", 2.5, 1234.5678, 3.14159, 2.71828);
	printf("%.1f %.15f %.20e\n", 1e22, 0.1, 0.1);
	printf("%a %.6f\n", strtod("0x1.8p3", NULL), strtod("3.25e-2", NULL));
	printf("%.17g %.17g\n", strtod("1.7976931348623157e308", NULL), strtod("2.2250738585072011e-308", NULL));
	int a = 0, b = 0;
	double f = 0;
	int got = sscanf("12 0x1f 2.5e3", "%d %i %lf", &a, &b, &f);
	printf("%d: %d %d %g\n", got, a, b, f);
	printf("%.12f %.12f %.12f %.12f\n", sqrt(2), floor(-2.5), fmod(7.5, 2), ldexp(0.75, 4));
	printf("%lld %llu %ld\n", (long long)(1e15 + third), (unsigned long long)1.8e19, lround(2.5));
}

/* Extended precision on x86-64, quadruple on RISC-V. */
static void long_doubles(void)
{
	volatile long double third = 1.0L / 3, two = 2, big = 1e310L, zero = 0;
	printf("%.15Lf %Lg %.18Le\n", third, big * third, third);
	printf("%.15Lf %.15Lf %Lg %Lg\n", sqrtl(two), fmodl(1e18L + 7, 1000), floorl(-third), big * big);
	printf("%d%d%d%d %lld %lld\n", third < two, third == two, third > -two, zero / zero == zero / zero, llrintl(2.5L),
	       (long long)(third * 1e10L));
	printf("%.10Lf %Lg\n", strtold("123456789.123456789", NULL), strtold("1e-320", NULL));
	float f = (float)(third * 7);
	double d = (double)(two / 7) + 12345678901LL;
	printf("%.9g %.17g %u\n", f, d, (unsigned)(third * 1e10L / 4));
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static void heap(void)
{
	enum { COUNT = 2000 };
	uint32_t *list = malloc(COUNT * sizeof *list), state = 1;
	for (int i = 0; i < COUNT; i++) {
		state = state * 1664525 + 1013904223;
		list[i] = state >> 8;
	}
	qsort(list, COUNT, sizeof *list, by_value);
	int ordered = 1;
	for (int i = 1; i < COUNT; i++)
		ordered &= list[i - 1] <= list[i];
	printf("sorted %d: %u .. %u\n", ordered, list[0], list[COUNT - 1]);
	free(list);
	/* Small blocks, then one that is mapped and grows by mremap. */
	char *small[64];
	for (int i = 0; i < 64; i++)
		memset(small[i] = malloc(i * 37 + 1), i, i * 37 + 1);
	int whole = 1;
	for (int i = 0; i < 64; i++) {
		whole &= small[i][i * 37] == i;
		free(small[i]);
	}
	size_t size = 1 << 20;
	char *large = malloc(size);
	memset(large, 'a', size);
	large = realloc(large, 4 * size);
	whole &= large[size - 1] == 'a';
	large[4 * size - 1] = 'z';
	free(large);
	printf("heap %d\n", whole);
}

static void memory(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	p[0] = p[3 * page - 1] = 1;
	int ok = mprotect(p, page, PROT_READ) == 0 && p[0] == 1;
	/* The kernel looks at rights as the processor does. */
	int fd = open("/dev/zero", O_RDONLY);
	errno = 0;
	ssize_t n = read(fd, p, 8);
	printf("read into a read-only page: %zd %s\n", n, strerror(errno));
	close(fd);
	ok &= munmap(p + page, page) == 0;
	errno = 0;
	n = write(1, p + page, 1);
	printf("write from no page: %zd %s\n", n, strerror(errno));
	ok &= munmap(p, 3 * page) == 0;
	void *far = mmap(NULL, 1ul << 36, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ok &= far != MAP_FAILED && munmap(far, 1ul << 36) == 0;
	errno = 0;
	ok &= mmap(NULL, ~0ul >> 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == ENOMEM;
	/* Not every library's sbrk may be used. */
	char *old = (char *)syscall(SYS_brk, 0);
	ok &= syscall(SYS_brk, old + (1 << 16)) == (long)(old + (1 << 16)) && (old[100] = 1);
	ok &= syscall(SYS_brk, old) == (long)old;
	printf("memory %d\n", ok);
}

static void text(void)
{
	char a[200], b[200];
	int ok = 1;
	/* All lengths and offsets of the library's own copies, whichever it chooses on this processor. */
	for (int offset = 0; offset < 20; offset++)
		for (int n = 0; n < 150; n += 7) {
			memset(a, 1, sizeof a);
			for (int i = 0; i < n; i++)
				a[i] = 'a' + i % 26;
			a[n] = 0;
			memset(b, 2, sizeof b);
			strcpy(b + offset, a);
			ok &= (int)strlen(b + offset) == n && !memcmp(a, b + offset, n + 1) && b[offset + n + 1] == 2;
			ok &= strchr(b + offset, 0) == b + offset + n && strcmp(a, b + offset) == 0;
			memmove(b + 1, b, n + offset);
			ok &= memchr(b, 0, sizeof b) == b + offset + 1 + n || n + offset == 0 || n == 0 || b[offset + n] != 0;
		}
	printf("text %d %s %d\n", ok, strstr("one two three", "two"), toupper('q'));
	char words[] = "a,b;c";
	for (char *w = strtok(words, ",;"); w; w = strtok(NULL, ",;"))
		printf("<%s>", w);
	putchar('\n');
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void files(void)
{
	FILE *f = fopen("made.txt", "w+");
	if (!f) {
		printf("files: %s\n", strerror(errno));
		return;
	}
	for (int i = 0; i < 1000; i++)
		fprintf(f, "line %d\n", i);
	fseek(f, 0, SEEK_SET);
	char line[64];
	int count = 0;
	while (fgets(line, sizeof line, f))
		count++;
	printf("%d lines, the last is %s", count, line);
	fclose(f);
	f = fopen("made.txt", "a");
	fputs("appended\n", f);
	fclose(f);
	struct stat st;
	int r = stat("made.txt", &st);
	printf("stat %d: %ld bytes, regular %d\n", r, (long)st.st_size, S_ISREG(st.st_mode));
	int fd = open("made.txt", O_RDWR);
	struct iovec parts[2] = { { "ab", 2 }, { "cd", 2 } };
	ssize_t n = writev(fd, parts, 2);
	memset(line, 0, sizeof line);
	ssize_t m = pread(fd, line, 6, 0);
	printf("writev %zd pread %zd: %.6s at %ld\n", n, m, line, (long)lseek(fd, 0, SEEK_CUR));
	int copy = dup(fd);
	lseek(copy, -5, SEEK_END);
	m = read(fd, line, 60);
	printf("through the other: %zd %.*s", m, (int)m, line);
	char *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	printf("mapped: %.4s\n", map);
	r = ftruncate(fd, 10);
	printf("truncate %d %ld\n", r, fstat(copy, &st) ? -1 : (long)st.st_size);
	close(fd);
	close(copy);
	printf("mkdir %d", mkdir("sub", 0755));
	printf(" rename %d", rename("made.txt", "sub/kept.txt"));
	printf(" chdir %d", chdir("sub"));
	printf(" access %d\n", access("kept.txt", R_OK));
	char cwd[4096];
	printf("in %s\n", getcwd(cwd, sizeof cwd) ? strrchr(cwd, '/') : "nowhere");
	printf("back %d", chdir(".."));
	printf(", there %d\n", access("sub/kept.txt", F_OK));
	DIR *d = opendir("sub");
	char names[8][64];
	int found = 0;
	for (struct dirent *e; d && (e = readdir(d)) && found < 8;)
		snprintf(names[found++], 64, "%.63s", e->d_name);
	qsort(names, found, sizeof *names, by_name);
	for (int i = 0; i < found; i++)
		printf("%s ", names[i]);
	printf("\nunlink %d", unlink("sub/kept.txt"));
	printf(" rmdir %d", rmdir("sub"));
	printf(" again %d\n", rmdir("sub") == -1 ? errno : 0);
	if (d)
		closedir(d);
	fd = open("missing", O_RDONLY);
	printf("no such file: %d %s\n", fd, strerror(errno));
	errno = 0;
	ssize_t bad = write(99, "x", 1);
	printf("no such descriptor: %zd %s\n", bad, strerror(errno));
}

static void input(void)
{
	char *line = NULL;
	size_t room = 0;
	int lines = 0;
	ssize_t n, bytes = 0;
	while ((n = getline(&line, &room, stdin)) > 0) {
		lines++;
		bytes += n;
	}
	free(line);
	printf("input: %d lines, %zd bytes\n", lines, bytes);
}

static jmp_buf back;

static void system_calls(void)
{
	struct timespec a, b;
	struct timeval now;
	int ok = clock_gettime(CLOCK_MONOTONIC, &a) == 0;
	volatile int spin = 0;
	for (int i = 0; i < 1000; i++)
		spin += i;
	ok &= clock_gettime(CLOCK_MONOTONIC, &b) == 0;
	ok &= b.tv_sec > a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec >= a.tv_nsec);
	ok &= gettimeofday(&now, NULL) == 0 && now.tv_sec >= 1000000000 && time(NULL) >= 1000000000;
	struct tm *tm = gmtime(&(time_t){ 86400 });
	printf("time %d %d-%02d-%02d\n", ok, tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday);
	struct utsname u;
	printf("%d %s\n", uname(&u), u.sysname);
	unsigned char bytes[32] = { 0 };
	int sum = 0;
	printf("getrandom %zd", getrandom(bytes, sizeof bytes, 0));
	for (int i = 0; i < 32; i++)
		sum |= bytes[i];
	printf(" %d, pid %d, uid %d\n", sum != 0, getpid() > 0, getuid() == geteuid());
	struct sigaction old;
	signal(SIGUSR1, SIG_IGN);
	printf("ignored %d", raise(SIGUSR1));
	printf(", kept %d\n", sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == SIG_IGN);
	volatile int again = setjmp(back);
	if (again < 3)
		longjmp(back, again + 1);
	printf("setjmp %d, terminal %d, cores %d\n", again, isatty(1), sysconf(_SC_NPROCESSORS_ONLN) > 0);
}

int main(int argc, char **argv)
{
	arguments(argc, argv);
	numbers();
	long_doubles();
	heap();
	memory();
	text();
	files();
	input();
	system_calls();
	fflush(stdout);
	fprintf(stderr, "to the standard error output\n");
	return 42;
}
