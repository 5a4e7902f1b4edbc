# SPDX-License-Identifier: GPL-2.0-only
# The scene of the README: an iperf3 server that fixed its receive buffer at 64 KB, 1 Gbit/s, 50 ms.

. "$TEST_TOP/tests/system/daemon.sh"

# The server of iperf3 sets the -w of its client, too; both fail if getsockopt() returns another size.
scene_iperf() { # SECONDS
	link a b --rate 1gbit --delay 25ms
	background server in_group in_host b iperf3 --server --one-off --json
	wait_until 20 listens b 5201
	background client in_group in_host a iperf3 --client "${ADDR[b]}" --window 64K --time "$1" \
		--json
}

scene_iperf_end() {
	wait "$(pid_of client)" || fail "iperf3: $(<"$TEST_DIR/client.log")"
	wait "$(pid_of server)" || fail "iperf3: $(<"$TEST_DIR/server.log")"
	wait_until 20 scene_all_closed # a connection that is closing still uses bitcp
}

scene_all_closed() {
	! in_host a ss -tnH state connected exclude time-wait | grep . &&
		! in_host b ss -tnH state connected exclude time-wait | grep .
}

scene_before() {
	scene_iperf 3
	scene_iperf_end
}

scene_after() {
	scene_iperf 7
	sleep 5.5
	flow 5201 . >"$TEST_DIR/flow.json"
	flow_to 5201 . >"$TEST_DIR/sender.json"
	scrape
	scene_iperf_end
}

# Mbit/s that the server received in its median second, without the first ones.
scene_rate() { # SECONDS_LEFT_OUT
	jq "[.intervals[$1:-1][].sum.bits_per_second] | sort | .[length / 2 | floor] / 1e6" \
		"$TEST_DIR/server.log"
}

# alone: a rate is measured
test_scene_before() {
	host a b
	valid_run scene_before
	expect_between "$(scene_rate 1)" 8 20 "Mbit/s before"
}

# A bandwidth-delay product is 6.25 MB, or 4316 segments; each window holds it.
scene_with() { # DEFAULT EXPECTED
	local was
	keep_host_state
	# Another namespace may choose only what the first one allows.
	was=$(sysctl net.ipv4.tcp_congestion_control net.ipv4.tcp_allowed_congestion_control)
	sysctl -qw net.ipv4.tcp_congestion_control="$1"
	host a b
	sed 's/ = /=/' <<<"$was" | xargs -d '\n' sysctl -qw
	tcptuned_start
	expect_match "$(bpftool struct_ops show)" ' bitcp +tcp_congestion_ops' "bpftool"
	expect_match "$(sysctl -n net.ipv4.tcp_available_congestion_control)" '\<bitcp\>' "sysctl"
	valid_run scene_after
	expect_ge "$(scene_rate 4)" 900 "Mbit/s with tcptuned"
	expect_between "$(jq .advertised_window_bytes "$TEST_DIR/flow.json")" 6.0e6 50e6 "advertised window"
	# iperf3 sets it on its listener and on its client.
	expect_ge "$(awk '/^tcptuned_buffer_requests_overridden_total\{option="SO_RCVBUF"/ { print $NF }' \
		"$TEST_DIR/scrape")" 2 "requests for a receive buffer, overridden"
	expect_ge "$(jq .cwnd_segments "$TEST_DIR/sender.json")" 4000 "the sender's congestion window"
	expect_match "$(jq -r .congestion_control "$TEST_DIR/sender.json")" "^($2)$" "its congestion control"
	tcptuned_stop
	expect_host_state
}

# 965 Mbit/s are 4165 segments, bitcp's threshold 4096: 2 % less leaves it cubic (test_policy: auto_on).
# alone: a rate is measured
test_scene_where_cubic_is_the_default() {
	scene_with cubic 'cubic|bitcp'
}

# alone: a rate is measured
test_scene_where_bbr_is_the_default() {
	modprobe -q tcp_bbr || :
	scene_with bbr bbr
}

# The verifier walks through at most 40,000 instructions of each program, and through as many as in the table,
# whose counts hold for one kernel and one compiler.
# bitcp: the table has the programs' names
test_verifier() {
	local table=$TEST_TOP/tests/verified-instructions conditions program count comparable=
	tcptuned_start
	scrape
	tcptuned_stop
	sed -nE 's/^tcptuned_program_verified_instructions\{program="([^"]*)".*\} ([0-9]+)$/\1 \2/p' \
		"$TEST_DIR/scrape" | LC_ALL=C sort >"$TEST_DIR/programs"
	while read -r program count; do
		expect_between "$count" 1 40000 "instructions verified of $program"
	done <"$TEST_DIR/programs"
	conditions="Linux $(uname -r | grep -oE '^[0-9]+\.[0-9]+'), clang $(clang -dumpversion)"
	if [ -n "${UPDATE-}" ]; then
		sed -i "/^[^#]/d; s/^# Counted with .*/# Counted with $conditions/" "$table"
		cat "$TEST_DIR/programs" >>"$table"
	fi
	grep -qxF "# Counted with $conditions" "$table" && comparable=1
	sed '/^#/d' "$table" >"$TEST_DIR/table"
	# By more than 5 % if the counts can be compared.
	cd "$TEST_DIR"
	expect_eq "$(LC_ALL=C join -a 1 -a 2 -e missing -o 0,1.2,2.2 table programs |
		awk -v comparable=$comparable '$2 == "missing" || $3 == "missing" ||
			(comparable && ($3 > 1.05 * $2 || $3 < 0.95 * $2)) {
				print $1 ": " $2 " in the table, now " $3
			}')" "" \
		"programs that differ from tests/verified-instructions by more than 5 %; if that is intended, update the table: UPDATE=1 tests/system/run scene:verifier"
}
