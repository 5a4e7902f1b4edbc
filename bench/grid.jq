# SPDX-License-Identifier: GPL-2.0-only
#
# The grid of bench_grid.sh. Input of grid_cells: its rows. Output: an array of cells in the
# order of buffers, round-trip time and streams, each with what every tuning measured there,
# and how tcptuned stands against the best other one.

def grid_median: sort | if length == 0 then null
	elif length % 2 == 1 then .[length / 2 | floor]
	else (.[length / 2 - 1] + .[length / 2]) / 2 end;

def grid_own: ["tcptuned, cubic", "tcptuned"];

# How a column stands against the best other one, by their medians: "met" from 97 % on, "within the
# spread" where each has three runs or more and what lies between their least and most overlaps,
# "below" otherwise.
def grid_standing($best):
	if .median >= 0.97 * $best.median then "met"
	elif ([.runs, $best.runs] | min) >= 3 and .least <= $best.most and $best.least <= .most
		then "within the spread"
	else "below" end;

def grid_spread: {median: grid_median, least: min, most: max, runs: length};

def grid_cell:
	(.[0].x | split(", ")) as $x
	| {x: .[0].x, buffers: $x[0], rtt_ms: ($x[1] | rtrimstr(" ms") | tonumber),
		streams: ($x[2] | tonumber),
		columns: (group_by(.column)
			| map({key: .[0].column, value: (map(.goodput_bps // empty | . / 1e6) | grid_spread)})
			| from_entries)}
	| .best = (.columns | to_entries
		| map(select(.value.runs > 0 and (.key as $k | grid_own | index([$k]) | not)))
		| max_by(.value.median) // null | if . then .value + {column: .key} else . end)
	| .best as $best
	| .own = (.columns | to_entries
		| map(select(.value.runs > 0 and (.key as $k | grid_own | index([$k]))))
		| map({column: .key, median: .value.median} + if $best then
			{share: (.value.median / $best.median)}
			+ (.value | grid_standing($best) | {standing: ., below: (. == "below")})
			else {} end));

def grid_cells: map(select(.bench == "grid")) | group_by(.x) | map(grid_cell)
	| sort_by(["default", "kernel only", "user and kernel"] as $order | .buffers as $b
		| ($order | index([$b])), .rtt_ms, .streams);

# How many comparisons there are, and a line for each in which tcptuned is below.
def grid_verdict:
	[.[] as $c | $c.own[] | select(.share) | . + {x: $c.x, best: $c.best}]
	| {compared: length, below: map(select(.below)
		| "\(.x), \(.column): \(.median | round) Mbit/s, \(.best.column) \(.best.median | round), \(100 * .share | round) %")};
