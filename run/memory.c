// SPDX-License-Identifier: GPL-2.0-only
#include "memory.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tcptuned/abi/policy.h>

#include "paths/database.h"
#include "util/clock.h"

#define FILE_SECONDS 3 /* that a child may take; the store waits for a lock for a shorter time */

/* False: the other end is this host. */
static bool fill_key(struct tcptuned_path_key *ret, const struct diag_socket *s)
{
	const struct inet_diag_sockid *id = &s->message.id;
	struct tcptuned_prefix prefix;

	tcptuned_prefix_map_address(prefix.address, s->message.idiag_family, id->idiag_dst);
	prefix.ipv4 = tcptuned_address_is_ipv4(prefix.address);
	tcptuned_prefix_of_path(&prefix);
	tcptuned_prefix_path_key(&prefix, ret);
	return memcmp(id->idiag_src, id->idiag_dst, sizeof(id->idiag_dst)) != 0;
}

/* Returns the index of the path, or the number of paths if it is unknown. */
static unsigned int find(const struct memory_paths *known, const struct tcptuned_path_key *key)
{
	unsigned int i = 0;

	while (i < known->len && memcmp(&known->keys[i], key, sizeof(*key)))
		i++;
	return i;
}

/* Returns the path. A new one is empty, and takes the place of the oldest if there are too many. */
static struct tcptuned_path *find_or_add(struct memory_paths *known,
					 const struct tcptuned_path_key *key)
{
	unsigned int i = find(known, key);

	if (i < known->len)
		return &known->paths[i];
	if (i < MEMORY_PATHS) {
		known->len++;
	} else {
		i = 0;
		for (unsigned int j = 1; j < MEMORY_PATHS; j++)
			if (known->paths[j].updated_s < known->paths[i].updated_s)
				i = j;
	}
	known->keys[i] = *key;
	known->paths[i] = (struct tcptuned_path){0};
	return &known->paths[i];
}

/* Fills @ret with what the connection has measured. Returns whether it is to be added to @key. */
static bool fill_sample(struct path_sample *ret, struct tcptuned_path_key *key,
			const struct connection *c)
{
	const struct tcp_info *info = &c->socket.info.tcp;

	*ret = (struct path_sample){
		.received = info->tcpi_bytes_received,
		.min_rtt_us = info->tcpi_min_rtt,
		.rcv_per_rtt = path_per_rtt(&c->tuner.receive, info->tcpi_min_rtt),
	};
	return !c->saved && ret->received >= CARRIED_MIN && ret->rcv_per_rtt &&
	       ret->min_rtt_us != ~0u && fill_key(key, &c->socket);
}

static void read_path(void *context, const struct tcptuned_path_key *key,
		      const struct tcptuned_path *path)
{
	if (!path_expired(path, tcptuned_clock_s(CLOCK_REALTIME), MEMORY_EXPIRE_S))
		*find_or_add(context, key) = *path;
}

/* Starts a child that does not outlive this process, or FILE_SECONDS. Returns as fork(). */
static pid_t start_child(void)
{
	pid_t child = fork();
	sigset_t set;

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	alarm(FILE_SECONDS);
	return 0;
}

static _Noreturn void read_file(const char *file, struct memory_paths *ret)
{
	struct tcptuned_pathdb *db = NULL;
	struct tcptuned_error err;
	int error = tcptuned_pathdb_open(&db, file, TCPTUNED_PATHDB_LIMIT_MS, &err);

	if (!error)
		error = tcptuned_pathdb_read(db, read_path, ret, &err);
	tcptuned_pathdb_close(db);
	if (error == -EUCLEAN && !tcptuned_pathdb_set_aside(file))
		fprintf(stderr,
			"tcptune-run: %s; it is now %s" TCPTUNED_PATHDB_DAMAGED
			", and a new one is begun\n",
			err.text, file);
	_exit(EXIT_SUCCESS);
}

void memory_open(struct memory *memory)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	bool by_state = state && state[0] == '/'; /* a relative one is invalid */

	if (!by_state && (!home || home[0] != '/'))
		return;
	/* SQLite refuses a name as long as one that is cut off here. */
	snprintf(memory->file, sizeof(memory->file), "%s%s/tcptuned/paths.db",
		 by_state ? state : home, by_state ? "" : "/.local/state");
	memory->read = mmap(NULL, sizeof(*memory->read), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memory->child = memory->read == MAP_FAILED ? -1 : start_child();
	if (!memory->child)
		read_file(memory->file, memory->read);
	if (memory->child < 0) {
		memory->child = 0;
		memory->read = NULL;
	}
}

