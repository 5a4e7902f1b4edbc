// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "config_keys.h"

#define FILE_MAX    (1u << 20) /* bytes; a thousand times what a full one takes */
#define QUOTED	    128	       /* of a value or name in a message, with its NUL */
#define WHERE	    300	       /* "FILE:LINE" in a message, with its NUL */
#define DROP_IN_END ".conf"

/* One loading: what has been read so far, and where the reading is. */
struct loading {
	struct tcptuned_config config;
	struct tcptuned_error *err;
	int error;	  /* 0, or the first failure; nothing is read after it */
	const char *file; /* or NULL: the command line */
	unsigned int line;
	unsigned int seen[TCPTUNED_CONFIG_KEYS]; /* line of this file that gave the key; 0 */
	const char *next;			 /* of the file's text ... */
	size_t left;				 /* ... so much is unread */
};

/* ---- messages -------------------------------------------------------------------------- */

/* @text between quotation marks, its length bounded and its control characters escaped. */
static const char *quote(const char *text, char ret[QUOTED])
{
	static const size_t longest = 60;
	size_t used = 0;

	ret[used++] = '"';
	for (size_t i = 0; text[i]; i++) {
		unsigned char c = (unsigned char)text[i];

		if (i == longest || used > QUOTED - 12) {
			used += (size_t)sprintf(ret + used, "...");
			break;
		}
		if (c < ' ' || c == 0x7f)
			used += (size_t)sprintf(ret + used, "\\x%02x", c);
		else
			ret[used++] = text[i];
	}
	ret[used++] = '"';
	ret[used] = '\0';
	return ret;
}

/* Of a path that is too long, the end tells more. */
static const char *path_tail(const char *path)
{
	size_t length = strlen(path), most = TCPTUNED_CONFIG_TEXT - 16;

	return length > most ? path + length - most : path;
}

static void where(const struct loading *l, unsigned int line, char *ret, size_t size)
{
	if (l->file)
		snprintf(ret, size, "%s:%u", path_tail(l->file), line);
	else
		snprintf(ret, size, "--set");
}

/* Fail at the line that is being read; printf-like. */
__attribute__((format(printf, 3, 4))) static int
fail_here(struct loading *l, enum tcptuned_exit status, const char *fmt, ...)
{
	char at[WHERE], text[600];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	where(l, l->line, at, sizeof(at));
	l->error = tcptuned_fail(l->err, EINVAL, status, "%s: %s", at, text);
	return l->error;
}

/* Fail about a whole file or directory, with the errno of the call that failed. */
static int fail_file(struct loading *l, const char *path, int errnum, const char *remedy)
{
	enum tcptuned_exit status = errnum == ENOENT ? TCPTUNED_EXIT_CONFIG_MISSING
						     : TCPTUNED_EXIT_CONFIG_UNREADABLE;

	if (errnum == ENOMEM)
		status = TCPTUNED_EXIT_INTERNAL;
	l->error = tcptuned_fail(l->err, errnum, status, "%s: %s; %s", path_tail(path),
				 strerror(errnum), remedy);
	return l->error;
}

/* ---- names ----------------------------------------------------------------------------- */

static const struct tcptuned_section *find_section(const char *name)
{
	for (size_t i = 0; i < tcptuned_sections_count; i++)
		if (!strcmp(tcptuned_sections[i].name, name))
			return &tcptuned_sections[i];
	return NULL;
}

/* @section NULL: in any. */
static const struct tcptuned_key *find_key(const char *section, const char *name)
{
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
		if ((!section || !strcmp(tcptuned_keys[i].section, section)) &&
		    !strcmp(tcptuned_keys[i].name, name))
			return &tcptuned_keys[i];
	return NULL;
}

static int check_section(struct loading *l, const char *name)
{
	const char *names[8] = {NULL}, *nearest;
	char quoted[QUOTED];

	if (find_section(name))
		return 0;
	assert(tcptuned_sections_count < sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < tcptuned_sections_count; i++)
		names[i] = tcptuned_sections[i].name;
	nearest = tcptuned_nearest(name, names);
	if (nearest)
		return fail_here(l, TCPTUNED_EXIT_CONFIG_UNKNOWN,
				 "%s: no such section; did you mean [%s]?", quote(name, quoted),
				 nearest);
	return fail_here(l, TCPTUNED_EXIT_CONFIG_UNKNOWN,
			 "%s: no such section; there are [tcptuned], [policy], [bitcp], "
			 "[paths] and [metrics]",
			 quote(name, quoted));
}

