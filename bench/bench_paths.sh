# SPDX-License-Identifier: GPL-2.0-only
#
# Path memory: a client asks a server, to which a transfer went before, for an amount, by a new connection each time.

. "$TEST_TOP/bench/lib.sh"

bench_paths() {
	local run mbit ms bytes path column path_then='' count=3 parallel=1
	host a b
	cubic_by_default a b
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for mbit in ${BENCH_MBIT:-100 1000}; do
			for ms in ${BENCH_RTTS:-20 100}; do
				for bytes in ${BENCH_SIZES:-100000 1000000 10000000 30000000}; do
					path="--rate ${mbit}mbit --delay $((ms * 500))us --queue ${BENCH_QUEUE:-1bdp}"
					for column in kernel bbr "tcptuned, sender" tcptuned "tcptuned, bitcp"; do
						row paths "$mbit Mbit/s, $ms ms, $((bytes / 1000)) KB" "$column" paths_measure
					done
				done
			done
		done
	done
}

paths_measure() {
	case $column in
	bbr) paths_fetch bbr ;;
	"tcptuned, sender") with_tcptuned receiver paths.remember=yes -- paths_fetch default ;;
	tcptuned) with_tcptuned sender,receiver paths.remember=yes -- paths_fetch default ;;
	"tcptuned, bitcp") with_tcptuned sender,receiver paths.remember=yes policy.congestion_control=bitcp -- \
		paths_fetch default ;;
	*) paths_fetch default ;;
	esac
}

# a is the client, and so the receiver. What the first connection carries in ${BENCH_LEARN:-2} seconds is learned.
# $path_then, if it is set, is the path from then on.
paths_fetch() { # CONGESTION_CONTROL
	rm -rf "$TEST_DIR/state"
	link a b --seed "$(run_seed)" $path
	background server ${RECEIVER_PREFIX-} in_host b "$TEST_TOP/bench/field.py" serve "${ADDR[b]}" 7000 $1
	wait_printed server listening
	${SENDER_PREFIX-} in_host a "$TEST_TOP/bench/field.py" fetch "${ADDR[b]}" 7000 0 \
		$((mbit * 125000 * ${BENCH_LEARN:-2})) 1 >/dev/null
	if [ -n "$path_then" ]; then
		link_end a b || : # it has only taught
		link a b --seed "$(run_seed)" $path_then
	fi
	[ -z "${neighbour-}" ] || paths_neighbour
	${SENDER_PREFIX-} in_host a "$TEST_TOP/bench/field.py" fetch "${ADDR[b]}" 7000 5 $bytes $count $parallel \
		>"$TEST_DIR/times"
	wait_output = $((1 + count * parallel)) grep -c retransmits "$TEST_DIR/server.log"
	stop server || :
	tail -n +3 "$TEST_DIR/server.log" | jq -cs '{retransmits: (map(.retransmits) | add / length), congestion: .[-1].congestion,
		sender: {mss: 1448}}' >"$TEST_DIR/last"
	jq -cs '.[0] + .[1]' "$TEST_DIR/times" "$TEST_DIR/last" >"$TEST_DIR/transfer.json"
	[ -n "${neighbour-}" ] || return 0
	finish neighbour
	stop to-neighbour || :
	reduce beside_a_fetch
}

# Starts with the pause before the fetch, and lasts longer than both.
paths_neighbour() {
	listener to-neighbour "in_beside in_host a" --listen "${ADDR[a]}" --port 7001 --series 50
	background neighbour in_beside in_host b "$TEST_BUILD/messages" --connect "${ADDR[a]}" --port 7001 --series 50 \
		--duration 10 $neighbour
}

# What was learned does not hold any more.
bench_paths_changed() {
	local run path mbit=1000 bytes column path_then x count=1 parallel
	path="--rate 1gbit --delay 50ms --queue 1bdp"
	host a b
	cubic_by_default a b
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		while IFS=, read -r x bytes parallel path_then <&3; do
			for column in kernel tcptuned; do
				row paths_changed "$x" "$column" paths_measure
			done
		done 3<<-END
			a tenth of the rate,10000000,1,--rate 100mbit --delay 50ms --queue 1bdp
			a hundredth of the rate,3000000,1,--rate 10mbit --delay 50ms --queue 1bdp
			a queue of 20 packets,10000000,1,--rate 1gbit --delay 50ms --queue 20p
			half of the RTT,10000000,1,--rate 1gbit --delay 25ms --queue 1bdp
			three times the RTT,10000000,1,--rate 1gbit --delay 150ms --queue 1bdp
			ten connections at once,10000000,10,--rate 1gbit --delay 50ms --queue 1bdp
		END
	done
}

# Others on the link, in the first two seconds of a fetch: four connections with as much as the kernel's buffers allow them,
# and one that uses a quarter of it.
bench_paths_neighbour() {
	local run mbit=1000 bytes=10000000 column path_then='' x count=1 parallel=1 path neighbour
	path="--rate 1gbit --delay 50ms --queue ${BENCH_QUEUE:-1bdp}"
	host a b
	cubic_by_default a b
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		while IFS=, read -r x neighbour <&3; do
			for column in kernel tcptuned; do
				row paths_neighbour "$x" "$column" paths_measure
			done
		done 3<<-END
			four that fill the link,--streams 4
			one with a quarter of it,--bytes 62500 --interval 2
		END
	done
}
