// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/keys.h"
#include "config/load.h"
#include "util/cleanup.h"
#include "util/text.h"

#define FILE_MAX    (1u << 24) /* bytes; as many policies as may be take four lines each */
#define QUOTED	    128	       /* of a value or name in a message, with its NUL */
#define WHERE	    300	       /* "FILE:LINE" in a message, with its NUL */
#define DROP_IN_END ".conf"
#define SECTION	    64	  /* the name of one, with its NUL */

/* Which keys of a named policy were given in a source, a file or a --set. */
struct seen_keys {
	unsigned int source; /* number of that source; what is noted of an earlier one is over */
	unsigned int line[TCPTUNED_CONFIG_KEYS]; /* that gave the key; 0: none has */
};

/* One loading: what has been read so far, and where the reading is. */
struct loading {
	struct tcptuned_config config;
	struct tcptuned_error *err;
	int error;	  /* 0, or the first failure; nothing is read after it */
	const char *file; /* or NULL: the command line */
	unsigned int line;
	char section[SECTION]; /* that was begun last, as section_name() writes it */
	unsigned int source; /* number of the source that is being read */
	unsigned int seen[TCPTUNED_CONFIG_KEYS]; /* line of this source that gave the key; 0 */
	struct seen_keys *seen_named;		 /* the same of each named policy */
	struct tcptuned_config view; /* where a value of a named policy is parsed */
	struct tcptuned_error *warning; /* of the first fault passed over; NULL: none may be */
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
__attribute__((format(printf, 2, 3))) static int
fail_here(struct loading *l, const char *fmt, ...)
{
	char at[WHERE], text[600];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	where(l, l->line, at, sizeof(at));
	l->error = tcptuned_fail(l->err, EINVAL, TCPTUNED_EXIT_CONFIG, "%s: %s", at, text);
	return l->error;
}

/* Fail about a whole file or directory, with the errno of the call that failed. */
static int fail_file(struct loading *l, const char *path, int errnum, const char *remedy)
{
	l->error = tcptuned_fail(l->err, errnum,
				 errnum == ENOMEM ? TCPTUNED_EXIT_INTERNAL : TCPTUNED_EXIT_CONFIG,
				 "%s: %s; %s", path_tail(path), strerror(errnum), remedy);
	return l->error;
}

/* Where faults are passed over: is this one, which is then told to whoever reads the warning? */
static bool pass_over(struct loading *l)
{
	if (!l->warning || l->error == -ENOMEM)
		return false;
	if (!l->warning->text[0])
		*l->warning = *l->err;
	l->error = 0;
	return true;
}

/* ---- names ----------------------------------------------------------------------------- */

static const struct tcptuned_section *find_section(const char *name)
{
	for (size_t i = 0; i < tcptuned_sections_count; i++)
		if (!strcmp(tcptuned_sections[i].name, name))
			return &tcptuned_sections[i];
	return NULL;
}

/* "policy NAME" to "NAME"; NULL: it is no named policy's section. */
static const char *policy_name(const char *section)
{
	if (strncmp(section, "policy", 6) || !section[6] || !strchr(" \t", section[6]))
		return NULL;
	return section + 6 + strspn(section + 6, " \t");
}

/*
 * The name of a section, as it is usually written: there may be any blanks behind "policy", tabs
 * among them. -ENAMETOOLONG: it has more than SECTION - 1 characters.
 */
static int section_name(const char *text, size_t length, char ret[SECTION])
{
	char name[SECTION];

	if (length >= sizeof(name))
		return -ENAMETOOLONG;
	memcpy(name, text, length);
	name[length] = '\0';
	if (policy_name(name))
		snprintf(ret, SECTION, "policy %.*s", SECTION - 8, policy_name(name));
	else
		strcpy(ret, name);
	return 0;
}

/* The key of this very section of the table; @section NULL: of any. */
static const struct tcptuned_key *find_key_in(const char *section, const char *name)
{
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
		if ((!section || !strcmp(tcptuned_keys[i].section, section)) &&
		    !strcmp(tcptuned_keys[i].name, name))
			return &tcptuned_keys[i];
	return NULL;
}

static const struct tcptuned_key *find_key(const char *section, const char *name)
{
	const struct tcptuned_key *key;

	if (!policy_name(section))
		return find_key_in(section, name);
	key = find_key_in(NAMED_POLICY, name);
	return key ? key : find_key_in("policy", name);
}

struct tcptuned_named_policy *tcptuned_config_policy(const struct tcptuned_config *config,
						     const char *name)
{
	for (size_t i = 0; i < config->policies_len; i++)
		if (!strcmp(config->policies[i].name, name))
			return &config->policies[i];
	return NULL;
}

static int out_of_memory(struct loading *l)
{
	l->error = tcptuned_fail(l->err, ENOMEM, TCPTUNED_EXIT_INTERNAL,
				 "%s: there is no memory to read it; free some",
				 l->file ? path_tail(l->file) : "--set");
	return l->error;
}

static int add_policy(struct loading *l, const char *name)
{
	struct tcptuned_config *c = &l->config;
	size_t len = c->policies_len;
	char at[WHERE];

	if (len + 1 >= TCPTUNED_POLICIES_MAX)
		return fail_here(l, "[policy %s] is one policy too many; there may be %d, and "
				 "one may have any number of prefixes", name,
				 TCPTUNED_POLICIES_MAX - 1);
	if (!c->policies)
		c->policies = calloc(TCPTUNED_POLICIES_MAX - 1, sizeof(*c->policies));
	if (!l->seen_named)
		l->seen_named = calloc(TCPTUNED_POLICIES_MAX - 1, sizeof(*l->seen_named));
	if (!c->policies || !l->seen_named)
		return out_of_memory(l);
	strcpy(c->policies[len].name, name);
	c->policies_len++;
	where(l, l->line, at, sizeof(at));
	c->policies[len].where = strdup(at);
	return c->policies[len].where ? 0 : out_of_memory(l);
}

static int check_policy(struct loading *l, const char *name)
{
	char quoted[QUOTED];
	size_t letters = 0;

	while (isalnum((unsigned char)name[letters]) || (name[letters] && strchr("_-", name[letters])))
		letters++;
	if (!letters || name[letters] || letters >= TCPTUNED_POLICY_NAME_MAX)
		return fail_here(l, "%s is no name of a policy; take at most %d letters, digits, _ "
				 "and -, as in [policy web]",
				 quote(name, quoted), TCPTUNED_POLICY_NAME_MAX - 1);
	if (!strcmp(name, "default"))
		return fail_here(l, "\"default\" is the name of [policy] itself; take another, or "
				 "write [policy]");
	return tcptuned_config_policy(&l->config, name) ? 0 : add_policy(l, name);
}

/* A named policy is there from when its section is. */
static int check_section(struct loading *l, const char *name)
{
	const char *names[16] = {NULL}, *nearest;
	char quoted[QUOTED], list[256] = "";
	size_t used = 0;

	if (policy_name(name))
		return check_policy(l, policy_name(name));
	if (find_section(name))
		return 0;
	assert(tcptuned_sections_count < sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < tcptuned_sections_count; i++) {
		names[i] = tcptuned_sections[i].name;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s[%s]",
					 !i				  ? ""
					 : i + 1 < tcptuned_sections_count ? ", "
									   : " and ",
					 names[i]);
	}
	nearest = tcptuned_nearest(name, names);
	if (nearest)
		return fail_here(l, "%s: no such section; did you mean [%s]?", quote(name, quoted),
				 nearest);
	return fail_here(l, "%s: no such section; there are %s",
			 quote(name, quoted), list);
}

