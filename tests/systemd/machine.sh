# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A throw-away Debian with systemd as PID 1, in namespaces of this kernel. Sourced by the tests.
#
# The network namespace is the caller's: net.ipv4.tcp_mem exists in the initial one only. PID, mount, UTS,
# IPC and cgroup namespaces are new, and the machine sees only a control group of its own.

machine_cache=${TCPTUNED_CACHE:-/var/cache/tcptuned-tests}
machine_here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
machine_cgroup=
machine_unshare=
machine_init=
machine_scratch=

passed=0 failed=0 skipped=0

# Ends the runner with its sum.
finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
	exit
}

skip_all() { # NUMBER_OF_TESTS REASON
	echo "SKIP: $2"
	skipped=$1
	finish
}

fail_all() { # REASON
	echo "FAILED: $1"
	failed=1
	finish
}

needs_programs() { # in $build
	[ -x "$build/tcptuned" ] && [ -x "$build/messages" ] || fail_all "nothing is built (make)"
}

# The Debian mirror that this machine's own apt uses, unless TCPTUNED_MIRROR names another. In cloud
# images the sources name a file that lists mirrors (mirror+file:, apt-transport-mirror(1)).
machine_mirror() {
	local sources=(/etc/apt/sources.list /etc/apt/sources.list.d) lists
	if [ -n "${TCPTUNED_MIRROR:-}" ]; then
		echo "$TCPTUNED_MIRROR"
	else
		lists=$(grep -rhoE '^[^#]*mirror\+file:[^] ]+' "${sources[@]}" 2>/dev/null |
			sed 's|.*mirror+file:/*|/|')
		# shellcheck disable=SC2086
		grep -rhoE '^[^#]*https?://[^] ]+/debian/?( |$)' "${sources[@]}" $lists 2>/dev/null |
			grep -oE 'https?://[^ ]+' | head -n 1
	fi
}

# Makes or finds the cached tree of a Debian release with some packages, and sets $debian_tree; returns 1 with $why
# set. If two kinds of tests need it at the same time, one of them makes it, and the other one waits. With $debian_arch
# it is a tree of another architecture, whose packages are unpacked and not configured.
debian_arch=
find_debian_tree() { # SUITE PACKAGE...
	local suite=$1 lock
	shift
	# A tree made for another list of packages is not this tree.
	debian_tree=$machine_cache/$suite${debian_arch:+-$debian_arch}-$(printf '%s\n' "$@" | cksum | cut -d' ' -f1)
	mkdir -p "$machine_cache"
	exec {lock}>"$debian_tree.lock"
	flock $lock
	[ -e "$debian_tree/.complete" ] || make_debian_tree "$suite" "$@"
	set -- $?
	exec {lock}>&-
	return $1
}

make_debian_tree() { # SUITE PACKAGE...
	local suite=$1 mirror
	shift
	command -v debootstrap >/dev/null || { why="debootstrap is not installed"; return 1; }
	mirror=$(machine_mirror)
	[ -n "$mirror" ] || { why="no Debian mirror is known; set TCPTUNED_MIRROR"; return 1; }
	rm -rf --one-file-system "$debian_tree.part"
	# It mounts /proc there, and leaves that if it fails.
	if ! unshare --mount debootstrap ${debian_arch:+--download-only --arch="$debian_arch"} --variant=minbase \
			--include="$(IFS=,; echo "$*")" "$suite" "$debian_tree.part" "$mirror" >"$debian_tree.log" 2>&1; then
		rm -rf --one-file-system "$debian_tree.part"
		why="debootstrap of $suite failed with $mirror (TCPTUNED_MIRROR names another), see $debian_tree.log"
		return 1
	fi
	[ -z "$debian_arch" ] || unpack_debian_tree "$debian_tree.part" || { why="tar failed in $debian_tree.part"; return 1; }
	rm -rf "$debian_tree.part/var/cache/apt/archives"
	touch "$debian_tree.part/.complete"
	mv "$debian_tree.part" "$debian_tree"
}

unpack_debian_tree() ( # ROOT
	set -o pipefail
	cd "$1" && mkdir -p usr/{bin,lib,sbin} && ln -s usr/{bin,lib,sbin} . || exit
	for deb in var/cache/apt/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink || exit
	done
	# Linkers and tests follow links from outside.
	find usr -type l -lname '/*' -printf '%l %p\n' | while read -r target link; do
		ln -srf "$PWD$target" "$link"
	done
)

# Runs a command in $debian_tree, which is read-only and has no network, with a directory at /mnt.
in_debian_tree() { # DIRECTORY SHELL_COMMAND
	unshare --mount --pid --fork --kill-child --net sh -ec '
		mount --bind "$1" "$1"
		mount -o remount,bind,ro "$1"
		mount -t proc proc "$1/proc"
		mount --rbind /dev "$1/dev"
		mount -t tmpfs tmpfs "$1/tmp"
		mount --bind "$2" "$1/mnt"
		exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin WERROR=1 sh -ec "$3"' \
		sh "$debian_tree" "$1" "$2" </dev/null
}

