// SPDX-License-Identifier: GPL-2.0-only
/* What tuning has changed, by the connections that policies hold back: policy/trial.h. */
#include "rpc/request.h"

#include <math.h>
#include <string.h>

#include "policy/lookup.h"
#include "policy/trial.h"
#include "rpc/json.h"
#include "rpc/policies.h"
#include "util/clock.h"

struct report {
	const struct tcptuned_trial *trial;
	json_t *rows;
};

/* Which of the two kinds of connections does better; NULL: no difference is shown. */
static const char *better(const struct tcptuned_estimate *e, bool more_is_better)
{
	if (fabs(e->difference) <= e->radius)
		return NULL;
	return (e->difference > 0) == more_is_better ? "tuned" : "held_back";
}

/* Means are logarithms, in @unit, or shares (@unit 0). */
static double value_of(double mean, double unit)
{
	return unit ? exp2(mean) * unit : mean;
}

/* The difference of two shares is one of shares, that of two logarithms a factor less 1. */
static double change_of(double difference, double unit)
{
	return unit ? exp2(difference) - 1 : difference;
}

static void add_row(const struct report *report, enum tcptuned_measure measure, const char *name,
		    unsigned int first, unsigned int end, double unit)
{
	struct tcptuned_estimate e = tcptuned_trial_estimate(report->trial, measure, first, end);
	json_t *row;

	if (!e.known)
		return;
	row = json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:s?}", "measure", name, "direction",
			first < TCPTUNED_OUTCOME_SIZES ? "receive" : "send", "tuned",
			value_of(e.mean[0], unit), "held_back", value_of(e.mean[1], unit),
			"difference", change_of(e.difference, unit), "low",
			change_of(e.difference - e.radius, unit), "high",
			change_of(e.difference + e.radius, unit), "better",
			better(&e, measure == TCPTUNED_RATE));
	if (end == first + 1) {
		unsigned int size = first % TCPTUNED_OUTCOME_SIZES;

		set_number(row, "bytes_min", (__u64)TCPTUNED_OUTCOME_BYTES_MIN << 3 * size);
	}
	json_array_append_new(report->rows, row);
}

static void add_direction(const struct report *report, bool sends)
{
	unsigned int first = sends * TCPTUNED_OUTCOME_SIZES, end = first + TCPTUNED_OUTCOME_SIZES;
	double bits = 8e9 / (double)tcptuned_jiffy_ns(); /* of a byte per jiffy */

	add_row(report, TCPTUNED_RATE, "bits_per_second", first, end, bits);
	for (unsigned int s = first; s < end; s++)
		add_row(report, TCPTUNED_RATE, "bits_per_second", s, s + 1, bits);
	if (!sends)
		return;
	add_row(report, TCPTUNED_RTT, "rtt_us", first, end, 1);
	add_row(report, TCPTUNED_RETRANSMITTED, "retransmitted", first, end, 0);
	add_row(report, TCPTUNED_LIMITED, "limited_by_windows", first, end, 0);
}

static json_t *trial_object(const struct tcptuned_source *source,
			    const struct tcptuned_policy *policy, __u32 holdback)
{
	struct tcptuned_trial trial;
	struct report report = {&trial, json_array()};
	struct tcptuned_outcome tuned, held_back;

	tcptuned_trial_read(source->kernel, policy->trial, &trial);
	tcptuned_trial_sum(&trial, false, &tuned);
	tcptuned_trial_sum(&trial, true, &held_back);
	add_direction(&report, false);
	add_direction(&report, true);
	return json_pack("{s:s, s:f, s:b, s:I, s:I, s:o}", "policy", policy->name, "holdback",
			 holdback / exp2(32), "harmful", policy->harmful, "tuned",
			 (json_int_t)tuned.connections, "held_back",
			 (json_int_t)held_back.connections, "rows", report.rows);
}

int tcptuned_trial_handle(const struct tcptuned_source *source,
			  const struct tcptuned_request *request, FILE *out,
			  struct tcptuned_error *err)
{
	const struct tcptuned_named_policy *section;
	const char *wanted = request->filter.policy;
	json_t *trials = json_array();
	struct tcptuned_policy policy;
	bool known = !wanted[0];
	__u32 key = 0, holdback;

	while (tcptuned_policy_next(source->kernel, &key, &policy)) {
		section = tcptuned_policy_section(source, key);
		holdback = section ? section->set.holdback : source->config->policy.holdback;
		if (wanted[0] && strcmp(wanted, policy.name))
			continue;
		known = true;
		if (holdback || policy.harmful)
			json_array_append_new(trials, trial_object(source, &policy, holdback));
	}
	if (!known) {
		json_decref(trials);
		return FAIL(err, ENOENT, USAGE,
			    "policy: there is no %.31s; see tcptunectl policy list", wanted);
	}
	tcptuned_json_print_line(out, json_pack("{s:o}", "trials", trials));
	return 0;
}
