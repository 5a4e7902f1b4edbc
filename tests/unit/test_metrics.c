// SPDX-License-Identifier: GPL-2.0-only
/* The text of a scrape, line by line, and what promtool says of it. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>

#include "metrics/collect.h"
#include "metrics/metrics.h"
#include "metrics/prom.h"
#include "rpc/flow_json.h"
#include "util/array.h"

#define BODY_LIMIT    (8u << 20)

/* The labels of the flow that make_snapshot() makes. */
#define FLOW "local=\"192.0.2.1:5201\",remote=\"198.51.100.7:40000\""

static const char *name_of(void *ctx, __u32 key)
{
	return key == 7 ? "odd \"name\"\\\n" : NULL;
}

static void fill_flow(struct tcptuned_flow_record *r)
{
	memset(r, 0, sizeof(*r));
	r->family = AF_INET;
	inet_pton(AF_INET, "192.0.2.1", r->local);
	inet_pton(AF_INET, "198.51.100.7", r->remote);
	r->local_port = 5201;
	r->remote_port = 40000;
	r->netns = 4026531840u;
	r->state = TCP_ESTABLISHED;
	r->limit = TCPTUNED_LIMIT_CWND;
	strcpy(r->congestion_control, "bitcp");
	r->bytes_received = 10000000001ull;
	r->bytes_acked = 5;
	r->delivery_rate_Bps = 118750000;
	r->cwnd = 4321;
	r->ssthresh = 4000;
	r->mss = 1448;
	r->flight = 6000000;
	r->snd_wnd = 6291456;
	r->rcv_wnd = 3145728;
	r->window_clamp = 8388608;
	r->rcvbuf = 12582912;
	r->sndbuf = 87040;
	r->rmem_alloc = 2304;
	r->wmem_queued = 1280;
	r->srtt_us = 50123;
	r->min_rtt_us = 50001;
	r->rcv_rtt_us = 1050123;
	r->retransmits = 17;
	r->lost = 3;
	r->reordering = 4;
	r->unsent = 72400;
	r->unsent_max = 131072;
	r->pacing_rate_Bps = 5000000000;
	r->pacing_max_Bps = 10000000000;
	r->ca_max_win = 5000;
	r->ca_mode = BITCP_BINARY_SEARCH;
	r->flow.flags = TCPTUNED_F_MANAGED | TCPTUNED_F_RCVBUF_REQ | TCPTUNED_F_RCV_TUNED;
	r->flow.req_rcvbuf = 65536;
	r->flow.req_sndbuf = 4711; /* not asked for: no flag */
	r->flow.rcv_grows = 9;
	r->flow.rcv_shrinks = 2;
	r->flow.rcv = (struct rightsize){
		.round_us = 1,
		.rate = 124000000,
		.rate_best = 125000000,
		.min_rtt_us = 50010,
		.per_rtt = 6187654,
		.window = 12400000,
		.tests = 3,
		.failures = 2,
		.state = RIGHTSIZE_HOLDING,
		.reason = RIGHTSIZE_HELD,
	};
	r->flow.rcv_reason = RIGHTSIZE_HELD;
	r->flow.rcv_base = 6291456;
}

/* Everything filled with what can be told apart. */
static struct tcptuned_snapshot *make_snapshot(void)
{
	struct tcptuned_snapshot *snap = calloc(1, sizeof(*snap));
	int i;

	assert_non_null(snap);
	snap->version = "1.2.3";
	snap->kernel_release = "6.1.0-test";
	snap->policy_name = name_of;
	snap->bitcp = true;
	snap->adoption.namespaces = 3;
	snap->reloads[true] = 7;
	snap->reloads[false] = 2;
	snap->config_in_force = true;
	snap->adoption.namespaces_failed = 1;
	snap->adoption.namespaces_vanished = 2;
	snap->adoption.ns = 250000000;
	snap->totals_ok = true;
	snap->flows_ok = true;
	snap->start_time_us = 1700000000250000ull;
	snap->scrapes = 12;
	snap->scrapes_ns = 1500000000ull;
	for (i = 0; i < TCPTUNED_COUNTERS; i++)
		snap->totals.counter[i] = 1000 + (__u64)i;

