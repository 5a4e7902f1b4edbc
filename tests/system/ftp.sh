# SPDX-License-Identifier: GPL-2.0-only
# What tests and measurements of FTP share: Debian's vsftpd and lftp, unmodified.

. "$TEST_TOP/tests/system/daemon.sh"

# A file system of the test's own: the users of servers and clients may not be able to enter $TEST_DIR.
ftp_root=/srv/ftp

# Starts vsftpd for anonymous users, who read files in $ftp_root/HOST and write into $ftp_root/HOST/in. It also
# lets them transfer to and from other servers. PREFIX (in_group) precedes the command.
ftp_server() { # HOST [PREFIX]
	local host=$1 directory=$ftp_root/$1
	mountpoint -q $ftp_root || mount -t tmpfs -o mode=1777 tmpfs $ftp_root
	mkdir -p "$directory/in" "$TEST_DIR/empty"
	chown ftp "$directory/in"
	cat >"$TEST_DIR/ftp-$host.conf" <<-END
		background=NO
		listen=YES
		anonymous_enable=YES
		anon_root=$directory
		write_enable=YES
		anon_upload_enable=YES
		anon_umask=022
		port_promiscuous=YES
		pasv_promiscuous=YES
		secure_chroot_dir=$TEST_DIR/empty
		xferlog_enable=YES
		vsftpd_log_file=$TEST_DIR/ftp-$host.transfers
	END
	background "ftp-$host" ${2-} in_host "$host" vsftpd "$TEST_DIR/ftp-$host.conf"
	wait_output != "" in_host "$host" ss -Hltn "sport = :21"
}

# Runs lftp as nobody. It finds no configuration, and does not ask for the state of a transfer between servers,
# which vsftpd answers with an error. PREFIX (in_group) precedes the command, $ftp_runner that of lftp itself.
ftp_client() { # HOST PREFIX COMMAND
	HOME=$ftp_root in_host "$1" $2 "${nobody[@]}" ${ftp_runner-} \
		lftp --norc -c "set net:max-retries 1; set ftp:use-stat no; $3"
}

# Prints Mbit/s of the last transfer by vsftpd's log: from the command until the last byte was acknowledged
# (get) or read (put).
ftp_mbps() { # HOST
	awk '/OK (DOWN|UP)LOAD:/ { kbyte_per_s = $NF } END { print kbyte_per_s * 8192 / 1e6 }' \
		"$TEST_DIR/ftp-$1.transfers"
}
