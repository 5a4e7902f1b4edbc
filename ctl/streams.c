// SPDX-License-Identifier: GPL-2.0-only
/* tcptunectl streams: how many parallel connections to a destination, and why; see streams/. */
#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/param.h>
#include <sys/signalfd.h>

#include <tcptuned/streams.h>

#include "client.h"
#include "commands.h"
#include "format.h"
#include "flows/words.h"
#include "rpc/request.h"
#include "streams/probe.h"
#include "util/array.h"
#include "util/cleanup.h"

enum { PROBE, MAX_IMPACT, WANT, MAX_STREAMS, TIME, BYTES, PORT, RECEIVE, CC };

static const struct ctl_option options[] = {
	[PROBE] = {OPTION(
		"probe", 'P', "KIND",
		"Measure by iperf3, to a server of it at DEST; by http, where curl reads "
		"ranges of the file at the URL DEST; or none: advise from what connections to "
		"DEST have carried, and show what limits those that are open, as far as the "
		"daemon knows, which has to run. Default: http for a URL, else iperf3.")},
	[MAX_IMPACT] = {OPTION(
		"max-impact", 'm', "FRACTION",
		"What others may lose, compared with one connection: 10% (the default) "
		"or 0.1.")},
	[WANT] = {OPTION("want", 'w', "RATE",
			 "Stop at the number that carries this rate in bits per second: 500M.")},
	[MAX_STREAMS] = {OPTION("max-streams", 'n', "NUMBER", "Measure no more than this (16).")},
	[TIME] = {OPTION("probe-time", 't', "SECONDS",
			 "Measure for about so long altogether at most (60); at each "
			 "number a twelfth of it, but no less than 2 seconds.")},
	[BYTES] = {OPTION("probe-bytes", 'b', "BYTES",
			  "Transfer about so much altogether at most: 500M. Default: any "
			  "amount.")},
	[PORT] = {OPTION("port", 'p', "PORT", "The port of the iperf3 server (5201).")},
	[RECEIVE] = {OPTION("receive", 'R', NULL,
			    "Let the iperf3 server send. With http, the server always sends.")},
	[CC] = {OPTION("cc", 'C', "NAME",
		       "The congestion control of iperf3's sender. Default: the host's.")},
	{OPTION(CTL_JSON, "Print what was measured and advised as one line of JSON.")},
	{OPTION(0)},
};

/* ---- arguments ------------------------------------------------------------------------------- */

/*
 * A number with a suffix of @suffixes, each of which stands for @step times the one before it; a
 * whole one if there are none.
 */
static int parse_number(const char *name, const char *text, const char *suffixes, double step,
			double min, double max, double *ret, struct tcptuned_error *err)
{
	char *end;
	double number = strtod(text, &end);
	const char *suffix = end != text && *end ? strchr(suffixes, *end) : NULL;

	for (const char *s = suffixes; suffix && s <= suffix; s++)
		number *= step;
	end += suffix != NULL;
	if (end == text || *end || !(number >= min && number <= max) ||
	    (!*suffixes && number != floor(number)))
		return USAGE(err, "--%s: %.60s is not a %snumber from %.10g to %.10g; see --help",
			     name, text, *suffixes ? "" : "whole ", min, max);
	*ret = number;
	return 0;
}

struct question {
	struct tcptuned_streams_options options;
	double impact_max; /* as given, while 0 is the default in options */
	bool passive;
	const char *url;	 /* or name, or address */
	const char *destination; /* the same without credentials, as it is printed */
	const char *probe;
	char host[256];
	char address[CTL_WORD]; /* its first one */
};

/* Overwrites user and password of a URL in the list of processes. Returns a copy that has them. */
static char *hide_credentials(char *url)
{
	char *copy = strdup(url), *scheme = strstr(url, "://"), *user = scheme ? scheme + 3 : url;
	char *at = memrchr(user, '@', strcspn(user, "/?#"));

	if (at)
		memset(user, '*', (size_t)(at - user));
	return copy;
}

