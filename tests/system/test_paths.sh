# SPDX-License-Identifier: GPL-2.0-only
# Path memory: what one transfer teaches the next; the database restarted, damaged, unwritable.

. "$TEST_TOP/tests/system/daemon.sh"

db() { # SQL
	sqlite3 -batch -noheader -separator ' ' -cmd '.timeout 3000' "$TEST_DIR/state/paths.db" "$1"
}

learned() {
	counter tcptuned_paths_learned_total '{result="stored"}'
}

seeds() {
	counter tcptuned_paths_seeds_total ''
}

# A path of 50 Mbit/s and 40 ms: 250 KB per round trip, and 125 KB more in its queue. It loses one segment.
known_path() {
	link a b --rate 50mbit --delay 20ms --queue 125kB --loss-at-ab 5000
}

# Both ends are tuned and learn when the connection ends. They share one memory, each in its own network
# namespace.
learn_it() {
	local before
	before=$(learned)
	known_path
	stream first 7300 --duration 240
	wait_output -ge 1 flow_to 7300 .retransmitted_segments
	wait_output -ge 14480 flow_to 7300 .send.rate_best_bytes_per_s
	wait_output -ge 14480 flow 7300 .receive.rate_best_bytes_per_s
	stream_stop first
	wait_output -ge $((before + 2)) learned
	lib_end_links || :
}

# The link's values. A busy host carries less in a round trip, which takes longer.
expect_right_row() { # NETNS COLUMN
	set -- "$2" $(db "SELECT prefix, min_rtt_us, $2 FROM paths WHERE netns = $1")
	expect_eq "$2" "10.99.0.0/24" "prefix"
	expect_ge "$3" 40000 "minimum RTT, us"
	expect_between "$4" 14480 420000 "$1"
}

netns_of() {
	in_host "$1" stat -Lc %i /proc/self/ns/net
}

# virtual: windows follow from rates
test_next_connection_begins_with_what_one_learned() {
	local a max ssthresh
	host a b
	tcptuned_start $bitcp
	learn_it
	expect_ge "$(ctl_json .known paths)" 2 "known paths, one from each side"
	tcptuned_stop
	a=$(netns_of a)
	expect_right_row "$a" sent_per_rtt
	expect_right_row "$(netns_of b)" received_per_rtt
	max=$(db "SELECT max_window / 1448 FROM paths WHERE netns = $a")
	expect_between "$max" 10 420 "window at which it lost, segments" # path and queue hold 259
	expect_ge "$(db "SELECT segments_sent FROM paths WHERE netns = $a")" \
		$(($(result first .bytes) / 1448)) "segments sent"
	expect_ge "$(db "SELECT segments_retransmitted FROM paths WHERE netns = $a")" 1 "segments retransmitted"

	tcptuned_start $bitcp # another daemon, which reads it from disk
	expect_ge "$(ctl_json .known paths)" 2 "paths read from disk"
	known_path
	stream warm 7301 --count 100 --bytes 8kB --interval 400
	wait_output -ge 1 seeds # the sender's: no receive window is remembered
	ssthresh=$(ss_of a "dport = :7301" ' ssthresh:([0-9]+)')
	expect_between "$ssthresh" $((max * 14 / 16 - 2)) $((max * 14 / 16 + 16)) "its ssthresh"
	expect_le "$(ss_of a "dport = :7301" ' cwnd:([0-9]+)')" 24 "its window, segments: no burst"
	expect_eq "$(seeds)" 1 "connections that began with what was known"
	expect_le "$(flow 7301 .advertised_window_bytes)" 200000 "receive window: as the kernel begins"
}

# tcptuned_advise(3) in namespace @HOST, as a user without privileges: prefix, connections, loss, the rate and buffer of
# @DIRECTION; or the error.
advice() { # HOST ADDRESS DIRECTION
	in_host $1 setpriv --reuid 65533 --regid 65533 --clear-groups /usr/bin/python3 - \
		"$TEST_DIR/libtcptuned.so.0" "$TEST_DIR/run/control" "$2" $3 <<'EOF'
import ctypes, errno, sys
class Direction(ctypes.Structure):
    _fields_ = [("rate", ctypes.c_double), ("buffer", ctypes.c_ulonglong), ("streams", ctypes.c_uint),
                ("streams_rate", ctypes.c_double)]
class Advice(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("prefix", ctypes.c_char * 64), ("connections", ctypes.c_uint),
                ("age_s", ctypes.c_ulonglong), ("min_rtt_s", ctypes.c_double), ("loss", ctypes.c_double),
                ("congestion", ctypes.c_char * 16), ("send", Direction), ("receive", Direction)]
lib = ctypes.CDLL(sys.argv[1])
a = Advice(ctypes.sizeof(Advice))
error = -errno.EAGAIN
while error == -errno.EAGAIN: # the answer was not there within two seconds
    error = lib.tcptuned_advise(sys.argv[2].encode(), sys.argv[3].encode(), ctypes.byref(a))
d = getattr(a, sys.argv[4])
print(errno.errorcode[-error] if error else
      f"{a.prefix.decode()} {a.connections} {a.min_rtt_s * 1e6:.0f} {d.rate:.0f} {d.buffer} {a.congestion.decode()}")
EOF
}

