// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <tcptuned/streams.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#define TERMS	  3 /* n^2, n, 1 */
#define BEST_FULL 4 /* levels: one more than the full polynomial has coefficients */

/* Which of n^2, n and 1 a model has, as bits 0, 1 and 2. */
static const unsigned int terms_of[] = {
	[TCPTUNED_STREAMS_MODEL_PARTIAL] = 1 | 4,
	[TCPTUNED_STREAMS_MODEL_FULL] = 1 | 2 | 4,
	[TCPTUNED_STREAMS_MODEL_LINEAR] = 2 | 4,
	[TCPTUNED_STREAMS_MODEL_BEST] = 0, /* by the number of levels */
};

static double polynomial(const struct tcptuned_streams_fit *fit, double n)
{
	return (fit->a * n + fit->b) * n + fit->c;
}

/*
 * Solves the normal equations @m x = @v of the terms @use, by elimination with the largest pivot.
 * The other elements of @v become 0. Returns -ENODATA if the terms cannot be distinguished.
 */
static int solve(double m[TERMS][TERMS], double v[TERMS], unsigned int use)
{
	unsigned int left = use;

	for (int i = 0; i < TERMS; i++)
		if (!(use & 1u << i))
			v[i] = 0;
	while (left) {
		int pivot = -1;

		for (int i = 0; i < TERMS; i++)
			if (left & 1u << i && (pivot < 0 || m[i][i] > m[pivot][pivot]))
				pivot = i;
		if (m[pivot][pivot] < 1e-12)
			return -ENODATA;
		left &= ~(1u << pivot);
		for (int i = 0; i < TERMS; i++) {
			double factor = m[i][pivot] / m[pivot][pivot];

			if (i == pivot || !(use & 1u << i))
				continue;
			for (int j = 0; j < TERMS; j++)
				m[i][j] -= factor * m[pivot][j];
			v[i] -= factor * v[pivot];
		}
	}
	for (int i = 0; i < TERMS; i++)
		if (use & 1u << i)
			v[i] /= m[i][i];
	return 0;
}

/* Least squares of the relative errors of p'_n = n^2 / rate^2 (10), with the terms @use. */
static int least_squares(const struct tcptuned_streams_level *levels, size_t len, unsigned int use,
			 double ret[TERMS])
{
	double m[TERMS][TERMS] = {};
	int err;

	memset(ret, 0, TERMS * sizeof(*ret));
	for (size_t k = 0; k < len; k++) {
		double n = levels[k].streams, rate = levels[k].rate / levels[0].rate;
		double weight = rate * rate / (n * n); /* 1 / p'_n */
		double term[TERMS] = {n * n * weight, n * weight, weight};

		for (int i = 0; i < TERMS; i++) {
			for (int j = 0; j < TERMS; j++)
				m[i][j] += term[i] * term[j];
			ret[i] += term[i];
		}
	}
	err = solve(m, ret, use);
	for (int i = 0; i < TERMS; i++)
		ret[i] /= levels[0].rate * levels[0].rate;
	return err;
}

/* The number of different levels; 0: there is none, or one of them makes no sense. */
static unsigned int count_levels(const struct tcptuned_streams_level *levels, size_t len)
{
	unsigned int count = 0;

	if (len > TCPTUNED_STREAMS_LEVELS_MAX)
		return 0;
	for (size_t i = 0, j; i < len; i++) {
		if (!levels[i].streams || levels[i].streams > TCPTUNED_STREAMS_MAX ||
		    !isfinite(levels[i].rate) || levels[i].rate <= 0)
			return 0;
		for (j = 0; levels[j].streams != levels[i].streams; j++)
			;
		count += j == i;
	}
	return count;
}

static void describe(struct tcptuned_streams_fit *fit, const struct tcptuned_streams_level *levels,
		     size_t len)
{
	double sum = 0;

	fit->streams_min = fit->streams_max = levels[0].streams;
	for (size_t i = 0; i < len; i++) {
		double error = tcptuned_streams_rate(fit, levels[i].streams) / levels[i].rate - 1;

		sum += error * error;
		if (levels[i].streams < fit->streams_min)
			fit->streams_min = levels[i].streams;
		if (levels[i].streams > fit->streams_max)
			fit->streams_max = levels[i].streams;
	}
	fit->residual = sqrt(sum / (double)len);
}

int tcptuned_streams_fit(enum tcptuned_streams_model model,
			 const struct tcptuned_streams_level *levels, size_t len,
			 struct tcptuned_streams_fit *ret)
{
	unsigned int count = count_levels(levels, len), use, negative;
	double term[TERMS];
	int err;

	if ((unsigned int)model >= sizeof(terms_of) / sizeof(*terms_of) || !count)
		return -EINVAL;
	if (model == TCPTUNED_STREAMS_MODEL_BEST)
		model = count < BEST_FULL ? TCPTUNED_STREAMS_MODEL_PARTIAL
					  : TCPTUNED_STREAMS_MODEL_FULL;
	use = terms_of[model];
	if (count < (unsigned int)__builtin_popcount(use))
		return -ENODATA;
	do {
		err = least_squares(levels, len, use, term);
		if (err)
			return err;
		negative = 0;
		for (int i = 0; i < TERMS; i++)
			if (term[i] < 0 && (!negative || term[i] < term[__builtin_ctz(negative)]))
				negative = 1u << i;
		use &= ~negative;
	} while (negative);
	*ret = (struct tcptuned_streams_fit){
		.a = term[0], .b = term[1], .c = term[2], .levels = count};
	describe(ret, levels, len);
	return 0;
}

