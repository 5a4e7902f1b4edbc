# SPDX-License-Identifier: GPL-2.0-only
#
# A short round of what `make stress` does for a minute.

. "$TEST_TOP/tests/system/stress.sh"

# timeout: 90
# bitcp: other builds take part
test_lifecycle_under_load() {
	needs_linux 6.12 "what is open at the start is adopted"
	# what a stop lets applications put into a hundred larger ones, the link carries in 20 s
	STRESS_WMEM=262144 stress_lifecycle 4 100
}

# `make stress` omits the second reading only on demand.
test_second_opinion_is_not_left_out() {
	local program said code=0 STRESS_NO_TSHARK=
	mkdir "$TEST_DIR/bin"
	for program in tcpdump tshark; do
		printf '#!/bin/sh\n' >"$TEST_DIR/bin/$program"
		chmod 755 "$TEST_DIR/bin/$program"
	done
	PATH=$TEST_DIR/bin stress_needs_second_opinion
	rm "$TEST_DIR/bin/tshark"
	said=$(PATH=$TEST_DIR/bin stress_needs_second_opinion 2>&1) || code=$?
	expect_eq $code 1 "exit code where tshark is missing"
	expect_match "$said" 'install .*-recommends tshark, or set STRESS_NO_TSHARK=1' "what it says"
	STRESS_NO_TSHARK=1 PATH=$TEST_DIR/bin stress_needs_second_opinion
}

# The second reading of right edges by `make stress`: around the end of the sequence
# numbers; an edge that is pulled back by 404 bytes, one that came late, one by 100 bytes; a
# connection without its SYN; a reset, and one after that. Then one whose first window is 500 bytes
# less than its SYN's was, which acknowledges, and one where that did not.
test_second_opinion() {
	printf '%s\n' >"$TEST_DIR/segments" \
		'0 7101 0x0012 4294967000 1000' '0 7101 0x0010 4294967000 1000' '0 7101 0x0010 200 100' \
		'0 7101 0x0018 100 100' '0 7101 0x0010 300 1000' '0 7101 0x0010 400 800' \
		'1 7102 0x0010 5 5' '0 7101 0x0014 0 0' '0 7101 0x0004 0 0' \
		'2 7103 0x0012 4294967290 900' '2 7103 0x0010 94 300' \
		'3 7104 0x0002 7 65535' '3 7104 0x0010 7 800'
	expect_eq "$(awk -f "$TEST_TOP/tests/system/rightedge.awk" "$TEST_DIR/segments" | jq -c \
		'[.connections, .acks, .retracted, .retracted_bytes, .reordered, .shrunk, .window_max_bytes, .resets]')" \
		"[3,7,3,500,1,2,1000,1]" "what it makes of a trace with three edges pulled back"
}
