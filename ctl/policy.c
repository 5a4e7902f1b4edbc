// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl policy: list policies, test which one a connection gets, switch and apply them. */
#include "commands.h"
#include "explain.h"
#include "format.h"

static const struct ctl_option options[] = {
	{OPTION(CTL_JSON, "Print JSON.")},
	{OPTION("cgroup", 'g', "PATH",
		"With test: the control group in which the socket is created, below the root of the "
		"cgroup2 tree; by default one that no policy names."),
	 .field = "cgroup", .only = "test"},
	{OPTION(0)},
};

static const struct ctl_template policy_texts[] = {
	{"!policy", "none: {rule}\n"},
	{"policy", "{policy}: {rule}\n"},
	{"disabled", "  mode                off: disabled; policy enable switches it on\n"},
	{"!disabled mode=off", "  mode                off: left to the kernel\n"},
	{"harmful", "  mode                observe: its trial has shown harm (tcptunectl trial)\n"},
	{"!disabled !harmful mode=observe", "  mode                observe: nothing is changed\n"},
	{"held_back", "  trial               it is held back, and left to the kernel\n"},
	{"!disabled mode=tune", "  mode                tune\n"},
	{"cgroup_missing", "  cgroup              does not exist now\n"},
	{"counted", "  connections         {connections}\n"},
	{"policy !mode=off congestion_control", "  congestion control  {congestion_control}\n"},
	{"policy !mode=off congestion_control_missing",
	 "  congestion control  left alone: this kernel does not offer "
	 "{congestion_control_missing} now\n"},
	{"policy !mode=off !congestion_control !congestion_control_missing",
	 "  congestion control  left alone\n"},
	{"policy !mode=off",
	 "  receive window max  {receive_window_max_bytes:size} ({receive_window_max_bytes} "
	 "bytes)\n"
	 "  send window max     {send_window_max_bytes:size} ({send_window_max_bytes} bytes)\n"},
	{"policy !mode=off long_path_segments",
	 "  long path           {long_path_segments} segments or more, from which auto may set bitcp\n"},
	{"policy !mode=off random_loss_congestion_control",
	 "  random losses       auto tries {random_loss_congestion_control}\n"},
	{"policy !mode=off", "  SO_RCVBUF           overridden: {override_rcvbuf:yes}\n"
			     "  SO_SNDBUF           overridden: {override_sndbuf:yes}\n"},
	{0},
};

static const struct ctl_template enabled_texts[] = {
	{"!changed disabled", "{policy} was disabled already\n"},
	{"!changed !disabled", "{policy} was enabled already\n"},
	{"changed !disabled",
	 "{policy} is enabled, for connections made from now on (policy apply: for open ones "
	 "too)\n"},
	{"changed disabled",
	 "{policy} is disabled, for connections made from now on (policy apply: for open ones "
	 "too), over reloads, until it is enabled or the daemon is stopped\n"},
	{0},
};

static const struct ctl_template applied_texts[] = {
	{"", "open connections: {moved} moved to another policy, {attached} attached, {detached} "
	     "detached\n"},
	{"kernel_too_old",
	 "{kernel_too_old} are left to the kernel: to attach open connections needs Linux 6.12\n"},
	{"failed", "{failed} could not be attached\n"},
	{"namespaces_failed", "{namespaces_failed} network namespaces could not be searched\n"},
	{0},
};

static void print_list(const json_t *answer)
{
	static const struct ctl_template rest[] = {
		{"connections_uncounted",
		 "{connections_uncounted} more connections are not counted above: there are "
		 "too many pairs of policy and congestion control\n"},
		{0},
	};
	json_t *policy;
	size_t i;

	json_array_foreach (json_object_get(answer, "policies"), i, policy) {
		json_object_set_new(policy, "counted", json_true());
		ctl_print(stdout, policy, policy_texts);
	}
	ctl_print(stdout, answer, rest);
}

#define NAMES_POLICY \
	.arguments = "NAME", .arguments_min = 1, .field = "policy", .texts = enabled_texts

static const struct ctl_command subcommands[] = {
	{.name = "list", .arguments = "", .request = "policies", .print = print_list},
	{.name = "test",
	 .arguments = "LOCAL REMOTE",
	 .arguments_min = 2,
	 .request = "policy_test",
	 .add_arguments = ctl_add_flow,
	 .texts = policy_texts},
	{.name = "enable", .request = "policy_enable", NAMES_POLICY},
	{.name = "disable", .request = "policy_disable", NAMES_POLICY},
	{.name = "apply", .arguments = "", .request = "policy_apply", .texts = applied_texts},
	{0},
};

const struct ctl_command ctl_policy = {
	.name = "policy",
	.arguments = "list | test LOCAL REMOTE | enable NAME | disable NAME | apply",
	.help = "List the policies, how they choose connections and how many each has. Test which one "
		"a connection that is made now between LOCAL and REMOTE (ADDRESS or ADDRESS:PORT each; "
		"without a port, one that no policy names) would get, and by which rule. Disable one, "
		"as if its section did not exist (of default: leave to the kernel what no other policy "
		"takes), and enable it again, for connections made from now on; it stays disabled over "
		"reloads, and if the daemon is killed, until the daemon is stopped. To enable one whose trial has "
		"shown harm starts another trial. Apply the policies "
		"to open connections, as if they were made now.",
	.options = options,
	.subcommands = subcommands,
	.arguments_min = 1,
};
