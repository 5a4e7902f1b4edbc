// SPDX-License-Identifier: GPL-2.0-only
#include "kern/loader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <zlib.h>

#include <tcptuned/abi/flow.h>
#include <tcptuned/abi/meta.h>
#include <tcptuned/abi/streams.h>
#include <tcptuned/algo/path.h>

#include "cc/bitcp.skel.h"
#include "cc/cubic_resume.skel.h"
#include "kern/iterators.h"
#include "kern/pins.h"
#include "kern/struct_ops.h"
#include "tcptuned.skel.h"
#include "util/array.h"
#include "util/cleanup.h"

#define FILES_MIN  128 /* that may be open; 59 are */
#define PATH_BYTES (TCPTUNED_PIN_DIR_MAX + 64)

static const char *const map_name[TCPTUNED_MAPS] = {
#define MAP_NAME(id, name) #name,
	TCPTUNED_MAP_TABLE(MAP_NAME)
#undef MAP_NAME
};

static const struct {
	const char *name;
	const char *link; /* "": none of its own */
	enum bpf_attach_type type;
} progs[TCPTUNED_PROGS] = {
#define PROG(id, name, link, type) {#name, link, type},
	TCPTUNED_PROG_TABLE(PROG)
#undef PROG
};

/* The first programs of the table are attached to the cgroup. */
#define CGROUP_PROGS TCPTUNED_PROG_DESTROYED

/* Objects of their own, which share maps with the programs. */
static const struct {
	const char *name; /* of the congestion control, of its struct_ops map and of its pins */
	const void *(*elf_bytes)(size_t *size);
	const char *what;	 /* for error messages */
	enum tcptuned_prog prog; /* whose link registers it */
} ccs[TCPTUNED_CCS] = {
	{"bitcp", bitcp_bpf__elf_bytes, "BI-TCP", TCPTUNED_PROG_BITCP},
	{"cubic_resume", cubic_resume_bpf__elf_bytes, "CUBIC that resumes", TCPTUNED_PROG_RESUME},
};

/* The objects while they are loaded; NULL: not, or the kernel does not take the congestion control. */
struct loaded {
	struct tcptuned_bpf *programs;
	struct bpf_object *cc[TCPTUNED_CCS];
};

static void close_objects(struct loaded *loaded)
{
	tcptuned_bpf__destroy(loaded->programs);
	for (int i = 0; i < TCPTUNED_CCS; i++)
		bpf_object__close(loaded->cc[i]);
}

#define _cleanup_objects_ __attribute__((cleanup(close_objects)))

/* The last warning of libbpf, for the error message. */
static char libbpf_said[512];

static int keep_libbpf_words(enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(libbpf_said, sizeof(libbpf_said), fmt, args);
	libbpf_said[strcspn(libbpf_said, "\n")] = '\0';
	return 0;
}

const char *tcptuned_prog_name(enum tcptuned_prog which)
{
	return progs[which].name;
}

void tcptuned_kernel_init(struct tcptuned_kernel *k, const char *bpffs)
{
	memset(k, 0, sizeof(*k));
	memset(k->map_fd, -1, sizeof(k->map_fd));
	memset(k->prog_fd, -1, sizeof(k->prog_fd));
	memset(k->link_fd, -1, sizeof(k->link_fd));
	for (int i = 0; i < TCPTUNED_CCS; i++)
		k->cc[i].map_fd = -1;
	snprintf(k->pin_dir, sizeof(k->pin_dir), "%s/tcptuned", bpffs);
	libbpf_set_print(keep_libbpf_words);
}

/* Put @by, which may be -1, in the place of a descriptor, which is closed. */
static void replace_fd(int *fd, int by)
{
	if (*fd >= 0)
		close(*fd);
	*fd = by;
}

static void close_all(int *fds, int len)
{
	for (int i = 0; i < len; i++)
		replace_fd(&fds[i], -1);
}

/* ---- pins ----------------------------------------------------------------------------- */

static const char *format_path(const struct tcptuned_kernel *k, const char *kind, const char *name,
			       char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s_%s", k->pin_dir, kind, name);
	return path;
}

/* The path of a pin, in an array of the block that it is used in. */
#define PIN_PATH(k, kind, name) format_path(k, kind, name, (char[PATH_BYTES]){0})

