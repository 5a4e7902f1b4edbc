# SPDX-License-Identifier: GPL-2.0-only
# tcptune-run, as an unprivileged user: programs that set SO_RCVBUF get the window of their path, also without
# shared libraries; exit statuses, signals and what is in the report. (bench_unprivileged.sh has the rates.)

. "$TEST_TOP/tests/system/daemon.sh"
. "$TEST_TOP/tests/system/unprivileged.sh"

run=("${nobody[@]}" $own/tcptune-run)
docker=("${nobody[@]}" $own/confine docker $own/tcptune-run) # the same as in a Docker container
not_static="tcptune-run: --tune: pidfd_getfd(): forbidden by this container or host; only programs that are linked dynamically are tuned"
sockets=($own/sockets.py)
bytes=$((20 << 20))

prepare() {
	prepare_own
	cd $own
}

path() { # LINKEM OPTION...
	prepare
	CONGESTION=reno host a b
	link a b "$@"
}

# A path of 200 Mbit/s and 50 ms, 1.25 MB, whose sender is no limit, and whose queue holds what slow start
# overshoots.
long_path() {
	path --rate 200mbit --delay 25ms --queue 40MB
	in_host b sysctl -qw net.ipv4.tcp_wmem="4096 16384 67108864"
	head -c $bytes /dev/zero >$own/file
}

# Prints a congestion control other than Reno that an unprivileged user may choose on this host.
another_cc() {
	local cc said
	for cc in cubic bbr; do
		said=$(TEST_DIR=$own "${nobody[@]}" $sockets tcp4 set congestion $cc) || return
		[ -n "$said" ] || { echo $cc; return; }
	done
	fail "an unprivileged user may choose neither cubic nor bbr"
}

# Sets $window: the largest window that a command on host a advertises.
window_of() { # COMMAND...
	local status=0
	watch a
	in_host a "$@" >"$TEST_DIR/said" || status=$?
	[ $status = 0 ] || fail "status $status, of: $*"
	stop watch
	window=$(tail -n 1 "$TEST_DIR/watch.log" | jq .window_max_bytes)
}

# The kernel advertises less than 128 KB of a buffer that is fixed at 64 KB, which it doubles.
fixed=131072

expect_window() { # WHAT COMMAND...
	local window
	window_of "${@:2}"
	expect_ge "$window" $((4 * fixed)) "largest window of $1"
}

# A command that fixes its buffer at 64 KB.
expect_not_fixed() { # NAME COMMAND...
	local option window
	window_of "${nobody[@]}" "${@:2}"
	expect_le "$window" $fixed "largest window of $1 alone"
	for option in "" --tune; do
		expect_window "$1 under tcptune-run $option" "${run[@]}" $option "${@:2}"
		expect_window "$1 under tcptune-run $option in Docker" "${docker[@]}" $option "${@:2}" 2>/dev/null
	done
}

test_tcptune_run_reaches_dynamic_programs() {
	long_path
	serve_http 8000 $bytes
	expect_not_fixed curl env LD_PRELOAD=$own/preload_rcvbuf.so RCVBUF=65536 \
		curl -sf -o /dev/null http://10.99.0.2:8000/file
	expect_not_fixed lftp lftp -c "set xfer:clobber on; set net:socket-buffer 65536
		get http://10.99.0.2:8000/file -o $own/received"
	expect_eq "$(stat -c %s $own/received)" $bytes "bytes received by lftp"
}

test_tcptune_run_reaches_static_programs() {
	long_path
	serve_zeroes 8001 $bytes
	expect_not_fixed "a static program" $own/receive 10.99.0.2 8001 65536
	expect_not_fixed Python "${sockets[@]}" tcp4 set rcvbuf 65536 connect 10.99.0.2 8001 receive $bytes
	expect_window "tcptuned_tick()" "${nobody[@]}" $own/receive 10.99.0.2 8001 65536 tick
}

# A socket that io_uring makes, connects and reads.
test_tcptune_run_reaches_io_uring() {
	local option
	long_path
	serve_zeroes 8001 $bytes
	cp "$TEST_BUILD/tests/system/receive_uring" $own
	in_host a "${nobody[@]}" $own/receive_uring 10.99.0.2 1 65536 2>/dev/null || [ $? -ne 3 ] ||
		for_another_host "this kernel does not permit io_uring"
	for option in "" --tune; do
		expect_window "io_uring under tcptune-run $option" "${run[@]}" $option \
			$own/receive_uring 10.99.0.2 8001 65536
		expect_eq "$(<"$TEST_DIR/said")" $bytes "bytes"
	done
}

test_tcptune_run_reaches_go() {
	local cc
	[ -n "$(type -P go)" ] || for_another_host "the Go compiler is needed, which is too large to install"
	long_path
	serve_zeroes 8001 $bytes
	build_receive_go
	expect_not_fixed Go $own/receive_go 10.99.0.2:8001 65536
	cc=$(another_cc)
	report_of "${run[@]}" --json --cc "$cc" $own/receive_go 10.99.0.2:8001 65536
	expect_eq "$(reported .congestion_control)" "$cc" "of Go"
	report_of "${docker[@]}" --json --cc "$cc" $own/receive_go 10.99.0.2:8001 65536
	expect_eq "$(reported .congestion_control)" reno "of Go, in Docker"
	said "$not_static"
}

test_tcptune_run_rsync() {
	long_path
	serve_rsync
	expect_not_fixed rsync rsync --whole-file --ignore-times --sockopts=SO_RCVBUF=65536 \
		rsync://10.99.0.2:8730/files/file $own/received
	cmp $own/file $own/received
}

