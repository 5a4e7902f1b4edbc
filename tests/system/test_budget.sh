# SPDX-License-Identifier: GPL-2.0-only
# The memory budget, on connections that could use more of it than there is, beyond the kernel's own maxima.

. "$TEST_TOP/tests/system/daemon.sh"

budget_sees() { # PORT FILTER; of the receiving end
	flow "$1" ".receive.$2"
}

# Its sender, which is not tuned, is not held back by its buffer. The senders below are reno: on a
# busy host HyStart ends the slow start of cubic long before the window needs the budget.
free_sender_on() { # HOST
	in_host $1 sysctl -qw net.ipv4.tcp_wmem="4096 65536 67108864"
}

# What is granted, in all and one by one, is within the budget each time. And so is what receivers advertise
# beyond the kernel's own limit: each byte of it takes at least a byte of memory.
budget_watch() { # TIMES BUDGET CONNECTIONS KERNEL_GIVES
	local i all advertised
	for ((i = 0; i < $1; i++)); do
		expect_le "$(metric tcptuned_budget_granted_bytes)" "$2" "granted" >/dev/null
		all=$(ctl_json '[.flows[] | .receive, .send | .budget_granted_bytes] | add' flows)
		expect_le "$all" "$2" "granted to all" >/dev/null
		advertised=$(ctl_json '[.flows[].advertised_window_bytes] | add' flows)
		expect_le "$advertised" $(($2 + $3 * $4)) "advertised by all" >/dev/null
		sleep 0.2
	done
}

# Streams on a path of 6.25 MB share a budget of 4 MB.
share_of_each() { # STREAMS SHARE
	local budget=$((4 << 20)) kernel=$((512 << 10)) port
	kernel_gives $kernel 4194304
	host a b
	tcptuned_start --set=memory.budget=4M
	expect_eq "$(metric tcptuned_budget_bytes)" $budget "budget"
	link a b --rate 200mbit --delay 125ms --queue 2bdp # more would take a processor
	free_sender_on a
	for ((port = 7301; port <= 7300 + $1; port++)); do
		stream_of_untuned_sender $port
	done
	for ((port = 7301; port <= 7300 + $1; port++)); do
		# A demand counts again once it is 1/16 larger.
		wait_output -ge $(($2 * 16 / 17)) budget_sees $port budget_wanted_bytes
	done
	wait_output -ge 1 counter tcptuned_budget_refusals_total '{direction="receive"}'
	budget_watch 5 $((budget / 2)) "$1" $kernel
	for ((port = 7301; port <= 7300 + $1; port++)); do
		# shares follow demands within round trips, of 250 ms
		wait_output = true budget_sees $port "reason == \"budget\" and .receive.kernel_max_bytes == $kernel and
			(.receive.budget_granted_bytes | . >= $(($2 / 100 * 80)) and . <= $(($2 / 100 * 115)))"
	done
	stream_stop $(seq -f sender-%g 7301 $((7300 + $1)))
	wait_output = "0 0" granted_and_wanted
}

kill_streams() { # PORT...
	local port
	for port; do
		SIGNAL=KILL stop_all "sender-$port" "sender-$port-receiver"
	done
}

stream_of_untuned_sender() { # PORT [OPTION...]
	SENDER_PREFIX= stream "sender-$1" "$1" --duration 560 --congestion reno "${@:2}"
}

# Each of eight, which have one peer, wants more than an eighth of half the budget.
test_equal_wants_share_it_equally() {
	share_of_each 8 $((256 << 10))
}

# Two could have more, but no connection gets more than a quarter.
test_one_connection_has_a_quarter_at_most() {
	share_of_each 2 $((1 << 20))
}

# Six connections of one network keep what they are granted while they are idle, because their windows are
# advertised: that is half of the budget, and two connections of another network get the rest at once.
# test_equal_wants_share_it_equally does the same for an IPv4 network, a /24.
test_one_ipv6_network_has_half_at_most() {
	local half=$((2 << 20)) port TRANSFER_ADDR second=fd99:0:0:7::1
	kernel_gives $((512 << 10)) 4194304
	host a b c
	tcptuned_start --set=memory.budget=4M
	link a b --rate 200mbit --delay 50ms --queue 2bdp
	free_sender_on a
	free_sender_on c
	in_host a ip address add $second dev lo nodad
	in_host b ip route add $second dev tun0
	TRANSFER_ADDR=${ADDR6[b]}
	for port in 730{1..3}; do
		stream_of_untuned_sender "$port"
	done
	for port in 730{4..6}; do
		stream_of_untuned_sender "$port" --from $second
	done
	wait_output -ge 1 counter tcptuned_budget_refusals_total '{direction="receive"}'
	wait_output -ge $((half / 10 * 7)) metric tcptuned_budget_granted_bytes
	budget_watch 5 $half 6 $((512 << 10))
	for port in 730{1..6}; do
		wait_output -ge $((half / 10)) budget_sees $port budget_granted_bytes
		kill -STOP "$(pid_of "sender-$port")"
	done
	link c b --rate 200mbit --delay 50ms --queue 2bdp
	TRANSFER_ADDR=${ADDR6[b]}
	SENDER=c stream_of_untuned_sender 7307
	SENDER=c stream_of_untuned_sender 7308
	wait_granted 100M 800000 7307 7308
	expect_le "$(metric tcptuned_budget_granted_bytes)" $((2 * half)) "granted"
	kill_streams 730{1..8}
	wait_output = "0 0" granted_and_wanted
}