static int parse_options(const struct ctl *ctl, struct question *q, struct tcptuned_error *err)
{
	static const struct {
		int option;
		const char *suffixes;
		double step, min, max;
	} rows[] = {
		{WANT, "KMGT", 1000, 1, 1e13}, {MAX_STREAMS, "", 1, 1, TCPTUNED_STREAMS_SEARCH_MAX},
		{TIME, "", 1, 5, 3600},	       {BYTES, "KMGT", 1024, 1, 1e15},
		{PORT, "", 1, 1, 65535},       {MAX_IMPACT, "%", 0.01, 0, 1},
	};
	double values[ARRAY_SIZE(options)] = {
		[MAX_STREAMS] = 16, [TIME] = 60, [PORT] = 5201, [MAX_IMPACT] = 0.1};
	int error = 0;

	q->probe = ctl->given[PROBE];
	if (!q->probe)
		q->probe = strstr(q->destination, "://") ? "http" : "iperf3";
	q->passive = !strcmp(q->probe, "none");
	if (!strcmp(q->probe, "http"))
		q->options.probe = TCPTUNED_STREAMS_HTTP;
	else if (!q->passive && strcmp(q->probe, "iperf3"))
		return USAGE(err, "--probe: %.60s: write iperf3, http or none", q->probe);
	if (q->passive)
		values[MAX_STREAMS] = TCPTUNED_STREAMS_SEARCH_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(rows) && !error; i++)
		if (ctl->given[rows[i].option])
			error = parse_number(options[rows[i].option].option.name,
					     ctl->given[rows[i].option], rows[i].suffixes,
					     rows[i].step, rows[i].min, rows[i].max,
					     &values[rows[i].option], err);
	q->impact_max = values[MAX_IMPACT];
	q->options.impact_max = q->impact_max > 0 ? q->impact_max : TCPTUNED_STREAMS_NO_IMPACT;
	q->options.bits_per_second = values[WANT];
	q->options.streams_max = (unsigned int)values[MAX_STREAMS];
	q->options.seconds_max = (unsigned int)values[TIME];
	q->options.probe_seconds = MAX(q->options.seconds_max / 12, 2u);
	q->options.bytes_max = values[BYTES];
	q->options.port = (unsigned int)values[PORT];
	q->options.receive = ctl->given[RECEIVE] != NULL;
	q->options.congestion_control = ctl->given[CC];
	return error;
}

/* Finds the address, which remains empty if curl may know better, for example by a proxy. */
static int resolve(struct question *q, struct tcptuned_error *err)
{
	const char *host = q->destination;
	size_t len = strstr(host, "://") ? probe_find_host(host, &host) : strlen(host);
	int error;

	snprintf(q->host, sizeof(q->host), "%.*s", (int)len, host);
	if (!q->host[0] || q->host[0] == '-')
		return USAGE(err, "%.80s: neither a name, an address nor a URL", q->destination);
	error = ctl_resolve(q->host, q->address);
	if (!error || q->options.probe == TCPTUNED_STREAMS_HTTP)
		return 0;
	return FAIL(err, EHOSTUNREACH, INTERNAL, "%.80s cannot be resolved: %s", q->host,
		    gai_strerror(error));
}

/*
 * curl reads the file by way of the proxy that the environment names. Its user and password are not
 * shown.
 */
static void warn_of_proxy(const struct question *q)
{
	static const char *const plain[] = {"http_proxy", "all_proxy", "ALL_PROXY", NULL};
	static const char *const secure[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
					     NULL};
	const char *const *name = strncasecmp(q->destination, "https:", 6) ? plain : secure;
	const char *proxy = NULL, *at;

	if (q->options.probe != TCPTUNED_STREAMS_HTTP)
		return;
	while (*name && !((proxy = getenv(*name)) && *proxy))
		name++;
	if (!*name)
		return;
	at = strrchr(proxy, '@');
	fprintf(stderr,
		"tcptunectl: %s is set: unless no_proxy excludes the host, this is about the path to "
		"%s\n",
		*name, at ? at + 1 : proxy);
}

/* ---- what the daemon knows ------------------------------------------------------------------- */

/*
 * Set *@ret to its answer about the connections to the address; NULL if no daemon runs, or without
 * one.
 */
static int ask_daemon(const struct ctl *ctl, const struct question *q, json_t *request,
		      json_t **ret, struct tcptuned_error *err)
{
	int error;

	if (!q->address[0])
		return 0;
	json_object_set_new(request, "remote_address", json_string(q->address));
	json_object_set_new(request, "limit", json_integer(TCPTUNED_FLOWS_LIMIT_MAX));
	error = ctl_query(ctl->socket, request, ret, err);
	return q->passive ? error : 0;
}

/* True if @streams is more useful than @than, which may be NULL. */
static bool is_better(const json_t *streams, const json_t *than)
{
	const json_t *refused = json_object_get(streams, "refused");

	if (!than || !refused != !json_object_get(than, "refused"))
		return !than || !refused;
	return ctl_number(streams, "age_s") < ctl_number(than, "age_s");
}