# A sender gets more than the kernel's largest buffer where net.core.wmem_max allows it.
test_tcptune_run_enlarges_a_send_buffer() {
	path --rate 200mbit --delay 50ms # 2.5 MB in flight, of some 1.5 MB in a buffer of 2 MB
	local TEST_BUILD=$own		 # the build may be in a directory that this user may not enter
	in_host a sysctl -qw net.ipv4.tcp_wmem="4096 16384 2097152"
	expect_le "$(SENDER_PREFIX="${run[*]}" transfer a b --bytes 60MB --count 1 | jq .sender.sndbuf)" 2097152 \
		"send buffer without --tune"
	for run in "${run[*]}" "${docker[*]}"; do
		expect_ge "$(SENDER_PREFIX="$run --tune" transfer a b --bytes 60MB --count 1 | jq .sender.sndbuf)" 3145728 \
			"send buffer with --tune, $run"
	done
}

# Starts a receiver that fixes its buffer at 64 KB, reads so much, and then waits for the file "go".
begin_transfer() { # NAME BYTES
	rm -f $own/go
	background "$1-peer" in_host b env TEST_DIR=$own "${sockets[@]}" tcp4 listen 10.99.0.2 7000 say listening \
		accept send "$2" until go
	wait_printed "$1-peer" listening
	background "$1" in_host a env TEST_DIR=$own "${run[@]}" --tune "${sockets[@]}" tcp4 set rcvbuf 65536 \
		connect 10.99.0.2 7000 receive "$2" say received until go
	wait_printed "$1" received
}

end_transfer() { # NAME
	touch $own/go
	wait "$(pid_of "$1")" "$(pid_of "$1-peer")"
}

# Prints the memory that the receive buffer of that connection may use.
receive_buffer() {
	in_host a ss -Htmn dst 10.99.0.2:7000 | sed -n 's/.*,rb\([0-9]*\),.*/\1/p'
}

# A path of 20 Mbit/s and half a second needs a window of 1.25 MB. After 16 KB the kernel's autotuning allows for some 100 KB,
# and the library, which acts after 64 KB, for what is known.
test_tcptune_run_remembers_a_path() {
	local state=$own/.local/state/tcptuned run=($at_once "${run[@]}") # it has 3 s for its memory
	path --rate 20mbit --delay 250ms --queue 1MB
	bytes=$((16 << 20))
	serve_zeroes 8001 $bytes
	begin_transfer unknown 16384
	expect_le "$(receive_buffer)" 500000 "bytes of receive buffer on an unknown path"
	end_transfer unknown
	[ ! -e $state ] || fail "16 KB are remembered"
	in_host a "${run[@]}" --tune $own/receive 10.99.0.2 8001 65536
	expect_eq "$(stat -c %a $state $state/paths.db | tr '\n' ' ')" "700 600 " "modes"
	begin_transfer known 65536
	wait_output -ge 800000 receive_buffer
	note "bytes of receive buffer on a known path: $(receive_buffer)"
	end_transfer known
}

test_tcptune_run_sets_a_damaged_memory_aside() {
	local memory=$own/state/tcptuned/paths.db run=($at_once "${run[@]}")
	prepare
	"${nobody[@]}" mkdir -p $own/state/tcptuned
	printf 'foreign %.0s' {1..125} >$memory
	chmod a+w $memory
	expect_eq "$(XDG_STATE_HOME=$own/state "${run[@]}" --why echo ran 2>&1)" ran "with --why"
	XDG_STATE_HOME=$own/state timeout 60 "${run[@]}" --tune \
		sh -c "until [ -s $own/stderr ]; do sleep 0.05; done" 2>$own/stderr
	expect_eq "$(cat $own/stderr)" "tcptune-run: $memory: file is not a database; it is now $memory.damaged, and a new one is begun" "said"
	expect_eq "$(stat -c %s $memory.damaged)" 1000 "bytes set aside"
}

# Its table is a view of a query without an end. Another program has locked it. The command starts, gets signals and ends.
test_tcptune_run_does_not_wait_for_its_memory() {
	local memory=$own/state/tcptuned/paths.db
	path --rate 100mbit --delay 25ms --queue 1MB
	bytes=$((40 << 20))
	serve_zeroes 8001 $bytes
	export XDG_STATE_HOME=$own/state
	"${nobody[@]}" mkdir -p $own/state/tcptuned
	make_endless $memory
	ends_by_a_signal
	rm -rf $memory*
	make_endless $memory
	begins command
	wait_printed command "^tcptune-run: $memory: \(not read, or written,\|.*; it is now $memory.damaged\)"
	expect_fail 9 stop command
	rm -rf $memory*
	background lock "${nobody[@]}" python3 -c "import sqlite3, time
sqlite3.connect('$memory').execute('BEGIN EXCLUSIVE')
print('locked', flush=True)
time.sleep(600)"
	wait_printed lock locked
	ends_by_a_signal
	in_host a "${run[@]}" --tune $own/receive 10.99.0.2 8001 65536 >"$TEST_DIR/received" 2>"$TEST_DIR/stderr"
	expect_eq "$(<"$TEST_DIR/received")" $bytes "bytes"
	expect_match "$(<"$TEST_DIR/stderr")" \
		"^tcptune-run: $memory: (database is locked|not read, or written, within 3 s); what is learned of paths is lost" "said"
}

make_endless() { # FILE
	local numbers
	numbers=$(printf ', i AS %s' updated min_rtt_us received_per_rtt sent_per_rtt max_window max_window_updated \
		segments_sent segments_retransmitted connections slow netns)
	"${nobody[@]}" sqlite3 "$1" "CREATE VIEW paths AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
		SELECT '' AS prefix, 0 AS cookie, '' AS boot$numbers FROM n WHERE i < 0;
		CREATE TRIGGER a INSTEAD OF INSERT ON paths BEGIN SELECT 1; END;
		CREATE TRIGGER b INSTEAD OF DELETE ON paths BEGIN SELECT 1; END; PRAGMA user_version = 1"
}

