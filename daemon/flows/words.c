// SPDX-License-Identifier: GPL-2.0-only
#include "flows/words.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>

#include "util/array.h"

struct word {
	const char *name;
	const char *meaning; /* NULL: not in the manual */
};

static const struct word limits[TCPTUNED_LIMITS] = {
	[TCPTUNED_LIMIT_IDLE] = {"idle", "nothing to send, and nothing in flight; or nothing "
					 "arrives"},
	[TCPTUNED_LIMIT_APPLICATION] = {"application",
					"the application sends, or reads, less than it may"},
	[TCPTUNED_LIMIT_CWND] = {"cwnd", "the congestion window, which no loss has reduced"},
	[TCPTUNED_LIMIT_LOSS] = {"loss", "losses without a queue, which keep the congestion "
					 "window small"},
	[TCPTUNED_LIMIT_RWND] = {"receiver_window", "the receive window: of the peer where this "
						    "host sends, its own where it receives"},
	[TCPTUNED_LIMIT_SNDBUF] = {"send_buffer", "its send buffer, all of which is in flight"},
	[TCPTUNED_LIMIT_PATH] = {"path", "the path: the RTT is 3/2 of its minimum or more, and "
					 "with more window more would wait in its queue"},
	[TCPTUNED_LIMIT_PACING] = {"pacing", "its pacing limit"},
	[TCPTUNED_LIMIT_QUEUE] = {"local_queue",
				  "a queue of this host, in front of the network device"},
	[TCPTUNED_LIMIT_SENDER] = {"sender", "the sender or its application, or losses before "
					     "this host, whose receive window is not used up"},
};

static const struct word reasons[RIGHTSIZE_REASONS] = {
	[RIGHTSIZE_UNMEASURED] = {"unmeasured", "no round trip has been measured yet: the "
						"kernel's own sizing goes on"},
	[RIGHTSIZE_KERNEL] = {"kernel", "the kernel's autotuning: no standing queue has been "
					"seen, or a test showed that less window costs rate"},
	[RIGHTSIZE_UNDER_TEST] = {"test",
				  "a test whether the queue is the connection's own: bytes in "
				  "flight and a half, then half for three round trips"},
	[RIGHTSIZE_PROBING] = {"probe_rtt", "3/4 of a bandwidth-delay product until the queue is "
					    "empty, to measure the minimum RTT"},
	[RIGHTSIZE_HELD] = {"held", "7/4 of what the path carries in the minimum RTT: a test "
				    "showed that the queue was the connection's own"},
	[RIGHTSIZE_READER] = {"reader", "the application reads slowly: twice what it reads in a "
					"round trip"},
	[RIGHTSIZE_CAPPED] = {"capped", "the policy's maximum"},
	[RIGHTSIZE_BUDGET] = {"budget",
			      "it would be larger without the limit of the memory budget, "
			      "or of the kernel's memory for TCP"},
	[RIGHTSIZE_EARNED] = {"earned",
			      "twice what the path has carried in the minimum RTT: beyond "
			      "the kernel's own maximum it grows only with the rate"},
};

static const struct word rightsize_states[] = {
	[RIGHTSIZE_FREE] = {.name = "free"},	   [RIGHTSIZE_PREPARING] = {.name = "preparing"},
	[RIGHTSIZE_TESTING] = {.name = "testing"}, [RIGHTSIZE_PROBE_RTT] = {.name = "probe_rtt"},
	[RIGHTSIZE_HOLDING] = {.name = "holding"},
};

static const struct word modes[] = {
	[TCPTUNED_OFF] = {.name = "off"},
	[TCPTUNED_OBSERVE] = {.name = "observe"},
	[TCPTUNED_TUNE] = {.name = "tune"},
};

