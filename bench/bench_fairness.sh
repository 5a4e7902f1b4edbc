# SPDX-License-Identifier: GPL-2.0-only
#
# Several connections behind one bottleneck, each from a host of its own (paper 003, section VII).
# No tcptuned runs here: the algorithms are registered alone.

. "$TEST_TOP/bench/lib.sh"

compete_controls=${BENCH_CONTROLS:-bitcp aimd hstcp stcp cubic reno}

# compete CONTROL MBPS QUEUE SECONDS RTT:START[:CONTROL]...	connections over the bottleneck,
# from START on
#
# 20 ms of each round trip are the bottleneck's own, the rest the sender's access link, whose
# rate is ten times as high, at most 10 Gbit/s. Its queue holds 40 ms; QUEUE: drop-tail;
# RED, adaptive, with the automatic thresholds of the papers' ns-2, which are for packets of 500
# bytes; RED-1500, with the same for packets of the size that there are. A tenth of the rate each way
# is background: ten connections that send a message every 200 ms.
# The second half of the time counts, also for how late the emulator may be: where a first slow
# start loses thousands of segments at 2.5 Gbit/s, two cores are not enough for what that takes.
compete() {
	local cc=$1 mbps=$2 queue=$3 seconds=$4 i=0 spec start control red=() hosts=() length delay
	shift 4
	# to the end, though all of them are not begun at once
	length=$((seconds + 1 + $# / 5))
	case $queue in
	drop-tail) ;;
	RED) red=(--red-ab gentle,wait,adaptive,bottom=0.001,mean=500) ;;
	RED-1500) red=(--red-ab gentle,wait,adaptive,bottom=0.001) ;;
	*) fail "a queue is drop-tail, RED or RED-1500, not $queue" ;;
	esac
	for spec; do
		i=$((i + 1))
		delay=$((500 * ${spec%%:*} - 10000))us
		hosts+=(--host "10.99.0.$((10 + i)),delay=$delay,rate=$(compete_rate $mbps)")
	done
	hosts+=(--host "10.99.0.10,delay=10ms,rate=$(compete_rate $mbps)")
	register $compete_controls
	link a b --addr-a 10.99.0.1/24 --addr-b 10.99.0.2/24 --rate ${mbps}mbit --delay 10ms \
		--queue $((mbps * 125 * 40))B "${red[@]}" --seed "$(run_seed)" \
		--judge-after "$(half "$seconds")" "${hosts[@]}"
	compete_background a b $mbps $length
	compete_background b a $mbps $length
	i=0
	for spec; do
		i=$((i + 1))
		IFS=: read -r _ start control <<<"$spec"
		compete_begin $i "${control:-$cc}" "$start" $length
	done
	compete_watch "$seconds"
	for ((; i; i--)); do
		finish flow-$i
	done
	compete_background_end a
	compete_background_end b
	unregister
	reduce compete "$seconds" "${@%%:*}"
}

compete_rate() { # MBPS; of an access link
	echo "$(($1 < 1000 ? 10 * $1 : 10000))mbit"
}

# Neither end of any connection gives up before the run is over: one that gets nothing is a result.
compete_patience() { # SECONDS
	echo "--duration $1 --stall $(($1 + 60))"
}

# What one end has to send in addition to the connections, from and to host 10.
compete_background() { # FROM TO MBPS SECONDS
	local address=10.99.0.10 from=10.99.0.2 to=10.99.0.10 port=7001
	if [ "$1" = a ]; then
		in_host a ip address add $address/24 dev tun0
		from=$address to=10.99.0.2 port=7002
	fi
	listener "sink-$1" "in_host $2" --listen $to --port $port --streams 10 $(compete_patience "$4")
	background "background-$1" in_host "$1" "$TEST_BUILD/messages" --connect $to --from $from \
		--port $port --streams 10 --bytes $(($3 * 250)) --interval 200 --congestion reno \
		$(compete_patience "$4")
}

