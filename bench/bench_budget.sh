# SPDX-License-Identifier: GPL-2.0-only
#
# A memory budget that is too small for all: what one connection gets of it next to many that are idle.

. "$TEST_TOP/bench/lib.sh"

# One connection next to COUNT idle ones that sent BYTES each once, from the sources in turn.
next_to_idle() { # COUNT BYTES [SOURCE...]
	link a b --seed "$(run_seed)" $path
	if [ "$1" != 0 ]; then
		background server $RECEIVER_PREFIX in_host b "${keep_alive[@]}" serve "${ADDR[b]}"
		wait_printed server listening
		[ $# -le 2 ] || in_host b ip route add 10.200.0.0/16 via "${ADDR[a]}"
		background clients $SENDER_PREFIX in_host a "${keep_alive[@]}" connect "${ADDR[b]}" "$@"
		wait_printed clients sent
		wait_printed server "MB $(($1 * $2 / 1000000))"
	fi
	transfer a b --congestion cubic --duration "${BENCH_SECONDS:-8}" >/dev/null
	if [ "$1" != 0 ]; then
		stop clients || :
		stop server || :
	fi
}

# 400 keep-alive connections that sent 60 KB once; and 100 of four networks that sent enough to get large
# windows, as a peer would that wants the whole budget.
bench_idle() {
	local run x i tuned SENDER_PREFIX= RECEIVER_PREFIX=
	local keys="memory.budget=24M policy.congestion_control=keep"
	host a b
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	for i in 1 2 3 4; do
		in_host a ip address add 10.200.$i.1/32 dev lo
	done
	path="--rate 1gbit --delay 25ms --queue 1bdp"
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for x in "none" "400, 60 KB" "100 of 4 networks, 4 MB"; do
			tuned=sender,receiver
			case $x in
			none) set -- 0 ;;
			400*) set -- 400 60000 ;;
			*)
				# All have the same peer for their sender, which is not tuned therefore.
				set -- 100 4000000 10.200.{1,2,3,4}.1
				tuned=receiver
				;;
			esac
			row idle "$x" kernel next_to_idle "$@"
			row idle "$x" tcptuned with_tcptuned $tuned $keys -- next_to_idle "$@"
		done
	done
}
