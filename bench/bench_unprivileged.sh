# SPDX-License-Identifier: GPL-2.0-only
#
# tcptune-run by a user without privileges: programs that receive 100 MB with SO_RCVBUF at 64 KB, and a sender;
# 1 Gbit/s, cubic, the other host has 64 MB for its connections. Rates of receivers are those of the whole command,
# from its start to its end.
#
# column	receivers						sender
# kernel	10 MB, as its fixed buffer fixes the rate		this kernel's limits
# by hand	a buffer of 2 x BDP by root (SO_RCVBUFFORCE)		64 MB in net.core.wmem_max and tcp_wmem
# tcptune-run	sizes are withheld
# --tune	the same, and right-sizing in user space		the same
#
# And what it costs: iperf3 over the loopback interface, "without" twice to show how far two measurements of the same
# differ, and tcptune-run's own processor time.

. "$TEST_TOP/bench/lib.sh"
. "$TEST_TOP/tests/system/unprivileged.sh"

unprivileged=("${nobody[@]}" $own/tcptune-run)

unprivileged_hosts() {
	prepare_own
	host a b
	cubic_by_default a b
}

serve() { # FILE BYTES PORT; by HTTP, to who connects at PORT + 1, and by rsync
	serve_http "$3" "$2"
	serve_zeroes $(($3 + 1)) "$2"
	head -c "$2" /dev/zero >"$own/$1"
}

serve_all() {
	in_host b sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	serve all 100000000 8000
	serve part 10000000 8100
	serve_rsync
	[ -z "$(type -P go)" ] || build_receive_go
}

# Sets $command, which receives FILE with a buffer that the program fixes at 64 KB, or that root forces. Of static
# programs only the one in C can have it forced.
receiver_of() { # FILE PROGRAM fixed|forced
	local port=8000 fixed='' preload=(env LD_PRELOAD=$own/preload_rcvbuf.so RCVBUF_FORCE=$window)
	[ "$1" = all ] || port=8100
	[ "$3" = forced ] || { fixed=yes preload=(); }
	case $2-$3 in
	curl-*)
		[ -z "$fixed" ] || preload=(env LD_PRELOAD=$own/preload_rcvbuf.so RCVBUF=65536)
		command=(curl -sf -o /dev/null "http://${ADDR[b]}:$port/file")
		;;
	lftp-*) command=(lftp --norc -c "${fixed:+set net:socket-buffer 65536;} get http://${ADDR[b]}:$port/file -o $own/got") ;;
	rsync-*) command=(rsync --whole-file --ignore-times ${fixed:+--sockopts=SO_RCVBUF=65536}
		"rsync://${ADDR[b]}:8730/files/$1" $own/got) ;;
	Python-*) command=($own/sockets.py tcp4 ${fixed:+set rcvbuf 65536} connect "${ADDR[b]}" $((port + 1))
		receive $bytes) ;;
	Go-fixed) command=($own/receive_go "${ADDR[b]}:$((port + 1))" 65536) ;;
	C-fixed) command=($own/receive "${ADDR[b]}" $((port + 1)) 65536) ;;
	*-forced) command=($own/receive "${ADDR[b]}" $((port + 1)) $window by_hand) ;;
	esac
	command=("${preload[@]}" "${command[@]}")
}

receive_measure() { # PROGRAM fixed|forced all|part [PREFIX...]
	local command began bytes=100000000
	[ "$3" = all ] || bytes=10000000
	link a b --seed "$(run_seed)" $path
	receiver_of "$3" "$1" "$2"
	began=$EPOCHREALTIME
	TEST_DIR=$own in_host a "${@:4}" "${command[@]}" >"$TEST_DIR/said"
	[[ ${command[*]} != *$own/receive* ]] || expect_eq "$(<"$TEST_DIR/said")" $bytes "bytes"
	awk -v a="$began" -v b="$EPOCHREALTIME" -v n="$bytes" 'BEGIN {
		printf "{\"bytes\": %d, \"elapsed_s\": %f, \"goodput_bps\": %f, \"sender\": {\"mss\": 1448}}\n",
			n, b - a, 8 * n / (b - a) }' >"$TEST_DIR/transfer.json"
	rm -f $own/got
}

