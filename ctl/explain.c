// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl explain: one connection, and why its windows are what they are. */
#include "explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tcptuned/algo/amounts.h>
#include <tcptuned/algo/unsent.h>

#include "client.h"
#include "commands.h"
#include "format.h"
#include "util/array.h"
#include "util/prefix.h"

/* Connections that an error lists if the arguments select several. */
#define CANDIDATES 5

/* ---- which connection ---------------------------------------------------------------------- */

static int fail_endpoint(const char *text, struct tcptuned_error *err)
{
	return USAGE(err,
		     "%.80s: neither an address nor a port; write 192.0.2.1:5201, "
		     "[2001:db8::1]:5201, an address or a port",
		     text);
}

static bool is_port(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) <= 5 &&
	       atoi(text) >= 1 && atoi(text) <= 65535;
}

/* Set two fields of @request from "ADDRESS:PORT", "ADDRESS", "PORT" or ":PORT". */
static int parse_endpoint(const char *text, json_t *request, const char *address, const char *port,
			  struct tcptuned_error *err)
{
	const char *colon = strrchr(text, ':'), *port_text = NULL;
	struct tcptuned_prefix prefix;
	char host[64];

	if (*text == '[') {
		const char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return fail_endpoint(text, err);
		snprintf(host, sizeof(host), "%.*s", (int)(end - text - 1), text + 1);
		port_text = end[1] ? end + 2 : NULL;
	} else if (is_port(text)) {
		host[0] = '\0';
		port_text = text;
	} else if (colon && strchr(text, ':') == colon) {
		snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
		port_text = colon + 1;
	} else {
		snprintf(host, sizeof(host), "%s", text);
	}
	if ((port_text && !is_port(port_text)) || (!port_text && !*host) ||
	    (*host && tcptuned_prefix_of(host, &prefix)))
		return fail_endpoint(text, err);
	if (*host)
		json_object_set_new(request, address, json_string(host));
	if (port_text)
		json_object_set_new(request, port, json_integer(atoi(port_text)));
	return 0;
}

int ctl_add_flow(const struct ctl *ctl, json_t *request, struct tcptuned_error *err)
{
	const char *local = ctl->arguments[0], *remote = ctl->count > 1 ? ctl->arguments[1] : NULL;
	const char *dash = ctl->count ? strchr(local, '-') : NULL;
	char first[80];

	if (!ctl->count)
		return 0;
	/* "LOCAL - REMOTE", as explain and events print it */
	if (ctl->count == 3 && !strcmp(remote, "-"))
		remote = ctl->arguments[2];
	else if (ctl->count == 3)
		return USAGE(err, "%.80s: unexpected; write LOCAL REMOTE", ctl->arguments[2]);
	if (dash && ctl->count > 1)
		return fail_endpoint(local, err);
	if (dash) {
		snprintf(first, sizeof(first), "%.*s", (int)(dash - local), local);
		local = first;
		remote = dash + 1;
	}
	if (!remote)
		return parse_endpoint(local, request, "address", "port", err);
	return parse_endpoint(local, request, "local_address", "local_port", err)
		       ?: parse_endpoint(remote, request, "remote_address", "remote_port", err);
}

/* ---- sentences ------------------------------------------------------------------------------ */

/*
 * The members are those of the connection's JSON, and these:
 *	paced_to_max	it is paced at the maximum that the application allows
 */
