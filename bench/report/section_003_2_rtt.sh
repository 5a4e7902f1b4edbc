# SPDX-License-Identifier: GPL-2.0-only
# Paper 003: throughput ratios of two flows with different round-trip times, Tables 2 and 3.

# Ratios mbps_1 / mbps_2 of each run: ALGORITHM RATIO SEED VALUE
rtt_ratios() { # PATTERN
	lines_of rtt_ratio "$1" | awk -F, '
	$7 == "mbps_1" { one[$3 " " $4 " " $6] = $8 }
	$7 == "mbps_2" { two[$3 " " $4 " " $6] = $8 }
	END { for (k in one) if (two[k] > 0) print k, one[k] / two[k] }' | sort
}

rtt_table() { # TABLE RATIOS
	awk -v where="$1" '
	function figure(x) { return sprintf(x >= 100 ? "%.0f" : x >= 10 ? "%.1f" : "%.2f", x) }
	NR == FNR { n = split($0, f, ","); if (f[1] == where) paper[f[2], f[3]] = f[4]; next }
	{ k = $1 SUBSEP $2; sum[k] += $4; runs[k]++; algorithms[$1]
		if (runs[k] == 1 || $4 < least[k]) least[k] = $4
		if (runs[k] == 1 || $4 > most[k]) most[k] = $4 }
	END {
		split("aimd bitcp hstcp stcp cubic reno ns3-bic ns3-highspeed ns3-scalable", order, " ")
		split("1 3 6", xs, " ")
		for (i = 1; i in order; i++) {
			if (!(order[i] in algorithms))
				continue
			row = "| " order[i]
			for (j = 1; j <= 3; j++) {
				k = order[i] SUBSEP xs[j]
				row = row " | " paper[k] " | "
				if (k in runs) {
					mean = sum[k] / runs[k]
					row = row figure(mean) (runs[k] > 1 ? " (" figure(least[k]) "-" figure(most[k]) ")" : "")
					row = row " | " (paper[k] ? sprintf("%.2f", mean / paper[k]) : "")
				} else
					row = row " | "
			}
			print row " |"
		}
	}' "$top/bench/papers/003.csv" - <<<"$2"
}

# What bench/run measured on the kernel itself: the valid lines of BENCH at MBPS and QUEUE
kernel_lines() { # BENCH MBPS QUEUE
	jq -c --arg bench "$1" --arg x "$2 Mbit/s, $3" 'select(.bench == $bench
		and (.invalid | not) and (.x | startswith($x)))' "$results"
}

kernel_ratios() { # LINES
	jq -r '"\(.column) \(.x | split(", ")[2]) \(.date) \(.ratio)"' <<<"$1"
}

# Of the ratios of RTT and the algorithms of the paper's tables, those without a run
rtt_missing() { # RATIOS
	local ratio absent list=
	for ratio in 1 3 6; do
		absent=$(absent "$(awk -v ratio="$ratio" '$2 == ratio { print $1 }' <<<"$1")" aimd bitcp hstcp stcp)
		[ -z "$absent" ] || list+="${list:+; }$absent at ratio $ratio"
	done
	echo "$list"
}

rtt_picture() { # FILE TITLE TABLE RATIOS MBPS
	local algorithm plots= kernel
	kernel=$(kernel_lines rtt_ratio "$5" drop-tail)
	[ -z "$kernel" ] || kernel=$(kernel_ratios "$kernel")
	for algorithm in aimd bitcp hstcp stcp; do
		awk -v a="$algorithm" '$1 == a { sum[$2] += $4; n[$2]++ }
			END { for (x in sum) print x, sum[x] / n[x] }' <<<"$4" | sort -n >"$work/ours-$algorithm"
		awk -v a="$algorithm" '$1 == a { sum[$2] += $4; n[$2]++ }
			END { for (x in sum) print x * 1.03, sum[x] / n[x] }' <<<"$kernel" | sort -n >"$work/kernel-$algorithm"
		awk -F, -v a="$algorithm" -v t="$3" '$1 == t && $2 == a { print $3, $4 }' \
			"$top/bench/papers/003.csv" >"$work/paper-$algorithm"
		plots+="${plots:+, }\"$work/paper-$algorithm\" using 1:2 with lines lw 2 dt 2 $(colour "$algorithm") title \"$algorithm, paper\""
		[ ! -s "$work/ours-$algorithm" ] ||
			plots+=", \"$work/ours-$algorithm\" using 1:2 with linespoints lw 2 ps 1.4 $(style "$algorithm") title \"$algorithm, ns-3\""
		[ ! -s "$work/kernel-$algorithm" ] ||
			plots+=", \"$work/kernel-$algorithm\" using 1:2 with points lw 3 ps 2 pt 3 $(colour "$algorithm") title \"$algorithm, kernel\""
	done
	{
		picture_head "$1" "$2"
		echo 'set logscale y
set xlabel "round-trip time of flow 2 / flow 1 (40 ms)"
set ylabel "throughput of flow 1 / flow 2"
set xtics (1, 3, 6)
set xrange [0.8:6.5]
set yrange [0.5:1000]
set key outside right top'
		echo "plot $plots"
	} | gnuplot
}

