// SPDX-License-Identifier: GPL-2.0-only
#include "host/activation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <systemd/sd-daemon.h>

#include "util/cleanup.h"
#include "util/log.h"

#define NAME "executable"

/* What systemd passed stays open, and in the environment, for the previous build. */
static int passed, previous_fd = -1;

int tcptuned_activation_sort(int *ret_socket)
{
	char **names = NULL;
	int sockets = 0;

	*ret_socket = -1;
	passed = sd_listen_fds_with_names(0, &names);
	for (int i = 0; i < passed; i++) {
		int fd = SD_LISTEN_FDS_START + i;

		if (!strcmp(names[i], NAME))
			previous_fd = fd;
		else if (!sockets++)
			*ret_socket = fcntl(fd, F_DUPFD_CLOEXEC, SD_LISTEN_FDS_START + passed);
		free(names[i]);
	}
	free(names);
	return sockets;
}

static int open_own(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

void tcptuned_activation_keep_build(void)
{
	_cleanup_close_ int fd = open_own();

	if (fd < 0)
		return;
	sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=" NAME);
	sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=" NAME, &fd, 1);
}

static bool is_own(int other_fd)
{
	_cleanup_close_ int fd = open_own();
	struct stat own, other;

	return fd < 0 || fstat(fd, &own) || fstat(other_fd, &other) ||
	       (own.st_dev == other.st_dev && own.st_ino == other.st_ino);
}

void tcptuned_activation_run_previous(char **argv)
{
	if (previous_fd < 0 || is_own(previous_fd))
		return;
	log_error("falling back to the previous build (%s); install one that "
		  "tcptuned --check-load accepts, and restart it",
		  argv[0]);
	for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + passed; fd++)
		fcntl(fd, F_SETFD, 0); /* sd_listen_fds() sets FD_CLOEXEC */
	fexecve(previous_fd, argv, environ);
	log_error("the previous build cannot be run: %s", strerror(errno));
}
