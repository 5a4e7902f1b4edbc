# SPDX-License-Identifier: GPL-2.0-only
# A policy names congestion controls of bench/cc, which bpftool registers, like any of the kernel's. And bitcp
# after a loss, and connections after a pause.

. "$TEST_TOP/tests/system/daemon.sh"

has_ssthresh() { # FILTER
	[ -n "$(ss_of a "$1" ' ssthresh:([0-9]+)')" ]
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
	stream policy 7101 --duration 280 --verify
	stream own 7102 --duration 280 --verify --congestion stcp
	wait_output = hstcp congestion_of a "dport = :7101" # the policy's
	wait_output = stcp congestion_of a "dport = :7102" # the application's
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
	link a b --rate 100mbit --delay 20ms --queue 600KB --loss-at-ab "$1"
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

# 2 MB, and 300 KB after a pause. The kernel halves the window for each RTO of it, of 0.3 s and more.
pause() {
	link a b --rate 100mbit --delay 50ms
	application answerer b tcp4 listen "${ADDR[b]}" 7101 accept receive 2000000 send 1 receive 300000 send 1 \
		until ended
	application asker a tcp4 connect "${ADDR[b]}" 7101 ask 2000000 until go ask 300000 until ended
	wait_printed asker '^ask'
	sleep 5
	touch "$TEST_DIR/go"
	wait_output = 2 grep -c '^ask' "$TEST_DIR/asker.log"
	asked_ms=$(awk '/^ask/ { ms = $2 } END { print ms }' "$TEST_DIR/asker.log")
	congestion=$(congestion_of a "dport = :7101")
	tcptuned_stop
	afterwards=$(congestion_of a "dport = :7101")
	finish ended asker answerer
	rm "$TEST_DIR"/{go,ended}
}

# 207 segments are five round trips of slow start, from 10 on. A window that holds them takes one, and 5/6 of one to be sent.
# virtual: a duration is measured
test_cc_resumes_after_a_pause() {
	local asked_ms congestion afterwards
	host a b # of the guest, whose default is cubic
	tcptuned_start --set=policy.congestion_control=keep
	measure pause
	expect_eq "$congestion" cubic "kept"
	expect_ge "$asked_ms" 500 "ms, slow start"
	tcptuned_start
	measure pause
	expect_eq "$congestion" cubic_resume "in place of cubic"
	expect_eq "$afterwards" cubic "after a stop"
	expect_le "$asked_ms" 250 "ms, resumed"
	tcptuned_start $bitcp
	measure pause
	expect_eq "$congestion" bitcp "bitcp"
	expect_le "$asked_ms" 250 "ms, resumed"
}

# a asks b, which it has asked for 8 MB before, by a new connection. Sets $asked_ms, from the first byte sent to the
# answer to the last one, $congestion, and $wscale.
fetch() { # BYTES
	rm -f "$TEST_DIR/ended"
	application server b tcp4 listen "${ADDR[b]}" 7101 accept ask "$1" until ended
	application client a tcp4 connect "${ADDR[b]}" 7101 receive "$1" send 1 until ended
	wait_printed server '^ask'
	asked_ms=$(awk '/^ask/ { print $2 }' "$TEST_DIR/server.log")
	congestion=$(congestion_of b "sport = :7101")
	wscale=$(ss_of a "dport = :7101" ' wscale:([0-9]+,[0-9]+)')
	finish ended server client
}

# Twice, as only one connection in four seconds may jump, then with a loss, and then over a path that has become slower.
fetches() {
	local try first
	link a b --rate 100mbit --delay 50ms --queue 2bdp
	fetch 8000000
	first=$wscale
	wait_output -ge 2 metric 'tcptuned_paths_learned_total{result="stored"}'
	for try in 1 2; do
		sleep 5
		fetch 300000
		note "$asked_ms ms by $congestion"
		expect_between "$asked_ms" 200 300 "ms, by $1"
		expect_eq "$congestion" $1 "congestion control"
		expect_eq "$wscale" "$first" "window scales"
	done
	fetch 300000
	expect_ge "$asked_ms" 450 "ms, of the next one"
	link_end a b
	link a b --rate 100mbit --delay 50ms --queue 2bdp --loss-at-ba 100
	sleep 5
	fetch 300000
	expect_eq "$(link_stats a b .ba.drops.total.segments)" 1 "segments lost of the next jump"
	link_end a b
	link a b --rate 100mbit --delay 50ms --queue 2bdp
	sleep 5
	fetch 300000
	expect_ge "$asked_ms" 290 "ms: only what that one has carried is known, at most 300 KB in a round trip"
	link_end a b
	link a b --rate 10mbit --delay 50ms --queue 60p
	sleep 5
	fetch 300000
	expect_le "$(link_stats a b .ba.drops.total.segments)" 20 "segments lost where the path carries 86 in a round trip"
	link_end a b
}

# The client sends. What the server offers grows by twice what arrives, so that the jump is 93 KB, and saves one round trip.
push() { # BYTES
	rm -f "$TEST_DIR/ended"
	application server b tcp4 listen "${ADDR[b]}" 7101 accept receive "$1" send 1 until ended
	application client a tcp4 connect "${ADDR[b]}" 7101 ask "$1" until ended
	wait_printed client '^ask'
	asked_ms=$(awk '/^ask/ { print $2 }' "$TEST_DIR/client.log")
	congestion=$(congestion_of a "dport = :7101")
	finish ended server client
}

# virtual: a duration is measured
test_cc_a_client_jumps_on_a_known_path() {
	local asked_ms congestion
	tuned_path "" --rate 100mbit --delay 50ms --queue 2bdp # of the guest, whose default is cubic
	push 8000000
	wait_output -ge 2 metric 'tcptuned_paths_learned_total{result="stored"}'
	sleep 5
	push 300000
	expect_eq "$congestion" cubic_resume "congestion control"
	expect_between "$asked_ms" 300 450 "ms; 500 by slow start"
	# One that is bitcp from the start, as where the daemon has made that the default.
	sysctl -qw net.ipv4.tcp_allowed_congestion_control="reno cubic bitcp"
	in_host a sysctl -qw net.ipv4.tcp_congestion_control=bitcp
	sleep 5
	push 300000
	expect_eq "$congestion" bitcp "congestion control of the next one"
	expect_between "$asked_ms" 300 450 "ms, of that"
}

# 207 segments are five round trips of slow start. A jump that holds them takes two, and the time to send it.
# virtual: a duration is measured
test_cc_jumps_on_a_known_path() {
	local asked_ms congestion wscale
	host a b # of the guest, whose default is cubic
	tcptuned_start
	fetches cubic_resume
	tcptuned_stop
	tcptuned_start $bitcp
	fetches bitcp
}

trial_of() { # PORT
	flow_to $1 '[.congestion_control, .random_loss.state] | join(" ")'
}

# Single losses, at which the window falls from 400 segments to less than half; 863 fit into the path, and so BBR carries
# more.
# virtual: rates and delays decide
test_cc_random_losses() {
	# of the guest, whose default is cubic
	configure '[policy other]\nremote_port = 9\n'
	tuned_path "--config=$TEST_DIR/my.conf" \
		--rate 40mbit --delay 125ms --queue 1bdp --loss-at-ab 500,1500,2500,3500,4200,4700
	stream one 7101 --duration 280
	wait_output = "bbr kept" trial_of 7101
	ctl policy disable other
	expect_ge "$(ctl_json .moved policy apply)" 1 "moved"
	expect_eq "$(trial_of 7101)" "bbr kept" "after another policy was disabled"
	expect_ge "$(flow_to 7101 .random_loss.best_segments)" \
		$((2 * $(flow_to 7101 .random_loss.window_segments))) "windows of the losses"
	expect_ge "$(flow_to 7101 .random_loss.after_segments)" 600 "segments per round trip since"
	expect_match "$(ctl explain --netns "$(in_host a stat -Lc %i /proc/self/ns/net)" 7101)" "tried and kept: " "explanation"
	stream_stop one
	wait_output = kept ctl_json '.paths[] | select(.random_loss).random_loss.state' paths
	# On the path that has shown it, one at an empty queue is enough. BBR leaves a threshold after its own start
	# (bbr_check_drain()), so that cubic does not begin a slow start from its window.
	link_end a b
	link a b --rate 40mbit --delay 125ms --queue 1bdp --loss-at-ab 500,1500,2500
	stream two 7102 --duration 280
	wait_output = "bbr kept" trial_of 7102
	tcptuned_stop
	expect_match "$(in_host a ss -tinOH 'dport = :7102')" " cubic .* ssthresh:" "after the stop"
	stream_stop two
}

# BBR would not answer marks.
# virtual: rates and delays decide
test_cc_random_losses_with_ecn() {
	host a b # of the guest, whose default is cubic
	in_host a sysctl -qw net.ipv4.tcp_ecn=1
	tcptuned_start
	link a b --rate 40mbit --delay 125ms --queue 1bdp --loss-at-ab 500,1500,2500,3500,4200,4700
	stream one 7101 --duration 280
	wait_output -ge 8000000 flow_to 7101 .bytes_acked
	expect_eq "$(flow_to 7101 .retransmitted_segments)" 6 "segments retransmitted"
	expect_eq "$(flow_to 7101 '[.congestion_control, .random_loss]')" '["cubic",null]' "congestion control"
	stream_stop one
}

# A short queue and a policer drop bursts, at about the same window each time.
# virtual: rates and delays decide
test_cc_losses_of_a_queue() {
	local port=7101 path
	host a b # of the guest, whose default is cubic
	tcptuned_start --set=paths.remember=no
	for path in "--queue 25p" "--queue 100p" "--queue 4bdp --police-ab 10mbit:100KB"; do
		link a b --rate 50mbit --delay 50ms $path
		stream one $((++port)) --duration 280
		wait_output -ge 10000000 flow_to $port .bytes_acked
		expect_ge "$(flow_to $port .retransmitted_segments)" 3 "segments retransmitted"
		expect_eq "$(flow_to $port '[.congestion_control, .random_loss]')" '["cubic",null]' "$path"
		stream_stop one
		link_end a b
	done
}

# A path that becomes four times as fast has room, from when the window exceeds that of the last loss until a queue stands.
# 140 segments fit into it and its queue before, of two connections. What the application has chosen stays.
# virtual: rates and delays decide
test_cc_grows_into_room() {
	# of the guest, whose default is cubic
	tuned_path "--set=policy.long_path_segments=20 --set=paths.remember=no" \
		--rate 20mbit --delay 20ms --queue 1bdp --schedule-ab 10s:80mbit:
	stream one 7101 --duration 280
	stream own 7102 --duration 280 --congestion cubic
	wait_output -ge 5000000 flow_to 7101 .bytes_acked
	expect_eq "$(choices set)" 0 "choices before that"
	wait_output -ge 1 choices set
	wait_output = cubic flow_to 7101 .congestion_control
	expect_eq "$(choices refused)" 0 "choices refused"
	expect_ge "$(flow_to 7101 .cwnd_segments)" 100 "segments since"
	expect_eq "$(flow_to 7102 '[.congestion_control, (.flags | index("congestion_control_set"))]')" '["cubic",null]' "its own"
	stream_stop one own
}
