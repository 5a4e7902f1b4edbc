# SPDX-License-Identifier: GPL-2.0-only
#
# What right-sized buffers are worth, measured in turn on one emulated link. bench/run runs
# these; each prints its rows as JSON lines into $BENCH_RESULTS, which bench/table reads.

. "$TEST_TOP/bench/lib.sh"

# The first paper's experiment: 128 messages of 1 MB to a receiver that fixed SO_RCVBUF at
# 64 KB, against the same with buffers of 2 x BDP set by hand. The paper emulates no loss: the
# queue is deep enough for none.
# timeout: 2400
bench_locked_receiver() {
	local rtt_ms bdp run
	host a b
	for rtt_ms in ${BENCH_RTTS:-0.5 25 50 100}; do
		bdp=$(awk "BEGIN { printf \"%d\", 125000 * $rtt_ms }")
		for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
			path="--rate 1gbit --delay $(half "$rtt_ms")ms --queue 4bdp"
			# 64 KB over 50 ms is 10 Mbit/s: the full 128 MB once is enough
			[ $run -gt 0 ] || row locked_receiver "$rtt_ms" without \
				untuned --congestion cubic --rcvbuf 64K --timeout 400
			row locked_receiver "$rtt_ms" "by hand" untuned_with_room \
				--congestion cubic --rcvbuf "$bdp" --sndbuf "$bdp"
			row locked_receiver "$rtt_ms" "tcptuned, cubic" \
				tuned -- --congestion cubic --rcvbuf 64K
			row locked_receiver "$rtt_ms" "tcptuned" tuned -- --rcvbuf 64K
		done
	done
}

# One such transfer at 50 ms, as a curve.
# timeout: 300
bench_progress() {
	local keep_series=1
	host a b
	path="--rate 1gbit --delay 25ms --queue 4bdp"
	row progress 50 tcptuned tuned -- --rcvbuf 64K --series 20
	row progress 50 without untuned --congestion cubic --rcvbuf 64K --timeout 200 --series 200
}

# A deep queue: 10 ms, 20 MB; the sender may fill it. Only the receiver runs tcptuned.
# timeout: 1200
bench_deep_queue() {
	local cc run
	host a b
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	path="--rate 1gbit --delay 5ms --queue 20MB"
	for cc in ${BENCH_CC:-cubic reno}; do
		for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
			row deep_queue "$cc" kernel untuned --duration 10 --congestion $cc
			row deep_queue "$cc" tcptuned tuned_receiver -- --duration 10 \
				--congestion $cc
		done
	done
}

# Loss-free start at 100 ms, sender free: how soon is 90 % of the rate reached?
# timeout: 1200
bench_ramp() {
	local run
	host a b
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 134217728"
	path="--rate 1gbit --delay 50ms --queue 200MB"
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		row ramp 100 kernel untuned --congestion cubic --duration 4 --series 20
		row ramp 100 tcptuned tuned_receiver -- --congestion cubic --duration 4 --series 20
	done
}
