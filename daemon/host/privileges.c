// SPDX-License-Identifier: GPL-2.0-only
#include "host/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <string.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/array.h"
#include "util/cleanup.h"

#define BIT(capability) (1ull << (capability))
#define KEPT                                                                         \
	(BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_NET_ADMIN) | BIT(CAP_SYS_ADMIN) | \
	 BIT(CAP_SYS_PTRACE))

int tcptuned_privileges_drop(struct tcptuned_error *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	bool surplus = false;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_capget, &header, data))
		return FAIL(err, errno, INTERNAL, "capabilities: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		__u32 kept = data[i].permitted & (__u32)(KEPT >> (32 * i));

		surplus |= kept != data[i].permitted;
		data[i] = (struct __user_cap_data_struct){.effective = kept, .permitted = kept};
	}
	if (surplus && syscall(SYS_capset, &header, data))
		return FAIL(err, errno, INTERNAL, "capabilities cannot be dropped: %s",
			    strerror(errno));
	return 0;
}

/* Of bpf(): what reads and writes maps, and runs iterators. */
static const int allowed_bpf[] = {
	BPF_MAP_LOOKUP_ELEM,  BPF_MAP_UPDATE_ELEM,    BPF_MAP_DELETE_ELEM, BPF_MAP_GET_NEXT_KEY,
	BPF_MAP_LOOKUP_BATCH, BPF_OBJ_GET_INFO_BY_FD, BPF_ITER_CREATE,
};

#define BPF_COMMANDS 64 /* that there may be */

static int filter_bpf(scmp_filter_ctx filter)
{
	const uint32_t refuse = SCMP_ACT_ERRNO(EPERM);
	bool allowed[BPF_COMMANDS] = {false};
	int error;

	for (size_t i = 0; i < ARRAY_SIZE(allowed_bpf); i++)
		allowed[allowed_bpf[i]] = true;
	error = seccomp_rule_add(filter, refuse, SCMP_SYS(bpf), 1,
				 SCMP_A0(SCMP_CMP_GE, BPF_COMMANDS, 0));
	for (scmp_datum_t i = 0; i < BPF_COMMANDS && !error; i++)
		if (!allowed[i])
			error = seccomp_rule_add(filter, refuse, SCMP_SYS(bpf), 1,
						 SCMP_A0(SCMP_CMP_EQ, i, 0));
	return error;
}

/*
 * No other program and no other process, no signals, no limits of others, no sockets but local
 * ones, which it cannot connect, no namespaces, and no permissions of files, which Landlock leaves
 * to their owner. The unit's own filter, which this adds to, is a list of what is allowed.
 */
static const int refused[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(fork),
	SCMP_SYS(vfork),
	SCMP_SYS(clone),
	SCMP_SYS(clone3),
	SCMP_SYS(kill),
	SCMP_SYS(tkill),
	SCMP_SYS(tgkill),
	SCMP_SYS(rt_sigqueueinfo),
	SCMP_SYS(rt_tgsigqueueinfo),
	SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(connect),
	SCMP_SYS(bind),
	SCMP_SYS(listen),
	SCMP_SYS(setns),
	SCMP_SYS(unshare),
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(pivot_root),
	SCMP_SYS(chroot),
	SCMP_SYS(keyctl),
	SCMP_SYS(add_key),
	SCMP_SYS(personality),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(truncate), /* Landlock restricts it from Linux 6.2 on */
	SCMP_SYS(truncate64),
	SCMP_SYS(chmod),
	SCMP_SYS(fchmod),
	SCMP_SYS(fchmodat),
	452, /* fchmodat2() of Linux 6.6, on every architecture */
	SCMP_SYS(chown),
	SCMP_SYS(fchown),
	SCMP_SYS(lchown),
	SCMP_SYS(fchownat),
	SCMP_SYS(setxattr),
	SCMP_SYS(lsetxattr),
	SCMP_SYS(fsetxattr),
	SCMP_SYS(removexattr), /* an access control list, for one */
	SCMP_SYS(lremovexattr),
	SCMP_SYS(fremovexattr),
	463, /* setxattrat() of Linux 6.13 */
	466, /* removexattrat() */
	SCMP_SYS(setuid),
	SCMP_SYS(setresuid),
};

