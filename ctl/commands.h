/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line: one file per command, one table of them in commands.c. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "config/options.h"
#include "util/error.h"

/* A command line that was parsed. */
struct ctl {
	const char *socket;			 /* of the daemon */
	const char *given[TCPTUNED_OPTIONS_MAX]; /* the option's argument, or "", or NULL */
	char **arguments;
	int count;
	bool json;
};

struct ctl_option {
	struct tcptuned_option option;
	const char *field; /* of the request, which gets the argument, or true; NULL: none */
	bool number;	   /* the argument is a number */
	const char *only;  /* the subcommand that takes it, "": none does; NULL: each does */
};

struct ctl_command {
	const char *name;
	const char *arguments;		       /* as in the synopsis, "" for none */
	const char *help;		       /* whole sentences, for --help and the manual page */
	const struct ctl_option *options;      /* ended by one without a name */
	const struct ctl_command *subcommands; /* ended by one without a name, or NULL */
	int arguments_min, arguments_max;      /* max 0: as many as min */
	const char *request; /* to the daemon; its fields are set from the options; NULL: none */
	const char *field;   /* of the request, which gets the argument; NULL: none */
	int (*add_arguments)(const struct ctl *ctl, json_t *request, struct tcptuned_error *err);
	void (*print)(const json_t *answer);
	const struct ctl_template *texts; /* what is printed of the answer, if print is NULL */
	const char *no_daemon;		  /* what to do if no daemon runs; NULL: start it */
	/* In place of sending the request, which belongs to the caller, and printing the answer. */
	int (*run)(const struct ctl *ctl, json_t *request, struct tcptuned_error *err);
};

extern const struct ctl_command ctl_status, ctl_top, ctl_flows, ctl_explain, ctl_policy, ctl_paths,
	ctl_advise, ctl_events, ctl_streams, ctl_trial, ctl_doctor, ctl_report, ctl_detach;

#define OPTION(...) .option = {__VA_ARGS__}
#define CTL_JSON    "json", 'j', NULL /* the option --json, which most commands have */

/* The options of a command that has no other one. */
extern const struct ctl_option ctl_json_option[];

/* Execute a command line. Returns the exit status; an error is printed on standard error. */
int ctl_main(int argc, char **argv);

/* Print commands, columns of `flows`, and words as sections of tcptunectl(8), in man(7) markup. */
void ctl_print_man(FILE *out);
void ctl_print_man_columns(FILE *out);
void ctl_print_man_words(FILE *out);
