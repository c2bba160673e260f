/* Processes and signals, for syscall emulation (docs/syscall-emulation.md): prints the same natively and simulated, for each
 * instruction set. `children`: the checks; `children child ...`: what they execute. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "children.h"

extern char **environ;
static const char *self;

static volatile int shared = 1;
/* An address that is never mapped; the compiler need not know. */
static volatile uintptr_t low = 16;

static void forks(void)
{
	double x = 1.5;
	char *heap = malloc(100000);
	memset(heap, 'h', 100000);
	pid_t pid = start();
	if (pid == 0) {
		shared = 2;
		heap[99999] = 'c';
		_exit(x * 2 == 3.0 && heap[5] == 'h' ? 7 : 1);
	}
	int status = ended(pid);
	printf("fork: %d, memory kept %d, x %.1f\n", status, shared == 1 && heap[99999] == 'h', x);
	free(heap);

	pid = start();
	if (pid == 0)
		abort();
	printf("abort: %d\n", ended(pid));
	pid = start();
	if (pid == 0) {
		for (;;)
			pause();
	}
	printf("alive: %d\n", waitpid(pid, NULL, WNOHANG));
	kill(pid, SIGTERM);
	printf("terminated: %d\n", ended(pid));
	int nobody = waitpid(-1, NULL, 0);
	printf("nobody: %d %d\n", nobody, errno == ECHILD);
	pid = vfork();
	if (pid == 0) {
		shared = 3;
		_exit(4);
	}
	status = ended(pid);
	printf("vfork: %d, shared %d\n", status, shared);

	siginfo_t info = { 0 };
	pid = start();
	if (pid == 0)
		_exit(getppid() == 0);
	printf("waitid: %d", waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	printf(" %d %d %d", info.si_pid == pid, info.si_code == CLD_EXITED, info.si_status);
	printf(" then %d\n", ended(pid));

	int last = 0, count = 0;
	for (int n = 0; n < 5; n++)
		if (start() == 0)
			_exit(n);
	while ((pid = wait(&status)) > 0) {
		last += WEXITSTATUS(status);
		count++;
	}
	printf("five: %d, sum %d\n", count, last);
}

static void pipes(void)
{
	int ends[2], back[2];
	char buffer[5000];
	if (pipe(ends) || pipe(back))
		exit(1);
	pid_t pid = start();
	if (pid == 0) {
		close(ends[0]);
		close(back[0]);
		/* More than a pipe holds. */
		unsigned sum = 0;
		char *much = malloc(300000);
		for (int n = 0; n < 300000; n++)
			sum += (unsigned char)(much[n] = (char)(n * 7));
		ssize_t written = write(ends[1], much, 300000);
		if (write(back[1], &sum, sizeof sum) != sizeof sum)
			_exit(1);
		_exit(written == 300000 ? 0 : 2);
	}
	close(ends[1]);
	close(back[1]);
	unsigned sum = 0, told = 0, total = 0;
	ssize_t n;
	while ((n = read(ends[0], buffer, sizeof buffer)) > 0) {
		total += n;
		for (ssize_t i = 0; i < n; i++)
			sum += (unsigned char)buffer[i];
	}
	n = read(back[0], &told, sizeof told);
	printf("pipe: %u bytes, sums equal %d, %d\n", total, sum == told && n == sizeof told, ended(pid));
	close(ends[0]);
	close(back[0]);

	/* The one who sleeps less comes first. */
	if (pipe(ends))
		exit(1);
	for (int who = 3; who > 0; who--)
		if (start() == 0) {
			pause_for(150 * who);
			char c = (char)('0' + who);
			_exit(write(ends[1], &c, 1) != 1);
		}
	close(ends[1]);
	struct pollfd p = { ends[0], POLLIN, 0 };
	int ready = poll(&p, 1, 1);
	printf("poll: %d", ready);
	printf(" %d ", poll(&p, 1, -1));
	while (read(ends[0], buffer, 1) == 1)
		putchar(buffer[0]);
	ready = poll(&p, 1, 0);
	printf(" end %d %d\n", ready, p.revents == POLLHUP);
	while (wait(NULL) > 0)
		;
	close(ends[0]);
	if (pipe(ends))
		exit(1);
	pid = start();
	if (pid == 0) {
		pause_for(5);
		_exit(write(ends[1], "x", 1) != 1);
	}
	fd_set set;
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	struct timeval second = { 5, 0 };
	ready = select(ends[0] + 1, &set, NULL, NULL, &second);
	printf("select: %d %d\n", ready, FD_ISSET(ends[0], &set) != 0);
	ended(pid);
	close(ends[0]);
	close(ends[1]);
}

static int run(char *const args[], char *out, size_t size)
{
	int ends[2];
	posix_spawn_file_actions_t actions;
	pid_t pid;
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	fflush(stdout);
	int failed = posix_spawn(&pid, args[0], &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	size_t at = 0;
	ssize_t n = 0;
	while (!failed && (n = read(ends[0], out + at, size - 1 - at)) > 0)
		at += (size_t)n;
	out[at] = 0;
	close(ends[0]);
	return failed ? -failed : ended(pid);
}

static void programs(void)
{
	char out[1000];
	char *args[] = { (char *)self, "child", "one two", "", NULL };
	setenv("GIVEN", "to the child", 1);
	signal(SIGUSR1, SIG_IGN);
	int status = run(args, out, sizeof out);
	printf("spawned: %d\n%s", status, out);
	signal(SIGUSR1, SIG_DFL);

	FILE *f = fopen("garbage", "w");
	fputs("neither", f);
	fclose(f);
	int fail[3];
	fail[0] = run((char *[]){ "nothing", NULL }, out, sizeof out);
	fail[1] = run((char *[]){ "garbage", NULL }, out, sizeof out);
	fail[2] = (chmod("garbage", 0755), execv("garbage", (char *[]){ "garbage", NULL }), errno);
	printf("not executed: %d %d %d\n", fail[0] == -ENOENT, fail[1] == -EACCES, fail[2] == ENOEXEC);
	unlink("garbage");
}

static volatile sig_atomic_t count, depth, deepest, where;
static char *volatile alternate;
static siginfo_t last;

static void handler(int number, siginfo_t *info, void *context)
{
	double more = 0.5;
	char here;
	(void)context;
	last = *info;
	where = alternate && &here >= alternate && &here < alternate + 65536;
	depth++;
	if (depth > deepest)
		deepest = depth;
	count += number == info->si_signo && more * count < 1e9;
	if (number == SIGUSR1 && depth == 1)
		raise(SIGUSR2);
	depth--;
}

static void on(int number, int flags)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };
	sigaction(number, &action, NULL);
}

