/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line. One table in options.c describes each option. */
#ifndef TCPTUNED_CONFIG_OPTIONS_H
#define TCPTUNED_CONFIG_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

#define TCPTUNED_SET_MAX 64

/* What to do. Everything but RUN ends by itself. */
enum tcptuned_action {
	TCPTUNED_RUN = 0,
	TCPTUNED_CHECK_CONFIG, /* load the configuration, print what is in effect */
	TCPTUNED_CHECK_LOAD,   /* and whether this kernel takes the programs of this build */
	TCPTUNED_HELP_CONFIG,  /* print the commented example */
	TCPTUNED_DETACH,       /* take back what a daemon left that was killed */
	TCPTUNED_FORGET_PATHS, /* delete what is remembered about prefixes */
	TCPTUNED_SHOW_VERSION,
	TCPTUNED_SHOW_HELP,
};

struct tcptuned_options {
	enum tcptuned_action action;
	char config_path[PATH_MAX]; /* absolute; "": the default one, which may be missing */
	bool foreground;	    /* stay in the foreground, log to stderr */
	bool dry_run;		    /* decide and report everything, change nothing */
	const char *forget; /* of TCPTUNED_FORGET_PATHS: a prefix, or "all" */
	const char *set[TCPTUNED_SET_MAX + 1]; /* "section.key=value", ended by NULL */
};

/*
 * Parse the command line; the strings of --set are referred to, not copied. Fills @ret on
 * success only. Returns 0, or -EINVAL with @err filled (TCPTUNED_EXIT_USAGE).
 */
int tcptuned_options_parse(int argc, char **argv, struct tcptuned_options *ret,
			   struct tcptuned_error *err);

/* --help. */
void tcptuned_options_print_help(FILE *out);

/* The options as a section of tcptuned(8), in man(7) markup. */
void tcptuned_options_print_man(FILE *out);

#endif
