// SPDX-License-Identifier: GPL-2.0-only
#include "options.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCESS_BPS_MIN	 10000000000ull
#define BDP_PACKETS_MIN	 10
#define REORDER_LATER_NS 1000000
/* A delay that a step of a schedule does not change; 0 is a delay. */
#define UNCHANGED UINT64_MAX

struct unit {
	const char *name;
	double factor;
};

static const struct unit rate_units[] = {
	{"bit", 1}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}, {0},
};
static const struct unit time_units[] = {
	{"us", 1e3},
	{"ms", 1e6},
	{"s", 1e9},
	{0},
};
static const struct unit size_units[] = {
	{"b", 1},	 {"kb", 1e3},	  {"mb", 1e6},	   {"gb", 1e9},
	{"kib", 0x1p10}, {"mib", 0x1p20}, {"gib", 0x1p30}, {0},
};
static const struct unit queue_units[] = {
	{"p", 1},
	{"bdp", 1},
	{0},
};

/* A number with a unit; the unit found is left in *@ret_unit. */
static int parse_number(const char *text, const struct unit *units, double *ret,
			const struct unit **ret_unit)
{
	char *end;

	errno = 0;
	*ret = strtod(text, &end);
	if (errno || end == text || !isfinite(*ret) || *ret < 0 || isspace(*text))
		return -EINVAL;
	for (; units->name; units++) {
		if (strcasecmp(end, units->name))
			continue;
		*ret *= units->factor;
		*ret_unit = units;
		return 0;
	}
	return -EINVAL;
}

static int parse_range(const char *text, const struct unit *units, double min, double max,
		       uint64_t *ret)
{
	const struct unit *unit;
	double value;

	if (parse_number(text, units, &value, &unit) || value < min || value > max)
		return -EINVAL;
	*ret = (uint64_t)llround(value);
	return 0;
}

static int parse_rate(void *to, const char *text)
{
	return parse_range(text, rate_units, 56e3, 10e9, to);
}

static int parse_delay(void *to, const char *text)
{
	return parse_range(text, time_units, 0, 500e6, to);
}

static int parse_queue(void *to, const char *text)
{
	struct limit *limit = to;
	const struct unit *unit;
	double value;

	*limit = (struct limit){0};
	if (!parse_number(text, queue_units, &value, &unit)) {
		if (*unit->name == 'b')
			limit->bdp = value;
		else if (value >= 1 && value <= 4e6 && value == floor(value))
			limit->packets = (uint32_t)value;
		return limit->packets || (limit->bdp > 0 && value <= 1000) ? 0 : -EINVAL;
	}
	return parse_range(text, size_units, 1500, 4e9, &limit->bytes);
}

static int parse_loss(void *to, const char *text)
{
	static const struct unit none[] = {{"", 1}, {"%", 0.01}, {0}};
	const struct unit *unit;
	double *loss = to;

	return parse_number(text, none, loss, &unit) || *loss > 1 ? -EINVAL : 0;
}

/* "NAME" or "NAME=VALUE": cuts it in two; NULL where there is no value. */
static char *cut_value(char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	return value;
}

/* Calls @set for each of the words between commas, until one is wrong. */
static int each_word(const char *text, int (*set)(void *to, char *word), void *to)
{
	char copy[4096], *save, *word, *rest = copy;
	int err = 0;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return -EINVAL;
	for (; !err && (word = strtok_r(rest, ",", &save)); rest = NULL)
		err = set(to, word);
	return err;
}

/* Cuts @copy, a copy of @text, at @delimiters; returns how many parts there are, 0: too many. */
static unsigned int cut(const char *text, const char *delimiters, char copy[256], char **parts,
			unsigned int max)
{
	unsigned int count = 0;
	char *rest = copy;

	if (snprintf(copy, 256, "%s", text) >= 256)
		return 0;
	while (rest && count < max)
		parts[count++] = strsep(&rest, delimiters);
	return rest ? 0 : count;
}

