// SPDX-License-Identifier: GPL-2.0-only
#include "notify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "util/array.h"
#include "util/cleanup.h"
#include "util/version.h"

#define FILTER_MAX 512 /* instructions; there are some 30 */

static int add_rules(scmp_filter_ctx filter)
{
	static const int calls[] = {SCMP_SYS(setsockopt), SCMP_SYS(getsockopt)};
	static const unsigned int names[] = {SO_RCVBUF, SO_SNDBUF};
	int err = 0;

	for (int i = 0; i < 4 && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_NOTIFY, calls[i / 2], 2,
				       SCMP_A1_32(SCMP_CMP_EQ, SOL_SOCKET, 0),
				       SCMP_A2_32(SCMP_CMP_EQ, names[i % 2], 0));
	/* Another listener is refused by the kernel. This one is asked first, and says why. */
	if (!err)
		err = seccomp_rule_add(
			filter, SCMP_ACT_NOTIFY, SCMP_SYS(seccomp), 2,
			SCMP_A1_64(SCMP_CMP_MASKED_EQ, SECCOMP_FILTER_FLAG_NEW_LISTENER,
				   SECCOMP_FILTER_FLAG_NEW_LISTENER),
			SCMP_A2_64(SCMP_CMP_NE, 0, 0)); /* libseccomp tries without a program */
	/* Programs for another architecture are not intercepted. */
	return err ?: seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);
}

/*
 * libseccomp 2.5 does not know the flag WAIT_KILLABLE_RECV, so the program is read and installed
 * here.
 */
static int read_program(struct sock_filter *program)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int ends[2], err = filter ? add_rules(filter) : -ENOMEM;
	ssize_t n = 0;

	if (!err && pipe(ends))
		err = -errno;
	if (!err) {
		err = seccomp_export_bpf(filter, ends[1]);
		close(ends[1]);
		n = err ? 0 : read(ends[0], program, FILTER_MAX * sizeof(*program));
		close(ends[0]);
	}
	seccomp_release(filter);
	return err ?: n > 0 ? (int)((size_t)n / sizeof(*program)) : -EIO;
}

int notify_install(void)
{
	/* Not the mitigation that a filter had until Linux 5.16, which slows the command down. */
	const unsigned int flags = SECCOMP_FILTER_FLAG_NEW_LISTENER |
				   SECCOMP_FILTER_FLAG_SPEC_ALLOW;
	struct sock_filter program[FILTER_MAX];
	struct sock_fprog description = {.filter = program};
	/* No call that was intercepted could go on before (SECCOMP_USER_NOTIF_FLAG_CONTINUE). */
	int len = tcptuned_version_is_linux(5, 5) ? read_program(program) : -ENOSYS, fd;

	if (len < 0)
		return len;
	description.len = (unsigned short)len;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* A signal does not interrupt a call that is being answered (Linux 5.19). */
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			  flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &description);
	if (fd < 0 && errno == EINVAL)
		fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &description);
	return fd < 0 ? -errno : fd;
}

int notify_init(struct notify *notify, int fd)
{
	struct seccomp_notif_sizes sizes;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes))
		return -errno;
	notify->notification_size = MAX(sizes.seccomp_notif, sizeof(struct seccomp_notif));
	notify->response_size = MAX(sizes.seccomp_notif_resp, sizeof(struct seccomp_notif_resp));
	notify->notification = malloc(notify->notification_size);
	notify->response = malloc(notify->response_size);
	if (!notify->notification || !notify->response)
		return -ENOMEM;
	notify->fd = fd;
	return 0;
}

/* Says, once, that a process cannot be looked at. */
static void report_refusal(struct notify *notify, const char *path)
{
	if (notify->refused)
		return;
	notify->refused = true;
	fprintf(stderr,
		"tcptune-run: buffer sizes that the command sets are not intercepted: %s: %s\n",
		path, strerror(errno));
}

/* Returns the inode of a TCP socket; 0: it is not one, or cannot be looked at. */
static unsigned int tcp_inode(struct notify *notify, const struct seccomp_notif *n)
{
	char path[64], text[64] = "";
	unsigned int inode = 0;

	snprintf(path, sizeof(path), "/proc/%u/fd/%d", n->pid, (int)n->data.args[0]);
	if (getxattr(path, "system.sockprotoname", text, sizeof(text) - 1) < 0) {
		if (errno == EACCES)
			report_refusal(notify, path);
		return 0;
	}
	if (strcmp(text, "TCP") && strcmp(text, "TCPv6"))
		return 0;
	memset(text, 0, sizeof(text));
	if (readlink(path, text, sizeof(text) - 1) < 0 || sscanf(text, "socket:[%u]", &inode) != 1)
		return 0;
	return inode;
}

/* Whether the process itself may read, or write, all of these bytes. */
static bool is_permitted(const struct seccomp_notif *n, bool write, uint64_t address, size_t size)
{
	_cleanup_fclose_ FILE *maps = NULL;
	char path[32], permissions[5];
	uint64_t from, to;

	snprintf(path, sizeof(path), "/proc/%u/maps", n->pid);
	maps = fopen(path, "re");
	while (size && maps &&
	       fscanf(maps, "%" SCNx64 "-%" SCNx64 " %4s%*[^\n]", &from, &to, permissions) == 3) {
		if (address < from || address >= to || permissions[write] != (write ? 'w' : 'r'))
			continue;
		size -= MIN(size, to - address);
		address = to;
	}
	return !size;
}

