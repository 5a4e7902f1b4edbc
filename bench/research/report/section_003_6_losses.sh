# SPDX-License-Identifier: GPL-2.0-only
# Paper 003: synchronised losses (Figure 2), and what two BI-TCP flows do (Figure 5).

# A row of the tables. Of drop-tail the paper says both "more than half" and "at least half" of 20,
# of RED "more than a quarter": six and more.
# The interval is the one of Wilson (95 %), as if the seconds did not depend on each other.
synchronised_cells() { # QUEUE FLOWS SHARE [SECONDS]
	awk -v n="$2" -v name="$1" -v paper="$(paper_value 003 "Figure 2" "$1" "$2")" -v p="$3" -v epochs="${4-}" 'BEGIN {
		if (p == "") exit
		z = 1.96; within = ""
		if (epochs) {
			middle = (p + z * z / 2 / epochs) / (1 + z * z / epochs)
			half = z / (1 + z * z / epochs) * sqrt(p * (1 - p) / epochs + z * z / 4 / epochs / epochs)
			within = sprintf("%.0f to %.0f %%%s", 100 * (middle - half), 100 * (middle + half),
				paper >= middle - half && paper <= middle + half ? ", which includes the paper'"'"'s" : "")
		}
		printf "| %s | %d of 20 | %.0f %% | %.0f %% | %.2f | %s | %s |\n", name, n,
			100 * paper, 100 * p, p / paper, epochs, within }'
}

synchronised_head='| queue | flows | paper (text) | ours | ratio | seconds with a loss event | 95 % of chance |
|---|---|---|---|---|---|---|'

synchronised=$(lines_of synchronised | longest)
synchronised_mbps=$(cut -d , -f 4 <<<"$synchronised" | sort -n | tail -n 1)
synchronised=$(grep -F ",hstcp,$synchronised_mbps," <<<"$synchronised" || :)
if [ -z "$synchronised" ]; then
	printf '\n## Paper 003: synchronised losses, Figure 2\n'
	not_measured "it" "bench/research/sim/run short '^synchronised'"
else
	for queue in droptail red; do
		awk -F, -v queue="$queue" '$5 ~ "^" queue && $7 ~ /^synchronised_[0-9]/ {
			sub(/synchronised_/, "", $7); n[$7]++; sum[$7] += $8; runs[$6] }
		END { for (seed in runs) all++
			for (i = 1; all && i <= 20; i++) print i, 100 * sum[i] / all }' <<<"$synchronised" \
			>"$work/synchronised-$queue"
	done
	synchronised_plots=
	for queue in "droptail;drop-tail;#b2182b;5" "red;RED;#4575b4;7"; do
		IFS=';' read -r queue name colour mark <<<"$queue"
		awk -F, -v name="$name" '$1 == "Figure 2" && $2 == name { print $3, 100 * $4 }' \
			"$top/bench/research/papers/003.csv" >"$work/figure2-$queue"
		[ ! -s "$work/synchronised-$queue" ] ||
			synchronised_plots+="${synchronised_plots:+, }\"$work/synchronised-$queue\" using 1:2 with linespoints lw 2 pt $mark lc rgb \"$colour\" title \"$name\""
		synchronised_plots+="${synchronised_plots:+, }\"$work/figure2-$queue\" using 1:2 with points pt 2 ps 2 lw 3 lc rgb \"$colour\" title \"$name, the paper's text\""
	done
	{
		picture_head synchronised.png \
			"20 HSTCP flows over $synchronised_mbps Mbit/s: paper 003, Figure 2"
		echo 'set xlabel "flows with a loss event in the same second, at least"
set ylabel "seconds with a loss event, %"
set xrange [1:20]
set yrange [0:105]
set key right top'
		echo "plot $synchronised_plots"
	} | gnuplot

	synchronised_epochs() { # QUEUE: seconds with a loss event, of all runs; nothing if that was not kept
		awk -F, -v queue="$1" '$5 ~ "^" queue && $7 == "loss_seconds" { n += $8 } END { if (n) print n }' \
			<<<"$synchronised"
	}

	synchronised_row() { # QUEUE NAME FLOWS
		synchronised_cells "$2" "$3" "$(awk -v n="$3" '$1 == n { print $2 / 100 }' "$work/synchronised-$1")" \
			"$(synchronised_epochs "$1")"
	}

	# Above or below the paper's
	synchronised_differs() {
		local spec queue name flows above= below=
		for spec in "droptail;drop-tail;10" "red;RED;6"; do
			IFS=';' read -r queue name flows <<<"$spec"
			case $(awk -v n="$flows" -v paper="$(paper_value 003 "Figure 2" "$name" "$flows")" '
				$1 == n { print ($2 / 100 > paper ? "above" : "below") }' "$work/synchronised-$queue") in
			above) above+=${above:+, }$name ;;
			below) below+=${below:+, }$name ;;
			esac
		done
		echo "A smaller window loses more often, so that of as many flows more lose in the same second by chance."
		[ -z "$above" ] || echo "That would explain what is above the paper's ($above)."
		[ -z "$below" ] || echo "It does not explain what is below ($below)."
	}

	cat <<TEXT

## Paper 003: synchronised losses, Figure 2

