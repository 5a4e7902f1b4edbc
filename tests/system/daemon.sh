# SPDX-License-Identifier: GPL-2.0-only
# What tests of the daemon share, on top of lib.sh.

unset GROUP PRIORITY SENDER RECEIVER SIGNAL # parameters of functions below

bitcp=--set=policy.congestion_control=bitcp # all connections get it
sockets=("$TEST_TOP/tests/system/sockets.py")

# A user without any privilege.
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all)

# From here on, applications run as that user, who may not be able to read the tests.
run_sockets_as_nobody() {
	mount -t tmpfs -o mode=755 tmpfs /mnt
	cp "$TEST_TOP/tests/system/sockets.py" /mnt/sockets
	sockets=("${nobody[@]}" /mnt/sockets)
}

# Starts an application whose sockets do these steps (sockets.py), in the daemon's control group
# unless GROUP says otherwise, and waits until it listens, if that is a step. No step before may wait. PRIORITY is a
# command that runs it.
application() { # NAME HOST STEP...
	local pattern='listen [^ ]+ ([0-9]+)'
	background "$1" ${GROUP-in_group} in_host "$2" ${PRIORITY-} "${sockets[@]}" "${@:3}"
	[[ ${*:3} =~ $pattern ]] || return 0
	wait_until or_ended "$1" listens "$2" "${BASH_REMATCH[1]}"
	listens "$2" "${BASH_REMATCH[1]}" || fail "$1 ended: $(<"$TEST_DIR/$1.log")"
}

outsider() { # NAME HOST STEP...; in no control group that the daemon manages
	GROUP= application "$@"
}

# Connects to the daemon's socket, sends standard input once that has ended, and prints the answer.
control_client() { # [unread]
	python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.stdin.buffer.read())
s.shutdown(socket.SHUT_WR)
while len(sys.argv) < 3 and (piece := s.recv(65536)):
    sys.stdout.buffer.write(piece)' "$TEST_DIR/run/control" "$@"
}

# Makes FILE, for which applications wait, and waits until one of them prints a line.
proceed() { # FILE NAME PATTERN
	: >"$TEST_DIR/$1"
	wait_printed "$2" "$3"
}

# Makes FILE, for which applications wait, and waits until these have succeeded.
finish() { # FILE NAME...
	local name
	: >"$TEST_DIR/$1"
	for name in "${@:2}"; do
		wait "$(pid_of "$name")"
	done
}

# --- transfers from host a to host b; both ends are tuned -----------------------------------------
tuned_path() { # DAEMON_OPTIONS LINKEM OPTION...
	host a b
	tcptuned_start $1
	link a b "${@:2}"
}

configured_path() { # TEXT LINKEM OPTION...; TEXT as of start_with
	configure "$1"
	tuned_path "--config=$TEST_DIR/my.conf $bitcp" "${@:2}"
}

sized_path() { # LINKEM OPTION...; the daemon sizes buffers, and keeps the congestion control
	tuned_path --set=policy.congestion_control=keep "$@"
}

# Starts one in the background. Its result is in $TEST_DIR/NAME.log; TRANSFER_ADDR replaces b's
# address, SENDER_PREFIX and RECEIVER_PREFIX in_group, SENDER a, and RECEIVER b. A test
# may stop one of its ends for long.
stream() { # NAME PORT [MESSAGES OPTION...]
	local to=${TRANSFER_ADDR:-${ADDR[b]}}
	listener "$1-receiver" "${RECEIVER_PREFIX-in_group} in_host ${RECEIVER-b}" \
		--listen "$to" --stall 280 --port "${@:2}"
	background "$1" ${SENDER_PREFIX-in_group} in_host "${SENDER-a}" "$TEST_BUILD/messages" \
		--connect "$to" --stall 280 --port "${@:2}"
}

# Waits until one ends, and expects that it succeeded.
stream_end() { # NAME
	local code=0
	wait "$(pid_of "$1")" || code=$?
	unset "LIB_PID[$1]"
	stop "$1-receiver" || :
	lib_expect_transferred "$1" $code "$TEST_DIR/$1.log" "$TEST_DIR/$1-receiver.log"
}