/*
 * Set *@ret to what the daemon remembers of parallel connections to the address; NULL: nothing. Of
 * both directions and several congestion controls, it is what has a fit and was used last.
 */
static int ask_memory(const struct ctl *ctl, const struct question *q, json_t **ret,
		      struct tcptuned_error *err)
{
	json_auto_t *request = json_pack("{s:s,s:s}", "command", "paths", "address", q->address);
	json_auto_t *answer = NULL;
	json_t *streams, *best = NULL;
	int error = ctl_query(ctl->socket, request, &answer, err);
	size_t i;

	json_array_foreach (json_object_get(answer, "streams"), i, streams) {
		if ((q->options.receive && strcmp(ctl_text(streams, "direction"), "receive")) ||
		    (q->options.congestion_control &&
		     strcmp(ctl_text(streams, "congestion_control"),
			    q->options.congestion_control)))
			continue;
		if (is_better(streams, best))
			best = streams;
	}
	*ret = json_incref(best);
	return error;
}

/*
 * Advise from what is remembered, as a search does from its probes. Returns false if that is
 * refused.
 */
static bool conclude(const struct question *q, const json_t *memory,
		     struct tcptuned_streams_result *ret)
{
	json_t *levels = json_object_get(memory, "levels"), *level;
	size_t i;

	if (!memory || json_object_get(memory, "refused"))
		return false;
	json_array_foreach (levels, i, level) {
		if (i >= TCPTUNED_STREAMS_LEVELS_MAX ||
		    ctl_number(level, "streams") > q->options.streams_max)
			break;
		ret->levels[ret->levels_len++] = (struct tcptuned_streams_level){
			.streams = (unsigned int)ctl_number(level, "streams"),
			.rate = ctl_real(level, "bits_per_second"),
			.rate_peak = ctl_real(level, "peak_bits_per_second"),
			.loss = ctl_real(level, "loss"),
			.rtt_s = ctl_real(level, "rtt_seconds"),
			.rtt_min_s = ctl_real(level, "rtt_min_seconds"),
			.receiver_window = ctl_real(level, "receiver_window_share"),
			.send_buffer = ctl_real(level, "send_buffer_share"),
			.receives = !strcmp(ctl_text(memory, "direction"), "receive"),
		};
	}
	snprintf(ret->congestion_control, sizeof(ret->congestion_control), "%s",
		 ctl_text(memory, "congestion_control"));
	return !tcptuned_streams_conclude(&q->options, ret);
}

static void print_known(const json_t *known, const struct question *q)
{
	const json_t *flows = json_object_get(known, "flows");
	json_t *flow;
	size_t i;

	if (!known || (!q->passive && !ctl_number(known, "matched")))
		return;
	printf("The daemon knows %llu connection%s to %s", ctl_number(known, "matched"),
	       ctl_number(known, "matched") == 1 ? "" : "s", q->address);
	for (unsigned int l = 0; l < TCPTUNED_LIMITS; l++) {
		const char *word = tcptuned_word(WORDS_LIMIT, l);
		unsigned int count = 0;

		json_array_foreach (flows, i, flow)
			count += !strcmp(ctl_text(flow, "limit"), word);
		if (count)
			printf("\n  %u limited by %s: %s", count, word,
			       tcptuned_word_meaning(WORDS_LIMIT, l));
	}
	puts("");
}

/* ---- sentences ------------------------------------------------------------------------------- */

#define LIMIT(id)  [TCPTUNED_STREAMS_LIMIT_##id]
#define IMPACT(id) [TCPTUNED_STREAMS_IMPACT_##id]

static const struct {
	const char *word, *sentence, *remedy;
} limits[] = {
	LIMIT(UNKNOWN) = {"unknown", "the sender, or something that was not seen from here", ""},
	LIMIT(APPLICATION) = {"application", "the application: it sends less than it may",
			      "more connections help only if it serves each of them at this rate"},
	LIMIT(RECEIVER_WINDOW) =
		{"receiver_window", "the receiver's window",
		 "enlarge it first, with tcptuned at the receiver: one connection may then suffice"},
	LIMIT(SEND_BUFFER) =
		{"send_buffer", "the send buffer",
		 "enlarge it first, with tcptuned at the sender: one connection may then suffice"},
	LIMIT(LOSS) = {"loss", "the congestion window, which losses without a queue keep small",
		       "another congestion control may do as well: bitcp on long paths, or bbr"},
	LIMIT(QUEUE) = {"queue", "the congestion window, with a queue on the path",
			"the path is full: more connections take from others"},
	LIMIT(CWND) = {"cwnd", "the congestion window: no losses and no queue were seen",
		       "it may still have been growing"},
	LIMIT(PATH) = {"path", "the rate of the path, which it uses alone", ""},
	LIMIT(CONNECTION) = {"connection",
			     "something that limits each connection, and not their sum",
			     "the number is the wanted rate, divided by that of one connection"},
	LIMIT(PROCESSOR) = {"processor", "a busy processor at one of the ends",
			    "no more connections than processors"},
};