begins() { # NAME
	background "$1" "${run[@]}" --tune sh -c "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"
	wait_printed "$1" '^ready$'
}

ends_by_a_signal() {
	begins command
	expect_fail 9 stop command
}

# --- the report --------------------------------------------------------------------------------------
# Keeps the report of a command on host a, and what else it says.
report_of() { # COMMAND..., which has --json
	in_host a env TEST_DIR=$own "$@" 2>"$TEST_DIR/both" >"$TEST_DIR/stdout"
	grep '^{' "$TEST_DIR/both" >"$TEST_DIR/report"
	grep -v '^{' "$TEST_DIR/both" >"$TEST_DIR/stderr" || :
}

# Prints a member of the connection that carried most.
reported() { # JQ_FILTER
	jq -rs "max_by(.bytes_received + .bytes_sent) | $1" "$TEST_DIR/report"
}

# What limits a transfer from a to b, both of which have the options, for most of the time.
expect_limit() { # SENDER_LIMIT RECEIVER_LIMIT [MESSAGES OPTION...]
	background receiver in_host b "${run[@]}" --why --json $own/messages --once --listen 10.99.0.2 \
		--duration 2 "${@:3}"
	wait_printed receiver '^listening'
	report_of "${run[@]}" --why --json $own/messages --connect 10.99.0.2 --duration 2 "${@:3}"
	expect_eq "$(reported '.limited | to_entries | max_by(.value).key')" "$1" "limit of the sender, ${*:3}"
	expect_eq "$(reported .direction)" send "direction"
	wait "$(pid_of receiver)"
	grep '^{"local' "$TEST_DIR/receiver.log" >"$TEST_DIR/report"
	expect_eq "$(reported '.limited | to_entries | max_by(.value).key')" "$2" "limit of the receiver, ${*:3}"
}

# virtual: a busy host limits, too
# The path carries 500 KB in a round trip. With a buffer of 64 KB some 270 KB were in flight, which at 20 Mbit/s
# filled the path, and then cwnd and the buffer each limited half of the time.
test_tcptune_run_reports_what_limits() {
	path --rate 100mbit --delay 20ms --queue 1MB
	expect_limit send_buffer other_side --sndbuf 64K
	expect_limit receive_window receive_window --rcvbuf 64K
	expect_limit receive_window reader --read-rate 4000000
	expect_limit application other_side --interval 300 --bytes 64KiB
	expect_limit cwnd other_side
}

# virtual: rates and times are measured
test_tcptune_run_reports_amounts() {
	path --rate 20mbit --delay 20ms --queue 0.25bdp
	bytes=2000000
	serve_zeroes 8001 $bytes
	expect_amounts
	run=("${docker[@]}")
	expect_amounts
}

expect_amounts() {
	in_host a "${run[@]}" --why --json sh -c './receive 10.99.0.2 8001 100000 & ./receive 10.99.0.2 8001 100000
		wait' 2>"$TEST_DIR/report" >/dev/null
	expect_eq "$(jq -s length "$TEST_DIR/report")" 2 "connections"
	expect_between "$(reported .bytes_received)" $bytes $((bytes + 1)) "bytes, and perhaps the FIN"
	expect_eq "$(reported .remote)" 10.99.0.2:8001 "remote"
	expect_between "$(reported '.rtt * 1000')" 39 60 "ms"
	expect_between "$(jq -s 'map(.rate) | add / 1e6' "$TEST_DIR/report")" 4 21 "Mbit/s together"
	in_host a "${run[@]}" --output /dev/full ./receive 10.99.0.2 8001 65536 2>"$TEST_DIR/stderr" >/dev/null
	said "tcptune-run: /dev/full: the report could not be written"
	# As text, live, and to a file. At the end the RTT may include the queue, which holds 10 ms.
	rm -f $own/text
	in_host a "${run[@]}" --watch --output $own/text ./receive 10.99.0.2 8001 65536 >/dev/null
	expect_ge "$(wc -l <$own/text)" 2 "lines, of which the last is that of the end"
	expect_match "$(tail -n 1 $own/text)" \
		'^tcptune-run: 10.99.0.2:8001: received 2 MB at [0-9.]+ Mbit/s, RTT [45][0-9.]* ms; limited by ' "a line"
}

# --- what is withheld, and what is not ---------------------------------------------------------------
rcvbuf=("${sockets[@]}" tcp4 set rcvbuf 40000 get rcvbuf,locks)
both_steps=(set rcvbuf 40000 set sndbuf 50000 get rcvbuf,sndbuf,locks)

answers() { # EXPECTED WHAT COMMAND...
	expect_eq "$(TEST_DIR=$own "${@:3}" 2>"$TEST_DIR/stderr" | tr '\n' ',')" "$1" "$2"
}

said() { # WANTED, on standard error
	expect_eq "$(<"$TEST_DIR/stderr")" "$1" "said"
}

test_tcptune_run_withholds_buffer_sizes() {
	local kind
	prepare
	for kind in tcp4:0 tcp6:0 udp4:3 unix:3; do
		answers "rcvbuf 80000,sndbuf 100000,locks ${kind#*:}," "$kind" "${run[@]}" \
			"${sockets[@]}" ${kind%:*} "${both_steps[@]}"
	done
	answers "rcvbuf 60000,locks 0," "the last request" \
		"${run[@]}" "${sockets[@]}" tcp4 set rcvbuf 40000 set rcvbuf 30000 get rcvbuf,locks
	answers "rcvbuf 16384,locks 2,rcvbuf 80000,locks 2," "a small request, and one after it" "${run[@]}" \
		"${sockets[@]}" tcp4 set rcvbuf 8192 get rcvbuf,locks set rcvbuf 40000 get rcvbuf,locks
	answers "rcvbuf 80000,locks 2," "with --why" "${run[@]}" --why "${rcvbuf[@]}"
	answers "rcvbuf 80000,locks 0," "of a child, without standard files" "${run[@]}" \
		sh -c '"$@" | cat; exec >&- 2>&- <&-; exit 3' sh "${rcvbuf[@]}"
}

