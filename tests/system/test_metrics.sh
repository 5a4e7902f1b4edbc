# SPDX-License-Identifier: GPL-2.0-only
#
# The metrics endpoint: what it says against what ss, bpftool and /proc say, and what promtool
# and a Prometheus server make of it.

. "$TEST_TOP/tests/system/daemon.sh"

# Keep one scrape, for `sample`.
scrape() {
	curl -sf -o "$TEST_DIR/scrape" "$METRICS/metrics"
}

# sample SERIES: the value of the one line of the kept scrape that begins with SERIES, a
# pattern. The value is its last word.
sample() {
	local lines
	lines=$(grep -E "^$1" "$TEST_DIR/scrape" || :)
	[ "$(grep -c . <<<"$lines")" = 1 ] || fail "not one line of /$1/: $lines"
	echo "${lines##* }"
}

# A connection from a to b that moves some megabytes and then rests: connection PORT BYTES
# NAME [MESSAGES OPTION...]. Both ends belong to the daemon.
connection() {
	local port=$1 bytes=$2 name=$3 to=${TRANSFER_ADDR:-${ADDR[b]}}
	shift 3
	background "$name-receiver" in_group in_host b "$TEST_BUILD/messages" \
		--listen "$to" --port "$port" --once "$@"
	wait_until 5 grep -q '^listening' "$TEST_DIR/$name-receiver.log"
	background "$name-sender" in_group in_host a "$TEST_BUILD/messages" --connect "$to" \
		--port "$port" --count 2 --bytes "$bytes" --interval 20000 "$@"
	wait_until 20 arrived "$port" "$bytes"
	sleep 0.5 # the last ACKs
}

end_connection() { # NAME
	stop "$1-sender" || :
	stop "$1-receiver" || :
}

# --- against ss ----------------------------------------------------------------------------
# ss_field HOST FILTER NAME: the number after NAME (a pattern) of the one connection
ss_field() {
	in_host "$1" ss -tinmOH "$2" | grep -oE "[ (,]$3[: ]?[0-9.]+" | head -n 1 |
		sed -E "s|^.$3[: ]?||"
}

number() { # VALUE [FACTOR]
	awk -v v="$1" -v f="${2:-1}" 'BEGIN { printf "%.6f\n", v * f }'
}

# same SERIES HOST FILTER SS_NAME [FACTOR]: the endpoint's value is ss's times FACTOR
same() {
	local theirs
	theirs=$(ss_field "$2" "$3" "$4")
	[ -n "$theirs" ] || fail "ss shows no $4: $(in_host "$2" ss -tinmOH "$3")"
	expect_eq "$(number "$(sample "$1")")" "$(number "$theirs" "${5:-1}")" \
		"${1%%\\*} of $2, against ss's $4"
}