	assert_int_equal(tcptuned_flows_init(&snap->flows, 3), 0);
	fill_flow(&snap->flows.top[0]);
	snap->flows.top_len = 1;
	snap->flows.sums.records = 6;
	snap->flows.sums.live = 4;
	snap->flows.sums.limited[TCPTUNED_LIMIT_CWND] = 4;
	snap->flows.sums.rcvbuf_bytes = 99;
	snap->flows.groups_len = 2;
	snap->flows.groups[0] = (struct tcptuned_flow_group){0, "bitcp", 3};
	snap->flows.groups[1] = (struct tcptuned_flow_group){7, "cubic", 1};

	snap->policies_len = 1;
	snap->policies[0].policy = (struct tcptuned_policy){
		.mode = TCPTUNED_TUNE,
		.rcv_window_max = 33554432,
		.snd_window_max = 16777216,
		.congestion_control = "bitcp",
	};

	snap->bpf.enabled = true;
	snap->bpf.storage_bytes = 512;
	snap->bpf.programs_len = 2;
	snap->bpf.programs[0] =
		(struct tcptuned_program_stats){"sockops", 2345, 1000000, 93000001};
	snap->bpf.programs[1] =
		(struct tcptuned_program_stats){"dump_flows", 345, 12, 3456};
	snap->process.resident_bytes = 5242880;
	snap->process.cpu_ns = 123456789;
	return snap;
}

static void free_snapshot(struct tcptuned_snapshot *snap)
{
	tcptuned_flows_free(&snap->flows);
	free(snap);
}

static char *text_of(const struct tcptuned_snapshot *snap)
{
	struct tcptuned_buf buf;
	size_t len;

	tcptuned_buf_init(&buf, BODY_LIMIT);
	tcptuned_metrics_format(&buf, snap);
	assert_int_equal(buf.error, 0);
	return tcptuned_buf_steal(&buf, &len);
}

/* How often @line stands in @text as a whole line. */
static int count_lines(const char *text, const char *line)
{
	size_t len = strlen(line);
	int found = 0;

	for (; text && *text; text = strchr(text, '\n'), text += text ? 1 : 0)
		if (!strncmp(text, line, len) && (text[len] == '\n' || !text[len]))
			found++;
	return found;
}

static void expect_lines(const char *text, const char *const *lines, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (count_lines(text, lines[i]) != 1)
			fail_msg("%d times instead of once: %s", count_lines(text, lines[i]),
				 lines[i]);
}

static void expect_none(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("unexpected: %s", part);
}

static void test_flow_lines(void **state)
{
	static const char *const lines[] = {
		"tcptuned_flow_info{" FLOW ",policy=\"default\",congestion_control=\"bitcp\"} 1",
		"# TYPE tcptuned_flow_cwnd_segments gauge",
		"tcptuned_flow_cwnd_segments{" FLOW "} 4321",
		"tcptuned_flow_peer_window_bytes{" FLOW "} 6291456",
		"tcptuned_flow_advertised_window_bytes{" FLOW "} 3145728",
		"tcptuned_flow_rightsize_window_bytes{" FLOW ",direction=\"receive\"} 12400000",
		"tcptuned_flow_rightsize_window_bytes{" FLOW ",direction=\"send\"} 0",
		"tcptuned_flow_buffer_limit_bytes{" FLOW ",direction=\"receive\"} 12582912",
		"tcptuned_flow_buffer_limit_bytes{" FLOW ",direction=\"send\"} 87040",
		"tcptuned_flow_buffer_used_bytes{" FLOW ",direction=\"receive\"} 2304",
		"tcptuned_flow_buffer_used_bytes{" FLOW ",direction=\"send\"} 1280",
		"tcptuned_flow_srtt_seconds{" FLOW "} 0.050123",
		"tcptuned_flow_min_rtt_seconds{" FLOW "} 0.050001",
		"tcptuned_flow_delivery_rate_bytes_per_second{" FLOW "} 118750000",
		"# TYPE tcptuned_flow_received_bytes_total counter",
		"tcptuned_flow_received_bytes_total{" FLOW "} 10000000001",
		"tcptuned_flow_acked_bytes_total{" FLOW "} 5",
		"tcptuned_flow_retransmitted_segments_total{" FLOW "} 17",
		"tcptuned_flow_limited{" FLOW ",limit=\"cwnd\"} 1",
		"tcptuned_flow_limited{" FLOW ",limit=\"receiver_window\"} 0",
		"tcptuned_flow_limited{" FLOW ",limit=\"send_buffer\"} 0",
		"tcptuned_flow_limited{" FLOW ",limit=\"pacing\"} 0",
		"tcptuned_flow_limited{" FLOW ",limit=\"local_queue\"} 0",
		"tcptuned_flow_limited{" FLOW ",limit=\"application\"} 0",
		"tcptuned_flow_limited{" FLOW ",limit=\"idle\"} 0",
	};
	struct tcptuned_snapshot *snap = make_snapshot();
	unsigned int series = 0, families = 0;
	const char *found;
	char *text = text_of(snap);

	expect_lines(text, lines, ARRAY_SIZE(lines));
	for (found = strstr(text, "{" FLOW); found; found = strstr(found + 1, "{" FLOW))
		series++;
	assert_in_range(series, 15, 24); /* as the help of metrics.flows has it */
	for (found = strstr(text, "# TYPE tcptuned_flow_"); found;
	     found = strstr(found + 1, "# TYPE tcptuned_flow_"))
		families++;
	assert_in_range(families, 1, 14);
	free(text);

	snap->flows.top[0].srtt_us = snap->flows.top[0].min_rtt_us = 0; /* not known yet */
	text = text_of(snap);
	expect_none(text, "tcptuned_flow_srtt");
	expect_none(text, "tcptuned_flow_min_rtt");
	free(text);
	free_snapshot(snap);
}

