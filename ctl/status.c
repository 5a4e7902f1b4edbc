// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl status: does it run, and what has it done so far? */
#include <stdbool.h>
#include <time.h>

#include "ctl.h"

enum { JSON };

static const struct tcptuned_option options[] = {
	[JSON] = { "json", 'j', NULL, "Print it as one JSON object." },
	{ 0 },
};

static void print_daemon(const json_t *answer)
{
	time_t start = (time_t)(ctl_number(answer, "started_us") / 1000000);
	char since[64] = "";
	struct tm tm;

	if (localtime_r(&start, &tm))
		strftime(since, sizeof(since), "%F %T", &tm);
	printf("daemon         tcptuned %s, process %llu, since %s\n", ctl_text(answer, "version"),
	       ctl_number(answer, "pid"), since);
	printf("pinned in      %s\n", ctl_text(answer, "pinned_in"));
}

static void print_configuration(const json_t *answer)
{
	const char *rejected = ctl_text(answer, "configuration.rejected");
	const char *unapplied = ctl_text(answer, "configuration.unapplied");
	const json_t *configuration = json_object_get(answer, "configuration");

	if (!configuration)
		return;
	if (*rejected)
		printf("configuration  the one before the last reload, which was rejected: %s\n",
		       rejected);
	if (*unapplied)
		printf("configuration  not all of it in force, tried again every few seconds: "
		       "%s\n",
		       unapplied);
	if (json_is_true(json_object_get(configuration, "in_force")))
		puts("configuration  in force as it was last read");
	else if (!*rejected && !*unapplied)
		puts("configuration  not in force as it was last read; the log says why");
}

static void print_policy(const json_t *answer)
{
	const char *name = ctl_text(answer, "congestion_control");

	printf("mode           %s\n", ctl_text(answer, "mode"));
	printf("congestion     %s for new connections; bitcp is %sregistered\n",
	       *name ? name : "the kernel's own",
	       json_is_true(json_object_get(answer, "bitcp_registered")) ? "" : "not ");
}

static void print_buffers(const json_t *answer, const char *name, const char *bytes,
			  const char *used, const char *sized)
{
	char all[CTL_WORD], now[CTL_WORD];

	ctl_format_bytes(ctl_number(answer, bytes), all);
	ctl_format_bytes(ctl_number(answer, used), now);
	printf("%-14s %s in all, %s in use; %llu right-sized\n", name, all, now,
	       ctl_number(answer, sized));
}

static void print_connections(const json_t *answer)
{
	const char *name;
	json_t *value;

	printf("connections    %llu open, %llu of them dry run\n",
	       ctl_number(answer, "connections.open"), ctl_number(answer, "connections.dry_run"));
	printf("limited by    ");
	json_object_foreach(json_object_get(json_object_get(answer, "connections"), "limited_by"),
			    name, value)
		printf(" %s %lld", name, (long long)json_integer_value(value));
	putchar('\n');
	print_buffers(answer, "receiving", "connections.receive_buffer_bytes",
		      "connections.receive_buffer_used_bytes", "connections.receive_rightsized");
	print_buffers(answer, "sending", "connections.send_buffer_bytes",
		      "connections.send_buffer_used_bytes", "connections.send_rightsized");
}

static void print_budget(const json_t *answer)
{
	char all[CTL_WORD], granted[CTL_WORD], wanted[CTL_WORD];

	if (!json_object_get(answer, "budget"))
		return;
	ctl_format_bytes(ctl_number(answer, "budget.bytes"), all);
	ctl_format_bytes(ctl_number(answer, "budget.granted_bytes"), granted);
	ctl_format_bytes(ctl_number(answer, "budget.wanted_bytes"), wanted);
	printf("budget         %s, %s of it granted, %s wanted; held back %llu receive windows, "
	       "%llu send buffers\n",
	       json_object_get(json_object_get(answer, "budget"), "bytes") ? all : "none", granted,
	       wanted, ctl_number(answer, "totals.receive_budget_refusals"),
	       ctl_number(answer, "totals.send_budget_refusals"));
	if (ctl_number(answer, "totals.memory_short_refusals"))
		printf("               %llu times since memory ran short, of all of TCP "
		       "(net.ipv4.tcp_mem) or of a control group\n",
		       ctl_number(answer, "totals.memory_short_refusals"));
}

