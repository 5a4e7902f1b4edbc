# SPDX-License-Identifier: GPL-2.0-only
#
# tcptune-run, as an unprivileged user: programs that set SO_RCVBUF get the rate of their path, also without
# shared libraries; exit statuses, signals and what is in the report.

# What an unprivileged user can reach, in the mount namespace of the test.
own=/mnt
run=($own/tcptune-run)
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=$own)

prepare() {
	mount -t tmpfs -o mode=1777 tmpfs $own
	cp "$TEST_BUILD/tcptune-run" "$TEST_BUILD"/tests/system/{receive,preload_rcvbuf.so} \
		"$TEST_TOP/tests/system/sockets.py" $own
}

megabytes=60

# A path of 1 Gbit/s and 50 ms, whose sender is no limit.
long_path() {
	prepare
	host a b
	link a b --rate 1gbit --delay 25ms
	in_host b sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
}

serve() {
	background http in_host b "$TEST_TOP/tests/system/http_ranges.py" 10.99.0.2 8000 $((megabytes << 20))
	wait_printed 20 http listening
}

mbit() { # COMMAND...; that receives $megabytes; prints Mbit/s
	local began=$EPOCHREALTIME
	in_host a "$@" >"$TEST_DIR/said"
	awk -v a="$began" -v b="$EPOCHREALTIME" -v m=$megabytes 'BEGIN { print 8.388608 * m / (b - a) }'
}

by_curl() { # PREFIX...
	mbit "$@" curl -sf -o /dev/null http://10.99.0.2:8000/file
}

test_tcptune_run_curl() {
	local fixed withheld by_hand
	long_path
	serve
	by_hand=$(by_curl env LD_PRELOAD="$own/preload_rcvbuf.so" RCVBUF_FORCE=12500000)
	export LD_PRELOAD=$own/preload_rcvbuf.so RCVBUF=65536
	withheld=$(by_curl "${nobody[@]}" "${run[@]}")
	tuned=$(by_curl "${nobody[@]}" "${run[@]}" --tune --json --output "$own/report")
	cat "$own/report"
	unset LD_PRELOAD
	note by hand $by_hand withheld $withheld tuned $tuned
}
