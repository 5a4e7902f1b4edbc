// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl's words: numbers, tables, explanations, events; and how it reads a flow's name. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "ctl.h"
#include "flows/names.h"
#include "rpc/events.h"
#include "rpc/flow_json.h"
#include "rpc/request.h"
#include "util/array.h"

static void expect_bytes(unsigned long long bytes, const char *text)
{
	char word[CTL_WORD];

	ctl_format_bytes(bytes, word);
	assert_string_equal(word, text);
}

static void test_bytes(void **state)
{
	expect_bytes(0, "0");
	expect_bytes(9999, "9999");
	expect_bytes(10240, "10K");
	expect_bytes(65536, "64K");
	expect_bytes(100000, "97.7K");
	expect_bytes(12400000, "11.8M");
	expect_bytes(1023 * 1024, "1.0M");
	expect_bytes(1ull << 30, "1G");
	expect_bytes(UINT64_MAX, "16.0E");
}

static void expect_us(unsigned long long us, const char *text)
{
	char word[CTL_WORD];

	ctl_format_us(us, word);
	assert_string_equal(word, text);
}

static void test_times(void **state)
{
	expect_us(0, "-");
	expect_us(40, "0.04ms");
	expect_us(9999, "10.00ms");
	expect_us(50123, "50.1ms");
	expect_us(3210000, "3.2s");
}

/* ---- the manual ---------------------------------------------------------------------------- */

static char *section(void (*print)(FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print(out);
	fclose(out);
	return text;
}

/* As a tag, and with what it means below it. */
static void explained(const char *manual, const char *word)
{
	const char *at;
	char tag[64];

	assert_string_not_equal(word, "unknown");
	snprintf(tag, sizeof(tag), ".TP\n.B %s\n", word);
	at = strstr(manual, tag);
	if (!at || strlen(at + strlen(tag)) < 8 || at[strlen(tag)] == '.')
		fail_msg("the manual does not explain %s", word);
}

static void test_manual_has_every_word(void **state)
{
	static const char *const requests[] = { "status", "flows", "policies", "policy_test",
						"policy_enable", "policy_disable", "policy_apply",
						"paths", "events", "stop" };
	char *words = section(ctl_print_man_words), *asked = section(tcptuned_request_print_man);
	unsigned int i;

	for (i = 0; i < TCPTUNED_LIMITS; i++)
		explained(words, tcptuned_limit_name(i));
	for (i = 0; i < RIGHTSIZE_REASONS; i++)
		explained(words, tcptuned_reason_name(i));
	for (i = 0; i < TCPTUNED_BITCP_MODES; i++)
		explained(words, tcptuned_bitcp_mode_name(i));
	assert_string_equal(tcptuned_limit_name(TCPTUNED_LIMITS), "unknown");
	assert_null(tcptuned_word_meaning(TCPTUNED_WORDS_LIMIT, TCPTUNED_LIMITS));
	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		char line[64];
		struct tcptuned_request request;

		explained(asked, requests[i]);
		snprintf(line, sizeof(line), "{\"command\":\"%s\"}", requests[i]);
		if (strcmp(requests[i], "policy_test") && strncmp(requests[i], "policy_e", 8) &&
		    strncmp(requests[i], "policy_d", 8))
			assert_int_equal(tcptuned_request_parse(line, strlen(line), &request, NULL),
					 0);
	}
	assert_non_null(strstr(asked, "\n.B status\nnothing\n"));
	free(words);
	free(asked);
}

/* ---- tables -------------------------------------------------------------------------------- */

static json_t *json(const char *text)
{
	json_error_t error;
	json_t *root = json_loads(text, 0, &error);

	if (!root)
		fail_msg("%s: %s", text, error.text);
	return root;
}

static void test_table(void **state)
{
	const struct tcptuned_column *columns[] = {
		tcptuned_column_find("local"), tcptuned_column_find("rtt"),
		tcptuned_column_find("rwin"), tcptuned_column_find("rwhy"),
	};
	json_t *flows = json("[{\"local\":\"192.0.2.1:5201\",\"srtt_us\":50123,\"receive\":"
			     "{\"window_bytes\":12400000,\"reason\":\"growing\"}},"
			     "{\"local\":\"[::1]:1\",\"receive\":{}}]");
	char *text = NULL;
	size_t size;
	FILE *out;

	out = open_memstream(&text, &size);
	ctl_print_table(out, flows, columns, ARRAY_SIZE(columns), 0);
	fclose(out);
	assert_string_equal(text, "LOCAL              RTT   RWIN  RWHY\n"
				  "192.0.2.1:5201  50.1ms  11.8M  growing\n"
				  "[::1]:1              -      -  -\n");
	free(text);
	out = open_memstream(&text, &size);
	ctl_print_table(out, flows, columns, ARRAY_SIZE(columns), 20);
	fclose(out);
	assert_string_equal(text, "LOCAL              R\n192.0.2.1:5201  50.1\n"
				  "[::1]:1\n");
	free(text);
	json_decref(flows);
}