/* Returns 0 also where there is nothing to pin, or a negative errno. */
static int pin(const struct tcptuned_kernel *k, const char *kind, const char *name, int fd)
{
	if (fd < 0)
		return 0;
	return tcptuned_pin_replace(fd, PIN_PATH(k, kind, name), PIN_PATH(k, "new", name));
}

static void open_pins(struct tcptuned_kernel *k)
{
	for (int i = 0; i < TCPTUNED_MAPS; i++)
		k->map_fd[i] = bpf_obj_get(PIN_PATH(k, "map", map_name[i]));
	for (int i = 0; i < TCPTUNED_PROGS; i++) {
		k->prog_fd[i] = bpf_obj_get(PIN_PATH(k, "prog", progs[i].name));
		if (progs[i].link[0])
			k->link_fd[i] = bpf_obj_get(PIN_PATH(k, "link", progs[i].link));
	}
	for (int i = 0; i < TCPTUNED_CCS; i++)
		k->cc[i].map_fd = bpf_obj_get(PIN_PATH(k, "map", ccs[i].name));
}

static int pin_all_but_meta(const struct tcptuned_kernel *k)
{
	int error = 0;

	for (int i = 0; i < TCPTUNED_MAPS && !error; i++)
		if (i != TCPTUNED_MAP_META)
			error = pin(k, "map", map_name[i], k->map_fd[i]);
	for (int i = 0; i < TCPTUNED_PROGS && !error; i++)
		error = pin(k, "link", progs[i].link, k->link_fd[i])
				?: pin(k, "prog", progs[i].name, k->prog_fd[i]);
	for (int i = 0; i < TCPTUNED_CCS && !error; i++)
		error = pin(k, "map", ccs[i].name, k->cc[i].map_fd);
	return error;
}

/*
 * Remove everything in the directory, known or not: a later build may have pinned more. map_meta comes
 * first, so that no start takes over maps whose records were left without the program at their end.
 * Returns 0 if nothing is left, so that the directory could be removed, or a negative errno.
 */
static int unpin_all(const struct tcptuned_kernel *k)
{
	_cleanup_closedir_ DIR *dir = opendir(k->pin_dir);
	struct dirent *entry;
	int error = 0;

	unlink(PIN_PATH(k, "map", "meta"));
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && unlinkat(dirfd(dir), entry->d_name, 0))
			error = -errno;
	if (!rmdir(k->pin_dir) || errno == ENOENT)
		return 0;
	return error ?: -errno;
}

/* ---- loading -------------------------------------------------------------------------- */

static uint32_t build_of_objects(void)
{
	size_t size;
	const void *elf = tcptuned_bpf__elf_bytes(&size);
	uint32_t crc = crc32(0, elf, size);

	for (int i = 0; i < TCPTUNED_CCS; i++) {
		elf = ccs[i].elf_bytes(&size);
		crc = crc32(crc, elf, size);
	}
	return crc;
}

/* Too few descriptors or too little memory, not a fault of the kernel. */
static int maps_failed(struct tcptuned_error *err, int errnum)
{
	return FAIL(err, errnum, INTERNAL, "the programs and their maps cannot be loaded: %s%s",
		    strerror(errnum),
		    errnum == EMFILE || errnum == ENFILE
			    ? "; allow more open files (LimitNOFILE=, ulimit -n)"
			    : "");
}

static int load_failed(struct tcptuned_error *err, int errnum, const char *what)
{
	struct rlimit files;

	if (errnum == EMFILE || errnum == ENFILE)
		return maps_failed(err, errnum);
	/* libbpf also reports other errors then. */
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < FILES_MIN)
		return maps_failed(err, EMFILE);
	if (errnum == EPERM)
		return FAIL(err, errnum, NOT_PERMITTED,
			    "the kernel does not let this process load %s; run it as "
			    "root, or with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON",
			    what);
	return FAIL(err, errnum, KERNEL,
		    "this kernel does not take %s (%s: %s); tcptuned needs Linux 6.1 "
		    "or later with CONFIG_DEBUG_INFO_BTF",
		    what, strerror(errnum), libbpf_said);
}

/* Replace a descriptor by a copy of @fd. Returns 0, or a negative errno with the slot empty. */
static int keep_fd(int *slot, int fd)
{
	replace_fd(slot, dup(fd));
	return *slot < 0 ? -errno : 0;
}

