/* SPDX-License-Identifier: GPL-2.0-only */
/* Arrays: their length and, in rows of a table, the fields of structures that they name. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The members of a row that name a field. */
#define FIELD_OF(type, field) \
	.offset = offsetof(struct type, field), .size = sizeof(((struct type *)0)->field)

/* The number, of @size bytes, in the field at @offset of @structure. */
static inline uint64_t tcptuned_field(const void *structure, size_t offset, size_t size)
{
	const void *field = (const char *)structure + offset;

	if (size == sizeof(uint8_t))
		return *(const uint8_t *)field;
	if (size == sizeof(uint32_t))
		return *(const uint32_t *)field;
	return *(const uint64_t *)field;
}