# The totals are the sums over the connections, of which none has closed.
expect_sums() {
	local what direction
	for what in tests grows shrinks; do
		for direction in receive send; do
			expect_eq "$(awk -v name="tcptuned_flow_rightsize_${what}_total{" \
				-v direction="direction=\"$direction\"" 'index($0, name) == 1 &&
				index($0, direction) { sum += $NF } END { print sum + 0 }' \
				"$TEST_DIR/scrape")" \
				"$(sample "tcptuned_rightsize_${what}_total\{direction=\"$direction\"")" \
				"$what of $direction windows, added up"
		done
	done
}

# Both ends of a resting connection, all fields that ss knows: equal to the last digit.
compare_with_ss() {
	local a="dport = :5301" b="sport = :5301" of_a of_b
	of_a='\{local="[^"]*",remote="[^"]*:5301",'
	of_b='\{local="[^"]*:5301",remote="[^"]*",'
	scrape
	same "tcptuned_flow_cwnd_segments$of_a" a "$a" cwnd
	same "tcptuned_flow_cwnd_segments$of_b" b "$b" cwnd
	same "tcptuned_flow_mss_bytes$of_a" a "$a" mss
	same "tcptuned_flow_ssthresh_segments$of_a" a "$a" ssthresh
	same "tcptuned_flow_send_window_bytes$of_a" a "$a" snd_wnd
	same "tcptuned_flow_send_window_bytes$of_b" b "$b" snd_wnd
	same "tcptuned_flow_receive_buffer_bytes$of_a" a "$a" rb
	same "tcptuned_flow_receive_buffer_bytes$of_b" b "$b" rb
	same "tcptuned_flow_send_buffer_bytes$of_a" a "$a" tb
	same "tcptuned_flow_srtt_seconds$of_a" a "$a" rtt 0.001
	same "tcptuned_flow_min_rtt_seconds$of_a" a "$a" minrtt 0.001
	same "tcptuned_flow_receiver_rtt_seconds$of_b" b "$b" rcv_rtt 0.001
	same "tcptuned_flow_acked_bytes_total$of_a" a "$a" bytes_acked
	same "tcptuned_flow_received_bytes_total$of_b" b "$b" bytes_received
	same "tcptuned_flow_retransmitted_segments_total$of_a" a "$a" "retrans:[0-9]+/"
	# What one end advertises is what the other may send.
	expect_eq "$(sample "tcptuned_flow_advertised_window_bytes$of_b")" \
		"$(ss_field a "$a" snd_wnd)" "advertised window, seen from the other end"
	# ss prints bits per second
	expect_eq "$(sample "tcptuned_flow_delivery_rate_bytes_per_second$of_a")" \
		"$(($(ss_field a "$a" delivery_rate) / 8))" "delivery rate"
	expect_eq "$(sample "tcptuned_flow_limited$of_a.*limit=\"idle\"")" 1 "limited by nothing"
	expect_eq "$(sample "tcptuned_flow_limited$of_a.*limit=\"cwnd\"")" 0 "limited by cwnd"
	expect_eq "$(grep -Ec "^tcptuned_flow_rightsize_reason$of_b.*direction=\"receive\".* 1\$" \
		"$TEST_DIR/scrape")" 1 "reasons that hold"
	expect_eq "$(sample "tcptuned_flow_rightsize_window_bytes$of_b.*receive")" \
		"$(flow 5301 '.receive.window_bytes // 0')" "the limit that right-sizing set"
	expect_sums
	expect_ge "$(sample "tcptuned_flow_rightsize_min_rtt_seconds$of_b.*receive")" 0.0200 \
		"the right-sizer's minimum RTT"
	expect_le "$(sample "tcptuned_flow_rightsize_min_rtt_seconds$of_b.*receive")" 0.0230 \
		"the right-sizer's minimum RTT"
}

test_flows_agree_with_ss() {
	local netns
	host a b
	tcptuned_start $bitcp
	link a b --rate 100mbit --delay 10ms --queue 100p
	connection 5301 10MB one
	compare_with_ss
	netns=$(in_host b readlink /proc/self/ns/net)
	expect_match "$(grep '^tcptuned_flow_cwnd.*local="10.99.0.2:5301"' "$TEST_DIR/scrape")" \
		"netns=\"$(grep -o '[0-9]*' <<<"$netns")\",congestion_control=\"bitcp\",policy=\"default\"" \
		"labels"
	promtool check metrics <"$TEST_DIR/scrape"
	tcptuned_stop
}

test_flows_of_ipv6() {
	host a b
	tcptuned_start
	link a b --rate 100mbit --delay 10ms --queue 100p
	TRANSFER_ADDR=${ADDR6[b]} connection 5301 10MB one --sndbuf 64KiB
	compare_with_ss
	expect_eq "$(sample 'tcptuned_flow_requested_send_buffer_bytes\{local="\[fd99::1\]:[0-9]*",remote="\[fd99::2\]:5301"')" \
		65536 "what an IPv6 connection asked for"
	tcptuned_stop
}

