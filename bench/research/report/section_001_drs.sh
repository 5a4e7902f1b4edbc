# SPDX-License-Identifier: GPL-2.0-only
# Paper 001: transfers of 64 MB, Figures 2 to 4; the slow link, Figures 5 to 7; section IV.B.

# BENCH COLUMN FILE: of its first valid run the points, for gnuplot: s, flight, window, read
drs_points() {
	rows_of "$1" "first(.[] | select(.column == \"$2\" and .flow_points)) | .flow_points[]
		| [.[0], .[1], .[2], .[4]] | @tsv" >"$3"
}

# BENCH COLUMN EXPRESSION: the median of the valid runs
drs_median() {
	rows_of "$1" "map(select(.column == \"$2\" and (.invalid | not)) | $3) | grid_median // \"\""
}

# Like that with least and most
drs_spread() {
	rows_of "$1" "map(select(.column == \"$2\" and (.invalid | not)) | $3) | grid_spread
		| if .runs == 0 then \"no result\" elif .runs == 1 then \"\\(.median)\"
			else \"\\(.median) (\\(.least)-\\(.most))\" end"
}

drs_ratio() { # A B
	awk -v a="$1" -v b="$2" 'BEGIN { if (a != "" && b + 0) printf "%.3g", a / b }'
}

# Two panels: flight and window over time. FILE TITLE BENCH then twice COLUMN UNIT DIVISOR
drs_flight_picture() {
	local file=$1 title=$2 bench=$3 n=0
	shift 3
	{
		printf 'set terminal pngcairo size 1100,520 font "sans,10" noenhanced\n'
		printf 'set output "%s"\nset multiplot layout 1,2 title "%s"\n' "$out/$file" "$title"
		printf 'set grid\nset xlabel "time, s"\nset yrange [0:*]\nset xrange [0:*]\nset offsets graph 0, 0, graph 0.05, 0\n'
		printf 'set key below\nset bmargin 6\n'
		for (( ; $# >= 3; n++)); do
			drs_points "$bench" "$1" "$work/flight-$n"
			if [ ! -s "$work/flight-$n" ]; then
				shift 3
				continue
			fi
			printf 'set title "%s"\nset ylabel "%s"\n' "$1" "$2"
			printf 'plot "%s" using 1:($3/%s) with lines lw 5 lc rgb "#92c5de" title "window that the receiver advertises", ' "$work/flight-$n" "$3"
			printf '"%s" using 1:($2/%s) with lines lw 2 lc rgb "#b2182b" title "in flight"\n' "$work/flight-$n" "$3"
			shift 3
		done
		echo 'unset multiplot'
	} | gnuplot
}

drs_progress_picture() { # FILE
	local column plots= n=0 runs run style
	for column in "static, reno" tcptuned "right-sized, reno"; do
		case $column in
		static*) style='lc rgb "#b2182b"' ;;
		right*) style='lc rgb "#4575b4" dt 2' ;;
		*) style='lc rgb "#1b7837"' ;;
		esac
		runs=$(rows_of drs "map(select(.column == \"$column\" and .flow_points)) | length")
		for ((run = 0; run < runs; run++)); do
			rows_of drs "map(select(.column == \"$column\" and .flow_points))[$run]
				| .elapsed_s as \$took | (.flow_points[] | [.[0], .[4] / 1048576] | @tsv),
				([\$took, .bytes / 1048576] | @tsv)" >"$work/progress-$n"
			plots+="${plots:+, }\"$work/progress-$n\" using 1:2 with lines lw 2 $style"
			plots+=" $([ $run = 0 ] && echo "title \"$column\"" || echo notitle)"
			# what a shorter transfer would have come to
			tail -n 1 "$work/progress-$n" | awk '$2 < 64 && $1 > 0 {
				for (i = 0; i <= 40; i++) print $1 * exp(i / 40 * log(64 / $2)), $2 * exp(i / 40 * log(64 / $2)) }' \
				>"$work/progress-$n-rest"
			[ ! -s "$work/progress-$n-rest" ] ||
				plots+=", \"$work/progress-$n-rest\" using 1:2 with lines lw 2 dt 3 $style title \"$column, by its rate\""
			n=$((n + 1))
		done
	done
	{
		picture_head "$1" "64 MB over 1 Gbit/s, 100 ms (paper 001, Figure 2)"
		echo 'set logscale x
set xlabel "time, s (log scale)"
set ylabel "received, MB"
set xrange [0.1:400]
set yrange [0:70]
set xtics (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)
set key at graph 0.78, graph 0.8'
		plots+=", \"$work/progress-paper\" using 1:2 with points pt 2 ps 2 lw 3 lc rgb \"black\" title \"the paper: right-sized, static\""
		printf '%s 64\n' "$(paper_value 001 "Figure 2" right-sized "median s")" \
			"$(paper_value 001 "Figure 2" static "median s")" >"$work/progress-paper"
		echo "plot $plots"
	} | gnuplot
}

