# SPDX-License-Identifier: GPL-2.0-only
# While setup.sh installs packages their servers must not start; afterwards they may, however it
# ends. The tests' mount namespace has an empty /usr/sbin, and their commands install nothing.

. "$TEST_TOP/tests/system/daemon.sh"

policy=/usr/sbin/policy-rc.d

# A command that setup.sh finds under that name.
command_does() { # NAME SHELL_COMMANDS
	printf '#!/bin/sh\n%s\n' "$2" >"$TEST_DIR/bin/$1"
	chmod 755 "$TEST_DIR/bin/$1"
}

prepare() { # SHELL_COMMANDS of apt-get
	mkdir -p "$TEST_DIR/bin"
	mount -t tmpfs tmpfs /usr/sbin
	command_does dpkg-query "exit 1"
	command_does make ":"
	command_does apt-get "cp $policy $TEST_DIR/policy; $1"
}

setup() { # [COMMAND]
	PATH="$TEST_DIR/bin:$PATH" "$TEST_TOP/setup.sh" "${1-build}" >"$TEST_DIR/said" 2>&1
}

policy_now() {
	[ ! -e $policy ] || cat $policy
}

test_setup_lets_services_start_again() {
	local signal
	prepare ":"
	setup
	expect_match "$(<"$TEST_DIR/policy")" '^exit 101$' "while packages are installed"
	expect_eq "$(policy_now)" "" "after it"
	command_does apt-get "exit 100"
	expect_fail 1 setup
	expect_eq "$(policy_now)" "" "after apt-get has failed"
	for signal in INT TERM HUP; do
		command_does apt-get "kill -$signal \$PPID; exit 100"
		expect_fail 130 setup
		expect_eq "$(policy_now)" "" "after SIG$signal"
	done
}

test_setup_removes_its_own_leftover() {
	prepare "kill -KILL \$PPID"
	expect_fail 137 setup
	expect_match "$(policy_now)" "made by tcptuned's setup.sh" "after SIGKILL"
	expect_match "$(policy_now)" "^# .* It may be removed\.$" "what it says"
	expect_fail 101 $policy
	command_does dpkg-query "echo install ok installed"
	setup
	expect_eq "$(policy_now)" "" "after a run that has nothing to install"
}

test_setup_leaves_the_administrators_policy() {
	prepare "exit 100"
	printf '#!/bin/sh\nexit 101\n' >$policy
	expect_fail 1 setup
	expect_eq "$(policy_now)" "$(printf '#!/bin/sh\nexit 101\n')" "the administrator's"
}

# Nothing under /run shows a systemd, so the daemon goes into the background.
# bitcp: other builds take part
test_setup_again_and_uninstall_without_systemd() {
	local first second
	prepare "exit 100"
	command_does dpkg-query "echo install ok installed"
	mount -t tmpfs tmpfs /run
	mount -t tmpfs tmpfs /usr/local
	mkdir /usr/local/{bin,sbin}
	: >"$TEST_DIR/none.conf"
	printf '#!/bin/sh\nexec "%s" "$@" %s\n' "$TEST_BUILD/tcptuned" "--config=$TEST_DIR/none.conf \
		--set=tcptuned.cgroup=$TEST_CGROUP/group --set=metrics.port=$METRICS_PORT \
		--set=tcptuned.state_directory=$TEST_DIR/state" >/usr/local/sbin/tcptuned
	ln -s "$TEST_BUILD/tcptunectl" /usr/local/bin/tcptunectl
	chmod 755 /usr/local/sbin/tcptuned
	export BUILD=/usr/local/sbin # what setup.sh checks before it installs it
	setup start
	first=$(</run/tcptuned/lock)
	expect_eq "$(metric tcptuned_taken_over)" 0 "taken over by the first"
	setup start
	second=$(</run/tcptuned/lock)
	expect_match "$(<"$TEST_DIR/said")" "upgrading the tcptuned that runs, process $first" "said"
	wait_until has_gone "$first"
	expect_eq "$(metric tcptuned_taken_over)" 1 "taken over by the second"
	# A configuration with which no daemon would start leaves the second one running.
	printf '[control]\ngroup = nobodys\n' >"$TEST_DIR/none.conf"
	expect_fail 1 setup start
	expect_match "$(<"$TEST_DIR/said")" "there is no group nobodys; name one" "said"
	expect_match "$(<"$TEST_DIR/said")" "^setup.sh: .* what runs, runs on" "said"
	expect_eq "$(</run/tcptuned/lock)" "$second" "the process that runs"
	kill -0 "$second"
	: >"$TEST_DIR/none.conf"
	# So does a build whose programs this kernel does not load.
	sed -i "s|$TEST_BUILD/tcptuned|$TEST_BUILD/other/unloadable/tcptuned|" /usr/local/sbin/tcptuned
	expect_fail 1 setup start
	expect_match "$(<"$TEST_DIR/said")" "this kernel does not take the programs" "said"
	expect_eq "$(</run/tcptuned/lock)" "$second" "the process that runs"
	kill -0 "$second"
	make -s -n -C "$TEST_TOP" uninstall UNITDIR="$TEST_DIR/units" | sh -e
	wait_until eval '! kill -0 $second 2>/dev/null'
	expect_eq "$(find /sys/fs/bpf /usr/local -mindepth 1 ! -path /usr/local/bin ! -path /usr/local/sbin ! -name '*.debug')" "" "left of it"
}
