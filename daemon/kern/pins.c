// SPDX-License-Identifier: GPL-2.0-only
#include "kern/pins.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/magic.h>

#include "tcptuned.skel.h"
#include "util/cleanup.h"

#define PATH_BYTES     (TCPTUNED_PIN_DIR_MAX + 64)
#define PROGRAM_PREFIX "tcptuned_"

static const char *const cc_names[TCPTUNED_CCS] = {"bitcp", "cubic_resume"};

static int check_mounted(const char *bpffs, struct tcptuned_error *err)
{
	struct statfs fs;

	if (statfs(bpffs, &fs))
		return FAIL(err, errno, NOT_PERMITTED,
			    "%s: %s; mount the BPF file system there: "
			    "mount -t bpf -o mode=0700 bpf %s",
			    bpffs, strerror(errno), bpffs);
	if ((unsigned long)fs.f_type != BPF_FS_MAGIC)
		return FAIL(err, ENODEV, NOT_PERMITTED,
			    "%s is not a BPF file system, so nothing can be pinned "
			    "there; mount it: mount -t bpf -o mode=0700 bpf %s",
			    bpffs, bpffs);
	return 0;
}

/* A path that this process cannot examine it cannot open either. */
static int check_writers(const char *path, int flags, struct tcptuned_error *err)
{
	struct stat st;

	if (fstatat(AT_FDCWD, path, &st, flags))
		return 0;
	if (!S_ISDIR(st.st_mode))
		return FAIL(err, EPERM, NOT_PERMITTED, "%s is not a directory; remove it", path);
	if (st.st_uid || st.st_mode & 022)
		return FAIL(err, EPERM, NOT_PERMITTED,
			    "%s may be written by others than root (owner %u, mode %04o), who "
			    "could replace what is pinned there; chown root %s && chmod 0700 "
			    "%s, or mount a BPF file system of its own with -o mode=0700 and "
			    "name it as tcptuned.bpffs",
			    path, st.st_uid, st.st_mode & 07777, path, path);
	return 0;
}

static int check_links(const char *pin_dir, struct tcptuned_error *err)
{
	_cleanup_closedir_ DIR *dir = opendir(pin_dir);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (!fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISLNK(st.st_mode))
			return FAIL(err, EPERM, NOT_PERMITTED,
				    "%s/%s is a symbolic link, which tcptuned does not make; "
				    "remove it",
				    pin_dir, entry->d_name);
	return 0;
}

int tcptuned_pins_check(const char *bpffs, const char *pin_dir, struct tcptuned_error *err)
{
	return check_mounted(bpffs, err) ?:
	       check_writers(bpffs, 0, err) ?:
	       check_writers(pin_dir, AT_SYMLINK_NOFOLLOW, err) ?:
	       check_links(pin_dir, err);
}

static const char *format_path(const struct tcptuned_kernel *k, const char *kind, const char *name,
			       char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s_%s", k->pin_dir, kind, name);
	return path;
}

/* The path of a pin, in an array of the block that it is used in. */
#define PIN_PATH(k, kind, name) format_path(k, kind, name, (char[PATH_BYTES]){0})

static const char *without_prefix(const char *program)
{
	size_t len = strlen(PROGRAM_PREFIX);

	return program + (strncmp(program, PROGRAM_PREFIX, len) ? 0 : len);
}

static const char *link_name(const struct bpf_prog_skeleton *p)
{
	if (!strcmp(p->name, "release_flows"))
		return "release"; /* in every build, since others run it */
	return without_prefix(p->name);
}

/* ---- opening -------------------------------------------------------------------------- */

/* For lack of descriptors or memory a pin is not taken for one that is not there. */
static int lack_of(int errnum)
{
	return errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM ? -errnum : 0;
}

static int open_link(const struct tcptuned_kernel *k, const char *name, struct bpf_link **ret)
{
	const char *path = PIN_PATH(k, "link", name);

	*ret = NULL;
	if (faccessat(AT_FDCWD, path, F_OK, AT_EACCESS))
		return 0;
	*ret = bpf_link__open(path);
	return *ret ? 0 : lack_of(errno);
}

/*
 * The kernel would read and write as much as the map says, past the end of a smaller record here.
 */
static bool has_layout(int map_fd, const struct bpf_map *map)
{
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);

	return !bpf_obj_get_info_by_fd(map_fd, &info, &len) &&
	       info.key_size == bpf_map__key_size(map) &&
	       info.value_size == bpf_map__value_size(map);
}

bool tcptuned_pins_have_other_layout(const struct tcptuned_kernel *k, const struct bpf_map *map)
{
	_cleanup_close_ int fd = bpf_obj_get(PIN_PATH(k, "map", bpf_map__name(map)));

	return fd >= 0 && !has_layout(fd, map);
}

static int open_map(const struct tcptuned_kernel *k, struct bpf_map *map)
{
	_cleanup_close_ int fd = bpf_obj_get(PIN_PATH(k, "map", bpf_map__name(map)));

	if (fd < 0)
		return lack_of(errno);
	return has_layout(fd, map) ? bpf_map__reuse_fd(map, fd) : 0;
}

int tcptuned_pins_open(struct tcptuned_kernel *k, bool with_maps)
{
	struct tcptuned_bpf *bpf = tcptuned_bpf__open();
	struct bpf_map *map;
	int error = 0;

	if (!bpf)
		return -errno;
	tcptuned_bpf__destroy(k->bpf);
	k->bpf = bpf;
	for_each_program (k, p)
		if (!error)
			error = open_link(k, link_name(p), p->link);
	bpf_object__for_each_map (map, k->bpf->obj)
		if (with_maps && !bpf_map__is_internal(map) && !error)
			error = open_map(k, map);
	return error;
}