/* Is it a key of @section, which may be that of a named policy? */
static bool is_key_of(const struct tcptuned_key *key, const char *section)
{
	return !strcmp(key->section, policy_name(section) ? NAMED_POLICY : section);
}

static int fail_unknown_key(struct loading *l, const char *section, const char *name)
{
	const char *names[TCPTUNED_CONFIG_KEYS + 1] = {NULL}, *nearest;
	const struct tcptuned_key *elsewhere = find_key_in(NULL, name);
	char quoted[QUOTED], list[400] = "";
	bool named = policy_name(section);
	size_t n = 0, listed = 0, used = 0;

	if (!strcmp(section, "policy") && find_key_in(NAMED_POLICY, name))
		elsewhere = find_key_in(NAMED_POLICY, name);
	if (elsewhere)
		return fail_here(l, "%s.%s: no such key; %s belongs in [%s]", section, name, name,
				 elsewhere->section);
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
		if (is_key_of(&tcptuned_keys[i], section))
			names[n++] = tcptuned_keys[i].name;
	listed = n;
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS && named; i++)
		if (!strcmp(tcptuned_keys[i].section, "policy"))
			names[n++] = tcptuned_keys[i].name;
	nearest = tcptuned_nearest(name, names);
	if (nearest)
		return fail_here(l, "%s in [%s]: no such key; did you mean %s?",
				 quote(name, quoted), section, nearest);
	for (size_t i = 0; i < listed && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 !i		       ? ""
					 : i + 1 < listed || named ? ", "
							       : " and ",
					 names[i]);
	return fail_here(l, "%s in [%s]: no such key; [%s] has %s%s", quote(name, quoted), section,
			 section, list, named ? " and the keys of [policy]" : "");
}

