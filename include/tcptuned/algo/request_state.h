/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What became of an application's request for the size of a buffer, SO_RCVBUF or SO_SNDBUF. Such a
 * request ends the kernel's autotuning, so a policy may override it: the kernel does not get it, or
 * it is lifted.
 */
#pragma once

#include <linux/types.h>

enum request {
	REQUEST_NONE,
	REQUEST_WITHHELD,    /* from the kernel; the application reads it back; SO_RCVBUF only */
	REQUEST_LIFTED,	     /* the kernel has got it, and tcptuned sizes the buffer since */
	REQUEST_PASSED_ON,   /* the kernel has got it, since the policy only observes */
	REQUEST_LISTENER,    /* was withheld from the listener that accepted the connection */
	REQUEST_APPLICATION, /* honoured: the application sizes the buffer, or its window, itself */
	REQUESTS,
};

/* What a policy does with a request. */
enum request_action {
	REQUEST_HONOURED,
	REQUEST_OBSERVED, /* honoured and counted */
	REQUEST_OVERRIDDEN,
	REQUEST_ACTIONS,
};

/* When it does so. */
enum request_event {
	REQUEST_SET,	 /* the application calls setsockopt() */
	REQUEST_FOUND,	 /* in a socket that the application had sized before tcptuned saw it */
	REQUEST_CONNECT, /* the socket connects, or has connected: its policy is known now */
	REQUEST_CHANGE,	 /* an open connection gets another policy */
	/* ... and whatever the policy: */
	REQUEST_ACCEPTED, /* one was withheld from the listener */
	REQUEST_RESTORED, /* the kernel gets what it did not have */
	REQUEST_TAKEN,	  /* the application sizes the buffer, or its window, from now on */
	REQUEST_EVENTS,
};

/* True if the application reads back what it asked for, whatever the buffer is. */
static inline int request_is_hidden(enum request now)
{
	return now == REQUEST_WITHHELD || now == REQUEST_LIFTED;
}

/*
 * An application that sizes a buffer itself goes on doing so: the kernel does not size it any more.
 */
static inline enum request request_next(enum request now, enum request_event event,
					enum request_action action)
{
	if (now == REQUEST_APPLICATION)
		return now;
	switch (event) {
	case REQUEST_SET:
		if (now == REQUEST_LIFTED && action == REQUEST_OVERRIDDEN)
			return now; /* the kernel still has one */
		return action == REQUEST_OVERRIDDEN ? REQUEST_WITHHELD
		       : action == REQUEST_OBSERVED ? REQUEST_PASSED_ON
						    : REQUEST_NONE;
	case REQUEST_FOUND:
		if (action == REQUEST_HONOURED)
			return REQUEST_APPLICATION;
		if (request_is_hidden(now))
			return now;
		return action == REQUEST_OVERRIDDEN ? REQUEST_LIFTED : REQUEST_PASSED_ON;
	case REQUEST_CONNECT:
		if (now == REQUEST_NONE || now == REQUEST_LISTENER || action == REQUEST_HONOURED)
			return REQUEST_NONE;
		if (action == REQUEST_OBSERVED)
			return REQUEST_PASSED_ON;
		return now == REQUEST_PASSED_ON ? REQUEST_LIFTED : now;
	case REQUEST_CHANGE:
		if (now == REQUEST_PASSED_ON && action == REQUEST_OVERRIDDEN)
			return REQUEST_LIFTED;
		if (now == REQUEST_PASSED_ON && action == REQUEST_HONOURED)
			return REQUEST_APPLICATION;
		if (now == REQUEST_LIFTED && action == REQUEST_OBSERVED)
			return REQUEST_PASSED_ON;
		return now;
	case REQUEST_ACCEPTED:
		return now == REQUEST_NONE ? REQUEST_LISTENER : now;
	case REQUEST_RESTORED:
		return request_is_hidden(now) ? REQUEST_PASSED_ON : now;
	case REQUEST_TAKEN:
		return REQUEST_APPLICATION;
	default:
		return now;
	}
}

/* True if there is a request that tcptuned overrides, or would if it did not only observe. */
static inline int request_is_overridden(enum request now)
{
	return now != REQUEST_NONE && now != REQUEST_APPLICATION;
}
