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
udp; FIFO-50; ACKs each|UDP|lc rgb \"#555555\" pt 11"

clients_picture() { # FILE TITLE WHAT LABEL COMMANDS [MORE-PLOTS]
	local name title style plots=${6-} file n=0
	while IFS='|' read -r name title style; do
		file=$work/clients-$3-$((n += 1))
		clients_points "$name" "$3" >"$file"
		[ -s "$file" ] || continue
		plots+="${plots:+, }\"$file\" using 1:2 with linespoints lw 2 ps 1.3 $style title \"$title\""
	done <<<"$clients_series"
	{
		picture_head "$1" "$2"
		echo "set terminal pngcairo size 1100,560 font \"sans,11\" noenhanced
set xlabel \"clients\"
set ylabel \"$4\"
set xrange [0:62]
set key outside right top
$5
plot $plots"
	} | gnuplot
}

clients_picture clients_cov.png "Burstiness at the gateway (paper 002, Figure 2)" cov \
	"c.o.v. of packets per round trip of 100 ms" \
	"set yrange [0:*]" \
	"$poisson_formula with lines lw 2 dt 3 lc rgb \"black\" title \"Poisson, 1/sqrt(10 n)\""
clients_picture clients_throughput.png "Throughput (paper 002, Figure 3)" mbps \
	"delivered, Mbit/s (packets of 1500 bytes)" "set yrange [0:55]"
clients_picture clients_loss.png "Packets lost at the gateway (paper 002, Figure 4)" \
	loss_percent "lost, % of what arrived" "set yrange [0:1<*<100]"

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

clients_claim() { # TITLE NAME FROM TO PAPER
	local from to least most
	read -r from to least most <<<"$(clients_excess "$2" "$3" "$4")"
	[ -n "${from-}" ] || return 0
	[ "$from" = "$to" ] || from+=" to $to"
	[ "$least" = "$most" ] || least+=" to $most"
	echo "| $1 | $from | $5 | $least % |"
}

# A sentence: at how many numbers of clients, of those under heavy congestion, A is below B.
clients_below() { # GATEWAY A B
	join <(clients_points "$2; $1; ACKs each" cov | sort -k 1,1) \
		<(clients_points "$3; $1; ACKs each" cov | sort -k 1,1) |
		awk -v heavy="$clients_heavy" -v a="${2#tt_}" -v b="${3#tt_}" -v gateway="${1%-*}" '
		$1 > heavy { n++; below += $2 < $5 }
		END { if (n) printf "%s: the c.o.v. of %s is below that of %s with %d of %d numbers of clients above %d.\n",
			gateway, a, b, below, n, heavy }'
}

clients_moderate=$(paper_value 002 "Section 3.2" "clients of moderate congestion" least)
clients_heavy=$(paper_value 002 "Section 3.2" "clients of moderate congestion" most)
clients_figure="Figure 2 (section 3.2)"
cat <<TEXT

## Paper 002 (burstiness): clients of one gateway, Figures 2 to 4

Clients with $(paper_value 002 "Table 1" "client link Mbit/s" "") Mbit/s and $(paper_value 002 "Table 1" "client link delay ms" "") ms each, behind a gateway with $(paper_value 002 "Table 1" "bottleneck Mbit/s" "") Mbit/s, $(paper_value 002 "Table 1" "bottleneck delay ms" "") ms and a queue of
$(paper_value 002 "Table 1" "queue packets" "") packets, send packets at the times of Poisson processes, 100 a second each, with windows of at most $(paper_value 002 "Table 1" "window packets" ""):
$(paper_value 002 "Section 3.2" "clients that fill the bottleneck" "") clients fill the bottleneck (Table 1). In ns-3, from the headers that run in the kernel; measured at the
gateway, as in the paper, in intervals of the round-trip propagation delay, the first 10 s left out.

![c.o.v. against clients](clients_cov.png)

What the paper says of its Figure 2 (it prints no values), by how much the c.o.v. is above that of Poisson packets:

| | clients (ours) | paper | ours |
|---|---|---|---|
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
clients_claim "UDP" "udp; FIFO-50; ACKs each" $((clients_heavy + 1)) 60 "very close to Poisson")

$(for gateway in FIFO-50 RED-50; do
	clients_below $gateway tt_vegas tt_reno
	clients_below $gateway bitcp tt_reno
	clients_below $gateway bitcp tt_vegas
done)

c.o.v.:

$(clients_table cov %.3f poisson)

![Throughput against clients](clients_throughput.png)

Mbit/s:

$(clients_table mbps %.1f)

![Loss against clients](clients_loss.png)

Lost, %:

$(clients_table loss_percent %.2f)

$(lines_of clients ',ns-3,' | conditions)
Where a point was simulated for two lengths of time, the longer one stands; means of the seeds, least
and most in parentheses where there is more than one. Of 30 s, 200 intervals count, and the c.o.v. of
Poisson packets themselves is then uncertain by 5 %.

The paper has 200 s, of ns-2 in 2000: no selective ACKs, and windows that grow though they are not used. RED's weight
and maximal probability are not in it: 0.002 and 0.1 here, which ns-2 had. Its Vegas also
retransmits before three duplicate ACKs where the time since sending says so, which is the stack's matter here. Vegas does
meet losses: with 50 clients it wants 50 packets or more in a queue that holds 50. As in ns-2, it gives up a
quarter of its window then. bitcp's windows below its low_window of
14 are halved as Reno's are; those of 14 and more give up an eighth.
TEXT
fi