# More than autotuning may use is passed on.
test_tcptune_run_honours_large_sizes() {
	prepare
	host a
	in_host a sysctl -qw net.ipv4.tcp_rmem="4096 131072 262144"
	answers "rcvbuf 200000,locks 0,rcvbuf 400000,locks 2," "200 KB, 400 KB of 256" in_host a "${run[@]}" \
		"${sockets[@]}" tcp4 set rcvbuf 100000 get rcvbuf,locks set rcvbuf 200000 get rcvbuf,locks
}

# The kernel copies only to and from pages that the program itself may write, or read, and so do answers. The value
# of getsockopt() is 80000, which is withheld; on a page that is protected there are ones.
test_tcptune_run_heeds_page_protection() {
	local plain confined
	prepare
	cat >pages.py <<'END'
import ctypes, errno, mmap, socket, struct

NONE, READ, WRITE, PAGE = 0, 1, 3, mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
sock = socket.socket()
sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 40000)
pages = []


def pages_of(*protections: int) -> int:
    pages.append(mmap.mmap(-1, PAGE * len(protections), mmap.MAP_PRIVATE))
    pages[-1].write(b"\1" * PAGE * len(protections))
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages[-1]))
    for i, protection in enumerate(protections):
        assert not libc.mprotect(ctypes.c_void_p(address + i * PAGE), PAGE, protection)
    return address


def call(function, value: int, length: object) -> str:
    ctypes.set_errno(0)
    function(sock.fileno(), socket.SOL_SOCKET, socket.SO_RCVBUF, ctypes.c_void_p(value), length)
    return errno.errorcode.get(ctypes.get_errno(), "ok")


def get(what: str, value: int, length: int) -> None:
    result = call(libc.getsockopt, value, ctypes.c_void_p(length))
    libc.mprotect(ctypes.c_void_p(value & -PAGE), PAGE, READ)
    print("get", what, result, struct.unpack("i", ctypes.string_at(value & -PAGE, 4))[0])


with open(__file__, "rb") as file:
    text = mmap.mmap(file.fileno(), 8, mmap.MAP_PRIVATE)
constant = ctypes.addressof(ctypes.c_char.from_buffer(text))
assert not libc.mprotect(ctypes.c_void_p(constant), PAGE, READ)
lengths, short = (ctypes.c_int * 1)(4), (ctypes.c_int * 1)(2)
get("", pages_of(WRITE), ctypes.addressof(lengths))
get("constant", constant, ctypes.addressof(lengths))
get("read-only", pages_of(READ), ctypes.addressof(lengths))
get("none", pages_of(NONE), ctypes.addressof(lengths))
get("across", pages_of(WRITE, NONE) + PAGE - 2, ctypes.addressof(lengths))
get("two pages", pages_of(WRITE, WRITE) + PAGE - 2, ctypes.addressof(lengths))
get("length none", pages_of(WRITE), pages_of(NONE))
get("two bytes", pages_of(WRITE), ctypes.addressof(short))
length = pages_of(WRITE)
pages[-1].seek(0)
pages[-1].write(struct.pack("i", 4))
libc.mprotect(ctypes.c_void_p(length), PAGE, READ)
print("get length read-only", call(libc.getsockopt, pages_of(WRITE), ctypes.c_void_p(length)))
print("set none", call(libc.setsockopt, pages_of(NONE), 4))
print("set read-only", call(libc.setsockopt, pages_of(READ), 4))
get("", pages_of(WRITE), ctypes.addressof(lengths))
END
	plain=$("${nobody[@]}" python3 pages.py)
	note "$plain"
	expect_eq "$(grep -c EFAULT <<<"$plain")" 7 "calls that fail"
	for confined in "${run[*]}" "${docker[*]}"; do
		expect_eq "$($confined python3 pages.py)" "$plain" "$confined"
	done
}

# --- as without it -----------------------------------------------------------------------------------
test_tcptune_run_ends_like_its_command() {
	local option
	prepare
	for option in "" --why --tune; do
		expect_fail 0 "${run[@]}" $option true
		expect_fail 7 "${run[@]}" $option sh -c 'exit 7'
		expect_fail 127 "${run[@]}" $option /nonexistent
		expect_fail 126 "${run[@]}" $option /etc/passwd
		expect_fail 143 "${run[@]}" $option sh -c 'kill $$'
		expect_fail 137 "${run[@]}" $option sh -c 'kill -KILL $$'
	done
	# tcptune-run and its watcher are two processes of this user, and the command would be the third
	expect_fail 125 setpriv --reuid 54321 --regid 54321 --clear-groups prlimit --nproc=2 \
		$own/tcptune-run true 2>"$TEST_DIR/stderr"
	said "tcptune-run: true: Resource temporarily unavailable"
	expect_fail 2 "${run[@]}" --no-such-option true
	expect_fail 2 "${run[@]}" --why --tune true
	expect_fail 2 "${run[@]}" --rate fast true
	expect_fail 2 "${run[@]}"
	# By the signal itself, not by a status of 128 and more.
	expect_eq "$("${run[@]}" python3 -c 'import subprocess, sys
print(subprocess.run([sys.argv[1], "sh", "-c", "kill $$"]).returncode)' $own/tcptune-run)" -15 "ended by"
}

