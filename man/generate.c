// SPDX-License-Identifier: GPL-2.0-only
/*
 * generate <tcptuned.8.in >tcptuned.8
 *
 * Puts into a manual page what the tables in daemon/ and ctl/ know: a line of the template that
 * is @OPTIONS@, @RUN_OPTIONS@, @EXIT_STATUS@, @KEYS@, @COMMANDS@, @COLUMNS@, @WORDS@ or @REQUESTS@
 * is replaced by it, and @VERSION@ anywhere in a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "config/options.h"
#include "config/print.h"
#include "rpc/request.h"
#include "run/options.h"
#include "util/error.h"

#define VERSION_MARK "@VERSION@"

static void print_exit_statuses(FILE *out)
{
#define PRINT_STATUS(name, status, meaning) fprintf(out, ".TP\n.B %d\n%s\n", status, meaning);
	TCPTUNED_EXIT_TABLE(PRINT_STATUS)
#undef PRINT_STATUS
}

static const struct {
	const char *mark;
	void (*print)(FILE *out);
} tables[] = {
	{"@OPTIONS@\n", tcptuned_options_print_man},  {"@EXIT_STATUS@\n", print_exit_statuses},
	{"@KEYS@\n", tcptuned_config_print_man},      {"@COMMANDS@\n", ctl_print_man},
	{"@COLUMNS@\n", ctl_print_man_columns},	      {"@WORDS@\n", ctl_print_man_words},
	{"@REQUESTS@\n", tcptuned_request_print_man}, {"@RUN_OPTIONS@\n", run_options_print_man},
};

static void print_line(const char *line, FILE *out)
{
	const char *mark = strstr(line, VERSION_MARK);

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (strcmp(line, tables[i].mark))
			continue;
		tables[i].print(out);
		return;
	}
	if (mark)
		fprintf(out, "%.*s%s%s", (int)(mark - line), line, TCPTUNED_VERSION,
			mark + strlen(VERSION_MARK));
	else
		fputs(line, out);
}

int main(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin))
		print_line(line, stdout);
	return ferror(stdin) || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
