// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl explain: one connection, and why its windows are what they are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "flows/filter.h"

/* Connections that one name may stand for, to be listed in the message. */
#define CANDIDATES 5

#define USAGE(err, ...) tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE, __VA_ARGS__)

/* ---- which flow ---------------------------------------------------------------------------- */

static int fail_endpoint(const char *text, struct tcptuned_error *err)
{
	return USAGE(err, "%.80s: neither an address nor a port; write 192.0.2.1:5201, "
			  "[2001:db8::1]:5201, an address or a port",
		     text);
}

static bool is_port(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) <= 5 &&
	       atoi(text) >= 1 && atoi(text) <= 65535;
}

int ctl_parse_endpoint(const char *text, json_t *request, const char *address, const char *port,
		       struct tcptuned_error *err)
{
	const char *colon = strrchr(text, ':'), *behind = NULL;
	struct tcptuned_prefix prefix;
	char host[64];

	if (*text == '[') {
		const char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return fail_endpoint(text, err);
		snprintf(host, sizeof(host), "%.*s", (int)(end - text - 1), text + 1);
		behind = end[1] ? end + 2 : NULL;
	} else if (is_port(text)) {
		host[0] = '\0';
		behind = text;
	} else if (colon && strchr(text, ':') == colon) {
		snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
		behind = colon + 1;
	} else {
		snprintf(host, sizeof(host), "%s", text);
	}
	if ((behind && !is_port(behind)) || (!behind && !*host) ||
	    (*host && tcptuned_prefix_of(host, &prefix)))
		return fail_endpoint(text, err);
	if (*host)
		json_object_set_new(request, address, json_string(host));
	if (behind)
		json_object_set_new(request, port, json_integer(atoi(behind)));
	return 0;
}

int ctl_parse_flow(char **arguments, int count, json_t *request, struct tcptuned_error *err)
{
	char *dash = strchr(arguments[0], '-');
	const char *local = arguments[0], *remote = count > 1 ? arguments[1] : NULL;
	char first[80];
	int error;

	/* "LOCAL - REMOTE", as it is printed */
	if (count == 3 && !strcmp(arguments[1], "-"))
		remote = arguments[2];
	else if (count == 3)
		return USAGE(err, "%.80s: unexpected; write LOCAL REMOTE", arguments[2]);
	if (dash && count > 1)
		return fail_endpoint(arguments[0], err);
	if (dash) {
		snprintf(first, sizeof(first), "%.*s", (int)(dash - local), local);
		local = first;
		remote = dash + 1;
	}
	if (!remote)
		return ctl_parse_endpoint(local, request, "address", "port", err);
	error = ctl_parse_endpoint(local, request, "local_address", "local_port", err);
	return error ? error
		     : ctl_parse_endpoint(remote, request, "remote_address", "remote_port", err);
}

/* ---- in sentences -------------------------------------------------------------------------- */

static bool has_flag(const json_t *flow, const char *name)
{
	json_t *flag;
	size_t i;

	json_array_foreach(json_object_get(flow, "flags"), i, flag)
		if (!strcmp(json_string_value(flag), name))
			return true;
	return false;
}

/* "12400000 bytes (11.8M)" */
static const char *bytes(unsigned long long number, char ret[64])
{
	char word[CTL_WORD];

	ctl_format_bytes(number, word);
	if (number < 10000)
		snprintf(ret, 64, "%llu bytes", number);
	else
		snprintf(ret, 64, "%llu bytes (%s)", number, word);
	return ret;
}

/* Of one that was open at the start nobody can tell any more which end began. */
static const char *origin(const json_t *flow)
{
	if (has_flag(flow, "adopted"))
		return "open before tcptuned came";
	return has_flag(flow, "passive") ? "accepted here" : "opened here";
}

static void print_identity(FILE *out, const json_t *flow)
{
	fprintf(out, "%s - %s\n", ctl_text(flow, "local"), ctl_text(flow, "remote"));
	fprintf(out, "  %s, %s, in network namespace %llu\n", ctl_text(flow, "state"),
		origin(flow), ctl_number(flow, "netns"));
	fprintf(out, "\npolicy\n  %s%s\n", ctl_text(flow, "policy"),
		has_flag(flow, "observe")
			? "; a dry run: everything below is decided, and nothing is changed"
			: "");
	if (json_object_get(flow, "rule"))
		fprintf(out, "  by its rule  %s\n", ctl_text(flow, "rule"));
	else
		fprintf(out, "  by a rule of a configuration before the one that holds now\n");
}