static int parse_bursts(void *to, const char *text)
{
	struct bursts *b = to;
	char copy[256], *parts[2];

	if (cut(text, ":", copy, parts, 2) != 2)
		return -EINVAL;
	return parse_loss(&b->enter, parts[0]) ?: parse_loss(&b->leave, parts[1]);
}

static int parse_reorder(void *to, const char *text)
{
	struct delay_config *d = to;
	char copy[256], *parts[2];
	unsigned int count = cut(text, ":", copy, parts, 2);

	d->reorder_ns = REORDER_LATER_NS;
	if (!count || parse_loss(&d->reorder, parts[0]))
		return -EINVAL;
	return count == 2 ? parse_delay(&d->reorder_ns, parts[1]) : 0;
}

static int parse_police(void *to, const char *text)
{
	struct queue_config *q = to;
	char copy[256], *parts[3];
	unsigned int count = cut(text, ":", copy, parts, 3);

	q->police_flows = count == 3;
	if (count < 2 || (q->police_flows && strcmp(parts[2], "flow")) ||
	    parse_rate(&q->police_bps, parts[0]))
		return -EINVAL;
	return parse_range(parts[1], size_units, 1500, 4e9, &q->police_bytes);
}

static int parse_onoff(struct jitter *j, const char *text)
{
	char copy[256], *parts[3];

	j->kind = JITTER_ONOFF;
	if (cut(text, ":", copy, parts, 3) != 3 || parse_delay(&j->amount_ns, parts[0]) ||
	    parse_range(parts[1], time_units, 1e3, 1e12, &j->on_ns) ||
	    parse_range(parts[2], time_units, 1e3, 1e12, &j->every_ns))
		return -EINVAL;
	return j->on_ns < j->every_ns ? 0 : -EINVAL;
}

static int set_jitter_word(void *to, char *word)
{
	const char *value = cut_value(word);
	struct jitter *j = to;

	if (!value)
		return -EINVAL;
	if (!strcmp(word, "every"))
		return j->kind == JITTER_ONOFF
			       ? -EINVAL
			       : parse_range(value, time_units, 1e3, 1e12, &j->every_ns);
	if (j->kind)
		return -EINVAL;
	if (!strcmp(word, "onoff"))
		return parse_onoff(j, value);
	j->kind = !strcmp(word, "uniform") ? JITTER_UNIFORM : JITTER_EXPONENTIAL;
	if (j->kind == JITTER_EXPONENTIAL && strcmp(word, "exponential"))
		return -EINVAL;
	return parse_delay(&j->amount_ns, value);
}

static int parse_jitter(void *to, const char *text)
{
	struct jitter *j = to;

	*j = (struct jitter){.every_ns = JITTER_EVERY_NS};
	return each_word(text, set_jitter_word, j) || !j->kind ? -EINVAL : 0;
}

/* "T:RATE:DELAY[:QUEUE]"; resolve_schedule() fills in what is empty. */
static int add_step(void *to, char *word)
{
	char copy[256], *parts[4];
	unsigned int count = cut(word, ":", copy, parts, 4);
	struct schedule *s = to;
	struct step *step = &s->steps[s->count];
	struct limit limit = {0};

	*step = (struct step){.delay_ns = UNCHANGED};
	if (count < 3 || parse_range(parts[0], time_units, 1, 1e15, &step->at_ns) ||
	    (*parts[1] && parse_rate(&step->rate_bps, parts[1])) ||
	    (*parts[2] && parse_delay(&step->delay_ns, parts[2])) ||
	    (count == 4 && *parts[3] && parse_queue(&limit, parts[3])) || limit.bdp > 0 ||
	    step->at_ns <= step[-1].at_ns)
		return -EINVAL;
	step->limit_bytes = limit.bytes;
	step->limit_packets = limit.packets;
	s->count++;
	return 0;
}

