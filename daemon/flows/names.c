// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>

#include "flows/names.h"

/* A word of metrics, JSON and columns, and what it means. */
struct word {
	const char *name, *meaning;
};

static const struct word limits[TCPTUNED_LIMITS] = {
	[TCPTUNED_LIMIT_IDLE] = { "idle", "nothing to send, and nothing in flight" },
	[TCPTUNED_LIMIT_APPLICATION] = { "application", "the application sends less than it may" },
	[TCPTUNED_LIMIT_CWND] = { "cwnd", "the congestion window" },
	[TCPTUNED_LIMIT_RWND] = { "receiver_window", "the peer's receive window" },
	[TCPTUNED_LIMIT_SNDBUF] = { "send_buffer",
				    "its send buffer, or the bound on what waits there unsent" },
	[TCPTUNED_LIMIT_PACING] = { "pacing", "its pacing limit" },
	[TCPTUNED_LIMIT_QUEUE] = { "local_queue",
				   "a queue of this host, in front of the network device" },
};

static const struct word reasons[RIGHTSIZE_REASONS] = {
	[RIGHTSIZE_UNMEASURED] = { "unmeasured", "no round trip has been measured yet: the "
						 "kernel's own sizing goes on" },
	[RIGHTSIZE_KERNEL] = { "kernel", "the kernel's autotuning: no standing queue has been "
					 "seen, or a test showed that less window costs rate" },
	[RIGHTSIZE_UNDER_TEST] = { "test", "is the queue the connection's own? What is in flight and "
					   "a quarter, then half for three round trips" },
	[RIGHTSIZE_PROBING] = { "probe_rtt", "half a bandwidth-delay product until the queue is "
					     "empty, to measure the minimum RTT" },
	[RIGHTSIZE_HELD] = { "held", "twice what the path carries in the minimum RTT: a test "
				     "showed that the queue was the connection's own" },
	[RIGHTSIZE_READER] = { "reader", "the application reads slowly: twice what it reads in a "
					 "round trip" },
	[RIGHTSIZE_CAPPED] = { "capped", "the policy's maximum" },
	[RIGHTSIZE_BUDGET] = { "budget", "it would be larger, but for the memory budget, or since "
					 "the kernel has hardly any memory left for TCP" },
};

static const char *const rightsize_states[] = {
	[RIGHTSIZE_FREE] = "free",
	[RIGHTSIZE_PREPARING] = "preparing",
	[RIGHTSIZE_TESTING] = "testing",
	[RIGHTSIZE_PROBE_RTT] = "probe_rtt",
	[RIGHTSIZE_HOLDING] = "holding",
};

static const char *const mode_names[] = {
	[TCPTUNED_OFF] = "off",
	[TCPTUNED_OBSERVE] = "observe",
	[TCPTUNED_TUNE] = "tune",
};

static const char *const state_names[] = {
	[TCP_ESTABLISHED] = "established",
	[TCP_SYN_SENT] = "syn_sent",
	[TCP_SYN_RECV] = "syn_recv",
	[TCP_FIN_WAIT1] = "fin_wait1",
	[TCP_FIN_WAIT2] = "fin_wait2",
	[TCP_TIME_WAIT] = "time_wait",
	[TCP_CLOSE] = "close",
	[TCP_CLOSE_WAIT] = "close_wait",
	[TCP_LAST_ACK] = "last_ack",
	[TCP_LISTEN] = "listen",
	[TCP_CLOSING] = "closing",
};

static const struct word bitcp_modes[TCPTUNED_BITCP_MODES] = {
	[BITCP_SLOW_START] = { "slow_start", "below the slow-start threshold" },
	[BITCP_NORMAL] = { "normal", "as standard TCP, below 14 segments" },
	[BITCP_BINARY_SEARCH] = { "binary_search", "closing in on the window that it heads for" },
	[BITCP_ADDITIVE] = { "additive", "far below that: S_max segments per round trip" },
	[BITCP_SLOW_START_PAST_MAX] = { "slow_start_past_max",
					"beyond it, looking for a new one: 1, 2, 4 ... S_max "
					"segments per round trip" },
};

static const struct {
	const struct word *words;
	size_t len;
} vocabularies[TCPTUNED_VOCABULARIES] = {
	[TCPTUNED_WORDS_LIMIT] = { limits, TCPTUNED_LIMITS },
	[TCPTUNED_WORDS_REASON] = { reasons, RIGHTSIZE_REASONS },
	[TCPTUNED_WORDS_BITCP_MODE] = { bitcp_modes, TCPTUNED_BITCP_MODES },
};

static const struct word *word_of(enum tcptuned_vocabulary vocabulary, unsigned int index)
{
	static const struct word unknown = { "unknown", NULL };
	const struct word *word = &vocabularies[vocabulary].words[index];

	return index < vocabularies[vocabulary].len && word->name ? word : &unknown;
}

const char *tcptuned_word_meaning(enum tcptuned_vocabulary vocabulary, unsigned int index)
{
	return word_of(vocabulary, index)->meaning;
}

#define NAME(table, index)                                                               \
	((index) < sizeof(table) / sizeof((table)[0]) && (table)[index] ? (table)[index] \
									: "unknown")

const char *tcptuned_limit_name(unsigned int limit)
{
	return word_of(TCPTUNED_WORDS_LIMIT, limit)->name;
}

const char *tcptuned_reason_name(unsigned int reason)
{
	return word_of(TCPTUNED_WORDS_REASON, reason)->name;
}

const char *tcptuned_rightsize_state_name(unsigned int state)
{
	return NAME(rightsize_states, state);
}

const char *tcptuned_mode_name(unsigned int mode)
{
	return NAME(mode_names, mode);
}

const char *tcptuned_state_name(unsigned int state)
{
	return NAME(state_names, state);
}

const char *tcptuned_bitcp_mode_name(unsigned int mode)
{
	return word_of(TCPTUNED_WORDS_BITCP_MODE, mode)->name;
}

void tcptuned_flow_address(const struct tcptuned_flow_record *record, int remote,
			   char text[TCPTUNED_ADDRESS_MAX])
{
	unsigned int port = remote ? record->remote_port : record->local_port;
	const void *addr = remote ? record->remote : record->local;
	char host[INET6_ADDRSTRLEN] = "";

	inet_ntop(record->family, addr, host, sizeof(host));
	snprintf(text, TCPTUNED_ADDRESS_MAX, record->family == AF_INET6 ? "[%s]:%u" : "%s:%u",
		 host, port);
}