void tcptuned_pins_open_programs(struct tcptuned_kernel *k)
{
	_cleanup_closedir_ DIR *dir = opendir(k->pin_dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) && k->programs_len < TCPTUNED_PROGRAMS_MAX) {
		struct tcptuned_program *program = &k->programs[k->programs_len];
		const char *name = entry->d_name + strlen("prog_");

		if (strncmp(entry->d_name, "prog_", strlen("prog_")))
			continue;
		program->fd = bpf_obj_get(PIN_PATH(k, "prog", name));
		if (program->fd < 0)
			continue;
		name = without_prefix(name);
		snprintf(program->name, sizeof(program->name), "%s%s",
			 strncmp(name, "ca_", 3) ? "" : "bitcp_", name);
		k->programs_len++;
	}
}

/* ---- pinning -------------------------------------------------------------------------- */

/*
 * In place of an older pin. By way of another name next to it, so that a process that is killed, or
 * fails, leaves either the old pin or the new one. Returns 0 also where there is nothing to pin, or
 * a negative errno.
 */
static int pin(const struct tcptuned_kernel *k, const char *kind, const char *name, int fd)
{
	const char *path = PIN_PATH(k, kind, name), *new = PIN_PATH(k, "new", name);
	int error;

	if (fd < 0)
		return 0;
	unlink(new); /* of a daemon that was killed */
	if (bpf_obj_pin(fd, new))
		return -errno;
	if (!rename(new, path))
		return 0;
	error = -errno;
	unlink(new);
	return error;
}

static int pin_programs(const struct tcptuned_kernel *k, const struct bpf_object *object)
{
	struct bpf_program *prog = NULL;
	int error = 0;

	while (object && !error && (prog = bpf_object__next_program(object, prog)))
		error = pin(k, "prog", bpf_program__name(prog), bpf_program__fd(prog));
	return error;
}

static int pin_all_but_meta(const struct tcptuned_kernel *k,
			    struct bpf_object *const cc[TCPTUNED_CCS])
{
	const struct bpf_map *map;
	int error = 0;

	bpf_object__for_each_map (map, k->bpf->obj)
		if (map != k->bpf->maps.meta && !bpf_map__is_internal(map) && !error)
			error = pin(k, "map", bpf_map__name(map), bpf_map__fd(map));
	for_each_program (k, p)
		if (*p->link && !error)
			error = pin(k, "link", link_name(p), bpf_link__fd(*p->link));
	error = error ?: pin_programs(k, k->bpf->obj);
	for (int i = 0; i < TCPTUNED_CCS && !error; i++)
		error = pin(k, "map", cc_names[i], k->cc[i].map_fd)
				?: pin(k, "link", cc_names[i], k->cc[i].link_fd)
				?: pin_programs(k, cc[i]);
	return error;
}

/* @name: of a map, a program, a link or a congestion control. */
static bool is_pinned_by(const struct tcptuned_kernel *k, struct bpf_object *const cc[TCPTUNED_CCS],
			 const char *name)
{
	for (int i = 0; i < TCPTUNED_CCS; i++)
		if (!strcmp(name, cc_names[i]) ||
		    (cc[i] && bpf_object__find_program_by_name(cc[i], name)))
			return true;
	for_each_program (k, p)
		if (*p->link && (!strcmp(name, p->name) || !strcmp(name, link_name(p))))
			return true;
	return bpf_object__find_map_by_name(k->bpf->obj, name);
}

static void remove_others(const struct tcptuned_kernel *k,
			  struct bpf_object *const cc[TCPTUNED_CCS])
{
	_cleanup_closedir_ DIR *dir = opendir(k->pin_dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *name = strchr(entry->d_name, '_');

		if (name && !is_pinned_by(k, cc, name + 1))
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
}

int tcptuned_pins_make(const struct tcptuned_kernel *k, struct bpf_object *const cc[TCPTUNED_CCS],
		       const struct tcptuned_meta *meta)
{
	int meta_fd = bpf_map__fd(k->bpf->maps.meta), error = pin_all_but_meta(k, cc);
	__u32 zero = 0;

	if (!error && bpf_map_update_elem(meta_fd, &zero, meta, BPF_ANY))
		error = -errno;
	error = error ?: pin(k, "map", "meta", meta_fd);
	if (!error)
		remove_others(k, cc);
	return error;
}

/*
 * map_meta comes first, so that no start takes over maps whose records were left without the
 * program at their end.
 */
int tcptuned_pins_remove(const struct tcptuned_kernel *k)
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

/* ---- congestion controls -------------------------------------------------------------- */

const char *tcptuned_pins_cc_name(enum tcptuned_cc cc)
{
	return cc_names[cc];
}

enum tcptuned_cc tcptuned_pins_find_cc(const char *name)
{
	enum tcptuned_cc cc = 0;

	while (cc < TCPTUNED_CCS && strcmp(name, cc_names[cc]))
		cc++;
	return cc;
}

void tcptuned_pins_open_cc(struct tcptuned_kernel *k)
{
	for (int i = 0; i < TCPTUNED_CCS; i++) {
		k->cc[i].map_fd = bpf_obj_get(PIN_PATH(k, "map", cc_names[i]));
		k->cc[i].link_fd = bpf_obj_get(PIN_PATH(k, "link", cc_names[i]));
	}
}

void tcptuned_pins_remove_cc(const struct tcptuned_kernel *k, enum tcptuned_cc cc)
{
	unlink(PIN_PATH(k, "link", cc_names[cc]));
	unlink(PIN_PATH(k, "map", cc_names[cc]));
	/* Of a daemon that was killed between pinning and renaming. */
	unlink(PIN_PATH(k, "new", cc_names[cc]));
}
