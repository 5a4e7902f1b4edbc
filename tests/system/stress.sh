# SPDX-License-Identifier: GPL-2.0-only
# Kills, replaces (by a build with records of another layout, and back), reloads and stops the daemon
# while connections carry verified payload: test_stress.sh for seconds, make stress for a minute.

. "$TEST_TOP/tests/system/daemon.sh"

# Prints the missing programs of the second reading of right edges.
stress_lacks() {
	local program
	for program in tcpdump tshark; do
		type -P $program >/dev/null || echo $program
	done
}

# Fails without them, unless STRESS_NO_TSHARK=1.
stress_needs_second_opinion() {
	local missing
	missing=$(echo $(stress_lacks))
	[ -z "$missing" ] || [ "${STRESS_NO_TSHARK-}" = 1 ] ||
		fail "no second opinion on right edges without $missing: apt-get install" \
			"--no-install-recommends $missing, or set STRESS_NO_TSHARK=1"
}

stress_start() { # BUILD LOGGED
	TEST_BUILD=$1 tcptuned_start --config="$TEST_DIR/my.conf"
	grep -q "$2" "$TEST_DIR/tcptuned.log" || fail "not '$2': $(<"$TEST_DIR/tcptuned.log")"
}

# A daemon that finds no records of its own adopts both ends of every connection.
stress_adopts() { # BUILD LOGGED
	local managed
	stress_start "$@"
	managed=$(managed before)
	note "$(date +%T) $2: $managed adopted, $(in_host b ss -tnH state established | wc -l) there"
	[ "$managed" = $((2 * connections)) ] || fail "$2: $managed adopted: $(<"$TEST_DIR/tcptuned.log")"
	adoptions=$((adoptions + 1))
}

stress_reload() { # CONFIGURATION
	echo "$1" >"$TEST_DIR/my.conf"
	kill -HUP "$(pid_of tcptuned)"
	sleep 0.1
}

stress_cycle() {
	tcptuned_kill
	sleep 0.2
	stress_start "$TEST_BUILD" 'taken over as they run'
	stress_reload $'[policy]\nreceive_window_max = 1M'
	tcptuned_kill
	stress_adopts "$TEST_BUILD/other/abi" 'records of another version replaced'
	stress_reload ''
	tcptuned_kill
	stress_adopts "$TEST_BUILD" 'records of another version replaced'
	sleep 0.3
	tcptuned_stop
	sleep 0.1
	stress_adopts "$TEST_BUILD" 'programs loaded'
	sleep 0.3
}

# CAPTURE is a file for the headers that the receivers send. $STRESS_WMEM, if set, is the largest send buffer
# in bytes without tcptuned. $watched is the result of rightedge.
stress_lifecycle() { # SECONDS CONNECTIONS [CAPTURE]
	local seconds=$1 connections=$2 capture=${3-} cycles=0 adoptions=0 end name
	keep_host_state
	: >"$TEST_DIR/my.conf"
	host a b
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno
	[ -z "${STRESS_WMEM-}" ] || in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 $STRESS_WMEM"
	# With less queue some of a thousand connections starve between their retransmission timeouts.
	link a b --rate 100mbit --delay 5ms --queue $((connections * 8))p
	watch
	if [ -n "$capture" ]; then
		# 100 bytes: IPv6 and TCP with all their options
		background capture in_host b tcpdump -i tun0 -Q out -n -s 100 -B 65536 -Z root \
			-w "$capture" tcp
		wait_printed capture 'listening on'
	fi
	# After a stop, applications may fill send buffers as large as the kernel's maximum: up to 2 GB in all,
	# which this link carries in three minutes.
	set -- --duration $((seconds + 540)) --stall 240 --verify --streams $((connections / 2))
	RECEIVER="b $at_once" stream locked 7101 "$@" --rcvbuf 64KiB
	RECEIVER="b $at_once" TRANSFER_ADDR=${ADDR6[b]} stream free 7102 "$@"
	wait_until stress_all_have_carried 140000
	stress_adopts "$TEST_BUILD" 'programs loaded'
	end=$((SECONDS + seconds))
	while [ $SECONDS -lt $end ]; do
		stress_cycle
		cycles=$((cycles + 1))
	done
	tcptuned_stop
	note "$cycles cycles, $adoptions times all $((2 * connections)) ends adopted"
	expect_ge $cycles 1 "cycles"
	stream_stop locked free
	for name in locked free; do
		expect_payload $name
	done
	expect_no_retraction "$connections" $((connections * 50))
	if [ -n "$capture" ]; then
		# The kernel passes a block that is not full after a second (tcpdump's timeout). What is
		# left when tcpdump ends is lost, and not counted as dropped.
		sleep 1.2
		stop capture
	fi
	expect_host_state
}

# The metric of stress_adopts counts connections with a record, which have carried 128 KB.
stress_all_have_carried() { # BYTES, each of them
	[ "$(in_host b ss -tinOH state established | grep -o 'bytes_received:[0-9]*' |
		awk -F : -v least="$1" '$2 >= least' | wc -l)" = "$connections" ]
}
