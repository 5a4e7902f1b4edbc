// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "array.h"
#include "ctl.h"
#include "flows.h"

#define CELL 160 /* "bitcp rwin 1000K swin 1000K ...", and any address */
#define LINE 2048

/* "bitcp rwin 64K", as little as it is; nothing: "nothing". */
static void format_would_set(const json_t *would, char cell[CELL])
{
	static const struct {
		const char *member, *word, *per;
	} numbers[] = {
		{ "receive_window_bytes", "rwin", "" }, { "send_window_bytes", "swin", "" },
		{ "first_window_bytes", "first", "" }, { "unsent_max_bytes", "unsent", "" },
		{ "receive_buffer_bytes", "rcvbuf", "" }, { "send_buffer_bytes", "sndbuf", "" },
		{ "pacing_rate_bytes_per_s", "pacing", "/s" },
		{ "remembered_window_bytes", "path-rwin", "" },
		{ "remembered_max_window_bytes", "path-max", "" },
	};
	char word[CTL_WORD];
	size_t used;

	snprintf(cell, CELL, "%s", ctl_text(would, "congestion_control"));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!ctl_number(would, numbers[i].member))
			continue;
		used = strlen(cell);
		ctl_format_bytes(ctl_number(would, numbers[i].member), word);
		snprintf(cell + used, CELL - used, "%s%s %s%s", used ? " " : "", numbers[i].word,
			 word, numbers[i].per);
	}
	used = strlen(cell);
	if (json_is_true(json_object_get(would, "slow_path_remembered")))
		snprintf(cell + used, CELL - used, "%sslow-path", used ? " " : "");
	if (!*cell)
		snprintf(cell, CELL, "nothing");
}

static void format_cell(const struct tcptuned_column *column, const json_t *flow, char cell[CELL])
{
	const json_t *value = ctl_member(flow, column->json);
	unsigned long long number = (unsigned long long)json_integer_value(value);
	char word[CTL_WORD];

	snprintf(cell, CELL, "-");
	if (json_is_string(value))
		snprintf(cell, CELL, "%s", json_string_value(value));
	if (json_is_object(value))
		format_would_set(value, cell);
	if (!json_is_integer(value))
		return;
	switch (column->unit) {
	case COLUMN_BYTES:
		ctl_format_bytes(number, word);
		break;
	case COLUMN_BYTES_PER_S:
		ctl_format_bytes(number, word);
		strcat(word, "/s");
		break;
	case COLUMN_US:
		ctl_format_us(number, word);
		break;
	default:
		snprintf(word, sizeof(word), "%llu", number);
	}
	snprintf(cell, CELL, "%s", word);
}

static int width_of(const struct tcptuned_column *column, const json_t *flows)
{
	size_t width = strlen(column->heading), i;
	char cell[CELL];
	json_t *flow;

	json_array_foreach(flows, i, flow) {
		format_cell(column, flow, cell);
		if (strlen(cell) > width)
			width = strlen(cell);
	}
	return (int)width;
}

/* Add a cell to the line: text to the left, numbers to the right. */
static void add_cell(char line[LINE], const struct tcptuned_column *column, const char *cell,
		     int width)
{
	size_t used = strlen(line);

	snprintf(line + used, LINE - used, "%s%*s", used ? "  " : "",
		 column->unit == COLUMN_TEXT || column->unit == COLUMN_WOULD_SET ? -width : width,
		 cell);
}

static void print_line(FILE *out, char line[LINE], size_t width)
{
	size_t len = strlen(line);

	if (width && len > width)
		len = width;
	while (len && line[len - 1] == ' ')
		len--;
	fprintf(out, "%.*s\n", (int)len, line);
}

void ctl_print_table(FILE *out, const json_t *flows, const struct tcptuned_column *const *columns,
		     size_t columns_len, size_t width)
{
	char line[LINE] = "", cell[CELL];
	int widths[columns_len ? columns_len : 1];
	json_t *flow;
	size_t i, c;

	for (c = 0; c < columns_len; c++) {
		widths[c] = width_of(columns[c], flows);
		add_cell(line, columns[c], columns[c]->heading, widths[c]);
	}
	print_line(out, line, width);
	json_array_foreach(flows, i, flow) {
		line[0] = '\0';
		for (c = 0; c < columns_len; c++) {
			format_cell(columns[c], flow, cell);
			add_cell(line, columns[c], cell, widths[c]);
		}
		print_line(out, line, width);
	}
}
