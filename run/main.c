// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcptune-run: TCP tuning for a command, without root.
 *
 * This process is the one that a shell started. It passes signals on, is stopped when the command
 * stops, and ends as the command ends. Its child is the watcher (watch.h), whose child is the
 * command.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "notify.h"
#include "options.h"
#include "util/stdio.h"
#include "watch.h"

/* As of env(1), nice(1) and others. */
#define EXIT_FAILED	    125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND	    127

/*
 * The kernel (a code above 0) sends signals of the terminal to all processes of the group. But when
 * the terminal hangs up, only the leader of the session gets SIGHUP and SIGCONT, and an alarm()
 * that was set before execve() is that of this process.
 */
static bool is_sent_to_command(const struct signalfd_siginfo *info)
{
	if (info->ssi_signo == SIGHUP || info->ssi_signo == SIGCONT)
		return info->ssi_code > 0 && getsid(0) != getpid();
	return info->ssi_code > 0 && info->ssi_signo != SIGALRM;
}

static void pass_on_signals(int signals, pid_t to)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD && !is_sent_to_command(&info) &&
		    (pid_t)info.ssi_pid != to)
			kill(to, (int)info.ssi_signo);
}

/*
 * The watcher has ended without a message: the command is now a child of this process, which passes
 * its requests on. Returns its status, or a failure if it is not known.
 */
static int follow_command(int signals, pid_t command, int listener)
{
	static struct notify notify; /* without limits: nothing is withheld */
	struct pollfd files[] = {{.fd = signals, .events = POLLIN},
				 {.fd = listener, .events = POLLIN}};
	int status;
	pid_t pid;

	if (listener >= 0 && notify_init(&notify, listener))
		close(listener);
	while (command && (pid = waitpid(-1, &status, WNOHANG)) >= 0) {
		if (pid == command)
			return status;
		if (pid || poll(files, 2, -1) < 0)
			continue;
		if (files[0].revents)
			pass_on_signals(signals, command);
		if (files[1].revents & POLLIN)
			notify_answer(&notify);
		else if (files[1].revents)
			files[1].fd = -1;
	}
	return W_EXITCODE(EXIT_FAILED, 0);
}

/* Returns the status of the command, as of waitpid(). */
static int follow(int channel, int signals, pid_t watcher)
{
	struct pollfd files[] = {{.fd = signals, .events = POLLIN},
				 {.fd = channel, .events = POLLIN}};
	struct command_message message;
	int listener = -1;
	pid_t command = 0;

	for (;;) {
		if (poll(files, 2, -1) < 0)
			continue;
		if (!files[1].revents) { /* or the watcher may have ended, and gets no signal */
			pass_on_signals(signals, watcher);
			continue;
		}
		if (!command_receive(channel, &message, &listener))
			return follow_command(signals, command, listener);
		if (message.kind == COMMAND_STARTED) {
			command = message.value;
			continue;
		}
		if (message.kind == COMMAND_NOT_STARTED) {
			waitpid(watcher, NULL, 0);
			exit(message.value == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
		}
		if (message.kind == COMMAND_ENDED)
			waitpid(watcher, NULL, 0);
		return message.value;
	}
}

/* Those that are ignored, too, since they may be ignored only here. */
static void block_signals(sigset_t *ret, struct command_signals *before)
{
	const struct sigaction normal = {.sa_handler = SIG_DFL};

	sigfillset(ret);
	sigprocmask(SIG_BLOCK, ret, &before->mask);
	sigaction(SIGCHLD, &normal, &before->child);
}

int main(int argc, char **argv)
{
	struct run_options options;
	struct tcptuned_error err;
	struct command_signals inherited;
	sigset_t blocked;
	int channel[2], signals;
	static char line[4096];
	FILE *out = stderr;
	pid_t watcher;

	tcptuned_stdio_occupy(); /* the command finds closed what is closed now */
	setvbuf(stderr, line, _IOLBF, sizeof(line)); /* the command writes there, too */
	if (run_options_parse(argc, argv, &options, &err)) {
		fprintf(stderr, "tcptune-run: %s\n", err.text);
		return err.status;
	}
	if (options.output)
		out = fopen(options.output, "we");
	if (!out || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel)) {
		fprintf(stderr, "tcptune-run: %s: %s\n", out ? "socketpair()" : options.output,
			strerror(errno));
		return EXIT_FAILED;
	}
	block_signals(&blocked, &inherited);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	/* Each process reads its own signals. */
	signals = signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK);
	watcher = signals < 0 ? -1 : fork();
	if (!watcher) {
		close(channel[0]);
		watch(&options, out, channel[1], signals, &inherited);
		_exit(EXIT_SUCCESS);
	}
	close(channel[1]);
	if (watcher < 0) {
		fprintf(stderr, "tcptune-run: %s: %s\n", signals < 0 ? "signalfd()" : "fork()",
			strerror(errno));
		return EXIT_FAILED;
	}
	command_close_inherited(STDERR_FILENO + 1);
	command_end_like(follow(channel[0], signals, watcher));
}
