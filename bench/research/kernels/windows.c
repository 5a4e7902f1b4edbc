// SPDX-License-Identifier: GPL-2.0-only
/*
 * windows TRACE: the congestion window of one sender, from the lines of the kernel's tracepoint
 * tcp_probe, which reports it for each ACK before the ACK is processed. Prints
 *
 *   @window SECONDS CWND SSTHRESH SRTT_US	once per smoothed round-trip time
 *   @loss SECONDS CWND SSTHRESH		where the window begins to fall: the window before,
 *						and the one to which it is to come
 *
 * with the time since the first ACK. A program, since under emulation a shell's awk takes many
 * times longer than the connection.
 *
 * A recovery takes one round trip, in which the window falls step by step and may go up and
 * down: a fall within one and a half of them belongs to the loss before. Vegas takes packets away
 * without a loss, too.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct probe {
	double at_s;
	uint32_t cwnd, ssthresh, srtt_us;
};

static bool parse_field(const char **at, const char *name, uint32_t *ret)
{
	const char *found = strstr(*at, name);

	if (!found)
		return false;
	*at = found + strlen(name);
	*ret = (uint32_t)strtoul(*at, NULL, 10);
	return true;
}

/* "  messages-93  [000] ..s2.  7.123456: tcp_probe: ... snd_cwnd=10 ssthresh=7 ... srtt=9 ..." */
static bool parse_line(const char *line, struct probe *ret)
{
	const char *at = strstr(line, ": tcp_probe: "), *stamp = at;

	if (!at)
		return false;
	while (stamp > line && stamp[-1] != ' ')
		stamp--;
	ret->at_s = strtod(stamp, NULL);
	return parse_field(&at, " snd_cwnd=", &ret->cwnd) &&
	       parse_field(&at, " ssthresh=", &ret->ssthresh) &&
	       parse_field(&at, " srtt=", &ret->srtt_us);
}

static bool loss_begins(const struct probe *last, const struct probe *now, double since_s)
{
	return now->cwnd < last->cwnd && now->ssthresh < last->cwnd &&
	       since_s > 1.5e-6 * now->srtt_us;
}

int main(int argc, char **argv)
{
	double first_s = 0, next_s = 0, loss_s = 0;
	struct probe last = {0}, now;
	char line[1024];
	bool any = false;
	FILE *f;

	f = argc == 2 ? fopen(argv[1], "r") : NULL;
	if (!f) {
		fprintf(stderr, "usage: windows TRACE\n");
		return 2;
	}
	while (fgets(line, sizeof(line), f)) {
		if (!parse_line(line, &now))
			continue;
		if (!any)
			first_s = now.at_s;
		any = true;
		now.at_s -= first_s;
		if (loss_begins(&last, &now, now.at_s - loss_s)) {
			printf("@loss %.6f %u %u\n", now.at_s, last.cwnd, now.ssthresh);
			loss_s = now.at_s;
		}
		if (now.at_s >= next_s) {
			printf("@window %.6f %u %u %u\n", now.at_s, now.cwnd, now.ssthresh,
			       now.srtt_us);
			next_s = now.at_s + now.srtt_us / 1e6;
		}
		last = now;
	}
	fclose(f);
	return any ? 0 : 1;
}
