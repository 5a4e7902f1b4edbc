# SPDX-License-Identifier: GPL-2.0-only
# Paper 003: the response function, Figures 4 and 6 to 8, equations (1.1) to (1.5).

# Of the same point only those with the most losses.
most_losses() {
	awk -F, '{ losses = $5; sub(/.*; /, "", losses); k = $2 FS $3 FS $4 FS $7
		if (losses + 0 > most[k]) { most[k] = losses + 0; line[k] = $0 } }
	END { for (k in line) print line[k] }' | sort
}

response=$(lines_of response ',every; ' | most_losses)
if [ -n "$response" ]; then

# Table of an algorithm against its equation: p, equation, model, ns-3.
response_table() { # ALGORITHM EQUATION
	grep ",$1," <<<"$response" | awk -F, -f "$top/bench/research/papers/003.awk" -v which="$2" -e '
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
		return figure(v) " | " (equation(p) ? sprintf("%.3f", v / equation(p)) : "")
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

# The paper's equation of an algorithm, for gnuplot
response_equation() { # ALGORITHM
	awk -f "$top/bench/research/papers/003.awk" -v which="$1" -e 'BEGIN { for (e = -2; e > -7.01; e -= 0.05) {
		p = 10 ^ e
		w = which == "bitcp" ? bitcp_equation(p) : which == "aimd" ? aimd_equation(p) :
			which == "hstcp" ? hstcp_equation(p) : which == "stcp" ? stcp_equation(p) : reno_equation(p)
		low = which == "hstcp" ? 38 : which == "stcp" ? 16 : 0
		if (w > low) print p, w } }'
}

response_picture() { # FILE TITLE ALGORITHM...
	local file=$1 title=$2 algorithm engine plots= name
	shift 2
	for algorithm in "$@"; do
		response_equation "$algorithm" >"$work/equation-$algorithm"
		plots+="\"$work/equation-$algorithm\" using 1:2 with lines dt 2 lw 2 $(colour "$algorithm") notitle, "
		for engine in model ns-3; do
			name=$work/$engine-$algorithm
			response_points $engine "$algorithm" >"$name"
			[ -s "$name" ] || continue
			if [ $engine = model ]; then
				plots+="\"$name\" using 1:2 with lines lw 2 $(colour "$algorithm") title \"${algorithm#tt_}, numeric model\" noenhanced, "
			else
				plots+="\"$name\" using 1:2 with points ps 1.5 lw 2 $(style "$algorithm") title \"${algorithm#tt_}, ns-3\" noenhanced, "
			fi
		done
	done
	{
		picture_head "$file" "$title"
		echo 'set logscale xy
set format xy "10^{%T}"
set terminal pngcairo enhanced
set xlabel "loss event rate"
set ylabel "average window, packets (rate per round-trip time)"
set xrange [7e-8:1.5e-2]
set yrange [5:2e6]
set key top right'
		echo "plot $plots NaN with lines dt 2 lw 2 lc rgb \"black\" title \"the paper's equations\""
	} | gnuplot
}

response_picture response_4.png "Response functions, a loss every 1/p packets (paper 003, Figure 4)" \
	aimd hstcp stcp tt_reno
response_picture response.png "Response functions, a loss every 1/p packets (paper 003, Figure 8)" \
	bitcp aimd hstcp stcp tt_reno

# At how many loss rates of those with an equation ENGINE is within a tenth of it: N OF LEAST MOST
response_within() { # ENGINE
	response_points "$1" bitcp | awk -f "$top/bench/research/papers/003.awk" -e '
	bitcp_equation($1) { r = $2 / bitcp_equation($1); of++; n += r >= 0.9 && r <= 1.1
		if (of == 1 || r < least) least = r
		if (of == 1 || r > most) most = r }
	END { if (of) printf "%d %d %.2f %.2f\n", n, of, least, most }'
}

