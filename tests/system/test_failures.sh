# SPDX-License-Identifier: GPL-2.0-only
#
# What goes wrong around tcptuned: memory for records that is not to be had, maps that are full,
# network namespaces that vanish while they are looked through. Connections go on with what the
# kernel gives them, and it is counted.

. "$TEST_TOP/tests/system/daemon.sh"

sockets=("$TEST_BUILD/sockets")

# The kernel charges a socket's record to net.core.optmem_max.
test_no_memory_for_records() {
	needs_linux 6.8 "each network namespace has a net.core.optmem_max of its own"
	host a b
	link a b --rate 100mbit --delay 5ms
	tcptuned_start
	in_host b sysctl -qw net.core.optmem_max=64
	SENDER_PREFIX=in_group RECEIVER_PREFIX=in_group transfer a b --count 8 --verify >"$TEST_DIR/out"
	expect_eq "$(jq .verified "$TEST_DIR/transfer.json")" true "payload, verified"
	expect_undamaged "$(jq .bytes_damaged "$TEST_DIR/transfer.json")" "payload"
	expect_eq "$(counter tcptuned_connections_unrecorded_total '')" 1 "receivers without a record"
	expect_eq "$(counter tcptuned_connections_claimed_total '{opened="here"}')" 1 "the sender's"
}

# The listener has a record, since its SO_RCVBUF was intercepted. What it accepts needs none: a record
# that were cloned to it would have to be paid for in accept(), which would fail.
test_a_listener_with_a_record_accepts_without_memory() {
	needs_linux 6.8 "each network namespace has a net.core.optmem_max of its own"
	host a b
	link a b --rate 100mbit --delay 5ms
	tcptuned_start
	listener receiver "in_group in_host b" \
		--listen "${ADDR[b]}" --port 7101 --rcvbuf 64KiB --count 8 --verify
	expect_eq "$(counter tcptuned_buffer_requests_overridden_total '{option="SO_RCVBUF"}')" 1 \
		"requests intercepted, of the listener"
	in_host b sysctl -qw net.core.optmem_max=64
	in_host a timeout 15 "$TEST_BUILD/messages" --connect "${ADDR[b]}" --port 7101 --count 8 \
		--verify >"$TEST_DIR/transfer.json" || fail "not accepted: exit code $?"
	expect_eq "$(jq .verified "$TEST_DIR/transfer.json")" true "payload, verified"
	expect_undamaged "$(jq .bytes_damaged "$TEST_DIR/transfer.json")" "payload"
	expect_eq "$(counter tcptuned_connections_unrecorded_total '')" 1 "connections without a record"
}

# While no process reads the event ring, events are lost and counted, and nothing else is lost.
test_no_room_for_events() {
	host a
	tcptuned_start $bitcp # which is set at once, so that each has a record
	background events "${tcptunectl[@]}" events --json
	wait_until 5 grep -q listening "$TEST_DIR/events.log"
	kill -STOP "$(pid_of tcptuned)"
	background many in_group in_host a "$TEST_BUILD/connections" 1500
	wait_until 10 grep -q open "$TEST_DIR/many.log"
	kill -CONT "$(pid_of tcptuned)"
	expect_eq "$(counter tcptuned_connections_claimed_total '{opened="here"}')" 1500 "opened"
	expect_eq "$(counter tcptuned_connections_claimed_total '{opened="peer"}')" 1500 "accepted"
	expect_ge "$(counter tcptuned_events_lost_total '')" 1 "events lost"
	wait_until 5 grep -q '"event":"lost"' "$TEST_DIR/events.log"
	wait_until 5 claims_reported 500 # of which there was room for more
}

claims_reported() { # AT LEAST
	[ "$(grep -c '"event":"claimed"' "$TEST_DIR/events.log")" -ge "$1" ]
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

# A process that opens one of the files waits until this one ends (fanotify(7), FAN_OPEN_PERM).
opening_waits() { # FILE...
	exec python3 -uc '
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
fd = libc.fanotify_init(4, os.O_RDONLY)
for path in sys.argv[1:]:
	if libc.fanotify_mark(fd, 1, ctypes.c_uint64(0x10000), -100, path.encode()):
		sys.exit("no permission events for " + path)
print("ready")
os.read(fd, 4096)
print("a process waits")
time.sleep(60)' "$@"
}

delete_meanwhile() { # NAME...
	local name
	wait_until 10 grep -q waits "$TEST_DIR/holder.log"
	for name; do
		kill -KILL "$(pid_of "$name-server")" "$(pid_of "$name-client")"
		ip netns delete "$(lib_netns "$name")"
	done
	echo "$# are gone"
	kill -KILL "$(pid_of holder)"
	sleep 20
}

# A connection in each of many network namespaces, which end with all that is in them while the
# daemon goes through them: it has read their names and not opened one of them. One stays. Of two more
# names, made before the others and after them, one is the first that the daemon comes to, in whichever
# order it finds them.
test_namespaces_vanish_during_adoption() {
	local names=(n{1..20}) name taken=2
	has_linux 6.12 || taken=0
	: >/run/netns/first
	host kept "${names[@]}"
	: >/run/netns/last
	background holder opening_waits /run/netns/first /run/netns/last
	wait_until 5 grep -q ready "$TEST_DIR/holder.log"
	for name in kept "${names[@]}"; do
		connection_in "$name"
	done
	for name in kept "${names[@]}"; do
		wait_until 10 connected "$name"
	done
	background deleter delete_meanwhile "${names[@]}"
	# A congestion control that is set makes a record at once; windows that are the kernel's raise no
	# sysctl, for which it would go through the namespaces before.
	tcptuned_start --set=policy.congestion_control=reno --set=policy.receive_window_max=kernel \
		--set=policy.send_window_max=kernel
	expect_eq "$(<"$TEST_DIR/deleter.log")" "20 are gone" "meanwhile"
	unset "LIB_PID[holder]"
	for name in "${names[@]}"; do
		unset "LIB_PID[$name-server]" "LIB_PID[$name-client]"
	done
	expect_eq "$(counter tcptuned_adoption_namespaces '{result="vanished"}')" 22 \
		"names without a namespace, with the two that never had one"
	expect_eq "$(counter tcptuned_adoption_namespaces '{result="failed"}')" 0 "not to be entered"
	expect_ge "$(counter tcptuned_adoption_namespaces '{result="visited"}')" 2 "namespaces"
	expect_eq "$(counter tcptuned_connections_claimed_total '{opened="before"}')" $taken \
		"sockets adopted, in the namespace that stays"
	[ $taken = 0 ] || expect_eq "$(flow 7001 .state)" established "the connection that stays"
	stop deleter || :
	tcptuned_stop
	: >"$TEST_DIR/end"
}
