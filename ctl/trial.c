// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl trial: what tuning has changed, by the connections that policies hold back. */
#include <math.h>
#include <string.h>

#include "commands.h"
#include "format.h"
#include "util/array.h"

/* A mean of one kind of connections. */
static void format_mean(const char *measure, double value, char ret[CTL_WORD])
{
	if (!strcmp(measure, "bits_per_second"))
		ctl_format_rate(value, ret);
	else if (!strcmp(measure, "rtt_us"))
		ctl_format_us((unsigned long long)llround(value), ret);
	else
		snprintf(ret, CTL_WORD, "%.2f %%", 100 * value);
}

static void format_measure(const json_t *row, char ret[CTL_WORD])
{
	static const char *const names[][2] = {
		{"bits_per_second", "rate"},
		{"rtt_us", "round trip"},
		{"retransmitted", "retransmitted"},
		{"limited_by_windows", "limited by windows"},
	};
	unsigned long long from = ctl_number(row, "bytes_min");
	const char *name = "", *measure = ctl_text(row, "measure");
	char size[CTL_WORD];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i][0], measure))
			name = names[i][1];
	ctl_format_bytes(from, size);
	if (from)
		snprintf(ret, CTL_WORD, "  from %.9s", size);
	else
		snprintf(ret, CTL_WORD, "%s %s", ctl_text(row, "direction"), name);
}

static void print_row(const json_t *row)
{
	const char *measure = ctl_text(row, "measure"), *better = ctl_text(row, "better");
	char what[CTL_WORD], tuned[CTL_WORD], held_back[CTL_WORD];
	int places;

	format_measure(row, what);
	format_mean(measure, ctl_real(row, "tuned"), tuned);
	format_mean(measure, ctl_real(row, "held_back"), held_back);
	places = strchr(tuned, '%') ? 2 : 1; /* of the difference of two shares */
	printf("%-24s  %12s  %12s  %+8.*f %%  %+.*f to %+.*f %%%s\n", what, tuned, held_back,
	       places, 100 * ctl_real(row, "difference"), places, 100 * ctl_real(row, "low"),
	       places, 100 * ctl_real(row, "high"),
	       !*better			  ? ""
	       : !strcmp(better, "tuned") ? ": better"
					  : ": WORSE");
}

static void print_trial(const json_t *trial)
{
	const json_t *rows = json_object_get(trial, "rows"), *row;
	bool shown = false;
	size_t i;

	printf("%s: %.3g %% are held back; ended so far: %llu tuned, %llu held back\n",
	       ctl_text(trial, "policy"), 100 * ctl_real(trial, "holdback"),
	       ctl_number(trial, "tuned"), ctl_number(trial, "held_back"));
	if (ctl_holds(trial, "harmful"))
		puts("Tuning did harm: the policy only observes until tcptunectl policy enable.");
	if (!json_array_size(rows)) {
		puts("Too few to compare: 20 of each kind have to end that carried about as much.");
		return;
	}
	printf("%-24s  %12s  %12s  %10s  %s\n", "", "TUNED", "HELD BACK", "DIFFERENCE", "95 %");
	json_array_foreach (rows, i, row) {
		print_row(row);
		shown |= *ctl_text(row, "better");
	}
	if (!shown)
		puts("No difference shown.");
}

static void print_trials(const json_t *answer)
{
	const json_t *trials = json_object_get(answer, "trials"), *trial;
	size_t i;

	if (!json_array_size(trials))
		puts("Nothing is held back: set holdback, such as 5%, in the section of a policy "
		     "(tcptuned.conf(5)).");
	json_array_foreach (trials, i, trial) {
		if (i)
			puts("");
		print_trial(trial);
	}
}

const struct ctl_command ctl_trial = {
	.name = "trial",
	.arguments = "[NAME]",
	.help = "Compare the connections of the policy NAME, or of each, with those that it holds back "
		"(holdback in tcptuned.conf(5)), which the kernel has: the rate, also by size, whose "
		"inverse is the time of completion, the round-trip time, the share of segments that were "
		"retransmitted, and of the time in which the peer's window or the send buffer limited a "
		"sender. Counted are new connections that have ended, and carried 128 KiB or more after "
		"they got a record, which most get after their first 128 KiB. The intervals hold together, and however often they are looked at, with a "
		"probability of 95 %, if connections do not influence each other. If tuned connections "
		"are shown to be slower, or those that send to have longer round trips without being faster, by "
		"more than a hundredth, the policy only observes new connections from then on (policy apply: "
		"open ones, too), until policy enable starts another trial.",
	.options = ctl_json_option,
	.arguments_max = 1,
	.request = "trial",
	.field = "policy",
	.print = print_trials,
};
