// SPDX-License-Identifier: GPL-2.0-only
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/diag.h"
#include "util/cleanup.h"

#define DEPTH_MAX 64

static int compare(const void *a, const void *b)
{
	const struct tree_socket *x = a, *y = b;

	return x->inode != y->inode ? (x->inode > y->inode) - (x->inode < y->inode)
				    : x->pid - y->pid;
}

struct scanning {
	struct tree *tree;
	pid_t pid;
};

static int add_socket(unsigned int inode, int fd, void *context)
{
	const struct scanning *scanning = context;
	struct tree *tree = scanning->tree;
	struct tree_socket *sockets = tree->sockets;

	if (tree->len == tree->size) {
		sockets = realloc(sockets, (2 * tree->size + 64) * sizeof(*sockets));
		if (!sockets)
			return -ENOMEM;
		tree->sockets = sockets;
		tree->size = 2 * tree->size + 64;
	}
	sockets[tree->len++] = (struct tree_socket){inode, scanning->pid, fd};
	return 0;
}

/*
 * Scans the children of each thread of @pid, since a child is listed with the thread that made it.
 */
static int scan_children(struct tree *tree, pid_t pid, int depth)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	char path[96];
	int err = 0, e, child;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		_cleanup_fclose_ FILE *children = NULL;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid,
			 entry->d_name);
		children = fopen(path, "re");
		if (!children)
			err = -errno;
		while (children && fscanf(children, "%d", &child) == 1) {
			/* A process that has ended, or has become privileged, is not an error. */
			diag_descriptors(child, add_socket, &(struct scanning){tree, child});
			e = depth < DEPTH_MAX ? scan_children(tree, child, depth + 1) : 0;
			err = e == -ENOMEM ? e : err;
		}
	}
	return err;
}

int tree_scan(struct tree *tree)
{
	int err;

	tree->len = 0;
	err = scan_children(tree, getpid(), 0);
	if (tree->len)
		qsort(tree->sockets, tree->len, sizeof(*tree->sockets), compare);
	return err;
}

const struct tree_socket *tree_find(const struct tree *tree, unsigned int inode)
{
	size_t low = 0, high = tree->len;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (tree->sockets[middle].inode < inode)
			low = middle + 1;
		else
			high = middle;
	}
	return low < tree->len && tree->sockets[low].inode == inode ? &tree->sockets[low] : NULL;
}