/* ---- names of flows ------------------------------------------------------------------------ */

static void expect_flow(const char *first, const char *second, const char *third,
			const char *request)
{
	char *arguments[] = { (char *)first, (char *)second, (char *)third };
	json_t *got = json_object(), *wanted = json(request);
	struct tcptuned_error err = { 0 };

	if (ctl_parse_flow(arguments, third ? 3 : second ? 2 : 1, got, &err))
		fail_msg("%s: %s", first, err.text);
	if (!json_equal(got, wanted))
		fail_msg("%s: %s", first, json_dumps(got, 0));
	json_decref(got);
	json_decref(wanted);
}

static void refuse_flow(const char *first, const char *second)
{
	char *arguments[] = { (char *)first, (char *)second };
	struct tcptuned_error err = { 0 };
	json_t *got = json_object();

	assert_true(ctl_parse_flow(arguments, second ? 2 : 1, got, &err) < 0);
	assert_int_equal(err.status, TCPTUNED_EXIT_USAGE);
	json_decref(got);
}

static void test_names_of_flows(void **state)
{
	static const char both[] = "{\"local_address\":\"192.0.2.1\",\"local_port\":5201,"
				   "\"remote_address\":\"2001:db8::1\",\"remote_port\":80}";

	expect_flow("192.0.2.1:5201", "[2001:db8::1]:80", NULL, both);
	expect_flow("192.0.2.1:5201", "-", "[2001:db8::1]:80", both);
	expect_flow("192.0.2.1:5201-[2001:db8::1]:80", NULL, NULL, both);
	expect_flow("5201-40000", NULL, NULL, "{\"local_port\":5201,\"remote_port\":40000}");
	expect_flow(":5201", "2001:db8::1", NULL,
		    "{\"local_port\":5201,\"remote_address\":\"2001:db8::1\"}");
	expect_flow("5201", NULL, NULL, "{\"port\":5201}");
	expect_flow("[::1]", NULL, NULL, "{\"address\":\"::1\"}");
	expect_flow("192.0.2.1:1", NULL, NULL, "{\"address\":\"192.0.2.1\",\"port\":1}");
	refuse_flow("", NULL);
	refuse_flow(":", NULL);
	refuse_flow("0", NULL);
	refuse_flow("65536", NULL);
	refuse_flow("192.0.2.1:", NULL);
	refuse_flow("192.0.2.1:x", NULL);
	refuse_flow("[::1", NULL);
	refuse_flow("[::1]x", NULL);
	refuse_flow("host:1", NULL);
	refuse_flow("1-", NULL);
	refuse_flow("-1", NULL);
	refuse_flow("1-2", "3");
}

/* ---- explanations -------------------------------------------------------------------------- */

static const char flow_json[] =
	"{\"local\":\"192.0.2.1:5201\",\"remote\":\"198.51.100.7:40000\",\"state\":\"established\","
	"\"netns\":77,\"policy\":\"default\",\"congestion_control\":\"bitcp\",\"cwnd_segments\":4321,"
	"\"mss_bytes\":1448,\"flags\":[\"passive\",\"so_rcvbuf_overridden\",\"receive_rightsized\"],"
	"\"limit\":\"receiver_window\",\"send_window_bytes\":6291456,\"receive_buffer_bytes\":100000,"
	"\"receive_buffer_used_bytes\":60000,\"receive\":{\"window_bytes\":12400000,\"reason\":"
	"\"held\",\"window_max_bytes\":268435456,\"grows\":9,\"shrinks\":2,\"tests\":3,"
	"\"failed_tests\":0,\"per_rtt_bytes\":6187654,\"min_rtt_us\":50010,"
	"\"rate_bytes_per_s\":124000000,\"rate_best_bytes_per_s\":125000000,"
	"\"requested_bytes\":65536,\"kernel_max_bytes\":6291456,"
	"\"budget_wanted_bytes\":24800000,\"budget_granted_bytes\":2097152},\"send\":{\"reason\":\"unmeasured\"}}";

static char *explain(json_t *flow)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ctl_print_explanation(out, flow);
	fclose(out);
	return text;
}

