// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl flows: the connections, as a table, once or again and again. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "util/array.h"
#include "util/cleanup.h"

#define COLUMNS_MAX 32

/* Around a live table: another screen, no cursor; each time: from the top left corner. */
#define SCREEN_BEGIN "\033[?1049h\033[?25l"
#define SCREEN_END   "\033[?25h\033[?1049l"
#define SCREEN_HOME  "\033[H"
#define SCREEN_REST  "\033[J"
#define SCREEN_LINE  "\033[K"

enum {
	ADDRESS,
	PORT,
	LOCAL_ADDRESS,
	LOCAL_PORT,
	REMOTE_ADDRESS,
	REMOTE_PORT,
	NETNS,
	POLICY,
	CC,
	SORT,
	REVERSE,
	LIMIT,
	COLUMNS,
	JSON,
	WATCH,
};

static const struct tcptuned_option options[] = {
	[ADDRESS] = { "address", 'a', "ADDRESS[/BITS]",
		      "Only connections with this address, or one of this prefix, at either end." },
	[PORT] = { "port", 'p', "PORT", "Only those with this port at either end." },
	[LOCAL_ADDRESS] = { "local-address", 0, "ADDRESS[/BITS]", "The same of the local end." },
	[LOCAL_PORT] = { "local-port", 0, "PORT", "The same of the local end." },
	[REMOTE_ADDRESS] = { "remote-address", 0, "ADDRESS[/BITS]", "The same of the peer." },
	[REMOTE_PORT] = { "remote-port", 0, "PORT", "The same of the peer." },
	[NETNS] = { "netns", 0, "INODE",
		    "Only those of the network namespace with this inode number." },
	[POLICY] = { "policy", 0, "NAME", "Only those of this policy." },
	[CC] = { "cc", 0, "NAME", "Only those with this congestion control." },
	[SORT] = { "sort", 'S', "COLUMN",
		   "Order them by a column: numbers from the largest down, text from A to Z. "
		   "Without it, those that carried most come first." },
	[REVERSE] = { "reverse", 'r', NULL, "The other way round." },
	[LIMIT] = { "limit", 'n', "NUMBER",
		    "Show so many at most, 1 to 10000; 100 without it, and as many as fit for "
		    "a live table." },
	[COLUMNS] = { "columns", 'o', "COLUMN,...", "Show these columns." },
	[JSON] = { "json", 'j', NULL,
		   "Print all there is to know about each as one JSON object." },
	[WATCH] = { "watch", 'w', "[SECONDS]",
		    "Draw the table again and again, every second or so many; Ctrl-C ends it." },
	{ 0 },
};

/* Everything that goes into the request as it stands. */
static const struct {
	int option;
	const char *field;
	bool number;
} fields[] = {
	{ ADDRESS, "address", false },
	{ PORT, "port", true },
	{ LOCAL_ADDRESS, "local_address", false },
	{ LOCAL_PORT, "local_port", true },
	{ REMOTE_ADDRESS, "remote_address", false },
	{ REMOTE_PORT, "remote_port", true },
	{ NETNS, "netns", true },
	{ POLICY, "policy", false },
	{ CC, "congestion_control", false },
	{ SORT, "sort", false },
	{ LIMIT, "limit", true },
};

struct view {
	const struct tcptuned_column *columns[COLUMNS_MAX];
	size_t columns_len;
	bool json, live, terminal;
	double seconds;
	int rows, width; /* of the terminal; 0: not one */
};

#define USAGE(err, ...) tcptuned_fail(err, EINVAL, TCPTUNED_EXIT_USAGE, __VA_ARGS__)

/* ---- options ------------------------------------------------------------------------------- */

static int build_request(const char *const *given, json_t *request, struct tcptuned_error *err)
{
	int error;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *text = given[fields[i].option];

		if (!text)
			continue;
		if (!fields[i].number) {
			json_object_set_new(request, fields[i].field, json_string(text));
			continue;
		}
		error = ctl_set_number(request, options[fields[i].option].name, fields[i].field,
				       text, err);
		if (error)
			return error;
	}
	if (given[REVERSE])
		json_object_set_new(request, "reverse", json_true());
	return 0;
}

static int add_column(struct view *view, const char *name, struct tcptuned_error *err)
{
	const struct tcptuned_column *column = tcptuned_column_find(name);
	const char *nearest = tcptuned_column_nearest(name);

	if (!column && nearest)
		return USAGE(err, "--columns: there is no column %.60s; did you mean %s?", name,
			     nearest);
	if (!column)
		return USAGE(err, "--columns: there is no column %.60s; tcptunectl flows --help "
				  "lists all",
			     name);
	if (view->columns_len == COLUMNS_MAX)
		return USAGE(err, "--columns: more than %d of them; name fewer", COLUMNS_MAX);
	view->columns[view->columns_len++] = column;
	return 0;
}

static int choose_columns(struct view *view, const char *names, struct tcptuned_error *err)
{
	_cleanup_free_ char *copy = strdup(names ? names : "");
	char *name, *rest;
	int error;

	for (size_t i = 0; !names && i < tcptuned_columns_count; i++)
		if (tcptuned_columns[i].shown)
			view->columns[view->columns_len++] = &tcptuned_columns[i];
	for (name = copy ? strtok_r(copy, ",", &rest) : NULL; name;
	     name = strtok_r(NULL, ",", &rest)) {
		error = add_column(view, name, err);
		if (error)
			return error;
	}
	if (!view->columns_len)
		return USAGE(err, "--columns: none is named; write --columns=local,remote,rtt");
	return 0;
}

