# SPDX-License-Identifier: GPL-2.0-only
# Paper 003, section VII: utilisation, simulated and on the kernel, and TCP friendliness (Figure 9),
# simulated.

# Of each run: ALGORITHM MBPS QUEUE HIGH-SPEED TCP BACKGROUND UTILISATION SECONDS, shares of the
# link. What it carried is divided as what was received.
mix_shares() {
	awk -F, '{ split($5, queue, " "); k = $3 " " $4 " " queue[1]; run = k " " $6
		sub(/.*; /, "", $5); seconds[run] = $5 + 0
		value[run, $7] = $8; of[run] = k }
	END { for (run in of) {
		fast = value[run, "mbps_1"] + value[run, "mbps_2"]
		tcp = value[run, "mbps_3"] + value[run, "mbps_4"]
		background = value[run, "background_mbps"]
		carried = value[run, "utilisation"]
		share = carried / (fast + tcp + background)
		print of[run], fast * share, tcp * share, background * share, carried, seconds[run]
	} }' <<<"$mix" | sort -k 2,2n -k 1,1
}

# The same of the connections of the kernel: of each cell the longest runs
mix_of_kernel() {
	rows_of friendliness 'map(select(.invalid | not)) | group_by([.x, .column])[]
		| (map(.seconds) | max) as $longest | .[] | select(.seconds == $longest)
		| select(.column | IN("aimd", "bitcp", "hstcp", "stcp"))
		| (.x | capture("^(?<mbps>[0-9]+) Mbit/s, (?<queue>.*)$")) as $x
		| (.goodput_bps / 1e6 / ($x.mbps | tonumber) * 1500 / .sender.mss) as $all
		| [.flows[].mbps] as $mbps
		| (($mbps[0] + $mbps[1]) / ($mbps | add) * $all) as $fast
		| "\(.column) \($x.mbps) \($x.queue) \($fast) \($all - $fast) \(.carried - $all) \(.carried) \(.seconds)"'
}

mix_rates() { # QUEUE: the rates that it was simulated at
	awk -v queue="$1" '$3 == queue { print $2 }' "$work/mix" | sort -nu
}

# Columns of $work/mix of one cell, as "mean (least-most)" in per cent; "runs": how many, of which
# length
mix_cell() { # ALGORITHM MBPS QUEUE COLUMN
	awk -v a="$1" -v mbps="$2" -v queue="$3" -v column="$4" '
	$1 == a && $2 == mbps && $3 == queue {
		v = 100 * (column == "unused" ? ($7 > 1 ? 0 : 1 - $7) : $column)
		seconds = $8
		n++; sum += v
		if (n == 1 || v < least) least = v
		if (n == 1 || v > most) most = v }
	END { if (n && column == "runs") printf "%d of %d s", n, seconds
		else if (n) printf(n > 1 ? "%.1f (%.1f-%.1f)" : "%.1f", sum / n, least, most) }' "$work/mix"
}

mix_table() { # QUEUE
	local mbps algorithm
	for mbps in $(mix_rates "$1"); do
		for algorithm in aimd bitcp hstcp stcp; do
			grep -q "^$algorithm $mbps $1 " "$work/mix" || continue
			echo "| $mbps | $algorithm | $(mix_cell "$algorithm" "$mbps" "$1" 4) |" \
				"$(mix_cell "$algorithm" "$mbps" "$1" 5) |" \
				"$(mix_cell "$algorithm" "$mbps" "$1" 6) |" \
				"$(mix_cell "$algorithm" "$mbps" "$1" unused) |" \
				"$(mix_cell "$algorithm" "$mbps" "$1" runs) |"
		done
	done
}

