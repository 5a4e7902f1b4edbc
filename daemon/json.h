/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing JSON: one object at a time is ever a tree in memory. */
#ifndef TCPTUNED_JSON_H
#define TCPTUNED_JSON_H

#include <jansson.h>

#include "buf.h"
#include "flows.h"

/* Write @object out on one line, and let go of it. Lack of memory shows in @out. */
void tcptuned_json_print(struct tcptuned_buf *out, json_t *object);

/*
 * One connection, as the control socket shows it. @policy: its name, or NULL;
 * @policy_record: what it says, or NULL where that is not there any more; @rule: which of its
 * rules took the connection, in words, or NULL
 */
void tcptuned_json_flow(struct tcptuned_buf *out, const struct tcptuned_flow_record *record,
			const char *policy, const struct tcptuned_policy *policy_record,
			const char *rule);

#endif
