// SPDX-License-Identifier: GPL-2.0-only
#include "host/limits.h"

#include <stdbool.h>
#include <string.h>

#include "host/sysctl.h"
#include "util/array.h"

static const struct {
	struct tcptuned_host_limit limit;
	const char *unless; /* a sysctl that takes its effect away; NULL: none does */
} rows[] = {
	{{"net.ipv4.tcp_window_scaling", "no window exceeds 64 KB"}, NULL},
	{{"net.ipv4.tcp_timestamps",
	  "a queue on the path is not seen, so that the kernel alone sizes the windows"},
	 NULL},
	{{"net.ipv4.tcp_sack", "of several lost segments, one is sent again in each round trip"},
	 NULL},
	{{"net.ipv4.tcp_moderate_rcvbuf",
	  "receive buffers stay as they begin, at the second number of net.ipv4.tcp_rmem"},
	 NULL},
	{{"net.ipv4.tcp_no_ssthresh_metrics_save",
	  "after a loss, slow start of later connections to the host ends at that window"},
	 "net.ipv4.tcp_no_metrics_save"},
};

_Static_assert(ARRAY_SIZE(rows) <= TCPTUNED_HOST_LIMITS_MAX, "all may apply");

static bool is_zero(const char *name)
{
	char value[32];

	return !tcptuned_sysctl_read(name, value, sizeof(value)) && !strcmp(value, "0");
}

size_t tcptuned_host_limits(struct tcptuned_host_limit ret[static TCPTUNED_HOST_LIMITS_MAX])
{
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (is_zero(rows[i].limit.name) && (!rows[i].unless || is_zero(rows[i].unless)))
			ret[len++] = rows[i].limit;
	return len;
}
