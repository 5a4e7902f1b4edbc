// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random links and applications in the packet model: how often is a tuned connection worse than one
 * that the kernel sizes? The table is printed. SWEEP_SEED and SWEEP_SCENARIOS choose other
 * scenarios than those of CI, SWEEP_CELLS=1 prints each that is worse. Without SWEEP_SCENARIOS, and
 * without the sanitizers, only what is asserted is measured: less than half of the time.
 */
#include "test.h"
#include "rightsize_model.h"

#define SEEDS	  2
#define MEASURE_S 25.0
#define WORSE_MAX 0.01	/* of the cells with a steady link, where one end is tuned */
#define BDP_MAX	  50000 /* packets of a window and a queue, for the model's time */

enum application {
	ANSWERS,
	SEVERAL_ANSWERS,
	FRAMES,
	CHUNKS,
	ON_OFF,
	ANSWERS_THEN_BULK,
	FRAMES_THEN_BULK,
	APPLICATIONS,
	ALL = APPLICATIONS, /* in the table of sums */
};

enum link {
	STEADY,
	STEP,
	VARYING, /* delay */
	SHARED,	 /* with a connection that the kernel sizes */
	LINKS,
};

static const char *const application_names[APPLICATIONS] = {
	"answers", "several answers",	 "frames",	     "chunks",
	"on, off", "answers, then bulk", "frames, then bulk"};
static const char *const link_names[LINKS] = {"steady", "a step", "varying delay", "shared"};

/* The first is the noise: the kernel with other seeds. */
static const enum receiver tuned[] = {KERNEL, RIGHTSIZED, RIGHTSIZED_SENDER, RIGHTSIZED_BOTH};
static const char *const tuned_names[] = {"kernel", "receiver", "sender", "both"};

struct scenario {
	enum application application;
	enum link link;
	struct path path;
	struct app app;
	struct jitter jitter;
	struct model_step step;
	double seconds;
	bool neighbour_in_bursts;
};

struct outcome {
	double goodput, latency, latency_p99;
};

/* How many cells there were, and of these, those with less goodput and longer messages. */
struct shares {
	unsigned int cells, slower, later, late;
};

static struct shares sums[ALL + 1][LINKS][ARRAY_SIZE(tuned)];

static double uniform(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double)(*state >> 11) / (1ull << 53);
}

/* From @min to @max, as many in each doubling. */
static double scaled(uint64_t *state, double min, double max)
{
	return min * pow(max / min, uniform(state));
}

static struct app any_app(uint64_t *state, enum application application, double rtt_s,
			  double rate_Bps)
{
	double bdp = rtt_s * rate_Bps, answer = fmax(scaled(state, 0.03, 6) * bdp, 6000);
	struct app app = {.kind = APP_ANSWERS,
			  .outstanding = 1,
			  .keeps_cwnd = uniform(state) < 0.4,
			  .bytes = answer,
			  .think_s = scaled(state, 0.05, 10) * rtt_s,
			  .client_s = uniform(state) < 0.5 ? 0 : scaled(state, 0.1, 30) * rtt_s};

	switch (application) {
	case SEVERAL_ANSWERS:
		app.outstanding = 2 + (unsigned int)(15 * uniform(state));
		app.bytes = answer / 4;
		break;
	case FRAMES:
	case FRAMES_THEN_BULK:
	case CHUNKS:
		app.kind = APP_FRAMES;
		app.period_s = application == CHUNKS ? scaled(state, 0.1, 6)
						     : fmax(scaled(state, 0.2, 12) * rtt_s, 0.002);
		app.bytes = fmax(scaled(state, 0.02, 0.9) * rate_Bps * app.period_s, MODEL_PACKET);
		break;
	case ON_OFF:
		app.kind = APP_ON_OFF;
		app.on_s = scaled(state, 0.05, 5);
		app.off_s = scaled(state, 0.05, 5);
		break;
	default:
		break;
	}
	if (application == ANSWERS_THEN_BULK || application == FRAMES_THEN_BULK)
		app.bulk_from_s = 5 + 8 * uniform(state);
	return app;
}

