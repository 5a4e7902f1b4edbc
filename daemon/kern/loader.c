// SPDX-License-Identifier: GPL-2.0-only
#include "kern/loader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <zlib.h>

#include <tcptuned/abi/flow.h>
#include <tcptuned/abi/meta.h>
#include <tcptuned/algo/path.h>

#include "cc/bitcp.skel.h"
#include "kern/iterators.h"
#include "kern/pins.h"
#include "kern/struct_ops.h"
#include "manage.skel.h"
#include "scan.skel.h"
#include "sockopt.skel.h"
#include "tuner.skel.h"
#include "util/cleanup.h"

#define PATH_BYTES (TCPTUNED_PIN_DIR_MAX + 64)

/* As in the objects; pinned under the same names. Those of bitcp follow. */
static const char *const prog_name[TCPTUNED_PROG_BITCP_FIRST] = {
	[TCPTUNED_PROG_SOCKOPS] = "tcptuned_sockops",
	[TCPTUNED_PROG_SETSOCKOPT] = "tcptuned_setsockopt",
	[TCPTUNED_PROG_GETSOCKOPT] = "tcptuned_getsockopt",
	[TCPTUNED_PROG_DESTROYED] = "tcptuned_destroyed",
	[TCPTUNED_PROG_DUMP_FLOWS] = "dump_flows",
	[TCPTUNED_PROG_ADOPT_FLOWS] = "adopt_flows",
	[TCPTUNED_PROG_RELEASE_FLOWS] = "release_flows",
	[TCPTUNED_PROG_UNDO_OVERRIDES] = "undo_overrides",
	[TCPTUNED_PROG_APPLY_POLICIES] = "apply_policies",
	[TCPTUNED_PROG_REST_FLOWS] = "rest_flows",
	[TCPTUNED_PROG_RECALL_FLOWS] = "recall_flows",
};

static const char *const map_name[TCPTUNED_MAPS] = {
	[TCPTUNED_MAP_META] = "meta",
	[TCPTUNED_MAP_POLICIES] = "policies",
	[TCPTUNED_MAP_MATCH] = "match",
	[TCPTUNED_MAP_RULES] = "rules",
	[TCPTUNED_MAP_FLOWS] = "flows",
	[TCPTUNED_MAP_TOTALS] = "totals",
	[TCPTUNED_MAP_BUDGET] = "budget",
	[TCPTUNED_MAP_EVENT_GATE] = "event_gate",
	[TCPTUNED_MAP_EVENTS] = "events",
	[TCPTUNED_MAP_PATHS] = "paths",
	[TCPTUNED_MAP_PATH_SETTINGS] = "path_settings",
	[TCPTUNED_MAP_BITCP_PARAMS] = "bitcp_params",
	[TCPTUNED_MAP_READOUT] = "readout",
	[TCPTUNED_MAP_COLLECTED] = "collected",
};

static const char *const link_name[TCPTUNED_LINKS] = {
	[TCPTUNED_LINK_SOCKOPS] = "sockops",	   [TCPTUNED_LINK_SETSOCKOPT] = "setsockopt",
	[TCPTUNED_LINK_GETSOCKOPT] = "getsockopt", [TCPTUNED_LINK_DESTROYED] = "destroyed",
	[TCPTUNED_LINK_DUMP] = "dump",
	[TCPTUNED_LINK_ADOPT] = "adopt",	   [TCPTUNED_LINK_RELEASE] = "release",
	[TCPTUNED_LINK_UNDO_OVERRIDES] = "undo_overrides",
	[TCPTUNED_LINK_APPLY] = "apply",	   [TCPTUNED_LINK_REST] = "rest",
	[TCPTUNED_LINK_RECALL] = "recall",	   [TCPTUNED_LINK_BITCP] = "bitcp",
};

/* The objects that have to load, in this order. BI-TCP is another one, which need not. */
static const struct {
	const char *name;
	const void *(*elf_bytes)(size_t *size);
	const char *what;
} object_file[] = {
	{ "tuner", tuner_bpf__elf_bytes, "the right-sizing programs" },
	{ "sockopt", sockopt_bpf__elf_bytes, "the socket option programs" },
	{ "scan", scan_bpf__elf_bytes, "the iterators" },
	{ "manage", manage_bpf__elf_bytes, "the iterators" },
};

#define OBJECTS (sizeof(object_file) / sizeof(object_file[0]))

