# SPDX-License-Identifier: GPL-2.0-only
# Equations of paper 003: average window in packets (sending rate per RTT) at a loss rate p.

function log2(x) {
	return log(x) / log(2)
}

# In these S_max and S_min are the paper's 32 and 0.01 if they are not given.

# (1.3): W_max * beta > 2 * S_max. 0 outside of that range.
function bitcp_1_3(p, s_max, s_min,	beta, a, b, c, root) {
	s_max = s_max ? s_max : 32; s_min = s_min ? s_min : 0.01; beta = 0.125
	a = beta * (2 - beta) / (2 * s_max)
	b = log2(s_max / s_min) + (2 - beta) / 2
	c = s_max - s_min
	root = sqrt(b * b + 4 * a * (c + 1 / p))
	if ((root - b) / (2 * a) * beta <= 2 * s_max)
		return 0
	return (2 - beta) / p / (root + (1 - beta) * b + beta * (2 - beta) / 2)
}

# (1.4), for small p
function bitcp_1_4(p) {
	return sqrt(32 / 2 * (2 - 0.125) / 0.125 / p)
}

# (1.5) before its last approximation: R = 1/p / (log2(W_max * beta / S_min) + 2), with W_max
# from the fixed point above it. 0 outside of W_max * beta <= 2 * S_max, and below low_window 14.
function bitcp_1_5(p, s_max, s_min,	beta, w, i) {
	s_max = s_max ? s_max : 32; s_min = s_min ? s_min : 0.01; beta = 0.125
	w = 1 / p
	for (i = 0; i < 200; i++)
		w = 1 / ((log2(w * beta / s_min) + 2 * (1 - beta)) * p)
	if (w * beta > 2 * s_max || w < 14)
		return 0
	return 1 / p / (log2(w * beta / s_min) + 2)
}

# what holds at p: (1.3), or else (1.5)
function bitcp_equation(p, s_max, s_min) {
	return bitcp_1_3(p, s_max, s_min) ? bitcp_1_3(p, s_max, s_min) : bitcp_1_5(p, s_max, s_min)
}

# Packets of an epoch that ends at a window of @w, as (1.1) and (1.2) count them, but with the
# target of the pseudo-code, which moves with each ACK: below 2 * S_max from the maximum the
# distance g obeys g' = -g / 2 per round trip down to 2 * S_min, then shrinks by S_min:
# N_2 = 2 * ln(g / (2 * S_min)) + 2. Sets epoch_rounds.
function bitcp_epoch(w,	s_max, s_min, beta, g, n1, n2) {
	s_max = 32; s_min = 0.01; beta = 0.125
	g = w * beta > 2 * s_max ? 2 * s_max : w * beta
	n1 = (w * beta - g) / s_max
	n2 = 2 * log(g / (2 * s_min)) + 2
	epoch_rounds = n1 + n2
	return n1 * (w * (1 - beta) + w - g) / 2 + w * n2 - 2 * (g - 2 * s_min) - 2 * s_min
}

# The average window that comes of it, from W_max of 14 on.
function bitcp_pseudo_code(p,	low, high, i) {
	low = 14; high = 1 / p
	for (i = 0; i < 100; i++)
		if (bitcp_epoch((low + high) / 2) < 1 / p)
			low = (low + high) / 2
		else
			high = (low + high) / 2
	return 1 / p / epoch_rounds
}

# AIMD with alpha 32, beta 0.125, below (1.4)
function aimd_equation(p) {
	return sqrt(32 / 2 * (2 - 0.125) / 0.125 / p)
}

# HSTCP: section IV
function hstcp_equation(p) {
	return 0.15 / p ^ 0.82
}

# The same in RFC 3649, section 5
function hstcp_rfc3649(p) {
	return 0.12 / p ^ 0.835
}

# STCP: a / (b p) with a 0.01, b 0.125, to which alpha w / (w beta p) comes. Paper 003 has b only;
# a and the equation are T. Kelly's, "Scalable TCP", 2002.
function stcp_equation(p) {
	return 0.01 / 0.125 / p
}

# Without the approximation of small a and b: the window is multiplied by 1 + a per round trip,
# and a loss costs as many of those as ln(1 / (1 - b)) / ln(1 + a)
function stcp_exact(p) {
	return log(1 + 0.01) / -log(1 - 0.125) / p
}

# TCP: the same as AIMD with alpha 1, beta 0.5
function reno_equation(p) {
	return sqrt(1.5 / p)
}
