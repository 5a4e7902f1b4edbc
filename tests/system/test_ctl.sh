# SPDX-License-Identifier: GPL-2.0-only
# tcptunectl on real connections: what it shows, who may ask, what is left of a killed daemon.

. "$TEST_TOP/tests/system/daemon.sh"

# Starts a stream of events in the background, as JSON.
events() { # NAME [OPTION...]
	background "$1" "${tcptunectl[@]}" events --json "${@:2}"
	wait_printed "$1" listening
}

# Prints what the control socket answers, unless that is to be left unread.
raw() { # TEXT [unread]
	printf '%s' "$1" | control_client "${@:2}"
}

test_status_flows_and_filters() {
	tuned_path "" --rate 100mbit --delay 5ms
	idle_stream small 7101 1MB
	idle_stream large 7102 4MB --rcvbuf 64KiB
	idle_stream middle 7103 2MB --congestion reno

	expect_eq "$(ctl_json '[.pid, .mode, .connections.open, .totals.managed_opened_here,
		.totals.managed_accepted_here, .bitcp_registered]' status)" \
		"[$(pid_of tcptuned),\"tune\",6,3,3,true]" "status"
	expect_match "$(ctl status)" "connections +6 open" "status, for people"
	# The kernel alone would give all of it.
	expect_eq "$(ctl_json '.budget | .bytes, .granted_bytes' status | xargs)" \
		"$(metric tcptuned_budget_bytes) 0" "the budget"
	expect_match "$(ctl status)" "sysctls +net.ipv4.tcp_[rw]mem" "sysctls"

	# tests/unit/test_flows.c has all filters and columns.
	expect_eq "$(ctl_json '[.connections, .matched, (.flows | length)]' flows -n 4)" \
		"[6,6,4]" "no more than asked for"
	expect_eq "$(ctl_json '.flows[].local' flows --local-port 7102)" 10.99.0.2:7102 "local port"
	expect_eq "$(ctl_json .matched flows --local-address 10.99.0.2/31)" 3 "by prefix"
	expect_eq "$(ctl_json .flows[].remote flows --cc reno --remote-port 7103)" 10.99.0.2:7103 "by cc"
	expect_eq "$(ctl_json .matched flows --policy other)" 0 "by another policy"
	expect_eq "$(ctl_json '[.flows[].local]' flows --sort received -n 3)" \
		'["10.99.0.2:7102","10.99.0.2:7103","10.99.0.2:7101"]' "sorted by bytes received"
	expect_eq "$(ctl_json '.flows | map(.bytes_received) | . == sort' flows --sort received -r)" \
		true "in reverse order"
	expect_eq "$(ctl flows --port 7102 -o local,received | awk 'NR == 1 { print $1, $2 }
		$1 == "10.99.0.2:7102" { print $2 }' | tr '\n' ' ')" "LOCAL RECEIVED 3.8M " "the table"
	expect_match "$(ctl flows -n 2)" "^and 4 more" "what the table leaves out"
	expect_eq "$(ctl_json .matched flows :7102)" 2 "by an end"
	expect_eq "$(timeout 120 "${tcptunectl[@]}" top --delay=0.2 -n 1 | grep -m 2 -c '^UNIT')" 2 "drawn again and again"
}

