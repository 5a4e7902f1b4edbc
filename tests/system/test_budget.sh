# SPDX-License-Identifier: GPL-2.0-only
#
# The memory budget, on connections that could use more of it than there is.

. "$TEST_TOP/tests/system/daemon.sh"

budget_sees() { # PORT FILTER: of the receiving end
	flow "$1" ".receive.$2"
}

# Granted now, and what the receive buffers are beyond what connections began with: both within
# the budget, however often one looks.
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
