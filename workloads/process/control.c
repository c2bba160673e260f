/* Job control, named pipes, timers of processor time, for syscall emulation (docs/syscall-emulation.md): prints the same
 * natively and simulated, for each instruction set. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "children.h"

static volatile sig_atomic_t count, stopped, continued;
static volatile unsigned long work;

static void counts(int number)
{
	(void)number;
	count++;
}

static void child_changes(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	stopped += info->si_code == CLD_STOPPED;
	continued += info->si_code == CLD_CONTINUED;
}

static void stops(void)
{
	struct sigaction action = { .sa_sigaction = child_changes, .sa_flags = SA_SIGINFO | SA_RESTART }, old;
	sigaction(SIGCHLD, &action, &old);
	int ends[2], status = 0;
	if (pipe(ends))
		exit(1);
	pid_t pid = start();
	if (pid == 0) {
		for (char c = 'a'; write(ends[1], &c, 1) == 1; c++)
			raise(c == 'b' ? SIGTSTP : SIGSTOP);
	}
	close(ends[1]);
	char c = 0;
	int got = waitpid(pid, &status, WUNTRACED) == pid;
	printf("stopped: %d %d by SIGSTOP %d", got, WIFSTOPPED(status), WSTOPSIG(status) == SIGSTOP);
	printf(", told once %d", waitpid(pid, &status, WUNTRACED | WNOHANG));
	got = read(ends[0], &c, 1) == 1;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	/* A stopped process writes nothing more, whatever is sent to it. */
	kill(pid, SIGUSR1);
	pause_for(20);
	printf(", wrote %d, then %d\n", got && c == 'a', (int)read(ends[0], &c, 1));
	kill(pid, SIGCONT);
	got = waitpid(pid, &status, 0) == pid;
	printf("what came meanwhile: %d by SIGUSR1 %d\n", got, WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
	printf("told: stopped %d\n", (int)stopped);
	close(ends[0]);

	stopped = continued = 0;
	pid = start();
	if (pid == 0) {
		signal(SIGTTIN, SIG_IGN);
		signal(SIGCONT, counts);
		raise(SIGTTIN);
		raise(SIGTSTP);
		int first = count;
		raise(SIGTTOU);
		_exit(10 * first + count);
	}
	waitpid(pid, &status, WUNTRACED);
	printf("SIGTSTP: %d", WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP);
	kill(pid, SIGCONT);
	siginfo_t info = { 0 };
	got = waitid(P_PID, pid, &info, WSTOPPED);
	printf(", SIGTTOU: %d %d %d", got, info.si_code == CLD_STOPPED, info.si_status == SIGTTOU);
	kill(pid, SIGCONT);
	printf(", handled %d\n", ended(pid));

	action.sa_flags |= SA_NOCLDSTOP;
	sigaction(SIGCHLD, &action, NULL);
	stopped = continued = 0;
	pid = start();
	if (pid == 0)
		for (;;)
			pause();
	kill(pid, SIGSTOP);
	got = waitpid(pid, &status, WUNTRACED) == pid;
	kill(pid, SIGCONT);
	got += waitpid(pid, &status, WCONTINUED) == pid;
	printf("continued: %d %d", got, WIFCONTINUED(status));
	kill(pid, SIGSTOP);
	kill(pid, SIGKILL);
	printf(", killed %d, told %d\n", ended(pid), (int)(stopped + continued));
	sigaction(SIGCHLD, &old, NULL);

	pid = start();
	if (pid == 0)
		_exit(3);
	pid_t other = start();
	if (other == 0) {
		pause_for(30);
		raise(SIGSTOP);
		_exit(4);
	}
	pause_for(10);
	got = waitid(P_ALL, 0, &info, WSTOPPED);
	printf("an end is no stop: %d %d %d", got, info.si_pid == other, info.si_code == CLD_STOPPED);
	kill(other, SIGCONT);
	int first = ended(pid);
	printf(", then %d %d\n", first, ended(other));
}

