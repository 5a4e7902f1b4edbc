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

# What the paper's text says of Figure 9, beside ours; not where one of the runs is missing
mix_statements() { # QUEUE
	local queue=$1 mbps
	for mbps in $(mix_rates "$queue"); do
		mix_statement "$mbps" "TCP's share beside hstcp / beside stcp" 5 hstcp / stcp 20 "tcp hstcp / stcp"
		mix_statement "$mbps" "TCP's share beside bitcp / beside stcp" 5 bitcp / stcp "20 100" "tcp bitcp / stcp"
		mix_statement "$mbps" "unused, hstcp and stcp / aimd and bitcp" unused "hstcp stcp" / "aimd bitcp" 20 \
			"unused hstcp stcp / aimd bitcp"
		mix_statement "$mbps" "high-speed share, stcp / bitcp" 4 stcp / bitcp 500 "high-speed stcp / bitcp"
		mix_statement "$mbps" "high-speed share, aimd / bitcp" 4 aimd / bitcp 500 "high-speed aimd / bitcp"
	done
}

mix_said() { # QUEUE
	local said
	said=$(mix_statements "$1")
	[ -z "$said" ] || printf '\n| where | what | paper | ours | ratio |\n|---|---|---|---|---|\n%s\n' "$said"
}

# Of $queue
mix_statement() { # MBPS WHAT COLUMN "ALGORITHM..." / "ALGORITHM..." "RATE..." IN_FILE
	local ours paper
	[[ " $7 " == *" $1 "* ]] || return 0
	paper=$(paper_value 003 "Figure 9" "$8" "$1")
	ours=$(awk -v mbps="$1" -v queue="$queue" -v column="$3" -v above="$4" -v below="$6" '
	$2 == mbps && $3 == queue { n[$1]++; sum[$1] += column == "unused" ? 1 - $7 : $column }
	function total(names,	a, i, m, s) {
		m = split(names, a, " ")
		for (i = 1; i <= m; i++) {
			if (!n[a[i]]) return 0
			s += sum[a[i]] / n[a[i]]
		}
		return s / m
	}
	END { if (total(above) && total(below)) printf "%.2f", total(above) / total(below) }' "$work/mix")
	[ -z "$ours" ] ||
		echo "| Figure 9, $1 Mbit/s | $2 | ${paper:-} | $ours | $(awk -v paper="$paper" -v ours="$ours" 'BEGIN {
			if (paper ~ /^[a-z]* ?[0-9.]+$/) { sub(/^[a-z]* /, "", paper); printf "%.2f", ours / paper } }') |"
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

# min_th and max_th where they are automatic: half of 5 ms, at least 5 packets, and three times that
red_thresholds() { # MBPS
	awk -v mbps="$1" 'BEGIN { min = mbps * 1e6 / 12000 * 5e-3 / 2; min = min < 5 ? 5 : min
		printf "%d and %d", min, 3 * min }'
}

mix_missing() { # QUEUE
	local mbps absent list=
	for mbps in 20 100 500 2500; do
		absent=$(absent "$(awk -v mbps="$mbps" -v queue="$1" '$2 == mbps && $3 == queue { print $1 }' "$work/mix")" \
			aimd bitcp hstcp stcp)
		[ "$absent" != "aimd, bitcp, hstcp, stcp" ] || absent="any"
		[ -z "$absent" ] || list+="${list:+; }$absent at $mbps Mbit/s"
	done
	echo "$list"
}

mix=$(lines_of mix | longest)
if [ -n "$mix" ]; then

mix_shares >"$work/mix"
mix_all_rates=$({ mix_rates droptail; mix_rates red; } | sort -nu | tr '\n' ' ')

for queue in droptail red; do
	for mbps in $(mix_rates $queue); do
		found=$(mix_cell bitcp "$mbps" $queue 7)
		[ -z "$found" ] || verdict "paper 003: utilisation with bitcp at least 99 %" \
			"ns-3, $mbps Mbit/s, $([ $queue = red ] && echo "RED (the paper, at 2.5 Gbit/s: $(awk "BEGIN { print 100 * $(paper_value 003 "Utilisation RED" bitcp 2500) }") %)" || echo drop-tail): $found %" \
			"$(awk -v found="${found%% *}" 'BEGIN { print (found >= 99 ? "met" : "not met") }')"
	done
done
for mbps in 100 2500; do
	found=$(kernel_lines rtt_ratio $mbps drop-tail | jq -rs 'map(select(.column == "bitcp") | .carried) | if . == [] then empty else min * 1000 | round / 10 end')
	[ -z "$found" ] || verdict "paper 003: utilisation with bitcp at least 99 %" \
		"kernel, $mbps Mbit/s, drop-tail, two flows of different RTT: at least $found %" \
		"$(awk -v found="$found" 'BEGIN { print (found >= 99 ? "met" : "not met") }')"
done
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
$(not_measured "$(mix_missing droptail | sed 's/^/drop-tail: /; /: $/d')" "bench/sim/run full '^mix.*droptail'")
$(not_measured "$(mix_missing red | sed 's/^/RED: /; /: $/d')" "bench/sim/run full '^mix.*red'")

A queue of one bandwidth-delay product keeps the link busy through a loss. RED holds a shorter one: its automatic thresholds
are $(red_thresholds 20) packets at 20 Mbit/s, and would be $(red_thresholds 2500) at the paper's 2.5 Gbit/s.
TEXT

mix_picture shares.png droptail "Two high-speed flows and two of TCP, drop-tail"
cat <<TEXT

## Paper 003: TCP friendliness, Figure 9

The same runs, drop-tail: shares of the bottleneck in per cent of its rate; what it carried is divided as what was
received. The paper prints Figure 9 as bars without figures; what its text says of them is in the second table.

![Figure 9](shares.png)

| Mbit/s | | high-speed | long-lived TCP | background | unused |
|---|---|---|---|---|---|
$(mix_table droptail)

$(conditions < <(grep ',droptail ' <<<"$mix"))
$(mix_said droptail)
TEXT
cat <<TEXT

The paper does not give the round-trip times of this experiment, nor how long its small connections last: here 25
of them begin and end at random within the run, seven of them at a time on average, each with a window of at most 64 packets, and
on-off sources send a tenth of the rate. At 20 Mbit/s that background is most of the traffic, and windows are as
small as the paper says that they are there, below STCP's low window.
TEXT
else
	printf '\n## Paper 003: utilisation and TCP friendliness, Figure 9\n'
	not_measured "either" "bench/sim/run full '^mix'"
fi
