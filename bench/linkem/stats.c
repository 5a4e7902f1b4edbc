// SPDX-License-Identifier: GPL-2.0-only
#include "stats.h"

#include <inttypes.h>
#include <stdarg.h>

static unsigned int bucket_of(uint64_t value)
{
	unsigned int octave;

	if (value < HISTOGRAM_STEPS)
		return value;
	octave = 63 - __builtin_clzll(value) - 5;
	return (octave + 1) * HISTOGRAM_STEPS + (unsigned int)(value >> octave) - HISTOGRAM_STEPS;
}

static uint64_t bucket_end(unsigned int bucket)
{
	unsigned int octave = bucket / HISTOGRAM_STEPS;

	if (!octave)
		return bucket;
	return ((uint64_t)(bucket % HISTOGRAM_STEPS + HISTOGRAM_STEPS + 1) << (octave - 1)) - 1;
}

void histogram_add(struct histogram *h, uint64_t value)
{
	h->buckets[bucket_of(value)]++;
	h->count++;
	if (value > h->max)
		h->max = value;
}

uint64_t histogram_quantile(const struct histogram *h, double q)
{
	uint64_t seen = 0, want = (uint64_t)(q * (double)h->count);

	for (unsigned int i = 0; i < sizeof(h->buckets) / sizeof(h->buckets[0]); i++) {
		seen += h->buckets[i];
		if (seen > want)
			return bucket_end(i) < h->max ? bucket_end(i) : h->max;
	}
	return h->max;
}

static uint64_t largest(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t ab = a > b ? a : b;

	return ab > c ? ab : c;
}

uint64_t report_late_p99_limit_ns(uint64_t rtt_ns, uint64_t segment_ns)
{
	return largest(500000, rtt_ns / 100, segment_ns / 10);
}

uint64_t report_late_max_limit_ns(uint64_t rtt_ns, uint64_t segment_ns)
{
	return largest(20000000, rtt_ns / 2, segment_ns / 2);
}

double report_cpu_wait_limit_us(uint64_t segment_ns)
{
	return (double)largest(20000, segment_ns / 1000, 0) / 1e3;
}

/* The list of reasons, which ends up in the JSON: one call per reason. */
struct reasons {
	FILE *out;
	unsigned int count;
};

static void __attribute__((format(printf, 3, 4)))
invalid_if(bool bad, struct reasons *r, const char *format, ...)
{
	va_list args;

	if (!bad)
		return;
	fputs(r->count++ ? ", \"" : "\"", r->out);
	va_start(args, format);
	vfprintf(r->out, format, args);
	va_end(args);
	fputc('"', r->out);
}

static void judge_direction(struct reasons *r, const struct direction_report *d,
			    const struct report *all)
{
	const struct direction_stats *s = d->stats;
	uint64_t segment_ns = LINK_MTU * 8000000000ull / queue_fastest_bps(d->config);
	double tolerance = all->tolerance;
	uint64_t late = histogram_quantile(&s->late, 0.99);
	uint64_t gap = histogram_quantile(&s->gap, 0.99);
	uint64_t limit =
		(uint64_t)(tolerance * (double)report_late_p99_limit_ns(all->rtt_ns, segment_ns));
	uint64_t limit_max =
		(uint64_t)(tolerance * (double)report_late_max_limit_ns(all->rtt_ns, segment_ns));
	double wait_limit_us = tolerance * report_cpu_wait_limit_us(segment_ns);
	uint64_t stall = s->late.max > s->gap.max ? s->late.max : s->gap.max;

	invalid_if(s->verdicts[VERDICT_NO_ROOM].segments, r,
		   "%s: out of buffers for %" PRIu64 " segments", d->name,
		   s->verdicts[VERDICT_NO_ROOM].segments);
	invalid_if(!d->counters_known, r, "%s: a device or its counters are gone", d->name);
	invalid_if(d->sender.tx_dropped, r, "%s: the TUN ring overflowed, %" PRIu64 " packets",
		   d->name, d->sender.tx_dropped);
	invalid_if(s->write_errors || d->receiver.rx_dropped, r,
		   "%s: the receiver's device refused %" PRIu64 " packets", d->name,
		   s->write_errors + d->receiver.rx_dropped);
	invalid_if(s->read_errors, r, "%s: %" PRIu64 " failed reads", d->name, s->read_errors);
	invalid_if(s->malformed, r, "%s: %" PRIu64 " packets that make no sense", d->name,
		   s->malformed);
	invalid_if(late > limit, r, "%s: delivered late, p99 %" PRIu64 " us (limit %" PRIu64 ")",
		   d->name, late / 1000, limit / 1000);
	invalid_if(gap > limit, r, "%s: read late, p99 %" PRIu64 " us (limit %" PRIu64 ")", d->name,
		   gap / 1000, limit / 1000);
	invalid_if(d->cpu_wait_us > wait_limit_us, r,
		   "%s: waited for a CPU, %.1f us on average (limit %.0f)", d->name, d->cpu_wait_us,
		   wait_limit_us);
	invalid_if(stall > limit_max, r, "%s: stalled for %" PRIu64 " us (limit %" PRIu64 ")",
		   d->name, stall / 1000, limit_max / 1000);
}

