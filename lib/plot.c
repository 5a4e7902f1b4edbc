// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <math.h>
#include <stdio.h>

#include <tcptuned/tame.h>

#include "advice.h"

#define WIDTH  640
#define HEIGHT 400
#define LEFT   70
#define BOTTOM 50
#define TOP    30

struct axes {
	double streams, rate; /* at the ends */
};

/* Integers: a point in other numbers may be a comma, by the application's locale. */
static int x_of(const struct axes *axes, double streams)
{
	return (int)lround(LEFT + (WIDTH - LEFT - 20) * streams / axes->streams);
}

static int y_of(const struct axes *axes, double rate)
{
	return (int)lround(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * rate / axes->rate);
}

/* 1, 2 or 5 times a power of ten, four to ten of which make up @range. */
static double find_step(double range)
{
	double power = pow(10, floor(log10(range / 4))), part = range / 4 / power;

	return power * (part >= 5 ? 5 : part >= 2 ? 2 : 1);
}

static void draw_axes(FILE *out, const struct axes *axes)
{
	double step = find_step(axes->rate), streams = fmax(1, find_step(axes->streams));

	for (double rate = 0; rate <= axes->rate; rate += step)
		fprintf(out,
			"<path d=\"M%d %dH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%d\" "
			"text-anchor=\"end\">%.4g</text>\n",
			LEFT, y_of(axes, rate), WIDTH - 20, LEFT - 6, y_of(axes, rate) + 4,
			rate / 1e6);
	for (double n = 0; n <= axes->streams; n += streams)
		fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
			x_of(axes, n), HEIGHT - BOTTOM + 18, n);
	fprintf(out,
		"<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">connections</text>\n"
		"<text x=\"%d\" y=\"18\">Mbit/s together: measured (dots), fitted (line)</text>\n",
		(LEFT + WIDTH) / 2, HEIGHT - 10, LEFT);
}

void tcptuned_tame_plot(FILE *out, const struct tcptuned_tame_result *result)
{
	struct tcptuned_tame_result known = {.size = sizeof(known)};
	const struct tcptuned_tame_result *r = &known;
	struct axes axes = {2, 1};

	advice_copy(&known, result);
	for (unsigned int i = 0; i < r->levels_len; i++) {
		axes.streams = fmax(axes.streams, r->levels[i].streams * 1.05);
		axes.rate = fmax(axes.rate, r->levels[i].rate * 1.1);
	}
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		WIDTH, HEIGHT);
	draw_axes(out, &axes);
	if (r->fit.levels) {
		fputs("<path fill=\"none\" stroke=\"#36c\" d=\"", out);
		for (unsigned int n = 1; n <= axes.streams; n++)
			fprintf(out, "%c%d %d", n > 1 ? 'L' : 'M', x_of(&axes, n),
				y_of(&axes, fmin(axes.rate, tcptuned_parallel_rate(&r->fit, n))));
		fputs("\"/>\n", out);
	}
	for (unsigned int i = 0; i < r->levels_len; i++)
		fprintf(out, "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"#c33\"/>\n",
			x_of(&axes, r->levels[i].streams), y_of(&axes, r->levels[i].rate));
	fputs("</svg>\n", out);
}
