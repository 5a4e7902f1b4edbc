# SPDX-License-Identifier: GPL-2.0-only
# The process that serves: it has no privileges, and may end or hang at any time.

. "$TEST_TOP/tests/system/daemon.sh"

is_another() { # PROCESS
	[ "$(worker)" != "$1" ] && ctl status >/dev/null && scrape
}

test_worker_has_no_privileges() {
	local pid
	tcptuned_start
	pid=$(worker)
	expect_eq "$(sed -nE 's/^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):\t//p' "/proc/$pid/status" | paste -sd ' ')" \
		"0000000000000000 0000000000000000 0000000000000000 0000000000000000 1 2" "of process $pid"
	expect_eq "$(readlink "/proc/$pid/fd/"* | grep -E '/run/lock$|cgroup|^/sys/fs/bpf$' || :)" "" "locks, control groups"
	expect_eq "$(readlink "/proc/$pid/fd/"* | grep -cE 'signalfd|pidfd')" 0 "what the loop of the daemon waits with"
	scrape
	expect_eq "$(metric 'tcptuned_collection_success{collector="flows"}')" 1 "it reads records"
	ctl policy disable default
	expect_eq "$(ctl_json .mode status)" off "what the daemon did for it"
}

# Connections go on being tuned meanwhile. WORKER_ENDS=50 tests/system/run -v worker_is_replaced: that often.
test_worker_is_replaced() {
	local pid i signal times=${WORKER_ENDS:-10} start now longest=0
	sized_path --rate 100mbit --delay 10ms
	stream one 7101 --duration 280 --verify
	for ((i = 0; i < times; i++)); do
		signal=KILL
		[ $((i % 2)) = 0 ] || signal=STOP
		pid=$(worker)
		start=$(date +%s%N)
		kill -$signal "$pid"
		wait_until is_another "$pid"
		now=$(date +%s%N)
		longest=$((now - start > longest ? now - start : longest))
	done
	expect_eq "$(times_logged 'serves metrics and tcptunectl has ended .signal 9.')" "$times" "times that it was logged"
	expect_eq "$(ctl_json '[.flows[] | select(.flags | contains(["passive"]))] | length' flows --local-port 7101)" 1 "records"
	note "until the next one had answered, at most: $((longest / 1000000)) ms"
	stream_stop one
	expect_payload one
}

# One that the kernel runs no more, but has not stopped by a signal.
test_worker_that_hangs_is_replaced() {
	local pid
	tcptuned_start
	pid=$(worker)
	mkdir "$TEST_CGROUP/frozen"
	echo "$pid" >"$TEST_CGROUP/frozen/cgroup.procs"
	echo 1 >"$TEST_CGROUP/frozen/cgroup.freeze"
	wait_until is_another "$pid"
	expect_eq "$(times_logged 'serves metrics and tcptunectl has ended .signal 9.')" 1 "times that it was logged"
}

# Asks for events as soon as there is a file "go".
ask_late() {
	{ wait_until [ -e "$TEST_DIR/go" ]; echo '{"command":"events"}'; } | control_client
}

descriptors_of() { # PID
	ls "/proc/$1/fd" | wc -l
}

# Clients that get events go on with the next one, beside new ones. One that has not sent its request yet has to ask
# again: the ring has one reader.
test_worker_is_renewed() {
	local pid client descriptors
	host a
	start_with "[policy]\n"
	for client in before too; do
		background $client "${tcptunectl[@]}" events --json
		wait_printed $client listening
	done
	pid=$(worker)
	descriptors=$(descriptors_of "$pid")
	background late ask_late
	wait_output = $((descriptors + 1)) descriptors_of "$pid"
	reload "[policy]\nlong_path_segments = 5000\n" "long_path_segments: 4096 -> 5000"
	touch "$TEST_DIR/go" # a client has five seconds for its request
	wait_printed late '"error":"the configuration has just changed; listen again"'
	wait_until is_another "$pid"
	wait_output = 1 pgrep -c -P "$(pid_of tcptuned)" -x tcptuned-worker
	background after "${tcptunectl[@]}" events --json
	wait_printed after listening
	background pairs in_group in_host a "${keep_alive[@]}" pairs 50
	wait_printed pairs open
	for client in before too after; do
		wait_output = 100 grep -c '"event":"managed"' "$TEST_DIR/$client.log"
		stop $client INT || :
	done
	expect_eq "$(metric 'tcptuned_config_reloads_total{result="ok"}')" 1 "reloads that the next one knows of"
	ctl policy disable default
	expect_eq "$(ctl_json '.policies[0] | [.mode, .disabled]' policy list)" '["off",true]' "what it knows at once"
}

# What is decided between one process and the next is read by the latter.
test_events_go_on_when_it_is_renewed() {
	local i
	host a
	start_with '[policy]\n' # bitcp, which is set at once, so that each has a record
	background listener chrt -f 1 "${tcptunectl[@]}" events --json # one that is late has to listen again
	wait_printed listener listening
	background pairs in_group in_host a "${keep_alive[@]}" pairs 1500
	for i in 5001 5002 5003; do
		reload "[policy]\nlong_path_segments = $i\n" "long_path_segments: .* -> $i"
	done
	wait_printed pairs open
	wait_output -ge 3000 events_or_lost
}

events_or_lost() {
	jq -s 'map(if .event == "lost" then .events elif .event == "managed" then 1 else 0 end) | add' "$TEST_DIR/listener.log"
}

# It dies with the daemon: the next one listens where it did.
test_worker_ends_with_the_daemon() {
	tcptuned_start
	tcptuned_kill # which waits for that
	detach_says "detached" # else bitcp stays registered for a moment
}

# FUZZ_SECONDS=600 tests/system/run -v nearly_requests: for that long.
test_nearly_requests() {
	start_with "[policy]\n"
	"$TEST_TOP/tests/system/nearly_requests.py" "$TEST_DIR/run/control" "$METRICS_PORT" "${FUZZ_SECONDS:-5}" >"$TEST_DIR/sent"
	note "sent and answered: $(paste -sd ' ' "$TEST_DIR/sent")"
	expect_eq "$(awk '$3 < 1 || $3 > $2' "$TEST_DIR/sent")" "" "answers"
	expect_eq "$(times_logged 'serves metrics and tcptunectl has ended')" 0 "times that it ended"
	expect_eq "$(ctl_json '.policies[0] | [.mode, .disabled]' policy list)" '["tune",false]' "what they changed"
	wait_until scrape
}