# --- many flows, and what is left of them --------------------------------------------------
test_largest_flows_and_totals() {
	local port
	host a b
	tcptuned_start $bitcp --set=metrics.flows=2
	link a b --rate 1gbit --delay 5ms
	connection 5401 2MB small
	connection 5402 6MB large --rcvbuf 64KiB --sndbuf 64KiB
	connection 5403 4MB middle
	scrape
	expect_eq "$(sample tcptuned_flows_shown)" 2 "flows shown"
	expect_eq "$(sample tcptuned_flows_left_out)" 4 "flows left out"
	expect_eq "$(grep -c '^tcptuned_flow_cwnd.*:5402"' "$TEST_DIR/scrape")" 2 \
		"both ends of the largest"
	expect_eq "$(curl -sf "$METRICS/flows.json" | jq -c '[.connections, .left_out,
		(.flows | length), .flows[0].bytes_received + .flows[0].bytes_acked >= 6000000,
		(.flows[] | select(.remote | endswith(":5402")) | .send.requested_bytes)]')" \
		"[6,4,2,true,65536]" "the same as JSON"
	expect_eq "$(sample 'tcptuned_connections\{policy="default",congestion_control="bitcp"')" 6 \
		"open connections"
	expect_eq "$(sample tcptuned_connections_closed_total)" 0 "closed connections"
	expect_eq "$(sample 'tcptuned_buffer_requests_overridden_total.*SO_RCVBUF')" 1 \
		"requests overridden: the listener's"
	expect_eq "$(sample 'tcptuned_buffer_requests_overridden_total.*SO_SNDBUF')" 1 \
		"requests overridden: the sender's"
	expect_eq "$(sample 'tcptuned_connections_overridden.*SO_RCVBUF')" 0 \
		"open connections with such a request: none of the accepted ones"
	expect_eq "$(sample 'tcptuned_connections_overridden.*SO_SNDBUF')" 1 \
		"open connections with such a request"
	for port in small large middle; do
		end_connection $port
	done
	wait_until 5 all_closed
	scrape
	expect_eq "$(sample tcptuned_flows_shown)" 0 "flows shown at the end"
	expect_eq "$(sample tcptuned_connections_closed_total)" 6 "closed at the end"
	expect_eq "$(sample 'tcptuned_connections_claimed_total\{opened="here"')" 3 "opened here"
	expect_eq "$(sample 'tcptuned_connections_claimed_total\{opened="peer"')" 3 "accepted"
	expect_ge "$(sample tcptuned_closed_connections_received_bytes_total)" 12000000 \
		"bytes received"
	expect_le "$(sample tcptuned_closed_connections_received_bytes_total)" 12001000 \
		"bytes received"
	# 10 ms of RTT: above the bucket of 8.192 ms, within that of 16.384 ms
	expect_eq "$(sample 'tcptuned_min_rtt_seconds_bucket\{le="0.008192"')" 0 "below 8 ms"
	expect_eq "$(sample 'tcptuned_min_rtt_seconds_bucket\{le="0.016384"')" 6 "up to 16 ms"
	expect_eq "$(sample tcptuned_min_rtt_seconds_count)" 6 "minimum RTTs"
	expect_ge "$(sample tcptuned_min_rtt_seconds_sum)" 0.06 "their sum"
	expect_le "$(sample tcptuned_min_rtt_seconds_sum)" 0.07 "their sum"
	# A sender's and a receiver's round trips are told apart.
	expect_eq "$(sample tcptuned_srtt_seconds_count)" "$(sample tcptuned_cwnd_segments_count)" \
		"round trips of senders"
	expect_ge "$(sample tcptuned_receiver_rtt_seconds_count)" 3 "of receivers"
	expect_le "$(sample tcptuned_receiver_rtt_seconds_count)" \
		"$(sample tcptuned_advertised_window_bytes_count)" "of receivers"
	tcptuned_stop
}

all_closed() {
	[ "$(metric tcptuned_connections_closed_total)" = 6 ]
}

