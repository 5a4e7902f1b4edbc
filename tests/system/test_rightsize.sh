# SPDX-License-Identifier: GPL-2.0-only
# Right-sizing on real connections: deep queues, and the right edge of every advertised window.

. "$TEST_TOP/tests/system/daemon.sh"

# 20 Mbit/s, 10 ms, and a queue of 800 ms: the path holds 25 KB, the queue 2 MB. The sender's buffer can
# fill it.
deep_queue() { # MESSAGES OPTION...
	link a b --rate 20mbit --delay 5ms --queue 2MB
	background look deep_queue_looks
	transfer a b --congestion cubic --duration 20 --rtt-samples --series 100 "$@" >"$TEST_DIR/out"
	stop look || :
}

# Keeps the daemon's view of the connection, near its end, if there is a daemon.
deep_queue_looks() {
	sleep 18
	ctl flows --json >"$TEST_DIR/flows.json" 2>/dev/null || :
	sleep 20
}

of_transfer() { # FILTER
	jq -r "$1" "$TEST_DIR/transfer.json"
}

of_flow() { # DIRECTION FILTER; of the flow that carried the data
	jq -r "[.flows[] | select(.$1.rate_bytes_per_s > 5e5)][0].$1 | $2" "$TEST_DIR/flows.json"
}

# Of the kernel alone, and with only the receiver tuned. (The packet model of tests/unit has the sender, too.)
# virtual: a rate is measured
test_deep_queue() {
	host a b
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	in_host b sysctl -qw net.ipv4.tcp_rmem="4096 131072 33554432" # as of Linux 6.16
	measure deep_queue --duration 4
	expect_ge "$(of_transfer .rtt_ms.median)" 60 "median RTT under load, ms"
	tcptuned_start --set=policy.congestion_control=keep
	RECEIVER_PREFIX=in_group measure deep_queue
	expect_ge "$(late_rate)" 18 "Mbit/s in the second half"
	# Two bandwidth-delay products make 20 ms, once a test has shown that the queue is this flow's own, which
	# may take 8 s and more.
	expect_between "$(of_transfer '.load_series | .[length * 3 / 4 | floor:] | map(.[1]) | sort |
		.[length / 2 | floor]')" 10 35 "median RTT in the last quarter, ms"
	expect_ge "$(of_flow receive .tests)" 1 "tests"
	expect_match "$(of_flow receive .state)" 'holding|testing|probe_rtt' "state"
	expect_between "$(counter tcptuned_rightsize_tests_total '{direction="receive",result="held"}')" 1 \
		"$(tests_ended receive)" "tests after which a window was held"
	# 2 x 24 KB of payload, or the 3/4 of it and the quarter of a test and a probe
	expect_between "$(of_flow receive .window_bytes)" 12000 100000 "window"
	tcptuned_stop
}

unread_memory() { # of the connection to port 7101
	ss_of b "sport = :7101 and dport > :0" "skmem:.r([0-9]+),"
}

# A receiver stops reading while segments are lost. Its unread data stay within what was advertised, also
# behind a reassembly gap: else each gap would allow another window. A segment of 1,448 bytes takes 2,304 of memory, so
# that two windows would take 3.2 times as much as one has bytes. A buffer above the host's tcp_rmem would be another
# matter: there only the window is held to what was earned.
test_a_slow_reader_on_a_lossy_path_holds_one_window() {
	local held most=0 i
	tuned_path "--set=policy.congestion_control=keep --set=policy.receive_window_max=kernel" \
		--rate 50mbit --delay 20ms --queue 400KB --loss-ab 2e-2
	watch
	stream slow 7101 --congestion bbr --duration 280 --read-fast 9MB --read-rate 200000
	wait_until arrived 7101 9000000
	for ((i = 0; i < 24 || most < 30000; i++)); do
		sleep 0.15
		held=$(unread_memory)
		[ "${held:-0}" -le "$most" ] || most=$held
	done
	stop slow || :
	tcptuned_stop
	expect_no_retraction 1 500 1
	expect_le "$most" $((5 * $(jq .window_max_bytes <<<"$watched") / 2)) "... by the largest window"
}