/* By /proc/PID/mem, which ignores the protection of pages. */
static ssize_t copy_by_file(struct notify *notify, const struct seccomp_notif *n, bool write,
			    uint64_t address, void *data, size_t size)
{
	_cleanup_close_ int memory = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/mem", n->pid);
	memory = open(path, (write ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	if (memory < 0 && errno != ENOENT) /* it has not ended */
		report_refusal(notify, path);
	if (memory < 0 || !is_permitted(n, write, address, size))
		return -1;
	return write ? pwrite(memory, data, size, (off_t)address)
		     : pread(memory, data, size, (off_t)address);
}

/*
 * Copies from, or to, the memory of the process that waits for an answer. Returns false where the
 * kernel would fail with EFAULT, and if the process has ended meanwhile, so that this may be a
 * later one of the same number. Older Docker profiles forbid process_vm_readv().
 */
static bool copy_memory(struct notify *notify, const struct seccomp_notif *n, bool write,
			uint64_t address, void *data, size_t size)
{
	const struct iovec here = {data, size}, there = {(void *)(uintptr_t)address, size};
	const pid_t pid = (pid_t)n->pid;
	ssize_t copied = write ? process_vm_writev(pid, &here, 1, &there, 1, 0)
			       : process_vm_readv(pid, &here, 1, &there, 1, 0);

	if (copied < 0 && (errno == EPERM || errno == ENOSYS))
		copied = copy_by_file(notify, n, write, address, data, size);
	return copied == (ssize_t)size && !ioctl(notify->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &n->id);
}

/* Inodes are numbered in turn, so that an entry is replaced by that of a much later socket. */
static struct notify_request *entry_of(struct notify *notify, unsigned int inode)
{
	return &notify->requests[inode % ARRAY_SIZE(notify->requests)];
}

/* The memory that the kernel allots for a request, which it doubles, and whose sign it ignores. */
static unsigned int memory_for(const struct tuner_limits *limits, bool receive, int bytes)
{
	unsigned int max = (receive ? limits->rcvbuf : limits->sndbuf) ?: ~0u / 2;

	return (unsigned int)bytes < max / 2 ? 2 * (unsigned int)bytes : max;
}

/* A request for more than autotuning can reach is not too small. */
bool notify_withholds(const struct tuner_limits *limits, bool receive, int bytes)
{
	return (unsigned int)bytes >= REQUEST_MIN &&
	       memory_for(limits, receive, bytes) <
		       (receive ? limits->tuned_rcvbuf : limits->tuned_sndbuf);
}

/* Returns whether the call is answered here: it succeeds, and the kernel does not see it. */
static bool answer_set(struct notify *notify, const struct seccomp_notif *n, bool receive)
{
	unsigned int inode = tcp_inode(notify, n);
	struct notify_request *r = entry_of(notify, inode);
	int bytes;

	if (!inode || (int)n->data.args[4] < (int)sizeof(bytes) ||
	    !copy_memory(notify, n, false, n->data.args[3], &bytes, sizeof(bytes)))
		return false;
	if (r->inode != inode)
		*r = (struct notify_request){.inode = inode};
	r->honoured[!receive] |= !notify_withholds(&notify->limits, receive, bytes);
	r->bytes[!receive] = r->honoured[!receive] ? 0
						   : memory_for(&notify->limits, receive, bytes);
	return !r->honoured[!receive];
}

unsigned int notify_withheld(struct notify *notify, unsigned int inode, bool receive)
{
	const struct notify_request *r = entry_of(notify, inode);

	return inode && r->inode == inode ? r->bytes[!receive] : 0;
}

static bool answer_get(struct notify *notify, const struct seccomp_notif *n, bool receive)
{
	unsigned int value = notify_withheld(notify, tcp_inode(notify, n), receive);
	int length;

	if (!value || !copy_memory(notify, n, false, n->data.args[4], &length, sizeof(length)) ||
	    length < 0)
		return false;
	if (length > (int)sizeof(value))
		length = sizeof(value);
	return copy_memory(notify, n, true, n->data.args[3], &value, (size_t)length) &&
	       copy_memory(notify, n, true, n->data.args[4], &length, sizeof(length));
}

void notify_answer(struct notify *notify)
{
	struct seccomp_notif *n = notify->notification;
	struct seccomp_notif_resp *response = notify->response;
	bool receive, answered = false;

	memset(n, 0, notify->notification_size);
	memset(response, 0, notify->response_size);
	if (ioctl(notify->fd, SECCOMP_IOCTL_NOTIF_RECV, n))
		return;
	receive = (int)n->data.args[2] == SO_RCVBUF;
	if (n->data.nr == SYS_setsockopt) {
		answered = answer_set(notify, n, receive);
	} else if (n->data.nr == SYS_getsockopt) {
		answered = answer_get(notify, n, receive);
	} else if (!notify->own_notifier) {
		notify->own_notifier = true;
		fputs("tcptune-run: the command installs a seccomp notifier of its own, which the kernel "
		      "refuses next to that of tcptune-run; use --why, which has none\n",
		      stderr);
	}
	response->id = n->id;
	response->flags = answered ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	ioctl(notify->fd, SECCOMP_IOCTL_NOTIF_SEND, response);
}
