/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "flows/choice.h"
#include "rpc/request.h"

/* The section of a policy in force; NULL: it is the default policy. */
const struct tcptuned_named_policy *tcptuned_policy_section(const struct tcptuned_source *source,
							    __u32 key);

/* Describe the rule that gave @record the policy @name. The caller frees the text; NULL: none. */
char *tcptuned_policy_rule(const struct tcptuned_source *source,
			   const struct tcptuned_flow_record *record, const char *name);
