/* SPDX-License-Identifier: GPL-2.0-only */
/* The sockets of all processes below this one, by /proc. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* One descriptor of a socket of any kind, which other descriptors may share. */
struct tree_socket {
	unsigned int inode;
	pid_t pid;
	int fd;
};

/* All zeroes: empty. */
struct tree {
	struct tree_socket *sockets; /* sorted by inode, then by process */
	size_t len, size;
};

/* Read it again. Returns 0, or an error of the system; what could be read is in @tree also then. */
int tree_scan(struct tree *tree);

const struct tree_socket *tree_find(const struct tree *tree, unsigned int inode);
