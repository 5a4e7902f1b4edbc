# SPDX-License-Identifier: GPL-2.0-only
# Paper 003, section VII: fairness over time scales, Figures 10 and 11, simulated and on the kernel.

# Of each run: ALGORITHM SCALE VALUE INTERVALS, of which there are so many in the second half
fairness_points() { # LINES WHAT
	awk -F, -v what="$2" '$7 ~ "^" what "_[0-9]+$" { sub(what "_", "", $7); sub(/.*; /, "", $5)
		print $3, $7, $8, int($5 / 2 / $7) }' <<<"$1"
}

fairness_rows() { # POINTS
	awk '{ k = $1 SUBSEP $2; n[k]++; sum[k] += $3; scales[$2]
		if (!($2 in few) || $4 < few[$2]) few[$2] = $4
		if ($4 > many[$2]) many[$2] = $4
		if (n[k] == 1 || $3 < least[k]) least[k] = $3
		if (n[k] == 1 || $3 > most[k]) most[k] = $3 }
	END {
		split("aimd bitcp hstcp stcp", order, " ")
		split("1 5 25 50 100", xs, " ")
		head = "| |"; line = "|---|"
		for (j = 1; j in xs; j++)
			if (xs[j] in scales) {
				head = head sprintf(" %d s (%s interval%s) |", xs[j], few[xs[j]] == many[xs[j]] ? many[xs[j]] : few[xs[j]] " to " many[xs[j]], many[xs[j]] == 1 ? "" : "s"); line = line "---|"
			}
		print head "\n" line
		for (i = 1; i in order; i++) {
			row = "| " order[i] " |"
			for (j = 1; j in xs; j++) {
				k = order[i] SUBSEP xs[j]
				if (k in n) {
					row = row sprintf((n[k] > 1) ? " %.3f (%.3f-%.3f) |" : " %.3f |",
						sum[k] / n[k], least[k], most[k])
					any[i]
				} else if (xs[j] in scales)
					row = row " |"
			}
			if (i in any)
				print row
		}
	}' <<<"$1"
}

# What the paper says of a figure and what ours is over the scales; a point is a mean of runs.
# That an index is "close to 1" from 0.95 on, and below it there is "much deviation from 1", is ours.
fairness_said() { # FIGURE POINTS
	awk -v figure="$1" '
	NR == FNR { n = split($0, f, ","); if (f[1] == figure) { paper[f[2]] = f[4]; to[f[2]] = f[3] } next }
	{ sum[$1, $2] += $3; n_of[$1, $2]++; scales[$2] }
	function mean(a, x) { return sum[a, x] / n_of[a, x] }
	function over(a, x, b) { # or not to be compared
		return !((a, x) in n_of) || !((b, x) in n_of) || mean(a, x) >= mean(b, x) }
	END {
		split("aimd bitcp hstcp stcp", order, " ")
		for (i = 1; i in order; i++) {
			a = order[i]; all = as = 0; least = most = ""
			if (!(a in paper))
				continue
			for (x in scales) {
				if (!((a, x) in n_of) || (to[a] ~ /^up to/ && x + 0 > substr(to[a], 7) + 0))
					continue
				v = mean(a, x); all++
				if (least == "" || v < least) least = v
				if (most == "" || v > most) most = v
				if (paper[a] == "close to 1") as += v >= 0.95
				else if (paper[a] == "much deviation from 1") as += v < 0.95
				else if (paper[a] ~ /^below/) as += v < substr(paper[a], 7) + 0
				else as += over(a, x, "stcp") && over("bitcp", x, a)
			}
			if (!all)
				continue
			said = paper[a]
			sub(/^above STCP below BI-TCP$/, "above STCP, below BI-TCP", said)
			printf "| %s%s | %s | %s | %s |\n", a, to[a] == "all" ? "" : ", " to[a] " s", said,
				sprintf("%.3f", least) == sprintf("%.3f", most) ? sprintf("%.3f", least) : sprintf("%.3f to %.3f", least, most),
				as == all ? "yes" : as ? sprintf("at %d of %d scales", as, all) : "no"
		}
	}' "$top/bench/research/papers/003.csv" - <<<"$2"
}

fairness_said_table() { # FIGURE POINTS
	local said
	said=$(fairness_said "$1" "$2")
	[ -z "$said" ] || printf '\n| over all scales | paper (text) | ours | as in the paper |\n|---|---|---|---|\n%s\n\n%s\n' "$said" \
		"$(if [ "$1" = "Figure 10" ]; then echo '"Close to 1" is taken for 0.95 and more.'; else echo '"Much deviation from 1", on "short-term scales", is taken for less than 0.95, and up to the 25 s of its next sentence; of aimd and bitcp the paper says nothing here.'; fi)"
}

