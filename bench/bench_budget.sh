# SPDX-License-Identifier: GPL-2.0-only
#
# A memory budget that is far too small for all: what the fast ones get of it when there are
# many slow ones.

. "$TEST_TOP/bench/lib.sh"

# What is granted, ten times a second, until the file appears: the largest.
granted_max() { # STOP_FILE
	local most=0 now
	until [ -e "$1" ]; do
		now=$(metric tcptuned_budget_granted_bytes)
		[ "${now:-0}" -le $most ] || most=$now
		sleep 0.1
	done
	echo $most
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
	link a b $path
	if [ "$1" != 0 ]; then
		background slow-receiver in_group in_host b "$TEST_BUILD/messages" \
			--listen "${ADDR[b]}" --port 7400 --once --streams "$1" --duration 14 \
			--read-rate 16000 --timeout 60
		wait_until 10 grep -q '^listening' "$TEST_DIR/slow-receiver.log"
		background slow in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" \
			--port 7400 --streams "$1" --duration 14 --congestion cubic --timeout 60
		wait_until 30 all_connected "$1"
		sleep 2
	fi
	background granted granted_max "$file"
	RECEIVER_PREFIX=in_group transfer a b --streams 20 --duration 10 --congestion cubic \
		>/dev/null
	touch "$file"
	wait "$(pid_of granted)"
	unset "LIB_PID[granted]"
	[ "$1" = 0 ] || stop slow || :
	[ "$1" = 0 ] || stop slow-receiver || :
	tcptuned_stop
	jq --argjson granted "$(<"$TEST_DIR/granted.log")" '. + {budget_granted_max: $granted}' \
		"$TEST_DIR/transfer.json" >"$TEST_DIR/transfer.new"
	mv "$TEST_DIR/transfer.new" "$TEST_DIR/transfer.json"
}

# timeout: 900
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
