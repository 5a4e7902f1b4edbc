// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay NAME: what one connection's congestion control said in the kernel's trace (a build with
 * TCPTUNED_TRACE), on standard input, against the same calls of the algorithm's header here.
 * Ends with 1 at the first window that differs, else prints how much was compared, and how many
 * ACKs were met with another window than the call before had left in the socket, though no loss
 * and no undo came between ("moved").
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tcptuned/family.h>

static const struct family_member *member;
static union family_state state;
static unsigned long acks, losses, undos, samples, changes, moved, line_number;
static const char *line;

static void expect(const char *what, __u32 here, __u32 kernel)
{
	if (here == kernel)
		return;
	fprintf(stderr, "replay: line %lu: %s is %u here, %u in the kernel: %s", line_number, what,
		here, kernel, line);
	exit(1);
}

/* The socket's window as the call before left it, and whether the kernel may have set it since. */
static __u32 left_cwnd, left_ssthresh;
static int set_elsewhere;

static void left(__u32 cwnd, __u32 ssthresh)
{
	left_cwnd = cwnd;
	left_ssthresh = ssthresh;
	set_elsewhere = 0;
}

static void replay_ack(const char *text)
{
	struct congestion_ack ack;
	__u32 cwnd, ssthresh;

	if (sscanf(text, "%u %u %u %u %u %u %u %u", &ack.cwnd, &ack.ssthresh, &ack.acked,
		   &ack.limited, &ack.una, &ack.nxt, &cwnd, &ssthresh) != 8)
		return;
	acks++;
	changes += cwnd != ack.cwnd;
	if (!set_elsewhere && (ack.cwnd != left_cwnd || ack.ssthresh != left_ssthresh))
		moved++;
	left(cwnd, ssthresh);
	member->on_ack(&state, &ack);
	expect("cwnd", ack.cwnd, cwnd);
	expect("ssthresh", ack.ssthresh, ssthresh);
}

static void replay_line(void)
{
	const char *text = strstr(line, "tcptuned ");
	char call[8];
	__u32 was, now;
	int rest;

	if (!text || sscanf(text, "tcptuned %7s %n", call, &rest) != 1)
		return;
	text += rest;
	now = was = (__u32)strtol(text, (char **)&text, 10);
	now = (__u32)strtoul(text, NULL, 10);
	if (!strcmp(call, "init")) {
		member->init(&state, was);
		left(was, 0x7fffffff);
	} else if (!strcmp(call, "rtt")) {
		samples++;
		member->on_rtt(&state, (__s32)was);
	} else if (!strcmp(call, "ack")) {
		replay_ack(strstr(line, "ack ") + 4);
	} else if (!strcmp(call, "loss")) {
		losses++;
		set_elsewhere = 1;
		expect("ssthresh", member->ssthresh(&state, was), now);
	} else if (!strcmp(call, "undo")) {
		undos++;
		set_elsewhere = 1;
		expect("cwnd", member->undo(&state, was), now);
	}
}

int main(int argc, char **argv)
{
	char buffer[512];

	for (size_t i = 0; i < FAMILY_MEMBERS; i++)
		if (argc == 2 && !strcmp(argv[1], family_members[i].name))
			member = &family_members[i];
	if (!member) {
		fprintf(stderr, "usage: replay NAME <TRACE\n");
		return 2;
	}
	member->init(&state, 10);
	while (fgets(buffer, sizeof(buffer), stdin)) {
		line = buffer;
		line_number++;
		replay_line();
	}
	printf("%lu acks, %lu losses, %lu undos, %lu samples, %lu changes, %lu moved\n", acks,
	       losses, undos, samples, changes, moved);
	return 0;
}