static void check_with_promtool(const char *text)
{
	char path[] = "/tmp/tcptuned-metrics-XXXXXX", command[128];
	int fd = mkstemp(path), status;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	snprintf(command, sizeof(command), "promtool check metrics <%s", path);
	status = system(command);
	unlink(path);
	/* 3 is a complaint about style; 127: the package prometheus is not installed. */
	assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

static void test_ipv6_and_escaping(void **state)
{
	struct tcptuned_snapshot *snap = make_snapshot();
	struct tcptuned_flow_record *r = &snap->flows.top[0];
	char *text;

	r->family = AF_INET6;
	inet_pton(AF_INET6, "2001:db8::1", r->local);
	inet_pton(AF_INET6, "::ffff:192.0.2.9", r->remote);
	r->flow.policy = 7;
	strcpy(r->congestion_control, "a\"b\\c\nd");
	text = text_of(snap);
	assert_int_equal(count_lines(text,
				     "tcptuned_flow_info{local=\"[2001:db8::1]:5201\","
				     "remote=\"[::ffff:192.0.2.9]:40000\","
				     "policy=\"odd \\\"name\\\"\\\\\\n\","
				     "congestion_control=\"a\\\"b\\\\c\\nd\"} 1"),
			 1);
	free(text);
	free_snapshot(snap);
}

static void test_budget_lines(void **state)
{
	struct tcptuned_snapshot *snap = make_snapshot();
	char *text;

	snap->budget_ok = true;
	/* two that want 100 and 4900: the level is of an earlier time, and a quarter is the most */
	snap->budget = (struct budget){
		.total = 1000, .granted = 900, .wanted = 5000, .level = 300};
	snap->budget.need[budget_class_of(100)] = (struct budget_class){1, 100};
	snap->budget.need[budget_class_of(4900)] = (struct budget_class){1, 4900};
	text = text_of(snap);
	assert_int_equal(count_lines(text, "tcptuned_budget_bytes 1000"), 1);
	assert_int_equal(count_lines(text, "tcptuned_budget_granted_bytes 900"), 1);
	assert_int_equal(count_lines(text, "tcptuned_budget_wanted_bytes 5000"), 1);
	assert_int_equal(count_lines(text, "tcptuned_budget_scarce 1"), 1);
	assert_int_equal(count_lines(text, "tcptuned_budget_share_bytes 250"), 1);
	free(text);
	snap->budget.wanted = 1000;
	text = text_of(snap);
	assert_int_equal(count_lines(text, "tcptuned_budget_scarce 0"), 1);
	assert_null(strstr(text, "tcptuned_budget_share_bytes"));
	free(text);
	free_snapshot(snap);
}

static void test_aggregate_lines(void **state)
{
	static const char *const lines[] = {
		"tcptuned_build_info{version=\"1.2.3\",kernel=\"6.1.0-test\"} 1",
		"process_start_time_seconds 1700000000.250000",
		"tcptuned_bitcp_registered 1",
		"tcptuned_taken_over 0",
		"tcptuned_config_reloads_total{result=\"ok\"} 7",
		"tcptuned_config_reloads_total{result=\"rejected\"} 2",
		"tcptuned_config_last_reload_successful 1",
		"tcptuned_adoption_namespaces{result=\"visited\"} 3",
		"tcptuned_adoption_namespaces{result=\"failed\"} 1",
		"tcptuned_adoption_namespaces{result=\"vanished\"} 2",
		"tcptuned_adoption_duration_seconds 0.250000000",
		"tcptuned_collection_success{collector=\"flows\"} 1",
		"tcptuned_connections{policy=\"default\",congestion_control=\"bitcp\"} 3",
		"tcptuned_connections{policy=\"odd \\\"name\\\"\\\\\\n\",congestion_control="
		"\"cubic\"} 1",
		"tcptuned_connections_limited{limit=\"cwnd\"} 4",
		"tcptuned_connections_limited{limit=\"idle\"} 0",
		"tcptuned_buffer_limit_bytes{direction=\"receive\"} 99",
		"tcptuned_policy_window_max_bytes{policy=\"default\",direction=\"receive\"} "
		"33554432",
		"tcptuned_policy_mode{policy=\"default\",mode=\"tune\"} 1",
		"tcptuned_policy_mode{policy=\"default\",mode=\"off\"} 0",
		"tcptuned_policy_info{policy=\"default\",congestion_control=\"bitcp\"} 1",
		"tcptuned_program_statistics_enabled 1",
		"tcptuned_program_runs_total{program=\"sockops\"} 1000000",
		"tcptuned_program_run_seconds_total{program=\"sockops\"} 0.093000001",
		"tcptuned_program_run_seconds_total{program=\"dump_flows\"} 0.000003456",
		"tcptuned_program_verified_instructions{program=\"sockops\"} 2345",
		"tcptuned_connection_records_bytes 3072",
		"process_resident_memory_bytes 5242880",
		"process_cpu_seconds_total 0.123456789",
		"tcptuned_scrapes_total 12",
		"tcptuned_scrape_duration_seconds_total 1.500000000",
	};
	struct tcptuned_snapshot *snap = make_snapshot();
	char *text = text_of(snap);

	expect_lines(text, lines, ARRAY_SIZE(lines));
	free(text);

	snap->bpf.enabled = false;
	text = text_of(snap);
	expect_none(text, "tcptuned_program_run");
	assert_int_equal(count_lines(text, "tcptuned_program_statistics_enabled 0"), 1);
	free(text);
	free_snapshot(snap);
}

/* Each counter has a number of its own: every one must be shown, and under its own name. */
static const char *name_by_place(void *ctx, __u32 key)
{
	static const char *const names[] = { "default", "far", "near" };

	return TCPTUNED_POLICY_PLACE(key) < ARRAY_SIZE(names)
		       ? names[TCPTUNED_POLICY_PLACE(key)]
		       : NULL;
}

#define OF(policy, cc) "tcptuned_connections{policy=\"" policy "\",congestion_control=\"" cc "\"} "

/* Connections of policies whose records are gone: those of the default one can be told. */
static void test_policies_that_are_gone(void **state)
{
	static const char *const lines[] = {
		OF("(earlier)", "bitcp") "30", OF("default", "bitcp") "3",
	};
	struct tcptuned_snapshot *snap = make_snapshot();
	struct tcptuned_flow_group *groups = snap->flows.groups;
	char *body;

	snap->policy_name = name_of;
	snap->flows.groups_len = 4;
	for (unsigned int i = 0; i < 4; i++)
		groups[i] = (struct tcptuned_flow_group){
			TCPTUNED_POLICY_ID(i / 2 + 3, i % 2 * 4), "bitcp", i % 2 ? 15 : i / 2 + 1};
	body = text_of(snap);
	expect_lines(body, lines, ARRAY_SIZE(lines));
	free(body);
	free_snapshot(snap);
}

/* Policies of several reloads that have one name are one sample, also where there are many. */
static void test_groups_of_one_name(void **state)
{
	/* 0 + 3 + ... + 1023; of 1 + 4 + ... + 1021 the first has another congestion control */
	static const char *const lines[] = {
		OF("default", "bitcp") "174933", OF("far", "cubic") "1",	  OF("far", "bitcp") "174250",
		OF("near", "bitcp") "174592",	OF("other", "other") "5",
	};
	struct tcptuned_snapshot *snap = make_snapshot();
	struct tcptuned_flow_group *groups = snap->flows.groups;
	const char *begin;
	char *body;

	snap->policy_name = name_by_place;
	snap->flows.groups_len = TCPTUNED_FLOW_GROUPS;
	for (unsigned int i = 0; i < TCPTUNED_FLOW_GROUPS; i++)
		groups[i] = (struct tcptuned_flow_group){TCPTUNED_POLICY_ID(i, i % 3), "bitcp", i};
	strcpy(groups[1].congestion_control, "cubic");
	snap->flows.sums.groups_other = 5;
	body = text_of(snap);
	expect_lines(body, lines, ARRAY_SIZE(lines));
	begin = body;
	for (int i = 0; i < 5; i++) {
		begin = strstr(begin, "\ntcptuned_connections{");
		assert_non_null(begin);
		begin++;
	}
	assert_null(strstr(begin, "\ntcptuned_connections{"));
	free(body);
	free_snapshot(snap);
}

static void test_every_counter_is_shown(void **state)
{
	static const struct {
		enum tcptuned_counter id;
		const char *series;
	} some[] = {
		{TCPTUNED_C_CLAIMED_PASSIVE,
		 "tcptuned_connections_claimed_total{opened=\"peer\"}"},
		{TCPTUNED_C_CC_KEPT,
		 "tcptuned_congestion_control_choices_total{choice=\"kept\"}"},
		{TCPTUNED_C_RCVBUF_OVERRIDDEN,
		 "tcptuned_buffer_requests_overridden_total{option=\"SO_RCVBUF\"}"},
		{TCPTUNED_C_RCV_GROWS, "tcptuned_rightsize_grows_total{direction=\"receive\"}"},
		{TCPTUNED_C_SND_SHRINKS,
		 "tcptuned_rightsize_shrinks_total{direction=\"send\"}"},
		{TCPTUNED_C_SND_CAPS, "tcptuned_rightsize_caps_total{direction=\"send\"}"},
		{TCPTUNED_C_BYTES_ACKED, "tcptuned_closed_connections_acked_bytes_total"},
		{TCPTUNED_C_RETRANSMITS,
		 "tcptuned_closed_connections_retransmitted_segments_total"},
	};
	struct tcptuned_snapshot *snap = make_snapshot();
	char *text = text_of(snap), line[256], *at;
	size_t i;

	for (i = 0; i < TCPTUNED_COUNTERS; i++) {
		snprintf(line, sizeof(line), " %zu\n", 1000 + i);
		at = strstr(text, line);
		if (!at || strstr(at + 1, line))
			fail_msg("counter %zu is not shown exactly once", i);
	}
	for (i = 0; i < ARRAY_SIZE(some); i++) {
		snprintf(line, sizeof(line), "%s %d", some[i].series, 1000 + some[i].id);
		assert_int_equal(count_lines(text, line), 1);
	}
	free(text);
	free_snapshot(snap);
}

/* Samples through the function that the BPF programs use, then out again. */
static void observe(struct tcptuned_histogram *h, __u64 value)
{
	h->count++;
	h->sum += value;
	h->bucket[tcptuned_bucket(value)]++;
}

static void test_histograms(void **state)
{
	static const char *const lines[] = {
		"# TYPE tcptuned_srtt_seconds histogram",
		"tcptuned_srtt_seconds_bucket{le=\"0.000064\"} 2", /* 1 us and 64 us */
		"tcptuned_srtt_seconds_bucket{le=\"0.000128\"} 3", /* 65 us */
		"tcptuned_srtt_seconds_bucket{le=\"0.000256\"} 3",
		"tcptuned_srtt_seconds_bucket{le=\"0.065536\"} 4", /* 50 ms */
		"tcptuned_srtt_seconds_bucket{le=\"16.777216\"} 4",
		"tcptuned_srtt_seconds_bucket{le=\"+Inf\"} 5", /* 5000 s */
		"tcptuned_srtt_seconds_sum 5000.050130",
		"tcptuned_srtt_seconds_count 5",
		"tcptuned_receiver_rtt_seconds_bucket{le=\"0.000128\"} 0",
		"tcptuned_receiver_rtt_seconds_bucket{le=\"0.000256\"} 1",
		"tcptuned_receiver_rtt_seconds_sum 0.000200",
		"tcptuned_receiver_rtt_seconds_count 1",
		"tcptuned_cwnd_segments_bucket{le=\"1\"} 1",
		"tcptuned_cwnd_segments_bucket{le=\"8\"} 1",
		"tcptuned_cwnd_segments_bucket{le=\"16\"} 2",
		"tcptuned_cwnd_segments_bucket{le=\"1048576\"} 2",
		"tcptuned_cwnd_segments_bucket{le=\"+Inf\"} 2",
		"tcptuned_cwnd_segments_sum 10",
		"tcptuned_cwnd_segments_count 2",
		"tcptuned_advertised_window_bytes_bucket{le=\"1024\"} 0",
		"tcptuned_advertised_window_bytes_bucket{le=\"65536\"} 1",
		"tcptuned_advertised_window_bytes_bucket{le=\"1073741824\"} 1",
		"tcptuned_advertised_window_bytes_sum 65535",
	};
	struct tcptuned_snapshot *snap = make_snapshot();
	struct tcptuned_histogram *h = snap->totals.histogram;
	char *text;

	observe(&h[TCPTUNED_H_SRTT], 1);
	observe(&h[TCPTUNED_H_SRTT], 64);
	observe(&h[TCPTUNED_H_SRTT], 65);
	observe(&h[TCPTUNED_H_SRTT], 50000);
	observe(&h[TCPTUNED_H_SRTT], 5000000000ull);
	observe(&h[TCPTUNED_H_RCV_RTT], 200);
	observe(&h[TCPTUNED_H_CWND], 0);
	observe(&h[TCPTUNED_H_CWND], 10);
	observe(&h[TCPTUNED_H_RCV_WINDOW], 65535);
	/* Another CPU was counting while we read: what is shown must still add up. */
	h[TCPTUNED_H_CWND].count++;
	text = text_of(snap);
	expect_lines(text, lines, ARRAY_SIZE(lines));
	free(text);
	free_snapshot(snap);
}

static void test_label_value(void **state)
{
	struct tcptuned_buf buf;

	tcptuned_buf_init(&buf, 100);
	tcptuned_label_value(&buf, "plain \xc3\xa4 \"q\" \\ \n end");
	assert_string_equal(buf.data, "plain \xc3\xa4 \\\"q\\\" \\\\ \\n end");
	tcptuned_buf_free(&buf);
}

/* Families must not be torn apart, and each has one HELP and one TYPE before its samples. */
static void test_families_are_whole(void **state)
{
	struct tcptuned_snapshot *snap = make_snapshot();
	char *text, *line, *save, seen[200][96];
	size_t families = 0, i;

	snap->flows.top[1] = snap->flows.top[0];
	snap->flows.top[1].local_port = 1;
	snap->flows.top[1].flow.snd_reason = RIGHTSIZE_CAPPED;
	snap->flows.top_len = 2;
	text = text_of(snap);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "# HELP ", 7)) {
			assert_true(families < ARRAY_SIZE(seen));
			sscanf(line, "# HELP %95s", seen[families]);
			for (i = 0; i < families; i++)
				assert_string_not_equal(seen[i], seen[families]);
			families++;
		} else if (*line != '#') {
			assert_true(families > 0);
			i = strlen(seen[families - 1]);
			assert_memory_equal(line, seen[families - 1], i);
			assert_true(strchr("{ ", line[i]) ||
				    !strncmp(&line[i], "_bucket{", 8) ||
				    !strncmp(&line[i], "_sum ", 5) ||
				    !strncmp(&line[i], "_count ", 7));
		}
	}
	assert_true(families > 50);
	free(text);
	free_snapshot(snap);
}

