/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* TCP sockets of this network namespace, by sock_diag(7), and of a process, without a privilege. */
#pragma once

#include <stddef.h>
#include <sys/types.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#define DIAG_STATE(state) (1u << (state))
#define DIAG_ESTABLISHED  1 /* TCP_ESTABLISHED of the kernel, whose header netinet/tcp.h excludes */
#define DIAG_CLOSE	  7
#define DIAG_LISTEN	  10

/* Members that the kernel lacks are zero, and those that <linux/tcp.h> lacks are in the rest. */
union diag_info {
	struct tcp_info tcp;
	__u32 words[96];
};

struct diag_socket {
	struct inet_diag_msg message;
	union diag_info info;
	int has_info;
	__u32 memory[SK_MEMINFO_VARS];
	char congestion_control[16];
};

/* What is called for each socket of an answer. */
typedef void diag_handler(const struct diag_socket *socket, void *context);

/* The bytes of the advertised window; 0: Linux before 6.2. */
static inline __u32 diag_receive_window(const union diag_info *info)
{
	return info->words[offsetof(struct tcp_info, tcpi_snd_wnd) / sizeof(__u32) + 1];
}

/* Of both directions. */
static inline __u64 diag_bytes(const struct tcp_info *info)
{
	return info->tcpi_bytes_received + info->tcpi_bytes_acked;
}

/* Whether most of the bytes were received. */
static inline int diag_receives(const struct tcp_info *info)
{
	return info->tcpi_bytes_received > info->tcpi_bytes_acked;
}

/* The receiver's estimate; the sender's if there is none. */
static inline __u32 diag_receive_rtt_us(const struct tcp_info *info)
{
	return info->tcpi_rcv_rtt ? info->tcpi_rcv_rtt : info->tcpi_rtt;
}

/* The one of the direction of most bytes. */
static inline __u32 diag_rtt_us(const struct tcp_info *info)
{
	return diag_receives(info) ? diag_receive_rtt_us(info) : info->tcpi_rtt;
}

/*
 * Call @handler for each socket of @pid, of any kind, by the links of /proc/PID/fd. What it
 * returns, if not 0, ends that. Returns 0, that value, or an error of the system.
 */
typedef int diag_descriptor_handler(unsigned int inode, int fd, void *context);
int diag_descriptors(pid_t pid, diag_descriptor_handler *handler, void *context);

/*
 * Open a socket for requests, or, with @closed, one that receives the last state of each connection
 * when it is destroyed. Returns a descriptor, or an error of the system.
 */
int diag_open(int closed);

/*
 * Read the sockets, IPv4 and IPv6, in @states, with the remote port @port (0: any). Returns 0, or
 * an error of the system, after which @fd must be closed: it may still receive the answer.
 */
int diag_dump(int fd, unsigned int states, unsigned int port, diag_handler *handler, void *context);

/* Read one socket. -ENOENT: it does not exist any more. */
int diag_get(int fd, int family, const struct inet_diag_sockid *id, diag_handler *handler,
	     void *context);

/* Read the connections that were destroyed, but for those the kernel had to drop; do not wait. */
int diag_read_closed(int fd, diag_handler *handler, void *context);
