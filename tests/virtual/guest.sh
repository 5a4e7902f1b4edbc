# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Guests in which tests and benches run: their clock counts instructions instead of seconds (QEMU's icount), so that
# rates, delays and shares do not depend on this machine. They boot a kernel of Debian's from an initramfs: a tree of
# tests/systemd, this repository and its build. Sourced after machine.sh and kernels/guest.sh, with $top, $build and $work.

virtual_here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

# What is read of the repository and of its build, below /tcptuned.
virtual_root() { # ROOT
	local root=$1/tcptuned file
	mkdir -p "$root/build/tests/system" "$root/build/bench" "$1/root"
	cp -r "$top/tests" "$root"
	for file in tcptuned tcptunectl tcptune-run tcptune-preload.so linkem messages \
			tests/system/{receive,confine,preload_rcvbuf.so}; do
		cp "$build/$file" "$root/build/$file"
	done
	cp -r "$build/bench/cc" "$root/build/bench"
	install -D -m 755 "$(guest_find_program busybox)" "$1/usr/bin/busybox"
	guest_add_program "$1" "$(guest_find_program gojq)"
	install -m 755 "$virtual_here/init" "$1/init"
}

# Finds or makes all that a guest needs, $release, $vmlinuz and $work/base.cpio; returns 1 with $why set.
virtual_base() { # KERNEL_SUITE TREE_SUITE [PACKAGE...]
	local kernel_root
	why=$(guest_lacks gojq)
	[ -z "$why" ] || return
	read -r release vmlinuz kernel_root < <("$top/tests/kernels/fetch" "$1" 2>"$work/why") ||
		{ why=$(<"$work/why"); return 1; }
	machine_tree "${@:2}" || return
	virtual_root "$work/base"
	(cd "$machine_root" && find . -xdev \( -path ./usr/share -o -path ./var/lib/apt -o -path ./var/lib/dpkg \
		-o -path ./var/cache \) -prune -o -print | cpio -o -H newc --quiet) >"$work/base.cpio"
	guest_make_modules "$kernel_root" "$release" "$work/modules" tun tcp_bbr tcp_diag
	{ guest_pack "$work/base"; guest_pack "$work/modules"; } >>"$work/base.cpio"
}

# Runs in a subshell: boots a guest that runs a shell command in /tcptuned, and leaves its console in $work/NAME/text.
virtual_boot() { # NAME COMMAND
	local own=$work/$1
	trap guest_kill EXIT
	trap 'exit 130' TERM
	mkdir -p "$own/root"
	echo "$2" >"$own/root/command"
	{ cat "$work/base.cpio"; guest_pack "$own/root"; } >"$own/initramfs"
	guest_boot "$release" "$vmlinuz" "$own/initramfs" "$own/console"
	tr -d '\r' <"$own/console" >"$own/text"
}
