# SPDX-License-Identifier: GPL-2.0-only
#
# A hundred thousand open connections, both ends of each on this host, which makes two hundred
# thousand sockets: how long a scrape takes (all added up; none of them is in the daemon's own
# network namespace), and what map memory each takes. Then a scrape a second and traffic at once,
# and each of them alone: a stream of up to 1 Gbit/s.

. "$TEST_TOP/bench/lib.sh"

# Of a new answer, not of one that is kept.
scrape_time() {
	ctl status >/dev/null
	curl -s -o "$TEST_DIR/scrape" -w '%{time_total}\n' "$METRICS/metrics"
}

# A scrape a second, for as long as it is left running. Were traffic held up by one of 0.3 s, it
# would lose as much; scrape after scrape would take it a core besides.
scrape_on() {
	while curl -s -o /dev/null -w '%{time_total}\n' "$METRICS/metrics"; do
		sleep 1
	done
}

# 1 MB each 8 ms
traffic() {
	local SENDER_PREFIX=in_group RECEIVER_PREFIX=in_group TRANSFER_ADDR=127.0.0.1
	transfer a a --bytes 1MB --interval 8 --duration "${BENCH_TRAFFIC:-10}" |
		jq '{goodput_bps}'
}

alone() { # SOCKETS
	local i
	for i in $(seq 10); do
		scrape_time
	done >"$TEST_DIR/scrapes"
	rows seconds_taken scrapes
	expect_eq "$(metric 'tcptuned_connections{policy="default",congestion_control="bitcp"}')" \
		"$1" "connections added up"
	traffic
}

together() {
	background scraping scrape_on
	traffic
	stop scraping || :
	rows seconds_taken scraping.log
}

scrape_parts() { # COMMAND...
	"$@" >"$TEST_DIR/parts"
	jq -s add "$TEST_DIR/parts" | tee "$TEST_DIR/transfer.json" >&2
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
	plain_row scrape $sockets alone scrape_parts alone $sockets
	plain_row scrape $sockets together scrape_parts together
	tcptuned_stop
}