# Ends several at the next message.
stream_stop() { # NAME...
	local name
	for name; do
		kill -USR1 "$(pid_of "$name")" 2>/dev/null || : # it may have ended
	done
	for name; do
		stream_end "$name"
	done
}

# Ends processes by $SIGNAL (TERM), whatever they return.
stop_all() { # NAME...
	local name
	for name; do
		stop "$name" "${SIGNAL-TERM}" || :
	done
}

# Starts one that is idle once it has moved BYTES.
idle_stream() { # NAME PORT BYTES [MESSAGES OPTION...]
	stream "$1" "$2" --count 2 --bytes "$3" --interval 280000 "${@:4}"
	wait_until arrived "$2" "$3"
	wait_until all_read "$2"
	wait_until are_quiet "$2" # after the last ACKs
}

are_quiet() { # PORT; both ends
	local before
	before=$(segments_of "$1")
	sleep 0.3
	[ "$(segments_of "$1")" = "$before" ]
}

segments_of() { # PORT
	in_host "${SENDER-a}" ss -tinOH "dport = :$1" | grep -oE 'segs_(in|out):[0-9]+'
	in_host "${RECEIVER-b}" ss -tinOH "sport = :$1" | grep -oE 'segs_(in|out):[0-9]+'
}

all_read() { # PORT
	! in_host "${RECEIVER-b}" ss -tnOH "sport = :$1" | awk '$1 == "ESTAB" { print $2 }' | grep -qvx 0 &&
		! in_host "${SENDER-a}" ss -tnOH "dport = :$1" | awk '{ print $3 }' | grep -qvx 0
}

received() { # PORT; bytes at host b
	ss_of b "sport = :$1 and dport != :0" 'bytes_received:([0-9]+)' | grep .
}

arrived() { # PORT BYTES; at host b
	[ "$(received "$1")" -ge "$(numfmt --from=si "${2%B}")" ]
}

# Waits as wait_output does, while that much more arrives: a busy host carries less in a second.
wait_carried() { # PORT BYTES OPERATOR VALUE COMMAND...
	local most now
	wait_until received "$1" >/dev/null
	most=$(($(received "$1") + $(numfmt --from=si "$2")))
	until lib_outputs "${@:3}"; do
		now=$(received "$1") || fail "the connection to port $1 has ended before: ${*:3}"
		[ "$now" -lt $most ] || fail "not until $most bytes had arrived: ${*:3}"
		sleep 0.3
	done
}

result() { # NAME JQ_FILTER
	jq -cr "$2" "$TEST_DIR/$1.log"
}

expect_payload() { # NAME
	expect_undamaged "$(result "$1" .bytes_damaged)" "payload of $1"
	expect_eq "$(result "$1" '[.ok, .verified]')" "[true,true]" "all of $1, verified"
}

# --- right edges: rightedge reads what a host, b, sends over its first link --------------------------
# A window exceeds a fixed buffer by what it is rounded up. What then finds no room is dropped, and the kernel closes
# the window (ICSK_ACK_NOMEM), with tcptuned and without. So a reader that should not be late is at_once.
at_once="chrt -f 1"

watch() { # [HOST]
	background watch in_host "${1-b}" "$TEST_TOP/tests/system/rightedge.py" tun0
	wait_printed watch watching
}

# Ends that, and expects that no window was shrunk below what was advertised. The result is in $watched.
expect_no_retraction() { # CONNECTIONS MIN_ACKS [MAX_RESETS, if not 0]
	sleep 0.2 # for segments under way
	stop watch
	watched=$(tail -n 1 "$TEST_DIR/watch.log")
	note "$watched"
	[ "$(jq '.retracted > 0' <<<"$watched")" != true ] ||
		fail "right edges retracted: $watched"
	expect_eq "$(jq -c '[.retracted, .dropped, .connections]' <<<"$watched")" "[0,0,$1]" \
		"right edges retracted, segments missed, connections watched"
	expect_ge "$(jq .acks <<<"$watched")" "$2" "their ACKs"
	expect_le "$(jq .resets <<<"$watched")" "${3-0}" "resets"
}

