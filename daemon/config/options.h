/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line: the parser of both programs, and the daemon's options in one table. */
#pragma once

#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

#define TCPTUNED_SET_MAX     64
#define TCPTUNED_OPTIONS_MAX 20 /* of one command */

struct tcptuned_option {
	const char *name;
	char letter;	      /* or 0 */
	const char *argument; /* its name in the help; NULL: none */
	const char *help;     /* whole sentences */
};

struct tcptuned_parser {
	const char *command; /* as it is typed, for messages */
	const struct tcptuned_option *options[TCPTUNED_OPTIONS_MAX];
	size_t len;
	struct option longs[TCPTUNED_OPTIONS_MAX + 1];
	char letters[3 * TCPTUNED_OPTIONS_MAX + 3];
};

/*
 * Prepare to parse @options, which an entry without a name ends. @order: "+" ends at the first
 * argument that is no option, "" lets options follow arguments.
 */
void tcptuned_option_parser_init(struct tcptuned_parser *parser, const char *command,
				 const char *order, const struct tcptuned_option *options);

/* Accept one more option, which gets the next index. */
void tcptuned_option_parser_add(struct tcptuned_parser *parser,
				const struct tcptuned_option *option);

/* Parse the next option: its index goes to @ret (-1: none is left), its argument to optarg. */
int tcptuned_option_parser_next(struct tcptuned_parser *parser, int argc, char **argv, int *ret,
				struct tcptuned_error *err);

/* Print an option for --help, or for a manual page in man(7) markup. */
void tcptuned_option_print(FILE *out, const struct tcptuned_option *option);
void tcptuned_option_print_man(FILE *out, const struct tcptuned_option *option);

/* Print @name with its hyphens as roff's minus, \-. */
void tcptuned_option_print_man_name(FILE *out, const char *name);

/* What the daemon's command does. Every action but RUN ends by itself. */
enum tcptuned_action {
	TCPTUNED_RUN = 0,
	TCPTUNED_CHECK_CONFIG, /* load the configuration, and print it */
	TCPTUNED_CHECK_LOAD,   /* also check that this kernel loads the programs of this build */
	TCPTUNED_HELP_CONFIG,  /* print the commented example */
	TCPTUNED_DETACH,       /* release what a killed daemon has left */
	TCPTUNED_FORGET_PATHS, /* delete what is remembered about prefixes */
	TCPTUNED_SHOW_VERSION,
	TCPTUNED_SHOW_HELP,
};

struct tcptuned_options {
	enum tcptuned_action action;
	char config_path[PATH_MAX]; /* absolute; "": the default one, which may be missing */
	bool foreground;	    /* stay in the foreground, log to stderr */
	bool observe;		    /* decide and report everything, change nothing */
	const char *forget;	    /* of TCPTUNED_FORGET_PATHS: a prefix, or "all" */
	const char *set[TCPTUNED_SET_MAX + 1]; /* "section.key=value", ended by NULL */
};

/* Parse the command line. @ret is filled on success only, and refers to the strings of @argv. */
int tcptuned_options_parse(int argc, char **argv, struct tcptuned_options *ret,
			   struct tcptuned_error *err);

/* --help. */
void tcptuned_options_print_help(FILE *out);

/* Print the options as a section of tcptuned(8), in man(7) markup. */
void tcptuned_options_print_man(FILE *out);
