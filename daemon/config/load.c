// SPDX-License-Identifier: GPL-2.0-only
#include "config/load.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/keys.h"
#include "util/array.h"
#include "util/cleanup.h"

#define FILE_MAX (16u << 20) /* bytes */
#define BLANKS	 " \t\r\f\v"

/* One call of tcptuned_config_load(). */
struct loading {
	struct tcptuned_config config;
	struct tcptuned_error *err;
	const char *file; /* that is being read; NULL: the command line */
	unsigned int line;
	char section[TCPTUNED_POLICY_NAME_MAX + sizeof("policy ")]; /* of the next key; "": none */
	struct tcptuned_named_policy *policy; /* of that section; NULL: it is another section */
};

/* ---- messages -------------------------------------------------------------------------- */

/* Fail; printf-like. Evaluates to the negative errno. */
#define FAIL_LOADING(l, errnum, ...)                                                            \
	tcptuned_error_fill((l)->err, errnum,                                                   \
			    (errnum) == ENOMEM ? TCPTUNED_EXIT_INTERNAL : TCPTUNED_EXIT_CONFIG, \
			    __VA_ARGS__)

/* The end of a path that is too long for a message: it is more telling than the beginning. */
static const char *path_tail(const char *path)
{
	size_t length = strlen(path), max = TCPTUNED_CONFIG_TEXT - 16;

	return length > max ? path + length - max : path;
}

/* Write the place that is being read to @ret: "FILE:LINE", or "--set". */
static void format_place(const struct loading *l, char ret[TCPTUNED_CONFIG_TEXT])
{
	if (l->file)
		snprintf(ret, TCPTUNED_CONFIG_TEXT, "%s:%u", path_tail(l->file), l->line);
	else
		snprintf(ret, TCPTUNED_CONFIG_TEXT, "--set");
}

/* Fail at the place that is being read; printf-like. */
__attribute__((format(printf, 2, 3))) static int fail_here(struct loading *l, const char *fmt, ...)
{
	char place[TCPTUNED_CONFIG_TEXT], text[600];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	format_place(l, place);
	return FAIL_LOADING(l, EINVAL, "%s: %s", place, text);
}

/* ---- sections and keys ----------------------------------------------------------------- */

/* The place of a key in the table, which has to contain it. */
static size_t key_index(const char *section, const char *name)
{
	size_t i = 0;

	while (strcmp(tcptuned_keys[i].section, section) || strcmp(tcptuned_keys[i].name, name))
		i++;
	return i;
}

bool tcptuned_config_policy_says(const struct tcptuned_named_policy *policy, const char *name)
{
	return policy->origin[key_index("policy", name)][0];
}

struct tcptuned_named_policy *tcptuned_config_policy(const struct tcptuned_config *config,
						     const char *name)
{
	for (size_t i = 0; i < config->policies_len; i++)
		if (!strcmp(config->policies[i].name, name))
			return &config->policies[i];
	return NULL;
}

static int add_policy(struct loading *l, const char *name)
{
	struct tcptuned_config *c = &l->config;

	if (c->policies_len + 1 >= TCPTUNED_POLICIES_MAX)
		return fail_here(l, "[policy %s] is one policy too many; there may be %d", name,
				 TCPTUNED_POLICIES_MAX - 1);
	if (!c->policies)
		c->policies = calloc(TCPTUNED_POLICIES_MAX - 1, sizeof(*c->policies));
	if (!c->policies)
		return FAIL_LOADING(l, ENOMEM, "[policy %s]: out of memory; free some", name);
	l->policy = &c->policies[c->policies_len++];
	strcpy(l->policy->name, name);
	format_place(l, l->policy->where);
	return 0;
}

/* A policy exists as soon as its section does. */
static int enter_policy(struct loading *l, const char *name)
{
	size_t length = strspn(name, NAME_CHARACTERS);

	if (!length || name[length] || length >= TCPTUNED_POLICY_NAME_MAX)
		return fail_here(l,
				 "\"%.60s\" is not a policy name; use at most %d letters, "
				 "digits, _ and -, as in [policy web]",
				 name, TCPTUNED_POLICY_NAME_MAX - 1);
	if (!strcmp(name, "default"))
		return fail_here(l, "\"default\" is the name of [policy] itself; use another one, "
				    "or write [policy]");
	l->policy = tcptuned_config_policy(&l->config, name);
	snprintf(l->section, sizeof(l->section), "policy %s", name);
	return l->policy ? 0 : add_policy(l, name);
}

static int fail_unknown_section(struct loading *l, const char *name)
{
	const char *names[16] = {NULL};
	char suggestion[KEY_TEXT];

	for_each_section (section) {
		assert(section + 1 < tcptuned_sections + ARRAY_SIZE(names));
		names[section - tcptuned_sections] = section->name;
	}
	tcptuned_key_suggest(name, names, suggestion);
	return fail_here(l, "\"%.60s\": no such section; %s", name, suggestion);
}

