// SPDX-License-Identifier: GPL-2.0-only
#include "host/sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

#include "host/netns.h"
#include "util/array.h"
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

static int sysctl_write(const char *name, const char *value)
{
	_cleanup_close_ int fd = tcptuned_sysctl_open(name, O_WRONLY);

	if (fd < 0)
		return fd;
	return write(fd, value, strlen(value)) < 0 ? -errno : 0;
}

static bool is_per_namespace(enum tcptuned_sysctl which)
{
	return which == TCPTUNED_SYSCTL_TCP_RMEM;
}

/* True if a namespace that has @value has not chosen that itself. */
static bool is_inherited(enum tcptuned_sysctl which, const char *value)
{
	return is_per_namespace(which) ||
	       (which == TCPTUNED_SYSCTL_CONGESTION_CONTROL && !strcmp(value, "bitcp"));
}

struct replacement {
	enum tcptuned_sysctl which;
	const char *from, *to;
};

static void replace_here(void *ctx)
{
	const struct replacement *r = ctx;
	char now[TCPTUNED_SYSCTL_VALUE];

	if (!tcptuned_sysctl_read(names[r->which], now, sizeof(now)) && !strcmp(now, r->from))
		sysctl_write(names[r->which], r->to);
}

/* A namespace that is made later inherits the values of the first one (tcp_sk_init()). */
void tcptuned_sysctl_replace(enum tcptuned_sysctl which, const char *from, const char *to)
{
	struct replacement r = {which, from, to};

	tcptuned_netns_for_each(replace_here, &r, NULL);
}

static bool read_meta(int meta_fd, struct tcptuned_meta *meta)
{
	__u32 zero = 0;

	return !bpf_map_lookup_elem(meta_fd, &zero, meta);
}

static int write_meta(int meta_fd, const struct tcptuned_meta *meta)
{
	__u32 zero = 0;

	return bpf_map_update_elem(meta_fd, &zero, meta, BPF_ANY) ? -errno : 0;
}

int tcptuned_sysctl_set(int meta_fd, enum tcptuned_sysctl which, const char *wanted)
{
	char now[TCPTUNED_SYSCTL_VALUE];
	int error = tcptuned_sysctl_read(names[which], now, sizeof(now));
	struct tcptuned_saved_sysctl *saved, was;
	struct tcptuned_meta meta;

	if (error || !strcmp(now, wanted))
		return error;
	if (!read_meta(meta_fd, &meta))
		return -errno;
	saved = &meta.sysctl[which];
	/* tcptuned has set it before, and it was changed since then: an administrator did that. */
	if (saved->ours[0] && (!saved->before[0] || strcmp(saved->ours, now)))
		return 0;
	was = *saved;
	/* Remember first: a crash between the two leaves nothing that cannot be restored. */
	if (!saved->before[0])
		strcpy(saved->before, now);
	snprintf(saved->ours, sizeof(saved->ours), "%s", wanted);
	error = write_meta(meta_fd, &meta) ?: sysctl_write(names[which], wanted);
	if (error) {
		*saved = was;
		write_meta(meta_fd, &meta);
		return error;
	}
	log_info("%s set to %s", names[which], wanted);
	if (is_per_namespace(which))
		tcptuned_sysctl_replace(which, now, wanted);
	return 0;
}

int tcptuned_sysctl_set_maximum(int meta_fd, enum tcptuned_sysctl which, uint64_t bytes)
{
	char now[TCPTUNED_SYSCTL_VALUE], wanted[TCPTUNED_SYSCTL_VALUE], *last;
	int error = tcptuned_sysctl_read(names[which], now, sizeof(now)), prefix;

	if (error)
		return error;
	last = strrchr(now, ' ');
	prefix = last ? (int)(last + 1 - now) : 0;
	if (snprintf(wanted, sizeof(wanted), "%.*s%llu", prefix, now, (unsigned long long)bytes) >=
	    (int)sizeof(wanted))
		return -EOVERFLOW;
	return tcptuned_sysctl_set(meta_fd, which, wanted);
}

int tcptuned_sysctl_before(int meta_fd, enum tcptuned_sysctl which, char *value)
{
	int error = tcptuned_sysctl_read(names[which], value, TCPTUNED_SYSCTL_VALUE);
	struct tcptuned_meta meta;

	if (!error && read_meta(meta_fd, &meta) && meta.sysctl[which].before[0] &&
	    !strcmp(value, meta.sysctl[which].ours))
		strcpy(value, meta.sysctl[which].before);
	return error;
}

uint64_t tcptuned_sysctl_maximum_before(int meta_fd, enum tcptuned_sysctl which)
{
	char value[TCPTUNED_SYSCTL_VALUE];
	const char *last;

	if (tcptuned_sysctl_before(meta_fd, which, value))
		return 0;
	last = strrchr(value, ' '); /* one number or three */
	return strtoull(last ? last + 1 : value, NULL, 10);
}

