# SPDX-License-Identifier: GPL-2.0-only
# Paper 003: throughput ratios of two flows with different round-trip times, Tables 2 and 3.

# From lines, ratios mbps_1 / mbps_2 of each run: ALGORITHM RATIO SEED VALUE SECONDS
ratios_of_lines() {
	awk -F, '{ seconds = $5; sub(/.*; /, "", seconds); k = $3 " " $4 " " $6; run = k " " seconds + 0 }
	$7 == "mbps_1" { one[run] = $8 }
	$7 == "mbps_2" { two[run] = $8 }
	END { for (run in one) if (two[run] > 0) {
		split(run, f, " "); print f[1], f[2], f[3], one[run] / two[run], f[4] } }' | sort
}

rtt_ratios() { # PATTERN; of the longest runs
	lines_of rtt_ratio "$1" | longest | ratios_of_lines
}

# Where the cells are of different lengths, each says of which it is.
rtt_table() { # TABLE RATIOS
	awk -v where="$1" '
	function figure(x) { return sprintf(x >= 100 ? "%.0f" : x >= 10 ? "%.1f" : "%.2f", x) }
	NR == FNR { n = split($0, f, ","); if (f[1] == where) paper[f[2], f[3]] = f[4]; next }
	{ k = $1 SUBSEP $2; sum[k] += $4; runs[k]++; algorithms[$1]; seconds[k] = $5; lengths[$5]
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
					row = row (length(lengths) > 1 ? ", " seconds[k] " s" : "")
					row = row " | " (paper[k] ? sprintf("%.2f", mean / paper[k]) : "")
				} else
					row = row " | "
			}
			print row " |"
		}
	}' "$top/bench/research/papers/003.csv" - <<<"$2"
}

# Of each x and column the longest valid runs that bench/run made of BENCH at MBPS and QUEUE
kernel_lines() { # BENCH MBPS QUEUE
	kernel_all "$@" | jq -cs 'group_by([.x, .column])[]
		| (map(.seconds // 0) | max) as $longest | .[] | select((.seconds // 0) == $longest)'
}

# Of any length
kernel_all() { # BENCH MBPS QUEUE
	rows_of "$1" '.[] | select((.invalid | not) and (.x | . == "'"$2"' Mbit/s, '"$3"'"
		or startswith("'"$2"' Mbit/s, '"$3"', "))) | tojson'
}

# ALGORITHM RATIO DATE VALUE SECONDS
kernel_ratios() { # LINES
	jq -r 'select(.ratio) | "\(.column) \(.x | split(", ")[2]) \(.date) \(.ratio) \(.seconds)"' <<<"$1"
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

# From ratios of all lengths, a sentence about the cells that were measured with more than one
rtt_lengths() {
	awk '$2 > 1 { k = $1 ", ratio " $2; sum[k, $5] += $4; n[k, $5]++; lengths[k] = lengths[k] " " $5 }
	function figure(x) { return sprintf(x >= 100 ? "%.0f" : x >= 10 ? "%.1f" : "%.2f", x) }
	END {
		PROCINFO["sorted_in"] = "@ind_str_asc"
		for (k in lengths) {
			split("", seen)
			m = split(lengths[k], length_of, " "); one = ""; values = 0
			asort(length_of, length_of, "@val_num_asc")
			for (i = 1; i <= m; i++) {
				s = length_of[i]
				if (s in seen)
					continue
				seen[s]; values++
				mean = sum[k, s] / n[k, s]
				if (values == 1) first = mean
				one = one (one == "" ? "" : ", ") figure(mean) " in " s " s"
			}
			if (values < 2)
				continue
			cells++; up += mean > first
			list = list (list == "" ? "" : "; ") k ": " one
		}
		if (cells)
			printf "\nOf several lengths of run: %s. The longer is the higher in %d of %d: how much of the second half is still the start'"'"'s, and chance, are in these figures; the paper does not say how long its runs are.\n", list, up, cells
	}'
}

# From lines of all lengths: where a cell has runs of several lengths, whether the higher ratio goes
# with the higher share of synchronised losses, as a part of a sentence
rtt_synchronised() {
	awk -F, '$3 !~ /^ns3/ && $4 > 1 { seconds = $5; sub(/.*; /, "", seconds)
		k = $3 FS $4; run = k FS seconds + 0; of[run] = k; at[run, $6] = run
		if ($7 == "mbps_1") one[run, $6] = $8
		if ($7 == "mbps_2") two[run, $6] = $8
		if ($7 == "synchronised_2") share[run, $6] = $8 }
	END {
		for (i in at) if ((i in share) && two[i] > 0) {
			n[at[i]]++; ratio[at[i]] += one[i] / two[i]; both[at[i]] += share[i] }
		for (a in n) for (b in n) if (a < b && of[a] == of[b]) {
			r = ratio[a] / n[a] - ratio[b] / n[b]; s = both[a] / n[a] - both[b] / n[b]
			pairs++; up += r * s > 0; down += r * s < 0 }
		if (pairs) printf "of two lengths of run in one cell the one with the higher ratio has the higher share of synchronised losses %d times of %d, the lower %d times", up, pairs, down
	}'
}

