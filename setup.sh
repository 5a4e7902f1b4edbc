#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# setup.sh start	install what is missing from Debian's packages, build, install, start
# setup.sh test		install what is missing, build, run all tests
# setup.sh build	install what is missing, build; nothing is installed or started
#
# For a fresh Debian 12 (or later) machine, as root. Safe to run again: a tcptuned that runs is then
# upgraded, and open connections do not notice.
set -eu
cd "$(dirname "$0")"

build_packages="make gcc libc6-dev pkg-config clang llvm bpftool libbpf-dev libelf-dev
	zlib1g-dev libsystemd-dev libmicrohttpd-dev libinih-dev libjansson-dev libsqlite3-dev
	man-db groff-base"
test_packages="libcmocka-dev iproute2 iperf3 jq curl procps util-linux prometheus tcpdump
	gawk gnuplot-nox git libclang-rt-dev sqlite3 python3"

say() {
	printf '== %s\n' "$*"
}

die() {
	echo "setup.sh: $*" >&2
	exit 1
}

# A server that comes along with a package must not be started: invoke-rc.d asks this file, if
# there is one. An administrator's own is left alone; ours says whose it is, and goes with us.
policy=/usr/sbin/policy-rc.d
policy_mark="# made by tcptuned's setup.sh while it installs packages"

allow_starts() {
	grep -qsxF "$policy_mark" $policy && rm -f $policy || :
	trap - EXIT INT TERM HUP
}

forbid_starts() {
	[ ! -e $policy ] || return 0
	trap allow_starts EXIT
	trap 'exit 130' INT TERM HUP
	printf '#!/bin/sh\n%s\nexit 101\n' "$policy_mark" >$policy
	chmod 755 $policy
}

install_missing() {
	missing=
	for package in "$@"; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
			grep -q '^install ok installed' || missing="$missing $package"
	done
	allow_starts # of a run that was killed
	[ -n "$missing" ] || return 0
	say "installing$missing"
	forbid_starts
	code=0
	{
		apt-get update -q >/dev/null &&
			DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
				--no-install-recommends $missing >/dev/null
	} || code=$?
	allow_starts
	[ $code = 0 ] || die "apt-get failed; see above"
}

build() {
	say "building"
	make -s -j"$(nproc)" all
}

# A daemon that is killed leaves everything as it is to its connections, and the next one takes it
# over (tcptuned(8), UPGRADE). Stopped cleanly it would give all of that back first.
upgrade_unit() {
	before=$(systemctl show -P MainPID tcptuned.service)
	systemctl reset-failed tcptuned.service # with the count of its starts
	systemctl kill -s KILL --kill-who=main tcptuned.service
	tries=0
	until new_one_runs "$before"; do
		tries=$((tries + 1))
		if [ $tries = 300 ] || { [ $tries -gt 20 ] && systemctl is-failed -q tcptuned.service; }; then
			die "the new tcptuned does not start; see journalctl -u tcptuned"
		fi
		sleep 0.1
	done
}

# Between the end of the one and the start of the other the unit has no process, and may still be active.
new_one_runs() { # PROCESS-BEFORE
	now=$(systemctl show -P MainPID tcptuned.service)
	[ "$now" != 0 ] && [ "$now" != "$1" ] && systemctl is-active -q tcptuned.service
}

start_unit() {
	systemctl daemon-reload
	systemctl enable -q tcptuned.service
	if systemctl is-active -q tcptuned.service; then
		say "upgrading tcptuned.service"
		upgrade_unit
	else
		say "starting tcptuned.service"
		systemctl restart tcptuned.service
	fi
	systemctl --no-pager --lines=10 status tcptuned.service
}

lock=/run/tcptuned/lock

# Prints the process of a tcptuned that runs: it is in the lock, which is held as long.
running() {
	[ -e $lock ] && ! flock -n $lock true && cat $lock
}

start_alone() {
	mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
	if before=$(running); then
		say "upgrading the tcptuned that runs, process $before"
		kill -KILL "$before"
		while running >/dev/null; do
			sleep 0.1
		done
	fi
	/usr/local/sbin/tcptuned
}

start() {
	make -s install PREFIX=/usr/local
	# The one that runs is not ended for one that would not start.
	/usr/local/sbin/tcptuned --check-config >/dev/null ||
		die "the new tcptuned would not start with this configuration; what runs, runs on"
	if [ -d /run/systemd/system ]; then
		start_unit
		stop="systemctl stop tcptuned"
	else
		say "systemd is not PID 1 here: starting tcptuned by itself"
		start_alone
		stop="kill \$(cat $lock)"
	fi
	curl -sf http://127.0.0.1:9817/metrics | grep -E '^tcptuned_(build_info|bitcp_registered)' || :
	say "running. See http://127.0.0.1:9817/ and tcptuned(8); to stop: $stop"
}

[ "$(id -u)" = 0 ] || die "run this as root: it installs packages and loads BPF programs"
command -v apt-get >/dev/null || die "this is for Debian and its relatives; the packages are
	$build_packages
	$test_packages"
case ${1-} in
build)
	install_missing $build_packages
	build
	;;
start)
	install_missing $build_packages curl
	build
	start
	;;
test)
	install_missing $build_packages $test_packages $(grep -hv '^#' bench/sim/packages tests/systemd/packages tests/kernels/packages)
	build
	exec tests/run
	;;
*)
	die "say what to do: setup.sh start, setup.sh test or setup.sh build"
	;;
esac