response_found=
response_met=met
for engine in model ns-3; do
	read -r n of least most <<<"$(response_within $engine)" || continue
	[ -n "$of" ] || continue
	response_found+=${response_found:+; }"$([ $engine = model ] && echo "numeric model" || echo $engine) at $n of $of loss rates ($least to $most)"
	[ "$n" = "$of" ] || response_met="not met"
done
verdict "paper 003: bitcp's response function within 10 % of (1.3) and (1.5)" \
	"$response_found, one run each; its paper's pseudo-code and equations differ, see there" "$response_met"

cat <<TEXT

## Paper 003 (BI-TCP): response functions, Figures 4 and 6 to 8

The average window at a loss event rate p, in packets. As in the derivation of section VI-B.1, a loss comes
after every 1/p packets. *Numeric model*: the header of the algorithm, without a network; *ns-3*: the
same header as the congestion control of a connection with 100 ms of round-trip time. Each with its
ratio to the paper's equation.

![Response functions](response_4.png)

![Response functions](response.png)

TEXT
for algorithm in bitcp aimd hstcp stcp tt_reno; do
	grep -q ",$algorithm," <<<"$response" || continue
	case $algorithm in
	bitcp) equation="equations (1.3) and (1.5)" ;;
	aimd) equation="the equation below (1.4)" ;;
	hstcp) equation="0.15/p^0.82 (section IV)" ;;
	stcp) equation="0.08/p (Kelly's a/b; Figure 4)" ;;
	tt_reno) equation="sqrt(1.5/p), AIMD with 1 and 0.5" ;;
	esac
	printf '### %s against %s\n\n' "${algorithm#tt_}" "$equation"
	echo "| p | equation | numeric model | ratio | ns-3 | ratio |"
	echo "|---|---|---|---|---|---|"
	response_table "$algorithm" "${algorithm#tt_}"
	echo