static void expect_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static void test_explanation(void **state)
{
	json_t *flow = json(flow_json);
	char *text = explain(flow);

	expect_says(text, "192.0.2.1:5201 - 198.51.100.7:40000\n");
	expect_says(text, "established, accepted here, in network namespace 77\n");
	expect_says(text, "asked for SO_RCVBUF of 65536 bytes (64K): overridden");
	expect_says(text, "asked for no SO_SNDBUF");
	expect_says(text, "minimum RTT 50.0ms; 6187654 bytes (5.9M) in the last round; 124000000 "
			  "bytes (118M) per second in the last interval, 125000000 bytes (119M) in "
			  "the best\n");
	expect_says(text, "decided      12400000 bytes (11.8M), about 2 x 124000000 bytes (118M) per "
			  "second x 50.0ms minimum RTT: a test at this rate showed that the queue "
			  "was its own\n");
	expect_says(text, "up to 268435456 bytes (256M); tested 3 times, grown 9, shrunk 2\n");
	expect_says(text, "beyond the 6291456 bytes (6M) that the kernel alone would give: 24800000 "
			  "bytes (23.7M) wanted, 2097152 bytes (2M) granted\n");
	expect_says(text, "sized by     the kernel; tcptuned limits the window (TCP_WINDOW_CLAMP)\n");
	assert_null(strstr(text, "0 bytes wanted")); /* as for sending */
	expect_says(text, "no round trip has been measured yet");
	expect_says(text, "the peer's receive window, 6291456 bytes (6M)");
	expect_says(text, "does not read as fast");
	free(text);
	json_object_set_new(json_object_get(flow, "receive"), "tests", json_integer(0));
	text = explain(flow);
	expect_says(text, "(11.8M), the window of a new sender: the path is remembered as slow\n");
	free(text);
	json_decref(flow);
}

static void test_the_kernels_window_is_explained(void **state)
{
	json_t *flow = json(flow_json), *receive = json_object_get(flow, "receive");
	char *text;

	json_object_set_new(receive, "reason", json_string("kernel"));
	json_object_del(receive, "window_bytes");
	text = explain(flow);
	expect_says(text, "decided      the kernel's autotuning: no standing queue has been seen");
	free(text);
	json_object_set_new(receive, "failed_tests", json_integer(2));
	text = explain(flow);
	expect_says(text, "decided      the kernel's autotuning: a test showed that less window would "
			  "cost rate (2 failed in a row)\n");
	free(text);
	json_decref(flow);
}

static void expect_explained(json_t *flow, const char *part, const char *limit)
{
	char *text = explain(flow);

	expect_says(text, part);
	expect_says(text, limit);
	free(text);
}

/* Who paces it, how fast, and whether that is what limits it. */
static void test_pacing_is_explained(void **state)
{
	json_t *flow = json(flow_json), *pacing = json_object(), *send = json_object();
	char *text = explain(flow);

	assert_null(strstr(text, "pacing "));
	expect_says(text, "unsent       0 bytes, with no limit but that of the buffer\n");
	free(text);
	json_object_set_new(flow, "limit", json_string("pacing"));
	json_object_set_new(flow, "pacing", pacing);
	json_object_set_new(flow, "send", send);
	json_object_set_new(pacing, "rate_bytes_per_s", json_integer(1000));
	json_object_set_new(send, "unsent_bytes", json_integer(4321));
	json_object_set_new(send, "unsent_max_bytes", json_integer(131072));
	expect_explained(flow,
			 "pacing       its congestion control paces it, at 1000 bytes per "
			 "second now\n",
			 "limited by\n  its pacing: its congestion control paces it, at 1000 "
			 "bytes per second\n");
	expect_explained(flow, "unsent       4321 bytes, of at most about 131072 bytes (128K), by "
			       "tcptuned (TCP_NOTSENT_LOWAT)\n",
			 "send window\n");
	json_object_set_new(pacing, "rate_max_bytes_per_s", json_integer(2000));
	expect_explained(flow, "pacing       at most 2000 bytes per second, as the application set it\n"
			       "  pacing       its congestion control paces it, at 1000 bytes",
			 "its congestion control paces it, at 1000 bytes per second\n");
	json_object_set_new(pacing, "rate_bytes_per_s", json_integer(2000));
	expect_explained(flow, "as the application set it\n\nlimited by\n",
			 "its pacing: the application allows 2000 bytes per second\n");
	json_object_set_new(send, "unsent_max_of_others_bytes", json_integer(5000));
	expect_explained(flow, "4321 bytes, of at most about 5000 bytes, by the application's ",
			 "its pacing: the application allows 2000 bytes per second\n");
	json_decref(flow);
}