test_tcptune_run_passes_signals_on() {
	local signal
	prepare
	for signal in TERM INT HUP USR1; do
		background command "${run[@]}" sh -c "trap 'echo $signal; exit 9' $signal
			echo ready; while :; do sleep 0.05; done"
		wait_printed command ready
		expect_fail 9 stop command $signal
		expect_eq "$(tail -n 1 "$TEST_DIR/command.log")" $signal "signal"
	done
}

# A shell with job control, at a terminal: interrupt, stop, continue, and a pipeline.
test_tcptune_run_at_a_terminal() {
	prepare
	"${nobody[@]}" python3 - $own/tcptune-run >"$TEST_DIR/terminal" <<'END'
import os, pty, select, sys, time

pid, terminal = pty.fork()
if not pid:
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])


def until(text: str) -> None:
    seen, end = "", time.time() + 120
    while text not in seen:
        if time.time() > end or not select.select([terminal], [], [], 120)[0]:
            sys.exit(f"no {text!r} in {seen!r}")
        seen += os.read(terminal, 4096).decode(errors="replace")


def send(text: str) -> None:
    os.write(terminal, text.encode())


send(f"PS1=; run={sys.argv[1]}\n")
send("$run sh -c 'echo rea''dy; exec sleep 60'\n")
until("ready\r\n")
group = os.tcgetpgrp(terminal)
send("\x1a")
until("Stopped")
send("bg; jobs -r | wc -l; fg\n")
until("1\r\n")
while os.tcgetpgrp(terminal) != group:
    time.sleep(0.02)
send("\x03")
until("^C")
send("echo status $?\n")
until("status 130\r\n")
send("$run sh -c 'trap \"echo trap''ped; exit 4\" INT; echo rea''dy; while :; do sleep 0.1; done'\n")
until("ready\r\n")
send("\x03")
until("trapped\r\n")
send("echo status $?\n")
until("status 4\r\n")
send("$run sh -c 'kill -STOP $$; exit 3'\n")
until("Stopped")
send("fg; echo status $?\n")
until("status 3\r\n")
send("echo x | $run cat | tr x y; $run cat\n")
until("y\r\n")
send("from terminal\n")
until("from terminal\r\nfrom terminal\r\n")
END
}

# When a terminal hangs up, the kernel sends SIGHUP to the leader of the session only.
test_tcptune_run_without_its_terminal() {
	prepare
	"${nobody[@]}" timeout 120 python3 - $own/tcptune-run <<'END'
import os, pty, sys

pid, terminal = pty.fork()
if not pid:
    os.execv(sys.argv[1], [sys.argv[1], "sh", "-c", "trap 'echo >gone; exit 9' HUP; echo ready; while :; do sleep 0.1; done"])
while b"ready" not in os.read(terminal, 4096):
    pass
os.close(terminal)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
END
	[ -e gone ] || fail "the command had no SIGHUP"
	expect_fail 142 "${nobody[@]}" python3 -c 'import os, signal, sys
signal.alarm(1)
os.execv(sys.argv[1], [sys.argv[1], "sleep", "30"])' $own/tcptune-run
}

without_reader() { # COMMAND..., whose standard error has no reader
	(sleep 0.3; exec "$@" 2>&1) | true
}

# What a script or another program leaves to it.
inherited='import os
print(os.listdir("/proc/self/fd"), os.environ)
print([line for line in open("/proc/self/status") if line[:6] in ("SigBlk", "SigIgn", "SigCgt")])'

test_tcptune_run_in_odd_surroundings() {
	local ignores=(env --ignore-signal=CHLD) closed=(sh -c 'exec "$@" <&- >&- 2>&-' -) option files
	prepare
	files='for fd in 0 1 2; do [ ! -e /proc/$$/fd/$fd ] || exit 8; done; exit 7'
	for option in --why --tune; do
		expect_fail 7 timeout 120 "${ignores[@]}" "${run[@]}" $option sh -c 'exit 7'
		expect_fail 7 timeout 120 "${closed[@]}" "${run[@]}" $option sh -c "$files"
	done
	# What it inherits: descriptors, signals, and the environment.
	for option in "" --why --tune; do
		expect_eq "$("${ignores[@]}" "${run[@]}" $option python3 -c "$inherited" 7<tcptune-run)" \
			"$("${ignores[@]}" "${nobody[@]}" python3 -c "$inherited" 7<tcptune-run)" "what it inherits, $option"
	done
	expect_fail 0 sh -c 'LISTEN_PID=$$ exec "$@"' - "${run[@]}" sh -c '[ $LISTEN_PID = $$ ]'
	# There is no reader of what it says before it starts the command.
	expect_fail 7 without_reader "${run[@]}" --cc nonesuch sh -c 'exit 7'
	# Its reader sees when the command closes its output,
	exec 5< <(exec "${run[@]}" sh -c 'exec >&-; sleep 60')
	expect_fail 1 read -r -t 20 -u 5
	exec 5<&-
	# and when there is no reader of reports, requests are still answered.
	"${run[@]}" --watch python3 2>&1 - <<'END' | head -n 1
import socket, time

server = socket.create_server(("127.0.0.1", 0))
connection = socket.create_connection(server.getsockname())
time.sleep(3.5)  # three reports
connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 40000)
with open("locks", "w") as file:
    print(connection.getsockopt(socket.SOL_SOCKET, 72), file=file)
END
	expect_eq "$(<locks)" 0 "locks"
}

# A set-user-ID program has its privileges with --why; otherwise it runs without them, as the manual says.
test_tcptune_run_of_a_set_user_id_program() {
	prepare
	install -m 4755 "$(type -P id)" id
	answers "0," "without tcptune-run" "${nobody[@]}" ./id -u
	answers "0," "with --why" "${run[@]}" --why ./id -u
	answers "65534," "otherwise" "${run[@]}" ./id -u
	said ""
}