static const struct ctl_template first_texts[] = {
	{"", "{local} - {remote}\n  {state}, "},
	{"flags.adopted", "open before tcptuned managed it"}, /* which end opened it is unknown */
	{"!flags.adopted flags.passive", "accepted here"},
	{"!flags.adopted !flags.passive", "opened here"},
	{"", ", in network namespace {netns}\n\npolicy\n  {policy}"},
	{"flags.held_back", "; held back for the trial of its policy"},
	{"flags.observe", "; observed: everything below is decided, and nothing is changed"},
	{"rule", "\n  by its rule  {rule}\n"},
	{"!rule", "\n  by a rule of a configuration before the one that is in force now\n"},
	{"", "\ncongestion control\n  {congestion_control}, "},
	{"flags.congestion_control_set", "set by the policy\n"},
	{"!flags.congestion_control_set",
	 "the kernel's default, or chosen by the application, a route, or a tcptuned that was "
	 "stopped before\n"},
	{"rounds_without_queue",
	 "  for {rounds_without_queue} of 32 round trips the window was full, larger than at the last loss, and "
	 "there was no queue\n"},
	{"random_loss",
	 "  losses are none of a queue: few at a time, while the window fell from "
	 "{random_loss.best_segments} to {random_loss.window_segments} segments at an RTT of "
	 "{random_loss.before_rtt_us:us}\n"},
	{"random_loss.state=tried", "  another congestion control is being tried\n"},
	{"random_loss.state=kept",
	 "  another one was tried and kept: {random_loss.after_segments} segments per minimum RTT, at "
	 "an RTT of {random_loss.after_rtt_us:us}\n"},
	{"random_loss.state=dropped",
	 "  another one was tried and dropped: {random_loss.after_segments} segments per minimum RTT, "
	 "at an RTT of {random_loss.after_rtt_us:us}, or more losses\n"},
	{"", "  cwnd {cwnd_segments} segments of {mss_bytes} bytes"},
	{"ssthresh_segments", ", ssthresh {ssthresh_segments}"},
	{"bitcp", "; bitcp is in {bitcp.mode}"},
	{"bitcp.max_segments", ", its maximum {bitcp.max_segments} segments"},
	{"", "\n  {retransmitted_segments} segments retransmitted, {lost_segments} now assumed "
	     "lost\n\n"
	     "path, as the kernel sees it\n"
	     "  RTT now {srtt_us:us}, minimum {min_rtt_us:us}; the receiver's estimate "
	     "{receiver_rtt_us:us}\n"
	     "  {bytes_received:bytes} received, {bytes_acked:bytes} sent and acknowledged, "
	     "{delivery_rate_bytes_per_s:bytes} per second delivered last\n"},
	{0},
};

/*
 * Of one direction: the members are those of "receive" or "send", those of the connection that have
 * other names, and these:
 *	option	"SO_RCVBUF" or "SO_SNDBUF"
 *	small	the application fixed the size of the buffer to so little that it is always honoured
 *	sized	tcptuned sizes the buffer
 *	short	what was refused last was refused for lack of memory of TCP
 */
