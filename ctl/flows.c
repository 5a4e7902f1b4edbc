// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl flows: the connections, as a table that is printed once or repeatedly. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "commands.h"
#include "format.h"
#include "util/array.h"
#include "util/cleanup.h"

#define COLUMNS_MAX 32

/* Control sequences: alternate screen without a cursor, and back; top left; clear the rest. */
#define SCREEN_BEGIN	  "\033[?1049h\033[?25l"
#define SCREEN_END	  "\033[?25h\033[?1049l"
#define SCREEN_HOME	  "\033[H"
#define SCREEN_CLEAR	  "\033[J"
#define SCREEN_CLEAR_LINE "\033[K"

enum { COLUMNS, WATCH };

static const struct ctl_option options[] = {
	[COLUMNS] = {OPTION("columns", 'o', "COLUMN,...", "Show these columns.")},
	[WATCH] = {OPTION("watch", 'w', "[SECONDS]",
			  "Print the table every second, or every so many; Ctrl-C ends it.")},
	{OPTION(CTL_JSON, "Print all that is known about each as one JSON object.")},
	{OPTION("address", 'a', "ADDRESS[/BITS]",
		"Only connections with this address, or one of this prefix, at either end."),
	 .field = "address"},
	{OPTION("port", 'p', "PORT", "Only those with this port at either end."), .field = "port",
	 .number = true},
	{OPTION("local-address", 0, "ADDRESS[/BITS]",
		"Only those with this address at the local end."),
	 .field = "local_address"},
	{OPTION("local-port", 0, "PORT", "Only those with this port at the local end."),
	 .field = "local_port", .number = true},
	{OPTION("remote-address", 0, "ADDRESS[/BITS]", "Only those with this address of the peer."),
	 .field = "remote_address"},
	{OPTION("remote-port", 0, "PORT", "Only those with this port of the peer."),
	 .field = "remote_port", .number = true},
	{OPTION("netns", 0, "INODE", "Only those of the network namespace with this inode number."),
	 .field = "netns", .number = true},
	{OPTION("policy", 0, "NAME", "Only those of this policy."), .field = "policy"},
	{OPTION("cc", 0, "NAME", "Only those with this congestion control."),
	 .field = "congestion_control"},
	{OPTION("sort", 'S', "COLUMN",
		"Order them by a column: numbers from the largest down, text from A to Z. By default "
		"those that have carried most come first."),
	 .field = "sort"},
	{OPTION("reverse", 'r', NULL, "In reverse order."), .field = "reverse"},
	{OPTION("limit", 'n', "NUMBER",
		"Show at most so many, 1 to 10000; by default 100, and with --watch as many as fit on "
		"the screen."),
	 .field = "limit", .number = true},
	{OPTION(0)},
};

struct view {
	const struct tcptuned_column *columns[COLUMNS_MAX];
	size_t columns_len;
	bool terminal;
	double seconds;	 /* between two tables; 0: one table */
	int rows, width; /* of the terminal; 0: there is none */
};

static int add_column(struct view *view, const char *name, struct tcptuned_error *err)
{
	const struct tcptuned_column *column;
	int error = tcptuned_column_parse("--columns", name, &column, err);

	if (error)
		return error;
	if (view->columns_len == COLUMNS_MAX)
		return USAGE(err, "--columns: more than %d of them; name fewer", COLUMNS_MAX);
	view->columns[view->columns_len++] = column;
	return 0;
}

static int choose_columns(struct view *view, const char *names, struct tcptuned_error *err)
{
	_cleanup_free_ char *copy = strdup(names ? names : "");
	char *rest = copy, *name;
	int error = 0;

	for (size_t i = 0; !names && i < tcptuned_columns_count; i++)
		if (tcptuned_columns[i].shown)
			view->columns[view->columns_len++] = &tcptuned_columns[i];
	while (!error && (name = strsep(&rest, ",")))
		if (*name)
			error = add_column(view, name, err);
	if (!error && !view->columns_len)
		return USAGE(err, "--columns: none is named; write --columns=local,remote,rtt");
	return error;
}

static int choose_interval(struct view *view, const char *text, struct tcptuned_error *err)
{
	char *end;

	if (!text)
		return 0;
	view->seconds = *text ? strtod(text, &end) : 1;
	if (*text && (*end || !(view->seconds >= 0.1 && view->seconds <= 3600)))
		return USAGE(err, "--watch: %.60s is no number of seconds from 0.1 to 3600", text);
	return 0;
}

