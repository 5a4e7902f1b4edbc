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

. "$TEST_TOP/bench/lib.sh"

# What that user can reach, in the mount namespace of this measurement.
own=/mnt
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=$own)
as_nobody=("${nobody[@]}" $own/tcptune-run)

unprivileged_hosts() {
	mount -t tmpfs -o mode=1777 tmpfs $own
	cp "$TEST_BUILD"/{tcptune-run,messages} "$TEST_BUILD"/tests/system/{receive,preload_rcvbuf.so} \
		"$TEST_TOP"/tests/system/sockets.py $own
	host a b
	cubic_by_default a b
}

serve() { # NAME BYTES PORT; HTTP at PORT, and all bytes to who connects at PORT + 1
	background "http-$1" in_host b "$TEST_TOP/tests/system/http_ranges.py" 0.0.0.0 "$3" "$2"
	background "zeroes-$1" in_host b python3 -c "
import socket
server, piece = socket.create_server(('', $3 + 1)), bytes(100000)
print('listening', flush=True)
while True:
    with server.accept()[0] as connection:
        for _ in range($2 // len(piece)):
            connection.sendall(piece)"
	wait_printed 20 "http-$1" listening
	wait_printed 20 "zeroes-$1" listening
	head -c "$2" /dev/zero >"$own/$1"
}

serve_all() {
	in_host b sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	serve all 100000000 8000
	serve part 10000000 8100
	printf '[files]\npath = %s\nuse chroot = no\nuid = 0\n' $own >"$TEST_DIR/rsyncd.conf"
	background rsync in_host b rsync --daemon --no-detach --config="$TEST_DIR/rsyncd.conf" --port=8730
	if [ -n "$(type -P go)" ]; then
		HOME=$TEST_DIR CGO_ENABLED=0 go build -o $own/receive_go "$TEST_TOP/tests/system/receive.go"
	fi
}

# Sets $command, which receives file $1, "all" or "part", with a buffer that the program fixes at 64 KB or that root
# forces. Of static programs only the one in C can have it forced.
receiver_of() { # FILE PROGRAM fixed|forced
	local port=8000 fixed=yes forced=(env LD_PRELOAD=$own/preload_rcvbuf.so)
	[ "$1" = all ] || port=8100
	if [ "$3" = forced ]; then fixed='' forced+=(RCVBUF_FORCE=$window); else forced+=(RCVBUF=65536); fi
	case $2 in
	curl) command=("${forced[@]}" curl -sf -o /dev/null "http://${ADDR[b]}:$port/file") && return ;;
	lftp) command=(lftp --norc -c "${fixed:+set net:socket-buffer 65536;} get http://${ADDR[b]}:$port/file -o $own/got") ;;
	rsync) command=(rsync --whole-file --ignore-times ${fixed:+--sockopts=SO_RCVBUF=65536}
		"rsync://${ADDR[b]}:8730/files/$1" $own/got) ;;
	Python) command=($own/sockets.py tcp4 ${fixed:+set rcvbuf 65536} connect "${ADDR[b]}" $((port + 1))
		receive $bytes) ;;
	Go) command=($own/receive_go "${ADDR[b]}:$((port + 1))" 65536) ;;
	C) command=($own/receive "${ADDR[b]}" $((port + 1)) 65536) ;;
	esac
	case $2-$fixed in
	Go- | C-) command=($own/receive "${ADDR[b]}" $((port + 1)) $window by_hand) ;;
	*-) command=("${forced[@]}" "${command[@]}") ;;
	esac
}

receive_measure() { # PROGRAM fixed|forced all|part [PREFIX...]
	local command began bytes=100000000
	[ "$3" = all ] || bytes=10000000
	link a b --seed "$(run_seed)" $path
	receiver_of "$3" "$1" "$2"
	began=$EPOCHREALTIME
	TEST_DIR=$own in_host a "${@:4}" "${command[@]}" >"$TEST_DIR/said" 2>&1
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
	row unprivileged "$1" tcptune-run receive_measure $program fixed all "${as_nobody[@]}"
	row unprivileged "$1" "--tune" receive_measure $program fixed all "${as_nobody[@]}" --tune
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
			row unprivileged_sender "$rtt ms" "--tune" send_measure "${as_nobody[@]}" --tune
			in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
			row unprivileged_sender "$rtt ms" "by hand" send_measure "${nobody[@]}"
			in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 4194304"
		done
	done
}