wait_granted() { # BYTES_CARRIED GRANTED PORT...
	local port
	for port in "${@:3}"; do
		wait_carried $port $1 -ge $2 budget_sees $port budget_granted_bytes
	done
}

granted_and_wanted() {
	echo "$(metric tcptuned_budget_granted_bytes) $(metric tcptuned_budget_wanted_bytes)"
}

# Stops both senders once both receivers have so much. Returns false, and lets them go on, if one has less by then.
stops_with_grants() { # BYTES
	wait_granted 300M "$1" 7301 7302
	kill -STOP "$(pid_of sender-7301)" "$(pid_of sender-7302)"
	wait_until all_read 7301
	wait_until all_read 7302
	wait_until are_quiet 7301 # after the last window updates
	wait_until are_quiet 7302
	[ "$(budget_sees 7301 budget_granted_bytes)" -ge "$1" ] && [ "$(budget_sees 7302 budget_granted_bytes)" -ge "$1" ] ||
		{ kill -CONT "$(pid_of sender-7301)" "$(pid_of sender-7302)"; return 1; }
}

# Grants outlive a daemon that is killed, and connections that end meanwhile return theirs. A tcptuned of another
# cgroup, which would not notice their end, does not count them.
test_grants_outlive_the_daemon() {
	local granted
	kernel_gives 524288 4194304
	tuned_path --set=memory.budget=32M --rate 1gbit --delay 10ms
	free_sender_on a
	stream_of_untuned_sender 7301
	stream_of_untuned_sender 7302
	wait_until stops_with_grants 500000
	granted=$(budget_sees 7301 budget_granted_bytes)
	tcptuned_kill
	kill_streams 7302
	tcptuned_start --set=memory.budget=32M
	expect_ge "$granted" 500000 "granted to one"
	expect_eq "$(budget_sees 7301 budget_granted_bytes)" "$granted" "granted to it afterwards"
	wait_output = "$granted" metric tcptuned_budget_granted_bytes # in all
	tcptuned_kill
	if has_linux 6.12; then
		mkdir "$TEST_CGROUP/other"
		tcptuned_start --set=tcptuned.cgroup="$TEST_CGROUP/other"
		in_log 'released [0-9]+ connections to the kernel'
		expect_eq "$(granted_and_wanted)" "0 0" "granted and wanted in another cgroup"
		tcptuned_kill
	fi
	kill_streams 7301
	tcptuned_start
	wait_output = "0 0" granted_and_wanted
}

# Unread data take some 96 MB of the kernel's memory, near a limit of the whole host (`run` restores it if this
# test ends early). TCP is not under memory pressure yet, but tcptuned lets no buffer grow any more. Each processor
# may hold or lack a reserve of 1 MB (SK_MEMORY_PCPU_RESERVE), which has to be little beside the margins of 1/15.
# alone: net.ipv4.tcp_mem is the whole host's
test_memory_of_tcp_is_short() {
	local before i limits others held
	# In one answer: what a connection has earned can be less a moment later, and then it is not refused.
	local refused='.receive.reason == "budget" and (.flags | contains(["receive_memory_short"]))
		and .receive.budget_granted_bytes <= .receive.budget_wanted_bytes / 2'
	before=$(sysctl -n net.ipv4.tcp_mem)
	limits=$(host_limits)
	sysctl -qw net.core.rmem_max=4194304 net.core.wmem_max=4194304 # as of Linux 6.18
	wait_until pages_are_steady # the kernel frees what earlier tests had
	others=$held
	kernel_gives 262144 4194304
	host a b
	for i in 1 2 3 4 6 7; do
		outsider hoard-$i a tcp4 set rcvbuf 4000000 listen 127.0.0.1 730$i accept until over
		outsider fill-$i a tcp4 set sndbuf 4000000 connect 127.0.0.1 730$i send 100000000000
	done
	link a b --rate 200mbit --delay 10ms
	free_sender_on a
	tcptuned_start
	wait_output -ge $((others + 18432)) pages # 72 MB more than others have
	wait_until pages_are_steady
	sysctl -qw net.ipv4.tcp_mem="$(pages | awk '{ print $1, int($1 * 15 / 14), 8 * $1 }')"
	SENDER_PREFIX= stream sender 7305 --duration 240 --congestion reno
	wait_output -ge 1 budget_sees 7305 budget_wanted_bytes # how much depends on the rate, and that on the host
	wait_output -ge 1 counter tcptuned_memory_short_total ''
	wait_output = true flow 7305 "$refused"
	sysctl -qw net.ipv4.tcp_mem="$before"
	wait_output -ge 400000 budget_sees 7305 budget_granted_bytes
	note "$(budget_sees 7305 budget_granted_bytes) granted once there is memory"
	tcptuned_stop
	restore_limits "$limits"
}

