# SPDX-License-Identifier: GPL-2.0-only
#
# The congestion controls besides bitcp: registered on request, used, different from one another
# in the way that tells them apart, and gone with the daemon.

. "$TEST_TOP/tests/system/daemon.sh"

family=(aimd hstcp stcp tt_reno tt_vegas)

# Those of the family that the kernel offers, and those that bpftool lists.
offered() {
	tr ' ' '\n' </proc/sys/net/ipv4/tcp_available_congestion_control |
		grep -Ex 'aimd|hstcp|stcp|tt_reno|tt_vegas' | sort | tr '\n' ' '
}

# Connections that an earlier test left unfinished may hold its programs for minutes.
not_ours=$(bpftool -j struct_ops show | jq -c '[.[].id]')

listed() {
	bpftool -j struct_ops show | jq -r ".[] | select(.id | IN($not_ours[]) | not) | .name" |
		grep -Ex 'aimd|hstcp|stcp|tt_reno|tt_vegas' | sort | tr '\n' ' '
}

lists() { # NAMES
	[ "$(listed)" = "$1" ]
}

expect_family() { # NAMES WHEN
	expect_eq "$(offered)" "${1:+$1 }" "offered $2"
	wait_until 3 lists "${1:+$1 }" # the kernel lets go of maps a little later
	note "listed $2: $(listed)"
}

# Begins a connection from a over its own link, which loses one segment and has room for the whole
# window in its queue. Until the 150th segment is missed slow start has made the window 159.
begin_over_lossy_link() { # CONTROL
	local cc=$1
	link a "$cc" --rate 20mbit --delay 20ms --queue 20bdp --loss-at 150
	address[$cc]=${ADDR[$cc]}
	background "$cc-receiver" in_host "$cc" "$TEST_BUILD/messages" \
		--listen "${ADDR[$cc]}" --once --rcvbuf 4MiB
	wait_until 5 grep -q '^listening' "$TEST_DIR/$cc-receiver.log"
	background "$cc" in_host a "$TEST_BUILD/messages" --connect "${ADDR[$cc]}" \
		--duration 30 --congestion "$cc" --sndbuf 2MiB
}

# of CONTROL PATTERN: the first group of PATTERN in what ss says of its connection
of() {
	ss_of a "dst ${address[$1]}" "$2"
}

window_of() {
	of "$1" ' cwnd:([0-9]+)'
}

reduced() { # CONTROL
	[ -n "$(of "$1" ' ssthresh:([0-9]+)')" ]
}

# expect_kept CONTROL PERMILLE: what is left of the window at the loss; ssthresh is that
expect_kept() {
	local ssthresh
	wait_until 5 reduced "$1"
	ssthresh=$(of "$1" ' ssthresh:([0-9]+)')
	expect_ge "$ssthresh" $((159 * $2 / 1000 - 6)) "$1 after the loss"
	expect_le "$ssthresh" $((159 * $2 / 1000 + 6)) "$1 after the loss"
}

# timeout: 60
test_family_on_a_link() {
	local cc
	local -A address=()
	host a "${family[@]}"
	expect_family "" "before"
	tcptuned_start --register aimd,hstcp --register=stcp,tt_vegas,tt_reno
	expect_family "${family[*]}" "on request"
	in_log ' hstcp registered'
	for cc in "${family[@]}"; do
		begin_over_lossy_link "$cc"
	done
	for cc in aimd hstcp stcp tt_reno; do
		expect_eq "$(of "$cc" " ($cc) wscale")" "$cc" "congestion control"
	done
	expect_kept tt_reno 500
	expect_kept hstcp 572 # 1 - b(159)
	expect_kept stcp 875
	expect_kept aimd 875
	sleep 1.5
	# By then 32 packets per round trip have filled the queue, and one per round trip has not.
	expect_ge "$(window_of aimd)" 300 "window of aimd"
	expect_le "$(window_of tt_reno)" 150 "window of tt_reno"
	# The link holds 67 packets; one to three of them are to be in its queue.
	expect_le "$(window_of tt_vegas)" 80 "window of tt_vegas"
	expect_ge "$(window_of tt_vegas)" 30 "window of tt_vegas"
	stream_stop "${family[@]}"
	for cc in "${family[@]}"; do
		expect_eq "$(result "$cc" .congestion)" "$cc" "congestion control at the end"
	done
	tcptuned_stop
	expect_family "" "afterwards"
}

