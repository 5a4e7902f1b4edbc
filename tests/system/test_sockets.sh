# SPDX-License-Identifier: GPL-2.0-only
#
# What applications ask of their sockets, and what they are told: SO_RCVBUF and SO_SNDBUF of TCP
# connections are swallowed, everything else is the kernel's. All on loopback.

. "$TEST_TOP/tests/system/daemon.sh"

sockets=("$TEST_BUILD/sockets")

# answers EXPECTED WHAT STEP...: in the group of the daemon, on host a
answers() {
	local expected=$1 what=$2
	shift 2
	expect_eq "$(in_group in_host a "${sockets[@]}" "$@" | tr '\n' ',')" "$expected" "$what"
}

# The same on a socket that is not the daemon's.
answers_outside() {
	local expected=$1 what=$2
	shift 2
	expect_eq "$(in_host a "${sockets[@]}" "$@" | tr '\n' ',')" "$expected" "$what"
}

test_requests_are_swallowed() {
	local family address
	host a
	tcptuned_start
	answers_outside "rcvbuf 80000,sndbuf 100000,locks 3," "the kernel's answer" \
		tcp4 set rcvbuf 40000 set sndbuf 50000 get rcvbuf get sndbuf get locks
	for family in 4 6; do
		address=127.0.0.1
		[ $family = 4 ] || address=::1
		# The application is told the same, but nothing is locked.
		answers "rcvbuf 80000,sndbuf 100000,locks 0," "TCP over IPv$family" \
			tcp$family set rcvbuf 40000 set sndbuf 50000 get rcvbuf get sndbuf get locks
		background listener in_group in_host a "${sockets[@]}" tcp$family \
			set rcvbuf 40000 set sndbuf 50000 listen $address 7000 \
			until "$TEST_DIR/end$family"
		wait_until 5 eval '[ -n "$(ss_of a "sport = :7000" "(skmem)")" ]'
		expect_eq "$(ss_of a "sport = :7000" "skmem:.*,rb([0-9]+),")" \
			"$(in_host a sysctl -n net.ipv4.tcp_rmem | awk '{ print $2 }')" "its receive buffer"
		expect_eq "$(ss_of a "sport = :7000" "skmem:.*,tb([0-9]+),")" \
			"$(in_host a sysctl -n net.ipv4.tcp_wmem | awk '{ print $2 }')" "its send buffer"
		: >"$TEST_DIR/end$family"
		wait "$(pid_of listener)"
	done
	# The second request counts, a small one is raised as the kernel would, a huge one cut.
	answers "rcvbuf 60000," "the last request" tcp4 set rcvbuf 40000 set rcvbuf 30000 get rcvbuf
	answers "rcvbuf 2304,sndbuf 4608,locks 0," "the smallest" \
		tcp4 set rcvbuf 1 set sndbuf 1 get rcvbuf get sndbuf get locks
	answers_outside "rcvbuf 2304,sndbuf 4608," "the kernel's smallest" \
		tcp4 set rcvbuf 1 set sndbuf 1 get rcvbuf get sndbuf
	expect_eq "$(counter tcptuned_buffer_requests_overridden_total '{option="SO_RCVBUF"}')" 7 \
		"requests of SO_RCVBUF overridden"
	expect_eq "$(counter tcptuned_buffer_requests_overridden_total '{option="SO_SNDBUF"}')" 5 \
		"requests of SO_SNDBUF overridden"
	# The kernel takes them without a sign, and gives as much as it may.
	answers "$(in_host a "${sockets[@]}" tcp4 set rcvbuf -1 set sndbuf -1 get rcvbuf get sndbuf |
		tr '\n' ',')locks 0," "the largest" \
		tcp4 set rcvbuf -1 set sndbuf -1 get rcvbuf get sndbuf get locks
	background largest in_group in_host a "${sockets[@]}" tcp4 set rcvbuf -1 set sndbuf 2147483647 \
		listen 127.0.0.2 7000 say listening until "$TEST_DIR/end" get rcvbuf get sndbuf
	wait_until 5 grep -q listening "$TEST_DIR/largest.log"
	# A listener that stays is obeyed at the stop, and so is what it accepts from then on.
	background listener in_group in_host a "${sockets[@]}" tcp4 set rcvbuf 40000 \
		set sndbuf 50000 get locks listen 127.0.0.1 7000 say listening until "$TEST_DIR/end" \
		get rcvbuf get sndbuf get locks accept get rcvbuf get sndbuf get locks
	wait_until 5 grep -q listening "$TEST_DIR/listener.log"
	tcptuned_stop
	: >"$TEST_DIR/end"
	in_host a "${sockets[@]}" tcp4 connect 127.0.0.1 7000
	wait "$(pid_of listener)"
	expect_eq "$(tr '\n' ',' <"$TEST_DIR/listener.log")" \
		"locks 0,listening,rcvbuf 80000,sndbuf 100000,locks 3,rcvbuf 80000,sndbuf 100000,locks 3," \
		"a listener before and after the stop"
	wait "$(pid_of largest)"
	expect_ge "$(sed -n 's/^rcvbuf //p' "$TEST_DIR/largest.log")" 1000000 "the largest, after the stop"
	expect_ge "$(sed -n 's/^sndbuf //p' "$TEST_DIR/largest.log")" 1000000 "to send"
}

