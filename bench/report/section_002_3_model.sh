# SPDX-License-Identifier: GPL-2.0-only
# Paper 002: the stochastic model of section 4, Figure 13.

if [ -n "$(lines_of clients ',stochastic,')" ]; then

stochastic_picture() { # FILE
	local printed=$work/stochastic-printed outside=$work/stochastic-outside reno=$work/stochastic-reno
	clients_points "equations" cov >"$printed"
	clients_points "equations-outside" cov >"$outside"
	clients_points "tt_reno; FIFO-50; ACKs each" cov >"$reno"
	{
		picture_head "$1" "Reno's burstiness and the stochastic model (paper 002, Figure 13)"
		echo "set xlabel \"clients\"
set ylabel \"c.o.v. of packets per round trip of 100 ms\"
set xrange [0:62]
set yrange [0:0.32]
set key top left
plot \"$printed\" using 1:2 with linespoints lw 2 pt 5 ps 1.2 lc rgb \"#4575b4\" title \"model, (1) to (4) as printed\", \"$outside\" using 1:2 with linespoints lw 2 dt 2 pt 4 ps 1.2 lc rgb \"#4575b4\" title \"model, the queue counted in packets\", $([ ! -s "$reno" ] || echo "\"$reno\" using 1:2 with linespoints lw 2 pt 7 ps 1.2 lc rgb \"#b2182b\" title \"reno, ns-3\",") $poisson_formula with lines lw 2 dt 3 lc rgb \"black\" title \"Poisson\""
	} | gnuplot
}
stochastic_picture clients_model.png

cat <<TEXT

## Paper 002: the stochastic model of Reno, section 4 and Figure 13

Equations (1) to (4), numerically (\`bench/sim/stochastic.cc\`), beside Reno in ns-3. In each round trip every client sends
what its window allows; the windows grow while all together send no more than the path takes, and are halved otherwise. As
printed that bound is (50 Mbit/s / 8 / 1500 + 50) 0.1 s = 422 packets, with the queue in parentheses with a
rate; with the queue as packets it is 467.

![c.o.v. of the model](clients_model.png)

| clients | Poisson | (1) to (4) | queue in packets | reno, ns-3 | model / ns-3 | queue in packets / ns-3 |
|---|---|---|---|---|---|---|
$(awk -F '\t' '$3 == "cov" && ($1 ~ /^equations/ || $1 == "tt_reno; FIFO-50; ACKs each") {
		cov[$1, $2] = $4; xs[$2] }
	function cell(v) { return v == "" ? "" : sprintf("%.3f", v) }
	function ratio(a, b) { return a == "" || b == "" ? "" : sprintf("%.2f", a / b) }
	END { for (x in xs) { a = cov["equations", x]; b = cov["equations-outside", x]
		c = cov["tt_reno; FIFO-50; ACKs each", x]
		printf "| %d | %.3f | %s | %s | %s | %s | %s |\n", x, 1 / sqrt(10 * x), cell(a), cell(b),
			cell(c), ratio(a, c), ratio(b, c) } }' <<<"$clients_all" | sort -t '|' -k 2,2n)

The model has no timeouts and halves all windows at once: it is above the simulation under heavy load, as the paper
says of its own. It does so from the number of clients on at which one interval of Poisson traffic may pass the bound,
$(awk -F '\t' '$1 == "equations" && $3 == "cov" && $4 > 1.5 / sqrt(10 * $2) && (x == "" || $2 < x) { x = $2 } END { print x }' <<<"$clients_all") clients of these, where a real queue takes it in. Windows are bounded by 20 (Table 1) and by 1, of which
the equations say nothing.

TEXT
lines_of clients ',stochastic,' | conditions
else
	printf '\n## Paper 002: the stochastic model of Reno, section 4 and Figure 13\n'
	not_measured "it" "bench/sim/run short 'stochastic'"
fi
