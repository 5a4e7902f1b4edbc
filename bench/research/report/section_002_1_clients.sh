# SPDX-License-Identifier: GPL-2.0-only
# Paper 002: clients with Poisson traffic behind one gateway, Figures 2 to 4.

# Of each series and number of clients the longest runs, over all seeds:
# NAME CLIENTS WHAT MEAN LEAST MOST RUNS SECONDS, with tabs. The name is ALGORITHM; what the
# conditions say but for the seconds.
many_clients() { # EXPERIMENT
	lines_of "$1" | awk -F, '
	{ seconds = $5; sub(/.*; /, "", seconds); sub(/ .*/, "", seconds)
		name = $3 "; " $5; sub(/; [0-9]+ [a-z ]*$/, "", name)
		key = name "\t" $4 "\t" $7
		if (seconds + 0 < longest[key] + 0)
			next
		if (seconds + 0 > longest[key] + 0)
			runs[key] = sum[key] = 0
		longest[key] = seconds
		sum[key] += $8
		if (!runs[key]++)
			least[key] = most[key] = $8
		if ($8 < least[key]) least[key] = $8
		if ($8 > most[key]) most[key] = $8 }
	END { for (key in sum) print key "\t" sum[key] / runs[key] "\t" least[key] "\t" most[key] \
		"\t" runs[key] "\t" longest[key] }' | sort -t $'\t' -k 1,1 -k 3,3 -k 2,2n
}

clients_all=$(many_clients clients)
# clients, mean, least, most of one series, for gnuplot
clients_points() { # NAME WHAT [FROM]
	awk -F '\t' -v name="$1" -v what="$2" '$1 == name && $3 == what { print $2, $4, $5, $6 }' \
		<<<"${3-$clients_all}"
}

# c.o.v. of Poisson packets, by the number of clients: 1 / sqrt(10 n) (section 3.2)
poisson_formula='(x < 5 || x > 60 ? NaN : 1 / sqrt(10 * x))'

if [ -n "$(lines_of clients ',ns-3,')" ]; then

# What the paper calls a series, in its order and ours: NAME|TITLE|STYLE
clients_series="tt_reno; FIFO-50; ACKs each|reno|lc rgb \"#b2182b\" pt 7
tt_reno; RED-50; ACKs each|reno, RED|lc rgb \"#b2182b\" dt 2 pt 6
tt_reno; FIFO-50; ACKs delayed|reno, delayed ACKs|lc rgb \"#e08214\" pt 9
tt_reno; RED-50; ACKs delayed|reno, delayed ACKs, RED|lc rgb \"#e08214\" dt 2 pt 8
tt_vegas; FIFO-50; ACKs each|vegas|lc rgb \"#4575b4\" pt 5
tt_vegas; RED-50; ACKs each|vegas, RED|lc rgb \"#4575b4\" dt 2 pt 4
bitcp; FIFO-50; ACKs each|bitcp|lc rgb \"#1b7837\" pt 13
bitcp; RED-50; ACKs each|bitcp, RED|lc rgb \"#1b7837\" dt 2 pt 12
udp; FIFO-50; ACKs each|UDP|lc rgb \"#555555\" pt 11
udp; RED-50; ACKs each|UDP, RED|lc rgb \"#555555\" dt 2 pt 10"

# The lines of gnuplot for one picture. SERIES: those of $clients_series that match
clients_plots() { # WHAT SERIES
	local name title style file n=0 plots=
	while IFS='|' read -r name title style; do
		file=$work/clients-$1-$((n += 1))
		clients_points "$name" "$1" >"$file"
		[ -s "$file" ] || continue
		plots+="${plots:+, }\"$file\" using 1:2 with linespoints lw 2 ps 1.3 $style title \"$title\""
	done < <(grep -e "$2" <<<"$clients_series")
	echo "$plots"
}

clients_picture() { # FILE TITLE WHAT LABEL COMMANDS SERIES [MORE-PLOTS]
	{
		picture_head "$1" "$2"
		echo "set terminal pngcairo size 1100,560 font \"sans,11\" noenhanced
set xlabel \"clients\"
set ylabel \"$4\"
set xrange [0:62]
set key outside right top
$5
plot ${7:+$7, }$(clients_plots "$3" "$6")"
	} | gnuplot
}

