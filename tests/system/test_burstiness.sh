# SPDX-License-Identifier: GPL-2.0-only
#
# metrics.burstiness: what it says of a paced and of a bursty sender, of small segments over IPv6
# and of retransmissions; that a reload switches it on and off, and that nothing of it is left; what
# is said where it cannot be.

. "$TEST_TOP/tests/system/daemon.sh"

program_ids() {
	bpftool -j prog show | jq '.[] | select(.name // "" | startswith("tcptuned_bursti")) | .id'
}

programs() {
	program_ids | wc -l
}

attached() {
	bpftool cgroup show "$TEST_CGROUP/group" | grep -c egress || :
}

configured() { # BURSTINESS
	printf '[metrics]\nburstiness = %s\n' "$1" >"$TEST_DIR/my.conf"
	kill -HUP "$(pid_of tcptuned)"
}

gone() {
	[ "$(programs) $(attached)" = "0 0" ]
}

# cov CONTROL, mean CONTROL: of the kept scrape
cov() {
	awk -v name="tcptuned_burstiness_cov{congestion_control=\"$1\"}" '$1 == name { print $2 }' \
		"$TEST_DIR/scrape"
}

mean() {
	awk -v name="tcptuned_burstiness_segments_per_interval{congestion_control=\"$1\"}" \
		'$1 == name { print $2 }' "$TEST_DIR/scrape"
}

acknowledged() {
	ss_of a "dport = :7204" 'bytes_acked:([0-9]+)' | grep .
}

retransmitted() { # by the connection whose acknowledgements get lost
	ss_of a "dport = :7204" 'retrans:[0-9]+\/([0-9]+)'
}

retransmitted_more_than() { # SEGMENTS
	[ "$(retransmitted)" -gt "$1" ]
}

test_burstiness() {
	local before intervals had
	before=$(host_state)
	host a b
	: >"$TEST_DIR/my.conf"
	tcptuned_start $bitcp --config="$TEST_DIR/my.conf" --register=hstcp
	expect_eq "$(programs) $(attached)" "0 0" "programs, and attached, while it is off"
	scrape
	expect_eq "$(grep -c burstiness "$TEST_DIR/scrape" || :)" 0 "metrics while it is off"
	link a b --rate 1gbit --delay 1ms
	stream lost 7204 --duration 20 --bytes 100 --interval 1 --congestion bbr
	wait_until 5 acknowledged
	in_host b ip rule add sport 7204 blackhole
	# A segment each millisecond, or somewhat later: as small as acknowledgements, but for one byte;
	# a hundred large ones each 200 ms.
	stream paced 7201 --duration 20 --bytes 1 --interval 1 --congestion reno
	TRANSFER_ADDR=${ADDR6[b]} stream six 7203 --duration 20 --bytes 1 --interval 1 --congestion hstcp
	stream bursty 7202 --duration 20 --bytes 144800 --interval 200 --congestion cubic
	wait_until 5 retransmitted_more_than 1 # and sends nothing else any more
	configured 20ms
	in_log 'metrics.burstiness: off -> 20ms$'
	expect_eq "$(programs) $(attached)" "1 1" "programs, and attached"
	had=$(retransmitted)
	sleep 1
	wait_until 5 retransmitted_more_than "$had"
	sleep 0.06
	scrape
	expect_eq "$(metric tcptuned_burstiness_interval_seconds)" 0.020000 "interval"
	intervals=$(awk '$1 == "tcptuned_burstiness_intervals" { print $2 }' "$TEST_DIR/scrape")
	expect_ge "$intervals" 45 "intervals in a second"
	expect_le "$intervals" 200 "intervals in a second"
	expect_ge "$(mean reno)" 6 "segments per interval, paced"
	expect_le "$(mean reno)" 20.5 "segments per interval, paced"
	expect_le "$(cov reno)" 0.6 "c.o.v., paced"
	expect_ge "$(mean hstcp)" 6 "segments per interval, over IPv6"
	expect_le "$(mean hstcp)" 20.5 "segments per interval, over IPv6"
	expect_ge "$(awk -v mean="$(mean bbr)" -v n="$intervals" 'BEGIN { print mean * n + 1e-3 }')" 1 \
		"retransmissions"
	expect_le "$(awk -v mean="$(mean bbr)" -v n="$intervals" 'BEGIN { print mean * n }')" 4 \
		"retransmissions"
	# 9.8 per interval; one in ten has them all, or two share them: 3, or 2
	expect_ge "$(mean cubic)" 6 "segments per interval, in bursts"
	expect_le "$(mean cubic)" 13 "segments per interval, in bursts"
	expect_ge "$(cov cubic)" 1.7 "c.o.v., in bursts"
	expect_le "$(cov cubic)" 4 "c.o.v., in bursts"
	# of the sum: the deviations of two that know nothing of each other add up in squares
	expect_eq "$(awk -v all="$(mean all)" "BEGIN { print all - $(mean reno) - $(mean cubic) \
		- $(mean hstcp) - $(mean bbr) }" | awk '{ print ($1 < 1e-5 && $1 > -1e-5) ? "sum" : $1 }')" \
		sum "segments per interval of all"
	expect_ge "$(cov all)" "$(cov reno)" "c.o.v. of all"
	expect_le "$(cov all)" "$(cov cubic)" "c.o.v. of all"
	expect_eq "$(cov bitcp)" "" "of the receivers, which send no data"
	expect_eq "$(mean bitcp)" "" "of the receivers"
	promtool check metrics <"$TEST_DIR/scrape"
	configured off
	in_log 'metrics.burstiness: 20ms -> off$'
	wait_until 3 gone
	scrape
	expect_eq "$(grep -c burstiness "$TEST_DIR/scrape" || :)" 0 "metrics afterwards"
	configured 1s
	in_log 'metrics.burstiness: off -> 1s$'
	tcptuned_stop
	wait_until 3 gone
	in_host b ip rule del sport 7204 blackhole
	stop paced || :
	stop six || :
	stop bursty || :
	stop lost KILL || :
	expect_host_state "$before"
}

