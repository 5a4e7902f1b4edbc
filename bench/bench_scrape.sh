# SPDX-License-Identifier: GPL-2.0-only
#
# A hundred thousand open connections, both ends of each on this host, which makes two hundred
# thousand sockets: how long a scrape takes (all added up, the largest hundred one by one), how
# long tcptunectl waits for one of them, what a ping meets while scrape follows scrape, and what
# map memory each takes. BENCH_CONNECTIONS is how many connections (100000).

. "$TEST_TOP/bench/lib.sh"

# timed NAME COUNT COMMAND...: which prints seconds; smallest, median and largest of COUNT
timed() {
	local name=$1 count=$2 i
	shift 2
	for i in $(seq "$count"); do
		"$@"
	done | sort -g | awk -v name="$name" '{ s[NR] = $1 }
		END { printf "%s: min %.3f median %.3f max %.3f s\n", name, s[1],
			s[int((NR + 1) / 2)], s[NR] }' | tee -a "$TEST_DIR/timed" >&2
}

scrape_time() { # PATH
	curl -s -o "$TEST_DIR/scrape" -w '%{time_total}\n' "$METRICS$1"
}

ctl_time() { # ARGUMENT...
	local began=$EPOCHREALTIME
	"$TEST_BUILD/tcptunectl" --config="$TEST_DIR/none.conf" \
		--set=tcptuned.runtime_directory="$TEST_DIR/run" "$@" >"$TEST_DIR/ctl"
	awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}

# scrape_on: scrape after scrape, for as long as it is left running
scrape_on() {
	while curl -s -o /dev/null "$METRICS/metrics"; do
		:
	done
}

pingpong() { # WHAT ARGUMENT...
	local what=$1
	shift
	echo "round trips of a byte, $what: $(in_host a "$TEST_BUILD/pingpong" "$@")" >&2
}

# timeout: 300
bench_scrape() {
	local connections=${BENCH_CONNECTIONS:-100000} sockets port bytes
	sockets=$((2 * connections))
	host a b
	tcptuned_start --set=metrics.flows=100
	hold_connections "$connections" a b
	timed "scrape of $sockets sockets" 10 scrape_time /metrics
	expect_eq "$(metric 'tcptuned_connections{policy="default",congestion_control="bitcp"}')" \
		$sockets "connections added up"
	expect_eq "$(metric tcptuned_flows_shown)" 100 "shown one by one"
	timed "flows.json" 10 scrape_time /flows.json
	port=$(jq -r '.flows[0].local | sub(".*:"; "")' "$TEST_DIR/scrape")
	timed "tcptunectl flows --port $port" 3 ctl_time flows --port "$port"
	timed "tcptunectl flows --sort rtt" 1 ctl_time flows --sort rtt
	# the record and its head in a slab of 512 bytes, and one of 192 for what the kernel keeps
	# for each socket that has any record, of whichever program
	bytes=$(metric tcptuned_connection_records_bytes)
	expect_le $((bytes / sockets)) $((512 + 192)) "map memory of a connection, bytes: 512 for its \
record and 192 of the kernel's own"
	pingpong "nobody scrapes" 3
	pingpong "nobody scrapes, on CPU 0" 3 0
	background scraping scrape_on
	pingpong "scrape after scrape" 3
	pingpong "scrape after scrape, on CPU 0" 3 0
	stop scraping || :
	tcptuned_stop
}