static void named_pipes(void)
{
	struct stat st;
	char text[20] = { 0 };
	int made = mkfifo("pipe", 0640), again = mkfifo("pipe", 0600), why = errno;
	stat("pipe", &st);
	printf("mkfifo: %d, again %d %d, %d %o\n", made, again, why == EEXIST, S_ISFIFO(st.st_mode), st.st_mode & 0777);
	int none = open("pipe", O_WRONLY | O_NONBLOCK);
	printf("nobody reads: %d %d\n", none, errno == ENXIO);
	for (int turn = 0; turn < 2; turn++) {
		pid_t pid = start();
		if (pid == 0) {
			pause_for(turn ? 0 : 20);
			int to = open("pipe", O_WRONLY);
			_exit(write(to, turn ? "second" : "first", 6) != 6);
		}
		pause_for(turn ? 20 : 0);
		int from = open("pipe", O_RDONLY);
		ssize_t n = read(from, text, sizeof text - 1), end = read(from, text + 10, 1);
		printf("through it: %d <%s>, end %d, %d\n", (int)n, text, (int)end, ended(pid));
		fstat(from, &st);
		printf("open: %d, seek %d\n", S_ISFIFO(st.st_mode), lseek(from, 0, SEEK_CUR) < 0 && errno == ESPIPE);
		close(from);
	}
	/* Two writers: the reader's end comes after the last one. */
	int from = open("pipe", O_RDONLY | O_NONBLOCK), one = open("pipe", O_WRONLY), two = open("pipe", O_WRONLY);
	ssize_t n = write(one, "1", 1);
	close(one);
	n += write(two, "2", 1);
	n += read(from, text, 9);
	int empty = read(from, text, 9) < 0 && errno == EAGAIN;
	close(two);
	struct pollfd p = { from, POLLIN, 0 };
	int ready = poll(&p, 1, 0);
	printf("two writers: %d, empty %d, then %d, hung up %d %d\n", (int)n, empty, (int)read(from, text, 9), ready,
	       p.revents == POLLHUP);
	close(from);
	/* A signal ends the wait for the other end, and leaves no reader behind. */
	struct sigaction action = { .sa_handler = counts };
	sigaction(SIGALRM, &action, NULL);
	struct itimerval soon = { { 0, 0 }, { 0, 20000 } };
	setitimer(ITIMER_REAL, &soon, NULL);
	int interrupted = open("pipe", O_RDONLY);
	why = errno;
	none = open("pipe", O_WRONLY | O_NONBLOCK);
	printf("interrupted: %d %d, reader left %d\n", interrupted, why == EINTR, none >= 0);
	rename("pipe", "other");
	pid_t pid = start();
	if (pid == 0)
		_exit(open("other", O_RDONLY) < 0);
	int to = open("other", O_WRONLY);
	printf("renamed: %d", to >= 0);
	printf(" %d", ended(pid));
	signal(SIGPIPE, SIG_IGN);
	n = write(to, "x", 1);
	printf(", nobody reads %d %d, removed %d\n", (int)n, errno == EPIPE, unlink("other"));
	signal(SIGPIPE, SIG_DFL);
	close(to);
}

static void timer(int which, int number, int every_us)
{
	struct itimerval value = { { 0, every_us }, { 0, every_us } }, now, none = { 0 };
	count = 0;
	signal(number, counts);
	setitimer(which, &value, NULL);
	pause_for(50);
	int asleep = count;
	while (count < 3)
		work++;
	getitimer(which, &now);
	setitimer(which, &none, NULL);
	int left = now.it_value.tv_sec == 0 && now.it_value.tv_usec > 0;
	int end = count;
	for (unsigned long n = 0; n < 100000; n++)
		work++;
	printf("timer of processor time: asleep %d, then at least 3: %d, period %d, left %d, off %d\n", asleep, end >= 3,
	       (int)now.it_interval.tv_usec == every_us, left, count == end);
}

static double seconds(struct timeval t)
{
	return t.tv_sec + t.tv_usec * 1e-6;
}

static void times_used(void)
{
	struct timespec before, after;
	struct rusage usage, own;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	pause_for(300);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	double slept = after.tv_sec - before.tv_sec + (after.tv_nsec - before.tv_nsec) * 1e-9;
	getrusage(RUSAGE_SELF, &own);
	printf("sleep takes no processor time: %d\n", slept < 0.2);
	struct tms first, last;
	clock_t from = times(&first);
	pid_t pid = start();
	if (pid == 0) {
		clock_t begun = clock();
		while (clock() - begun < 2000)
			work++;
		pause_for(300);
		_exit(0);
	}
	int status = 0, got = wait4(pid, &status, 0, &usage) == pid;
	double child = seconds(usage.ru_utime) + seconds(usage.ru_stime);
	clock_t to = times(&last);
	printf("a child's: %d %d, it waited %d\n", got, child >= 0.002 && child < 0.25, to - from >= 30);
	struct rusage children;
	getrusage(RUSAGE_CHILDREN, &children);
	clock_t used = last.tms_cutime + last.tms_cstime - first.tms_cutime - first.tms_cstime;
	printf("of all children: %d %d\n", used < 25, seconds(children.ru_utime) + seconds(children.ru_stime) >= 0.002);
}

static void personalities(void)
{
	struct utsname before, after;
	uname(&before);
	int old = personality(PER_LINUX32), now = personality(0xffffffff);
	uname(&after);
	pid_t pid = start();
	if (pid == 0)
		_exit(personality(0xffffffff) != PER_LINUX32);
	printf("personality: %d, then %d, another machine %d, inherited %d", old == PER_LINUX, now == PER_LINUX32,
	       strcmp(before.machine, after.machine) != 0, ended(pid));
	personality(PER_LINUX);
	uname(&after);
	printf(", back %d\n", strcmp(before.machine, after.machine) == 0);
}

int main(void)
{
	stops();
	named_pipes();
	timer(ITIMER_VIRTUAL, SIGVTALRM, 200);
	timer(ITIMER_PROF, SIGPROF, 200);
	times_used();
	personalities();
	return 6;
}