# A program for another architecture than that of the seccomp filter, which ends by exit(7).
test_tcptune_run_of_a_32_bit_program() {
	[ "$(uname -m)" = x86_64 ] || for_another_host "only 64-bit x86 runs programs for 32-bit x86"
	prepare
	gcc -m32 -nostdlib -static -o exit_7 -x assembler - <<'END'
.globl _start
_start:
	mov $1, %eax
	mov $7, %ebx
	int $0x80
END
	expect_fail 7 "${run[@]}" ./exit_7
}

# The command is stopped and continued by its own process ID.
test_tcptune_run_stops_and_continues() {
	local command
	prepare
	background stopped "${run[@]}" sh -c 'trap "exit 9" TERM; echo $$; while :; do sleep 0.05; done'
	wait_printed stopped '^[0-9]'
	command=$(<"$TEST_DIR/stopped.log")
	for signal in STOP CONT; do
		kill -$signal "$command"
		wait_output = $([ $signal = STOP ] && echo T || echo S) state_of_stopped
	done
	kill -STOP "$command"
	kill -CONT "$command"
	expect_fail 9 stop stopped
}

state_of_stopped() {
	awk '{ print $3 }' "/proc/$(pid_of stopped)/stat"
}

# While the command is stopped, its connections are not reported.
test_tcptune_run_watches_while_the_command_runs() {
	local command lines
	prepare
	background stopped "${run[@]}" --watch python3 -c 'import os, socket, time
server = socket.create_server(("127.0.0.1", 0))
one, other = socket.create_connection(server.getsockname()), server.accept()[0]
print(os.getpid(), flush=True)
while one.send(b"x") and other.recv(1):
    time.sleep(0.05)'
	wait_output -ge 3 lines_of_stopped
	wait_printed stopped '^[0-9][0-9]*$'
	command=$(grep -x '[0-9]*' "$TEST_DIR/stopped.log")
	kill -STOP "$command"
	wait_output = T state_of_stopped
	lines=$(lines_of_stopped)
	sleep 2.5
	expect_eq "$(lines_of_stopped)" "$lines" "lines after 2.5 s"
	kill -CONT "$command"
	wait_output -gt "$lines" lines_of_stopped
	stop stopped || :
}

lines_of_stopped() {
	wc -l <"$TEST_DIR/stopped.log"
}

# The end of the command is the end of tcptune-run, also for the reader of a pipe; what the command leaves
# in the background is still answered, and the watcher ends with it.
test_tcptune_run_leaves_a_daemon() {
	local pid before
	prepare
	printf '%s\n' '#!/bin/sh' 'setsid sh -c "echo \$PPID >parent; until [ -e go ]; do sleep 0.05; done
		TEST_DIR=. ./sockets.py tcp4 set rcvbuf 40000 get rcvbuf,locks >got.new
		mv got.new got" >/dev/null 2>&1 </dev/null &' 'until [ -s parent ]; do sleep 0.05; done' 'echo started' >daemon
	chmod +x daemon
	expect_eq "$("${run[@]}" ./daemon | cat)" started "output"
	touch go
	wait_until test -s got
	expect_eq "$(tr '\n' ',' <got)" "rcvbuf 80000,locks 0," "of the daemon"
	wait_until no_watcher
	# It does nothing while the daemon does nothing.
	rm go got parent
	"${run[@]}" --watch --tune ./daemon >/dev/null
	wait_output = 1 pgrep -c -x tcptune-run -r S,R,D
	pid=$(pgrep -x tcptune-run -r S,R,D)
	sleep 1.5 # a report would be due
	before=$(processor_ns)
	sleep 1
	expect_le $((($(processor_ns) - before) / 1000000)) 200 "ms of processor time in a second"
	touch go
	wait_until no_watcher
}

no_watcher() {
	[ -z "$(pgrep -x tcptune-run -r S,R,D)" ]
}

processor_ns() {
	cut -d " " -f 1 "/proc/$pid/schedstat"
}

# A daemon that answers, or that does not let this user connect.
test_tcptune_run_leaves_it_to_a_daemon() {
	prepare
	mount -t tmpfs tmpfs /run
	mkdir /run/tcptuned
	background daemon python3 -c "
import socket, time
s = socket.socket(socket.AF_UNIX)
s.bind('/run/tcptuned/control')
s.listen()
print('listening', flush=True)
time.sleep(240)"
	wait_printed daemon listening
	answers "rcvbuf 80000,locks 2," "next to a daemon" "${run[@]}" --tune "${rcvbuf[@]}"
	said "tcptune-run: tcptuned runs on this host; only watching"
	stop daemon || :
	chmod 777 /run/tcptuned/control
	answers "rcvbuf 80000,locks 0," "after it was killed" "${run[@]}" "${rcvbuf[@]}"
}

# --- trouble -----------------------------------------------------------------------------------------
test_tcptune_run_next_to_another_notifier() {
	prepare
	answers "rcvbuf 80000,locks 2," "inside another notifier" \
		"${nobody[@]}" ./confine notifier ./tcptune-run "${rcvbuf[@]}"
	said "tcptune-run: buffer sizes that the command sets are not intercepted: another seccomp notifier is in force"
	expect_eq "$("${nobody[@]}" ./confine notifier ./tcptune-run grep NoNewPrivs /proc/self/status 2>/dev/null)" \
		"$("${nobody[@]}" ./confine notifier grep NoNewPrivs /proc/self/status)" "as without"
	expect_fail 1 "${run[@]}" ./confine notifier true 2>"$TEST_DIR/stderr"
	expect_match "$(cat "$TEST_DIR/stderr")" "^tcptune-run: the command installs a seccomp notifier" "said"
	expect_fail 0 "${run[@]}" --why ./confine notifier true
}