/* Leaves the first step free for what the other options say. */
static int parse_schedule(void *to, const char *text)
{
	struct schedule *s = to;

	free(s->steps);
	s->count = 1;
	s->steps = calloc(strlen(text) / 2 + 2, sizeof(*s->steps));
	if (!s->steps)
		return -ENOMEM;
	return each_word(text, add_step, s) || s->count == 1 ? -EINVAL : 0;
}

static int parse_trace(void *to, const char *text)
{
	FILE *in = fopen(text, "re");
	int err;

	if (!in)
		return -errno;
	trace_free(to);
	err = trace_read(in, to);
	fclose(in);
	return err;
}

static int parse_count(void *to, const char *text)
{
	char *end;

	errno = 0;
	*(uint64_t *)to = strtoull(text, &end, 10);
	return errno || !isdigit(*text) || *end ? -EINVAL : 0;
}

static int add_lost(void *to, char *word)
{
	struct queue_config *q = to;
	uint64_t *at = &q->lose[q->lose_count];

	if (parse_count(at, word) || !*at || (q->lose_count && *at <= at[-1]))
		return -EINVAL;
	q->lose_count++;
	return 0;
}

static int parse_lose(void *to, const char *text)
{
	struct queue_config *q = to;

	q->lose_count = 0;
	free(q->lose);
	q->lose = calloc(strlen(text) / 2 + 1, sizeof(*q->lose));
	if (!q->lose)
		return -ENOMEM;
	return each_word(text, add_lost, q) || !q->lose_count ? -EINVAL : 0;
}

static const struct red_word {
	const char *name;
	size_t offset;
	double min, max; /* of a number; both 0: a word that stands alone */
} red_words[] = {
#define AT(field) offsetof(struct red_config, field)
	{"min", AT(min_th), 1, 4e6},	  {"max", AT(max_th), 1, 4e6},
	{"max_p", AT(max_p), 1e-6, 1},	  {"weight", AT(weight), 1e-9, 1},
	{"gentle", AT(gentle), 0, 0},	  {"wait", AT(wait), 0, 0},
	{"adaptive", AT(adaptive), 0, 0}, {"bottom", AT(bottom), 1e-6, 1},
	{"top", AT(top), 1e-6, 1},	  {"mean", AT(mean_bytes), 40, 65535},
#undef AT
};

static int set_red_word(void *red, char *word)
{
	static const struct unit packets[] = {{"", 1}, {"p", 1}, {0}};
	const char *value = cut_value(word);

	for (size_t i = 0; i < sizeof(red_words) / sizeof(red_words[0]); i++) {
		const struct red_word *w = &red_words[i];
		void *at = (char *)red + w->offset;
		const struct unit *unit;
		double number;

		if (strcmp(word, w->name) || !value != !w->max)
			continue;
		if (!value) {
			*(bool *)at = true;
			return 0;
		}
		if (parse_number(value, packets, &number, &unit) || number < w->min ||
		    number > w->max)
			return -EINVAL;
		*(double *)at = number;
		return 0;
	}
	return -EINVAL;
}

static int parse_red(void *to, const char *text)
{
	struct red_config *red = to;

	*red = (struct red_config){
		.on = true, .max_p = RED_MAX_P, .bottom = RED_BOTTOM, .top = RED_TOP};
	if (!strcmp(text, "auto"))
		return 0;
	if (!*text || each_word(text, set_red_word, red))
		return -EINVAL;
	return red->bottom > red->top || (red->max_th > 0 && red->max_th <= red->min_th) ? -EINVAL
											 : 0;
}

/* The first one is the address. */
static int set_host_word(void *to, char *word)
{
	const char *value = cut_value(word);
	struct host *host = to;

	if (!*host->name) {
		if (value || inet_pton(AF_INET, word, &host->address) != 1)
			return -EINVAL;
		memcpy(host->name, word, strlen(word) + 1);
		return 0;
	}
	if (!value)
		return -EINVAL;
	if (!strcmp(word, "delay"))
		return parse_delay(&host->delay_ns, value);
	return strcmp(word, "rate") ? -EINVAL : parse_rate(&host->rate_bps, value);
}

