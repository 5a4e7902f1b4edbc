// SPDX-License-Identifier: GPL-2.0-only
/* The text of a scrape, and the JSON of a connection. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <jansson.h>

#include "test.h"
#include "kern/loader.h"
#include "metrics/scrape.h"
#include "metrics/exposition.h"
#include "util/clock.h"
#include "rpc/flows.h"
#include "tcptuned.skel.h"

static const char *name_of(const struct tcptuned_kernel *kernel, __u32 key,
			   char ret[TCPTUNED_POLICY_NAME_MAX])
{
	return strcpy(ret, key == 7 ? "odd \"name\"\\\n" : TCPTUNED_POLICY_GONE(key));
}

static void fill_flow(struct tcptuned_flow_record *r)
{
	*r = struct_of(tcptuned_flow_record, .congestion_control = "bitcp", .family = AF_INET,
		       .local_port = 5201, .remote_port = 40000, .netns = 4026531840u,
		       .state = TCP_ESTABLISHED, .limit = TCPTUNED_LIMIT_CWND,
		       .bytes_received = 10000000001ull, .bytes_acked = 5,
		       .delivery_rate_Bps = 118750000, .cwnd = 4321, .ssthresh = 4000, .mss = 1448,
		       .flight = 6000000, .snd_wnd = 6291456, .rcv_wnd = 3145728,
		       .window_clamp = 8388608, .rcvbuf = 12582912, .sndbuf = 87040,
		       .rmem_alloc = 2304, .wmem_queued = 1280, .srtt_us = 50123,
		       .min_rtt_us = 50001, .rcv_rtt_us = 1050123, .retransmits = 17, .lost = 3,
		       .reordering = 4, .unsent = 72400, .unsent_max = 131072,
		       .pacing_rate_Bps = 5000000000, .pacing_max_Bps = 10000000000,
		       .ca_max_win = 5000, .ca_mode = BITCP_BINARY_SEARCH);
	/* The send buffer was not asked for. */
	r->flow = struct_of(tcptuned_flow, .flags = TCPTUNED_F_MANAGED | TCPTUNED_F_RCV_TUNED,
			    .req_rcvbuf = 65536, .req_sndbuf = 4711, .rcv_grows = 9,
			    .rcv_shrinks = 2, .rcv_reason = RIGHTSIZE_HELD, .rcv_base = 6291456);
	tcptuned_set_request(&r->flow, true, REQUEST_WITHHELD);
	r->flow.rcv = struct_of(rightsize, .round_us = 1, .rate = 124000000, .rate_best = 125000000,
				.min_rtt_us = 50010, .per_rtt = 6187654, .window = 12400000,
				.tests = 3, .failures = 2, .state = RIGHTSIZE_HOLDING);
	inet_pton(AF_INET, "192.0.2.1", r->local);
	inet_pton(AF_INET, "198.51.100.7", r->remote);
}

/* Adds values as the BPF programs do. */
static void fill_histograms(struct tcptuned_histogram *h)
{
	static const struct {
		unsigned int which;
		__u64 value;
	} rows[] = {{TCPTUNED_H_SRTT, 1},	   {TCPTUNED_H_SRTT, 64},
		    {TCPTUNED_H_SRTT, 65},	   {TCPTUNED_H_SRTT, 50000},
		    {TCPTUNED_H_SRTT, 5000000000}, {TCPTUNED_H_RCV_RTT, 200},
		    {TCPTUNED_H_CWND, 0},	   {TCPTUNED_H_CWND, 10},
		    {TCPTUNED_H_RCV_WINDOW, 65535}};

	for_each_row (r, rows) {
		h[r->which].count++;
		h[r->which].sum += r->value;
		h[r->which].bucket[tcptuned_bucket(r->value)]++;
	}
	/* Another CPU may count during the read: the sums shown agree nevertheless. */
	h[TCPTUNED_H_CWND].count++;
}

/* Each value differs from all others. */
static struct tcptuned_snapshot *snap;
static char *scraped; /* the text of the last scrape */

