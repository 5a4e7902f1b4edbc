/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments that name a connection, and the explanation of it. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "commands.h"

/* Set the fields of @request that select the connection of up to three arguments; none: any. */
int ctl_add_flow(const struct ctl *ctl, json_t *request, struct tcptuned_error *err);

/* Explain the one connection of @answer on standard output; fail if there is not exactly one. */
int ctl_explain_answer(const struct ctl *ctl, const json_t *answer, struct tcptuned_error *err);

void ctl_print_explanation(FILE *out, const json_t *flow);
