# SPDX-License-Identifier: GPL-2.0-only
# Faults around tcptuned: no memory for records, full maps, network namespaces that vanish during adoption.
# Connections continue as the kernel alone would have it, and the fault is counted.

. "$TEST_TOP/tests/system/daemon.sh"

expect_verified() {
	expect_eq "$(jq .verified "$TEST_DIR/transfer.json")" true "payload, verified"
	expect_undamaged "$(jq .bytes_damaged "$TEST_DIR/transfer.json")" "payload"
}

# The kernel charges a socket's record to net.core.optmem_max. A listener whose SO_RCVBUF was intercepted has a
# record. The connections that it accepts need none: accept() would fail without memory for a clone.
test_no_memory_for_records() {
	needs_linux 6.8 "each network namespace has a net.core.optmem_max of its own"
	tuned_path "" --rate 100mbit --delay 5ms
	listener receiver "in_group in_host b" --listen ${ADDR[b]} --rcvbuf 64KiB --count 8 --verify
	expect_eq "$(overridden SO_RCVBUF)" 1 "requests intercepted, of the listener"
	in_host b sysctl -qw net.core.optmem_max=64
	in_host a timeout 120 "$TEST_BUILD/messages" --connect ${ADDR[b]} --count 8 --verify \
		>"$TEST_DIR/transfer.json" || fail "not accepted: exit code $?"
	wait "$(pid_of receiver)"
	expect_verified
	expect_eq "$(counter tcptuned_connections_unrecorded_total '')" 1 "connections without a record"
	SENDER_PREFIX=in_group RECEIVER_PREFIX=in_group transfer a b --count 8 --verify >"$TEST_DIR/out"
	expect_verified
	expect_eq "$(counter tcptuned_connections_unrecorded_total '')" 2 "receivers without a record"
	expect_eq "$(managed here)" 1 "the sender's"
}

# A stop that cannot restore a sysctl says so, and so does its exit code.
test_sysctl_that_cannot_be_restored() {
	local before code=0
	before=$(sysctl -n net.ipv4.tcp_rmem)
	tcptuned_start
	mount --bind /proc/sys /proc/sys
	mount -o remount,bind,ro /proc/sys
	stop tcptuned || code=$?
	umount /proc/sys
	sysctl -qw net.ipv4.tcp_rmem="$before"
	expect_eq "$code" 4 "exit code, upon which systemd does not start it again"
	in_log "error: net.ipv4.tcp_rmem could not be restored to ${before//$'\t'/ }: Read-only file system"
	in_log 'detached; nothing is left pinned'
	in_log 'sysctls could not be restored: set them to the values in the log'
}

# While the daemon does not read the event ring, events are lost and counted, and nothing else is lost.
test_no_room_for_events() {
	local worker
	host a
	tcptuned_start $bitcp # which is set at once, so that each has a record
	background events "${tcptunectl[@]}" events --json
	wait_printed events listening
	worker=$(worker)
	kill -STOP "$(pid_of tcptuned)" # which would replace the other one
	kill -STOP "$worker"
	# the programs emit events for 15 s at most, since it does not renew that
	background many in_group in_host a chrt -f 1 "${keep_alive[@]}" pairs 1500
	wait_printed many open
	kill -CONT "$worker"
	kill -CONT "$(pid_of tcptuned)"
	expect_eq "$(managed here)" 1500 "opened"
	expect_eq "$(managed peer)" 1500 "accepted"
	expect_ge "$(counter tcptuned_events_lost_total '')" 1 "events lost"
	wait_printed events '"event":"lost"'
	wait_output -ge 500 grep -c '"event":"managed"' "$TEST_DIR/events.log" # the ring has room for more
}

# The daemon finds a namespace by its processes, too, so they have to be gone.
delete_meanwhile() { # NAME...
	local name pids=()
	chrt -f -p 1 "$BASHPID" # in little time: the daemon visits namespaces for five seconds at most
	for name; do
		pids+=("$(pid_of "$name-server")" "$(pid_of "$name-client")")
	done
	until grep -q waits "$TEST_DIR/holder.log"; do
		sleep 0.05
	done
	kill -KILL "${pids[@]}"
	for name in "${pids[@]}"; do
		while [ -e /proc/$name/ns/net ]; do
			sleep 0.05
		done
	done
	printf "netns delete $TEST_PREFIX-%s\n" "$@" | ip -batch -
	echo "$# are gone"
	kill -KILL "$(pid_of holder)"
	sleep 20
}

# Many network namespaces with a connection vanish when the daemon has read their names and opened none of
# them. One stays. Two more names are made, the first and the last one, so that the daemon opens one of
# them first in any order.
test_namespaces_vanish_during_adoption() {
	local names=(n{1..20}) name adopted=2
	has_linux 6.12 || adopted=0
	: >/run/netns/first
	host kept "${names[@]}"
	: >/run/netns/last
	# A process that opens one of the files waits until this process ends: FAN_OPEN_PERM
	background holder chrt -f 1 python3 -uc '
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
fd = libc.fanotify_init(4, os.O_RDONLY)
for path in sys.argv[1:]:
	if libc.fanotify_mark(fd, 1, ctypes.c_uint64(0x10000), -100, path.encode()):
		sys.exit("no permission events for " + path)
print("ready")
os.read(fd, 4096)
print("a process waits")
time.sleep(240)' /run/netns/first /run/netns/last
	wait_printed holder ready
	for name in kept "${names[@]}"; do
		PRIORITY=$at_once application $name-server $name tcp4 listen 127.0.0.1 7001 accept until end
		PRIORITY=$at_once application $name-client $name tcp4 connect 127.0.0.1 7001 say connected until end
	done
	for name in kept "${names[@]}"; do
		wait_printed "$name-client" connected
	done
	background deleter delete_meanwhile "${names[@]}"
	# A congestion control that is set makes a record at once. With the kernel's windows, no sysctl is raised,
	# for which the daemon would visit the namespaces before.
	TCPTUNED_PREFIX="chrt -f 1" tcptuned_start --set=policy.congestion_control=reno \
		--set=policy.receive_window_max=kernel --set=policy.send_window_max=kernel
	expect_eq "$(<"$TEST_DIR/deleter.log")" "20 are gone" "meanwhile"
	expect_eq "$(counter tcptuned_adoption_namespaces '{result="vanished"}')" 22 \
		"names without a namespace, with the two that never had one"
	expect_eq "$(counter tcptuned_adoption_namespaces '{result="failed"}')" 0 "not to be entered"
	expect_ge "$(counter tcptuned_adoption_namespaces '{result="visited"}')" 2 "namespaces"
	expect_eq "$(managed before)" $adopted "sockets adopted, in the namespace that stays"
	[ $adopted = 0 ] || expect_eq "$(flow 7001 .state)" established "the connection that stays"
}
