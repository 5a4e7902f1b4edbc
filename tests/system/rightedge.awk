# SPDX-License-Identifier: GPL-2.0-only
#
# What rightedge.c counts, from a capture that others have read: lines of
#
#	tcp.stream tcp.srcport tcp.flags tcp.ack tcp.window_size
#
# as tshark -T fields prints them, with sequence numbers that are not relative. The figures have
# rightedge's names and are to be the same.

# How far @a lies before @b modulo 2^32; less than 0: behind it.
function before(a, b,	distance) {
	distance = (b - a + 4294967296) % 4294967296
	return distance < 2147483648 ? distance : distance - 4294967296
}

function digit(number, from_the_end) {
	return index("0123456789abcdef", tolower(substr(number, length(number) + 1 - from_the_end, 1))) - 1
}

# One with an acknowledgement has offered its window, which is not scaled.
function on_syn(end, acknowledges, number, size) {
	if (!(end in goodbye))
		connections++
	delete edge[end]
	delete window[end]
	goodbye[end] = 0
	if (acknowledges) {
		ack[end] = number
		edge[end] = number + size
	}
}

function on_ack(end, number, size,	back) {
	acks++
	if (end in edge && before(number, ack[end]) > 0) {
		reordered++
		return
	}
	if (size > window_max)
		window_max = size
	if (end in edge) {
		if (size < window[end])
			shrunk++
		back = before(number + size, edge[end])
	}
	ack[end] = number
	window[end] = size
	if (back > 0) {
		retracted++
		if (back > retracted_bytes)
			retracted_bytes = back
	} else {
		edge[end] = number + size
	}
}

{
	end = $1 "," $2
	low = digit($3, 1)
	fin = low % 2
	syn = int(low / 2) % 2
	rst = int(low / 4) % 2
	acknowledges = digit($3, 2) % 2
	if (syn) {
		on_syn(end, acknowledges, $4, $5)
		next
	}
	if (!(end in goodbye))
		next
	if (rst)
		resets += !goodbye[end]
	else if (acknowledges)
		on_ack(end, $4, $5)
	if (fin || rst)
		goodbye[end] = 1
}

END {
	printf "{\"connections\": %d, \"acks\": %d, \"retracted\": %d, \"retracted_bytes\": %d, " \
		"\"reordered\": %d, \"window_max_bytes\": %d, \"shrunk\": %d, \"resets\": %d}\n",
		connections, acks, retracted, retracted_bytes, reordered, window_max, shrunk, resets
}