fairness_picture() { # FILE TITLE POINTS FIGURE
	local algorithm plots= name one="1"
	for algorithm in aimd bitcp hstcp stcp; do
		name=$work/fairness-$algorithm
		awk -v a="$algorithm" '$1 == a { n[$2]++; sum[$2] += $3 }
			END { for (x in n) print x, sum[x] / n[x] }' <<<"$3" | sort -n >"$name"
		[ -s "$name" ] || continue
		plots+="${plots:+, }\"$name\" using 1:2 with linespoints lw 2 ps 1.4 $(style "$algorithm") title \"$algorithm\""
	done
	{
		picture_head "$1" "$2"
		echo 'set terminal pngcairo size 1100,560 font "sans,11" noenhanced
set logscale x
set xtics (1, 5, 25, 50, 100)
set xrange [0.8:125]
set yrange [*<0.75:1.02]
set xlabel "time scale, s (log scale)"
set ylabel "fairness index of four flows"
set key outside right top'
		if [ "$4" = "Figure 10" ]; then
			plots+=", 0.8 with lines dt 2 lw 2 $(colour stcp) title \"paper: stcp is below\""
			one="paper: aimd, bitcp close to 1"
		fi
		echo "plot $plots, 0.95 with lines dt 3 lw 2 lc rgb \"#555555\" title \"0.95\", 1 with lines dt 2 lw 2 lc rgb \"black\" title \"$one\""
	} | gnuplot
}

# Why ours is not the paper's: rate, length, windows
fairness_differs() { # MBPS LINES
	local seconds
	seconds=$(sed 's/.*; \([0-9]*\) s,.*/\1/' <<<"$2" | sort -nu | paste -sd , | sed 's/,/, /g')
	[ "$1 $seconds" != "2500 600" ] || return 0
	awk -v mbps="$1" -v seconds="$seconds" 'BEGIN {
		printf "The paper has 2.5 Gbit/s and 600 s, ours %s%s%s s.", mbps == 2500 ? "" : mbps " Mbit/s", mbps == 2500 ? "" : " and ", seconds
		if (mbps < 2500) printf " A fair share of link and queue is %d packets here, %d there. AIMD adds %d in each round trip, %.0f %% of its share (there %.1f %%); bitcp, which searches where the share is below %d, less.",
			share(mbps), share(2500), 32, 3200 / share(mbps), 3200 / share(2500), 2 * 32 / 0.125 }
	function share(mbps) { return mbps * 1e6 * 0.2 / 12000 / 4 }'
}

