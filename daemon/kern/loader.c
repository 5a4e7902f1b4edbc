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

#include "cc/bitcp.skel.h"
#include "cc/bitcp_tx_start.skel.h"
#include "cc/cubic_resume.skel.h"
#include "cc/cubic_resume_tx_start.skel.h"
#include "kern/iterators.h"
#include "kern/pins.h"
#include "kern/struct_ops.h"
#include "tcptuned.skel.h"
#include "util/cleanup.h"
#include "util/version.h"

#define FILES_MIN 128 /* that may be open; 59 are */

/* Objects of their own, which share maps with the programs. */
static const struct {
	/* That of kernels without tcp_congestion_ops.cwnd_event_tx_start, and with it. */
	const void *(*elf_bytes[2])(size_t *size);
	const char *what; /* for error messages */
} ccs[TCPTUNED_CCS] = {
	{{bitcp_bpf__elf_bytes, bitcp_tx_start_bpf__elf_bytes}, "BI-TCP"},
	{{cubic_resume_bpf__elf_bytes, cubic_resume_tx_start_bpf__elf_bytes}, "CUBIC that resumes"},
};

static void close_objects(struct bpf_object *(*objects)[TCPTUNED_CCS])
{
	for (int i = 0; i < TCPTUNED_CCS; i++)
		bpf_object__close((*objects)[i]);
}

#define _cleanup_objects_ __attribute__((cleanup(close_objects)))

static void destroy_link(struct bpf_link **link)
{
	bpf_link__destroy(*link);
}

#define _cleanup_link_ __attribute__((cleanup(destroy_link)))

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

void tcptuned_kernel_init(struct tcptuned_kernel *k, const char *bpffs)
{
	memset(k, 0, sizeof(*k));
	for (int i = 0; i < TCPTUNED_CCS; i++)
		k->cc[i].map_fd = k->cc[i].link_fd = -1;
	k->match_fd = k->rules_fd[0] = k->rules_fd[1] = k->scan_lock = -1;
	snprintf(k->pin_dir, sizeof(k->pin_dir), "%s/tcptuned", bpffs);
	libbpf_set_print(keep_libbpf_words);
}

/* Put @by in the place of a link, which is closed. One that is pinned stays attached. */
static void replace_link(struct bpf_link **link, struct bpf_link *by)
{
	bpf_link__destroy(*link);
	*link = by;
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

	if (errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM)
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

/* ---- loading -------------------------------------------------------------------------- */

static uint32_t build_of_objects(void)
{
	size_t size;
	const void *elf = tcptuned_bpf__elf_bytes(&size);
	uint32_t crc = crc32(0, elf, size);

	for (int i = 0; i < 2 * TCPTUNED_CCS; i++) {
		elf = ccs[i / 2].elf_bytes[i % 2](&size);
		crc = crc32(crc, elf, size);
	}
	return crc;
}

/*
 * Load the programs, with one of the two that read the records, and in an upgrade into the maps
 * that are pinned.
 */
static int load_programs_with(struct tcptuned_kernel *k, bool dump_flows, int cgroup_fd,
			      struct tcptuned_error *err)
{
	int error = tcptuned_pins_open(k, k->origin == TCPTUNED_UPGRADED);
	struct tcptuned_bpf *bpf = k->bpf;
	struct stat cgroup;

	if (error)
		return maps_failed(err, -error);
	if (fstat(cgroup_fd, &cgroup))
		return load_failed(err, errno, "the programs");
	bpf->rodata_cgroup->cgroup_id = cgroup.st_ino;
	bpf_program__set_autoload(dump_flows ? bpf->progs.dump_tcp : bpf->progs.dump_flows, false);
	k->paths_kept = bpf_map__fd(bpf->maps.paths) >= 0 && bpf_map__fd(bpf->maps.streams) >= 0;
	if (tcptuned_bpf__load(bpf))
		return load_failed(err, errno, "the programs");
	return 0;
}

/* Some kernels refuse dump_flows with EPERM, as they refuse fentry. */
static int load_programs(struct tcptuned_kernel *k, int cgroup_fd, struct tcptuned_error *err)
{
	int error = load_programs_with(k, true, cgroup_fd, err);

	if (error)
		error = load_programs_with(k, false, cgroup_fd, err);
	return error;
}

/* The maps that it shares with the programs are theirs. */
static int load_cc_with(const struct tcptuned_kernel *k, struct bpf_object **ret,
			enum tcptuned_cc cc, bool has_tx_start, uint32_t map_flags)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = tcptuned_pins_cc_name(cc));
	size_t size;
	const void *elf = ccs[cc].elf_bytes[has_tx_start](&size);
	struct bpf_object *object = bpf_object__open_mem(elf, size, &opts);
	struct bpf_map *map, *shared;
	int error;

	if (!object)
		return -errno;
	error = bpf_map__set_map_flags(
		bpf_object__find_map_by_name(object, tcptuned_pins_cc_name(cc)), map_flags);
	bpf_object__for_each_map (map, object) {
		shared = bpf_object__find_map_by_name(k->bpf->obj, bpf_map__name(map));
		if (shared && !bpf_map__is_internal(map) && !error)
			error = bpf_map__reuse_fd(map, bpf_map__fd(shared));
	}
	if (!error && bpf_object__load(object))
		error = -errno;
	if (error)
		bpf_object__close(object);
	else
		*ret = object;
	return error;
}