static sigjmp_buf out;
static void jump(int number, siginfo_t *info, void *context)
{
	(void)context;
	last = *info;
	siglongjmp(out, number);
}

static void handlers(void)
{
	double x = 1.25;
	on(SIGUSR1, 0);
	on(SIGUSR2, 0);
	int raised = raise(SIGUSR1);
	printf("raise: %d, %d handled, %d deep, x %.2f, own %d\n", raised, (int)count, (int)deepest, x * 2,
	       last.si_code == SI_TKILL && last.si_pid == getpid());
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	count = 0;
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGUSR2);
	sigset_t pending;
	sigpending(&pending);
	printf("blocked: %d, pending %d", (int)count, sigismember(&pending, SIGUSR2));
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf(", then %d\n", (int)count);

	char *stack = malloc(65536);
	alternate = stack;
	stack_t s = { .ss_sp = stack, .ss_size = 65536 };
	sigaltstack(&s, NULL);
	on(SIGUSR2, SA_ONSTACK | SA_RESETHAND);
	raise(SIGUSR2);
	struct sigaction now;
	sigaction(SIGUSR2, NULL, &now);
	printf("alternate stack: %d, reset %d\n", (int)where, now.sa_handler == SIG_DFL);
	alternate = NULL;

	struct sigaction action = { .sa_sigaction = jump, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	sigaction(SIGSEGV, &action, NULL);
	for (int n = 0; n < 2; n++) {
		int number = sigsetjmp(out, 1);
		if (number == 0)
			*(volatile char *)(n ? (uintptr_t)0x1234567 : low) = 1;
		printf("fault: %d at %#lx, code %d\n", number == SIGSEGV, (long)last.si_addr, last.si_code);
	}
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int number = sigsetjmp(out, 1);
	if (number == 0)
		*(volatile char *)(page + 7) = 1;
	printf("rights: %d %d, code %d\n", number == SIGSEGV, last.si_addr == page + 7, last.si_code);
	signal(SIGSEGV, SIG_DFL);
	pid_t pid = start();
	if (pid == 0) {
		*(volatile char *)low = 1;
		_exit(0);
	}
	printf("not handled: %d\n", ended(pid));

	/* Many values live across a handler. */
	count = 0;
	on(SIGUSR2, SA_NODEFER);
	double a[32], total = 0;
	for (int n = 0; n < 32; n++)
		a[n] = n * 0.5;
	for (int n = 0; n < 32; n++) {
		total += a[n] * a[31 - n];
		raise(SIGUSR2);
	}
	printf("kept: %.2f, %d handled\n", total, (int)count);
	s.ss_flags = SS_DISABLE;
	sigaltstack(&s, NULL);
	free(stack);
}