unread_memory_is_steady() {
	local before
	[ -n "$(ss_of a "dport = :7101" ' notsent:([0-9]+)')" ] || return # the sender is late
	before=$(unread_memory)
	sleep 1
	echo "$before $(unread_memory)" >"$TEST_DIR/unread.log"
	awk '{ exit !($1 >= 30000 && $2 <= $1 && $2 >= $1 - 65536) }' "$TEST_DIR/unread.log"
}

# The free space of a slow reader's buffer is advertised, so a buffer that kept a little more than was
# advertised would grow with each round. How much it has at first is the kernel's choice, while the reader is fast.
# A segment of 64 KB that takes twice as much may have arrived, or may have been read, just before each look.
test_a_slow_reader_does_not_hold_more_with_time() {
	local before
	sized_path --rate 50mbit --delay 10ms --queue 400KB
	stream slow 7101 --congestion cubic --duration 280 --read-fast 6MB --read-rate 200000
	wait_until arrived 7101 6MB
	wait_until unread_memory_is_steady
	before=$(unread_memory)
	sleep 3.5
	expect_le "$(unread_memory)" $((before + 2 * 131072)) "... later"
}

# A receiver and a sender have fixed their buffers, and the daemon is in a third network namespace. A receiver's
# 64 KB, doubled by the kernel, never advertise 128 KB.
locked_over_ipv6() { # BYTES
	link a b --rate 200mbit --delay 25ms
	watch
	TRANSFER_ADDR=${ADDR6[b]} transfer a b --bytes "$1" --count 1 --rcvbuf 64KiB --sndbuf 64KiB --verify \
		>"$TEST_DIR/out"
	expect_no_retraction 1 10
	lib_end_links || :
	window=$(jq .window_max_bytes <<<"$watched")
}

test_locked_buffers_over_ipv6() {
	local window
	host a b
	locked_over_ipv6 1MB
	expect_le "$window" 131072 "largest window before"
	tcptuned_start
	[ "$(readlink /proc/self/ns/net)" != "$(in_host b readlink /proc/self/ns/net)" ] ||
		fail "all in one network namespace"
	SENDER_PREFIX=in_group RECEIVER_PREFIX=in_group locked_over_ipv6 40MB
	expect_ge "$window" 524288 "largest window with tcptuned"
	expect_ge "$(of_transfer .sender.sndbuf)" 524288 "send buffer with tcptuned"
	expect_undamaged "$(of_transfer .bytes_damaged)" "payload"
}

# Windows grow, and shrink for a test, a probe, and a slow reader: no advertised right edge moves back. The
# flows share a queue of a second: only a reader that is late by an eighth of that puts off the tests. It holds
# the windows of all, or congestion windows would limit, and there would be nothing to test.
test_right_edge() {
	local four six
	tuned_path "--set=policy.congestion_control=keep --set=policy.receive_window_max=2M" \
		--rate 100mbit --delay 5ms --queue 16MB
	watch
	SENDER_PREFIX= stream four 7101 --congestion cubic --duration 280 --verify # its window would end the queue
	SENDER_PREFIX= TRANSFER_ADDR=${ADDR6[b]} stream six 7102 --congestion cubic --duration 280 --verify --streams 2
	# The window holds back the sender to an application that reads a tenth of what could arrive.
	stream slow 7103 --congestion cubic --duration 280 --bytes 500kB --read-rate 5000000 --verify
	wait_output -ge 2 tests_ended receive
	wait_output -ge 1 counter tcptuned_rightsize_grows_total '{direction="receive"}'
	wait_output -ge 2 counter tcptuned_rightsize_shrinks_total '{direction="receive"}'
	# Its last message ends before the stop: it would read a larger buffer for seconds.
	kill -USR1 "$(pid_of slow)"
	tcptuned_stop
	stream_stop four six slow
	expect_no_retraction 4 2000
	expect_ge "$(jq .shrunk <<<"$watched")" 5 "windows smaller than before"
	for name in four six slow; do
		expect_payload $name
	done
}

