// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl top: the busiest connections, drawn again and again, with keys. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "commands.h"
#include "explain.h"
#include "format.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

/* Control sequences: alternate screen without a cursor, and back; top left; clear the rest. */
#define SCREEN_BEGIN	  "\033[?1049h\033[?25l"
#define SCREEN_END	  "\033[?25h\033[?1049l"
#define SCREEN_HOME	  "\033[H"
#define SCREEN_CLEAR	  "\033[J"
#define SCREEN_CLEAR_LINE "\033[K"
#define REVERSE		  "\033[7m"
#define PLAIN		  "\033[m"

#define FLOWS_READ 1000 /* those that have carried most; rates are known from two answers on */
#define KEYS	   "q quit  p pause  s sort  / filter  arrows, Enter: explain"

enum { CGROUP, DELAY, LIMIT };

static const struct ctl_option options[] = {
	[CGROUP] = {OPTION("cgroup", 'g', "PATH",
			   "Only the connections of this control group, and of those below it, such "
			   "as /system.slice."),
		    .field = "cgroup"},
	[DELAY] = {OPTION("delay", 'd', "SECONDS", "From one table to the next (1).")},
	[LIMIT] = {OPTION("limit", 'n', "NUMBER",
			  "Show at most so many; by default as many as fit on the screen, or 100.")},
	{OPTION(0)},
};

/* Columns are left out from the lowest rank on until the others fit; no cell is cut. */
enum column { UNIT, PEER, IN, OUT, RTT, QUEUE, CC, LIMITED, COLUMNS };

static const struct {
	const char *heading;
	int rank;
	bool text;
} columns[COLUMNS] = {
	[UNIT] = {"UNIT", 4, true}, [PEER] = {"PEER", 5, true},
	[IN] = {"IN", 7, false},    [OUT] = {"OUT", 7, false},
	[RTT] = {"RTT", 2, false},  [QUEUE] = {"QUEUE", 3, false},
	[CC] = {"CC", 1, true},	    [LIMITED] = {"LIMITED BY", 6, true},
};

struct row {
	char cells[COLUMNS][CTL_WORD];
	double in, out; /* bits per second */
	unsigned long long rtt_us, queue_us;
	const json_t *flow; /* of the answer */
};

static const enum column orders[] = {IN, RTT, QUEUE, UNIT}; /* IN: by both rates together */

struct top {
	const struct ctl *ctl;
	json_t *request;
	json_t *answer;		/* the last one */
	json_t *seen;		/* its connections, by their ends */
	double answer_s, due_s; /* when it was read; the next one is due */
	struct row *rows;
	size_t len, order, selected;
	double seconds;
	size_t limit; /* 0: what fits */
	bool terminal, paused, ended;
	int lines, width; /* of the terminal */
	struct termios termios;
	char trouble[TCPTUNED_ERROR_TEXT]; /* with the filter; "": none */
};

/* ---- rows ---------------------------------------------------------------------------------- */

static const char *key_of(const json_t *flow, char ret[3 * CTL_WORD])
{
	snprintf(ret, 3 * CTL_WORD, "%llu %s %s", ctl_number(flow, "netns"),
		 ctl_text(flow, "local"), ctl_text(flow, "remote"));
	return ret;
}

static void format_rate(double bits, char ret[CTL_WORD])
{
	static const char units[] = {' ', 'K', 'M', 'G', 'T'};
	size_t i = 0;

	for (; bits >= 999.5 && i + 1 < sizeof(units); i++)
		bits /= 1000;
	snprintf(ret, CTL_WORD, bits < 9.95 && i ? "%.1f%.1s" : "%.0f%.1s", bits,
		 i ? &units[i] : "");
}

/* The last part of the control group's path; an id of a container's is shortened as docker does. */
static void format_unit(const char *path, char ret[CTL_WORD])
{
	const char *last = strrchr(path, '/'), *id;

	last = last && last[1] ? last + 1 : path;
	id = last;
	for (const char *c = last; *c; c++)
		if (*c == '-' || *c == ':')
			id = c + 1;
	if (strspn(id, "0123456789abcdef") >= 32)
		snprintf(ret, CTL_WORD, "%.12s", id);
	else
		snprintf(ret, CTL_WORD, "%s", *last ? last : "-");
	tcptuned_text_make_printable(ret); /* users may have made it */
}

