# SPDX-License-Identifier: GPL-2.0-only
# TCP sees the rate, delay and losses that the emulated link claims. The link reports what it could not keep.

# Buffers for $1 bytes in flight: the sender's is the one that binds.
linkem_buffers() {
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 65536 $1"
	in_host b sysctl -qw net.ipv4.tcp_rmem="4096 131072 $((4 * $1))"
}

# A window of two to four bandwidth-delay products, in a queue that holds them: always busy.
linkem_saturate() { # RATE DELAY SECONDS
	link a b --rate "$1" --delay "$2" --queue-ab 4bdp --queue-ba 1bdp # to fill less memory first
	transfer a b --congestion reno --ping 8 --duration "$3" --series 50 >"$TEST_DIR/out"
}

# The minimum RTT: the others contain delays of a busy host.
linkem_profile() { # MBIT/S SECONDS
	local rate
	linkem_buffers $(($1 * 1000000 / 8 / 10 * 4))
	measure linkem_saturate "${1}mbit" 50ms "$2"
	expect_between "$(jq .ping_ms.min "$TEST_DIR/transfer.json")" 100 100.5 "$1 Mbit/s: idle RTT, ms"
	rate=$(awk -v r="$(late_rate)" -v l="$1" 'BEGIN { print r / l * 100 }')
	# Payload is 96.533 % at MTU 1500 with timestamps, 1448 / 1500: 0.99 to 1.01 of that.
	expect_between "$rate" 95.5677 97.4983 "$1 Mbit/s: goodput, % of rate"
}

# virtual: rates and times are measured
test_rates_at_100_ms() {
	host a b
	linkem_profile 20 2
	linkem_profile 100 2
}

# virtual: rates and times are measured
test_short_and_uneven_delay() {
	host a b
	linkem_ping() {
		link a b "$@"
		transfer a b --ping 50 --count 1 --bytes 1 >"$TEST_DIR/out"
	}
	measure linkem_ping --delay 250us
	expect_between "$(jq .ping_ms.min "$TEST_DIR/transfer.json")" 0.5 1.0 "RTT for 0.5 ms, ms"
	measure linkem_ping --delay-ab 10ms --delay-ba 30ms --rate-ba 1mbit
	# the SYN-ACK's 60 bytes take 0.48 ms at 1 Mbit/s
	expect_between "$(jq .ping_ms.min "$TEST_DIR/transfer.json")" 40.48 40.98 "RTT of 10 + 30 ms, ms"
}

linkem_drops() { # MIB [LINKEM OPTION...]
	link a b --delay 10ms "${@:2}"
	transfer a b --congestion reno --count "$1" >"$TEST_DIR/out"
	lib_end_links || : # what was dropped does not depend on lateness
}

# The sender retransmits the segments that the link dropped, and others after a timeout that was early.
linkem_expect_repeated() { # WHAT MIN_DROPS
	local drops again
	drops=$(link_stats a b .ab.drops.total.data_segments)
	again=$(jq .retransmits "$TEST_DIR/transfer.json")
	expect_ge "$drops" "$2" "$1: drops"
	expect_ge "$again" "$drops" "$1: retransmissions"
}

test_retransmissions_are_the_drops() {
	host a b
	linkem_buffers 4000000
	# The queue holds more than the windows: a late emulator drops nothing else.
	linkem_drops 8 --rate 50mbit --queue 20MB --loss-at-ab 100,101,102,2000,5000,5007
	expect_eq "$(link_stats a b .ab.drops.total.data_segments)" 6 "chosen: drops"
	expect_eq "$(link_stats a b .ab.drops.chosen.segments)" 6 "chosen: drops"
	linkem_expect_repeated chosen 6
	linkem_drops 5 --rate 50mbit --loss-ab 1e-3 --seed 4
	linkem_expect_repeated loss 10
	linkem_drops 6 --rate 50mbit --queue 1bdp
	linkem_expect_repeated overflow 20
}

