# SPDX-License-Identifier: GPL-2.0-only
#
# The first paper's grid (Weigle and Feng, "A Comparison of TCP Automatic Tuning Techniques for
# Distributed Computing", Figures 2 to 10) on this kernel: 128 messages of 1 MB in all, over
# 1, 2, 4 or 8 connections between two hosts, 1 Gbit/s, from the first byte sent to the last one
# read. "Delay" there is the whole of a round trip (1 Gbit/s x 25 ms is "over 3 MB"). It emulates
# no loss: here the queue holds more than is ever sent.
#
# What its columns are today; the congestion control is the same in all, as it was there (cubic),
# but "tcptuned" is as shipped, with bitcp:
#
# tuning	the paper		here
# none		Linux 2.2: none		tcp_moderate_rcvbuf 0; and a send buffer that begins and
#					stays as large as the receiver's, 128 KB: half is window
# kernel	2.4's autotuning	this kernel as it is: tcp_rcvbuf_grow(), tcp_sndbuf_expand()
# tcptuned	2.4 with DRS		tcptuned on both hosts
# by hand	setsockopt()		the ideal size, 2 x bandwidth x delay, and no less than the
#					1 MB that Figure 5 finds ideal at 0.5 ms, by whom the
#					row lets tune:
#
# buffers	the paper		here
# default	no tuning at all	sysctls as the kernel has them. By hand: an application
#					without a friend among the administrators: what it asks
#					for is cut to net.core.[rw]mem_max
# kernel only	larger maxima		tcp_[rw]mem and net.core.[rw]mem_max up to 64 MB. By hand:
#					tcp_[rw]mem begin with the ideal size, and end there
# user and	and setsockopt()	the same maxima, and the application asks for the ideal size.
# kernel				setsockopt() ends the kernel's autotuning, if there was any:
#					none, kernel and by hand are one there, "by hand"
#
# BENCH_GRID=short (if not given): 0.5, 50 and 100 ms, 1 and 8 connections, two runs; without
# tuning a connection sends 8 messages at most, for its rate is the same all the time, and
# larger maxima, which change nothing for it, are left out. full: all of it, five runs.

. "$TEST_TOP/bench/lib.sh"

grid_profile() {
	case ${BENCH_GRID:-short} in
	short)
		rtts="0.5 50 100" counts="1 8" runs=2 most=8
		sizes="8KiB 64KiB 256KiB 1MiB 8MiB 64MiB" size_rtts=0.5
		;;
	full)
		rtts="0.5 25 50 100" counts="1 2 4 8" runs=5 most=128
		sizes="8KiB 16KiB 32KiB 64KiB 128KiB 256KiB 512KiB 1MiB 2MiB 4MiB 8MiB 16MiB \
			32MiB 64MiB" size_rtts="0.5 50"
		;;
	*) fail "BENCH_GRID=$BENCH_GRID: short or full" ;;
	esac
	rtts=${BENCH_RTTS:-$rtts} counts=${BENCH_STREAMS:-$counts} runs=${BENCH_RUNS:-$runs}
	sizes=${BENCH_SIZES:-$sizes} size_rtts=${BENCH_RTTS:-$size_rtts}
	default_rmem=$(in_host b sysctl -n net.ipv4.tcp_rmem)
	default_wmem=$(in_host a sysctl -n net.ipv4.tcp_wmem)
}

# What the administrators of sender and receiver have set.
host_buffers() { # TCP_WMEM TCP_RMEM TCP_MODERATE_RCVBUF
	in_host a sysctl -qw net.ipv4.tcp_wmem="$1"
	in_host b sysctl -qw net.ipv4.tcp_rmem="$2" net.ipv4.tcp_moderate_rcvbuf="$3"
}

grid_path() { # RTT_MS
	path="--rate 1gbit --delay $(half "$1")ms --queue-ab 160MB"
}

# BYTES: of a window that is ideal by hand
ideal_window() { # RTT_MS
	awk "BEGIN { bytes = 2 * 125000 * $1; print (bytes < 1048576 ? 1048576 : bytes) }"
}

