# SPDX-License-Identifier: GPL-2.0-only
#
# A hundred thousand open connections: how long it takes to adopt them, what memory each takes,
# how long a scrape takes and what the daemon costs while it only watches. Half of them in each
# of two network namespaces, and both ends of each are on this host: twice as many sockets.
#
# Memory is by how much the kernel's slabs grow while they are adopted, all of it, and what ss
# says that each socket is charged for (skmem's o: option memory, before rounding to a slab).
# BENCH_CONNECTIONS is how many connections (100000).

. "$TEST_TOP/bench/lib.sh"

cpu_ticks() { # PID: user and system time, in 1/100 s
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}

# timeout: 300
bench_adopt() {
	local sockets=$((2 * ${BENCH_CONNECTIONS:-100000})) before ticks i began
	host a b
	hold_connections $((sockets / 2)) a b
	before=$(awk '/^Slab:/ { print $2 }' /proc/meminfo)
	tcptuned_start --set=metrics.flows=100
	expect_eq "$(metric 'tcptuned_connections_claimed_total{opened="before"}')" $sockets adopted
	grep -E 'adopted [0-9]+ connections' "$TEST_DIR/tcptuned.log" >&2
	echo "slab, bytes per socket: $((($(awk '/^Slab:/ { print $2 }' /proc/meminfo) - before) * \
		1024 / sockets))" >&2
	in_host a ss -tnemOH state established | grep -oE ',o[0-9]+,' | sort | uniq -c | head -n 3 >&2
	for i in 1 2 3 4 5; do
		curl -s -o /dev/null -w 'scrape %{time_total} s, %{size_download} bytes\n' \
			"$METRICS/metrics" >&2
	done
	ticks=$(cpu_ticks "$(pid_of tcptuned)")
	sleep 10
	echo "idle: $(($(cpu_ticks "$(pid_of tcptuned)") - ticks)) of 1000 ticks of a core" >&2
	began=$EPOCHREALTIME
	tcptuned_stop
	echo "stop: $(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }') s" >&2
}
