// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl policy: which there are, which one a connection would get, and switches. */
#include <errno.h>
#include <string.h>

#include "ctl.h"

enum { JSON, CGROUP };

static const struct tcptuned_option options[] = {
	[JSON] = { "json", 'j', NULL, "Print JSON." },
	[CGROUP] = { "cgroup", 'g', "PATH",
		     "Of test: the control group in which the socket would be made, below the root "
		     "of the cgroup2 tree; without it, one that no policy names." },
	{ 0 },
};

#define USAGE(err, ...) tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE, __VA_ARGS__)

static const char *yes_or_no(const json_t *policy, const char *name)
{
	return json_is_true(json_object_get(policy, name)) ? "yes" : "no";
}

static void print_settings(const json_t *policy)
{
	char receive[CTL_WORD], send[CTL_WORD];
	const char *name = ctl_text(policy, "congestion_control");

	ctl_format_bytes(ctl_number(policy, "receive_window_max_bytes"), receive);
	ctl_format_bytes(ctl_number(policy, "send_window_max_bytes"), send);
	printf("  congestion control  %s\n", *name ? name : "left alone");
	printf("  receive window max  %s (%llu bytes)\n", receive,
	       ctl_number(policy, "receive_window_max_bytes"));
	printf("  send window max     %s (%llu bytes)\n", send,
	       ctl_number(policy, "send_window_max_bytes"));
	if (ctl_number(policy, "long_path_segments"))
		printf("  long path           %llu segments or more, where auto takes bitcp\n",
		       ctl_number(policy, "long_path_segments"));
	printf("  SO_RCVBUF           overridden: %s\n", yes_or_no(policy, "override_rcvbuf"));
	printf("  SO_SNDBUF           overridden: %s\n", yes_or_no(policy, "override_sndbuf"));
}

void ctl_print_policy(const json_t *policy)
{
	const char *mode = ctl_text(policy, "mode");

	printf("%s: %s\n", ctl_text(policy, "policy"), ctl_text(policy, "rule"));
	if (json_is_true(json_object_get(policy, "disabled")))
		printf("  mode                off: disabled; policy enable switches it on\n");
	else if (!strcmp(mode, "off"))
		printf("  mode                off: left to the kernel\n");
	else if (!strcmp(mode, "observe"))
		printf("  mode                observe: a dry run\n");
	else
		printf("  mode                %s\n", mode);
	if (json_object_get(policy, "connections"))
		printf("  connections         %llu\n", ctl_number(policy, "connections"));
	if (strcmp(mode, "off"))
		print_settings(policy);
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
			ctl_print_policy(policy);
	if (!json && ctl_number(answer, "connections_not_told_apart"))
		printf("%llu more connections are not counted above: there are more pairs of "
		       "policy and congestion control than are told apart\n",
		       ctl_number(answer, "connections_not_told_apart"));
	json_decref(answer);
	return 0;
}

static int test(struct ctl *ctl, bool json, const char *cgroup, char **flow, int count,
		struct tcptuned_error *err)
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
	if (cgroup)
		json_object_set_new(request, "cgroup", json_string(cgroup));
	error = ctl_ask(ctl, request, &answer, err);
	if (error)
		return error;
	if (json)
		ctl_print_json(answer);
	else if (json_is_null(json_object_get(answer, "policy")))
		printf("none: %s\n", ctl_text(answer, "rule"));
	else
		ctl_print_policy(answer);
	json_decref(answer);
	return 0;
}

static int enable(struct ctl *ctl, bool json, bool enabled, const char *name,
		  struct tcptuned_error *err)
{
	json_t *request = ctl_request(enabled ? "policy_enable" : "policy_disable"), *answer;
	int error;

	json_object_set_new(request, "policy", json_string(name));
	error = ctl_ask(ctl, request, &answer, err);
	if (error)
		return error;
	if (json)
		ctl_print_json(answer);
	else if (!json_is_true(json_object_get(answer, "changed")))
		printf("%s was %s already\n", name, enabled ? "enabled" : "disabled");
	else if (enabled)
		printf("%s is enabled, for connections made from now on (policy apply: for open "
		       "ones too)\n",
		       name);
	else
		printf("%s is disabled, for connections made from now on (policy apply: for open "
		       "ones too), over reloads, until it is enabled or the daemon is stopped\n",
		       name);
	json_decref(answer);
	return 0;
}

static int apply(struct ctl *ctl, bool json, struct tcptuned_error *err)
{
	json_t *answer;
	int error = ctl_ask(ctl, ctl_request("policy_apply"), &answer, err);

	if (error)
		return error;
	if (json) {
		ctl_print_json(answer);
	} else {
		printf("open connections: %llu have the policy that is theirs now, %llu were "
		       "taken, %llu let go\n",
		       ctl_number(answer, "moved"), ctl_number(answer, "taken"),
		       ctl_number(answer, "let_go"));
		if (ctl_number(answer, "kernel_too_old"))
			printf("%llu are left to the kernel: to take open ones needs Linux 6.12\n",
			       ctl_number(answer, "kernel_too_old"));
		if (ctl_number(answer, "failed") || ctl_number(answer, "namespaces_failed"))
			printf("%llu could not be taken, and %llu network namespaces not be looked "
			       "into\n",
			       ctl_number(answer, "failed"),
			       ctl_number(answer, "namespaces_failed"));
	}
	json_decref(answer);
	return 0;
}

static int run(struct ctl *ctl, const char *const *given, char **arguments, int count,
	       struct tcptuned_error *err)
{
	const char *what = arguments[0];
	bool names = !strcmp(what, "enable") || !strcmp(what, "disable");

	if (given[CGROUP] && strcmp(what, "test"))
		return USAGE(err, "--cgroup: it is for policy test");
	if (!strcmp(what, "test"))
		return test(ctl, given[JSON], given[CGROUP], arguments + 1, count - 1, err);
	if (!names && strcmp(what, "list") && strcmp(what, "apply"))
		return USAGE(err, "policy: there is no %.60s; it is list, test, enable, disable or "
				  "apply",
			     what);
	if (names && count != 2)
		return USAGE(err, "policy %s: it takes the name of one policy; policy list shows "
				  "which there are",
			     what);
	if (!names && count > 1)
		return USAGE(err, "%.60s: unexpected; policy %s takes nothing more", arguments[1],
			     what);
	if (names)
		return enable(ctl, given[JSON], !strcmp(what, "enable"), arguments[1], err);
	return !strcmp(what, "apply") ? apply(ctl, given[JSON], err) : list(ctl, given[JSON], err);
}

const struct ctl_command ctl_policy = {
	.name = "policy",
	.arguments = "list | test LOCAL REMOTE | enable NAME | disable NAME | apply",
	.help = "List the policies, how they choose connections and how many each has; say which "
		"one a connection that is made now between LOCAL and REMOTE (ADDRESS or "
		"ADDRESS:PORT each; a port that is left away is none that a policy names) would "
		"get, and by which rule; switch one off, as if its section were "
		"not there (of default: leave to the kernel what no other policy takes), and on "
		"again, for connections made from now on. That holds over reloads and should the "
		"daemon be killed, until it is stopped. With apply, give connections that are open "
		"the policy that they would get if they were made now.",
	.options = options,
	.arguments_min = 1,
	.arguments_max = 3,
	.run = run,
};