# An application reads 100 MB as fast as it can, and then 20 Mbit/s: its window shrinks to the 2 x 50 KB that
# this needs, and the unread data with it. The kernel alone would still advertise all of its buffer. No
# advertised right edge moves back, so the buffer has to be read first: segments of 1,448 bytes, 2,304 in
# memory, in at most 64 MB take 17 s. A stop gives back the window that the kernel has by itself, and no larger one.
test_window_of_a_slow_reader_shrinks() {
	local kernel_max=1048576
	kernel_gives $kernel_max 4194304
	sized_path --rate 200mbit --delay 10ms --queue 2MB
	watch
	stream slow 7101 --congestion cubic --duration 280 --read-fast 100MB --read-rate 20000000 --verify
	wait_until arrived 7101 100MB
	wait_until stays_shrunk
	tcptuned_stop
	sleep 1 # in which the buffer fills
	expect_le "$(ss_of b "sport = :7101 and dport > :0" "rcv_ssthresh:([0-9]+)")" $kernel_max "window after the stop"
	stream_stop slow
	expect_no_retraction 1 1000
	expect_ge "$(jq .window_max_bytes <<<"$watched")" 400000 "the largest window"
	expect_payload slow
}

shrunk() {
	flow 7101 '"\(.receive.reason) \(.advertised_window_bytes)"' >"$TEST_DIR/shrunk.log"
	unread_memory >>"$TEST_DIR/shrunk.log"
	awk 'NR == 1 { small = $1 == "reader" && $2 <= 400000 } END { exit !(small && NR == 2 && $1 <= 1000000) }' \
		"$TEST_DIR/shrunk.log"
}

# One that was late reads at once what it has missed, and has a larger window for that.
stays_shrunk() {
	shrunk || return
	sleep 1
	shrunk
}

unsent() { # MESSAGES OPTION...
	link a b --rate 100mbit --delay 25ms --queue 1MB
	transfer a b --congestion cubic --duration 1.5 --rtt-samples --rcvbuf 400KiB "$@" >/dev/null
	lib_end_links || : # how late it was does not matter
}

# A receiver that is not tuned has a window of about 400 KB: as much is in flight, and without a bound as much
# again waits in the sender's buffer. An eighth of that is less than 128 KB.
# virtual: a sender that gets the processor late is allowed more
test_little_waits_unsent() {
	host a b
	SENDER_PREFIX=in_group
	tcptuned_start --set=policy.congestion_control=keep
	unsent
	expect_between "$(of_transfer .sender.notsent_lowat)" 131072 200000 "the bound"
	expect_le "$(of_transfer .unsent_bytes.median)" 300000 "bytes unsent, with a write"
	unsent --notsent 64KiB
	expect_eq "$(of_transfer .sender.notsent_lowat)" 65536 "a bound of the application's own"
	in_host a sysctl -qw net.ipv4.tcp_notsent_lowat=32768
	unsent
	expect_eq "$(of_transfer .sender.notsent_lowat)" 0 "a bound where the administrator has one"
	expect_le "$(of_transfer .unsent_bytes.median)" 100000 "bytes unsent, at most 32 KB wanted"
}

test_unsent_bound_is_released() {
	sized_path --rate 50mbit --delay 10ms
	# The peer's window limits it: a late writer still has unsent data, so that it does not end the bound by itself.
	RECEIVER_PREFIX= stream one 7101 --congestion cubic --duration 280 --rcvbuf 16KiB
	wait_output -ge 131072 flow_to 7101 .send.unsent_max_bytes
	tcptuned_stop
	stream_stop one
	expect_eq "$(result one .sender.notsent_lowat)" 0 "TCP_NOTSENT_LOWAT afterwards"
}