/*
 * As a link where the kernel has such links, and first what the kernel's release promises. A
 * failure is not fatal: right-sizing works without.
 */
static void load_cc(struct tcptuned_kernel *k, struct bpf_object **ret, enum tcptuned_cc cc)
{
	bool has_tx_start = tcptuned_version_is_linux(7, 1);
	int error = load_cc_with(k, ret, cc, has_tx_start, TCPTUNED_STRUCTOPS_LINK);

	if (error)
		error = load_cc_with(k, ret, cc, !has_tx_start, TCPTUNED_STRUCTOPS_LINK);
	if (error)
		error = load_cc_with(k, ret, cc, false, 0);
	if (error)
		snprintf(k->cc[cc].why_not, sizeof(k->cc[cc].why_not),
			 "the kernel does not take %s as a BPF struct_ops (%s: %.150s)",
			 ccs[cc].what, strerror(-error), libbpf_said);
}

/* ---- attaching ------------------------------------------------------------------------ */

#define CGROUP_PROGRAMS 3

/* The programs that are attached to the cgroup, the others trace. */
static void get_cgroup_programs(const struct tcptuned_kernel *k,
				struct bpf_prog_skeleton *ret[CGROUP_PROGRAMS])
{
	for_each_program (k, p)
		if (bpf_program__type(*p->prog) != BPF_PROG_TYPE_TRACING)
			*ret++ = p;
}