copy_sources() { # DIRECTORY
	mkdir -p "$1"
	tar -C "$machine_here/../.." --exclude=./build --exclude=./.git -cf - . | tar -C "$1" -xf -
}

# Makes a package of the next version, with the same programs.
make_newer_package() { # PACKAGE DIRECTORY
	rm -rf "$2/unpacked"
	dpkg-deb -R "$1" "$2/unpacked" &&
		sed -i -E 's/^Version: .*/&+1/; s/(\(= [^)]*)/\1+1/' "$2/unpacked/DEBIAN/control" &&
		dpkg-deb --root-owner-group -b "$2/unpacked" "$2" >/dev/null && rm -r "$2/unpacked"
}

# The tree from which a machine boots, with more packages. Debian 13 has another name for one of them.
machine_tree() { # [SUITE [PACKAGE...]]
	local suite=${1-bookworm} renamed=
	[ "$suite" = bookworm ] || renamed='s/^libmicrohttpd12$/&t64/'
	# shellcheck disable=SC2046
	find_debian_tree "$suite" $(sed "/^#/d; $renamed" "$machine_here/tree-packages") "${@:2}" || return
	machine_root=$debian_tree
}

# Boots with the directory STAGE laid over the tree.
machine_start() { # STAGE
	local stage=$1 cgroup2 outer qlen i
	cgroup2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
	[ -n "$cgroup2" ] || { why="no cgroup2 is mounted"; return 1; }
	outer=$cgroup2$(sed -n 's/^0:://p' /proc/self/cgroup)
	machine_cgroup=$cgroup2/tcptuned-machine.$$
	machine_scratch=$(mktemp -d)
	# Control groups of a caller that was killed.
	find "$cgroup2" -depth -path '*/tcptuned-machine.*' -type d -exec rmdir {} + 2>/dev/null
	mkdir "$machine_cgroup"
	# systemd raises this one at boot, and the network namespace is the host's.
	qlen=$(cat /proc/sys/net/unix/max_dgram_qlen)

	( cd / && echo "$BASHPID" >"$machine_cgroup/cgroup.procs" &&
	  exec setpriv --pdeathsig KILL unshare --mount --pid --uts --ipc --cgroup --fork --kill-child=KILL \
		--propagation private "$machine_here/machine-init" \
		"$machine_root" "$stage" "$machine_scratch" </dev/null 2>"$machine_scratch.log" ) &
	machine_unshare=$!
	for ((i = 0; i < 100; i++)); do
		machine_init=$(cat /proc/$machine_unshare/task/*/children 2>/dev/null)
		machine_init=${machine_init%% *}
		[ -n "$machine_init" ] &&
			[ "$(cat /proc/"$machine_init"/comm 2>/dev/null)" = systemd ] && break
		kill -0 $machine_unshare 2>/dev/null ||
			{ why="the machine did not start: $(cat "$machine_scratch.log")"; return 1; }
		sleep 0.1
	done
	# Only the machine's own processes may live in its control group, or systemd could not
	# hand out controllers in it.
	echo "$machine_unshare" >"$outer/cgroup.procs"
	for ((i = 0; i < 300; i++)); do
		case $(machine_run systemctl is-system-running 2>/dev/null) in
		running|degraded)
			echo "$qlen" >/proc/sys/net/unix/max_dgram_qlen
			return 0 ;;
		esac
		sleep 0.1
	done
	why="systemd did not reach its target within 30 s"
	return 1
}

machine_run() { # COMMAND...
	(
		# A session of its own in the machine's control group: what the daemon attaches
		# to the machine's root holds for the processes of the test too.
		mkdir -p "$machine_cgroup/session" &&
			echo "$BASHPID" >"$machine_cgroup/session/cgroup.procs" &&
			exec nsenter --target "$machine_init" --mount --pid --uts --ipc --cgroup \
				--root env -i -C / PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin \
				LC_ALL=C.UTF-8 SYSTEMD_PAGER= SYSTEMD_COLORS=0 "$@"
	)
}

# Ends processes, control groups and mounts. If the caller is killed, the kernel ends the processes.
machine_stop() {
	local i pid=${machine_init:-$machine_unshare}
	# The end of a PID namespace's first process is the end of all of them.
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
	[ -n "$machine_unshare" ] && wait "$machine_unshare" 2>/dev/null
	machine_init= machine_unshare=
	if [ -n "$machine_cgroup" ] && [ -d "$machine_cgroup" ]; then
		for ((i = 0; i < 50; i++)); do
			find "$machine_cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
			[ -d "$machine_cgroup" ] || break
			sleep 0.1
		done
		[ -d "$machine_cgroup" ] && echo "control group left: $machine_cgroup" >&2
	fi
	machine_cgroup=
	[ -z "$machine_scratch" ] || rm -rf --one-file-system "$machine_scratch" "$machine_scratch.log"
	machine_scratch=
}