/* In the direction that carries more. */
static void format_limited(const json_t *flow, bool receives, char ret[CTL_WORD])
{
	const char *reason = ctl_text(flow, receives ? "receive.reason" : "send.reason");
	bool own = strcmp(reason, "kernel") && strcmp(reason, "unmeasured");

	snprintf(ret, CTL_WORD, "%s%s%s", ctl_text(flow, receives ? "receive.limit" : "limit"),
		 own ? ", window " : "", own ? reason : "");
	for (char *c = ret; *c; c++)
		if (*c == '_')
			*c = ' ';
}

/* @before: the connection, @seconds ago; NULL: it is new. */
static void fill_row(const json_t *flow, const json_t *before, double seconds, struct row *row)
{
	unsigned long long rtt, min;
	bool receives;

	/* Another connection may have the ends of one that is over. */
	if (ctl_number(before, "bytes_received") > ctl_number(flow, "bytes_received") ||
	    ctl_number(before, "bytes_acked") > ctl_number(flow, "bytes_acked"))
		before = NULL;
	memset(row, 0, sizeof(*row));
	row->flow = flow;
	if (before && seconds > 0) {
		row->in = 8 / seconds *
			  (double)(ctl_number(flow, "bytes_received") -
				   ctl_number(before, "bytes_received"));
		row->out = 8 / seconds *
			   (double)(ctl_number(flow, "bytes_acked") -
				    ctl_number(before, "bytes_acked"));
	}
	receives = before ? row->in > row->out
			  : ctl_number(flow, "bytes_received") > ctl_number(flow, "bytes_acked");
	/* Of one that receives, the sender's RTT is that of the handshake. */
	rtt = receives ? ctl_number(flow, "receiver_rtt_us") : 0;
	min = ctl_number(flow, rtt ? "receive.min_rtt_us" : "min_rtt_us");
	row->rtt_us = rtt ?: ctl_number(flow, "srtt_us");
	row->queue_us = min && row->rtt_us > min ? row->rtt_us - min : 0;
	format_unit(ctl_text(flow, "cgroup"), row->cells[UNIT]);
	snprintf(row->cells[PEER], CTL_WORD, "%s", ctl_text(flow, "remote"));
	snprintf(row->cells[IN], CTL_WORD, "-");
	snprintf(row->cells[OUT], CTL_WORD, "-");
	if (before) {
		format_rate(row->in, row->cells[IN]);
		format_rate(row->out, row->cells[OUT]);
	}
	ctl_format_us(row->rtt_us, row->cells[RTT]);
	ctl_format_us(row->queue_us, row->cells[QUEUE]);
	snprintf(row->cells[CC], CTL_WORD, "%s", ctl_text(flow, "congestion_control"));
	format_limited(flow, receives, row->cells[LIMITED]);
}

static int compare_rows(const void *left, const void *right, void *order)
{
	const struct row *a = left, *b = right;
	double difference = 0;

	if (*(enum column *)order == UNIT && strcmp(a->cells[UNIT], b->cells[UNIT]))
		return strcmp(a->cells[UNIT], b->cells[UNIT]);
	if (*(enum column *)order == RTT)
		difference = (double)b->rtt_us - (double)a->rtt_us;
	else if (*(enum column *)order == QUEUE)
		difference = (double)b->queue_us - (double)a->queue_us;
	if (difference == 0)
		difference = b->in + b->out - a->in - a->out;
	return (difference > 0) - (difference < 0);
}

static void sort_rows(struct top *top)
{
	enum column order = orders[top->order];

	qsort_r(top->rows, top->len, sizeof(*top->rows), compare_rows, &order);
}

static int read_rows(struct top *top, struct tcptuned_error *err)
{
	json_auto_t *before = top->seen;
	double before_s = top->answer_s;
	json_t *answer, *flow;
	char key[3 * CTL_WORD];
	size_t i;
	int error = ctl_query(top->ctl->socket, top->request, &answer, err);

	top->seen = json_object();
	if (error)
		return error;
	json_decref(top->answer);
	top->answer = answer;
	top->answer_s = tcptuned_monotonic_s();
	free(top->rows);
	top->len = json_array_size(json_object_get(answer, "flows"));
	top->rows = calloc(top->len + 1, sizeof(*top->rows));
	if (!top->rows)
		return FAIL(err, ENOMEM, INTERNAL, "out of memory");
	json_array_foreach (json_object_get(answer, "flows"), i, flow) {
		const json_t *last = json_object_get(before, key_of(flow, key));

		fill_row(flow, last, top->answer_s - before_s, &top->rows[i]);
		json_object_set(top->seen, key, flow);
	}
	sort_rows(top);
	return 0;
}

