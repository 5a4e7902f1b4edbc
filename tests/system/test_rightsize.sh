# SPDX-License-Identifier: GPL-2.0-only
#
# Right-sizing on real connections: a deep queue, whichever end is tuned, and the right edge of
# every window that was ever advertised.

. "$TEST_TOP/tests/system/daemon.sh"

# 200 Mbit/s, 10 ms, and a queue of 800 ms: the path holds 250 KB, the queue 20 MB. The sender
# is free to fill it.
deep_queue() { # MESSAGES OPTION...
	link a b --rate 200mbit --delay 5ms --queue 20MB
	transfer a b --congestion cubic --duration 3 --rtt-samples "$@" >"$TEST_DIR/out"
}

deep_queue_hosts() {
	host a b
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	in_host b sysctl -qw net.ipv4.tcp_rmem="4096 131072 33554432" # as of Linux 6.16
}

of_transfer() { # FILTER
	jq -r "$1" "$TEST_DIR/transfer.json"
}

# Two bandwidth-delay products make 20 ms. The kernel alone makes hundreds.
expect_small_queue() {
	expect_ge "$(of_transfer '.goodput_bps / 1e6')" 170 "Mbit/s"
	expect_ge "$(of_transfer .rtt_ms.median)" 10 "median RTT under load, ms"
	expect_le "$(of_transfer .rtt_ms.median)" 35 "median RTT under load, ms"
}

# timeout: 90
test_deep_queue_of_the_kernel_alone() {
	deep_queue_hosts
	valid_run deep_queue --duration 4
	expect_ge "$(of_transfer .rtt_ms.median)" 60 "median RTT under load, ms"
	expect_ge "$(of_transfer .receiver.rcvbuf)" 6710886 "its receive buffer"
}

# timeout: 90
test_deep_queue_only_the_receiver_tuned() {
	local kernels
	deep_queue_hosts
	kernels=$(in_host b sysctl -n net.ipv4.tcp_rmem | awk '{ print $3 }')
	tcptuned_start --set=policy.congestion_control=keep
	RECEIVER_PREFIX=in_group valid_run deep_queue
	tcptuned_stop
	expect_small_queue
	expect_le "$(of_transfer .receiver.rcvbuf)" $((kernels / 5)) \
		"receive buffer, against the kernel's $kernels"
	# ... and enough for the path, at the price of memory per byte that ss shows, two at most
	expect_ge "$(of_transfer .receiver.rcvbuf)" 250000 "receive buffer"
}

# timeout: 90
test_deep_queue_only_the_sender_tuned() {
	deep_queue_hosts
	tcptuned_start --set=policy.congestion_control=keep
	SENDER_PREFIX=in_group valid_run deep_queue
	tcptuned_stop
	expect_small_queue
	expect_le "$(of_transfer .sender.sndbuf)" $((67108864 / 5)) "send buffer"
}

# One that stops reading while segments are lost: what it has not read is of its window, also
# where that is counted from behind a hole. Else each hole would make room for another window.
#
# timeout: 60
test_a_slow_reader_on_a_lossy_path_holds_little() {
	local held most=0 i
	host a b
	tcptuned_start --set=policy.congestion_control=keep
	link a b --rate 50mbit --delay 20ms --queue 400KB --loss-ab 2e-2
	watch
	stream slow 7101 --congestion bbr --duration 30 --read-fast 1.5 --read-rate 200000
	for ((i = 0; i < 24; i++)); do
		sleep 0.15
		held=$(in_host b ss -tmnH sport = :7101 | grep -o 'skmem:(r[0-9]*' | cut -d r -f 2 |
			sort -n | tail -n 1)
		[ "${held:-0}" -le "$most" ] || most=$held
	done
	stop slow || :
	tcptuned_stop
	expect_ge "$most" 300000 "largest queue of what was not read"
	expect_le "$most" 2500000 "largest queue of what was not read"
	expect_no_retraction 1 500
}