/* Each one adds a host. */
static int parse_host(void *to, const char *text)
{
	struct options *o = (struct options *)((char *)to - offsetof(struct options, hosts));

	if (!*text || o->host_count == HOSTS_MAX)
		return -EINVAL;
	return each_word(text, set_host_word, &o->hosts[o->host_count++]);
}

static int parse_seconds(void *to, const char *text)
{
	static const struct unit none[] = {{"", 1}, {"s", 1}, {0}};
	const struct unit *unit;
	double *seconds = to;

	return parse_number(text, none, seconds, &unit) || *seconds > 1e6 ? -EINVAL : 0;
}

static int parse_tolerance(void *to, const char *text)
{
	static const struct unit none[] = {{"", 1}, {0}};
	const struct unit *unit;
	double *factor = to;

	return parse_number(text, none, factor, &unit) || *factor < 1 || *factor > 100 ? -EINVAL
										       : 0;
}

static int parse_idle(void *to, const char *text)
{
	enum link_idle *ret = to;

	*ret = !strcmp(text, "poll")   ? LINK_POLLS
	       : !strcmp(text, "save") ? LINK_SAVES
				       : LINK_SLEEPS;
	return *ret != LINK_SLEEPS || !strcmp(text, "sleep") ? 0 : -EINVAL;
}

static int parse_text(void *to, const char *text)
{
	*(const char **)to = text;
	return *text ? 0 : -EINVAL;
}

static int parse_device(void *to, const char *text)
{
	return strlen(text) < 16 && !strchr(text, '/') ? parse_text(to, text) : -EINVAL;
}

/* How an option names the places that it sets. */
enum sides {
	ONE,	    /* a single value */
	ENDS,	    /* --name-a and --name-b */
	DIRECTIONS, /* --name for both, --name-ab and --name-ba for one */
};

