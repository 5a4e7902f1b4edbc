# SPDX-License-Identifier: GPL-2.0-only
# tcptunectl streams: what it advises, and that it ends with one clear line where nothing can be measured.

. "$TEST_TOP/tests/system/daemon.sh"

url=http://10.99.0.2:8000/file

streams() { # ARGUMENT...; at host a
	in_host a "${tcptunectl[@]}" streams "$@"
}

advice() { # JQ_FILTER ARGUMENT...
	streams --json "${@:2}" >"$TEST_DIR/advice" || fail "exit code $?: $(<"$TEST_DIR/advice")"
	note "$(jq -c '[.levels[] | [.streams, (.bits_per_second / 1e6 | round), .loss, .limit]]' "$TEST_DIR/advice")"
	expect_eq "$(pgrep -x 'iperf3|curl' --ns $$ --nslist pid | wc -l)" "${servers-1}" "probes that are left, and servers"
	advised "$1"
}

advised() { # JQ_FILTER, of the last advice
	jq -cr "$1" "$TEST_DIR/advice"
}

iperf3_server() {
	background iperf3 ${in_group-} in_host b iperf3 --server --forceflush
	wait_printed iperf3 "listening"
}

http_server() { # BYTES [MODE]
	servers=0
	[ -z "${LIB_PID[http]-}" ] || stop http || :
	background http in_host b "$TEST_TOP/tests/system/http_ranges.py" 10.99.0.2 8000 "$@"
	wait_printed http listening
}

# It fails with STATUS and one line that matches.
refuses() { # STATUS PATTERN ARGUMENT...
	expect_refused "$1" "^tcptunectl: .*$2" streams "${@:3}"
}

# Later the path is longer: there is no number.
test_streams_on_a_path_whose_rtt_changes() {
	host a b
	iperf3_server
	link a b --rate 10mbit --delay 5ms --schedule-ab 8s::50ms
	refuses 1 "the path changed: its smallest RTT was [0-9.]* ms, and then [0-9.]* ms" --cc reno --probe-time 40 \
		"${ADDR[b]}"
}

test_streams_by_http_that_cannot_be_measured() {
	host a b
	link a b --rate 100mbit --delay 5ms
	refuses 1 "curl: .*[Cc]onnect" $url
	http_server 1000000000 whole
	refuses 1 "does not serve ranges" $url
	http_server 1000000000 429
	refuses 1 "refuses with status 429" $url
	http_server 1000000000 stop
	refuses 1 "curl: .*closed" $url
	http_server 1000000000 silent
	refuses 1 "timed out" $url
	http_server 1000
	refuses 1 "the file has 1000 bytes" $url
	http_server 1100000
	refuses 1 "the file is too small" $url
	http_server 1000000000
	refuses 1 "were not enough to measure" --probe-bytes 1M $url
	refuses 1 "were not enough to measure" --probe-bytes 1 $url
}

# Of the same host another port is followed. Another host, such as this one, is not for the server to choose.
test_streams_by_http_that_is_redirected() {
	host a b
	link a b --rate 20mbit --delay 25ms
	http_server 1000000000
	redirects 8001 $url
	advice . --probe-time 60 --max-streams 1 http://10.99.0.2:8001/ >/dev/null
	expect_between "$(advised .file_bytes)" 1000000000 1000000000 "bytes of the file"
	redirects 8002 http://10.99.0.1:8000/internal
	refuses 1 "redirects to another host; measure that one, if it is meant: http://10.99.0.1:8000/internal" \
		http://10.99.0.2:8002/
	redirects 8003 http://10.99.0.2:8003/
	refuses 1 "redirects more than 5 times" http://10.99.0.2:8003/
}

redirects() { # PORT URL
	background "port-$1" in_host b "$TEST_TOP/tests/system/http_ranges.py" 10.99.0.2 "$1" 1 "$2"
	wait_printed "port-$1" listening
}

