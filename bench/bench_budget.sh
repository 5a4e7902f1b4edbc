# SPDX-License-Identifier: GPL-2.0-only
#
# A memory budget that is far too small for all: what the fast ones get of it when there are
# many slow ones, or many that are idle.

. "$TEST_TOP/bench/lib.sh"

# What the receive buffers on host b have in truth grown by since the kernel gave them (ss).
grown() { # FILTER
	in_host b ss -tmnH state established "$1" | awk -v first="$first" '
		match($0, /,rb[0-9]+/) {
			buffer = substr($0, RSTART + 3, RLENGTH - 3)
			if (buffer > first)
				sum += buffer - first
		}
		END { print sum + 0 }'
}

larger() { # NUMBER NUMBER
	echo $(($1 > $2 ? $1 : $2))
}

# What is granted, what the buffers of the fast ones have grown by, and those of the slow ones, which
# are the kernel's: ten times a second until the file appears, the largest of each.
budget_most() { # STOP_FILE
	local granted=0 fast=0 slow=0 now first
	first=$(in_host b sysctl -n net.ipv4.tcp_rmem | awk '{ print $2 }')
	until [ -e "$1" ]; do
		now=$(metric tcptuned_budget_granted_bytes)
		granted=$(larger "${now:-0}" "$granted")
		fast=$(larger "$(grown 'sport != :7400')" "$fast")
		slow=$(larger "$(grown 'sport = :7400')" "$slow")
		sleep 0.1
	done
	echo "{\"budget_granted_max\": $granted, \"grown_max\": $fast, \"slow_grown_max\": $slow}"
}

# They connect one after the other, a round trip each.
all_connected() { # COUNT
	[ "$(in_host b ss -Htn state established sport = :7400 | wc -l)" = "$1" ]
}

# 20 fast streams, and SLOW ones that read 16 kbit/s each; the receiving host is tuned.
crowd() { # SLOW BUDGET
	local file=$TEST_DIR/stop
	rm -f "$file"
	tcptuned_start --set=memory.budget="$2"
	link a b --seed "$(run_seed)" $path
	if [ "$1" != 0 ]; then
		background slow-receiver in_group in_host b "$TEST_BUILD/messages" \
			--listen "${ADDR[b]}" --port 7400 --once --streams "$1" --duration 14 \
			--read-rate 16000 --timeout 60
		wait_until grep -q '^listening' "$TEST_DIR/slow-receiver.log"
		background slow in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" \
			--port 7400 --streams "$1" --duration 14 --congestion cubic --timeout 60
		wait_until all_connected "$1"
		sleep 2
	fi
	background most budget_most "$file"
	RECEIVER_PREFIX=in_group transfer a b --streams 20 --duration 10 --congestion cubic \
		>/dev/null
	touch "$file"
	wait "$(pid_of most)"
	unset "LIB_PID[most]"
	[ "$1" = 0 ] || stop slow || :
	[ "$1" = 0 ] || stop slow-receiver || :
	tcptuned_stop
	jq --argjson most "$(<"$TEST_DIR/most.log")" '. + $most' "$TEST_DIR/transfer.json" \
		>"$TEST_DIR/transfer.new"
	mv "$TEST_DIR/transfer.new" "$TEST_DIR/transfer.json"
}

bench_budget() {
	local run
	host a b
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	path="--rate 1gbit --delay 25ms --queue 1bdp"
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		row budget "20 fast" alone crowd 0 2500K
		row budget "20 fast" "with 200 slow" crowd 200 2500K
		row budget "20 fast" "alone, no bound" crowd 0 1G
	done
}

# One connection next to COUNT idle ones that sent BYTES each once, from the sources in turn.
next_to_idle() { # COUNT BYTES [SOURCE...]
	link a b --seed "$(run_seed)" $path
	if [ "$1" != 0 ]; then
		background server $RECEIVER_PREFIX in_host b python3 "$TEST_TOP/tests/system/keep_alive.py" \
			serve "${ADDR[b]}"
		wait_until grep -q listening "$TEST_DIR/server.log"
		[ $# -le 2 ] || in_host b ip route add 10.200.0.0/16 via "${ADDR[a]}"
		background clients $SENDER_PREFIX in_host a python3 "$TEST_TOP/tests/system/keep_alive.py" \
			connect "${ADDR[b]}" "$@"
		wait_until grep -q sent "$TEST_DIR/clients.log"
		wait_until grep -q "MB $(($1 * $2 / 1000000))" "$TEST_DIR/server.log"
	fi
	transfer a b --congestion cubic --duration "${BENCH_SECONDS:-8}" >/dev/null
	if [ "$1" != 0 ]; then
		stop clients || :
		stop server || :
	fi
}

# 400 keep-alive connections that sent 60 KB once; and 100 of four networks that sent enough to get large
# windows, as a peer would that wants the whole budget.
bench_idle() {
	local run x i tuned SENDER_PREFIX= RECEIVER_PREFIX=
	local keys="memory.budget=24M policy.congestion_control=keep"
	host a b
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	for i in 1 2 3 4; do
		in_host a ip address add 10.200.$i.1/32 dev lo
	done
	path="--rate 1gbit --delay 25ms --queue 1bdp"
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for x in "none" "400, 60 KB" "100 of 4 networks, 4 MB"; do
			tuned=sender,receiver
			case $x in
			none) set -- 0 ;;
			400*) set -- 400 60000 ;;
			*)
				# All have the same peer for their sender, which is not tuned therefore.
				set -- 100 4000000 10.200.{1,2,3,4}.1
				tuned=receiver
				;;
			esac
			row idle "$x" kernel next_to_idle "$@"
			row idle "$x" tcptuned with_tcptuned $tuned $keys -- next_to_idle "$@"
		done
	done
}
