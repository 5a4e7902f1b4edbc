/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules and conditions of policies in words. */
#ifndef TCPTUNED_POLICY_DESCRIBE_H
#define TCPTUNED_POLICY_DESCRIBE_H

#include <tcptuned/abi/policy.h>

#include "config/config.h"
#include "util/strbuf.h"

/*
 * The rule in words, "destination 10.1.0.0/16, remote port 80", or "every connection".
 * @remote: an address that it has matched; @cgroup: what its cgroup is called, or NULL
 */
void tcptuned_rule_format(struct tcptuned_buf *out, const struct tcptuned_rule *rule,
			  const __u8 remote[16], const char *cgroup);

/* The same of all conditions of a policy; of the default policy (NULL) "every connection". */
void tcptuned_conditions_format(struct tcptuned_buf *out,
				const struct tcptuned_named_policy *named);

#endif
