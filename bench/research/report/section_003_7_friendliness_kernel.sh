# SPDX-License-Identifier: GPL-2.0-only
# Paper 003, section VII, Figure 9, on the kernel itself.

friendly_queue() { # QUEUE
	local lines file queue=$1
	file=shares_kernel$([ "$1" = drop-tail ] || echo "_${1,,}").png
	printf '\n### On the kernel, %s\n' "$([ "$1" = RED ] && echo "adaptive RED" || echo "drop-tail")"
	lines=$(for mbps in 20 100 500 2500; do kernel_lines friendliness $mbps "$1"; done)
	if [ -n "$lines" ]; then
		mix_picture "$file" "$1" "Two high-speed connections and two of Reno on the kernel, $1"
		cat <<TEXT

![Figure 9, on the kernel]($file)

| Mbit/s | | high-speed | long-lived TCP | background | unused | runs |
|---|---|---|---|---|---|---|
$(mix_table "$1")

$(kernel_conditions friendliness <<<"$lines")
$(mix_said "$1")
TEXT
	fi
	not_measured "$(mix_missing "$1")" "BENCH_MBPS='20 100 500 2500' BENCH_QUEUES=$1 bench/run friendliness"
}

if [ -s "$work/mix-kernel" ]; then
cp "$work/mix-kernel" "$work/mix"
cat <<TEXT

## Paper 003: TCP friendliness on the kernel, Figure 9

Two connections of a kind and two of Reno with round-trip times of 38, 42, 36 and 44 ms over the emulated
link, a queue of 40 ms: shares of the bottleneck in per cent of its rate, headers included. A tenth of the
rate each way is background, from ten Reno connections that send a message every 200 ms; there are no other small
ones. The paper prints bars without figures, for drop-tail, and says that RED gives approximately the same; what its text says of them is in
the second tables.
TEXT
friendly_queue drop-tail
friendly_queue RED
else
	printf '\n## Paper 003: TCP friendliness on the kernel, Figure 9\n'
	not_measured "any of it" "BENCH_MBPS='20 100 500 2500' bench/run friendliness"
fi
