// SPDX-License-Identifier: GPL-2.0-only
/*
 * confine docker|notifier|old|full COMMAND...: runs a command under the seccomp filter of a Docker
 * container without extra capabilities, under one that has a notifier, as on a kernel that lacks
 * SO_BUF_LOCK, or as on one that has no memory for BPF programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/bpf.h>

/*
 * What seccomp/default.json of github.com/moby/profiles (seccomp/v0.2.3, as of Docker 29.4) lacks
 * on x86-64, or allows only with a capability that Docker does not give; but for system calls that
 * Linux has removed. That personality() may be called only with certain values is left out.
 * process_vm_readv() and process_vm_writev() are forbidden by Docker 20.10 (Debian 12).
 */
static char forbidden[] =
	"acct add_key bpf clock_settime delete_module fanotify_init finit_module fsconfig "
	"fsmount fsopen fspick get_mempolicy init_module io_uring_enter io_uring_setup "
	"io_uring_register ioperm iopl kcmp kexec_file_load kexec_load keyctl mbind "
	"migrate_pages mount mount_setattr move_mount move_pages open_tree open_by_handle_at "
	"perf_event_open pidfd_getfd pivot_root process_madvise process_vm_readv "
	"process_vm_writev quotactl quotactl_fd reboot request_key set_mempolicy "
	"setdomainname sethostname setns settimeofday swapoff swapon sysfs syslog umount2 "
	"unshare userfaultfd ustat vhangup";

static const unsigned int namespaces[] = {CLONE_NEWNS,	CLONE_NEWUTS, CLONE_NEWIPC,   CLONE_NEWUSER,
					  CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP};

static int forbid_as_docker(scmp_filter_ctx filter)
{
	const uint32_t eperm = SCMP_ACT_ERRNO(EPERM);
	int err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);

	for (char *name = strtok(forbidden, " "); name && !err; name = strtok(NULL, " "))
		err = seccomp_rule_add(filter, eperm, seccomp_syscall_resolve_name(name), 0);
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]) && !err; i++)
		err = seccomp_rule_add(filter, eperm, SCMP_SYS(clone), 1,
				       SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i]));
	for (int family = AF_ALG; family <= AF_VSOCK && !err; family += AF_VSOCK - AF_ALG)
		err = seccomp_rule_add(filter, eperm, SCMP_SYS(socket), 1,
				       SCMP_A0_32(SCMP_CMP_EQ, (uint32_t)family));
	return err;
}

int main(int argc, char **argv)
{
	int notifies = argc > 2 && !strcmp(argv[1], "notifier");
	int old = argc > 2 && !strcmp(argv[1], "old");
	int full = argc > 2 && !strcmp(argv[1], "full");
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int err;

	if (argc < 3 || !filter || (!notifies && !old && !full && strcmp(argv[1], "docker")))
		return 2;
	/* No one calls uselib(): it is not in the C library. */
	if (notifies)
		err = seccomp_rule_add(filter, SCMP_ACT_NOTIFY, SCMP_SYS(uselib), 0);
	else if (old)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOPROTOOPT), SCMP_SYS(getsockopt), 1,
				       SCMP_A2_32(SCMP_CMP_EQ, SO_BUF_LOCK));
	else if (full)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOMEM), SCMP_SYS(bpf), 1,
				       SCMP_A0_32(SCMP_CMP_EQ, BPF_PROG_LOAD));
	else
		err = forbid_as_docker(filter);
	err = err ? err : seccomp_load(filter);
	if (err) {
		fprintf(stderr, "confine: %s\n", strerror(-err));
		return 1;
	}
	if (notifies) /* the listener must outlive execve() */
		fcntl(seccomp_notify_fd(filter), F_SETFD, 0);
	execvp(argv[2], argv + 2);
	return 127;
}