static void print_congestion(FILE *out, const json_t *flow)
{
	const char *why = has_flag(flow, "congestion_control_set")
				  ? "set by the policy"
				  : "the kernel's default, or chosen by the application, a route, "
				    "or a tcptuned that was stopped before";

	fprintf(out, "\ncongestion control\n  %s, %s\n", ctl_text(flow, "congestion_control"), why);
	fprintf(out, "  cwnd %llu segments of %llu bytes", ctl_number(flow, "cwnd_segments"),
		ctl_number(flow, "mss_bytes"));
	if (json_object_get(flow, "ssthresh_segments"))
		fprintf(out, ", ssthresh %llu", ctl_number(flow, "ssthresh_segments"));
	if (json_object_get(flow, "bitcp"))
		fprintf(out, "; bitcp is in %s", ctl_text(flow, "bitcp.mode"));
	if (ctl_member(flow, "bitcp.max_segments"))
		fprintf(out, ", its maximum %llu segments", ctl_number(flow, "bitcp.max_segments"));
	fprintf(out, "\n  %llu segments retransmitted, %llu now thought lost\n",
		ctl_number(flow, "retransmitted_segments"), ctl_number(flow, "lost_segments"));
}

static void print_path(FILE *out, const json_t *flow)
{
	char now[CTL_WORD], least[CTL_WORD], receiver[CTL_WORD], rate[64];

	ctl_format_us(ctl_number(flow, "srtt_us"), now);
	ctl_format_us(ctl_number(flow, "min_rtt_us"), least);
	ctl_format_us(ctl_number(flow, "receiver_rtt_us"), receiver);
	fprintf(out, "\npath, as the kernel sees it\n");
	fprintf(out, "  RTT now %s, minimum %s; the receiver's estimate %s\n", now, least, receiver);
	fprintf(out, "  %s received", bytes(ctl_number(flow, "bytes_received"), rate));
	fprintf(out, ", %s sent and acknowledged", bytes(ctl_number(flow, "bytes_acked"), rate));
	fprintf(out, ", %s per second delivered last\n",
		bytes(ctl_number(flow, "delivery_rate_bytes_per_s"), rate));
}

/* The kernel sizes the buffer, and so the window. */
static void print_kernel(FILE *out, const json_t *direction)
{
	unsigned long long failed = ctl_number(direction, "failed_tests");

	fprintf(out, "the kernel's autotuning: ");
	if (failed)
		fprintf(out, "a test showed that less window would cost rate (%llu failed in a row)",
			failed);
	else
		fprintf(out, "no standing queue has been seen that less window could shorten");
}

/* A hold begins with a passed test, or with a path that is remembered as slow. */
static void print_held(FILE *out, const json_t *direction)
{
	char window[64], rate[64], least[CTL_WORD];

	ctl_format_us(ctl_number(direction, "min_rtt_us"), least);
	bytes(ctl_number(direction, "window_bytes"), window);
	if (!ctl_number(direction, "tests"))
		fprintf(out, "%s, what a sender begins with: the path is remembered as slow",
			window);
	else
		fprintf(out, "%s, about 2 x %s per second x %s minimum RTT: a test at this rate "
			     "showed that the queue was its own",
			window, bytes(ctl_number(direction, "rate_bytes_per_s"), rate), least);
}

static void print_short_of_memory(FILE *out, bool pressed)
{
	if (pressed)
		fprintf(out, "TCP, or its control group, holds nearly as much memory as the kernel "
			     "lets it have before it presses it (net.ipv4.tcp_mem): none grows "
			     "beyond the buffer below");
	else
		fprintf(out, "the memory budget holds it back: it has no room for more than the "
			     "buffer below");
}

/* Why the window is what it is; each reason of enum rightsize_reason. */
static void print_reason(FILE *out, const json_t *direction, bool pressed)
{
	const char *reason = ctl_text(direction, "reason");
	char text[64];

	bytes(ctl_number(direction, "window_bytes"), text);
	if (!strcmp(reason, "unmeasured"))
		fprintf(out, "no round trip has been measured yet: the kernel's own sizing goes on");
	else if (!strcmp(reason, "kernel"))
		print_kernel(out, direction);
	else if (!strcmp(reason, "test"))
		fprintf(out, "%s: a test whether the queue is its own, with half of what was in "
			     "flight for three round trips; before it, with 5/4 of that",
			text);
	else if (!strcmp(reason, "probe_rtt"))
		fprintf(out, "%s, half a bandwidth-delay product, until the queue is empty and the "
			     "minimum RTT is seen",
			text);
	else if (!strcmp(reason, "held"))
		print_held(out, direction);
	else if (!strcmp(reason, "reader"))
		fprintf(out, "the application reads slowly: about twice what it reads in a round "
			     "trip, less what waits for it");
	else if (!strcmp(reason, "budget"))
		print_short_of_memory(out, pressed);
	else if (!strcmp(reason, "capped"))
		fprintf(out, "the policy's maximum of %s",
			bytes(ctl_number(direction, "window_max_bytes"), text));
	else
		fprintf(out, "%s", reason);
}

