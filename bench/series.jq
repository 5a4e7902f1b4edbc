# SPDX-License-Identifier: GPL-2.0-only
#
# What a transfer says together with the link that it ran on. Input: what messages printed,
# perhaps with a progress curve, "series": [[seconds, bytes]...]. $link: linkem's statistics.

# Bytes read by @t seconds after the first byte was sent, and the rate between two times.
def bytes_at($t): [.series[] | select(.[0] <= $t)] | last // [0, 0] | .[1];

def mbps($from; $to): (bytes_at($to) - bytes_at($from)) * 8e-6 / ($to - $from);

# What the link can carry of payload.
def ceiling_bps($link): $link.ab.rate_bps * .sender.mss / $link.mtu;

# So many points of the curve make up @seconds.
def points_in(seconds):
	((.series[-1][0] - .series[0][0]) / ((.series | length) - 1)) as $step
	| [1, (seconds / $step | round)] | max;

def bps($a; $b): 8 * ($b[1] - $a[1]) / ($b[0] - $a[0]);

# From the first byte sent until 90 % of the rate is read over one RTT; null: never.
def time_to_90_s($link):
	points_in($link.rtt_ms / 1e3) as $rtt | ceiling_bps($link) as $full | .series as $s
	| first(range($rtt; $s | length)
		| select(bps($s[. - $rtt]; $s[.]) >= 0.9 * $full) | $s[.][0]) // null;

# From the moment that a lost segment, the @nth that carried data, is missed (the reader stands
# still) until 90 % is read again, over that RTT and over the second after it; null: never.
def recovery_s($link; $nth):
	points_in($link.rtt_ms / 1e3) as $rtt | points_in(1) as $second
	| ceiling_bps($link) as $full | .series as $s | (0.995 * $nth * .sender.mss) as $bytes
	| first(range($rtt; $s | length) | select($s[.][1] >= $bytes)) as $lost
	| first(range($lost; $s | length)
		| select(bps($s[. - $rtt]; $s[.]) < 0.9 * $full)) as $dip
	| first(range($dip; ($s | length) - $second)
		| select(bps($s[. - $rtt]; $s[.]) >= 0.9 * $full
			and bps($s[.]; $s[. + $second]) >= 0.9 * $full)
		| $s[.][0] - $s[$dip][0]) // null;

def curve_figures($link; $nth):
	if has("series") | not then {}
	elif $nth and $link.ab.drops.chosen.segments > 0 then
		{time_to_90_s: time_to_90_s($link), recovery_s: recovery_s($link; $nth)}
	else {time_to_90_s: time_to_90_s($link)} end;
