# SPDX-License-Identifier: GPL-2.0-only
# Paper 003, section VII, simulated: utilisation, and TCP friendliness (Figure 9).

# Of each run: ALGORITHM MBPS QUEUE HIGH-SPEED TCP BACKGROUND UTILISATION, shares of the link. What
# it carried is divided as what was received.
mix_shares() {
	awk -F, '{ split($5, queue, " "); k = $3 " " $4 " " queue[1]; run = k " " $6
		value[run, $7] = $8; of[run] = k }
	END { for (run in of) {
		fast = value[run, "mbps_1"] + value[run, "mbps_2"]
		tcp = value[run, "mbps_3"] + value[run, "mbps_4"]
		background = value[run, "background_mbps"]
		carried = value[run, "utilisation"]
		share = carried / (fast + tcp + background)
		print of[run], fast * share, tcp * share, background * share, carried
	} }' <<<"$mix" | sort -k 2,2n -k 1,1
}

mix_rates() { # QUEUE: the rates that it was simulated at
	awk -v queue="$1" '$3 == queue { print $2 }' "$work/mix" | sort -nu
}

# Columns of $work/mix of one cell, as "mean (least-most)" in per cent
mix_cell() { # ALGORITHM MBPS QUEUE COLUMN
	awk -v a="$1" -v mbps="$2" -v queue="$3" -v column="$4" '
	$1 == a && $2 == mbps && $3 == queue {
		v = 100 * (column == "unused" ? 1 - $7 : $column)
		n++; sum += v
		if (n == 1 || v < least) least = v
		if (n == 1 || v > most) most = v }
	END { if (n) printf(n > 1 ? "%.1f (%.1f-%.1f)" : "%.1f", sum / n, least, most) }' "$work/mix"
}

mix_table() { # QUEUE
	local mbps algorithm
	for mbps in $(mix_rates "$1"); do
		for algorithm in aimd bitcp hstcp stcp; do
			grep -q "^$algorithm $mbps $1 " "$work/mix" || continue
			echo "| $mbps | $algorithm | $(mix_cell "$algorithm" "$mbps" "$1" 4) |" \
				"$(mix_cell "$algorithm" "$mbps" "$1" 5) |" \
				"$(mix_cell "$algorithm" "$mbps" "$1" 6) |" \
				"$(mix_cell "$algorithm" "$mbps" "$1" unused) |"
		done
	done
}

# Figure 9: a bar for each algorithm at each rate
mix_picture() { # FILE QUEUE TITLE
	local mbps plots= name
	local background=background tcp="long-lived TCP" fast=high-speed unused=unused
	for mbps in $(mix_rates "$2"); do
		name=$work/mix-$mbps
		awk -v mbps="$mbps" -v queue="$2" '$2 == mbps && $3 == queue {
			n[$1]++; for (i = 4; i <= 7; i++) sum[$1, i] += 100 * $i }
		END { for (a in n) printf "%s %g %g %g %g\n", a, sum[a, 6] / n[a],
			sum[a, 5] / n[a], sum[a, 4] / n[a], 100 - sum[a, 7] / n[a] }' "$work/mix" |
			sort >"$name"
		plots+="${plots:+, }newhistogram \"$mbps Mbit/s\""
		plots+=", \"$name\" using 2:xtic(1) lc rgb \"#999999\" title \"$background\""
		plots+=", \"\" using 3 lc rgb \"#4575b4\" title \"$tcp\""
		plots+=", \"\" using 4 lc rgb \"#1b7837\" title \"$fast\""
		plots+=", \"\" using 5 lc rgb \"#eeeeee\" title \"$unused\""
		background= tcp= fast= unused= # once in the legend
	done
	{
		picture_head "$1" "$3: paper 003, Figure 9"
		echo 'set style data histograms
set style histogram rowstacked gap 1 title offset 0,-1
set style fill solid border lc rgb "#444444"
set boxwidth 0.75
set ylabel "share of the bottleneck, %"
set yrange [0:100]
set bmargin 4.5
set key outside right top
set grid noxtics ytics'
		echo "plot $plots"
	} | gnuplot
}