static int fail_unknown_key(struct loading *l, const char *section, const char *name)
{
	const char *names[TCPTUNED_CONFIG_KEYS + 1] = {NULL}, *nearest;
	const struct tcptuned_key *elsewhere = find_key(NULL, name);
	char quoted[QUOTED], list[256] = "";
	size_t n = 0, used = 0;

	if (elsewhere)
		return fail_here(l, TCPTUNED_EXIT_CONFIG_UNKNOWN,
				 "%s.%s: no such key; %s belongs in [%s]", section, name, name,
				 elsewhere->section);
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
		if (!strcmp(tcptuned_keys[i].section, section))
			names[n++] = tcptuned_keys[i].name;
	nearest = tcptuned_nearest(name, names);
	if (nearest)
		return fail_here(l, TCPTUNED_EXIT_CONFIG_UNKNOWN,
				 "%s in [%s]: no such key; did you mean %s?",
				 quote(name, quoted), section, nearest);
	for (size_t i = 0; i < n && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 !i	     ? ""
					 : i + 1 < n ? ", "
						     : " and ",
					 names[i]);
	return fail_here(l, TCPTUNED_EXIT_CONFIG_UNKNOWN,
			 "%s in [%s]: no such key; [%s] has %s", quote(name, quoted), section,
			 section, list);
}

/* ---- one key --------------------------------------------------------------------------- */

static int fail_value(struct loading *l, const struct tcptuned_key *key, int error,
		      const char *value, const char *problem)
{
	char quoted[QUOTED], wants[KEY_TEXT];

	tcptuned_key_wants(key, wants);
	return fail_here(
		l, error == -ERANGE ? TCPTUNED_EXIT_CONFIG_RANGE : TCPTUNED_EXIT_CONFIG_TYPE,
		"%s.%s: %s %s; it takes %s", key->section, key->name, quote(value, quoted),
		problem, wants);
}

static int set_key(struct loading *l, const char *section, const char *name, const char *value)
{
	const struct tcptuned_key *key = find_key(section, name);
	char problem[KEY_TEXT];
	size_t i;
	int error;

	if (!key)
		return fail_unknown_key(l, section, name);
	i = (size_t)(key - tcptuned_keys);
	if (l->seen[i])
		return fail_here(
			l, TCPTUNED_EXIT_CONFIG_DUPLICATE,
			"%s.%s: given a second time, after line %u; keep one of the two",
			section, name, l->seen[i]);
	error = tcptuned_key_parse(key, value, &l->config, problem);
	if (error)
		return fail_value(l, key, error, value, problem);
	l->seen[i] = l->line;
	where(l, l->line, l->config.origin[i], sizeof(l->config.origin[i]));
	return 0;
}

/* ---- one file -------------------------------------------------------------------------- */

/*
 * inih leaves a section alone until a key follows, and what stands after its bracket for
 * ever. Here a section is checked where it stands. @line has no NUL and no newline in it.
 */
static int check_section_line(struct loading *l, const char *line, size_t length)
{
	const char *end = memchr(line, ']', length), *rest;
	char name[64];

	if (!end)
		return fail_here(l, TCPTUNED_EXIT_CONFIG_SYNTAX,
				 "the ] of a section is missing; write [policy], for example");
	for (rest = end + 1; rest < line + length && strchr(" \t\r", *rest); rest++)
		;
	if (rest < line + length && *rest != ';' && *rest != '#')
		return fail_here(
			l, TCPTUNED_EXIT_CONFIG_SYNTAX,
			"more than a section stands here; begin a new line after the ]");
	snprintf(name, sizeof(name), "%.*s", (int)(end - line - 1), line + 1);
	return check_section(l, name);
}

/*
 * Hand @line on to inih, which reads into @buffer of @size. Comments are handed on as empty
 * lines, so that they may be longer; white space before a key is taken away, because inih
 * would read that as a second line of the key before.
 */
static char *hand_on(struct loading *l, const char *line, size_t length, char *buffer, int size)
{
	while (length && strchr(" \t\r\f\v", *line) && *line) {
		line++;
		length--;
	}
	if (memchr(line, '\0', length)) {
		fail_here(l, TCPTUNED_EXIT_CONFIG_SYNTAX,
			  "there is a NUL byte in it; this is no text file, name another or "
			  "remove the byte");
		return NULL;
	}
	if (length && (*line == '#' || *line == ';'))
		length = 0;
	if (length + 2 > (size_t)size) {
		fail_here(l, TCPTUNED_EXIT_CONFIG_SYNTAX,
			  "the line has %zu characters; shorten it to %d", length, size - 2);
		return NULL;
	}
	if (length && *line == '[' && check_section_line(l, line, length) < 0)
		return NULL;
	memcpy(buffer, line, length);
	strcpy(buffer + length, "\n");
	return buffer;
}

