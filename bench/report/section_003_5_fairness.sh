# SPDX-License-Identifier: GPL-2.0-only
# Paper 003, section VII, simulated: fairness over time scales, Figures 10 and 11.

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
				if (k in n)
					row = row sprintf((n[k] > 1) ? " %.3f (%.3f-%.3f) |" : " %.3f |",
						sum[k] / n[k], least[k], most[k])
			}
			if (row != "| " order[i] " |")
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
set yrange [0.4:1.02]
set xlabel "time scale, s (log scale)"
set ylabel "fairness index of four flows"
set key right bottom'
		echo "plot $plots, 0.95 with lines dt 3 lc rgb \"#555555\" title \"0.95\""
	} | gnuplot
}

fairness_section() { # QUEUE NAME FIGURE WHAT PART PAPER
	local lines points mbps
	for mbps in 50 100 2500; do
		lines=$(lines_of fairness ",$mbps,$1 " | longest)
		[ -n "$lines" ] || continue
		points=$(fairness_points "$lines" "$4")
		fairness_picture "fairness_$1_$mbps.png" "Four flows over $mbps Mbit/s, $2: paper 003, $3" "$points"
		cat <<TEXT

## Paper 003: fairness over time scales, $mbps Mbit/s, $2, $3

Jain's index of four flows of 100 ms over intervals of a length, mean of the worst $5 of the intervals
of the second half. $6

![$3](fairness_$1_$mbps.png)

$(fairness_rows "$points")

$(conditions <<<"$lines") The paper's runs are at 2.5 Gbit/s, of 600 s; here windows are smaller, and
bitcp searches where the paper's has additive increase.$([ "$1:$mbps" != red:50 ] || echo " RED's automatic
thresholds are 10 and 31 packets at this rate, the queue of 5 ms that it aims at: in a trace of
such a run flows time out, wait for a second, and begin anew with a window of one. That is what the index at 1 s and
5 s shows; $(awk -F, '
	$3 == "bitcp" && $7 == "utilisation" { n++; sum += $8 } END { if (n) printf "%.0f %%", 100 * sum / n }' <<<"$lines")
of the bottleneck were used with bitcp.")
$(awk '$1 == "bitcp" && $2 >= 25 { n++; if (n == 1 || $3 < least) least = $3 }
	END { if (n) printf("bitcp from 25 s on: at least %.3f (above 0.95 is asked for): %s.\n",
		least, (least > 0.95) ? "met" : "**not met**") }' <<<"$points")
TEXT
	done
}

fairness_section droptail drop-tail "Figure 10" fairness fifth \
	"The paper plots BI-TCP and AIMD close to 1 at all scales, HSTCP below them, and STCP always below 0.8."
fairness_section red RED "Figure 11" fairness_100th hundredth \
	"The paper finds HSTCP and STCP far from 1 at short scales, up to 25 s, and AIMD and BI-TCP close to it."
