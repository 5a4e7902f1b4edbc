# SPDX-License-Identifier: GPL-2.0-only
# Another sockops program assigns the callbacks of a connection instead of adding to them (assigns.bpf.c): the
# daemon requests all of them again, and loses nothing.

. "$TEST_TOP/tests/system/daemon.sh"

calls_at() { # PORT; calls with a segment, of the other program
	bpftool -j map dump pinned /sys/fs/bpf/maps/assigns_calls |
		jq --argjson port "$1" '[.[] | .formatted // . | select(.key == $port) | .value] | add // 0'
}

load_assigns() {
	local pins=/sys/fs/bpf
	bpftool prog load "$TEST_BUILD/tests/system/assigns.bpf.o" $pins/assigns pinmaps $pins/maps
	bpftool cgroup attach "$TEST_CGROUP/group" sock_ops pinned $pins/assigns multi
}

# 7501 has no callback left that could notice it: the daemon looks every five seconds, if the kernel allows
# that. 7502 has one for each change of state, 7503 one for each segment: they notice it.
test_another_sockops_program() {
	local pins=/sys/fs/bpf port calls restored=3 left=1
	has_linux 6.12 || restored=2 left=0 # 7501 keeps the window that it has
	sysctl -qw net.ipv4.tcp_rmem="4096 131072 131072"
	CONGESTION=reno host a b
	tcptuned_start $bitcp
	kill -STOP "$(pid_of tcptuned)" # a look before 7501 is there would put off the next one
	load_assigns
	link a b --rate 200mbit --delay 25ms
	for port in 7501 7502 7503; do
		SENDER_PREFIX= stream sender-$port $port --duration 280 --congestion reno
	done
	wait_until received 7501
	kill -CONT "$(pid_of tcptuned)"
	# The budget grants what is beyond the kernel's own limit to a record that is called each round trip. The
	# senders are reno, since HyStart may end the slow start of cubic long before on a busy host.
	wait_carried 7502 100M -ge 250000 flow 7502 .receive.budget_granted_bytes
	wait_carried 7503 100M -ge 250000 flow 7503 .receive.budget_granted_bytes
	[ $restored = 2 ] || wait_carried 7501 200M -ge 250000 flow 7501 .receive.budget_granted_bytes
	in_log 'there is another sockops program, assigns'
	expect_eq "$(counter tcptuned_callbacks_restored_total '')" $restored "callbacks requested again"

	# The program no longer sees a connection end, as during a stop; its grant is returned all the same.
	expect_ge "$(flow 7503 .receive.budget_granted_bytes)" 1 "granted to one, less once its rate is steady"
	bpftool link detach pinned $pins/tcptuned/link_sockops
	stop_all sender-750{2,3} sender-750{2,3}-receiver
	wait_until one_is_left
	expect_eq "$(counter tcptuned_connections_closed_total '')" 2 "connections closed"

	# A stop ends the callbacks that only tcptuned had requested.
	expect_ge "$(choices set)" 3 "congestion control set by tcptuned before"
	[ $restored = 2 ] ||
		expect_ge "$(calls_at 7501)" 1 "calls with a segment that the other did not request"
	tcptuned_stop
	calls=$(calls_at 7501)
	sleep 0.5
	expect_eq "$(calls_at 7501)" "$calls" "the same once tcptuned has stopped"
	expect_eq "$(congestion_of b "sport = :7501 and dport != :0")" reno "its congestion control"
}

# The calls that it has requested on a connection that no policy manages (7504) stay, also when tcptuned stops to look.
test_another_program_keeps_its_calls() {
	local calls
	host a b
	load_assigns # so that it is called first
	start_with '[policy other]\nlocal_port = 7504\nmode = off\n'
	link a b --rate 200mbit --delay 5ms
	SENDER_PREFIX= stream one 7504 --duration 280
	wait_until arrived 7504 1MB
	calls=$(calls_at 7504)
	wait_until arrived 7504 $(($(received 7504) + 4000000))
	expect_ge "$(calls_at 7504)" $((calls + 1)) "calls with a segment, beyond the first 128 KiB"
	stop_all one one-receiver
}

# Those of a connection that was short when tcptuned started.
test_another_program_keeps_its_calls_on_a_short_connection() {
	local calls
	host a b
	load_assigns
	link a b --rate 200mbit --delay 5ms
	application server b tcp4 listen "${ADDR[b]}" 7504 accept receive 60000 say short receive 1000000 say long \
		receive 1000000 say end
	application client a tcp4 connect "${ADDR[b]}" 7504 send 60000 until more send 1000000 until rest send 1000000
	wait_printed server short
	start_with '[policy]\n'
	proceed more server long
	tcptuned_stop
	calls=$(calls_at 7504)
	proceed rest server end
	expect_ge "$(calls_at 7504)" $((calls + 1)) "calls with a segment since the stop"
}

one_is_left() {
	local all
	all=$(metric tcptuned_budget_granted_bytes)
	[ "$all" -ge "$left" ] && [ "$all" = "$(flow 7501 .receive.budget_granted_bytes)" ]
}