# --- in a Docker container (confine) -----------------------------------------------------------------
# Root in a container has no capability that would make a difference.
test_tcptune_run_in_docker() {
	local root=(setpriv --inh-caps=-all --bounding-set=-all,+chown,+dac_override,+fsetid,+fowner,+mknod
		+net_raw,+setgid,+setuid,+setfcap,+setpcap,+net_bind_service,+sys_chroot,+kill,+audit_write)
	prepare
	root=("${root[0]}" "${root[1]}" "${root[2]},${root[3]}" $own/confine docker $own/tcptune-run)
	for docker in "${docker[*]}" "${root[*]}"; do
		answers "rcvbuf 80000,sndbuf 100000,locks 0," "$docker" \
			$docker "${sockets[@]}" tcp4 "${both_steps[@]}"
		said ""
		answers "rcvbuf 80000,locks 2," "$docker --why" $docker --why "${rcvbuf[@]}"
		expect_fail 7 $docker --tune sh -c 'exit 7' 2>"$TEST_DIR/stderr"
		said "$not_static"
	done
	rm tcptune-preload.so
	expect_eq "$(${docker[0]} --tune sh -c 'echo $LD_PRELOAD' 2>&1)" "${not_static%;*}; connections are not tuned, since tcptune-preload.so is missing, or its path has a space or a colon" "said without it"
}

# Of a socket that connects, whose application has a lower rate, and of one that is accepted.
test_tcptune_run_sets_cc_and_rate() {
	local cc tune
	path --rate 1gbit --delay 5ms
	cc=$(another_cc)
	tune=(--cc "$cc" --rate 40Mbit)
	for run in "${run[*]}" "${docker[*]}"; do
		background peer in_host b env TEST_DIR=$own $run "${tune[@]}" "${sockets[@]}" tcp4 \
			listen 10.99.0.2 7000 say listening accept receive 10000000 until go send 200000 \
			get congestion,pacing
		wait_printed peer listening
		rm -f $own/go
		background go go_once_both_have "$cc"
		report_of $run --json "${tune[@]}" "${sockets[@]}" tcp4 set pacing 4000000 connect 10.99.0.2 7000 \
			send 10000000 receive 200000 get congestion,pacing
		expect_eq "$(reported .congestion_control)" "$cc" "of $run"
		wait "$(pid_of peer)" "$(pid_of go)"
		expect_eq "$(tail -n 2 "$TEST_DIR/stdout" | tr '\n' ',')" "congestion $cc,pacing 4000000," "client, $run"
		expect_eq "$(tail -n 2 "$TEST_DIR/peer.log" | tr '\n' ',')" "congestion $cc,pacing 5000000," "server, $run"
	done
	expect_fail 0 "${nobody[@]}" ./tcptune-run --cc nonesuch true 2>"$TEST_DIR/stderr"
	said "tcptune-run: --cc: this kernel has no nonesuch; see net.ipv4.tcp_available_congestion_control"
}

go_once_both_have() { # CONGESTION_CONTROL
	wait_output = "$1" congestion_of b "sport = :7000 and dport != :0"
	wait_output = "$1" congestion_of a "dport = :7000"
	touch $own/go
}

# What is preloaded holds no connection open, keeps to the socket, and makes no call that kills a sandbox.
test_tcptune_run_in_docker_leaves_the_program_alone() {
	prepare
	host a
	background peer in_host a python3 -c "
import socket
server = socket.create_server(('127.0.0.1', 7000))
print('listening', flush=True)
for _ in range(2):
    with server.accept()[0] as connection:
        connection.sendall(bytes(10 << 20))
        connection.recv(1)
        open('$own/end', 'w')"
	wait_printed peer listening
	in_host a "${docker[@]}" --tune python3 - $own/end <<'END'
import ctypes, errno, os, socket, struct, sys, time

PR_SET_SECCOMP = 22
GETSOCKOPT = 55 if os.uname().machine == "x86_64" else 209


def receive(connection: socket.socket) -> None:
    size, end = 0, time.monotonic() + 0.1
    while size < 10 << 20 or time.monotonic() < end:
        size += len(connection.recv(65536)) if size < 10 << 20 else 0


connection = socket.create_connection(("127.0.0.1", 7000))
receive(connection)
number = connection.detach()
os.closerange(number, 100)
end = time.monotonic() + 60
while not os.path.exists(sys.argv[1]):
    assert time.monotonic() < end, "no FIN"
    time.sleep(0.05)
os.closerange(number, 100)
reader, writer = os.pipe()
assert number == reader
os.write(writer, b"x")
libc = ctypes.CDLL(None, use_errno=True)
assert libc.read(number, ctypes.create_string_buffer(1), 1) == 1 and ctypes.get_errno() == 0
assert socket.socket().connect_ex(("127.0.0.1", 7999)) == errno.ECONNREFUSED

# From here on getsockopt() kills.
connection = socket.create_connection(("127.0.0.1", 7000))
program = ctypes.create_string_buffer(
    b"".join(struct.pack("HBBI", *i) for i in (
        (0x20, 0, 0, 0), (0x15, 0, 1, GETSOCKOPT), (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7FFF0000))))
description = struct.pack("HxxxxxxQ", 4, ctypes.addressof(program))
assert libc.prctl(PR_SET_SECCOMP, 2, description, 0, 0) == 0
receive(connection)
print("received", flush=True)
END
}