# How many cells of different round-trip times are above the paper's: "N of M"
rtt_above() { # TABLE RATIOS
	awk -v where="$1" '
	NR == FNR { split($0, f, ","); if (f[1] == where) paper[f[2], f[3]] = f[4]; next }
	$2 > 1 { k = $1 SUBSEP $2; if (paper[k]) { sum[k] += $4; n[k]++ } }
	END { for (k in n) { all++; above += sum[k] / n[k] > paper[k] }
		if (all) printf "%d of %d", above, all }' "$top/bench/research/papers/003.csv" - <<<"$2"
}

# What may be behind the cells above and below the paper's, of different round-trip times. SHOWN:
# what the rows say of the cause that is likely.
rtt_differs() { # TABLE RATIOS ENGINE SHOWN
	awk -v where="$1" -v engine="$3" -v shown="$4" '
	NR == FNR { split($0, f, ","); if (f[1] == where) paper[f[2], f[3]] = f[4]; next }
	$2 > 1 { k = $1 SUBSEP $2; if (paper[k]) { sum[k] += $4; n[k]++ } }
	$2 == 1 { sum1[$1] += $4; n1[$1]++ }
	END {
		PROCINFO["sorted_in"] = "@ind_str_asc"
		for (a in n1) {
			mean = sum1[a] / n1[a]
			if (mean > 1.5 || mean < 1 / 1.5)
				uneven = uneven (uneven == "" ? "" : ", ") a
		}
		for (k in n) {
			all++
			split(k, f, SUBSEP); name = f[1] " at " f[2]
			if (sum[k] / n[k] > paper[k]) { above++; higher = higher (higher == "" ? "" : ", ") name }
			else lower = lower (lower == "" ? "" : ", ") name
		}
		if (!all)
			exit
		printf "Of the cells with a round trip of 3 and 6 times the other'"'"'s %d of %d are above the paper'"'"'s.", above, all
		if (above)
			printf " Less background leaves more of the link, and larger windows, to the two flows, and spreads their losses less, and %s: both may make losses of the two more synchronised, and with that ratios higher, as they are for %s. That is not shown%s.", engine == "kernel" ? "the kernel sends in bursts of up to 64 KB, the paper paces" : "the paper'"'"'s packets are paced with a random delay, ours are not", higher, shown == "" ? "" : ": " shown
		if (lower != "")
			printf " Why %s (%s) are below is not shown%s.", above ? "the others" : "they", lower, above ? " either" : ""
		if (uneven != "")
			printf " With the same round-trip time, too, one of the two flows has more than 1.5 times what the other has with %s: likely what was not equal at the start is not yet equal then.", uneven
		print ""
	}' "$top/bench/research/papers/003.csv" - <<<"$2"
}

# What speaks for or against synchronised losses as the cause of what is above the paper's
rtt_shown() { # TABLE PATTERN
	local said above
	said=$(lines_of rtt_ratio "$2" | rtt_synchronised)
	above=$(rtt_above "Table 2" "$(kernel_ratios "$(kernel_lines rtt_ratio 2500 drop-tail)")")
	[ -z "$above" ] || said+="${said:+; and }on the kernel at 2.5 Gbit/s, with as little background, $above cells are above the paper's"
	echo "$said"
}

# The first slow start of connections in dumbbell.cc
first_slow_start() {
	echo "The first slow start of a flow ends at a quarter of the bandwidth-delay product of its path, at 16 packets at least (\`AddFlow()\` in \`bench/research/sim/dumbbell.cc\`), before it loses anything; of its own the paper says nothing."
}