static const struct ctl_template direction_texts[] = {
	{"small",
	 "  application  fixed it itself with an {option} below 16 KiB, which is always honoured\n"},
	{"request=application !small", "  application  fixed it itself: left alone\n"},
	{"request=none", "  application  asked for no {option}\n"},
	{"request=listener", "  application  its listener "},
	{"requested_bytes !request=listener", "  application  "},
	{"requested_bytes", "asked for {option} of {requested_bytes:bytes}: "},
	{"request=passed_on", "passed on, since tcptuned only observes\n"},
	{"request=lifted", "lifted\n"},
	{"requested_bytes !request=passed_on !request=lifted", "withheld from the kernel\n"},
	{"request=application",
	 "  sized by     the application, which fixed it: the decision below is not applied\n"},
	{"request=passed_on",
	 "  sized by     the application, which fixed it: tcptuned only observes\n"},
	{"!request=application flags.observe !request=passed_on",
	 "  sized by     the kernel: tcptuned only observes\n"},
	{"!request=application !flags.observe sized option=SO_RCVBUF",
	 "  sized by     the kernel; tcptuned limits the window (TCP_WINDOW_CLAMP)\n"},
	{"!request=application !flags.observe sized option=SO_SNDBUF", "  sized by     tcptuned\n"},
	{"request=lifted !flags.observe !sized",
	 "  sized by     the application, which fixed it, until the path needs more\n"},
	{"!request=application !request=lifted !flags.observe !sized",
	 "  sized by     the kernel\n"},
	{"option=SO_RCVBUF flags.slow_path_remembered",
	 "  path memory  the path was slow: the connection began with the window of a new "
	 "sender\n"},
	{"", "  measured     minimum RTT {min_rtt_us:us}; {per_rtt_bytes:bytes} in the last "
	     "round; {rate_bytes_per_s:bytes} per second in the last interval, "
	     "{rate_best_bytes_per_s:bytes} in the fastest round\n"
	     "  decided      "},
	{"reason=unmeasured request=application", "nothing"},
	{"reason=unmeasured !request=application",
	 "no round trip has been measured yet: the kernel's own sizing goes on"},
	{"reason=kernel failed_tests",
	 "the kernel's autotuning: a test showed that less window would cost rate "
	 "({failed_tests} failed in a row)"},
	{"reason=kernel !failed_tests",
	 "the kernel's autotuning: no standing queue has been seen that less window could shorten"},
	{"reason=test",
	 "{window_bytes:bytes}: a test whether the queue is its own, with half of what was in "
	 "flight for three round trips; before it, with 3/2 of that"},
	{"reason=probe_rtt",
	 "{window_bytes:bytes}, 3/4 of a bandwidth-delay product, until the queue is empty and the "
	 "minimum RTT is seen"},
	{"reason=held !tests",
	 "{window_bytes:bytes}, the window of a new sender: the path is remembered as slow"},
	{"reason=held tests",
	 "{window_bytes:bytes}, about 7/4 x {rate_bytes_per_s:bytes} per second x {min_rtt_us:us} "
	 "minimum RTT: a test at this rate showed that this connection caused the queue"},
	{"reason=reader",
	 "the application reads slowly: about twice what it reads in a round trip, less what "
	 "waits for it"},
	{"reason=budget short",
	 "TCP, or its control group, is close to memory pressure (net.ipv4.tcp_mem): the buffer "
	 "below is not enlarged"},
	{"reason=budget !short",
	 "the memory budget, which has no room for more than the buffer below"},
	{"reason=capped", "the policy's maximum of {window_max_bytes:bytes}"},
	{"reason=earned",
	 "about 2 x {rate_best_bytes_per_s:bytes} per second x {min_rtt_us:us} minimum RTT: beyond the "
	 "kernel's own maximum it grows only with the rate"},
	{"reason=earned fresh", "; where a queue stands, 5/4 of what the path carries, because the "
				"application asked for less than 128K"},
	{"", "\n  allowed      up to {window_max_bytes:bytes}; tested {tests} times, grown "
	     "{grows}, shrunk {shrinks}\n"},
	{"budgeted",
	 "  budget       beyond the {kernel_max_bytes:bytes} that the kernel alone would give: "
	 "{budget_wanted_bytes:bytes} wanted, {budget_granted_bytes:bytes} granted\n"},
	{"option=SO_RCVBUF",
	 "  kernel has   a buffer of {receive_buffer_bytes:bytes}, "
	 "{receive_buffer_used_bytes:bytes} of it in use; a window of "
	 "{advertised_window_bytes:bytes} advertised; a clamp of {window_clamp_bytes:bytes}\n"},
	{"option=SO_SNDBUF",
	 "  kernel has   a buffer of {send_buffer_bytes:bytes}, {send_buffer_used_bytes:bytes} "
	 "of it in use; the peer's window is {send_window_bytes:bytes}\n"
	 "  unsent       {unsent_bytes:bytes}, "},
	{"option=SO_SNDBUF unsent_max_of_others_bytes",
	 "of at most about {unsent_max_of_others_bytes:bytes}, by the application's "
	 "TCP_NOTSENT_LOWAT or by net.ipv4.tcp_notsent_lowat\n"},
	{"option=SO_SNDBUF !unsent_max_of_others_bytes unsent_max_bytes",
	 "of at most about {unsent_max_bytes:bytes}, by tcptuned (TCP_NOTSENT_LOWAT)\n"},
	{"option=SO_SNDBUF !unsent_max_of_others_bytes !unsent_max_bytes",
	 "with no limit but that of the buffer\n"},
	{0},
};

