// SPDX-License-Identifier: GPL-2.0-only
#include "policy/disabled.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/lookup.h"
#include "util/log.h"

/* The index of @name; d->len if it is not in the list. */
static size_t find(const struct tcptuned_disabled *d, const char *name)
{
	size_t i = 0;

	while (i < d->len && strcmp(d->names[i], name))
		i++;
	return i;
}

bool tcptuned_policy_is_disabled(const struct tcptuned_disabled *d, const char *name)
{
	return find(d, name) < d->len;
}

int tcptuned_policy_set_disabled(struct tcptuned_disabled *d, const char *name, bool disabled)
{
	size_t i = find(d, name);
	void *list;

	if (disabled == (i < d->len))
		return 0;
	if (!disabled) {
		memmove(d->names[i], d->names[--d->len], sizeof(*d->names));
		return 0;
	}
	list = realloc(d->names, (d->len + 1) * sizeof(*d->names));
	if (!list)
		return -ENOMEM;
	d->names = list;
	snprintf(d->names[d->len++], sizeof(*d->names), "%s", name);
	return 0;
}

void tcptuned_disabled_remember(struct tcptuned_disabled *d, const struct tcptuned_kernel *kernel)
{
	__u32 generation = tcptuned_policies_generation(kernel), place, key;
	struct tcptuned_policy policy;

	for (place = 0; generation && place < TCPTUNED_POLICIES_MAX; place++) {
		key = TCPTUNED_POLICY_ID(generation, place);
		if (tcptuned_policy_read(kernel, key, &policy))
			return;
		if (policy.disabled && !tcptuned_policy_set_disabled(d, policy.name, true))
			log_info("policy %s stays disabled", policy.name);
	}
}

void tcptuned_disabled_forget(struct tcptuned_disabled *d,
			      const struct tcptuned_policy_source *policies, size_t len)
{
	for (size_t i = d->len; i-- > 0;) {
		size_t p = 0;

		while (p < len && strcmp(policies[p].record.name, d->names[i]))
			p++;
		if (p == len)
			tcptuned_policy_set_disabled(d, d->names[i], false);
	}
}
