// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "streams/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP	   (64u << 10)
#define OUTPUT_MAX (64u << 20)

extern char **environ;

static int spawn(char *const argv[], int input, int output, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, pipe_only;
	int err;

	sigemptyset(&none);
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	/*
	 * "closefrom": connections that the application holds open would count as those of the
	 * probe.
	 */
	err = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO) ?:
	      posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO) ?:
	      posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO) ?:
	      posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &pipe_only);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	if (!err)
		err = posix_spawnp(pid, argv[0], &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -err;
}

/* Not a pipe, which would hold 64 KB. */
static int open_input(const char *text)
{
	int fd = memfd_create("input", MFD_CLOEXEC), err = 0;
	size_t len = strlen(text);

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))
		err = errno ? -errno : -EIO;
	if (err)
		close(fd);
	return err ? err : fd;
}

int child_start(struct child *child, char *const argv[], const char *text)
{
	int ends[2], input = open_input(text), err;

	*child = (struct child){.output = -1};
	if (input < 0)
		return input;
	if (pipe2(ends, O_CLOEXEC)) {
		err = -errno;
		close(input);
		return err;
	}
	err = spawn(argv, input, ends[1], &child->pid);
	close(input);
	close(ends[1]);
	if (err) {
		child->pid = 0;
		close(ends[0]);
		return err;
	}
	child->output = ends[0];
	return fcntl(child->output, F_SETFL, O_NONBLOCK) ? -errno : 0;
}

int child_read(struct child *child)
{
	for (;;) {
		char *text = child->text;
		ssize_t n;

		if (child->len >= OUTPUT_MAX)
			return -EFBIG;
		if (child->len % STEP == 0)
			text = realloc(text, child->len + STEP + 1);
		if (!text)
			return -ENOMEM;
		child->text = text;
		n = read(child->output, text + child->len, STEP - child->len % STEP);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 1 : -errno;
		child->len += (size_t)n;
		text[child->len] = '\0';
		if (!n)
			return 0;
	}
}

double child_end(struct child *child)
{
	struct rusage used = {};
	siginfo_t info;

	/* If another part of the program has reaped it, its ID may be that of another process. */
	if (child->pid > 0 &&
	    !waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT)) {
		kill(-child->pid, SIGKILL);
		while (wait4(child->pid, NULL, 0, &used) < 0 && errno == EINTR)
			;
	}
	if (child->output >= 0)
		close(child->output);
	free(child->text);
	*child = (struct child){.output = -1};
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}