static const struct ctl_template last_texts[] = {
	{"pacing.rate_max_bytes_per_s",
	 "  pacing       at most {pacing.rate_max_bytes_per_s:bytes} per second, as the "
	 "application set it\n"},
	{"pacing.rate_bytes_per_s !paced_to_max",
	 "  pacing       its congestion control paces it, at {pacing.rate_bytes_per_s:bytes} per "
	 "second now\n"},
	{"", "\nlimited by\n  what it sends: "},
	{"limit=idle", "nothing: there is nothing to send, and nothing in flight\n"},
	{"limit=application", "the application: it sends less than it may\n"},
	{"limit=cwnd",
	 "the congestion window, {cwnd_segments} segments of {mss_bytes} bytes, which no loss has "
	 "reduced\n"},
	{"limit=loss",
	 "losses without a queue ({retransmitted_segments} segments retransmitted), which keep the "
	 "congestion window small: {cwnd_segments} segments of {mss_bytes} bytes\n"},
	{"limit=receiver_window send_window_bytes",
	 "the peer's receive window, {send_window_bytes:bytes}\n"},
	{"limit=receiver_window !send_window_bytes",
	 "the peer's receive window, which is closed: its application does not read\n"},
	{"limit=send_buffer send.request=application",
	 "its send buffer, {send_buffer_bytes:bytes}, which its application fixed (SO_SNDBUF)\n"},
	{"limit=send_buffer !send.request=application",
	 "its send buffer, {send_buffer_bytes:bytes}, all of which is in flight\n"},
	{"limit=path",
	 "the path: {send.path_queue_bytes:bytes} wait in its queue (RTT {srtt_us:us}, minimum "
	 "{min_rtt_us:us}); more window would not help\n"},
	{"limit=pacing paced_to_max",
	 "its pacing: the application allows {pacing.rate_max_bytes_per_s:bytes} per second\n"},
	{"limit=pacing !paced_to_max",
	 "its pacing: its congestion control paces it, at {pacing.rate_bytes_per_s:bytes} per "
	 "second\n"},
	{"limit=local_queue",
	 "a queue of this host, which holds as much of it as it may for the network device\n"},
	{"", "  what it receives: "},
	{"receive.limit=idle", "nothing: nothing arrives\n"},
	{"receive.limit=application",
	 "the application, which does not read as fast as data arrive\n"},
	{"receive.limit=receiver_window",
	 "this host's receive window, {advertised_window_bytes:bytes}"},
	{"receive.limit=receiver_window receive.request=application",
	 ", which its application fixed (SO_RCVBUF or TCP_WINDOW_CLAMP)"},
	{"receive.limit=receiver_window receive.reason=capped",
	 ", by the policy's maximum (receive_window_max)"},
	{"receive.limit=receiver_window receive.reason=budget", ", by the memory budget"},
	{"receive.limit=receiver_window", "\n"},
	{"receive.limit=path",
	 "the path: {receive.path_queue_bytes:bytes} wait in its queue (RTT {receiver_rtt_us:us}, "
	 "minimum {receive.min_rtt_us:us}); more window would not help\n"},
	{"receive.limit=sender",
	 "the sender or its application, not this host's window: {advertised_window_bytes:bytes} "
	 "offered, {receive.used_per_rtt_bytes:bytes} used per round trip, RTT "
	 "{receiver_rtt_us:us}, minimum {receive.min_rtt_us:us}"},
	{"receive.limit=sender receive.out_of_order_segments",
	 "; {receive.out_of_order_segments} segments arrived out of order, as after losses"},
	{"receive.limit=sender", "\n"},
	{0},
};

static const struct direction {
	const char *name, *option, *buffer;
	const char *sized, *short_of_memory; /* flags */
} directions[] = {
	{"receive", "SO_RCVBUF", "receive_buffer_bytes", "flags.receive_rightsized",
	 "flags.receive_memory_short"},
	{"send", "SO_SNDBUF", "send_buffer_bytes", "flags.send_rightsized",
	 "flags.send_memory_short"},
};

/* The kernel doubles what is asked for. */
static bool is_small(const json_t *members, const struct direction *direction)
{
	return !strcmp(ctl_text(members, "request"), "application") &&
	       ctl_number(members, direction->buffer) < 2 * REQUEST_MIN;
}

static void set_bool(json_t *object, const char *name, bool value)
{
	json_object_set_new(object, name, json_boolean(value));
}

