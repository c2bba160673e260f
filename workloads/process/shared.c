/* Locks, shared memory, and signals in loops without calls, for syscall emulation (docs/syscall-emulation.md): prints the
 * same natively and simulated, for each instruction set. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "children.h"

#define PAGE 4096

static void *map(size_t size, int rights, int flags, int fd, off_t from)
{
	void *at = mmap(NULL, size, rights, flags, fd, from);
	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return at;
}

static int file(const char *name, const char *text, size_t size)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || ftruncate(fd, (off_t)size))
		exit(1);
	return fd;
}

static int lock(int fd, int command, short kind, off_t from, off_t len)
{
	struct flock l = { .l_type = kind, .l_whence = SEEK_SET, .l_start = from, .l_len = len };
	return fcntl(fd, command, &l) ? -errno : l.l_type;
}

static volatile int *word;

static void tell(int step)
{
	__atomic_store_n(word, step, __ATOMIC_SEQ_CST);
}
/* Without a call: only the clock lets the other process run. */
static void until(int step)
{
	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) < step)
		;
}

static void locks(void)
{
	int fd = file("locked", "0123456789", 10);
	tell(0);
	printf("set: %d %d\n", lock(fd, F_SETLK, F_WRLCK, 2, 4), lock(fd, F_SETLK, F_RDLCK, 8, 0));
	pid_t parent = getpid(), pid = start();
	if (pid == 0) {
		/* A child inherits none. */
		struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0 };
		fcntl(fd, F_GETLK, &l);
		printf("seen: %d of the parent %d, %d from %d, %d bytes\n", l.l_type == F_WRLCK, l.l_pid == parent,
		       l.l_whence == SEEK_SET, (int)l.l_start, (int)l.l_len);
		l = (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -1, .l_len = 1 };
		fcntl(fd, F_GETLK, &l);
		printf("at the end: %d from %d, %d bytes\n", l.l_type == F_RDLCK, (int)l.l_start, (int)l.l_len);
		printf("refused: %d", lock(fd, F_SETLK, F_WRLCK, 0, 3) == -EAGAIN);
		printf(" %d, granted: %d", lock(fd, F_SETLK, F_RDLCK, 5, 1) == -EAGAIN, lock(fd, F_SETLK, F_WRLCK, 6, 2));
		printf(" %d\n", lock(fd, F_SETLK, F_RDLCK, 9, 1));
		fflush(stdout);
		tell(1);
		int got = lock(fd, F_SETLKW, F_WRLCK, 0, 4);
		printf("waited: %d, word %d\n", got == F_WRLCK, *word);
		fflush(stdout);
		tell(3);
		until(4);
		_exit(0);
	}
	until(1);
	struct timespec t = { 0, 20000000 };
	nanosleep(&t, NULL);
	tell(2);
	/* Closing any descriptor of the file releases all that the process has. */
	close(dup(fd));
	until(3);
	printf("the child's: %d", lock(fd, F_SETLK, F_RDLCK, 3, 1) == -EAGAIN);
	printf(" %d\n", lock(fd, F_SETLK, F_WRLCK, 4, 1));
	tell(4);
	int status = ended(pid);
	printf("then: %d, free %d\n", status, lock(fd, F_SETLK, F_WRLCK, 0, 0));

	/* Both wait for the other one's. */
	lock(fd, F_SETLK, F_UNLCK, 0, 0);
	tell(0);
	lock(fd, F_SETLK, F_WRLCK, 0, 1);
	pid = start();
	if (pid == 0) {
		lock(fd, F_SETLK, F_WRLCK, 1, 1);
		tell(1);
		_exit(lock(fd, F_SETLKW, F_WRLCK, 0, 1) == F_WRLCK ? 5 : 6);
	}
	until(1);
	nanosleep(&t, NULL);
	printf("deadlock: %d", lock(fd, F_SETLKW, F_WRLCK, 1, 1) == -EDEADLK);
	lock(fd, F_SETLK, F_UNLCK, 0, 1);
	printf(", the child %d\n", ended(pid));

	/* Of open files: a second description of the same process is somebody else, a child's descriptor is not. */
	int other = open("locked", O_RDWR);
	printf("open file: %d", lock(fd, F_OFD_SETLK, F_WRLCK, 0, 5));
	printf(" %d", lock(other, F_OFD_SETLK, F_WRLCK, 4, 5) == -EAGAIN);
	struct flock l = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0 };
	fcntl(other, F_OFD_GETLK, &l);
	printf(" %d %d", l.l_type == F_WRLCK, (int)l.l_pid);
	pid = start();
	if (pid == 0)
		_exit(lock(fd, F_OFD_SETLK, F_RDLCK, 0, 5) == F_RDLCK ? 7 : 8);
	printf(", the child's %d", ended(pid));
	printf(", now shared %d", lock(other, F_OFD_SETLK, F_RDLCK, 4, 5));
	printf(", not for writing %d\n", lock(other, F_SETLK, F_WRLCK, 0, 1) == -EAGAIN);
	lock(fd, F_OFD_SETLK, F_UNLCK, 0, 0);
	lock(other, F_OFD_SETLK, F_UNLCK, 0, 0);

	printf("flock: %d", flock(fd, LOCK_EX));
	printf(" %d", flock(other, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK);
	printf(" %d", flock(fd, LOCK_SH));
	printf(" %d", flock(other, LOCK_SH | LOCK_NB));
	printf(" %d", flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK);
	flock(other, LOCK_UN);
	close(fd);
	printf(" %d %d\n", flock(other, LOCK_EX | LOCK_NB), flock(other, 3) < 0 && errno == EINVAL);
	int reads = open("locked", O_RDONLY);
	printf("rights: %d %d\n", lock(reads, F_SETLK, F_WRLCK, 0, 1) == -EBADF, lock(reads, F_SETLK, F_RDLCK, -1, 1) == -EINVAL);
	close(reads);
	close(other);
	unlink("locked");
}