# --- what tcptuned itself costs ------------------------------------------------------------
test_cost() {
	local id kb
	host a b
	sysctl -qw kernel.bpf_stats_enabled=1
	tcptuned_start
	link a b --rate 100mbit --delay 1ms
	connection 5301 10MB one
	scrape
	scrape
	expect_eq "$(sample tcptuned_program_statistics_enabled)" 1 "statistics"
	# an ACK for every two segments at least: some thousand runs, below 10 us each
	expect_ge "$(sample 'tcptuned_program_runs_total\{program="sockops"')" 1000 "runs"
	expect_le "$(awk -v s="$(sample 'tcptuned_program_run_seconds_total\{program="sockops"')" \
		-v n="$(sample 'tcptuned_program_runs_total\{program="sockops"')" \
		'BEGIN { print s / n }')" 10e-6 "seconds per run"
	expect_ge "$(sample 'tcptuned_program_verified_instructions\{program="sockops"')" 100 \
		"verified instructions"
	id=$(bpftool -j map show pinned /sys/fs/bpf/tcptuned/map_totals | jq .bytes_memlock)
	expect_eq "$(sample 'tcptuned_map_memory_bytes\{map="totals"')" "$id" "memory of a map"
	kb=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$(pid_of tcptuned)/status")
	expect_ge "$(sample tcptuned_daemon_resident_memory_bytes)" $((kb * 900)) "resident"
	expect_le "$(sample tcptuned_daemon_resident_memory_bytes)" $((kb * 1200)) "resident"
	expect_ge "$(sample tcptuned_last_scrape_duration_seconds)" 0.000001 "scrape"
	expect_le "$(sample tcptuned_last_scrape_duration_seconds)" 0.1 "scrape"
	id=$(sample tcptuned_scrapes_total)
	scrape
	expect_eq "$(sample tcptuned_scrapes_total)" $((id + 1)) "scrapes"
	sysctl -qw kernel.bpf_stats_enabled=0
	scrape
	expect_eq "$(sample tcptuned_program_statistics_enabled)" 0 "statistics by default"
	expect_eq "$(grep -c '^tcptuned_program_run' "$TEST_DIR/scrape" || :)" 0 "runs not shown"
	tcptuned_stop
}

# --- a real Prometheus ---------------------------------------------------------------------
PROMETHEUS=http://127.0.0.1:9872

# query EXPRESSION: the value of the one series that it yields
query() {
	curl -sf "$PROMETHEUS/api/v1/query" --data-urlencode "query=$1" |
		jq -er '.data.result | if length == 1 then .[0].value[1] else error("\(.)") end'
}

scraped() {
	[ "$(query 'count_over_time(up[1m])')" -ge "$1" ]
}

# timeout: 60
test_prometheus_scrapes() {
	host a b
	tcptuned_start
	link a b --rate 100mbit --delay 10ms --queue 100p
	sed "s/9871/$METRICS_PORT/" "$TEST_TOP/tests/system/prometheus.yml" >"$TEST_DIR/prometheus.yml"
	# it scrapes for the first time after 5 s
	background prometheus prometheus --config.file="$TEST_DIR/prometheus.yml" \
		--storage.tsdb.path="$TEST_DIR/tsdb" --web.listen-address=127.0.0.1:9872
	background receiver in_group in_host b "$TEST_BUILD/messages" --listen "${ADDR[b]}" --once
	wait_until 5 grep -q '^listening' "$TEST_DIR/receiver.log"
	background sender in_group in_host a "$TEST_BUILD/messages" --connect "${ADDR[b]}" \
		--duration 60
	wait_until 25 scraped 4
	expect_eq "$(query 'min_over_time(up[1m])')" 1 "every scrape succeeded"
	expect_ge "$(query 'tcptuned_flow_cwnd_segments{remote=~".*:5301"}')" 20 "cwnd"
	# 95.4 Mbit/s at most arrive: 11.9 MB/s; Prometheus' own clock is coarse here
	expect_ge "$(query 'rate(tcptuned_flow_received_bytes_total{local=~".*:5301"}[4s])')" 8e6 \
		"bytes per second"
	expect_le "$(query 'rate(tcptuned_flow_received_bytes_total{local=~".*:5301"}[4s])')" 14e6 \
		"bytes per second"
	# 20 ms, and at most 12 ms of queue
	expect_ge "$(query 'histogram_quantile(0.5, rate(tcptuned_srtt_seconds_bucket[4s]))')" 0.016 \
		"median RTT"
	expect_le "$(query 'histogram_quantile(0.5, rate(tcptuned_srtt_seconds_bucket[4s]))')" 0.033 \
		"median RTT"
	expect_eq "$(query 'sum(tcptuned_flow_limited{remote=~".*:5301"})')" 1 "limits that hold"
	expect_eq "$(query 'tcptuned_build_info * 1')" 1 "build_info"
	! grep -iE 'level=(warn|error)' "$TEST_DIR/prometheus.log" | grep -i scrape ||
		fail "Prometheus complains"
	stop prometheus
	tcptuned_stop
}

# --- the HTTP side -------------------------------------------------------------------------
status_of() { # CURL OPTION...
	curl -s -o /dev/null -m 20 -w '%{http_code}' "$@"
}