/* Which rule it came under, and whether anything is done. */
static void test_policy_is_explained(void **state)
{
	json_t *flow = json(flow_json);
	char *text = explain(flow);

	expect_says(text, "policy\n  default\n  by a rule of a configuration before");
	free(text);
	json_object_set_new(flow, "rule", json_string("destination 10.0.0.0/8, remote port 80"));
	text = explain(flow);
	expect_says(text, "by its rule  destination 10.0.0.0/8, remote port 80\n");
	free(text);
	json_array_append_new(json_object_get(flow, "flags"), json_string("observe"));
	text = explain(flow);
	expect_says(text, "default; a dry run: everything below is decided");
	free(text);
	json_decref(flow);
}

static void replace_flags(json_t *flow, const char *flags)
{
	json_object_set_new(flow, "flags", json(flags));
}

/* A flow as the daemon tells it. */
static json_t *told(const struct tcptuned_flow_record *record)
{
	struct tcptuned_buf buf;
	json_t *root;

	tcptuned_buf_init(&buf, 16384);
	tcptuned_json_flow(&buf, record, "default", NULL);
	assert_int_equal(buf.error, 0);
	root = json(buf.data);
	tcptuned_buf_free(&buf);
	return root;
}

static void expect_flags(__u32 flags, const char *wanted)
{
	struct tcptuned_flow_record record = { .family = AF_INET, .flow.flags = flags };
	json_t *flow = told(&record);
	char *got = json_dumps(json_object_get(flow, "flags"), JSON_COMPACT);

	assert_string_equal(got, wanted);
	free(got);
	json_decref(flow);
}

/* In a dry run the kernel did obey. */
static void test_flags(void **state)
{
	expect_flags(TCPTUNED_F_MANAGED | TCPTUNED_F_RCVBUF_REQ | TCPTUNED_F_SND_MEMORY_SHORT,
		     "[\"so_rcvbuf_overridden\",\"send_memory_short\"]");
	expect_flags(TCPTUNED_F_OBSERVE | TCPTUNED_F_RCVBUF_REQ | TCPTUNED_F_SNDBUF_REQ |
			     TCPTUNED_F_RCV_MEMORY_SHORT,
		     "[\"observe\",\"receive_memory_short\"]");
	expect_flags(TCPTUNED_F_SLOW_SEED, "[\"slow_path_remembered\"]");
}

static void test_directions(void **state)
{
	struct tcptuned_flow_record record = {
		.family = AF_INET,
		.flow = {
			.rcv_share = { .wanted = 3000, .granted = 2000 },
			.rcv.window = 5000,
			.rcv.failures = 3,
			.rcv.state = RIGHTSIZE_PROBE_RTT,
			.rcv_reason = RIGHTSIZE_READER,
			.rcv_base = 7000,
		},
	};
	json_t *flow = told(&record);

	assert_int_equal(ctl_number(flow, "receive.window_bytes"), 5000);
	assert_int_equal(ctl_number(flow, "receive.failed_tests"), 3);
	assert_int_equal(ctl_number(flow, "receive.kernel_max_bytes"), 7000);
	assert_int_equal(ctl_number(flow, "receive.budget_wanted_bytes"), 3000);
	assert_int_equal(ctl_number(flow, "receive.budget_granted_bytes"), 2000);
	assert_string_equal(ctl_text(flow, "receive.state"), "probe_rtt");
	assert_string_equal(ctl_text(flow, "receive.reason"), "reader");
	assert_null(ctl_member(flow, "send.window_bytes")); /* the kernel's */
	assert_string_equal(ctl_text(flow, "send.state"), "free");
	json_decref(flow);
}

static void test_who_sized_it(void **state)
{
	json_t *flow = json(flow_json);
	char *text;

	replace_flags(flow, "[\"passive\",\"adopted\",\"so_rcvbuf_obeyed\"]");
	text = explain(flow);
	expect_says(text, "established, open before tcptuned started, in network namespace 77\n");
	expect_says(text, "sized by     the application, which fixed it: nothing below is");
	expect_says(text, "bitcp, the kernel's default, or chosen by the application, a route, or "
			  "a tcptuned that was stopped before\n");
	free(text);
	replace_flags(flow, "[\"passive\",\"so_rcvbuf_obeyed\"]");
	json_object_set_new(flow, "receive_buffer_bytes", json_integer(32766));
	text = explain(flow);
	expect_says(text, "application  fixed it itself with an SO_RCVBUF below 16 KiB, which is always "
			  "obeyed: this limits the connection\n");
	expect_says(text, "what it receives: the application, which does not read");
	free(text);
	json_object_set_new(flow, "receive_buffer_used_bytes", json_integer(0));
	text = explain(flow);
	expect_says(text, "what it receives: the receive buffer, which its application fixed\n");
	free(text);
	replace_flags(flow, "[\"observe\"]");
	text = explain(flow);
	expect_says(text, "established, opened here,");
	expect_says(text, "asked for SO_RCVBUF of 65536 bytes (64K): obeyed, in a dry run\n");
	expect_says(text, "sized by     the application, which fixed it: a dry run\n");
	expect_says(text, "sized by     the kernel: a dry run\n"); /* to send, where it did not */
	free(text);
	json_decref(flow);
}

