# SPDX-License-Identifier: GPL-2.0-only
#
# Clients with Poisson traffic behind one gateway, on the kernel (paper 002, Figures 2 to 4), with
# the paper's Table 1. The burstiness is that of all segments of the clients' host, as burstiness.bpf.c
# counts them (cov_seconds: over how long). No tcptuned runs here.

. "$TEST_TOP/bench/lib.sh"

clients_warm_up=8
clients_controls=${BENCH_CONTROLS:-tt_reno tt_vegas bitcp}

# The gateway's queue in linkem's words.
gateway() { # drop-tail|RED
	case $1 in
	drop-tail) echo "--queue 50p" ;;
	RED) echo "--queue 50p --red-ab min=10p,max=40p,wait,weight=0.002" ;;
	*) fail "there is no gateway $1" ;;
	esac
}

# The network, the server, and the congestion controls.
clients_network() { # COUNT GATEWAY
	local hosts=() i queue
	queue=$(gateway "$2")
	for ((i = 0; i < $1; i++)); do
		hosts+=(--host "10.99.0.$((11 + i)),delay=25ms,rate=10mbit")
	done
	register $clients_controls
	link a b --addr-a 10.99.0.1/24 --addr-b 10.99.0.2/24 --rate 50mbit --delay 25ms \
		$queue --seed "$(run_seed)" "${hosts[@]}"
	for ((i = 0; i < $1; i++)); do
		in_host a ip address add 10.99.0.$((11 + i))/24 dev tun0
	done
	background server in_host b "$TEST_BUILD/poisson" 10.99.0.2 7300 $((20 * 1448))
	wait_printed server '^listening'
}

# Returns when they are warm.
clients_begin() { # COUNT CONTROL
	background clients in_group in_host a "$TEST_BUILD/poisson" 10.99.0.2 7300 \
		10.99.0.11 "$1" "$2" "$(run_seed)"
	wait_printed clients '^connected'
	sleep $clients_warm_up
}

clients_end() {
	stop clients && tail -n 1 "$TEST_DIR/clients.log" | jq -e .segments >/dev/null ||
		fail "poisson: $(<"$TEST_DIR/clients.log")"
}

clients_count() { # SECONDS
	burstiness_begin
	link_stats a b >"$TEST_DIR/half.json"
	sleep "$1"
	link_stats a b >"$TEST_DIR/whole.json"
	burstiness_end
}

clients_of() { # COUNT CONTROL GATEWAY SECONDS
	clients_network "$1" "$3"
	clients_begin "$1" "$2"
	clients_count "$4"
	clients_end
	stop server || :
	unregister
	reduce clients
}

counter=/sys/fs/bpf/burstiness

burstiness_begin() {
	bpftool prog load "$TEST_BUILD/bench/burstiness.bpf.o" $counter pinmaps $counter-maps
	bpftool cgroup attach "$TEST_CGROUP/group" cgroup_inet_egress pinned $counter
}

burstiness_end() {
	bpftool cgroup detach "$TEST_CGROUP/group" cgroup_inet_egress pinned $counter
	bpftool -j map dump pinned $counter-maps/segments >"$TEST_DIR/segments.json"
	rows burstiness >"$TEST_DIR/burstiness.json"
	rm -r $counter $counter-maps
}

clients_hosts() {
	host a b
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 16777216"
}

bench_clients() {
	local run count queue cc run_seconds
	run_seconds=$(seconds_of 200 30)
	clients_hosts
	for ((run = 0; run < ${BENCH_RUNS:-3}; run++)); do
		for count in ${BENCH_CLIENTS:-20 44 60}; do
			for queue in ${BENCH_QUEUES:-drop-tail RED}; do
				for cc in $clients_controls; do
					row clients "$count, $queue" $cc \
						clients_of "$count" $cc $queue $run_seconds
				done
			done
		done
	done
}
