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

# The scale that BI-TCP was made for: one flow, default buffers, 100 ms. One segment is lost in
# the middle, when the path has long been full. At 10 Gbit/s two cores are barely enough for both
# hosts and the link: the queue is deep enough for no other loss, and ten times the usual lateness
# is accepted and recorded.
bench_scale() {
	local gbit run loss_at queue LINK_TOLERANCE
	host a b
	for gbit in ${BENCH_GBIT:-2.5 10}; do
		case $gbit in
		10) queue=4bdp LINK_TOLERANCE=10 ;;
		*) queue=1bdp LINK_TOLERANCE=${BENCH_TOLERANCE:-1} ;;
		esac
		queue=${BENCH_QUEUE:-$queue}
		loss_at=$(awk "BEGIN { print int($gbit * 1e9 / 12000 * 8) }")
		path="--rate ${gbit}gbit --delay 50ms --queue $queue --loss-at $loss_at"
		for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
			scale "without, cubic" untuned --congestion cubic
			scale "without, bbr" untuned --congestion bbr
			scale "tcptuned, bitcp" tuned --
			scale "tcptuned, cubic" tuned $keep -- --congestion cubic
			scale "tcptuned, bbr" tuned $keep -- --congestion bbr
		done
	done
}

scale() { # COLUMN FUNCTION...
	local column=$1
	shift
	row scale "$gbit, $queue" "$column" "$@" --duration 20 --series 20 --zerocopy --discard
}