/* An ini_reader: the next line, or NULL at the end and after a failure. */
static char *next_line(char *buffer, int size, void *stream)
{
	struct loading *l = stream;
	const char *line = l->next, *newline;
	size_t length;

	if (l->error || !l->left)
		return NULL;
	newline = memchr(line, '\n', l->left);
	length = newline ? (size_t)(newline - line) : l->left;
	l->next += length + !!newline;
	l->left -= length + !!newline;
	l->line++;
	return hand_on(l, line, length, buffer, size);
}

/* An ini_handler: 1 to go on. */
static int handle_key(void *user, const char *section, const char *name, const char *value)
{
	struct loading *l = user;
	char quoted[QUOTED];

	if (l->error)
		return 0;
	if (!*section)
		return !fail_here(l, TCPTUNED_EXIT_CONFIG_SYNTAX,
				  "the key %s stands before any section; write [policy] or "
				  "another section above it",
				  quote(name, quoted));
	return !set_key(l, section, name, value ? value : "");
}

static int parse_text(struct loading *l, const char *file, const char *text, size_t length)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	unsigned int mark = sizeof(byte_order_mark) - 1;
	int bad_line;

	if (length >= mark && !memcmp(text, byte_order_mark, mark)) {
		text += mark;
		length -= mark;
	}
	l->file = file;
	l->line = 0;
	l->next = text;
	l->left = length;
	memset(l->seen, 0, sizeof(l->seen));
	bad_line = ini_parse_stream(next_line, l, handle_key, l);
	/* inih goes on after a line that it cannot parse: that one comes first. */
	if (bad_line > 0 && (!l->error || (unsigned int)bad_line < l->line)) {
		l->line = (unsigned int)bad_line;
		fail_here(l, TCPTUNED_EXIT_CONFIG_SYNTAX,
			  "neither a [section] nor a key; write key = value, or # before a "
			  "comment");
	}
	if (bad_line < 0 && !l->error)
		fail_file(l, file, ENOMEM, "free some memory");
	return l->error;
}

/* Returns the length, at most @size, or a negative errno. */
static ssize_t read_all(int fd, char *buffer, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, buffer + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

static int read_file(struct loading *l, const char *path)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *text = NULL;
	struct stat st;
	ssize_t length;

	/* A FIFO must not hold the start up. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return fail_file(
			l, path, ENOENT,
			"write it (tcptuned --help-config prints one) or name another");
	if (fd < 0)
		return fail_file(l, path, errno,
				 "run tcptuned as root, or allow it to be read");
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return fail_file(l, path, S_ISDIR(st.st_mode) ? EISDIR : EINVAL,
				 "name a regular file");
	text = malloc(FILE_MAX + 1);
	if (!text)
		return fail_file(l, path, ENOMEM, "free some memory");
	length = read_all(fd, text, FILE_MAX + 1);
	if (length < 0)
		return fail_file(l, path, (int)-length, "check the file system");
	if (length > FILE_MAX)
		return fail_file(l, path, EFBIG, "keep it below 1 MiB");
	return parse_text(l, path, text, (size_t)length);
}

/* ---- drop-ins -------------------------------------------------------------------------- */

static int is_drop_in(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), end = strlen(DROP_IN_END);

	return entry->d_name[0] != '.' && length > end &&
	       !strcmp(entry->d_name + length - end, DROP_IN_END);
}

/* By bytes: the order must not depend on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_drop_ins(struct loading *l, const char *path)
{
	struct dirent **entries = NULL;
	char directory[PATH_MAX], file[PATH_MAX + 256 + 2];
	int n;

	if (snprintf(directory, sizeof(directory), "%s.d", path) >= (int)sizeof(directory))
		return fail_file(l, path, ENAMETOOLONG, "name a file with a shorter path");
	n = scandir(directory, &entries, is_drop_in, by_name);
	if (n < 0 && errno == ENOENT)
		return 0;
	if (n < 0)
		return fail_file(l, directory, errno,
				 "make it a directory that tcptuned may read, or remove it");
	for (int i = 0; i < n; i++) {
		if (!l->error) {
			snprintf(file, sizeof(file), "%s/%s", directory, entries[i]->d_name);
			read_file(l, file);
		}
		free(entries[i]);
	}
	free(entries);
	return l->error;
}

/* ---- the command line ------------------------------------------------------------------ */