rtt_section() { # TABLE RATE FILE PATTERN MBPS
	local ratios
	ratios=$(rtt_ratios "$4")
	if [ -z "$ratios" ]; then
		[ "$5" = 500 ] || not_simulated+="${not_simulated:+; }$1 at $2"
		return 0
	fi
	rtt_picture "$3" "Two flows over $2, drop-tail: paper 003, $1" "$1" "$ratios" "$5"
	cat <<TEXT

## Paper 003: RTT fairness at $2, $1

Throughput of a flow with a round-trip time of 40 ms over that of a second one with 40, 120 and 240 ms.
Means of the runs (least and most in parentheses where there is more than one), and their ratio to the paper.

![$1]($3)

| | 1: paper | ours | ratio | 3: paper | ours | ratio | 6: paper | ours | ratio |
|---|---|---|---|---|---|---|---|---|---|
$(rtt_table "$1" "$ratios")

$(lines_of rtt_ratio "$4" | conditions) Of each run the second half counts.
$(not_measured "$(rtt_missing "$ratios")" "bench/sim/run full 'rtt_ratio|ns-3|.*|$5 Mbit'")
TEXT
	lines_of rtt_ratio "$4" | awk -F, '$7 == "synchronised_2" && $3 !~ /^ns3/ && $4 > 1 { sum[$3] += $8; n[$3]++ }
		END { PROCINFO["sorted_in"] = "@ind_str_asc"
			for (a in n) s = s (s == "" ? "" : ", ") sprintf("%s %.0f %%", a, 100 * sum[a] / n[a])
			if (s != "") print "Share of the seconds with a loss event in which both flows had one (ratios 3 and 6): " s ". The paper says of its own run that this is rare in such small windows, and gives no figure." }'
	lines_of rtt_ratio "$4" | awk -F, '$7 == "utilisation" && $3 !~ /^ns3/ { n++; if (n == 1 || $8 < least) least = $8 }
		END { if (n) printf "The bottleneck carried at least %.1f %% of what it can in all of ours.\n", 100 * least }'
}

not_simulated=
rtt_section "Table 3" "100 Mbit/s" rtt_100.png ',100 Mbit/s drop-tail.* 200 s,' 100
rtt_section "Table 2" "500 Mbit/s (the paper: 2.5 Gbit/s)" rtt_500.png ',500 Mbit/s drop-tail.* 60 s,' 500
rtt_section "Table 2" "2.5 Gbit/s" rtt_2500.png ',2500 Mbit/s drop-tail.* 60 s,' 2500
if [ -n "$(lines_of rtt_ratio)" ]; then
	cat <<TEXT

The paper's background is web traffic of a fifth to a half of the rate, 25 small TCP flows and two to four long ones, each
way; here on-off sources without congestion control take a tenth of the rate each way. Less background leaves more of
the link, and larger windows, to the two flows, and spreads their losses less; and the paper's packets are paced with a random delay,
ours are not. Both would make losses of the two more synchronised in ours, and with that ratios higher than the paper's.
TEXT
fi
not_measured "${not_simulated:+in ns-3 $not_simulated}" "bench/sim/run full 'rtt_ratio|ns-3|\(aimd\|bitcp\|hstcp\|stcp\)|.*|\(100 Mbit.*200 s\|2500\)'"