static const struct option_row {
	const char *name;
	enum sides sides;
	int (*parse)(void *to, const char *text);
	size_t offset, step;
	const char *arg, *help;
} rows[] = {
#define AT(field, steps) \
	offsetof(struct options, field), sizeof(((struct options *)0)->field) / (steps)
#define WAY(field) offsetof(struct options, direction[0].field), sizeof(struct direction)
	{"ns", ENDS, parse_text, AT(netns, 2), "NAME",
	 "network namespace, by its name under /run/netns (default: this one)"},
	{"dev", ENDS, parse_device, AT(device, 2), "NAME", "device to make there (tun0)"},
	{"addr", ENDS, parse_text, AT(addr4, 2), "A.B.C.D/N",
	 "IPv4 address (10.99.0.1/30 and 10.99.0.2/30)"},
	{"addr6", ENDS, parse_text, AT(addr6, 2), "X::Y/N",
	 "IPv6 address (fd99::1/64 and fd99::2/64)"},
	{"rate", DIRECTIONS, parse_rate, WAY(queue.rate_bps), "RATE",
	 "56kbit to 10gbit, of IP packets (1gbit)"},
	{"delay", DIRECTIONS, parse_delay, WAY(delay.delay_ns), "TIME",
	 "one way, 0ms to 500ms (25ms)"},
	{"queue", DIRECTIONS, parse_queue, WAY(limit), "SIZE|Np|Xbdp",
	 "drop-tail limit: 20MB, 512KiB, 100p (packets), 1bdp (rate times both delays) (1bdp)"},
	{"jitter", DIRECTIONS, parse_jitter, WAY(delay.jitter),
	 "uniform=TIME|exponential=MEAN[,every=TIME]|onoff=TIME:ON:PERIOD",
	 "extra delay, drawn again each time (20ms), order kept; onoff: TIME in the first ON"},
	{"schedule", DIRECTIONS, parse_schedule, WAY(queue.schedule),
	 "T:[RATE]:[DELAY][:QUEUE][,...]",
	 "at T after the first packet: the new rate, delay and queue; what is empty stays"},
	{"trace", DIRECTIONS, parse_trace, WAY(trace), "FILE",
	 "mahimahi's: ms of each opportunity to send 1500 bytes, repeats; instead of a rate"},
	{"red", DIRECTIONS, parse_red, WAY(queue.red), "WORD[,WORD...]|auto",
	 "RED: min=Np, max=Np, max_p=P, weight=W, gentle, wait, adaptive, bottom=P, top=P, mean=N"},
	{"loss", DIRECTIONS, parse_loss, WAY(queue.loss), "P",
	 "random loss of segments, 1e-4 or 0.01% (0)"},
	{"loss-bursts", DIRECTIONS, parse_bursts, WAY(queue.bursts), "P:R",
	 "Gilbert-Elliott: probability to become bad, where all segments are lost, and to become good"},
	{"reorder", DIRECTIONS, parse_reorder, WAY(delay), "P[:TIME]",
	 "segments of probability P are delivered TIME (1ms) later, behind those after them"},
	{"mark", DIRECTIONS, parse_queue, WAY(mark), "SIZE|Np|Xbdp",
	 "a queue longer than that marks ECN-capable segments with CE"},
	{"police", DIRECTIONS, parse_police, WAY(queue), "RATE:BURST[:flow]",
	 "token bucket before the queue: drops what is beyond RATE and BURST bytes; one per flow"},
	{"loss-at", DIRECTIONS, parse_lose, WAY(queue), "N[,N...]",
	 "loses exactly the Nth segments that carry data, ascending, from 1"},
	{"host", ONE, parse_host, AT(hosts, 1), "A.B.C.D[,delay=TIME][,rate=RATE]",
	 "a host behind one of the ends, with an access link of its own (up to 256)"},
	{"seed", ONE, parse_count, AT(seed, 1), "N", "of all that is random (1)"},
	{"tolerance", ONE, parse_tolerance, AT(tolerance, 1), "FACTOR",
	 "1 to 100: accept so many times the lateness that makes a run invalid (1)"},
	{"judge-after", ONE, parse_seconds, AT(judge_after_s, 1), "SECONDS",
	 "lateness before that is reported, but makes no run invalid (0)"},
	{"idle", ONE, parse_idle, AT(idle, 1), "sleep|poll|save",
	 "poll: keep idle processors busy, where a virtual machine's wake late, and spin on slow links; "
	 "save: take little processor time, and be up to 0.5 ms late (sleep)"},
	{"duration", ONE, parse_seconds, AT(duration_s, 1), "SECONDS",
	 "end by itself after this time (0: on SIGTERM or SIGINT only)"},
	{"stats", ONE, parse_text, AT(stats_path, 1), "FILE",
	 "write statistics (JSON) at the end, and a snapshot at every SIGUSR1 (/dev/null)"},
#undef AT
};