/* tcp_mem is not the budget. */
static void test_who_held_it_back(void **state)
{
	json_t *flow = json(flow_json);
	char *text;

	json_object_set_new(json_object_get(flow, "receive"), "reason", json_string("budget"));
	text = explain(flow);
	expect_says(text, "decided      the memory budget holds it back");
	assert_null(strstr(text, "tcp_mem"));
	free(text);
	replace_flags(flow, "[\"receive_memory_short\"]");
	text = explain(flow);
	expect_says(text, "(net.ipv4.tcp_mem): none grows beyond");
	assert_null(strstr(text, "the memory budget holds"));
	free(text);
	json_decref(flow);
}

/* Each reason that the kernel side knows has a sentence of its own; no word stands for itself. */
static void test_every_reason_is_explained(void **state)
{
	json_t *flow = json(flow_json), *receive = json_object_get(flow, "receive");
	char alone[64], *text;

	for (unsigned int i = 0; i < RIGHTSIZE_REASONS; i++) {
		const char *name = tcptuned_reason_name(i);

		json_object_set_new(receive, "reason", json_string(name));
		text = explain(flow);
		snprintf(alone, sizeof(alone), "decided      %s\n", name);
		if (strstr(text, alone))
			fail_msg("%s is not explained", name);
		free(text);
	}
	for (unsigned int i = 0; i < TCPTUNED_LIMITS; i++) {
		const char *name = tcptuned_limit_name(i);

		json_object_set_new(flow, "limit", json_string(name));
		text = explain(flow);
		snprintf(alone, sizeof(alone), "limited by\n  %s\n", name);
		if (strstr(text, alone))
			fail_msg("%s is not explained", name);
		free(text);
	}
	json_decref(flow);
}

/* An answer of another version: less is said, and nothing breaks. */
static void test_empty_flow(void **state)
{
	json_t *flow = json("{}");
	char *text = explain(flow);

	expect_says(text, "limited by\n");
	free(text);
	json_decref(flow);
}

/* ---- events -------------------------------------------------------------------------------- */

static json_t *event_json(const struct tcptuned_event *event)
{
	struct tcptuned_buf buf;
	json_t *root;

	tcptuned_buf_init(&buf, 4096);
	tcptuned_event_format(&buf, event, "default", 1000000000ll);
	assert_int_equal(buf.error, 0);
	assert_int_equal(buf.data[buf.len - 1], '\n');
	root = json(buf.data);
	tcptuned_buf_free(&buf);
	return root;
}

static void test_events(void **state)
{
	struct tcptuned_event event = {
		.time_ns = 2500000000ull,
		.a = 65536,
		.b = 4711,
		.netns = 77,
		.family = AF_INET,
		.local_port = 5201,
		.kind = TCPTUNED_EV_RCVBUF_OVERRIDDEN,
		.flags = TCPTUNED_EV_DRY_RUN,
	};
	json_t *root, *wanted;

	inet_pton(AF_INET, "192.0.2.1", event.local);
	root = event_json(&event);
	wanted = json("{\"event\":\"rcvbuf_overridden\",\"time_us\":3500000,\"local\":"
		      "\"192.0.2.1:5201\",\"remote\":\"0.0.0.0:0\",\"netns\":77,\"policy\":"
		      "\"default\",\"dry_run\":true,\"requested_bytes\":65536,\"pid\":4711,\"text\":"
		      "\"SO_RCVBUF of 65536 bytes overridden, requested by process 4711\"}");
	assert_true(json_equal(root, wanted));
	json_decref(root);
	json_decref(wanted);

	event.kind = TCPTUNED_EV_CC_SET;
	memcpy(&event.a, "sixteen_", 8);
	memcpy(&event.b, "lett\n\xff_x", 8);
	root = event_json(&event);
	assert_string_equal(ctl_text(root, "congestion_control"), "sixteen_lett??_x");
	json_decref(root);
}