static sigjmp_buf out;
static siginfo_t last;
static void jump(int number, siginfo_t *info, void *context)
{
	(void)context;
	last = *info;
	siglongjmp(out, number);
}

static void memory(void)
{
	long *counts = map(3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *own = map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	counts[0] = 1;
	pid_t pids[4];
	for (int n = 0; n < 4; n++) {
		pids[n] = start();
		if (pids[n] == 0) {
			for (int i = 0; i < 1000; i++)
				__atomic_fetch_add(counts, 1, __ATOMIC_SEQ_CST);
			/* A page that nobody has touched before. */
			__atomic_fetch_add(counts + 2 * PAGE / sizeof *counts, n, __ATOMIC_SEQ_CST);
			own[0] = 1;
			_exit(0);
		}
	}
	for (int n = 0; n < 4; n++)
		ended(pids[n]);
	printf("shared: %ld, %ld, own %d\n", counts[0], counts[2 * PAGE / sizeof *counts], own[0]);
	counts = mremap(counts, 3 * PAGE, 2 * PAGE, 0);
	pid_t pid = start();
	if (pid == 0) {
		counts[1] = 5;
		mprotect(counts, PAGE, PROT_READ);
		_exit((int)counts[1]);
	}
	int status = ended(pid);
	printf("after: %d %ld\n", status, counts[1]);
	munmap(counts, 2 * PAGE);
	munmap(own, PAGE);

	/* A file: seen by read, seen from write, by two maps and by a child; nothing behind its end. */
	char text[100] = "";
	int fd = file("mapped", "as it was", PAGE + 100);
	char *a = map(2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	char *b = map(PAGE, PROT_READ, MAP_SHARED, fd, PAGE);
	char *copy = map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	printf("file: %s", a);
	memcpy(a, "so", 2);
	memcpy(a + PAGE + 10, "second", 6);
	copy[3] = '-';
	ssize_t n = pread(fd, text, 9, 0);
	printf(", %d %s, %.6s, %d\n", (int)n, text, b + 10, (int)lseek(fd, 0, SEEK_END));
	printf("written: %d", (int)pwrite(fd, "WAS", 3, 6));
	printf(" %s\n", a);
	pid = start();
	if (pid == 0) {
		a[PAGE + 99] = 'e';
		a[PAGE + 100] = 'f';
		_exit(memcmp(b + 10, "second", 6));
	}
	status = ended(pid);
	printf("child: %d, %c", status, b[99]);
	printf(", sync %d %d\n", msync(a, 2 * PAGE, MS_SYNC), msync(a + 1, PAGE, MS_SYNC) < 0 && errno == EINVAL);
	munmap(a, 2 * PAGE);
	munmap(b, PAGE);
	munmap(copy, PAGE);
	FILE *f = fopen("mapped", "r");
	long size = 0, sum = 0;
	for (int c; (c = getc(f)) != EOF; size++)
		sum += c;
	fclose(f);
	printf("kept: %ld bytes, sum %ld\n", size, sum);

	struct sigaction action = { .sa_sigaction = jump, .sa_flags = SA_SIGINFO };
	sigaction(SIGBUS, &action, NULL);
	a = map(3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int number = sigsetjmp(out, 1);
	if (number == 0)
		*(volatile char *)(a + 2 * PAGE) = 1;
	printf("behind the end: %d %d %d\n", number == SIGBUS, last.si_code == BUS_ADRERR, last.si_addr == a + 2 * PAGE);
	munmap(a, 3 * PAGE);
	close(fd);
	fd = open("mapped", O_RDONLY);
	a = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	printf("rights: %d", a == MAP_FAILED && errno == EACCES);
	a = map(PAGE, PROT_READ, MAP_SHARED, fd, 0);
	printf(" %d\n", mprotect(a, PAGE, PROT_READ | PROT_WRITE) < 0 && errno == EACCES);
	munmap(a, PAGE);
	close(fd);
	/* What is appended shows at the end, whatever offset it was to have. */
	fd = open("mapped", O_RDWR);
	int appends = open("mapped", O_WRONLY | O_APPEND);
	a = map(2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	n = pwrite(appends, "end", 3, 0) + write(appends, "ing", 3);
	printf("appended: %d %.3s %s, then %d\n", (int)n, a, a + PAGE + 100, (int)lseek(fd, 0, SEEK_END));
	if (ftruncate(fd, 2) || ftruncate(fd, PAGE))
		exit(1);
	printf("cut: %.9s\n", a);
	munmap(a, 2 * PAGE);
	close(appends);
	close(fd);
	unlink("mapped");

	fd = memfd_create("m", 0);
	if (ftruncate(fd, PAGE))
		exit(1);
	a = map(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pid = start();
	if (pid == 0) {
		strcpy(a, "from the child");
		_exit(0);
	}
	ended(pid);
	n = pread(fd, text, 15, 0);
	printf("memfd: %s, %s\n", a, text);
	munmap(a, PAGE);
	close(fd);
}

struct both {
	sem_t ping, pong;
	int total;
};

static void semaphores(void)
{
	struct both *both = map(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(&both->ping, 1, 0);
	sem_init(&both->pong, 1, 0);
	pid_t pid = start();
	if (pid == 0) {
		for (int n = 0; n < 50; n++) {
			sem_wait(&both->ping);
			both->total += n;
			sem_post(&both->pong);
		}
		_exit(3);
	}
	for (int n = 0; n < 50; n++) {
		sem_post(&both->ping);
		sem_wait(&both->pong);
	}
	int status = ended(pid);
	printf("semaphores: %d, total %d", status, both->total);
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 10000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	printf(", in vain %d\n", sem_timedwait(&both->ping, &t) < 0 && errno == ETIMEDOUT);
	munmap(both, PAGE);
}

static volatile sig_atomic_t count;
static void counted(int number)
{
	(void)number;
	count++;
}

static void loops(void)
{
	struct itimerval every = { { 0, 400 }, { 0, 400 } }, none = { 0 };
	signal(SIGALRM, counted);
	setitimer(ITIMER_REAL, &every, NULL);
	double x = 1;
	uint64_t turns = 0;
	/* What the handler must leave alone: registers, flags, floating point. */
	while (count < 5) {
		x = x * 1.0000001 + 0.5;
		x -= (x - 1) * 0.9;
		turns++;
	}
	setitimer(ITIMER_REAL, &none, NULL);
	printf("timer: %d, turns %d, x %d\n", count >= 5, turns > 100, x > 0.9 && x < 3);

	count = 0;
	signal(SIGUSR1, counted);
	pid_t parent = getpid(), pid = start();
	if (pid == 0) {
		kill(parent, SIGUSR1);
		_exit(0);
	}
	while (count == 0)
		;
	printf("from the child: %d, %d\n", (int)count, ended(pid));

	tell(0);
	pid = start();
	if (pid == 0) {
		tell(1);
		for (;;)
			;
	}
	until(1);
	kill(pid, SIGKILL);
	printf("killed in its loop: %d\n", ended(pid));

	pid = start();
	if (pid == 0) {
		signal(SIGALRM, SIG_DFL);
		struct itimerval once = { { 0, 0 }, { 0, 700 } };
		setitimer(ITIMER_REAL, &once, NULL);
		for (;;)
			;
	}
	printf("ended by its timer: %d\n", ended(pid));
}

int main(void)
{
	word = map(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	locks();
	memory();
	semaphores();
	loops();
	return 0;
}