/*
 * Load @object with the maps that exist already, or its programs would write what no one reads, and
 * keep the maps that it has created.
 */
static int load_object(struct tcptuned_kernel *k, struct bpf_object *object, const char *what,
		       struct tcptuned_error *err)
{
	struct bpf_map *map;
	int error = 0;

	for (int i = 0; i < TCPTUNED_MAPS && !error; i++) {
		map = bpf_object__find_map_by_name(object, map_name[i]);
		if (map && k->map_fd[i] >= 0)
			error = bpf_map__reuse_fd(map, k->map_fd[i]);
	}
	if (error)
		return maps_failed(err, -error);
	if (bpf_object__load(object))
		return load_failed(err, errno, what);
	for (int i = 0; i < TCPTUNED_MAPS && !error; i++) {
		map = bpf_object__find_map_by_name(object, map_name[i]);
		if (map && k->map_fd[i] < 0)
			error = keep_fd(&k->map_fd[i], bpf_map__fd(map));
	}
	return error ? maps_failed(err, -error) : 0;
}

/* Load the programs, but for one of the two that read the records. */
static int load_programs_with(struct tcptuned_kernel *k, struct loaded *loaded, bool dump_flows,
			      int cgroup_fd, struct tcptuned_error *err)
{
	const char *what = "the programs";
	struct tcptuned_bpf *bpf = tcptuned_bpf__open();
	struct stat cgroup;

	tcptuned_bpf__destroy(loaded->programs);
	loaded->programs = bpf;
	if (!bpf || fstat(cgroup_fd, &cgroup))
		return load_failed(err, errno, what);
	bpf->rodata_cgroup->cgroup_id = cgroup.st_ino;
	bpf_program__set_autoload(dump_flows ? bpf->progs.dump_tcp : bpf->progs.dump_flows, false);
	return load_object(k, bpf->obj, what, err);
}

/* Some kernels refuse dump_flows, as they refuse fentry. */
static int load_programs(struct tcptuned_kernel *k, struct loaded *loaded, int cgroup_fd,
			 struct tcptuned_error *err)
{
	int error;

	k->paths_kept = k->map_fd[TCPTUNED_MAP_PATHS] >= 0 && k->map_fd[TCPTUNED_MAP_STREAMS] >= 0;
	error = load_programs_with(k, loaded, true, cgroup_fd, err);
	if (error && err->status == TCPTUNED_EXIT_KERNEL)
		error = load_programs_with(k, loaded, false, cgroup_fd, err);
	return error;
}

static int load_cc_with(struct tcptuned_kernel *k, struct loaded *loaded, enum tcptuned_cc cc,
			uint32_t map_flags)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = ccs[cc].name);
	size_t size;
	const void *elf = ccs[cc].elf_bytes(&size);
	struct bpf_object *object = bpf_object__open_mem(elf, size, &opts);
	int error;

	if (!object)
		return -errno;
	error = bpf_map__set_map_flags(bpf_object__find_map_by_name(object, ccs[cc].name),
				       map_flags)
			?: load_object(k, object, ccs[cc].what, NULL);
	if (error)
		bpf_object__close(object);
	else
		loaded->cc[cc] = object;
	return error;
}

/* As a link where the kernel has such links. A failure is not fatal: right-sizing works without. */
static void load_cc(struct tcptuned_kernel *k, struct loaded *loaded, enum tcptuned_cc cc)
{
	int error = load_cc_with(k, loaded, cc, TCPTUNED_STRUCTOPS_LINK);

	if (error)
		error = load_cc_with(k, loaded, cc, 0);
	if (error)
		snprintf(k->cc[cc].why_not, sizeof(k->cc[cc].why_not),
			 "the kernel does not take %s as a BPF struct_ops (%s: %.150s)",
			 ccs[cc].what, strerror(-error), libbpf_said);
}

static const struct bpf_program *find_program(const struct loaded *loaded, const char *name)
{
	const struct bpf_program *prog =
		bpf_object__find_program_by_name(loaded->programs->obj, name);

	for (int i = 0; i < TCPTUNED_CCS && !prog; i++)
		if (loaded->cc[i])
			prog = bpf_object__find_program_by_name(loaded->cc[i], name);
	return prog;
}

