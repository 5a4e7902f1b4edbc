/* SPDX-License-Identifier: GPL-2.0-only */
/* The words of metrics, JSON and tables for what is known about a connection. */
#pragma once

#include <tcptuned/abi/flow.h>
#include <tcptuned/algo/bitcp.h>

#define TCPTUNED_BITCP_MODES (BITCP_SLOW_START_PAST_MAX + 1)
#define TCPTUNED_ADDRESS_MAX 64 /* "[v6 address]:port" and its NUL */

/* The two ends of a connection, as "192.0.2.1:80" or "[2001:db8::1]:80". */
struct tcptuned_ends {
	char local[TCPTUNED_ADDRESS_MAX], remote[TCPTUNED_ADDRESS_MAX];
};

struct tcptuned_ends tcptuned_flow_ends(const struct tcptuned_flow_record *record);

enum tcptuned_vocabulary {
	NO_WORDS,
	WORDS_LIMIT,
	WORDS_REASON,
	WORDS_BITCP_MODE,
	WORDS_RIGHTSIZE_STATE,
	WORDS_MODE,
	WORDS_TCP_STATE,
	WORDS_RANDOM_LOSS,
	VOCABULARIES,
};

/* The word for a value; "unknown" if it is out of range. */
const char *tcptuned_word(enum tcptuned_vocabulary vocabulary, unsigned int value);

/* The meaning of that word, for the manual; NULL: it is not in the manual, or out of range. */
const char *tcptuned_word_meaning(enum tcptuned_vocabulary vocabulary, unsigned int value);
