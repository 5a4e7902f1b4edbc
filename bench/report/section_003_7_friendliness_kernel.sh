# SPDX-License-Identifier: GPL-2.0-only
# Paper 003, section VII, Figure 9, on the kernel itself.

friendly=$(rows_of friendliness 'map(select(.invalid | not))[]
	| (.x | capture("^(?<mbps>[0-9]+) Mbit/s, (?<queue>.*)$")) as $x
	| (.goodput_bps / 1e6 / ($x.mbps | tonumber) * 1500 / .sender.mss) as $all
	| [.flows[].mbps] as $mbps
	| (($mbps[0] + $mbps[1]) / ($mbps | add) * $all) as $fast
	| "\(.column) \($x.mbps) \($x.queue) \($fast) \($all - $fast) \(.carried - $all) \(.carried)"')
if [ -n "$friendly" ]; then
awk '$1 ~ /^(aimd|bitcp|hstcp|stcp)$/' <<<"$friendly" >"$work/mix"

cat <<TEXT

## Paper 003: TCP friendliness on the kernel, Figure 9

Two connections of a kind and two of Reno with round-trip times of 38, 42, 36 and 44 ms over the emulated
link, a queue of 40 ms, drop-tail: shares of the bottleneck in per cent of its rate, headers included. A tenth of the
rate each way is background, from ten Reno connections that send a message every 200 ms; there are no other small
ones. The paper prints bars without figures; what its text says of them is in the second table.

$(if [ -n "$(mix_rates drop-tail)" ]; then
	mix_picture shares_kernel.png drop-tail "Two high-speed connections and two of Reno on the kernel, drop-tail"
	echo '![Figure 9, on the kernel](shares_kernel.png)'
fi)

| Mbit/s | | high-speed | long-lived TCP | background | unused |
|---|---|---|---|---|---|
$(mix_table drop-tail)

$(rows_of friendliness 'map(select(.invalid | not))[] | tojson' | kernel_conditions)
$(mix_said drop-tail)
$(not_measured "$(mix_missing drop-tail)" "BENCH_MBPS='20 100 500 2500' BENCH_QUEUES=drop-tail bench/run friendliness")
TEXT
else
	printf '\n## Paper 003: TCP friendliness on the kernel, Figure 9\n'
	not_measured "any of it" "BENCH_MBPS='20 100 500 2500' BENCH_QUEUES=drop-tail bench/run friendliness"
fi
