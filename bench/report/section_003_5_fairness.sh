# SPDX-License-Identifier: GPL-2.0-only
# Paper 003, section VII: fairness over time scales, Figures 10 and 11, simulated and on the kernel.

# Of each run: ALGORITHM SCALE VALUE
fairness_points() { # LINES WHAT
	awk -F, -v what="$2" '$7 ~ "^" what "_[0-9]+$" { sub(what "_", "", $7); print $3, $7, $8 }' <<<"$1"
}

fairness_rows() { # POINTS
	awk '{ k = $1 SUBSEP $2; n[k]++; sum[k] += $3; scales[$2]
		if (n[k] == 1 || $3 < least[k]) least[k] = $3
		if (n[k] == 1 || $3 > most[k]) most[k] = $3 }
	END {
		split("aimd bitcp hstcp stcp", order, " ")
		split("1 5 25 50 100", xs, " ")
		head = "| |"; line = "|---|"
		for (j = 1; j in xs; j++)
			if (xs[j] in scales) {
				head = head " " xs[j] " s |"; line = line "---|"
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

fairness_picture() { # FILE TITLE POINTS
	local algorithm plots= name
	for algorithm in aimd bitcp hstcp stcp; do
		name=$work/fairness-$algorithm
		awk -v a="$algorithm" '$1 == a { n[$2]++; sum[$2] += $3 }
			END { for (x in n) print x, sum[x] / n[x] }' <<<"$3" | sort -n >"$name"
		[ -s "$name" ] || continue
		plots+="${plots:+, }\"$name\" using 1:2 with linespoints lw 2 ps 1.4 $(style "$algorithm") title \"$algorithm\""
	done
	{
		picture_head "$1" "$2"
		echo 'set logscale x
set xtics (1, 5, 25, 50, 100)
set xrange [0.8:125]
set yrange [*<0.8:1.02]
set xlabel "time scale, s (log scale)"
set ylabel "fairness index of four flows"
set key right bottom'
		echo "plot $plots, 0.95 with lines dt 3 lc rgb \"#555555\" title \"0.95\""
	} | gnuplot
}

# Why ours is not the paper's: rate, length, windows
fairness_differs() { # MBPS LINES
	local seconds
	seconds=$(sed 's/.*; \([0-9]*\) s,.*/\1/' <<<"$2" | sort -n | tail -n 1)
	[ "$1 $seconds" != "2500 600" ] || return 0
	awk -v mbps="$1" -v seconds="$seconds" 'BEGIN {
		printf "The paper has 2.5 Gbit/s and 600 s, ours %s%s%d s.", mbps == 2500 ? "" : mbps " Mbit/s", mbps == 2500 ? "" : " and ", seconds
		if (mbps < 2500) printf " A fair share of link and queue is %d packets here, %d there. AIMD adds %d in each round trip, %.0f %% of its share (there %.1f %%); bitcp, which searches where the share is below %d, less.",
			share(mbps), share(2500), 32, 3200 / share(mbps), 3200 / share(2500), 2 * 32 / 0.125 }
	function share(mbps) { return mbps * 1e6 * 0.2 / 12000 / 4 }'
}

# That bitcp is above 0.95 from 25 s on
fairness_verdict() { # POINTS MBPS QUEUE ENGINE
	local found
	found=$(awk '$1 == "bitcp" && $2 >= 25 { k = $2; n[k]++; sum[k] += $3 }
		END { for (k in n) if (least == "" || sum[k] / n[k] < least) least = sum[k] / n[k]
			if (least != "") printf "%.3f", least }' <<<"$1")
	[ -z "$found" ] || verdict "paper 003: fairness index of four bitcp flows above 0.95 from 25 s on" \
		"$4, $2 Mbit/s, $3: at least $found" \
		"$(awk -v found="$found" 'BEGIN { print (found > 0.95 ? "met" : "not met") }')"
}

fairness_section() { # QUEUE NAME FIGURE WHAT PART PAPER
	local lines points mbps absent
	for mbps in 50 100 2500; do
		lines=$(lines_of fairness ",$mbps,$1 " | longest)
		if [ -z "$lines" ]; then
			fairness_absent+="${fairness_absent:+, }$3 at $mbps Mbit/s"
			continue
		fi
		absent=$(absent "$(cut -d, -f3 <<<"$lines" | sort -u)" aimd bitcp hstcp stcp)
		points=$(fairness_points "$lines" "$4")
		fairness_picture "fairness_$1_$mbps.png" "Four flows over $mbps Mbit/s, $2: paper 003, $3" "$points"
		cat <<TEXT

## Paper 003: fairness over time scales, $mbps Mbit/s, $2, $3

Jain's index of four flows of 100 ms over intervals of a length, mean of the worst $5 of the intervals
of the second half. $6

![$3](fairness_$1_$mbps.png)

$(fairness_rows "$points")

$(conditions <<<"$lines")
$(not_measured "$absent" "bench/sim/run full '^fairness.*|$mbps|$1'")
$(fairness_differs "$mbps" "$lines")$([ "$1:$mbps" != red:50 ] || echo " RED's automatic
thresholds are $(red_thresholds 50) packets at this rate, half of the queue of 5 ms that it aims at and three times that: in a trace of
such a run flows time out, wait for a second, and begin anew with a window of one. That is what the index at 1 s and
5 s shows; $(awk -F, '
	$3 == "bitcp" && $7 == "utilisation" { n++; sum += $8 } END { if (n) printf "%.0f %%", 100 * sum / n }' <<<"$lines")
of the bottleneck were used with bitcp.")
TEXT
		fairness_verdict "$points" "$mbps" "$2" ns-3
	done
}

fairness_absent=
fairness_section droptail drop-tail "Figure 10" fairness fifth \
	"The paper plots BI-TCP and AIMD close to 1 at all scales, HSTCP below them, and STCP always below 0.8."
fairness_section red RED "Figure 11" fairness_100th hundredth \
	"The paper finds HSTCP and STCP far from 1 at short scales, up to 25 s, and AIMD and BI-TCP close to it."
not_measured "$fairness_absent" "bench/sim/run full '^fairness'"

# The same of four connections of the kernel itself
kernel_fairness() { # MBPS QUEUE FIGURE PAPER
	local lines points absent name
	lines=$(kernel_lines fairness "$1" "$2")
	if [ -z "$lines" ]; then
		kernel_unfair+=${kernel_unfair:+, }"$1 Mbit/s with $2"
		return
	fi
	points=$(jq -r '. as $run | ("1", "5", "25") | select($run.fairness[.])
		| "\($run.column) \(.) \($run.fairness[.])"' <<<"$lines")
	absent=$(absent "$(cut -d' ' -f1 <<<"$points" | sort -u)" aimd bitcp hstcp stcp)
	name=fairness_kernel_$(tr -d - <<<"${2,,}")_$1.png
	fairness_picture "$name" "Four connections of the kernel over $1 Mbit/s, $2: paper 003, $3" "$points"
	cat <<TEXT

## Paper 003: fairness over time scales on the kernel, $1 Mbit/s, $2, $3

Jain's index of four connections of 100 ms, mean of the worst fifth of the samples. $4

![$3 on the kernel]($name)

$(fairness_rows "$points")

$(kernel_conditions <<<"$lines")
$(not_measured "$absent" "BENCH_MBPS=$1 BENCH_QUEUES=$2 bench/run fairness")
TEXT
	fairness_verdict "$points" "$1" "$2" kernel
}

kernel_unfair=
for kernel_mbps in 100 2500; do
	kernel_fairness $kernel_mbps drop-tail "Figure 10" "The paper's runs are of 2.5 Gbit/s and 600 s; it plots
BI-TCP and AIMD close to 1 at all scales, and STCP below 0.8."
	kernel_fairness $kernel_mbps RED "Figure 11" "The paper's runs are of 2.5 Gbit/s and 600 s, and it takes the worst
hundredth of the samples; it finds HSTCP and STCP far from 1 at short scales."
done
if [ -n "$kernel_unfair" ]; then
	printf '\n## Paper 003: fairness over time scales on the kernel, Figures 10 and 11\n'
	not_measured "$kernel_unfair" "bench/run fairness"
fi
