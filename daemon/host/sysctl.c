// SPDX-License-Identifier: GPL-2.0-only
#include "host/sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

#include "host/netns.h"
#include "util/cleanup.h"
#include "util/log.h"

static const char *const names[TCPTUNED_SYSCTLS] = {
	[TCPTUNED_SYSCTL_TCP_RMEM] = "net.ipv4.tcp_rmem",
	[TCPTUNED_SYSCTL_TCP_WMEM] = "net.ipv4.tcp_wmem",
	[TCPTUNED_SYSCTL_WMEM_MAX] = "net.core.wmem_max",
	[TCPTUNED_SYSCTL_CONGESTION_CONTROL] = "net.ipv4.tcp_congestion_control",
};

const char *tcptuned_sysctl_name(enum tcptuned_sysctl which)
{
	return names[which];
}

static int sysctl_open(const char *name, int flags)
{
	char path[128], *dot;
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	for (dot = path + strlen("/proc/sys/"); *dot; dot++)
		if (*dot == '.')
			*dot = '/';
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int read_line(const char *name, char *line, int size)
{
	_cleanup_close_ int fd = sysctl_open(name, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, line, size - 1);
	if (n < 0)
		return -errno;
	if (n == size - 1 && line[n - 1] != '\n')
		return -EOVERFLOW;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

int tcptuned_sysctl_read(const char *name, char *value, int size)
{
	int error = read_line(name, value, size);

	for (char *p = value; !error && *p; p++)
		if (*p == '\t')
			*p = ' ';
	return error;
}

uint64_t tcptuned_sysctl_number(const char *name, int index)
{
	char line[256], *field = line;

	if (read_line(name, line, sizeof(line)))
		return 0;
	while (index-- > 0) {
		field += strcspn(field, " \t");
		field += strspn(field, " \t");
	}
	return strtoull(field, NULL, 10);
}

static int sysctl_write(const char *name, const char *value)
{
	_cleanup_close_ int fd = sysctl_open(name, O_WRONLY);

	if (fd < 0)
		return fd;
	return write(fd, value, strlen(value)) < 0 ? -errno : 0;
}

void tcptuned_sysctl_replace(enum tcptuned_sysctl which, const char *from, const char *to)
{
	char now[TCPTUNED_SYSCTL_VALUE];

	if (!tcptuned_sysctl_read(names[which], now, sizeof(now)) && !strcmp(now, from))
		sysctl_write(names[which], to);
}

/* ---- the maxima of tcp_rmem and tcp_wmem ------------------------------------------------- */

static bool has_maximum(enum tcptuned_sysctl which)
{
	return which == TCPTUNED_SYSCTL_TCP_RMEM || which == TCPTUNED_SYSCTL_TCP_WMEM;
}

/* The last number, of one or three. */
static uint64_t maximum_of(const char *value)
{
	const char *last = strrchr(value, ' ');

	return strtoull(last ? last + 1 : value, NULL, 10);
}

/* @value with another maximum, to @ret of TCPTUNED_SYSCTL_VALUE. */
static int with_maximum(const char *value, uint64_t bytes, char *ret)
{
	const char *last = strrchr(value, ' ');
	int length;

	if (!last)
		return -EINVAL;
	length = snprintf(ret, TCPTUNED_SYSCTL_VALUE, "%.*s %llu", (int)(last - value), value,
			  (unsigned long long)bytes);
	return length < TCPTUNED_SYSCTL_VALUE ? 0 : -EOVERFLOW;
}

struct replacement {
	enum tcptuned_sysctl which;
	const char *from, *to;
};

static void replace_here(void *ctx)
{
	const struct replacement *r = ctx;

	tcptuned_sysctl_replace(r->which, r->from, r->to);
}

/* A namespace that is made later inherits the values of the first one (tcp_sk_init()). */
static void replace_everywhere(enum tcptuned_sysctl which, const char *from, const char *to)
{
	struct replacement r = { which, from, to };

	tcptuned_netns_for_each(replace_here, &r, NULL);
}

/* ---- what is remembered ------------------------------------------------------------------- */

static int read_meta(int meta_fd, struct tcptuned_meta *meta)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(meta_fd, &zero, meta) ? -errno : 0;
}

static int write_meta(int meta_fd, const struct tcptuned_meta *meta)
{
	__u32 zero = 0;

	return bpf_map_update_elem(meta_fd, &zero, meta, BPF_ANY) ? -errno : 0;
}

int tcptuned_sysctl_set(int meta_fd, enum tcptuned_sysctl which, const char *wanted, char *value)
{
	struct tcptuned_saved_sysctl *saved, was;
	struct tcptuned_meta meta;
	int error;

	error = tcptuned_sysctl_read(names[which], value, TCPTUNED_SYSCTL_VALUE);
	if (!error)
		error = read_meta(meta_fd, &meta);
	if (error || !strcmp(value, wanted))
		return error;
	saved = &meta.sysctl[which];
	/* Set by us before, and something else now or since: an administrator's doing. */
	if (saved->ours[0] && (!saved->before[0] || strcmp(saved->ours, value)))
		return 0;
	was = *saved;
	/* Remember first: a crash between the two leaves nothing that cannot be put back. */
	if (!saved->before[0])
		strcpy(saved->before, value);
	snprintf(saved->ours, sizeof(saved->ours), "%s", wanted);
	error = write_meta(meta_fd, &meta);
	if (!error)
		error = sysctl_write(names[which], wanted);
	if (error) {
		*saved = was;
		write_meta(meta_fd, &meta);
		return error;
	}
	snprintf(value, TCPTUNED_SYSCTL_VALUE, "%s", wanted);
	return 1;
}

int tcptuned_sysctl_set_maximum(int meta_fd, enum tcptuned_sysctl which, uint64_t bytes,
				char *value)
{
	char was[TCPTUNED_SYSCTL_VALUE], wanted[TCPTUNED_SYSCTL_VALUE];
	int changed;

	changed = tcptuned_sysctl_read(names[which], was, sizeof(was));
	if (!changed)
		changed = with_maximum(was, bytes, wanted);
	if (!changed)
		changed = tcptuned_sysctl_set(meta_fd, which, wanted, value);
	if (changed > 0)
		replace_everywhere(which, was, wanted);
	return changed;
}

int tcptuned_sysctl_before(int meta_fd, enum tcptuned_sysctl which, char *value)
{
	int error = tcptuned_sysctl_read(names[which], value, TCPTUNED_SYSCTL_VALUE);
	struct tcptuned_meta meta;

	if (!error && !read_meta(meta_fd, &meta) && meta.sysctl[which].before[0] &&
	    !strcmp(value, meta.sysctl[which].ours))
		strcpy(value, meta.sysctl[which].before);
	return error;
}

uint64_t tcptuned_sysctl_maximum_before(int meta_fd, enum tcptuned_sysctl which)
{
	char value[TCPTUNED_SYSCTL_VALUE];

	return tcptuned_sysctl_before(meta_fd, which, value) ? 0 : maximum_of(value);
}

bool tcptuned_sysctl_left_alone(int meta_fd, enum tcptuned_sysctl which)
{
	struct tcptuned_meta meta;

	return !read_meta(meta_fd, &meta) && meta.sysctl[which].ours[0] &&
	       !meta.sysctl[which].before[0];
}

bool tcptuned_sysctl_overruled(int meta_fd, enum tcptuned_sysctl which, char *ours, char *now)
{
	struct tcptuned_meta meta;

	if (read_meta(meta_fd, &meta) || !meta.sysctl[which].before[0] ||
	    tcptuned_sysctl_read(names[which], now, TCPTUNED_SYSCTL_VALUE) ||
	    !strcmp(now, meta.sysctl[which].ours))
		return false;
	strcpy(ours, meta.sysctl[which].ours);
	if (has_maximum(which))
		replace_everywhere(which, ours, meta.sysctl[which].before);
	memset(meta.sysctl[which].before, 0, sizeof(meta.sysctl[which].before));
	write_meta(meta_fd, &meta);
	return true;
}

static void restore_one(struct tcptuned_meta *meta, enum tcptuned_sysctl which,
			void (*restored)(const char *name, const char *value, int error))
{
	struct tcptuned_saved_sysctl *saved = &meta->sysctl[which];
	char now[TCPTUNED_SYSCTL_VALUE];

	if (saved->before[0] && !tcptuned_sysctl_read(names[which], now, sizeof(now)) &&
	    !strcmp(now, saved->ours) && strcmp(now, saved->before))
		restored(names[which], saved->before, sysctl_write(names[which], saved->before));
	if (saved->before[0] && has_maximum(which))
		replace_everywhere(which, saved->ours, saved->before);
	memset(saved, 0, sizeof(*saved));
}

void tcptuned_sysctl_restore(int meta_fd, enum tcptuned_sysctl which,
			     void (*restored)(const char *name, const char *value, int error))
{
	char ours[TCPTUNED_SYSCTL_VALUE], now[TCPTUNED_SYSCTL_VALUE];
	struct tcptuned_meta meta;

	/*
	 * Nothing to put back; and what was left to the administrator stays marked so, also what
	 * has been changed since somebody looked.
	 */
	if (tcptuned_sysctl_overruled(meta_fd, which, ours, now) || read_meta(meta_fd, &meta) ||
	    !meta.sysctl[which].before[0])
		return;
	restore_one(&meta, which, restored);
	write_meta(meta_fd, &meta);
}

void tcptuned_sysctls_restore(int meta_fd,
			      void (*restored)(const char *name, const char *value, int error))
{
	struct tcptuned_meta meta;

	if (read_meta(meta_fd, &meta))
		return;
	for (int i = 0; i < TCPTUNED_SYSCTLS; i++)
		restore_one(&meta, i, restored);
	write_meta(meta_fd, &meta);
}

void tcptuned_log_restored(const char *name, const char *value, int error)
{
	if (error)
		tcptuned_log(TCPTUNED_LOG_ERROR, "%s could not be put back to %s: %s", name, value,
			     strerror(-error));
	else
		tcptuned_log(TCPTUNED_LOG_INFO, "%s put back to %s", name, value);
}

bool tcptuned_sysctls_overruled(int meta_fd)
{
	char ours[TCPTUNED_SYSCTL_VALUE], now[TCPTUNED_SYSCTL_VALUE];
	bool overruled = false;

	for (int i = 0; i < TCPTUNED_SYSCTLS; i++) {
		if (!tcptuned_sysctl_overruled(meta_fd, i, ours, now))
			continue;
		tcptuned_log(TCPTUNED_LOG_WARNING,
			     "%s was changed from tcptuned's %s to %s by somebody else: left "
			     "alone from now on, also at the end",
			     tcptuned_sysctl_name(i), ours, now);
		overruled = true;
	}
	return overruled;
}