static int setup(void **state)
{
	struct tcptuned_flow_record *odd; /* of IPv6, with names to be escaped */

	snap = calloc(1, sizeof(*snap));
	assert_non_null(snap);
	*snap = struct_of(
		tcptuned_snapshot, .version = "1.2.3", .revision = "0123456789ab",
		.kernel_release = "6.1.0-test", .policy_name = name_of, .bitcp = true,
		.reloads = {[true] = 7, [false] = 2}, .config_in_force = true, .totals_ok = true,
		.flows_ok = true, .limited_ok = true,
		.limited = {{1000000, 500000, 5000000}, {2000000, 3000000, 4000000}},
		.budget_ok = true, .start_time_us = 1700000000250000, .scrapes = 12,
		.scrapes_ns = 1500000000,
		.adoption = struct_of(tcptuned_adoption, .namespaces = 3, .namespaces_failed = 1,
				      .namespaces_vanished = 2, .ns = 250000000),
		.database_errors = 17, .groups = {.groups = 20, .measured = 21, .refused = 22},
		.budget = {.total = 1000, .granted = 900, .wanted = 5000},
		.bpf = struct_of(tcptuned_bpfstats, .enabled = true, .programs_len = 2,
				 .programs = {{"sockops", 2345, 1000000, 93000001},
					      {"dump_flows", 345, 12, 3456}}),
		.left_alone = {[TCPTUNED_SYSCTL_WMEM_MAX] = true}, .whole_host = true,
		.process = {.resident_bytes = 5242880,
			    .open_fds = 31,
			    .max_fds = 1024,
			    .cpu_ns = 123456789});
	fill_histograms(snap->totals.histogram);

	assert_int_equal(tcptuned_flows_init(&snap->flows, 3), 0);
	fill_flow(&snap->flows.top[0]);
	odd = &snap->flows.top[1];
	*odd = struct_of(tcptuned_flow_record, .family = AF_INET6, .local_port = 5201,
			 .remote_port = 65535, .flow.policy = 7,
			 .congestion_control = "\xc3\xa4\"b\\c\nd");
	inet_pton(AF_INET6, "::ffff:192.0.2.9", odd->local);
	inet_pton(AF_INET6, "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", odd->remote);
	snap->flows.top_len = 2;
	snap->flows.sums.records = 6;
	snap->flows.sums.live = 4;
	snap->flows.sums.limited[TCPTUNED_LIMIT_CWND] = 4;
	snap->flows.sums.rcvbuf_bytes = 99;
	snap->flows.sums.group[0] = (struct readout_group){0, 0, 3, "bitcp", {{0}}};
	snap->flows.sums.group[1] = (struct readout_group){0, 7, 1, "cubic", {{0}}};

	snap->policies_len = 1;
	snap->policies[0] = struct_of(tcptuned_policy, .name = "default", .mode = TCPTUNED_TUNE,
				      .rcv_window_max = 33554432, .snd_window_max = 16777216,
				      .congestion_control = "bitcp");
	for (__u64 i = 0; i < 2 * TCPTUNED_CARRIED; i++)
		snap->traffic[0][i / TCPTUNED_CARRIED].carried[i % TCPTUNED_CARRIED] = 23 + i;
	return 0;
}

static int teardown(void **state)
{
	free(scraped);
	scraped = NULL;
	tcptuned_flows_free(&snap->flows);
	free(snap);
	return 0;
}

FIXTURE(setup, teardown)

static void scrape(void)
{
	free(scraped);
	scraped = text_printed(out, tcptuned_metrics_format(out, snap));
}

static void assert_line(const char *line)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	assert_contains(scraped, whole);
	assert_lacks(strstr(scraped, whole) + strlen(line), whole);
}

