# SPDX-License-Identifier: GPL-2.0-only
#
# What a daemon's end does to connections: killed, restarted, reloaded, stopped, replaced by
# another build, always with verified payload under way, over IPv4 and IPv6. None is damaged,
# reset, or left with a window whose right edge went back.

. "$TEST_TOP/tests/system/daemon.sh"

# Three connections from a to b until expect_traffic, whose windows rightedge watches.
traffic() {
	host a b
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno
	link a b --rate 100mbit --delay 5ms
	watch
	stream four 7101 --duration 80 --verify --rcvbuf 64KiB --sndbuf 64KiB
	TRANSFER_ADDR=${ADDR6[b]} stream six 7102 --duration 80 --verify --streams 2
	wait_until 20 three_are_open
	sleep 1
}

three_are_open() {
	[ "$(in_host b ss -Htn state established '( sport = :7101 or sport = :7102 )' | wc -l)" = 3 ]
}

# expect_traffic OTHER...: it ends now, and well, as other streams did.
expect_traffic() {
	local name
	stream_stop four six
	for name in "$@"; do
		stream_end $name
	done
	for name in four six "$@"; do
		expect_payload $name
	done
	expect_no_retraction $((3 + $#)) 5000
	expect_eq "$(jq .resets <<<"$watched")" 0 "resets"
	# Three shared 100 Mbit/s, and nothing ever stalled.
	expect_ge "$(result four '.goodput_bps / 1e6')" 10 "Mbit/s of one"
	expect_ge "$(result six '.goodput_bps / 1e6')" 20 "Mbit/s of two others"
}

# ids KIND...: the kernel's numbers of what is pinned
ids() {
	local kind
	for kind; do
		bpftool -f -j "$kind" show | jq -r --arg kind "$kind" '.[] | .id as $id | .pinned[]?
			| select(startswith("/sys/fs/bpf/tcptuned/" + $kind)) | "\(sub(".*/"; "")) \($id)"' | sort -u
	done
}

expect_ids() { # IDS WHEN
	[ "$(ids link map prog)" = "$1" ] ||
		fail "pins after $2: $(diff <(echo "$1") <(ids link map prog))"
}

id_of() { # PIN
	bpftool -j "${1%%_*}" show pinned "/sys/fs/bpf/tcptuned/$1" | jq -e .id
}

expect_another() { # PIN: it is another one than in $pinned
	local id
	id=$(id_of "$1") || fail "$1 is not pinned"
	expect_ge "$id" 1 "number of $1"
	grep -q "^$1 [0-9]" <<<"$pinned" || fail "$1 was not pinned before: $pinned"
	! grep -qx "$1 $id" <<<"$pinned" || fail "$1: the old one"
}

claimed() {
	counter tcptuned_connections_claimed_total '{opened="here"}'
}

# A connection that begins now is tuned from its first segment on.
stream_tuned() { # NAME PORT
	stream "$1" "$2" --count 1 --verify --rcvbuf 64KiB
	wait_until 10 eval '! kill -0 "$(pid_of '"$1"')"'
	expect_eq "$(result "$1" .congestion)" bitcp "congestion control of a connection made now"
	expect_ge "$(result "$1" .receiver.wscale)" 7 "its window scale"
}

test_killed_restarted_reloaded_stopped() {
	local before pinned had rounds config=$TEST_DIR/my.conf
	keep_host_state
	printf '[metrics]\nflows = 20\n[policy]\ncongestion_control = bitcp\n' >"$config"
	tcptuned_start --config="$config"
	traffic
	had=$(claimed)
	expect_eq "$had" 3 "connections claimed"
	rounds=$(counter tcptuned_rightsize_rounds_total '{direction="receive"}')
	pinned=$(ids link map prog)
	expect_ge "$(wc -l <<<"$pinned")" 20 "pins"

	tcptuned_kill
	expect_ids "$pinned" "kill -9"
	expect_eq "$(ss_of a "dport = :7101" "(bitcp)")" bitcp "congestion control of an old one"
	stream_tuned orphan 7103

	tcptuned_start --config="$config"
	in_log 'programs of an earlier daemon taken over as they run'
	expect_ids "$pinned" "the restart"
	expect_eq "$(counter tcptuned_taken_over '')" 1 "taken_over"
	expect_eq "$(claimed)" 4 "claimed, one of them while no daemon ran"
	expect_ge "$(counter tcptuned_rightsize_rounds_total '{direction="receive"}')" \
		$((rounds + 100)) "rounds measured"
	expect_eq "$(flow_to 7101 .send.requested_bytes)" 65536 "record of an old connection"

	printf '[metrics]\nflows = 20\n[policy]\ncongestion_control = bitcp
		receive_window_max = 2M\n' >"$config"
	kill -HUP "$(pid_of tcptuned)"
	in_log 'policy.receive_window_max: auto -> 2097152|policy.receive_window_max: auto -> 2M'
	expect_eq "$(sysctl net.ipv4.tcp_rmem)" "$(grep '^net.ipv4.tcp_rmem' <<<"$host_before")" \
		"tcp_rmem for windows that the kernel has room for"
	stream_tuned reloaded 7104
	tcptuned_stop
	expect_eq "$(ss_of a "dport = :7101" "(cubic|reno|bitcp)")" reno "back to the default"
	expect_traffic orphan reloaded
	expect_host_state
}

# What a restart does by systemd: the first daemon hands over, and is not killed. SIGTERM behind it
# changes nothing.
test_handed_over() {
	local before pinned
	keep_host_state
	host a
	tcptuned_start $bitcp # so that each of them has a record
	background some in_group in_host a "$TEST_BUILD/connections" 5
	wait_until 5 grep -q open "$TEST_DIR/some.log"
	pinned=$(ids link map prog)
	kill -STOP "$(pid_of tcptuned)"
	kill -USR1 "$(pid_of tcptuned)"
	kill -TERM "$(pid_of tcptuned)"
	kill -CONT "$(pid_of tcptuned)"
	wait "$(pid_of tcptuned)"
	in_log 'hand-over requested'
	expect_ids "$pinned" "the end of the first"
	tcptuned_start $bitcp
	in_log 'programs of an earlier daemon taken over as they run'
	expect_ids "$pinned" "the start of the second"
	expect_eq "$(ctl_json .connections flows)" 10 "connections that are tuned"
	stop some || :
	tcptuned_stop
	expect_host_state
}

# Before an upgrade, --check-load loads the programs; it neither ends nor replaces the daemon that runs.
# bitcp: other builds take part
test_build_checked_while_another_runs() {
	local before pinned build code
	local options=(--config="$TEST_DIR/none.conf" --set=tcptuned.cgroup="$TEST_CGROUP/group")
	other_builds
	keep_host_state
	"$TEST_BUILD/tcptuned" --check-load "${options[@]}"
	expect_host_state
	tcptuned_start
	pinned=$(ids link map prog)
	for build in rightsize abi unloadable; do
		code=0
		"$TEST_BUILD/other/$build/tcptuned" --check-load "${options[@]}" 2>"$TEST_DIR/said" || code=$?
		expect_eq "$build $code" "$build $([ $build = unloadable ] && echo 32 || echo 0)" "status"
	done
	expect_match "$(<"$TEST_DIR/said")" "this kernel does not take the iterators" "of the last one"
	expect_ids "$pinned" "the checks"
	tcptuned_stop
	expect_host_state
}

test_detached_after_a_kill() {
	keep_host_state
	tcptuned_start
	traffic
	tcptuned_kill
	[ "$(host_state)" != "$host_before" ] || fail "kill -9 took everything along"
	detach_says "detached; nothing is left pinned"
	expect_traffic
	expect_host_state
	detach_says "there is nothing to detach"
}

# A slice goes with the last of its units and comes back as another control group: the daemon says
# that it is gone, and once there is one again fails, for systemd to start it again.
# timeout: 60
test_control_group_removed_and_made_again() {
	local before slice=$TEST_CGROUP/group/slice code=0 pinned
	keep_host_state
	mkdir "$slice"
	tcptuned_start --set=tcptuned.cgroup="$slice"
	pinned=$(ids link map prog)
	expect_eq "$(metric tcptuned_config_last_reload_successful)" 1 "healthy"
	rmdir "$slice"
	in_log 'error: tcptuned.cgroup: .*/slice was removed; no new connection is tuned'
	expect_eq "$(metric tcptuned_config_last_reload_successful)" 0 "healthy"
	expect_match "$(ctl status)" 'not all of it in force.*/slice was removed' "status"
	sleep 5.5
	expect_eq "$(times_logged 'was removed')" 1 "times that it was logged"
	mkdir "$slice"
	wait_until 8 eval '! kill -0 "$(pid_of tcptuned)"'
	wait "$(pid_of tcptuned)" || code=$?
	expect_eq $code 1 "its exit status, which systemd takes for a failure that a restart mends"
	! grep -qE '^RestartPreventExitStatus=(.* )?1( |$)' "$TEST_TOP/systemd/tcptuned.service.in" ||
		fail "the unit does not start it again"
	in_log 'error: tcptuned.cgroup: .*/slice was removed, and there is another one of that name'
	expect_ids "$pinned" "its end"
	tcptuned_start --set=tcptuned.cgroup="$slice"
	expect_ge "$(bpftool -j cgroup show "$slice" | jq length)" 3 "programs on the new one"
	tcptuned_stop
	rmdir "$slice"
	expect_host_state
}

# Paths in the kernel that another build has made larger than this one's records: they are
# neither read nor forgotten, and taken off the host all the same.
test_paths_of_another_layout() {
	local before pin=/sys/fs/bpf/tcptuned/map_paths key value code=0
	keep_host_state
	tcptuned_start
	tcptuned_kill
	read -r key value <<<"$(bpftool -j map show pinned $pin | jq -r '"\(.bytes_key) \(.bytes_value)"')"
	rm $pin
	bpftool map create $pin type lru_hash key "$key" value $((value + 64)) entries 16 name paths
	bpftool map update pinned $pin key $(yes 0 | head -n "$key") \
		value $(yes 7 | head -n $((value + 64)))
	"$TEST_BUILD/tcptuned" --config="$TEST_DIR/none.conf" --forget-paths=all \
		--set=tcptuned.state_directory="$TEST_DIR/state" 2>"$TEST_DIR/said" || code=$?
	expect_eq "$code" 32 "status of --forget-paths"
	expect_match "$(<"$TEST_DIR/said")" \
		"nothing is forgotten: the paths in .* are another build's; use" "--forget-paths"
	detach_says "detached; nothing is left pinned"
	expect_host_state
}

# start_says STATUS PATTERN BUILD [OPTION...]: it fails
start_says() {
	local status=$1 pattern=$2 build=$3 code=0
	shift 3
	timeout 20 "$build/tcptuned" "${daemon_options[@]}" "$@" 2>"$TEST_DIR/said" || code=$?
	expect_match "$(<"$TEST_DIR/said")" "$pattern" "the error"
	expect_eq "$code" "$status" "its status"
}

# refused_start BUILD [OPTION...]: no other program may be attached there
refused_start() {
	start_says 20 'another program holds the cgroup_getsockopt hook of .*/(other|group) alone.*"multi"' "$@"
}

# A start that is refused half-way leaves what a killed daemon left: pins, programs, bitcp.
test_a_failed_start_changes_nothing() {
	local before pinned attached other=$TEST_CGROUP/other
	keep_host_state
	mkdir "$other"
	tcptuned_start
	tcptuned_kill
	pinned=$(ids link map prog)
	attached=$(bpftool cgroup show "$TEST_CGROUP/group")
	# No other program of this kind may be attached there: the last one that is attached fails.
	bpftool cgroup attach "$other" cgroup_getsockopt \
		pinned /sys/fs/bpf/tcptuned/prog_tcptuned_getsockopt
	refused_start "$TEST_BUILD" --set=tcptuned.cgroup="$other"
	expect_ids "$pinned" "the start that failed"
	expect_eq "$(bpftool cgroup show "$TEST_CGROUP/group")" "$attached" "what is attached"
	expect_eq "$(bpftool -j cgroup show "$other" | jq length)" 1 "programs where it failed"
	expect_match "$(sysctl -n net.ipv4.tcp_available_congestion_control)" 'bitcp' "offered"
	# So does one whose configuration is wrong, and one that would be wrong about what is tuned.
	long_chain >"$TEST_DIR/chain.conf"
	start_says 10 'more than 4096 rules' "$TEST_BUILD" --config="$TEST_DIR/chain.conf" \
		--set=tcptuned.cgroup="$TEST_CGROUP/group"
	start_says 20 'a dry run, which changes nothing, would not undo' "$TEST_BUILD" --dry-run \
		--set=tcptuned.cgroup="$TEST_CGROUP/group"
	expect_ids "$pinned" "starts that failed"
	expect_eq "$(bpftool cgroup show "$TEST_CGROUP/group")" "$attached" "what is attached"
	tcptuned_start
	in_log 'programs of an earlier daemon taken over as they run'
	bpftool cgroup detach "$other" cgroup_getsockopt \
		pinned /sys/fs/bpf/tcptuned/prog_tcptuned_getsockopt
	rmdir "$other"
	tcptuned_stop
	expect_host_state
}

# --- other builds ------------------------------------------------------------------------------
# The same of another build in the place of one whose last link has gone and cannot be made again:
# programs and records are as they were, and connections go on being tuned.
# bitcp: other builds take part
test_a_failed_upgrade_changes_nothing() {
	local before pinned attached build group=$TEST_CGROUP/group
	local program=(cgroup_getsockopt pinned /sys/fs/bpf/tcptuned/prog_tcptuned_getsockopt)
	other_builds
	keep_host_state
	host a
	tcptuned_start $bitcp # so that each of them has a record
	background some in_group in_host a "$TEST_BUILD/connections" 5
	wait_until 5 grep -q open "$TEST_DIR/some.log"
	tcptuned_kill
	bpftool link detach pinned /sys/fs/bpf/tcptuned/link_getsockopt
	bpftool cgroup attach "$group" "${program[@]}"
	pinned=$(ids link map prog)
	attached=$(bpftool cgroup show "$group")
	for build in rightsize abi; do
		refused_start "$TEST_BUILD/other/$build" --set=tcptuned.cgroup="$group"
		expect_ids "$pinned" "the start of $build"
		expect_eq "$(bpftool cgroup show "$group")" "$attached" "what runs"
	done
	bpftool cgroup detach "$group" "${program[@]}"
	tcptuned_start $bitcp
	in_log 'programs of an earlier build replaced, records kept'
	expect_eq "$(bpftool -j cgroup show "$group" | jq length)" 3 "programs that are attached"
	in_log 'adopted 0 connections'
	expect_eq "$(ctl_json .connections flows)" 10 "connections that are tuned"
	tcptuned_stop
	stop some || :
	expect_host_state
}

gone() { # MAP_ID
	[ -n "$1" ] && ! bpftool map show id "$1"
}

# BUILD takes the place of what runs. Applications that choose bitcp meanwhile never find it missing
# (before Linux 6.4 it is, between the two), and nothing holds on to the programs of before: neither
# the connections nor the network namespace that has bitcp as its default.
replaced_by() { # BUILD LOGGED
	local refused=0 old
	has_linux 6.4 || refused='[0-9]+'
	tcptuned_kill
	rm -f "$TEST_DIR/end"
	in_host by-bitcp sysctl -qw net.ipv4.tcp_congestion_control=bitcp
	old=$(id_of map_bitcp)
	background chooser "$TEST_BUILD/sockets" choose bitcp "$TEST_DIR/end"
	TEST_BUILD=$1 tcptuned_start $bitcp
	in_log "$2"
	: >"$TEST_DIR/end"
	wait "$(pid_of chooser)"
	unset "LIB_PID[chooser]"
	expect_match "$(<"$TEST_DIR/chooser.log")" "^chosen [0-9]{2,} $refused\$" \
		"times that bitcp was chosen and refused"
	wait_until 5 gone "$old"
}

# A socket that is older than the build that takes over has the default congestion control all
# the same, and holds on to nothing.
# bitcp: other builds take part
test_socket_from_before_an_upgrade() {
	local old build=$TEST_BUILD/other/rightsize
	other_builds
	host a
	tcptuned_start $bitcp
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=bitcp
	background server in_group in_host a "$TEST_BUILD/sockets" tcp4 listen 127.0.0.1 7001 \
		accept until "$TEST_DIR/end"
	background early in_group in_host a "$TEST_BUILD/sockets" tcp4 say made \
		until "$TEST_DIR/go" connect 127.0.0.1 7001 say connected until "$TEST_DIR/end"
	wait_until 5 grep -q made "$TEST_DIR/early.log"
	old=$(id_of map_bitcp)
	tcptuned_kill
	TEST_BUILD=$build tcptuned_start $bitcp
	in_log 'programs of an earlier build replaced, records kept'
	: >"$TEST_DIR/go"
	wait_until 5 grep -q connected "$TEST_DIR/early.log"
	expect_eq "$(counter tcptuned_congestion_control_choices_total '{choice="kept"}')" 0 \
		"connections whose application chose a congestion control"
	expect_eq "$(counter tcptuned_congestion_control_choices_total '{choice="set"}')" 2 \
		"and whose application did not, both ends"
	wait_until 5 gone "$old"
	: >"$TEST_DIR/end"
	TEST_BUILD=$build tcptuned_stop
}

# With records of another layout; open connections are adopted again.
replaced_by_other_records() {
	local pin
	pinned=$(ids link map prog)
	replaced_by "$TEST_BUILD/other/abi" 'programs and records of another version replaced'
	for pin in map_flows map_totals map_bitcp prog_tcptuned_sockops; do
		expect_another $pin
	done
	in_log 'adopted 6 connections in'
	expect_eq "$(ctl_json .connections flows)" 6 "old connections shown, adopted again"
	expect_eq "$(claimed)" 0 "totals begin again"
	stream_tuned replaced 7104
	expect_eq "$(claimed)" 1 "claimed since"
}

# bitcp: other builds take part
test_replaced_by_other_builds() {
	local before pinned had pin others=upgraded links=link_bitcp
	has_linux 6.4 || links=
	other_builds
	keep_host_state
	tcptuned_start $bitcp
	host by-bitcp
	traffic
	had=$(claimed)
	pinned=$(ids link map prog)

	replaced_by "$TEST_BUILD/other/rightsize" 'programs of an earlier build replaced, records kept'
	for pin in link_sockops link_setsockopt link_getsockopt $links map_flows map_totals map_meta; do
		expect_eq "$pin $(id_of $pin)" "$(grep "^$pin " <<<"$pinned")" "kept"
	done
	for pin in prog_tcptuned_sockops prog_tcptuned_setsockopt prog_dump_flows map_bitcp; do
		expect_another $pin
	done
	expect_eq "$(bpftool -j link show pinned /sys/fs/bpf/tcptuned/link_sockops | jq .prog_id)" \
		"$(id_of prog_tcptuned_sockops)" "the program that runs"
	expect_eq "$(claimed)" "$had" "connections claimed so far"
	expect_eq "$(flow_to 7101 .send.requested_bytes)" 65536 "record of an old connection"
	stream_tuned upgraded 7103

	if has_linux 6.12; then
		replaced_by_other_records
		others+=" replaced"
	fi
	tcptuned_stop
	expect_traffic $others
	expect_host_state
}

# Prints the notifications to systemd, one a line.
print_notifications() {
	exec python3 -uc '
import socket, sys
to = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
to.bind(sys.argv[1])
print("listening")
while True:
	print(to.recv(4096).decode())' "$TEST_DIR/notify"
}

# The unit's WatchdogSec= is for a daemon that hangs, and not for one that is late.
test_watchdog_notified_in_time() {
	local seconds began
	seconds=$(sed -n 's/^WatchdogSec=//p' "$TEST_TOP/systemd/tcptuned.service.in")
	expect_ge "${seconds:-0}" 30 "WatchdogSec= of the unit"
	background notified print_notifications
	wait_until 5 grep -q listening "$TEST_DIR/notified.log"
	began=$SECONDS
	WATCHDOG_USEC=2000000 NOTIFY_SOCKET=$TEST_DIR/notify tcptuned_start
	wait_until 5 eval '[ "$(grep -c WATCHDOG=1 "$TEST_DIR/notified.log")" = 2 ]'
	note "twice in $((SECONDS - began)) s"
	tcptuned_stop
	wait_until 5 grep -q STOPPING=1 "$TEST_DIR/notified.log"
	stop notified || :
}