if [ -n "$(rows_of drs '.[] | select(.flow_points) | 1')" ]; then
drs_progress_picture drs_progress.png
drs_flight_picture drs_flight.png "64 MB over 1 Gbit/s, 100 ms: flight and window (paper 001, Figures 3 and 4)" \
	drs "static, reno" KB 1024 "right-sized, reno" MB 1048576
whole='(.elapsed_s * 67108864 / .bytes)' # of 64 MB
static=$(drs_median drs "static, reno" "$whole")
sized=$(drs_median drs "right-sized, reno" .elapsed_s)
static_mb=$(drs_median drs "static, reno" "(.bytes / 1048576)")
largest='(.flow_points // [] | map(.[1]) | max)'
window='(.flow_points // [] | map(.[2]) | max)'
p="paper_value 001"
cat <<TEXT

## Paper 001 (Dynamic Right-Sizing): 64 MB at 100 ms, Figures 2 to 4

Transfers of 64 MB over 1 Gbit/s and 100 ms with a queue of one bandwidth-delay product. *static*: a receive buffer of
64 KB, of which $(drs_median drs "static, reno" "($window / 1024 | round)") KB are advertised (the paper's: half); *right-sized*: tcptuned on both hosts, and Reno as in the paper; *tcptuned*: as
shipped. KB and MB are 2^10 and 2^20 bytes. Flight and window are tcptuned's own readings (\`tcptunectl flows --json\`); of the static transfer it is an observer.$([ "${static_mb:-64}" = 64 ] || echo " Of that one the first $static_mb MB were sent; the time of 64 is by its rate, which is constant.")

![Progress](drs_progress.png)

![Flight and window](drs_flight.png)

| where | what | paper | ours | ratio |
|---|---|---|---|---|
| Figure 2 | static, median time, s | $($p "Figure 2" static "median s") | $(drs_spread drs "static, reno" "($whole * 10 | round / 10)") | $(drs_ratio "$static" "$($p "Figure 2" static "median s")") |
| Figure 2 | right-sized, median time, s | $($p "Figure 2" right-sized "median s") | $(drs_spread drs "right-sized, reno" "(.elapsed_s * 100 | round / 100)") | $(drs_ratio "$sized" "$($p "Figure 2" right-sized "median s")") |
| Figure 2 | tcptuned as shipped, median time, s | | $(drs_spread drs tcptuned "(.elapsed_s * 100 | round / 100)") | |
| Figure 2 | times faster | $($p "Figure 2" ratio times) | $(drs_ratio "$static" "$sized") | $(drs_ratio "$(drs_ratio "$static" "$sized")" "$($p "Figure 2" ratio times)") |
| Figure 3 | static, window advertised, KB | $(($($p "Figure 3" static "window bytes") / 1024)) | $(drs_median drs "static, reno" "($window / 1024 | round)") | $(drs_ratio "$(drs_median drs "static, reno" "$window")" "$($p "Figure 3" static "window bytes")") |
| Figure 4 | right-sized, largest window / largest flight | $($p "Figure 4" right-sized "window / largest flight") | $(drs_median drs "right-sized, reno" "($window / $largest * 100 | round / 100)") | $(drs_ratio "$(drs_median drs "right-sized, reno" "$window / $largest")" "$($p "Figure 4" right-sized "window / largest flight")") |
| Figure 4 | right-sized, retransmitted segments | some | $(drs_median drs "right-sized, reno" .retransmits) | |
| Figure 4 | flight, right-sized / static | $($p "Figure 4" "right-sized / static" flight) | $(drs_ratio "$(drs_median drs "right-sized, reno" "$largest")" "$(drs_median drs "static, reno" "$largest")") | $(drs_ratio "$(drs_ratio "$(drs_median drs "right-sized, reno" "$largest")" "$(drs_median drs "static, reno" "$largest")")" "$($p "Figure 4" "right-sized / static" flight)") |

$(age_of_kernel=$age_of_shipped row_conditions drs)

The static transfer is what its window allows, then and now, one in each round trip. The paper's right-sized one lost
packets and stayed at seven times that; ours has a link of 1 Gbit/s and its queue to itself, and grows until
that is full, so that most of its time is the start. $(drs_points drs "right-sized, reno" "$work/growing"
awk '{ flight[NR] = $2; window[NR] = $3; if ($2 > most) most = $2 }
	END { for (i = 1; i <= NR && flight[i] < most / 2; i++) if (flight[i] > 65536) ratio[++n] = window[i] / flight[i]
		if (n) { asort(ratio); printf "While its flight grows, up to half of the largest, the window is %.2g times as large (median of %d samples); once the link is full the window stays at what the link and its queue hold, and the flight comes up to it.", ratio[int((n + 1) / 2)], n } }' "$work/growing")
TEXT
else
	printf '\n## Paper 001 (Dynamic Right-Sizing): 64 MB at 100 ms, Figures 2 to 4\n'
	not_measured "any of it" "bench/run drs"
fi

# --- the slow link ---
# What the windows and the flight of the picture do, as sentences
slow_window() {
	drs_points slow_flight tcptuned "$work/slow-window"
	drs_points slow_flight "static 64 KB" "$work/slow-window-static"
	awk 'function kb(x) { return sprintf("%.0f", x / 1024) }
	function times(n) { return n == 1 ? "once" : n " times" }
	FNR == NR { n = NR; t[n] = $1; w[n] = $3; next }
	{ last = $3; if ($3 > largest) { largest = $3; least = $3 } else if ($3 < least) least = $3 }
	END {
		if (!n) exit
		for (i = 1; i <= n; i++) if (w[i] > w[at]) at = i
		for (i = at + 1; i <= n; i++) {
			if (w[i] < w[i - 1]) { down++; if (!began) began = t[i] }
			if (w[i] > w[i - 1]) up++
		}
		printf "In the %.0f s of the picture the window begins with %s KB", t[n], kb(w[1])
		if (w[at] > w[1]) printf ", grows to %s KB within %.1f s", kb(w[at]), t[at]
		if (!down) print ", and stays there."
		else printf ", and then goes down %s, the first time at %.1f s, and up %s: at the end it is %s KB.\n", times(down), began, up ? times(up) : "never", kb(w[n])
		if (least && least < largest) printf "The static one, of which tcptuned is only an observer, is not constant either: after its largest, %s KB, it is once down to %s KB.\n", kb(largest), kb(least)
	}' "$work/slow-window" "$work/slow-window-static"
	awk -v r="$(drs_ratio "$(drs_median slow_flight "static 64 KB" "$flight")" "$(drs_median slow_flight tcptuned "$flight")")" 'BEGIN {
		if (r == "") exit
		if (r < 1.05) print "The mean flight of the right-sized one is still that of the static one, with Reno at the other end; Figure 7 is of longer transfers."
		else print "The mean flight of the right-sized one is less than that of the static one, as the paper says." }'
}

# What such a buffer was measured to offer
slow_static() {
	drs_median slow_flight "static 64 KB" '(.flow_points // [] | map(.[2]) | max) | select(.)' |
		awk '$1 { printf ", of which up to %.0f KB were advertised", $1 / 1024 }'
}

slow_points=$(rows_of slow_flight '.[] | select(.flow_points) | 1')
slow_link=$(rows_of slow_link 'map(select((.invalid | not) and (.x | startswith("56 ")))) | length')
cat <<TEXT

## Paper 001: low-bandwidth links, Figures 5 to 7

56 kbit/s, 100 ms, a Reno sender, a queue of ten packets (of its queue the paper says nothing). *static 64 KB* is what an application gets
that asks for 64 KB (\`SO_RCVBUF\`): the kernel makes that a buffer of 128 KB$(slow_static). The paper's static buffer is 64 KB, of which 32 are
advertised.
TEXT
if [ -n "$slow_points" ]; then
drs_flight_picture drs_slow.png "56 kbit/s, 100 ms: flight and window (paper 001, Figures 6 and 5)" slow_flight \
	"static 64 KB" KB 1024 tcptuned KB 1024
most=$(drs_median slow_flight tcptuned '(.flow_points | map(.[2]) | max)')
flight='(.flow_points | map(select(.[0] > 5) | .[1]) | add / length)'
cat <<TEXT

![Flight and window](drs_slow.png)

| where | what | paper | ours | ratio |
|---|---|---|---|---|
| Figure 5 | right-sized: largest window, bytes (below) | $(paper_value 001 "Figure 5" right-sized "largest window below bytes") | $most | $(drs_ratio "$most" "$(paper_value 001 "Figure 5" right-sized "largest window below bytes")") |
| Figure 5 | right-sized: the last window, bytes | | $(drs_median slow_flight tcptuned '.flow_points[-1][2]') | |
| Figure 6 | static: mean flight after 5 s, bytes | plot only | $(drs_median slow_flight "static 64 KB" "($flight | round)") | |
| Figure 5 | right-sized: mean flight after 5 s, bytes | plot only | $(drs_median slow_flight tcptuned "($flight | round)") | |
| section V.B | static / right-sized, mean flight | above 1 | $(drs_ratio "$(drs_median slow_flight "static 64 KB" "$flight")" "$(drs_median slow_flight tcptuned "$flight")") | |

$(age_of_kernel=$age_of_shipped row_conditions slow_flight)

A window that was once advertised is not taken back (RFC 9293 advises against it): it can come down only by what
arrives. $(slow_window)
TEXT
else
	not_measured "Figures 5 and 6, flight and window" "bench/run slow_flight"
fi
# Static over each of the others, over all links: least and most
slow_saving() {
	rows_of slow_link 'map(select(.invalid | not)) | group_by(.x) | map(. as $all
			| [("static 64 KB", "tcptuned at the receiver", "tcptuned, known path", "tcptuned, bitcp")
				| . as $c | $all | map(select(.column == $c) | .retransmits) | grid_median])[]
		| map(tostring) | join(" ")' | awk -v paper="$(paper_value 001 "Figure 7" "static / right-sized" retransmits)" '
	{ for (i = 2; i <= 4; i++) if ($1 + 0 && $i + 0) {
		r = $1 / $i; if (!n[i]++ || r < least[i]) least[i] = r; if (r > most[i]) most[i] = r } }
	function span(i) { return n[i] ? sprintf(sprintf("%.1f", least[i]) == sprintf("%.1f", most[i]) ? "%.1f" : "%.1f to %.1f", least[i], most[i]) : "" }
	END {
		if (n[2]) printf "With a Reno sender a static window has %s times the retransmits of the right-sized one", span(2)
		if (n[3]) printf ", %s with a known path", span(3)
		if (n[2]) printf " (the paper: %s): %s", paper, (least[2] > paper) ? "more than the paper'"'"'s, which offers twice what arrives in a round trip whatever the queue holds;\n`rightsize.h` offers a slow path less than that once a hole in the data shows that its queue does not hold it." : "not everywhere as much as the paper'"'"'s."
		if (n[4]) printf "\nAs shipped, with bitcp and not Reno at the sender, it is %s times%s.", span(4), (least[4] < 1) ? ": somewhere more than with the static window" : ""
		print ""
	}'
}

if [ "$slow_link" != 0 ]; then
per_1000='1e3 * .retransmits * .sender.mss / .bytes'
rows_of slow_link "map(select((.invalid | not) and .bytes)) | group_by(.x)[] | .[0].x as \$x
	| group_by(.column)[] | [\$x, .[0].column, (map($per_1000) | grid_median), (map($per_1000) | min), (map($per_1000) | max)]
	| map(tostring) | join(\";\")" >"$work/retransmits"
{
	picture_head drs_retransmits.png "Retransmitted segments (paper 001, Figure 7)"
	links=$(cut -d';' -f1 "$work/retransmits" | sort -u | awk '{ split($0, f, /[ ,]+/)
		printf "%.0f %s\t%s\n", f[1] * (f[2] == "Mbit/s" ? 1000 : 1), f[3], $0 }' | sort -k 1,1n -k 2,2n | cut -f2)
	echo 'set terminal pngcairo size 900,520 font "sans,11" noenhanced
set style data histograms
set style histogram clustered gap 2 errorbars lw 1
set style fill solid 0.8 border -1
set ylabel "retransmitted, per 1000 segments sent"
set yrange [0:*]
set offsets 0, 0, graph 0.08, 0
set key below horizontal'
	plots=
	n=0
	for column in "static 64 KB" kernel "tcptuned at the receiver" "tcptuned, known path" "tcptuned, bitcp"; do
		while read -r link; do
			awk -F';' -v x="$link" -v c="$column" '$1 == x && $2 == c { print "\"" x "\"", $3, $4, $5; found = 1 }
				END { if (!found) print "\"" x "\"", "NaN NaN NaN" }' "$work/retransmits"
		done <<<"$links" >"$work/bar-$n"
		colour=$(case $column in static*) echo "#b2182b" ;; kernel) echo "#e08214" ;; *receiver) echo "#1b7837" ;; *known*) echo "#7fbf7b" ;; *) echo "#4575b4" ;; esac)
		plots+="${plots:+, }\"$work/bar-$n\" using 2:3:4:xtic(1) lc rgb \"$colour\" title \"${column/tcptuned, bitcp/tcptuned as shipped}\""
		n=$((n + 1))
	done
	# The paper has one figure: by how much static is above right-sized.
	awk -F'"' -v r="$(paper_value 001 "Figure 7" "static / right-sized" retransmits)" '{
		split($3, value, " "); print NR - 1, value[1] / r }' "$work/bar-0" >"$work/bar-paper"
	plots+=", \"$work/bar-paper\" using 1:2 with points pt 2 ps 2 lw 3 lc rgb \"black\" title \"paper: static / $(paper_value 001 "Figure 7" "static / right-sized" retransmits)\""
	echo "plot $plots"
} | gnuplot
cat <<TEXT

![Retransmits](drs_retransmits.png)

Retransmitted segments, medians over runs of $(rows_of slow_link 'map(select(.invalid | not) | .elapsed_s) | "\(min | round) to \(max | round)"') s. *Static / right-sized* is static over tcptuned at the receiver, what the paper
gives as roughly $(paper_value 001 "Figure 7" "static / right-sized" retransmits); *known path*: tcptuned there too, and it remembers the path from half a minute before.

| link | static 64 KB | kernel | tcptuned at the receiver | tcptuned, known path | tcptuned as shipped | static / right-sized | ratio to the paper |
|---|---|---|---|---|---|---|---|
$(rows_of slow_link 'map(select(.invalid | not)) | group_by(.x)[] | . as $all
	| ["static 64 KB", "kernel", "tcptuned at the receiver", "tcptuned, known path", "tcptuned, bitcp"]
	| map(. as $c | $all | map(select(.column == $c) | .retransmits) | grid_median) as $m
	| "| \($all[0].x) | \($m | map(if . == null then "" else tostring end) | join(" | ")) | \(if $m[0] and $m[2] and $m[2] > 0 then ($m[0] / $m[2] * 100 | round / 100) else "" end) | RATIO |"' |
	awk -F' [|] ' -v paper="$(paper_value 001 "Figure 7" "static / right-sized" retransmits)" '{
		sub(/RATIO/, $7 + 0 ? sprintf("%.2f", $7 / paper) : ""); print }')

$(age_of_kernel=$age_of_shipped row_conditions slow_link) 

$(slow_saving)
$(not_measured "$(absent "$(rows_of slow_link '.[] | select(.invalid | not) | .x')" "56 kbit/s, 100 ms" "1.5 Mbit/s, 50 ms" "1.5 Mbit/s, 100 ms")" "bench/run slow_link")
TEXT
else
	not_measured "Figure 7, retransmits" "bench/run slow_link"
fi

# --- section IV.B ---
coarse=$(lines_of coarse)

# The bound of (6) and what was found, for the paper's clock and today's: d, what the estimator makes
# of it, and what it offers, in windows of the sender
coarse_table() {
	awk -F, '
	NR == FNR { if ($1 == "IV.B") jiffy = $4 / 1000; next }
	{ split($5, word, " "); value[word[3], $4, $7] = $8 }
	function up(x) { return x > int(x) ? int(x) + 1 : int(x) }
	function span(clock, x, what,	least, most) {
		least = value[clock, x, what "_least"]; most = value[clock, x, what "_most"]
		return most == "" ? "" : sprintf(most - least < 0.005 ? "%.3g" : "%.3g to %.3g", least, most)
	}
	END {
		n = split("0.5 1 5 10 25 50 100", rtt, " ")
		clocks[1] = jiffy; clocks[2] = 1
		head = "| RTT, ms |"; line = "|---|"
		for (c = 1; c <= 2; c++) {
			head = head " clock of " clocks[c] " ms: (6), d / w at most | ours | ratio | our estimate / w | offered / w |"
			line = line "---|---|---|---|---|"
		}
		print head "\n" line
		for (i = 1; i <= n; i++) {
			row = "| " rtt[i] " |"
			for (c = 1; c <= 2; c++) {
				most = up(2 * clocks[c] / rtt[i]) + 2; ours = value[clocks[c], rtt[i], "d_most"]
				row = row sprintf(" %d | %s | %s | %s | %s |", most, span(clocks[c], rtt[i], "d"),
					ours == "" ? "" : sprintf("%.2f", ours / most), span(clocks[c], rtt[i], "per_rtt"), span(clocks[c], rtt[i], "window"))
			}
			print row
		}
	}' "$top/bench/research/papers/001.csv" - <<<"$coarse"
}

# Whether d and the round trips that it is of keep to (5) and (6), and what is offered to the window
coarse_said() {
	awk -F, '
	function up(x) { return x > int(x) ? int(x) + 1 : int(x) }
	$7 ~ /^(d|rounds|window)_/ { split($5, word, " "); most = up(2 * word[3] / $4) + 2 }
	$7 == "d_least" || $7 == "d_most" { n++; good += $7 == "d_least" ? $8 >= 1 : $8 <= most }
	$7 == "rounds_least" || $7 == "rounds_most" { n_5++; good_5 += $7 == "rounds_least" ? $8 >= 1 : $8 <= most }
	$7 == "per_rtt_least" && (estimate == "" || $8 < estimate) { estimate = $8 }
	$7 == "window_least" && (least == "" || $8 < least) { least = $8 }
	$7 == "window_most" && $8 > largest { largest = $8 }
	END {
		if (n) printf "Bounds on d (6) kept: %d of %d; on the round trips that it is of (5): %d of %d. Our least estimate, of this one round, is %.2g of the\nwindow; the least that is offered is %.2g times the window, the most %.2g times. It is a first round, which has the room to grow of a new connection.\n", good, n, good_5, n_5, estimate, least, largest
	}' <<<"$coarse"
}

cat <<TEXT

## Paper 001, section IV.B: bounds (1) to (6) for coarse timers

By how much the bytes d of a period that passes for a round trip can exceed the window w, with a clock of so many ms
((6), the whole numbers below its bound): the paper's 10 ms, and the 1 ms of the timestamps by which a receiver measures the RTT today.
*Ours* is what \`bench/research/sim/coarse.cc\` finds around \`rightsize.h\`, least and most over senders that send in bursts, evenly and at random; and what the
estimator makes of that d, which it divides by the time that d took, and what it offers for it.

$(coarse_table)

$(coarse_said)
$([ -z "$coarse" ] || age_of=include/tcptuned/algo/rightsize.h conditions <<<"$coarse")
$([ -n "$coarse" ] || not_measured "what the estimator makes of it" "bench/research/sim/run short '^coarse'")

\`tests/unit/test_rightsize.c\` checks each of (1) to (6) on \`rightsize.h\` with clocks of 10 ms and 1 ms over senders that send in bursts and
evenly, finds that the bound of three above 20 ms holds and that a LAN of 1 ms is overstated by 15 and more, as the
paper says; and that what tcptuned makes of the same d, by dividing it by the time that it took, is at most twice what the window
carries in the RTT, or in 4 ms where the RTT is less (\`RIGHTSIZE_WINDOW_FLOOR_US\`; at 1 ms so eight windows). From an RTT of two ticks on what
it offers is no less than the window, and at most twelve times that (in 4 ms, where the RTT is less).
TEXT
