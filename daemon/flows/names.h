/* SPDX-License-Identifier: GPL-2.0-only */
/* The words of metrics, JSON and tables for what is known about a connection. */
#ifndef TCPTUNED_FLOWS_NAMES_H
#define TCPTUNED_FLOWS_NAMES_H

#include <tcptuned/abi/flow.h>
#include <tcptuned/algo/bitcp.h>

#define TCPTUNED_BITCP_MODES (BITCP_SLOW_START_PAST_MAX + 1)
#define TCPTUNED_ADDRESS_MAX 64 /* "[v6 address]:port" and its NUL */

/* Write "192.0.2.1:80" or "[2001:db8::1]:80" into @text. */
void tcptuned_flow_address(const struct tcptuned_flow_record *record, int remote,
			   char text[TCPTUNED_ADDRESS_MAX]);

/* "unknown" for a value out of range. */
const char *tcptuned_limit_name(unsigned int limit);
const char *tcptuned_reason_name(unsigned int reason);
const char *tcptuned_rightsize_state_name(unsigned int state);
const char *tcptuned_mode_name(unsigned int mode);
const char *tcptuned_state_name(unsigned int state);
const char *tcptuned_bitcp_mode_name(unsigned int mode);

enum tcptuned_vocabulary {
	TCPTUNED_WORDS_LIMIT,
	TCPTUNED_WORDS_REASON,
	TCPTUNED_WORDS_BITCP_MODE,
	TCPTUNED_VOCABULARIES,
};

/* The meaning of a word, for the manual; NULL for a value out of range. */
const char *tcptuned_word_meaning(enum tcptuned_vocabulary vocabulary, unsigned int index);

#endif