/* The same, while they are being loaded. */
struct objects {
	struct bpf_object *object[OBJECTS];
	struct bitcp_bpf *bitcp; /* NULL: the kernel has no struct_ops */
};

static void objects_close(struct objects *o)
{
	for (size_t i = 0; i < OBJECTS; i++)
		bpf_object__close(o->object[i]);
	bitcp_bpf__destroy(o->bitcp);
}

#define _cleanup_objects_ __attribute__((cleanup(objects_close)))

/* ---- libbpf's own words: the last lines are kept for the error message ---------------- */

static char libbpf_said[512];

static int keep_libbpf_words(enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(libbpf_said, sizeof(libbpf_said), fmt, args);
	libbpf_said[strcspn(libbpf_said, "\n")] = '\0';
	return 0;
}

/* ---- pins ----------------------------------------------------------------------------- */

static const char *pin_path(const struct tcptuned_kernel *k, const char *kind, const char *name,
			    char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s_%s", k->pin_dir, kind, name);
	return path;
}

static int pin(const struct tcptuned_kernel *k, const char *kind, const char *name, int fd)
{
	char path[PATH_BYTES], new[PATH_BYTES];

	return tcptuned_pin_replace(fd, pin_path(k, kind, name, path),
				    pin_path(k, "new", name, new));
}

static void unpin(const struct tcptuned_kernel *k, const char *kind, const char *name)
{
	char path[PATH_BYTES];

	unlink(pin_path(k, kind, name, path));
}

static int open_pin(const struct tcptuned_kernel *k, const char *kind, const char *name)
{
	char path[PATH_BYTES];
	int fd = bpf_obj_get(pin_path(k, kind, name, path));

	return fd < 0 ? -1 : fd;
}

/* Everything under the directory, known or not: a later build may have pinned more. */
static void unpin_all(const struct tcptuned_kernel *k)
{
	_cleanup_closedir_ DIR *dir = opendir(k->pin_dir);
	char path[PATH_BYTES + 256];
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", k->pin_dir, entry->d_name);
		unlink(path);
	}
	rmdir(k->pin_dir);
}

void tcptuned_kernel_init(struct tcptuned_kernel *k, const char *bpffs)
{
	memset(k, 0, sizeof(*k));
	memset(k->map_fd, -1, sizeof(k->map_fd));
	memset(k->prog_fd, -1, sizeof(k->prog_fd));
	memset(k->link_fd, -1, sizeof(k->link_fd));
	k->bitcp_map_fd = -1;
	snprintf(k->pin_dir, sizeof(k->pin_dir), "%s/tcptuned", bpffs);
	libbpf_set_print(keep_libbpf_words);
}

static bool is_paths_map(int fd)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info);

	return fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) &&
	       info.key_size == sizeof(struct tcptuned_path_key) &&
	       info.value_size == sizeof(struct tcptuned_path);
}

/* Has the map of paths this build's records? One that has not is let go of. */
static bool paths_fit(struct tcptuned_kernel *k)
{
	int *fd = &k->map_fd[TCPTUNED_MAP_PATHS];

	if (is_paths_map(*fd))
		return true;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return false;
}

/* ---- loading -------------------------------------------------------------------------- */

static uint32_t build_of_objects(void)
{
	uint32_t crc = crc32(0, NULL, 0);
	const void *elf;
	size_t size;

	for (size_t i = 0; i < OBJECTS; i++) {
		elf = object_file[i].elf_bytes(&size);
		crc = crc32(crc, elf, size);
	}
	elf = bitcp_bpf__elf_bytes(&size);
	return crc32(crc, elf, size);
}

static int load_failed(struct tcptuned_error *err, int errnum, const char *what)
{
	if (errnum == EPERM)
		return tcptuned_fail(err, errnum, TCPTUNED_EXIT_NOT_PERMITTED,
				     "the kernel does not let this process load %s; run it as "
				     "root, or with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON",
				     what);
	return tcptuned_fail(err, errnum, TCPTUNED_EXIT_KERNEL,
			     "this kernel does not take %s (%s: %s); tcptuned needs Linux 6.1 "
			     "or later with CONFIG_DEBUG_INFO_BTF",
			     what, strerror(errnum), libbpf_said);
}

