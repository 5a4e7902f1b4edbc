# SPDX-License-Identifier: GPL-2.0-only
#
# metrics.burstiness: what it says of a paced and of a bursty sender; that a reload switches it on
# and off, and that nothing of it is left.

. "$TEST_TOP/tests/system/daemon.sh"

programs() {
	bpftool -j prog show | jq '[.[] | select(.name // "" | startswith("tcptuned_bursti"))] | length'
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

test_burstiness() {
	local before intervals
	before=$(host_state)
	host a b
	: >"$TEST_DIR/my.conf"
	tcptuned_start --config="$TEST_DIR/my.conf"
	expect_eq "$(programs) $(attached)" "0 0" "programs, and attached, while it is off"
	expect_eq "$(grep -c burstiness "$TEST_DIR/scrape" || :)" 0 "metrics while it is off"
	link a b --rate 1gbit --delay 1ms
	# a segment each millisecond, or somewhat later; a hundred of them each 200 ms
	stream paced 7201 --duration 20 --bytes 1448 --interval 1 --congestion reno
	stream bursty 7202 --duration 20 --bytes 144800 --interval 200 --congestion cubic
	configured 20ms
	in_log 'metrics.burstiness: off -> 20ms$'
	expect_eq "$(programs) $(attached)" "1 1" "programs, and attached"
	sleep 1
	curl -sf -o "$TEST_DIR/scrape" "$METRICS/metrics"
	expect_eq "$(metric tcptuned_burstiness_interval_seconds)" 0.020000 "interval"
	intervals=$(awk '$1 == "tcptuned_burstiness_intervals" { print $2 }' "$TEST_DIR/scrape")
	expect_ge "$intervals" 45 "intervals in a second"
	expect_le "$intervals" 200 "intervals in a second"
	expect_ge "$(mean reno)" 6 "segments per interval, paced"
	expect_le "$(mean reno)" 20.5 "segments per interval, paced"
	expect_le "$(cov reno)" 0.6 "c.o.v., paced"
	# 9.8 per interval; one in ten has them all, or two share them: 3, or 2
	expect_ge "$(mean cubic)" 6 "segments per interval, in bursts"
	expect_le "$(mean cubic)" 13 "segments per interval, in bursts"
	expect_ge "$(cov cubic)" 1.7 "c.o.v., in bursts"
	expect_le "$(cov cubic)" 4 "c.o.v., in bursts"
	# of the sum: the deviations of two that know nothing of each other add up in squares
	expect_eq "$(awk -v a="$(mean reno)" -v b="$(mean cubic)" -v c="$(mean all)" \
		'BEGIN { print (c - a - b < 1e-5 && a + b - c < 1e-5) ? "sum" : "a + b - c" }')" \
		sum "segments per interval of all"
	expect_ge "$(cov all)" "$(cov reno)" "c.o.v. of all"
	expect_le "$(cov all)" "$(cov cubic)" "c.o.v. of all"
	expect_eq "$(cov bitcp)" "" "of the receivers, which send no data"
	promtool check metrics <"$TEST_DIR/scrape"
	configured off
	in_log 'metrics.burstiness: 20ms -> off$'
	wait_until 3 gone
	expect_eq "$(curl -sf "$METRICS/metrics" | grep -c burstiness || :)" 0 "metrics afterwards"
	configured 1s
	in_log 'metrics.burstiness: off -> 1s$'
	tcptuned_stop
	wait_until 3 gone
	stop paced || :
	stop bursty || :
	expect_host_state "$before"
}
