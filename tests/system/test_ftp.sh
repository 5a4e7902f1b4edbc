# SPDX-License-Identifier: GPL-2.0-only
# FTP as paper 000 has it (NLANR's auto-tuned FTP, LANL's DRS FTP), by programs that know nothing of tcptuned:
# vsftpd and lftp. lftp fixes the buffers of its data connections at 64 KB by its option net:socket-buffer,
# which the kernel doubles. (bench_ftp.sh has the rates, and transfers between two servers.)

. "$TEST_TOP/tests/system/ftp.sh"

fixed=131072

path_to_server() { # [BYTES]
	host c s
	link c s --rate 20mbit --delay 50ms # 250 KB; 8 MB take 3.2 s
	ftp_server s
	head -c "${1-8000000}" /dev/urandom >"$ftp_root/s/file"
}

# Prints the largest buffer in use of the client's data connection, while it lasts.
largest_buffer() { # r|t
	local now most=0
	while [ ! -e "$TEST_DIR/transferred" ]; do
		now=$(ss_of c "dst ${ADDR[s]} and dport != :21 and sport != :21" ",${1}b([0-9]+)")
		[ "${now:-0}" -le "$most" ] || most=$now
	done
	echo "$most"
}

# The client transfers a file. Sets $buffer.
transfer_file() { # PREFIX get|put [LFTP SETTING]
	local from=$ftp_root/s/file to=$ftp_root/got which=r command="get file -o $ftp_root/got"
	if [ "$2" = put ]; then
		to=$ftp_root/s/in/file which=t command="cd in; put $from"
	fi
	rm -f "$to" "$TEST_DIR/transferred"
	background buffer largest_buffer $which
	ftp_client c "$1" "set net:socket-buffer 65536; ${3-}; open ${ADDR[s]}; $command"
	: >"$TEST_DIR/transferred"
	wait "$(pid_of buffer)"
	cmp "$from" "$to"
	buffer=$(<"$TEST_DIR/buffer.log")
}

test_ftp_without_tcptuned() {
	path_to_server
	transfer_file "" get
	expect_between "$buffer" 1 $fixed "receive buffer"
	transfer_file "" put
	expect_between "$buffer" 1 $fixed "send buffer"
}

# In active mode the server connects, to a listener whose buffer the client fixed.
get_and_put() { # PREFIX
	local way passive
	for way in get put; do
		for passive in yes no; do
			transfer_file "$1" $way "set ftp:passive-mode $passive"
			expect_ge "$buffer" $((2 * fixed)) "buffer of $way, passive: $passive"
		done
	done
}

test_ftp_get_and_put() {
	path_to_server 16000000 # the buffer is looked at while it is large
	tcptuned_start
	get_and_put in_group
}

# Without root, at the client alone.
test_ftp_by_tcptune_run() {
	local ftp_runner="/mnt/tcptune-run --tune"
	path_to_server 16000000
	mount -t tmpfs -o mode=755 tmpfs /mnt
	cp "$TEST_BUILD/tcptune-run" /mnt
	get_and_put ""
}