test_requests_stand_where_the_policy_says_so() {
	host a
	tcptuned_start --set=policy.override_rcvbuf=no
	answers "rcvbuf 80000,sndbuf 100000,locks 2," "override_rcvbuf = no" \
		tcp4 set rcvbuf 40000 set sndbuf 50000 get rcvbuf get sndbuf get locks
	tcptuned_stop
	tcptuned_start --set=policy.override_sndbuf=no
	answers "rcvbuf 80000,sndbuf 100000,locks 1," "override_sndbuf = no" \
		tcp4 set rcvbuf 40000 set sndbuf 50000 get rcvbuf get sndbuf get locks
	tcptuned_stop
}

# One who may force a size is answered as by the plain option; who may not is refused, as ever.
test_requests_with_force() {
	local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all
		--inh-caps=-all) forced=(set rcvbufforce 40000 set sndbufforce 50000)
	mount -t tmpfs -o mode=755 tmpfs /mnt
	cp "$TEST_BUILD/sockets" /mnt/sockets
	host a
	tcptuned_start
	answers "rcvbuf 80000,sndbuf 100000,locks 0," "overridden" \
		tcp4 "${forced[@]}" get rcvbuf get sndbuf get locks
	sockets=("${nobody[@]}" /mnt/sockets)
	answers "set rcvbufforce: Operation not permitted,set sndbufforce: Operation not permitted,locks 0," \
		"not permitted" tcp4 "${forced[@]}" get locks
	sockets=("$TEST_BUILD/sockets")
	tcptuned_stop
	# Where requests stand, a connection whose buffers are sized is its application's from then on.
	tcptuned_start --set=policy.override_rcvbuf=no --set=policy.override_sndbuf=no
	background server in_group in_host a "${sockets[@]}" tcp4 listen 127.0.0.1 7001 accept \
		until "$TEST_DIR/end"
	background client in_group in_host a "${sockets[@]}" tcp4 connect 127.0.0.1 7001 "${forced[@]}" \
		get rcvbuf get sndbuf get locks until "$TEST_DIR/end"
	wait_until 5 grep -q locks "$TEST_DIR/client.log"
	expect_eq "$(tr '\n' ',' <"$TEST_DIR/client.log")" "rcvbuf 80000,sndbuf 100000,locks 3," "obeyed"
	expect_match "$(flow_to 7001 '.flags | join(" ")')" "so_rcvbuf_obeyed so_sndbuf_obeyed" "flags"
	: >"$TEST_DIR/end"
	wait "$(pid_of client)"
	tcptuned_stop
}

# pacing_is RATE_AND_SETTER APPLICATION_TOLD: of the connection to port 7001, when it has gone on
pacing_is() {
	wait_until 5 grep -q "^step$step\$" "$TEST_DIR/client.log"
	expect_eq "$(flow_to 7001 '.pacing | "\(.rate_max_bytes_per_s) \(.rate_max_set_by)"')" "$1" "limit"
	expect_eq "$(grep pacing "$TEST_DIR/client.log" | tail -n 1)" "$2" "what the application is told"
	: >"$TEST_DIR/go$step"
	step=$((step + 1))
}