# A URL's user and password are sent, and are neither in the list of processes nor in what is printed.
test_streams_by_http_hide_a_password() {
	host a b
	link a b --rate 20mbit --delay 5ms
	http_server 1000000000 auth
	refuses 1 "status 403" http://user:wrong@10.99.0.2:8000/file
	background search in_host a "${tcptunectl[@]}" streams --json --max-streams 1 \
		--probe-time 96 http://user:S3cret@10.99.0.2:8000/file
	wait_output -ge 2 answers # one asked for the size
	expect_match "$(processes)" "streams .*http://\*+@10.99.0.2:8000/file" "tcptunectl"
	expect_match "$(processes)" "^curl .*--config -" "curl"
	processes >"$TEST_DIR/processes"
	expect_eq "$(grep -c S3cret "$TEST_DIR/processes")" 0 "processes that show it"
	wait "$(pid_of search)"
	expect_eq "$(jq -r .destination "$TEST_DIR/search.log")" "http://***********@10.99.0.2:8000/file" "printed"
}

answers() { # of the server
	grep -cx '[0-9]*' "$TEST_DIR/http.log"
}

processes() {
	local file
	for file in /proc/[0-9]*/cmdline; do
		{ tr '\0' ' ' <"$file" && echo; } 2>/dev/null || : # it has ended
	done
}

# Once data flow, the server no longer reads, or gets SIGTERM.
test_streams_by_iperf3_that_stops() {
	host a b
	link a b --rate 100mbit --delay 5ms
	stops STOP "the server stopped: the probe did not end in time"
	# It ends its connections behind what it has not sent: a client that sends might see a reset before.
	stops TERM "iperf3: the server has terminated" --receive
}

stops() { # SIGNAL PATTERN [OPTION]
	iperf3_server
	background stopper stop_server "$1"
	refuses 1 "$2" "${@:3}" "${ADDR[b]}"
	wait "$(pid_of stopper)"
	stop iperf3 KILL 2>/dev/null || :
}

stop_server() { # SIGNAL
	wait_output -ge 1000000 bytes_of_server
	kill -"$1" "$(pid_of iperf3)"
}

bytes_of_server() { # that its busiest connection has carried
	in_host b ss -tinH sport = :5201 | grep -oP 'bytes_(received|acked):\K[0-9]+' | sort -n | tail -n 1
}

# Answers to one connection, and to a second one, but not to four, with and without a status that says so.
# timeout: 600
test_streams_by_http_to_a_server_that_limits_connections() {
	local mode
	host a b
	link a b --rate 100mbit --delay 50ms
	for mode in limit close; do
		http_server 1000000000 $mode
		# 12 s for each number, and 100 ms: two seconds without a processor change a rate, and a link that is 25 ms
		# late a round trip, by less than a path that changed (30 %).
		expect_eq "$(advice .why --max-impact 100% --probe-time 144 $url)" "the server refuses more connections" "$mode"
		expect_eq "$(advised '.fastest.streams <= 2')" true "at most two are advised"
	done
}

# A URL is read by way of the proxy that the environment names, as curl does, and that is said.
test_streams_by_way_of_a_proxy() {
	host a b
	link a b --rate 20mbit --delay 5ms
	http_server 1000000000
	http_proxy=http://user:secret@10.99.0.2:8000/ streams --probe-time 60 --max-streams 1 http://no.such.host.invalid/file \
		>"$TEST_DIR/said" 2>"$TEST_DIR/stderr"
	expect_match "$(<"$TEST_DIR/said")" "^fastest +1 " "advice"
	expect_eq "$(<"$TEST_DIR/stderr")" "tcptunectl: http_proxy is set: unless no_proxy excludes the host, this is \
about the path to 10.99.0.2:8000/" "said"
}

test_streams_by_iperf3_that_cannot_be_measured() {
	host a b
	link a b --rate 100mbit --delay 5ms
	refuses 1 "Connection refused" "${ADDR[b]}"
	in_host a ip route add 10.98.0.0/24 via "${ADDR[b]}"
	refuses 1 "unable to connect" 10.98.0.1
	refuses 1 "cannot be resolved" no.such.host.invalid
	background silent in_host b python3 -c "import socket, time
with socket.create_server(('${ADDR[b]}', 5201)): print('listening', flush=True); time.sleep(240)"
	wait_printed silent listening
	refuses 1 "the server is silent" "${ADDR[b]}"
	expect_eq "$(in_host a pgrep -x iperf3 --ns $$ --nslist pid | wc -l)" 0 "probes that are left"
}