# As the paper has it on the left; on the right the same where the lines part.
clients_throughput_picture() { # FILE
	local plots
	plots=$(clients_plots mbps .)
	{
		picture_head "$1" ""
		echo "set terminal pngcairo size 1200,520 font \"sans,11\" noenhanced
set output \"$out/$1\"
unset title
set multiplot title \"Throughput (paper 002, Figure 3)\"
set xlabel \"clients\"
set ylabel \"delivered, Mbit/s (packets of 1500 bytes)\"
set origin 0,0
set size 0.41,0.95
set xrange [0:62]
set yrange [0:55]
unset key
plot $plots
set origin 0.41,0
set size 0.59,0.95
set title \"above $clients_heavy clients\"
set xrange [$clients_heavy - 1:62]
set yrange [*:*]
set key outside right top
plot $plots
unset multiplot"
	} | gnuplot
}

# A row for each number of clients, a column for each series that was simulated.
clients_table() { # WHAT FORMAT [POISSON]
	local name title style header="| clients |" rule="|---|" series=
	[ -z "${3-}" ] || { header+=" Poisson |" rule+="---|"; }
	while IFS='|' read -r name title style; do
		[ -n "$(clients_points "$name" "$1")" ] || continue
		series+=$name$'\n'
		header+=" $title |"
		rule+="---|"
	done <<<"$clients_series"
	printf '%s\n%s\n' "$header" "$rule"
	awk -F '\t' -v what="$1" -v format="$2" -v poisson="${3-}" '
	NR == FNR { if ($0 != "") order[++n] = $0; next }
	$3 == what && $1 !~ /equations|ns3-/ {
		cell[$1, $2] = $7 > 1 ? sprintf(format " (" format "-" format ")", $4, $5, $6) :
			sprintf(format, $4)
		xs[$2]
	}
	END { for (x in xs) {
		row = "| " x " |" (poisson ? sprintf(" %.3f |", 1 / sqrt(10 * x)) : "")
		for (i = 1; i <= n; i++)
			row = row " " cell[order[i], x] " |"
		print row
	} }' <(cat <<<"$series") - <<<"$clients_all" | sort -t '|' -k 2,2n
}

# Excess over Poisson in %, over the numbers of clients that there are: FEWEST MOST LEAST MOST
clients_excess() { # NAME FROM TO
	clients_points "$1" cov | awk -v from="$2" -v to="$3" '$1 >= from && $1 <= to {
		excess = 100 * ($2 * sqrt(10 * $1) - 1)
		if (!n++ || excess < least) least = excess
		if (n == 1 || excess > most) most = excess
		if (n == 1 || $1 < fewest) fewest = $1
		if (n == 1 || $1 > clients) clients = $1 }
	function whole(x) { x = int(x + (x < 0 ? -0.5 : 0.5)); return x ? x : 0 }
	END { if (n) print fewest, clients, whole(least), whole(most) }'
}

# Whether an excess of LEAST to MOST is what the paper says. Of a sharp increase, or of none, it
# has no figure: more than under moderate congestion, up to 50 %. What is within 10 % of Poisson is
# noise: no excess, and "very close".
clients_as_said() { # PAPER LEAST MOST
	awk -v paper="$1" -v least="$2" -v most="$3" 'BEGIN {
		limit = match(paper, /[0-9]+/) ? substr(paper, RSTART, RLENGTH) + 0 : 50
		if (paper ~ /^(over|a sharp)/) print (least > limit ? "yes" : most > limit ? "in part" : "no")
		else if (paper ~ /^up to/ && most <= 10) print "no: none"
		else if (paper ~ /^(up to|no sharp)/) print (most <= limit ? "yes" : least <= limit ? "in part" : "no")
		else if (paper ~ /^very close/) print (most <= 10 && least >= -10 ? "yes" : "no") }'
}

clients_claim() { # TITLE NAME FROM TO PAPER
	local from to least most said
	read -r from to least most <<<"$(clients_excess "$2" "$3" "$4")"
	[ -n "${from-}" ] || return 0
	said=$(clients_as_said "$5" "$least" "$most")
	[ "$from" = "$to" ] || from+=" to $to"
	[ "$least" = "$most" ] || least+=" to $most"
	echo "| $1 | $from | $5 | $least % | $said |"
}

# CLIENTS COV SECONDS of the kernel's connections, means of the runs; for how long it was counted in
# all
kernel_cov() { # CONTROL QUEUE
	rows_of clients "map(select((.invalid | not) and .column == \"$1\" and (.x | endswith(\", $2\"))))
		| group_by(.x)[] | \"\\(.[0].x | split(\", \")[0]) \\(map(.cov) | add / length) \\(map(.cov_seconds // 0) | add)\""
}