static void test_promtool_is_content(void **state)
{
	struct tcptuned_snapshot *snap = make_snapshot();
	struct tcptuned_flow_record *r;
	char *text;

	/* Two more flows, so that every metric there is appears. */
	r = &snap->flows.top[1];
	*r = snap->flows.top[0];
	r->family = AF_INET6;
	r->flow.flags |= TCPTUNED_F_SNDBUF_REQ;
	r->flow.snd = r->flow.rcv;
	r->flow.policy = 7;
	snap->flows.top[2] = snap->flows.top[0];
	snap->flows.top[2].remote_port++;
	snap->flows.top_len = 3;
	observe(&snap->totals.histogram[TCPTUNED_H_MIN_RTT], 12345);
	text = text_of(snap);
	check_with_promtool(text);
	free(text);
	free_snapshot(snap);
}

static void test_path_lines(void **state)
{
	struct tcptuned_snapshot *snap = make_snapshot();
	char *text;

	snap->paths = (struct tcptuned_path_stats){
		.ok = true,
		.known = 11,
		.expired = 12,
		.database_errors = 17,
	};
	text = text_of(snap);
	assert_int_equal(count_lines(text, "tcptuned_paths_known 11"), 1);
	assert_int_equal(count_lines(text, "tcptuned_paths_expired_total 12"), 1);
	assert_int_equal(count_lines(text, "tcptuned_paths_database_errors_total 17"), 1);
	check_with_promtool(text);
	free(text);
	free_snapshot(snap);
}

