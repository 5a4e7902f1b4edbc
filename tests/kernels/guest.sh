# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Debian's kernels in QEMU, from an initramfs with the binaries as they were built here. Sourced by
# tests/kernels/run and bench/research/kernels/run; `fetch` has the kernels, `init` begins in the guest and
# starts /scene.

guest_here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
guest_limit_s=${TCPTUNED_GUEST_LIMIT:-3600} # of this machine, which may be busy
guest_qemu=
guest_arch=x86_64 guest_loader=/lib64/ld-linux-x86-64.so.2
# With a Debian tree of arm64 (tests/arm64/run) guests are arm64, and have programs of the tree.
guest_tree=${TCPTUNED_GUEST_TREE-}
[ -z "$guest_tree" ] || guest_arch=aarch64 guest_loader=/lib/ld-linux-aarch64.so.1

# bpftool may be a wrapper script that looks for the running kernel's own; the program is meant.
guest_find_program() {
	PATH=$guest_tree/usr/sbin:$guest_tree/sbin:$guest_tree/usr/bin:$guest_tree/bin command -v "$1"
}

# Prints which program is missing here for a guest.
guest_lacks() { # PROGRAM...
	local program
	for program in qemu-system-$guest_arch busybox cpio depmod modprobe xz "$@"; do
		[ -n "$(guest_tree='' guest_find_program "$program")" ] && continue
		echo "$program is not installed (see tests/kernels/packages)"
		return
	done
	[ "$(uname -m)" = x86_64 ] || echo "the kernels are for x86_64"
}

# Adds a program and the shared libraries that it needs, of this machine, or of a Debian tree.
guest_add_program() { # ROOT PROGRAM [TREE]
	local root=$1 program=$2 tree=${3-$guest_tree} library
	install -D -m 755 "$(readlink -f "$program")" "$root/usr/bin/$(basename "$program")"
	while read -r library; do
		library=${library#"$tree"}
		[ -e "$root$library" ] || install -D -m 755 "$(readlink -f "$tree$library")" "$root$library"
	done < <(${guest_tree:+qemu-aarch64} "$tree$guest_loader" \
		--library-path "$tree/usr/lib/$guest_arch-linux-gnu" --list "$program" 2>/dev/null | grep -o '/[^ ]*')
}

# Makes a root with BusyBox and init.
guest_make_root() { # ROOT
	local root=$1 applet
	mkdir -p "$root"/{bin,dev,etc,proc,root,run,sys,tmp,usr/bin,usr/sbin}
	mkdir "$root/var" && ln -s /run "$root/var/run"
	install -m 755 "$(guest_find_program busybox)" "$root/bin/busybox"
	for applet in $(busybox --list | grep -vx busybox); do
		ln -s busybox "$root/bin/$applet"
	done
	install -m 755 "$guest_here/init" "$root"
	printf 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$root/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
}

# Prints a cpio archive; the kernel takes several, one after the other.
guest_pack() { # ROOT
	(cd "$1" && find . | cpio -o -H newc --quiet)
}

# Adds kernel modules, and the list of them for init, in the order in which to load them.
guest_make_modules() { # KERNEL-ROOT RELEASE ROOT MODULE...
	local kernel_root=$1 release=$2 root=$3 file name
	shift 3
	rm -rf "$root"
	mkdir -p "$root/mod"
	while read -r file; do
		name=$(basename "$file" .xz)
		case $file in
		*.xz) xz -dc "$file" >"$root/mod/$name" ;;
		*) cp "$file" "$root/mod/$name" ;;
		esac
		echo "/mod/$name" >>"$root/modules"
	done < <(modprobe -d "$kernel_root" -S "$release" --show-depends -a "$@" |
		awk '$1 == "insmod" { print $2 }')
}

# Boots, and waits until the guest is off. Guest time is virtual (icount): the figures do not depend on other
# load of this machine. QEMU translates a program once only if it is always at the same address (norandmaps).
guest_boot() { # RELEASE VMLINUZ INITRAMFS CONSOLE [QEMU_OPTION...]
	local release=$1 vmlinuz=$2 initramfs=$3 console=$4 cpu=qemu64
	local end=$((SECONDS + guest_limit_s)) machine=() tty=ttyS0
	shift 4
	# 6.12 crashes at times with QEMU 7.2's cmpxchg16b. Newer kernels need the instruction:
	# kmalloc_nolock(), which socket storage is made with, fails without it.
	case $release in
	6.*) cpu=qemu64,-cx16 ;;
	esac
	[ -z "$guest_tree" ] || cpu=cortex-a72 machine=(-machine virt) tty=ttyAMA0
	qemu-system-$guest_arch "${machine[@]}" -cpu $cpu -accel tcg,thread=single \
		-icount shift=0,sleep=off -smp 1 -m 2048 -nodefaults -display none -no-reboot -serial "file:$console" \
		-kernel "$vmlinuz" -initrd "$initramfs" -append \
		"console=$tty quiet panic=-1 mitigations=off tsc=reliable clocksource=tsc norandmaps" \
		"$@" </dev/null >"$console.qemu" 2>&1 &
	guest_qemu=$!
	while kill -0 "$guest_qemu" 2>/dev/null; do
		if [ $SECONDS -ge $end ]; then
			echo "@fail guest ends|not within $guest_limit_s s" >>"$console"
			kill -KILL "$guest_qemu"
			break
		fi
		sleep 0.5
	done
	wait "$guest_qemu" 2>/dev/null
	guest_qemu=
}

# Ends the guests that a runner has in the background, and removes its directory.
guest_clean_up() {
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	wait
	rm -rf "$work"
}

guest_kill() {
	[ -n "$guest_qemu" ] && kill -KILL "$guest_qemu" 2>/dev/null && wait "$guest_qemu" 2>/dev/null
}