/* Of this process, not of the kernel: descriptors or memory. */
static int maps_failed(struct tcptuned_error *err, int errnum)
{
	return tcptuned_fail(err, errnum, TCPTUNED_EXIT_INTERNAL,
			     "the programs cannot be given the maps that they share: %s%s",
			     strerror(errnum),
			     errnum == EMFILE || errnum == ENFILE
				     ? "; allow more open files (LimitNOFILE=, ulimit -n)"
				     : "");
}

const char *tcptuned_prog_name(enum tcptuned_prog which)
{
	return which < TCPTUNED_PROG_BITCP_FIRST ? prog_name[which] : NULL;
}

const char *tcptuned_map_name(enum tcptuned_map which)
{
	return map_name[which];
}

/*
 * Have the maps of @object be those that are there already: pinned, or of an object before. With
 * one of its own, the programs would write what nobody reads. 0 or a negative errno.
 */
static int reuse_maps(const struct tcptuned_kernel *k, struct bpf_object *object)
{
	for (int i = 0; i < TCPTUNED_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, map_name[i]);
		int error = map && k->map_fd[i] >= 0 ? bpf_map__reuse_fd(map, k->map_fd[i]) : 0;

		if (error)
			return error;
	}
	return 0;
}

/* 0 or a negative errno; then the slot is empty. */
static int keep_fd(int *slot, int fd)
{
	if (*slot >= 0)
		close(*slot);
	*slot = fd < 0 ? -1 : dup(fd);
	return fd >= 0 && *slot < 0 ? -errno : 0;
}

/* The maps that @object, now loaded, brought along. 0 or a negative errno. */
static int keep_maps(struct tcptuned_kernel *k, const struct bpf_object *object)
{
	for (int i = 0; i < TCPTUNED_MAPS; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, map_name[i]);
		int error = map && k->map_fd[i] < 0 ? keep_fd(&k->map_fd[i], bpf_map__fd(map)) : 0;

		if (error)
			return error;
	}
	return 0;
}

/* The object that manages open connections has to know the cgroup. 0 or a negative errno. */
static int set_cgroup(struct bpf_object *object, int cgroup_fd)
{
	struct bpf_map *rodata = bpf_object__find_map_by_name(object, ".rodata.cgroup");
	struct stat cgroup;
	__u64 id;

	if (!rodata)
		return 0;
	if (fstat(cgroup_fd, &cgroup))
		return -errno;
	id = cgroup.st_ino;
	return bpf_map__set_initial_value(rodata, &id, sizeof(id));
}

/* Each object shares the maps of those before. */
static int load_objects(struct tcptuned_kernel *k, struct objects *o, int cgroup_fd,
			struct tcptuned_error *err)
{
	size_t size;
	int error;

	k->paths_kept = paths_fit(k);
	for (size_t i = 0; i < OBJECTS; i++) {
		const void *elf = object_file[i].elf_bytes(&size);
		LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = object_file[i].name);

		o->object[i] = bpf_object__open_mem(elf, size, &opts);
		error = o->object[i] ? set_cgroup(o->object[i], cgroup_fd) : -errno;
		if (error)
			return load_failed(err, -error, object_file[i].what);
		error = reuse_maps(k, o->object[i]);
		if (error)
			return maps_failed(err, -error);
		error = bpf_object__load(o->object[i]);
		if (error)
			return load_failed(err, -error, object_file[i].what);
		error = keep_maps(k, o->object[i]);
		if (error)
			return maps_failed(err, -error);
	}
	return 0;
}

static int load_bitcp_with(struct tcptuned_kernel *k, struct objects *o, uint32_t map_flags)
{
	int error;

	o->bitcp = bitcp_bpf__open();
	if (!o->bitcp)
		return -errno;
	error = reuse_maps(k, o->bitcp->obj);
	if (!error)
		error = bpf_map__set_map_flags(o->bitcp->maps.bitcp, map_flags);
	if (!error && bitcp_bpf__load(o->bitcp))
		error = -errno;
	if (!error)
		error = keep_maps(k, o->bitcp->obj);
	if (error) {
		bitcp_bpf__destroy(o->bitcp);
		o->bitcp = NULL;
	}
	return error;
}

/* Not fatal: right-sizing works without it. As a link where the kernel has such links. */
static void load_bitcp(struct tcptuned_kernel *k, struct objects *o)
{
	int error = load_bitcp_with(k, o, TCPTUNED_STRUCTOPS_LINK);

	if (error)
		error = load_bitcp_with(k, o, 0);
	if (error)
		snprintf(k->why_no_bitcp, sizeof(k->why_no_bitcp),
			 "the kernel does not take BI-TCP as a BPF struct_ops (%s: %.150s)",
			 strerror(-error), libbpf_said);
}

