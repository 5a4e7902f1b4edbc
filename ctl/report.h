/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include <jansson.h>

/*
 * Return a copy of @value in which a random token stands for each address, wherever it is in a
 * string; not for unspecified and loopback addresses. @tokens is an object that keeps the tokens:
 * with the same one, an address has the same token.
 */
json_t *ctl_report_hide_addresses(const json_t *value, json_t *tokens);
