/* SPDX-License-Identifier: GPL-2.0-only */
/* Describes rules and conditions of policies in words. */
#ifndef TCPTUNED_POLICY_DESCRIBE_H
#define TCPTUNED_POLICY_DESCRIBE_H

#include <tcptuned/abi/policy.h>

#include "config/config.h"
#include "util/strbuf.h"

/*
 * Append a rule, as in "destination 10.1.0.0/16, remote port 80" or "every connection".
 * @remote: an address that it has matched; @cgroup: the path of its cgroup, or NULL
 */
void tcptuned_rule_format(struct tcptuned_buf *out, const struct tcptuned_rule *rule,
			  const __u8 remote[16], const char *cgroup);

/* Append all conditions of a policy; NULL is the default policy, "every connection". */
void tcptuned_conditions_format(struct tcptuned_buf *out,
				const struct tcptuned_named_policy *named);

#endif