/* 1 to 400 Mbit/s, 1 to 600 ms, a queue of 0.1 to 20 bandwidth-delay products. */
static struct scenario any_scenario(uint64_t *state)
{
	struct scenario s = {.seconds = MEASURE_S};
	double rate, packets, queue;

	do {
		s.path.mbit = scaled(state, 1, 400);
		s.path.base_ms = scaled(state, 1, 600);
		queue = scaled(state, 0.1, 20);
		rate = s.path.mbit * MBIT;
		packets = rate * s.path.base_ms / 1e3 * (1 + queue) / MODEL_PACKET;
	} while (packets > BDP_MAX);
	s.path.queue_s = fmax(queue * s.path.base_ms / 1e3, 30 * MODEL_PACKET / rate);
	s.application = (enum application)(APPLICATIONS * uniform(state));
	s.app = any_app(state, s.application, s.path.base_ms / 1e3, rate);
	if (s.app.bulk_from_s)
		s.seconds = 5 + 20 * s.path.base_ms / 1e3;
	s.link = uniform(state) < 0.5 ? STEADY : (enum link)(LINKS * uniform(state));
	if (s.link == STEP)
		s.step = (struct model_step){
			.at_ns = (uint64_t)((6 + 6 * uniform(state)) * SEC),
			.rate_Bps = rate * (uniform(state) < 0.5 ? 1 : scaled(state, 0.2, 4)),
			.base_ns = (uint64_t)(s.path.base_ms * MS * scaled(state, 0.5, 4))};
	if (s.link == VARYING)
		s.jitter = (struct jitter){
			.kind = 1 + (int)(3 * uniform(state)),
			.amount_ns = (uint64_t)(scaled(state, 0.3, 4) * s.path.base_ms * MS),
			.every_ns = (uint64_t)(scaled(state, 2, 50) * MS)};
	if (s.jitter.kind == JITTER_ONOFF)
		s.jitter.on_ns = s.jitter.every_ns / 3;
	s.neighbour_in_bursts = uniform(state) < 0.5;
	return s;
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static struct outcome run(const struct scenario *s, enum receiver receiver, uint64_t seed)
{
	struct delay_config config = {.seed = seed, .jitter = s->jitter};
	static struct delay_line line;
	struct outcome o = {0};
	struct model_flow *f, *other;
	uint64_t messages;
	double from_s;

	model_begin(&s->path, seed);
	if (s->jitter.kind) {
		delay_line_init(&line, &config);
		model.jitter = &line;
	}
	f = model_add(receiver, 0);
	f->app = s->app;
	if (s->link == SHARED) {
		other = model_add(KERNEL, 0.7);
		if (s->neighbour_in_bursts)
			other->app = (struct app){.kind = APP_FRAMES,
						  .bytes = s->path.mbit * MBIT / 5,
						  .period_s = 1};
	}
	model.step = s->step;
	if (s->step.at_ns)
		model.step.at_ns += EPOCH_NS;
	from_s = s->app.bulk_from_s ? s->app.bulk_from_s : 2;
	model_run(from_s);
	messages = f->arrived;
	f->latency_s = 0;
	model_latencies_len = 0;
	o.goodput = model_goodput(from_s + s->seconds);
	if (f->arrived == messages)
		return o;
	o.latency = f->latency_s / (double)(f->arrived - messages);
	qsort(model_latencies, model_latencies_len, sizeof(*model_latencies), compare_doubles);
	o.latency_p99 = model_latencies[model_latencies_len * 99 / 100];
	return o;
}

/* The mean of some seeds. */
static struct outcome outcome_of(const struct scenario *s, enum receiver receiver, uint64_t seed)
{
	struct outcome o = {0};

