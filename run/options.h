/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of tcptune-run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/error.h"

struct run_options {
	bool why;	    /* change nothing, and report */
	bool watch;	    /* report once per second, too */
	bool json;	    /* report as JSON */
	bool tune;	    /* right-size */
	const char *cc;	    /* congestion control; NULL: the host's */
	uint64_t rate;	    /* maximum of each connection, bytes per second; 0: none */
	const char *output; /* file for the report; NULL: standard error */
	char **command;	    /* ended by NULL */
};

/* Parse the command line; --help and --version print and exit. */
int run_options_parse(int argc, char **argv, struct run_options *ret, struct tcptuned_error *err);

/*
 * Parse "100Mbit", "2.5gbit/s", "800000" (bits per second) to bytes per second. Returns 0 or
 * -EINVAL.
 */
int run_parse_rate(const char *text, uint64_t *ret);

/* Print the options as a section of tcptune-run(1), in man(7) markup. */
void run_options_print_man(FILE *out);