/* Of one connection, as it is named on the command line; none is meant before there is one. */
static void test_events_of_one(void **state)
{
	struct tcptuned_filter filter = { .remote_port = 443, .netns = 77 };
	struct tcptuned_event event = {
		.netns = 77,
		.family = AF_INET,
		.local_port = 5201,
		.remote_port = 443,
	};

	inet_pton(AF_INET, "192.0.2.1", event.local);
	inet_pton(AF_INET, "198.51.100.7", event.remote);
	assert_int_equal(tcptuned_prefix_of("192.0.2.1", &filter.local), 0);
	assert_true(tcptuned_event_matches(&event, &filter));
	assert_true(tcptuned_event_matches(&event, &(struct tcptuned_filter){ 0 }));
	filter.netns = 78;
	assert_false(tcptuned_event_matches(&event, &filter));
	filter.netns = 0;
	filter.local_port = 5202;
	assert_false(tcptuned_event_matches(&event, &filter));
	filter.local_port = 0;
	assert_int_equal(tcptuned_prefix_of("198.51.100.8", &filter.remote), 0);
	assert_false(tcptuned_event_matches(&event, &filter));
	assert_int_equal(tcptuned_prefix_of("198.51.100.7", &filter.remote), 0);
	assert_true(tcptuned_event_matches(&event, &filter));
	memset(event.remote, 0, sizeof(event.remote));
	assert_false(tcptuned_event_matches(&event, &filter));
}

