# SPDX-License-Identifier: GPL-2.0-only
#
# The second paper's transfers (Fisk and Feng, "Dynamic Right-Sizing in TCP", section V), as
# tcptuned itself saw them: it only observes the static ones. Figure 7 is bench_slow_link_*, in
# bench_buffers.sh.

. "$TEST_TOP/bench/lib.sh"

# Until the file appears, every so many seconds: the time, and what tcptuned says of connections.
sample_flows() { # STOP_FILE SECONDS
	until [ -e "$1" ]; do
		printf '%s ' "$EPOCHREALTIME"
		ctl flows --json --port 5301 | tr -d '\n' || :
		echo
		sleep "$2"
	done
}

# An untuned transfer, and what tcptuned sees of it in transfer.json.
watched() { # SECONDS [MESSAGES OPTION...]
	local seconds=$1 file=$TEST_DIR/stop
	shift
	rm -f "$file"
	background samples sample_flows "$file" "$seconds"
	untuned "$@"
	touch "$file"
	finish samples
	reduce flow_points
}

# Figures 2 to 4: 64 MB at 100 ms. Static: a buffer of 64 KB, of which half is advertised; once,
# and BENCH_STATIC_MB (64) of it, for that takes three and a half minutes, all of them alike. Of
# 2.6 Mbit/s a hundredth of the packets may be late by a tenth of the round trip, which is recorded.
bench_drs() {
	local run x="64 MB, 100 ms" both=sender,receiver
	host a b
	path="--rate 1gbit --delay 50ms --queue 1bdp"
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		row drs "$x" "right-sized, reno" with_tcptuned $both -- \
			watched 0.01 --count 64 --congestion reno
		row drs "$x" tcptuned with_tcptuned $both -- watched 0.01 --count 64
		[ $run -gt 0 ] || LINK_TOLERANCE=10 \
			row drs "$x" "static, reno" with_tcptuned $both policy.mode=observe -- \
				watched 0.5 --count "${BENCH_STATIC_MB:-64}" --congestion reno \
				--rcvbuf 32K --sndbuf 64K --timeout 400
	done
}

# Figures 5 and 6: the beginning of the same over 56 kbit/s. For the window's maximum see
# bench_buffers.sh.
bench_slow_flight() {
	local run x="56 kbit/s, 100 ms" both=sender,receiver run_seconds=${BENCH_SECONDS:-45}
	host a b
	path="--rate 56kbit --delay 50ms --queue 10p"
	set -- --bytes 16KiB --duration "$run_seconds" --stall 60 --congestion reno
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		row slow_flight "$x" "static 64 KB" with_tcptuned $both policy.mode=observe -- \
			watched 0.25 --rcvbuf 64K "$@"
		row slow_flight "$x" "tcptuned" with_tcptuned $both \
			policy.receive_window_max=16M -- watched 0.25 "$@"
	done
}
