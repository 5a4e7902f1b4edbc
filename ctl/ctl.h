/* SPDX-License-Identifier: GPL-2.0-only */
/* tcptunectl: one file per subcommand, one table of them in commands.c. */
#ifndef TCPTUNECTL_H
#define TCPTUNECTL_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "config/config.h"
#include "config/options.h"
#include "flows/columns.h"
#include "util/error.h"
#include "util/strbuf.h"

/* What every subcommand has at hand. */
struct ctl {
	struct tcptuned_config config;
};

/* A subcommand's options, in order, ended by one without a name. */
struct ctl_command {
	const char *name;
	const char *arguments; /* as in the synopsis, "" for none */
	const char *help;      /* whole sentences, for --help and the manual page */
	const struct tcptuned_option *options;
	/* How many arguments it takes besides its options. */
	int arguments_min, arguments_max;
	/* @given[i]: the argument of option i ("" if it has none), or NULL. Returns 0, or a
	 * negative errno with @err filled. */
	int (*run)(struct ctl *ctl, const char *const *given, char **arguments, int count,
		   struct tcptuned_error *err);
};

extern const struct ctl_command *const ctl_commands[]; /* ended by NULL */
extern const struct tcptuned_option ctl_global_options[];

extern const struct ctl_command ctl_status, ctl_flows, ctl_explain, ctl_policy, ctl_paths,
	ctl_events, ctl_detach;

/* ---- commands.c: the command line --------------------------------------------------------- */

/* Parse everything and run what is asked for. Returns the exit status; a failure is told on
 * standard error, in one line. */
int ctl_main(int argc, char **argv);

/* The subcommands as a section of tcptunectl(8), in man(7) markup. */
void ctl_print_man(FILE *out);

/* The columns of `flows`, likewise. */
void ctl_print_man_columns(FILE *out);

/* What stands in them, and in metrics and JSON, for people: each word and its meaning. */
void ctl_print_man_words(FILE *out);

/* ---- ask.c: the daemon -------------------------------------------------------------------- */

/*
 * Ask @request (which is let go of) of the daemon. Returns 0 with the answer, which the caller lets
 * go of, or a negative errno with @err filled; -ECONNREFUSED: no daemon runs.
 */
int ctl_ask(struct ctl *ctl, json_t *request, json_t **ret, struct tcptuned_error *err);

/* What the daemon wrote: 0 with the answer, or -EIO with @err filled, by its words if it refuses. */
int ctl_parse_answer(const struct tcptuned_buf *text, json_t **ret, struct tcptuned_error *err);

/*
 * Connect to the daemon and send @request, without waiting for an answer. Returns the
 * descriptor, or a negative errno with @err filled; -ECONNREFUSED: no daemon runs.
 */
int ctl_connect(struct ctl *ctl, const json_t *request, struct tcptuned_error *err);

/* The request of that name. */
json_t *ctl_request(const char *command);

/* Put what was given to @option into @request. Returns 0 or -EINVAL with @err filled. */
int ctl_set_number(json_t *request, const char *option, const char *field, const char *text,
		   struct tcptuned_error *err);

/* Print @answer on one line of standard output. */
void ctl_print_json(const json_t *answer);

/* ---- format.c ------------------------------------------------------------------------------ */

#define CTL_WORD 32

/* "64K", "12.4M": powers of 1024, at most five characters. */
void ctl_format_bytes(unsigned long long bytes, char ret[CTL_WORD]);

/* "50.1ms", "3.2s"; "-" for 0, which is none. */
void ctl_format_us(unsigned long long us, char ret[CTL_WORD]);

/* Member @path of @object, as in "receive.window_bytes"; NULL: there is none. */
const json_t *ctl_member(const json_t *object, const char *path);

/* The same as a number, 0 if there is none; as text, "" if there is none. */
unsigned long long ctl_number(const json_t *object, const char *path);
const char *ctl_text(const json_t *object, const char *path);

/* Have these, an array of connections or paths, more than one "netns" among them? */
bool ctl_several_namespaces(const json_t *rows);

/* ---- table.c ------------------------------------------------------------------------------- */

/*
 * Print @flows, an array as the daemon gives it, under headings. @width: cut lines at so many
 * characters; 0: do not.
 */
void ctl_print_table(FILE *out, const json_t *flows, const struct tcptuned_column *const *columns,
		     size_t columns_len, size_t width);

/* ---- status.c, policy.c ---------------------------------------------------------------- */

/* The daemon's answer, and one policy of it, for people, on standard output. */
void ctl_print_status(const json_t *answer);
void ctl_print_policy(const json_t *policy);

/* ---- paths.c ------------------------------------------------------------------------------- */

/* The daemon's answer, on standard output. */
void ctl_print_paths(const json_t *answer);

/* ---- explain.c ----------------------------------------------------------------------------- */

/* Put into @request which flow is meant by one or two arguments. */
int ctl_parse_flow(char **arguments, int count, json_t *request, struct tcptuned_error *err);

/* Put "ADDRESS:PORT", "ADDRESS", "PORT" or ":PORT" into @request under these two names. */
int ctl_parse_endpoint(const char *text, json_t *request, const char *address, const char *port,
		       struct tcptuned_error *err);

/*
 * Explain the one connection that @answer, the daemon's, has on standard output. Returns 0, or
 * negative with @err filled: there is none, or more than one.
 */
int ctl_explain_answer(const json_t *answer, struct tcptuned_error *err);

/* All that is to be said about @flow, in sentences. */
void ctl_print_explanation(FILE *out, const json_t *flow);

#endif