# What any user learns of the path is what the memory of its network namespace has.
test_programs_ask_for_advice() {
	local row
	host a b c
	chmod 755 "$TEST_DIR" "$(dirname "$TEST_DIR")"
	cp "$TEST_BUILD/libtcptuned.so.0" "$TEST_DIR"
	tcptuned_start
	expect_eq "$(advice a 10.99.0.2 send)" ENODATA "before a connection"
	learn_it
	row=$(ctl_json ".paths[] | select(.netns == $(netns_of a)) | [.connections, .min_rtt_us,
		(.send_per_rtt_bytes * 8e6 / .min_rtt_us | floor), 2 * .send_per_rtt_bytes] | map(tostring) | join(\" \")" \
		paths)
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno # not the daemon's
	expect_eq "$(advice a 10.99.0.2 send)" "10.99.0.0/24 ${row//\"/} reno" \
		"what the sender has measured"
	expect_eq "$(advice a 10.99.0.77 send)" "$(advice a 10.99.0.2 send)" "the same prefix"
	expect_eq "$(advice c 10.99.0.2 send)" ENODATA "another network namespace"
	expect_eq "$(advice a 10.99.0.0/24 send)" EINVAL "no address"
	in_host a "${tcptunectl[@]}" advise 10.99.0.2 >"$TEST_DIR/said"
	expect_match "$(<"$TEST_DIR/said")" "^sent +.* Mbit/s by one connection" "as text"
	expect_match "$(<"$TEST_DIR/said")" "^congestion +reno$" "as text"
	tcptuned_stop
	expect_eq "$(advice a 10.99.0.2 send)" ENOENT "no daemon"
}

first_window_offered() { # PORT
	wait_until eval '[ -n "$(ss_of b "sport = :'"$1"'" " rcv_(ssthresh):")" ]'
	ss_of b "sport = :$1" ' rcv_ssthresh:([0-9]+)'
}

# Host b connects to host a. $first is the window that it advertises first.
opens_with() { # PORT STEP...
	outsider server-$1 a tcp4 listen "${ADDR[a]}" "$1" accept until end
	application client-$1 b "${@:2}" connect "${ADDR[a]}" "$1" say connected until end
	wait_printed client-$1 connected
	first=$(ss_of b "dport = :$1" ' rcv_ssthresh:([0-9]+)')
}

# A receiver that held a smaller window to the end, since the queue was its own, remembers a slow path. The
# senders are not tuned: one that holds its send buffer leaves no queue for the receiver to find. Reno's own
# sawtooth spoils some tests of the queue, and each failure delays the next one.
# virtual: a rate is measured
test_next_connection_on_a_slow_path_begins_small() {
	local first
	CONGESTION=reno host a b
	configure '[policy]\nreceive_window_max = 16M\n[policy own]\nremote_port = 7305
		override_rcvbuf = no\n[policy senders]\nremote_port = 7302-7303\nmode = off'
	tcptuned_start --config="$TEST_DIR/my.conf"
	link a b --rate 4mbit --delay 20ms --queue 256KB
	stream first 7302 --duration 70 --bytes 14480
	expect_ge "$(first_window_offered 7302)" 60000 "what is offered to an unknown path"
	wait_output = holding flow 7302 .receive.state
	expect_le "$(flow 7302 .receive.window_bytes)" 41000 "held: twice the 20 KB of a round trip"
	stream_stop first
	wait_output -ge 1 learned
	stream second 7303 --duration 2 --bytes 14480
	expect_le "$(first_window_offered 7303)" 30000 "what is offered to it now: ten segments, which may grow"
	expect_eq "$(flow 7303 '.flags | contains(["slow_path_remembered"])')" true "flag"
	stream_end second
	opens_with 7304 tcp4
	expect_le "$first" 14600 "what one that this side opens offers"
	opens_with 7305 tcp4 set rcvbuf 60000
	expect_ge "$first" 40000 "... whose application's SO_RCVBUF is honoured"
	opens_with 7306 mptcp4
	expect_ge "$first" 40000 "... of Multipath TCP, which no policy has"
	tcptuned_stop
	expect_eq "$(db "SELECT slow > 0 FROM paths WHERE netns = $(netns_of b)")" 1 "remembered"
}