static void print_help(void)
{
	static const char *const suffix[] = {
		[ONE] = "",
		[ENDS] = "-a|-b",
		[DIRECTIONS] = "[-ab|-ba]",
	};

	printf("linkem: joins two network namespaces by an emulated link (needs root), and prints `ready`\n\n"
	       "usage: linkem [--OPTION VALUE]...\n\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		printf("  --%s%s %s\n\t%s\n", rows[i].name, suffix[rows[i].sides], rows[i].arg,
		       rows[i].help);
	printf("\n-a and -b name an end of the link, -ab and -ba a direction; without them an\n"
	       "option sets both directions.\n\n"
	       "--host: segments from its address cross its access link before they\n"
	       "get to the queue, and segments to it after the delay of the link. Neither end of an\n"
	       "access link loses anything: what waits there is in linkem's memory, 16 MB and 256 KB\n"
	       "for each host in addition to what the link holds, and a run that fills it is invalid.\n"
	       "A host without a rate sends at 10 Gbit/s, or four times the rate of a link above\n"
	       "2.5 Gbit/s, as do all that are not named together. The addresses have to be given to\n"
	       "the device by others (ip address add). A queue in bdp does not take their delays into account.\n\n"
	       "Schedules and traces begin with the first packet of their direction. A rate that changes\n"
	       "holds for what waits, too; a delay that shrinks lets nothing overtake. A trace has\n"
	       "no other rate, and the queue, the delay and everything else as it is set.\n\n"
	       "--red drops before the limit, by the average queue in packets: none below min, up\n"
	       "to max_p (0.1) at max, and all beyond; gentle: all beyond twice max. wait: drops are\n"
	       "1/p to 2/p packets apart, not 1 to 1/p. adaptive: max_p moves between bottom (0.01)\n"
	       "and top (0.5). What is not given is automatic as in ns-2: min 2.5 ms of the rate, max\n"
	       "three times that, weight ten round trips. mean: the bytes of a packet for that (the\n"
	       "MTU; ns-2 has 500, and with larger packets a longer queue). Examples:\n"
	       "  min=10p,max=40p,weight=0.002,wait   Floyd, Jacobson 1993 in ns-2, a queue of 50p\n"
	       "  gentle,wait,adaptive,mean=500       Adaptive RED 2001 in ns-2\n\n"
	       "Exit codes: 0 ended, the run is valid; 1 could not be set up; 2 wrong usage;\n"
	       "3 the emulator itself was late or overloaded: the run is not a result.\n");
}

/* Which sides (bit 0, bit 1) the option's @suffix means, 0 if there is no such suffix. */
static unsigned int sides_of(enum sides sides, const char *suffix)
{
	switch (sides) {
	case ONE:
		return *suffix ? 0 : 1;
	case ENDS:
		return !strcmp(suffix, "-a") ? 1 : !strcmp(suffix, "-b") ? 2 : 0;
	case DIRECTIONS:
		if (!*suffix)
			return 3;
		return !strcmp(suffix, "-ab") ? 1 : !strcmp(suffix, "-ba") ? 2 : 0;
	}
	return 0;
}

static const struct option_row *find_row(const char *name, unsigned int *ret_sides)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].name);

		if (strncmp(name, rows[i].name, len))
			continue;
		*ret_sides = sides_of(rows[i].sides, name + len);
		if (*ret_sides)
			return &rows[i];
	}
	return NULL;
}

static int parse_option(struct options *o, const char *name, const char *value)
{
	unsigned int sides;
	const struct option_row *row = find_row(name, &sides);

	if (!row) {
		fprintf(stderr, "linkem: there is no option --%s; see --help\n", name);
		return -EINVAL;
	}
	if (!value) {
		fprintf(stderr, "linkem: --%s needs a value: %s\n", name, row->arg);
		return -EINVAL;
	}
	for (unsigned int side = 0; side < 2; side++) {
		void *to = (char *)o + row->offset + side * row->step;

		if (!(sides & 1u << side) || !row->parse(to, value))
			continue;
		fprintf(stderr, "linkem: --%s %s is wrong, %s expected: %s\n", name, value,
			row->arg, row->help);
		return -EINVAL;
	}
	return 0;
}

/* Without a delay there is no product: @min_bytes then. */
static void resolve_limit(struct limit *l, double bdp_bytes, uint32_t min_bytes)
{
	if (l->bdp <= 0)
		return;
	l->bytes = (uint64_t)(l->bdp * bdp_bytes);
	if (l->bytes < min_bytes)
		l->bytes = min_bytes;
}