# raw BYTES: sends them, and waits until the server has ended the connection.
raw() {
	(
		exec 3<>"/dev/tcp/127.0.0.1/$METRICS_PORT"
		printf "$1" >&3 || :
		timeout 15 cat <&3 || [ $? != 124 ] || fail "still open: $1"
	)
}

# A request byte by byte, which never ends; says when the server has had enough.
drip() {
	exec 3<>"/dev/tcp/127.0.0.1/$METRICS_PORT"
	trap '' PIPE
	printf 'GET /metrics HTTP/1.1\r\nX: ' >&3
	while printf y >&3; do
		sleep 0.2
	done 2>/dev/null
	echo "cut off after $SECONDS s"
}

open_files() {
	ls "/proc/$(pid_of tcptuned)/fd" | wc -l
}

test_http_behaviour() {
	local before i pids=()
	tcptuned_start
	before=$(open_files)
	expect_eq "$(status_of "$METRICS/metrics")" 200 "/metrics"
	expect_eq "$(status_of "$METRICS/flows.json")" 200 "/flows.json"
	expect_eq "$(status_of "$METRICS/")" 200 "/"
	expect_match "$(curl -s "$METRICS/")" 'tcptuned [0-9.]+' "the version"
	expect_eq "$(status_of "$METRICS/nothing")" 404 "/nothing"
	expect_eq "$(status_of --path-as-is "$METRICS/../etc/passwd")" 404 "/../etc/passwd"
	expect_eq "$(status_of -X POST -d x=y "$METRICS/metrics")" 405 "POST"
	expect_eq "$(status_of -X DELETE "$METRICS/metrics")" 405 "DELETE"
	expect_eq "$(status_of -I "$METRICS/metrics")" 200 "HEAD"
	expect_match "$(curl -sI "$METRICS/metrics")" \
		'^Content-Type: text/plain; version=0.0.4; charset=utf-8' "its type"
	for i in $(seq 8); do
		background "drip$i" timeout 20 bash -c "METRICS_PORT=$METRICS_PORT; $(declare -f drip); drip"
	done
	# some of these are waited for in vain, until the server has had enough
	for i in 'GET\r\n\r\n' 'GET / HTTP/9.9\r\n\r\n' 'GET / HTTP/1.1\r\nno colon here\r\n\r\n' \
		'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' 'GET /metrics HTT' \
		"$(head -c 100000 /dev/zero | tr '\0' a)"; do
		raw "$i" 2>/dev/null &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || [ $? = 141 ] # not read to the end
	done
	expect_match "$(raw 'GET /metrics HTTP/1.0\r\n\r\n')" '^tcptuned_scrapes_total [0-9]+$' \
		"a scrape after these"
	for i in $(seq 8); do
		wait_until 10 grep -Ex 'cut off after [4-8] s' "$TEST_DIR/drip$i.log"
	done
	# 80 clients that say nothing, more than are let in at a time; then one who asks
	background idle timeout 60 bash -c "for i in {1..80}; do
		exec {client}<>/dev/tcp/127.0.0.1/$METRICS_PORT; done; echo there; sleep 60"
	wait_until 5 grep -q there "$TEST_DIR/idle.log"
	sleep 0.2
	expect_le "$(open_files)" $((before + 65)) "descriptors with 80 idle clients"
	expect_eq "$(status_of -m 2 "$METRICS/metrics")" 200 "a scrape after them, within 2 s"
	stop idle || :
	wait_until 10 eval '[ "$(open_files)" = '"$before"' ]'
	tcptuned_stop
}

# as_user UID PATH: what that user is answered, and the status
as_user() {
	setpriv --reuid="$1" --regid="$1" --clear-groups \
		curl -s -m 20 -w '\nstatus %{http_code}\n' "$METRICS$2"
}

# of an answer of /metrics: the connections with windows of their own
shown() {
	grep -c '^tcptuned_flow_cwnd_segments{' || :
}