static int keep_programs(struct tcptuned_kernel *k, const struct loaded *loaded)
{
	for (int i = 0; i < TCPTUNED_PROGS; i++) {
		const struct bpf_program *prog = find_program(loaded, progs[i].name);
		int fd = prog ? bpf_program__fd(prog) : -1;
		int error = fd >= 0 ? keep_fd(&k->prog_fd[i], fd) : 0;

		if (error)
			return error;
		if (fd < 0) /* the kernel refused it, or it is an iterator that is not loaded */
			replace_fd(&k->prog_fd[i], -1);
	}
	return 0;
}

/* ---- attaching ------------------------------------------------------------------------ */

static bool is_on_cgroup(int link_fd, int cgroup_fd)
{
	struct bpf_link_info info = {0};
	__u32 len = sizeof(info);
	struct stat cgroup;

	return link_fd >= 0 && !bpf_obj_get_info_by_fd(link_fd, &info, &len) &&
	       !fstat(cgroup_fd, &cgroup) && info.cgroup.cgroup_id == cgroup.st_ino;
}

/*
 * __cgroup_bpf_attach() refuses with EPERM next to or below a program that is attached without
 * BPF_F_ALLOW_MULTI, and with E2BIG beyond 64 programs. A process without the rights to attach has
 * not got as far as this.
 */
static int link_refused(int errnum, enum bpf_attach_type type, int cgroup_fd,
			struct tcptuned_error *err)
{
	const char *hook = libbpf_bpf_attach_type_str(type);
	char link[32], path[600] = "the cgroup";
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", cgroup_fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len >= 0)
		path[len] = '\0';
	if (errnum == EPERM)
		return FAIL(err, errnum, IN_USE,
			    "another program holds the %s hook of %s alone, or that of "
			    "a cgroup above (bpftool cgroup tree); attach that one with "
			    "\"multi\", or name another tcptuned.cgroup",
			    hook, path);
	if (errnum == E2BIG)
		return FAIL(err, errnum, IN_USE,
			    "the %s hook of %s has as many programs as the kernel "
			    "allows (bpftool cgroup show); detach one that is not needed, "
			    "or name another tcptuned.cgroup",
			    hook, path);
	return load_failed(err, errnum, "a program on the cgroup");
}

/* Create a link to the cgroup for each program that has none there. */
static int make_links(const struct tcptuned_kernel *k, int cgroup_fd, int made[CGROUP_PROGS],
		      struct tcptuned_error *err)
{
	for (int i = 0; i < CGROUP_PROGS; i++) {
		if (is_on_cgroup(k->link_fd[i], cgroup_fd))
			continue;
		made[i] = bpf_link_create(k->prog_fd[i], cgroup_fd, progs[i].type, NULL);
		if (made[i] < 0)
			return link_refused(errno, progs[i].type, cgroup_fd, err);
	}
	return 0;
}

/* Replace the program in each link that exists already: there is never a gap. */
static int swap_programs(const struct tcptuned_kernel *k, const int made[CGROUP_PROGS],
			 struct tcptuned_error *err)
{
	for (int i = 0; i < CGROUP_PROGS; i++)
		if (made[i] < 0 && bpf_link_update(k->link_fd[i], k->prog_fd[i], NULL))
			return load_failed(err, errno, "a program on the cgroup");
	return 0;
}

/*
 * Attach all of them, or none. New links come first, because the cgroup may refuse them; a swap fails
 * only for a link that another process has detached (cgroup_bpf_replace()).
 */
static int attach_cgroup(struct tcptuned_kernel *k, int cgroup_fd, struct tcptuned_error *err)
{
	int made[CGROUP_PROGS] = {-1, -1, -1};
	int error = make_links(k, cgroup_fd, made, err) ?: swap_programs(k, made, err);

	for (int i = 0; i < CGROUP_PROGS; i++) {
		if (error) {
			replace_fd(&made[i], -1);
		} else if (made[i] >= 0) {
			if (k->link_fd[i] >= 0)
				bpf_link_detach(k->link_fd[i]);
			replace_fd(&k->link_fd[i], made[i]);
		}
	}
	return error;
}

/*
 * Attach the iterators, and the program at the end of sockets. The latter runs next to the one before
 * until that one's pin is replaced. The first of the two deletes the record, unless it is of a build that
 * leaves it to the second: then that counts it, too, and the recount at the start corrects the number.
 */