static int enter_section(struct loading *l, const char *name)
{
	static const char policy[] = "policy";
	size_t length = strlen(policy);

	l->section[0] = '\0';
	l->policy = NULL;
	if (!strncmp(name, policy, length) && isblank((unsigned char)name[length]))
		return enter_policy(l, name + length + strspn(name + length, BLANKS));
	for_each_section (section)
		if (!strcmp(section->name, name))
			strcpy(l->section, name);
	return l->section[0] ? 0 : fail_unknown_section(l, name);
}

static bool is_key_of_section(const struct loading *l, const struct tcptuned_key *key)
{
	return l->policy ? tcptuned_key_is_of_policy(key) : !strcmp(key->section, l->section);
}

static int fail_unknown_key(struct loading *l, const char *name)
{
	const char *names[TCPTUNED_CONFIG_KEYS + 1] = {NULL};
	const struct tcptuned_key *elsewhere = NULL;
	char suggestion[KEY_TEXT];
	size_t n = 0;

	for_each_key (key) {
		if (is_key_of_section(l, key))
			names[n++] = key->name;
		else if (!strcmp(key->name, name))
			elsewhere = key;
	}
	if (elsewhere)
		return fail_here(l, "%s.%s: no such key; %s belongs in [%s]", l->section, name,
				 name, elsewhere->section);
	tcptuned_key_suggest(name, names, suggestion);
	return fail_here(l, "\"%.60s\" in [%s]: no such key; %s", name, l->section, suggestion);
}

/* The line of the file that is being read, as text, if @origin is in that file; otherwise NULL. */
static const char *line_in_file(const struct loading *l, const char *origin)
{
	const char *file = l->file ? path_tail(l->file) : "";
	size_t length = strlen(file);
	bool is_in_file = length && !strncmp(origin, file, length) && origin[length] == ':';

	return is_in_file ? origin + length + 1 : NULL;
}

/* Within one file a list of prefixes is continued; a later file replaces it. */
static int set_key(struct loading *l, const char *name, const char *value)
{
	const struct tcptuned_key *key = NULL;
	char buffer[KEY_TEXT], wants[KEY_TEXT], *origin;
	const char *problem, *line;
	void *values;

	for_each_key (k)
		if (is_key_of_section(l, k) && !strcmp(k->name, name))
			key = k;
	if (!key)
		return fail_unknown_key(l, name);
	values = tcptuned_key_values(key, &l->config, l->policy ? &l->policy->set : NULL);
	origin = (l->policy ? l->policy->origin : l->config.origin)[key - tcptuned_keys];
	line = line_in_file(l, origin);
	if (line && key->type != KEY_PREFIXES)
		return fail_here(l,
				 "%s.%s: given a second time, after line %s; keep one of the two",
				 l->section, name, line);
	if (!line && key->type == KEY_PREFIXES)
		tcptuned_prefixes_free((void *)((char *)values + key->offset));
	problem = tcptuned_key_parse(key, value, values, buffer);
	if (problem) {
		tcptuned_key_wants(key, wants);
		return fail_here(l, "%s.%s: \"%.60s\" %s; it takes %s", l->section, name, value,
				 problem, wants);
	}
	format_place(l, origin);
	return 0;
}

/* ---- one file -------------------------------------------------------------------------- */

