// SPDX-License-Identifier: GPL-2.0-only
#include "host/limits.h"

#include <stdbool.h>
#include <string.h>

#include "host/sysctl.h"
#include "util/array.h"

static const struct tcptuned_host_limit limits[] = {
	{"net.ipv4.tcp_window_scaling", "no window exceeds 64 KB"},
	{"net.ipv4.tcp_timestamps",
	 "a queue on the path is not seen, so that the kernel alone sizes the windows"},
	{"net.ipv4.tcp_sack", "of several lost segments, one is sent again in each round trip"},
	{"net.ipv4.tcp_moderate_rcvbuf",
	 "receive buffers stay as they begin, at the second number of net.ipv4.tcp_rmem"},
	{"net.ipv4.tcp_no_ssthresh_metrics_save",
	 "after a loss, slow start of later connections to the host ends at that window"},
};

_Static_assert(ARRAY_SIZE(limits) <= TCPTUNED_HOST_LIMITS_MAX, "all may apply");

static bool is(const char *name, const char *wanted)
{
	char value[32];

	return !tcptuned_sysctl_read(name, value, sizeof(value)) && !strcmp(value, wanted);
}

size_t tcptuned_host_limits(struct tcptuned_host_limit ret[static TCPTUNED_HOST_LIMITS_MAX])
{
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (is(limits[i].name, "0") && (!strstr(limits[i].name, "ssthresh") ||
						is("net.ipv4.tcp_no_metrics_save", "0")))
			ret[len++] = limits[i];
	return len;
}