# Two hosts behind one end: each has its own RTT, both meet in one queue, which RED keeps short.
linkem_near=10.99.0.11 linkem_far=10.99.0.12
linkem_two_hosts() {
	local from
	link a b --addr-a 10.99.0.1/24 --addr-b 10.99.0.2/24 --rate 20mbit --delay 2ms \
		--queue 400p --red min=5p,max=15p,weight=0.02,gentle \
		--host $linkem_near,delay=8ms --host $linkem_far,delay=28ms,rate=10mbit
	for from in $linkem_near $linkem_far; do
		in_host a ip address add $from/24 dev tun0
		transfer a b --from $from --ping 4 --count 1 --bytes 1 >"$TEST_DIR/idle-$from"
	done
	listener receiver-of-far "in_host b" --listen "${ADDR[b]}" --port 5402
	background $linkem_far in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" --port 5402 \
		--from $linkem_far --duration 1 --congestion reno
	transfer a b --from $linkem_near --count 2 --congestion reno >"$TEST_DIR/$linkem_near.log"
	wait "$(pid_of $linkem_far)"
	wait "$(pid_of receiver-of-far)" # it has closed
	wait_until nothing_is_under_way
	lib_end_links || :
}

nothing_is_under_way() {
	link_stats a b >"$TEST_DIR/stats"
	jq -e '([.hosts[:2][].from.passed.segments] | add) == .ab.out.segments and
		([.hosts[:2][].to.passed.segments] | add) == .ba.out.segments' "$TEST_DIR/stats"
}

test_hosts_and_red() {
	local from drops again
	host a b
	linkem_two_hosts
	# 60 bytes of the handshake each way: 24 us at 20 Mbit/s, and for one 48 us at 10 Mbit/s
	cd "$TEST_DIR"
	expect_ge "$(jq .ping_ms.min idle-$linkem_near)" 20.038 "idle RTT of one, ms"
	expect_ge "$(jq .ping_ms.min idle-$linkem_far)" 60.134 "idle RTT of another, ms"
	for from in $linkem_near $linkem_far; do
		expect_ge "$(jq .goodput_bps $from.log)" 1 "$from, bits/s"
	done
	# 1448 of 1500 bytes, and a handshake at the beginning
	expect_le "$(jq .goodput_bps $linkem_far.log)" 9660000 "its access link, bits/s"

	drops=$(jq '.ab.drops | .red_early.data_segments + .red_forced.data_segments' stats)
	again=$(jq -s 'map(.retransmits) | add' $linkem_near.log $linkem_far.log)
	expect_ge "$drops" 5 "dropped by RED"
	expect_eq "$(jq .ab.drops.total.data_segments stats)" "$drops" "all drops"
	expect_ge "$again" "$drops" "retransmissions"
	expect_le "$(jq .ab.red.average_max_packets stats)" 40 "the average queue at most"
	expect_eq "$(jq '[.hosts[].from.drops.total.segments] | add' stats)" \
		"$(jq '.ab.drops.total.segments + .ba.drops.total.segments' stats)" "drops of hosts"
	expect_eq "$(jq '[.hosts[:2][].from.passed.segments] | add' stats)" \
		"$(jq .ab.out.segments stats)" "passed, from the two"
	expect_eq "$(jq '[.hosts[:2][].to.passed.segments] | add' stats)" \
		"$(jq .ba.out.segments stats)" "passed, to the two"
}

# A transfer over a link whose emulator is stopped for a time once the kernel has enough to send for half
# a second: something is in flight then, whether the sender has a CPU or not.
linkem_held() { # SECONDS [LINKEM OPTION...]
	began=$EPOCHSECONDS
	link a b --delay 5ms --rate 2mbit "${@:2}"
	listener receiver "in_host b" --listen "${ADDR[b]}"
	background sender in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" --duration 300 --congestion reno \
		--sndbuf 400KB
	wait_output -ge 125000 linkem_unsent
	linkem_hold "$(pid_of link-a-b)" "$1"
	kill -USR1 "$(pid_of sender)" # it has sent until now
	wait "$(pid_of sender)"
	wait "$(pid_of receiver)" # the next one listens where it did
}

linkem_unsent() {
	in_host a ss -tinOH dst "${ADDR[b]}" | sed -n 's/.* notsent:\([0-9]*\).*/\1/p'
}

linkem_expect_stalled() {
	expect_fail 3 link_end a b
	expect_eq "$(link_stats a b .valid)" false "valid"
	expect_between "$(link_stats a b '.invalid_reasons | join("; ")' | grep -oP 'stalled for \K[0-9]+(?= us)' | sort -n | tail -n 1)" \
		100000 $(((EPOCHSECONDS + 1 - began) * 1000000)) "us, of which the reason speaks"
}