static void print_flows(FILE *out, const struct view *view, const json_t *answer, size_t width)
{
	ctl_print_table(out, json_object_get(answer, "flows"), view->columns, view->columns_len,
			width);
	ctl_print_rest(out, answer, "matched", "flows");
}

static volatile sig_atomic_t interrupted, suspended;

static void on_signal(int signal)
{
	if (signal == SIGTSTP)
		suspended = 1;
	else
		interrupted = 1;
}

static void measure_terminal(struct view *view)
{
	struct winsize size;

	view->terminal = isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	view->rows = view->terminal ? size.ws_row : 0;
	view->width = view->terminal ? size.ws_col : 0;
}

/* Print @text in place of the screen's content. */
static void print_screen(const char *text)
{
	fputs(SCREEN_HOME, stdout);
	for (; *text; text++) {
		if (*text == '\n')
			fputs(SCREEN_CLEAR_LINE, stdout);
		putchar(*text);
	}
	fputs(SCREEN_CLEAR, stdout);
}

static void draw(const struct view *view, const json_t *answer)
{
	_cleanup_free_ char *text = NULL;
	char clock[32];
	time_t now = time(NULL);
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
	fprintf(out, "%s  %llu connections, %llu of them match\n\n", clock,
		ctl_number(answer, "connections"), ctl_number(answer, "matched"));
	print_flows(out, view, answer, (size_t)view->width);
	fclose(out);
	if (view->terminal)
		print_screen(text);
	else
		puts(text);
	fflush(stdout);
}

/* Catch signals that end this, and SIGTSTP, which stays blocked except with @ret_waiting. */
static void catch_signals(const struct view *view, sigset_t *ret_waiting)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
	struct sigaction act = {.sa_handler = on_signal};
	sigset_t blocked;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &act, NULL);
	sigemptyset(&blocked);
	if (view->terminal) {
		sigaddset(&blocked, SIGTSTP);
		sigaction(SIGTSTP, &act, NULL);
	}
	sigprocmask(SIG_BLOCK, &blocked, ret_waiting);
	sigdelset(ret_waiting, SIGTSTP);
}

/* Wait until the next table. */
static void wait_interval(const struct view *view, const sigset_t *waiting)
{
	struct timespec time = {.tv_sec = (time_t)view->seconds};

	time.tv_nsec = (long)((view->seconds - (double)time.tv_sec) * 1e9);
	ppoll(NULL, 0, &time, waiting);
	if (!suspended)
		return;
	/* Restore the terminal until the shell continues this process. */
	suspended = 0;
	fputs(SCREEN_END, stdout);
	fflush(stdout);
	raise(SIGSTOP);
	fputs(SCREEN_BEGIN, stdout);
}

static int watch(const struct ctl *ctl, struct view *view, json_t *request,
		 struct tcptuned_error *err)
{
	bool limited = json_object_get(request, "limit");
	sigset_t waiting;
	json_t *answer;
	int error = 0;

	catch_signals(view, &waiting);
	if (view->terminal)
		fputs(SCREEN_BEGIN, stdout);
	while (!interrupted && !ferror(stdout)) {
		measure_terminal(view);
		/* Two lines of heading and two of what is left out have to fit, too. */
		if (view->terminal && !limited)
			json_object_set_new(request, "limit",
					    json_integer(view->rows > 5 ? view->rows - 4 : 1));
		error = ctl_query(ctl->socket, request, &answer, err);
		if (error)
			break;
		draw(view, answer);
		json_decref(answer);
		wait_interval(view, &waiting);
	}
	if (view->terminal)
		fputs(SCREEN_END, stdout);
	return interrupted ? 0 : error;
}

static int run(const struct ctl *ctl, json_t *request, struct tcptuned_error *err)
{
	json_auto_t *answer = NULL;
	struct view view = {0};
	int error;

	if (ctl->json && ctl->given[WATCH])
		return USAGE(err, "--watch: not together with --json; choose one of them");
	error = choose_columns(&view, ctl->given[COLUMNS], err)
			?: choose_interval(&view, ctl->given[WATCH], err);
	if (error)
		return error;
	measure_terminal(&view);
	if (view.seconds > 0)
		return watch(ctl, &view, request, err);
	error = ctl_query(ctl->socket, request, &answer, err);
	if (error)
		return error;
	if (ctl->json)
		ctl_print_json(answer);
	else
		print_flows(stdout, &view, answer, 0);
	return 0;
}

const struct ctl_command ctl_flows = {
	.name = "flows",
	.arguments = "",
	.help = "List the connections that tcptuned manages, in every network namespace.",
	.options = options,
	.request = "flows",
	.run = run,
};