# The same in ns-3
ns3_cov() { # NAME
	awk -F '\t' -v name="$1" '$1 == name && $3 == "cov" { print $2, $4, ($8 - 10) * $7 }' <<<"$clients_all"
}

# By how much the c.o.v. of Poisson packets is uncertain that was counted for SECONDS, in per cent:
# of N intervals by 1 / sqrt(2 N)
cov_uncertain='function cov_uncertain(seconds) { return seconds > 0 ? 100 / sqrt(2 * seconds / 0.1) : 0 }'

# The intervals that count of the lengths that there are, as a sentence
clients_intervals() {
	awk -F '\t' '$1 ~ /ACKs/ && $3 == "cov" { print $8 }' <<<"$clients_all" | sort -nu | awk "$cov_uncertain"'
	{ s = s sprintf("%sOf %d s, %d intervals count, and the c.o.v. of Poisson packets themselves is then uncertain by %.1f %%.",
		s == "" ? "" : " ", $1, ($1 - 10) / 0.1, cov_uncertain($1 - 10)) }
	END { print s }'
}

# A sentence: at how many numbers of clients, of those under heavy congestion, A is below B. What
# differs by no more than that of Poisson packets does by chance, counted for as long, is neither.
clients_below() { # ENGINE GATEWAY A B
	local queue=RED
	[[ $2 == RED* ]] || queue=drop-tail
	if [ "$1" = kernel ]; then
		join <(kernel_cov "$3" $queue | sort -k 1,1) <(kernel_cov "$4" $queue | sort -k 1,1)
	else
		join <(ns3_cov "$3; $2; ACKs each" | sort -k 1,1) <(ns3_cov "$4; $2; ACKs each" | sort -k 1,1)
	fi | awk -v heavy="$clients_heavy" -v a="${3#tt_}" -v b="${4#tt_}" -v gateway="$1, $queue" "$cov_uncertain"'
		$1 > heavy { n++; noise = cov_uncertain($3 < $5 ? $3 : $5); if (noise > most) most = noise
			if ($2 < (1 - noise / 100) * $4) below++; else if ($2 <= (1 + noise / 100) * $4) even++ }
		END { if (n) printf "- %s: the c.o.v. of %s is below that of %s with %d of %d numbers of clients above %d%s.\n",
			gateway, a, b, below, n, heavy, even ? sprintf(" (%d within %.1f %%)", even, most) : "" }'
}

# The least number of clients with which packets of NAME are lost: "none" if there is none
clients_first_loss() { # NAME
	clients_points "$1" loss_percent | awk '$2 > 0.005 && (x == "" || $1 < x) { x = $1 }
		END { print (x == "" ? "none" : x) }'
}

# Mean throughput with the most clients, of NAME
clients_last() { # NAME WHAT
	clients_points "$1" "$2" | tail -n 1 | cut -d' ' -f2
}

# Throughput with more clients than fill the bottleneck, Reno's over that of UDP, and with RED over
# without, both ways to acknowledge: least and most
clients_harm() {
	local acks
	{
		for acks in each delayed; do
			join <(clients_points "tt_reno; RED-50; ACKs $acks" mbps | cut -d' ' -f1,2 | sort -k 1,1) \
				<(clients_points "tt_reno; FIFO-50; ACKs $acks" mbps | cut -d' ' -f1,2 | sort -k 1,1) | sed 's/^/red /'
		done
		join <(clients_points "tt_reno; FIFO-50; ACKs each" mbps | cut -d' ' -f1,2 | sort -k 1,1) \
			<(clients_points "udp; FIFO-50; ACKs each" mbps | cut -d' ' -f1,2 | sort -k 1,1) | sed 's/^/udp /'
	} | awk -v heavy="$clients_heavy" '$2 > heavy && $4 > 0 { r = $3 / $4; if (!n[$1]++ || r < least[$1]) least[$1] = r
			if (r > most[$1]) most[$1] = r; below[$1] += r < 0.99 }
		END {
			if (n["udp"]) printf "With more than %d clients reno delivers %.2f to %.2f of what UDP does", heavy, least["udp"], most["udp"]
			if (n["red"]) printf "%s with RED %.2f to %.2f of what it does without, with ACKs each and delayed: less by more than 1 %% at %d of %d points.", n["udp"] ? ", and" : "Reno delivers", least["red"], most["red"], below["red"], n["red"]
		}'
}