/* The first step is what the other options say; each keeps what it does not change. */
static void resolve_schedule(struct schedule *s, struct step first)
{
	if (s->count)
		s->steps[0] = first;
	for (unsigned int i = 1; i < s->count; i++) {
		const struct step *before = &s->steps[i - 1];
		struct step *step = &s->steps[i];

		if (!step->rate_bps)
			step->rate_bps = before->rate_bps;
		if (step->delay_ns == UNCHANGED)
			step->delay_ns = before->delay_ns;
		if (step->limit_bytes || step->limit_packets)
			continue;
		step->limit_bytes = before->limit_bytes;
		step->limit_packets = before->limit_packets;
	}
}

/* Of the sender's interface: 10 Gbit/s, or four times the rate of a faster link. */
static uint64_t access_bps(uint64_t rate_bps)
{
	return 4 * rate_bps > ACCESS_BPS_MIN ? 4 * rate_bps : ACCESS_BPS_MIN;
}

/* What depends on other options. */
static void resolve(struct options *o)
{
	double rtt_s = (o->direction[0].delay.delay_ns + o->direction[1].delay.delay_ns) / 1e9;

	for (int i = 0; i < 2; i++) {
		struct direction *d = &o->direction[i];
		struct queue_config *q = &d->queue;
		double bdp;

		if (d->trace.count) {
			q->trace = &d->trace;
			q->rate_bps = trace_mean_bps(&d->trace);
		}
		q->access_bps = access_bps(q->rate_bps);
		q->packet_bytes = LINK_MTU;
		/* the directions must not lose in step */
		q->seed = d->delay.seed = o->seed * 2 + i;
		if (q->red.on)
			red_config_resolve(&q->red, q->rate_bps, d->delay.delay_ns, LINK_MTU);
		bdp = rtt_s * (double)q->rate_bps / 8;
		resolve_limit(&d->limit, bdp, BDP_PACKETS_MIN * LINK_MTU);
		resolve_limit(&d->mark, bdp, LINK_MTU);
		q->limit_bytes = d->limit.bytes;
		q->limit_packets = d->limit.packets;
		q->mark_bytes = d->mark.bytes;
		q->mark_packets = d->mark.packets;
		resolve_schedule(&q->schedule, (struct step){
						       .rate_bps = q->rate_bps,
						       .delay_ns = d->delay.delay_ns,
						       .limit_bytes = q->limit_bytes,
						       .limit_packets = q->limit_packets,
					       });
		d->delay.schedule = q->schedule;
	}
}

int options_parse(struct options *ret, int argc, char **argv)
{
	*ret = (struct options){
		.device = {"tun0", "tun0"},
		.addr4 = {"10.99.0.1/30", "10.99.0.2/30"},
		.addr6 = {"fd99::1/64", "fd99::2/64"},
		.seed = 1,
		.tolerance = 1,
		.stats_path = "/dev/null",
	};
	for (int i = 0; i < 2; i++)
		ret->direction[i] = (struct direction){
			.queue.rate_bps = 1000000000,
			.delay.delay_ns = 25000000,
			.limit.bdp = 1,
		};
	for (int i = 1; i < argc; i++) {
		char name[32], *value = strchr(argv[i], '=');
		size_t len;
		int err;

		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			print_help();
			return 1;
		}
		if (strncmp(argv[i], "--", 2)) {
			fprintf(stderr, "linkem: what is `%s`? see --help\n", argv[i]);
			return -EINVAL;
		}
		len = value ? (size_t)(value - argv[i] - 2) : strlen(argv[i] + 2);
		snprintf(name, sizeof(name), "%.*s", (int)len, argv[i] + 2);
		err = parse_option(ret, name, value ? value + 1 : argv[i + 1]);
		if (err)
			return err;
		if (!value)
			i++;
	}
	resolve(ret);
	return 0;
}

void options_free(struct options *o)
{
	for (int i = 0; i < 2; i++) {
		free(o->direction[i].queue.lose);
		free(o->direction[i].queue.schedule.steps);
		trace_free(&o->direction[i].trace);
	}
}