/* ---- attaching ------------------------------------------------------------------------ */

/* What runs on the cgroup's sockets. */
static const struct {
	enum tcptuned_link link; /* and enum tcptuned_prog, which has the same order */
	enum bpf_attach_type type;
	const char *hook; /* as bpftool calls it */
} on_cgroup[] = {
	{ TCPTUNED_LINK_SOCKOPS, BPF_CGROUP_SOCK_OPS, "cgroup_sock_ops" },
	{ TCPTUNED_LINK_SETSOCKOPT, BPF_CGROUP_SETSOCKOPT, "cgroup_setsockopt" },
	{ TCPTUNED_LINK_GETSOCKOPT, BPF_CGROUP_GETSOCKOPT, "cgroup_getsockopt" },
};

_Static_assert((int)TCPTUNED_LINK_BITCP == (int)TCPTUNED_PROG_BITCP_FIRST,
	       "programs and their links have the same order");

#define ON_CGROUP (sizeof(on_cgroup) / sizeof(on_cgroup[0]))

static bool is_on_cgroup(int link_fd, int cgroup_fd)
{
	struct bpf_link_info info = { 0 };
	__u32 len = sizeof(info);
	struct stat cgroup;

	return link_fd >= 0 && !bpf_obj_get_info_by_fd(link_fd, &info, &len) &&
	       !fstat(cgroup_fd, &cgroup) && info.cgroup.cgroup_id == cgroup.st_ino;
}

static void name_of_cgroup(int cgroup_fd, char *ret, size_t size)
{
	char link[32];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", cgroup_fd);
	len = readlink(link, ret, size - 1);
	if (len < 0)
		snprintf(ret, size, "the cgroup");
	else
		ret[len] = '\0';
}

/*
 * __cgroup_bpf_attach() refuses with EPERM beside or below a program that is attached without
 * BPF_F_ALLOW_MULTI, and with E2BIG beyond 64 of them. Who lacks the rights has loaded none.
 */
static int link_refused(int errnum, const char *hook, int cgroup_fd, struct tcptuned_error *err)
{
	char path[600];

	name_of_cgroup(cgroup_fd, path, sizeof(path));
	if (errnum == EPERM)
		return tcptuned_fail(err, errnum, TCPTUNED_EXIT_IN_USE,
				     "another program holds the %s hook of %s alone, or that of "
				     "a cgroup above (bpftool cgroup tree); attach that one with "
				     "\"multi\", or name another tcptuned.cgroup",
				     hook, path);
	if (errnum == E2BIG)
		return tcptuned_fail(err, errnum, TCPTUNED_EXIT_IN_USE,
				     "the %s hook of %s has as many programs as the kernel "
				     "allows (bpftool cgroup show); detach one that is not needed, "
				     "or name another tcptuned.cgroup",
				     hook, path);
	return load_failed(err, errnum, "a program on the cgroup");
}

/* A link to the cgroup for each program that has none there. */
static int make_links(const struct tcptuned_kernel *k, int cgroup_fd, int made[ON_CGROUP],
		      struct tcptuned_error *err)
{
	for (size_t i = 0; i < ON_CGROUP; i++) {
		if (is_on_cgroup(k->link_fd[on_cgroup[i].link], cgroup_fd))
			continue;
		made[i] = bpf_link_create(k->prog_fd[on_cgroup[i].link], cgroup_fd,
					  on_cgroup[i].type, NULL);
		if (made[i] < 0)
			return link_refused(errno, on_cgroup[i].hook, cgroup_fd, err);
	}
	return 0;
}

/* In the links that are there, where none was made: never a gap between. */
static int swap_programs(const struct tcptuned_kernel *k, const int made[ON_CGROUP],
			 struct tcptuned_error *err)
{
	for (size_t i = 0; i < ON_CGROUP; i++)
		if (made[i] < 0 && bpf_link_update(k->link_fd[on_cgroup[i].link],
						   k->prog_fd[on_cgroup[i].link], NULL))
			return load_failed(err, errno, "a program on the cgroup");
	return 0;
}

static void replace_link(int *link_fd, int by)
{
	if (*link_fd >= 0) {
		bpf_link_detach(*link_fd);
		close(*link_fd);
	}
	*link_fd = by;
}

