/* SPDX-License-Identifier: GPL-2.0-only */
/* Address prefixes and port ranges, and their text form. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tcptuned/algo/path.h>

/* The longest text of a prefix, with its NUL. */
#define TCPTUNED_PREFIX_TEXT 64

struct tcptuned_prefix {
	uint8_t address[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint8_t length;	     /* bits; of an IPv4 prefix 96 more than in its text */
	bool ipv4;
};

struct tcptuned_prefixes {
	struct tcptuned_prefix *list;
	size_t len;
	size_t size; /* allocated */
};

/* Parse "192.0.2.0/24", "2001:db8::/32" or an address; "10.0.0.1/8" is 10.0.0.0/8. 0 or -EINVAL. */
int tcptuned_prefix_of(const char *text, struct tcptuned_prefix *ret);

/* Clear the bits behind the first @length. */
void tcptuned_prefix_mask(uint8_t address[16], unsigned int length);

/* Make it the prefix in which the path memory has its address. */
void tcptuned_prefix_of_path(struct tcptuned_prefix *prefix);

/*
 * Write the address at @from, of AF_INET or AF_INET6, to the 16 bytes at @to, IPv4 as
 * ::ffff:a.b.c.d.
 */
void tcptuned_prefix_map_address(void *to, unsigned int family, const void *from);

void tcptuned_prefix_path_key(const struct tcptuned_prefix *prefix, struct tcptuned_path_key *ret);

/* The shortest text of @prefix. */
void tcptuned_prefix_print(const struct tcptuned_prefix *prefix, char text[TCPTUNED_PREFIX_TEXT]);

/*
 * Add one or more prefixes, separated by commas or blanks. Returns 0, -ENOMEM or -EINVAL; then
 * @ret_problem, of at least 160 bytes, says what is wrong, and those before the wrong one are
 * added: `has "10.0.0.1/8" in it, which has bits beyond its length: write 10.0.0.0/8`.
 */
int tcptuned_prefixes_add(struct tcptuned_prefixes *prefixes, const char *text, char *ret_problem,
			  size_t size);

/*
 * Add the prefixes of a file's text: one a line, # begins a comment. Returns as above, and the line
 * of an error in @ret_line.
 */
int tcptuned_prefixes_add_lines(struct tcptuned_prefixes *prefixes, const char *text, size_t length,
				char *ret_problem, size_t size, unsigned int *ret_line);

/* All of them, separated by ", ", or their number if @size is too small. */
void tcptuned_prefixes_format(const struct tcptuned_prefixes *prefixes, char *text, size_t size);

bool tcptuned_prefixes_equal(const struct tcptuned_prefixes *a, const struct tcptuned_prefixes *b);
void tcptuned_prefixes_free(struct tcptuned_prefixes *prefixes);
