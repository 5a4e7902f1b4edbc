// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: any bytes as a request on the control socket. It is refused with one
 * printable sentence, and leaves what was there alone; or it is within every bound.
 */
#include <sys/socket.h>

#include "fuzz.h"
#include "rpc/request.h"

static void check_prefix(const struct tcptuned_prefix *prefix)
{
	CHECK(prefix->length <= 128 && (!prefix->ipv4 || prefix->length >= 96));
}

static void check_accepted(const struct tcptuned_request *request)
{
	struct tcptuned_flow_record record = {.family = AF_INET6};

	CHECK(request->command <= TCPTUNED_CMD_STOP);
	CHECK(request->limit >= 1 && request->limit <= TCPTUNED_FLOWS_LIMIT_MAX);
	check_prefix(&request->filter.address);
	check_prefix(&request->filter.local);
	check_prefix(&request->filter.remote);
	CHECK(memchr(request->filter.policy, '\0', sizeof(request->filter.policy)));
	CHECK(memchr(request->cgroup, '\0', sizeof(request->cgroup)));
	CHECK(memchr(request->filter.congestion_control, '\0',
		     sizeof(request->filter.congestion_control)));
	if (request->sort)
		CHECK(tcptuned_column_find(request->sort->name) == request->sort);
	tcptuned_scan_matches(&request->filter, &record, "default");
}

static void check_refused(const struct tcptuned_request *request, const struct tcptuned_error *err)
{
	for (size_t i = 0; i < sizeof(*request); i++)
		CHECK(((const unsigned char *)request)[i] == 0xa5);
	CHECK(err->status == TCPTUNED_EXIT_USAGE && err->text[0]);
	for (const char *p = err->text; *p; p++)
		CHECK(*p >= ' ' && *p <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tcptuned_error err = {0};
	struct tcptuned_request request;

	memset(&request, 0xa5, sizeof(request));
	if (tcptuned_request_parse((const char *)data, size, &request, &err))
		check_refused(&request, &err);
	else
		check_accepted(&request);
	return 0;
}
