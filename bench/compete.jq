# SPDX-License-Identifier: GPL-2.0-only
#
# What connections that share a bottleneck got of it. Input: what messages printed about each,
# with a progress curve, "rtt_ms", and "began_s", when it was first heard of, on a clock of
# theirs all.

# Bytes read by @t seconds of the common clock, between two points of the curve.
def bytes_at($t):
	([0, $t - .began_s - .rtt_ms / 1e3] | max) as $at | .series as $s
	| ($s | bsearch([$at, infinite]) | if . < 0 then -1 - . else . + 1 end) as $next
	| (if $next > 0 then $s[$next - 1] else [0, 0] end) as $a | ($s[$next] // $a) as $b
	| if $b[0] > $a[0] then $a[1] + ($b[1] - $a[1]) * ($at - $a[0]) / ($b[0] - $a[0])
		else $a[1] end;

def mbps($from; $to): (bytes_at($to) - bytes_at($from)) * 8e-6 / ($to - $from);

# Of the first over the second; null: the second got nothing.
def throughput_ratio($from; $to):
	(.[0] | mbps($from; $to)) as $a | (.[1] | mbps($from; $to)) as $b
	| if $b > 0 then $a / $b else null end;

# null: no flow got anything
def jain: add as $sum | if $sum > 0 then $sum * $sum / (length * (map(. * .) | add)) else null end;

# The indices over windows of @scale seconds, the worst first.
def jain_of($flows; $scale; $from; $to):
	[range($from; $to - $scale + 0.001; $scale) as $t
		| [$flows[] | mbps($t; $t + $scale)] | jain | values] | sort;

# Mean of the worst @part-th of them, of one at least; null: there are none.
def worst($part):
	if length == 0 then null else .[:([1, (length / $part | floor)] | max)] | add / length end;

# Paper 003 takes the worst fifth with drop-tail (Figure 10), and the worst hundredth with RED
# (Figure 11).
def fairness($flows; $from; $to):
	[[1, 5, 25, 50, 100][] | {key: tostring, value: jain_of($flows; .; $from; $to)}]
	| from_entries
	| {fairness: map_values(worst(5)), fairness_worst_100th: map_values(worst(100)),
		fairness_intervals: map_values(length)};
