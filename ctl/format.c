// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "ctl.h"

void ctl_format_bytes(unsigned long long bytes, char ret[CTL_WORD])
{
	static const char units[] = "KMGTPE";
	unsigned long long unit = 1024;
	int i = 0;

	if (bytes < 10000) {
		snprintf(ret, CTL_WORD, "%llu", bytes);
		return;
	}
	/* 999.95 of a unit would be printed as a thousand. */
	while (i < 5 && bytes / unit >= 1000) {
		unit *= 1024;
		i++;
	}
	if (bytes % unit == 0 || bytes / unit >= 100)
		snprintf(ret, CTL_WORD, "%llu%c", (bytes + unit / 2) / unit, units[i]);
	else
		snprintf(ret, CTL_WORD, "%.1f%c", (double)bytes / (double)unit, units[i]);
}

void ctl_format_us(unsigned long long us, char ret[CTL_WORD])
{
	if (!us)
		snprintf(ret, CTL_WORD, "-");
	else if (us < 10000)
		snprintf(ret, CTL_WORD, "%.2fms", (double)us / 1e3);
	else if (us < 1000000)
		snprintf(ret, CTL_WORD, "%.1fms", (double)us / 1e3);
	else
		snprintf(ret, CTL_WORD, "%.1fs", (double)us / 1e6);
}

const json_t *ctl_member(const json_t *object, const char *path)
{
	const char *dot = strchr(path, '.');
	char name[64];

	if (!dot)
		return json_object_get(object, path);
	snprintf(name, sizeof(name), "%.*s", (int)(dot - path), path);
	return json_object_get(json_object_get(object, name), dot + 1);
}

unsigned long long ctl_number(const json_t *object, const char *path)
{
	return (unsigned long long)json_integer_value(ctl_member(object, path));
}

const char *ctl_text(const json_t *object, const char *path)
{
	const char *text = json_string_value(ctl_member(object, path));

	return text ? text : "";
}

bool ctl_several_namespaces(const json_t *rows)
{
	const json_t *first = json_array_get(rows, 0);

	for (size_t i = 1; i < json_array_size(rows); i++)
		if (ctl_number(json_array_get(rows, i), "netns") != ctl_number(first, "netns"))
			return true;
	return false;
}
