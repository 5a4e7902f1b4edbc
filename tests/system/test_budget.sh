# SPDX-License-Identifier: GPL-2.0-only
#
# The memory budget, on connections that could use more of it than there is.

. "$TEST_TOP/tests/system/daemon.sh"

budget_sees() { # PORT FILTER: of the receiving end
	flow "$1" ".receive.$2"
}

# What the receive buffers on host b have grown by since the kernel gave them, all together, as the
# kernel itself says it: the largest sum until there is that file.
grown_on_b() { # STOP_FILE
	local first most=0 now
	first=$(in_host b sysctl -n net.ipv4.tcp_rmem | awk '{ print $2 }')
	until [ -e "$1" ]; do
		now=$(in_host b ss -tmnH state established | awk -v first="$first" '
			match($0, /,rb[0-9]+/) {
				buffer = substr($0, RSTART + 3, RLENGTH - 3)
				if (buffer > first)
					sum += buffer - first
			}
			END { print sum + 0 }')
		[ "$now" -le "$most" ] || most=$now
		sleep 0.05
	done
	echo "$most"
}

# Granted now, in all and one by one: within the budget, however often one looks.
budget_watch() { # TIMES BUDGET
	local i json
	for ((i = 0; i < $1; i++)); do
		expect_le "$(metric tcptuned_budget_granted_bytes)" "$2" "granted" >/dev/null
		json=$(curl -sf "$METRICS/flows.json")
		expect_le "$(jq '[.flows[] | (.receive, .send) | .budget_granted_bytes] | add' \
			<<<"$json")" "$2" "granted to all" >/dev/null
		sleep 0.2
	done
}

# Two streams on a path of 6.25 MB and 4 MB of budget: both want more than the half of it
# (2 x BDP of window is twice that in memory), and have the same.
# timeout: 60
test_two_wants_share_it_equally() {
	local budget=$((4 << 20)) half=$((2 << 20)) port
	host a b
	tcptuned_start --set=memory.budget=4M
	expect_eq "$(metric tcptuned_budget_bytes)" $budget "budget"
	link a b --rate 1gbit --delay 25ms --queue 2bdp
	# only the receivers are tuned: what senders take comes out of the same budget
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 65536 67108864"
	background grown grown_on_b "$TEST_DIR/over"
	background receiver-1 in_group in_host b "$TEST_BUILD/messages" --listen "${ADDR[b]}" \
		--port 7301 --once --duration 30
	background receiver-2 in_group in_host b "$TEST_BUILD/messages" --listen "${ADDR[b]}" \
		--port 7302 --once --duration 30
	wait_until 5 grep -q '^listening' "$TEST_DIR/receiver-1.log"
	wait_until 5 grep -q '^listening' "$TEST_DIR/receiver-2.log"
	background sender-1 in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" --port 7301 \
		--duration 30 --congestion cubic
	background sender-2 in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" --port 7302 \
		--duration 30 --congestion cubic
	wait_until 6 budget_scarce
	budget_watch 10 $budget
	for port in 7301 7302; do
		expect_ge "$(budget_sees $port budget_wanted_bytes)" $half "wanted by $port"
		expect_ge "$(budget_sees $port budget_granted_bytes)" $((half / 100 * 85)) \
			"granted to $port"
		expect_le "$(budget_sees $port budget_granted_bytes)" $((half / 100 * 115)) \
			"granted to $port"
	done
	expect_ge "$(counter tcptuned_budget_refusals_total '{direction="receive"}')" 1 "refusals"
	kill -USR1 "$(pid_of sender-1)" "$(pid_of sender-2)"
	wait "$(pid_of sender-1)" || fail "sender: $(<"$TEST_DIR/sender-1.log")"
	wait "$(pid_of sender-2)" || fail "sender: $(<"$TEST_DIR/sender-2.log")"
	: >"$TEST_DIR/over"
	wait "$(pid_of grown)"
	expect_ge "$(<"$TEST_DIR/grown.log")" $((budget / 2)) "what buffers grew by"
	expect_le "$(<"$TEST_DIR/grown.log")" $budget "what buffers grew by"
	wait_until 5 budget_empty
	tcptuned_stop
}

budget_scarce() {
	[ "$(metric tcptuned_budget_scarce)" = 1 ]
}

# Closed connections give back all they had.
budget_empty() {
	[ "$(metric tcptuned_budget_granted_bytes)" = 0 ] &&
		[ "$(metric tcptuned_budget_wanted_bytes)" = 0 ]
}

# A buffer that the kernel's autotuning had made large before tcptuned came is memory in use: it
# counts, be it idle or beyond the budget, and who comes later gets what is left: nothing, here.
#
# timeout: 60
test_what_was_open_before_counts() {
	local budget=$((1 << 20)) first had granted
	needs_linux 6.12 "what is open at the start is adopted"
	host a b
	link a b --rate 1gbit --delay 10ms
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 65536 67108864"
	first=$(in_host b sysctl -n net.ipv4.tcp_rmem | awk '{ print $2 }')
	background old in_group in_host b "$TEST_BUILD/messages" --listen "${ADDR[b]}" \
		--port 7303 --once --count 2 --bytes 40MB --interval 60000
	wait_until 5 grep -q '^listening' "$TEST_DIR/old.log"
	background old-sender in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" --port 7303 \
		--count 2 --bytes 40MB --interval 60000 --congestion cubic
	wait_until 10 received_by 7303 40000000
	had=$(($(buffer_at 7303) - first))
	expect_ge "$had" $budget "what the kernel's autotuning had added"

	tcptuned_start --set=memory.budget=1M
	granted=$(budget_sees 7303 budget_granted_bytes)
	expect_ge "$granted" $budget "granted to it: what its peer may send"
	expect_le "$granted" "$had" "granted to it"
	expect_eq "$(metric tcptuned_budget_granted_bytes)" "$granted" "granted in all"
	expect_eq "$(metric tcptuned_budget_scarce)" 1 "scarce"
	background new in_group in_host b "$TEST_BUILD/messages" --listen "${ADDR[b]}" \
		--port 7304 --once --count 2 --bytes 4MB --interval 60000
	wait_until 5 grep -q '^listening' "$TEST_DIR/new.log"
	background new-sender in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" --port 7304 \
		--count 2 --bytes 4MB --interval 60000 --congestion cubic
	wait_until 10 received_by 7304 4000000
	expect_ge "$(budget_sees 7304 budget_wanted_bytes)" $((first / 2)) "wanted by the other"
	expect_eq "$(buffer_at 7304)" "$first" "its buffer, as the kernel began it"

	# A stop leaves both as much room as the kernel might have given them: no memory in use.
	tcptuned_stop
	expect_ge "$(buffer_at 7304)" "$(in_host b sysctl -n net.ipv4.tcp_rmem | awk '{ print $3 }')" \
		"its buffer after a stop"
	tcptuned_start --set=memory.budget=1M
	expect_eq "$(budget_sees 7303 budget_granted_bytes)" "$granted" "granted after a restart"
	expect_le "$(budget_sees 7304 budget_granted_bytes)" "$first" "granted to the other"

	# Nobody would hear of their end for a tcptuned of another cgroup: they have no part there.
	tcptuned_kill
	mkdir "$TEST_CGROUP/other"
	tcptuned_start --set=tcptuned.cgroup="$TEST_CGROUP/other"
	in_log 'gave 2 connections and listeners back to the kernel'
	expect_eq "$(metric tcptuned_budget_granted_bytes) $(metric tcptuned_budget_wanted_bytes)" \
		"0 0" "granted and wanted in another cgroup"
	tcptuned_kill
	tcptuned_start --set=memory.budget=1M
	expect_eq "$(budget_sees 7303 budget_granted_bytes)" "$granted" "granted in theirs again"
	stop new || :
	stop old || :
	wait_until 5 within_budget $budget
	tcptuned_stop
}

buffer_at() { # PORT
	ss_of b "sport = :$1 and dport != :0" 'skmem:.*,rb([0-9]+)'
}

received_by() { # PORT BYTES
	[ "$(ss_of b "sport = :$1 and dport != :0" 'bytes_received:([0-9]+)')" -ge "$2" ]
}

within_budget() { # BYTES
	[ "$(metric tcptuned_budget_granted_bytes)" -le "$1" ]
}

# Data that nobody reads, 32 MB or so of the kernel's memory, and a limit (the whole host's, put
# back by `run` should this end early) that is near: the kernel does not press TCP yet, and
# tcptuned lets nothing grow any more.
#
# timeout: 60
test_memory_of_tcp_is_short() {
	local before i wanted granted why limits
	before=$(sysctl -n net.ipv4.tcp_mem)
	limits=$(sysctl net.core.rmem_max net.core.wmem_max | tr -d ' ')
	sysctl -qw net.core.rmem_max=4194304 net.core.wmem_max=4194304 # as of Linux 6.18
	host a b
	for i in 1 2; do
		background "hoarder-$i" in_host a "$TEST_BUILD/sockets" tcp4 set rcvbuf 4000000 \
			listen 127.0.0.1 "730$i" accept until "$TEST_DIR/over"
		background "filler-$i" in_host a "$TEST_BUILD/sockets" tcp4 set sndbuf 4000000 \
			connect 127.0.0.1 "730$i" send 100000000000
	done
	link a b --rate 200mbit --delay 10ms
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 65536 67108864"
	tcptuned_start
	wait_until 5 pages_are_many
	background receiver in_group in_host b "$TEST_BUILD/messages" --listen "${ADDR[b]}" \
		--port 7305 --once --duration 3
	wait_until 5 grep -q '^listening' "$TEST_DIR/receiver.log"
	sysctl -qw net.ipv4.tcp_mem="$(pages | awk '{ print $1, int($1 * 15 / 14), 8 * $1 }')"
	background sender in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" --port 7305 \
		--duration 3 --congestion cubic
	sleep 1
	wanted=$(budget_sees 7305 budget_wanted_bytes)
	granted=$(budget_sees 7305 budget_granted_bytes)
	why=$(flow 7305 '[.receive.reason] + .flags | tostring')
	sysctl -qw net.ipv4.tcp_mem="$before"
	expect_match "$why" '"budget",.*"receive_memory_short"' "why it is held back"
	expect_ge "$(counter tcptuned_memory_short_total '')" 1 "decisions held back"
	expect_ge "$wanted" 100000 "wanted"
	expect_le "$granted" $((wanted / 2)) "granted"
	wait_until 2 eval '[ "$(budget_sees 7305 budget_granted_bytes)" -ge 400000 ]'
	note "$(budget_sees 7305 budget_granted_bytes) granted once there is memory"
	tcptuned_stop
	sysctl -qw $limits
}

pages() { # of memory that TCP holds, all in all
	awk '$1 == "TCP:" { print $NF }' /proc/net/sockstat
}

pages_are_many() { # 24 MB
	[ "$(pages)" -ge 6144 ]
}

# A sender in a control group whose memory is short, of which the host has plenty: it is held back
# for as long, and no longer. With version 2 the kernel says so only after it has reclaimed pages.
#
# timeout: 60
test_memory_of_a_control_group_is_short() {
	local refused='(.flags | contains(["send_memory_short"]))
		and .send.budget_granted_bytes < .send.budget_wanted_bytes'
	[ -n "$TEST_MEMCG" ] || for_another_host "here are no memory control groups of version 1"
	mkdir "$TEST_MEMCG"
	echo 300000 >"$TEST_MEMCG/memory.kmem.tcp.limit_in_bytes"
	host a b
	tcptuned_start --set=policy.congestion_control=keep
	link a b --rate 200mbit --delay 20ms
	background receiver in_host b "$TEST_BUILD/messages" --listen "${ADDR[b]}" --port 7305 \
		--once --duration 20
	wait_until 5 grep -q '^listening' "$TEST_DIR/receiver.log"
	background sender in_group in_memory_group in_host a "$TEST_BUILD/messages" \
		--connect "${ADDR[b]}" --port 7305 --duration 20 --congestion cubic
	wait_until 5 held_back
	wait_until 5 eval '[ "$(of_sender "$refused")" = true ]'
	echo 40000000 >"$TEST_MEMCG/memory.kmem.tcp.limit_in_bytes"
	wait_until 5 eval '[ "$(of_sender .send_buffer_bytes)" -ge 900000 ]'
	stop sender || :
	tcptuned_stop
}

in_memory_group() {
	echo 0 >"$TEST_MEMCG/cgroup.procs"
	"$@"
}

of_sender() { # FILTER
	curl -sf "$METRICS/flows.json" | jq -r ".flows[] | select(.remote | endswith(\":7305\")) | $1 | tostring"
}

held_back() { # again and again
	[ "$(counter tcptuned_memory_short_total '')" -ge 5 ]
}

# What senders at rest were granted is given back while more is wanted than there is.
#
# timeout: 60
test_what_is_at_rest_is_given_back() {
	local i
	host a b
	tcptuned_start --set=memory.budget=2M --set=policy.congestion_control=keep
	link a b --rate 1gbit --delay 25ms --queue 2bdp
	for i in 5 6; do
		background "receiver-$i" in_host b "$TEST_BUILD/messages" --listen "${ADDR[b]}" \
			--port "730$i" --once --count 2 --bytes 16MB --interval 60000
		wait_until 5 grep -q '^listening' "$TEST_DIR/receiver-$i.log"
		background "sender-$i" in_group in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" \
			--port "730$i" --count 2 --bytes 16MB --interval 60000 --congestion cubic
	done
	wait_until 5 received_by 7305 16000000
	wait_until 5 received_by 7306 16000000
	expect_ge "$(metric tcptuned_budget_granted_bytes)" 1500000 "granted, just after"
	expect_eq "$(metric tcptuned_budget_scarce)" 1 "scarce"
	wait_until 25 eval '[ "$(metric tcptuned_budget_granted_bytes)" -le 150000 ]'
	expect_eq "$(of_sender .send_buffer_bytes)" 87040 "a send buffer at rest"
	stop sender-5 || :
	stop sender-6 || :
	tcptuned_stop
}

# Where the limits are another network namespace's, and cannot be read: the budget is by the memory
# that there is, and how far buffers can go is what a socket says. Newer kernels show net.core.*mem_max
# there: it is hidden.
test_limits_that_cannot_be_read() {
	local pages receive send
	host a
	! in_host a test -e /proc/sys/net/ipv4/tcp_mem || fail "net.ipv4.tcp_mem is there"
	curl() {
		in_host a "$(type -P curl)" "$@"
	}
	pages=$(getconf _PHYS_PAGES)
	receive=$(sysctl -n net.core.rmem_max)
	send=$(sysctl -n net.core.wmem_max)
	in_host a mount -t tmpfs tmpfs /proc/sys/net/core
	TCPTUNED_PREFIX="in_host a" tcptuned_start
	in_log 'warning: memory.budget: net.ipv4.tcp_mem cannot be read'
	expect_eq "$(metric tcptuned_budget_bytes)" \
		$((pages / 16 * $(getconf PAGESIZE) / 4 * 3)) "budget"
	expect_eq "$(metric 'tcptuned_policy_buffer_max_bytes{policy="default",direction="receive"}')" \
		$((2 * receive)) "the largest receive buffer"
	expect_eq "$(metric 'tcptuned_policy_buffer_max_bytes{policy="default",direction="send"}')" \
		$((2 * send)) "the largest send buffer"
	tcptuned_stop
}