# That bitcp is above 0.95 from 25 s on; where 25 s is the only such scale, the verdict is of that.
fairness_verdict() { # POINTS RATE QUEUE ENGINE
	local found only=
	found=$(awk '$1 == "bitcp" && $2 >= 25 { k = $2; n[k]++; sum[k] += $3; intervals[k] = $4 }
		END { PROCINFO["sorted_in"] = "@ind_num_asc"
			for (k in n) {
				mean = sum[k] / n[k]; if (least == "" || mean < least) least = mean
				s = s sprintf("%s%.3f at %d s (%d interval%s, %d run%s)", s == "" ? "" : ", ", mean, k,
					intervals[k], intervals[k] == 1 ? "" : "s", n[k], n[k] == 1 ? "" : "s")
			}
			if (s != "") print least "|" s }' <<<"$1")
	[ "$(awk '$1 == "bitcp" && $2 >= 25 { print $2 }' <<<"$1" | sort -u)" != 25 ] || only=" at 25 s, the only such scale"
	verdict "paper 003: fairness index of four bitcp flows above 0.95 from 25 s on ($4, $2 Mbit/s, $3)" \
		"${found#*|}" "$([ -z "$found" ] && echo "not measured" || awk -v found="${found%%|*}" 'BEGIN { print (found > 0.95 ? "met" : "not met") }')$only"
}

fairness_section() { # QUEUE NAME FIGURE WHAT PART
	local lines points mbps absent
	for mbps in 50 100 2500; do
		lines=$(lines_of fairness ",$mbps,$1 " | longest)
		if [ -z "$lines" ]; then
			fairness_absent+="${fairness_absent:+, }$3 at $mbps Mbit/s"
			continue
		fi
		absent=$(absent "$(cut -d, -f3 <<<"$lines" | sort -u)" aimd bitcp hstcp stcp)
		points=$(fairness_points "$lines" "$4")
		fairness_picture "fairness_$1_$mbps.png" "Four flows over $mbps Mbit/s, $2: paper 003, $3" "$points" "$3"
		cat <<TEXT

## Paper 003: fairness over time scales, $mbps Mbit/s, $2, $3

Jain's index of four flows of 100 ms over intervals of a length, mean of the worst $5 of the intervals
of the second half, of one at least. The background is that of the RTT tables in ns-3: on-off sources, and no TCP but the four flows.
$(first_slow_start)

![$3](fairness_$1_$mbps.png)

$(fairness_rows "$points")
$(fairness_said_table "$3" "$points")

$(conditions <<<"$lines") $(given_up <<<"$lines")
$(not_measured "$absent" "bench/research/sim/run full '^fairness.*|$mbps|$1'")
$(fairness_differs "$mbps" "$lines")$([ "$1" != red ] || awk -F, -v thresholds="$(red_thresholds "$mbps")" '
	$7 == "utilisation" { n[$3]++; sum[$3] += $8 }
	END { PROCINFO["sorted_in"] = "@ind_str_asc"
		for (a in n) s = s (s == "" ? "" : ", ") sprintf("%.0f %% with %s", 100 * sum[a] / n[a], a)
		printf " RED'"'"'s automatic\nthresholds are %s packets at this rate; %s of the bottleneck were used.", thresholds, s }' <<<"$lines")
TEXT
		fairness_verdict "$points" "$mbps" "$2" ns-3
	done
}

fairness_absent=
fairness_section droptail drop-tail "Figure 10" fairness fifth
fairness_section red RED "Figure 11" fairness_100th hundredth
not_measured "$fairness_absent" "bench/research/sim/run full '^fairness'"

# The same of four connections of the kernel itself. Figure 11 is of the worst hundredth; rows of
# before that was kept have the worst fifth only.
kernel_fairness() { # MBPS QUEUE FIGURE
	local lines points absent name part=fifth key=fairness
	lines=$(kernel_lines fairness "$1" "$2")
	if [ -z "$lines" ]; then
		kernel_unfair+=${kernel_unfair:+, }"$1 Mbit/s with $2"
		[ "$1" != 2500 ] || fairness_verdict "" "$1" "$2" kernel
		return
	fi
	if [ "$2" = RED ] && jq -es 'all(.[]; .fairness_worst_100th)' <<<"$lines" >/dev/null; then
		part=hundredth key=fairness_worst_100th
	fi
	points=$(jq -r --arg key $key '. as $run | ("1", "5", "25", "50", "100") | select($run[$key][.])
		| "\($run.column) \(.) \($run[$key][.]) \($run.fairness_intervals[.]? // ($run.seconds / 2 / tonumber | floor))"' <<<"$lines")
	absent=$(absent "$(cut -d' ' -f1 <<<"$points" | sort -u)" aimd bitcp hstcp stcp)
	name=fairness_kernel_$(tr -d - <<<"${2,,}")_$1.png
	fairness_picture "$name" "Four connections of the kernel over $1 Mbit/s, $2: paper 003, $3" "$points" "$3"
	cat <<TEXT

## Paper 003: fairness over time scales on the kernel, $1 Mbit/s, $2, $3

Jain's index of four connections of 100 ms over intervals of a length, mean of the worst $part of the intervals of the second
half, of one at least. The paper's runs are of 2.5 Gbit/s and 600 s$([ "$3:$part" != "Figure 11:fifth" ] || echo ", and of the worst hundredth").

![$3 on the kernel]($name)

$(fairness_rows "$points")
$(fairness_said_table "$3" "$points")

$(kernel_conditions fairness "$1" "$2" <<<"$lines")
$(not_measured "$absent" "BENCH_MBPS=$1 BENCH_QUEUES=$2 bench/run fairness")
TEXT
	fairness_verdict "$points" "$1" "$2" kernel
}

kernel_unfair=
for kernel_mbps in 100 2500; do
	kernel_fairness $kernel_mbps drop-tail "Figure 10"
	kernel_fairness $kernel_mbps RED "Figure 11"
done
if [ -n "$kernel_unfair" ]; then
	printf '\n## Paper 003: fairness over time scales on the kernel, not measured\n'
	not_measured "$kernel_unfair" "bench/run fairness"
fi
