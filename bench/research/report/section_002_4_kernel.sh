# SPDX-License-Identifier: GPL-2.0-only
# Paper 002, on the kernel itself: some points of Figures 2 to 4.

# For how long, of rows of bench_clients.sh: loss and throughput, and the c.o.v.
kernel_clients_seconds() { # BENCH
	rows_of "$1" 'def span(f): map(f | select(. != null)) | if . == [] then "an unknown number of"
			else (min | . * 10 | round / 10) as $least | (max | . * 10 | round / 10) as $most
				| "\($least)\(if $most > $least then " to \($most)" else "" end)" end;
		map(select(.invalid | not)) | if . == [] then empty else
			"Throughput and loss are of \(span(.measured_s)) s, the c.o.v. of \(span(.cov_seconds)) s, after 8 s that do not count." end'
}

clients_rows=$(rows_of clients 'map(select(.invalid | not)) | .[] | [.column, (.x | split(", ")[0]),
	(.x | split(", ")[1]), .cov, .goodput_bps / 1e6, 100 * .loss] | @tsv')
if [ -n "$clients_rows" ]; then
cat <<TEXT

## Paper 002: clients of one gateway on the kernel

The same clients, gateway and bottleneck, on connections of this kernel over the emulated link, with the headers as
struct_ops (\`bench_clients.sh\`). The c.o.v. is that of the segments that leave the sending host, before
the access links; throughput is what the bottleneck carried.

| clients, gateway | | Poisson | c.o.v. | times Poisson | ns-3's | ours / ns-3's | Mbit/s | lost, % |
|---|---|---|---|---|---|---|---|---|
$(awk -F '\t' '
	NR == FNR { if ($3 == "cov") ns3[$1, $2] = $4; next }
	{ key = $2 SUBSEP $3 SUBSEP $1; n[key]++; cov[key] += $4; mbps[key] += $5; loss[key] += $6
		if (n[key] == 1 || $4 < least[key]) least[key] = $4
		if (n[key] == 1 || $4 > most[key]) most[key] = $4 }
	END { for (key in n) {
		split(key, k, SUBSEP)
		mean = cov[key] / n[key]
		poisson = 1 / sqrt(10 * k[1])
		other = ns3[k[3] "; " (k[2] == "RED" ? "RED-50" : "FIFO-50") "; ACKs delayed", k[1]]
		if (other == "")
			other = ns3[k[3] "; " (k[2] == "RED" ? "RED-50" : "FIFO-50") "; ACKs each", k[1]]
		spread = ratio = ""
		if (n[key] > 1)
			spread = sprintf(" (%.3f-%.3f)", least[key], most[key])
		if (other != "") {
			ratio = sprintf("%.2f", mean / other)
			other = sprintf("%.3f", other)
		}
		sub(/^tt_/, "", k[3])
		printf "| %d, %s | %s | %.3f | %.3f%s | %.2f | %s | %s | %.1f | %.2f |\n", k[1], k[2], k[3],
			poisson, mean, spread, mean / poisson, other, ratio, mbps[key] / n[key],
			loss[key] / n[key]
	} }' <(cat <<<"$clients_all") - <<<"$clients_rows" | sort -t '|' -k 2,2V -k 3,3)

$(age_of_tuning= row_conditions clients) $(kernel_clients_seconds clients) The kernel's receivers delay ACKs, or do not, as they see fit; ns-3's value is the one with delayed
ACKs where there is one (reno), else that without.

The paper prints no values; in its Figure 2 Reno is over $(paper_value 002 "Figure 2 (section 3.2)" "reno over Poisson" "over 38" | tr -dc 0-9) % above Poisson with more than $clients_heavy clients, and Vegas shows no sharp increase.
$(for gateway in FIFO-50 RED-50; do
	clients_below kernel $gateway tt_vegas tt_reno
done | sed 's/^- kernel, \([^:]*\):/with \1/; s/\.$//' | paste -sd ';' | sed 's/^w/W/; s/;/; /g; s/$/./')
$(if clients_below kernel FIFO-50 tt_vegas tt_reno | grep -q 'with 0 of' || clients_below kernel RED-50 tt_vegas tt_reno | grep -q 'with 0 of'; then
	echo "That is the other way round than in the paper and in ns-3. What differs: ours are counted as packets leave the host, before the access links
space them (a window that has opened by several packets leaves at once), ns-3's, as the paper's, at the gateway behind those; and the kernel's receivers delay ACKs. Which of them it is was not measured."
else
	echo "Ours are counted as packets leave the host, before the access links space them; ns-3's, as the paper's, at the gateway behind those."
fi)
$(not_measured "$(absent "$(cut -f2,3 <<<"$clients_rows" | tr '\t' ' ' | sort -u)" "20 drop-tail" "20 RED" "44 drop-tail" "44 RED" "60 drop-tail" "60 RED" | sed 's/ \([dR]\)/ clients \1/g')" "bench/run clients")
TEXT
else
	printf '\n## Paper 002: clients of one gateway on the kernel\n'
	not_measured "any of it" "bench/run clients"
fi
