# SPDX-License-Identifier: GPL-2.0-only
#
# Path memory: 10 MB at 100 ms over a path that nothing is known of, and over one that a
# transfer went to before. Time is from the first byte sent to the last one read.

. "$TEST_TOP/bench/lib.sh"

ten_megabytes() {
	transfer a b --count 10 --bytes 1MB --rtt-samples >/dev/null
}

over_an_unknown_path() {
	rm -rf "$TEST_DIR/state"
	with_tcptuned sender,receiver paths.remember=yes -- cold_start
}

cold_start() {
	link a b --seed "$(run_seed)" $path
	ten_megabytes
}

over_a_known_path() {
	rm -rf "$TEST_DIR/state"
	with_tcptuned sender,receiver paths.remember=yes -- warm_start
}

both_have_learned() {
	[ "$(metric 'tcptuned_paths_learned_total{result="stored"}')" -ge 2 ]
}

warm_start() {
	link a b --seed "$(run_seed)" $path
	transfer a b --duration "${BENCH_LEARN:-8}" >/dev/null
	wait_until both_have_learned
	ten_megabytes
}

# With 1 Gbit/s slow start is not over before the 10 MB are; with 100 Mbit/s it ends with a loss
# where the queue is short.
bench_paths() {
	local mbit queue run
	host a b
	for mbit in ${BENCH_MBIT:-100 1000}; do
		for queue in ${BENCH_QUEUE:-0.25bdp 1bdp}; do
			path="--rate ${mbit}mbit --delay 50ms --queue $queue"
			for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
				row paths "$mbit, $queue" unknown over_an_unknown_path
				row paths "$mbit, $queue" known over_a_known_path
			done
		done
	done
}
