# SPDX-License-Identifier: GPL-2.0-only
# Congestion controls of bench/cc, which bpftool registers, differ as their papers describe, and a policy names
# them like any of the kernel's. And bitcp after a loss.

. "$TEST_TOP/tests/system/daemon.sh"

compared=(aimd hstcp stcp tt_reno tt_vegas)

window_of() { # CONTROL
	ss_of a "dst ${address[$1]}" ' cwnd:([0-9]+)'
}

has_ssthresh() { # FILTER; sets $ssthresh
	ssthresh=$(ss_of a "$1" ' ssthresh:([0-9]+)')
	[ -n "$ssthresh" ]
}

# ssthresh is what is left of the window at the loss.
expect_kept() { # CONTROL PERMILLE
	local ssthresh
	wait_until has_ssthresh "dst ${address[$1]}"
	expect_between "$ssthresh" $((159 * $2 / 1000 - 6)) $((159 * $2 / 1000 + 6)) "$1 after the loss"
}

# virtual: windows are measured after a time
test_cc_compared_on_a_link() {
	local cc
	local -A address=()
	keep_host_state
	host a "${compared[@]}"
	register "${compared[@]}"
	# Each on a link of its own, which loses one segment and has room for the whole window in
	# its queue. Until the 150th segment is missed slow start has made the window 159.
	for cc in "${compared[@]}"; do
		link a $cc --rate 20mbit --delay 20ms --queue 20bdp --loss-at 150
		address[$cc]=${ADDR[$cc]}
		TRANSFER_ADDR=${ADDR[$cc]} SENDER_PREFIX= RECEIVER_PREFIX= RECEIVER=$cc \
			stream $cc 5301 --duration 90 --congestion $cc --sndbuf 2MiB --rcvbuf 4MiB
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
	expect_between "$(window_of tt_vegas)" 30 80 "window of tt_vegas"
	stream_stop "${compared[@]}"
	for cc in "${compared[@]}"; do
		expect_eq "$(result "$cc" .congestion)" "$cc" "congestion control at the end"
	done
	unregister
	expect_host_state
}

# A stop of the daemon ends the choice of a policy. That of an application stays until its connection ends,
# although no application can choose it any more.
# alone: the names of congestion controls are the whole kernel's
test_cc_compared_by_policy() {
	keep_host_state
	CONGESTION=reno host a b
	register hstcp stcp
	tcptuned_start --set=policy.congestion_control=hstcp
	link a b --rate 100mbit --delay 5ms
	stream policy 7101 --duration 90 --verify
	stream own 7102 --duration 90 --verify --congestion stcp
	sleep 1
	expect_eq "$(congestion_of a "dport = :7101")" hstcp "the policy's"
	expect_eq "$(congestion_of a "dport = :7102")" stcp "the application's"
	tcptuned_stop
	unregister
	expect_eq "$(congestion_of a "dport = :7101")" reno "the policy's, afterwards"
	expect_eq "$(congestion_of a "dport = :7102")" stcp "the application's, afterwards"
	stream_stop policy own
	expect_payload policy
	expect_payload own
	expect_host_state
}

# The bytes in flight fill the peer's window of 1 MB; the path holds 0.5 MB and its queue the rest. The repair
# of one lost segment frees the whole window at once: more than the queue holds.
loses_one() { # SEGMENT
	link a b --rate 100mbit --delay 20ms --queue 600KB --loss-at "$1"
	stream lossy 7101
	wait_until has_ssthresh "dport = :7101"
	sleep 0.6
	lost=$(link_stats a b .ab.drops.total.segments)
	paced=$(flow_to 7101 .pacing.rate_bytes_per_s)
	stream_stop lossy
}

# virtual: what is lost depends on rates
test_cc_no_burst_after_a_loss() {
	local lost paced window=(--set=policy.receive_window_max=1M)
	host a b
	tcptuned_start $bitcp "${window[@]}"
	measure loses_one 4000
	tcptuned_stop
	expect_le "$lost" 40 "segments lost"
	expect_eq "$paced" null "pacing rate, afterwards"
}