	for (uint64_t i = 0; i < SEEDS; i++) {
		struct outcome one = run(s, receiver, seed + i);

		o.goodput += one.goodput / SEEDS;
		o.latency += one.latency / SEEDS;
		o.latency_p99 += one.latency_p99 / SEEDS;
	}
	return o;
}

static void count_cell(struct shares *sum, bool slower, bool later, bool late)
{
	sum->cells++;
	sum->slower += slower;
	sum->later += later;
	sum->late += late;
}

static void add_cell(const struct scenario *s, unsigned int end, const struct outcome *kernel,
		     const struct outcome *o, unsigned int number)
{
	bool slower = o->goodput < 0.9 * kernel->goodput;
	bool later = o->latency > 1.1 * kernel->latency;
	bool late = o->latency_p99 > 1.5 * kernel->latency_p99;

	count_cell(&sums[s->application][s->link][end], slower, later, late);
	count_cell(&sums[ALL][s->link][end], slower, later, late);
	if (getenv("SWEEP_CELLS") && (slower || later || late))
		printf("%u %s, %s, %s: %.3g Mbit/s %.3g ms queue %.3g s; %.3g bytes think %.3g client %.3g "
		       "period %.3g on %.3g off %.3g, %u; goodput %.2f latency %.2f p99 %.2f\n",
		       number, application_names[s->application], link_names[s->link],
		       tuned_names[end], s->path.mbit, s->path.base_ms, s->path.queue_s,
		       s->app.bytes, s->app.think_s, s->app.client_s, s->app.period_s, s->app.on_s,
		       s->app.off_s, s->app.outstanding, o->goodput / kernel->goodput,
		       o->latency / kernel->latency, o->latency_p99 / kernel->latency_p99);
}

#define SCENARIOS (SANITIZED ? 60 : 750)

static void print_row(const char *link, const char *application, const struct shares *of)
{
	printf("%-14s %-19s %5u", link, application, of->cells);
	for_each_row (end, tuned_names) {
		double percent;

		if (!of[test_row].cells)
			continue;
		percent = 100.0 / of[test_row].cells;
		printf("  %s %.1f %.1f %.1f", *end, percent * of[test_row].slower,
		       percent * of[test_row].later, percent * of[test_row].late);
	}
	printf("\n");
}

static void check_table(void)
{
	const struct shares *of_all = sums[ALL][STEADY];

	printf("cells; %% with goodput < 0.9, mean latency > 1.1, p99 > 1.5 of the kernel's\n");
	for (int link = 0; link < LINKS; link++)
		for (int application = 0; application <= ALL; application++)
			print_row(link_names[link],
				  application < ALL ? application_names[application] : "all",
				  sums[application][link]);
	for (const struct shares *sum = of_all; sum < &of_all[RIGHTSIZED_BOTH]; sum++) {
		double allowed = fmax(WORSE_MAX * sum->cells, 1);

		assert_true(sum->slower <= allowed);
		assert_true(sum->later <= allowed);
		assert_true(sum->late <= allowed);
	}
}

static unsigned int number_from(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned int)strtoul(text, NULL, 10) : otherwise;
}

TEST(random_links_and_applications)
{
	unsigned int scenarios = number_from("SWEEP_SCENARIOS", SCENARIOS);
	uint64_t random = 0x9e3779b97f4a7c15ull * (number_from("SWEEP_SEED", 36) + 1);
	bool all = SANITIZED || getenv("SWEEP_SCENARIOS");

	for (unsigned int i = 0; i < scenarios; i++) {
		struct scenario s = any_scenario(&random);
		struct outcome kernel;

		if (!all && s.link != STEADY)
			continue;
		kernel = outcome_of(&s, KERNEL, 1);
		if (kernel.goodput < 0.02 * s.path.mbit * MBIT)
			continue;
		for_each_row (end, tuned) {
			struct outcome o;

			if (!all && *end == RIGHTSIZED_BOTH)
				continue;
			o = outcome_of(&s, *end, *end == KERNEL ? 1 + SEEDS : 1);
			add_cell(&s, test_row, &kernel, &o, i);
		}
	}
	check_table();
}