# Sets the kernel's own maxima. Hosts made later have these, too.
kernel_gives() { # RECEIVE SEND
	sysctl -qw net.ipv4.tcp_rmem="4096 131072 $1" net.ipv4.tcp_wmem="4096 16384 $2"
}

host_limits() {
	sysctl net.core.rmem_max net.core.wmem_max net.ipv4.tcp_rmem net.ipv4.tcp_wmem | sed 's/ = /=/'
}

restore_limits() { # what host_limits has printed
	xargs -d '\n' sysctl -qw <<<"$1"
}

in_log() { # EXTENDED_REGULAR_EXPRESSION
	wait_until grep -Eq -- "$1" "$TEST_DIR/tcptuned.log"
	note "logged: $(grep -Em 1 -- "$1" "$TEST_DIR/tcptuned.log" | sed 's/^[-0-9]* [:.0-9]* //')"
}

times_logged() { # EXTENDED_REGULAR_EXPRESSION
	grep -Ec -- "$1" "$TEST_DIR/tcptuned.log" || :
}

counter() { # METRIC LABELS
	metric "$1$2" | grep . || echo missing
}

tests_ended() { # DIRECTION; with any result
	scrape && awk -v name="tcptuned_rightsize_tests_total{direction=\"$1\"" \
		'index($1, name) == 1 { rows++; n += $2 } END { print rows == 3 ? n : "missing" }' "$TEST_DIR/scrape"
}

# What connections have carried, of a policy: tuned ones (yes), or observed ones (no).
carried() { # received_bytes, acked_bytes, sent_segments or retransmitted_segments POLICY TUNED
	counter "tcptuned_connections_$1_total" "{policy=\"$2\",tuned=\"$3\"}"
}

choices() { # CHOICE, of a congestion control: set, kept or refused
	counter tcptuned_congestion_control_choices_total "{choice=\"$1\"}"
}

managed() { # how: here, peer or before
	counter tcptuned_connections_managed_total "{opened=\"$1\"}"
}

overridden() { # SO_RCVBUF or SO_SNDBUF
	counter tcptuned_buffer_requests_overridden_total "{option=\"$1\"}"
}

# Starts it in the network namespace of a host. curl asks from there until the end of the test.
tcptuned_in() { # HOST [OPTION...]
	daemon_host=$1
	curl() {
		in_host "$daemon_host" "$(type -P curl)" "$@"
	}
	TCPTUNED_PREFIX="in_host $1" tcptuned_start "${@:2}"
}

# Prints the process that serves metrics and tcptunectl now.
worker() {
	pgrep -n -P "$(pid_of tcptuned)" -x tcptuned-worker
}

# The kernel kills the processes that serve, which may still be asked for a moment.
tcptuned_kill() {
	local pid pids
	kill -STOP "$(pid_of tcptuned)" # or it might start another one
	wait_until grep -q '^State:.[TZ]' "/proc/$(pid_of tcptuned)/status"
	pids=$(pgrep -P "$(pid_of tcptuned)") || :
	stop tcptuned KILL 2>/dev/null || :
	for pid in $pids; do
		wait_until has_gone "$pid"
	done
}