static int read_set(struct loading *l, const char *text)
{
	char section[64], name[64], quoted[QUOTED];
	const char *equals = strchr(text, '='), *dot = strchr(text, '.');

	l->file = NULL;
	memset(l->seen, 0, sizeof(l->seen));
	if (!equals || !dot || dot > equals)
		return fail_here(l, TCPTUNED_EXIT_CONFIG_SYNTAX,
				 "%s is not SECTION.KEY=VALUE; write metrics.port=9817, for "
				 "example",
				 quote(text, quoted));
	snprintf(section, sizeof(section), "%.*s", (int)(dot - text), text);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - dot - 1), dot + 1);
	if (check_section(l, section) < 0)
		return l->error;
	return set_key(l, section, name, equals + 1);
}

/* ---- all of it ------------------------------------------------------------------------- */

static size_t key_index(const char *section, const char *name)
{
	const struct tcptuned_key *key = find_key(section, name);

	assert(key);
	return (size_t)(key - tcptuned_keys);
}

/* Is @path @directory, or below it? */
static bool is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	while (length > 1 && directory[length - 1] == '/')
		length--;
	return !strncmp(path, directory, length) && (path[length] == '/' || !path[length]);
}

static int cross_check(struct loading *l)
{
	const struct tcptuned_config *c = &l->config;
	const char *origin = c->origin[key_index("tcptuned", "runtime_directory")];

	if (!strcmp(origin, "default"))
		origin = c->origin[key_index("tcptuned", "bpffs")];
	if (is_below(c->runtime_directory, c->bpffs))
		return l->error = tcptuned_fail(
			       l->err, EINVAL, TCPTUNED_EXIT_CONFIG_INCONSISTENT,
			       "%s: tcptuned.runtime_directory: %.100s is inside "
			       "tcptuned.bpffs, %.100s, which holds no ordinary files; take "
			       "another, as /run/tcptuned",
			       origin, c->runtime_directory, c->bpffs);
	if (!bitcp_params_valid(&c->bitcp))
		return l->error = tcptuned_fail(
			       l->err, EINVAL, TCPTUNED_EXIT_CONFIG_INCONSISTENT,
			       "%s: bitcp: s_max, s_min, beta and low_window do not go "
			       "together; remove them for the defaults",
			       c->origin[key_index("bitcp", "s_max")]);
	return 0;
}

void tcptuned_config_defaults(struct tcptuned_config *ret)
{
	char problem[KEY_TEXT];

	/* All bytes, also of padding: values are compared with memcmp(). */
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++) {
		const struct tcptuned_key *key = &tcptuned_keys[i];
		int error = tcptuned_key_parse(key, key->fallback, ret, problem);

		assert(!error);
		(void)error;
		strcpy(ret->origin[i], "default");
	}
}

static int load(struct loading *l, const char *path, const char *const *set)
{
	bool may_be_missing = !path || !*path;

	if (may_be_missing)
		path = TCPTUNED_CONFIG_PATH;
	if (!(may_be_missing && access(path, F_OK) && errno == ENOENT) &&
	    read_file(l, path) < 0)
		return l->error;
	if (read_drop_ins(l, path) < 0)
		return l->error;
	for (; set && *set; set++)
		if (read_set(l, *set) < 0)
			return l->error;
	return cross_check(l);
}

int tcptuned_config_load(const char *path, const char *const *set, struct tcptuned_config *ret,
			 struct tcptuned_error *err)
{
	struct loading l = {.err = err};

	tcptuned_config_defaults(&l.config);
	if (load(&l, path, set) < 0)
		return l.error;
	*ret = l.config;
	return 0;
}

int tcptuned_config_diff(const struct tcptuned_config *was, const struct tcptuned_config *now,
			 tcptuned_config_differ differ, void *context)
{
	char key[64], from[KEY_TEXT], to[KEY_TEXT];
	int count = 0;

	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++) {
		const struct tcptuned_key *k = &tcptuned_keys[i];

		if (tcptuned_key_equal(k, was, now))
			continue;
		count++;
		if (!differ)
			continue;
		snprintf(key, sizeof(key), "%s.%s", k->section, k->name);
		tcptuned_key_format(k, was, from);
		tcptuned_key_format(k, now, to);
		differ(context, key, from, to, k->live);
	}
	return count;
}

void tcptuned_config_keep_fixed(struct tcptuned_config *config,
				const struct tcptuned_config *from)
{
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++) {
		const struct tcptuned_key *key = &tcptuned_keys[i];

		if (key->live)
			continue;
		memcpy((char *)config + key->offset, (const char *)from + key->offset,
		       key->size);
		memcpy(config->origin[i], from->origin[i], sizeof(config->origin[i]));
	}
}