# Figure 9: a bar for each algorithm at each rate, a gap for what was not measured
mix_picture() { # FILE QUEUE TITLE
	local mbps plots= name
	local background=background tcp="long-lived TCP" fast=high-speed unused=unused
	for mbps in $(mix_rates "$2"); do
		name=$work/mix-$mbps
		awk -v mbps="$mbps" -v queue="$2" '$2 == mbps && $3 == queue {
			n[$1]++; for (i = 4; i <= 7; i++) sum[$1, i] += 100 * $i }
		END { split("aimd bitcp hstcp stcp", order, " ")
			for (i = 1; i in order; i++) {
				a = order[i]; unused = n[a] ? 100 - sum[a, 7] / n[a] : 0
				if (n[a])
					printf "%s %g %g %g %g\n", a, sum[a, 6] / n[a], sum[a, 5] / n[a],
						sum[a, 4] / n[a], unused < 0 ? 0 : unused
				else
					printf "\"%s\\n(none)\" 0 0 0 0\n", a
			} }' "$work/mix" >"$name"
		plots+="${plots:+, }newhistogram \"$mbps Mbit/s\""
		plots+=", \"$name\" using 2:xtic(1) lc rgb \"#999999\" title \"$background\""
		plots+=", \"\" using 3 lc rgb \"#4575b4\" title \"$tcp\""
		plots+=", \"\" using 4 lc rgb \"#1b7837\" title \"$fast\""
		plots+=", \"\" using 5 lc rgb \"#eeeeee\" title \"$unused\""
		background= tcp= fast= unused= # once in the legend
	done
	{
		picture_head "$1" "$3: paper 003, Figure 9"
		echo 'set terminal pngcairo size 1100,560 font "sans,10" enhanced
set style data histograms
set style histogram rowstacked gap 1 title offset 0,-1.5
set style fill solid border lc rgb "#444444"
set boxwidth 0.75
set ylabel "share of the bottleneck, %"
set yrange [0:100]
set bmargin 5.5
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
		mix_order "$mbps"
		mix_background "$mbps"
	done
}