static int attach_tracing(struct tcptuned_kernel *k, struct tcptuned_error *err)
{
	union bpf_iter_link_info info = {.map.map_fd = k->map_fd[TCPTUNED_MAP_FLOWS]};

	for (int i = CGROUP_PROGS; i < TCPTUNED_PROG_BITCP; i++) {
		LIBBPF_OPTS(bpf_link_create_opts, opts);
		int fd;

		if (k->prog_fd[i] < 0) {
			replace_fd(&k->link_fd[i], -1);
			continue;
		}
		if (i == TCPTUNED_PROG_DUMP_FLOWS) {
			opts.iter_info = &info;
			opts.iter_info_len = sizeof(info);
		}
		fd = bpf_link_create(k->prog_fd[i], 0, progs[i].type, &opts);
		if (fd < 0)
			return load_failed(err, errno, progs[i].name);
		replace_fd(&k->link_fd[i], fd);
	}
	return 0;
}

static void unregister_cc(struct tcptuned_kernel *k, enum tcptuned_cc cc)
{
	int *link_fd = &k->link_fd[ccs[cc].prog], *map_fd = &k->cc[cc].map_fd;

	unlink(PIN_PATH(k, "link", ccs[cc].name));
	unlink(PIN_PATH(k, "map", ccs[cc].name));
	/* Of a daemon that was killed between pinning and renaming. */
	unlink(PIN_PATH(k, "new", ccs[cc].name));
	/* A registration without a link ends with the element of the map. */
	if (*link_fd < 0 && *map_fd >= 0)
		bpf_map_delete_elem(*map_fd, &(__u32){0});
	replace_fd(link_fd, -1);
	replace_fd(map_fd, -1);
}

/* Replace an older registration, in one step if both are links; else that one ends first. */
static int register_cc(struct tcptuned_kernel *k, enum tcptuned_cc cc, struct bpf_map *map)
{
	int *link_fd = &k->link_fd[ccs[cc].prog], error;
	_cleanup_close_ int map_fd = dup(bpf_map__fd(map));

	if (map_fd < 0) /* checked first: without it, no process could undo the registration */
		return -errno;
	if (tcptuned_structops_replace(map, *link_fd)) {
		unregister_cc(k, cc);
		error = tcptuned_structops_register(map, link_fd);
		if (error)
			return error;
	}
	replace_fd(&k->cc[cc].map_fd, tcptuned_take_fd(&map_fd));
	return 0;
}

static void attach_cc(struct tcptuned_kernel *k, enum tcptuned_cc cc, const struct loaded *loaded)
{
	const struct bpf_object *object = loaded->cc[cc];
	struct tcptuned_registration *r = &k->cc[cc];
	int error;

	if (!object) {
		unregister_cc(k, cc);
		return;
	}
	error = register_cc(k, cc, bpf_object__find_map_by_name(object, ccs[cc].name));
	if (error == -EEXIST)
		snprintf(r->why_not, sizeof(r->why_not),
			 "%s could not be registered: a congestion control of the name %s is there "
			 "already, see bpftool struct_ops show",
			 ccs[cc].what, ccs[cc].name);
	else if (error)
		snprintf(r->why_not, sizeof(r->why_not), "%s could not be registered (%s)",
			 ccs[cc].what, strerror(-error));
}

/*
 * The record that says that all of it is this build's comes last: if this process is killed before,
 * the next start does it again. @before: what an earlier daemon changed on the host, which this one
 * has to restore.
 */
static int pin_everything(struct tcptuned_kernel *k, const struct tcptuned_meta *before)
{
	int meta_fd = k->map_fd[TCPTUNED_MAP_META], error = pin_all_but_meta(k);
	struct tcptuned_meta meta = *before;
	__u32 zero = 0;

	meta.abi = TCPTUNED_ABI;
	meta.build = build_of_objects();
	if (!error && bpf_map_update_elem(meta_fd, &zero, &meta, BPF_ANY))
		error = -errno;
	return error ? error : pin(k, "map", "meta", meta_fd);
}