static void print_measured(FILE *out, const json_t *direction)
{
	char least[CTL_WORD], round[64], rate[64], best[64];

	ctl_format_us(ctl_number(direction, "min_rtt_us"), least);
	fprintf(out, "  measured     minimum RTT %s; %s in the last round; %s per second in the last "
		     "interval, %s in the best\n",
		least, bytes(ctl_number(direction, "per_rtt_bytes"), round),
		bytes(ctl_number(direction, "rate_bytes_per_s"), rate),
		bytes(ctl_number(direction, "rate_best_bytes_per_s"), best));
}

/* @pressed: the memory of TCP as a whole is short, and not the budget */
static void print_decided(FILE *out, const json_t *direction, bool pressed)
{
	char most[64];

	fprintf(out, "  decided      ");
	print_reason(out, direction, pressed);
	fprintf(out, "\n  allowed      up to %s; tested %llu times, grown %llu, shrunk %llu\n",
		bytes(ctl_number(direction, "window_max_bytes"), most),
		ctl_number(direction, "tests"), ctl_number(direction, "grows"),
		ctl_number(direction, "shrinks"));
}

/* What the buffer may take beyond what the kernel alone would give. */
static void print_budget(FILE *out, const json_t *direction)
{
	unsigned long long wanted = ctl_number(direction, "budget_wanted_bytes");
	unsigned long long granted = ctl_number(direction, "budget_granted_bytes");
	char kernel[64], want[64], grant[64];

	if (!wanted && !granted)
		return;
	fprintf(out, "  budget       beyond the %s that the kernel alone would give: %s wanted, %s "
		     "granted\n",
		bytes(ctl_number(direction, "kernel_max_bytes"), kernel), bytes(wanted, want),
		bytes(granted, grant));
}

/* What the JSON of a connection says of a direction's buffer. */
struct buffer_words {
	const char *option; /* "SO_RCVBUF" */
	const char *buffer; /* its size in memory */
	const char *obeyed, *sized, *pressed; /* flags */
	const char *sized_by;
};

static const struct buffer_words receive_words = {
	"SO_RCVBUF", "receive_buffer_bytes", "so_rcvbuf_obeyed",
	"receive_rightsized", "receive_memory_short",
	"the kernel; tcptuned limits the window (TCP_WINDOW_CLAMP)",
};

static const struct buffer_words send_words = {
	"SO_SNDBUF", "send_buffer_bytes", "so_sndbuf_obeyed",
	"send_rightsized", "send_memory_short",
	"tcptuned",
};

static const char *who_sizes(const json_t *flow, const struct buffer_words *words, bool asked)
{
	if (has_flag(flow, words->obeyed))
		return "the application, which fixed it: nothing below is followed";
	if (has_flag(flow, "observe"))
		return asked ? "the application, which fixed it: a dry run"
			     : "the kernel: a dry run";
	if (has_flag(flow, words->sized))
		return words->sized_by;
	return "the kernel";
}

/* An application that asks for less than this means it (bpf/buffer_requests.h, REQUEST_MIN). */
#define REQUEST_MIN (16u << 10)

/* Is the buffer what its application fixed it to, and so small that it is obeyed always? */
static bool is_small_by_request(const json_t *flow, const struct buffer_words *words)
{
	return has_flag(flow, words->obeyed) &&
	       ctl_number(flow, words->buffer) < 2 * REQUEST_MIN; /* the kernel doubles it */
}

static void print_application(FILE *out, const json_t *flow, const json_t *direction,
			      const struct buffer_words *words)
{
	bool asked = json_object_get(direction, "requested_bytes");
	char text[64];

	if (is_small_by_request(flow, words))
		fprintf(out, "  application  fixed it itself with an %s below 16 KiB, which stands: "
			     "this limits the connection\n",
			words->option);
	else if (has_flag(flow, words->obeyed))
		fprintf(out, "  application  fixed it itself, and is obeyed: left alone\n");
	else if (asked)
		fprintf(out, "  application  asked for %s of %s: %s\n", words->option,
			bytes(ctl_number(direction, "requested_bytes"), text),
			has_flag(flow, "observe") ? "obeyed, in a dry run" : "overridden");
	else
		fprintf(out, "  application  asked for no %s\n", words->option);
	fprintf(out, "  sized by     %s\n", who_sizes(flow, words, asked));
}