# One that reads slowly: what is free in its buffer is promised, so a buffer that kept a little
# more than is owed would grow by that little with each round.
#
# timeout: 60
test_a_slow_reader_does_not_hold_more_with_time() {
	local before
	host a b
	tcptuned_start --set=policy.congestion_control=keep
	link a b --rate 50mbit --delay 10ms --queue 400KB
	stream slow 7101 --congestion cubic --duration 30 --read-fast 1 --read-rate 200000
	sleep 2.5
	before=$(ss_of b "sport = :7101 and dport > :0" "skmem:.r([0-9]+),")
	sleep 3.5
	expect_ge "$before" 100000 "memory of what waits"
	expect_le "$before" 900000 "memory of what waits"
	expect_le "$(ss_of b "sport = :7101 and dport > :0" "skmem:.r([0-9]+),")" $((before + 100000)) \
		"... later"
	stop slow || :
	tcptuned_stop
}

# A receiver and a sender that fixed their buffers, over IPv6, the daemon in a third network
# namespace: 64 KB would carry 5 % of this path.
locked_over_ipv6() { # MESSAGES OPTION...
	link a b --rate 200mbit --delay 25ms
	TRANSFER_ADDR=${ADDR6[b]} transfer a b --duration 3.5 --rcvbuf 64KiB --sndbuf 64KiB \
		--verify --series 100 "$@" >"$TEST_DIR/out"
}

late_rate() { # Mbit/s in the second half
	of_transfer '.series as $s | ($s | length) as $n | $s[($n / 2 | floor)] as $m | $s[-1] as $e
		| ($e[1] - $m[1]) * 8 / ($e[0] - $m[0]) / 1e6'
}

# timeout: 90
test_locked_buffers_over_ipv6() {
	local slow
	host a b
	valid_run locked_over_ipv6 --duration 1.5
	slow=$(late_rate)
	expect_le "$slow" 20 "Mbit/s before"
	tcptuned_start
	[ "$(readlink /proc/self/ns/net)" != "$(in_host b readlink /proc/self/ns/net)" ] ||
		fail "all in one network namespace"
	SENDER_PREFIX=in_group RECEIVER_PREFIX=in_group valid_run locked_over_ipv6
	expect_ge "$(late_rate)" 150 "Mbit/s with tcptuned"
	expect_undamaged "$(of_transfer .bytes_damaged)" "payload"
	tcptuned_stop
}

# Windows that grow, that are held small in a drain, that are given back: an edge that was
# advertised stays. The flows share a queue in which a third of a second fits, so that after
# some seconds each has to drain it to know the minimum RTT.
#
# timeout: 60
test_right_edge() {
	local four six
	host a b
	tcptuned_start --set=policy.congestion_control=keep
	link a b --rate 100mbit --delay 5ms --queue 4MB
	watch
	stream four 7101 --congestion cubic --duration 40 --verify
	TRANSFER_ADDR=${ADDR6[b]} stream six 7102 --congestion cubic --duration 40 --verify \
		--streams 2
	# An application that reads at a tenth of what could arrive is held back by its window.
	stream slow 7103 --congestion cubic --duration 40 --bytes 500kB --read-rate 5000000 --verify
	wait_until 20 drained
	sleep 1 # the window after a drain, too
	expect_ge "$(counter tcptuned_rightsize_grows_total '{direction="receive"}')" 3 "grows"
	expect_ge "$(counter tcptuned_rightsize_shrinks_total '{direction="receive"}')" 2 "shrinks"
	expect_ge "$(counter tcptuned_rightsize_drains_total '{direction="receive"}')" 1 "drains"
	# The slow one is in its last message: what it filled a larger buffer with, it would read for
	# seconds.
	kill -USR1 "$(pid_of slow)"
	tcptuned_stop
	stream_stop four six slow
	expect_no_retraction 4 20000
	expect_eq "$(jq .resets <<<"$watched")" 0 "resets"
	expect_ge "$(jq .shrunk <<<"$watched")" 5 "windows smaller than before"
	for name in four six slow; do
		expect_payload $name
	done
}

drained() {
	[ "$(counter tcptuned_rightsize_drains_total '{direction="receive"}')" -ge 1 ]
}

