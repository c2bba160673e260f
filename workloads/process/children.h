/* What the programs of several processes have in common. */
#ifndef CHILDREN_H
#define CHILDREN_H

#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* fork, with nothing left to be printed twice. */
static inline pid_t start(void)
{
	fflush(stdout);
	return fork();
}

/* Waits for a child: its exit status, 1000 and the signal that ended it, or -1. */
static inline int ended(pid_t pid)
{
	int status = -1;
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static inline void pause_for(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
	nanosleep(&t, NULL);
}

#endif
