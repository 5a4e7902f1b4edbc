// SPDX-License-Identifier: GPL-2.0-only
#include "command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "notify.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/rights.h"

void command_send(int channel, int kind, int value, int fd)
{
	struct command_message message = {kind, value};

	tcptuned_rights_send(channel, &message, sizeof(message), fd);
}

bool command_receive(int channel, struct command_message *ret, int *fd)
{
	int passed;

	if (tcptuned_rights_receive(channel, ret, sizeof(*ret), &passed, 0))
		return false;
	if (passed >= 0)
		*fd = passed;
	return true;
}

/*
 * What systemd passes on is for the process ID that it started (sd_listen_fds(3),
 * sd_watchdog_enabled(3)).
 */
static void take_process_id(pid_t started)
{
	static const char *const names[] = {"LISTEN_PID", "WATCHDOG_PID"};
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)getpid());
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *pid = getenv(names[i]);

		if (pid && atoi(pid) == started)
			setenv(names[i], text, 1);
	}
}

static _Noreturn void become(char **command, const struct command_signals *signals, bool filter,
			     int channel)
{
	int listener = filter ? notify_install() : -1;

	if (filter && listener < 0) {
		/*
		 * Not under PR_SET_NO_NEW_PRIVS, which cannot be cleared: it is started once more.
		 */
		command_send(channel, COMMAND_NOT_FILTERED, -listener, -1);
		_exit(EXIT_FAILURE);
	}
	if (filter) {
		command_send(channel, COMMAND_FILTERED, 0, listener);
		close(listener);
	}
	sigaction(SIGCHLD, &signals->child, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
	execvp(command[0], command);
	command_send(channel, COMMAND_NOT_STARTED, errno, -1);
	_exit(EXIT_FAILURE);
}

pid_t command_start(char **command, const struct command_signals *signals, bool filter,
		    int *listener, struct command_message *failure)
{
	struct command_message message;
	pid_t pid, started = getppid();
	int channel[2];

	*listener = -1;
	*failure = (struct command_message){COMMAND_NOT_FORKED, 0};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel)) {
		failure->value = errno;
		return -1;
	}
	pid = fork();
	if (!pid) {
		take_process_id(started);
		become(command, signals, filter, channel[1]);
	}
	if (pid < 0)
		failure->value = errno;
	close(channel[1]);
	/* The other end is closed when the command has been started. */
	while (pid > 0 && command_receive(channel[0], &message, listener)) {
		if (message.kind == COMMAND_FILTERED)
			continue;
		*failure = message;
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(channel[0]);
	return pid;
}

void command_close_inherited(int standard)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc/self/fd");
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct dirent *entry;

	for (int fd = 0; fd < standard && null >= 0; fd++)
		dup2(null, fd);
	/* Its own descriptors have the flag, which those that it inherited cannot have. */
	while (dir && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fcntl(fd, F_GETFD) == 0)
			close(fd);
	}
}

void command_end_like(int status)
{
	sigset_t set;

	if (WIFSIGNALED(status)) {
		/* The command has left its core already. */
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		signal(WTERMSIG(status), SIG_DFL);
		sigemptyset(&set);
		sigaddset(&set, WTERMSIG(status));
		kill(getpid(), WTERMSIG(status));
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		_exit(128 + WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}