# What of the full profile is not there, and of which lengths the points are
clients_missing() {
	local seconds
	[ -n "$(clients_points "udp; RED-50; ACKs each" cov)" ] ||
		not_measured "UDP under RED" "bench/research/sim/run full '^clients.*udp.*RED'"
	seconds=$(awk -F '\t' '$1 ~ /ACKs/ { print $8 }' <<<"$clients_all" | sort -nu | tail -n 1)
	[ "$seconds" -ge "$(paper_value 002 "Table 1" "test time s" "")" ] ||
		not_measured "the paper's $(paper_value 002 "Table 1" "test time s" "") s, three seeds, and more numbers of clients" "bench/research/sim/run full '^clients|ns-3'"
}

clients_moderate=$(paper_value 002 "Section 3.2" "clients of moderate congestion" least)
clients_heavy=$(paper_value 002 "Section 3.2" "clients of moderate congestion" most)
clients_figure="Figure 2 (section 3.2)"

clients_picture clients_cov.png "Burstiness at the gateway (paper 002, Figure 2)" cov \
	"c.o.v. of packets per round trip of 100 ms" "set yrange [0:*]" . \
	"$poisson_formula with lines lw 2 dt 3 lc rgb \"black\" title \"Poisson, 1/sqrt(10 n)\""
clients_throughput_picture clients_throughput.png
clients_picture clients_loss.png "Packets of TCP lost at the gateway (paper 002, Figure 4)" \
	loss_percent "lost, % of what arrived" "set yrange [0:1<*<100]" '^[^u]'

clients_order=$(for engine in ns-3 kernel; do
	for gateway in FIFO-50 RED-50; do
		clients_below $engine $gateway tt_vegas tt_reno
		clients_below $engine $gateway bitcp tt_reno
		clients_below $engine $gateway bitcp tt_vegas
	done
done)
clients_runs() { # ENGINE
	if [ "$1" = kernel ]; then
		rows_of clients 'map(select(.invalid | not)) | group_by([.x, .column]) | map(length) | unique | map(tostring) | join(" to ")'
	else
		awk -F '\t' '$1 ~ /ACKs each/ && $3 == "cov" { print $7 }' <<<"$clients_all" | sort -nu | paste -sd ' ' | sed 's/ / to /g'
	fi
}
verdict "paper 002: the c.o.v. of Vegas below that of Reno with more than $clients_heavy clients, and where bitcp stands" \
	"$(sed 's/^- //; s/the c.o.v. of //; s/is below that of/below/; s/ numbers of clients above [0-9]*//; s/\.$//' <<<"$clients_order" | paste -sd ';' | sed 's/;/; /g'); runs of each: ns-3 $(clients_runs ns-3), kernel $(clients_runs kernel)" \
	"$(awk '/vegas is below that of reno/ { match($0, /with [0-9]+ of [0-9]+/); split(substr($0, RSTART, RLENGTH), f, " ")
			below += f[2]; of += f[4] }
		END { print (!of ? "not measured" : below == of ? "met" : below ? "met in part" : "not met") }' <<<"$clients_order")"
cat <<TEXT

## Paper 002 (burstiness): clients of one gateway, Figures 2 to 4

Clients with $(paper_value 002 "Table 1" "client link Mbit/s" "") Mbit/s and $(paper_value 002 "Table 1" "client link delay ms" "") ms each, behind a gateway with $(paper_value 002 "Table 1" "bottleneck Mbit/s" "") Mbit/s, $(paper_value 002 "Table 1" "bottleneck delay ms" "") ms and a queue of
$(paper_value 002 "Table 1" "queue packets" "") packets, send packets at the times of Poisson processes, 100 a second each, with windows of at most $(paper_value 002 "Table 1" "window packets" ""):
$(paper_value 002 "Section 3.2" "clients that fill the bottleneck" "") clients fill the bottleneck (Table 1). In ns-3, from the headers that run in the kernel; measured at the
gateway, as in the paper, in intervals of the round-trip propagation delay, the first 10 s left out.

![c.o.v. against clients](clients_cov.png)

What the paper says of its Figure 2 (it prints no values), by how much the c.o.v. is above that of Poisson packets. *As in
the paper*: for "up to" a value, if any is above 10 % and none above that value; up to 50 % counts as no sharp increase, more as one; and
within 10 % of Poisson is very close. Those limits are ours.

