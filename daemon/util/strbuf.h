/* SPDX-License-Identifier: GPL-2.0-only */
/* A string that grows up to a limit. Errors are sticky, so that only the last call needs a check. */
#ifndef TCPTUNED_UTIL_STRBUF_H
#define TCPTUNED_UTIL_STRBUF_H

#include <stddef.h>

struct tcptuned_buf {
	char *data;
	size_t len;
	size_t size;  /* bytes allocated */
	size_t limit; /* of len, bytes */
	int error;    /* 0, -ENOMEM or -EFBIG; once set, nothing more is added */
};

/* An empty buffer that never holds more than @limit bytes. */
void tcptuned_buf_init(struct tcptuned_buf *buf, size_t limit);

void tcptuned_buf_free(struct tcptuned_buf *buf);

/* Append @len bytes. */
void tcptuned_buf_add(struct tcptuned_buf *buf, const void *data, size_t len);

/* Append a string. */
void tcptuned_buf_puts(struct tcptuned_buf *buf, const char *text);

/* Append formatted text. */
void tcptuned_buf_printf(struct tcptuned_buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Pass the text to the caller, who frees it with free(), and empty the buffer. */
char *tcptuned_buf_steal(struct tcptuned_buf *buf, size_t *ret_len);

#endif
