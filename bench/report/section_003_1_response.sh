# SPDX-License-Identifier: GPL-2.0-only
# Paper 003: the response function, Figures 4 and 8, equations (1.1) to (1.5).

response=$(lines_of response ',every,')
if [ -n "$response" ]; then

# Table of an algorithm against its equation: p, equation, model, ns-3.
response_table() { # ALGORITHM EQUATION
	grep ",$1," <<<"$response" | awk -F, -f "$top/bench/papers/003.awk" -v which="$2" -e '
	function at_least(low_window, w, p) { # below it, normal TCP
		return w >= low_window ? w : reno_equation(p)
	}
	function equation(p) {
		return which == "bitcp" ? bitcp_equation(p) : which == "aimd" ? aimd_equation(p) :
			which == "hstcp" ? at_least(38, hstcp_equation(p), p) :
			which == "stcp" ? at_least(16, stcp_equation(p), p) : reno_equation(p)
	}
	function figure(x) {
		return x >= 1000 ? sprintf("%d", x + 0.5) : sprintf("%.3g", x)
	}
	function cell(engine, p,	v) {
		v = value[engine, p]
		if (v == "")
			return " | "
		return figure(v) " | " (equation(p) ? sprintf("%.2f", v / equation(p)) : "")
	}
	$7 == "window" { value[$2, $4] = $8; ps[$4] }
	END {
		n = 0
		for (p in ps)
			order[++n] = p
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && order[j] + 0 > order[j - 1] + 0; j--) {
				t = order[j]; order[j] = order[j - 1]; order[j - 1] = t
			}
		for (i = 1; i <= n; i++) {
			p = order[i]
			name = which != "bitcp" ? "" : bitcp_1_3(p) ? "(1.3) " : bitcp_1_5(p) ? "(1.5) " : ""
			printf "| %s | %s | %s | %s |\n", p,
				equation(p) ? name figure(equation(p)) : "none holds",
				cell("model", p), cell("ns-3", p)
		}
	}'
}

# p and average window of one series, for gnuplot
response_points() { # ENGINE ALGORITHM
	awk -F, -v engine="$1" -v algorithm="$2" '$2 == engine && $3 == algorithm && $7 == "window" {
		print $4, $8 }' <<<"$response" | sort -g
}

response_picture() { # FILE TITLE ALGORITHM...
	local file=$1 title=$2 algorithm engine plots= name
	shift 2
	for algorithm in "$@"; do
		for engine in model ns-3; do
			name=$work/$engine-$algorithm
			response_points $engine "$algorithm" >"$name"
			[ -s "$name" ] || continue
			if [ $engine = model ]; then
				plots+="\"$name\" using 1:2 with lines lw 2 $(colour "$algorithm") title \"$algorithm, numeric model\" noenhanced, "
			else
				plots+="\"$name\" using 1:2 with points ps 1.5 lw 2 $(style "$algorithm") title \"$algorithm, ns-3\" noenhanced, "
			fi
		done
	done
	awk -f "$top/bench/papers/003.awk" -e 'BEGIN { for (e = -2; e >= -7; e -= 0.05) {
		p = 10 ^ e; if (bitcp_equation(p)) print p, bitcp_equation(p) } }' >"$work/equation"
	{
		picture_head "$file" "$title"
		echo 'set logscale xy
set format xy "10^{%T}"
set terminal pngcairo enhanced
set xlabel "loss event rate"
set ylabel "average window, packets (rate per round-trip time)"
set xrange [5e-8:2e-2]
set key top right'
		echo "plot $plots \"$work/equation\" using 1:2 with lines dt 2 lw 2 lc rgb \"black\" title \"BI-TCP, equations (1.3) and (1.5)\""
	} | gnuplot
}

response_picture response.png "Response functions: one loss every 1/p packets" bitcp aimd hstcp stcp tt_reno

cat <<TEXT

## Paper 003 (BI-TCP): response functions, Figures 4 and 8

The average window at a loss event rate p, in packets. As in the derivation of section VI-B.1, a loss comes
after every 1/p packets. *Numeric model*: the header of the algorithm, without a network; *ns-3*: the
same header as the congestion control of a connection with 100 ms of round-trip time. Each with its
ratio to the paper's equation.

![Response functions](response.png)

TEXT
for algorithm in bitcp aimd hstcp stcp tt_reno; do
	grep -q ",$algorithm," <<<"$response" || continue
	case $algorithm in
	bitcp) equation="equations (1.3) and (1.5)" ;;
	aimd) equation="the equation below (1.4)" ;;
	hstcp) equation="0.15/p^0.82 (section IV)" ;;
	stcp) equation="0.08/p (a/b of section IV; Figure 4)" ;;
	tt_reno) equation="sqrt(1.5/p), AIMD with 1 and 0.5" ;;
	esac
	printf '### %s against %s\n\n' "$algorithm" "$equation"
	echo "| p | equation | numeric model | ratio | ns-3 | ratio |"
	echo "|---|---|---|---|---|---|"
	response_table "$algorithm" "${algorithm#tt_}"
	echo
