# SPDX-License-Identifier: GPL-2.0-only
#
# BI-TCP next to the kernel's congestion controls, on the same links and with the same buffers.

. "$TEST_TOP/bench/lib.sh"

keep="policy.congestion_control=keep"

# A path of 100 Mbit/s and 100 ms with a queue of one BDP, without and with random loss.
bench_friends() {
	local loss cc run
	host a b
	for loss in ${BENCH_LOSS:-0 1e-4}; do
		for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
			path="--rate 100mbit --delay 50ms --queue 1bdp --loss-ab $loss"
			for cc in bitcp cubic reno; do
				row friends "$loss" $cc tuned $keep -- --congestion $cc \
					--duration 30
			done
		done
	done
}