# As a program uses the library that is installed. It has a connection open that carried more than may be measured.
# timeout: 600
test_streams_by_the_library() {
	local root=$TEST_DIR/root
	host a b
	link a b --rate 20mbit --delay 50ms --queue 500KB
	http_server 1000000000
	iperf3_server
	make -s -C "$(dirname "$(readlink -f "$TEST_TOP/Makefile")")" install-lib DESTDIR="$root" # a lane's top is in no repository
	export PKG_CONFIG_PATH=$root/usr/local/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
	cc -Wall -Werror -x c -o "$TEST_DIR/program" - $(pkg-config --cflags --libs libtcptuned) <<'END'
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <tcptuned/streams.h>

int main(int argc, char **argv)
{
	static char data[65536], ask[] = "GET /file HTTP/1.1\r\nRange: bytes=0-25999999\r\n\r\n";
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(8000), .sin_addr.s_addr = inet_addr(argv[1])};
	struct tcptuned_streams_options options = {.size = sizeof(options), .probe = TCPTUNED_STREAMS_HTTP, .probe_seconds = 5,
						.streams_max = 1, .bytes_max = 25e6};
	struct tcptuned_streams_result result = {.size = sizeof(result)};
	int s = socket(AF_INET, SOCK_STREAM, 0), status;
	struct ParallelTCPChar *advice;
	struct tcptuned_streams *search;
	struct pollfd pfd = {.events = POLLIN};

	if (connect(s, (struct sockaddr *)&to, sizeof(to)) || send(s, ask, sizeof(ask) - 1, 0) < 0)
		return 2;
	for (long left = 26000000, n; left > 0 && (n = recv(s, data, sizeof(data), 0)) > 0; left -= n)
		;
	if (tcptuned_streams_start(argv[2], &options, &search))
		return 3;
	pfd.fd = tcptuned_streams_fd(search);
	while ((status = tcptuned_streams_step(search)) == 1)
		poll(&pfd, 1, -1);
	tcptuned_streams_result(search, &result);
	printf("%d %s%u connection, %.0f Mbit/s\n", status, tcptuned_streams_error(search), result.fastest,
	       result.fastest_rate / 1e6);
	printf("%d events after that\n", poll(&pfd, 1, 600));
	tcptuned_streams_free(search);
	do /* on a busy host the path may seem to change meanwhile */
		advice = TameParallelTCP(argv[1], 0.1);
	while (!advice && errno == ESTALE);
	printf("TameParallelTCP: %d\n", advice ? advice->num_flows : 0);
	return 0;
}
END
	expect_match "$(in_host a env LD_LIBRARY_PATH="$root/usr/local/lib" "$TEST_DIR/program" "${ADDR[b]}" $url | tr '\n' ' ')" \
		'^0 1 connection, [1-9][0-9]* Mbit/s 0 events after that TameParallelTCP: [1-9]' "what it says"
}

test_streams_wrong_arguments() {
	host a
	refuses 2 "--max-impact: .* is not a number" --max-impact 200% 10.0.0.1
	refuses 2 "--max-impact: .* is not a number" --max-impact -3 10.0.0.1
	refuses 2 "--max-streams: .* is not a whole number" --max-streams 0 10.0.0.1
	refuses 2 "--max-streams: 1.5 is not a whole number" --max-streams 1.5 10.0.0.1
	refuses 2 "--want: .* is not a number" --want fast 10.0.0.1
	refuses 2 "--probe-bytes: .* is not a number" --probe-bytes 5X 10.0.0.1
	refuses 2 "--probe: ftp: write" --probe ftp 10.0.0.1
	refuses 2 "not UTF-8" $'\xff'
	refuses 2 "an argument is missing"
	refuses 2 "neither a name, an address nor a URL" http://
	refuses 40 "no tcptuned runs" --probe none 10.0.0.1
}