static void print_totals(const json_t *answer)
{
	printf("so far         %llu connections opened here, %llu accepted, %llu open before, "
	       "%llu closed, %llu left to the kernel for lack of memory\n",
	       ctl_number(answer, "totals.claimed_opened_here"),
	       ctl_number(answer, "totals.claimed_accepted_here"),
	       ctl_number(answer, "totals.claimed_open"), ctl_number(answer, "totals.closed"),
	       ctl_number(answer, "totals.unrecorded"));
	if (ctl_number(answer, "totals.adopt_failed"))
		printf("               of connections open before, %llu not taken\n",
		       ctl_number(answer, "totals.adopt_failed"));
	printf("               congestion control set on %llu, kept on %llu, failed on %llu\n",
	       ctl_number(answer, "totals.congestion_control_set"),
	       ctl_number(answer, "totals.congestion_control_kept"),
	       ctl_number(answer, "totals.congestion_control_failed"));
	printf("               SO_RCVBUF overridden %llu times, SO_SNDBUF %llu, dry runs "
	       "included\n",
	       ctl_number(answer, "totals.rcvbuf_overridden"),
	       ctl_number(answer, "totals.sndbuf_overridden"));
	printf("               receive windows grown %llu times, shrunk %llu, refused %llu\n",
	       ctl_number(answer, "totals.receive_windows_grown"),
	       ctl_number(answer, "totals.receive_windows_shrunk"),
	       ctl_number(answer, "totals.receive_windows_refused"));
	printf("               send windows grown %llu times, shrunk %llu, refused %llu\n",
	       ctl_number(answer, "totals.send_windows_grown"),
	       ctl_number(answer, "totals.send_windows_shrunk"),
	       ctl_number(answer, "totals.send_windows_refused"));
}

static void print_sysctl(const json_t *sysctl, bool first)
{
	const char *now = ctl_text(sysctl, "now");

	printf("%s %s = %s, ", first ? "sysctls       " : "              ",
	       ctl_text(sysctl, "name"), *now ? now : "unknown");
	if (json_is_true(json_object_get(sysctl, "left_alone")))
		printf("changed from tcptuned's %s by somebody else: left alone\n",
		       ctl_text(sysctl, "set_to"));
	else
		printf("before %s\n", ctl_text(sysctl, "before"));
}

static void print_sysctls(const json_t *answer)
{
	json_t *sysctl;
	size_t i;

	json_array_foreach(json_object_get(answer, "sysctls"), i, sysctl)
		print_sysctl(sysctl, !i);
}

void ctl_print_status(const json_t *answer)
{
	print_daemon(answer);
	print_configuration(answer);
	print_policy(answer);
	print_connections(answer);
	print_budget(answer);
	print_totals(answer);
	print_sysctls(answer);
}

static int run(struct ctl *ctl, const char *const *given, char **arguments, int count,
	       struct tcptuned_error *err)
{
	json_t *answer;
	int error = ctl_ask(ctl, ctl_request("status"), &answer, err);

	if (error)
		return error;
	if (given[JSON])
		ctl_print_json(answer);
	else
		ctl_print_status(answer);
	json_decref(answer);
	return 0;
}

const struct ctl_command ctl_status = {
	.name = "status",
	.arguments = "",
	.help = "Say whether the daemon runs, whether its configuration is in force, what it has "
		"done so far, and which sysctls it has changed; one that somebody else has changed "
		"since is left alone.",
	.options = options,
	.run = run,
};