static void timers(void)
{
	count = 0;
	on(SIGALRM, 0);
	alarm(1);
	int paused = pause();
	printf("alarm: %d %d, %d handled, left %u\n", paused, errno == EINTR, (int)count, alarm(0));
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } }, none = { 0 };
	setitimer(ITIMER_REAL, &every, NULL);
	sigset_t all, old;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	sigset_t but = all;
	sigdelset(&but, SIGALRM);
	while (count < 4)
		sigsuspend(&but);
	setitimer(ITIMER_REAL, &none, NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("timer: %d\n", (int)count);
	struct timespec before, after, t = { 0, 30000000 };
	clock_gettime(CLOCK_MONOTONIC, &before);
	nanosleep(&t, NULL);
	clock_gettime(CLOCK_MONOTONIC, &after);
	long ms = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
	printf("slept: %d\n", ms >= 30);
}

static void between(void)
{
	int ends[2];
	char c;
	if (pipe(ends))
		exit(1);
	for (int restart = 0; restart < 2; restart++) {
		count = 0;
		on(SIGUSR2, restart ? SA_RESTART : 0);
		pid_t parent = getpid(), pid = start();
		if (pid == 0) {
			pause_for(20);
			kill(parent, SIGUSR2);
			pause_for(40);
			_exit(write(ends[1], "w", 1) != 1);
		}
		ssize_t n = read(ends[0], &c, 1);
		printf("read: %d %d, %d handled, from the child %d\n", (int)n, n < 0 && errno == EINTR, (int)count,
		       last.si_pid == pid && last.si_code == SI_USER);
		if (n < 0)
			n = read(ends[0], &c, 1);
		ended(pid);
	}
	close(ends[0]);
	count = 0;
	on(SIGPIPE, 0);
	ssize_t n = write(ends[1], "w", 1);
	printf("broken: %d %d, %d handled\n", (int)n, errno == EPIPE, (int)count);
	signal(SIGPIPE, SIG_DFL);
	pid_t pid = start();
	if (pid == 0)
		_exit(write(ends[1], "w", 1) != 1);
	printf("broken: %d\n", ended(pid));
	close(ends[1]);

	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	on(SIGCHLD, 0);
	sigprocmask(SIG_BLOCK, &set, &old);
	count = 0;
	pid = start();
	if (pid == 0)
		_exit(9);
	siginfo_t info;
	int got = sigwaitinfo(&set, &info);
	printf("child: %d, %d %d %d, %d handled\n", got == SIGCHLD, info.si_pid == pid, info.si_code == CLD_EXITED,
	       info.si_status, (int)count);
	sigprocmask(SIG_SETMASK, &old, NULL);
	ended(pid);
	pid = start();
	if (pid == 0)
		_exit(0);
	int status = ended(pid);
	printf("child: %d, %d handled\n", status, (int)count);
	signal(SIGCHLD, SIG_IGN);
	pid = start();
	if (pid == 0)
		_exit(0);
	int none = waitpid(pid, NULL, 0);
	printf("ignored: %d %d\n", none, errno == ECHILD);
	signal(SIGCHLD, SIG_DFL);

	/* A group of its own. */
	pid = start();
	if (pid == 0) {
		setpgid(0, 0);
		if (start() == 0)
			for (;;)
				pause();
		for (;;)
			pause();
	}
	pause_for(20);
	/* Not SIGINT: a shell's background job ignores it from the start. */
	int sent = kill(-pid, SIGTERM);
	printf("group: %d, %d\n", sent, ended(pid));
}