# Of the policy's limit and the application's the lower one holds, whichever was set last.
test_pacing_limit_of_both() {
	local step=1 go=$TEST_DIR/go
	host a
	printf '[policy]\npacing_rate_max = 80M\n' >"$TEST_DIR/my.conf"
	tcptuned_start --config="$TEST_DIR/my.conf"
	background server in_host a "${sockets[@]}" tcp4 listen 127.0.0.1 7001 accept until "${go}7"
	background client in_group in_host a "${sockets[@]}" tcp4 connect 127.0.0.1 7001 \
		get pacing say step1 until "${go}1" \
		set pacing 50000000 get pacing say step2 until "${go}2" \
		set pacing 1000000 get pacing say step3 until "${go}3" \
		set pacing -1 get pacing say step4 until "${go}4" \
		set pacing 2000000 /8 get pacing /8 say step5 until "${go}5" \
		set pacing 60000000 /8 get pacing /8 say step6 until "${go}6" \
		get pacing say step7 until "${go}7"
	pacing_is "10000000 policy" "pacing 10000000"
	pacing_is "10000000 policy" "pacing 50000000"
	pacing_is "1000000 application" "pacing 1000000"
	pacing_is "10000000 policy" "pacing -1"
	pacing_is "2000000 application" "pacing 2000000 /8"
	wait_until 5 grep -q '^step6$' "$TEST_DIR/client.log"
	expect_eq "$(flow_to 7001 .pacing.rate_max_bytes_per_s)" 10000000 "limit"
	expect_eq "$(grep pacing "$TEST_DIR/client.log" | tail -n 1)" "pacing 60000000 /8" "told"
	tcptuned_stop
	: >"${go}6"
	wait_until 5 grep -q '^step7$' "$TEST_DIR/client.log"
	expect_eq "$(grep pacing "$TEST_DIR/client.log" | tail -n 1)" "pacing 60000000" "after the stop"
	: >"${go}7"
	wait "$(pid_of client)"
}

# A listener's request is that of every connection that it accepts, as in the kernel.
test_listeners_requests_are_inherited() {
	host a
	tcptuned_start
	background server in_group in_host a "${sockets[@]}" tcp4 set rcvbuf 32768 set sndbuf 50000 \
		listen 127.0.0.1 7001 accept get rcvbuf get sndbuf get locks get wscale \
		until "$TEST_DIR/end"
	background client in_group in_host a "${sockets[@]}" tcp4 set rcvbuf 32768 \
		connect 127.0.0.1 7001 get rcvbuf get locks get wscale until "$TEST_DIR/end"
	wait_until 5 grep -q wscale "$TEST_DIR/server.log"
	wait_until 5 grep -q wscale "$TEST_DIR/client.log"
	expect_eq "$(flow 7001 .receive.requested_bytes)" 32768 "requested, says the flow"
	# 64 KB would have got a scale of 0; this one reaches the largest window of the policy.
	expect_match "$(flow 7001 '.receive.window_max_bytes')" '^[0-9]+$' "window of the policy"
	expect_wscale server "$(flow 7001 .receive.window_max_bytes)"
	expect_wscale client "$(flow 7001 .receive.window_max_bytes)"
	: >"$TEST_DIR/end"
	wait "$(pid_of server)"
	wait "$(pid_of client)"
	expect_eq "$(sed '/wscale/d' "$TEST_DIR/server.log" | tr '\n' ' ')" \
		"rcvbuf 65536 sndbuf 100000 locks 0 " "the accepted connection"
	expect_eq "$(sed '/wscale/d' "$TEST_DIR/client.log" | tr '\n' ' ')" \
		"rcvbuf 65536 locks 0 " "the connection that was opened"
	tcptuned_stop
}

expect_wscale() { # NAME WINDOW
	local wscale
	wscale=$(sed -n 's/^wscale //p' "$TEST_DIR/$1.log")
	expect_ge $((65535 << wscale)) $(($2 / 65536 * 65535)) "window that scale $wscale allows the $1"
}

# Options larger than a page: only the first page of them would be shown to the program.
test_options_of_any_length() {
	local steps=(tcp4 set keepalive 1 /8192 get keepalive get keepalive /8192
		set keepalive 0 /4097 get keepalive set rcvbuf 40000 /2 set keepalive 1 /2
		get rcvbuf /2 get congestion /5000)
	local expected
	host a
	expected=$(in_host a "${sockets[@]}" "${steps[@]}" | tr '\n' ',')
	expect_match "$expected" '^keepalive 1,keepalive 1,keepalive 0,set rcvbuf: Invalid' \
		"the kernel's answers"
	tcptuned_start
	answers "$expected" "answers" "${steps[@]}"
	tcptuned_stop
}

