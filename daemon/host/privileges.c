// SPDX-License-Identifier: GPL-2.0-only
#include "host/privileges.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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
	/* The unit's filter of system calls refuses capset(). */
	if (surplus && syscall(SYS_capset, &header, data))
		return FAIL(err, errno, INTERNAL, "capabilities cannot be dropped: %s",
			    strerror(errno));
	return 0;
}