# Intended delay is no excuse for being late: what is in flight is due within 170 ms at most.
test_late_emulator_is_invalid() {
	host a b
	linkem_held 0.3 --tolerance 1
	linkem_expect_stalled
	linkem_held 0.3 --tolerance 1 --jitter uniform=80ms \
		--schedule 100ms:1mbit:2ms,200ms:2mbit:90ms --reorder 0.01
	linkem_expect_stalled
	# the shortest delay of both directions: 2 and 2 ms
	expect_eq "$(link_stats a b .rtt_ms)" 4 "RTT by which it is judged, ms"
}

# Lateness before --judge-after is reported, and makes no run invalid.
test_late_before_it_counts() {
	host a b
	linkem_held 0.2 --tolerance 1 --judge-after 500
	link_end a b || fail "lateness before it counts was judged"
	expect_ge "$(link_stats a b '[.ab, .ba] | map(.late_before_us.max) | max')" 1000 "before"
	expect_eq "$(link_stats a b '[.ab, .ba] | map(.late_us.max) | max')" 0 "maximum after"
	expect_eq "$(link_stats a b .judge_after_seconds)" 500 "judged after"
}

linkem_hold() { # PID SECONDS
	kill -STOP "$1"
	sleep "$2"
	kill -CONT "$1"
}

test_lost_in_the_ring_is_invalid() {
	host a b
	link a b --rate 1gbit --delay 0ms
	kill -STOP "$(pid_of link-a-b)"
	in_host a bash -c 'exec 3>/dev/udp/10.99.0.2/9
		for i in {1..21000}; do printf x >&3; done 2>/dev/null || :' 2>/dev/null
	kill -CONT "$(pid_of link-a-b)"
	expect_fail 3 link_end a b
	expect_match "$(link_stats a b '.invalid_reasons | join("; ")')" 'TUN ring overflowed' "reason"
	expect_ge "$(link_stats a b .ab.tun_tx_dropped)" 900 "packets that were not seen"
}

# The transfer program does what its options say.
test_messages() {
	host a b
	link a b --rate 100mbit --delay 2ms
	transfer a b --rcvbuf 64KiB --count 3 --bytes 1MB --sndbuf 100KB >"$TEST_DIR/out"
	expect_eq "$(jq .receiver.rcvbuf "$TEST_DIR/out")" 131072 "SO_RCVBUF set, doubled by the kernel"
	expect_eq "$(jq .sender.sndbuf "$TEST_DIR/out")" 200000 "SO_SNDBUF set, doubled by the kernel"
	expect_eq "$(jq .bytes "$TEST_DIR/out")" 3000000 "bytes"
	transfer a b --read-rate 8000000 --count 1 --bytes 1MB >"$TEST_DIR/out"
	expect_le "$(jq .goodput_bps "$TEST_DIR/out")" 8400000 "a reader of 8 Mbit/s"
	transfer a b --interval 100 --count 6 --bytes 1000 --rtt-samples >"$TEST_DIR/out"
	expect_ge "$(jq .elapsed_s "$TEST_DIR/out")" 0.5 "six messages, five pauses, s"
	for way in --zerocopy --discard; do
		transfer a b $way --streams 5 --count 9 --bytes 100KiB >"$TEST_DIR/out"
		expect_eq "$(jq .bytes "$TEST_DIR/out")" $((9 * 102400)) "bytes with $way"
	done
	transfer a b --zerocopy --verify --count 2 >"$TEST_DIR/out"
	expect_undamaged "$(jq .bytes_damaged "$TEST_DIR/out")" "payload with --zerocopy"
	expect_fail 1 in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" 2>&1
	lib_end_links || :
	link a b --loss 1
	expect_fail 4 in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" --stall 0.5 2>&1
}

linkem_ping_now() { # WHAT; keeps the minimum RTT of ten handshakes in $TEST_DIR/WHAT
	transfer a b --ping 10 --count 1 --bytes 1 >"$TEST_DIR/out"
	jq .ping_ms.min "$TEST_DIR/transfer.json" >"$TEST_DIR/$1"
}

linkem_longer() {
	link a b --rate 100mbit --delay 5ms --schedule-ab 5s::25ms,10s:10mbit:15ms:20p
	local began=$EPOCHREALTIME
	linkem_ping_now before
	sleep "$(awk "BEGIN { print $began + 5.5 - $EPOCHREALTIME }")"
	linkem_ping_now during
	sleep "$(awk "BEGIN { print $began + 10.5 - $EPOCHREALTIME }")"
	linkem_ping_now after
	transfer a b --congestion cubic --duration 2 --series 20 >"$TEST_DIR/out"
}

