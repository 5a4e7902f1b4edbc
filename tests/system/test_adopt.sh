# SPDX-License-Identifier: GPL-2.0-only
#
# Connections and listeners that are open when the daemon starts: taken, and given back at the
# end; and what a policy does not claim stays as it is.

. "$TEST_TOP/tests/system/daemon.sh"

sockets=("$TEST_BUILD/sockets")

# A transfer to an application that fixes its buffer once the connection is there, so that its
# window scale is as large as any: $1 is the port, the rest are steps of the receiver.
opened_before() {
	local port=$1
	shift
	background "receiver-$port" in_group in_host b "${sockets[@]}" tcp4 \
		listen "${ADDR[b]}" "$port" accept "$@" receive 100000000000
	wait_until 5 listens b "$port"
	background "sender-$port" in_group in_host a "${sockets[@]}" tcp4 ${sender_steps-} \
		connect "${ADDR[b]}" "$port" send 100000000000
	wait_until 5 received "$port"
}

listens() { # HOST PORT
	in_host "$1" ss -tlnH "sport = :$2" | grep -q .
}

received() { # PORT
	ss_of b "sport = :$1" 'bytes_received:([0-9]+)' | grep .
}

# Mbit/s that arrive, over a second and a half
rate() { # PORT
	local bytes began=$EPOCHREALTIME
	bytes=$(received "$1")
	sleep 1.5
	awk -v b="$bytes" -v a="$(received "$1")" -v began="$began" -v ends="$EPOCHREALTIME" \
		'BEGIN { printf "%.1f", (a - b) * 8 / (ends - began) / 1e6 }'
}

congestion_of() { # PORT
	ss_of a "dport = :$1" '(reno|cubic|bitcp|bbr) wscale'
}

adopted() { # CONNECTIONS LISTENERS
	in_log "adopted $1 connections and $2 listeners"
	expect_eq "$(counter tcptuned_connections_claimed_total '{opened="before"}')" "$1" \
		"adopted connections counted"
}

# timeout: 60
test_receivers_and_congestion_control() {
	local before slow
	before=$(host_state)
	host a b
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno
	link a b --rate 200mbit --delay 25ms
	background watch in_host b "$TEST_BUILD/rightedge" tun0
	wait_until 5 grep -q watching "$TEST_DIR/watch.log"
	opened_before 7201 set rcvbuf 65536 until "$TEST_DIR/asked" get rcvbuf
	sender_steps="set congestion cubic" opened_before 7202 set rcvbuf 65536
	sleep 0.5
	# the first waits for a file before it reads: it is full, and asleep
	expect_le "$(rate 7201)" 1 "Mbit/s to one that does not read"
	slow=$(rate 7202)
	expect_le "$slow" 22 "Mbit/s to one with a fixed buffer"

	tcptuned_start
	adopted 4 0
	: >"$TEST_DIR/asked"
	wait_until 5 grep -q rcvbuf "$TEST_DIR/receiver-7201.log"
	expect_eq "$(<"$TEST_DIR/receiver-7201.log")" "rcvbuf 131072" "what its application is told"
	sleep 2
	expect_ge "$(rate 7202)" 50 "Mbit/s without connecting anew"
	expect_ge "$(rate 7201)" 25 "Mbit/s to the other"
	expect_eq "$(congestion_of 7201)" bitcp "congestion control, not chosen by anyone"
	expect_eq "$(congestion_of 7202)" cubic "congestion control, chosen by its application"
	expect_eq "$(flow 7201 .receive.requested_bytes)" 65536 "remembered request"
	expect_match "$(flow 7202 '.flags | join(" ")')" 'adopted' "flags"

	tcptuned_stop
	expect_eq "$(congestion_of 7201)" reno "congestion control afterwards"
	expect_eq "$(congestion_of 7202)" cubic "the application's"
	sleep 0.5
	expect_le "$(rate 7202)" $((2 * ${slow%.*})) "Mbit/s with its own buffer again"
	stop watch
	expect_eq "$(tail -n 1 "$TEST_DIR/watch.log" | jq -c '[.connections, .retracted, .resets]')" \
		"[2,0,0]" "connections, right edges retracted, resets"
	stop sender-7201 KILL || :
	stop sender-7202 KILL || :
	expect_host_state "$before"
}