# A live receiver that fixes 64 KiB once it is connected, on a path of 500 KB per round trip and a
# policy that allows 512 KiB: the explanation, compared with the flow's JSON.
test_explain_a_locked_receiver() {
	local said
	tuned_path --set=policy.receive_window_max=512K --rate 100mbit --delay 20ms
	events capped
	application receiver b tcp4 listen "${ADDR[b]}" 7101 accept set rcvbuf 65536 get rcvbuf sip 65536 0
	application sender a tcp4 connect "${ADDR[b]}" 7101 trickle 65536 0
	# The kernel moves the clamp until the next ACK, and a receiver that gets the CPU late has less window for a while.
	wait_output = true flow 7101 '.window_clamp_bytes == 524288 and .advertised_window_bytes >= 500000 and
		.advertised_window_bytes <= 525312'
	kill -STOP "$(pid_of sender)"
	wait_until all_read 7101
	wait_output = idle flow 7101 .receive.limit # a second later
	said=$(ctl explain "$(flow 7101 .local)" "$(flow 7101 .remote)")
	note "$said"
	of_flow() { flow 7101 "$1"; }
	expect_eq "$(head -n 1 "$TEST_DIR/receiver.log")" "rcvbuf 131072" "size that the application reads"
	expect_match "$said" "asked for SO_RCVBUF of 65536 bytes \(64K\): withheld from the kernel" "the request"
	expect_match "$said" "accepted here" "the end that opened it"
	expect_match "$said" "the kernel's default, or chosen by the application" "congestion control"
	expect_eq "$(of_flow .receive.reason)" capped "reason"
	expect_match "$said" "decided      the policy's maximum of 524288 bytes" "reason, explained"
	expect_eq "$(event capped receive_window_capped \
		'[.local, .cap_bytes, .from_bytes > .cap_bytes]')" \
		'["10.99.0.2:7101",524288,true]' "the event"
	expect_match "$said" "allowed      up to 524288 bytes .*; tested $(of_flow .receive.tests) times, \
grown $(of_flow .receive.grows), shrunk $(of_flow .receive.shrinks)" "what it was allowed"
	expect_match "$said" "measured     minimum RTT [4-9][0-9.]*ms; $(of_flow .receive.per_rtt_bytes) \
bytes.* in the last round; $(of_flow .receive.rate_bytes_per_s) bytes.* in the last interval, \
$(of_flow .receive.rate_best_bytes_per_s) bytes.* in the fastest round" "measured"
	# A window, at most, per 40 ms: after a stall, the emulated link is faster than 100 Mbit/s for a while.
	expect_between "$(of_flow .receive.rate_best_bytes_per_s)" 1 $((525312 * 25)) "best rate, bytes per second"
	expect_match "$said" "kernel has   a buffer of $(of_flow .receive_buffer_bytes) bytes" "buffer"
	expect_match "$said" "a window of $(of_flow .advertised_window_bytes) bytes.* advertised" \
		"advertised"
	expect_le "$(of_flow .advertised_window_bytes)" 525312 "the window that is advertised"
	expect_match "$said" "what it sends: nothing: there is nothing to send" "what limits it"
	expect_match "$said" "what it receives: nothing: nothing arrives" "what limits it"
	expect_eq "$(ctl explain 7101-"$(of_flow '.remote | split(":")[1]')")" "$said" "by ports"
	ctl_refuses 40 "2 connections match, 10.99.0.[12]:.*; name both ends" explain 7101
	ctl_refuses 40 "no connection .* matches; tcptunectl flows" explain 1-2
	ctl_refuses 40 "no connection .* matches" explain --netns 1 7101
	expect_match "$(ctl explain --netns $(of_flow .netns) 7101)" "^10.99.0.2:7101 - " "by netns"
	expect_eq "$(ctl_json '[.local, .rule, (.cgroup | endswith("/group"))]' explain --netns $(of_flow .netns) 7101)" \
		'["10.99.0.2:7101","every connection",true]' "the same for machines"
	expect_eq "$(ctl_json .matched flows --cgroup "$(of_flow .cgroup)"),$(ctl_json .matched flows -g /no.such.slice)" \
		2,0 "by control group"
	top_on_a_terminal
}

