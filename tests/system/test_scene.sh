# SPDX-License-Identifier: GPL-2.0-only
# The scene of the README: an iperf3 server that fixed its receive buffer at 64 KB, over 50 ms.

. "$TEST_TOP/tests/system/daemon.sh"

# The server of iperf3 sets the -w of its client, too; both fail if getsockopt() returns another size.
scene_iperf() { # SECONDS
	background server in_group in_host b iperf3 --server --one-off --json
	wait_until listens b 5201
	background client in_group in_host a iperf3 --client "${ADDR[b]}" --window 64K --time "$1" \
		--json
}

scene_iperf_end() {
	wait "$(pid_of client)" || fail "iperf3: $(<"$TEST_DIR/client.log")"
	wait "$(pid_of server)" || fail "iperf3: $(<"$TEST_DIR/server.log")"
	wait_until scene_all_closed # a connection that is closing still uses bitcp
}

scene_all_closed() {
	! in_host a ss -tnH state connected exclude time-wait | grep . &&
		! in_host b ss -tnH state connected exclude time-wait | grep .
}

# The path holds 625 KB. The kernel never advertises 128 KB of a fixed buffer of 64 KB, which it doubles.
# tests/kernels/scene has the rates, in virtual time.
scene_with() { # DEFAULT EXPECTED
	local was
	keep_host_state
	# Another namespace may choose only what the first one allows.
	was=$(sysctl net.ipv4.tcp_congestion_control net.ipv4.tcp_allowed_congestion_control)
	sysctl -qw net.ipv4.tcp_congestion_control="$1"
	host a b
	sed 's/ = /=/' <<<"$was" | xargs -d '\n' sysctl -qw
	# A sender that waits for a processor is not one that paused.
	in_host a sysctl -qw net.ipv4.tcp_slow_start_after_idle=0
	link a b --rate 100mbit --delay 25ms --queue 1bdp
	scene_iperf 5
	wait_until received 5201
	expect_le "$(ss_of b "sport = :5201" ',rb([0-9]+)')" 131072 "receive buffer before"
	scene_iperf_end
	tcptuned_start
	expect_match "$(bpftool struct_ops show)" ' bitcp +tcp_congestion_ops' "bpftool"
	expect_match "$(sysctl -n net.ipv4.tcp_available_congestion_control)" '\<bitcp\>' "sysctl"
	scene_iperf 30
	wait_output -ge 262144 flow 5201 .advertised_window_bytes
	# iperf3 sets it on its listener and on its client.
	expect_ge "$(overridden SO_RCVBUF)" 2 "requests for a receive buffer, overridden"
	expect_match "$(flow_to 5201 .congestion_control)" "^($2)$" "congestion control of the sender"
	scene_iperf_end
	tcptuned_stop
	expect_host_state
}

# alone: only the first network namespace may choose cubic
test_scene_where_cubic_is_the_default() {
	scene_with cubic 'cubic|bitcp'
}

# alone: only the first network namespace may choose bbr
test_scene_where_bbr_is_the_default() {
	modprobe -q tcp_bbr || :
	scene_with bbr bbr
}

# The verifier walks through at most 40,000 instructions of each program, and through as many as in the table,
# whose counts hold for one kernel and one compiler. Which of the two programs dump_* is loaded depends on the
# kernel.
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
	sed '/^#/d; /^dump_/d' "$table" >"$TEST_DIR/table"
	sed -i '/^dump_/d' "$TEST_DIR/programs"
	# By more than 5 % if the counts can be compared.
	cd "$TEST_DIR"
	expect_eq "$(LC_ALL=C join -a 1 -a 2 -e missing -o 0,1.2,2.2 table programs |
		awk -v comparable=$comparable '$2 == "missing" || $3 == "missing" ||
			(comparable && ($3 > 1.05 * $2 || $3 < 0.95 * $2)) {
				print $1 ": " $2 " in the table, now " $3
			}')" "" \
		"programs that differ from tests/verified-instructions by more than 5 %; if that is intended, update the table: UPDATE=1 tests/system/run scene:verifier"
}