# A signal ends the probe, too. What the daemon knows about the destination is shown.
test_streams_with_a_daemon() {
	tuned_path "" --rate 100mbit --delay 5ms
	idle_stream idle 7101 1MB
	says "knows 1 connection to 10.99.0.2" "known"
	says "1 limited by idle" "what limits it"
	streams --probe none fe80::1%lo >"$TEST_DIR/said"
	expect_match "$(<"$TEST_DIR/said")" "knows 0 connections to fe80::1$" "of an address of one interface"
	iperf3_server
	background search in_host a "${tcptunectl[@]}" streams --probe-time 600 "${ADDR[b]}"
	wait_output -ge 1 probes
	stop search || :
	wait_output = 0 probes
}

probes() {
	in_host a ss -tnOH state established '( dport = :5201 )' | wc -l
}

# --- what the daemon has seen ---------------------------------------------------------------------

# Transfers with so many connections, in the daemon's group, until they were measured at the sender. A scan may
# take a thousandth of the time: where scans by iter/tcp are rare, no receiver is measured.
transfers() { # NUMBER...
	local n
	for n; do
		# the server closes its listener for a moment when the test before has ended
		wait_printed iperf3 "listening.*#$((++iperf3_tests))"
		background transfer in_group in_host a iperf3 -c "${ADDR[b]}" -t 600 -P "$n"
		wait_until measured "$n"
		stop transfer || :
	done
}

measured() { # NUMBER
	[ "$(ctl_json "[.streams[] | select(.direction == \"send\").levels[] | select(.streams == $1)] | length" \
		paths)" = 1 ]
}

says() { # PATTERN WHAT
	streams --probe none "${ADDR[b]}" >"$TEST_DIR/said"
	expect_match "$(<"$TEST_DIR/said")" "$1" "$2"
}

# What was seen of each number of connections is kept over a restart, and forgotten on demand. (The unit tests
# have the model.) While one of eight waits for the end of its RTO, seven are seen.
test_streams_passive_on_a_lossy_path() {
	CONGESTION=reno sized_path --rate 20mbit --delay 5ms --loss 0.01
	in_group=in_group iperf3_server
	iperf3_tests=0
	says "^No advice: no measurement interval" "before any transfer"
	transfers 1 8
	says "^No advice: ([0-9]+ numbers of connections seen, and|only [0-9]+ measurement intervals so far;) [38] are needed" "after two numbers"
	expect_match "$(ctl paths)" "10.99.0.2 +send +reno +1-8 .* none: (only )?[0-9]+ (numbers of connections|measurement intervals)" "listed"
	transfers 2 4
	numbers_seen "of connections that sent"
	tcptuned_stop

	tcptuned_start
	numbers_seen "after a restart"
	ctl paths forget "${ADDR[b]}" >/dev/null
	says "^No advice: no measurement interval" "once it is forgotten"
	expect_eq "$(sqlite3 "$TEST_DIR/state/paths.db" "SELECT count(*) FROM streams WHERE host = '${ADDR[b]}/32'")" 0 \
		"what is left on disk"
}

numbers_seen() { # WHAT
	expect_eq "$(ctl_json '.streams[] | select(.direction == "send") | [.levels[] | select(.bits_per_second > 0).streams] |
		[1,2,4,8] - .' paths)" '[]' "numbers of 1, 2, 4 and 8 missing $1"
}

# Two connections pause between their messages, so that what they carry says nothing about the path.
test_streams_passive_of_applications_that_wait() {
	local port
	configured_path '[paths]\n' --rate 100mbit --delay 5ms
	for port in 7101 7102; do
		RECEIVER_PREFIX= stream stream-$port $port --duration 280 --bytes 64kB --interval 100
	done
	wait_output -ge 3 metric 'tcptuned_streams_windows_total{result="refused"}'
	expect_eq "$(metric tcptuned_streams_groups)" 1 "groups"
	expect_eq "$(metric 'tcptuned_streams_windows_total{result="measured"}')" 0 "windows measured"
	says "^No advice: no measurement interval" "advice"
	reload '[paths]\nstreams = no' "paths.streams: yes -> no"
	wait_output = 0 metric tcptuned_streams_groups
}
