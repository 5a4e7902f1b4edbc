# SPDX-License-Identifier: GPL-2.0-only
# Paper 003, Tables 1 to 3 beside each other: the paper, ns-3, the kernel.

# TABLE MBPS SIM_PATTERN, as lines ENGINE ALGORITHM RATIO VALUE
beside_points() {
	local lines
	awk -F, -v t="$1" '$1 == t { print "paper", $2, $3, $4 }' "$top/bench/papers/003.csv"
	rtt_ratios "$3" | awk '{ print "ns-3", $1, $2, $4 }'
	lines=$(kernel_lines rtt_ratio "$2" drop-tail)
	[ -z "$lines" ] || kernel_ratios "$lines" | awk '{ print "kernel", $1, $2, $4 }'
}

beside_cells() { # ALGORITHM ENGINE, of $beside
	awk -v a="$1" -v engine="$2" '
	function figure(x) { return sprintf(x >= 100 ? "%.0f" : x >= 10 ? "%.1f" : "%.2f", x) }
	$1 == engine && $2 == a { sum[$3] += $4; n[$3]++ }
	END { for (x = 1; x <= 6; x += x == 1 ? 2 : 3)
		printf " %s |", n[x] ? figure(sum[x] / n[x]) : "" }' <<<"$beside"
}

beside_table() { # NAME MBPS SIM_PATTERN
	local algorithm engine beside
	beside=$(beside_points "$1" "$2" "$3")
	for algorithm in aimd bitcp hstcp stcp; do
		for engine in paper ns-3 kernel; do
			! grep -q "^$engine $algorithm " <<<"$beside" ||
				echo "| $1 | $algorithm | $engine |$(beside_cells $algorithm $engine)"
		done
	done
}

# Whether AIMD <= BI-TCP < HSTCP < STCP, as in Table 2, where an engine has all four.
beside_order() { # NAME MBPS SIM_PATTERN
	beside_points "$1" "$2" "$3" | awk -v table="$1" '
	{ k = $1 " " $3; sum[k, $2] += $4; n[k, $2]++ }
	function mean(k, a) { return n[k, a] ? sum[k, a] / n[k, a] : 0 }
	END {
		split("paper ns-3 kernel", engines, " ")
		for (e = 1; e <= 3; e++)
			for (x = 3; x <= 6; x += 3) {
				k = engines[e] " " x
				a = mean(k, "aimd"); b = mean(k, "bitcp"); h = mean(k, "hstcp"); s = mean(k, "stcp")
				if (a && b && h && s)
					printf "- %s, %s, ratio %d: %s\n", table, engines[e], x,
						a <= b && b < h && h < s ? "holds" : "does not hold"
			}
	}'
}

cat <<TEXT

## Paper 003: Tables 1 to 3 beside each other

Throughput of a flow of 40 ms over that of one with 1, 3 and 6 times that, drop-tail; means. Table 1 is the rows
of Table 2 without BI-TCP. Spread, conditions and ratios are with the single tables above.

| table | | | 1 | 3 | 6 |
|---|---|---|---|---|---|
$(beside_table "Table 2" 2500 ',2500 Mbit/s drop-tail.* 60 s,')
$(beside_table "Table 3" 100 ',100 Mbit/s drop-tail.* 200 s,')

The order AIMD <= BI-TCP < HSTCP < STCP:

$(beside_order "Table 2" 2500 ',2500 Mbit/s drop-tail.* 60 s,')
$(beside_order "Table 3" 100 ',100 Mbit/s drop-tail.* 200 s,')
TEXT