Twenty HSTCP flows with round-trip times of 40 to 150 ms over $synchronised_mbps Mbit/s (the paper's: 2.5 Gbit/s). Of
the seconds in which a flow has a loss event, the share in which at least so many flows have one. The background is that of the RTT
tables in ns-3; the paper's is 7 % of the rate forward and 35 % backward, with small TCP flows in it.

![Figure 2](synchronised.png)

Of drop-tail the paper says both "more than half" of the twenty flows and "at least half" of them, of which the second stands here; of RED "more than a quarter", which is six.

$synchronised_head
$(synchronised_row droptail drop-tail 10)
$(synchronised_row red RED 6)

$(conditions <<<"$synchronised") Of each run the second half counts. $(first_slow_start)
$([ "$synchronised_mbps" = 2500 ] || synchronised_differs)
$([ "$synchronised_mbps" = 2500 ] || not_measured "the paper's rate" "bench/research/sim/run full '^synchronised.*|2500|'")
TEXT
fi

# The same on the kernel, where bench/run measured any: of the runs of HSTCP, means by the seconds
kernel_synchronised() { # MBPS
	local lines spec queue flows
	lines=$(for queue in drop-tail RED; do kernel_lines synchronised "$1" $queue; done | jq -c 'select(.column == "hstcp")')
	[ -n "$lines" ] || return 0
	printf '\n### On the kernel, %s Mbit/s\n\n%s\n' "$1" "$synchronised_head"
	for spec in drop-tail:10 RED:6; do
		queue=${spec%:*} flows=${spec#*:}
		jq -rs --arg x "$1 Mbit/s, $queue" --arg n "$flows" 'map(select(.x == $x and .synchronised))
			| if . == [] then empty else (map(.loss_seconds) | add) as $seconds
				| "\(map(.synchronised[$n] * .loss_seconds) | add / $seconds) \($seconds)" end' <<<"$lines" |
			while read -r share seconds; do
				synchronised_cells $queue "$flows" "$share" "$seconds"
			done
	done
	printf '\n%s\n' "$(kernel_conditions synchronised "$1" <<<"$lines")"
}

for kernel_mbps in 100 200 500 2500; do
	kernel_synchronised $kernel_mbps
done

modes=$(lines_of modes | longest)
modes_mbps=$(cut -d , -f 4 <<<"$modes" | sort -n | tail -n 1)
modes=$(grep -F ",bitcp,$modes_mbps," <<<"$modes" || :)
if [ -z "$modes" ]; then
	printf '\n## Paper 003: the operating modes, Figure 5\n'
	not_measured "it" "bench/research/sim/run short '^modes'"
else
	for flow in 1 2; do
		awk -F, -v what="trace_$flow" '$7 == what { n = split($8, sample, " ")
			for (i = 1; i <= n; i++) { split(sample[i], f, "/")
				if (f[2] > 0) print f[1], f[2], f[3] } }' <<<"$modes" >"$work/trace-$flow"
	done
	# SECONDS WINDOW where the mode is MODE, else a gap
	of_mode() { # FILE MODE MARK SIZE
		echo "\"$1\" using 1:(\$3 == $2 ? \$2 : 1/0) with points pt $3 ps $4"
	}
	{
		picture_head modes.png "Two bitcp flows of 100 ms over $modes_mbps Mbit/s: paper 003, Figure 5"
		echo 'set xlabel "time, s"
set ylabel "congestion window, packets"
set yrange [0:*]
set key right top samplen 1'
		for flow in 1 2; do # a name where the flow is at 55 s
			awk -v flow=$flow '$1 >= 44 && !said++ { printf "set label \"flow %d\" at %g,%g center\n",
				flow, $1 + 1, $2 + (flow == 1 ? 170 : -90) }' "$work/trace-$flow"
		done
		mode_plots=
		for flow in 1 2; do
			for mode in "3;5;0.6;#1b7837;additive increase" "2;7;0.5;#4575b4;binary search" \
				"4;9;0.8;#b2182b;slow start past the maximum" "0;2;0.8;#777777;slow start or fast recovery"; do
				IFS=';' read -r number mark size colour name <<<"$mode"
				[ $flow = 1 ] || name=
				mode_plots+=", $(of_mode "$work/trace-$flow" "$number" "$mark" "$size") lc rgb \"$colour\" title \"$name\""
			done
		done
		echo "plot \"$work/trace-1\" using 1:2 with lines lc rgb \"#bbbbbb\" title \"\", \"$work/trace-2\" using 1:2 with lines dt 2 lc rgb \"#999999\" title \"\"$mode_plots"
	} | gnuplot
	cat <<TEXT

## Paper 003: the operating modes, Figure 5

A sample run, as in the paper, which says nothing of its conditions and prints no values: two BI-TCP flows over one bottleneck of $modes_mbps Mbit/s; the second begins later. The mode is what
\`bitcp_mode()\` of \`bitcp.h\` says of the same state, every 0.1 s.

![Figure 5](modes.png)

| | additive increase | binary search | slow start past the maximum |
|---|---|---|---|
$(for flow in 1 2; do
	awk -v flow="$flow" '$1 >= 20 { n++; of[$3]++ } END { if (n) printf "| flow %d, share of the time from 20 s on | %.0f %% | %.0f %% | %.0f %% |\n",
		flow, 100 * of[3] / n, 100 * of[2] / n, 100 * of[4] / n }' "$work/trace-$flow"
done)

Additive increase takes a distance of more than $(awk 'BEGIN { print 2 * 32 }') packets to the maximum: a loss at a window of 1000 gives up 125, and fast
convergence searches for half of those.

$(conditions <<<"$modes")
TEXT
fi
