// SPDX-License-Identifier: GPL-2.0-only
#include "config/print.h"

#include <string.h>

#include "config/keys.h"
#include "util/text.h"

static void print_value(FILE *out, const char *name, const char *value, const char *origin)
{
	int width;

	/* The origin is next to the value, unless the line would be too long to be read. */
	if (strlen(name) + strlen(value) + strlen(origin) > 150) {
		fprintf(out, "; %s\n%s = %s\n", origin, name, value);
		return;
	}
	width = fprintf(out, "%s = %s", name, value);
	fprintf(out, "%*s ; %s\n", width < 35 ? 35 - width : 0, "", origin);
}

/* A value has limited length, so that a list of prefixes takes several lines. */
static void print_prefixes(FILE *out, const char *name, const struct tcptuned_prefixes *all,
			   const char *origin)
{
	for (size_t i = 0; i < all->len; i += 3) {
		struct tcptuned_prefixes some = {.list = all->list + i};
		char value[KEY_TEXT];

		some.len = all->len - i < 3 ? all->len - i : 3;
		tcptuned_prefixes_format(&some, value, sizeof(value));
		print_value(out, name, value, origin);
	}
}

static void print_policy_key(FILE *out, const struct tcptuned_named_policy *policy,
			     const struct tcptuned_key *key)
{
	const char *origin = policy->origin[key - tcptuned_keys];
	char value[KEY_TEXT];

	if (!origin[0])
		origin = "[policy]";
	tcptuned_key_format(key, &policy->set, value);
	if (key->type != KEY_PREFIXES || !strcmp(value, key->special))
		print_value(out, key->name, value, origin);
	else
		print_prefixes(out, key->name, (const void *)((char *)&policy->set + key->offset),
			       origin);
}

/* Print the conditions that are set, then everything that the policy does. */
static void print_policy(FILE *out, const struct tcptuned_named_policy *policy)
{
	fprintf(out, "\n; %s\n[policy %s]\n", policy->where, policy->name);
	if (policy->set.destination_file[0])
		fprintf(out, "; %zu prefixes in destination_file\n", policy->from_file.len);
	for_each_key (key)
		if (!strcmp(key->section, NAMED_POLICY) && policy->origin[key - tcptuned_keys][0])
			print_policy_key(out, policy, key);
	for_each_key (key)
		if (!strcmp(key->section, "policy"))
			print_policy_key(out, policy, key);
}

static void print_section(FILE *out, const struct tcptuned_config *config, const char *section)
{
	char value[KEY_TEXT];

	fprintf(out, "%s[%s]\n", strcmp(section, tcptuned_sections[0].name) ? "\n" : "", section);
	for_each_key (key) {
		if (strcmp(key->section, section))
			continue;
		tcptuned_key_format(key, tcptuned_key_values(key, config, NULL), value);
		print_value(out, key->name, value, config->origin[key - tcptuned_keys]);
	}
}

void tcptuned_config_print(const struct tcptuned_config *config, FILE *out)
{
	for_each_section (section) {
		if (strcmp(section->name, NAMED_POLICY)) {
			print_section(out, config, section->name);
			continue;
		}
		for (size_t p = 0; p < config->policies_len; p++)
			print_policy(out, &config->policies[p]);
	}
}

/* [policy NAME] is commented out with an extra blank: it is an example even without the #. */
static void print_example_key(FILE *out, const struct tcptuned_key *key)
{
	char wants[KEY_TEXT], line[KEY_TEXT + 8];

	fputc('\n', out);
	tcptuned_text_print_wrapped(out, "# ", key->help);
	tcptuned_key_wants(key, wants);
	snprintf(line, sizeof(line), "Takes %s.", wants);
	tcptuned_text_print_wrapped(out, "# ", line);
	if (!key->live)
		fputs("# Read at the start only.\n", out);
	fprintf(out, "#%s%s = %s\n", strcmp(key->section, NAMED_POLICY) ? "" : " ", key->name,
		key->fallback);
}

void tcptuned_config_print_example(FILE *out)
{
	fputs("# tcptuned.conf(5): the values that are commented out are the defaults. Files in\n"
	      "# " TCPTUNED_CONFIG_PATH ".d/ whose names end in .conf are read\n"
	      "# after this one, in the order of their names. tcptuned --check-config prints the\n"
	      "# result; systemctl reload tcptuned applies it to connections made from then on.\n",
	      out);
	for_each_section (section) {
		fputc('\n', out);
		tcptuned_text_print_wrapped(out, "# ", section->help);
		fprintf(out, "%s[%s]\n", strcmp(section->name, NAMED_POLICY) ? "" : "# ",
			section->name);
		for_each_key (key)
			if (!strcmp(key->section, section->name))
				print_example_key(out, key);
	}
}

/* No text of the table has a backslash or begins with a period: nothing has to be escaped. */
static void print_man_key(FILE *out, const struct tcptuned_key *key)
{
	char wants[KEY_TEXT];

	tcptuned_key_wants(key, wants);
	fprintf(out, ".TP\n\\fB%s\\fR = \\fI%s\\fR\n%s\nTakes %s.\n", key->name, key->fallback,
		key->help, wants);
	if (!key->live)
		fputs("Read at the start only.\n", out);
}

void tcptuned_config_print_man(FILE *out)
{
	for_each_section (section) {
		fprintf(out, ".SS [%s]\n%s\n", section->name, section->help);
		for_each_key (key)
			if (!strcmp(key->section, section->name))
				print_man_key(out, key);
	}
}