# Only TCP connections are the daemon's.
test_other_sockets_are_the_kernels() {
	local kind
	host a
	tcptuned_start
	for kind in udp4 unix raw4; do
		answers "rcvbuf 80000,sndbuf 100000,locks 3,record no," "$kind" $kind \
			set rcvbuf 40000 set sndbuf 50000 get rcvbuf get sndbuf get locks \
			record /sys/fs/bpf/tcptuned/map_flows
	done
	answers "locks 0,record yes," "TCP, to compare" tcp4 set rcvbuf 40000 get locks \
		record /sys/fs/bpf/tcptuned/map_flows
	expect_eq "$(counter tcptuned_buffer_requests_overridden_total '{option="SO_RCVBUF"}')" 1 \
		"requests overridden"
	tcptuned_stop
}

# An application that sets its window clamp knows what it wants: its SO_RCVBUF, too, is obeyed,
# for without it the kernel's autotuning would move the clamp. In any order, before or after it
# connects. (How long the clamp itself holds is the kernel's affair: tcp_measure_rcv_mss().)
clamped() { # GROUP NAME STEP...
	local group=$1 name=$2
	shift 2
	background "$name" $group in_host b "${sockets[@]}" tcp4 "$@" get clamp get locks \
		get rcvbuf say "done" until "$TEST_DIR/end"
	wait_until 5 eval '[ -n "$(ss_of b "sport = :7002" "(skmem)")" ]'
	background sender in_group in_host a "${sockets[@]}" tcp4 connect "${ADDR[b]}" 7002 \
		send 3000000 until "$TEST_DIR/end"
	wait_until 20 grep -q '^done' "$TEST_DIR/$name.log"
	flow 7002 . >"$TEST_DIR/$name.json"
	: >"$TEST_DIR/end"
	wait "$(pid_of sender)"
	wait "$(pid_of "$name")"
	rm "$TEST_DIR/end"
}

clamped_alike() { # NAME STEP...
	local name=$1 theirs
	shift
	clamped "" "$name" "$@"
	theirs=$(sed '/clamp/d' "$TEST_DIR/$name.log" | tr '\n' ',')
	expect_eq "$theirs" "locks 2,rcvbuf 300000,done," "without tcptuned, $name"
	clamped in_group "$name" "$@"
	expect_eq "$(sed '/clamp/d' "$TEST_DIR/$name.log" | tr '\n' ',')" "$theirs" "with it"
	# At most what 300 kB of memory hold; the path would make it 450 kB.
	expect_le "$(jq .window_clamp_bytes "$TEST_DIR/$name.json")" 200000 "clamp"
	expect_le "$(jq .advertised_window_bytes "$TEST_DIR/$name.json")" 200000 "advertised window"
	expect_match "$(jq -c .flags "$TEST_DIR/$name.json")" so_rcvbuf_obeyed "flags"
}

test_window_clamp_of_the_application() {
	local connection=(listen 10.99.0.2 7002 accept)
	host a b
	tcptuned_start
	link a b --rate 200mbit --delay 5ms
	clamped_alike listener set rcvbuf 150000 set clamp 100000 "${connection[@]}" \
		receive 3000000
	clamped_alike after set rcvbuf 150000 "${connection[@]}" set clamp 100000 \
		receive 3000000
	clamped_alike reversed "${connection[@]}" set clamp 100000 set rcvbuf 150000 \
		receive 3000000
	tcptuned_stop
}