pages() { # of memory that all of TCP holds
	awk '$1 == "TCP:" { print $NF }' /proc/net/sockstat
}

pages_are_steady() {
	held=$(pages)
	sleep 1
	[ $((($(pages) - held) ** 2)) -le 10000 ]
}

# A sender in a control group whose memory is short, on a host with enough memory, is held back until the
# group has more. With version 2 the kernel reports that only after it has reclaimed pages.
test_memory_of_a_control_group_is_short() {
	local refused='(.flags | contains(["send_memory_short"]))
		and .send.reason == "budget"' limits
	limits=$(host_limits)
	[ -n "$TEST_MEMCG" ] || for_another_host "here are no memory control groups of version 1"
	kernel_gives 33554432 65536
	mkdir "$TEST_MEMCG"
	echo 600000 >"$TEST_MEMCG/memory.kmem.tcp.limit_in_bytes"
	sized_path --rate 200mbit --delay 20ms
	SENDER_PREFIX="in_group in_memory_group" RECEIVER_PREFIX= stream sender 7305 \
		--duration 280 --congestion reno
	wait_output -ge 5 counter tcptuned_memory_short_total ''
	wait_output = true of_sender "$refused"
	echo 40000000 >"$TEST_MEMCG/memory.kmem.tcp.limit_in_bytes"
	wait_output -ge 900000 of_sender .send_buffer_bytes
	tcptuned_stop
	restore_limits "$limits"
}

in_memory_group() {
	echo 0 >"$TEST_MEMCG/cgroup.procs"
	"$@"
}

of_sender() { # FILTER
	flow_to 7305 "$1"
}

# Idle connections return their grants while more is wanted than there is for one peer prefix, whatever size
# their buffers have: after 5 s and a scan. Two that want a quarter of the budget each may keep theirs.
test_idle_connections_return_their_grants() {
	local port
	kernel_gives 33554432 262144
	tuned_path "--set=memory.budget=2M --set=policy.congestion_control=keep" \
		--rate 1gbit --delay 25ms --queue 2bdp
	for port in 730{1..5}; do
		RECEIVER_PREFIX= stream idle-$port $port --congestion reno --duration 280
	done
	wait_output = 1 metric tcptuned_budget_scarce # while all five send
	wait_output -ge 750000 metric tcptuned_budget_granted_bytes
	expect_le "$(metric tcptuned_budget_granted_bytes)" 1048576 "granted, just before"
	kill -STOP $(for port in 730{1..5}; do pid_of "idle-$port"; done)
	wait_output -le 1048576 metric tcptuned_budget_wanted_bytes
	expect_ge "$(senders_that_want_nothing length)" 3 "connections that want nothing"
	expect_eq "$(senders_that_want_nothing add)" 0 "granted to these"
}

senders_that_want_nothing() { # FILTER; of what is granted to each
	ctl flows --json | jq "[.flows[].send | select(.budget_wanted_bytes == 0) | .budget_granted_bytes] | $1"
}

# An idle connection does not want what it was refused, so that the shares of others are not smaller: of two that
# go on to want half of the budget together. A demand that becomes less by no more than 1/16 stays.
test_idle_connections_want_nothing() {
	local refused='budget_wanted_bytes * 15 > .receive.budget_granted_bytes * 16'
	kernel_gives $((512 << 10)) 4194304
	tuned_path --set=memory.budget=1M --rate 200mbit --delay 50ms --queue 2bdp
	free_sender_on a
	stream_of_untuned_sender 7301
	stream_of_untuned_sender 7302
	# Both: one alone may have the half, of which it returns what exceeds a quarter when another wants it.
	wait_carried 7302 100M -ge 240000 budget_sees 7302 budget_granted_bytes
	wait_carried 7301 100M -ge 500000 metric tcptuned_budget_granted_bytes
	stream_of_untuned_sender 7303
	wait_carried 7303 100M -ge 200000 budget_sees 7303 budget_wanted_bytes
	wait_carried 7303 100M = true budget_sees 7303 "$refused"
	kill -STOP "$(pid_of sender-7303)"
	wait_output = false budget_sees 7303 "$refused"
	kill_streams 730{1..3}
	wait_output = "0 0" granted_and_wanted
}

