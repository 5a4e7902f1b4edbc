# SPDX-License-Identifier: GPL-2.0-only
#
# Clients with Poisson traffic behind one gateway, on the kernel (paper 002, Figures 2 to 4), with
# the paper's Table 1. The burstiness is what tcptuned counts of its host, metrics.burstiness;
# nothing is tuned here.

. "$TEST_TOP/bench/lib.sh"

clients_warm_up=8

# COUNT CONTROL QUEUE SECONDS SEED; QUEUE: drop-tail or RED
clients_of() {
	local count=$1 cc=$2 seconds=$4 seed=$5 red=() hosts=() i conf=$TEST_DIR/clients.conf
	[ "$3" != RED ] || red=(--red-ab min=10p,max=40p,weight=0.002,wait)
	for ((i = 0; i < count; i++)); do
		hosts+=(--host "10.99.0.$((11 + i)),delay=25ms,rate=10mbit")
	done
	: >"$conf"
	tcptuned_start --config="$conf" --set=policy.mode=off --register tt_reno,tt_vegas
	link a b --addr-a 10.99.0.1/24 --addr-b 10.99.0.2/24 --rate 50mbit --delay 25ms \
		--queue 50p "${red[@]}" --seed "$seed" "${hosts[@]}"
	for ((i = 0; i < count; i++)); do
		in_host a ip address add 10.99.0.$((11 + i))/24 dev tun0
	done
	background server in_host b "$TEST_BUILD/poisson" 10.99.0.2 7300 $((20 * 1448))
	wait_until 10 grep -q '^listening' "$TEST_DIR/server.log"
	background clients in_group in_host a "$TEST_BUILD/poisson" 10.99.0.2 7300 10.99.0.11 \
		"$count" "$cc" $((clients_warm_up + seconds + 3)) "$seed"
	sleep $clients_warm_up
	printf '[metrics]\nburstiness = 100ms\n' >"$conf"
	kill -HUP "$(pid_of tcptuned)" || fail "tcptuned: $(<"$TEST_DIR/tcptuned.log")"
	link_stats a b >"$TEST_DIR/half.json"
	sleep "$seconds"
	curl -sf -o "$TEST_DIR/scrape" "$METRICS/metrics"
	link_stats a b >"$TEST_DIR/whole.json"
	wait "$(pid_of clients)" || fail "poisson: $(<"$TEST_DIR/clients.log")"
	unset "LIB_PID[clients]"
	stop server || :
	tcptuned_stop
	clients_result >"$TEST_DIR/transfer.json"
}

# Of all connections of the host
clients_metric() { # NAME
	awk -v name="tcptuned_burstiness_$1{congestion_control=\"all\"}" '$1 == name { print $2 }' \
		"$TEST_DIR/scrape"
}

clients_result() {
	jq --slurpfile half "$TEST_DIR/half.json" --slurpfile whole "$TEST_DIR/whole.json" \
		--argjson cov "$(clients_metric cov)" \
		--argjson mean "$(clients_metric segments_per_interval)" '
		$half[0].ab as $h | $whole[0].ab as $w
		| ($whole[0].up_seconds - $half[0].up_seconds) as $seconds
		| {seconds: $seconds, sender: {mss: 1448}, retransmits: .retransmitted,
			goodput_bps: (($w.out.bytes - $h.out.bytes) * 8 / $seconds), $cov, $mean,
			loss: (($w.drops.total.segments - $h.drops.total.segments)
				/ ($w.in.segments - $h.in.segments))}' "$TEST_DIR/clients.log"
}

# timeout: 7200
bench_clients() {
	local run count queue cc
	host a b
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 16777216"
	for ((run = 0; run < ${BENCH_RUNS:-3}; run++)); do
		for count in ${BENCH_CLIENTS:-20 44 60}; do
			for queue in ${BENCH_QUEUES:-drop-tail RED}; do
				for cc in ${BENCH_CONTROLS:-tt_reno tt_vegas bitcp}; do
					row clients "$count, $queue" $cc clients_of "$count" $cc $queue \
						"${BENCH_SECONDS:-30}" $((run + ${BENCH_SEED:-1}))
				done
			done
		done
	done
}