static int load_and_attach(struct tcptuned_kernel *k, int cgroup_fd, bool with_cc,
			   const struct tcptuned_meta *before, struct tcptuned_error *err)
{
	_cleanup_objects_ struct loaded loaded = {0};
	_cleanup_close_ int release_fd = -1;
	int error = load_programs(k, &loaded, cgroup_fd, err);

	if (error)
		return error;
	for (int i = 0; with_cc && i < TCPTUNED_CCS; i++)
		load_cc(k, &loaded, i);
	error = keep_programs(k, &loaded);
	if (error)
		return maps_failed(err, -error);
	if (k->origin == TCPTUNED_REPLACED)
		release_fd = tcptuned_take_fd(&k->link_fd[TCPTUNED_PROG_RELEASE_FLOWS]);

	/* The kernel may refuse these; what runs now is replaced last. */
	error = attach_tracing(k, err) ?: attach_cgroup(k, cgroup_fd, err);
	if (error)
		return error;
	/*
	 * Old records are released by the iterator that can read them, after the programs that write
	 * them have gone. Those that run now tune nothing before they have policies.
	 */
	tcptuned_iterate(release_fd, NULL);
	for (int i = 0; i < TCPTUNED_CCS; i++)
		attach_cc(k, i, &loaded);
	error = pin_everything(k, before);
	if (error)
		return FAIL(err, -error, INTERNAL, "cannot pin programs in %s: %s", k->pin_dir,
			    strerror(-error));
	return 0;
}

/* ---- taking over ---------------------------------------------------------------------- */

/*
 * Open the pins, but for maps of another layout among those that are read whatever TCPTUNED_ABI
 * says: the kernel reads and writes as much as the map says, past the end of a smaller record here.
 */
static void open_pins_that_fit(struct tcptuned_kernel *k)
{
	static const struct {
		enum tcptuned_map map;
		__u32 key_size, value_size;
	} layouts[] = {
		{TCPTUNED_MAP_META, sizeof(__u32), sizeof(struct tcptuned_meta)},
		{TCPTUNED_MAP_PATHS, sizeof(struct tcptuned_path_key),
		 sizeof(struct tcptuned_path)},
		{TCPTUNED_MAP_PATH_SETTINGS, sizeof(__u32), sizeof(struct tcptuned_path_settings)},
		{TCPTUNED_MAP_STREAMS, sizeof(struct tcptuned_streams_key),
		 sizeof(struct tcptuned_streams_record)},
	};

	open_pins(k);
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		int *fd = &k->map_fd[layouts[i].map];
		struct bpf_map_info info = {0};
		__u32 len = sizeof(info);

		if (*fd < 0 || (!bpf_obj_get_info_by_fd(*fd, &info, &len) &&
				info.key_size == layouts[i].key_size &&
				info.value_size == layouts[i].value_size))
			continue;
		k->other_layout |= 1u << layouts[i].map;
		replace_fd(fd, -1);
	}
}

static bool read_meta(const struct tcptuned_kernel *k, struct tcptuned_meta *meta)
{
	int fd = k->map_fd[TCPTUNED_MAP_META];
	__u32 zero = 0;

	return fd >= 0 && !bpf_map_lookup_elem(fd, &zero, meta);
}

bool tcptuned_kernel_can_be_read(const struct tcptuned_kernel *k)
{
	struct tcptuned_meta meta;

	return read_meta(k, &meta) && meta.abi == TCPTUNED_ABI;
}

/* True if all programs on the cgroup and at the end of sockets are attached. */
static bool is_attached(const struct tcptuned_kernel *k, int cgroup_fd)
{
	for (int i = 0; i < CGROUP_PROGS; i++)
		if (!is_on_cgroup(k->link_fd[i], cgroup_fd))
			return false;
	return k->link_fd[TCPTUNED_PROG_DESTROYED] >= 0;
}

int tcptuned_kernel_open(struct tcptuned_kernel *k, const char *bpffs, struct tcptuned_error *err)
{
	int error;

	tcptuned_kernel_init(k, bpffs);
	error = tcptuned_pins_check(bpffs, k->pin_dir, err);
	if (error == -EPERM)
		return error;
	if (error || access(k->pin_dir, F_OK))
		return FAIL(err, ENOENT, OK, "nothing is pinned in %s", k->pin_dir);
	open_pins_that_fit(k);
	return 0;
}

