/* SPDX-License-Identifier: GPL-2.0-only */
/* Describes rules and conditions of policies in words. */
#pragma once

#include <tcptuned/abi/policy.h>

#include "config/config.h"

/*
 * Describe a rule, as in "destination 10.1.0.0/16, remote port 80" or "every connection". The
 * caller frees the text; NULL: no memory. @remote: an address that it has matched; @cgroup: its
 * path, or NULL
 */
char *tcptuned_describe_rule(const struct tcptuned_rule *rule, const __u8 remote[16],
			     const char *cgroup);

/* The same for all conditions of a policy; NULL is the default policy, "every connection". */
char *tcptuned_describe_conditions(const struct tcptuned_named_policy *named);