# Without --stats they go to /dev/null, which is not to be replaced by a file.
test_statistics_to_a_device() {
	host a b
	ln -s /dev/null "$TEST_DIR/device"
	background emulator "$TEST_BUILD/linkem" --ns-a "$(lib_netns a)" --ns-b "$(lib_netns b)" \
		--dev-a tun0 --dev-b tun0 --addr-a 10.99.0.1/30 --addr-b 10.99.0.2/30 --stats "$TEST_DIR/device"
	wait_printed emulator '^ready$'
	stop emulator || [ $? = 3 ] # which may be late
	[ -c "$TEST_DIR/device" ] || fail "the device was replaced"
}

# virtual: rates and times are measured
test_schedule() {
	host a b
	measure linkem_longer
	expect_between "$(<"$TEST_DIR/before")" 10 10.5 "RTT, ms"
	expect_between "$(<"$TEST_DIR/during")" 30 30.5 "RTT when the path is longer, ms"
	expect_between "$(<"$TEST_DIR/after")" 20 20.5 "RTT when it is shorter again, ms"
	expect_between "$(late_rate)" 9.2 9.8 "Mbit/s at 10 Mbit/s"
	# 20 packets of 1.2 ms
	expect_le "$(link_stats a b .ab.queue.max_delay_ms)" 24.1 "longest wait, ms"
}

# Every byte arrives as sent although single segments are cut out of GSO packets: reordered, dropped, marked
# and policed. (Unit tests check partial checksums: the receiving kernel does not.) The kernel counts marks by
# packets, which are of three segments on average.
linkem_all_at_once() { # ADDRESS
	link a b --rate 400mbit --delay 1ms --queue-ab 15p --mark-ab 12p --reorder-ab 0.002:1ms \
		--loss-ab 2e-3 --loss-bursts-ab 0.0005:0.3 --police-ab 100mbit:40KB \
		--jitter-ab exponential=500us,every=5ms --seed 6
	TRANSFER_ADDR=$1 transfer a b --bytes 1MiB --count 64 --streams 3 --verify \
		--congestion cubic >"$TEST_DIR/out"
	in_host b nstat -asz IpExtInCEPkts Ip6InCEPkts TcpInCsumErrors TcpExtTCPOFOQueue IpInHdrErrors \
		>"$TEST_DIR/nstat"
	lib_end_links || : # the payload does not depend on lateness
}

linkem_counted() { # NAME...
	awk -v names=" $* " 'index(names, " " $1 " ") { sum += $2 } END { print sum + 0 }' "$TEST_DIR/nstat"
}

linkem_expect_all_at_once() { # COUNTER; of packets with CE
	local marked
	expect_undamaged "$(jq .bytes_damaged "$TEST_DIR/transfer.json")" "payload"
	expect_eq "$(jq .bytes "$TEST_DIR/transfer.json")" $((64 << 20)) "bytes"
	expect_ge "$(link_stats a b .ab.drops.loss.segments)" 40 "segments lost by chance"
	expect_ge "$(link_stats a b .ab.drops.queue.segments)" 40 "segments dropped by the queue"
	expect_ge "$(link_stats a b '.ab.in.data_segments / .ab.packets_in')" 2 \
		"segments in a packet as sent"
	expect_ge "$(link_stats a b .ab.drops.loss_bursts.segments)" 10 "lost in bursts"
	expect_ge "$(link_stats a b .ab.drops.policed.segments)" 10 "policed"
	expect_ge "$(link_stats a b .ab.reordered.segments)" 20 "reordered"
	expect_ge "$(linkem_counted TcpExtTCPOFOQueue)" 20 "segments out of order"
	expect_eq "$(linkem_counted TcpInCsumErrors IpInHdrErrors)" 0 "wrong checksums"
	marked=$(link_stats a b .ab.marked.segments)
	expect_ge "$marked" 50 "marked"
	expect_between "$(linkem_counted "$1")" $((marked / 3)) "$marked" "packets with CE"
}

test_every_byte() {
	host a b
	in_host a sysctl -qw net.ipv4.tcp_ecn=1
	linkem_all_at_once 10.99.0.2
	linkem_expect_all_at_once IpExtInCEPkts
	linkem_all_at_once fd99:0::2
	linkem_expect_all_at_once Ip6InCEPkts
}
