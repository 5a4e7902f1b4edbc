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
	scrape
	expect_eq "$(metric 'tcptuned_collection_success{collector="flows"}')" 1 "it reads records"
	ctl policy disable default
	expect_eq "$(ctl_json .mode status)" off "what the daemon did for it"
}

# Connections go on being tuned meanwhile, and each time another process answers within some seconds.
test_worker_is_replaced() {
	local pid i signal
	sized_path --rate 100mbit --delay 10ms
	stream one 7101 --duration 280 --verify
	for ((i = 0; i < 10; i++)); do
		signal=KILL
		[ $((i % 2)) = 0 ] || signal=STOP
		pid=$(worker)
		kill -$signal "$pid"
		wait_until is_another "$pid"
	done
	expect_eq "$(times_logged 'serves metrics and tcptunectl has ended .signal 9.')" 10 "times that it was logged"
	expect_eq "$(ctl_json '[.flows[] | select(.flags | contains(["passive"]))] | length' flows --local-port 7101)" 1 "records"
	stream_stop one
	expect_payload one
}

# What is asked of it before a reload, it answers after it; events go on.
test_worker_finishes_what_it_has_begun() {
	local pid
	start_with "[policy]\n"
	background events "${tcptunectl[@]}" events --json
	wait_printed events listening
	pid=$(worker)
	kill -HUP "$(pid_of tcptuned)"
	in_log "reloaded"
	wait_until is_another "$pid"
	! has_ended events || fail "the client of events was disconnected"
	expect_eq "$(pgrep -c -P "$(pid_of tcptuned)" -x tcptuned-worker)" 2 "processes: one serves, one has a client left"
	stop events INT || :
	wait_until lib_outputs = 1 pgrep -c -P "$(pid_of tcptuned)" -x tcptuned-worker
	expect_ge "$(metric 'tcptuned_config_reloads_total{result="ok"}')" 1 "reloads that the next one knows of"
}

# It dies with the daemon: the next one listens where it did.
test_worker_ends_with_the_daemon() {
	local pid
	tcptuned_start
	pid=$(worker)
	tcptuned_kill
	wait_until has_gone "$pid"
}

has_gone() { # PROCESS
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}