# The columns that fit, each whole, and what limits a connection among them; Enter explains the first one.
# A shell stays until all is read: the kernel discards what the first process of a session wrote last
# (tty_ldisc_hangup()).
top_on_a_terminal() {
	python3 -c '
import fcntl, os, pty, re, struct, sys, termios

def read_until(end, said=b""):
    while end not in said:
        said += os.read(fd, 65536)
    return said

RANKS = ["CC", "RTT", "QUEUE", "UNIT", "PEER", "LIMITED"]
for width, some in ((200, 0), (80, 0), (60, 1), (32, 5)):
    pid, fd = pty.fork()
    if not pid:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        os.execvp("sh", ["sh", "-c", "\"$@\" && read line", "sh", *sys.argv[1:]])
    frame = read_until(b"\033[J", read_until(b"\033[H").split(b"\033[H")[1]).split(b"\033[J")[0].decode()
    lines = re.sub(r"\033\[[0-9;?]*[a-zA-Z]", "", frame).replace("\r", "").split("\n")
    assert max(map(len, lines[3:])) <= width, (width, lines)
    missing = [name for name in RANKS if name not in lines[3]]
    assert missing == RANKS[:len(missing)] and len(missing) >= some, lines
    assert len(lines) == 7 and "IN" in lines[3] and "OUT" in lines[3], lines
    assert width < 80 or re.search(r"group +10[.]99[.]0[.]\d:\d+ .*[0-9]ms .*idle", frame), lines
    os.write(fd, b"\n")
    read_until(b"Any key goes back")
    os.write(fd, b"x")
    read_until(b" match")
    os.write(fd, b"/")
    read_until(b"> ")
    os.write(fd, b"7102\n")
    read_until(b" 0 match")
    os.write(fd, b"q")
    read_until(b"\033[?1049l")
    os.write(fd, b"\n")
    assert os.waitpid(pid, 0)[1] == 0' "${tcptunectl[@]}" top --delay=0.2
}

# Prints the first value of a filter over the events of a kind, which is a pattern.
event() { # NAME KIND JQ_FILTER
	jq -Rcrn "[inputs | fromjson? | select(.event | test(\"^$2$\")) | $3][0]" "$TEST_DIR/$1.log"
}

# It prints nothing until there is an event: another socket's request.
quiet_prints() {
	in_group in_host a "${sockets[@]}" tcp4 set rcvbuf 65536
	[ -s "$TEST_DIR/quiet.log" ]
}

# virtual: the size of a window follows from a rate
test_events() {
	local direction tests began=$EPOCHSECONDS
	tuned_path $bitcp --rate 100mbit --delay 10ms --queue 3000p
	background quiet "${tcptunectl[@]}" events
	wait_until quiet_prints
	events first
	events named 10.99.0.2:7101 10.99.0.1
	stream one 7101 --duration 280 --rcvbuf 80KiB --congestion reno
	wait_printed first window_test # after three seconds in which the queue grows, and a second to prepare it
	wait_until arrived 7101 40MB
	stream_stop one
	wait_output = 2 grep -c '"closed".*:7101' "$TEST_DIR/first.log" # both ends
	expect_eq "$(event first rcvbuf_overridden .requested_bytes)" 81920 "bytes asked for"
	expect_match "$(cat "$TEST_DIR/quiet.log")" "SO_RCVBUF of 81920 bytes overridden" "in words"
	expect_eq "$(event first managed 'select(.accepted).local')" 10.99.0.2:7101 "managed"
	expect_eq "$(event first congestion_control_set .congestion_control)" bitcp "that is set"
	expect_eq "$(event first congestion_control_kept .congestion_control)" reno "the sender's"
	# Either end may test first; one that holds leaves no queue for the other to find. A round trip
	# of the empty path carries 239 KB without headers, and the queue takes 4.3 MB: half of what is in flight,
	# which a standing queue makes at least 2.5 round trips.
	expect_match "$(event first '(receive|send)_window_test' '[.local, .policy]')" \
		'^\["10.99.0.[12]:[0-9]+","default"\]$' "a smaller window is tried"
	expect_between "$(event first '(receive|send)_window_test' .to_bytes)" 298000 2400000 bytes
	wait_printed quiet 'window tested'
	expect_match "$(<"$TEST_DIR/quiet.log")" \
		"(receive|send) window tested with less, from [0-9]+ to [0-9]+ bytes" "in words"
	# The last one may have run when the connection ended.
	for direction in receive send; do
		tests=$(grep -c "\"${direction}_window_test\"" "$TEST_DIR/first.log" || :)
		expect_between "$(tests_ended $direction)" $((tests - 1)) "$tests" \
			"tests of $direction windows, by events and by the metrics"
	done
	expect_ge "$(event first closed 'select(.local == "10.99.0.2:7101").bytes_received')" \
		40000000 "bytes received at the end"
	expect_between "$(event first managed '.time_us / 1e6')" $began \
		$((EPOCHSECONDS + 1)) "time of an event"
	expect_eq "$(jq -Rcn '[inputs | fromjson? | .local // empty] | unique' \
		"$TEST_DIR/named.log")" '["10.99.0.2:7101"]' "one connection's, where it was named"
	# Without a reader the BPF programs report no events.
	stop_all first named quiet
	wait_until gate_is_shut
	expect_eq "$(counter tcptuned_events_lost_total '')" 0 "events lost"
}

