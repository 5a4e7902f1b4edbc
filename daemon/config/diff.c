// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "config/diff.h"
#include "config/keys.h"
#include "config/load.h"

/* What the differences are told to, and how many there were. */
struct differences {
	tcptuned_config_differ differ;
	void *context;
	int count;
};

static void tell(struct differences *d, const char *key, const char *was, const char *now,
		 bool live)
{
	d->count++;
	if (d->differ)
		d->differ(d->context, key, was, now, live);
}

/* Of the keys of a policy, where @policy is its name; else of all that are no named policy's. */
static void diff_keys(struct differences *d, const char *policy, const struct tcptuned_config *was,
		      const struct tcptuned_config *now)
{
	char key[96], from[KEY_TEXT], to[KEY_TEXT];

	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++) {
		const struct tcptuned_key *k = &tcptuned_keys[i];
		bool of_named = !strcmp(k->section, NAMED_POLICY);

		if (policy ? !of_named && strcmp(k->section, "policy") : of_named)
			continue;
		if (tcptuned_key_equal(k, was, now))
			continue;
		if (policy)
			snprintf(key, sizeof(key), "policy %s.%s", policy, k->name);
		else
			snprintf(key, sizeof(key), "%s.%s", k->section, k->name);
		tcptuned_key_format(k, was, from);
		tcptuned_key_format(k, now, to);
		tell(d, key, from, to, k->live);
	}
}

static void diff_policy(struct differences *d, const struct tcptuned_named_policy *was,
			const struct tcptuned_named_policy *now)
{
	struct tcptuned_config before = {0}, after = {0};
	char key[96], from[KEY_TEXT], to[KEY_TEXT];

	tcptuned_policy_view(was, &before);
	tcptuned_policy_view(now, &after);
	diff_keys(d, now->name, &before, &after);
	if (tcptuned_prefixes_equal(&was->from_file, &now->from_file))
		return;
	snprintf(key, sizeof(key), "policy %s: contents of destination_file", now->name);
	snprintf(from, sizeof(from), "%zu prefixes", was->from_file.len);
	snprintf(to, sizeof(to), "%zu prefixes", now->from_file.len);
	tell(d, key, from, to, true);
}

static void tell_whole_policy(struct differences *d, const char *name, bool added)
{
	char key[96];

	snprintf(key, sizeof(key), "policy %s", name);
	tell(d, key, added ? "" : "defined", added ? "defined" : "", true);
}

int tcptuned_config_diff(const struct tcptuned_config *was, const struct tcptuned_config *now,
			 tcptuned_config_differ differ, void *context)
{
	struct differences d = {differ, context, 0};

	diff_keys(&d, NULL, was, now);
	for (size_t i = 0; i < was->policies_len; i++)
		if (!tcptuned_config_policy(now, was->policies[i].name))
			tell_whole_policy(&d, was->policies[i].name, false);
	for (size_t i = 0; i < now->policies_len; i++) {
		const struct tcptuned_named_policy *before =
			tcptuned_config_policy(was, now->policies[i].name);

		if (before)
			diff_policy(&d, before, &now->policies[i]);
		else
			tell_whole_policy(&d, now->policies[i].name, true);
	}
	return d.count;
}

void tcptuned_config_keep_fixed(struct tcptuned_config *config,
				const struct tcptuned_config *from)
{
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++) {
		const struct tcptuned_key *key = &tcptuned_keys[i];

		if (key->live)
			continue;
		memcpy((char *)config + key->offset, (const char *)from + key->offset,
		       key->size);
		memcpy(config->origin[i], from->origin[i], sizeof(config->origin[i]));
	}
}