double tcptuned_streams_rate(const struct tcptuned_streams_fit *fit, unsigned int streams)
{
	return streams ? streams / sqrt(polynomial(fit, streams)) : 0;
}

double tcptuned_streams_impact(const struct tcptuned_streams_fit *fit, unsigned int from,
			       unsigned int to)
{
	return to ? 1 - sqrt(polynomial(fit, from) / polynomial(fit, to)) : 0;
}

/* The impact never falls with the number, so that a binary search finds it. */
unsigned int tcptuned_streams_within(const struct tcptuned_streams_fit *fit, double impact,
				     unsigned int max)
{
	unsigned int low = 1, high = max < TCPTUNED_STREAMS_MAX ? max : TCPTUNED_STREAMS_MAX;

	while (low < high) {
		unsigned int middle = (low + high + 1) / 2;

		if (tcptuned_streams_impact(fit, 1, middle) <= impact)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

unsigned int tcptuned_streams_enough(const struct tcptuned_streams_fit *fit, double gain,
				     unsigned int max)
{
	unsigned int n = 1;

	while (n < max && n < TCPTUNED_STREAMS_MAX &&
	       tcptuned_streams_rate(fit, n + 1) >= (1 + gain) * tcptuned_streams_rate(fit, n))
		n++;
	return n;
}

static int is_loss_based(const char *name)
{
	return name && (!strcmp(name, "reno") || !strcmp(name, "cubic") || !strcmp(name, "bitcp"));
}

enum tcptuned_streams_confidence tcptuned_streams_confidence(const struct tcptuned_streams_fit *fit,
							     const char *congestion_control,
							     double rtt_spread)
{
	if (fit->residual > 0.25 || !is_loss_based(congestion_control))
		return TCPTUNED_STREAMS_CONFIDENCE_LOW;
	if (fit->residual > 0.1 || fit->levels < 3 || fit->streams_max < 4 * fit->streams_min ||
	    rtt_spread > 1.0 / 3)
		return TCPTUNED_STREAMS_CONFIDENCE_MEDIUM;
	return TCPTUNED_STREAMS_CONFIDENCE_HIGH;
}

double tcptuned_streams_mathis(double mss, double rtt_s, double loss, double acked)
{
	return mss / (rtt_s * sqrt(2 * acked * loss / 3));
}

double tcptuned_streams_padhye(double mss, double rtt_s, double loss, double acked, double rto_s)
{
	double timeouts = fmin(1, 3 * sqrt(3 * acked * loss / 8)) * loss * (1 + 32 * loss * loss);

	return mss / (rtt_s * sqrt(2 * acked * loss / 3) + rto_s * timeouts);
}

double tcptuned_streams_hacker(double mss, double rtt_s, const double *loss, size_t len)
{
	double sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += 1 / sqrt(loss[i]);
	return mss / rtt_s * sum;
}

unsigned int tcptuned_streams_doubling_next(const struct tcptuned_streams_doubling *search)
{
	unsigned int next = search->len ? 2 * search->levels[search->len - 1].streams : 1;

	return next < search->streams_max ? next : search->streams_max;
}

/* The path is another one if its RTT differs by 30 % and a millisecond from an earlier one. */
static int path_changed(struct tcptuned_streams_doubling *search, double rtt_s)
{
	if (rtt_s <= 0)
		return 0;
	if (!search->rtt_min || rtt_s < search->rtt_min)
		search->rtt_min = rtt_s;
	if (rtt_s > search->rtt_max)
		search->rtt_max = rtt_s;
	return search->rtt_max > 1.3 * search->rtt_min && search->rtt_max > search->rtt_min + 1e-3;
}

/*
 * Whether a doubling that gained too little ends the search; one of an @uncertain rate does not,
 * once.
 */
static int is_believed(struct tcptuned_streams_doubling *search, int uncertain)
{
	if (!uncertain || search->doubted)
		return 1;
	search->doubted = 1;
	return 0;
}

enum tcptuned_streams_end tcptuned_streams_doubling_add(struct tcptuned_streams_doubling *search,
							double rate, double rtt_s, int uncertain)
{
	struct tcptuned_streams_level *level = &search->levels[search->len], *before = level - 1;
	struct tcptuned_streams_fit fit;
	int either_uncertain = uncertain || search->uncertain;

	*level = (struct tcptuned_streams_level){.streams = tcptuned_streams_doubling_next(search),
						 .rate = rate};
	search->len++;
	search->uncertain = uncertain;
	if (path_changed(search, rtt_s))
		return TCPTUNED_STREAMS_END_CHANGED;
	if (search->wanted && rate >= search->wanted)
		return TCPTUNED_STREAMS_END_WANTED;
	if (search->len > 1 && level->streams == 2 * before->streams &&
	    rate < (1 + search->gain) * before->rate && is_believed(search, either_uncertain))
		return TCPTUNED_STREAMS_END_NO_GAIN;
	if (search->len > 1 &&
	    !tcptuned_streams_fit(TCPTUNED_STREAMS_MODEL_BEST, search->levels, search->len, &fit) &&
	    tcptuned_streams_impact(&fit, 1, tcptuned_streams_doubling_next(search)) >
		    search->impact)
		return TCPTUNED_STREAMS_END_IMPACT;
	if (level->streams >= search->streams_max ||
	    search->len == sizeof(search->levels) / sizeof(*search->levels))
		return TCPTUNED_STREAMS_END_MAX;
	return TCPTUNED_STREAMS_END_GOES_ON;
}