static bool is_on_cgroup(const struct bpf_link *link, int cgroup_fd)
{
	struct bpf_link_info info = {0};
	__u32 len = sizeof(info);
	struct stat cgroup;

	return link && !bpf_obj_get_info_by_fd(bpf_link__fd(link), &info, &len) &&
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

/*
 * Attach all of them, or none. New links come first, because the cgroup may refuse them; in a link
 * that is there already the program is replaced, so that there is never a gap, which fails only if
 * another process has detached it (cgroup_bpf_replace()).
 */
static int attach_cgroup(struct tcptuned_kernel *k, int cgroup_fd, struct tcptuned_error *err)
{
	struct bpf_prog_skeleton *p[CGROUP_PROGRAMS];
	struct bpf_link *made[CGROUP_PROGRAMS] = {NULL};
	int error = 0;

	get_cgroup_programs(k, p);
	for (int i = 0; i < CGROUP_PROGRAMS && !error; i++) {
		if (is_on_cgroup(*p[i]->link, cgroup_fd))
			continue;
		made[i] = bpf_program__attach_cgroup(*p[i]->prog, cgroup_fd);
		if (!made[i])
			error = link_refused(errno, bpf_program__expected_attach_type(*p[i]->prog),
					     cgroup_fd, err);
	}
	for (int i = 0; i < CGROUP_PROGRAMS && !error; i++)
		if (!made[i] && bpf_link__update_program(*p[i]->link, *p[i]->prog))
			error = load_failed(err, errno, "a program on the cgroup");
	for (int i = 0; i < CGROUP_PROGRAMS; i++) {
		if (error) {
			bpf_link__destroy(made[i]);
		} else if (made[i]) {
			if (*p[i]->link)
				bpf_link__detach(*p[i]->link);
			replace_link(p[i]->link, made[i]);
		}
	}
	return error;
}

/*
 * Attach the iterators, and the program at the end of sockets. The latter runs next to the one
 * before until that one's pin is replaced. The first of the two deletes the record, unless it is of
 * a build that leaves it to the second: then that counts it, too, and the recount at the start
 * corrects the number.
 */
static int attach_tracing(struct tcptuned_kernel *k, struct tcptuned_error *err)
{
	union bpf_iter_link_info info = {.map.map_fd = bpf_map__fd(k->bpf->maps.flows)};
	LIBBPF_OPTS(bpf_iter_attach_opts, over_flows);

	over_flows.link_info = &info;
	over_flows.link_info_len = sizeof(info);
	for_each_program (k, p) {
		const struct bpf_program *prog = *p->prog;
		struct bpf_link *link = NULL;

		if (bpf_program__type(prog) != BPF_PROG_TYPE_TRACING)
			continue;
		if (prog == k->bpf->progs.tcptuned_destroyed)
			link = bpf_program__attach_trace(prog);
		else if (bpf_program__autoload(prog))
			link = bpf_program__attach_iter(
				prog, prog == k->bpf->progs.dump_flows ? &over_flows : NULL);
		if (!link && bpf_program__autoload(prog))
			return load_failed(err, errno, p->name);
		replace_link(p->link, link);
	}
	return 0;
}

static void unregister_cc(struct tcptuned_kernel *k, enum tcptuned_cc cc)
{
	int *link_fd = &k->cc[cc].link_fd, *map_fd = &k->cc[cc].map_fd;

	tcptuned_pins_remove_cc(k, cc);
	/* A registration without a link ends with the element of the map. */
	if (*link_fd < 0 && *map_fd >= 0)
		bpf_map_delete_elem(*map_fd, &(__u32){0});
	tcptuned_replace_fd(link_fd, -1);
	tcptuned_replace_fd(map_fd, -1);
}

/* Replace an older registration, in one step if both are links; else that one ends first. */
static int register_cc(struct tcptuned_kernel *k, enum tcptuned_cc cc, struct bpf_map *map)
{
	int *link_fd = &k->cc[cc].link_fd, error;
	_cleanup_close_ int map_fd = dup(bpf_map__fd(map));

	if (map_fd < 0) /* checked first: without it, no process could undo the registration */
		return -errno;
	if (tcptuned_structops_replace(map, *link_fd)) {
		unregister_cc(k, cc);
		error = tcptuned_structops_register(map, link_fd);
		if (error)
			return error;
	}
	tcptuned_replace_fd(&k->cc[cc].map_fd, tcptuned_take_fd(&map_fd));
	return 0;
}

static void attach_cc(struct tcptuned_kernel *k, enum tcptuned_cc cc,
		      const struct bpf_object *object)
{
	struct tcptuned_registration *r = &k->cc[cc];
	int error;

	if (!object) {
		unregister_cc(k, cc);
		return;
	}
	error = register_cc(k, cc, bpf_object__find_map_by_name(object, tcptuned_pins_cc_name(cc)));
	if (error == -EEXIST)
		snprintf(r->why_not, sizeof(r->why_not),
			 "%s could not be registered: a congestion control of the name %s is there "
			 "already, see bpftool struct_ops show",
			 ccs[cc].what, tcptuned_pins_cc_name(cc));
	else if (error)
		snprintf(r->why_not, sizeof(r->why_not), "%s could not be registered (%s)",
			 ccs[cc].what, strerror(-error));
}

/* @meta: what an earlier daemon changed on the host, which this one has to restore. */
static int load_and_attach(struct tcptuned_kernel *k, int cgroup_fd, bool with_cc,
			   struct tcptuned_meta *meta, struct tcptuned_error *err)
{
	_cleanup_objects_ struct bpf_object *cc[TCPTUNED_CCS] = {NULL};
	_cleanup_link_ struct bpf_link *release = NULL;
	int error = load_programs(k, cgroup_fd, err);

	if (error)
		return error;
	for (int i = 0; with_cc && i < TCPTUNED_CCS; i++)
		load_cc(k, &cc[i], i);
	if (k->origin == TCPTUNED_REPLACED) {
		release = k->bpf->links.release_flows;
		k->bpf->links.release_flows = NULL;
	}

	/* The kernel may refuse these; what runs now is replaced last. */
	error = attach_tracing(k, err) ?: attach_cgroup(k, cgroup_fd, err);
	if (error)
		return error;
	/*
	 * Old records are released by the iterator that can read them, after the programs that
	 * write them have gone. Those that run now tune nothing before they have policies.
	 */
	tcptuned_iterator_run(release, NULL);
	for (int i = 0; i < TCPTUNED_CCS; i++)
		attach_cc(k, i, cc[i]);
	meta->abi = TCPTUNED_ABI;
	meta->build = build_of_objects();
	error = tcptuned_pins_make(k, cc, meta);
	if (error)
		return FAIL(err, -error, INTERNAL, "cannot pin programs in %s: %s", k->pin_dir,
			    strerror(-error));
	return 0;
}

/* ---- taking over ---------------------------------------------------------------------- */

static bool read_meta(const struct tcptuned_kernel *k, struct tcptuned_meta *meta)
{
	int fd = bpf_map__fd(k->bpf->maps.meta);
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
	struct bpf_prog_skeleton *p[CGROUP_PROGRAMS];

	get_cgroup_programs(k, p);
	for (int i = 0; i < CGROUP_PROGRAMS; i++)
		if (!is_on_cgroup(*p[i]->link, cgroup_fd))
			return false;
	return k->bpf->links.tcptuned_destroyed;
}

/* After a failure nothing of what is pinned is known, and nothing of it may be touched. */
static int open_pinned(struct tcptuned_kernel *k, struct tcptuned_error *err)
{
	int error = tcptuned_pins_open(k, true);

	if (!error) {
		tcptuned_pins_open_cc(k);
		return 0;
	}
	tcptuned_kernel_close(k);
	return maps_failed(err, -error);
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
	return open_pinned(k, err);
}

/* What to do with what is pinned; @meta is filled where there is one. */
static enum tcptuned_origin choose_origin(struct tcptuned_kernel *k, int cgroup_fd,
					  bool register_cc, struct tcptuned_meta *meta)
{
	bool has_meta = read_meta(k, meta);

	if (!has_meta && !tcptuned_pins_have_other_layout(k, k->bpf->maps.meta))
		return TCPTUNED_LOADED;
	if (!has_meta || meta->abi != TCPTUNED_ABI)
		return TCPTUNED_REPLACED;
	if (meta->build == build_of_objects() && is_attached(k, cgroup_fd) &&
	    tcptuned_is_registered(k, TCPTUNED_CC_BITCP) == register_cc &&
	    (register_cc || !tcptuned_is_registered(k, TCPTUNED_CC_RESUME)) &&
	    bpf_map__fd(k->bpf->maps.paths) >= 0)
		return TCPTUNED_TAKEN_OVER;
	return TCPTUNED_UPGRADED;
}

int tcptuned_kernel_attach(struct tcptuned_kernel *k, const char *bpffs, int cgroup_fd,
			   bool register_cc, struct tcptuned_error *err)
{
	struct tcptuned_meta meta = {0};
	int error = tcptuned_pins_check(bpffs, k->pin_dir, err);

	if (error)
		return error;
	if (mkdir(k->pin_dir, 0700) && errno != EEXIST)
		return tcptuned_error_to_write(err, TCPTUNED_EXIT_NOT_PERMITTED, "tcptuned.bpffs",
					       k->pin_dir, "made");
	error = open_pinned(k, err);
	if (error)
		return error;
	k->origin = choose_origin(k, cgroup_fd, register_cc, &meta);
	if (k->origin == TCPTUNED_TAKEN_OVER) {
		k->paths_kept = true;
		tcptuned_pins_open_programs(k);
		return 0;
	}
	if (k->origin == TCPTUNED_LOADED) { /* there may be the rest of an interrupted start */
		tcptuned_kernel_detach(k);
		mkdir(k->pin_dir, 0700);
	}
	error = load_and_attach(k, cgroup_fd, register_cc, &meta, err);
	if (error && k->origin == TCPTUNED_LOADED)
		tcptuned_kernel_detach(k);
	if (error)
		tcptuned_kernel_close(k);
	else
		tcptuned_pins_open_programs(k);
	return error;
}

int tcptuned_kernel_check_load(const char *bpffs, int cgroup_fd, struct tcptuned_error *err)
{
	_cleanup_objects_ struct bpf_object *cc[TCPTUNED_CCS] = {NULL};
	struct tcptuned_kernel k;
	int error;

	tcptuned_kernel_init(&k, bpffs);
	error = tcptuned_pins_check(bpffs, k.pin_dir, err) ?: load_programs(&k, cgroup_fd, err);
	if (!error)
		tcptuned_pins_open_cc(&k);
	for (int i = 0; i < TCPTUNED_CCS && !error; i++) {
		load_cc(&k, &cc[i], i);
		if (!cc[i] && tcptuned_is_registered(&k, i))
			error = FAIL(err, ENOTSUP, KERNEL, "%s", k.cc[i].why_not);
	}
	tcptuned_kernel_close(&k);
	return error;
}

/* ---- detaching ------------------------------------------------------------------------ */

void tcptuned_kernel_stop(struct tcptuned_kernel *k)
{
	struct bpf_prog_skeleton *p[CGROUP_PROGRAMS];

	get_cgroup_programs(k, p);
	for (int i = 0; i < CGROUP_PROGRAMS; i++)
		if (*p[i]->link)
			bpf_link__detach(*p[i]->link);
}

int tcptuned_kernel_detach(struct tcptuned_kernel *k)
{
	tcptuned_kernel_stop(k);
	for (int i = 0; i < TCPTUNED_CCS; i++)
		unregister_cc(k, i);
	return tcptuned_pins_remove(k);
}

void tcptuned_kernel_close(struct tcptuned_kernel *k)
{
	tcptuned_bpf__destroy(k->bpf);
	k->bpf = NULL;
	for (int i = 0; i < TCPTUNED_CCS; i++) {
		tcptuned_replace_fd(&k->cc[i].map_fd, -1);
		tcptuned_replace_fd(&k->cc[i].link_fd, -1);
	}
	while (k->programs_len)
		close(k->programs[--k->programs_len].fd);
	tcptuned_replace_fd(&k->match_fd, -1);
	tcptuned_replace_fd(&k->rules_fd[0], -1);
	tcptuned_replace_fd(&k->rules_fd[1], -1);
	tcptuned_replace_fd(&k->scan_lock, -1);
}
