# SPDX-License-Identifier: GPL-2.0-only
#
# The scene that `make demo` plays; what a person is to see goes to descriptor 4.

say() {
	printf '%s\n' "$*" >&4
}

# One line a second while iperf3 runs: a bar of the rate, 1 Gbit/s being its whole width.
bars() {
	local line mbits bar i
	while read -r line; do
		mbits=$(sed -n 's|.* \([0-9.]*\) Mbits/sec.*|\1|p' <<<"$line")
		[[ $line == *sec* && -n $mbits && $line != *sender* && $line != *receiver* ]] || continue
		bar=
		for ((i = 0; i < ${mbits%.*} / 25; i++)); do bar+='#'; done
		printf '   %8.1f Mbit/s |%-40s|\n' "$mbits" "$bar" >&4
	done
}

iperf3_transfer() { # SECONDS; prints Mbit/s of the last three seconds, as the receiver counts
	background server in_group in_host b iperf3 -s -1 --forceflush -i 1 -f m
	wait_until grep -q listening "$TEST_DIR/server.log"
	(tail -n +1 -f --pid="$(pid_of server)" "$TEST_DIR/server.log" | bars) &
	in_group in_host a iperf3 -c "${ADDR[b]}" -w 64K -t "$1" >"$TEST_DIR/client.log" ||
		fail "iperf3: $(tail -n 3 "$TEST_DIR/client.log")"
	stop server 0 || :
	sleep 0.3
	sed -n 's|^\[ *[0-9]*\] *\([0-9]*\)\.00-.* \([0-9.]*\) Mbits/sec.*|\1 \2|p' "$TEST_DIR/server.log" |
		awk -v from="$(($1 - 3))" '$1 >= from && $1 < from + 3 { n++; sum += $2 } END { printf "%.1f", sum / n }'
}

# timeout: 120
demo_scene() {
	local before after port
	host a b
	say "Two hosts, 1 Gbit/s between them, 50 ms there and back. The application fixes its"
	say "buffers at 64 KB (iperf3 -w 64K)."
	link a b --rate 1gbit --delay 25ms --queue 25MB
	say ""
	say "-- without tcptuned"
	before=$(iperf3_transfer 6)
	say ""
	say "-- with tcptuned on both"
	tcptuned_start
	after=$(iperf3_transfer 8)
	say ""
	say "bpftool struct_ops show:"
	bpftool struct_ops show | sed 's/^/   /' >&4
	say "What the metrics say of what happened ($METRICS/metrics):"
	curl -sf "$METRICS/metrics" |
		grep -E '^tcptuned_(buffer_requests_overridden|rightsize_grows|congestion_control_choices)_total' |
		sed 's/^/   /' >&4
	tcptuned_stop
	link_end_all
	say ""
	say "                      without      with tcptuned"
	say "$(printf '   throughput   %8.1f Mbit/s  %8.1f Mbit/s   (%.0f x)' "$before" "$after" \
		"$(awk "BEGIN { print $after / $before }")")"
	say "tcptuned is stopped; nothing of it is left on this machine."
}