has_gone() { # PROCESS
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

# A command exits with STATUS, and prints on standard error what matches, which is in $said.
expect_said() { # STATUS PATTERN COMMAND...
	local code=0
	"${@:3}" >"$TEST_DIR/out" 2>"$TEST_DIR/said" </dev/null || code=$?
	said=$(<"$TEST_DIR/said")
	[ $code = "$1" ] || fail "status $code, expected $1, of: ${*:3} ($said)"
	expect_match "$said" "$2" "the message of: ${*:3}"
}

# It prints one line there, and nothing on standard output.
expect_refused() { # STATUS PATTERN COMMAND...
	expect_said "$@"
	[ "$(wc -l <"$TEST_DIR/said")" = 1 ] || fail "not one line, of: ${*:3} ($said)"
	[ ! -s "$TEST_DIR/out" ] || fail "on standard output, of: ${*:3} ($(<"$TEST_DIR/out"))"
}

ctl_refuses() { # STATUS PATTERN ARGUMENT...
	expect_refused "$1" "^tcptunectl: .*$2" ctl "${@:3}"
}

detach_says() { # PATTERN
	expect_said 0 "$1" ${TCPTUNED_PREFIX-} "$TEST_BUILD"/tcptuned "${daemon_options[@]}" --detach
}

configure() { # TEXT, for printf %b
	printf '%b' "$1" >"$TEST_DIR/my.conf"
}

start_with() { # TEXT [OPTION...]
	configure "$1"
	tcptuned_start --config="$TEST_DIR/my.conf" $bitcp "${@:2}"
}

reload() { # TEXT LOGGED_PATTERN
	configure "$1"
	kill -HUP "$(pid_of tcptuned)"
	in_log "$2"
}

# Policies with more rules for one destination than are allowed.
long_chain() {
	seq 1400 | awk '{ s = int($1 / 256) "." $1 % 256 ".0/24" }
		$1 % 7 == 1 { printf "[policy p%d]\ndestination = 10.0.0.0/8\n", $1 }
		{ printf "source = 10.%s, 11.%s, 12.%s\n", s, s, s }'
}

listens() { # HOST PORT
	[ -n "$(in_host "$1" ss -tlnH "sport = :$2")" ]
}

# Prints the first group of PATTERN in what ss shows of the first socket that matches FILTER. ss complains if
# the control group of any socket, of another test's host perhaps, goes meanwhile, and shows the sockets.
ss_of() { # HOST FILTER PATTERN
	in_host "$1" ss -tainmoeOH "$2" 2>/dev/null | sed -nE "s/.*$3.*/\1/p" | head -n 1
}

congestion_of() { # HOST FILTER
	ss_of "$1" "$2" ' (reno|cubic|cubic_resum.|bitcp|bbr|hstcp|stcp) wscale'
}

# What tcptuned changes on a host, without the bitcp of its lane or of another one. A state that
# cannot be read never equals an earlier one.
host_state() {
	local of_tcptuned='^(tcptuned_|dump_flows|dump_tcp|adopt_flows|release_flows|undo_overrides|ca_|resume_)'
	{
		sysctl -e net.core.rmem_max net.core.wmem_max net.ipv4.tcp_rmem net.ipv4.tcp_wmem \
			net.ipv4.tcp_congestion_control &&
			sysctl -n net.ipv4.tcp_available_congestion_control | xargs -n 1 |
			grep -vxE 'bitc.|cubic_resum.' &&
			find /sys/fs/bpf | sort &&
			{ bpftool cgroup show "$TEST_CGROUP/group" 2>/dev/null || :; } &&
			bpftool -j struct_ops show | jq -r '.[] | select(.name | . == "bitcp" or
				. == "cubic_resume" or (test("^(bitc|cubic_resum).$") | not)) | "bpf struct_ops \(.id)"' &&
			bpftool -j prog show | jq -r --arg of_tcptuned "$of_tcptuned" '.[] |
				select(.uid == ('"$TEST_UID"') and (.name // "" | test($of_tcptuned))) |
				"bpf prog \(.id) \(.name)"'
	} || echo "unknown $RANDOM"
}

# Prints what is new. Programs of an earlier test, which closing connections still hold, may go at any time.
new_in_host_state() {
	local now
	now=$(host_state)
	diff <(grep -v '^bpf ' <<<"$host_before") <(grep -v '^bpf ' <<<"$now") || :
	comm -13 <(grep '^bpf ' <<<"$host_before" | sort) <(grep '^bpf ' <<<"$now" | sort)
}

keep_host_state() {
	host_before=$(host_state)
}

host_is_as_before() { [ -z "$(new_in_host_state)" ]; }

# Waits until the state is that again.
expect_host_state() {
	(wait_until_freed host_is_as_before) || fail "not as before: $(new_in_host_state)"
	note "the host is as it was"
}
