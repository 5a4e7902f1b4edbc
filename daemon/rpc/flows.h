/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "rpc/json.h"
#include "rpc/request.h"

/* A connection. @policy: the name of its policy; @rule: the rule that gave it that, or NULL. */
json_t *tcptuned_flow_json(const struct tcptuned_flow_record *record, const char *policy,
			   const char *rule);