# The high-speed shares, largest first, where the paper ranks them
mix_order() { # MBPS
	local paper ours
	paper=$(paper_value 003 "Figure 9" order "$1")
	[ -n "$paper" ] || return 0
	ours=$(awk -v mbps="$1" -v queue="$queue" -v paper="$paper" '
	$2 == mbps && $3 == queue { n[$1]++; sum[$1] += 100 * $4 }
	END { m = split(paper, name, " ")
		for (i = 1; i <= m; i++) if (!n[name[i]]) exit
		for (a in n) mean[a] = sum[a] / n[a]
		PROCINFO["sorted_in"] = "@val_num_desc"
		for (a in mean) printf "%s%s %.1f %%", k++ ? ", " : "", a, mean[a]
		for (i = 2; i <= m; i++) if (mean[name[i]] > mean[name[i - 1]]) other = 1
		printf " | %s", other ? "another order" : "the same order" }' "$work/mix")
	[ -z "$ours" ] || echo "| Figure 9, $1 Mbit/s | high-speed share, the largest first | ${paper// /, } | $ours |"
}

mix_background() { # MBPS
	local paper ours
	paper=$(paper_value 003 "Figure 9" background "$1")
	[ -n "$paper" ] || return 0
	ours=$(awk -v mbps="$1" -v queue="$queue" '$2 == mbps && $3 == queue {
		v = 100 * $6; if (!n++ || v < least) least = v; if (v > most) most = v }
		END { if (n) printf "%.1f to %.1f %%", least, most }' "$work/mix")
	[ -z "$ours" ] || echo "| Figure 9, $1 Mbit/s | share of the background | $paper | $ours | |"
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

mix_utilisation() { # QUEUE NAME ENGINE [LABEL]
	local mbps algorithm row paper ours
	for algorithm in aimd bitcp hstcp stcp; do
		grep -q "^$algorithm [0-9]* $1 " "$work/mix" || continue
		paper=$(paper_value 003 "Utilisation $2" $algorithm 2500)
		row="| ${4-$2} | $3 | $algorithm | $(awk "BEGIN { print 100 * $paper }") |"
		for mbps in $mix_all_rates; do
			ours=$(mix_cell $algorithm "$mbps" "$1" 7)
			row+=" $ours | $([ -z "$ours" ] || awk "BEGIN { printf \"%.2f\", ${ours%% *} / 100 / $paper }") |"
		done
		echo "$row"
	done
}

# min_th and max_th where they are automatic: half of 5 ms in packets of 500 bytes, at least 5, and
# three times that (bench/linkem/red.h)
red_thresholds() { # MBPS
	awk -v mbps="$1" 'BEGIN { min = mbps * 1e6 / 8 / 500 * 5e-3 / 2; min = min < 5 ? 5 : min
		printf "%d and %d", min, 3 * min }'
}

# What bitcp's flows left unused, of every kind of run: ENGINE;QUEUE;MBPS;WHAT;PER_CENT, a line each run
utilisation_runs() {
	{ lines_of mix; lines_of fairness; lines_of rtt_ratio; } | longest | awk -F, '
	$3 == "bitcp" && $7 == "utilisation" {
		mbps = $1 == "rtt_ratio" ? $5 + 0 : $4
		split($5, word, " ")
		queue = word[1] == "red" ? "RED" : word[1] == "red-1500" ? "RED-1500" : "drop-tail"
		print "ns-3;" queue ";" mbps ";" $1 ";" 100 * $8 }'
	for bench in friendliness fairness rtt_ratio; do
		rows_of $bench 'map(select((.invalid | not) and .column == "bitcp"))[]
			| (.x | capture("^(?<mbps>[0-9]+) Mbit/s, (?<queue>[^,]*)")) as $x
			| "kernel;\($x.queue);\($x.mbps);\(.bench);\(100 * .carried)"'
	done
}

utilisation_verdict() { # ENGINE QUEUE
	local found mark
	found=$(awk -F';' -v engine="$1" -v queue="$2" '
	BEGIN { label["mix"] = label["friendliness"] = "two fast and two of TCP"
		label["fairness"] = "four flows"; label["rtt_ratio"] = "two of different RTT" }
	$1 == engine && $2 == queue { k = sprintf("%05d;%s", $3, $4); n[k]++
		if (n[k] == 1 || $5 < least[k]) least[k] = $5 }
	END { PROCINFO["sorted_in"] = "@ind_str_asc"
		for (k in n) { split(k, f, ";"); all++; good += sprintf("%.1f", least[k]) + 0 >= 99
			s = s sprintf("%s%d Mbit/s, %s: %.1f %% (%d run%s)", s == "" ? "" : "; ", f[1],
				label[f[2]], least[k], n[k], (n[k] > 1 ? "s, the least" : "")) }
		if (all) print s "|" (good == all ? "met" : good ? "met in part" : "not met") }' "$work/utilisation")
	mark=${found##*|}
	verdict "paper 003: utilisation with bitcp at least 99 % ($1, $2; the paper, at 2.5 Gbit/s: $(awk "BEGIN { print 100 * $(paper_value 003 "Utilisation $2" bitcp 2500) }") %)" \
		"${found:+${found%|*}}" "${mark:-not measured}"
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

# How long RED's queue was on the kernel
red_queue() { # QUEUE
	rows_of friendliness 'map(select((.invalid | not) and (.x | endswith(", '"$1"'"))) | .link.queue_mean_ms | select(.))
		| if . == [] then empty else (min * 10 | round / 10) as $least | (max * 10 | round / 10) as $most
			| " On the kernel the queue of '"$1"' held \($least)\(if $most > $least then " to \($most)" else "" end) ms on average, over the whole of a run, of the 40 that there are." end'
}

# What the thresholds make of it, where both were measured
red_thresholds_matter() {
	cat "$work/mix-ns-3" "$work/mix-kernel" | awk '
	{ engine = $3 ~ /^red/ ? "ns-3" : "kernel"; queue = toupper($3); k = engine " at " $2 " Mbit/s, " $1
		n[k, queue]++; sum[k, queue] += 100 * $7; all[k] }
	END { PROCINFO["sorted_in"] = "@ind_str_asc"
		for (k in all) if (n[k, "RED"] && n[k, "RED-1500"]) {
			long = sum[k, "RED"] / n[k, "RED"]; short = sum[k, "RED-1500"] / n[k, "RED-1500"]
			s = s sprintf("%s%s: %.1f %% of the link instead of %.1f", s == "" ? "" : "; ", k, long, short)
			if (long <= short) not_more = 1
		}
		if (s != "") print (not_more ? "The longer queue is not always used more" : "With the longer queue more is used") " (" s ")." }'
}

mix=$(lines_of mix | longest)
mix_of_kernel >"$work/mix-kernel"
: >"$work/mix-ns-3"
utilisation_runs >"$work/utilisation"
for engine in ns-3 kernel; do
	for queue in drop-tail RED; do
		utilisation_verdict $engine $queue
	done
done

if [ -n "$mix" ] || [ -s "$work/mix-kernel" ]; then
[ -z "$mix" ] || mix_shares >"$work/mix-ns-3"
mix_all_rates=$(cut -d' ' -f2 "$work/mix-ns-3" "$work/mix-kernel" | sort -nu | tr '\n' ' ')
cat <<TEXT

## Paper 003: utilisation, section VII

Two high-speed flows of a kind and two long-lived TCP flows, with round-trip times of 36 to 44 ms: the share in
per cent of what the bottleneck could carry in the second half of a run that it did carry, background included.
Means, least and most of the runs in parentheses.

| queue | | | 2.5 Gbit/s: paper |$(printf ' %s Mbit/s: ours | ratio |' $mix_all_rates)
|---|---|---|---|$(printf -- '---|---|%.0s' $mix_all_rates)
$(cp "$work/mix-ns-3" "$work/mix"
mix_utilisation droptail drop-tail ns-3
mix_utilisation red RED ns-3
mix_utilisation red-1500 RED ns-3 RED-1500
cp "$work/mix-kernel" "$work/mix"
mix_utilisation drop-tail drop-tail kernel
mix_utilisation RED RED kernel
mix_utilisation RED-1500 RED kernel RED-1500)

$([ -z "$mix" ] || conditions <<<"$mix" | sed 's/^Conditions: /Conditions in ns-3: /')
$(given_up <<<"$mix")
$([ -z "$mix" ] || first_slow_start)
$(lines=$(for mbps in 20 100 500 2500; do kernel_lines friendliness $mbps drop-tail; kernel_lines friendliness $mbps RED; kernel_lines friendliness $mbps RED-1500; done)
[ -z "$lines" ] || kernel_conditions friendliness <<<"$lines" | sed 's/^Conditions: /\nOn the kernel: /')
$(cp "$work/mix-ns-3" "$work/mix"
not_measured "$(mix_missing droptail | sed 's/^/in ns-3, drop-tail: /; /: $/d')" "bench/research/sim/run full '^mix.*droptail'"
not_measured "$(mix_missing red | sed 's/^/in ns-3, RED: /; /: $/d')" "bench/research/sim/run full '^mix.*red'"
cp "$work/mix-kernel" "$work/mix"
not_measured "$(mix_missing RED | sed 's/^/on the kernel, RED: /; /: $/d')" "BENCH_MBPS='20 100 500 2500' BENCH_QUEUES=RED bench/run friendliness")

A queue of one bandwidth-delay product keeps the link busy through a loss. RED holds a shorter one, and how short depends on
what it takes for a packet. The paper gives no thresholds. ns-2 had automatic ones since the end of 2001, of 2.5 and 7.5 ms of the rate
in packets of 500 bytes (\`mean_pktsize_\` in its ns-default.tcl), but counted its queue in the packets that there were: with packets of 1500 bytes
they are 7.5 and 22.5 ms, $(red_thresholds 20) packets at 20 Mbit/s and $(red_thresholds 2500) at 2.5 Gbit/s. That is *RED* here. *RED-1500* has
2.5 and 7.5 ms, as the formula means it.$(red_queue RED)$(red_queue RED-1500)
$(red_thresholds_matter)
TEXT
cp "$work/mix-ns-3" "$work/mix"
fi

if [ -n "$mix" ]; then
mix_picture shares.png droptail "Two high-speed flows and two of TCP, drop-tail"
cat <<TEXT

## Paper 003: TCP friendliness, Figure 9

The same runs, drop-tail: shares of the bottleneck in per cent of its rate; what it carried is divided as what was
received. The paper prints Figure 9 as bars without figures; what its text says of them is in the second table.

![Figure 9](shares.png)

| Mbit/s | | high-speed | long-lived TCP | background | unused | runs |
|---|---|---|---|---|---|---|
$(mix_table droptail)

$(conditions < <(grep ',droptail ' <<<"$mix"))
$(mix_said droptail)
TEXT
cat <<TEXT

The paper does not give the round-trip times of this experiment, nor how long its small connections last: here 25
of them begin and end at random within the run, seven of them at a time on average, each with a window of at most 64 packets, and
on-off sources send a tenth of the rate.$(awk '$2 == 20 && $3 == "droptail" { v = 100 * $6; if (!n++ || v < least) least = v; if (v > most) most = v }
	END { if (n) printf " At 20 Mbit/s that background is %.0f to %.0f %% of the link, and windows are as\nsmall as the paper says that they are there, below STCP'"'"'s low window.", least, most }' "$work/mix")
TEXT
else
	printf '\n## Paper 003: TCP friendliness in ns-3, Figure 9\n'
	not_measured "any of it" "bench/research/sim/run full '^mix'"
fi
