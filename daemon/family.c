// SPDX-License-Identifier: GPL-2.0-only
#include "family.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <zlib.h>

#include "aimd.skel.h"
#include "cleanup.h"
#include "hstcp.skel.h"
#include "pin.h"
#include "stcp.skel.h"
#include "structops.h"
#include "tt_reno.skel.h"
#include "tt_vegas.skel.h"

static const void *(*const elf_of[TCPTUNED_FAMILY_MEMBERS])(size_t *) = {
	aimd_bpf__elf_bytes,	hstcp_bpf__elf_bytes,	 stcp_bpf__elf_bytes,
	tt_reno_bpf__elf_bytes, tt_vegas_bpf__elf_bytes,
};

uint32_t tcptuned_family_find(const char *name)
{
	for (unsigned int i = 0; i < TCPTUNED_FAMILY_MEMBERS; i++)
		if (!strcmp(tcptuned_family_names[i], name))
			return 1u << i;
	return 0;
}

uint32_t tcptuned_family_crc(uint32_t crc)
{
	for (unsigned int i = 0; i < TCPTUNED_FAMILY_MEMBERS; i++) {
		size_t size;
		const void *elf = elf_of[i](&size);

		crc = crc32(crc, elf, size);
	}
	return crc;
}

/* ---- pins ----------------------------------------------------------------------------- */

static void pin_path(const char *pin_dir, const char *kind, unsigned int which,
		     char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s_%s", pin_dir, kind, tcptuned_family_names[which]);
}

static int open_pin(const char *pin_dir, const char *kind, unsigned int which)
{
	char path[PATH_MAX];

	pin_path(pin_dir, kind, which, path);
	return bpf_obj_get(path);
}

static int pin(const char *pin_dir, const char *kind, unsigned int which, int fd)
{
	char path[PATH_MAX], new[PATH_MAX];

	pin_path(pin_dir, kind, which, path);
	pin_path(pin_dir, "new", which, new);
	return tcptuned_pin_replace(fd, path, new);
}

static void unpin(const char *pin_dir, const char *kind, unsigned int which)
{
	char path[PATH_MAX];

	pin_path(pin_dir, kind, which, path);
	unlink(path);
}

uint32_t tcptuned_family_registered(const char *pin_dir)
{
	char path[PATH_MAX];
	uint32_t set = 0;

	for (unsigned int i = 0; i < TCPTUNED_FAMILY_MEMBERS; i++) {
		pin_path(pin_dir, "map", i, path);
		if (!access(path, F_OK))
			set |= 1u << i;
	}
	return set;
}

/* ---- registration ----------------------------------------------------------------------- */

void tcptuned_family_unregister(const char *pin_dir, unsigned int which)
{
	int link_fd = open_pin(pin_dir, "link", which);
	_cleanup_close_ int map_fd = open_pin(pin_dir, "map", which);

	unpin(pin_dir, "link", which);
	unpin(pin_dir, "map", which);
	unpin(pin_dir, "new", which); /* of a daemon that was killed between pinning and renaming */
	/* The last descriptor after the pin: the kernel ends the registration at once then. */
	if (link_fd >= 0)
		close(link_fd);
	else if (map_fd >= 0)
		tcptuned_structops_unregister(map_fd);
}

/* NULL with errno: the kernel does not take it in that way. */
static struct bpf_object *load(unsigned int which, uint32_t map_flags)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = tcptuned_family_names[which]);
	struct bpf_object *object;
	size_t size;
	const void *elf = elf_of[which](&size);
	int error;

	object = bpf_object__open_mem(elf, size, &opts);
	if (!object)
		return NULL;
	error = bpf_map__set_map_flags(
		bpf_object__find_map_by_name(object, tcptuned_family_names[which]), map_flags);
	if (!error)
		error = bpf_object__load(object);
	if (!error)
		return object;
	bpf_object__close(object);
	errno = -error;
	return NULL;
}

/* The map last: it tells that all is there. */
static int register_and_pin(const char *pin_dir, unsigned int which, struct bpf_map *map)
{
	_cleanup_close_ int link_fd = -1;
	int error = tcptuned_structops_register(map, &link_fd);

	if (error)
		return error;
	if (link_fd >= 0)
		error = pin(pin_dir, "link", which, link_fd);
	if (!error)
		error = pin(pin_dir, "map", which, bpf_map__fd(map));
	if (!error)
		return 0;
	unpin(pin_dir, "link", which);
	if (link_fd < 0)
		tcptuned_structops_unregister(bpf_map__fd(map));
	return error;
}

/* The end of its descriptor here: nothing may hold a name that is to be registered anew. */
static int replace(const char *pin_dir, unsigned int which, struct bpf_map *map)
{
	_cleanup_close_ int link_fd = open_pin(pin_dir, "link", which);

	return tcptuned_structops_replace(map, link_fd);
}

/* In one step where there is a link to take over; elsewhere the older registration ends first. */
static int replace_and_pin(const char *pin_dir, unsigned int which, struct bpf_map *map)
{
	if (!replace(pin_dir, which, map))
		return pin(pin_dir, "map", which, bpf_map__fd(map));
	tcptuned_family_unregister(pin_dir, which);
	return register_and_pin(pin_dir, which, map);
}

int tcptuned_family_register(const char *pin_dir, unsigned int which)
{
	struct bpf_object *object = load(which, TCPTUNED_STRUCTOPS_LINK);
	int error;

	if (!object)
		object = load(which, 0);
	if (!object)
		return -errno;
	error = replace_and_pin(pin_dir, which,
				bpf_object__find_map_by_name(object,
							     tcptuned_family_names[which]));
	bpf_object__close(object);
	return error;
}