/* What to do with what is pinned; @meta is filled where there is one. */
static enum tcptuned_origin choose_origin(struct tcptuned_kernel *k, int cgroup_fd,
					  bool register_cc, struct tcptuned_meta *meta)
{
	bool has_meta = read_meta(k, meta);

	if (!has_meta && !(k->other_layout & 1u << TCPTUNED_MAP_META))
		return TCPTUNED_LOADED;
	if (!has_meta || meta->abi != TCPTUNED_ABI)
		return TCPTUNED_REPLACED;
	if (meta->build == build_of_objects() && is_attached(k, cgroup_fd) &&
	    tcptuned_is_registered(k, TCPTUNED_CC_BITCP) == register_cc &&
	    (register_cc || !tcptuned_is_registered(k, TCPTUNED_CC_RESUME)) &&
	    k->map_fd[TCPTUNED_MAP_PATHS] >= 0)
		return TCPTUNED_TAKEN_OVER;
	return TCPTUNED_UPGRADED;
}

int tcptuned_kernel_attach(struct tcptuned_kernel *k, const char *bpffs, int cgroup_fd,
			   bool register_cc, struct tcptuned_error *err)
{
	struct tcptuned_meta meta = {0};
	int error;

	tcptuned_kernel_init(k, bpffs);
	error = tcptuned_pins_check(bpffs, k->pin_dir, err);
	if (error)
		return error;
	if (mkdir(k->pin_dir, 0700) && errno != EEXIST)
		return tcptuned_fail_to_write(err, TCPTUNED_EXIT_NOT_PERMITTED, "tcptuned.bpffs",
					      k->pin_dir, "made");
	open_pins_that_fit(k);
	k->origin = choose_origin(k, cgroup_fd, register_cc, &meta);
	k->other_layout = 0;
	if (k->origin == TCPTUNED_TAKEN_OVER) {
		k->paths_kept = true;
		return 0;
	}
	if (k->origin == TCPTUNED_LOADED) { /* there may be the rest of an interrupted start */
		tcptuned_kernel_detach(k);
		mkdir(k->pin_dir, 0700);
	}
	if (k->origin != TCPTUNED_UPGRADED)
		close_all(k->map_fd, TCPTUNED_MAPS); /* links stay until they are replaced */
	error = load_and_attach(k, cgroup_fd, register_cc, &meta, err);
	if (error && k->origin == TCPTUNED_LOADED)
		tcptuned_kernel_detach(k);
	if (error)
		tcptuned_kernel_close(k);
	return error;
}

int tcptuned_kernel_check_load(const char *bpffs, int cgroup_fd, struct tcptuned_error *err)
{
	_cleanup_objects_ struct loaded loaded = {0};
	struct tcptuned_kernel k;
	int error;

	tcptuned_kernel_init(&k, bpffs);
	error = tcptuned_pins_check(bpffs, k.pin_dir, err)
			?: load_programs(&k, &loaded, cgroup_fd, err);
	for (int i = 0; i < TCPTUNED_CCS && !error; i++) {
		load_cc(&k, &loaded, i);
		if (!loaded.cc[i] && !access(PIN_PATH(&k, "map", ccs[i].name), F_OK))
			error = FAIL(err, ENOTSUP, KERNEL, "%s", k.cc[i].why_not);
	}
	tcptuned_kernel_close(&k);
	return error;
}

/* ---- detaching ------------------------------------------------------------------------ */

void tcptuned_kernel_stop(struct tcptuned_kernel *k)
{
	for (int i = 0; i < CGROUP_PROGS; i++)
		if (k->link_fd[i] >= 0)
			bpf_link_detach(k->link_fd[i]);
}

int tcptuned_kernel_detach(struct tcptuned_kernel *k)
{
	tcptuned_kernel_stop(k);
	for (int i = 0; i < TCPTUNED_CCS; i++)
		unregister_cc(k, i);
	return unpin_all(k);
}

void tcptuned_kernel_close(struct tcptuned_kernel *k)
{
	close_all(k->map_fd, TCPTUNED_MAPS);
	close_all(k->prog_fd, TCPTUNED_PROGS);
	close_all(k->link_fd, TCPTUNED_PROGS);
	for (int i = 0; i < TCPTUNED_CCS; i++)
		replace_fd(&k->cc[i].map_fd, -1);
}