| | clients (ours) | paper | ours | as in the paper |
|---|---|---|---|---|
$(clients_claim "reno" "tt_reno; FIFO-50; ACKs each" "$clients_moderate" "$clients_heavy" \
	"$(paper_value 002 "$clients_figure" "tcp over Poisson" 10-38)"
clients_claim "vegas" "tt_vegas; FIFO-50; ACKs each" "$clients_moderate" "$clients_heavy" \
	"$(paper_value 002 "$clients_figure" "tcp over Poisson" 10-38)"
clients_claim "bitcp" "bitcp; FIFO-50; ACKs each" "$clients_moderate" "$clients_heavy" "-"
clients_claim "reno" "tt_reno; FIFO-50; ACKs each" $((clients_heavy + 1)) 60 \
	"$(paper_value 002 "$clients_figure" "reno over Poisson" "over 38")"
clients_claim "reno, RED" "tt_reno; RED-50; ACKs each" $((clients_heavy + 1)) 60 \
	"$(paper_value 002 "$clients_figure" "reno red over Poisson" "over 38")"
clients_claim "reno, delayed ACKs" "tt_reno; FIFO-50; ACKs delayed" $((clients_heavy + 1)) 60 \
	"a sharp increase"
clients_claim "vegas" "tt_vegas; FIFO-50; ACKs each" $((clients_heavy + 1)) 60 \
	"$(paper_value 002 "$clients_figure" "vegas over Poisson" "over 38")"
clients_claim "ns-3's vegas" "ns3-vegas; FIFO-50; ACKs each" $((clients_heavy + 1)) 60 \
	"$(paper_value 002 "$clients_figure" "vegas over Poisson" "over 38")"
clients_claim "ns-3's reno" "ns3-reno; FIFO-50; ACKs each" $((clients_heavy + 1)) 60 \
	"$(paper_value 002 "$clients_figure" "reno over Poisson" "over 38")"
clients_claim "bitcp" "bitcp; FIFO-50; ACKs each" $((clients_heavy + 1)) 60 "-"
clients_claim "bitcp, RED" "bitcp; RED-50; ACKs each" $((clients_heavy + 1)) 60 "-"
clients_claim "UDP" "udp; FIFO-50; ACKs each" $((clients_heavy + 1)) 60 "very close to Poisson"
clients_claim "UDP, RED" "udp; RED-50; ACKs each" $((clients_heavy + 1)) 60 "very close to Poisson")

In Figure 2 of the paper Vegas is below Reno with more than $clients_heavy clients:

$clients_order

c.o.v.:

$(clients_table cov %.3f poisson)

![Throughput against clients](clients_throughput.png)

Of Figures 3 and 4 the paper has no values either; by its text moderate congestion leaves throughput and loss alone, and
heavy congestion harms Reno, and more so with RED. Mbit/s:

$(clients_table mbps %.1f)

$(clients_harm)

![Loss against clients](clients_loss.png)

Lost, % (the picture leaves out UDP, which does not slow down):

$(clients_table loss_percent %.2f)

$(lines_of clients ',ns-3,' | conditions)
Where a point was simulated for two lengths of time, the longer one stands; means of the seeds, least
and most in parentheses where there is more than one. $(clients_intervals)
$(clients_missing)

$(read -r from to least most <<<"$(clients_excess "tt_reno; FIFO-50; ACKs each" "$clients_moderate" "$clients_heavy")"
[ -z "${from-}" ] || echo "Up to $clients_heavy clients the paper's TCP adds up to half to the c.o.v. of its packets; ours, with $from to $to, $least to $most %$([ "$most" -gt 10 ] || echo ", which is nothing beside the noise").") The gateway loses nothing
of reno until there are $(clients_first_loss "tt_reno; FIFO-50; ACKs each") clients (with RED $(clients_first_loss "tt_reno; RED-50; ACKs each")): without a loss windows come to hold whatever clients have to send.

The least retransmission timeout is 300 ms in ours; the paper does not give its own. The paper has 200 s, of ns-2 in 2000: no selective ACKs, and windows that grow though they are not used. RED's weight
and maximal probability are not in it: 0.002 and 0.1 here, which ns-2 had. Its Vegas also
retransmits before three duplicate ACKs where the time since sending says so, which is the stack's matter here. Ours rounds
Diff to whole packets, as ns-2 does, so that a client is content with half a packet in the queue: 60 of them want 30 of
its 50. (To the letter, alpha 1 is a whole one for each.) At a loss it gives up a quarter of its window, as in ns-2, but not half of it at a timeout. bitcp's windows below its low_window of
14 are halved as Reno's are; those of 14 and more give up an eighth.
TEXT
else
	printf '\n## Paper 002 (burstiness): clients of one gateway, Figures 2 to 4\n'
	not_measured "any of it" "bench/research/sim/run short '^clients|ns-3'"
fi