done
conditions <<<"$response" | sed 's/every; //g'
response_missing=$(for algorithm in bitcp aimd hstcp stcp tt_reno; do
	absent=$(absent "$(response_points ns-3 "$algorithm" | cut -d' ' -f1)" 1e-2 3e-3 1e-3 3e-4 1e-4 3e-5 1e-5)
	[ -z "$absent" ] || echo "${algorithm#tt_} at $absent"
done | paste -sd ';' | sed 's/;/; /g')
not_measured "${response_missing:+in ns-3 $response_missing (rarer losses take days)}" "bench/research/sim/run full 'response|ns-3'"
# Least and most of the numeric model over FUNCTION of 003.awk, for windows above LOW
response_over() { # ALGORITHM FUNCTION LOW
	response_points model "$1" | awk -f "$top/bench/research/papers/003.awk" -v low="$3" -e '
	'"$2"'($1) > low { r = $2 / '"$2"'($1)
		if (!n++ || r < least) least = r
		if (n == 1 || r > most) most = r }
	END { if (n) printf "%.2f to %.2f", least, most }'
}
# What the paper says of its Figure 8: where bitcp leaves TCP and meets AIMD. It "meets" AIMD where
# it has nine tenths of its window.
response_figure_8() {
	response_points model bitcp | awk -f "$top/bench/research/papers/003.awk" -v cross="$(paper_value 003 "Figure 8" "bitcp crosses TCP" p)" \
		-v window="$(paper_value 003 "Figure 8" "bitcp crosses TCP" window)" -v meets="$(paper_value 003 "Figure 8" "bitcp meets aimd" p)" -e '
	{ p[++n] = $1; w[n] = $2; if ($1 == cross + 0) at_cross = $2; if ($1 == meets + 0) at_meets = $2 }
	END {
		if (at_cross) printf "- Figure 8, by the paper: bitcp crosses TCP around p = %s, at a window of %s. Ours there: %.1f, %.2f times TCP.\n", cross, window, at_cross, at_cross / reno_equation(cross + 0)
		if (!at_meets) exit
		for (i = n; i >= 1; i--) # from frequent losses to rare ones
			if (w[i] >= 0.9 * aimd_equation(p[i])) { from = p[i]; break }
		printf "- Figure 8, by the paper: bitcp meets AIMD around p = %s. Ours there is %.2f of AIMD, (1.3) itself %.2f;", meets, at_meets / aimd_equation(meets + 0), bitcp_equation(meets + 0) / aimd_equation(meets + 0)
		print from == "" ? " nine tenths of it are not reached." : sprintf(" nine tenths of it are reached at p = %g.", from)
	}'
}
# What else the paper says of the response functions, beside what its own equations give
response_statements() {
	local p="paper_value 003"
	awk -f "$top/bench/research/papers/003.awk" -v hstcp="$($p "Section VI-B" "hstcp crosses TCP" window)" \
		-v stcp="$($p "Section VI-B" "stcp crosses TCP" window)" \
		-v bitcp_10g="$($p "Section I" "bitcp reaches 10 Gbit/s" p)" -v hstcp_10g="$($p "Section I" "hstcp reaches 10 Gbit/s" p)" \
		-v at_2500="$($p "Section VII" "bitcp at 2.5 Gbit/s" p)" -v w_2500="$($p "Section VII" "bitcp at 2.5 Gbit/s" window)" \
		-v at_100="$($p "Section VII" "bitcp at 100 Mbit/s" p)" -v w_100="$($p "Section VII" "bitcp at 100 Mbit/s" window)" -e '
	function figure(x) { return x >= 1000 ? sprintf("%d", x + 0.5) : sprintf("%.3g", x) }
	function of(which, p) {
		return which == "hstcp" ? hstcp_equation(p) : which == "rfc" ? hstcp_rfc3649(p) :
			which == "stcp" ? stcp_equation(p) : bitcp_equation(p)
	}
	function crosses(which,	low, high, p, i) { # TCP, from there on to rarer losses it is above
		low = 1e-8; high = 1
		for (i = 0; i < 100; i++) {
			p = sqrt(low * high)
			if (of(which, p) > reno_equation(p)) low = p; else high = p
		}
		return reno_equation(low)
	}
	function rate(w,	low, high, p, i) { # the loss rate at which bitcp has a window
		low = 1e-10; high = 1e-3
		for (i = 0; i < 100; i++) {
			p = sqrt(low * high)
			if (of("bitcp", p) > w) low = p; else high = p
		}
		return low
	}
	BEGIN {
		link = 10e9 * 0.1 / 12000
		printf "- Section VI-B, by the paper: HSTCP crosses TCP at a window of %s, STCP at %s. 0.15/p^0.82 does at %.1f, RFC 3649'"'"'s equation at %.1f, 0.08/p at %.1f; `hstcp.h` has RFC 3649'"'"'s low window, 38, `stcp.h` 16.\n", hstcp, stcp, crosses("hstcp"), crosses("rfc"), crosses("stcp")
		printf "- Section I, by the paper: BI-TCP reaches 10 Gbit/s around p = %s, HSTCP at %s. With 100 ms that is a window of %s; (1.3) gives %s there, %.2f of it, 0.15/p^0.82 %s, %.2f of it.\n", bitcp_10g, hstcp_10g, figure(link), figure(of("bitcp", bitcp_10g)), of("bitcp", bitcp_10g) / link, figure(of("hstcp", hstcp_10g)), of("hstcp", hstcp_10g) / link
		printf "- Section VII, by the paper: BI-TCP has windows of about %s (loss rate %s) at 2.5 Gbit/s and %s (%s) at 100 Mbit/s. By (1.3) and (1.5) those loss rates give %s and %s, and those windows want loss rates of %.1e and %.1e: the paper'"'"'s windows and loss rates there are not of one response function.\n", w_2500, at_2500, w_100, at_100, figure(of("bitcp", at_2500)), figure(of("bitcp", at_100)), rate(w_2500), rate(w_100)
	}'
}
cat <<TEXT