# RATIOS of ns-3 and of the kernel; either may be empty
rtt_picture() { # FILE TITLE TABLE NS3_RATIOS KERNEL_RATIOS
	local algorithm plots= mark
	for algorithm in aimd bitcp hstcp stcp; do
		awk -v a="$algorithm" '$1 == a { sum[$2] += $4; n[$2]++ }
			END { for (x in sum) print x, sum[x] / n[x] }' <<<"$4" | sort -n >"$work/ours-$algorithm"
		awk -v a="$algorithm" '$1 == a { sum[$2] += $4; n[$2]++ }
			END { for (x in sum) print x, sum[x] / n[x] }' <<<"$5" | sort -n >"$work/kernel-$algorithm"
		awk -F, -v a="$algorithm" -v t="$3" '$1 == t && $2 == a { print $3, $4 }' \
			"$top/bench/research/papers/003.csv" >"$work/paper-$algorithm"
		plots+="${plots:+, }\"$work/paper-$algorithm\" using 1:2 with lines lw 2 dt 2 $(colour "$algorithm") title \"$algorithm, paper\""
		[ ! -s "$work/ours-$algorithm" ] ||
			plots+=", \"$work/ours-$algorithm\" using 1:2 with linespoints lw 2 ps 1.4 $(style "$algorithm") title \"$algorithm, ns-3\""
		mark="ps 1.4 $(style "$algorithm")"
		[ -z "$4" ] || mark="ps 2 pt 3 $(colour "$algorithm")"
		[ ! -s "$work/kernel-$algorithm" ] ||
			plots+=", \"$work/kernel-$algorithm\" using ($([ -z "$4" ] && echo '$1' || echo '$1*1.03')):2 with $([ -z "$4" ] && echo linespoints || echo points) lw 2 $mark title \"$algorithm, kernel\""
	done
	{
		picture_head "$1" "$2"
		echo 'set logscale y
set xlabel "round-trip time of flow 2 / flow 1 (40 ms)"
set ylabel "throughput of flow 1 / flow 2 (log scale)"
set xtics (1, 3, 6)
set xrange [0.8:6.5]
set yrange [0.5:1000]
set key outside right top'
		echo "plot $plots"
	} | gnuplot
}

rtt_section() { # TABLE RATE FILE PATTERN MBPS
	local ratios lines
	lines=$(lines_of rtt_ratio "$4" | longest)
	ratios=$(ratios_of_lines <<<"$lines")
	if [ -z "$ratios" ]; then
		[ "$5" = 500 ] || not_simulated+="${not_simulated:+; }$1 at $2"
		return 0
	fi
	rtt_picture "$3" "Two flows over $2, drop-tail: paper 003, $1" "$1" "$ratios" \
		"$(kernel_ratios "$(kernel_lines rtt_ratio "$5" drop-tail)")"
	cat <<TEXT

## Paper 003: RTT fairness at $2, $1

Throughput of a flow with a round-trip time of 40 ms over that of a second one with 40, 120 and 240 ms, in ns-3.
Means of the longest runs (least and most in parentheses where there is more than one), and their ratio to the paper.

![$1]($3)

| | 1: paper | ours | ratio | 3: paper | ours | ratio | 6: paper | ours | ratio |
|---|---|---|---|---|---|---|---|---|---|
$(rtt_table "$1" "$ratios")

$(conditions <<<"$lines") Of each run the second half counts. $(given_up <<<"$lines")
$(not_measured "$(rtt_missing "$ratios")" "bench/research/sim/run full 'rtt_ratio|ns-3|.*|$5 Mbit'")
$(lines_of rtt_ratio "$4" | ratios_of_lines | grep -v '^ns3' | rtt_lengths)
TEXT
	awk -F, '$7 == "synchronised_2" && $3 !~ /^ns3/ && $4 > 1 { sum[$3] += $8; n[$3]++ }
		END { PROCINFO["sorted_in"] = "@ind_str_asc"
			for (a in n) s = s (s == "" ? "" : ", ") sprintf("%s %.0f %%", a, 100 * sum[a] / n[a])
			if (s != "") print "\nShare of the seconds with a loss event in which both flows had one (ratios 3 and 6): " s ". The paper says of its own run that this is rare in such small windows, and gives no figure." }' <<<"$lines"
	awk -F, '$7 == "utilisation" && $3 !~ /^ns3/ { n++; if (n == 1 || $8 < least) least = $8 }
		END { if (n) printf "The bottleneck carried at least %.1f %% of what it can in all of ours.\n", 100 * least }' <<<"$lines"
	cat <<TEXT

The paper's background is web traffic of a fifth to a half of the rate, 25 small TCP flows and two to four long ones, each
way; here on-off sources without congestion control take a tenth of the rate each way. $(first_slow_start)
$(rtt_differs "$1" "$ratios" ns-3 "$(rtt_shown "$1" "$4")")
TEXT
}

not_simulated=
rtt_section "Table 3" "100 Mbit/s" rtt_100.png ',100 Mbit/s drop-tail' 100
rtt_section "Table 2" "500 Mbit/s (the paper: 2.5 Gbit/s)" rtt_500.png ',500 Mbit/s drop-tail' 500
rtt_section "Table 2" "2.5 Gbit/s" rtt_2500.png ',2500 Mbit/s drop-tail' 2500
not_measured "${not_simulated:+in ns-3 $not_simulated}" "bench/research/sim/run full 'rtt_ratio|ns-3|\(aimd\|bitcp\|hstcp\|stcp\)|.*|\(100 Mbit.*200 s\|2500\)'"
