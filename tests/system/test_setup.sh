# SPDX-License-Identifier: GPL-2.0-only
#
# setup.sh installs packages and must not have their servers started meanwhile; whatever becomes of
# it, the host may start services afterwards. In a mount namespace where /usr/sbin is empty, with
# commands that only say what they were asked for.

policy=/usr/sbin/policy-rc.d

# command_says NAME LINE: what setup.sh finds under that name
command_says() {
	printf '#!/bin/sh\n%s\n' "$2" >"$TEST_DIR/bin/$1"
	chmod 755 "$TEST_DIR/bin/$1"
}

prepare() { # WHAT_APT_GET_DOES
	mkdir -p "$TEST_DIR/bin"
	mount -t tmpfs tmpfs /usr/sbin
	command_says dpkg-query "exit 1"
	command_says make ":"
	command_says apt-get "cp $policy $TEST_DIR/policy; $1"
}

setup() {
	PATH="$TEST_DIR/bin:$PATH" "$TEST_TOP/setup.sh" build >"$TEST_DIR/said" 2>&1
}

there() {
	[ ! -e $policy ] || cat $policy
}

test_setup_lets_services_start_again() {
	local signal
	prepare ":"
	setup
	expect_match "$(<"$TEST_DIR/policy")" '^exit 101$' "while packages are installed"
	expect_eq "$(there)" "" "after it"
	command_says apt-get "exit 100"
	expect_fail 1 setup
	expect_eq "$(there)" "" "after apt-get has failed"
	for signal in INT TERM HUP; do
		command_says apt-get "kill -$signal \$PPID; exit 100"
		expect_fail 130 setup
		expect_eq "$(there)" "" "after SIG$signal"
	done
}

test_setup_knows_its_own_leftover() {
	prepare "kill -KILL \$PPID"
	expect_fail 137 setup
	expect_match "$(there)" "made by tcptuned's setup.sh" "after SIGKILL"
	command_says apt-get ":"
	setup
	expect_eq "$(there)" "" "after the next run"
	command_says apt-get "kill -KILL \$PPID"
	expect_fail 137 setup
	command_says dpkg-query "echo install ok installed"
	setup
	expect_eq "$(there)" "" "after a run that has nothing to install"
}

test_setup_leaves_the_administrators_policy() {
	prepare "exit 100"
	printf '#!/bin/sh\nexit 101\n' >$policy
	expect_fail 1 setup
	expect_eq "$(there)" "$(printf '#!/bin/sh\nexit 101\n')" "the administrator's"
}
