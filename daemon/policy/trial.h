/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares the tuned connections of a policy with those that it holds back (holdback), which the
 * kernel has. Within each stratum of <tcptuned/abi/outcome.h> the two are random samples of the
 * same connections, so that their difference is what tuning does, and is averaged over the strata.
 *
 * All intervals of a policy hold together and at any time with a probability of 95 %, so that one
 * who looks every hour, or stops as soon as something shows, is not misled: Waudby-Smith, Arbour,
 * Sinha, Kennedy and Ramdas, Time-uniform central limit theory and asymptotic confidence sequences,
 * theorem 2.2. What it takes for given: connections do not influence each other (docs/rollout.md).
 */
#pragma once

#include <stdbool.h>

#include <tcptuned/abi/outcome.h>

#include "kern/kernel.h"
#include "policy/ruleset.h"

#define TCPTUNED_STRATA (2 * TCPTUNED_OUTCOME_SIZES) /* those that received come first */

struct tcptuned_trial {
	struct tcptuned_outcome of[2][TCPTUNED_STRATA]; /* tuned; held back */
};

/* Read the outcomes of a trial so far. */
void tcptuned_trial_read(const struct tcptuned_kernel *kernel, __u32 number,
			 struct tcptuned_trial *ret);

/* Sum up all strata, but for the moments. */
void tcptuned_trial_sum(const struct tcptuned_trial *trial, bool held_back,
			struct tcptuned_outcome *ret);

/*
 * Give each policy that holds connections back the number of its trial: that which goes on, if
 * nothing of the policy has changed, or else another one. One that did harm keeps it.
 */
void tcptuned_trials_number(const struct tcptuned_kernel *kernel,
			    struct tcptuned_policy_source *policies, size_t len);

/* Forget the outcomes of all other trials. */
void tcptuned_trials_clean(const struct tcptuned_kernel *kernel,
			   const struct tcptuned_policy_source *policies, size_t len);

/* In the unit of the measure, whose scale is 1: logarithms to base 2, and shares of 1. */
struct tcptuned_estimate {
	bool known; /* there are enough connections of both kinds; else all is 0 */
	double mean[2];
	double difference; /* of tuned connections from those held back */
	double radius;	   /* of the interval around it */
};

/* Compare @measure over the strata from @first up to, but without, @end. */
struct tcptuned_estimate tcptuned_trial_estimate(const struct tcptuned_trial *trial,
						 enum tcptuned_measure measure, unsigned int first,
						 unsigned int end);

/*
 * True if it is shown that tuning does harm, by more than a hundredth: connections are slower, or
 * those that send have longer RTTs and are not faster. A receiver's RTT may be that of its window.
 * @ret_sends: those that send, or else those that receive. @ret_measure: which of the two.
 */
bool tcptuned_trial_shows_harm(const struct tcptuned_trial *trial, bool *ret_sends,
			       enum tcptuned_measure *ret_measure);
