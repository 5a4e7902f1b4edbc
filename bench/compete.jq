# SPDX-License-Identifier: GPL-2.0-only
#
# What connections that share a bottleneck got of it. Input: what messages printed about each,
# with a progress curve, "rtt_ms", and "began_s", when it was first heard of, on a clock of
# theirs all.

# Bytes read by @t seconds of the common clock, between two points of the curve.
def bytes_at($t):
	(.began_s + .rtt_ms / 1e3) as $zero
	| ([.series[] | select(.[0] + $zero <= $t)] | last // [0, 0]) as $a
	| (first(.series[] | select(.[0] + $zero > $t)) // $a) as $b
	| if $b[0] > $a[0]
		then $a[1] + ($b[1] - $a[1]) * ($t - $zero - $a[0]) / ($b[0] - $a[0])
		else $a[1] end;

def mbps($from; $to): (bytes_at($to) - bytes_at($from)) * 8e-6 / ($to - $from);

def jain: (add * add) / (length * (map(. * .) | add));

# Over windows of @scale seconds: mean of the worst fifth, as the paper has it; null: too long.
def fairness($flows; $scale; $from; $to):
	[range($from; $to - $scale + 0.001; $scale) as $t
		| [$flows[] | mbps($t; $t + $scale)] | jain] | sort
	| if length == 0 then null
		else .[:([1, (length / 5 | floor)] | max)] | add / length end;