/* ---- the table ----------------------------------------------------------------------------- */

static int width_of(const struct top *top, enum column c, size_t shown)
{
	size_t width = strlen(columns[c].heading);

	for (size_t i = 0; i < shown; i++)
		width = MAX(width, strlen(top->rows[i].cells[c]));
	return (int)width;
}

/* Set the widths of the columns that fit; 0: left out. */
static void choose_columns(const struct top *top, size_t shown, int widths[COLUMNS])
{
	int all = -2;

	for (int c = 0; c < COLUMNS; c++) {
		widths[c] = width_of(top, c, shown);
		all += widths[c] + 2;
	}
	for (int rank = 1; top->width && all > top->width && rank < 7; rank++)
		for (int c = 0; c < COLUMNS; c++)
			if (columns[c].rank == rank) {
				all -= widths[c] + 2;
				widths[c] = 0;
			}
}

static void print_row(FILE *out, const struct row *row, const int widths[COLUMNS])
{
	const char *space = "";

	for (int c = 0; c < COLUMNS; c++) {
		if (!widths[c])
			continue;
		fprintf(out, "%s%*s", space,
			c == LIMITED	  ? 0
			: columns[c].text ? -widths[c]
					  : widths[c],
			row ? row->cells[c] : columns[c].heading);
		space = "  ";
	}
}

static void print_heading(FILE *out, const struct top *top)
{
	char clock[32], in_text[CTL_WORD], out_text[CTL_WORD], line[4 * CTL_WORD];
	int width = top->width ? top->width : (int)sizeof(line);
	time_t now = time(NULL);
	double in = 0, sent = 0;

	for (size_t i = 0; i < top->len; i++) {
		in += top->rows[i].in;
		sent += top->rows[i].out;
	}
	format_rate(in, in_text);
	format_rate(sent, out_text);
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
	snprintf(line, sizeof(line), "%s  %llu connections, %llu match  in %sbit/s  out %sbit/s%s",
		 clock, ctl_number(top->answer, "connections"), ctl_number(top->answer, "matched"),
		 in_text, out_text, top->paused ? "  paused" : "");
	fprintf(out, "%.*s\n", width, line);
	if (top->terminal)
		fprintf(out, "%.*s\n", width, top->trouble[0] ? top->trouble : KEYS);
	fputc('\n', out);
}

static void print_table(FILE *out, struct top *top)
{
	/* The heading has three lines and that of the columns, and a newline ends the last one. */
	size_t fits = top->terminal ? (size_t)MAX(top->lines - 5, 1) : FLOWS_READ;
	size_t wanted = top->limit ? top->limit : top->terminal ? fits : 100;
	size_t shown = MIN(top->len, MIN(wanted, fits));
	int widths[COLUMNS];

	top->selected = MIN(top->selected, shown ? shown - 1 : 0);
	choose_columns(top, shown, widths);
	print_heading(out, top);
	print_row(out, NULL, widths);
	fputc('\n', out);
	for (size_t i = 0; i < shown; i++) {
		bool marked = top->terminal && i == top->selected;

		fputs(marked ? REVERSE : "", out);
		print_row(out, &top->rows[i], widths);
		fputs(marked ? PLAIN "\n" : "\n", out);
	}
}

/* Print @text in place of the screen's content. */
static void print_screen(const char *text)
{
	fputs(SCREEN_HOME SCREEN_CLEAR_LINE, stdout);
	for (; *text; text++) {
		putchar(*text);
		if (*text == '\n')
			fputs(SCREEN_CLEAR_LINE, stdout);
	}
	fputs(SCREEN_CLEAR, stdout);
}

static void draw(struct top *top)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	print_table(out, top);
	fclose(out);
	if (top->terminal)
		print_screen(text);
	else
		puts(text);
	fflush(stdout);
}

