// SPDX-License-Identifier: GPL-2.0-only
#include "rpc/flows.h"

#include <errno.h>

#include "flows/scan.h"
#include "policy/lookup.h"
#include "rpc/flow_json.h"
#include "rpc/policies.h"
#include "util/cleanup.h"

struct choice {
	const struct tcptuned_source *source;
	const struct tcptuned_request *request;
};

static const char *policy_name(const void *ctx, __u32 key, char ret[TCPTUNED_POLICY_NAME_MAX])
{
	return tcptuned_policy_name(((const struct choice *)ctx)->source->kernel, key, ret);
}

static bool is_wanted(const void *ctx, const struct tcptuned_flow_record *record)
{
	const struct choice *choice = ctx;
	char name[TCPTUNED_POLICY_NAME_MAX];

	return tcptuned_filter_matches(&choice->request->filter, record,
				       policy_name(ctx, record->flow.policy, name));
}

static int compare(const void *ctx, const struct tcptuned_flow_record *a,
		   const struct tcptuned_flow_record *b)
{
	const struct tcptuned_request *request = ((const struct choice *)ctx)->request;
	int order = request->sort ? tcptuned_column_order(request->sort, a, b, policy_name, ctx)
				  : tcptuned_flow_order(a, b);

	return request->reverse ? -order : order;
}

/* Read all connections, and keep those that @request asks for. The caller frees @ret. */
static int read_flows(const struct tcptuned_source *source, const struct tcptuned_request *request,
		      struct tcptuned_flows *ret, struct tcptuned_error *err)
{
	const struct tcptuned_filter *filter = &request->filter;
	struct choice choice = {source, request};
	int error;

	if (tcptuned_flows_init(ret, request->limit))
		return FAIL(err, ENOMEM, INTERNAL, "no memory for %u flows", request->limit);
	/* The kernel is much faster at what it can filter and order itself. */
	ret->choice.ctx = &choice;
	if (filter->policy[0] || filter->congestion_control[0])
		ret->choice.wanted = is_wanted;
	if (request->sort || request->reverse)
		ret->choice.order = compare;
	error = tcptuned_readout(ret, source->kernel, filter, err);
	ret->choice.ctx = NULL;
	if (error)
		tcptuned_flows_free(ret);
	return error;
}

static void print_flow(const struct tcptuned_source *source, const struct tcptuned_request *request,
		       const struct tcptuned_flow_record *record, FILE *out)
{
	char name[TCPTUNED_POLICY_NAME_MAX];
	_cleanup_free_ char *rule = NULL;

	tcptuned_policy_name(source->kernel, record->flow.policy, name);
	if (request->rules)
		rule = tcptuned_source_rule(source, record, name);
	tcptuned_json_print(out, tcptuned_json_flow(record, name, rule));
}

/* Only one of possibly thousands of connections at a time is a JSON tree in memory. */
int tcptuned_handle_flows(const struct tcptuned_source *source,
			  const struct tcptuned_request *request, FILE *out,
			  struct tcptuned_error *err)
{
	struct tcptuned_flows flows;
	int error = read_flows(source, request, &flows, err);

	if (error)
		return error;
	fprintf(out, "{\"connections\":%llu,\"matched\":%llu,\"flows\":[",
		(unsigned long long)flows.sums.live, (unsigned long long)flows.wanted);
	for (__u32 i = 0; i < flows.top_len && !ferror(out); i++) {
		fputs(i ? "," : "", out);
		print_flow(source, request, &flows.top[i], out);
	}
	fputs("]}\n", out);
	tcptuned_flows_free(&flows);
	return 0;
}
