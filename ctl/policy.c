// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl policy: which there are, and which one a connection would get. */
#include <errno.h>
#include <string.h>

#include "ctl.h"

enum option { JSON };

static const struct ctl_option options[] = {
	[JSON] = { "json", 'j', NULL, "Print JSON." },
	{ 0 },
};

#define USAGE(err, ...) tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE, __VA_ARGS__)

static const char *yes_or_no(const json_t *policy, const char *name)
{
	return json_is_true(json_object_get(policy, name)) ? "yes" : "no";
}

static void print_policy(const json_t *policy)
{
	char receive[CTL_WORD], send[CTL_WORD];
	const char *name = ctl_text(policy, "congestion_control");

	ctl_format_bytes(ctl_number(policy, "receive_window_max_bytes"), receive);
	ctl_format_bytes(ctl_number(policy, "send_window_max_bytes"), send);
	printf("%s: %s\n", ctl_text(policy, "policy"), ctl_text(policy, "rule"));
	printf("  mode                %s\n", ctl_text(policy, "mode"));
	if (!strcmp(ctl_text(policy, "mode"), "off"))
		return;
	printf("  congestion control  %s\n", *name ? name : "left alone");
	printf("  receive window max  %s (%llu bytes)\n", receive,
	       ctl_number(policy, "receive_window_max_bytes"));
	printf("  send window max     %s (%llu bytes)\n", send,
	       ctl_number(policy, "send_window_max_bytes"));
	printf("  SO_RCVBUF           overridden: %s\n", yes_or_no(policy, "override_rcvbuf"));
	printf("  SO_SNDBUF           overridden: %s\n", yes_or_no(policy, "override_sndbuf"));
}

static int list(struct ctl *ctl, bool json, struct tcptuned_error *err)
{
	json_t *answer, *policy;
	size_t i;
	int error = ctl_ask(ctl, ctl_request("policies"), &answer, err);

	if (error)
		return error;
	if (json)
		ctl_print_json(answer);
	json_array_foreach(json_object_get(answer, "policies"), i, policy)
		if (!json)
			print_policy(policy);
	json_decref(answer);
	return 0;
}

static int test(struct ctl *ctl, bool json, char **flow, int count, struct tcptuned_error *err)
{
	json_t *request, *answer;
	int error;

	if (count != 2)
		return USAGE(err, "policy test: it takes the local and the remote end; write "
				  "tcptunectl policy test 192.0.2.1:5201 198.51.100.7:40000");
	request = ctl_request("policy_test");
	error = ctl_parse_endpoint(flow[0], request, "local_address", "local_port", err);
	if (!error)
		error = ctl_parse_endpoint(flow[1], request, "remote_address", "remote_port", err);
	if (error) {
		json_decref(request);
		return error;
	}
	error = ctl_ask(ctl, request, &answer, err);
	if (error)
		return error;
	if (json)
		ctl_print_json(answer);
	else if (json_is_null(json_object_get(answer, "policy")))
		printf("none: %s\n", ctl_text(answer, "rule"));
	else
		print_policy(answer);
	json_decref(answer);
	return 0;
}

static int run(struct ctl *ctl, const char *const *given, char **arguments, int count,
	       struct tcptuned_error *err)
{
	if (!strcmp(arguments[0], "test"))
		return test(ctl, given[JSON], arguments + 1, count - 1, err);
	if (strcmp(arguments[0], "list"))
		return USAGE(err, "policy: there is no %.60s; it is list or test", arguments[0]);
	if (count > 1)
		return USAGE(err, "%.60s: unexpected; policy list takes nothing more",
			     arguments[1]);
	return list(ctl, given[JSON], err);
}

const struct ctl_command ctl_policy = {
	.name = "policy",
	.arguments = "list | test LOCAL REMOTE",
	.help = "List the policies, or say which one a connection that is made now between "
		"LOCAL and REMOTE (ADDRESS, ADDRESS:PORT or PORT each) would get.",
	.options = options,
	.arguments_min = 1,
	.arguments_max = 3,
	.run = run,
};