bool tcptuned_sysctl_left_alone(int meta_fd, enum tcptuned_sysctl which)
{
	struct tcptuned_meta meta;

	return read_meta(meta_fd, &meta) && meta.sysctl[which].ours[0] &&
	       !meta.sysctl[which].before[0];
}

static bool is_overruled(int meta_fd, enum tcptuned_sysctl which)
{
	struct tcptuned_saved_sysctl *saved;
	char now[TCPTUNED_SYSCTL_VALUE];
	struct tcptuned_meta meta;

	if (!read_meta(meta_fd, &meta))
		return false;
	saved = &meta.sysctl[which];
	if (!saved->before[0] || tcptuned_sysctl_read(names[which], now, sizeof(now)) ||
	    !strcmp(now, saved->ours))
		return false;
	log_warning("%s was changed from tcptuned's %s to %s by another process: left alone from "
		    "now on, also at the end",
		    names[which], saved->ours, now);
	if (is_inherited(which, saved->ours))
		tcptuned_sysctl_replace(which, saved->ours, saved->before);
	memset(saved->before, 0, sizeof(saved->before));
	write_meta(meta_fd, &meta);
	return true;
}

bool tcptuned_sysctls_overruled(int meta_fd)
{
	bool overruled = false;

	for (int i = 0; i < TCPTUNED_SYSCTLS; i++)
		overruled |= is_overruled(meta_fd, i);
	return overruled;
}

static int restore(struct tcptuned_meta *meta, enum tcptuned_sysctl which)
{
	struct tcptuned_saved_sysctl *saved = &meta->sysctl[which];
	char now[TCPTUNED_SYSCTL_VALUE] = "";
	int error = saved->before[0] ? tcptuned_sysctl_read(names[which], now, sizeof(now)) : 0;
	/* False where nothing is saved. */
	bool ours = !error && !strcmp(now, saved->ours) && strcmp(now, saved->before) != 0;

	if (ours)
		error = sysctl_write(names[which], saved->before);
	if (error) { /* it is not forgotten, so that it is tried again */
		log_error("%s could not be restored to %s: %s", names[which], saved->before,
			  strerror(-error));
		return error;
	}
	if (ours)
		log_info("%s restored to %s", names[which], saved->before);
	if (saved->before[0] && is_inherited(which, saved->ours))
		tcptuned_sysctl_replace(which, saved->ours, saved->before);
	memset(saved, 0, sizeof(*saved));
	return 0;
}

void tcptuned_sysctl_restore(int meta_fd, enum tcptuned_sysctl which)
{
	struct tcptuned_meta meta;

	/* If @before is empty, @ours marks what is left to the administrator, and has to stay. */
	if (is_overruled(meta_fd, which) || !read_meta(meta_fd, &meta) ||
	    !meta.sysctl[which].before[0])
		return;
	restore(&meta, which);
	write_meta(meta_fd, &meta);
}

int tcptuned_sysctls_restore(int meta_fd)
{
	struct tcptuned_meta meta;
	int error = 0;

	if (!read_meta(meta_fd, &meta))
		return 0;
	for (int i = 0; i < TCPTUNED_SYSCTLS; i++)
		error = restore(&meta, i) ?: error;
	write_meta(meta_fd, &meta);
	return error;
}

/* ---- what the host's own values limit -------------------------------------------------- */

static const struct {
	struct tcptuned_sysctl_limit limit;
	const char *unless; /* a sysctl that takes its effect away; NULL: none does */
} limits[] = {
	{{"net.ipv4.tcp_window_scaling", "no window exceeds 64 KB"}, NULL},
	{{"net.ipv4.tcp_timestamps",
	  "a queue on the path is not seen, so that the kernel alone sizes the windows"},
	 NULL},
	{{"net.ipv4.tcp_sack", "of several lost segments, one is retransmitted in each round trip"},
	 NULL},
	{{"net.ipv4.tcp_moderate_rcvbuf",
	  "receive buffers stay as they begin, at the second number of net.ipv4.tcp_rmem"},
	 NULL},
	{{"net.ipv4.tcp_no_ssthresh_metrics_save",
	  "after a loss, slow start of later connections to the host ends at that window"},
	 "net.ipv4.tcp_no_metrics_save"},
};

_Static_assert(ARRAY_SIZE(limits) <= TCPTUNED_SYSCTL_LIMITS_MAX, "all may apply");

static bool is_zero(const char *name)
{
	char value[32];

	return !tcptuned_sysctl_read(name, value, sizeof(value)) && !strcmp(value, "0");
}

size_t tcptuned_sysctls_limiting(struct tcptuned_sysctl_limit *ret)
{
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (is_zero(limits[i].limit.name) &&
		    (!limits[i].unless || is_zero(limits[i].unless)))
			ret[len++] = limits[i].limit;
	return len;
}