static const char *const ends[] = {
	[TCPTUNED_STREAMS_END_NO_GAIN] = "doubling the connections gained less than 5 %",
	[TCPTUNED_STREAMS_END_IMPACT] = "more were not measured, since others would lose too much",
	[TCPTUNED_STREAMS_END_WANTED] = "it carries the rate that is wanted",
	[TCPTUNED_STREAMS_END_MAX] = "no more may be measured",
	[TCPTUNED_STREAMS_END_BUDGET] =
		"the time, the bytes or the file were used up; more may be faster",
	[TCPTUNED_STREAMS_END_REFUSED] = "the server refuses more connections",
};

static const struct {
	const char *word, *sentence;
} impacts[] = {
	IMPACT(NONE) = {"none", "others lose nothing: each connection carries what one does"},
	IMPACT(MODEL) = {"model", "if they lose what each connection of ours loses"},
	IMPACT(UNCONGESTED) =
		{"uncongested",
		 "no impact was seen: more connections brought no more losses, and hardly a queue"},
	IMPACT(ALONE) = {"alone",
			 "no impact was seen: one connection met no losses and no queue of others"},
};

static const char *const confidences[] = {"low", "medium", "high"};

static const char *find_why(const struct tcptuned_streams_result *r, const json_t *memory)
{
	if (!memory)
		return ends[r->end];
	if (r->end != TCPTUNED_STREAMS_END_MAX)
		return "more gained less than 5 %";
	return json_array_size(json_object_get(memory, "levels")) > r->levels_len
		       ? "no more are allowed"
		       : "no more were seen";
}

static void print_rate(const char *format, double rate)
{
	char text[CTL_WORD];

	ctl_format_rate(rate, text);
	printf(format, text);
}

static void print_level(const struct tcptuned_streams_level *level)
{
	printf("%8u", level->streams);
	print_rate("  %13s", level->rate);
	print_rate("  %13s", level->rate / level->streams);
	printf(level->loss < 0 ? "        -" : "  %6.3f%%", level->loss * 100);
	printf("  %6.1f ms  %6.1f ms  %s\n", level->rtt_s * 1e3, level->rtt_min_s * 1e3,
	       limits[level->limit].word);
}

static void print_limit(const struct tcptuned_streams_result *r)
{
	enum tcptuned_streams_limit limit = r->levels[0].limit;
	const char *remedy = limits[limit].remedy;

	if (r->levels[0].streams > 1)
		printf("\nEach of %u connections is limited by ", r->levels[0].streams);
	else
		printf("\nOne connection is limited by ");
	if (r->within < r->fastest &&
	    (limit == TCPTUNED_STREAMS_LIMIT_LOSS || limit == TCPTUNED_STREAMS_LIMIT_QUEUE))
		puts("the congestion window: others seem to share the path.");
	else
		printf("%s%s%s.\n", limits[limit].sentence, *remedy ? ": " : "", remedy);
}

static void print_impact(const struct tcptuned_streams_result *r)
{
	if (!r->fit.levels)
		puts("more connections were not measured");
	else if (r->fastest == r->levels[0].streams)
		puts("more connections gain nothing, and take from others");
	else if (r->impact != TCPTUNED_STREAMS_IMPACT_MODEL)
		puts(impacts[r->impact].sentence);
	else if (r->within < r->fastest)
		printf("others lose %.0f %%, and %.0f %% at %u, %s\n", r->within_impact * 100,
		       r->fastest_impact * 100, r->fastest, impacts[r->impact].sentence);
	else
		printf("others lose %.0f %%, %s\n", r->within_impact * 100,
		       impacts[r->impact].sentence);
}

