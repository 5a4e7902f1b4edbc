# SPDX-License-Identifier: GPL-2.0-only
# The metrics endpoint, compared with ss, bpftool and /proc, and read by promtool and Prometheus. It shows
# the connections of the daemon's own network namespace one by one.

. "$TEST_TOP/tests/system/daemon.sh"

printf '[metrics]\nflows = 20\n' >"$TEST_DIR/none.conf"

# Prints the value of the one line of the last scrape that begins with a pattern.
sample() { # PATTERN
	local lines
	lines=$(grep -E "^$1" "$TEST_DIR/scrape" || :)
	[ "$(grep -c . <<<"$lines")" = 1 ] || fail "not one line of /$1/: $lines"
	echo "${lines##* }"
}

shows() { # PATTERN WANTED WHAT; of the daemon's own series
	expect_eq "$(sample "tcptuned_$1")" "$2" "$3"
}

# Prints the number after NAME, a pattern, of the one connection.
ss_field() { # HOST FILTER NAME
	in_host "$1" ss -tinmOH "$2" | grep -oE "[ (,]$3[: ]?[0-9.]+" | head -n 1 |
		sed -E "s|^.$3[: ]?||"
}

number() { # VALUE [FACTOR]
	awk -v v="$1" -v f="${2:-1}" 'BEGIN { printf "%.6f\n", v * f }'
}

# The endpoint's value is that of ss times FACTOR.
same() { # SERIES HOST FILTER SS_NAME [FACTOR]
	local theirs
	theirs=$(ss_field "$2" "$3" "$4")
	[ -n "$theirs" ] || fail "ss shows no $4: $(in_host "$2" ss -tinmOH "$3")"
	expect_eq "$(number "$(sample "$1")")" "$(number "$theirs" "${5:-1}")" "${1%%\\*} of $2, as $4"
}

