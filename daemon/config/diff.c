// SPDX-License-Identifier: GPL-2.0-only
#include "config/diff.h"

#include <stdio.h>
#include <string.h>

#include "config/keys.h"
#include "config/load.h"

#define SECTION_TEXT 64	 /* of a section, with its NUL */
#define NAME_TEXT    128 /* of a key with its section */

struct differences {
	tcptuned_config_differ differ;
	void *context;
	int count;
};

static void report(struct differences *d, const char *key, const char *was, const char *now,
		   bool live)
{
	d->count++;
	if (d->differ)
		d->differ(d->context, key, was, now, live);
}

static void diff_key(struct differences *d, const char *section, const struct tcptuned_key *key,
		     const void *was, const void *now)
{
	char name[NAME_TEXT], from[KEY_TEXT], to[KEY_TEXT];

	if (tcptuned_key_equal(key, was, now))
		return;
	snprintf(name, sizeof(name), "%s.%s", section, key->name);
	tcptuned_key_format(key, was, from);
	tcptuned_key_format(key, now, to);
	report(d, name, from, to, key->live);
}

static void diff_policy(struct differences *d, const char *section,
			const struct tcptuned_named_policy *was,
			const struct tcptuned_named_policy *now)
{
	char name[NAME_TEXT], from[KEY_TEXT], to[KEY_TEXT];

	for_each_key (key)
		if (tcptuned_key_is_of_policy(key))
			diff_key(d, section, key, &was->set, &now->set);
	if (tcptuned_prefixes_equal(&was->from_file, &now->from_file))
		return;
	snprintf(name, sizeof(name), "%s: contents of destination_file", section);
	snprintf(from, sizeof(from), "%zu prefixes", was->from_file.len);
	snprintf(to, sizeof(to), "%zu prefixes", now->from_file.len);
	report(d, name, from, to, true);
}

/* Of the same policies. Of several that select a connection alike, the first one has it. */
static bool have_other_order(const struct tcptuned_config *was, const struct tcptuned_config *now)
{
	for (size_t i = 0; i < now->policies_len; i++)
		if (strcmp(was->policies[i].name, now->policies[i].name) != 0)
			return true;
	return false;
}

int tcptuned_config_diff(const struct tcptuned_config *was, const struct tcptuned_config *now,
			 tcptuned_config_differ differ, void *context)
{
	struct differences d = {differ, context, 0};
	const struct tcptuned_named_policy *before;
	char section[SECTION_TEXT];

	for_each_key (key)
		if (strcmp(key->section, NAMED_POLICY))
			diff_key(&d, key->section, key, tcptuned_key_values(key, was, NULL),
				 tcptuned_key_values(key, now, NULL));
	for (size_t i = 0; i < was->policies_len; i++) {
		snprintf(section, sizeof(section), "policy %s", was->policies[i].name);
		if (!tcptuned_config_policy(now, was->policies[i].name))
			report(&d, section, "defined", "", true);
	}
	for (size_t i = 0; i < now->policies_len; i++) {
		snprintf(section, sizeof(section), "policy %s", now->policies[i].name);
		before = tcptuned_config_policy(was, now->policies[i].name);
		if (before)
			diff_policy(&d, section, before, &now->policies[i]);
		else
			report(&d, section, "", "defined", true);
	}
	if (!d.count && have_other_order(was, now))
		report(&d, "order of the policies", "as it was", "another", true);
	return d.count;
}

void tcptuned_config_keep_fixed(struct tcptuned_config *config, const struct tcptuned_config *from)
{
	for_each_key (key) {
		if (key->live) /* every key of a policy is */
			continue;
		memcpy((char *)config + key->offset, (const char *)from + key->offset, key->size);
		strcpy(config->origin[key - tcptuned_keys], from->origin[key - tcptuned_keys]);
	}
}