# Makes the daemon's database.
empty_database() {
	tcptuned_start
	tcptuned_stop
}

# The number of 10.99.0.1 as that of a slow path: path_host(), on a little-endian machine or a big-endian one.
slow_host() {
	python3 -c 'import struct; print(struct.unpack("=I", bytes([10, 99, 0, 1]))[0] ^
		struct.unpack("=I", bytes([0, 0, 255, 255]))[0])'
}

# A namespace with the inode number of HOST's and that cookie has learned that the path to a is slow.
learned_by() { # HOST COOKIE
	db "INSERT INTO paths VALUES ('10.99.0.0/24', $2,
		'$(cat /proc/sys/kernel/random/boot_id)', unixepoch() - 60, 500000, 250000, 250000, 0, 0,
		100, 0, 1, $(slow_host), $(netns_of "$1"))"
}

# The kernel gives a new network namespace the inode number of one that has gone.
test_a_new_namespace_does_not_inherit_paths() {
	local cookie
	host a b
	empty_database
	cookie=$(in_host b "${sockets[@]}" tcp4 get netns /8 | awk '{ print $2 }')
	learned_by a $((cookie + 1000000))
	learned_by b "$cookie"
	tcptuned_start
	expect_eq "$(ctl_json .known paths)" 2 "paths read from disk"
	expect_eq "$(ctl_json '[.paths[].netns] | sort' paths)" \
		"$(printf '%s\n' "$(netns_of a)" "$(netns_of b)" | jq -sc sort)" "numbers shown"
	link a b --rate 50mbit --delay 150ms # a handshake may take half a second more (path_is_same())
	stream one 7301 --duration 240 --bytes 100 --interval 100
	wait_output -ge 1 seeds
	expect_eq "$(flow 7301 '.flags | index("slow_path_remembered") != null')" true "of b's connection"
	expect_eq "$(flow_to 7301 '.flags | index("slow_path_remembered") != null')" "" "a's, not listed"
	stream_stop one
	expect_eq "$(seeds)" 1 "connections that began with what was known: one end's"
	tcptuned_stop
	expect_eq "$(db "SELECT count(*) FROM paths WHERE netns = $(netns_of b) AND cookie = $cookie")" 1 \
		"what b knows, on disk"
}

# A path of the daemon's own network namespace.
path() { # PREFIX AGE_S RTT_US RECEIVE SEND MAX SENT RETRANSMITTED CONNECTIONS [SLOW]
	db "INSERT INTO paths VALUES ('$1', 0, '', unixepoch() - ($2), $3, $4, $5, $6,
		unixepoch() - ($2), $7, $8, $9, ${10-0}, 0)"
}

# As many prefixes of the daemon's own network namespace.
rows() { # NUMBER AGE_S
	db "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
		INSERT INTO paths SELECT format('10.%d.%d.0/24', i / 256, i % 256), 0, '',
		unixepoch() - $2, 40000, 250000, 250000, 0, 0, 100, 0, 1, 0, 0 FROM n"
}

forget() { # PREFIX COUNT
	"$TEST_BUILD/tcptuned" --config="$TEST_DIR/none.conf" \
		--set=tcptuned.state_directory="$TEST_DIR/state" --forget-paths="$1" \
		>"$TEST_DIR/forget.log" 2>&1 || return
	expect_match "$(cat "$TEST_DIR/forget.log")" "forgotten: $2 prefixes" "--forget-paths"
}

