# SPDX-License-Identifier: GPL-2.0-only
#
# A hundred thousand open connections, both ends of each on this host, which makes two hundred
# thousand sockets: how long a scrape takes (all added up; none of them is in the daemon's own
# network namespace), how long tcptunectl waits for the largest hundred and for one of them, and
# what map memory each takes. Then a scrape a second and traffic at once, and each of them alone:
# a stream of up to 1 Gbit/s, and round trips of a byte. BENCH_CONNECTIONS is how many connections
# (100000), BENCH_TRAFFIC how many seconds of the stream (10).

. "$TEST_TOP/bench/lib.sh"

# timed NAME COUNT COMMAND...: which prints seconds
timed() {
	local name=$1 count=$2 i
	shift 2
	for i in $(seq "$count"); do
		"$@"
	done >"$TEST_DIR/timed"
	rows seconds_taken "$name" timed
}

# Of a new answer, not of one that is kept.
scrape_time() {
	ctl status >/dev/null
	curl -s -o "$TEST_DIR/scrape" -w '%{time_total}\n' "$METRICS/metrics"
}

ctl_time() { # ARGUMENT...
	local began=$EPOCHREALTIME
	ctl "$@" >"$TEST_DIR/ctl"
	awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}

# A scrape a second, for as long as it is left running. Were traffic held up by one of 0.3 s, it
# would lose as much; scrape after scrape would take it a core besides.
scrape_on() {
	while curl -s -o /dev/null -w '%{time_total}\n' "$METRICS/metrics"; do
		sleep 1
	done
}

# Three seconds of round trips of a byte.
pingpong() { # NAME [CPU]
	local name=$1
	shift
	in_host a in_group "$TEST_BUILD/pingpong" 3 "$@" |
		jq --arg name "$name" '{($name): {p50_us, p99_us, max_us}}'
}

# What applications notice: 1 MB each 8 ms, and a byte back and forth.
traffic() {
	local SENDER_PREFIX=in_group RECEIVER_PREFIX=in_group TRANSFER_ADDR=127.0.0.1
	transfer a a --bytes 1MB --interval 8 --duration "${BENCH_TRAFFIC:-10}" |
		jq '{goodput_bps}'
	pingpong ping
	pingpong ping_cpu0 0
}

alone() { # SOCKETS
	local port
	timed scrape 10 scrape_time
	expect_eq "$(metric 'tcptuned_connections{policy="default",congestion_control="bitcp"}')" \
		"$1" "connections added up"
	timed ctl_largest 10 ctl_time flows --json
	port=$(jq -r '.flows[0].local | sub(".*:"; "")' "$TEST_DIR/ctl")
	timed ctl_one_port 3 ctl_time flows --port "$port"
	timed ctl_sorted 1 ctl_time flows --sort rtt
	traffic
}

together() {
	background scraping scrape_on
	traffic
	stop scraping || :
	rows seconds_taken scrape scraping.log
}

scrape_parts() { # COMMAND...
	"$@" >"$TEST_DIR/parts"
	jq -s add "$TEST_DIR/parts" | tee "$TEST_DIR/transfer.json" >&2
}

scrape_row() { # SOCKETS COLUMN COMMAND...
	local sockets=$1 column=$2
	shift 2
	plain_row scrape "$sockets" "$column" scrape_parts "$@"
}

bench_scrape() {
	local connections=${BENCH_CONNECTIONS:-100000} sockets bytes
	sockets=$((2 * connections))
	host a b
	tcptuned_start --set=policy.congestion_control=bitcp
	hold_connections "$connections" a b
	# the record and its head in a slab of 512 bytes, and one of 192 for what the kernel keeps
	# for each socket that has any record, of whichever program
	bytes=$(metric tcptuned_connection_records_bytes)
	expect_le $((bytes / sockets)) $((512 + 192)) "map memory of a connection, bytes: 512 for its \
record and 192 of the kernel's own"
	scrape_row $sockets alone alone $sockets
	scrape_row $sockets together together
	tcptuned_stop
}
