/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of keys, and how their values are read and written. Only this folder includes it. */
#pragma once

#include <stddef.h>

#include "config/config.h"

enum tcptuned_key_type {
	KEY_BOOL,     /* bool */
	KEY_INTEGER,  /* uint32_t */
	KEY_SIZE,     /* uint32_t or uint64_t, bytes */
	KEY_FRACTION, /* uint32_t, times 2^32 */
	KEY_CHOICE,   /* uint32_t, an index of .choices */
	KEY_PATH,     /* char[] */
	KEY_NAME,     /* char[] */
	KEY_ADDRESS,  /* char[] */
	KEY_PREFIXES, /* struct tcptuned_prefixes; each occurrence adds to it */
	KEY_PORTS,    /* struct tcptuned_ports */
};

/* Keys under this name are the conditions of a [policy NAME], which also has those of [policy]. */
#define NAMED_POLICY "policy NAME"

struct tcptuned_key {
	const char *section;
	const char *name;
	enum tcptuned_key_type type;
	size_t offset;		    /* in struct tcptuned_policy_config or tcptuned_config */
	size_t size;		    /* bytes there */
	const char *fallback;	    /* the default, as it would be written in a file */
	bool live;		    /* a reload changes it */
	uint64_t lowest, highest;   /* both inclusive, as stored; 0: the type has no range */
	const char *unit;	    /* what a KEY_INTEGER counts; NULL: a plain number */
	const char *const *choices; /* ended by NULL */
	const char *special;	    /* the word for 0 or ""; valid outside of the range, too */
	const char *word;	    /* a second such word, stored as word_value or as itself */
	uint64_t word_value;
	const char *help; /* whole sentences */
};

struct tcptuned_section {
	const char *name;
	const char *help;
};

extern const struct tcptuned_key tcptuned_keys[TCPTUNED_CONFIG_KEYS];
#define for_each_key(key)                                    \
	for (const struct tcptuned_key *key = tcptuned_keys; \
	     key < tcptuned_keys + TCPTUNED_CONFIG_KEYS; key++)

extern const struct tcptuned_section tcptuned_sections[]; /* ended by one without a name */
#define for_each_section(section) \
	for (const struct tcptuned_section *section = tcptuned_sections; section->name; section++)

/* Bytes that hold the text of any value, with its NUL. */
#define KEY_TEXT TCPTUNED_CONFIG_TEXT

/* The characters of a KEY_NAME, and of the name of a policy. */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* True for the keys of [policy NAME], those of [policy] among them. */
bool tcptuned_key_is_of_policy(const struct tcptuned_key *key);

/* What the functions below need for @key: @policy (NULL: [policy]) for a policy's, else @config. */
void *tcptuned_key_values(const struct tcptuned_key *key, const struct tcptuned_config *config,
			  const struct tcptuned_policy_config *policy);

/*
 * Parse @text into @values. Returns NULL, or what is wrong with the text, as in "is not a whole
 * number"; @buffer has KEY_TEXT bytes, and may hold the returned string.
 */
const char *tcptuned_key_parse(const struct tcptuned_key *key, const char *text, void *values,
			       char *buffer);

/* Write the value to @ret, of KEY_TEXT bytes. Parsing that text gives the same value. */
void tcptuned_key_format(const struct tcptuned_key *key, const void *values, char *ret);

/* Write what the key accepts, as in "a whole number from 1 to 65535", to @ret of KEY_TEXT bytes. */
void tcptuned_key_wants(const struct tcptuned_key *key, char *ret);

/* Write "did you mean X?" or a list of @names (NULL at the end) to @ret, of KEY_TEXT bytes. */
void tcptuned_key_suggest(const char *word, const char *const *names, char *ret);

bool tcptuned_key_equal(const struct tcptuned_key *key, const void *a, const void *b);