static int choose_interval(struct view *view, const char *text, struct tcptuned_error *err)
{
	char *end;

	view->live = text;
	view->seconds = 1;
	if (!text || !*text)
		return 0;
	view->seconds = strtod(text, &end);
	if (*end || !(view->seconds >= 0.1 && view->seconds <= 3600))
		return USAGE(err, "--watch: %.60s is no number of seconds from 0.1 to 3600", text);
	return 0;
}

/* ---- one table ----------------------------------------------------------------------------- */

static void measure_terminal(struct view *view)
{
	struct winsize size;

	view->terminal = isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	view->rows = view->terminal ? size.ws_row : 0;
	view->width = view->terminal ? size.ws_col : 0;
}

static void print_answer(FILE *out, const struct view *view, const json_t *answer, size_t width)
{
	const json_t *flows = json_object_get(answer, "flows");
	unsigned long long matched = ctl_number(answer, "matched");
	size_t shown = json_array_size(flows);

	ctl_print_table(out, flows, view->columns, view->columns_len, width);
	if (matched > shown)
		fprintf(out, "and %llu more (--limit)\n", matched - shown);
}

static int ask_once(struct ctl *ctl, const struct view *view, const json_t *request, json_t **ret,
		    struct tcptuned_error *err)
{
	json_t *copy = json_deep_copy(request);

	/* Heading, columns and the last line have to fit, too. */
	if (view->live && view->rows && !json_object_get(copy, "limit"))
		json_object_set_new(copy, "limit",
				    json_integer(view->rows > 5 ? view->rows - 4 : 1));
	return ctl_ask(ctl, copy, ret, err);
}

static int print_once(struct ctl *ctl, const struct view *view, const json_t *request,
		      struct tcptuned_error *err)
{
	json_t *answer;
	int error = ask_once(ctl, view, request, &answer, err);

	if (error)
		return error;
	if (view->json)
		ctl_print_json(answer);
	else
		print_answer(stdout, view, answer, 0);
	json_decref(answer);
	return 0;
}

/* ---- again and again ----------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted, suspended;

static void on_signal(int signal)
{
	if (signal == SIGTSTP)
		suspended = 1;
	else
		interrupted = 1;
}

/* A line of a screen, and nothing behind it of what was there before. */
static void print_screen(const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs(SCREEN_LINE, stdout);
		putchar(*text);
	}
}

static void draw(const struct view *view, const json_t *answer)
{
	_cleanup_free_ char *text = NULL;
	char clock[32] = "";
	time_t now = time(NULL);
	struct tm tm;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	if (localtime_r(&now, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(out, "%s  %llu connections, %llu of them meant\n\n", clock,
		ctl_number(answer, "connections"), ctl_number(answer, "matched"));
	print_answer(out, view, answer, (size_t)view->width);
	fclose(out);
	if (!view->terminal) {
		puts(text);
		fflush(stdout);
		return;
	}
	fputs(SCREEN_HOME, stdout);
	print_screen(text);
	fputs(SCREEN_REST, stdout);
	fflush(stdout);
}

/* @signals: blocked while it waits; a signal ends it. */
static void wait_for(double seconds, const sigset_t *signals)
{
	struct timespec time = { .tv_sec = (time_t)seconds };

	time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	ppoll(NULL, 0, &time, signals);
}

/* What ends it from the keyboard or without one. Ctrl-Z is let in while it waits, no sooner. */
static void catch_signals(const struct view *view, sigset_t *ret_waiting)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGQUIT, SIGHUP };
	struct sigaction act = { .sa_handler = on_signal };
	sigset_t later;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &act, NULL);
	sigemptyset(&later);
	if (view->terminal) {
		sigaddset(&later, SIGTSTP);
		sigaction(SIGTSTP, &act, NULL);
	}
	sigprocmask(SIG_BLOCK, &later, ret_waiting);
	sigdelset(ret_waiting, SIGTSTP);
}

/* Give the terminal back, as it was, until the shell has this go on. */
static void suspend(void)
{
	suspended = 0;
	fputs(SCREEN_END, stdout);
	fflush(stdout);
	raise(SIGSTOP);
	fputs(SCREEN_BEGIN, stdout);
}

static int watch(struct ctl *ctl, struct view *view, const json_t *request,
		 struct tcptuned_error *err)
{
	sigset_t waiting;
	json_t *answer;
	int error = 0;

	catch_signals(view, &waiting);
	if (view->terminal)
		fputs(SCREEN_BEGIN, stdout);
	while (!interrupted) {
		measure_terminal(view);
		error = ask_once(ctl, view, request, &answer, err);
		if (error)
			break;
		draw(view, answer);
		json_decref(answer);
		if (ferror(stdout))
			break;
		wait_for(view->seconds, &waiting);
		if (suspended)
			suspend();
	}
	if (view->terminal)
		fputs(SCREEN_END, stdout);
	return interrupted ? 0 : error;
}

static int run(struct ctl *ctl, const char *const *given, char **arguments, int count,
	       struct tcptuned_error *err)
{
	struct view view = { .json = given[JSON] };
	json_t *request = ctl_request("flows");
	int error;

	if (given[JSON] && given[WATCH])
		error = USAGE(err, "--watch: not together with --json; choose one of them");
	else
		error = build_request(given, request, err);
	if (!error)
		error = choose_columns(&view, given[COLUMNS], err);
	if (!error)
		error = choose_interval(&view, given[WATCH], err);
	measure_terminal(&view);
	if (!error)
		error = view.live ? watch(ctl, &view, request, err)
				  : print_once(ctl, &view, request, err);
	json_decref(request);
	return error;
}

const struct ctl_command ctl_flows = {
	.name = "flows",
	.arguments = "",
	.help = "List the connections that tcptuned has claimed, in every network namespace.",
	.options = options,
	.run = run,
};
