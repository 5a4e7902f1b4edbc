// SPDX-License-Identifier: GPL-2.0-only
#include "policy/trial.h"

#include <math.h>
#include <string.h>
#include <sys/random.h>
#include <bpf/bpf.h>

#include "policy/lookup.h"
#include "tcptuned.skel.h"
#include "util/clock.h"

/*
 * The 5 % are shared by all intervals of a policy: the rate in two directions, in all and by size,
 * and RTT, retransmissions and the time limited of senders.
 */
#define ERROR_EACH (0.05 / (2 * (1 + TCPTUNED_OUTCOME_SIZES) + 3))

/* A variance of fewer is none. */
#define CONNECTIONS_MIN 20

/* For how many connections the interval is the shortest that there is: the paper, equation (10). */
#define CONNECTIONS_BEST 1000.0

#define HARM 0.0144 /* log2(1.01) */

static double scale(enum tcptuned_measure measure)
{
	return measure == TCPTUNED_RATE || measure == TCPTUNED_RTT ? TCPTUNED_OUTCOME_LOG_ONE
								   : 1 << 16;
}

/* ---- the map ------------------------------------------------------------------------------ */

static int outcomes_fd(const struct tcptuned_kernel *kernel)
{
	return bpf_map__fd(kernel->bpf->maps.outcomes);
}

void tcptuned_trial_read(const struct tcptuned_kernel *kernel, __u32 number,
			 struct tcptuned_trial *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (unsigned int i = 0; i < 2 * TCPTUNED_STRATA; i++) {
		unsigned int held_back = i / TCPTUNED_STRATA, stratum = i % TCPTUNED_STRATA;
		struct tcptuned_outcome_key key = {
			.trial = number,
			.held_back = held_back,
			.sends = stratum / TCPTUNED_OUTCOME_SIZES,
			.size = stratum % TCPTUNED_OUTCOME_SIZES,
		};

		bpf_map_lookup_elem(outcomes_fd(kernel), &key, &ret->of[held_back][stratum]);
	}
}

void tcptuned_trial_sum(const struct tcptuned_trial *trial, bool held_back,
			struct tcptuned_outcome *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (unsigned int s = 0; s < TCPTUNED_STRATA; s++) {
		const struct tcptuned_outcome *o = &trial->of[held_back][s];

		ret->connections += o->connections;
		ret->bytes += o->bytes;
		ret->segments += o->segments;
		ret->retransmits += o->retransmits;
	}
}

/* True if no connection is treated differently. */
static bool is_same(const struct tcptuned_policy *a, const struct tcptuned_policy *b)
{
	struct tcptuned_policy x = *a, y = *b;

	x.trial = y.trial = 0;
	return !memcmp(&x, &y, sizeof(x));
}

void tcptuned_trials_number(const struct tcptuned_kernel *kernel,
			    struct tcptuned_policy_source *policies, size_t len)
{
	struct tcptuned_policy old;
	__u32 key = 0;

	while (tcptuned_policy_next(kernel, &key, &old))
		for (size_t i = 0; i < len; i++) {
			struct tcptuned_policy *record = &policies[i].record;

			if (!strcmp(record->name, old.name) &&
			    (record->harmful || is_same(record, &old)))
				record->trial = old.trial;
		}
	for (size_t i = 0; i < len; i++)
		while (policies[i].record.holdback && !policies[i].record.trial)
			if (getrandom(&policies[i].record.trial, sizeof(__u32), 0) < 0)
				policies[i].record.trial = (__u32)tcptuned_monotonic_ns();
}

static bool goes_on(__u32 trial, const struct tcptuned_policy_source *policies, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (policies[i].record.trial == trial)
			return true;
	return false;
}

void tcptuned_trials_clean(const struct tcptuned_kernel *kernel,
			   const struct tcptuned_policy_source *policies, size_t len)
{
	struct tcptuned_outcome_key key, next;
	bool more = !bpf_map_get_next_key(outcomes_fd(kernel), NULL, &next);

	while (more) {
		key = next;
		more = !bpf_map_get_next_key(outcomes_fd(kernel), &key, &next);
		if (!goes_on(key.trial, policies, len))
			bpf_map_delete_elem(outcomes_fd(kernel), &key);
	}
}

/* ---- the comparison ----------------------------------------------------------------------- */

static double mean(const struct tcptuned_outcome *o, enum tcptuned_measure measure)
{
	return (double)o->of[measure].sum / (double)o->connections / scale(measure);
}

/* Of one connection. */
static double variance(const struct tcptuned_outcome *o, enum tcptuned_measure measure)
{
	double n = (double)o->connections, m = mean(o, measure);
	double squares = (double)o->of[measure].squares / n / scale(measure) / scale(measure);

	return fmax(squares - m * m, 0) * n / (n - 1);
}

/* By how many standard errors an estimate from @n connections may be off at any time. */
static double boundary(double n)
{
	double l = -2 * log(ERROR_EACH), rho2 = (l + log(l) + 1) / CONNECTIONS_BEST;

	return sqrt(2 * (n * rho2 + 1) / (n * rho2) * log(sqrt(n * rho2 + 1) / ERROR_EACH));
}

struct tcptuned_estimate tcptuned_trial_estimate(const struct tcptuned_trial *trial,
						 enum tcptuned_measure measure, unsigned int first,
						 unsigned int end)
{
	struct tcptuned_estimate e = {0};
	double all = 0, error2 = 0;

	for (unsigned int s = first; s < end; s++) {
		const struct tcptuned_outcome *tuned = &trial->of[0][s], *held = &trial->of[1][s];
		double n = (double)tuned->connections + (double)held->connections;

		if (tuned->connections < CONNECTIONS_MIN || held->connections < CONNECTIONS_MIN)
			continue;
		all += n;
		e.mean[0] += n * mean(tuned, measure);
		e.mean[1] += n * mean(held, measure);
		error2 += n * n *
			  (variance(tuned, measure) / (double)tuned->connections +
			   variance(held, measure) / (double)held->connections);
	}
	if (!all)
		return e;
	e.known = true;
	e.mean[0] /= all;
	e.mean[1] /= all;
	e.difference = e.mean[0] - e.mean[1];
	e.radius = sqrt(error2) / all * boundary(all);
	return e;
}

bool tcptuned_trial_shows_harm(const struct tcptuned_trial *trial, bool *ret_sends,
			       enum tcptuned_measure *ret_measure)
{
	for (unsigned int sends = 0; sends < 2; sends++) {
		unsigned int first = sends * TCPTUNED_OUTCOME_SIZES;
		unsigned int end = first + TCPTUNED_OUTCOME_SIZES;
		struct tcptuned_estimate rate, rtt;

		rate = tcptuned_trial_estimate(trial, TCPTUNED_RATE, first, end);
		rtt = tcptuned_trial_estimate(trial, TCPTUNED_RTT, first, sends ? end : first);
		*ret_sends = sends;
		*ret_measure = rate.difference + rate.radius < -HARM ? TCPTUNED_RATE : TCPTUNED_RTT;
		if (*ret_measure == TCPTUNED_RATE ||
		    (rtt.difference - rtt.radius > HARM && rate.difference - rate.radius <= 0))
			return true;
	}
	return false;
}