static void print_path_memory(FILE *out, const json_t *flow)
{
	if (has_flag(flow, "slow_path_remembered"))
		fprintf(out, "  path memory  the path was slow: the connection began with what any "
			     "sender begins with\n");
}

static void print_receive(FILE *out, const json_t *flow)
{
	const json_t *direction = json_object_get(flow, "receive");
	char buffer[64], used[64], advertised[64], clamp[64];

	fprintf(out, "\nreceive window\n");
	print_application(out, flow, direction, &receive_words);
	print_path_memory(out, flow);
	print_measured(out, direction);
	print_decided(out, direction, has_flag(flow, receive_words.pressed));
	print_budget(out, direction);
	fprintf(out, "  kernel has   a buffer of %s, %s of it in use; a window of %s advertised; a "
		     "clamp of %s\n",
		bytes(ctl_number(flow, "receive_buffer_bytes"), buffer),
		bytes(ctl_number(flow, "receive_buffer_used_bytes"), used),
		bytes(ctl_number(flow, "advertised_window_bytes"), advertised),
		bytes(ctl_number(flow, "window_clamp_bytes"), clamp));
}

static void print_unsent(FILE *out, const json_t *flow)
{
	unsigned long long ours = ctl_number(flow, "send.unsent_max_bytes");
	unsigned long long theirs = ctl_number(flow, "send.unsent_max_of_others_bytes");
	char unsent[64], most[64];

	fprintf(out, "  unsent       %s", bytes(ctl_number(flow, "send.unsent_bytes"), unsent));
	if (theirs)
		fprintf(out, ", of at most about %s, by the application's TCP_NOTSENT_LOWAT or by "
			     "net.ipv4.tcp_notsent_lowat\n",
			bytes(theirs, most));
	else if (ours)
		fprintf(out, ", of at most about %s, by tcptuned (TCP_NOTSENT_LOWAT)\n",
			bytes(ours, most));
	else
		fprintf(out, ", with no bound but that of the buffer\n");
}

static void print_pacing(FILE *out, const json_t *flow)
{
	unsigned long long now = ctl_number(flow, "pacing.rate_bytes_per_s");
	unsigned long long most = ctl_number(flow, "pacing.rate_max_bytes_per_s");
	char text[64];

	if (most)
		fprintf(out, "  pacing       at most %s per second, as the application set it\n",
			bytes(most, text));
	if (now && now != most)
		fprintf(out, "  pacing       its congestion control paces it, at %s per second "
			     "now\n",
			bytes(now, text));
}

static void print_send(FILE *out, const json_t *flow)
{
	const json_t *direction = json_object_get(flow, "send");
	char buffer[64], used[64], window[64];

	fprintf(out, "\nsend window\n");
	print_application(out, flow, direction, &send_words);
	print_measured(out, direction);
	print_decided(out, direction, has_flag(flow, send_words.pressed));
	print_budget(out, direction);
	fprintf(out, "  kernel has   a buffer of %s, %s of it in use; the peer's window is %s\n",
		bytes(ctl_number(flow, "send_buffer_bytes"), buffer),
		bytes(ctl_number(flow, "send_buffer_used_bytes"), used),
		bytes(ctl_number(flow, "send_window_bytes"), window));
	print_unsent(out, flow);
	print_pacing(out, flow);
}

static void print_limit_pacing(FILE *out, const json_t *flow)
{
	unsigned long long now = ctl_number(flow, "pacing.rate_bytes_per_s");
	unsigned long long most = ctl_number(flow, "pacing.rate_max_bytes_per_s");
	char text[64];

	if (most && now >= most)
		fprintf(out, "its pacing: the application allows %s per second\n",
			bytes(most, text));
	else
		fprintf(out, "its pacing: its congestion control paces it, at %s per second\n",
			bytes(now, text));
}