/* What it is made from, and what it has cost. */
static void print_basis(const struct tcptuned_streams_result *r, const json_t *memory)
{
	printf("\nConfidence %s. ", confidences[r->confidence]);
	if (memory) {
		printf("From %llu measurement intervals in which connections %s, the last one %llu s ago.\n",
		       ctl_number(memory, "windows"), r->levels[0].receives ? "received" : "sent",
		       ctl_number(memory, "age_s"));
		return;
	}
	printf("%.0f s and %.4g MB were used", r->seconds, r->bytes / 1e6);
	if (r->file_bytes > 0)
		printf(", %.3g %% of the size of the file", r->bytes / r->file_bytes * 100);
	puts(".");
}

/* @memory: what the levels come from; NULL: they were measured by a search. */
static void print_advice(const struct question *q, const struct tcptuned_streams_result *r,
			 const json_t *memory)
{
	puts(" STREAMS       TOGETHER           EACH     LOSS        RTT     MINRTT  LIMIT");
	for (unsigned int i = 0; i < r->levels_len; i++)
		print_level(&r->levels[i]);
	print_limit(r);
	printf("fastest        %3u", r->fastest);
	print_rate("  %s", r->fastest_rate);
	printf("; %s\n", find_why(r, memory));
	printf("within %4.3g %%  %3u", q->impact_max * 100, r->within);
	print_rate("  %s; ", r->within_rate);
	print_impact(r);
	if (q->options.bits_per_second > 0 && r->wanted)
		printf("wanted         %3u\n", r->wanted);
	else if (q->options.bits_per_second > 0)
		puts("wanted           -  no number that was measured or fitted carries that rate");
	print_basis(r, memory);
}

static json_t *level_json(const struct tcptuned_streams_level *l)
{
	return json_pack("{s:i, s:f, s:f, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:s}", "streams",
			 (int)l->streams, "bits_per_second", l->rate, "peak_bits_per_second",
			 l->rate_peak, "loss", l->loss < 0 ? json_null() : json_real(l->loss),
			 "rtt_seconds", l->rtt_s, "rtt_min_seconds", l->rtt_min_s,
			 "receiver_window_share", l->receiver_window, "send_buffer_share",
			 l->send_buffer, "application_share", l->application, "processor_share",
			 l->processor, "limit", limits[l->limit].word);
}

static json_t *number_json(unsigned int streams, double rate, double impact)
{
	return json_pack("{s:i, s:f, s:f}", "streams", (int)streams, "bits_per_second", rate,
			 "impact", impact);
}

static void print_json(const struct question *q, const struct tcptuned_streams_result *r,
		       const json_t *known, const json_t *memory)
{
	json_auto_t *levels = json_array(), *all;

	for (unsigned int i = 0; i < r->levels_len; i++)
		json_array_append_new(levels, level_json(&r->levels[i]));
	all = json_pack(
		"{s:s, s:s, s:f, s:O, s:o, s:o, s:s, s:f, s:i, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:O*,"
		" s:O*, s:O*}",
		"destination", q->destination, "probe", q->probe, "max_impact", q->impact_max,
		"levels", levels, "fastest",
		number_json(r->fastest, r->fastest_rate, r->fastest_impact), "within",
		number_json(r->within, r->within_rate, r->within_impact), "impact",
		impacts[r->impact].word, "model_impact", r->model_impact, "wanted_streams",
		(int)r->wanted, "limit", limits[r->levels[0].limit].word, "why",
		find_why(r, memory), "confidence", confidences[r->confidence], "congestion_control",
		r->congestion_control, "bytes", r->bytes, "file_bytes", r->file_bytes, "seconds",
		r->seconds, "windows", json_object_get(memory, "windows"), "age_s",
		json_object_get(memory, "age_s"), "known",
		known ? json_object_get(known, "flows") : NULL);
	ctl_print_json(all);
}

/* ---- the command ----------------------------------------------------------------------- */

static void print_progress(const struct tcptuned_streams *search)
{
	double rate;
	unsigned int streams = tcptuned_streams_probing(search, &rate);

	if (!isatty(STDERR_FILENO))
		return;
	if (streams)
		fprintf(stderr, "\r%u connection%s: %.0f Mbit/s\033[K", streams,
			streams > 1 ? "s" : "", rate / 1e6);
	else
		fprintf(stderr, "\r\033[K");
}

/*
 * Wait for the end of the search, or for a signal that ends this process as soon as it is
 * unblocked.
 */