# Rows of a wrong clock: those of the future are of now, also on disk; those of 1970 have expired. Two clocks are read
# in whole seconds, so that a time that is converted may be off by one.
test_expired_and_forgotten() {
	local year=31536000 began=$EPOCHSECONDS age i=0
	empty_database
	rows 500 60
	for age in $((-10 * year)) -9000000000000000000 $((50 * year)) 3601; do
		path "192.$((++i)).0.0/24" $age 40000 250000 250000 300000 100 0 1
	done
	tcptuned_start --set=paths.expire_s=3600
	expect_eq "$(ctl_json .known paths)" 502 "known paths"
	expect_eq "$(ctl_json '[.paths[:2][].prefix[:4], .paths[2].prefix[:3]]' paths)" '["192.","192.","10."]' "prefixes"
	expect_between "$(ctl_json '[.paths[:2][].age_s] | max' paths)" 0 $((EPOCHSECONDS + 1 - began)) "ages of those of the future, s"
	expect_between "$(ctl_json '.paths[2].age_s' paths)" 59 $((EPOCHSECONDS + 62 - began)) "age of the next one, s"
	# Forgotten in the kernel and on disk, by another process while the daemon runs.
	forget 10.0.7.0/24 1
	expect_eq "$(ctl_json .known paths)" 501 "known paths"
	expect_eq "$(db "SELECT count(*) FROM paths WHERE prefix = '10.0.7.0/24'")" 0 "rows of that prefix"
	expect_fail 2 forget 10.0.0.0/33 0
	tcptuned_stop
	expect_eq "$(db "SELECT count(*) FROM paths WHERE updated BETWEEN $((began - 61)) AND unixepoch() + 1")" \
		501 "rows of this clock"
	expect_eq "$(db 'SELECT count(*) FROM paths')" 501 "rows in all"
	tcptuned_start
	forget all 501
	expect_eq "$(ctl_json .known paths)" 0 "known paths"
	expect_eq "$(db 'SELECT count(*) FROM paths')" 0 "rows"
}

# tests/unit/test_database.c has other kinds of damage.
test_damaged_database_is_set_aside() {
	empty_database
	rows 300 60
	# a page in the middle of the paths, as a failing disk leaves it
	dd if=/dev/urandom of="$TEST_DIR/state/paths.db" bs=4096 seek=4 count=1 conv=notrunc status=none
	tcptuned_start
	in_log 'paths.db.* it is now .*paths\.db\.damaged, and a new one is begun'
	expect_ge "$(metric tcptuned_paths_database_errors_total)" 1 "database errors"
	tcptuned_stop
	expect_eq "$(ls "$TEST_DIR/state" | grep -c damaged)" 1 "files set aside"
	expect_eq "$(db 'PRAGMA quick_check')" ok "the new one"

	# Damaged while a daemon runs: all paths are forgotten or none, on disk and in the kernel.
	path 192.0.2.0/24 100 50000 1000000 2000000 300000 1000 25 7
	tcptuned_start
	head -c 20000 /dev/urandom >"$TEST_DIR/state/paths.db"
	expect_fail 1 forget 192.0.2.0/24 0
	expect_match "$(<"$TEST_DIR/forget.log")" 'not a database' "--forget-paths"
	expect_eq "$(ctl_json .known paths)" 1 "known paths"
	forget all 1
	expect_eq "$(ls "$TEST_DIR/state")" "" "files with addresses in them"
}

unread_and_killed() {
	mv "$TEST_DIR/state" "$TEST_DIR/unmounted"
	: >"$TEST_DIR/state"
	tcptuned_start
	in_log 'will not outlive a stop'
	tcptuned_kill
	rm "$TEST_DIR/state"
	mv "$TEST_DIR/unmounted" "$TEST_DIR/state"
}

# The map of a daemon that could not read the database does not replace what is on disk.
test_what_could_not_be_read_is_kept() {
	empty_database
	rows 300 60
	unread_and_killed
	tcptuned_start
	expect_eq "$(ctl_json .known paths)" 300 "known paths"
	tcptuned_stop
	expect_eq "$(db 'SELECT count(*) FROM paths')" 300 "paths on disk, after a stop"
	unread_and_killed
	detach_says "nothing is left pinned"
	expect_eq "$(db 'SELECT count(*) FROM paths')" 300 "paths on disk, after --detach"
}

# The daemon logs once that it has no disk, or no room on it, and connections go on. It saves once it has.
test_unwritable_state_directory() {
	: >"$TEST_DIR/state"
	tcptuned_start
	in_log 'state is not a directory .*; what is learned about paths will not outlive a stop'
	expect_ge "$(metric tcptuned_paths_database_errors_total)" 1 "database errors"
	rm "$TEST_DIR/state"
	mkdir -m 0700 "$TEST_DIR/state"
	tcptuned_stop
	expect_eq "$(times_logged 'will not outlive')" 1 "times that it was logged"
	expect_eq "$(db 'SELECT count(*) FROM paths')" 0 "paths saved"

	mount -t tmpfs -o size=64k,mode=700 tmpfs "$TEST_DIR/state"
	head -c 100k /dev/zero >"$TEST_DIR/state/full" || :
	tcptuned_start
	in_log 'paths.db: (database or disk is full|disk I/O error); what is learned'
	tcptuned_stop
	expect_eq "$(ls "$TEST_DIR/state" | grep -c damaged || :)" 0 "files set aside"
}

