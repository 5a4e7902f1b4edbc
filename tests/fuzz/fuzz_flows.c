// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: any bytes in place of the records that the kernel collects. They are refused,
 * or written as text whose every line is a sample or a comment, and as JSON that can be read back.
 * The input is what differs from a valid record, so that no corpus is needed.
 */
#include <sys/socket.h>

#include <jansson.h>

#include "fuzz.h"
#include "metrics/exposition.h"
#include "rpc/flows.h"

static const char *name_policy(const struct tcptuned_kernel *kernel, __u32 key, char *ret)
{
	return strcpy(ret, "default");
}

static struct tcptuned_snapshot snap = {
	.version = "0",
	.revision = "",
	.kernel_release = "0",
	.policy_name = name_policy,
	.flows_ok = true,
};
static struct readout readout;

#define RECORDS_MAX 8

/* @data over valid records, one after the other. Returns how many they are. */
static size_t make_records(const uint8_t *data, size_t size,
			   struct tcptuned_flow_record records[RECORDS_MAX])
{
	struct tcptuned_flow_record valid = {
		.flow.flags = TCPTUNED_F_MANAGED,
		.flow.rcv_reason = RIGHTSIZE_HELD,
		.family = AF_INET,
		.state = 1,
		.ca_max_win = 100,
		.congestion_control = "bitcp",
	};
	uint8_t *bytes = (uint8_t *)records;
	size_t i;

	for (i = 0; i < size; i++)
		bytes[i] = data[i] ^ ((const uint8_t *)&valid)[i % sizeof(valid)];
	return size / sizeof(valid);
}

/* As the iterator adds them up. */
static void add_up(const struct tcptuned_flow_record *record)
{
	struct readout_socket socket = {.ops = record->cwnd, .limit = record->limit};
	struct readout_group *group = readout_add(&readout.sums, &record->flow, &socket);

	if (group)
		memcpy(group->congestion_control, record->congestion_control,
		       sizeof(group->congestion_control));
	readout_add_matched(&readout, tcptuned_flow_size(record));
}

static void check_text(void)
{
	char *text = NULL, *line, *save;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	tcptuned_metrics_format(out, &snap);
	CHECK(!fclose(out));
	CHECK(strlen(text) == size);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		CHECK(!strncmp(line, "# ", 2) || !strncmp(line, "tcptuned_", 9) ||
		      !strncmp(line, "process_", 8));
	free(text);
}

static void check_json(const struct tcptuned_flow_record *record)
{
	json_t *object = tcptuned_flow_json(record, "default", NULL), *root;
	char *text = json_dumps(object, 0);

	CHECK(text);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	CHECK(root);
	json_decref(root);
	json_decref(object);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tcptuned_flow_record records[RECORDS_MAX] = {};
	size_t i, n;

	if (size > sizeof(records))
		return 0;
	if (!snap.flows.top)
		CHECK(!tcptuned_flows_init(&snap.flows, 3));
	memset(&readout, 0, sizeof(readout));
	readout.request.wanted = 3;
	n = make_records(data, size, records);
	for (i = 0; i < n; i++)
		add_up(&records[i]);
	tcptuned_flows_begin(&snap.flows);
	for (i = 0; i < n; i++)
		if (tcptuned_flows_add(&snap.flows, &records[i]))
			return 0;
	tcptuned_flows_sum_up(&snap.flows, &readout.sums);
	tcptuned_flows_end(&snap.flows);
	CHECK(snap.flows.sums.live == n && snap.flows.wanted == n);
	CHECK(snap.flows.top_len <= 3);
	check_text();
	for (i = 0; i < snap.flows.top_len; i++)
		check_json(&snap.flows.top[i]);
	return 0;
}
