// SPDX-License-Identifier: GPL-2.0-only
#include "buflimit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flows.h"
#include "log.h"
#include "readout.h"
#include "sysctls.h"

static int by_receive_buffer(const void *ctx, const struct tcptuned_flow_record *a,
			     const struct tcptuned_flow_record *b)
{
	return (a->rcvbuf < b->rcvbuf) - (a->rcvbuf > b->rcvbuf);
}

static int by_send_buffer(const void *ctx, const struct tcptuned_flow_record *a,
			  const struct tcptuned_flow_record *b)
{
	return (a->sndbuf < b->sndbuf) - (a->sndbuf > b->sndbuf);
}

static bool is_receive_sized(const void *ctx, const struct tcptuned_flow_record *record)
{
	return record->flow.flags & TCPTUNED_F_RCV_SIZED;
}

static bool is_send_sized(const void *ctx, const struct tcptuned_flow_record *record)
{
	return record->flow.flags & TCPTUNED_F_SND_SIZED;
}

/* The largest buffer in bytes of those that tcptuned sizes; UINT32_MAX where it is not known. */
static uint32_t largest_buffer(const struct tcptuned_kernel *kernel, bool receive)
{
	struct tcptuned_flows flows;
	uint32_t largest = 0;

	if (tcptuned_flows_init(&flows, 1))
		return UINT32_MAX;
	flows.choice.wanted = receive ? is_receive_sized : is_send_sized;
	flows.choice.order = receive ? by_receive_buffer : by_send_buffer;
	if (tcptuned_readout(&flows, kernel, NULL))
		largest = UINT32_MAX;
	else if (flows.top_len)
		largest = receive ? flows.top[0].rcvbuf : flows.top[0].sndbuf;
	tcptuned_flows_free(&flows);
	return largest;
}

void tcptuned_limit_lower(const struct tcptuned_kernel *kernel, enum tcptuned_sysctl which,
			  uint32_t window)
{
	int meta_fd = kernel->map_fd[TCPTUNED_MAP_META];
	uint64_t least = tcptuned_sysctl_least(meta_fd, which, window);
	char value[TCPTUNED_SYSCTL_VALUE], wanted[TCPTUNED_SYSCTL_VALUE];
	uint32_t largest;
	int changed;

	if (!least)
		return;
	largest = largest_buffer(kernel, which == TCPTUNED_SYSCTL_RMEM_MAX);
	if (largest / 2 > least) {
		tcptuned_log(TCPTUNED_LOG_INFO,
			     "%s stays larger than %llu, for open connections have larger buffers; "
			     "lowered at the next reload or start when none has any more",
			     tcptuned_sysctl_name(which), (unsigned long long)least);
		return;
	}
	snprintf(wanted, sizeof(wanted), "%llu", (unsigned long long)least);
	changed = tcptuned_sysctl_set(meta_fd, which, wanted, value);
	if (changed > 0)
		tcptuned_log(TCPTUNED_LOG_INFO, "%s lowered to %s", tcptuned_sysctl_name(which),
			     value);
	if (changed < 0)
		tcptuned_log(TCPTUNED_LOG_WARNING, "%s cannot be lowered to %s: %s",
			     tcptuned_sysctl_name(which), wanted, strerror(-changed));
}
