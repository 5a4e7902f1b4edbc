// SPDX-License-Identifier: GPL-2.0-only
/* What the table of keys looks like to people: configuration, example, man page. */
#include <stdio.h>
#include <string.h>

#include "config/keys.h"
#include "config/print.h"
#include "util/text.h"

/* The origin stands beside the value; above it where the line would be too long to be read. */
static void print_value(const struct tcptuned_key *key, const char *value, const char *origin,
			FILE *out)
{
	int width;

	if (strlen(key->name) + strlen(value) + strlen(origin) > 150) {
		fprintf(out, "; %s\n%s = %s\n", origin, key->name, value);
		return;
	}
	width = fprintf(out, "%s = %s", key->name, value);
	fprintf(out, "%*s ; %s\n", width < 35 ? 35 - width : 0, "", origin);
}

/* A list is longer than a line may be: it goes on in the next one. */
static void print_prefixes(const struct tcptuned_key *key, const struct tcptuned_prefixes *all,
			   const char *origin, FILE *out)
{
	for (size_t i = 0; i < all->len; i += 3) {
		struct tcptuned_prefixes some = {.list = all->list + i};
		char value[KEY_TEXT];

		some.len = all->len - i < 3 ? all->len - i : 3;
		tcptuned_prefixes_format(&some, value, sizeof(value));
		print_value(key, value, origin, out);
	}
}

static void print_policy_key(const struct tcptuned_named_policy *policy,
			     const struct tcptuned_config *view, size_t i, FILE *out)
{
	const char *origin = policy->origin[i] ? policy->origin[i] : "[policy]";
	const struct tcptuned_key *key = &tcptuned_keys[i];
	char value[KEY_TEXT];

	if (!strcmp(key->section, NAMED_POLICY) && key->special && !policy->origin[i])
		return; /* no condition */
	tcptuned_key_format(key, view, value);
	if (key->type == KEY_PREFIXES && strcmp(value, key->special))
		print_prefixes(key,
			       (const void *)((const char *)view + key->offset), origin, out);
	else
		print_value(key, value, origin, out);
}

/* Its conditions, then all that it does, and where each comes from. */
static void print_policy(const struct tcptuned_named_policy *policy, FILE *out)
{
	static const char *const sections[] = {NAMED_POLICY, "policy"};
	struct tcptuned_config view = {0};

	tcptuned_policy_view(policy, &view);
	fprintf(out, "\n; %s\n[policy %s]\n", policy->where, policy->name);
	if (policy->set.destination_file[0])
		fprintf(out, "; %zu prefixes in destination_file\n", policy->from_file.len);
	for (size_t s = 0; s < sizeof(sections) / sizeof(sections[0]); s++)
		for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
			if (!strcmp(tcptuned_keys[i].section, sections[s]))
				print_policy_key(policy, &view, i, out);
}

static void print_section(const struct tcptuned_config *config, const char *section, FILE *out)
{
	char value[KEY_TEXT];

	fprintf(out, "%s[%s]\n", strcmp(section, tcptuned_sections[0].name) ? "\n" : "", section);
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++) {
		const struct tcptuned_key *key = &tcptuned_keys[i];

		if (strcmp(key->section, section))
			continue;
		tcptuned_key_format(key, config, value);
		print_value(key, value, config->origin[i], out);
	}
}

void tcptuned_config_print(const struct tcptuned_config *config, FILE *out)
{
	for (size_t s = 0; s < tcptuned_sections_count; s++) {
		const char *section = tcptuned_sections[s].name;

		if (strcmp(section, NAMED_POLICY)) {
			print_section(config, section, out);
			continue;
		}
		for (size_t p = 0; p < config->policies_len; p++)
			print_policy(&config->policies[p], out);
	}
}

static void print_example_key(const struct tcptuned_key *key, FILE *out)
{
	char wants[KEY_TEXT], line[KEY_TEXT + 8];

	fputc('\n', out);
	tcptuned_print_wrapped(out, "# ", key->help);
	tcptuned_key_wants(key, wants);
	snprintf(line, sizeof(line), "Takes %s.", wants);
	tcptuned_print_wrapped(out, "# ", line);
	if (!key->live)
		fputs("# Read at the start only.\n", out);
	/* Not even with the # taken away: the section is an example too. */
	fprintf(out, "#%s%s = %s\n", strcmp(key->section, NAMED_POLICY) ? "" : " ", key->name,
		key->fallback);
}

void tcptuned_config_print_example(FILE *out)
{
	fputs("# tcptuned.conf(5): what is commented out here is the default. Files in\n"
	      "# " TCPTUNED_CONFIG_PATH ".d/ that end in .conf are read after\n"
	      "# this one, in the order of their names. tcptuned --check-config prints what\n"
	      "# they say together; systemctl reload tcptuned brings it about.\n",
	      out);
	for (size_t s = 0; s < tcptuned_sections_count; s++) {
		fputc('\n', out);
		tcptuned_print_wrapped(out, "# ", tcptuned_sections[s].help);
		fprintf(out, "%s[%s]\n", strcmp(tcptuned_sections[s].name, NAMED_POLICY) ? "" : "# ",
			tcptuned_sections[s].name);
		for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
			if (!strcmp(tcptuned_keys[i].section, tcptuned_sections[s].name))
				print_example_key(&tcptuned_keys[i], out);
	}
}

/* Nothing in the table begins with a period or has a backslash in it: no roff to escape. */
static void print_man_key(const struct tcptuned_key *key, FILE *out)
{
	char wants[KEY_TEXT];

	fprintf(out, ".TP\n\\fB%s\\fR = \\fI%s\\fR\n%s\n", key->name, key->fallback, key->help);
	tcptuned_key_wants(key, wants);
	fprintf(out, "Takes %s.\n", wants);
	if (!key->live)
		fputs("Read at the start only.\n", out);
}

void tcptuned_config_print_man(FILE *out)
{
	for (size_t s = 0; s < tcptuned_sections_count; s++) {
		fprintf(out, ".SS [%s]\n%s\n", tcptuned_sections[s].name,
			tcptuned_sections[s].help);
		for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
			if (!strcmp(tcptuned_keys[i].section, tcptuned_sections[s].name))
				print_man_key(&tcptuned_keys[i], out);
	}
}