/* ---- one key --------------------------------------------------------------------------- */

static int fail_value(struct loading *l, const char *section, const struct tcptuned_key *key,
		      int error, const char *value, const char *problem)
{
	char quoted[QUOTED], wants[KEY_TEXT];

	tcptuned_key_wants(key, wants);
	return fail_here(l, "%s.%s: %s %s; it takes %s", section, key->name, quote(value, quoted),
			 problem, wants);
}

/* In one file a list may go on, in a later one it begins anew. */
static int check_seen(struct loading *l, const char *section, const struct tcptuned_key *key,
		      unsigned int seen, struct tcptuned_config *config)
{
	if (key->type == KEY_PREFIXES && !seen)
		tcptuned_prefixes_free(
			(struct tcptuned_prefixes *)((char *)config + key->offset));
	if (!seen || key->type == KEY_PREFIXES)
		return 0;
	return fail_here(l, "%s.%s: given a second time, after line %u; keep one of the two",
			 section, key->name, seen);
}

/* Parse into @config, and note the line in @seen. */
static int parse_key(struct loading *l, const char *section, const struct tcptuned_key *key,
		     const char *value, unsigned int *seen, struct tcptuned_config *config)
{
	char problem[KEY_TEXT];
	int error;

	if (check_seen(l, section, key, *seen, config) < 0)
		return l->error;
	error = tcptuned_key_parse(key, value, config, problem);
	*seen = l->line;
	return error ? fail_value(l, section, key, error, value, problem) : 0;
}

static int set_named_key(struct loading *l, const char *section, const struct tcptuned_key *key,
			 const char *value)
{
	struct tcptuned_named_policy *policy =
		tcptuned_config_policy(&l->config, policy_name(section));
	struct seen_keys *seen = &l->seen_named[policy - l->config.policies];
	size_t i = (size_t)(key - tcptuned_keys);
	char at[WHERE];
	int error;

	if (seen->source != l->source)
		*seen = (struct seen_keys){.source = l->source};
	tcptuned_policy_view(policy, &l->view);
	error = parse_key(l, section, key, value, &seen->line[i], &l->view);
	policy->set = l->view.policy; /* also of a failure: a list may have been moved */
	if (error)
		return error;
	where(l, l->line, at, sizeof(at));
	free(policy->origin[i]);
	policy->origin[i] = strdup(at);
	return policy->origin[i] ? 0 : out_of_memory(l);
}