# The sender's end of an idle connection: all fields that ss has are equal to the last digit.
test_flows_agree_with_ss() {
	local a="dport = :5301" of_a='\{local="[^"]*",remote="[^"]*:5301"' what direction
	host a b
	tcptuned_in a $bitcp
	link a b --rate 100mbit --delay 10ms --queue 100p
	idle_stream one 5301 10MB
	scrape
	same "tcptuned_flow_cwnd_segments$of_a" a "$a" cwnd
	same "tcptuned_flow_peer_window_bytes$of_a" a "$a" snd_wnd
	same "tcptuned_flow_buffer_limit_bytes$of_a,direction=\"receive\"" a "$a" rb
	same "tcptuned_flow_buffer_limit_bytes$of_a,direction=\"send\"" a "$a" tb
	same "tcptuned_flow_srtt_seconds$of_a" a "$a" rtt 0.001
	same "tcptuned_flow_min_rtt_seconds$of_a" a "$a" minrtt 0.001
	same "tcptuned_flow_acked_bytes_total$of_a" a "$a" bytes_acked
	same "tcptuned_flow_retransmitted_segments_total$of_a" a "$a" "retrans:[0-9]+/"
	# ss prints bits per second
	same "tcptuned_flow_delivery_rate_bytes_per_second$of_a" a "$a" delivery_rate 0.125
	shows "flow_limited$of_a.*direction=\"send\",limit=\"idle\"" 1 "limited by nothing"
	expect_between "$(grep '^tcptuned_limited_seconds_total{.*tuned="yes"' "$TEST_DIR/scrape" | awk '{ ms += 1000 * $2 }
		END { printf "%.0f", ms }')" "$(ss_field a "$a" busy)" $(($(ss_field a "$a" busy) + 50)) \
		"milliseconds of something to send"
	both() { # NAME, a pattern: the sum over both ends
		{ in_host a ss -tinmOH "$a" && in_host b ss -tinmOH "sport = :5301"; } | grep -oE "[ (]$1[0-9]+" |
			awk -F '[:/]' '{ n += $NF } END { printf "%d", n }'
	}
	expect_eq "$(carried received_bytes default yes)" "$(both bytes_received:)" "bytes received by both ends"
	expect_eq "$(carried acked_bytes default yes)" "$(both bytes_acked:)" "bytes acked"
	expect_eq "$(carried sent_segments default yes)" "$(both segs_out:)" "segments sent"
	expect_eq "$(carried retransmitted_segments default yes)" "$(both 'retrans:[0-9]+/')" "segments retransmitted"
	expect_eq "$(carried received_bytes default no)" 0 "bytes received while observed"
	# The totals are the sums over the connections, of which none has closed.
	for direction in receive send; do
		for what in grows shrinks; do
			shows "rightsize_${what}_total\{direction=\"$direction\"" \
				"$(ctl_json "[.flows[].$direction.$what] | add" flows)" "$what of $direction"
		done
		expect_eq "$(tests_ended $direction)" \
			"$(ctl_json "[.flows[].$direction | .tests, -(select(.state == \"testing\") | 1)] | add" flows)" \
			"tests of $direction"
	done
	shows 'connections\{policy="default",congestion_control="bitcp"' 2 "open connections"
	expect_eq "$(sed -n 's/^tcptuned_flow_info//p' "$TEST_DIR/scrape" | sed 's/:[0-9]*"/:PORT"/')" \
		'{local="10.99.0.1:PORT",remote="10.99.0.2:5301",policy="default",congestion_control="bitcp"} 1' \
		"the end in the daemon's network namespace"
	expect_le "$(grep -c '^# TYPE tcptuned_flow_' "$TEST_DIR/scrape")" 14 "families of it"
	promtool check metrics <"$TEST_DIR/scrape"
}

test_flows_of_ipv6() {
	local a="dport = :5301" b="sport = :5301" of_b='\{local="[^"]*:5301",remote="[^"]*"'
	host a b
	tcptuned_in b
	link a b --rate 100mbit --delay 10ms --queue 100p
	TRANSFER_ADDR=${ADDR6[b]} idle_stream one 5301 10MB --sndbuf 64KiB
	scrape
	same "tcptuned_flow_cwnd_segments$of_b" b "$b" cwnd
	same "tcptuned_flow_peer_window_bytes$of_b" b "$b" snd_wnd
	same "tcptuned_flow_buffer_limit_bytes$of_b,direction=\"receive\"" b "$b" rb
	same "tcptuned_flow_received_bytes_total$of_b" b "$b" bytes_received
	same "tcptuned_flow_advertised_window_bytes$of_b" a "$a" snd_wnd # of the other end
	shows "flow_rightsize_window_bytes$of_b.*receive" \
		"$(flow 5301 '.receive.window_bytes // 0')" "the limit that right-sizing set"
	expect_eq "$(flow_to 5301 .send.requested_bytes)" 65536 "size that was requested"
}

test_largest_flows_and_totals() {
	local received
	host a b
	tcptuned_in a $bitcp --set=metrics.flows=2
	# 12 MB in 18 ms at most each round trip are 26 of them: of one processor 13, of which one is counted
	link a b --rate 200mbit --delay 5ms --queue 200KB
	idle_stream small 5401 2MB
	idle_stream large 5402 6MB --rcvbuf 64KiB --sndbuf 64KiB
	idle_stream middle 5403 4MB
	scrape
	expect_eq "$(grep -o '^tcptuned_flow_cwnd.*:540[0-9]"' "$TEST_DIR/scrape" | sed 's/.*:/:/' |
		tr '\n' ' ')" ':5402" :5403" ' "the largest"
	shows 'connections\{policy="default",congestion_control="bitcp"' 6 "open connections"
	shows connections_closed_total 0 "closed connections"
	shows 'buffer_requests_overridden_total.*SO_RCVBUF' 1 "requests overridden: the listener's"
	shows 'buffer_requests_overridden_total.*SO_SNDBUF' 1 "requests overridden: the sender's"
	shows 'connections_overridden.*SO_RCVBUF' 1 "of open connections: that of the listener which asked"
	shows 'connections_overridden.*SO_SNDBUF' 1 "of open connections"
	ctl_json '[.flows[].min_rtt_us]' flows >"$TEST_DIR/min_rtts"
	received=$(carried received_bytes default yes)
	expect_between "$received" 12000000 12001000 "bytes received"
	stop_all {small,large,middle}{,-receiver}
	wait_output = 6 metric tcptuned_connections_closed_total
	scrape
	expect_eq "$(grep -c ^tcptuned_flow_ "$TEST_DIR/scrape" || :)" 0 "flows shown at the end"
	shows connections_closed_total 6 "closed at the end"
	shows 'connections_managed_total\{opened="here"' 3 "opened here"
	shows 'connections_managed_total\{opened="peer"' 3 "accepted"
	expect_between "$(carried received_bytes default yes)" "$received" $((received + 6)) \
		"bytes received, with the FINs"
	# 10 ms of RTT: above the bucket of 8.192 ms, within that of 16.384 ms
	shows 'min_rtt_seconds_bucket\{le="0.008192"' 0 "below 8 ms"
	expect_between "$(sample 'tcptuned_min_rtt_seconds_bucket{le="0.016384"}')" \
		"$(jq 'map(select(. <= 16384)) | length' "$TEST_DIR/min_rtts")" 6 "up to 16 ms"
	shows min_rtt_seconds_count 6 "minimum RTTs"
	expect_between "$(sample tcptuned_min_rtt_seconds_sum)" 0.06 "$(jq 'add / 1e6' "$TEST_DIR/min_rtts")" "their sum"
	# Round trips of senders and of receivers are counted separately, of one round in eight on a processor.
	shows srtt_seconds_count "$(sample tcptuned_cwnd_segments_count)" "round trips of senders"
	expect_between "$(sample tcptuned_receiver_rtt_seconds_count)" 1 \
		"$(sample tcptuned_advertised_window_bytes_count)" "of receivers"
}

# alone: kernel.bpf_stats_enabled is the whole host's; test_policy_off sets it in a lane
test_cost() {
	local kb
	host a b
	sysctl -qw kernel.bpf_stats_enabled=1
	tcptuned_start
	link a b --rate 100mbit --delay 1ms
	idle_stream one 5301 10MB
	scrape
	scrape
	shows program_statistics_enabled 1 "statistics"
	# GRO may merge 45 segments, and an ACK comes for every two of what is left
	expect_ge "$(sample 'tcptuned_program_runs_total\{program="sockops"')" 70 "runs"
	expect_ge "$(sample 'tcptuned_program_run_seconds_total\{program="sockops"')" 1e-6 "their seconds"
	expect_ge "$(sample 'tcptuned_program_verified_instructions\{program="sockops"')" 100 \
		"verified instructions"
	kb=$(awk '$1 == "VmRSS:" { n += $2 } END { print n }' \
		/proc/{"$(pid_of tcptuned)","$(pgrep -n -P "$(pid_of tcptuned)")"}/status)
	expect_between "$(sample process_resident_memory_bytes)" $((kb * 900)) $((kb * 1200)) "resident"
	expect_ge "$(sample process_cpu_seconds_total)" 0.001 "CPU time"
	expect_ge "$(sample tcptuned_scrape_duration_seconds_total)" 0.000001 "time of a scrape"
	sysctl -qw kernel.bpf_stats_enabled=0
	scrape
	shows program_statistics_enabled 0 "statistics by default"
	expect_eq "$(grep -c '^tcptuned_program_run' "$TEST_DIR/scrape" || :)" 0 "runs not shown"
}

# query EXPRESSION: the value of the one series that it yields
query() {
	curl -sf http://127.0.0.1:9872/api/v1/query --data-urlencode "query=$1" |
		jq -er '.data.result | if length == 1 then .[0].value[1] else error("\(.)") end'
}

# Every expression of the dashboard is valid, and those of some panels have a value.
dashboard_shows() { # TITLES
	local title expr status
	jq -r '.panels[] | .title as $title | .targets[]? | [$title, .expr] | @tsv' "$TEST_TOP/contrib/grafana/tcptuned.json" \
		>"$TEST_DIR/expressions"
	while IFS=$'\t' read -r title expr; do
		expr=${expr//'$__rate_interval'/24s}
		status=$(in_host a curl -sG --data-urlencode "query=${expr//'$instance'/.*}" 127.0.0.1:9872/api/v1/query |
			jq -r '"\(.status) \(.data.result | length > 0)"')
		if [[ $title =~ $1 ]]; then
			expect_eq "$status" "success true" "$title: $expr"
		else
			expect_match "$status" success "$title: $expr"
		fi
	done <"$TEST_DIR/expressions"
}

test_rules_of_prometheus() {
	cd "$TEST_TOP/contrib/prometheus"
	promtool check rules tcptuned.rules.yml
	promtool test rules tests.yml
}

# Prints the cells of the console's rows of an instance, one a line.
cells() { # INSTANCE
	sed -n "/>$1<\/td>/,/<\/tr>/ s/^ *<td[^>]*>\(.*\)<\/td>/\1/p" "$TEST_DIR/console.html"
}

# Opens the console in Chromium, as it comes from Prometheus.
browse() { # CHROMIUM_OPTION...
	in_host a timeout 120 chromium-headless-shell --no-sandbox --user-data-dir="$TEST_DIR/chromium" "$@" \
		http://127.0.0.1:9872/consoles/tcptuned.html 2>"$TEST_DIR/chromium.log"
}

# UPDATE=1 renews the picture of the documentation.
console_shows() {
	local cell bytes
	browse --dump-dom >"$TEST_DIR/console.html"
	! grep -E 'NaN|Inf|[Ee]rror|%!' "$TEST_DIR/console.html" || fail "the console has what is no value"
	mapfile -t cell < <(cells a)
	bytes=$(metric tcptuned_budget_bytes)
	expect_eq "${#cell[@]}" 17 "cells of a"
	expect_eq "${cell[1]}" "runs $(ctl_json .version status)<br>configuration in force" "state"
	expect_eq "${cell[2]}, ${cell[3]}" "4, 2" "tuned, observed"
	# of six ends, three only receive, and one has stopped; the others may wait for a processor
	expect_match "${cell[4]}" '^[456] idle<br>' "limits of senders"
	expect_eq "$(grep -oE '[0-9]+ ' <<<"${cell[4]} ${cell[5]}" | awk '{ n += $1 } END { print n }')" 12 "both directions of all"
	expect_ge "${cell[7]% %}" 20 "% of the time that the fixed buffer limits"
	expect_between "${cell[6]% %}" 0 100 "% of that of tuned ones"
	expect_between "${cell[8]% %}" 0 20 "% of the segments retransmitted"
	expect_between "$(numfmt --from=iec-i "${cell[10]%B}")" $((bytes / 1000 * 999)) $((bytes / 1000 * 1001)) "budget"
	expect_between "${cell[13]% %}" 0 100 "% of a processor"
	expect_eq "$(printf '%s\n' "${cell[@]:0:14}" "${cell[@]:15}" | grep -c – || :)" 0 "cells without a value"
	expect_eq "$(cells b | uniq | xargs)" 'b <b class=bad>down</b> – b –' "a host without a daemon"
	[ -z "${UPDATE-}" ] || browse --window-size=1000,365 --hide-scrollbars --screenshot="$TEST_TOP/docs/console.png"
}

test_prometheus_scrapes() {
	host a b
	printf '[policy there]\nlocal_port = 5303\nmode = observe\n[policy here]\nremote_port = 5303\nmode = observe\n[policy trial]\nremote_port = 5304\nholdback = 50%%\n' >>"$TEST_DIR/none.conf"
	tcptuned_in a
	link a b --rate 100mbit --delay 10ms --queue 100p
	in_host a sysctl -qw net.ipv4.tcp_slow_start_after_idle=0 # a sender that waits for a processor does not pause
	# it scrapes for the first time after 5 s; a host that others use may need some seconds for an answer
	cat >"$TEST_DIR/scrape.yml" <<-END
		global: {scrape_interval: 6s, scrape_timeout: 6s, evaluation_interval: 6s}
		rule_files: ["$TEST_TOP/contrib/prometheus/*.rules.yml"]
		scrape_configs:
		- job_name: tcptuned
		  static_configs:
		  - {targets: ["127.0.0.1:$METRICS_PORT"], labels: {instance: a}}
		  - {targets: ["${ADDR[b]}:$METRICS_PORT"], labels: {instance: b}}
	END
	background prometheus in_host a prometheus --config.file="$TEST_DIR/scrape.yml" \
		--web.console.templates="$TEST_TOP/contrib/prometheus/consoles" \
		--storage.tsdb.path="$TEST_DIR/tsdb" --web.listen-address=127.0.0.1:9872
	stream one 5301 --duration 280 --congestion reno # bbr would keep 4 for a moment each ten seconds
	idle_stream small 5302 2MB
	stream fixed 5303 --duration 280 --congestion reno --rcvbuf 32KiB
	wait_until query 'tcptuned_connections_closed_total == 0'
	SENDER_PREFIX=in_group RECEIVER_PREFIX=in_group transfer a b --port 5304 --bytes 1MB --count 16 --streams 4 --rcvbuf 32KiB >/dev/null
	wait_until query 'tcptuned_connections_closed_total == 8'
	wait_output -ge 4 query 'count_over_time(up{instance="a"}[1m])'
	expect_eq "$(query 'min_over_time(up{instance="a"}[1m])')" 1 "every scrape succeeded"
	expect_ge "$(query 'max_over_time(tcptuned_flow_cwnd_segments{remote=~".*:5301"}[24s])')" 20 "cwnd"
	# 95.4 Mbit/s at most arrive: 11.9 MB/s; Prometheus' own clock is coarse here
	expect_between "$(query 'rate(tcptuned_flow_acked_bytes_total{remote=~".*:5301"}[24s])')" \
		1 14e6 "bytes per second"
	# at least 20 ms, of the bucket from 16.384 ms on
	expect_ge "$(query 'histogram_quantile(0.5, rate(tcptuned_srtt_seconds_bucket[24s]))')" 0.016 "median RTT"
	# The minimum: the link's 20 ms, and what a busy host adds to the fastest of all round trips.
	expect_between "$(query '(tcptuned_srtt_seconds_sum - tcptuned_queueing_delay_seconds_sum) /
		tcptuned_srtt_seconds_count')" 0.02 0.03 "RTT less queueing delay"
	expect_eq "$(query 'sum(tcptuned_flow_limited{remote=~".*:5301"})')" 2 "limits that hold"
	expect_eq "$(query 'tcptuned_build_info * 1')" 1 "build_info"
	dashboard_shows 'Versions|Open connections|Time limited|each that ended|egments|Sending|Round-trip|Buffers$|Memory'
	wait_until query 'instance:tcptuned_limited:ratio_rate5m{tuned="no"} > 0'
	console_shows
	! grep -iE 'level=(warn|error)' "$TEST_DIR/prometheus.log" | grep -i scrape ||
		fail "Prometheus complains"
	stop prometheus
}

# tests/unit/test_http.c has paths, methods and addresses.
test_http_behaviour() {
	local began
	tcptuned_start --set=metrics.address=::
	curl -sf -o "$TEST_DIR/page" "http://[::1]:$METRICS_PORT/" || fail "no answer over IPv6"
	expect_match "$(<"$TEST_DIR/page")" 'tcptuned [0-9.]+' "the version"
	# Forty clients cost one reading a second.
	scrape
	began=$SECONDS
	seq 40 | xargs -P 8 -I{} curl -sf -o "$TEST_DIR/crowd-{}" -m 10 "$METRICS/metrics"
	expect_le "$(grep -h '^tcptuned_scrapes_total' "$TEST_DIR"/crowd-* | sort -u | wc -l)" $((SECONDS - began + 2)) \
		"readings for forty clients"
	# A request of tcptunectl ends an answer that is kept.
	scrape
	shows scrapes_total "$(awk '$1 == "tcptuned_scrapes_total" && $2 > n { n = $2 }
		END { print n + 1 }' "$TEST_DIR"/crowd-*)" "the next one"
}

# tcptuned does not wait for DHCP at boot: it answers as soon as there is the address.
test_address_that_comes_later() {
	host a
	background tcptuned in_host a "$TEST_BUILD/tcptuned" "${daemon_options[@]}" \
		--set=metrics.address=192.0.2.1
	in_log 'metrics.address: 192.0.2.1 is not an address of this host now'
	in_host a ip address add 192.0.2.1/32 dev lo
	wait_until in_host a curl -sf -o "$TEST_DIR/scrape" "http://192.0.2.1:$METRICS_PORT/metrics"
	shows 'collection_success\{collector="flows"' 1 "flows read"
}
