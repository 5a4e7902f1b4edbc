# SPDX-License-Identifier: GPL-2.0-only
#
# What right-sized buffers are worth, measured in turn on one emulated link. bench/run runs
# these; each prints its rows as JSON lines into $BENCH_RESULTS, which bench/table reads.

. "$TEST_TOP/bench/lib.sh"

# The first paper's experiment: 128 messages of 1 MB to a receiver that fixed SO_RCVBUF at
# 64 KB, against the same with buffers of 2 x BDP set by hand, and against receivers that fix
# nothing. The paper emulates no loss: the queue is deep enough for none.
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
			row locked_receiver "$rtt_ms" kernel untuned --congestion cubic
			row locked_receiver "$rtt_ms" "64 MB by sysctl" with_maxima untuned --congestion cubic
			row locked_receiver "$rtt_ms" bbr untuned --congestion bbr
			row locked_receiver "$rtt_ms" "by hand" with_room untuned \
				--congestion cubic --rcvbuf "$bdp" --sndbuf "$bdp"
			row locked_receiver "$rtt_ms" "tcptuned, cubic" \
				tuned -- --congestion cubic --rcvbuf 64K
			row locked_receiver "$rtt_ms" "tcptuned" tuned -- --rcvbuf 64K
		done
	done
}

# A deep queue: 10 ms, 20 MB; the sender may fill it. Only the receiver runs tcptuned.
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

# The sender's side: what waits in its buffer, and how old a byte is when it has been read. The
# kernel's buffer may grow as large as tcptuned's. Only the sender runs tcptuned, once without
# its bound on unsent bytes: net.ipv4.tcp_notsent_lowat goes before that.
bench_unsent() {
	local keep="policy.congestion_control=keep" run_seconds=${BENCH_SECONDS:-8}
	host a b
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	each_path unsent_rows --congestion cubic --duration $run_seconds --series 20 <<-END
		50, queue 1/4 BDP|--rate 1gbit --delay 25ms --queue 0.25bdp
		10, 20 MB queue|--rate 1gbit --delay 5ms --queue 20MB
		50, loss 1e-4|--rate 1gbit --delay 25ms --queue 0.25bdp --loss-ab 1e-4
	END
}

unsent_rows() { # MESSAGES OPTION...
	row unsent "$x" kernel untuned "$@"
	in_host a sysctl -qw net.ipv4.tcp_notsent_lowat=1073741824
	row unsent "$x" "tcptuned, no bound" tuned_sender $keep -- "$@"
	in_host a sysctl -qw net.ipv4.tcp_notsent_lowat=4294967295
	row unsent "$x" tcptuned tuned_sender $keep -- "$@"
}

# A reader that pauses for 200 ms in each second, at once or after 300 MB, between hosts whose kernel gives 6 MB (before
# Linux 6.16).
bench_pausing_reader() {
	local before
	before=$(sysctl -n net.ipv4.tcp_rmem)
	sysctl -qw net.ipv4.tcp_rmem="4096 131072 6291456" # which tcptuned raises; a namespace's own is left alone
	host a b
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	each_path pausing_rows --duration ${BENCH_SECONDS:-10} --read-pause 200 <<-END
		10|--rate 1gbit --delay 5ms --queue 1bdp
		24|--rate 1gbit --delay 12ms --queue 1bdp
	END
	each_path pausing_rows --duration ${BENCH_SECONDS:-10} --read-pause 200 --read-fast 300MB <<-END
		10, after 300 MB|--rate 1gbit --delay 5ms --queue 1bdp
		24, after 300 MB|--rate 1gbit --delay 12ms --queue 1bdp
	END
	sysctl -qw net.ipv4.tcp_rmem="$before"
}

pausing_rows() { # MESSAGES OPTION...
	row pausing_reader "$x" kernel untuned --congestion cubic "$@"
	row pausing_reader "$x" bbr untuned --congestion bbr "$@"
	row pausing_reader "$x" tcptuned tuned_receiver -- --congestion cubic "$@"
}

# Slow links (Dynamic Right-Sizing, Figures 5 to 7): a Reno sender, and a receiver with a static
# window of 64 KB, with the kernel's autotuning, and with tcptuned. The paper says 56 kbit/s
# and no more of its link; here the queue holds ten packets.
#
# receive_window_max: a window is advertised in units of its scale, and only an ACK of more bytes than a
# unit can reduce it. With a maximum of 16 MB the unit is 1 KB, as the kernel's own is here; with 256 MB
# it would be 4 KB, which only an ACK after a filled hole covers.
bench_slow_link_1500k() {
	local rtt_ms run learn=10 run_seconds=${BENCH_SECONDS:-40}
	host a b
	for rtt_ms in ${BENCH_RTTS:-50 100}; do
		path="--rate 1.5mbit --delay $(half "$rtt_ms")ms --queue 10p"
		for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
			slow_rows "1.5 Mbit/s, $rtt_ms ms"
		done
	done
}

# Three minutes are a few hundred segments.
bench_slow_link_56k() {
	local run learn=30 run_seconds=180
	host a b
	path="--rate 56kbit --delay 50ms --queue 10p"
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		slow_rows "56 kbit/s, 100 ms"
	done
}

slow_rows() { # X
	local x=$1 window=policy.receive_window_max=${BENCH_WINDOW_MAX:-16M}
	# not the same to the millisecond each time
	set -- --congestion reno --bytes 16KiB --stall 60 --duration $((run_seconds + run))
	# SO_RCVBUF is doubled, and half of that is window
	row slow_link "$x" "static 64 KB" untuned --rcvbuf 64K "$@"
	row slow_link "$x" kernel untuned "$@"
	row slow_link "$x" "tcptuned at the receiver" tuned_receiver $window -- "$@"
	row slow_link "$x" "tcptuned, known path" slow_known_path "$@"
}

slow_known_path() { # MESSAGES OPTION...
	rm -rf "$TEST_DIR/state"
	with_tcptuned receiver paths.remember=yes $window -- taught "$@"
}