# Without it, it is not the experiment.
compete_background_end() { # FROM
	local code=0 log=$TEST_DIR/background-$1
	wait "$(pid_of "background-$1")" || code=$?
	unset "LIB_PID[background-$1]"
	jq -ce --argjson exit $code '{exit: $exit, mbps: (.goodput_bps / 1e6)} | select(.mbps > 0)' \
		"$log.log" >"$log.json" 2>/dev/null ||
		fail "background of $1, exit code $code: $(<"$log.log")"
}

compete_begin() { # NUMBER CONTROL START SECONDS
	local address=10.99.0.$((10 + $1)) port=$((7100 + $1)) length
	length=$(awk "BEGIN { print $4 - $3 }")
	in_host a ip address add $address/24 dev tun0
	listener "to-$1" "in_host b" --listen 10.99.0.2 --port $port --series 100 --discard $(compete_patience "$4")
	background "flow-$1" compete_flow "$1" "$3" "$TEST_BUILD/messages" --connect 10.99.0.2 \
		--port $port --from $address --series 100 --zerocopy --congestion "$2" \
		$(compete_patience "$4") --duration "$length"
}

compete_flow() { # NUMBER START COMMAND...
	local number=$1
	sleep "$2"
	echo "$EPOCHREALTIME" >"$TEST_DIR/began-$number"
	shift 2
	in_host a "$@"
}

# The link at half time and before the end.
compete_watch() { # SECONDS
	echo "$EPOCHREALTIME" >"$TEST_DIR/began-0"
	sleep "$(half "$1")"
	link_stats a b >"$TEST_DIR/half.json"
	sleep "$(half "$1")"
	link_stats a b >"$TEST_DIR/whole.json"
}

# Calls FUNCTION [ARG...] for every run, rate and queue, with $mbps and $queue.
compete_grid() { # FUNCTION [ARG...]
	local mbps queue run
	host a b
	compete_room
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for mbps in ${BENCH_MBPS:-100 2500}; do
			for queue in ${BENCH_QUEUES:-drop-tail RED}; do
				"$@"
			done
		done
	done
}

# Two connections, of 40 ms and of one, three, and six times that: paper 003, Tables 2 and 3.
bench_rtt_ratio() {
	local run_seconds=${BENCH_SECONDS:-60}
	compete_grid compete_ratios
}

compete_ratios() {
	local ratio cc
	for ratio in ${BENCH_RATIOS:-1 3 6}; do
		for cc in $compete_controls; do
			row rtt_ratio "$mbps Mbit/s, $queue, $ratio" $cc \
				compete $cc $mbps $queue $run_seconds 40:0 $((40 * ratio)):0.1
		done
	done
}

# Four connections of 100 ms, two of them later: paper 003, Figures 10 and 11, of 600 s.
bench_fairness() {
	local run_seconds
	run_seconds=$(seconds_of 600 120)
	compete_grid compete_each fairness 100:0 100:"$(compete_part 30)" \
		100:"$(compete_part 12)" 100:"$(compete_part 9)"
}

# Two connections of the kind, two of TCP, of about 40 ms: paper 003, Figure 9.
bench_friendliness() {
	local run_seconds=${BENCH_SECONDS:-60}
	compete_grid compete_each friendliness 38:0 42:0.1 36:0.2:reno 44:0.3:reno
}

compete_each() { # BENCH RTT:START[:CONTROL]...
	local bench=$1 cc
	shift
	for cc in $compete_controls; do
		row "$bench" "$mbps Mbit/s, $queue" $cc compete $cc $mbps $queue $run_seconds "$@"
	done
}

compete_part() { # N; the Nth part of a run
	awk "BEGIN { print $run_seconds / $1 }"
}

# Windows of 2.5 Gbit/s times 240 ms and a queue: no buffer is to be what binds.
compete_room() {
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 65536 400000000"
	in_host b sysctl -qw net.ipv4.tcp_rmem="4096 131072 800000000"
}