static void events(void)
{
	int ends[2], list = epoll_create1(EPOLL_CLOEXEC), number = eventfd(3, EFD_NONBLOCK);
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	int signals = signalfd(-1, &set, SFD_NONBLOCK);
	if (pipe(ends) || list < 0 || number < 0 || signals < 0)
		exit(1);
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = 0x123456789abcdefULL }, found[4];
	int added = epoll_ctl(list, EPOLL_CTL_ADD, ends[0], &e);
	int twice = epoll_ctl(list, EPOLL_CTL_ADD, ends[0], &e) < 0 && errno == EEXIST;
	e.events = EPOLLIN | EPOLLONESHOT;
	e.data.u64 = 2;
	added += epoll_ctl(list, EPOLL_CTL_ADD, signals, &e);
	printf("epoll: %d, twice %d, nothing %d\n", added, twice, epoll_wait(list, found, 4, 0));
	pid_t parent = getpid(), pid = start();
	if (pid == 0) {
		pause_for(20);
		int failed = write(ends[1], "w", 1) != 1;
		pause_for(40);
		_exit(failed + kill(parent, SIGUSR1));
	}
	int n = epoll_wait(list, found, 4, -1);
	printf("written: %d, %#x, %d\n", n, found[0].events, found[0].data.u64 == 0x123456789abcdefULL);
	epoll_ctl(list, EPOLL_CTL_DEL, ends[0], NULL);
	n = epoll_wait(list, found, 4, 5000);
	printf("signal: %d, %d, then %d\n", n, (int)found[0].data.u64, epoll_wait(list, found, 4, 1));
	struct signalfd_siginfo info;
	ssize_t got = read(signals, &info, sizeof info);
	printf("signalfd: %d, %d, from the child %d", got == sizeof info, info.ssi_signo == SIGUSR1,
	       info.ssi_pid == (uint32_t)pid);
	got = read(signals, &info, sizeof info);
	printf(", then %d %d\n", (int)got, errno == EAGAIN);
	ended(pid);
	sigprocmask(SIG_SETMASK, &old, NULL);

	uint64_t value = 4;
	got = write(number, &value, sizeof value);
	n = read(number, &value, sizeof value);
	int again = read(number, &value, sizeof value) < 0 && errno == EAGAIN;
	printf("eventfd: %d %d %d, again %d\n", (int)got, n, (int)value, again);
	int memory = memfd_create("name", MFD_CLOEXEC);
	got = write(memory, "in memory", 9);
	lseek(memory, 3, SEEK_SET);
	char text[20] = { 0 };
	n = read(memory, text, sizeof text - 1);
	struct stat st;
	fstat(memory, &st);
	printf("memfd: %d %d <%s>, %d bytes\n", (int)got, n, text, (int)st.st_size);
	close(memory);
	close(number);
	close(signals);
	close(list);
	close(ends[0]);
	close(ends[1]);
}

static int child(int count_of, char **args)
{
	struct sigaction action;
	sigaction(SIGUSR1, NULL, &action);
	printf("  %d arguments, <%s> <%s>, %s, ignored %d\n", count_of, args[2], args[3], getenv("GIVEN"),
	       action.sa_handler == SIG_IGN);
	int open = 0;
	for (int fd = 3; fd < 20; fd++)
		open += fcntl(fd, F_GETFD) >= 0;
	printf("  %d more descriptors\n", open);
	return 33;
}

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 1 && strcmp(argv[1], "child") == 0)
		return child(argc, argv);
	forks();
	pipes();
	programs();
	handlers();
	timers();
	between();
	events();
	return 5;
}