static void test_every_kind(void **state)
{
	static const struct {
		unsigned int kind;
		const char *name;
	} kinds[] = {
		{ TCPTUNED_EV_CLAIMED, "claimed" },
		{ TCPTUNED_EV_CLOSED, "closed" },
		{ TCPTUNED_EV_CC_KEPT, "congestion_control_kept" },
		{ TCPTUNED_EV_RCV_GROWN, "receive_window_grown" },
		{ TCPTUNED_EV_RCV_SHRUNK, "receive_window_shrunk" },
		{ TCPTUNED_EV_SND_CAPPED, "send_window_capped" },
		{ TCPTUNED_EV_SND_TEST, "send_window_test" },
		{ TCPTUNED_EV_SND_BUDGET, "send_window_budget" },
		{ TCPTUNED_EV_SND_FAILED, "send_window_failed" },
		{ 0, "unknown" },
		{ 255, "unknown" },
	};
	struct tcptuned_event event = { .family = AF_INET6, .a = UINT64_MAX, .b = UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		assert_string_equal(tcptuned_event_name(kinds[i].kind), kinds[i].name);
	/* Whatever is in the ring becomes a line of JSON. */
	for (unsigned int kind = 0; kind < 256; kind++) {
		json_t *root;

		event.kind = (__u8)kind;
		root = event_json(&event);
		assert_string_equal(ctl_text(root, "event"), tcptuned_event_name(kind));
		assert_true(strcmp(ctl_text(root, "event"), "unknown") ? *ctl_text(root, "text") : 1);
		json_decref(root);
	}
}

/* ---- the command line ---------------------------------------------------------------------- */

/* What is printed to @fd by @print, which gets @ctx. */
static char *printed(int fd, void (*print)(void *ctx), void *ctx)
{
	FILE *stream = fd == STDOUT_FILENO ? stdout : stderr, *file = tmpfile();
	static char text[4096];
	int kept = dup(fd);
	size_t len;

	fflush(stream);
	dup2(fileno(file), fd);
	print(ctx);
	fflush(stream);
	dup2(kept, fd);
	close(kept);
	rewind(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	text[len] = '\0';
	fclose(file);
	return text;
}

struct call {
	const char *arguments;
	int status;
};

static void call_ctl(void *ctx)
{
	struct call *call = ctx;
	char line[512], *argv[32] = { "tcptunectl" }, *rest = line;
	int argc = 1;

	snprintf(line, sizeof(line), "%s", call->arguments);
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	call->status = ctl_main(argc, argv);
}

static void refuse_call(const char *arguments, const char *says)
{
	struct call call = { arguments, -1 };
	char *said = printed(STDERR_FILENO, call_ctl, &call);

	expect_says(said, says);
	assert_int_equal(call.status, TCPTUNED_EXIT_USAGE);
}

/* Where nothing is: whatever gets past the command line finds no daemon. */
#define NOWHERE "--set=tcptuned.runtime_directory=/nonexistent "

static void test_wrong_words(void **state)
{
	refuse_call(NOWHERE "policy list --jsno", "--jsno: no such option; did you mean --json?");
	refuse_call(NOWHERE "flows --jsno", "--jsno: no such option; did you mean --json?");
	refuse_call(NOWHERE "paths --limit=5x", "--limit: 5x is no whole number");
	refuse_call(NOWHERE "paths --netns -1", "--netns: -1 is no whole number");
	refuse_call(NOWHERE "explain --netns x 80", "--netns: x is no whole number");
	refuse_call(NOWHERE "paths --limit 5 forget all", "--limit: not with paths forget");
	refuse_call(NOWHERE "paths forget all --json", "--json: not with paths forget");
	refuse_call(NOWHERE "paths --sort=x forget all", "--sort: not with paths forget");
}

/* A configuration that the daemon would not take keeps nobody from the daemon that runs. */
static void test_broken_configuration(void **state)
{
	static const char text[] = "[policy web]\nmode = tnue\n[policy\nbpffs = /in_policy\n"
				   "[tcptuned]\nlog_levle = info\nbpffs = /nonexistent\n";
	char path[] = "/tmp/test_ctl.XXXXXX", arguments[256], wanted[128], *said;
	struct call call = { arguments, -1 };
	int fd = mkstemp(path);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	snprintf(arguments, sizeof(arguments),
		 "--config=%s --set=tcptuned.runtime_directory=/nonexistent status", path);
	said = printed(STDERR_FILENO, call_ctl, &call);
	snprintf(wanted, sizeof(wanted), "tcptunectl: skipped: %s:3: the ] of a section", path);
	expect_says(said, wanted);
	expect_says(said, "\ntcptunectl: no tcptuned runs: no process listens on /nonexistent/control;");
	unlink(path);
	said = printed(STDERR_FILENO, call_ctl, &call); /* named, and not there */
	expect_says(said, "No such file or directory");
	assert_int_equal(call.status, TCPTUNED_EXIT_CONFIG);
}

/* ---- other answers ------------------------------------------------------------------------- */

static void print_status(void *answer)
{
	ctl_print_status(answer);
}

static void print_policy(void *answer)
{
	ctl_print_policy(answer);
}

static void print_paths(void *answer)
{
	ctl_print_paths(answer);
}

static void test_status(void **state)
{
	json_t *answer = json("{\"connections\":{},\"budget\":{\"bytes\":1048576,"
			      "\"granted_bytes\":65536,\"wanted_bytes\":131072},\"totals\":{"
			      "\"claimed_opened_here\":1,\"claimed_accepted_here\":2,"
			      "\"claimed_open\":3,\"adopt_failed\":5,"
			      "\"receive_budget_refusals\":6,\"send_budget_refusals\":7,"
			      "\"memory_short_refusals\":8,\"rcvbuf_overridden\":9},\"sysctls\":["
			      "{\"name\":\"net.ipv4.tcp_rmem\",\"set_to\":\"4096 131072 67108863\",\"now\":"
			      "\"4096 131072 5000000\",\"left_alone\":true},{\"name\":"
			      "\"net.ipv4.tcp_wmem\",\"before\":\"4096 16384 4194304\",\"set_to\":"
			      "\"4096 16384 67108864\",\"now\":\"4096 16384 67108864\","
			      "\"left_alone\":false}]}");
	char *text = printed(STDOUT_FILENO, print_status, answer);

	expect_says(text, "so far         1 connections opened here, 2 accepted, 3 open before,");
	expect_says(text, "of connections open before, 5 not taken\n");
	expect_says(text, "budget         1M, 64K of it granted, 128K wanted; held back 6 receive "
			  "windows, 7 send buffers\n               8 times because memory was "
			  "short, of all of TCP (net.ipv4.tcp_mem) or of a control group\n");
	expect_says(text, "SO_RCVBUF overridden 9 times, SO_SNDBUF 0, dry runs included\n");
	expect_says(text, "sysctls        net.ipv4.tcp_rmem = 4096 131072 5000000, changed from "
			  "tcptuned's 4096 131072 67108863 by another program: left alone\n"
			  "               net.ipv4.tcp_wmem = 4096 16384 67108864, before 4096 16384 "
			  "4194304\n");
	json_decref(answer);
}

static void expect_configuration(const char *configuration, const char *says)
{
	json_t *answer = json("{}");
	char *text;

	json_object_set_new(answer, "configuration", json(configuration));
	text = printed(STDOUT_FILENO, print_status, answer);
	expect_says(text, says);
	json_decref(answer);
}

static void test_status_of_the_configuration(void **state)
{
	expect_configuration("{\"in_force\":true}", "configuration  in force as it was last read\n");
	expect_configuration("{\"in_force\":false,\"rejected\":\"a.conf:2: no\"}",
			     "\nconfiguration  the one before the last reload, which was rejected: "
			     "a.conf:2: no\n");
	expect_configuration("{\"in_force\":false,\"unapplied\":\"no memory\"}",
			     "\nconfiguration  not all of it in force, tried again every few "
			     "seconds: no memory\n");
	/* Of a daemon whose reason cannot be shown. */
	expect_configuration("{\"in_force\":false,\"rejected\":null}",
			     "configuration  not in force as it was last read; the log says why\n");
}

static int read_answer(const char *text, json_t **ret, struct tcptuned_error *err)
{
	FILE *stream = fmemopen((char *)text, strlen(text), "r");
	int error = ctl_read_answer(stream, ret, err);

	fclose(stream);
	return error;
}

static void refuse_answer(const char *text, int status, const char *says)
{
	struct tcptuned_error err = { 0 };
	json_t *got = NULL;

	assert_int_equal(read_answer(text, &got, &err), -EIO);
	assert_null(got);
	assert_int_equal(err.status, status);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void test_what_the_daemon_answers(void **state)
{
	struct tcptuned_error err = { 0 };
	json_t *got = NULL;

	assert_int_equal(read_answer("{\"a\":1}\n", &got, &err), 0);
	assert_int_equal(ctl_number(got, "a"), 1);
	json_decref(got);
	refuse_answer("{\"error\":\"no such thing\",\"status\":2}", 2, "no such thing");
	refuse_answer("{\"error\":null,\"status\":2}", 2, "does not say why");
	refuse_answer("{\"error\":\"odd\",\"status\":999}", TCPTUNED_EXIT_DAEMON, "odd");
	refuse_answer("[]", TCPTUNED_EXIT_DAEMON, "no JSON");
	refuse_answer("", TCPTUNED_EXIT_DAEMON, "no JSON");
}

static void test_policy_in_full(void **state)
{
	json_t *policy = json("{\"policy\":\"web\",\"rule\":\"remote port 80\",\"mode\":\"tune\","
			      "\"long_path_segments\":4096}");
	char *text = printed(STDOUT_FILENO, print_policy, policy);

	expect_says(text, "  long path           4096 segments or more, where auto takes bitcp\n");
	json_decref(policy);
}

/* The same ends, or prefix, in two network namespaces. */
static void test_namespaces(void **state)
{
	json_t *paths = json("{\"matched\":5,\"paths\":[{\"prefix\":\"192.0.2.0/24\",\"netns\":7},"
			     "{\"prefix\":\"192.0.2.0/24\",\"netns\":8}]}");
	json_t *flows = json("{\"matched\":2,\"flows\":[{\"local\":\"[::1]:1\",\"remote\":"
			     "\"[::1]:2\",\"netns\":7},{\"local\":\"[::1]:1\",\"remote\":"
			     "\"[::1]:2\",\"netns\":8}]}");
	struct tcptuned_error err;
	char *text = printed(STDOUT_FILENO, print_paths, paths);

	expect_says(text, "NETNS  PREFIX ");
	expect_says(text, "\n    7  192.0.2.0/24 ");
	expect_says(text, "\n    8  192.0.2.0/24 ");
	expect_says(text, "\nand 3 more (--limit)\n");
	json_array_remove(json_object_get(paths, "paths"), 1);
	json_object_set_new(paths, "matched", json_integer(1));
	text = printed(STDOUT_FILENO, print_paths, paths);
	assert_null(strstr(text, "NETNS"));
	assert_null(strstr(text, "more"));
	assert_int_equal(ctl_explain_answer(flows, &err), -EINVAL);
	expect_says(err.text, "[::1]:1 - [::1]:2 in namespace 7, [::1]:1 - [::1]:2 in namespace 8; "
			      "name both ends, the local one first, and --netns");
	json_decref(paths);
	json_decref(flows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_manual_has_every_word),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_names_of_flows),
		cmocka_unit_test(test_explanation),
		cmocka_unit_test(test_the_kernels_window_is_explained),
		cmocka_unit_test(test_pacing_is_explained),
		cmocka_unit_test(test_policy_is_explained),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_directions),
		cmocka_unit_test(test_who_sized_it),
		cmocka_unit_test(test_who_held_it_back),
		cmocka_unit_test(test_every_reason_is_explained),
		cmocka_unit_test(test_empty_flow),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_events_of_one),
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_wrong_words),
		cmocka_unit_test(test_broken_configuration),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_status_of_the_configuration),
		cmocka_unit_test(test_what_the_daemon_answers),
		cmocka_unit_test(test_policy_in_full),
		cmocka_unit_test(test_namespaces),
	};

	return cmocka_run_group_tests_name("ctl", tests, NULL, NULL);
}