# Whose connections they are is nobody's business but root's and the configured reader's.
test_connections_are_for_the_reader() {
	local everybody
	tcptuned_start $bitcp --set=paths.remember=no # all of them have records
	host a
	background holder in_group in_host a "$TEST_BUILD/connections" 2 7301
	wait_until 5 grep -q '^open 2' "$TEST_DIR/holder.log"
	expect_eq "$(as_user 0 /metrics | shown)" 4 "to root"
	everybody=$(as_user 12345 /metrics)
	expect_eq "$(shown <<<"$everybody")" 0 "to somebody"
	expect_match "$everybody" '^tcptuned_flows_left_out 4$' "left out"
	expect_match "$everybody" '^# .*root and the user prometheus' "why"
	expect_match "$(as_user 12345 /flows.json)" '^status 403$' "as JSON"
	tcptuned_stop
	printf '[metrics]\nreader = nobody\n' >"$TEST_DIR/my.conf"
	tcptuned_start $bitcp --config="$TEST_DIR/my.conf"
	expect_eq "$(as_user "$(id -u nobody)" /metrics | shown)" 4 "to the reader"
	expect_eq "$(as_user 12345 /metrics | shown)" 0 "to somebody else"
	printf '[metrics]\nreader = anyone\n' >"$TEST_DIR/my.conf"
	kill -HUP "$(pid_of tcptuned)"
	wait_until 5 grep -q 'metrics.reader: nobody -> anyone' "$TEST_DIR/tcptuned.log"
	expect_eq "$(as_user 12345 /metrics | shown)" 4 "to anyone"
	stop holder || :
	tcptuned_stop
}

test_ipv6_and_any_address() {
	tcptuned_start --set=metrics.address=::
	expect_eq "$(status_of "http://[::1]:$METRICS_PORT/metrics")" 200 "over IPv6"
	expect_eq "$(status_of "$METRICS/metrics")" 200 "over IPv4"
	tcptuned_stop
}

# As of DHCP at boot: tcptuned does not wait for it, and is there once the address is.
test_address_that_comes_later() {
	host a
	: >"$TEST_DIR/none.conf"
	background tcptuned in_host a "$TEST_BUILD/tcptuned" --foreground \
		--config="$TEST_DIR/none.conf" --set=tcptuned.cgroup="$TEST_CGROUP/group" \
		--set=tcptuned.runtime_directory="$TEST_DIR/run" \
		--set=tcptuned.state_directory="$TEST_DIR/state" --set=metrics.address=192.0.2.1
	wait_until 8 grep -q 'metrics.address: 192.0.2.1 is not an address of this host now' \
		"$TEST_DIR/tcptuned.log"
	in_host a ip address add 192.0.2.1/32 dev lo
	wait_until 5 in_host a curl -sf -o "$TEST_DIR/scrape" http://192.0.2.1:9817/metrics
	expect_eq "$(sample 'tcptuned_collection_success\{collector="flows"')" 1 "flows read"
	tcptuned_stop
}

# systemd opens the port; tcptuned starts with the first connection to it.
test_socket_activation() {
	local code=0
	: >"$TEST_DIR/none.conf"
	background tcptuned systemd-socket-activate -l "127.0.0.1:$METRICS_PORT" \
		"$TEST_BUILD/tcptuned" --foreground --config="$TEST_DIR/none.conf" \
		--set=tcptuned.cgroup="$TEST_CGROUP/group" \
		--set=tcptuned.runtime_directory="$TEST_DIR/run" \
		--set=tcptuned.state_directory="$TEST_DIR/state" \
		--set=metrics.address=192.0.2.1 --set=metrics.port=1
	wait_until 5 grep -q '^Listening' "$TEST_DIR/tcptuned.log"
	[ ! -e /sys/fs/bpf/tcptuned ] || fail "started before the first connection"
	scrape
	expect_eq "$(sample 'tcptuned_collection_success\{collector="flows"')" 1 "flows read"
	scrape
	expect_eq "$(sample tcptuned_scrapes_total)" 1 "scrapes before this one"
	# What ends by itself would be started again by the next scrape.
	"$TEST_BUILD/tcptunectl" --config="$TEST_DIR/none.conf" \
		--set=tcptuned.runtime_directory="$TEST_DIR/run" detach 2>"$TEST_DIR/said" || code=$?
	expect_eq "$code" 42 "status of tcptunectl detach"
	expect_match "$(<"$TEST_DIR/said")" "systemctl stop tcptuned.socket tcptuned" "detach"
	scrape
	expect_eq "$(sample tcptuned_scrapes_total)" 2 "scrapes of the one that goes on"
	tcptuned_stop
}
