# SPDX-License-Identifier: GPL-2.0-only
#
# What goes wrong around tcptuned: memory for records that is not to be had, network namespaces
# that vanish while they are looked through. Connections go on with what the kernel gives them,
# and it is counted.

. "$TEST_TOP/tests/system/daemon.sh"

sockets=("$TEST_BUILD/sockets")

# The kernel charges a socket's record to net.core.optmem_max.
test_no_memory_for_records() {
	host a b
	link a b --rate 100mbit --delay 5ms
	tcptuned_start
	in_host b sysctl -qw net.core.optmem_max=64
	SENDER_PREFIX=in_group RECEIVER_PREFIX=in_group transfer a b --count 8 --verify \
		>"$TEST_DIR/out"
	expect_eq "$(jq -c '[.verified, .bytes_damaged]' "$TEST_DIR/transfer.json")" "[true,0]" \
		"payload"
	expect_eq "$(counter tcptuned_connections_unrecorded_total '')" 1 "receivers without a record"
	expect_eq "$(counter tcptuned_connections_claimed_total '{opened="here"}')" 1 "the sender's"
	tcptuned_stop
}

connection_in() { # HOST
	background "$1-server" in_group in_host "$1" "${sockets[@]}" tcp4 \
		listen 127.0.0.1 7001 accept until "$TEST_DIR/end"
	background "$1-client" in_group in_host "$1" "${sockets[@]}" tcp4 \
		connect 127.0.0.1 7001 say connected until "$TEST_DIR/end"
}

connected() { # HOST
	grep -q connected "$TEST_DIR/$1-client.log"
}

# A connection in each of many network namespaces, which end with all that is in them while the
# daemon goes through them; but for one.
# timeout: 60
test_namespaces_vanish_during_adoption() {
	local names=(n{1..20}) name pids=() deleter
	host kept "${names[@]}"
	for name in kept "${names[@]}"; do
		connection_in "$name"
	done
	for name in kept "${names[@]}"; do
		wait_until 10 connected "$name"
	done
	for name in "${names[@]}"; do
		pids+=("$(pid_of "$name-server")" "$(pid_of "$name-client")")
	done
	(
		for name in "${names[@]}"; do
			kill -KILL "${pids[@]:0:2}"
			pids=("${pids[@]:2}")
			ip netns delete "$(lib_netns "$name")"
		done
	) &
	deleter=$!
	tcptuned_start
	wait "$deleter"
	for name in "${names[@]}"; do
		unset "LIB_PID[$name-server]" "LIB_PID[$name-client]"
	done
	expect_ge "$(counter tcptuned_connections_claimed_total '{opened="before"}')" 2 \
		"sockets adopted, of them two in the namespace that stays"
	expect_ge "$(counter tcptuned_adoption_namespaces '{result="visited"}')" 1 "namespaces"
	expect_match "$(counter tcptuned_adoption_namespaces '{result="failed"}')" '^[0-9]+$' \
		"and such as were gone"
	expect_eq "$(flow 7001 .state)" established "the connection that stays"
	tcptuned_stop
	: >"$TEST_DIR/end"
}
