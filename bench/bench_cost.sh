# SPDX-License-Identifier: GPL-2.0-only
#
# What tcptuned costs where it has nothing to gain: as many bytes as a core can send, over a
# plain veth between two hosts. Each host has a core of its own, its interrupts included (RPS):
# else segments are received on the core that happens to send them, overtake each other, and
# what is measured is retransmissions.

. "$TEST_TOP/bench/lib.sh"

veth() { # CORE_OF_A CORE_OF_B [ip link OPTION...]
	cores=([a]=$1 [b]=$2)
	shift 2
	ip link add veth netns "$(lib_netns a)" type veth peer name veth netns "$(lib_netns b)"
	ADDR=([a]=10.99.0.1 [b]=10.99.0.2)
	local name
	for name in a b; do
		in_host $name ip address add ${ADDR[$name]}/30 dev veth
		in_host $name ip link set veth up "$@"
		in_host $name unshare --mount sh -c "mount -t sysfs sysfs /sys &&
			echo $((1 << cores[$name])) >/sys/class/net/veth/queues/rx-0/rps_cpus"
	done
	# a sender that begins with small windows may stay there, one wake-up per segment
	in_host a ip route change 10.99.0.0/30 dev veth initcwnd 400
}

# By $processes processes (one), each with a connection or as many as -P says.
iperf() { # [IPERF3 OPTION...]
	local port last=$((5200 + ${processes:-1}))
	for ((port = 5201; port <= last; port++)); do
		background receiver-$port in_host b ${RECEIVER_PREFIX-} taskset -c ${cores[b]} iperf3 -s -1 -p $port
		wait_output != "" in_host b ss -Htln "sport = $port"
	done
	for ((port = 5201; port <= last; port++)); do
		background sender-$port in_host a ${SENDER_PREFIX-} taskset -c ${cores[a]} iperf3 -c ${ADDR[b]} -p $port \
			-J -t 1 "$@"
	done
	for ((port = 5201; port <= last; port++)); do
		wait "$(pid_of sender-$port)"
		stop receiver-$port || :
	done
	jq -cs 'map(.end) | {seconds: .[0].sum_sent.seconds,
		goodput_bps: (map(.sum_received.bits_per_second) | add),
		retransmits: (map(.sum_sent.retransmits) | add), congestion: .[0].receiver_tcp_congestion,
		sender_cpu: (map(.cpu_utilization_percent.host_total) | add),
		receiver_cpu: (map(.cpu_utilization_percent.remote_total) | add)}' \
		"$TEST_DIR"/sender-*.log >"$TEST_DIR/transfer.json"
}

# The time that the kernel counts for the programs, as a share of one core, and for each segment that b gets.
# Counting costs, too, 40 ns a call: of these rows the throughput is not looked at.
counted() { # COMMAND...
	local before segments
	sysctl -qw kernel.bpf_stats_enabled=1
	before=$(program_seconds)
	segments=$(segments_in b)
	"$@"
	segments=$(($(segments_in b) - segments))
	jq -c --argjson before "$before" --argjson after "$(program_seconds)" --argjson segments $segments \
		'($after - $before) as $spent |
		. + {programs_share: ($spent / .seconds), programs_ns: ($spent * 1e9 / $segments)}' \
		"$TEST_DIR/transfer.json" >"$TEST_DIR/counted.json"
	sysctl -qw kernel.bpf_stats_enabled=0
	mv "$TEST_DIR/counted.json" "$TEST_DIR/transfer.json"
}

segments_in() { # HOST; those of 64 KB count once
	in_host "$1" awk '/^Ip: [0-9]/ { print $4 }' /proc/self/net/snmp
}

program_seconds() {
	scrape
	awk '/^tcptuned_program_run_seconds_total/ { sum += $2 } END { print sum + 0 }' "$TEST_DIR/scrape"
}

