// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcptune-run: TCP tuning for a command, without root.
 *
 * This process is the one that a shell started. It passes signals on, stops when the command stops,
 * and ends as the command ends. Its child is the watcher (watch.h), whose child is the command.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "options.h"
#include "watch.h"

/* As of env(1), nice(1) and others. */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND	    127

/* Ignored signals are among them, since they may have been ignored only here. */
static const int passed_on[] = {SIGHUP,	 SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
				SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGALRM};

/* The watcher has ended without a message: its child, the command, is now that of this process. */
static int wait_for_any(void)
{
	int status = 0, last = 0;

	while (wait(&status) > 0 || errno == EINTR)
		last = status;
	return last;
}

static void read_signals(int signals, pid_t watcher)
{
	struct signalfd_siginfo info;

	/* What a terminal sends (a code above 0) all processes of the group receive. */
	while (read(signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD && info.ssi_code <= 0)
			kill(watcher, (int)info.ssi_signo);
}

/* Returns the status of the command, as of waitpid(). */
static int follow(int channel, int signals, pid_t watcher)
{
	struct pollfd files[] = {{.fd = signals, .events = POLLIN},
				 {.fd = channel, .events = POLLIN}};
	struct command_message message;

	for (;;) {
		if (poll(files, 2, -1) < 0)
			continue;
		if (files[0].revents)
			read_signals(signals, watcher);
		if (!files[1].revents)
			continue;
		if (recv(channel, &message, sizeof(message), 0) != sizeof(message))
			return wait_for_any();
		if (message.kind == COMMAND_NOT_STARTED) {
			waitpid(watcher, NULL, 0);
			exit(message.value == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
		}
		if (message.kind == COMMAND_ENDED)
			waitpid(watcher, NULL, 0);
		if (message.kind == COMMAND_ENDED || message.kind == COMMAND_ENDED_FIRST)
			return message.value;
		kill(getpid(), SIGSTOP); /* until the shell continues the group */
	}
}

static void block_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(ret, passed_on[i]);
}

int main(int argc, char **argv)
{
	struct run_options options;
	struct tcptuned_error err;
	sigset_t blocked, mask;
	int channel[2], signals;
	FILE *out = stderr;
	pid_t watcher;

	if (run_options_parse(argc, argv, &options, &err)) {
		fprintf(stderr, "tcptune-run: %s\n", err.text);
		return err.status;
	}
	if (options.output)
		out = fopen(options.output, "we");
	if (!out || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel)) {
		fprintf(stderr, "tcptune-run: %s: %s\n", out ? "socketpair()" : options.output,
			strerror(errno));
		return EXIT_FAILURE;
	}
	block_signals(&blocked);
	sigprocmask(SIG_BLOCK, &blocked, &mask);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	watcher = fork();
	signals = signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK);
	if (!watcher) {
		close(channel[0]);
		watch(&options, out, channel[1], signals, &mask);
		_exit(EXIT_SUCCESS);
	}
	close(channel[1]);
	if (watcher < 0 || signals < 0) {
		fprintf(stderr, "tcptune-run: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	command_end_like(follow(channel[0], signals, watcher));
}