/* Remove the blanks around @text, in place. */
static char *strip(char *text)
{
	size_t length;

	text += strspn(text, BLANKS);
	length = strlen(text);
	while (length && strchr(BLANKS, text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

static int parse_section(struct loading *l, char *line)
{
	char *end = strchr(line, ']');

	if (!end)
		return fail_here(l, "the ] of a section is missing; write [policy], for example");
	*end++ = '\0';
	end += strspn(end, BLANKS);
	if (*end && *end != ';' && *end != '#')
		return fail_here(l, "there is text after the section; begin a line after the ]");
	return enter_section(l, line + 1);
}

static int parse_assignment(struct loading *l, char *line)
{
	char *equals = strchr(line, '=');

	if (!equals)
		return fail_here(l, "neither a [section] nor a key; write key = value, or # before "
				    "a comment");
	*equals = '\0';
	for (char *c = equals + 1; (c = strchr(c, ';')); c++)
		if (isblank((unsigned char)c[-1])) {
			*c = '\0'; /* a comment */
			break;
		}
	if (l->section[0])
		return set_key(l, strip(line), strip(equals + 1));
	return fail_here(l,
			 "the key \"%.60s\" is before any section; write [policy] or another "
			 "section above it",
			 strip(line));
}

/* @line has @length characters, and a NUL in place of its newline. */
static int parse_line(struct loading *l, char *line, size_t length)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";

	if (strlen(line) != length)
		return fail_here(l,
				 "the line contains a NUL byte, so this is not a text file; name "
				 "another file, or remove the byte");
	if (l->line == 1 && !strncmp(line, byte_order_mark, strlen(byte_order_mark)))
		line += strlen(byte_order_mark);
	line = strip(line);
	if (!*line || *line == '#' || *line == ';')
		return 0;
	return *line == '[' ? parse_section(l, line) : parse_assignment(l, line);
}

/* Read a regular file of at most FILE_MAX bytes. Returns its length, or -errno and @ret_remedy. */
static ssize_t read_text(const char *path, char **ret_text, const char **ret_remedy)
{
	_cleanup_fclose_ FILE *file = NULL;
	struct stat st;
	size_t length;

	/* Opening a FIFO would wait for a writer. */
	*ret_remedy = "name a regular file";
	if (strcmp(path, "/dev/null") != 0 && !stat(path, &st) && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	file = fopen(path, "re");
	if (!file) {
		*ret_remedy = errno == ENOENT ? "write it or name another"
					      : tcptuned_error_remedy_to_read(errno);
		return -errno;
	}
	*ret_remedy = "free some memory";
	*ret_text = malloc(FILE_MAX + 1);
	if (!*ret_text)
		return -ENOMEM;
	length = fread(*ret_text, 1, FILE_MAX + 1, file);
	*ret_remedy = "check the file system";
	if (ferror(file))
		return -EIO;
	*ret_remedy = "keep it below 16 MiB";
	return length > FILE_MAX ? -EFBIG : (ssize_t)length;
}

static int read_file(struct loading *l, const char *path)
{
	_cleanup_free_ char *text = NULL;
	const char *remedy;
	ssize_t length = read_text(path, &text, &remedy);
	char *end, *newline;
	int error = 0;

	if (length < 0)
		return FAIL_LOADING(l, (int)-length, "%s: %s; %s", path_tail(path),
				    strerror((int)-length), remedy);
	l->file = path;
	l->line = 0;
	l->section[0] = '\0';
	end = text + length;
	for (char *line = text; line < end && !error; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (!newline)
			newline = end;
		*newline = '\0';
		l->line++;
		error = parse_line(l, line, (size_t)(newline - line));
	}
	return error;
}

/* ---- drop-ins and the command line ----------------------------------------------------- */

static int is_drop_in(const struct dirent *entry)
{
	return !fnmatch("?*.conf", entry->d_name, FNM_PERIOD);
}

/* Compare bytes: the order must not depend on the locale. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_drop_ins(struct loading *l, const char *path)
{
	struct dirent **entries = NULL;
	char directory[PATH_MAX], file[PATH_MAX + 256 + 2];
	int n, error = 0;

	if (snprintf(directory, sizeof(directory), "%s.d", path) >= (int)sizeof(directory))
		return FAIL_LOADING(l, ENAMETOOLONG, "%s: %s; name a file with a shorter path",
				    path_tail(path), strerror(ENAMETOOLONG));
	n = scandir(directory, &entries, is_drop_in, compare_names);
	if (n < 0 && errno == ENOENT)
		return 0;
	if (n < 0)
		return FAIL_LOADING(l, errno,
				    "%s: %s; make it a directory that tcptuned may read, or "
				    "remove it",
				    path_tail(directory), strerror(errno));
	for (int i = 0; i < n; i++) {
		snprintf(file, sizeof(file), "%s/%s", directory, entries[i]->d_name);
		error = error ?: read_file(l, file);
		free(entries[i]);
	}
	free(entries);
	return error;
}

static int read_set(struct loading *l, const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	char *equals, *dot;

	if (!copy)
		return FAIL_LOADING(l, ENOMEM, "--set: out of memory; free some");
	l->file = NULL;
	equals = strchr(copy, '=');
	dot = strchr(copy, '.');
	if (!equals || !dot || dot > equals)
		return fail_here(l,
				 "\"%.60s\" is not SECTION.KEY=VALUE; write metrics.port=9817, "
				 "for example",
				 text);
	*dot = *equals = '\0';
	return enter_section(l, copy) ?: set_key(l, dot + 1, equals + 1);
}

/* ---- checks, after everything has been read -------------------------------------------- */

/* Copy from [policy] what the section does not set. Conditions, with a word for "any", stay. */
static void inherit(const struct tcptuned_config *config, struct tcptuned_named_policy *policy)
{
	for_each_key (key)
		if (!strcmp(key->section, "policy") && !policy->origin[key - tcptuned_keys][0])
			memcpy((char *)&policy->set + key->offset,
			       (const char *)&config->policy + key->offset, key->size);
}

static int read_prefixes(struct loading *l, struct tcptuned_named_policy *policy)
{
	const char *path = policy->set.destination_file, *remedy;
	const char *origin = policy->origin[key_index(NAMED_POLICY, "destination_file")];
	_cleanup_free_ char *text = NULL;
	char problem[KEY_TEXT];
	unsigned int line;
	ssize_t length;
	int error;

	if (!path[0])
		return 0;
	length = read_text(path, &text, &remedy);
	if (length < 0)
		return FAIL_LOADING(l, (int)-length, "%s: policy %s.destination_file: %s: %s; %s",
				    origin, policy->name, path, strerror((int)-length), remedy);
	error = tcptuned_prefixes_add_lines(&policy->from_file, text, (size_t)length, problem,
					    sizeof(problem), &line);
	if (error)
		return FAIL_LOADING(l, -error,
				    "%s:%u: policy %s.destination_file: the line %s; write one "
				    "prefix per line, as 192.0.2.0/24 or 2001:db8::/32",
				    path_tail(path), line, policy->name, problem);
	return 0;
}

/* As ls and systemd-cgls show it: no control group has such a path below the root. */
static int check_cgroup(struct loading *l, const struct tcptuned_named_policy *policy)
{
	static const char *const mounts[] = {"/sys/fs/cgroup/unified/", "/sys/fs/cgroup/"};

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++)
		if (!strncmp(policy->set.cgroup, mounts[i], strlen(mounts[i])))
			return FAIL_LOADING(l, EINVAL,
					    "%s: policy %s.cgroup: it starts with the mount point "
					    "of the control groups; write %s",
					    policy->origin[key_index(NAMED_POLICY, "cgroup")],
					    policy->name,
					    policy->set.cgroup + strlen(mounts[i]) - 1);
	return 0;
}

static int finish_policy(struct loading *l, struct tcptuned_named_policy *policy)
{
	const struct tcptuned_policy_config *set = &policy->set;

	if (!set->destination.len && !set->destination_file[0] && !set->source.len &&
	    !set->local_port.len && !set->remote_port.len && !set->cgroup[0])
		return FAIL_LOADING(
			l, EINVAL,
			"%s: policy %s: it does not say which connections it is for; "
			"set destination, source, local_port, remote_port or cgroup, or move its "
			"keys to [policy], which has all other connections",
			policy->where, policy->name);
	inherit(&l->config, policy);
	return check_cgroup(l, policy) ?: read_prefixes(l, policy);
}

/* ---- the whole ------------------------------------------------------------------------- */

void tcptuned_config_free(struct tcptuned_config *config)
{
	for (size_t i = 0; i < config->policies_len; i++) {
		tcptuned_prefixes_free(&config->policies[i].set.destination);
		tcptuned_prefixes_free(&config->policies[i].set.source);
		tcptuned_prefixes_free(&config->policies[i].from_file);
	}
	free(config->policies);
	config->policies = NULL;
	config->policies_len = 0;
}

void tcptuned_config_defaults(struct tcptuned_config *ret)
{
	char buffer[KEY_TEXT];

	/* Padding is cleared, too: values are compared with memcmp(). */
	memset(ret, 0, sizeof(*ret));
	ret->bitcp = bitcp_params_default();
	for_each_key (key) {
		const char *problem = tcptuned_key_parse(
			key, key->fallback, tcptuned_key_values(key, ret, NULL), buffer);

		assert(!problem);
		(void)problem;
		strcpy(ret->origin[key - tcptuned_keys], "default");
	}
}

/* The default file may be missing, a named one may not. */
static int read_files(struct loading *l, const char *path)
{
	bool named = path && *path, missing;
	int error;

	if (!named)
		path = TCPTUNED_CONFIG_PATH;
	missing = access(path, F_OK) && errno == ENOENT;
	if (missing && named)
		return FAIL_LOADING(l, ENOENT,
				    "%s: %s; write it (tcptuned --help-config prints one) or "
				    "name another",
				    path_tail(path), strerror(ENOENT));
	error = missing ? 0 : read_file(l, path);
	return error ?: read_drop_ins(l, path);
}

static int load(struct loading *l, const char *path, const char *const *set)
{
	int error = read_files(l, path);

	for (; set && *set && !error; set++)
		error = read_set(l, *set);
	for (size_t i = 0; !error && i < l->config.policies_len; i++)
		error = finish_policy(l, &l->config.policies[i]);
	return error;
}

int tcptuned_config_load(const char *path, const char *const *set, struct tcptuned_config *ret,
			 struct tcptuned_error *err)
{
	struct loading l = {.err = err};
	int error;

	tcptuned_config_defaults(&l.config);
	error = load(&l, path, set);
	if (error)
		tcptuned_config_free(&l.config);
	else
		*ret = l.config;
	return error;
}
