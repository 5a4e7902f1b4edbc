#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# setup.sh start	install what is missing from Debian's packages, build, install, start
# setup.sh test		install what is missing, build, run all tests
# setup.sh arm64	install what is missing, cross-build for arm64, try that in an emulator
# setup.sh build	install the packages that building and "make demo" need, build; tcptuned is not
#			installed or started
# setup.sh COMMAND --list	print the packages that COMMAND needs, and do nothing
#
# For a fresh Debian 12 or 13 machine, as root. Safe to run again: a tcptuned that runs is then
# upgraded, and open connections do not notice.
set -eu
cd "$(dirname "$0")"

build_packages="make gcc libc6-dev pkg-config clang bpftool libbpf-dev libelf-dev zlib1g-dev
	libseccomp-dev libsystemd-dev libmicrohttpd-dev libjansson-dev libsqlite3-dev
	man-db groff-base"
demo_packages="iproute2 iperf3 jq curl"
# Of llvm: llvm-symbolizer, with which the sanitizers name functions.
test_packages="libcmocka-dev procps util-linux prometheus tcpdump
	gawk git libclang-rt-dev llvm sqlite3 python3 codespell clang-format
	vsftpd lftp rsync liburing-dev zsh fish chromium-headless-shell"
test_servers="prometheus vsftpd" # which tests start by themselves

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
	cat >$policy <<-END
		#!/bin/sh
		$policy_mark
		# Only a setup.sh that was killed leaves it, and packages then start no service. It may be removed.
		exit 101
	END
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
	for server in $test_servers; do
		case "$missing " in
		*" $server "*) systemctl disable -q "$server" 2>/dev/null || : ;; # or the next boot starts it
		esac
	done
}

build() {
	say "building"
	make -s -j"$(nproc)" all
}

# A restart hands over: connections stay tuned (tcptuned(8), UPGRADE).
start_unit() {
	systemctl daemon-reload
	systemctl enable -q tcptuned.service
	say "starting tcptuned.service, or restarting the one that runs"
	systemctl reset-failed tcptuned.service 2>/dev/null || : # with the count of its starts
	systemctl restart tcptuned.service
	systemctl --no-pager --lines=10 status tcptuned.service
}

lock=/run/tcptuned/lock

# Prints the process of a tcptuned that runs: it is in the lock, which is held as long.
running() {
	[ -e $lock ] && ! flock -n $lock true && cat $lock
}

start_alone() {
	if before=$(running); then
		say "upgrading the tcptuned that runs, process $before"
		# It hands over; a build that does not know the signal ends of it, which is as good.
		kill -USR1 "$before"
		while running >/dev/null; do
			sleep 0.1
		done
	fi
	/usr/local/sbin/tcptuned
}

start() {
	# systemd has mounted it.
	mountpoint -q /sys/fs/bpf || mount -t bpf -o mode=0700 bpf /sys/fs/bpf
	# Nothing is replaced, and nothing ended, for a build that would not start.
	"${BUILD:-build}/tcptuned" --check-load ||
		die "the new tcptuned would not start here; nothing is installed, and what runs, runs on"
	make -s install PREFIX=/usr/local
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

case ${1-} in
build) packages="$build_packages $demo_packages" ;;
start) packages="$build_packages curl" ;;
test) packages="$build_packages $demo_packages $test_packages $(grep -hv '^#' \
	tests/systemd/packages tests/kernels/packages tests/debian/packages)" ;;
arm64) packages="$build_packages $(grep -hv '^#' tests/kernels/packages tests/arm64/packages)" ;;
*) die "say what to do: setup.sh start, setup.sh test, setup.sh build or setup.sh arm64" ;;
esac
if [ "${2-}" = --list ]; then
	echo $packages
	exit
fi
[ "$(id -u)" = 0 ] || die "run this as root: it installs packages and loads BPF programs"
command -v apt-get >/dev/null || die "this is for Debian and its relatives; the packages are
	$packages"
install_missing $packages
case $1 in
build)
	build
	;;
start)
	build
	start
	;;
test)
	exec tests/run # which builds, too, and turns warnings into errors
	;;
arm64)
	exec tests/arm64/run
	;;
esac
