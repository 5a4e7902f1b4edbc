/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The congestion controls that are there besides bitcp (tcptuned/family.h), each registered on
 * request only. What is registered is what is pinned: map_NAME, the struct_ops map, and
 * link_NAME, its link, absent before Linux 6.4. Nothing else is kept, so that a daemon that was
 * killed leaves them as they are, and the next one finds them.
 */
#ifndef TCPTUNED_DAEMON_FAMILY_H
#define TCPTUNED_DAEMON_FAMILY_H

#include <stddef.h>
#include <stdint.h>

#define TCPTUNED_FAMILY_MEMBERS 5

/* As the kernel has them. In a set of members, bit n stands for name n. */
static const char *const tcptuned_family_names[TCPTUNED_FAMILY_MEMBERS + 1] = {
	"aimd", "hstcp", "stcp", "tt_reno", "tt_vegas", NULL,
};

/* The set with @name alone; 0: it is not of the family. */
uint32_t tcptuned_family_find(const char *name);

/* Those that are registered from @pin_dir. */
uint32_t tcptuned_family_registered(const char *pin_dir);

/* Add all of their programs to a checksum as crc32() makes it. */
uint32_t tcptuned_family_crc(uint32_t crc);

/*
 * Load, register and pin member number @which, in place of what is pinned under its name.
 * Returns 0 or a negative errno: -EEXIST when the name is taken by somebody else's.
 */
int tcptuned_family_register(const char *pin_dir, unsigned int which);

/* Nobody can choose it afterwards; connections that have it keep it. Not there: no harm. */
void tcptuned_family_unregister(const char *pin_dir, unsigned int which);

#endif
