# SPDX-License-Identifier: GPL-2.0-only
# What limits a connection, asked about at both ends: situations in which the answer is known, and does not
# depend on the speed of the host. answers.py reads each at least ten times.

. "$TEST_TOP/tests/system/daemon.sh"

CONGESTION=reno # no pacing, and no end of slow start by delay

# Starts a connection and adds it to the table: its name and port, the expected answers of the sender and the
# receiver, and the steps of both ends (sockets.py).
situation() { # NAME PORT SEND RECEIVE RECEIVER_OPTIONS RECEIVER_STEPS SENDER_OPTIONS SENDER_STEPS
	local family=${FAMILY-4} address=${ADDR[b]}
	[ $family = 4 ] || address=${ADDR6[b]}
	application "$1-receiver" b "tcp$family" $5 listen "$address" "$2" accept $6
	application "$1-sender" a "tcp$family" $7 connect "$address" "$2" $8
	table+=("$1 $2 $(pid_of "$1-sender") ${READER-$(pid_of "$1-receiver")} $3 $4")
}

expect_answers() {
	local code=0
	printf '%s\n' "${table[@]}" | "$TEST_TOP/tests/system/answers.py" 10 "${tcptunectl[@]}" \
		>"$TEST_DIR/answers" || code=$?
	note "$(<"$TEST_DIR/answers")"
	[ $code = 0 ] || fail "wrong answers, or too few"
}

# Both sentences under "limited by".
explains() { # PORT SENDER RECEIVER
	local at
	at=$(flow_to "$1" .remote)
	wait_until says_at "$(flow_to "$1" .local)" "$at" "what it sends: $2" # it may just be awake
	wait_until says_at "$at" "$(flow_to "$1" .local)" "what it receives: $3"
}

says_at() { # LOCAL REMOTE PATTERN
	ctl explain "$1" "$2" | grep -E "$3"
}

has_arrived() { # BYTES PORT...
	local port
	for port in "${@:2}"; do
		[ "$(ctl_json ".flows[0].bytes_received" flows --local-port "$port")" -ge "$1" ] || return 1
	done
}

# Locks cwnd of connections over IPv6. The kernel reads it with the metrics of a connection before.
lock_cwnd() {
	in_host a sysctl -qw net.ipv4.tcp_no_metrics_save=0
	in_host a ip -6 route add "${ADDR6[b]}" dev tun0 cwnd lock 20 rto_min 5s
	application first-receiver b tcp6 listen "${ADDR6[b]}" 7000 accept receive 10000
	application first-sender a tcp6 connect "${ADDR6[b]}" 7000 send 10000
	wait "$(pid_of first-sender)" "$(pid_of first-receiver)"
	wait_output = cwnd cached_cwnd
}

cached_cwnd() {
	in_host a ip tcp_metrics show "${ADDR6[b]}" | grep -o cwnd
}