gate_is_shut() {
	[ "$(bpftool -j map lookup pinned /sys/fs/bpf/tcptuned/map_event_gate key 0 0 0 0 |
		jq -c '.value | map(select(. != "0x00"))')" = "[]" ]
}

# A live table on a terminal of its own, and the keys that end or suspend it.
test_top_restores_the_terminal() {
	tcptuned_start
	python3 -c '
import os, pty, shlex, sys

BEGIN, END = b"\033[?1049h\033[?25l", b"\033[?25h\033[?1049l"

said = b""
def read_until(end):
    global said
    while end not in said:
        said += os.read(fd, 65536)
    said = said.split(end, 1)[1]

pid, fd = pty.fork()
if not pid:
    os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])

def end_by(key):
    read_until(BEGIN)
    read_until(b"UNIT")
    os.write(fd, key)
    read_until(END)
    os.write(fd, b"echo status $?\n")
    read_until(b"status 0\r\n")

command = shlex.join(sys.argv[1:]).encode() + b"\n"
for key in b"q", b"\x03", b"\x1c":
    os.write(fd, command)
    end_by(key)
os.write(fd, command)
read_until(b"UNIT")
os.write(fd, b"\x1a")
read_until(END)
read_until(b"Stopped")
os.write(fd, b"fg\n")
end_by(b"\x03")' "${tcptunectl[@]}" top --delay=0.2
}

# tests/unit/test_ctl.c and test_request.c have more.
test_wrong_arguments() {
	ctl_refuses 2 "flowz: no such command; did you mean flows\?" flowz
	ctl_refuses 2 "not UTF-8" paths forget $'\xff'
	ctl_refuses 2 "--address: .*not UTF-8" flows --address $'\xff'
	ctl_refuses 2 "a command is missing; tcptunectl --help"
	ctl_refuses 2 "--port: its argument is missing; write --port=PORT" flows --port
	ctl_refuses 2 "rttt; did you mean rtt\?" flows --columns rttt
	ctl_refuses 2 "--delay: soon is not a number of seconds" top --delay=soon
	ctl_refuses 2 "--limit: 0 is not a number from 1 to 1000" top -n 0
	ctl_refuses 2 "extra: unexpected; the usage is tcptunectl status" status extra
	ctl_refuses 2 "an argument is missing; the usage is tcptunectl explain" explain
	ctl_refuses 2 "1.2.3: neither an address nor a port" explain 1.2.3
	ctl_refuses 2 "policy: there is no tset" policy tset
	ctl_refuses 2 "all: unexpected; the usage is tcptunectl paths" paths forgt all
	expect_eq "$(ctl help flows)" "$(ctl flows --help)" "help of a command"
	ctl_refuses 40 "no tcptuned runs: no process listens on .*; start it: systemctl start tcptuned" status
	tcptuned_start
	ctl_refuses 2 "port: must be a whole number from 1 to 65535" flows --port 70000
	expect_match "$(raw "$(printf '%5000s' x)")" '"error":"the request is longer than 4096' "too long"
	expect_match "$(raw '{"command":"status"}')" '"pid":' "and it still answers"
}

