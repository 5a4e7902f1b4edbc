# SPDX-License-Identifier: GPL-2.0-only
#
# FTP as paper 000 has it (NLANR's auto-tuned FTP, LANL's DRS FTP), by unmodified vsftpd and lftp: 1 Gbit/s, 50 ms,
# 60 MB, with cubic, but "tcptuned" is as shipped. Data flow from host a to host b: the server is a for get and b
# for put. Rates are those of vsftpd's log, from the command on.
#
# column	client							server
# kernel	64 KB by lftp's net:socket-buffer, or no option		this kernel as it is
# by hand	the option is 2 x BDP, net.core.[rw]mem_max allow it	vsftpd has no option: tcp_wmem (get) or
#									tcp_rmem (put) begin and end with 2 x BDP
# tcptuned	as in kernel, with the daemon				with the daemon
# tcptune-run	as in kernel, by tcptune-run --tune, as nobody		as in by hand

. "$TEST_TOP/bench/lib.sh"
. "$TEST_TOP/tests/system/ftp.sh"

# Runs a command while the initial and the largest socket buffers of HOSTS are what a window needs: half of the
# memory is window.
ftp_host_by_hand() { # WINDOW HOSTS COMMAND...
	local memory=$((2 * $1)) hosts=$2 name rmem wmem
	shift 2
	rmem=$(in_host a sysctl -n net.ipv4.tcp_rmem)
	wmem=$(in_host a sysctl -n net.ipv4.tcp_wmem)
	for name in $hosts; do
		in_host "$name" sysctl -qw net.ipv4.tcp_rmem="4096 $memory $memory" \
			net.ipv4.tcp_wmem="4096 $memory $memory" net.ipv4.tcp_moderate_rcvbuf=0
	done
	"$@"
	for name in $hosts; do
		in_host "$name" sysctl -qw net.ipv4.tcp_rmem="$rmem" net.ipv4.tcp_wmem="$wmem" \
			net.ipv4.tcp_moderate_rcvbuf=1
	done
}

# The result is vsftpd's, whose log counts the bytes.
ftp_result() { # HOST BYTES
	grep -Eq "OK (DOWN|UP)LOAD:.* $2 bytes" "$TEST_DIR/ftp-$1.transfers" || fail "no transfer of $2 bytes"
	jq -nc --argjson mbps "$(ftp_mbps "$1")" --argjson bytes "$2" '{bytes: $bytes, goodput_bps: ($mbps * 1e6),
		elapsed_s: ($bytes * 8e-6 / $mbps), sender: {mss: 1448}}' >"$TEST_DIR/transfer.json"
}

ftp_file() { # HOST BYTES
	truncate -s "$2" "$ftp_root/$1/file"
}

# --- a client and a server ---------------------------------------------------------------------
# Uses $command (get, put) and $passive (on, off).
ftp_measure() { # BUFFER BYTES; a buffer of 0 bytes: the kernel's
	local server=a prefix=${SENDER_PREFIX-} client=b client_prefix=${RECEIVER_PREFIX-}
	local steps="get file -o $ftp_root/got"
	if [ $command = put ]; then
		server=b prefix=${RECEIVER_PREFIX-} client=a client_prefix=${SENDER_PREFIX-}
		steps="cd in; put $ftp_root/b/file"
	fi
	link a b --seed "$(run_seed)" $path
	ftp_server $server "$prefix"
	ftp_file $server "$2"
	ftp_client $client "$client_prefix" "set net:socket-buffer $1; set ftp:passive-mode $passive;
		open ${ADDR[$server]}; $steps"
	ftp_result $server "$2"
	stop ftp-$server || :
	rm -rf "${ftp_root:?}"/*
}

ftp_rows() { # X BUFFER
	local bytes=60000000 window=$((2 * 125 * 1000 * 50)) server=a
	[ $command = get ] || server=b
	row ftp "$1" kernel ftp_measure "$2" $((bytes / ($2 ? 10 : 1))) # a fixed window fixes the rate
	row ftp "$1" "by hand" with_room ftp_host_by_hand $window $server ftp_measure $window $bytes
	row ftp "$1" tcptuned with_tcptuned sender,receiver -- ftp_measure "$2" $bytes
	ftp_runner="/mnt/tcptune-run --tune" row ftp "$1" tcptune-run ftp_host_by_hand $window $server \
		ftp_measure "$2" $bytes
}

bench_ftp() {
	local run command passive
	mount -t tmpfs -o mode=755 tmpfs /mnt
	cp "$TEST_BUILD/tcptune-run" /mnt # where user nobody can reach it
	host a b
	cubic_by_default a b
	path="--rate 1gbit --delay 25ms --queue 4bdp"
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		for command in get put; do
			for passive in on off; do
				ftp_rows "$command, $([ $passive = on ] && echo passive || echo active), 64 KB" 65536
				ftp_rows "$command, $([ $passive = on ] && echo passive || echo active), default" 0
			done
		done
	done
}

# --- third-party transfers -----------------------------------------------------------------------
# From server a to server b. The path of the client's control connections is another one: what LANL's FTP would
# measure, and the paper objects to, is the column "by hand, control path". Uses $mbit, $rtt and $control_rtt in ms.
third_party_measure() { # BYTES
	local server
	link a b --seed "$(run_seed)" --rate ${mbit}mbit --delay "$(half $rtt)ms" --queue 20MB
	for server in a b; do # how late these links are does not matter
		LINK_IDLE=sleep LINK_TOLERANCE=100 link c $server --rate 1gbit --delay "$(half $control_rtt)ms"
	done
	in_host a ip route add "${ADDR[b]}" dev tun0
	in_host b ip route add "${ADDR[a]}" dev tun0
	ftp_server a "${SENDER_PREFIX-}"
	ftp_server b "${RECEIVER_PREFIX-}"
	ftp_file a "$1"
	background rtts third_party_rtts
	ftp_client c "" "get ftp://${ADDR[a]}/file -o ftp://${ADDR[b]}/in/file"
	stop rtts || :
	ftp_result a "$1"
	reduce third_party
	stop ftp-a || :
	stop ftp-b || :
	rm -rf "${ftp_root:?}"/*
}

third_party_rtts() { # of the data connection
	while sleep 0.1; do
		in_host a ss -Htni "dst ${ADDR[b]}" | grep -oP ' rtt:\K[0-9.]+' || :
	done
}

third_party_rows() { # BYTES
	local x="$mbit Mbit/s, $rtt ms, $control_rtt ms to the client" double=$((2 * 125 * mbit))
	row third_party "$x" kernel third_party_measure "$1"
	row third_party "$x" "by hand, control path" ftp_host_by_hand $((double * control_rtt)) "a b" \
		third_party_measure "$1"
	row third_party "$x" "by hand" ftp_host_by_hand $((double * rtt)) "a b" third_party_measure "$1"
	row third_party "$x" tcptuned with_tcptuned sender,receiver -- third_party_measure "$1"
}

bench_third_party() {
	local run mbit rtt control_rtt
	host a b c
	cubic_by_default a b
	for ((run = 0; run < ${BENCH_RUNS:-5}; run++)); do
		mbit=1000 rtt=50 control_rtt=5
		third_party_rows 60000000
		mbit=100 rtt=5 control_rtt=50
		third_party_rows 100000000 # seconds, in which a queue is noticed
	done
}