/* ---- the terminal -------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted, suspended;

static void on_signal(int signal)
{
	if (signal == SIGTSTP)
		suspended = 1;
	else
		interrupted = 1;
}

static void measure_terminal(struct top *top)
{
	struct winsize size = {0};

	top->terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
			!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	top->lines = size.ws_row ? size.ws_row : 24;
	top->width = size.ws_col;
}

/* Keys are read one by one, without Enter, but for those that make signals. */
static void take_terminal(struct top *top)
{
	struct termios raw;

	if (!top->terminal)
		return;
	tcgetattr(STDIN_FILENO, &top->termios);
	raw = top->termios;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs(SCREEN_BEGIN, stdout);
}

static void give_terminal_back(const struct top *top)
{
	if (!top->terminal)
		return;
	fputs(SCREEN_END, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &top->termios);
}

/* Catch signals that end this, and SIGTSTP, which stays blocked except with @ret_waiting. */
static void catch_signals(const struct top *top, sigset_t *ret_waiting)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
	struct sigaction act = {.sa_handler = on_signal};
	sigset_t blocked;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &act, NULL);
	sigemptyset(&blocked);
	if (top->terminal) {
		sigaddset(&blocked, SIGTSTP);
		sigaction(SIGTSTP, &act, NULL);
	}
	sigprocmask(SIG_BLOCK, &blocked, ret_waiting);
	sigdelset(ret_waiting, SIGTSTP);
}

/* Until the shell continues this process. The kernel ignores SIGTSTP where no shell would. */
static void suspend(struct top *top)
{
	const struct sigaction normal = {.sa_handler = SIG_DFL};
	struct sigaction caught;
	sigset_t stop;

	suspended = 0;
	give_terminal_back(top);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigaction(SIGTSTP, &normal, &caught);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	sigaction(SIGTSTP, &caught, NULL);
	take_terminal(top);
}

/* ---- keys ---------------------------------------------------------------------------------- */

/* Ask for the connection alone, since a rule is looked up for few at a time. */
static int print_explanation(const struct top *top, const json_t *flow, FILE *out,
			     struct tcptuned_error *err)
{
	char *arguments[] = {(char *)ctl_text(flow, "local"), (char *)ctl_text(flow, "remote")};
	const struct ctl ctl = {.arguments = arguments, .count = 2};
	json_auto_t *request = json_pack("{s:s,s:i,s:b,s:O}", "command", "flows", "limit", 1,
					 "rules", true, "netns", json_object_get(flow, "netns"));
	json_auto_t *answer = NULL;
	int error = ctl_add_flow(&ctl, request, err)
			    ?: ctl_query(top->ctl->socket, request, &answer, err);

	flow = json_array_get(json_object_get(answer, "flows"), 0);
	if (flow)
		ctl_print_explanation(out, flow);
	else if (!error)
		fputs("The connection has ended.\n", out);
	fputs("\nAny key goes back.\n", out);
	return error;
}

static int explain(struct top *top, struct tcptuned_error *err)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int error;
	char key;

	if (!out)
		return FAIL(err, ENOMEM, INTERNAL, "out of memory");
	error = print_explanation(top, top->rows[top->selected].flow, out, err);
	fclose(out);
	if (error)
		return error;
	/* The other screen keeps what does not fit. */
	fputs(SCREEN_END, stdout);
	fputs(text, stdout);
	fflush(stdout);
	top->ended = read(STDIN_FILENO, &key, 1) < 1 && !suspended;
	fputs(SCREEN_BEGIN, stdout);
	return 0;
}

/* Read a line below the table, and select the connections that it names. */
static void read_filter(struct top *top)
{
	static const char *const ends[] = {"address",	 "port",	   "local_address",
					   "local_port", "remote_address", "remote_port"};
	char line[CTL_WORD], *arguments[] = {line, NULL};
	struct ctl ctl = {.arguments = arguments, .count = 1};
	json_auto_t *request = json_deep_copy(top->request);
	struct tcptuned_error err;

	tcsetattr(STDIN_FILENO, TCSANOW, &top->termios);
	print_screen("An address, a port or ADDRESS:PORT of either end; nothing: all of them.\n> ");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		line[0] = '\0';
	clearerr(stdin); /* after Ctrl-D */
	tcflush(STDIN_FILENO, TCIFLUSH);
	line[strcspn(line, "\n")] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		json_object_del(request, ends[i]);
	top->trouble[0] = '\0';
	if (line[0] && ctl_add_flow(&ctl, request, &err)) {
		snprintf(top->trouble, sizeof(top->trouble), "%s", err.text);
	} else {
		json_object_clear(top->request);
		json_object_update(top->request, request);
	}
	top->due_s = 0;
	take_terminal(top);
}

