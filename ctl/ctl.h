/* SPDX-License-Identifier: GPL-2.0-only */
/* tcptunectl: one file per command, one table of them in commands.c. */
#ifndef TCPTUNECTL_H
#define TCPTUNECTL_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "config/config.h"
#include "config/options.h"
#include "flows/columns.h"
#include "util/error.h"

/* ---- commands.c: the command line --------------------------------------------------------- */

/* A command line that was parsed. */
struct ctl {
	struct tcptuned_config config;
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
	int arguments_min, arguments_max;
	const char *request; /* to the daemon; its fields are set from the options; NULL: none */
	const char *field;   /* of the request, which gets the argument; NULL: none */
	int (*add_arguments)(const struct ctl *ctl, json_t *request, struct tcptuned_error *err);
	void (*print)(const json_t *answer);
	const struct ctl_template *texts; /* what is printed of the answer, if print is NULL */
	const char *no_daemon;		  /* what to do if no daemon runs; NULL: start it */
	/* In place of sending the request, which belongs to the caller, and printing the answer. */
	int (*run)(const struct ctl *ctl, json_t *request, struct tcptuned_error *err);
};

extern const struct ctl_command ctl_status, ctl_flows, ctl_explain, ctl_policy, ctl_paths,
	ctl_events, ctl_detach;

#define OPTION(...) .option = {__VA_ARGS__}
#define CTL_JSON    "json", 'j', NULL /* the option --json, which most commands have */

/* Execute a command line. Returns the exit status; an error is printed on standard error. */
int ctl_main(int argc, char **argv);

/* Print commands, columns of `flows`, and words as sections of tcptunectl(8), in man(7) markup. */
void ctl_print_man(FILE *out);
void ctl_print_man_columns(FILE *out);
void ctl_print_man_words(FILE *out);

/* ---- client.c: the control socket --------------------------------------------------------- */

/*
 * Connect to the daemon and send @request. @ret: the stream of answers, which fail after @timeout_s
 * (0: never). Returns 0; -ECONNREFUSED: no daemon runs.
 */
int ctl_connect(const struct ctl *ctl, const json_t *request, unsigned int timeout_s, FILE **ret,
		struct tcptuned_error *err);

/* Read one answer, which the caller releases. An error may be the one that the daemon has sent. */
int ctl_read_answer(FILE *stream, json_t **ret, struct tcptuned_error *err);

/* Send @request and read the one answer to it. Returns as both of these. */
int ctl_query(const struct ctl *ctl, const json_t *request, json_t **ret,
	      struct tcptuned_error *err);

/* ---- format.c: numbers and templates ------------------------------------------------------- */

#define CTL_WORD 80 /* any address */

/* "64K", "12.4M": powers of 1024, at most five characters. */
void ctl_format_bytes(unsigned long long bytes, char ret[CTL_WORD]);

/* "50.1ms", "3.2s"; "-" for 0, which means none. */
void ctl_format_us(unsigned long long us, char ret[CTL_WORD]);

/* Format @value (NULL: "-") as in a column of @unit. */
void ctl_format(const json_t *value, enum tcptuned_column_unit unit, char ret[CTL_WORD]);

/* Member @path of @object, as in "receive.window_bytes" or "flags.observe"; NULL: none. */
const json_t *ctl_member(const json_t *object, const char *path);

/* The same as a number, 0 if there is none; as text, "" if there is none. */
unsigned long long ctl_number(const json_t *object, const char *path);
const char *ctl_text(const json_t *object, const char *path);

/* Print @answer on one line of standard output. */
void ctl_print_json(const json_t *answer);

/*
 * Text with members of an object: "{path}", or "{path:FORMAT}", where FORMAT is one of
 *	bytes	"12400000 bytes (11.8M)"
 *	size	"11.8M"
 *	us	"50.1ms"
 *	yes	"yes" or "no"
 * A missing number is 0. The text is printed if all terms of the condition hold, which are
 * separated by spaces: "path" if it is neither missing nor null, false, 0 or ""; "!path" if it is;
 * and "path=text". An empty condition holds.
 */
struct ctl_template {
	const char *condition;
	const char *text; /* NULL: the end of an array */
};

/* Print all texts whose conditions hold. */
void ctl_print(FILE *out, const json_t *object, const struct ctl_template *texts);

/* Do the elements of @rows have more than one "netns"? */
bool ctl_several_namespaces(const json_t *rows);

/* Print @rows, an array of objects, under headings. Lines are cut after @width characters; 0: not. */
void ctl_print_table(FILE *out, const json_t *rows, const struct tcptuned_column *const *columns,
		     size_t columns_len, size_t width);

/* Print how many rows the daemon has left out of the array @name of @answer. */
void ctl_print_rest(FILE *out, const json_t *answer, const char *name);

/* ---- commands that others use, or that unit tests call ------------------------------------- */

/* explain.c: set the fields of @request that select the connection of one to three @arguments. */
int ctl_parse_flow(char **arguments, int count, json_t *request, struct tcptuned_error *err);

/* Set these two fields of @request from "ADDRESS:PORT", "ADDRESS", "PORT" or ":PORT". */
int ctl_parse_endpoint(const char *text, json_t *request, const char *address, const char *port,
		       struct tcptuned_error *err);

/* Explain the one connection of @answer on standard output; fail if there is not exactly one. */
int ctl_explain_answer(const json_t *answer, struct tcptuned_error *err);

void ctl_print_explanation(FILE *out, const json_t *flow);

/* Print what the daemon has answered on standard output. */
void ctl_print_status(const json_t *answer);
void ctl_print_policy(const json_t *policy);
void ctl_print_paths(const json_t *answer);

#endif
