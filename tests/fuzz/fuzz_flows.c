// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: any bytes in place of what the kernel's iterator delivers. They are either
 * refused, or written out, within bounds, as text whose every line is a sample or a comment,
 * and as JSON that can be read back. The input is what differs from a valid record, so that
 * no corpus is needed to begin with.
 *
 *	make fuzz
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "metrics.h"

#define CHECK(condition)                                             \
	do {                                                         \
		if (!(condition)) {                                  \
			fprintf(stderr, "failed: %s\n", #condition); \
			abort();                                     \
		}                                                    \
	} while (0)

static struct tcptuned_snapshot snap = {
	.version = "0",
	.kernel_release = "0",
	.flows_ok = true,
};
static int file_fd = -1;

#define INPUT_MAX (8 * sizeof(struct tcptuned_flow_record))

/* @data over valid records, one after the other. */
static void write_records(const uint8_t *data, size_t size)
{
	struct tcptuned_flow_record valid = {
		.flow.flags = TCPTUNED_F_CLAIMED,
		.flow.rcv.reason = RIGHTSIZE_MEASURED,
		.family = AF_INET,
		.state = 1,
		.ca_max_win = 100,
		.congestion_control = "bitcp",
	};
	uint8_t bytes[INPUT_MAX];
	size_t i;

	for (i = 0; i < size; i++)
		bytes[i] = data[i] ^ ((const uint8_t *)&valid)[i % sizeof(valid)];
	CHECK(!ftruncate(file_fd, 0));
	CHECK(pwrite(file_fd, bytes, size, 0) == (ssize_t)size);
	CHECK(!lseek(file_fd, 0, SEEK_SET));
}

static void check_text(void)
{
	struct tcptuned_buf buf;
	char *line, *save;

	tcptuned_buf_init(&buf, 4u << 20);
	tcptuned_metrics_format(&buf, &snap);
	CHECK(!buf.error);
	CHECK(strlen(buf.data) == buf.len);
	for (line = strtok_r(buf.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		CHECK(!strncmp(line, "# ", 2) || !strncmp(line, "tcptuned_", 9));
	tcptuned_buf_free(&buf);
}

static void check_json(void)
{
	struct tcptuned_buf buf;
	json_error_t error;
	json_t *root;

	tcptuned_buf_init(&buf, 4u << 20);
	tcptuned_metrics_format_json(&buf, &snap);
	CHECK(!buf.error);
	root = json_loads(buf.data, JSON_REJECT_DUPLICATES, &error);
	CHECK(root);
	CHECK(json_array_size(json_object_get(root, "flows")) == snap.flows.top_len);
	json_decref(root);
	tcptuned_buf_free(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (file_fd < 0) {
		file_fd = memfd_create("flows", MFD_CLOEXEC);
		CHECK(file_fd >= 0);
		CHECK(!tcptuned_flows_init(&snap.flows, 3));
	}
	if (size > INPUT_MAX)
		return 0;
	write_records(data, size);
	if (tcptuned_flows_read_fd(&snap.flows, file_fd))
		return 0;
	CHECK(snap.flows.records == size / sizeof(struct tcptuned_flow_record));
	CHECK(snap.flows.top_len <= 3 && snap.flows.live <= snap.flows.records);
	check_text();
	check_json();
	return 0;
}
