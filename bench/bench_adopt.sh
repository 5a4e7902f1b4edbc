# SPDX-License-Identifier: GPL-2.0-only
#
# A hundred thousand open connections: how long it takes to adopt them, what memory each takes,
# what the daemon costs while no client asks, and how long a stop takes. Half of them in
# each of two network namespaces, and both ends of each are on this host: twice as many sockets.
#
# Memory is by how much the kernel's slabs grow while they are adopted, all of it. The daemon is left
# alone for BENCH_IDLE seconds: its timer runs every 5 s.

. "$TEST_TOP/bench/lib.sh"

# Of all its threads, as the scheduler counts it: clock ticks are too coarse for a thousandth.
cpu_ns() { # PID
	awk '{ sum += $1 } END { printf "%d\n", sum }' "/proc/$1/task/"*/schedstat
}

slab_kb() {
	awk '/^Slab:/ { print $2 }' /proc/meminfo
}

adopt() { # SOCKETS
	local sockets=$1 idle=${BENCH_IDLE:-50} slab cpu began adopted
	slab=$(slab_kb)
	tcptuned_start
	slab=$(($(slab_kb) - slab))
	expect_eq "$(metric 'tcptuned_connections_managed_total{opened="before"}')" "$sockets" adopted
	adopted=$(metric tcptuned_adoption_duration_seconds)
	cpu=$(cpu_ns "$(pid_of tcptuned)")
	sleep "$idle"
	cpu=$(($(cpu_ns "$(pid_of tcptuned)") - cpu))
	began=$EPOCHREALTIME
	tcptuned_stop
	jq -n --argjson sockets "$sockets" --argjson adopted "$adopted" --argjson slab "$slab" \
		--argjson cpu "$cpu" --argjson idle "$idle" --argjson began "$began" \
		--argjson ended "$EPOCHREALTIME" '{sockets: $sockets, adopted_s: $adopted,
			slab_bytes_per_socket: ($slab * 1024 / $sockets), idle_s: $idle,
			idle_share: ($cpu / $idle / 1e9), stop_s: ($ended - $began)}' |
		tee "$TEST_DIR/transfer.json" >&2
}

bench_adopt() {
	local sockets=$((2 * ${BENCH_CONNECTIONS:-100000}))
	host a b
	hold_connections $((sockets / 2)) a b
	plain_row adopt $sockets tcptuned adopt $sockets
}
