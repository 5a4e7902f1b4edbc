# SPDX-License-Identifier: GPL-2.0-only
# Paper 002: the stochastic model of section 4, Figure 13.

if [ -n "$(lines_of clients ',stochastic,')" ]; then

stochastic_picture() { # FILE
	local reno=$work/stochastic-reno name style title file n=0 plots=
	clients_points "tt_reno; FIFO-50; ACKs each" cov >"$reno"
	while IFS='|' read -r name style title; do
		file=$work/stochastic-$((n += 1))
		clients_points "$name" cov >"$file"
		[ ! -s "$file" ] || plots+="\"$file\" using 1:2 with linespoints lw 2 ps 1.2 $style title \"$title\", "
	done <<-'SERIES'
		equations|pt 5 lc rgb "#4575b4"|model, (1) to (4) as printed, windows from 1 on
		equations-outside|dt 2 pt 4 lc rgb "#4575b4"|the same, the queue counted in packets
		equations-20|pt 9 lc rgb "#e08214"|as printed, windows from 20 on
		equations-outside-20|dt 2 pt 8 lc rgb "#e08214"|the same, the queue counted in packets
	SERIES
	{
		picture_head "$1" "Reno's burstiness and the stochastic model (paper 002, Figure 13)"
		echo "set xlabel \"clients\"
set ylabel \"c.o.v. of packets per round trip of 100 ms\"
set xrange [0:62]
set yrange [0:0.36]
set key top left
plot $plots$([ ! -s "$reno" ] || echo "\"$reno\" using 1:2 with linespoints lw 2 pt 7 ps 1.2 lc rgb \"#b2182b\" title \"reno, ns-3\",") $poisson_formula with lines lw 2 dt 3 lc rgb \"black\" title \"Poisson\""
	} | gnuplot
}
stochastic_picture clients_model.png

# The least number of clients with which the model is well above Poisson packets
stochastic_onset() { # SERIES
	clients_points "$1" cov | awk '$2 > 1.5 / sqrt(10 * $1) && (x == "" || $1 < x) { x = $1 }
		END { print (x == "" ? "none" : x) }'
}

# From where on it is, and what the start of the windows has to do with that, as sentences
stochastic_start() {
	if [ -z "$(clients_points equations-20 cov)" ]; then
		echo "More than half above Poisson packets it is from this number of clients on: $(stochastic_onset equations)."
		return
	fi
	awk -v one="$(stochastic_onset equations)" -v many="$(stochastic_onset equations-20)" \
		-v one_outside="$(stochastic_onset equations-outside)" -v many_outside="$(stochastic_onset equations-outside-20)" 'BEGIN {
		printf "More than half above Poisson packets it is %s (%s with the queue in packets), and with windows that begin at 20 (the receiver'"'"'s, Table 1) %s (%s). The paper gives no first window.", at(one), at(one_outside), at(many), at(many_outside)
		if (one != many || one_outside != many_outside)
			printf " Where the two differ the start makes the jump: from 1 on packets pile up\nuntil the windows have grown, and then all clients send what waits, and pass the bound together. Windows that swing between half a share of the bound and the\nwhole carry three quarters of it: with %d clients and more (%d with the queue in packets) less than the 10 packets that each is given in an interval,\nso that what has piled up is never worked off, though the path could carry it. With windows from 20 on it takes an interval of Poisson traffic that passes the\nbound to begin that.", (most(50e6 / 8 / 1500 * 0.1 + 5)), (most(50e6 / 8 / 1500 * 0.1 + 50))
		print "" }
	function at(x) { return x == "none" ? "at none of these points" : "from " x " clients on" }
	function most(bound) { return int(0.75 * bound / 10) + 1 }'
}

cat <<TEXT

## Paper 002: the stochastic model of Reno, section 4 and Figure 13

Equations (1) to (4), numerically (\`bench/research/sim/stochastic.cc\`), beside Reno in ns-3. In each round trip every client sends
what its window allows; the windows grow while all together send no more than the path takes, and are halved otherwise. As
printed that bound is (50 Mbit/s / 8 / 1500 + 50) 0.1 s = 422 packets, with the queue in parentheses with a
rate; with the queue as packets it is 467. Windows begin at 1, or at 20.

![c.o.v. of the model](clients_model.png)

| clients | Poisson | from 1: (1) to (4) | queue in packets | from 20: (1) to (4) | queue in packets | reno, ns-3 | from 1: model / ns-3 | queue in packets / ns-3 | from 20: model / ns-3 | queue in packets / ns-3 |
|---|---|---|---|---|---|---|---|---|---|---|
$(awk -F '\t' '$3 == "cov" && ($1 ~ /^equations/ || $1 == "tt_reno; FIFO-50; ACKs each") {
		cov[$1, $2] = $4; xs[$2] }
	function cell(v) { return v == "" ? "" : sprintf("%.3f", v) }
	function ratio(a, b) { return a == "" || b == "" ? "" : sprintf("%.2f", a / b) }
	END { for (x in xs) { a = cov["equations", x]; b = cov["equations-outside", x]
		d = cov["equations-20", x]; e = cov["equations-outside-20", x]
		c = cov["tt_reno; FIFO-50; ACKs each", x]
		printf "| %d | %.3f | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", x, 1 / sqrt(10 * x), cell(a), cell(b),
			cell(d), cell(e), cell(c), ratio(a, c), ratio(b, c), ratio(d, c), ratio(e, c) } }' <<<"$clients_all" | sort -t '|' -k 2,2n)

The model has no timeouts and halves all windows at once. Of its own the paper says that it is above the simulation under heavy load; ours
is, with windows from 1 on, $(join <(clients_points equations cov | cut -d' ' -f1,2 | sort -k 1,1) \
	<(clients_points "tt_reno; FIFO-50; ACKs each" cov | cut -d' ' -f1,2 | sort -k 1,1) |
	awk -v heavy="$(paper_value 002 "Section 3.2" "clients of moderate congestion" most)" '$1 > heavy { n++; above += $2 > $3 } END { printf n ? "at %d of %d numbers of clients above %d" : "not compared: there are no points of both above %3$d", above, n, heavy }').
$(stochastic_start)
Windows are bounded by 20 (Table 1) and by 1, of which the equations say nothing.

TEXT
lines_of clients ',stochastic,' | age_of=bench/research/sim/stochastic.cc conditions
[ -n "$(clients_points equations-20 cov)" ] || not_measured "windows that begin at 20" "bench/research/sim/run short 'stochastic'"
else
	printf '\n## Paper 002: the stochastic model of Reno, section 4 and Figure 13\n'
	not_measured "it" "bench/research/sim/run short 'stochastic'"
fi