# timeout: 60
test_family_comes_and_goes() {
	local before ids config=$TEST_DIR/my.conf
	before=$(host_state)
	host a
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno
	printf '[tcptuned]\nregister = hstcp, tt_reno\n' >"$config"
	tcptuned_start --config="$config"
	expect_family "hstcp tt_reno" "as configured"
	# A reload: two more that policies name, one less.
	cat >"$config" <<-'END'
		[tcptuned]
		register = hstcp
		[policy]
		congestion_control = stcp
		[policy far]
		destination = 192.0.2.0/24
		congestion_control = tt_vegas
	END
	kill -HUP "$(pid_of tcptuned)"
	in_log 'tcptuned.register: hstcp, tt_reno -> hstcp$'
	in_log ' tt_reno no longer registered'
	expect_family "hstcp stcp tt_vegas" "after the reload"
	expect_eq "$("$TEST_BUILD/tcptunectl" --config="$TEST_DIR/none.conf" \
		--set=tcptuned.runtime_directory="$TEST_DIR/run" status --json |
		jq -c .family_registered)" '["hstcp","stcp","tt_vegas"]' "tcptunectl status"

	# Killed, it leaves them; the next one takes them over as they are.
	ids=$(bpftool -j struct_ops show | jq -c 'sort_by(.id)')
	tcptuned_kill
	expect_family "hstcp stcp tt_vegas" "after kill -9"
	tcptuned_start --config="$config"
	in_log 'programs of an earlier daemon taken over as they run'
	expect_eq "$(bpftool -j struct_ops show | jq -c 'sort_by(.id)')" "$ids" "taken over"
	tcptuned_kill
	tcptuned_start --register=aimd
	expect_family "aimd" "after a restart that wants another"
	tcptuned_kill
	"$TEST_BUILD/tcptuned" --foreground --detach --config="$TEST_DIR/none.conf" \
		--set=tcptuned.runtime_directory="$TEST_DIR/run" \
		--set=tcptuned.state_directory="$TEST_DIR/state" 2>"$TEST_DIR/detach.log" ||
		fail "--detach: $(<"$TEST_DIR/detach.log")"
	expect_family "" "after --detach"
	expect_host_state "$before"
}

# The policy's goes with the daemon, the application's own stays as long as its connection.
# timeout: 60
test_family_and_live_connections() {
	local before
	before=$(host_state)
	host a b
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=reno
	tcptuned_start --set=policy.congestion_control=hstcp --register=stcp
	expect_family "hstcp stcp" "by policy and on request"
	link a b --rate 100mbit --delay 5ms
	stream policy 7101 --duration 30 --verify
	stream own 7102 --duration 30 --verify --congestion stcp
	sleep 1
	expect_eq "$(ss_of a "dport = :7101" ' (hstcp|reno) wscale')" hstcp "the policy's"
	expect_eq "$(ss_of a "dport = :7102" ' (stcp|reno) wscale')" stcp "the application's"
	tcptuned_stop
	expect_eq "$(offered)" "" "offered afterwards"
	expect_eq "$(ss_of a "dport = :7101" ' (hstcp|reno) wscale')" reno "the policy's, afterwards"
	expect_eq "$(ss_of a "dport = :7102" ' (stcp|reno) wscale')" stcp \
		"the application's, afterwards"
	stream_stop policy own
	expect_eq "$(result own '[.ok, .verified, .congestion] | tostring')" '[true,true,"stcp"]' \
		"payload"
	expect_eq "$(result policy '[.ok, .verified] | tostring')" '[true,true]' "payload"
	expect_host_state "$before"
}

test_family_unknown_names() {
	local code=0
	: >"$TEST_DIR/none.conf"
	"$TEST_BUILD/tcptuned" --foreground --register=scalable --config="$TEST_DIR/none.conf" \
		2>"$TEST_DIR/said" || code=$?
	expect_match "$(<"$TEST_DIR/said")" \
		'tcptuned.register: "scalable" has a name that is none.*aimd, hstcp, stcp' "the error"
	expect_ge $code 1 "exit code"
	[ ! -e /sys/fs/bpf/tcptuned ] || fail "pins were made"
}