static int wait_for_end(struct tcptuned_streams *search, int signals)
{
	struct pollfd fds[] = {{.fd = tcptuned_streams_fd(search), .events = POLLIN},
			       {.fd = signals, .events = POLLIN}};
	int error;

	while ((error = tcptuned_streams_step(search)) == 1) {
		print_progress(search);
		poll(fds, ARRAY_SIZE(fds), -1);
		if (fds[1].revents)
			return -EINTR;
	}
	print_progress(search);
	return error;
}

static int fail_to_start(const struct question *q, int error, struct tcptuned_error *err)
{
	const char *program = q->options.probe == TCPTUNED_STREAMS_HTTP ? "curl" : "iperf3";

	if (error == -ENOENT)
		return FAIL(err, ENOENT, INTERNAL,
			    "%s is not installed; install it, or write --probe", program);
	return FAIL(err, -error, INTERNAL, "%s cannot be started: %s", program, strerror(-error));
}

/*
 * Block the signals that would end this process, and return a descriptor that reads them. nohup(1),
 * for example, has some ignored: these do not end the search either.
 */
static int block_signals(sigset_t *before)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (!sigaction(signals[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&set, signals[i]);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	sigprocmask(SIG_BLOCK, &set, before);
	return fd;
}

static int search(struct question *q, struct tcptuned_streams_result *ret,
		  struct tcptuned_error *err)
{
	sigset_t before;
	_cleanup_close_ int signals = block_signals(&before);
	struct tcptuned_streams *search;
	int error;

	if (signals < 0)
		return FAIL(err, -signals, INTERNAL, "signalfd: %s", strerror(-signals));
	warn_of_proxy(q);
	error = tcptuned_streams_start(q->options.probe == TCPTUNED_STREAMS_HTTP ? q->url : q->host,
				       &q->options, &search);
	if (error) {
		fail_to_start(q, error, err);
	} else {
		error = wait_for_end(search, signals);
		if (error)
			FAIL(err, -error, INTERNAL, "%.80s: %s", q->destination,
			     error == -EINTR ? "interrupted" : tcptuned_streams_error(search));
		tcptuned_streams_result(search, ret);
		tcptuned_streams_free(search);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* Print why there is no advice from what is remembered. */
static int print_refusal(const struct ctl *ctl, const struct question *q, const json_t *known,
			 const json_t *memory, struct tcptuned_error *err)
{
	const char *refused = memory ? ctl_text(memory, "refused")
				     : "no measurement interval with the same connections so far";
	json_auto_t *answer = NULL;

	if (!*refused)
		refused = "only more connections than --max-streams allows were seen";
	answer = json_pack("{s:s, s:s, s:s, s:O*}", "destination", q->destination, "probe",
			   q->probe, "refused", refused, "known", json_object_get(known, "flows"));
	if (ctl->json)
		ctl_print_json(answer);
	else
		printf("No advice: %s.\n", refused);
	return 0;
}

static int run(const struct ctl *ctl, json_t *request, struct tcptuned_error *err)
{
	struct tcptuned_streams_result result = {.size = sizeof(result)};
	json_auto_t *known = NULL, *memory = NULL;
	_cleanup_free_ char *url = hide_credentials(ctl->arguments[0]);
	struct question q = {
		.options.size = sizeof(q.options), .url = url, .destination = ctl->arguments[0]};
	int error = (url ? 0 : FAIL(err, ENOMEM, INTERNAL, "out of memory")) ?:
		    parse_options(ctl, &q, err) ?:
		    resolve(&q, err) ?:
		    ask_daemon(ctl, &q, request, &known, err);

	if (error)
		return error;
	if (!ctl->json)
		print_known(known, &q);
	error = q.passive ? ask_memory(ctl, &q, &memory, err) : search(&q, &result, err);
	if (error)
		return error;
	if (q.passive && !conclude(&q, memory, &result))
		return print_refusal(ctl, &q, known, memory, err);
	if (ctl->json)
		print_json(&q, &result, known, memory);
	else
		print_advice(&q, &result, memory);
	return 0;
}

const struct ctl_command ctl_streams = {
	.name = "streams",
	.arguments = "DEST",
	.help = "Measure how many parallel connections to DEST are fastest, and how many take at most "
		"--max-impact from others, and print what limits one. 1, 2, 4 ... connections are "
		"measured as long as twice as many gain 5 %; one is measured again at the end, and "
		"there is no number if the path has changed. It works without a daemon; if one runs, "
		"what it knows of connections to DEST is printed first, and with --probe none the advice "
		"follows from what it has seen.",
	.options = options,
	.arguments_min = 1,
	.request = "flows",
	.run = run,
};
