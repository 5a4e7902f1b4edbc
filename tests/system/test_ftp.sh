# SPDX-License-Identifier: GPL-2.0-only
# FTP as paper 000 has it (NLANR's auto-tuned FTP, LANL's DRS FTP), by programs that know nothing of tcptuned:
# vsftpd and lftp. lftp fixes the buffers of its data connections at 64 KB by its option net:socket-buffer. The
# kernel doubles that, and lets a sender exceed it by one write, of 64 KiB: at most 192 KiB are sent in a round
# trip of 50 ms, 31 Mbit/s. Without that limit 8 MB at 100 Mbit/s take one second, half of it slow start.
# virtual: rates are measured

. "$TEST_TOP/tests/system/ftp.sh"

fixed=31 # Mbit/s, at most
free=42 # at least

path_to_server() {
	host c s
	link c s --rate 100mbit --delay 25ms
	ftp_server s
	head -c 8000000 /dev/urandom >"$ftp_root/s/file"
	head -c 1000000 "$ftp_root/s/file" >"$ftp_root/s/small"
}

# The client transfers a file. Sets $rate, in Mbit/s.
transfer_file() { # PREFIX get|put FILE [LFTP SETTING]
	local from=$ftp_root/s/$3 to=$ftp_root/got command="get $3 -o $ftp_root/got"
	if [ "$2" = put ]; then
		to=$ftp_root/s/in/$3 command="cd in; put $from"
	fi
	rm -f "$to"
	ftp_client c "$1" "set net:socket-buffer 65536; ${4-}; open ${ADDR[s]}; $command"
	cmp "$from" "$to"
	rate=$(ftp_mbps s)
}

test_ftp_without_tcptuned() {
	path_to_server
	transfer_file "" get small
	expect_le "$rate" $fixed "Mbit/s received"
	transfer_file "" put small
	expect_le "$rate" $fixed "Mbit/s sent"
}

# In active mode the server connects, to a listener whose buffer the client fixed.
get_and_put() { # PREFIX
	local way passive
	for way in get put; do
		for passive in yes no; do
			transfer_file "$1" $way file "set ftp:passive-mode $passive"
			expect_ge "$rate" $free "Mbit/s of $way, passive: $passive"
		done
	done
}

test_ftp_get_and_put() {
	path_to_server
	tcptuned_start
	get_and_put in_group
}

# Without root, at the client alone.
test_ftp_by_tcptune_run() {
	local ftp_runner="/mnt/tcptune-run --tune"
	path_to_server
	mount -t tmpfs -o mode=755 tmpfs /mnt
	cp "$TEST_BUILD/tcptune-run" /mnt
	get_and_put ""
}

# --- third-party transfers: a client lets two servers transfer a file between them ---------------------------
# What its control connections measure is not the path between the servers, by which the data connection has to
# be sized: the paper's objection to LANL's FTP. Only the receiving server runs tcptuned.
third_party() { # DELAY CONTROL_DELAY MEGABYTES [PREFIX OF THE SENDING SERVER]
	CONGESTION=reno host a b c
	link a b --rate 50mbit --delay "$1" --queue 1MB
	link c a --rate 50mbit --delay "$2"
	link c b --rate 50mbit --delay "$2"
	in_host a ip route add "${ADDR[b]}" dev tun0
	in_host b ip route add "${ADDR[a]}" dev tun0
	tcptuned_start
	ftp_server a "${4-}"
	ftp_server b in_group
	head -c "${3}000000" /dev/urandom >"$ftp_root/a/file"
	background client ftp_client c "" "get ftp://${ADDR[a]}/file -o ftp://${ADDR[b]}/in/file"
}

third_party_end() {
	wait "$(pid_of client)" || fail "lftp: $(<"$TEST_DIR/client.log")"
	cmp "$ftp_root/a/file" "$ftp_root/b/in/file"
}

# 50 ms between the servers, and 5 ms to them, by which a window would be 2 x 31 KB: 10 Mbit/s.
test_ftp_third_party_far_apart() {
	third_party 25ms 2500us 8
	third_party_end
	expect_ge "$(ftp_mbps b)" 25 "Mbit/s"
}

# 5 ms between the servers, and 50 ms to them, by which a window would be 2 x 312 KB; right are 2 x 31 KB.
test_ftp_third_party_close() {
	third_party 2500us 25ms 50
	wait_output = holding receiver state
	expect_between "$(receiver window_bytes)" 31000 125000 "window, bytes"
	third_party_end
	expect_ge "$(ftp_mbps b)" 40 "Mbit/s"
}

# The same with both servers tuned, which begin their tests together: neither may hold what the preparation or
# the test of the other made of the RTT, and vsftpd's long sendfile() has to stay within the send buffer. The
# kernel's window makes 80 to 160 ms.
test_ftp_third_party_both_tuned() {
	local rtts
	third_party 2500us 25ms 60 in_group
	wait_output -gt 0 ctl_json \
		'[.flows[] | .send.state, .receive.state | select(. == "holding")] | length' flows
	rtts=$(for ((i = 0; i < 20; i++)); do
		sleep 0.1
		in_host a ss -tinHO "dst ${ADDR[b]}" | grep -oP " rtt:\K[0-9.]+" || :
	done)
	third_party_end
	expect_le "$(sort -n <<<"$rtts" | sed -n 10p)" 40 "median RTT while an end holds, ms"
	expect_ge "$(ftp_mbps b)" 40 "Mbit/s"
}

# Prints a value of the data connection.
receiver() { # FILTER
	ctl_json "first(.flows[] | select(.bytes_received > 1000000)) | .receive.$1" flows
}