static void test_nothing_to_show(void **state)
{
	struct tcptuned_snapshot *snap = make_snapshot();
	char *text;

	snap->flows_ok = snap->totals_ok = false;
	snap->policies_len = 0;
	memset(&snap->bpf, 0, sizeof(snap->bpf));
	text = text_of(snap);
	assert_int_equal(
		count_lines(text, "tcptuned_collection_success{collector=\"flows\"} 0"), 1);
	assert_int_equal(
		count_lines(text, "tcptuned_collection_success{collector=\"totals\"} 0"), 1);
	/* Numbers that could not be read are not shown as zeroes. */
	expect_none(text, "tcptuned_connections");
	expect_none(text, "tcptuned_flow_");
	expect_none(text, "tcptuned_srtt");
	check_with_promtool(text);
	free(text);
	free_snapshot(snap);
}

static void test_size_is_bounded(void **state)
{
	struct tcptuned_snapshot *snap = make_snapshot();
	struct tcptuned_buf buf;
	size_t limit, len;
	char *text = text_of(snap);

	len = strlen(text);
	free(text);
	for (limit = 0; limit < len + 100; limit += 97) {
		tcptuned_buf_init(&buf, limit);
		tcptuned_metrics_format(&buf, snap);
		assert_true(buf.len <= limit);
		assert_int_equal(buf.error, limit < len ? -EFBIG : 0);
		tcptuned_buf_free(&buf);
	}
	free_snapshot(snap);
}

