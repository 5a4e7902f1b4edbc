/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * HighSpeed TCP, RFC 3649: a(w) packets per RTT, and b(w) of the window given up at a loss, so
 * that the average window is 38 at a loss rate of 10^-3 and 83000 at 10^-7, on a straight line
 * of logarithms between (section 5). Below a window of 38 packets it is Reno.
 */
#pragma once

#include "reno.h"

#define HSTCP_LOW_WINDOW 38u

struct hstcp_row {
	__u32 w; /* from this window on */
	__u32 a; /* packets per RTT, Q16 */
	__u32 b; /* share of the window, times 2^32 */
};

/*
 * The windows of appendix B, at each of which a(w) is one packet more than at the one before,
 * and both functions there; between two rows they are taken for straight lines, after the last
 * one they stay. With Low_Window 38, High_Window 83000 and High_Decrease 0.1,
 *
 *   b(w) = 0.5 - 0.4 * log(w / 38) / log(83000 / 38)
 *   a(w) = w^2 * p(w) * 2 * b(w) / (2 - b(w)),  p(w) = 1 / (12.8 * w^1.2)
 *
 * test_comparison.c computes each row again.
 */
#define HSTCP_ROWS 73u

static const struct hstcp_row hstcp_table[HSTCP_ROWS] = {
	{38, 65536, 2147483648},     {118, 131664, 1894310820},	  {221, 197279, 1754110824},
	{347, 262886, 1653305834},   {495, 328762, 1573934675},	  {663, 394444, 1508643383},
	{851, 460203, 1452865936},   {1058, 525840, 1404219087},  {1284, 591455, 1360962275},
	{1529, 657089, 1321943147},  {1793, 722752, 1286355399},  {2076, 788435, 1253610513},
	{2378, 854119, 1223264402},  {2699, 919781, 1194972834},  {3039, 985393, 1168463009},
	{3399, 1051106, 1143448947}, {3778, 1116695, 1119828947}, {4177, 1182296, 1097396495},
	{4596, 1247861, 1076037743}, {5036, 1313493, 1055610112}, {5497, 1379132, 1036039437},
	{5979, 1444725, 1017259613}, {6483, 1510352, 999177084},  {7009, 1575952, 981746617},
	{7558, 1641589, 964897102},  {8130, 1707201, 948596620},  {8726, 1772837, 932789518},
	{9346, 1838435, 917452695},  {9991, 1904036, 902541543},  {10661, 1969576, 888038987},
	{11358, 2035180, 873888880}, {12082, 2100775, 860081904}, {12834, 2166379, 846590694},
	{13614, 2231921, 833407910}, {14424, 2297495, 820494578}, {15265, 2363099, 807832760},
	{16137, 2428656, 795420517}, {17042, 2494234, 783228587}, {17981, 2559819, 771244753},
	{18955, 2625395, 759458135}, {19965, 2690941, 747859002}, {21013, 2756494, 736427991},
	{22101, 2822082, 725148688}, {23230, 2887664, 714016824}, {24402, 2953251, 703019275},
	{25618, 3018795, 692153646}, {26881, 3084346, 681400994}, {28193, 3149892, 670753465},
	{29557, 3215458, 660196901}, {30975, 3281013, 649726818}, {32450, 3346560, 639332661},
	{33986, 3412133, 628999229}, {35586, 3477709, 618720450}, {37253, 3543253, 608491598},
	{38992, 3608792, 598297637}, {40808, 3674336, 588126550}, {42707, 3739904, 577963717},
	{44694, 3805459, 567802734}, {46776, 3871008, 557629559}, {48961, 3936557, 547428941},
	{51258, 4002110, 537185015}, {53677, 4067656, 526881821}, {56230, 4133198, 516499773},
	{58932, 4198756, 506013158}, {61799, 4264309, 495399381}, {64851, 4329852, 484628707},
	{68113, 4395389, 473663509}, {71617, 4460941, 462455075}, {75401, 4526481, 450950887},
	{79517, 4592018, 439075298}, {84035, 4657557, 426727762}, {89053, 4723099, 413768960},
	{94717, 4788641, 399991612},
};

/* The last row whose window is not above @cwnd, and the first for all below. */
congestion_fn __u32 hstcp_find(__u32 cwnd)
{
	__u32 at = 0, step;

	for (step = 64; step; step /= 2)
		if (at + step < HSTCP_ROWS && hstcp_table[at + step].w <= cwnd)
			at += step;
	return at;
}

/* @from where @far is 0, @to where it is @length, which it does not pass. */
congestion_fn __u32 hstcp_between(__u32 from, __u32 to, __u32 far, __u32 length)
{
	if (to < from)
		return from - (__u32)((__u64)(from - to) * far / length);
	return from + (__u32)((__u64)(to - from) * far / length);
}

/* a(w), Q16 packets per RTT. */
congestion_fn __u64 hstcp_increase(__u32 cwnd)
{
	__u32 at = hstcp_find(cwnd);
	const struct hstcp_row *row = &hstcp_table[at], *next = row + 1;

	if (cwnd <= HSTCP_LOW_WINDOW)
		return RENO_INCREASE;
	if (at + 1 >= HSTCP_ROWS)
		return row->a;
	return hstcp_between(row->a, next->a, cwnd - row->w, next->w - row->w);
}

/* b(w), times 2^32. */
congestion_fn __u32 hstcp_decrease(__u32 cwnd)
{
	__u32 at = hstcp_find(cwnd);
	const struct hstcp_row *row = &hstcp_table[at], *next = row + 1;

	if (cwnd <= HSTCP_LOW_WINDOW)
		return RENO_DECREASE;
	if (at + 1 >= HSTCP_ROWS)
		return row->b;
	return hstcp_between(row->b, next->b, cwnd - row->w, next->w - row->w);
}

congestion_fn void hstcp_on_ack(struct congestion *st, struct congestion_ack *ack)
{
	__u32 left = congestion_slow_start(st, ack);

	congestion_avoid(st, ack, hstcp_increase(ack->cwnd), left);
}

congestion_fn __u32 hstcp_ssthresh(struct congestion *st, __u32 cwnd)
{
	return congestion_reduce(st, cwnd, hstcp_decrease(cwnd));
}
