# SPDX-License-Identifier: GPL-2.0-only
# What `make stress` does for a minute, for some seconds.

. "$TEST_TOP/tests/system/stress.sh"

# bitcp: other builds take part
test_lifecycle_under_load() {
	needs_linux 6.12 "what is open at the start is adopted"
	# After a stop, applications may fill their send buffers: the link carries a hundred larger ones in 20 s.
	STRESS_WMEM=262144 stress_lifecycle 4 100
}

# What rightedge.py counts, on a device or in the capture of `make stress`: around the end of the sequence
# numbers; an edge that moves back by 404 bytes, a late segment, an edge that moves back by 100 bytes; a
# connection without its SYN; a reset, and one after that. Then a first window of 500 bytes less than in the
# SYN with an acknowledgement, and one after a SYN without.
test_right_edges_are_counted() {
	printf '%s\n' >"$TEST_DIR/segments" \
		'0 7101 0x0012 4294967000 1000' '0 7101 0x0010 4294967000 1000' '0 7101 0x0010 200 100' \
		'0 7101 0x0018 100 100' '0 7101 0x0010 300 1000' '0 7101 0x0010 400 800' \
		'1 7102 0x0010 5 5' '0 7101 0x0014 0 0' '0 7101 0x0004 0 0' \
		'2 7103 0x0012 4294967290 900' '2 7103 0x0010 94 300' \
		'3 7104 0x0002 7 65535' '3 7104 0x0010 7 800'
	expect_eq "$("$TEST_TOP/tests/system/rightedge.py" <"$TEST_DIR/segments" | jq -c \
		'[.connections, .acks, .retracted, .retracted_bytes, .reordered, .shrunk, .window_max_bytes, .resets]')" \
		"[3,7,3,500,1,2,1000,1]" "counts of a trace in which three edges move back"
}
