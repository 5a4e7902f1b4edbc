# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests of the daemon on real connections share, on top of lib.sh.
#
#	stream NAME PORT [MESSAGES OPTION...]	a transfer from host a to host b that goes on in
#				the background; both ends are tuned. TRANSFER_ADDR as for transfer
#	rest NAME PORT BYTES [MESSAGES OPTION...]	one that has moved so much, and then rests
#	stream_end NAME		waits for its end, which must be a good one; result: NAME.log
#	stream_stop NAME...	the same of several, whose payload ends now
#	result NAME FILTER	of that result, through jq -r FILTER
#	watch			from now on rightedge looks at what host b sends out of its first link
#	expect_no_retraction CONNECTIONS ACKS	that ends: it saw so many connections, at least so
#				many ACKs, and missed nothing; none pulled a right edge back. $watched
#				is what it said
#	expect_payload NAME	all that the stream sent has arrived, and as it was sent
#	in_log PATTERN		waits until the daemon has logged that
#	times_logged PATTERN	in how many lines it has logged that
#	counter NAME LABELS	a metric as a whole number; LABELS may be ''
#	arrived PORT BYTES	so many (8M say) have arrived at port PORT of host b
#	listens HOST PORT	there is a listener
#	lossy PORT		the bitcp flow to PORT has had a loss; sets $share to what that left of
#				its window
#	$bitcp			an option of tcptuned_start: all connections get bitcp, not only those
#				of long paths
#	tcptuned_kill		kill -9
#	ctl_refuses STATUS PATTERN ARGUMENT...	tcptunectl prints one line, which matches, and has that status
#	detach_says PATTERN	tcptuned --detach succeeds, and prints that
#	configure TEXT		that, through printf %b, is $TEST_DIR/my.conf
#	reload TEXT PATTERN	the same, and the daemon reads it, and logs PATTERN
#	other_builds		$TEST_BUILD/other/rightsize, of another program, and other/abi, of other
#				records, are up to date
#	host_state		what tcptuned changes on a host, as it is now
#	keep_host_state		keeps that in $host_before
#	expect_host_state	it is that again, once the kernel has freed what it frees later
#	ss_of HOST FILTER PATTERN	the first group of PATTERN in what ss says of the sockets
#				that match FILTER, of the first of them

bitcp=--set=policy.congestion_control=bitcp

stream() {
	local name=$1 port=$2 to=${TRANSFER_ADDR:-${ADDR[b]}}
	shift 2
	listener "$name-receiver" "in_group in_host b" --listen "$to" --port "$port" "$@"
	background "$name" in_group in_host a "$TEST_BUILD/messages" --connect "$to" --port "$port" "$@"
}

stream_end() {
	local code=0
	wait "$(pid_of "$1")" || code=$?
	unset "LIB_PID[$1]"
	stop "$1-receiver" || :
	[ $code != 3 ] || fail_for_good "$1: damaged or missing: $(tail -n 5 "$TEST_DIR/$1.log")"
	[ $code = 0 ] || fail "$1: exit code $code: $(tail -n 5 "$TEST_DIR/$1.log" \
		"$TEST_DIR/$1-receiver.log")"
}

stream_stop() {
	local name
	for name; do
		kill -USR1 "$(pid_of "$name")" 2>/dev/null || : # it may be through
	done
	for name; do
		stream_end "$name"
	done
}

rest() {
	local name=$1 port=$2 bytes=$3
	shift 3
	stream "$name" "$port" --count 2 --bytes "$bytes" --interval 60000 "$@"
	wait_until 20 arrived "$port" "$bytes"
	sleep 0.3 # the last ACKs
}

result() {
	jq -r "$2" "$TEST_DIR/$1.log"
}

watch() {
	background watch in_host b "$TEST_BUILD/rightedge" tun0
	wait_until 5 grep -q watching "$TEST_DIR/watch.log"
}

expect_no_retraction() {
	sleep 0.2 # for what is on its way
	stop watch
	watched=$(tail -n 1 "$TEST_DIR/watch.log")
	note "$watched"
	[ "$(jq '.retracted > 0' <<<"$watched")" != true ] ||
		fail_for_good "right edges retracted: $watched"
	expect_eq "$(jq .retracted <<<"$watched")" 0 "right edges retracted"
	expect_eq "$(jq .connections <<<"$watched")" "$1" "connections watched"
	expect_ge "$(jq .acks <<<"$watched")" "$2" "their ACKs"
	expect_eq "$(jq .dropped <<<"$watched")" 0 "segments that were missed"
}

expect_payload() {
	expect_undamaged "$(result "$1" .bytes_damaged)" "payload of $1"
	expect_eq "$(result "$1" '[.ok, .verified] | tostring')" "[true,true]" "all of $1, verified"
}