/*
 * All of them, or none: what ran here or elsewhere goes on then. New links come first, for the
 * cgroup may refuse them; to have its program swapped only a link refuses that somebody has
 * detached meanwhile (cgroup_bpf_replace()).
 */
static int attach_cgroup(struct tcptuned_kernel *k, int cgroup_fd, struct tcptuned_error *err)
{
	int made[ON_CGROUP], error;

	memset(made, -1, sizeof(made));
	error = make_links(k, cgroup_fd, made, err);
	if (!error)
		error = swap_programs(k, made, err);
	for (size_t i = 0; i < ON_CGROUP; i++) {
		if (made[i] < 0)
			continue;
		if (error)
			close(made[i]);
		else
			replace_link(&k->link_fd[on_cgroup[i].link], made[i]);
	}
	return error;
}

/* Beside the one that runs, until that one's pin is replaced: whoever is second finds nothing. */
static int attach_destroyed(struct tcptuned_kernel *k, struct tcptuned_error *err)
{
	int *link_fd = &k->link_fd[TCPTUNED_LINK_DESTROYED];
	int fd = bpf_link_create(k->prog_fd[TCPTUNED_PROG_DESTROYED], 0, BPF_TRACE_RAW_TP, NULL);

	if (fd < 0)
		return load_failed(err, errno, "a program at the end of a socket");
	if (*link_fd >= 0)
		close(*link_fd);
	*link_fd = fd;
	return 0;
}

static int attach_iterators(struct tcptuned_kernel *k, struct tcptuned_error *err)
{
	union bpf_iter_link_info flows = { .map.map_fd = k->map_fd[TCPTUNED_MAP_FLOWS] };
	int fd;

	for (int i = TCPTUNED_LINK_DUMP; i <= TCPTUNED_LINK_RECALL; i++) {
		LIBBPF_OPTS(bpf_link_create_opts, opts);

		if (i == TCPTUNED_LINK_DUMP) {
			opts.iter_info = &flows;
			opts.iter_info_len = sizeof(flows);
		}
		fd = bpf_link_create(k->prog_fd[i], 0, BPF_TRACE_ITER, &opts);
		if (fd < 0)
			return load_failed(err, errno, prog_name[i]);
		if (k->link_fd[i] >= 0)
			close(k->link_fd[i]);
		k->link_fd[i] = fd;
	}
	return 0;
}

static void unregister_bitcp(struct tcptuned_kernel *k)
{
	unpin(k, "link", link_name[TCPTUNED_LINK_BITCP]);
	unpin(k, "map", "bitcp");
	unpin(k, "new", "bitcp"); /* of a daemon that was killed between pinning and renaming */
	if (k->link_fd[TCPTUNED_LINK_BITCP] >= 0)
		close(k->link_fd[TCPTUNED_LINK_BITCP]);
	else if (k->bitcp_map_fd >= 0)
		tcptuned_structops_unregister(k->bitcp_map_fd);
	if (k->bitcp_map_fd >= 0)
		close(k->bitcp_map_fd);
	k->link_fd[TCPTUNED_LINK_BITCP] = -1;
	k->bitcp_map_fd = -1;
	k->bitcp = false;
}

/*
 * In place of an older registration, in one step where that is a link. Elsewhere, and without
 * links, the name is taken while the older one holds it: that ends first.
 */
static int register_bitcp(struct tcptuned_kernel *k, struct bpf_map *map)
{
	int *link_fd = &k->link_fd[TCPTUNED_LINK_BITCP], error;
	_cleanup_close_ int map_fd = dup(bpf_map__fd(map));

	if (map_fd < 0) /* first: without it, nobody could take back what is registered */
		return -errno;
	if (tcptuned_structops_replace(map, *link_fd)) {
		unregister_bitcp(k);
		error = tcptuned_structops_register(map, link_fd);
		if (error)
			return error;
	}
	if (k->bitcp_map_fd >= 0)
		close(k->bitcp_map_fd);
	k->bitcp_map_fd = tcptuned_take_fd(&map_fd);
	k->bitcp = true;
	return 0;
}

