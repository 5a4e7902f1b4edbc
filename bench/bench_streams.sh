# SPDX-License-Identifier: GPL-2.0-only
#
# How many connections (paper 004), on paths of today, with the kernel's default buffers: what 1 to 16 of the
# kernel carry together, and one of tcptuned as shipped; what `tcptunectl streams` advises, and what it costs;
# and what others, which use cubic, have left.
# BENCH_PATH: only paths that have this in their names.

. "$TEST_TOP/bench/lib.sh"

streams_head_start=10 # seconds by which the others begin earlier: they have left slow start then

streams_others() { # SECONDS; starts them, if the path has others
	[ "$others" != 0 ] || return 0
	local options=(--port 7001 --streams "$others" --series 100 --duration $1 --stall 300)
	listener to-others "in_host b" --listen "${ADDR[b]}" "${options[@]}"
	background others in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" --congestion "$control" \
		"${options[@]}"
	sleep $streams_head_start
}

# For $run_seconds. Adds what the others had of that.
streams_measure() { # OURS [MESSAGES OPTION...]
	local ours=$1
	shift
	link a b --seed "$(run_seed)" $path
	if [ -n "$single" ]; then
		in_host a ip link set tun0 gso_max_segs 1
		in_host b ip link set tun0 gso_max_segs 1
	fi
	streams_others $((streams_head_start + run_seconds))
	if [ "$ours" = 0 ]; then
		jq -nc '{goodput_bps: 0, sender: {mss: 1448}}' >"$TEST_DIR/transfer.json"
	else
		transfer a b --streams "$ours" --duration $run_seconds --stall 300 $receiver "$@" >/dev/null
	fi
	[ "$others" != 0 ] || return 0
	finish others
	stop to-others || :
	reduce streams $streams_head_start
}

# An iperf3 server has no option that fixes its receive buffer: where $receiver has one, the maximum is that.
streams_ask() {
	local rmem
	rmem=$(in_host b sysctl -n net.ipv4.tcp_rmem)
	link a b --seed "$(run_seed)" $path
	streams_others 300
	[ -z "$receiver" ] || in_host b sysctl -qw net.ipv4.tcp_rmem="4096 131072 131072"
	background iperf3 in_host b iperf3 --server --forceflush
	wait_printed iperf3 "listening"
	in_host a "$TEST_BUILD/tcptunectl" streams --json --cc cubic --max-streams "$most" "${ADDR[b]}" \
		>"$TEST_DIR/advice" 2>"$TEST_DIR/refusal" || jq -Rc '{refusal: .}' "$TEST_DIR/refusal" >"$TEST_DIR/advice"
	jq -c '. + {goodput_bps: (.fastest.bits_per_second // 0), probe_s: .seconds, sender: {mss: 1448}}' \
		"$TEST_DIR/advice" >"$TEST_DIR/transfer.json"
	stop iperf3 || :
	in_host b sysctl -qw net.ipv4.tcp_rmem="$rmem"
	[ "$others" = 0 ] || { stop others || :; stop to-others || :; }
}

# The number within the bound that was advised, if it is none of those that are measured anyway.
streams_advised() { # X
	rows streams_advised "$1" | grep -vxE '1|2|4|8|16' || :
}

streams_path() { # X
	local x=$1 n
	row streams "$x" advice streams_ask
	for n in $([ "$others" = 0 ] || echo 0) 1 2 4 8 16 $(streams_advised "$x"); do
		[ "$n" -gt "$most" ] || row streams "$x" "kernel, $n" streams_measure $n --congestion $control
	done
	row streams "$x" "tcptuned, 1" with_tcptuned sender,receiver -- streams_measure 1
}

bench_streams() {
	local run x others most receiver control=cubic single= run_seconds
	host a b
	cubic_by_default a
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for x in "1 Gbit/s, 50 ms, a quarter of a BDP" "the same, 4 others" "the same, 16 others" \
			"1 Gbit/s, 100 ms, loss of 1e-4" "1 Gbit/s, 50 ms, receiver fixed at 64 KB" \
			"1 Gbit/s, 20 ms, policed to 100 Mbit/s for each" "200 Mbit/s, 40 ms, RED, 4 others" \
			"10 Gbit/s, 100 ms"; do
			[[ $x = *"${BENCH_PATH-}"* ]] || continue
			others=0 most=16 receiver=
			case $x in
			*"a quarter"*) path="--rate 1gbit --delay 25ms --queue 0.25bdp" ;;
			"the same, "*) others=${x//[^0-9]/} path="--rate 1gbit --delay 25ms --queue 0.25bdp" ;;
			*loss*) path="--rate 1gbit --delay 50ms --loss-ab 1e-4" ;;
			*receiver*) path="--rate 1gbit --delay 25ms" receiver="--rcvbuf 64KiB" ;;
			*policed*) path="--rate 1gbit --delay 10ms --police-ab 100mbit:500KB:flow" ;;
			*RED*) path="--rate 200mbit --delay 20ms --queue 1bdp --red-ab auto" others=4 ;;
			*) path="--rate 10gbit --delay 50ms" most=4 ;;
			esac
			run_seconds=${BENCH_SECONDS:-$([ $others = 0 ] && echo 10 || echo 20)}
			streams_path "$x"
		done
	done
}

# Scenarios 1, 2, 3 and 6 of paper 004, Figure 2, by the kernel: its queue of 25 packets is shorter than one
# GSO segment, so that each packet is sent by itself. The others use the same congestion control.
bench_paper_streams() {
	local run x n scenario others receiver control single=yes run_seconds=${BENCH_SECONDS:-20}
	host a b
	for ((run = 0; run < ${BENCH_RUNS:-1}; run++)); do
		for scenario in 1 2 3 6; do
			receiver= path="--rate 100mbit --delay 29ms --queue 25p"
			case $scenario in
			1) path="--rate 1500kbit --delay 29ms --queue 25p" ;;
			3) path="--rate 100mbit --delay 59ms --queue 25p" ;;
			6) receiver="--rcvbuf 60KiB" ;; # 41 packets
			esac
			for control in ${BENCH_CC:-reno cubic}; do
				for others in 0 5 15; do
					for n in ${BENCH_STREAMS:-1 2 4 8 10 15 20 30}; do
						row paper_streams "scenario $scenario, $control, $others others" "kernel, $n" \
							streams_measure $n --congestion $control
					done
				done
			done
		done
	done
}