bench_unprivileged() {
	local run rtt program window
	unprivileged_hosts
	serve_all
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for rtt in ${BENCH_RTTS:-25 50 100}; do
			path="--rate 1gbit --delay $(half "$rtt")ms --queue 40MB"
			window=$((2 * 125000 * rtt))
			for program in curl lftp rsync Python Go C; do
				[ $program != Go ] || [ -x $own/receive_go ] || continue
				unprivileged_rows "$program, $rtt ms"
			done
		done
	done
}

unprivileged_rows() { # X
	row unprivileged "$1" kernel receive_measure $program fixed part "${nobody[@]}"
	row unprivileged "$1" "by hand" receive_measure $program forced all
	row unprivileged "$1" tcptune-run receive_measure $program fixed all "${unprivileged[@]}"
	row unprivileged "$1" "--tune" receive_measure $program fixed all "${unprivileged[@]}" --tune
}

send_measure() { # PREFIX...
	SENDER_PREFIX="$*" untuned --duration 10
}

bench_unprivileged_sender() {
	local run rtt
	unprivileged_hosts
	in_host b sysctl -qw net.ipv4.tcp_rmem="4096 131072 134217728"
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 4194304"
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for rtt in ${BENCH_RTTS:-25 50 100}; do
			path="--rate 1gbit --delay $(half "$rtt")ms --queue 40MB"
			row unprivileged_sender "$rtt ms" kernel send_measure "${nobody[@]}"
			row unprivileged_sender "$rtt ms" "--tune" send_measure "${unprivileged[@]}" --tune
			in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
			row unprivileged_sender "$rtt ms" "by hand" send_measure "${nobody[@]}"
			in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 4194304"
		done
	done
}

# Prints seconds since the start, and those of processor time that tcptune-run has had.
watch_own() {
	local began=$EPOCHREALTIME pids
	while sleep 0.1; do
		if pids=$(pgrep -x tcptune-run); then
			awk -v a="$began" -v b="$EPOCHREALTIME" '{ ns += $1 } END { print b - a, ns / 1e9 }' \
				$(printf '/proc/%s/schedstat ' $pids) 2>/dev/null || :
		fi
	done
}

# What tcptune-run costs where it has nothing to gain: sender and tcptune-run on one core, receiver on the other.
loopback_measure() { # PREFIX...
	background receiver in_host a taskset -c 1 iperf3 -s -1
	wait_output != "" in_host a ss -Htln "sport = 5201"
	background own watch_own
	in_host a taskset -c 0 "$@" iperf3 -c 127.0.0.1 -J -t "${BENCH_SECONDS:-10}" \
		>"$TEST_DIR/iperf.json" 2>"$TEST_DIR/said"
	stop own || :
	stop receiver || :
	jq -c --arg own "$(tail -n 1 "$TEST_DIR/own.log")" '($own / " " | map(tonumber)) as $own |
		.end | {seconds: .sum_sent.seconds, goodput_bps: .sum_received.bits_per_second,
			own_share: (if $own == [] then null else $own[1] / $own[0] end)}' \
		"$TEST_DIR/iperf.json" >"$TEST_DIR/transfer.json"
}

bench_loopback() {
	local run
	unprivileged_hosts
	for ((run = 0; run < ${BENCH_PAIRS:-5}; run++)); do
		plain_row loopback "one core each" without loopback_measure "${nobody[@]}"
		plain_row loopback "one core each" tcptune-run loopback_measure "${unprivileged[@]}"
		plain_row loopback "one core each" "--tune" loopback_measure "${unprivileged[@]}" --tune
		plain_row loopback "one core each" "without, again" loopback_measure "${nobody[@]}"
	done
}