static bool write_verdict(FILE *out, const struct report *r)
{
	struct reasons reasons = {.out = out};

	fprintf(out, "  \"invalid_reasons\": [");
	for (int i = 0; i < 2; i++)
		judge_direction(&reasons, &r->direction[i], r);
	fprintf(out, "],\n  \"valid\": %s,\n", reasons.count ? "false" : "true");
	return !reasons.count;
}

static void write_tally(FILE *out, const char *name, const struct tally *t)
{
	fprintf(out,
		"\"%s\": {\"segments\": %" PRIu64 ", \"data_segments\": %" PRIu64
		", \"bytes\": %" PRIu64 "}",
		name, t->segments, t->data_segments, t->bytes);
}

static void write_histogram(FILE *out, const char *name, const struct histogram *h)
{
	fprintf(out, "    \"%s_us\": {\"p50\": %.1f, \"p99\": %.1f, \"max\": %.1f},\n", name,
		histogram_quantile(h, 0.5) / 1e3, histogram_quantile(h, 0.99) / 1e3, h->max / 1e3);
}

static void add_tally(struct tally *to, const struct tally *t)
{
	to->segments += t->segments;
	to->data_segments += t->data_segments;
	to->bytes += t->bytes;
}

static void write_drops(FILE *out, const struct tally *verdicts)
{
	static const char *const names[VERDICT_COUNT] = {
		[VERDICT_LOST] = "loss",	 [VERDICT_BURST] = "loss_bursts",
		[VERDICT_CHOSEN] = "chosen",	 [VERDICT_POLICED] = "policed",
		[VERDICT_FULL] = "queue",	 [VERDICT_EARLY] = "red_early",
		[VERDICT_FORCED] = "red_forced", [VERDICT_NO_ROOM] = "no_room",
	};
	struct tally total = {0};

	fprintf(out, "\"drops\": {");
	for (int i = VERDICT_LOST; i < VERDICT_COUNT; i++) {
		write_tally(out, names[i], &verdicts[i]);
		fprintf(out, ",\n              ");
		add_tally(&total, &verdicts[i]);
	}
	write_tally(out, "total", &total);
	fprintf(out, "}");
}

static void write_red(FILE *out, const struct red *r)
{
	const struct red_config *c;

	if (!r) {
		fprintf(out, "    \"red\": null,\n");
		return;
	}
	c = &r->config;
	fprintf(out,
		"    \"red\": {\"min_packets\": %g, \"max_packets\": %g, \"max_p\": %g, "
		"\"weight\": %g,\n            \"gentle\": %s, \"wait\": %s, "
		"\"adaptive\": %s, \"bottom\": %g, \"top\": %g,\n            "
		"\"average_packets\": %.3f, \"average_max_packets\": %.3f, \"max_p_now\": %g},\n",
		c->min_th, c->max_th, c->max_p, c->weight, c->gentle ? "true" : "false",
		c->wait ? "true" : "false", c->adaptive ? "true" : "false", c->bottom, c->top,
		r->avg, r->avg_max, r->max_p);
}

static void write_queue(FILE *out, const struct direction_report *d)
{
	const struct direction_stats *s = d->stats;
	double busy_ns = (double)(s->last_depart_ns - s->first_in_ns);
	double passed = (double)s->verdicts[VERDICT_PASS].segments;

	fprintf(out,
		"    \"queue\": {\"max_bytes\": %" PRIu64 ", \"max_packets\": %" PRIu64
		", \"max_delay_ms\": %.3f, \"mean_bytes\": %.0f, \"mean_delay_ms\": %.3f},\n",
		s->queue_max_bytes, s->queue_max_packets, s->queue_max_delay_ns / 1e6,
		busy_ns > 0 ? s->queue_byte_ns / busy_ns : 0.0,
		passed > 0 ? s->queue_delay_ns / passed / 1e6 : 0.0);
}