static void print_direction(FILE *out, const json_t *flow, const struct direction *direction)
{
	json_auto_t *members = json_copy((json_t *)flow);

	json_object_update(members, json_object_get(flow, direction->name));
	json_object_set_new(members, "option", json_string(direction->option));
	set_bool(members, "small", is_small(members, direction));
	set_bool(members, "fresh",
		 ctl_holds(members, "option=SO_SNDBUF request=lifted") &&
			 rightsize_asked_for_little((__u32)ctl_number(members, "requested_bytes")));
	set_bool(members, "sized", ctl_member(flow, direction->sized));
	set_bool(members, "short", ctl_member(flow, direction->short_of_memory));
	set_bool(members, "budgeted",
		 ctl_number(members, "budget_wanted_bytes") ||
			 ctl_number(members, "budget_granted_bytes"));
	fprintf(out, "\n%s window\n", direction->name);
	ctl_print(out, members, direction_texts);
}

void ctl_print_explanation(FILE *out, const json_t *flow)
{
	unsigned long long pacing = ctl_number(flow, "pacing.rate_bytes_per_s");
	unsigned long long pacing_max = ctl_number(flow, "pacing.rate_max_bytes_per_s");
	json_auto_t *members = json_copy((json_t *)flow);

	set_bool(members, "paced_to_max", pacing_max && pacing >= pacing_max);
	ctl_print(out, flow, first_texts);
	for (size_t i = 0; i < ARRAY_SIZE(directions); i++)
		print_direction(out, flow, &directions[i]);
	ctl_print(out, members, last_texts);
}

/* ---- the command --------------------------------------------------------------------------- */

static int fail_ambiguous(const json_t *answer, struct tcptuned_error *err)
{
	const json_t *flows = json_object_get(answer, "flows");
	bool several = ctl_several_namespaces(flows);
	char list[CANDIDATES * 160] = "";
	json_t *flow;
	size_t i;

	json_array_foreach (flows, i, flow) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s%s - %s", i ? ", " : "",
			 ctl_text(flow, "local"), ctl_text(flow, "remote"));
		used = strlen(list);
		if (several)
			snprintf(list + used, sizeof(list) - used, " in namespace %llu",
				 ctl_number(flow, "netns"));
	}
	return FAIL(err, EINVAL, DAEMON,
		    "%llu connections match, %s%s; name both ends, the local one first%s",
		    ctl_number(answer, "matched"), list,
		    ctl_number(answer, "matched") > CANDIDATES ? " ..." : "",
		    several ? ", and --netns" : "");
}

int ctl_explain_answer(const struct ctl *ctl, const json_t *answer, struct tcptuned_error *err)
{
	const json_t *flows = json_object_get(answer, "flows");

	if (!json_array_size(flows))
		return FAIL(err, ENOENT, DAEMON,
			    "no connection of tcptuned matches; tcptunectl flows lists them");
	if (json_array_size(flows) > 1)
		return fail_ambiguous(answer, err);
	if (ctl->json)
		ctl_print_json(json_array_get(flows, 0));
	else
		ctl_print_explanation(stdout, json_array_get(flows, 0));
	return 0;
}

static const struct ctl_option options[] = {
	{OPTION(CTL_JSON,
		"Print what is known as one JSON object, as flows has it, and the rule.")},
	{OPTION("netns", 0, "INODE",
		"The one of the network namespace with this inode number, if several have a connection "
		"with these ends."),
	 .field = "netns", .number = true},
	{OPTION(0)},
};

static int add_arguments(const struct ctl *ctl, json_t *request, struct tcptuned_error *err)
{
	json_object_set_new(request, "limit", json_integer(CANDIDATES));
	json_object_set_new(request, "rules", json_true());
	return ctl_add_flow(ctl, request, err);
}

static int run(const struct ctl *ctl, json_t *request, struct tcptuned_error *err)
{
	json_auto_t *answer = NULL;

	return ctl_query(ctl->socket, request, &answer, err)
		       ?: ctl_explain_answer(ctl, answer, err);
}

const struct ctl_command ctl_explain = {
	.name = "explain",
	.arguments = "LOCAL [-] REMOTE | LOCAL-REMOTE | END",
	.help = "Print all that is known about one connection: its policy, what was measured, what was "
		"decided about each window and why, the influence of path memory and budget, what the "
		"kernel has, what the application requested, and what limits the connection. LOCAL, "
		"REMOTE and END are ADDRESS:PORT, as flows prints them, or an address or a port alone; "
		"END is either end.",
	.options = options,
	.arguments_min = 1,
	.arguments_max = 3,
	.request = "flows",
	.add_arguments = add_arguments,
	.run = run,
};