static int set_key(struct loading *l, const char *section, const char *name, const char *value)
{
	const struct tcptuned_key *key = find_key(section, name);
	size_t i = (size_t)(key - tcptuned_keys);

	if (!key)
		return fail_unknown_key(l, section, name);
	if (policy_name(section))
		return set_named_key(l, section, key, value);
	if (parse_key(l, section, key, value, &l->seen[i], &l->config) < 0)
		return l->error;
	where(l, l->line, l->config.origin[i], sizeof(l->config.origin[i]));
	return 0;
}

/* Another file, or value of --set: every key may be given in it. */
static void begin_source(struct loading *l, const char *file)
{
	l->file = file;
	l->line = 0;
	l->section[0] = '\0';
	l->source++;
	memset(l->seen, 0, sizeof(l->seen));
}

/* ---- one file -------------------------------------------------------------------------- */

/* @text without the blanks around it; it is shortened where it stands. */
static char *strip(char *text)
{
	static const char blanks[] = " \t\r\f\v";
	size_t length;

	text += strspn(text, blanks);
	length = strlen(text);
	while (length && strchr(blanks, text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* What cannot be read may have begun another section: keys that follow are in none that is known. */
static int parse_section(struct loading *l, char *line)
{
	char *end = strchr(line, ']'), *rest;

	strcpy(l->section, "?");
	if (!end)
		return fail_here(l, "the ] of a section is missing; write [policy], for example");
	rest = strip(end + 1);
	if (*rest && *rest != ';' && *rest != '#')
		return fail_here(l, "more than a section stands here; begin a new line after the ]");
	if (section_name(line + 1, (size_t)(end - line - 1), l->section) < 0)
		return fail_here(l, "the name of a section has %td characters; shorten it to %d",
				 end - line - 1, SECTION - 1);
	return l->warning ? 0 : check_section(l, l->section);
}

static int parse_assignment(struct loading *l, char *line)
{
	char quoted[QUOTED], *equals = strchr(line, '=');

	if (!equals)
		return fail_here(l, "neither a [section] nor a key; write key = value, or # before a "
				 "comment");
	*equals = '\0';
	for (char *c = equals + 1; (c = strchr(c, ';')); c++)
		if (isblank((unsigned char)c[-1])) {
			*c = '\0'; /* a comment */
			break;
		}
	if (l->warning && strcmp(l->section, "tcptuned"))
		return 0;
	if (!*l->section)
		return fail_here(l, "the key %s stands before any section; write [policy] or "
				 "another section above it",
				 quote(strip(line), quoted));
	return set_key(l, l->section, strip(line), strip(equals + 1));
}

/* @line has @length characters, and a NUL in place of its newline. */
static int parse_line(struct loading *l, char *line, size_t length)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";

	if (strlen(line) != length) {
		strcpy(l->section, "?");
		return fail_here(l, "there is a NUL byte in it; this is no text file, name another or "
				 "remove the byte");
	}
	if (l->line == 1 && !strncmp(line, byte_order_mark, strlen(byte_order_mark)))
		line += strlen(byte_order_mark);
	line = strip(line);
	if (!*line || *line == '#' || *line == ';')
		return 0;
	return *line == '[' ? parse_section(l, line) : parse_assignment(l, line);
}

/* @text may be written to, and has room for one byte more than @length. */
static int parse_text(struct loading *l, const char *file, char *text, size_t length)
{
	char *end = text + length, *newline;

	begin_source(l, file);
	for (char *line = text; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (!newline)
			newline = end;
		*newline = '\0';
		l->line++;
		if (parse_line(l, line, (size_t)(newline - line)) < 0 && !pass_over(l))
			break;
	}
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

/*
 * The contents of a regular file of at most FILE_MAX bytes, in a buffer with room for one more.
 * Returns their length, or a negative errno and in @ret_remedy what to do.
 */
static ssize_t read_text(const char *path, char **ret_text, const char **ret_remedy)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -1;
	struct stat st;
	ssize_t length;

	/* A FIFO must not hold the start up. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0) {
		*ret_remedy = tcptuned_remedy_to_read(errno);
		return -errno;
	}
	*ret_remedy = "name a regular file";
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	*ret_remedy = "free some memory";
	text = malloc(FILE_MAX + 1);
	if (!text)
		return -ENOMEM;
	*ret_remedy = "check the file system";
	length = read_all(fd, text, FILE_MAX + 1);
	if (length < 0)
		return length;
	*ret_remedy = "keep it below 16 MiB";
	if (length > FILE_MAX)
		return -EFBIG;
	*ret_text = text;
	text = NULL;
	return length;
}

static int read_file(struct loading *l, const char *path)
{
	_cleanup_free_ char *text = NULL;
	const char *remedy;
	ssize_t length = read_text(path, &text, &remedy);

	if (length == -ENOENT)
		remedy = "write it (tcptuned --help-config prints one) or name another";
	if (length < 0)
		return fail_file(l, path, (int)-length, remedy);
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
			if (read_file(l, file) < 0)
				pass_over(l);
		}
		free(entries[i]);
	}
	free(entries);
	return l->error;
}

/* ---- the command line ------------------------------------------------------------------ */

static int read_set(struct loading *l, const char *text)
{
	char name[64], quoted[QUOTED];
	const char *equals = strchr(text, '='), *dot = strchr(text, '.');

	begin_source(l, NULL);
	if (!equals || !dot || dot > equals ||
	    section_name(text, (size_t)(dot - text), l->section) < 0)
		return fail_here(l, "%s is not SECTION.KEY=VALUE; write metrics.port=9817, for "
				 "example",
				 quote(text, quoted));
	snprintf(name, sizeof(name), "%.*s", (int)(equals - dot - 1), dot + 1);
	if (check_section(l, l->section) < 0)
		return l->error;
	return set_key(l, l->section, name, equals + 1);
}

/* ---- all of it ------------------------------------------------------------------------- */

static size_t key_index(const char *section, const char *name)
{
	const struct tcptuned_key *key = find_key_in(section, name);

	assert(key);
	return (size_t)(key - tcptuned_keys);
}

bool tcptuned_policy_says(const struct tcptuned_named_policy *policy, const char *name)
{
	return policy->origin[key_index("policy", name)];
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
			       l->err, EINVAL, TCPTUNED_EXIT_CONFIG,
			       "%s: tcptuned.runtime_directory: %.100s is inside "
			       "tcptuned.bpffs, %.100s, which holds no ordinary files; take "
			       "another, as /run/tcptuned",
			       origin, c->runtime_directory, c->bpffs);
	return 0;
}

/* ---- named policies, when everything has been read ------------------------------------- */

/* A condition, and not something that is done: these have a word for "none". */
static bool is_condition(const struct tcptuned_key *key)
{
	return !strcmp(key->section, NAMED_POLICY) && key->special;
}

/* What a policy does not say is as in [policy]. */
static void inherit(struct loading *l, struct tcptuned_named_policy *policy)
{
	tcptuned_policy_view(policy, &l->view);
	for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++) {
		const struct tcptuned_key *key = &tcptuned_keys[i];
		bool of_policy = !strcmp(key->section, "policy") ||
				 !strcmp(key->section, NAMED_POLICY);

		if (of_policy && !is_condition(key) && !policy->origin[i])
			memcpy((char *)&l->view + key->offset,
			       (const char *)&l->config + key->offset, key->size);
	}
	policy->set = l->view.policy;
}

static int read_prefixes(struct loading *l, struct tcptuned_named_policy *policy)
{
	const char *path = policy->set.destination_file, *remedy;
	size_t i = key_index(NAMED_POLICY, "destination_file");
	_cleanup_free_ char *text = NULL;
	char problem[KEY_TEXT];
	unsigned int line;
	ssize_t length;
	int error;

	if (!path[0])
		return 0;
	length = read_text(path, &text, &remedy);
	if (length < 0)
		return l->error = tcptuned_fail(l->err, (int)-length, TCPTUNED_EXIT_CONFIG,
						"%s: policy %s.destination_file: %s: %s; %s",
						policy->origin[i], policy->name, path_tail(path),
						strerror((int)-length),
						length == -ENOENT ? "write it or name another"
								  : remedy);
	error = tcptuned_prefixes_add_lines(&policy->from_file, text, (size_t)length, problem,
					    sizeof(problem), &line);
	if (error)
		return l->error = tcptuned_fail(
			       l->err, -error, TCPTUNED_EXIT_CONFIG,
			       "%s:%u: policy %s.destination_file: the line %s; write one prefix "
			       "a line, as 192.0.2.0/24 or 2001:db8::/32",
			       path_tail(path), line, policy->name, problem);
	return 0;
}

static bool has_condition(const struct tcptuned_policy_config *set)
{
	return set->destination.len || set->destination_file[0] || set->source.len ||
	       set->local_port.low || set->remote_port.low || set->cgroup[0];
}

static int finish_policy(struct loading *l, struct tcptuned_named_policy *policy)
{
	if (!has_condition(&policy->set))
		return l->error = tcptuned_fail(
			       l->err, EINVAL, TCPTUNED_EXIT_CONFIG,
			       "%s: policy %s: it does not say which connections it is for; give "
			       "it a destination, source, local_port, remote_port or cgroup, or "
			       "write its keys into [policy], which has all others",
			       policy->where, policy->name);
	inherit(l, policy);
	return read_prefixes(l, policy);
}

static int finish_policies(struct loading *l)
{
	for (size_t i = 0; i < l->config.policies_len; i++)
		if (finish_policy(l, &l->config.policies[i]) < 0)
			return l->error;
	return 0;
}

void tcptuned_config_free(struct tcptuned_config *config)
{
	for (size_t p = 0; p < config->policies_len; p++) {
		struct tcptuned_named_policy *policy = &config->policies[p];

		tcptuned_prefixes_free(&policy->set.destination);
		tcptuned_prefixes_free(&policy->set.source);
		tcptuned_prefixes_free(&policy->from_file);
		for (size_t i = 0; i < TCPTUNED_CONFIG_KEYS; i++)
			free(policy->origin[i]);
		free(policy->where);
	}
	free(config->policies);
	config->policies = NULL;
	config->policies_len = 0;
}

/* ---- from the beginning ---------------------------------------------------------------- */

void tcptuned_config_defaults(struct tcptuned_config *ret)
{
	char problem[KEY_TEXT];

	/* All bytes, also of padding: values are compared with memcmp(). */
	memset(ret, 0, sizeof(*ret));
	ret->bitcp = bitcp_params_default();
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
	return cross_check(l) < 0 ? l->error : finish_policies(l);
}

int tcptuned_config_load(const char *path, const char *const *set, struct tcptuned_config *ret,
			 struct tcptuned_error *err)
{
	struct loading l = {.err = err};
	int error;

	tcptuned_config_defaults(&l.config);
	error = load(&l, path, set);
	free(l.seen_named);
	if (error < 0)
		tcptuned_config_free(&l.config);
	else
		*ret = l.config;
	return error;
}

/* A file that was named and is not there is a mistake of the command line's. */
static int load_shared(struct loading *l, const char *path, const char *const *set)
{
	bool may_be_missing = !path || !*path;

	if (may_be_missing)
		path = TCPTUNED_CONFIG_PATH;
	if (read_file(l, path) == -ENOENT) {
		if (!may_be_missing)
			return l->error;
		l->error = 0;
	} else if (l->error) {
		pass_over(l);
	}
	if (read_drop_ins(l, path) < 0)
		pass_over(l);
	l->warning = NULL;
	for (; set && *set && !l->error; set++)
		read_set(l, *set);
	return l->error;
}

int tcptuned_config_load_shared(const char *path, const char *const *set,
				struct tcptuned_config *ret, struct tcptuned_error *ret_warning,
				struct tcptuned_error *err)
{
	struct loading l = {.err = err, .warning = ret_warning};
	int error;

	ret_warning->text[0] = '\0';
	tcptuned_config_defaults(&l.config);
	error = load_shared(&l, path, set);
	free(l.seen_named);
	if (error < 0)
		tcptuned_config_free(&l.config);
	else
		*ret = l.config;
	return error;
}
