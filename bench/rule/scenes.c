// SPDX-License-Identifier: GPL-2.0-only
/*
 * What rightsize.h is for, in the packet model of the unit tests, both ends tuned: a line each with
 * a name and a number. bench/rule/run compares them with those of the rule without one of its
 * parts.
 */
#include "../../tests/unit/test.h"
#include "../../tests/unit/rightsize_model.h"

#define SEEDS 6

static double share(double goodput, const struct path *p)
{
	return 100 * goodput / (p->mbit * MBIT);
}

/*
 * Returns the RTT in ms of @flows connections that fill a queue of 20 MB, and begin @apart_s after
 * one another.
 */
static double deep_queue(unsigned int flows, double apart_s, uint64_t seed)
{
	model_begin(&(struct path){1000, 10, 0.16}, seed);
	for (unsigned int i = 0; i < flows; i++)
		model_add(RIGHTSIZED_BOTH, apart_s * i)->offered = 2 + 0.75 * ((7 * i + 3) % 8);
	model_run(9);
	model_run(16);
	return model_mean_rtt_ms();
}

/* Returns the share of the link, %, that is carried from @after_s after it became longer on. */
static double longer_path(double factor, double after_s, uint64_t seed)
{
	const struct path path = {50, 20, 0.4};
	double at = 16 + 0.037 * (double)seed;

	model_begin(&path, seed);
	model_schedule(at, path.mbit * MBIT, factor * path.base_ms);
	model_add(RIGHTSIZED_BOTH, 0);
	model_run(at + after_s);
	return share(model_goodput(at + 25), &path);
}

static double faster_link(double factor, uint64_t seed)
{
	const struct path path = {50 * factor, 20, 0.8 / factor};

	model_begin(&(struct path){50, 20, 0.8}, seed);
	model_schedule(15, 50 * factor * MBIT, 20);
	model_add(RIGHTSIZED_BOTH, 0);
	model_run(17);
	return share(model_goodput(25), &path);
}

/* The neighbour comes when a window has been held for seconds. */
static double joined_by_untuned(enum receiver receiver, const struct path *p, uint64_t seed)
{
	model_begin(p, seed);
	model_add(receiver, 0);
	model_add(KERNEL, 10 + 0.37 * (double)seed);
	model_run(15);
	return model_goodput(45);
}

/* Returns the RTT in ms, when the others have been gone for 20 s. */
static double others_left(uint64_t seed)
{
	model_begin(&(struct path){100, 20, 0.3}, seed);
	model_add(RIGHTSIZED_BOTH, 0);
	model_add(KERNEL, 0)->app = (struct app){.kind = APP_ON_OFF, .on_s = 40, .off_s = 1000};
	model_run(60);
	model_run(70);
	return model_mean_rtt_ms();
}

/* Returns what a download beside an upload carries of 100 Mbit/s, %. */
static double beside_upload(double upload_s, uint64_t seed)
{
	const struct path path = {100, 50, 0.05};

	model_begin(&path, seed);
	model.back.rate_Bps = 5 * MBIT;
	model.back.queue_bytes = 625000;
	model_add(RIGHTSIZED_BOTH, 6 - upload_s);
	model_add(RIGHTSIZED_BOTH, upload_s)->back = true;
	model_run(16);
	return share(model_goodput(36), &path);
}

static void print_one_link(void)
{
	double one = 0, eight = 0, apart = 0, twice = 0, ten = 0, faster = 0, left = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		one += deep_queue(1, 0, seed) / SEEDS;
		eight += deep_queue(8, 0.001, seed) / SEEDS;
		apart += deep_queue(4, 1, seed) / SEEDS;
		twice += longer_path(2.4, 10, seed) / SEEDS;
		ten += longer_path(10, 2, seed) / SEEDS;
		faster += faster_link(4, seed) / SEEDS;
		left += others_left(seed) / SEEDS;
	}
	printf("deep_1_ms %.1f\ndeep_8_ms %.1f\napart_4_ms %.1f\nlonger_2.4_%% %.1f\nlonger_10_%% %.1f\nfaster_4_%% %.1f\n"
	       "others_left_ms %.1f\n",
	       one, eight, apart, twice, ten, faster, left);
}

static void print_compared(void)
{
	static const struct path paths[] = {{100, 20, 0.4}, {100, 20, 0.1}, {10, 20, 0.8}},
				 after_less = {100, 10, 0.2};
	double carried = 0, rtt = 0, tuned = 0, kernel = 0, joined = 0, joined_kernel = 0,
	       least = 100, less = 0, less_kernel = 0;

	for (uint64_t seed = 1; seed <= 8 * SEEDS; seed++) {
		double of_kernel, of_tuned, ms, kernel_ms;

		of_kernel = model_cellular_goodput(KERNEL, seed);
		kernel_ms = model_mean_rtt_ms();
		of_tuned = model_cellular_goodput(RIGHTSIZED_BOTH, seed);
		ms = model_mean_rtt_ms();
		carried += 100 * of_tuned / of_kernel / (8 * SEEDS);
		rtt += 100 * ms / kernel_ms / (8 * SEEDS);
	}
	for_each_row (p, paths)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			tuned += model_goodput_beside_untuned(p, RIGHTSIZED_BOTH, seed, 33) /
				 p->mbit;
			kernel += model_goodput_beside_untuned(p, KERNEL, seed, 33) / p->mbit;
			joined += joined_by_untuned(RIGHTSIZED_BOTH, p, seed) / p->mbit;
			joined_kernel += joined_by_untuned(KERNEL, p, seed) / p->mbit;
		}
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		less += model_goodput_after_less(&after_less, RIGHTSIZED_BOTH, seed);
		less_kernel += model_goodput_after_less(&after_less, KERNEL, seed);
		least = fmin(least, fmin(beside_upload(0, seed), beside_upload(6, seed)));
	}
	printf("cellular_rate_%% %.1f\ncellular_rtt_%% %.0f\nbeside_untuned_%% %.1f\njoined_%% %.1f\n"
	       "beside_upload_%% %.1f\nafter_less_%% %.1f\n",
	       carried, rtt, 100 * tuned / kernel, 100 * joined / joined_kernel, least,
	       100 * less / less_kernel);
}

TEST(scenes)
{
	print_one_link();
	print_compared();
}