static void attach_bitcp(struct tcptuned_kernel *k, struct objects *o)
{
	int error;

	if (!o->bitcp) {
		unregister_bitcp(k);
		return;
	}
	error = register_bitcp(k, o->bitcp->maps.bitcp);
	if (error)
		snprintf(k->why_no_bitcp, sizeof(k->why_no_bitcp),
			 "BI-TCP could not be registered (%s)%s", strerror(-error),
			 error == -EEXIST ? ": a congestion control of the name bitcp is there "
					    "already, see bpftool struct_ops show"
					  : "");
}

/* 0 or a negative errno. */
static int keep_descriptors(struct tcptuned_kernel *k, struct objects *o)
{
	int next = TCPTUNED_PROG_BITCP_FIRST, error = 0;
	struct bpf_program *prog;

	for (int i = 0; i < TCPTUNED_PROG_BITCP_FIRST && !error; i++) {
		prog = NULL;
		for (size_t j = 0; j < OBJECTS && !prog; j++)
			prog = bpf_object__find_program_by_name(o->object[j], prog_name[i]);
		error = prog ? keep_fd(&k->prog_fd[i], bpf_program__fd(prog)) : -ENOENT;
	}
	if (!o->bitcp)
		return error;
	bpf_object__for_each_program(prog, o->bitcp->obj) {
		if (next < TCPTUNED_PROGS && !error)
			error = keep_fd(&k->prog_fd[next++], bpf_program__fd(prog));
	}
	return error;
}

static int pin_programs(const struct tcptuned_kernel *k, const struct bpf_object *object)
{
	struct bpf_program *prog;
	int error;

	bpf_object__for_each_program(prog, object) {
		error = pin(k, "prog", bpf_program__name(prog), bpf_program__fd(prog));
		if (error)
			return error;
	}
	return 0;
}

static int pin_all_but_meta(struct tcptuned_kernel *k, struct objects *o)
{
	int i, error = 0;

	for (i = 0; i < TCPTUNED_MAPS && !error; i++)
		if (i != TCPTUNED_MAP_META && k->map_fd[i] >= 0)
			error = pin(k, "map", map_name[i], k->map_fd[i]);
	for (i = 0; i < TCPTUNED_LINKS && !error; i++)
		if (k->link_fd[i] >= 0)
			error = pin(k, "link", link_name[i], k->link_fd[i]);
	if (!error && k->bitcp)
		error = pin(k, "map", "bitcp", k->bitcp_map_fd);
	for (size_t j = 0; j < OBJECTS && !error; j++)
		error = pin_programs(k, o->object[j]);
	if (!error && o->bitcp)
		error = pin_programs(k, o->bitcp->obj);
	return error;
}

/* @before: of whoever was there before, whose changes of the host are ours to put back now. */
static int write_meta(struct tcptuned_kernel *k, const struct tcptuned_meta *before)
{
	struct tcptuned_meta meta = *before;
	__u32 zero = 0;

	meta.abi = TCPTUNED_ABI;
	meta.build = build_of_objects();
	return bpf_map_update_elem(k->map_fd[TCPTUNED_MAP_META], &zero, &meta, BPF_ANY) ? -errno
											 : 0;
}

/*
 * What says that all of it is this build's comes last: should this process be killed before, the
 * next start does it again.
 */
static int pin_everything(struct tcptuned_kernel *k, struct objects *o,
			  const struct tcptuned_meta *before)
{
	int error = pin_all_but_meta(k, o);

	if (!error)
		error = write_meta(k, before);
	if (!error)
		error = pin(k, "map", map_name[TCPTUNED_MAP_META],
			    k->map_fd[TCPTUNED_MAP_META]);
	return error;
}

static int load_and_attach(struct tcptuned_kernel *k, int cgroup_fd, bool with_bitcp,
			   const struct tcptuned_meta *before, struct tcptuned_error *err)
{
	_cleanup_objects_ struct objects o = { 0 };
	_cleanup_close_ int release_fd = -1;
	unsigned int refused;
	int error;

	error = load_objects(k, &o, cgroup_fd, err);
	if (error)
		return error;
	if (with_bitcp)
		load_bitcp(k, &o);
	error = keep_descriptors(k, &o);
	if (error)
		return maps_failed(err, -error);
	if (k->origin == TCPTUNED_REPLACED)
		release_fd = tcptuned_take_fd(&k->link_fd[TCPTUNED_LINK_RELEASE]);

	/* What may be refused comes before what takes something's place. */
	error = attach_iterators(k, err);
	if (!error)
		error = attach_destroyed(k, err);
	if (!error)
		error = attach_cgroup(k, cgroup_fd, err);
	if (error)
		return error;
	/*
	 * By the iterator that can read the records, once nobody adds to them or sizes by them:
	 * the programs that run now claim nothing before they have policies.
	 */
	tcptuned_kernel_release_flows(release_fd, &refused);
	attach_bitcp(k, &o);
	error = pin_everything(k, &o, before);
	if (error)
		return tcptuned_fail(err, -error, TCPTUNED_EXIT_INTERNAL,
				     "cannot pin programs in %s: %s", k->pin_dir,
				     strerror(-error));
	return 0;
}