counted() {
	metric 'tcptuned_collection_success{collector="burstiness"}'
}

# Where somebody else has a program who wants to be alone there, the kernel refuses ours: that is no
# reason not to start, or to refuse a reload, but nobody shall take it for "off". Neither where it
# could not be read.
test_burstiness_that_is_refused() {
	local place=("$TEST_CGROUP/group" cgroup_inet_egress pinned /sys/fs/bpf/theirs)
	: >"$TEST_DIR/my.conf"
	tcptuned_start --config="$TEST_DIR/my.conf"
	configured 20ms
	in_log 'metrics.burstiness: off -> 20ms$'
	expect_eq "$(counted)" 1 "counted"
	bpftool prog pin id "$(program_ids)" /sys/fs/bpf/theirs
	configured off
	in_log 'metrics.burstiness: 20ms -> off$'
	expect_eq "$(counted)" "" "whether it is counted, while it is off"
	bpftool cgroup attach "${place[@]}"
	configured 30ms
	in_log 'metrics.burstiness: segments are not counted: the kernel does not take the program'
	in_log 'metrics.burstiness: off -> 30ms$'
	expect_eq "$(counted)" 0 "counted, where it cannot be"
	expect_eq "$(metric tcptuned_burstiness_interval_seconds)" 0.030000 "interval asked for"
	expect_eq "$(metric tcptuned_burstiness_intervals)" "" "intervals"
	bpftool cgroup detach "${place[@]}"
	configured 40ms
	in_log 'metrics.burstiness: 30ms -> 40ms$'
	expect_eq "$(counted)" 1 "counted again"
	tcptuned_stop
	rm /sys/fs/bpf/theirs
	background tcptuned "$TEST_BUILD/tcptuned" --foreground --config="$TEST_DIR/none.conf" \
		--set=tcptuned.cgroup="$TEST_CGROUP/group" --set=metrics.burstiness=20ms \
		--set=tcptuned.runtime_directory="$TEST_DIR/run" \
		--set=tcptuned.state_directory="$TEST_DIR/state" --set=metrics.enabled=no
	in_log 'metrics.burstiness: segments are not counted: metrics.enabled is no'
	tcptuned_stop
}