# An application that reads as fast as it can for 2 s, and then 20 Mbit/s: its window comes down
# to what that needs, 2 x 50 KB, and what waits for it with it. Nothing that was promised is
# taken back.
#
# timeout: 60
test_slow_reader_gives_its_window_back() {
	host a b
	tcptuned_start --set=policy.congestion_control=keep
	link a b --rate 200mbit --delay 10ms --queue 2MB
	watch
	stream slow 7101 --congestion cubic --duration 30 --read-fast 2 --read-rate 20000000 --verify
	sleep 1.8
	expect_ge "$(flow 7101 .receive.window_bytes)" 700000 "the window of a fast reader"
	wait_until 8 given_back
	expect_le "$(flow 7101 .receive.window_bytes)" 400000 "the window of a slow reader"
	expect_ge "$(flow 7101 .receive.window_bytes)" 65536 "the window of a slow reader"
	expect_le "$(ss_of b "sport = :7101 and dport > :0" "skmem:.r([0-9]+),")" 1000000 "memory of what waits"
	expect_le "$(ss_of b "sport = :7101 and dport > :0" "skmem:.*,rb([0-9]+),")" 1500000 "receive buffer"
	stream_stop slow
	tcptuned_stop
	expect_no_retraction 1 1000
	expect_eq "$(jq .resets <<<"$watched")" 0 "resets"
	expect_payload slow
}

given_back() {
	[ "$(flow 7101 .receive.window_bytes)" -le 400000 ] &&
		[ "$(ss_of b "sport = :7101 and dport > :0" "skmem:.r([0-9]+),")" -le 1000000 ] &&
		[ "$(ss_of b "sport = :7101 and dport > :0" "skmem:.*,rb([0-9]+),")" -le 1500000 ]
}

unsent() { # MESSAGES OPTION...
	link a b --rate 200mbit --delay 25ms --queue 2MB
	transfer a b --congestion cubic --duration 1.5 --rtt-samples --rcvbuf 400KiB "$@" \
		>"$TEST_DIR/out"
}

# A receiver that is not tuned and has a window of 400 KB or so: as much is in flight, and without
# a bound as much again waits in the sender's buffer. An eighth of that is less than 128 KB.
#
# timeout: 90
test_little_waits_unsent() {
	host a b
	SENDER_PREFIX=in_group
	tcptuned_start --set=policy.congestion_control=keep
	valid_run unsent
	expect_ge "$(of_transfer '.goodput_bps / 1e6')" 40 "Mbit/s"
	expect_le "$(of_transfer .unsent_bytes.median)" 200000 "bytes unsent"
	expect_ge "$(of_transfer .sender.notsent_lowat)" 131072 "the bound"
	expect_le "$(of_transfer .sender.notsent_lowat)" 200000 "the bound"
	valid_run unsent --notsent 64KiB
	expect_eq "$(of_transfer .sender.notsent_lowat)" 65536 "a bound of the application's own"
	in_host a sysctl -qw net.ipv4.tcp_notsent_lowat=32768
	valid_run unsent
	expect_eq "$(of_transfer .sender.notsent_lowat)" 0 "a bound besides the administrator's"
	expect_le "$(of_transfer .unsent_bytes.median)" 100000 "bytes unsent, at most 32 KB wanted"
	in_host a sysctl -qw net.ipv4.tcp_notsent_lowat=4294967295
	tcptuned_stop
	tcptuned_start --set=policy.congestion_control=keep --set=policy.send_unsent_max=1G
	valid_run unsent
	expect_ge "$(of_transfer .unsent_bytes.median)" 262144 "bytes unsent without a bound"
	tcptuned_stop
}

# What was set is taken back when the daemon stops.
#
# timeout: 30
test_unsent_bound_is_released() {
	host a b
	tcptuned_start --set=policy.congestion_control=keep
	link a b --rate 50mbit --delay 10ms
	stream one 7101 --congestion cubic --duration 30
	sleep 1.5
	expect_ge "$(flow 7101 .receive.window_bytes)" 1 "it is tuned"
	tcptuned_stop
	stream_stop one
	expect_eq "$(result one .sender.notsent_lowat)" 0 "TCP_NOTSENT_LOWAT afterwards"
}