# What TCP has beside bitcp, and what is unused, where all four were measured
mix_comparison() { # QUEUE
	local mbps
	for mbps in $(mix_rates "$1"); do
		awk -v mbps="$mbps" -v queue="$1" '$2 == mbps && $3 == queue {
			n[$1]++; tcp[$1] += $5; unused[$1] += 1 - $7 }
	END { if (n["aimd"] && n["bitcp"] && n["hstcp"] && n["stcp"])
		printf "- %s Mbit/s: beside bitcp TCP has %.2f of what it has beside stcp, and %.2f of that beside hstcp; unused are %.1f %% with bitcp, %.1f %% with aimd, %.1f %% with stcp, %.1f %% with hstcp\n",
			mbps, tcp["bitcp"] / n["bitcp"] / (tcp["stcp"] / n["stcp"]),
			tcp["bitcp"] / n["bitcp"] / (tcp["hstcp"] / n["hstcp"]),
			100 * unused["bitcp"] / n["bitcp"], 100 * unused["aimd"] / n["aimd"],
			100 * unused["stcp"] / n["stcp"], 100 * unused["hstcp"] / n["hstcp"] }' "$work/mix"
	done
}

mix_utilisation() { # QUEUE NAME
	local mbps algorithm row paper ours
	for algorithm in aimd bitcp hstcp stcp; do
		paper=$(paper_value 003 "Utilisation $2" $algorithm 2500)
		row="| $2 | $algorithm | $(awk "BEGIN { print 100 * $paper }") |"
		for mbps in $mix_all_rates; do
			ours=$(mix_cell $algorithm "$mbps" "$1" 7)
			row+=" $ours | $([ -z "$ours" ] || awk "BEGIN { printf \"%.2f\", ${ours%% *} / 100 / $paper }") |"
		done
		echo "$row"
	done
}

mix=$(lines_of mix | longest)
if [ -n "$mix" ]; then

mix_shares >"$work/mix"
mix_all_rates=$({ mix_rates droptail; mix_rates red; } | sort -nu | tr '\n' ' ')

cat <<TEXT

## Paper 003: utilisation, section VII

Two high-speed flows of a kind and two long-lived TCP flows, with round-trip times of 36 to 44 ms: the share in
per cent of what the bottleneck could carry in the second half of a run that it did carry, background included.
Means, least and most of the seeds in parentheses.

| queue | | 2.5 Gbit/s: paper |$(printf ' %s Mbit/s: ours | ratio |' $mix_all_rates)
|---|---|---|$(printf -- '---|---|%.0s' $mix_all_rates)
$(mix_utilisation droptail drop-tail)
$(mix_utilisation red RED)

$(conditions <<<"$mix")
TEXT

mix_picture shares.png droptail "Two high-speed flows and two of TCP, drop-tail"
cat <<TEXT

## Paper 003: TCP friendliness, Figure 9

The same runs, drop-tail: shares of the bottleneck in per cent of its rate; what it carried is divided as what was
received. The paper prints Figure 9 as bars without figures. Its text says: at 20 Mbit/s TCP has about as much beside
HSTCP as beside STCP, and slightly less beside BI-TCP, and HSTCP and STCP leave almost twice as much unused as AIMD
and BI-TCP; below 500 Mbit/s BI-TCP is about as friendly as STCP; at 500 Mbit/s STCP, BI-TCP and AIMD have about the
same share.

![Figure 9](shares.png)

| Mbit/s | | high-speed | long-lived TCP | background | unused |
|---|---|---|---|---|---|
$(mix_table droptail)

TEXT
mix_comparison droptail
cat <<TEXT

The paper does not give the round-trip times of this experiment, nor how long its small connections last: here 25
of them begin and end at random within the run, seven of them at a time on average, each with a window of at most 64 packets, and
on-off sources send a tenth of the rate. At 20 Mbit/s that background is most of the traffic, and windows are as
small as the paper says that they are there, below STCP's low window.
TEXT
fi