# As many messages as $most allows, where a connection is as slow at its end as in its beginning.
steady_count() {
	local count=$((most * streams))
	awk "BEGIN { print ($rtt_ms <= 1 || $count > 128 ? 128 : $count) }"
}

# Once is enough where it takes minutes.
grid_untuned_kernel() {
	local rcvbuf
	[ "$most" != 128 ] || [ $run = 0 ] || return 0
	read -r _ rcvbuf _ <<<"$default_rmem"
	host_buffers "4096 $rcvbuf $rcvbuf" "$default_rmem" 0
	row grid "$1, $rtt_ms ms, $streams" none untuned "${options[@]}" \
		--count "$(steady_count)" --timeout 400
}

grid_default() {
	local x="default, $rtt_ms ms, $streams"
	grid_untuned_kernel default
	host_buffers "$default_wmem" "$default_rmem" 1
	row grid "$x" kernel untuned "${options[@]}"
	row grid "$x" "tcptuned, cubic" tuned -- "${options[@]}"
	row grid "$x" tcptuned tuned -- --streams "$streams"
	row grid "$x" "by hand" untuned "${options[@]}" "${by_hand[@]}"
}

grid_kernel_only() {
	local x="kernel only, $rtt_ms ms, $streams" memory=$((2 * ideal))
	[ "$most" != 128 ] || grid_untuned_kernel "kernel only"
	host_buffers "4096 16384 67108864" "4096 131072 67108864" 1
	row grid "$x" kernel with_room untuned "${options[@]}"
	row grid "$x" "tcptuned, cubic" with_room tuned -- "${options[@]}"
	row grid "$x" tcptuned with_room tuned -- --streams "$streams"
	host_buffers "4096 $memory $memory" "4096 $memory $memory" 0
	row grid "$x" "by hand" with_room untuned "${options[@]}"
}

grid_user_and_kernel() {
	local x="user and kernel, $rtt_ms ms, $streams"
	host_buffers "4096 16384 67108864" "4096 131072 67108864" 1
	row grid "$x" "tcptuned, cubic" with_room tuned -- "${options[@]}" "${by_hand[@]}"
	row grid "$x" tcptuned with_room tuned -- --streams "$streams" "${by_hand[@]}"
	row grid "$x" "by hand" with_room untuned "${options[@]}" "${by_hand[@]}"
}

bench_grid() {
	local rtts counts runs most sizes size_rtts default_rmem default_wmem
	local run rtt_ms streams ideal options by_hand
	host a b
	grid_profile
	for ((run = 0; run < runs; run++)); do
		for rtt_ms in $rtts; do
			grid_path "$rtt_ms"
			ideal=$(ideal_window "$rtt_ms")
			by_hand=(--rcvbuf "$ideal" --sndbuf "$ideal")
			for streams in $counts; do
				options=(--congestion cubic --streams "$streams")
				grid_default
				grid_kernel_only
				grid_user_and_kernel
			done
		done
	done
}

# Figure 5: what an application gets that asks for a buffer of such a size, for each connection.
bench_buffer_size() {
	local rtts counts runs most sizes size_rtts default_rmem default_wmem
	local run rtt_ms streams size options
	host a b
	grid_profile
	host_buffers "4096 16384 67108864" "4096 131072 67108864" 1
	for ((run = 0; run < runs; run++)); do
		for rtt_ms in $size_rtts; do
			grid_path "$rtt_ms"
			for size in $sizes; do
				for streams in $counts; do
					buffer_size_rows
				done
			done
		done
	done
}

buffer_size_rows() {
	local x="$rtt_ms ms, $size, $streams"
	options=(--congestion cubic --streams "$streams" --rcvbuf "$size" --sndbuf "$size")
	case $size in
	8KiB | 16KiB) row buffer_size "$x" "by hand" with_room untuned "${options[@]}" \
		--count $((8 * streams)) --timeout 400 ;;
	*) row buffer_size "$x" "by hand" with_room untuned "${options[@]}" ;;
	esac
	row buffer_size "$x" "tcptuned, cubic" with_room tuned -- "${options[@]}"
}