# Expects what bash offers for the last word.
completes() { # WANTED WORD...
	expect_eq "$(
		. "$TEST_TOP/ctl/completion.bash"
		compopt() { :; } # which only works on a terminal
		COMP_WORDS=(tcptunectl "${@:2}") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		_tcptunectl
		echo "${COMPREPLY[*]}"
	)" "$1" "completion of: ${*:2}"
}

# Expects that a shell on a terminal makes WANTED, a pattern, of "tcptunectl TYPED" and a tab.
completes_on_a_terminal() { # SHELL SETUP TYPED WANTED
	TERM=dumb timeout 60 zsh -fc 'zmodload zsh/zpty
		zpty -e shell $1
		zpty -w shell "$2; PS1=ready\ "
		zpty -r shell said "*ready *"
		zpty -wn shell "tcptunectl $3"$'"'\t'"'
		zpty -r shell said "*tcptunectl ${~4}*"' zsh "$@" || fail "$1 does not complete $3"
}

test_completion() {
	local above=${TEST_CGROUP#"$(dirname "$TEST_CGROUP")"} share=$TEST_DIR/share socket=$TEST_DIR/run/control shell setup
	local -x PATH=$TEST_BUILD:$PATH HOME=$TEST_DIR XDG_DATA_DIRS=$share
	: >"$TEST_DIR/file.conf"
	completes "status streams" st
	completes "policy paths" p
	completes "--socket" --so
	completes "$TEST_DIR/file.conf" --socket "$TEST_DIR/fi"
	completes "$TEST_DIR/file.conf" --socket = "$TEST_DIR/fi"
	completes "$TEST_DIR/file.conf" -s "$TEST_DIR/fi"
	completes "flows" --socket status fl
	completes "--port --policy" flows --po
	completes "--netns" explain --n
	completes "min-rtt mss" flows --sort m
	completes "cwnd,min-rtt, cwnd,mss," flows --columns = cwnd,m
	completes "rtt,cwnd,rcvbuf-used," flows -o rtt,cwnd,rcvbuf-
	completes "reno" flows --cc = ren
	completes "$above/group/" policy test 1.2.3.4 1.2.3.4 --cgroup "$above/gr"
	completes "disable" policy --json d
	completes "max-window" paths --sort m
	completes "all" paths forget a
	completes "forget" paths ""
	completes "iperf3 http none" streams --probe =
	completes "" flows --limit ""
	start_with "[policy web]\nremote_port = 80\n[policy wide]\nremote_port = 81\n"
	completes "web wide" --socket = "$socket" flows --policy w
	completes "wide" -s "$socket" policy disable wi
	completes "default" -s "$socket" trial d

	install -D "$TEST_TOP/ctl/completion.bash" "$share/bash-completion/completions/tcptunectl"
	install -D "$TEST_TOP/ctl/completion.fish" "$share/fish/vendor_completions.d/tcptunectl.fish"
	install -D "$TEST_TOP/ctl/completion.zsh" "$share/zsh/site-functions/_tcptunectl"
	fish_offers() { fish -c 'complete -C $argv' "tcptunectl $1" | tr '\t\n' '| '; }
	expect_match "$(fish_offers '')" "^advise\|Print .*trial\|" "what fish offers"
	expect_eq "$(fish_offers 'flows --po')" "--policy|Only those of this policy. --port|Only those with this port at either end. " fish
	expect_eq "$(fish_offers 'flows --cc=ren')" "--cc=reno " fish
	expect_eq "$(fish_offers "-s $socket policy disable wi")" "wide|remote port 81 " fish
	for shell in "bash --norc" "zsh -f"; do
		setup=". $TEST_TOP/ctl/completion.bash"
		[ "$shell" = "bash --norc" ] || setup="fpath+=($share/zsh/site-functions); autoload -U compinit; compinit -uD"
		completes_on_a_terminal "$shell" "$setup" "fl" "flows "
		completes_on_a_terminal "$shell" "$setup" "flows --cc=ren" "flows --cc=reno "
		completes_on_a_terminal "$shell" "$setup" "flows -o rtt,ms" "flows -o rtt,mss,"
	done
	completes_on_a_terminal "zsh -f" "$setup" "flows --po" "*--policy *-- Only those of this policy"
}

# Clients that send no request do not delay others, and are disconnected.
test_slow_clients() {
	local refused disconnected
	tcptuned_start
	background silent python3 -c '
import socket, sys, time
clients = [socket.socket(socket.AF_UNIX) for i in range(40)]
for s in clients:
    s.connect(sys.argv[1])
    try:
        s.send(b"{")
    except OSError: # it is refused already, and the answer is there
        pass
print("connected", flush=True)
ends = [s.recv(1000) for s in clients]
print("refused", sum(b"as many clients" in end for end in ends), ends.count(b""), flush=True)
time.sleep(240)' "$TEST_DIR/run/control"
	wait_printed silent connected
	[ -n "$(counter tcptuned_events_lost_total '')" ] || fail "no scrape"
	wait_printed silent '^refused'
	read -r _ refused disconnected <<<"$(grep '^refused' "$TEST_DIR/silent.log")"
	expect_eq "$refused" $((40 - disconnected)) "refused, of those that were not disconnected"
	expect_between "$disconnected" 16 39 "disconnected; more than 16 if the first ones were so before the last had come"
	ctl status >"$TEST_DIR/out"
	stop silent KILL 2>/dev/null || :
	# A client that asks it to stop may disconnect before the answer.
	kill -STOP "$(pid_of tcptuned)"
	raw '{"command":"stop"}' unread
	kill -CONT "$(pid_of tcptuned)"
	in_log 'stop requested through the control socket'
	in_log 'detached; nothing is left pinned'
	stop tcptuned || :
}

# tcptunectl as another user.
ctl_as() { # GROUP ARGUMENT...
	setpriv --reuid 65533 --regid 65533 --groups "$1" \
		"$TEST_DIR/tcptunectl" "${tcptunectl[@]:1}" "${@:2}"
}

# A user that takes all places that it gets, as a member of control.group (65534) or as any other one, keeps
# neither root nor others out: of its 16 clients 8 and 12 are refused.
test_members_leave_places() {
	local who
	chmod 755 "$TEST_DIR" "$(dirname "$TEST_DIR")"
	cp "$TEST_BUILD/tcptunectl" "$TEST_DIR"
	tcptuned_start --set=control.group=nogroup
	for who in "65532 65534 {\"command\":\"events\"}\\n 8" "65531 65531 { 12"; do
		set -- $who
		background greedy setpriv --reuid $1 --regid $2 --clear-groups /usr/bin/python3 -c '
import select, socket, sys, time
clients = [socket.socket(socket.AF_UNIX) for i in range(16)]
waiting = list(clients)
refused = 0
for s in clients:
    s.connect(sys.argv[1])
    try:
        s.send(sys.argv[2].replace("\\n", "\n").encode())
    except BrokenPipeError: # it is refused already, and the answer is there
        pass
while refused < int(sys.argv[3]):
    for s in select.select(waiting, [], [])[0]:
        refused += b"as many clients" in s.recv(1000)
        waiting.remove(s)
print("refused", refused, flush=True)
time.sleep(600)' "$TEST_DIR/run/control" "$3" $4
		wait_printed greedy "refused $4"
		ctl status >"$TEST_DIR/out"
		ctl_as 65534 status >"$TEST_DIR/out"
		[ $4 = 12 ] || expect_refused 40 "the control socket has as many clients as it may have, of you \(8\)" \
			setpriv --reuid 65532 --regid 65534 --clear-groups "$TEST_DIR/tcptunectl" "${tcptunectl[@]:1}" status
		stop greedy KILL 2>/dev/null || :
	done
}

test_permissions() {
	local group
	chmod 755 "$TEST_DIR" "$(dirname "$TEST_DIR")"
	cp "$TEST_BUILD/tcptunectl" "$TEST_DIR" # other users may not be able to read the build
	tcptuned_start
	expect_eq "$(stat -c '%a %U %G' "$TEST_DIR/run/control")" "666 root root" "the socket"
	for group in 65533 0; do # a member of root's group is not root
		expect_refused 4 \
			"^tcptunectl: you are neither root nor in the group that control.group names; other users may ask" \
			ctl_as $group status
	done
	expect_eq "$(ctl_as 65533 advise 192.0.2.1)" "Nothing is remembered of the path to 192.0.2.1." \
		"what any user may ask"
	expect_refused 2 "nowhere.invalid cannot be resolved" ctl_as 65533 advise nowhere.invalid
	chmod 600 "$TEST_DIR/run/control" # an administrator closes the socket
	expect_said 4 "Permission denied; run tcptunectl as root" ctl_as 65533 advise 192.0.2.1
	tcptuned_stop
	[ ! -e "$TEST_DIR/run/control" ] || fail "the socket is left"

	tcptuned_start --set=control.group=nogroup
	expect_eq "$(stat -c '%a %U %G' "$TEST_DIR/run/control")" "666 root nogroup" "the socket"
	ctl_as 65534 status >"$TEST_DIR/out"
	expect_match "$(<"$TEST_DIR/out")" "mode +tune" "status for a member of the group"
	ctl_as "$(seq -s , 70000 70400),65534" status >"$TEST_DIR/out"
	expect_fail 4 ctl_as 65534 paths forget all
}

# What an administrator has set, and what no kernel has by default, is named in a line each; ssthresh is kept only where
# metrics are.
test_limits_of_the_host_are_named() {
	local name
	host a
	expect_eq "$(in_host a "$TEST_BUILD/tcptuned" --check-config --config="$TEST_DIR/none.conf" 2>&1 >/dev/null)" "" \
		"limits of a host as the kernel has it"
	for name in window_scaling timestamps sack moderate_rcvbuf no_ssthresh_metrics_save no_metrics_save; do
		in_host a sysctl -qw net.ipv4.tcp_$name=0
	done
	in_host a "$TEST_BUILD/tcptuned" --check-config --config="$TEST_DIR/none.conf" 2>"$TEST_DIR/said" >/dev/null
	expect_eq "$(grep -oE 'net[a-z0-9._]+ = 0: ' "$TEST_DIR/said" | tr -d '\n')" "$(printf 'net.ipv4.tcp_%s = 0: ' \
		window_scaling timestamps sack moderate_rcvbuf no_ssthresh_metrics_save)" "what limits it"
	in_host a sysctl -qw net.ipv4.tcp_no_metrics_save=1 net.ipv4.tcp_timestamps=1
	tcptuned_in a
	expect_eq "$(ctl_json '.host_limits | map(.name) | join(" ")' status)" \
		"net.ipv4.tcp_window_scaling net.ipv4.tcp_sack net.ipv4.tcp_moderate_rcvbuf" "as JSON"
	expect_match "$(ctl status)" "host +net.ipv4.tcp_window_scaling = 0: no window exceeds 64 KB" "as text"
}

# What is right, and each thing that is not.
test_doctor() {
	findings() { { ctl doctor --json 2>/dev/null || :; } | jq -r "[.findings[] | select(.level == \"$1\").check] | join(\",\")"; }
	host a
	expect_eq "$(findings fail)" daemon "without a daemon"
	mount --bind -o ro /proc/sys /proc/sys
	expect_eq "$(findings warn)" sysctls "as in a container"
	umount /proc/sys
	configure "[policy gone]\ncgroup = /no.such.slice\n"
	tcptuned_in a --config="$TEST_DIR/my.conf"
	expect_eq "$(findings fail)" "" "what fails"
	expect_eq "$(findings ok | grep -o 'kernel,control groups,BPF file system,sysctls,daemon,configuration,bitcp')" \
		"kernel,control groups,BPF file system,sysctls,daemon,configuration,bitcp" "what is right"
	expect_eq "$(findings warn)" policy "a policy without its control group"
	ctl doctor >/dev/null
	in_host a sysctl -qw net.ipv4.tcp_rmem="4096 131072 5000000" net.ipv4.tcp_sack=0
	expect_eq "$(findings warn)" sysctl,sysctl,policy "one that was changed, and one that limits"
	reload "nonsense\n" 'the configuration before it stays in force'
	expect_eq "$(findings fail)" configuration "a reload that was rejected"
	expect_match "$({ ctl doctor 2>&1 >/dev/null || echo "status $?"; } | tr '\n' " ")" "1 of [0-9]+ checks failed.*status 40" "exit status"
}

# Prints a value of the last report, where $b and $b6 are the addresses of the end that listens.
of_report() { # JQ_FILTER
	jq -cr 'def address($port): first(.flows.flows[].local | select(endswith($port)) | rtrimstr($port));
		address(":7101") as $b | address(":7102") as $b6 | ($b | split("-")[1]) as $network | '"$1" "$TEST_DIR/report"
}

# Of the connections that end: events, and the memory of their path.
report_has_more() {
	ctl report >"$TEST_DIR/report"
	of_report 'any(.events[]; .event == "closed" and .local == "\($b):7103") and
		any(.paths.paths[].prefix; startswith("v4-\($network)-") and endswith("/24"))' | grep true
}

transfer_again_and_again() {
	while in_group in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" --port 7103 --count 1; do :; done
}

# Connections, their path, policy and events are matched by tokens; no address of them is left.
test_report() {
	ctl report >"$TEST_DIR/report"
	expect_match "$(jq -r .flows.error "$TEST_DIR/report")" "^no tcptuned runs" "without a daemon"
	expect_eq "$(jq -cr '[.findings[] | select(.check == ("kernel", "daemon")).level]' "$TEST_DIR/report")" '["ok","fail"]' \
		"what doctor finds then"
	configured_path "[policy near]\ndestination = 10.99.0.0/30, fd99::/32\n" --rate 100mbit --delay 5ms
	idle_stream one 7101 1MB
	TRANSFER_ADDR=${ADDR6[b]} idle_stream six 7102 1MB
	background receiver in_group in_host b "$TEST_BUILD/messages" --listen "${ADDR[b]}" --port 7103
	wait_printed receiver listening
	background again transfer_again_and_again
	wait_until report_has_more
	! grep -E '10\.99\.|\<fd99:' "$TEST_DIR/report" || fail "addresses are left"
	expect_match "$(of_report '$b, $b6' | xargs)" '^(v4-[0-9a-f]{8}-[0-9a-f]{8}) \[v6-[0-9a-f]{8}-[0-9a-f]{8}\]$' "tokens"
	expect_eq "$(of_report '.flows.flows | map(select(.remote == "\($b):7101").policy)')" '["near"]' "from its peer"
	expect_match "$(of_report '.policies.policies | map(.rule | select(contains("v4-\($network)-")))')" \
		'^\["destination v4-[^ ]*/30, v6-[^ ]*/32"\]' "the rule of its policy"
	expect_eq "$(of_report '[.status.pid, .trial.trials, .sysctls["net.ipv4.tcp_sack"]]')" \
		"[$(pid_of tcptuned),[],\"1\"]" "status, trial, sysctls"
}

test_killed_and_detached() {
	keep_host_state
	host a
	tcptuned_start $bitcp
	expect_eq "$(ctl_json '[.policy, .rule, .congestion_control]' \
		policy test 10.99.0.1 10.99.0.2:7101)" '["default","every connection","bitcp"]' \
		"the policy of a connection to come"
	tcptuned_kill
	ctl_refuses 40 "no tcptuned runs: no process listens on $TEST_DIR/run/control; connections are still tuned, by .*; start it" flows
	ctl_refuses 40 "no tcptuned runs; tcptuned --detach restores what one that was killed" detach
	ctl_refuses 40 "no tcptuned runs; without it, write tcptuned --forget-paths=PREFIX" paths forget all

	tcptuned_start
	expect_match "$(ctl detach)" "the daemon has stopped" "detach of one that runs"
	wait "$(pid_of tcptuned)" || fail "exit code $? of the daemon"
	unset "LIB_PID[tcptuned]"
	in_log 'stop requested through the control socket by process [0-9]+ of user 0'
	expect_host_state
}
