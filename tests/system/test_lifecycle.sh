# SPDX-License-Identifier: GPL-2.0-only
# A daemon is killed, restarted, reloaded, stopped, or replaced by another build. No connection is
# damaged, reset, or left with a window that was shrunk below what was advertised.

. "$TEST_TOP/tests/system/daemon.sh"

# Starts three connections from a to b, whose windows rightedge watches.
traffic() {
	CONGESTION=reno host a b
	link a b --rate 100mbit --delay 5ms
	watch
	stream four 7101 --duration 280 --verify --rcvbuf 64KiB --sndbuf 64KiB
	TRANSFER_ADDR=${ADDR6[b]} stream six 7102 --duration 280 --verify --streams 2
	wait_output = 3 eval 'in_host b ss -Htn state established "( sport = :7101 or sport = :7102 )" | wc -l'
	sleep 1
}

# Host a has received so many segments.
acknowledged() { # SEGMENTS
	[ "$(in_host a ss -tinOH '( dport = :7101 or dport = :7102 )' |
		grep -oP 'segs_in:\K[0-9]+' | awk '{ n += $1 } END { print n + 0 }')" -ge "$1" ]
}

# Ends them; they and the streams OTHER have succeeded.
expect_traffic() { # OTHER...
	local name port
	wait_until acknowledged 5100 # with those that carry no window
	for port in 7101 7102; do # none of them stands still
		wait_until arrived $port $(($(received $port) + 5000000))
	done
	stream_stop four six
	for name in "$@"; do
		stream_end $name
	done
	for name in four six "$@"; do
		expect_payload $name
	done
	expect_no_retraction $((3 + $#)) 5000
}

# The kernel's numbers of pinned objects.
ids() {
	local kind
	for kind in link map prog; do
		bpftool -f -j "$kind" show | jq -r --arg kind "$kind" '.[] | .id as $id | .pinned[]?
			| select(startswith("/sys/fs/bpf/tcptuned/" + $kind)) | "\(sub(".*/"; "")) \($id)"' | sort -u
	done
}

expect_ids() { # IDS WHEN
	[ "$(ids)" = "$1" ] || fail "pins after $2: $(diff <(echo "$1") <(ids))"
}

id_of() { # PIN
	bpftool -j "${1%%_*}" show pinned "/sys/fs/bpf/tcptuned/$1" | jq -e .id
}

expect_another() { # PIN; not the one in $pinned
	local id
	id=$(id_of "$1") || fail "$1 is not pinned"
	expect_ge "$id" 1 "number of $1"
	grep -q "^$1 [0-9]" <<<"$pinned" || fail "$1 was not pinned before: $pinned"
	! grep -qx "$1 $id" <<<"$pinned" || fail "$1: the old one"
}

# Five connections on host a, both ends of which have a record.
five_connections() {
	host a
	tcptuned_start $bitcp
	background some in_group in_host a "${keep_alive[@]}" pairs 5
	wait_printed some open
}

# A new connection is tuned from its first segment on.
stream_tuned() { # NAME PORT
	stream "$1" "$2" --count 1 --verify --rcvbuf 64KiB
	wait_until has_ended "$1"
	wait_until has_ended "$1-receiver" # it has closed its end
	expect_eq "$(result "$1" .congestion)" bitcp "congestion control of a connection made now"
	expect_ge "$(result "$1" .receiver.wscale)" 7 "its window scale"
}

test_killed_restarted_reloaded_stopped() {
	local pinned rounds
	keep_host_state
	start_with '[metrics]\nflows = 20\n[policy]\ncongestion_control = bitcp\n'
	traffic
	expect_eq "$(managed here)" 3 "connections managed"
	rounds=$(counter tcptuned_rightsize_rounds_total '{direction="receive"}')
	pinned=$(ids)
	expect_ge "$(wc -l <<<"$pinned")" 20 "pins"

	tcptuned_kill
	expect_ids "$pinned" "kill -9"
	expect_eq "$(congestion_of a "dport = :7101")" bitcp "congestion control of an old one"
	stream_tuned orphan 7103

	tcptuned_start --config="$TEST_DIR/my.conf"
	in_log 'programs of an earlier daemon taken over as they run'
	expect_ids "$pinned" "the restart"
	expect_eq "$(counter tcptuned_taken_over '')" 1 "taken_over"
	expect_eq "$(managed here)" 4 "managed, one of them while no daemon ran"
	wait_output -ge $((rounds + 100)) counter tcptuned_rightsize_rounds_total '{direction="receive"}'
	expect_eq "$(flow_to 7101 .send.requested_bytes)" 65536 "record of an old connection"

	reload '[metrics]\nflows = 20\n[policy]\ncongestion_control = bitcp
		receive_window_max = 2M\n' 'policy.receive_window_max: auto -> 2M'
	expect_eq "$(sysctl net.ipv4.tcp_rmem)" "$(grep '^net.ipv4.tcp_rmem' <<<"$host_before")" \
		"tcp_rmem for windows that the kernel has room for"
	stream_tuned reloaded 7104
	tcptuned_stop
	expect_eq "$(congestion_of a "dport = :7101")" reno "congestion control after the stop"
	expect_traffic orphan reloaded
	expect_host_state
}

# In a restart by systemd the first daemon hands over, and is not killed. A SIGTERM after that changes
# nothing.
test_handed_over() {
	local pinned signal
	keep_host_state
	five_connections
	pinned=$(ids)
	for signal in STOP USR1 TERM CONT; do
		kill -$signal "$(pid_of tcptuned)"
	done
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
	local pinned other=$TEST_BUILD/other
	keep_host_state
	"$TEST_BUILD/tcptuned" "${daemon_options[@]}" --check-load
	expect_host_state
	tcptuned_start
	pinned=$(ids)
	"$other/rightsize/tcptuned" "${daemon_options[@]}" --check-load
	"$other/abi/tcptuned" "${daemon_options[@]}" --check-load
	start_says 32 "this kernel does not take the programs" "$other/unloadable" --check-load
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
	printf '[policy]\nmode = sideways\n' >"$TEST_DIR/bad.conf" # a rollback needs no policy
	expect_said 0 "bad.conf:2: .*; detaching what is in the default directories" "$TEST_BUILD/tcptuned" \
		"${daemon_options[@]}" --config="$TEST_DIR/bad.conf" --detach
	expect_match "$(<"$TEST_DIR/said")" "detached; nothing is left pinned" "what --detach says"
	expect_traffic
	expect_host_state
	detach_says "there is nothing to detach"
}

# Those of tcptuned.service, also without systemd.
test_capabilities_are_dropped() {
	tcptuned_start
	expect_eq "$(sed -nE 's/^(CapPrm|CapEff|NoNewPrivs):\t//p' "/proc/$(pid_of tcptuned)/status" | paste -sd ' ')" \
		"000000c000281000 000000c000281000 1" "permitted and effective capabilities, no_new_privs"
}

# What is pinned cannot be removed: no message says that it was.
test_pins_that_cannot_be_removed() {
	local left='/sys/fs/bpf/tcptuned cannot be removed: Read-only file system'
	tcptuned_start
	mount -o remount,ro /sys/fs/bpf
	expect_said 4 "$left" ctl detach
	in_log "error: tcptuned.bpffs: $left"
	expect_eq "$(times_logged 'nothing is left pinned')" 0 "times that it claimed otherwise"
	stop tcptuned || :
	expect_said 4 "$left" "$TEST_BUILD/tcptuned" "${daemon_options[@]}" --detach
	mount -o remount,rw /sys/fs/bpf
	detach_says "detached; nothing is left pinned"
}

# A slice ends with the last of its units and starts again as another control group: the daemon logs
# that it was removed, and exits with a failure when it is there again, so that systemd restarts it.
test_control_group_removed_and_made_again() {
	local slice=$TEST_CGROUP/group/slice pinned
	keep_host_state
	mkdir "$slice"
	tcptuned_start --set=tcptuned.cgroup="$slice"
	pinned=$(ids)
	expect_eq "$(metric tcptuned_config_last_reload_successful)" 1 "healthy"
	rmdir "$slice"
	in_log 'error: tcptuned.cgroup: .*/slice was removed; no new connection is tuned'
	expect_eq "$(metric tcptuned_config_last_reload_successful)" 0 "healthy"
	expect_match "$(ctl status)" 'not all of it in force.*/slice was removed' "status"
	sleep 5.5
	expect_eq "$(times_logged 'was removed')" 1 "times that it was logged"
	mkdir "$slice"
	wait_until has_ended tcptuned
	expect_fail 1 wait "$(pid_of tcptuned)" # after which systemd restarts it
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

# Another build has made a map of paths whose records are larger: it is neither read nor forgotten, but it
# is detached.
test_paths_of_another_layout() {
	local pin=/sys/fs/bpf/tcptuned/map_paths key value
	keep_host_state
	tcptuned_start
	tcptuned_kill
	read -r key value <<<"$(bpftool -j map show pinned $pin | jq -r '"\(.bytes_key) \(.bytes_value)"')"
	rm $pin
	bpftool map create $pin type lru_hash key "$key" value $((value + 64)) entries 16 name paths
	bpftool map update pinned $pin key $(yes 0 | head -n "$key") \
		value $(yes 7 | head -n $((value + 64)))
	expect_said 32 "nothing is forgotten: the paths in .* are another build's; use" \
		"$TEST_BUILD/tcptuned" "${daemon_options[@]}" --forget-paths=all
	detach_says "detached; nothing is left pinned"
	expect_host_state
}

# What a test attaches where no other program of its kind may be attached.
program=(cgroup_getsockopt pinned /sys/fs/bpf/tcptuned/prog_tcptuned_getsockopt)

# A start fails.
start_says() { # STATUS PATTERN BUILD [OPTION...]
	expect_said "$1" "$2" timeout 120 "$3/tcptuned" "${daemon_options[@]}" "${@:4}"
}

# A start fails because no other program may be attached there.
refused_start() { # BUILD [OPTION...]
	start_says 20 'another program holds the cgroup_getsockopt hook of .*/(other|group) alone.*"multi"' "$@"
}

# A start that is refused half-way leaves pins, programs and bitcp of a killed daemon.
test_a_failed_start_changes_nothing() {
	local pinned attached files other=$TEST_CGROUP/other
	keep_host_state
	mkdir "$other"
	tcptuned_start
	tcptuned_kill
	pinned=$(ids)
	attached=$(bpftool cgroup show "$TEST_CGROUP/group")
	# No other program of this kind may be attached there: the last one that is attached fails.
	bpftool cgroup attach "$other" "${program[@]}"
	refused_start "$TEST_BUILD" --set=tcptuned.cgroup="$other"
	expect_ids "$pinned" "the start that failed"
	expect_eq "$(bpftool -j cgroup show "$other" | jq length)" 1 "programs where it failed"
	expect_match "$(sysctl -n net.ipv4.tcp_available_congestion_control)" 'bitcp' "offered"
	# So do one that may not open enough files, at any step, ...
	for files in 14 18 22 26 30; do
		(ulimit -n $files && start_says 1 'Too many open files|libmicrohttpd does not start' "$TEST_BUILD")
		expect_ids "$pinned" "the start with $files open files"
	done
	# ... one whose configuration is bad, and --observe where programs are attached.
	long_chain >"$TEST_DIR/chain.conf"
	start_says 10 'more than 4096 rules' "$TEST_BUILD" --config="$TEST_DIR/chain.conf"
	start_says 20 '--observe, which changes nothing, would not undo' "$TEST_BUILD" --observe
	expect_ids "$pinned" "starts that failed"
	expect_eq "$(bpftool cgroup show "$TEST_CGROUP/group")" "$attached" "programs attached"
	tcptuned_start
	in_log 'programs of an earlier daemon taken over as they run'
	bpftool cgroup detach "$other" "${program[@]}"
	rmdir "$other"
	tcptuned_stop
	expect_host_state
}

# Another build is refused, because a link is gone and cannot be made again: programs and records stay, and
# connections are still tuned.
# bitcp: other builds take part
test_a_failed_upgrade_changes_nothing() {
	local pinned attached build group=$TEST_CGROUP/group
	keep_host_state
	five_connections
	tcptuned_kill
	bpftool link detach pinned /sys/fs/bpf/tcptuned/link_getsockopt
	bpftool cgroup attach "$group" "${program[@]}"
	pinned=$(ids)
	attached=$(bpftool cgroup show "$group")
	for build in rightsize abi; do
		refused_start "$TEST_BUILD/other/$build"
		expect_ids "$pinned" "the start of $build"
		expect_eq "$(bpftool cgroup show "$group")" "$attached" "programs attached"
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

# Another build replaces the one that runs. Applications that choose bitcp meanwhile always find it (before
# Linux 6.4 it is missing between the two), and nothing holds the earlier programs: neither connections
# nor the network namespace that has bitcp as its default.
replaced_by() { # BUILD LOGGED
	local refused=0 old
	has_linux 6.4 || refused='[0-9]+'
	tcptuned_kill
	rm -f "$TEST_DIR/end"
	in_host by-bitcp sysctl -qw net.ipv4.tcp_congestion_control=bitcp
	old=$(id_of map_bitcp)
	background chooser "${sockets[@]}" say ready choose bitcp end
	wait_printed chooser ready
	TEST_BUILD=$1 tcptuned_start $bitcp
	in_log "$2"
	finish end chooser
	expect_match "$(<"$TEST_DIR/chooser.log")" "^chosen [0-9]{2,} $refused\$" "times of both"
	wait_until gone "$old"
}

# A socket that is older than the build that takes over has the default congestion control, too, and holds
# no earlier program.
# bitcp: other builds take part
test_socket_from_before_an_upgrade() {
	local old build=$TEST_BUILD/other/rightsize
	host a
	tcptuned_start $bitcp
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=bitcp
	application server a tcp4 listen 127.0.0.1 7001 accept until end
	application early a tcp4 say made until go connect 127.0.0.1 7001 say connected until end
	wait_printed early made
	old=$(id_of map_bitcp)
	tcptuned_kill
	TEST_BUILD=$build tcptuned_start $bitcp
	in_log 'programs of an earlier build replaced, records kept'
	proceed go early connected
	expect_eq "$(choices kept)" 0 "connections whose application chose a congestion control"
	expect_eq "$(choices set)" 2 "and whose application did not, both ends"
	wait_until gone "$old"
}

# bitcp: other builds take part
test_replaced_by_other_builds() {
	local pinned had pin others=upgraded links=link_bitcp
	has_linux 6.4 || links=
	keep_host_state
	tcptuned_start $bitcp
	host by-bitcp
	traffic
	had=$(managed here)
	pinned=$(ids)

	replaced_by "$TEST_BUILD/other/rightsize" 'programs of an earlier build replaced, records kept'
	for pin in link_sockops link_setsockopt link_getsockopt $links map_flows map_totals map_meta; do
		expect_eq "$pin $(id_of $pin)" "$(grep "^$pin " <<<"$pinned")" "kept"
	done
	for pin in prog_tcptuned_sockops prog_tcptuned_setsockopt prog_adopt_flows map_bitcp; do
		expect_another $pin
	done
	expect_eq "$(bpftool -j link show pinned /sys/fs/bpf/tcptuned/link_sockops | jq .prog_id)" \
		"$(id_of prog_tcptuned_sockops)" "the program that runs"
	expect_eq "$(managed here)" "$had" "connections managed so far"
	expect_eq "$(flow_to 7101 .send.requested_bytes)" 65536 "record of an old connection"
	stream_tuned upgraded 7103

	if has_linux 6.12; then
		# Open connections are adopted again.
		pinned=$(ids)
		replaced_by "$TEST_BUILD/other/abi" 'programs and records of another version replaced'
		for pin in map_flows map_totals map_bitcp prog_tcptuned_sockops; do
			expect_another $pin
		done
		in_log 'adopted 6 connections in'
		expect_eq "$(ctl_json .connections flows)" 6 "old connections shown, adopted again"
		expect_eq "$(managed here)" 0 "totals begin again"
		stream_tuned replaced 7104
		expect_eq "$(managed here)" 1 "managed since"
		others+=" replaced"
	fi
	tcptuned_stop
	expect_traffic $others
	expect_host_state
}

# The number of records by the budget's count, which limits it.
records_counted() {
	bpftool -j map dump pinned /sys/fs/bpf/tcptuned/map_budget | jq '.[0].formatted.value.records'
}

# As an earlier build may have, whose programs counted some twice.
count_records_below_zero() {
	local pin=/sys/fs/bpf/tcptuned/map_budget value
	mapfile -t value < <(bpftool -j map dump pinned $pin | jq -r '.[0].value[]')
	value[40]=0xfd # of struct budget.records, little-endian
	bpftool map update pinned $pin key 0 0 0 0 value "${value[@]:0:41}" 0xff 0xff 0xff 0xff 0xff 0xff 0xff \
		"${value[@]:48}"
	expect_eq "$(records_counted)" -3 "records counted"
}

sockets_open() { # HOST
	in_host "$1" ss -Htan exclude time-wait exclude listening | wc -l
}

# Connections end while the programs of two builds are attached for that, and during upgrades. Since a pass over
# all connections corrects the count, it is first looked at while no daemon runs. A count below zero refuses
# no record, and the next start corrects it.
# bitcp: other builds take part
test_records_are_counted_once_in_an_upgrade() {
	local old=/sys/fs/bpf/destroyed build
	keep_host_state
	five_connections
	background three in_group in_host a "${keep_alive[@]}" pairs 3 7201
	wait_printed three open
	expect_eq "$(records_counted)" 16 "records"
	tcptuned_kill
	bpftool link pin id "$(id_of link_destroyed)" $old # stays attached
	TEST_BUILD=$TEST_BUILD/other/rightsize tcptuned_start $bitcp
	in_log 'programs of an earlier build replaced, records kept'
	tcptuned_kill
	stop some || :
	wait_output = 6 sockets_open a
	expect_eq "$(records_counted)" 6 "records after five connections have ended under both programs"

	count_records_below_zero
	background one in_group in_host a "${keep_alive[@]}" pairs 1 7202
	wait_printed one open
	expect_eq "$(records_counted)" -1 "records counted after two more"
	tcptuned_start $bitcp
	expect_eq "$(records_counted)" 8 "records after a start"
	rm $old

	background replacer in_group in_host a "${keep_alive[@]}" replace 7203
	wait_printed replacer replaced
	for build in "$TEST_BUILD/other/rightsize" "$TEST_BUILD"; do
		tcptuned_kill
		TEST_BUILD=$build tcptuned_start $bitcp
		in_log 'programs of an earlier build replaced, records kept'
	done
	stop replacer || :
	stop three || :
	stop one || :
	wait_output = 0 sockets_open a
	expect_eq "$(counter tcptuned_connection_records_bytes '')" 0 "records that there are"
	wait_output = 0 records_counted
	tcptuned_stop
	expect_host_state
}

# WatchdogSec= of the unit ends a daemon that hangs, but not one that is late.
test_watchdog_notified_in_time() {
	local seconds began
	seconds=$(sed -n 's/^WatchdogSec=//p' "$TEST_TOP/systemd/tcptuned.service.in")
	expect_ge "${seconds:-0}" 30 "WatchdogSec= of the unit"
	background notified python3 -uc '
import socket, sys
to = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
to.bind(sys.argv[1])
print("listening")
while True:
	print(to.recv(4096).decode())' "$TEST_DIR/notify"
	wait_printed notified listening
	began=$SECONDS
	WATCHDOG_USEC=2000000 NOTIFY_SOCKET=$TEST_DIR/notify tcptuned_start
	wait_until eval '[ "$(grep -c WATCHDOG=1 "$TEST_DIR/notified.log")" -ge 2 ]'
	note "twice in $((SECONDS - began)) s"
	tcptuned_stop
	wait_printed notified STOPPING=1
}
