# SPDX-License-Identifier: GPL-2.0-only
#
# make stress: a minute, a thousand connections. tshark reads what the receivers sent, too, and has
# to come to the same figures as rightedge. STRESS_NO_TSHARK=1 does without it where it is missing.

. "$TEST_TOP/tests/system/stress.sh"

# timeout: 900
stress_lifecycle_for_a_minute() {
	local capture='' watched
	stress_needs_second_opinion
	[ -n "$(stress_lacks)" ] || capture=$TEST_DIR/receivers.pcap
	stress_lifecycle "${STRESS_SECONDS:-60}" "${STRESS_CONNECTIONS:-1000}" "$capture"
	if [ -z "$capture" ]; then
		note "right edges as rightedge saw them only"
		return
	fi
	second_opinion "$capture"
}

# tshark keeps the scale of the windows itself. Without what else it keeps of each segment it takes
# 170 MB, and 50 s for a million of them.
edges_in() { # CAPTURE
	tshark -r "$1" -n -l -o tcp.relative_sequence_numbers:FALSE \
		-o tcp.desegment_tcp_streams:FALSE -o tcp.track_bytes_in_flight:FALSE \
		-o tcp.calculate_timestamps:FALSE -o tcp.summary_in_tree:FALSE -T fields \
		-e tcp.stream -e tcp.srcport -e tcp.flags -e tcp.ack -e tcp.window_size |
		"$TEST_TOP/tests/system/rightedge.py"
}

second_opinion() { # CAPTURE
	local figures='[.connections, .acks, .retracted, .retracted_bytes, .reordered, .shrunk,
		.window_max_bytes, .resets]' seen
	note "$(tr '\n' ' ' <"$TEST_DIR/capture.log") $(stat -c %s "$1") bytes"
	seen=$(edges_in "$1" 2>"$TEST_DIR/tshark.log") || fail "tshark: $(<"$TEST_DIR/tshark.log")"
	note "tshark: $seen"
	expect_eq "$(jq -c '[.connections, .retracted, .resets]' <<<"$seen")" \
		"$(jq -c '[.connections, .retracted, .resets]' <<<"$watched")" \
		"connections, right edges retracted, resets, as tshark sees them"
	grep -q '^0 packets dropped by kernel' "$TEST_DIR/capture.log" ||
		fail "tcpdump was too slow for some of them"
	expect_eq "$(jq -c "$figures" <<<"$seen")" "$(jq -c "$figures" <<<"$watched")" \
		"the same, and acknowledgements, reordered, windows"
}