/* ---- taking over ---------------------------------------------------------------------- */

static void open_pins(struct tcptuned_kernel *k)
{
	int i, next = TCPTUNED_PROG_BITCP_FIRST;
	struct bpf_program *prog;
	struct bitcp_bpf *bitcp;

	for (i = 0; i < TCPTUNED_MAPS; i++)
		k->map_fd[i] = open_pin(k, "map", map_name[i]);
	for (i = 0; i < TCPTUNED_LINKS; i++)
		k->link_fd[i] = open_pin(k, "link", link_name[i]);
	for (i = 0; i < TCPTUNED_PROG_BITCP_FIRST; i++)
		k->prog_fd[i] = open_pin(k, "prog", prog_name[i]);
	k->bitcp_map_fd = open_pin(k, "map", "bitcp");
	k->bitcp = k->bitcp_map_fd >= 0;
	bitcp = bitcp_bpf__open(); /* only for its names */
	if (!bitcp)
		return;
	bpf_object__for_each_program(prog, bitcp->obj) {
		if (next < TCPTUNED_PROGS)
			k->prog_fd[next++] = open_pin(k, "prog", bpf_program__name(prog));
	}
	bitcp_bpf__destroy(bitcp);
}

static bool read_meta(const struct tcptuned_kernel *k, struct tcptuned_meta *meta)
{
	struct bpf_map_info info = { 0 };
	__u32 zero = 0, len = sizeof(info);
	int fd = k->map_fd[TCPTUNED_MAP_META];

	/* A record of another size is another build's, whatever it says. */
	return fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) &&
	       info.value_size == sizeof(*meta) && !bpf_map_lookup_elem(fd, &zero, meta);
}

bool tcptuned_kernel_can_be_read(const struct tcptuned_kernel *k)
{
	struct tcptuned_meta meta;

	return read_meta(k, &meta) && meta.abi == TCPTUNED_ABI;
}

/* All that runs on the cgroup's sockets, and at their end? */
static bool is_attached(const struct tcptuned_kernel *k, int cgroup_fd)
{
	for (size_t i = 0; i < ON_CGROUP; i++)
		if (!is_on_cgroup(k->link_fd[on_cgroup[i].link], cgroup_fd))
			return false;
	return k->link_fd[TCPTUNED_LINK_DESTROYED] >= 0;
}

/* Let go of the maps whose layout is another one; their links stay until they are swapped. */
static void forget_maps(struct tcptuned_kernel *k)
{
	for (int i = 0; i < TCPTUNED_MAPS; i++) {
		if (k->map_fd[i] >= 0)
			close(k->map_fd[i]);
		k->map_fd[i] = -1;
	}
}

/* What is read and written whatever TCPTUNED_ABI says. */
static const struct {
	enum tcptuned_map map;
	__u32 key_size, value_size;
} layouts[] = {
	{ TCPTUNED_MAP_META, sizeof(__u32), sizeof(struct tcptuned_meta) },
	{ TCPTUNED_MAP_PATHS, sizeof(struct tcptuned_path_key), sizeof(struct tcptuned_path) },
	{ TCPTUNED_MAP_PATH_SETTINGS, sizeof(__u32), sizeof(struct tcptuned_path_settings) },
};

static bool has_layout(int fd, __u32 key_size, __u32 value_size)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &len) && info.key_size == key_size &&
	       info.value_size == value_size;
}

/* The kernel reads and writes as much as the map says: past the end of a smaller record here. */
static void let_go_of_other_layouts(struct tcptuned_kernel *k)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		int *fd = &k->map_fd[layouts[i].map];

		if (*fd < 0 || has_layout(*fd, layouts[i].key_size, layouts[i].value_size))
			continue;
		k->other_layout |= 1u << layouts[i].map;
		close(*fd);
		*fd = -1;
	}
}