# What an idle sender returns it does not have any more: its application cannot fill it later.
test_idle_sender_returns_its_buffer() {
	local kernel=$((512 << 10)) port
	kernel_gives 6291456 $kernel
	tuned_path --set=memory.budget=4M --rate 200mbit --delay 50ms --queue 2bdp
	idle_stream sender 7301 30000000
	expect_ge "$(send_buffer)" $((kernel + 65536)) "its send buffer"
	for port in 7302 7303; do # as much as makes the budget short
		idle_stream sender-$port $port 30000000
	done
	wait_output = $kernel send_buffer
}

send_buffer() {
	ss_of a "dport = :7301" "skmem:.*,tb([0-9]+),"
}

# An application has fixed its receive buffer before tcptuned starts: an idle receiver keeps its window, and it
# is as large as before when data come.
test_idle_locked_receiver_keeps_its_window() {
	local before
	needs_linux 6.12 "what is open at the start is adopted"
	host a b
	link a b --rate 1gbit --delay 25ms --queue 2bdp
	free_sender_on a
	SENDER_PREFIX= stream sender 7301 --rcvbuf 1MB --count 9 --bytes 100MB --interval 12000 \
		--congestion reno
	wait_until arrived 7301 1000000
	kill -STOP "$(pid_of sender)"
	tcptuned_start --set=memory.budget=4M --set=policy.congestion_control=keep
	kill -CONT "$(pid_of sender)"
	wait_until arrived 7301 100000000
	# The last ACK may have left before all was read.
	wait_output -ge 1200000 flow 7301 .advertised_window_bytes
	before=$(<"$TEST_DIR/output")
	expect_eq "$(budget_sees 7301 kernel_max_bytes)" 2000000 "size that its application fixed"
	expect_eq "$(budget_sees 7301 budget_granted_bytes)" 1048576 "granted beyond that, a quarter"
	expect_ge "$(budget_sees 7301 budget_wanted_bytes)" $((1048576 / 16 * 15)) "wanted, of the quarter"
	wait_until arrived 7301 200000000
	expect_eq "$(budget_sees 7301 budget_granted_bytes)" 1048576 "granted again"
	wait_output -ge $((before / 10 * 9)) flow 7301 .advertised_window_bytes # or with a later message
}

# 400 connections that have sent 60 KB once do not take a budget of 24 MB for their send buffers of 70 KB or
# more from one sender that needs 6.25 MB in flight. The kernel alone would give it 4 MB of memory.
test_idle_connections_do_not_starve_a_sender() {
	CONGESTION=reno tuned_path "--set=memory.budget=24M --set=policy.congestion_control=keep" \
		--rate 200mbit --delay 125ms --queue 1bdp
	background server in_host b "${keep_alive[@]}" serve "${ADDR[b]}"
	wait_printed server listening
	background clients in_group in_host a "${keep_alive[@]}" connect ${ADDR[b]} 400 60000
	wait_printed clients sent
	wait_printed server "MB 24"
	RECEIVER_PREFIX= stream sender-7305 7305 --duration 240
	wait_carried 7305 1G -ge 5000000 of_sender .send.budget_granted_bytes
	kill_streams 7305
	stop_all clients server
}

# In another network namespace the limits cannot be read: the budget depends on the memory of the host, and a
# socket shows how large buffers can be. Newer kernels show net.core.*mem_max there, so it is hidden.
test_limits_that_cannot_be_read() {
	local budget receive send
	host a
	! in_host a test -e /proc/sys/net/ipv4/tcp_mem || fail "net.ipv4.tcp_mem is there"
	receive=$(sysctl -n net.core.rmem_max)
	send=$(sysctl -n net.core.wmem_max)
	in_host a mount -t tmpfs tmpfs /proc/sys/net/core
	tcptuned_in a
	in_log 'warning: memory.budget: net.ipv4.tcp_mem cannot be read'
	budget=$(($(getconf _PHYS_PAGES) / 16 * $(getconf PAGESIZE) / 4 * 3))
	expect_eq "$(metric tcptuned_budget_bytes)" $budget "budget"
	expect_eq "$(ctl_json '.policies[0] | [.receive_buffer_max_bytes, .send_buffer_max_bytes]' \
		policy list)" "[$((2 * receive)),$((2 * send))]" "the largest buffers"
}