void memory_stop_reading(struct memory *memory)
{
	if (!memory->read)
		return;
	kill(memory->child, SIGKILL);
	memory->child = 0;
	memory->read = NULL;
}

void memory_child_ended(struct memory *memory, int status)
{
	bool failed = status && !memory->read;

	if (memory->read && !status)
		memory->known = *memory->read;
	if (WIFSIGNALED(status))
		fprintf(stderr,
			"tcptune-run: %s: not read, or written, within %d s; what is learned of paths "
			"is lost at the end\n",
			memory->file, FILE_SECONDS);
	if (failed || WIFSIGNALED(status))
		memory->file[0] = '\0';
	memory->read = NULL;
	memory->child = 0;
}

unsigned int memory_window(const struct memory *memory, const struct connections *all,
			   const struct connection *c)
{
	__s64 now_s = tcptuned_clock_s(CLOCK_REALTIME);
	struct tcptuned_path_key key, other;
	struct tcptuned_path path = {0};
	struct path_sample sample;
	unsigned int i;

	fill_key(&key, &c->socket);
	i = find(&memory->known, &key);
	if (i < memory->known.len)
		path = memory->known.paths[i];
	for (const struct connection *o = all->first; o; o = o->next)
		if (o->closed && fill_sample(&sample, &other, o) &&
		    !memcmp(&key, &other, sizeof(key)))
			path_merge(&path, &sample, now_s, MEMORY_EXPIRE_S);
	return path_receive_window(&path, now_s, MEMORY_EXPIRE_S, c->socket.info.tcp.tcpi_min_rtt);
}

/* Makes the directories of the file, with the mode that the XDG specification demands. */
static void make_directories(const char *file)
{
	char path[PATH_MAX];

	strcpy(path, file);
	for (char *slash = path; (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = '\0';
		mkdir(path, 0700);
	}
}

static void merge(struct memory_paths *known, struct connections *all)
{
	struct tcptuned_path_key key;
	struct path_sample sample;

	for (struct connection *c = all->first; c; c = c->next)
		if (fill_sample(&sample, &key, c))
			c->saved = path_merge(find_or_add(known, &key), &sample,
					      tcptuned_clock_s(CLOCK_REALTIME), MEMORY_EXPIRE_S);
}

/*
 * Reads the file again, and replaces it, in one transaction: another process may have added to it.
 */
static int add_to_file(struct memory_paths *known, struct tcptuned_pathdb *db,
		       struct connections *all, struct tcptuned_error *err)
{
	int error = tcptuned_pathdb_begin(db, err);
	unsigned int before;

	if (error)
		return error;
	known->len = 0;
	error = tcptuned_pathdb_read(db, read_path, known, err);
	merge(known, all);
	if (!error)
		error = tcptuned_pathdb_forget(db, NULL, &before, err);
	for (unsigned int i = 0; i < known->len && !error; i++)
		error = tcptuned_pathdb_put(db, &known->keys[i], &known->paths[i], err);
	return error ? error : tcptuned_pathdb_commit(db, err);
}

static _Noreturn void write_file(struct memory *memory, struct connections *all)
{
	struct tcptuned_pathdb *db = NULL;
	struct tcptuned_error err;
	int error;

	make_directories(memory->file);
	error = tcptuned_pathdb_open(&db, memory->file, TCPTUNED_PATHDB_LIMIT_MS, &err);
	if (!error)
		error = add_to_file(&memory->known, db, all, &err);
	tcptuned_pathdb_close(db);
	if (error)
		fprintf(stderr, "tcptune-run: %s; what is learned of paths is lost at the end\n",
			err.text);
	_exit(error ? EXIT_FAILURE : EXIT_SUCCESS);
}

bool memory_save(struct memory *memory, struct connections *all)
{
	const struct connection *c = all->first;
	struct tcptuned_path_key key;
	struct path_sample sample;
	pid_t child;

	while (c && !fill_sample(&sample, &key, c))
		c = c->next;
	if (!c)
		return false;
	child = memory->file[0] ? start_child() : -1;
	if (!child)
		write_file(memory, all);
	merge(&memory->known, all);
	memory->child = child > 0 ? child : 0;
	return memory->child;
}