static const struct word tcp_states[] = {
	[TCP_ESTABLISHED] = {.name = "established"},
	[TCP_SYN_SENT] = {.name = "syn_sent"},
	[TCP_SYN_RECV] = {.name = "syn_recv"},
	[TCP_FIN_WAIT1] = {.name = "fin_wait1"},
	[TCP_FIN_WAIT2] = {.name = "fin_wait2"},
	[TCP_TIME_WAIT] = {.name = "time_wait"},
	[TCP_CLOSE] = {.name = "close"},
	[TCP_CLOSE_WAIT] = {.name = "close_wait"},
	[TCP_LAST_ACK] = {.name = "last_ack"},
	[TCP_LISTEN] = {.name = "listen"},
	[TCP_CLOSING] = {.name = "closing"},
};

static const struct word random_losses[] = {
	[RANDOM_LOSS_TRIED] = {.name = "tried"},
	[RANDOM_LOSS_KEPT] = {.name = "kept"},
	[RANDOM_LOSS_DROPPED] = {.name = "dropped"},
};

static const struct word bitcp_modes[TCPTUNED_BITCP_MODES] = {
	[BITCP_SLOW_START] = {"slow_start", "below the slow-start threshold"},
	[BITCP_NORMAL] = {"normal", "as standard TCP, below 14 segments"},
	[BITCP_BINARY_SEARCH] = {"binary_search", "approaching its target window"},
	[BITCP_ADDITIVE] = {"additive", "far below the target: S_max segments per round trip"},
	[BITCP_SLOW_START_PAST_MAX] = {"slow_start_past_max",
				       "beyond the target, to find a new one: 1, 2, 4 ... S_max "
				       "segments per round trip"},
};

static const struct {
	const struct word *words;
	size_t len;
} vocabularies[VOCABULARIES] = {
	[WORDS_LIMIT] = {limits, ARRAY_SIZE(limits)},
	[WORDS_REASON] = {reasons, ARRAY_SIZE(reasons)},
	[WORDS_BITCP_MODE] = {bitcp_modes, ARRAY_SIZE(bitcp_modes)},
	[WORDS_RIGHTSIZE_STATE] = {rightsize_states, ARRAY_SIZE(rightsize_states)},
	[WORDS_MODE] = {modes, ARRAY_SIZE(modes)},
	[WORDS_TCP_STATE] = {tcp_states, ARRAY_SIZE(tcp_states)},
	[WORDS_RANDOM_LOSS] = {random_losses, ARRAY_SIZE(random_losses)},
};

static const struct word *find_word(enum tcptuned_vocabulary vocabulary, unsigned int value)
{
	static const struct word unknown = {"unknown", NULL};
	const struct word *word = &unknown;

	if (value < vocabularies[vocabulary].len)
		word = &vocabularies[vocabulary].words[value];
	return word->name ? word : &unknown;
}

const char *tcptuned_word(enum tcptuned_vocabulary vocabulary, unsigned int value)
{
	return find_word(vocabulary, value)->name;
}

const char *tcptuned_word_meaning(enum tcptuned_vocabulary vocabulary, unsigned int value)
{
	return find_word(vocabulary, value)->meaning;
}

static void format_end(char text[TCPTUNED_ADDRESS_MAX], int family, const void *address,
		       unsigned int port)
{
	char host[INET6_ADDRSTRLEN] = "";

	/* An IPv4 peer of an IPv6 socket is shown as what it is. */
	if (family == AF_INET6 && tcptuned_address_is_ipv4(address)) {
		address = (const char *)address + 12;
		family = AF_INET;
	}
	inet_ntop(family, address, host, sizeof(host));
	snprintf(text, TCPTUNED_ADDRESS_MAX, family == AF_INET6 ? "[%s]:%u" : "%s:%u", host, port);
}

struct tcptuned_ends tcptuned_flow_ends(const struct tcptuned_flow_record *record)
{
	struct tcptuned_ends ends;

	format_end(ends.local, record->family, record->local, record->local_port);
	format_end(ends.remote, record->family, record->remote, record->remote_port);
	return ends;
}