# In a directory of another user, a link would have root make a file anywhere.
test_state_directory_of_another_user() {
	local state=$TEST_DIR/state
	mkdir -m 0700 "$state"
	ln -s "$TEST_DIR/victim" "$state/paths.db"
	chown nobody "$state"
	tcptuned_start
	in_log 'tcptuned.state_directory: .*/state is not a directory that root alone may write to; .*will not outlive'
	tcptuned_stop
	chown root "$state"
	tcptuned_start
	in_log 'paths.db: it is not a regular file; remove it; what is learned'
	tcptuned_stop
	[ ! -e "$TEST_DIR/victim" ] || fail "a file was made where the link leads"
	rm "$state/paths.db"
	: >"$state/paths.db"
	chmod 0770 "$state"
	expect_fail 4 forget all 0
}

# Names, contents and times.
state_files() {
	[ ! -e "$TEST_DIR/state" ] || find "$TEST_DIR/state" -type f -printf '%p %T@ ' -exec md5sum {} \;
}

# With --observe the database is neither read nor written, nor made.
test_observe_writes_no_state() {
	local before
	host a b
	tcptuned_start --observe
	learn_it
	tcptuned_stop
	[ ! -e "$TEST_DIR/state" ] || fail "--observe made $TEST_DIR/state"

	mkdir "$TEST_DIR/state"
	head -c 20000 /dev/urandom >"$TEST_DIR/state/paths.db"
	before=$(state_files)
	tcptuned_start --observe
	tcptuned_stop
	expect_eq "$(state_files)" "$before" "what is no database"
}

test_listed_and_forgotten_by_tcptunectl() {
	local prefixes='[.paths[].prefix] | join(" ")' began=$EPOCHSECONDS
	empty_database
	path 192.0.2.0/24 100 50000 1000000 2000000 300000 1000 25 7
	path 198.51.100.0/24 7300 20000 3000000 100000 0 100 0 1
	path 2001:db8::/48 10 90000 500000 500000 900000 1000 1 30 1
	tcptuned_start
	expect_eq "$(ctl_json "[.known, .matched, ($prefixes)]" paths)" \
		'[3,3,"2001:db8::/48 192.0.2.0/24 198.51.100.0/24"]' "the last used first"
	expect_eq "$(ctl_json "$prefixes" paths --sort=receive)" \
		"198.51.100.0/24 192.0.2.0/24 2001:db8::/48" "by what was received"
	expect_eq "$(ctl_json "$prefixes" paths --sort=loss --limit=1)" 192.0.2.0/24 "the worst loss"
	expect_eq "$(ctl_json "$prefixes" paths --sort=rtt --reverse)" \
		"198.51.100.0/24 192.0.2.0/24 2001:db8::/48" "the nearest first"
	expect_eq "$(ctl_json '[.known, .matched, (.paths[0] | .prefix, .min_rtt_us,
		.receive_per_rtt_bytes, .send_per_rtt_bytes, .max_window_bytes, .loss, .connections)]' paths 192.0.2.77)" \
		'[3,1,"192.0.2.0/24",50000,1000000,2000000,300000,0.025,7]' "one of an address"
	expect_between "$(ctl_json '.paths[0].age_s' paths 192.0.2.77)" 100 $((EPOCHSECONDS + 101 - began)) "its age, s"
	expect_match "$(ctl paths 198.51.100.0/24)" \
		"^198.51.100.0/24 +1 +20.0ms +2.9M +97.7K +- +0.00% +2h$" "the same for people"
	expect_eq "$(ctl_json '[.paths[].slow]' paths)" '[true,false,false]' "which is slow"
	expect_match "$(ctl paths 2001:db8::/32)" ' [0-9]+s, slow$' "the same for people"
	expect_fail 2 ctl paths --sort=size
	expect_fail 2 ctl paths 192.0.2.0/33
	expect_eq "$(ctl paths forget 192.0.2.1)" "forgotten: 1 prefixes" "forgotten"
	expect_eq "$(ctl_json .known paths)" 2 "known"
	expect_eq "$(db 'SELECT count(*) FROM paths')" 2 "rows"
	# After a kill, the next daemon keeps what the kernel knows, and saves it.
	tcptuned_kill
	db 'DELETE FROM paths'
	tcptuned_start
	expect_eq "$(db 'SELECT count(*) FROM paths')" 2 "rows saved by the one that takes over"
	expect_eq "$(ctl paths forget all)" "forgotten: 2 prefixes" "all forgotten"
	expect_eq "$(ctl_json .known paths)" 0 "known paths"
}
