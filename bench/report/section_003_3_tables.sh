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

# The paper's bound at 2.5 Gbit/s: bitcp's ratio of throughputs at an RTT ratio, kernel and ns-3
beside_bound() { # RATIO
	local bound found
	bound=$(paper_value 003 "Table 2" bitcp "$1")
	found=$(beside_points "Table 2" 2500 ',2500 Mbit/s drop-tail.* 60 s,' |
		awk -v x="$1" '$1 != "paper" && $2 == "bitcp" && $3 == x { sum[$1] += $4; n[$1]++ }
			END { for (e in n) printf "%s %.2f\n", e, sum[e] / n[e] }' | sort)
	verdict "paper 003: RTT unfairness of bitcp at 2.5 Gbit/s, RTT ratio $1, no more than $bound" \
		"$(paste -sd ',' <<<"${found:-not measured}" | sed 's/,/, /g')" \
		"$([ -z "$found" ] || awk -v bound="$bound" '$2 > bound { bad = 1 } END { print (bad ? "not met" : "met") }' <<<"$found")"
}
beside_bound 3
beside_bound 6
orders=$(beside_order "Table 2" 2500 ',2500 Mbit/s drop-tail.* 60 s,' | grep -v paper || :)
other_orders=$(beside_order "Table 3" 100 ',100 Mbit/s drop-tail.* 200 s,' | grep -v paper || :)
verdict "paper 003: the order AIMD <= BI-TCP < HSTCP < STCP as in Table 2" \
	"at 2.5 Gbit/s $([ -n "$orders" ] && sed 's/^- Table 2, //' <<<"$orders" | paste -sd ';' | sed 's/;/; /g' || echo "not all measured")$([ -z "$other_orders" ] || sed 's/^- Table 3, /; at 100 Mbit\/s /' <<<"$other_orders" | tr -d '\n')" \
	"$(if [ -n "$orders" ]; then grep -q "does not" <<<"$orders" && echo "not met" || echo met; fi)"
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
$([ -n "$orders" ] || not_measured "all four of Table 2 at one RTT ratio on the kernel or in ns-3" "BENCH_MBPS=2500 BENCH_QUEUES=drop-tail BENCH_CONTROLS='aimd bitcp hstcp stcp' bench/run rtt_ratio")

At 100 Mbit/s the order need not hold, and in the paper's own Table 3 it does not: two flows of 40 ms have
$(awk 'BEGIN { printf "%d", 100e6 * 0.08 / 12000 / 2 }') packets each of the path and its queue, near the $(awk 'BEGIN { print 2 * 32 / 0.125 }') at which bitcp is least fair (W_max beta = 2 S_max, section VI-B.2).
TEXT
