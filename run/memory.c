// SPDX-License-Identifier: GPL-2.0-only
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tcptuned/abi/policy.h>

#include "paths/store.h"
#include "util/clock.h"

static __s64 now_s(void)
{
	return (__s64)(tcptuned_clock_ns(CLOCK_REALTIME) / 1000000000);
}

/* False: the other end is this host. */
static bool fill_key(struct tcptuned_path_key *ret, const struct diag_socket *s)
{
	const struct inet_diag_sockid *id = &s->message.id;
	struct tcptuned_prefix prefix;

	tcptuned_map_address(prefix.address, s->message.idiag_family, id->idiag_dst);
	prefix.ipv4 = tcptuned_address_is_ipv4(prefix.address);
	prefix.length = prefix.ipv4 ? 96 + PATH_IPV4_PREFIX : PATH_IPV6_PREFIX;
	tcptuned_mask_address(prefix.address, prefix.length);
	tcptuned_path_key_of(&prefix, ret);
	return memcmp(id->idiag_src, id->idiag_dst, sizeof(id->idiag_dst)) != 0;
}

/* Returns the index of the path, or the number of paths if it is unknown. */
static unsigned int find(const struct memory *memory, const struct tcptuned_path_key *key)
{
	unsigned int i = 0;

	while (i < memory->len && memcmp(&memory->keys[i], key, sizeof(*key)))
		i++;
	return i;
}

/* Returns the path. A new one is empty, and takes the place of the oldest if there are too many. */
static struct tcptuned_path *find_or_add(struct memory *memory, const struct tcptuned_path_key *key)
{
	unsigned int i = find(memory, key);

	if (i < memory->len)
		return &memory->paths[i];
	if (i < MEMORY_PATHS) {
		memory->len++;
	} else {
		i = 0;
		for (unsigned int j = 1; j < MEMORY_PATHS; j++)
			if (memory->paths[j].updated_s < memory->paths[i].updated_s)
				i = j;
	}
	memory->keys[i] = *key;
	memory->paths[i] = (struct tcptuned_path){0};
	return &memory->paths[i];
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
	return !c->saved && ret->rcv_per_rtt && ret->min_rtt_us != ~0u && fill_key(key, &c->socket);
}

static void read_path(void *context, const struct tcptuned_path_key *key,
		      const struct tcptuned_path *path)
{
	if (!path_expired(path, now_s(), MEMORY_EXPIRE_S))
		*find_or_add(context, key) = *path;
}

void memory_open(struct memory *memory)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	bool by_state = state && state[0] == '/'; /* a relative one is invalid */
	struct tcptuned_pathdb *db = NULL;
	struct tcptuned_error err;
	int error;

	if (!by_state && (!home || home[0] != '/'))
		return;
	/* SQLite refuses a name as long as one that is cut off here. */
	snprintf(memory->file, sizeof(memory->file), "%s%s/tcptuned/paths.db",
		 by_state ? state : home, by_state ? "" : "/.local/state");
	error = tcptuned_pathdb_open(&db, memory->file, MEMORY_READ_MS, &err);
	if (!error)
		error = tcptuned_pathdb_read(db, read_path, memory, &err);
	tcptuned_pathdb_close(db);
	if (error == -EUCLEAN && !tcptuned_pathdb_set_aside(memory->file))
		fprintf(stderr,
			"tcptune-run: %s; it is now %s" TCPTUNED_PATHDB_DAMAGED
			", and a new one is begun\n",
			err.text, memory->file);
}

unsigned int memory_window(const struct memory *memory, const struct connections *all,
			   const struct connection *c)
{
	struct tcptuned_path_key key, other;
	struct tcptuned_path path = {0};
	struct path_sample sample;
	unsigned int i;

	fill_key(&key, &c->socket);
	i = find(memory, &key);
	if (i < memory->len)
		path = memory->paths[i];
	for (const struct connection *o = all->first; o; o = o->next)
		if (o->closed && fill_sample(&sample, &other, o) &&
		    !memcmp(&key, &other, sizeof(key)))
			path_merge(&path, &sample, now_s(), MEMORY_EXPIRE_S);
	return path_receive_window(&path, now_s(), MEMORY_EXPIRE_S,
				   c->socket.info.tcp.tcpi_min_rtt);
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

static void merge(struct memory *memory, struct connections *all)
{
	struct tcptuned_path_key key;
	struct path_sample sample;

	for (struct connection *c = all->first; c; c = c->next)
		if (fill_sample(&sample, &key, c))
			c->saved = path_merge(find_or_add(memory, &key), &sample, now_s(),
					      MEMORY_EXPIRE_S);
}

/* Reads the file again, and replaces it, in one transaction: another process may have added to it. */
static int add_to_file(struct memory *memory, struct tcptuned_pathdb *db, struct connections *all,
		       struct tcptuned_error *err)
{
	int error = tcptuned_pathdb_begin(db, err);
	unsigned int before;

	if (error)
		return error;
	memory->len = 0;
	error = tcptuned_pathdb_read(db, read_path, memory, err);
	merge(memory, all);
	if (!error)
		error = tcptuned_pathdb_forget(db, NULL, &before, err);
	for (unsigned int i = 0; i < memory->len && !error; i++)
		error = tcptuned_pathdb_put(db, &memory->keys[i], &memory->paths[i], err);
	return error ? error : tcptuned_pathdb_commit(db, err);
}

void memory_save(struct memory *memory, struct connections *all)
{
	struct tcptuned_pathdb *db = NULL;
	const struct connection *c = all->first;
	struct tcptuned_path_key key;
	struct path_sample sample;
	struct tcptuned_error err;
	int error;

	while (c && !fill_sample(&sample, &key, c))
		c = c->next;
	if (!c)
		return;
	if (!memory->file[0]) {
		merge(memory, all);
		return;
	}
	make_directories(memory->file);
	error = tcptuned_pathdb_open(&db, memory->file, MEMORY_SAVE_MS, &err);
	if (!error)
		error = add_to_file(memory, db, all, &err);
	tcptuned_pathdb_close(db);
	if (!error)
		return;
	fprintf(stderr, "tcptune-run: %s; what is learned of paths is lost at the end\n", err.text);
	memory->file[0] = '\0';
	merge(memory, all);
}
