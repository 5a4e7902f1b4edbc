// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl status: whether the daemon runs, and what it has done so far. */
#include <time.h>

#include "commands.h"
#include "format.h"

static const struct ctl_template configuration[] = {
	{"", "pinned in      {pinned_in}\n"},
	{"configuration.rejected",
	 "configuration  the one before the last reload, which was rejected: "
	 "{configuration.rejected}\n"},
	{"configuration.unapplied",
	 "configuration  not all of it in force, tried again every few seconds: "
	 "{configuration.unapplied}\n"},
	{"configuration.in_force", "configuration  in force as it was last read\n"},
	{"configuration !configuration.in_force !configuration.rejected !configuration.unapplied",
	 "configuration  not in force as it was last read; the log says why\n"},
	{"", "mode           {mode}\n"},
	{"congestion_control", "congestion     {congestion_control} for new connections; "},
	{"!congestion_control", "congestion     the kernel's own for new connections; "},
	{"bitcp_registered", "bitcp is registered\n"},
	{"!bitcp_registered", "bitcp is not registered\n"},
	{"",
	 "connections    {connections.open} open, {connections.observed} of them only observed\n"},
	{0},
};

static const struct ctl_template totals[] = {
	{"", "receiving      {connections.receive_buffer_bytes:size} in all, "
	     "{connections.receive_buffer_used_bytes:size} in use; "
	     "{connections.receive_rightsized} right-sized\n"
	     "sending        {connections.send_buffer_bytes:size} in all, "
	     "{connections.send_buffer_used_bytes:size} in use; {connections.send_rightsized} "
	     "right-sized\n"},
	{"budget.bytes", "budget         {budget.bytes:size}, "},
	{"budget !budget.bytes", "budget         none, "},
	{"budget",
	 "{budget.granted_bytes:size} of it granted, {budget.wanted_bytes:size} wanted; held "
	 "back {totals.receive_budget_refusals} receive windows, {totals.send_budget_refusals} "
	 "send buffers\n"},
	{"budget totals.memory_short_refusals",
	 "               {totals.memory_short_refusals} times because memory was short, of all "
	 "of TCP (net.ipv4.tcp_mem) or of a control group\n"},
	{"", "so far         {totals.managed_opened_here} connections opened here, "
	     "{totals.managed_accepted_here} accepted, {totals.managed_open} open before, "
	     "{totals.closed} closed, {totals.unrecorded} left to the kernel for lack of memory\n"},
	{"totals.adopt_failed",
	 "               of connections open before, {totals.adopt_failed} not attached\n"},
	{"", "               congestion control set on {totals.congestion_control_set}, kept on "
	     "{totals.congestion_control_kept}, failed on {totals.congestion_control_failed}\n"
	     "               SO_RCVBUF overridden {totals.rcvbuf_overridden} times, SO_SNDBUF "
	     "{totals.sndbuf_overridden}, observed ones included\n"
	     "               receive windows grown {totals.receive_windows_grown} times, shrunk "
	     "{totals.receive_windows_shrunk}, refused {totals.receive_windows_refused}\n"
	     "               send windows grown {totals.send_windows_grown} times, shrunk "
	     "{totals.send_windows_shrunk}, refused {totals.send_windows_refused}\n"},
	{0},
};

static const struct ctl_template sysctl_texts[] = {
	{"now", " {name} = {now}, "},
	{"!now", " {name} = unknown, "},
	{"left_alone", "changed from tcptuned's {set_to} by another program: left alone\n"},
	{"!left_alone", "before {before}\n"},
	{0},
};

static const struct ctl_template host_limit_texts[] = {
	{"", "host           {name} = 0: {effect}\n"},
	{0},
};

static void print_limits(const char *title, const json_t *limits)
{
	const char *name;
	json_t *value;

	fputs(title, stdout);
	json_object_foreach ((json_t *)limits, name, value)
		printf(" %s %lld", name, (long long)json_integer_value(value));
	putchar('\n');
}

static void print_status(const json_t *answer)
{
	time_t start = (time_t)(ctl_number(answer, "started_us") / 1000000);
	char since[64];
	json_t *value;
	size_t i;

	strftime(since, sizeof(since), "%F %T", localtime(&start));
	printf("daemon         tcptuned %s, process %llu, since %s\n", ctl_text(answer, "version"),
	       ctl_number(answer, "pid"), since);
	ctl_print(stdout, answer, configuration);
	print_limits("limited by     sending:", ctl_member(answer, "connections.limited_by"));
	print_limits("               receiving:",
		     ctl_member(answer, "connections.receive_limited_by"));
	ctl_print(stdout, answer, totals);
	json_array_foreach (json_object_get(answer, "sysctls"), i, value) {
		fputs(i ? "              " : "sysctls       ", stdout);
		ctl_print(stdout, value, sysctl_texts);
	}
	json_array_foreach (json_object_get(answer, "host_limits"), i, value)
		ctl_print(stdout, value, host_limit_texts);
}

const struct ctl_command ctl_status = {
	.name = "status",
	.arguments = "",
	.help = "Print whether the daemon runs, whether its configuration is in force, what it has "
		"done so far, which sysctls it has set (one that another program has changed since is "
		"left alone), and which sysctls of the host limit every connection.",
	.options = ctl_json_option,
	.request = "status",
	.print = print_status,
};
