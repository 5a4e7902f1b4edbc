// SPDX-License-Identifier: GPL-2.0-only
#include "util/strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 4096

void tcptuned_buf_init(struct tcptuned_buf *buf, size_t limit)
{
	memset(buf, 0, sizeof(*buf));
	buf->limit = limit;
}

void tcptuned_buf_free(struct tcptuned_buf *buf)
{
	free(buf->data);
	tcptuned_buf_init(buf, buf->limit);
}

/* Reserve @len more bytes and a NUL. */
static int buf_reserve(struct tcptuned_buf *buf, size_t len)
{
	size_t size = buf->size ? buf->size : FIRST_SIZE;
	char *data;

	if (buf->error)
		return buf->error;
	if (len > buf->limit - buf->len)
		return buf->error = -EFBIG;
	if (buf->data && buf->len + len < buf->size)
		return 0;
	while (size <= buf->len + len)
		size *= 2;
	data = realloc(buf->data, size);
	if (!data)
		return buf->error = -ENOMEM;
	buf->data = data;
	buf->size = size;
	return 0;
}

void tcptuned_buf_add(struct tcptuned_buf *buf, const void *data, size_t len)
{
	if (buf_reserve(buf, len))
		return;
	memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void tcptuned_buf_puts(struct tcptuned_buf *buf, const char *text)
{
	tcptuned_buf_add(buf, text, strlen(text));
}

void tcptuned_buf_printf(struct tcptuned_buf *buf, const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len >= 0) {
		tcptuned_buf_add(buf, text, (size_t)len);
		free(text);
	} else if (!buf->error) {
		buf->error = -ENOMEM;
	}
}

char *tcptuned_buf_steal(struct tcptuned_buf *buf, size_t *ret_len)
{
	char *data = buf->data;

	*ret_len = buf->len;
	tcptuned_buf_init(buf, buf->limit);
	return data;
}