static void write_direction(FILE *out, const struct direction_report *d)
{
	const struct direction_stats *s = d->stats;
	const struct queue_config *c = d->config;

	fprintf(out, "  \"%s\": {\n", d->name);
	fprintf(out,
		"    \"rate_bps\": %" PRIu64 ", \"access_rate_bps\": %" PRIu64
		", \"delay_ms\": %.6g, \"limit_bytes\": %" PRIu64
		", \"limit_packets\": %u, \"loss\": %g,\n",
		c->rate_bps, c->access_bps, d->delay_ns / 1e6, c->limit_bytes, c->limit_packets,
		c->loss);
	fprintf(out, "    \"packets_in\": %" PRIu64 ", \"packets_out\": %" PRIu64 ",\n    ",
		s->packets_in, s->packets_out);
	write_tally(out, "in", &s->in);
	fprintf(out, ",\n    ");
	write_tally(out, "out", &s->out);
	fprintf(out, ",\n");
	fprintf(out, "    ");
	write_drops(out, s->verdicts);
	fprintf(out, ",\n    ");
	write_tally(out, "marked", &s->marked);
	fprintf(out, ", ");
	write_tally(out, "reordered", &s->reordered);
	fprintf(out, ",\n");
	write_queue(out, d);
	write_red(out, d->red);
	write_histogram(out, "late", &s->late);
	write_histogram(out, "read_gap", &s->gap);
	write_histogram(out, "late_before", &s->late_before);
	fprintf(out,
		"    \"active_seconds\": %.6f, \"tun_tx_dropped\": %" PRIu64
		", \"tun_rx_dropped\": %" PRIu64 ", \"write_errors\": %" PRIu64 ",\n",
		s->last_out_ns > s->first_in_ns ? (s->last_out_ns - s->first_in_ns) / 1e9 : 0.0,
		d->sender.tx_dropped, d->receiver.rx_dropped, s->write_errors);
	fprintf(out, "    \"cpu_share\": %.3f, \"cpu_wait_us\": %.2f, \"realtime\": %s\n  },\n",
		d->cpu_share, d->cpu_wait_us, d->realtime ? "true" : "false");
}

/* From a host in one direction, to it in the other: each is nothing where it is not meant. */
static void write_host_side(FILE *out, const char *name, const struct tally *one,
			    const struct tally *other)
{
	struct tally sum[VERDICT_COUNT];

	for (int i = 0; i < VERDICT_COUNT; i++) {
		sum[i] = one[i];
		add_tally(&sum[i], &other[i]);
	}
	fprintf(out, ",\n     \"%s\": {", name);
	write_tally(out, "passed", &sum[VERDICT_PASS]);
	fprintf(out, ",\n     ");
	write_drops(out, sum);
	fprintf(out, "}");
}

static void write_hosts(FILE *out, const struct report *r)
{
	fprintf(out, "  \"hosts\": [");
	for (unsigned int i = 0; i < r->host_count; i++) {
		const struct host_report *h = &r->hosts[i];
		const struct host_stats *ab = h->stats[0], *ba = h->stats[1];

		fprintf(out, "%s{\"host\": \"%s\", \"delay_ms\": %.6g, \"rate_bps\": %" PRIu64,
			i ? ",\n    " : "\n    ", h->host->name, h->host->delay_ns / 1e6,
			h->host->rate_bps);
		write_host_side(out, "from", ab->from, ba->from);
		write_host_side(out, "to", ab->to, ba->to);
		fprintf(out, "}");
	}
	fprintf(out, "],\n");
}

bool report_write(FILE *out, const struct report *r)
{
	bool valid;

	fprintf(out, "{\n");
	valid = write_verdict(out, r);
	fprintf(out,
		"  \"up_seconds\": %.6f, \"rtt_ms\": %.6g, \"seed\": %" PRIu64
		", \"mtu\": %u, \"tolerance\": %g, \"judge_after_seconds\": %g,\n",
		(r->now_ns - r->up_since_ns) / 1e9, r->rtt_ns / 1e6, r->seed, LINK_MTU,
		r->tolerance, r->judge_after_s);
	for (int i = 0; i < 2; i++)
		write_direction(out, &r->direction[i]);
	write_hosts(out, r);
	fprintf(out, "  \"host_cpu_share\": %.3f, \"host_steal_share\": %.3f\n}\n",
		r->host_cpu_share, r->host_steal_share);
	return valid;
}