static json_t *json_of(const struct tcptuned_flow_record *record)
{
	struct tcptuned_buf buf;
	json_error_t error;
	json_t *root;
	size_t i, len;

	tcptuned_buf_init(&buf, BODY_LIMIT);
	tcptuned_json_flow(&buf, record, "default", NULL);
	assert_int_equal(buf.error, 0);
	root = json_loads(buf.data, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("%s in: %s", error.text, buf.data);
	len = buf.len;
	tcptuned_buf_free(&buf);
	/* Too little room anywhere is an error, not half an object. */
	for (i = 0; i < len; i += 7) {
		tcptuned_buf_init(&buf, i);
		tcptuned_json_flow(&buf, record, "default", NULL);
		assert_int_equal(buf.error, -EFBIG);
		tcptuned_buf_free(&buf);
	}
	return root;
}

static void test_json(void **state)
{
	struct tcptuned_flow_record record;
	json_t *flow, *receive;

	fill_flow(&record);
	flow = json_of(&record);
#define EXPECT_NUMBER(object, key, number) \
	assert_int_equal(json_integer_value(json_object_get(object, key)), number)
#define EXPECT_TEXT(object, key, text) \
	assert_string_equal(json_string_value(json_object_get(object, key)), text)
	EXPECT_TEXT(flow, "local", "192.0.2.1:5201");
	EXPECT_TEXT(flow, "remote", "198.51.100.7:40000");
	EXPECT_TEXT(flow, "limit", "cwnd");
	EXPECT_TEXT(flow, "state", "established");
	EXPECT_NUMBER(flow, "netns", 4026531840u);
	EXPECT_NUMBER(flow, "bytes_received", 10000000001ll);
	EXPECT_NUMBER(flow, "cwnd_segments", 4321);
	EXPECT_NUMBER(flow, "ssthresh_segments", 4000);
	EXPECT_NUMBER(flow, "srtt_us", 50123);
	EXPECT_NUMBER(json_object_get(flow, "bitcp"), "max_segments", 5000);
	EXPECT_TEXT(json_object_get(flow, "bitcp"), "mode", "binary_search");
	receive = json_object_get(flow, "receive");
	EXPECT_NUMBER(receive, "window_bytes", 12400000);
	EXPECT_NUMBER(receive, "min_rtt_us", 50010);
	EXPECT_NUMBER(receive, "requested_bytes", 65536);
	EXPECT_NUMBER(receive, "kernel_max_bytes", 6291456);
	EXPECT_NUMBER(receive, "rate_bytes_per_s", 124000000);
	EXPECT_NUMBER(receive, "rate_best_bytes_per_s", 125000000);
	EXPECT_NUMBER(receive, "tests", 3);
	EXPECT_NUMBER(receive, "failed_tests", 2);
	EXPECT_NUMBER(receive, "grows", 9);
	EXPECT_TEXT(receive, "state", "holding");
	EXPECT_TEXT(receive, "reason", "held");
	assert_null(json_object_get(json_object_get(flow, "send"), "window_bytes"));
	assert_null(json_object_get(json_object_get(flow, "send"), "requested_bytes"));
	EXPECT_NUMBER(json_object_get(flow, "send"), "unsent_bytes", 72400);
	EXPECT_NUMBER(json_object_get(flow, "send"), "unsent_max_of_others_bytes", 131072);
	EXPECT_NUMBER(json_object_get(flow, "pacing"), "rate_bytes_per_s", 5000000000);
	EXPECT_NUMBER(json_object_get(flow, "pacing"), "rate_max_bytes_per_s", 10000000000);
	json_decref(flow);

	record.ssthresh = TCPTUNED_SSTHRESH_NONE;
	record.ca_max_win = 0;
	record.flow.snd_unsent = 131072;
	record.pacing_rate_Bps = 0;
	strcpy(record.congestion_control, "a\"\\\n");
	flow = json_of(&record);
	EXPECT_TEXT(flow, "congestion_control", "a\"\\\n");
	EXPECT_TEXT(flow, "policy", "default");
	assert_null(json_object_get(flow, "ssthresh_segments"));
	assert_null(json_object_get(flow, "bitcp"));
	EXPECT_NUMBER(json_object_get(flow, "send"), "unsent_max_bytes", 131072);
	assert_null(json_object_get(json_object_get(flow, "send"), "unsent_max_of_others_bytes"));
	assert_null(json_object_get(json_object_get(flow, "pacing"), "rate_bytes_per_s"));
	json_decref(flow);
}

/* With no kernel side at all: says so, and promtool still likes it. */
static void test_scrape_without_kernel_side(void **state)
{
	unsigned int missing = 3;
	struct tcptuned_config_trouble trouble = {.unapplied = "no memory"};
	struct tcptuned_scrape_options options = {.flows_max = 3, .version = "9",
		.cgroups_missing = &missing, .trouble = &trouble};
	struct tcptuned_kernel kernel;
	struct tcptuned_scrape *scrape;
	struct tcptuned_buf out;

	memset(&kernel, 0xff, sizeof(kernel)); /* all descriptors -1 */
	kernel.bitcp = false;
	options.kernel = &kernel;
	assert_int_equal(tcptuned_scrape_new(&scrape, &options), 0);

	tcptuned_buf_init(&out, BODY_LIMIT);
	tcptuned_scrape_print(scrape, &out);
	assert_non_null(strstr(out.data, "\ntcptuned_scrapes_total 0\n"));
	assert_non_null(strstr(out.data, "\ntcptuned_config_last_reload_successful 0\n"));
	assert_non_null(strstr(out.data, "{collector=\"totals\"} 0\n"));
	assert_non_null(strstr(out.data, "\ntcptuned_policy_cgroups_missing 3\n"));
	check_with_promtool(out.data);
	tcptuned_buf_free(&out);

	missing = 0;
	assert_int_equal(tcptuned_scrape_configure(scrape, 0), 0);
	tcptuned_scrape_print(scrape, &out);
	assert_non_null(strstr(out.data, "\ntcptuned_scrapes_total 1\n"));
	assert_non_null(strstr(out.data, "\ntcptuned_policy_cgroups_missing 0\n"));
	tcptuned_buf_free(&out);
	tcptuned_scrape_free(scrape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flow_lines),
		cmocka_unit_test(test_ipv6_and_escaping),
		cmocka_unit_test(test_budget_lines),
		cmocka_unit_test(test_aggregate_lines),
		cmocka_unit_test(test_policies_that_are_gone),
		cmocka_unit_test(test_groups_of_one_name),
		cmocka_unit_test(test_every_counter_is_shown),
		cmocka_unit_test(test_histograms),
		cmocka_unit_test(test_label_value),
		cmocka_unit_test(test_families_are_whole),
		cmocka_unit_test(test_promtool_is_content),
		cmocka_unit_test(test_path_lines),
		cmocka_unit_test(test_nothing_to_show),
		cmocka_unit_test(test_size_is_bounded),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_scrape_without_kernel_side),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