# A path with room for all of them.
test_table_of_answers() {
	local all=1000000000 table=()
	configure '[policy capped]\nremote_port = 7006\nreceive_window_max = 128K\n[policy here]\nlocal_port = 7006\nreceive_window_max = 128K\n'
	tuned_path "--config=$TEST_DIR/my.conf --set=policy.congestion_control=keep --set=metrics.flows=30" --rate 100mbit --delay 100ms
	in_host a sysctl -qw net.ipv4.tcp_slow_start_after_idle=0
	in_host a ip route add "${ADDR[b]}/32" dev tun0 initcwnd 200 rto_min 5s # a pause is no small cwnd, and no loss
	lock_cwnd
	situation small-send-buffer 7001 send_buffer sender "" "receive $all" "set sndbuf 8192" "trickle 2000 0"
	situation slow-writer 7002 application sender "" "receive $all" "" "trickle 12500 50"
	situation small-receive-buffer 7003 receiver_window receiver_window \
		"set rcvbuf 8192" "receive $all" "" "send $all"
	situation stopped-reader 7004 receiver_window application "" "sip 200000 600000" "" "send $all"
	situation slow-reader 7005 receiver_window application "" "sip 5000 100" "" "send $all"
	situation capped 7006 receiver_window receiver_window "set rcvbuf 65536" "receive $all" "" "send $all"
	FAMILY=6 READER=0 situation locked-cwnd 7008 cwnd sender "" "receive $all" "" "send $all"
	situation idle 7009 idle idle "" "receive $all" "" "send 1000000 receive 1"
	wait_until has_arrived 1000000 7001 7002 7003 7006 7008 7009
	wait_until has_arrived 200000 7004 7005
	sleep 2 # idle is what is silent for a second and four round trips
	expect_answers

	explains 7001 "its send buffer, 16384 bytes \(16K\), which its application fixed \(SO_SNDBUF\)" \
		"the sender or its application, not this host's window: [0-9]+ bytes .* offered, [0-9]+ bytes \
.*used per round trip, RTT [0-9.]+ms, minimum [0-9.]+ms"
	explains 7003 "the peer's receive window, [0-9]+ bytes" \
		"this host's receive window, [0-9]+ bytes.*, which its application fixed \(SO_RCVBUF or TCP_WINDOW_CLAMP\)"
	explains 7004 "the peer's receive window, which is closed: its application does not read" \
		"the application, which does not read as fast as data arrive"
	explains 7006 "the peer's receive window, [0-9]+ bytes" \
		"this host's receive window, [0-9]+ bytes .*, by the policy's maximum"
	explains 7008 "the congestion window, 20 segments of 1[0-9]+ bytes, which no loss" "the sender"
	expect_match "$(ctl explain "$(flow_to 7006 .remote)" "$(flow_to 7006 .local)")" \
		"its listener asked for SO_RCVBUF of 65536 bytes \(64K\): withheld from the kernel" "a listener's request"
	expect_match "$(ctl explain "$(flow_to 7002 .remote)" "$(flow_to 7002 .local)")" \
		"asked for no SO_RCVBUF" "no request"
	ctl flows >"$TEST_DIR/flows"
	note "$(<"$TEST_DIR/flows")"
	expect_match "$(grep '^10.99.0.1.* 10.99.0.2:7004 ' "$TEST_DIR/flows")" " receiver_window +idle " "LIMIT, RLIMIT"
	expect_ge "$(metric 'tcptuned_connections_limited{direction="send",limit="receiver_window"}')" 1 "metric"
	expect_ge "$(metric 'tcptuned_connections_limited{direction="receive",limit="application"}')" 1 "metric"
	expect_ge "$(ctl_json '.connections.limited_by.receiver_window' status)" 1 "senders, in sum"
}

stands_in_queue() { # PORT
	[ "$(flow_to "$1" .srtt_us)" -ge 200000 ] && [ "$(flow "$1" .receiver_rtt_us)" -ge 200000 ]
}

# What right-sizing would shorten, where it only observes.
test_deep_queue() {
	local table=()
	tuned_path "--set=policy.mode=observe" --rate 20mbit --delay 25ms --queue 8MB
	READER=0 situation bulk 7001 path path "" "receive 1000000000" "" "send 1000000000"
	wait_until has_arrived 4000000 7001
	wait_until stands_in_queue 7001
	expect_answers
	explains 7001 "the path: [0-9]+ bytes .* wait in its queue .*; more window would not help" \
		"the path: [0-9]+ bytes .* wait in its queue .*; more window would not help"
}

test_losses_without_a_queue() {
	local table=()
	tuned_path --set=policy.congestion_control=keep --rate 100mbit --delay 50ms --loss-ab 0.01
	READER=0 situation lossy 7001 loss sender "" "receive 1000000000" "" "send 1000000000"
	wait_until has_arrived 2000000 7001
	wait_output -gt 0 flow_to 7001 .retransmitted_segments
	expect_answers
	explains 7001 "losses without a queue \([0-9]+ segments retransmitted\), .*: [0-9]+ segments of" \
		"the sender .*; [0-9]+ segments arrived out of order, as after losses"
}