done
conditions <<<"$response" | sed "s/Conditions: every;/Conditions:/"
cat <<TEXT

Where the equation gives less than a window of 38 (hstcp) or 16 (stcp) the one of normal TCP stands, which
the algorithm then is; BI-TCP has no equation for windows below 14. In ns-3 a fast recovery takes a round trip in which the window does not grow; the equations and
the model have none. stcp at p = 3e-3 is caught between whole packets: it gives up 3 of 19 where an eighth is 2.4.
TEXT

# --- ns-3's own ---
if grep -q ',ns3-' <<<"$response"; then
cat <<TEXT

### Beside ns-3's own implementations

The same in ns-3, with its own algorithms in the place of ours: average window in packets.

| p | bitcp | ns3-bic | hstcp | ns3-highspeed | stcp | ns3-scalable | tt_reno | ns3-reno |
|---|---|---|---|---|---|---|---|---|
$(awk -F, '$2 == "ns-3" && $7 == "window" { value[$3, $4] = sprintf("%.3g", $8); ps[$4] }
	END { split("bitcp ns3-bic hstcp ns3-highspeed stcp ns3-scalable tt_reno ns3-reno", order, " ")
		for (p in ps) {
			row = "| " p
			for (i = 1; i in order; i++)
				row = row " | " value[order[i], p]
			print row " |"
		} }' <<<"$response" | sort -t '|' -k 2,2gr)

ns-3's BIC is Linux's, not the paper's: it searches by a quarter of the distance, in steps of at most 16 packets,
and gives up a fifth of the window at a loss. Its Scalable grows by a packet for 50 acknowledged, the
paper's and ours for 100.
TEXT
fi

# --- which reading of the paper the equations describe ---
reading=$(lines_of reading)
if [ -n "$reading" ]; then
cat <<TEXT

### BI-TCP's equations and its pseudo-code

The paper says two things about binary search. In the pseudo-code of section VI-A the target moves with each
ACK, and the distance to the maximum shrinks by e^-1/2 per round trip; the text and equation (1.2) have it
halved. And in the pseudo-code a window that has passed its maximum meets the next loss with
\`prev_max\` at the default maximum, so that fast convergence applies to a flow that is not shrinking; the
derivation has no fast convergence. The four combinations, in floating point (\`bench/sim/readings.cc\`), as
ratios to (1.3) and (1.5):

| p | equation | pseudo-code: target per ACK, prev_max default | target per ACK, prev_max of the last loss | the equations with N_2 of the pseudo-code | target per RTT, prev_max default | target per RTT, prev_max of the last loss |
|---|---|---|---|---|---|---|
$(awk -F, -f "$top/bench/papers/003.awk" -e '
	{ value[$3, $4] = $8; ps[$4] }
	function cell(reading, p) {
		return sprintf("%.2f", value[reading, p] / bitcp_equation(p))
	}
	END { for (p in ps) printf "| %s | %d | %s | %s | %.2f | %s | %s |\n", p, bitcp_equation(p) + 0.5,
		cell("ack-default", p), cell("ack-last", p), bitcp_pseudo_code(p) / bitcp_equation(p), cell("rtt-default", p), cell("rtt-last", p) }' \
	<<<"$reading" | sort -t '|' -k 2,2gr)

$(awk -F, -f "$top/bench/papers/003.awk" -e '
	{ r = $8 / bitcp_equation($4); if (!($3 in most) || r > most[$3]) most[$3] = r
		if (!($3 in least) || r < least[$3]) least[$3] = r }
	function span(reading) { return sprintf("%.2f to %.2f", least[reading], most[reading]) }
	END { printf "Over these loss rates the pseudo-code comes to %s of the equations, the text with the last loss'"'"'s maximum to %s.", span("ack-default"), span("rtt-last") }' <<<"$reading")
\`bitcp.h\` follows the pseudo-code, the first of these columns: compare its numeric model above.

The gap of the second column can be derived. The equations count N_2 = log2(d / S_min) + 2 round trips of
binary search over a distance d. Where the target moves with each ACK, the distance g obeys g' = -g/2 per
round trip until g/2 is S_min, which takes 2 ln(d / (2 S_min)), and the last 2 S_min take two: for d = 2 S_max = 64 that
is 18.1 round trips instead of 14.6, and (1.1) and (1.2) with it (\`bitcp_pseudo_code()\` in
\`bench/papers/003.awk\`) give the third column. $(awk -F, -f "$top/bench/papers/003.awk" -e '
	$3 == "ack-last" { r = $8 / bitcp_pseudo_code($4); n++
		if (n == 1 || r > most) most = r; if (n == 1 || r < least) least = r }
	END { printf "What was simulated comes to %.3f to %.3f of it.", least, most }' <<<"$reading") The rest, from the first to the second
column, is fast convergence at every loss: half of what was given up is searched for, and the other half
regained by the slow start past the maximum. So the pseudo-code is within a tenth of its paper's equations only
where additive increase outweighs the search, below p = 3e-6, and the text's reading is within about a tenth throughout.
TEXT
fi
fi