# The sender's buffer is the same for all and the limit, so that what differs is the work alone:
# a larger one fills caches and the kernel's queue between two such hosts, and each congestion
# control has its own answer to that. Reno, for it does not leave slow start by itself.
# "without" twice: how far two measurements of the same thing differ.
cost() { # X SEND_BUFFER [IPERF3 OPTION...]
	local run key=policy.send_window_max=$2 reno=(iperf -C reno "${@:3}")
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 $2 $2"
	for ((run = 0; run < ${BENCH_PAIRS:-20}; run++)); do
		plain_row cost "$1" without "${reno[@]}"
		plain_row cost "$1" "tcptuned, reno" with_tcptuned sender,receiver $key \
			policy.congestion_control=keep -- "${reno[@]}"
		plain_row cost "$1" tcptuned with_tcptuned sender,receiver $key -- "${reno[@]}"
		plain_row cost "$1" "without, again" "${reno[@]}"
		plain_row cost "$1" "tcptuned, counted" with_tcptuned sender,receiver $key -- counted "${reno[@]}"
	done
}

# GSO segments of 64 KB, as a sender with segmentation offload hands them over.
bench_cost_offload() {
	local -A cores
	host a b
	veth 0 1
	cost "64 KB, one core each" 1048576
}

# Each of 1,000 sends a segment of 64 KB every 20 ms or so. iperf3 has at most 128 in a process.
bench_cost_many() {
	local -A cores
	local processes=8
	host a b
	veth 0 1
	cost "64 KB, one core each, 1,000 connections" 131072 -P 125 -t 4
}

# Segments one by one, an ACK for every two, and all on one core: whatever either side spends is missing from the
# throughput.
bench_cost_one_core() {
	local -A cores
	host a b
	veth 0 0 gso_max_segs 1
	cost "1448 B, one core for both" 524288
}

# New connections per second: nginx answers, wrk asks again and again on a connection of its own.
connections() { # FILE
	cat >"$TEST_DIR/nginx.conf" <<-END
		daemon off; worker_processes 1; pid $TEST_DIR/nginx.pid; error_log stderr;
		user root;
		events { worker_connections 4096; }
		http { access_log off; server { listen ${ADDR[b]}:8080 reuseport; root $TEST_DIR; } }
	END
	background nginx in_host b ${RECEIVER_PREFIX-} taskset -c ${cores[b]} nginx \
		-e stderr -c "$TEST_DIR/nginx.conf"
	wait_output != "" in_host b ss -Htln "sport = 8080"
	in_host a ${SENDER_PREFIX-} taskset -c ${cores[a]} wrk -t 1 -c 64 -d "${BENCH_SECONDS:-4}" \
		-H "Connection: close" "http://${ADDR[b]}:8080/$1" >"$TEST_DIR/wrk.log"
	stop nginx || :
	! grep -E 'Socket errors|Non-2xx' "$TEST_DIR/wrk.log" || fail "wrk: $(<"$TEST_DIR/wrk.log")"
	awk '/^Requests\/sec:/ { printf "{\"connections_per_s\": %s}\n", $2 }' \
		"$TEST_DIR/wrk.log" >"$TEST_DIR/transfer.json"
}

# "without" twice: how far two measurements of the same thing differ.
bench_connections() {
	local run bytes
	local -A cores
	command -v nginx >/dev/null && command -v wrk >/dev/null || skip "needs nginx-light and wrk"
	host a b
	veth 0 1
	for bytes in 100 100000; do
		head -c $bytes /dev/zero >"$TEST_DIR/$bytes"
	done
	for ((run = 0; run < ${BENCH_PAIRS:-12}; run++)); do
		for bytes in 100 100000; do
			plain_row connections "$bytes bytes" without connections $bytes
			plain_row connections "$bytes bytes" tcptuned \
				with_tcptuned sender,receiver -- connections $bytes
			plain_row connections "$bytes bytes" "without, again" connections $bytes
		done
	done
}
