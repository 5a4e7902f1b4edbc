// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl's words: numbers, tables, explanations, events; and how it reads a flow's name. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "array.h"
#include "ctl.h"
#include "events.h"

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
	"\"capped\",\"window_max_bytes\":12400000,\"floor_bytes\":65536,\"grows\":9,\"shrinks\":2,"
	"\"drains\":1,\"per_rtt_bytes\":6187654,\"per_rtt_peak_bytes\":6200000,\"min_rtt_us\":50010,"
	"\"rate_bytes_per_s\":124000000,\"requested_bytes\":65536,\"began_with_bytes\":131072,"
	"\"budget_wanted_bytes\":24800000,\"budget_granted_bytes\":2097152,"
	"\"remembered_window_bytes\":400000},\"send\":{\"reason\":\"unmeasured\"}}";

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
	expect_says(text, "minimum RTT 50.0ms; 6187654 bytes (5.9M) per minimum RTT in the last "
			  "round, 6200000 bytes (5.9M) in the best; best rate 124000000 bytes "
			  "(118M) per second");
	expect_says(text, "decided      12400000 bytes (11.8M): it would be larger, but for the "
			  "policy's maximum of 12400000 bytes");
	expect_says(text, "from 65536 bytes (64K) to 12400000 bytes (11.8M); grown 9 times, shrunk "
			  "2, drained 1");
	expect_says(text, "path memory  a window of 400000 bytes (391K) for the first round trips");
	expect_says(text, "beyond the buffer of 131072 bytes (128K) that it began with: 24800000 bytes "
			  "(23.7M) wanted, 2097152 bytes (2M) granted\n");
	assert_null(strstr(text, "0 bytes wanted")); /* as for sending */
	expect_says(text, "no round trip has been measured yet");
	expect_says(text, "the peer's receive window, 6291456 bytes (6M)");
	expect_says(text, "does not read as fast");
	free(text);
	json_object_set_new(json_object_get(flow, "receive"), "window_bytes", json_integer(1));
	text = explain(flow);
	expect_says(text, "but for the window scale of the handshake");
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
	expect_says(text, "unsent       0 bytes, with no bound but that of the buffer\n");
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
	json_object_set_new(pacing, "rate_max_set_by", json_string("policy"));
	expect_explained(flow, "pacing       at most 2000 bytes per second, as the policy set it\n"
			       "  pacing       its congestion control paces it, at 1000 bytes",
			 "its congestion control paces it, at 1000 bytes per second\n");
	json_object_set_new(pacing, "rate_bytes_per_s", json_integer(2000));
	expect_explained(flow, "as the policy set it\n\nlimited by\n",
			 "its pacing: the policy allows 2000 bytes per second\n");
	json_object_set_new(pacing, "rate_max_set_by", json_string("application"));
	json_object_set_new(send, "unsent_max_of_others_bytes", json_integer(5000));
	expect_explained(flow, "4321 bytes, of at most about 5000 bytes, by the application's ",
			 "its pacing: the application allows 2000 bytes per second\n");
	json_decref(flow);
}

/* Which rule it came under, and what a dry run keeps from it. */
static void test_policy_is_explained(void **state)
{
	json_t *flow = json(flow_json), *would = json_object();
	char *text = explain(flow);

	expect_says(text, "policy\n  default\n  by a rule of a configuration before");
	free(text);
	json_object_set_new(flow, "rule", json_string("destination 10.0.0.0/8, remote port 80"));
	text = explain(flow);
	expect_says(text, "by its rule  destination 10.0.0.0/8, remote port 80\n");
	assert_null(strstr(text, "would set"));
	free(text);
	json_array_append_new(json_object_get(flow, "flags"), json_string("observe"));
	json_object_set_new(flow, "would_set", would);
	text = explain(flow);
	expect_says(text, "default; a dry run: everything below is decided");
	expect_says(text, "would set    nothing");
	free(text);
	json_object_set_new(would, "congestion_control", json_string("cubic"));
	json_object_set_new(would, "receive_window_bytes", json_integer(65536));
	json_object_set_new(would, "pacing_rate_bytes_per_s", json_integer(1000));
	text = explain(flow);
	expect_says(text, "would set    congestion control cubic\n");
	expect_says(text, "would set    a receive window of 65536 bytes (64K)\n");
	expect_says(text, "would set    a pacing limit of 1000 bytes per second\n");
	assert_null(strstr(text, "send buffer for"));
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
		snprintf(alone, sizeof(alone), "): %s\n", name);
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
		      "\"SO_RCVBUF of 65536 bytes overridden, asked for by process 4711\"}");
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
		{ TCPTUNED_EV_SND_DRAIN, "send_window_drain" },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_names_of_flows),
		cmocka_unit_test(test_explanation),
		cmocka_unit_test(test_pacing_is_explained),
		cmocka_unit_test(test_policy_is_explained),
		cmocka_unit_test(test_every_reason_is_explained),
		cmocka_unit_test(test_empty_flow),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_every_kind),
	};

	return cmocka_run_group_tests_name("ctl", tests, NULL, NULL);
}