/* As good as a signal, by a socket whose owner gets one. */
static const struct {
	int call;
	unsigned int command;
} owners[] = {
	{SCMP_SYS(fcntl), F_SETOWN},  {SCMP_SYS(fcntl), F_SETOWN_EX}, {SCMP_SYS(fcntl), F_SETSIG},
	{SCMP_SYS(ioctl), FIOSETOWN}, {SCMP_SYS(ioctl), SIOCSPGRP},
};

static int filter_system_calls(void)
{
	const uint32_t refuse = SCMP_ACT_ERRNO(EPERM);
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int error = filter ? filter_bpf(filter) : -ENOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(refused) && !error; i++)
		error = seccomp_rule_add(filter, refuse, refused[i], 0);
	for (size_t i = 0; i < ARRAY_SIZE(owners) && !error; i++)
		error = seccomp_rule_add(filter, refuse, owners[i].call, 1,
					 SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff,
						 owners[i].command));
	error = error
			?: seccomp_rule_add(filter, refuse, SCMP_SYS(socket), 1,
					    SCMP_A0(SCMP_CMP_NE, AF_UNIX, 0));
	/* The limits of another process of root: the kernel ends one that is beyond. */
	error = error
			?: seccomp_rule_add(filter, refuse, SCMP_SYS(prlimit64), 1,
					    SCMP_A0(SCMP_CMP_NE, 0, 0));
	error = error ?: seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	return error;
}

/* ---- files (Landlock) ----------------------------------------------------------------------- */

#define READ   (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define RIGHTS 15 /* of version 3, Linux 6.2: the last is LANDLOCK_ACCESS_FS_TRUNCATE */
#define CHANGE                                                                \
	(READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | 1ull << (RIGHTS - 1))

static int landlock_version(void)
{
	return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool tcptuned_privileges_confine_files(void)
{
	return landlock_version() > 0;
}

/* Allow @rights below @directory, if there is one. */
static int allow(int ruleset, const char *directory, __u64 rights)
{
	_cleanup_close_ int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct landlock_path_beneath_attr below = {.allowed_access = rights, .parent_fd = fd};

	if (fd < 0)
		return 0;
	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &below, 0)
		       ? -errno
		       : 0;
}

static int confine_files(const char *cgroups, const char *state)
{
	int version = landlock_version(), error;
	__u64 known = (1ull << (version < 3 ? RIGHTS - 1 : RIGHTS)) - 1;
	struct landlock_ruleset_attr all = {.handled_access_fs = known};
	_cleanup_close_ int ruleset = -1;

	if (version <= 0)
		return 0;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	if (ruleset < 0)
		return -errno;
	error = allow(ruleset, "/proc", READ) ?:
		allow(ruleset, "/sys", READ) ?:
		allow(ruleset, cgroups, READ) ?:
		allow(ruleset, state, CHANGE & known);
	if (error)
		return error;
	return syscall(SYS_landlock_restrict_self, ruleset, 0) ? -errno : 0;
}

int tcptuned_privileges_drop_all(const char *cgroups, const char *state, struct tcptuned_error *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};
	int error;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_capset, &header, none))
		return FAIL(err, errno, INTERNAL, "capabilities cannot be dropped: %s",
			    strerror(errno));
	error = confine_files(cgroups, state);
	if (error)
		return FAIL(err, -error, INTERNAL, "access to files cannot be restricted: %s",
			    strerror(-error));
	error = filter_system_calls();
	if (error)
		return FAIL(err, -error, INTERNAL, "system calls cannot be filtered: %s",
			    strerror(-error));
	return 0;
}