static void move_selection(struct top *top, char arrow)
{
	if (arrow == 'A' && top->selected)
		top->selected--;
	else if (arrow == 'B')
		top->selected++;
}

static int handle_keys(struct top *top, struct tcptuned_error *err)
{
	struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
	char key[3] = "";

	/* One key, of which an arrow sends three bytes. */
	if (read(STDIN_FILENO, key, 1) < 1 || key[0] == 'q')
		top->ended = true;
	else if (key[0] == '\033' && poll(&keys, 1, 0) > 0 && read(STDIN_FILENO, key + 1, 2) == 2)
		move_selection(top, key[2]);
	else if (key[0] == 'p')
		top->paused = !top->paused;
	else if (key[0] == 's')
		top->order = (top->order + 1) % ARRAY_SIZE(orders);
	else if (key[0] == '/')
		read_filter(top);
	else if (key[0] == '\n' && top->len)
		return explain(top, err);
	sort_rows(top);
	return 0;
}

/* ---- the command --------------------------------------------------------------------------- */

/* Wait until the next table, or for a key. */
static int wait_interval(struct top *top, const sigset_t *waiting, struct tcptuned_error *err)
{
	struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
	double left = top->paused ? top->seconds : MAX(top->due_s - tcptuned_monotonic_s(), 0);
	struct timespec time = {.tv_sec = (time_t)left};
	int ready;

	time.tv_nsec = (long)((left - (double)time.tv_sec) * 1e9);
	ready = ppoll(&keys, top->terminal, &time, waiting);
	if (suspended)
		suspend(top);
	return ready > 0 ? handle_keys(top, err) : 0;
}

static int watch(struct top *top, const sigset_t *waiting, struct tcptuned_error *err)
{
	int error = 0;

	while (!error && !interrupted && !top->ended && !ferror(stdout)) {
		if (top->terminal)
			measure_terminal(top);
		if (!top->due_s || (!top->paused && tcptuned_monotonic_s() >= top->due_s)) {
			top->due_s = tcptuned_monotonic_s() + top->seconds;
			error = read_rows(top, err);
		}
		if (error)
			break;
		draw(top);
		error = wait_interval(top, waiting, err);
	}
	return interrupted ? 0 : error;
}

static int parse_options(struct top *top, struct tcptuned_error *err)
{
	const char *delay = top->ctl->given[DELAY], *limit = top->ctl->given[LIMIT];
	char *end;

	top->seconds = delay ? strtod(delay, &end) : 1;
	if (delay && (end == delay || *end || !(top->seconds >= 0.1 && top->seconds <= 3600)))
		return USAGE(err, "--delay: %.60s is not a number of seconds from 0.1 to 3600",
			     delay);
	top->limit = limit ? strtoul(limit, &end, 10) : 0;
	if (limit && (*end || top->limit < 1 || top->limit > FLOWS_READ))
		return USAGE(err, "--limit: %.60s is not a number from 1 to %d", limit, FLOWS_READ);
	return 0;
}

static int run(const struct ctl *ctl, json_t *request, struct tcptuned_error *err)
{
	struct top top = {.ctl = ctl, .request = request};
	int error = parse_options(&top, err);
	sigset_t waiting;

	if (error)
		return error;
	json_object_set_new(request, "limit", json_integer(FLOWS_READ));
	measure_terminal(&top);
	catch_signals(&top, &waiting);
	take_terminal(&top);
	error = watch(&top, &waiting, err);
	give_terminal_back(&top);
	json_decref(top.answer);
	json_decref(top.seen);
	free(top.rows);
	return error;
}

const struct ctl_command ctl_top = {
	.name = "top",
	.arguments = "[LOCAL [-] REMOTE | LOCAL-REMOTE | END]",
	.help = "Show the connections that carry most now, once a second: the service or container "
		"that they belong to, the peer, bits per second received and sent, how much of the "
		"round-trip time is queue, and what limits the direction that carries more. On a "
		"terminal columns are left out until the others fit, and keys sort, filter, pause, "
		"explain a connection and quit. Of more than 1000 connections those are looked at that "
		"have carried most. LOCAL, REMOTE and END select some, as for explain.",
	.options = options,
	.arguments_max = 3,
	.request = "flows",
	.add_arguments = ctl_add_flow,
	.run = run,
};