in_log() {
	wait_until 8 grep -Eq -- "$1" "$TEST_DIR/tcptuned.log"
	note "logged: $(grep -Em 1 -- "$1" "$TEST_DIR/tcptuned.log" | sed 's/^[-0-9]* [:.0-9]* //')"
}

times_logged() {
	grep -Ec -- "$1" "$TEST_DIR/tcptuned.log" || :
}

counter() {
	local value
	value=$(metric "$1$2")
	echo "${value:-missing}"
}

arrived() {
	local got
	got=$(in_host b ss -tinOH "sport = :$1" | grep -o 'bytes_received:[0-9]*')
	[ "${got#*:}" -ge "$(numfmt --from=si "${2%B}")" ]
}

listens() { # HOST PORT
	[ -n "$(in_host "$1" ss -tlnH "sport = :$2")" ]
}

# ssthresh of the maximum that was reached. There is none while the flow probes past the last one; it
# is read where there is one.
lossy() {
	share=$(ctl flows --json --remote-port "$1" | jq -er "first(.flows[]
		| select(.bitcp.max_segments and .ssthresh_segments)
		| .ssthresh_segments / .bitcp.max_segments | select(. < 1))")
}

tcptuned_kill() {
	stop tcptuned KILL 2>/dev/null || :
}

detach_says() { # PATTERN
	${TCPTUNED_PREFIX-} "$TEST_BUILD/tcptuned" "${daemon_options[@]}" --detach 2>"$TEST_DIR/detach.log" ||
		fail "--detach: $(<"$TEST_DIR/detach.log")"
	expect_match "$(<"$TEST_DIR/detach.log")" "$1" "--detach"
}

configure() { # TEXT
	printf '%b' "$1" >"$TEST_DIR/my.conf"
}

reload() { # TEXT PATTERN
	configure "$1"
	kill -HUP "$(pid_of tcptuned)"
	in_log "$2"
}

ctl_refuses() {
	local status=$1 pattern=$2 code=0
	shift 2
	ctl "$@" >"$TEST_DIR/out" 2>"$TEST_DIR/said" || code=$?
	[ $code = "$status" ] || fail "status $code, expected $status, of: $* ($(<"$TEST_DIR/said"))"
	[ "$(wc -l <"$TEST_DIR/said")" = 1 ] || fail "not one line, of: $* ($(<"$TEST_DIR/said"))"
	[ ! -s "$TEST_DIR/out" ] || fail "on standard output, of: $* ($(<"$TEST_DIR/out"))"
	expect_match "$(<"$TEST_DIR/said")" "^tcptunectl: .*$pattern" "the message of: $*"
}

other_builds() {
	env -u MAKEFLAGS -u MAKELEVEL make -s -j 2 -C "$TEST_TOP" BUILD="$TEST_BUILD" others
}

# What the kernel offers, except that of the daemon of this lane or of another one.
congestion_controls() {
	xargs -n 1 </proc/sys/net/ipv4/tcp_available_congestion_control | grep -vx 'bitc.'
}

# A state that cannot be read is never equal to an earlier one.
host_state() {
	local of_tcptuned='^(tcptuned_|dump_flows|adopt_flows|release_flows|undo_overrides|ca_)'
	{
		sysctl -e net.core.rmem_max net.core.wmem_max net.ipv4.tcp_rmem net.ipv4.tcp_wmem \
			net.ipv4.tcp_congestion_control &&
			congestion_controls &&
			find /sys/fs/bpf | sort &&
			{ bpftool cgroup show "$TEST_CGROUP/group" 2>/dev/null || :; } &&
			bpftool -j struct_ops show | jq -r '.[] | select(.name | . == "bitcp" or
				(test("^bitc.$") | not)) | "bpf struct_ops \(.id)"' &&
			bpftool -j prog show | jq -r --arg of_tcptuned "$of_tcptuned" '.[] |
				select(.uid == ('"$TEST_UID"') and (.name // "" | test($of_tcptuned))) |
				"bpf prog \(.id) \(.name)"'
	} || echo "unknown $RANDOM"
}

# Programs of an earlier test, which closing connections still hold, may go at any time.
new_in_host_state() { # BEFORE
	local now
	now=$(host_state)
	diff <(grep -v '^bpf ' <<<"$1") <(grep -v '^bpf ' <<<"$now") || :
	comm -13 <(grep '^bpf ' <<<"$1" | sort) <(grep '^bpf ' <<<"$now" | sort)
}

keep_host_state() {
	host_before=$(host_state)
}

expect_host_state() {
	local end=$((SECONDS + 12)) # there is no other chance
	until [ -z "$(new_in_host_state "$host_before")" ]; do
		[ $SECONDS -lt $end ] || fail_for_good "not as before: $(new_in_host_state "$host_before")"
		sleep 0.1
	done
	note "the host is as it was"
}

ss_of() {
	in_host "$1" ss -tainmoeOH "$2" | sed -nE "s/.*$3.*/\1/p" | head -n 1
}
