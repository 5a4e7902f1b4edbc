// SPDX-License-Identifier: GPL-2.0-only
/* What the table of keys looks like to people: configuration, example, man page. */
#include <string.h>

#include "config_keys.h"

#define COLUMNS 78

/* Print @text in lines that begin with @prefix. */
static void print_wrapped(FILE *out, const char *prefix, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column && column + 1 + word > COLUMNS) {
			fputc('\n', out);
			column = 0;
		}
		if (!column)
			column = (size_t)fprintf(out, "%s%.*s", prefix, (int)word, text);
		else
			column += (size_t)fprintf(out, " %.*s", (int)word, text);
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

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

void tcptuned_config_print(const struct tcptuned_config *config, FILE *out)
{
	char value[KEY_TEXT];

	for (size_t s = 0; s < tcptuned_sections_count; s++) {
		const char *section = tcptuned_sections[s].name;

		fprintf(out, "%s[%s]\n", s ? "\n" : "", section);
		for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++) {
			const struct tcptuned_key *key = &tcptuned_keys[i];

			if (strcmp(key->section, section))
				continue;
			tcptuned_key_format(key, config, value);
			print_value(key, value, config->origin[i], out);
		}
	}
}

static void print_example_key(const struct tcptuned_key *key, FILE *out)
{
	char wants[KEY_TEXT], line[KEY_TEXT + 8];

	fputc('\n', out);
	print_wrapped(out, "# ", key->help);
	tcptuned_key_wants(key, wants);
	snprintf(line, sizeof(line), "Takes %s.", wants);
	print_wrapped(out, "# ", line);
	if (!key->live)
		fputs("# Read at the start only.\n", out);
	fprintf(out, "#%s = %s\n", key->name, key->fallback);
}

void tcptuned_config_print_example(FILE *out)
{
	fputs("# tcptuned.conf(5): what is commented out here is the default. Files in\n"
	      "# " TCPTUNED_CONFIG_PATH ".d/ that end in .conf are read after\n"
	      "# this one, in the order of their names. tcptuned --check-config prints what\n"
	      "# is in effect; systemctl reload tcptuned brings it about.\n",
	      out);
	for (size_t s = 0; s < tcptuned_sections_count; s++) {
		fputc('\n', out);
		print_wrapped(out, "# ", tcptuned_sections[s].help);
		fprintf(out, "[%s]\n", tcptuned_sections[s].name);
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