# What was set on a socket for one connection outlives it (tcp_disconnect()). The next begins as any
# other: its window scale, the memory and the window of its beginning, its congestion control.
test_a_socket_that_connects_again() {
	local first
	host a b
	in_host b sysctl -qw net.ipv4.tcp_congestion_control=reno
	link a b --rate 100mbit --delay 5ms
	watch
	printf '[policy first]\nremote_port = 7003\npacing_rate_max = 400M\n' >"$TEST_DIR/my.conf"
	tcptuned_start $bitcp --config="$TEST_DIR/my.conf"
	first=$(in_host b sysctl -n net.ipv4.tcp_rmem | awk '{ print $2 }')
	background one in_host a "${sockets[@]}" tcp4 listen "${ADDR[a]}" 7003 accept \
		receive 3000000 send 6000000 until "$TEST_DIR/again"
	background two in_host a "${sockets[@]}" tcp4 listen "${ADDR[a]}" 7004 accept \
		until "$TEST_DIR/go" send 3000000 until "$TEST_DIR/over"
	background client in_group in_host b "${sockets[@]}" tcp4 connect "${ADDR[a]}" 7003 \
		send 3000000 receive 6000000 say received until "$TEST_DIR/again" \
		disconnect connect "${ADDR[a]}" 7004 get wscale receive 3000000 say over \
		until "$TEST_DIR/over"
	wait_until 5 grep -q received "$TEST_DIR/client.log"
	expect_match "$(flow_to 7003 '.flags | join(" ")')" \
		"receive_rightsized send_rightsized congestion_control_set pacing_limited" "the first"
	expect_match "$(flow_to 7003 .send.unsent_max_bytes)" "^[1-9]" "what of it may wait unsent"
	: >"$TEST_DIR/again"
	wait_until 5 grep -q wscale "$TEST_DIR/client.log"
	expect_ge "$(sed -n 's/wscale //p' "$TEST_DIR/client.log")" 7 "window scale of the second"
	expect_le "$(flow_to 7004 .advertised_window_bytes)" 70000 "what it offers at first"
	expect_eq "$(flow_to 7004 '[.receive_buffer_bytes, .receive.began_with_bytes] | tostring')" \
		"[$first,$first]" "its receive buffer"
	expect_le "$(flow_to 7004 .send.began_with_bytes)" 87040 "send buffer that it began with"
	expect_eq "$(flow_to 7004 '[.flags[], .send.unsent_max_of_others_bytes,
		.pacing.rate_max_bytes_per_s] | tostring')" \
		'["receive_rightsized","send_rightsized","congestion_control_set",null,null]' "flags, limits"
	: >"$TEST_DIR/go"
	wait_until 5 grep -q over "$TEST_DIR/client.log"
	tcptuned_stop
	expect_eq "$(ss_of b "dport = :7004" '(reno|cubic|bitcp|bbr) wscale')" reno "after the stop"
	: >"$TEST_DIR/over"
	expect_no_retraction 2 100
}

# ... also where its application has fixed its buffer meanwhile, or where the next is nobody's: that
# one keeps what there is, for there is no window then that could be made small again.
test_a_socket_that_connects_to_others() {
	local port
	host a b
	link a b --rate 100mbit --delay 5ms
	printf '[policy]\noverride_rcvbuf = no\n[policy none]\nremote_port = 7006\nmode = off\n' \
		>"$TEST_DIR/my.conf"
	tcptuned_start --config="$TEST_DIR/my.conf"
	for port in 7003 7004; do
		background "first-$port" in_host a "${sockets[@]}" tcp4 listen "${ADDR[a]}" $port \
			accept send 3000000 until "$TEST_DIR/over"
	done
	for port in 7005 7006; do
		background "then-$port" in_host a "${sockets[@]}" tcp4 listen "${ADDR[a]}" $port \
			accept until "$TEST_DIR/over"
	done
	background fixed in_group in_host b "${sockets[@]}" tcp4 connect "${ADDR[a]}" 7003 \
		receive 3000000 disconnect set rcvbuf 40000 connect "${ADDR[a]}" 7005 get rcvbuf \
		say "done" until "$TEST_DIR/over"
	background other in_group in_host b "${sockets[@]}" tcp4 connect "${ADDR[a]}" 7004 \
		receive 3000000 get rcvbuf disconnect connect "${ADDR[a]}" 7006 get rcvbuf \
		say "done" until "$TEST_DIR/over"
	wait_until 5 grep -q "done" "$TEST_DIR/fixed.log"
	wait_until 5 grep -q "done" "$TEST_DIR/other.log"
	expect_eq "$(grep rcvbuf "$TEST_DIR/fixed.log")" "rcvbuf 80000" "what it fixed"
	expect_eq "$(grep rcvbuf "$TEST_DIR/other.log" | sort -u | wc -l)" 1 "sizes, before and after"
	tcptuned_stop
}
