/* Calls without end, for syscall emulation: what the first argument names. Only a limit ends it. */
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFERS = 1024, LENGTH = 1 << 20 };

static char buffer[LENGTH];

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	static struct iovec all[BUFFERS];
	int zero = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < BUFFERS; i++)
		all[i] = (struct iovec){ buffer, LENGTH };
	while (strcmp(what, "readv") == 0)
		readv(zero, all, BUFFERS);
	while (strcmp(what, "fork") == 0) {
		memset(buffer, 1, sizeof buffer);
		if (fork() == 0)
			_exit(0);
		wait(NULL);
	}
	return 0;
}