static void print_limit(FILE *out, const json_t *flow)
{
	const char *limit = ctl_text(flow, "limit");
	char text[64];

	fprintf(out, "\nlimited by\n  ");
	if (!strcmp(limit, "idle"))
		fprintf(out, "nothing: there is nothing to send, and nothing in flight\n");
	else if (!strcmp(limit, "application"))
		fprintf(out, "the application: it sends less than it may\n");
	else if (!strcmp(limit, "cwnd"))
		fprintf(out, "the congestion window, %llu segments of %llu bytes\n",
			ctl_number(flow, "cwnd_segments"), ctl_number(flow, "mss_bytes"));
	else if (!strcmp(limit, "receiver_window"))
		fprintf(out, "the peer's receive window, %s\n",
			bytes(ctl_number(flow, "send_window_bytes"), text));
	else if (!strcmp(limit, "send_buffer"))
		fprintf(out, "its send buffer, %s, or the bound on what waits there unsent\n",
			bytes(ctl_number(flow, "send_buffer_bytes"), text));
	else if (!strcmp(limit, "pacing"))
		print_limit_pacing(out, flow);
	else if (!strcmp(limit, "local_queue"))
		fprintf(out, "a queue of this host, where as much of it as may be waits for the "
			     "network device\n");
	else
		fprintf(out, "%s\n", limit);
	/* Half of a buffer unread is an application that is behind. */
	if (ctl_number(flow, "receive_buffer_used_bytes") >
	    ctl_number(flow, "receive_buffer_bytes") / 2)
		fprintf(out, "  what it receives: the application, which does not read as fast as "
			     "data arrive\n");
	else if (is_small_by_request(flow, &receive_words))
		fprintf(out, "  what it receives: the receive buffer, which its application fixed\n");
	else if (!strcmp(ctl_text(flow, "receive.reason"), "capped"))
		fprintf(out, "  what it receives: perhaps the receive window, which is capped\n");
}

void ctl_print_explanation(FILE *out, const json_t *flow)
{
	print_identity(out, flow);
	print_congestion(out, flow);
	print_path(out, flow);
	print_receive(out, flow);
	print_send(out, flow);
	print_limit(out, flow);
}

/* ---- the command --------------------------------------------------------------------------- */

static int fail_ambiguous(const json_t *answer, struct tcptuned_error *err)
{
	const json_t *flows = json_object_get(answer, "flows");
	bool several = ctl_several_namespaces(flows);
	char list[CANDIDATES * 160] = "";
	json_t *flow;
	size_t i;

	json_array_foreach(flows, i, flow) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s%s - %s", i ? ", " : "",
			 ctl_text(flow, "local"), ctl_text(flow, "remote"));
		used = strlen(list);
		if (several)
			snprintf(list + used, sizeof(list) - used, " in namespace %llu",
				 ctl_number(flow, "netns"));
	}
	return tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_DAEMON,
			     "%llu connections are meant, %s%s; name both ends, the local one "
			     "first%s",
			     ctl_number(answer, "matched"), list,
			     ctl_number(answer, "matched") > CANDIDATES ? " ..." : "",
			     several ? ", and --netns" : "");
}

int ctl_explain_answer(const json_t *answer, struct tcptuned_error *err)
{
	const json_t *flows = json_object_get(answer, "flows");

	if (!json_array_size(flows))
		return tcptuned_fail(err, ENOENT, TCPTUNED_EXIT_DAEMON,
				     "no connection that tcptuned has claimed is meant; tcptunectl "
				     "flows lists them");
	if (json_array_size(flows) > 1)
		return fail_ambiguous(answer, err);
	ctl_print_explanation(stdout, json_array_get(flows, 0));
	return 0;
}

enum { NETNS };

static const struct tcptuned_option options[] = {
	[NETNS] = { "netns", 0, "INODE",
		    "The one of the network namespace with this inode number, where others have "
		    "one with the same ends." },
	{ 0 },
};

static int run(struct ctl *ctl, const char *const *given, char **arguments, int count,
	       struct tcptuned_error *err)
{
	json_t *request = ctl_request("flows"), *answer;
	int error;

	json_object_set_new(request, "limit", json_integer(CANDIDATES));
	json_object_set_new(request, "rules", json_true());
	error = ctl_parse_flow(arguments, count, request, err);
	if (!error && given[NETNS])
		error = ctl_set_number(request, "netns", "netns", given[NETNS], err);
	if (error) {
		json_decref(request);
		return error;
	}
	error = ctl_ask(ctl, request, &answer, err);
	if (error)
		return error;
	error = ctl_explain_answer(answer, err);
	json_decref(answer);
	return error;
}

const struct ctl_command ctl_explain = {
	.name = "explain",
	.arguments = "LOCAL [-] REMOTE | LOCAL-REMOTE | END",
	.help = "Say all there is to say about one connection: its policy, what was measured, what "
		"was decided about each window and why, what path memory and budget had to do with "
		"it, what the kernel has, what the application had asked for, and what limits it. "
		"LOCAL, REMOTE and END are ADDRESS:PORT, as flows prints them, or an address or a "
		"port alone; END is either end.",
	.options = options,
	.arguments_min = 1,
	.arguments_max = 3,
	.run = run,
};
