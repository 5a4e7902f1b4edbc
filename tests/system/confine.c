// SPDX-License-Identifier: GPL-2.0-only
/*
 * confine pidfd_getfd|notifier COMMAND...: runs a command under a seccomp filter that refuses pidfd_getfd(),
 * as Docker's default profile does, or that has a notifier.
 */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int notifies = argc > 2 && !strcmp(argv[1], "notifier");
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int err;

	if (argc < 3 || !filter)
		return 2;
	/* No one calls uselib(): it is not in the C library. */
	err = notifies ? seccomp_rule_add(filter, SCMP_ACT_NOTIFY, SCMP_SYS(uselib), 0)
		       : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(pidfd_getfd), 0);
	err = err ? err : seccomp_load(filter);
	if (err) {
		fprintf(stderr, "confine: %s\n", strerror(-err));
		return 1;
	}
	if (notifies) /* the listener must outlive execve() */
		fcntl(seccomp_notify_fd(filter), F_SETFD, 0);
	execvp(argv[2], argv + 2);
	return 127;
}