/* Prints all samples but zeroes, and but buckets that hold no more than the one before. */
static void print_samples(FILE *out)
{
	const char *last = "", *value;
	char *line, *save;

	for (line = strtok_r(scraped, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		value = strrchr(line, ' ');
		if (*line == '#' || strtod(value, NULL) == 0)
			continue;
		if (!strstr(line, "_bucket{") || strcmp(value, last))
			fprintf(out, "%s\n", line);
		last = strstr(line, "_bucket{") ? value : "";
	}
}

TEST(scrape)
{
	unsigned int series = 0, families = 0;
	FILE *out = open_golden();

	scrape();
	for (const char *at = scraped; (at = strstr(at, "{local=\"192.0.2.1:5201\"")); at++)
		series++;
	assert_in_range(series, 15, 24); /* as the help of metrics.flows has it */
	for (const char *at = scraped; (at = strstr(at, "# TYPE tcptuned_flow_")); at++)
		families++;
	assert_in_range(families, 1, 14);
	print_samples(out);
	assert_golden(out, "metrics");
}

TEST(what_is_not_known_is_left_out)
{
	snap->flows.top[0].srtt_us = snap->flows.top[0].min_rtt_us = 0;
	snap->bpf.enabled = false;
	snap->budget.wanted = 1000;
	scrape();
	assert_lacks(scraped, "tcptuned_flow_srtt");
	assert_lacks(scraped, "tcptuned_flow_min_rtt");
	assert_line("tcptuned_program_statistics_enabled 0");
	assert_lacks(scraped, "tcptuned_program_run");
	assert_line("tcptuned_budget_scarce 0");
}

static const char *name_by_place(const struct tcptuned_kernel *kernel, __u32 key,
				 char ret[TCPTUNED_POLICY_NAME_MAX])
{
	static const char *const names[] = {"default", "far", "near"};

	return strcpy(ret, TCPTUNED_POLICY_PLACE(key) < ARRAY_SIZE(names)
				   ? names[TCPTUNED_POLICY_PLACE(key)]
				   : TCPTUNED_POLICY_GONE(key));
}

#define OF(policy, cc) "tcptuned_connections{policy=\"" policy "\",congestion_control=\"" cc "\"} "

/* Of policies whose records are gone, only the default one can be named. */
TEST(policies_that_are_gone)
{
	snap->policy_name = name_of;
	for (unsigned int i = 0; i < 4; i++)
		snap->flows.sums.group[i] =
			(struct readout_group){0,
					       TCPTUNED_POLICY_ID(i / 2 + 3, i % 2 * 4),
					       i % 2 ? 15 : i / 2 + 1,
					       "bitcp",
					       {{0}}};
	scrape();
	assert_line(OF("(earlier)", "bitcp") "30");
	assert_line(OF("default", "bitcp") "3");
}

/* Policies of one name from several reloads are one sample, also if there are many. */
TEST(groups_of_one_name)
{
	/* 0 + 3 + ... + 1023; of 1 + 4 + ... + 1021 the first has another congestion control */
	static const char *const lines[] = {
		OF("default", "bitcp") "174933", OF("far", "cubic") "1",
		OF("far", "bitcp") "174250",	 OF("near", "bitcp") "174592",
		OF("other", "other") "5",
	};
	struct readout_group *groups = snap->flows.sums.group;
	unsigned int samples = 0;

	snap->policy_name = name_by_place;
	for (unsigned int i = 0; i < READOUT_GROUPS; i++)
		groups[i] =
			(struct readout_group){0, TCPTUNED_POLICY_ID(i, i % 3), i, "bitcp", {{0}}};
	strcpy(groups[1].congestion_control, "cubic");
	snap->flows.sums.groups_other = 5;
	scrape();
	for_each_row (line, lines)
		assert_line(*line);
	for (const char *at = scraped; (at = strstr(at, "\ntcptuned_connections{")); at++)
		samples++;
	assert_int_equal(samples, ARRAY_SIZE(lines));
}

/* Each counter has a distinct value, and is shown exactly once, under its name; times are not. */
TEST(every_counter_is_shown)
{
	static const struct {
		enum tcptuned_counter id;
		const char *series;
	} some[] = {
		{TCPTUNED_C_MANAGED_PASSIVE, "tcptuned_connections_managed_total{opened=\"peer\"}"},
		{TCPTUNED_C_CC_KEPT, "tcptuned_congestion_control_choices_total{choice=\"kept\"}"},
		{TCPTUNED_C_RCVBUF_OVERRIDDEN,
		 "tcptuned_buffer_requests_overridden_total{option=\"SO_RCVBUF\"}"},
		{TCPTUNED_C_RCV_GROWS, "tcptuned_rightsize_grows_total{direction=\"receive\"}"},
		{TCPTUNED_C_SND_SHRINKS, "tcptuned_rightsize_shrinks_total{direction=\"send\"}"},
		{TCPTUNED_C_SND_TESTS_HELD,
		 "tcptuned_rightsize_tests_total{direction=\"send\",result=\"held\"}"},
		{TCPTUNED_C_RCV_TESTS_ABANDONED,
		 "tcptuned_rightsize_tests_total{direction=\"receive\",result=\"abandoned\"}"},
		{TCPTUNED_C_SND_CAPS, "tcptuned_rightsize_caps_total{direction=\"send\"}"},
	};
	char line[256], *at;

	for (size_t i = 0; i < TCPTUNED_COUNTERS; i++)
		snap->totals.counter[i] = 7000 + i;
	scrape();
	for (size_t i = 0; i < TCPTUNED_C_WAITS; i++) {
		snprintf(line, sizeof(line), " %zu\n", 7000 + i);
		at = strstr(scraped, line);
		if (!at || strstr(at + 1, line))
			fail_msg("counter %zu is not shown exactly once", i);
	}
	for_each_row (r, some) {
		snprintf(line, sizeof(line), "%s %d", r->series, 7000 + r->id);
		assert_line(line);
	}
}

/* The definition of tcptuned_bucket(): the smallest i with value <= 2^i. */
static __u32 bucket_by_search(__u64 value)
{
	__u32 i = 0;

	while (i < TCPTUNED_BUCKETS - 1 && value > (1ull << i))
		i++;
	return i;
}

TEST(every_value_has_its_bucket)
{
	for (__u64 value = 0; value < 1 << 20; value++)
		assert_int_equal(tcptuned_bucket(value), bucket_by_search(value));
	for (int bit = 2; bit < 64; bit++)
		for (__u64 value = (1ull << bit) - 1; value <= (1ull << bit) + 1; value++)
			assert_int_equal(tcptuned_bucket(value), bucket_by_search(value));
	for (int i = 0; i < 1000000; i++) {
		__u64 value = random64() >> (i & 63);

		assert_int_equal(tcptuned_bucket(value), bucket_by_search(value));
	}
}

static json_t *json_of(const struct tcptuned_flow_record *record)
{
	json_t *flow = tcptuned_flow_json(record, "default", NULL);
	char *text = text_printed(out, tcptuned_json_print(out, flow));
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	if (!root)
		fail_msg("no JSON: %s", text);
	free(text);
	return root;
}

/* Prints each member of the connection's JSON on a line, without the lines that @base has. */
static char *add_json(FILE *out, const char *title, const struct tcptuned_flow_record *record,
		      const char *base)
{
	json_t *flow = json_of(record), *value;
	const char *key;
	char *text = text_printed(
		lines, json_object_foreach (flow, key, value) {
			fprintf(lines, "%s: ", key);
			json_dumpf(value, lines, JSON_COMPACT | JSON_ENCODE_ANY);
			fputc('\n', lines);
		});

	fprintf(out, "--- %s\n", title);
	print_new_lines(out, base, text);
	json_decref(flow);
	return text;
}

TEST(json)
{
	static const struct {
		const char *title;
		__u32 flags;
		enum request receive, send;
	} flags[] = {
		{"memory short", TCPTUNED_F_MANAGED | TCPTUNED_F_SND_MEMORY_SHORT, REQUEST_WITHHELD,
		 REQUEST_LIFTED},
		{"observed", TCPTUNED_F_OBSERVE | TCPTUNED_F_RCV_MEMORY_SHORT, REQUEST_PASSED_ON,
		 REQUEST_APPLICATION},
		{"a path remembered as slow", TCPTUNED_F_SLOW_SEED, REQUEST_LISTENER, REQUEST_NONE},
	};
	struct tcptuned_flow_record record;
	FILE *out = open_golden();
	char *base, *text;

	fill_flow(&record);
	record.flow.rcv_share = (struct budget_share){.wanted = 3000, .granted = 2000};
	base = add_json(out, "a connection", &record, "");
	for_each_row (r, flags) {
		record.flow.flags = r->flags;
		tcptuned_set_request(&record.flow, true, r->receive);
		tcptuned_set_request(&record.flow, false, r->send);
		free(add_json(out, r->title, &record, base));
	}
	fill_flow(&record);
	record.ssthresh = TCPTUNED_SSTHRESH_NONE;
	record.ca_max_win = 0;
	record.flow.snd_unsent = 131072;
	record.pacing_rate_Bps = 0;
	record.flow.rcv.state = RIGHTSIZE_PROBE_RTT;
	record.flow.rcv_reason = RIGHTSIZE_READER;
	strcpy(record.congestion_control, "a\"\\\n");
	text = add_json(out, "less is known of it, and a window of the reader's", &record, base);
	assert_lacks(text, "\nssthresh_segments: ");
	assert_lacks(text, "\nbitcp: ");
	assert_golden(out, "flow_json");
	free(text);
	free(base);
}

/* Without the kernel's programs the scrape reports that. */
TEST(scrape_without_kernel_side)
{
	struct tcptuned_shared shared = {.trouble.unapplied = "no memory", .cgroups_missing = 3};
	struct tcptuned_scrape_options options = {.flows_max = 3, .shared = &shared};
	struct tcptuned_kernel kernel;
	struct tcptuned_scrape *scrape;
	char *text;

	tcptuned_kernel_init(&kernel, "/");
	kernel.bpf = tcptuned_bpf__open();
	options.kernel = &kernel;
	assert_int_equal(tcptuned_scrape_new(&scrape, &options), 0);

	text = text_printed(out, tcptuned_scrape_print(scrape, out));
	assert_contains(text, "\ntcptuned_scrapes_total 0\n");
	assert_contains(text, "\ntcptuned_config_last_reload_successful 0\n");
	assert_contains(text, "{collector=\"totals\"} 0\n");
	assert_contains(text, "{collector=\"flows\"} 0\n");
	/* Numbers that could not be read are not shown as zeroes. */
	assert_lacks(text, "tcptuned_connections");
	assert_lacks(text, "tcptuned_flow_");
	assert_lacks(text, "tcptuned_srtt");
	assert_contains(text, "\ntcptuned_policy_cgroups_missing 3\n");
	free(text);

	shared.cgroups_missing = 0;
	text = text_printed(out, tcptuned_scrape_print(scrape, out));
	assert_contains(text, "\ntcptuned_scrapes_total 1\n");
	assert_contains(text, "\ntcptuned_policy_cgroups_missing 0\n");
	free(text);
	tcptuned_scrape_free(scrape);
	tcptuned_bpf__destroy(kernel.bpf);
}