int tcptuned_kernel_open(struct tcptuned_kernel *k, const char *bpffs,
			 struct tcptuned_error *err)
{
	int error;

	tcptuned_kernel_init(k, bpffs);
	error = tcptuned_pins_check(bpffs, k->pin_dir, err);
	if (error == -EPERM)
		return error;
	if (error || access(k->pin_dir, F_OK))
		return tcptuned_fail(err, ENOENT, TCPTUNED_EXIT_OK, "nothing is pinned in %s",
				     k->pin_dir);
	open_pins(k);
	let_go_of_other_layouts(k);
	return 0;
}

int tcptuned_kernel_attach(struct tcptuned_kernel *k, const char *bpffs, int cgroup_fd,
			   bool register_bitcp, struct tcptuned_error *err)
{
	struct tcptuned_meta meta = { 0 };
	int error;

	tcptuned_kernel_init(k, bpffs);
	error = tcptuned_pins_check(bpffs, k->pin_dir, err);
	if (error)
		return error;
	if (mkdir(k->pin_dir, 0700) && errno != EEXIST)
		return tcptuned_fail(err, errno, tcptuned_exit_of(errno, TCPTUNED_EXIT_NOT_PERMITTED),
				     "tcptuned.bpffs: %s cannot be made: %s; %s", k->pin_dir,
				     strerror(errno), tcptuned_remedy_to_write(errno));
	open_pins(k);
	if (!read_meta(k, &meta)) {
		bool leftover = k->map_fd[TCPTUNED_MAP_META] >= 0;

		if (!leftover) { /* what an interrupted start left, or nothing */
			tcptuned_kernel_detach(k);
			mkdir(k->pin_dir, 0700);
		}
		forget_maps(k);
		k->origin = leftover ? TCPTUNED_REPLACED : TCPTUNED_LOADED;
	} else if (meta.abi != TCPTUNED_ABI) {
		forget_maps(k);
		k->origin = TCPTUNED_REPLACED;
	} else if (meta.build == build_of_objects() && is_attached(k, cgroup_fd) &&
		   k->bitcp == register_bitcp && paths_fit(k)) {
		k->origin = TCPTUNED_TAKEN_OVER;
		k->paths_kept = true;
		return 0;
	} else {
		k->origin = TCPTUNED_UPGRADED;
	}
	error = load_and_attach(k, cgroup_fd, register_bitcp, &meta, err);
	if (error && k->origin == TCPTUNED_LOADED)
		tcptuned_kernel_detach(k);
	if (error)
		tcptuned_kernel_close(k);
	return error;
}

int tcptuned_kernel_check_load(const char *bpffs, int cgroup_fd, struct tcptuned_error *err)
{
	_cleanup_objects_ struct objects o = { 0 };
	struct tcptuned_kernel k;
	char path[PATH_BYTES];
	int error;

	tcptuned_kernel_init(&k, bpffs);
	error = tcptuned_pins_check(bpffs, k.pin_dir, err);
	if (!error)
		error = load_objects(&k, &o, cgroup_fd, err);
	if (!error) {
		load_bitcp(&k, &o);
		if (!o.bitcp && !access(pin_path(&k, "map", "bitcp", path), F_OK))
			error = tcptuned_fail(err, ENOTSUP, TCPTUNED_EXIT_KERNEL, "%s",
					      k.why_no_bitcp);
	}
	tcptuned_kernel_close(&k);
	return error;
}

/* ---- taking back ---------------------------------------------------------------------- */

void tcptuned_kernel_stop(struct tcptuned_kernel *k)
{
	for (size_t i = 0; i < ON_CGROUP; i++)
		if (k->link_fd[on_cgroup[i].link] >= 0)
			bpf_link_detach(k->link_fd[on_cgroup[i].link]);
}

void tcptuned_kernel_detach(struct tcptuned_kernel *k)
{
	tcptuned_kernel_stop(k);
	unregister_bitcp(k);
	unpin_all(k);
}

static void close_all(int *fds, int len)
{
	for (int i = 0; i < len; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

void tcptuned_kernel_close(struct tcptuned_kernel *k)
{
	close_all(k->map_fd, TCPTUNED_MAPS);
	close_all(k->prog_fd, TCPTUNED_PROGS);
	close_all(k->link_fd, TCPTUNED_LINKS);
	close_all(&k->bitcp_map_fd, 1);
}
