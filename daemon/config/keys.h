/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of keys, and how their values are read and written: for this folder alone. */
#ifndef TCPTUNED_CONFIG_KEYS_H
#define TCPTUNED_CONFIG_KEYS_H

#include <stddef.h>

#include "config/config.h"

enum tcptuned_key_type {
	KEY_BOOL,     /* bool */
	KEY_INTEGER,  /* uint16_t or uint32_t */
	KEY_SIZE,     /* uint32_t, bytes */
	KEY_FRACTION, /* uint32_t or uint64_t, times 2^32 */
	KEY_CHOICE,   /* uint32_t, an index of .choices */
	KEY_PATH,     /* char[] */
	KEY_NAME,     /* char[] */
	KEY_ADDRESS,  /* char[] */
	KEY_PREFIXES, /* struct tcptuned_prefixes; each occurrence adds to it */
	KEY_PORTS,    /* struct tcptuned_ports */
};

/* Keys of [policy] are also keys of each [policy NAME]; those under this name are its alone. */
#define NAMED_POLICY "policy NAME"

struct tcptuned_key {
	const char *section;
	const char *name;
	enum tcptuned_key_type type;
	size_t offset;		    /* in struct tcptuned_config */
	size_t size;		    /* bytes there */
	uint64_t lowest, highest;   /* both inclusive, as stored */
	const char *const *choices; /* ended by NULL */
	const char *special;  /* a word that stands for 0 or "" and goes before any range */
	const char *word;     /* another one: for word_value; of a KEY_NAME for itself */
	uint64_t word_value;  /* outside of the range */
	const char *fallback; /* the default, as one would write it */
	const char *unit;     /* what is counted, or NULL */
	bool live;	      /* a reload brings it about */
	const char *help;     /* whole sentences */
};

struct tcptuned_section {
	const char *name;
	const char *help;
};

extern const struct tcptuned_key tcptuned_keys[TCPTUNED_CONFIG_KEYS];
extern const struct tcptuned_section tcptuned_sections[];
extern const size_t tcptuned_sections_count;

/* What a value of any key can be written in, with its NUL. */
#define KEY_TEXT TCPTUNED_CONFIG_TEXT

/*
 * Of a named policy: put its values where those of [policy] are in a configuration that is good
 * for nothing else, which is what the functions here take. What it points to stays the policy's.
 */
void tcptuned_policy_view(const struct tcptuned_named_policy *policy,
			  struct tcptuned_config *ret_view);

/*
 * Parse @text into @config. Returns 0, -EINVAL (not of the type) or -ERANGE; then @problem,
 * of KEY_TEXT bytes, says what is wrong with it, as in "is not a whole number".
 */
int tcptuned_key_parse(const struct tcptuned_key *key, const char *text,
		       struct tcptuned_config *config, char *problem);

/* Write the value of @config to @ret, of KEY_TEXT bytes; reading it back gives the same. */
void tcptuned_key_format(const struct tcptuned_key *key, const struct tcptuned_config *config,
			 char *ret);

/* What the key takes, as in "a whole number from 1 to 65535", to @ret of KEY_TEXT. */
void tcptuned_key_wants(const struct tcptuned_key *key, char *ret);

bool tcptuned_key_equal(const struct tcptuned_key *key, const struct tcptuned_config *a,
			const struct tcptuned_config *b);

#endif