# What the kernel does is what the headers say: each call of a connection that has losses and
# perhaps a timeout, as a build of the same sources tells it, against the same call in user space
# and in ns-3. Where no loss comes between, a window begins as the call before left it in the socket.
traced() { # CONTROL
	local id
	id=$(bpftool struct_ops register "$TEST_BUILD/traced/$1.bpf.o" 2>&1 | sed -n 's/.* id //p')
	echo >"$tracing/trace"
	transfer a b --duration 0.8 --congestion "$1" >/dev/null
	bpftool struct_ops unregister id "$id" >/dev/null 2>&1
	cat "$tracing/trace" >"$TEST_DIR/$1.trace"
}

counted() { # WHAT TEXT: N, where TEXT has "N WHAT"
	[[ $2 =~ ([0-9]+)" $1" ]] && echo "${BASH_REMATCH[1]}"
}

# timeout: 60
test_family_in_the_kernel_is_the_headers() {
	local cc said in_ns3 what missed instance tracing=$TEST_DIR/tracing
	missed=$(seq -s, 900 960)
	mkdir "$tracing"
	mount -t tracefs tracefs "$tracing"
	instance=$tracing/instances/tcptuned-test
	rmdir "$instance" 2>/dev/null || : # of a test that failed
	mkdir "$instance"
	echo 4096 >"$instance/buffer_size_kb"
	echo 1 >"$instance/events/bpf_trace/bpf_trace_printk/enable"
	tracing=$instance
	host a b
	link a b --rate 50mbit --delay 5ms --queue 20bdp --loss-at "200,500,$missed,$(seq -s, 1500 700 40000)"
	for cc in bitcp "${family[@]}"; do
		traced "$cc"
	done
	echo 0 >"$instance/events/bpf_trace/bpf_trace_printk/enable"
	rmdir "$instance"
	[ -x "$TEST_BUILD/sim/replay" ] || fail "no $TEST_BUILD/sim/replay: make sim"
	for cc in bitcp "${family[@]}"; do
		said=$("$TEST_BUILD/replay" "$cc" <"$TEST_DIR/$cc.trace")
		in_ns3=$("$TEST_BUILD/sim/replay" "$cc" <"$TEST_DIR/$cc.trace")
		note "$cc: $said; in ns-3: $in_ns3"
		expect_ge "$(counted acks "$said")" 200 "calls of $cc compared"
		expect_ge "$(counted losses "$said")" 1 "losses of $cc"
		expect_ge "$(counted changes "$said")" 10 "changes of the window of $cc"
		expect_le "$(counted moved "$said")" 5 "windows of $cc that something else had set"
		for what in acks losses undos moved; do
			expect_eq "$(counted $what "$in_ns3")" "$(counted $what "$said")" \
				"$what of $cc in ns-3"
		done
	done
	expect_ge "$(grep -c 'tcptuned rtt' "$TEST_DIR/tt_vegas.trace")" 200 "round-trip times"
}

# What is in flight fills the peer's window of 1 MB, of which the path holds 0.5 MB and its queue
# the rest. One segment is lost, and its repair frees the window at once: more than the queue holds.
loses_one() { # SEGMENT
	link a b --rate 100mbit --delay 20ms --queue 600KB --loss-at "$1"
	stream lossy 7101
	wait_until 5 reduced_on 7101
	sleep 0.6
	lost=$(link_stats a b .ab.drops.total.segments)
	paced=$(flow_to 7101 .pacing.rate_bytes_per_s)
	stream_stop lossy
}

reduced_on() { # PORT
	[ -n "$(ss_of a "dport = :$1" ' ssthresh:([0-9]+)')" ]
}

# timeout: 60
test_family_no_burst_after_a_loss() {
	local lost paced window=(--set=policy.receive_window_{min,max}=1M)
	host a b
	tcptuned_start $bitcp "${window[@]}"
	valid_run loses_one 4000
	tcptuned_stop
	expect_le "$lost" 40 "segments lost"
	expect_eq "$paced" null "pacing rate, afterwards"

	tcptuned_start $bitcp "${window[@]}" --set=policy.pacing_rate_max=80M
	valid_run loses_one 300
	tcptuned_stop
	expect_ge "$paced" 1 "pacing rate under a limit of the policy's, afterwards"
}