# Within a host only the buffers limit a window. They stay within the kernel's own maxima.
test_buffers_within_a_host_are_the_kernels() {
	local receive send
	host a
	receive=$(in_host a sysctl -n net.ipv4.tcp_rmem | cut -f 3)
	tcptuned_start --set=policy.congestion_control=keep
	TRANSFER_ADDR=127.0.0.1 RECEIVER=a stream within 7101 --duration 280 --congestion cubic
	wait_output -ge 500000000 flow_to 7101 .bytes_acked
	expect_ge "$(in_host a sysctl -n net.ipv4.tcp_rmem | cut -f 3)" $((2 * receive - 1)) "raised maximum"
	expect_le "$(ss_of a "dport = :7101" ",tb([0-9]+)")" "$(in_host a sysctl -n net.ipv4.tcp_wmem | cut -f 3)" \
		"send buffer"
	expect_le "$(flow 7101 .advertised_window_bytes)" "$receive" "window"
}

# Who asks for little wants fresh data: of a queue of 1 MB it fills what it asked for, at most 262 ms.
test_a_small_send_buffer_fills_no_queue() {
	sized_path --rate 2mbit --delay 20ms --queue 1MB
	stream fresh 7101 --duration 280 --congestion cubic --sndbuf 32KiB
	wait_output -ge 600000 flow_to 7101 .bytes_acked
	expect_eq "$(flow_to 7101 .send_buffer_bytes)" 65536 "its buffer, twice what was requested"
	expect_le "$(flow_to 7101 .srtt_us)" 302000 "with the path's RTT of 40 ms"
	stream_stop fresh
}

# A sender that needs more than the maximum of tcp_wmem gets it: 2.5 MB are in flight on this path. Other
# connections of the host do not.
test_send_buffer_beyond_the_kernels() {
	sized_path --rate 200mbit --delay 50ms --queue 2bdp
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 1048576"
	SENDER_PREFIX= stream other 7102 --duration 280 --congestion reno
	stream tuned 7101 --duration 280 --congestion reno
	wait_output -ge 2097152 flow_to 7101 .send_buffer_bytes
	expect_eq "$(flow_to 7101 .send.kernel_max_bytes)" 1048576 "what the kernel alone would give"
	wait_output = 1048576 ss_of a "dport = :7102" ",tb([0-9]+)"
	stream_stop tuned other
}

# A connection has a record from 128 KB on, at either end.
test_short_connections_leave_no_record() {
	host a
	tcptuned_start --set=policy.congestion_control=keep
	background server in_group in_host a "${keep_alive[@]}" serve 127.0.0.1
	wait_printed server listening
	background short in_group in_host a "${keep_alive[@]}" connect 127.0.0.1 200 100000
	wait_printed server "MB 20"
	expect_eq "$(managed here) $(managed peer)" "0 0" "records of 200 connections of 100 KB"
	background long in_group in_host a "${keep_alive[@]}" connect 127.0.0.1 5 1000000
	wait_printed server "MB 25"
	expect_eq "$(managed here) $(managed peer)" "5 5" "records of 5 connections of 1 MB"
}

# The ACKs of an answer show that it is short, and those of an upload after it, that the peer sends much.
test_upload_after_an_answer() {
	tuned_path "" --rate 100mbit --delay 10ms
	application server b tcp4 listen "${ADDR[b]}" 7001 accept receive 100 send 60000 receive 3000000 say received until end
	outsider client a tcp4 connect "${ADDR[b]}" 7001 send 100 receive 60000 send 3000000 until end
	wait_printed server received
	expect_between "$(flow 7001 .bytes_received)" 3000100 3000101 "bytes received, by the record"
	finish end server client
}