Where the equation gives less than a window of 38 (hstcp, RFC 3649's; the paper has $(paper_value 003 "Section VI-B" "hstcp crosses TCP" window)) or $(paper_value 003 "Section VI-B" "stcp crosses TCP" window) (stcp) the one of normal TCP stands, which
the algorithm then is; BI-TCP has no equation for windows below 14. What stands as (1.5) is the line above it in the paper, before R is taken for
W_max, which makes it $(awk -f "$top/bench/research/papers/003.awk" -e 'BEGIN { n = split("3e-3 1e-3 3e-4", p, " ")
	for (i = 1; i <= n; i++) if (v = bitcp_1_5(p[i] + 0)) {
		w = 1 / p[i]; for (j = 0; j < 200; j++) w = 1 / ((log2(w * 0.125 / 0.01) + 2 * (1 - 0.125)) * p[i])
		r = 100 * (w / v - 1); if (least == "" || r < least) least = r; if (most == "" || r > most) most = r }
	printf "%.1f to %.1f", least, most }') % larger at these loss rates. In ns-3 the first slow start ends at a window of 64, and a fast recovery takes a round trip in which the
window does not grow; the equations and the model have none.

- bitcp: its pseudo-code is not what its equations describe; see below.
- hstcp is RFC 3649's, whose response function is 0.12/p^0.835: the model is $(response_over hstcp hstcp_rfc3649 38) of that.
$(response_figure_8)
$(response_statements)
- stcp: the paper gives STCP's β, 0.125, but neither its increase nor its equation: 0.01 packets for each one acknowledged are Kelly's
  ("Scalable TCP", 2002), and so is 0.08/p, a/b for small a and b. Without that approximation it is ln(1 + a) / ln(1 / (1 - b)) = $(awk -f "$top/bench/research/papers/003.awk" -e 'BEGIN { printf "%.4f", stcp_exact(1) }'), of which the model
  is $(response_over stcp stcp_exact 60) above windows of 60. At p = 3e-3 it is caught between whole packets: it gives up 3 of 19 where an eighth is 2.4.
TEXT

# --- ns-3's own ---
if grep -q ',ns3-' <<<"$response"; then
cat <<TEXT

### Beside ns-3's own implementations

The same in ns-3, with its own algorithms in the place of ours: average window in packets.

| p | bitcp | ns-3's bic | hstcp | highspeed | stcp | scalable | reno | ns-3's reno |
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
original (Kelly's) and ours for 100.
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
derivation has no fast convergence. The four combinations, in floating point (\`bench/research/sim/readings.cc\`), as
ratios to (1.3) and (1.5):

| p | equation | pseudo-code: target per ACK, prev_max default | target per ACK, prev_max of the last loss | the equations with N_2 of the pseudo-code | target per RTT, prev_max default | target per RTT, prev_max of the last loss |
|---|---|---|---|---|---|---|
$(awk -F, -f "$top/bench/research/papers/003.awk" -e '
	{ value[$3, $4] = $8; ps[$4] }
	function cell(reading, p) {
		return sprintf("%.2f", value[reading, p] / bitcp_equation(p))
	}
	END { for (p in ps) printf "| %s | %d | %s | %s | %.2f | %s | %s |\n", p, bitcp_equation(p) + 0.5,
		cell("ack-default", p), cell("ack-last", p), bitcp_pseudo_code(p) / bitcp_equation(p), cell("rtt-default", p), cell("rtt-last", p) }' \
	<<<"$reading" | sort -t '|' -k 2,2gr)

$(awk -F, -f "$top/bench/research/papers/003.awk" -e '
	{ r = $8 / bitcp_equation($4); if (!($3 in most) || r > most[$3]) most[$3] = r
		if (!($3 in least) || r < least[$3]) least[$3] = r }
	function span(reading) { return sprintf("%.2f to %.2f", least[reading], most[reading]) }
	END { printf "Over these loss rates the pseudo-code comes to %s of the equations, the text with the last loss'"'"'s maximum to %s.", span("ack-default"), span("rtt-last") }' <<<"$reading")
\`bitcp.h\` follows the pseudo-code, the first of these columns: compare its numeric model above.

The gap of the second column can be derived. The equations count N_2 = log2(d / S_min) + 2 round trips of
binary search over a distance d. Where the target moves with each ACK, the distance g obeys g' = -g/2 per
round trip until g/2 is S_min, which takes 2 ln(d / (2 S_min)), and the last 2 S_min take two: for d = 2 S_max = 64 that
is 18.1 round trips instead of 14.6, and (1.1) and (1.2) with it (\`bitcp_pseudo_code()\` in
\`bench/research/papers/003.awk\`) give the third column. $(awk -F, -f "$top/bench/research/papers/003.awk" -e '
	$3 == "ack-last" { r = $8 / bitcp_pseudo_code($4); n++
		if (n == 1 || r > most) most = r; if (n == 1 || r < least) least = r }
	END { printf "What was simulated comes to %.3f to %.3f of it.", least, most }' <<<"$reading") The rest, from the first to the second
column, is fast convergence at every loss: half of what was given up is searched for, and the other half
regained by the slow start past the maximum. So the pseudo-code is within a tenth of its paper's equations only
where additive increase outweighs the search$(awk -F, -f "$top/bench/research/papers/003.awk" -e '
	$3 == "ack-default" { r = $8 / bitcp_equation($4); near[$4] = r >= 0.9 && r <= 1.1 }
	END { PROCINFO["sorted_in"] = "@ind_num_asc"
		for (p in near) { if (!near[p]) break; from = p }
		if (from != "") printf ", at p = %s and below", from }' <<<"$reading"), and the text's reading is within about a tenth throughout.
TEXT
fi

# --- other parameters ---
# p and average window of other S_max and S_min; those of the paper's choice are among the response functions
parameters=$(lines_of parameters)
parameters_points() { # S_MAX S_MIN
	if [ "$1 $2" = "32 0.01" ]; then
		response_points model bitcp
	else
		awk -F, -v how="every; S_max $1; S_min $2;" 'index($5, how) == 1 && $7 == "window" { print $4, $8 }' \
			<<<"$parameters" | sort -g
	fi
}

parameters_picture() { # FILE FIGURE max|min "S_MAX S_MIN"...
	local file=$1 figure=$2 name=$3 pair s_max s_min plots= i=0 title points
	local colours=("#762a83" "#4575b4" "#1b7837" "#e08214" "#b2182b")
	shift 3
	for pair; do
		read -r s_max s_min <<<"$pair"
		[ "$name" = max ] && title="S_{max} $s_max" || title="S_{min} $s_min"
		points=$work/parameters-$s_max-$s_min
		awk -f "$top/bench/research/papers/003.awk" -v s_max="$s_max" -v s_min="$s_min" -e 'BEGIN {
			for (e = -2; e > -7.01; e -= 0.05) if (w = bitcp_equation(10 ^ e, s_max, s_min)) print 10 ^ e, w }' \
			>"$points-equation"
		parameters_points "$s_max" "$s_min" >"$points"
		plots+="\"$points-equation\" using 1:2 with lines dt 2 lw 2 lc rgb \"${colours[i]}\" title \"$title\", "
		[ ! -s "$points" ] ||
			plots+="\"$points\" using 1:2 with points pt $((5 + 2 * i)) ps 1.3 lc rgb \"${colours[i]}\" notitle, "
		i=$((i + 1))
	done
	response_equation tt_reno >"$work/equation-tt_reno"
	{
		picture_head "$file" "BI-TCP's response function for different S_{$name} (paper 003, $figure)"
		echo 'set logscale xy
set format xy "10^{%T}"
set xlabel "loss event rate"
set ylabel "average window, packets (rate per round-trip time)"
set xrange [7e-8:1.5e-2]
set yrange [5:2e5]
set terminal pngcairo enhanced
set key top right'
		echo "plot $plots \"$work/equation-tt_reno\" using 1:2 with lines dt 2 lw 2 lc rgb \"#555555\" title \"TCP\", NaN with points pt 7 lc rgb \"black\" title \"points: bitcp.h, numeric model; lines: equations\" noenhanced"
	} | gnuplot
}

# The ratio to the equation at each p
parameters_table() { # "S_MAX S_MIN"...
	local pair s_max s_min header="| p |" rule="|---|"
	for pair; do
		read -r s_max s_min <<<"$pair"
		header+=" $s_max, $s_min: equation | ours | ratio |"
		rule+="---|---|---|"
	done
	printf '%s\n%s\n' "$header" "$rule"
	for pair; do
		read -r s_max s_min <<<"$pair"
		parameters_points "$s_max" "$s_min" | sed "s/^/$s_max $s_min /"
	done | awk -f "$top/bench/research/papers/003.awk" -v pairs="$(printf '%s;' "$@")" -e '
	function figure(x) { return x >= 1000 ? sprintf("%d", x + 0.5) : sprintf("%.3g", x) }
	{ value[$1 " " $2, $3] = $4; ps[$3] }
	END {
		n = split(pairs, pair, ";") - 1
		for (p in ps) {
			row = "| " p " |"
			for (i = 1; i <= n; i++) {
				split(pair[i], s, " ")
				w = bitcp_equation(p, s[1], s[2]); v = value[pair[i], p]
				row = row " " (w ? figure(w) : "") " | " (v == "" ? "" : figure(v)) " | " (w && v != "" ? sprintf("%.2f", v / w) : "") " |"
			}
			print row
		}
	}' | sort -t '|' -k 2,2gr
}

# Of the loss rates of the table those without a point of ours
parameters_missing() {
	local pair s_max s_min list= absent
	for pair in "${by_s_max[@]}" "${by_s_min[@]}"; do
		read -r s_max s_min <<<"$pair"
		absent=$(absent "$(parameters_points "$s_max" "$s_min" | cut -d' ' -f1)" 1e-2 3e-3 1e-3 3e-4 1e-4 3e-5 1e-5 3e-6 1e-6 1e-7)
		[ -z "$absent" ] || list+="${list:+; }$s_max and $s_min at $absent"
	done
	echo "$list"
}

by_s_max=("8 0.01" "16 0.01" "32 0.01" "64 0.01" "128 0.01")
by_s_min=("32 1" "32 0.1" "32 0.01" "32 0.001")
parameters_picture parameters_s_max.png "Figure 6" max "${by_s_max[@]}"
parameters_picture parameters_s_min.png "Figure 7" min "${by_s_min[@]}"
cat <<TEXT

### Other S_max and S_min, Figures 6 and 7

The equations with other parameters, and \`bitcp.h\` with the same. Which values the paper draws its text does not say; it says that
S_max moves the function at low loss rates only, about a pivot at p = 1e-4, and S_min at high ones.

![Figure 6](parameters_s_max.png)

S_max, S_min:

$(parameters_table "${by_s_max[@]}")

![Figure 7](parameters_s_min.png)

$(parameters_table "${by_s_min[@]}")

$([ -z "$parameters" ] || conditions <<<"$parameters" | sed 's/Conditions: every[^;]*;.*; seed /Conditions: seed /')
$(not_measured "$(parameters_missing)" "bench/research/sim/run full '^parameters'")
Where ours is below the equations, the pseudo-code differs from them as it does with the paper's own parameters.
TEXT
[ -n "$parameters" ] || not_measured "other parameters than the paper's choice" "bench/research/sim/run full '^parameters'"
fi