test_tcptune_run_on_an_old_kernel() {
	prepare
	expect_fail 7 "${nobody[@]}" ./confine old ./tcptune-run --tune sh -c 'exit 7' 2>"$TEST_DIR/stderr"
	said "tcptune-run: --tune: buffers that were fixed remain so: this kernel lacks SO_BUF_LOCK (Linux 5.14)"
}

# A process of another user, which may not be looked at: its request passes, and that is said.
test_tcptune_run_without_access_to_a_process() {
	prepare
	answers "rcvbuf 80000,locks 2," "without CAP_SYS_PTRACE" setpriv --bounding-set=-sys_ptrace --inh-caps=-all \
		./tcptune-run "${nobody[@]}" "${rcvbuf[@]}"
	expect_match "$(<"$TEST_DIR/stderr")" "^tcptune-run: buffer sizes .* are not intercepted: /proc/[0-9]+/fd/[0-9]+: \
Permission denied$" "once"
}

# As with Yama's ptrace_scope 2, under which process_vm_readv() is refused as it is in Docker.
test_tcptune_run_without_access_to_memory() {
	local pid
	prepare
	background command env TEST_DIR=$own "${docker[@]}" sh -c 'echo $$; until [ -e go ]; do sleep 0.05; done
		exec ./sockets.py tcp4 set rcvbuf 40000 set rcvbuf 40000 get rcvbuf,locks'
	wait_printed command '^[0-9]'
	pid=$(<"$TEST_DIR/command.log")
	install -m 0 /dev/null closed
	mount --bind closed "/proc/$pid/mem"
	touch go
	wait "$(pid_of command)"
	unset "LIB_PID[command]"
	expect_eq "$(tr '\n' ',' <"$TEST_DIR/command.log")" "$pid,tcptune-run: buffer sizes that the command sets are not \
intercepted: /proc/$pid/mem: Permission denied,rcvbuf 80000,locks 2," "once"
}

test_tcptune_run_killed() {
	# the watcher, once the process that was started can answer instead of it
	local kill_watcher='main=$(cut -d " " -f 4 /proc/$PPID/stat)
		until ls -l /proc/$main/fd | grep -q seccomp; do sleep 0.05; done
		kill -KILL $PPID; until [ "$(cut -d " " -f 4 /proc/$$/stat)" != $PPID ]; do sleep 0.05; done'
	prepare
	# The process that was started: the command does not notice.
	background killed "${run[@]}" sh -c 'echo ready; until [ -e go ]; do sleep 0.05; done
		TEST_DIR=. ./sockets.py tcp4 set rcvbuf 40000 get rcvbuf,locks'
	wait_printed killed ready
	expect_fail 137 stop killed KILL
	touch go
	wait_until grep -q locks "$TEST_DIR/killed.log"
	expect_eq "$(tr '\n' ',' <"$TEST_DIR/killed.log")" "ready,rcvbuf 80000,locks 0," "after tcptune-run was killed"
	# Its watcher: requests are passed on, and the command gets signals, and ends, as without.
	expect_eq "$(TEST_DIR=. timeout 40 "${run[@]}" sh -c "$kill_watcher"'
		./sockets.py tcp4 set rcvbuf 40000 get locks; sleep 60 >/dev/null & exit 6' | tr '\n' ','; echo "${PIPESTATUS[0]}")" \
		"locks 2,6" "after the watcher was killed"
	background orphan "${run[@]}" sh -c 'trap "exit 9" TERM; '"$kill_watcher"'; echo ready
		while :; do sleep 0.05; done'
	wait_printed orphan ready
	expect_fail 9 stop orphan
}

# Each of 1,000 connections is in the report.
# timeout: 600
test_tcptune_run_of_a_thousand_connections() {
	local option
	prepare
	for option in "" --tune; do
		timeout 120 "${run[@]}" --json $option python3 - 2>"$TEST_DIR/report" <<'END'
import resource, socket, time

resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
server = socket.create_server(("127.0.0.1", 0), backlog=1000)
pairs = [(socket.create_connection(server.getsockname()), server.accept()[0]) for _ in range(500)]
for one, other in pairs:
    one.sendall(bytes(10000))
    assert other.recv(10000, socket.MSG_WAITALL) == bytes(10000)
time.sleep(32)  # a scan: the next one is due after 800 times what one takes of a processor, at most 30 s
for one, other in pairs:
    one.close()
time.sleep(0.5)
END
		expect_eq "$(jq -s length "$TEST_DIR/report")" 1000 "connections"
		expect_between "$(reported_bytes)" 10000000 10004000 "bytes of all, and SYN and FIN"
	done
}

# Data of connections that are reset when the command ends: of half of them before the last scan, since by
# SO_LINGER the kernel forgets how much it was, and after it of those whose last byte is not read.
# timeout: 600
test_tcptune_run_reports_what_came_last() {
	prepare
	timeout 120 "${run[@]}" --json python3 - 2>"$TEST_DIR/report" <<'END'
import socket, struct, time

server = socket.create_server(("127.0.0.1", 0), backlog=20)
pairs = [(socket.create_connection(server.getsockname()), server.accept()[0]) for _ in range(20)]
for i, (one, other) in enumerate(pairs):
    if i == 10:
        for _ in range(640): # 32 s, as above; a machine that stood still has slept one of them
            time.sleep(0.05)
    if i < 10:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    one.sendall(bytes(10000))
    assert len(other.recv(10000 if i < 10 else 9999, socket.MSG_WAITALL)) >= 9999
END
	expect_eq "$(jq -s length "$TEST_DIR/report")" 40 "connections"
	expect_between "$(reported_bytes)" 400000 400160 "bytes at both ends, and SYN and FIN"
}

reported_bytes() {
	jq -s 'map(.bytes_sent + .bytes_received) | add' "$TEST_DIR/report"
}
