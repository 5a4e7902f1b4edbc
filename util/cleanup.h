/* SPDX-License-Identifier: GPL-2.0-only */
/* Variables that are released at the end of their scope. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void tcptuned_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void tcptuned_fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void tcptuned_closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static inline void tcptuned_freep(void *pointer)
{
	free(*(void **)pointer);
}

#define _cleanup_close_	   __attribute__((cleanup(tcptuned_closep)))
#define _cleanup_fclose_   __attribute__((cleanup(tcptuned_fclosep)))
#define _cleanup_closedir_ __attribute__((cleanup(tcptuned_closedirp)))
#define _cleanup_free_	   __attribute__((cleanup(tcptuned_freep)))

/* Put @by, which may be -1, in the place of a descriptor, which is closed. */
static inline void tcptuned_replace_fd(int *fd, int by)
{
	tcptuned_closep(fd);
	*fd = by;
}

/* Pass the ownership of a descriptor: the variable becomes -1. */
static inline int tcptuned_take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}
