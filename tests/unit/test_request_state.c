// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of a request for a buffer size: all states, events and actions. */
#include "test.h"
#include <tcptuned/algo/request_state.h>

/*
 * None, withheld, lifted, passed on, the listener's, the application's: the state now, and the next
 * one.
 */
TEST(every_transition)
{
	static const char states[] = "nwlpia";
	static const struct {
		enum request_event event;
		enum request_action action;
		const char *next;
	} rows[] = {
		{REQUEST_SET, REQUEST_HONOURED, "nnnnna"},
		{REQUEST_SET, REQUEST_OBSERVED, "pppppa"},
		{REQUEST_SET, REQUEST_OVERRIDDEN, "wwlwwa"},
		{REQUEST_FOUND, REQUEST_HONOURED, "aaaaaa"},
		{REQUEST_FOUND, REQUEST_OBSERVED, "pwlppa"},
		{REQUEST_FOUND, REQUEST_OVERRIDDEN, "lwllla"},
		{REQUEST_CONNECT, REQUEST_HONOURED, "nnnnna"},
		{REQUEST_CONNECT, REQUEST_OBSERVED, "npppna"},
		{REQUEST_CONNECT, REQUEST_OVERRIDDEN, "nwllna"},
		{REQUEST_CHANGE, REQUEST_HONOURED, "nwlaia"},
		{REQUEST_CHANGE, REQUEST_OBSERVED, "nwppia"},
		{REQUEST_CHANGE, REQUEST_OVERRIDDEN, "nwllia"},
		{REQUEST_ACCEPTED, REQUEST_HONOURED, "iwlpia"},
		{REQUEST_ACCEPTED, REQUEST_OBSERVED, "iwlpia"},
		{REQUEST_ACCEPTED, REQUEST_OVERRIDDEN, "iwlpia"},
		{REQUEST_RESTORED, REQUEST_HONOURED, "npppia"},
		{REQUEST_RESTORED, REQUEST_OBSERVED, "npppia"},
		{REQUEST_RESTORED, REQUEST_OVERRIDDEN, "npppia"},
		{REQUEST_TAKEN, REQUEST_HONOURED, "aaaaaa"},
		{REQUEST_TAKEN, REQUEST_OBSERVED, "aaaaaa"},
		{REQUEST_TAKEN, REQUEST_OVERRIDDEN, "aaaaaa"},
	};

	assert_int_equal(ARRAY_SIZE(rows), REQUEST_EVENTS * REQUEST_ACTIONS);
	for_each_row (r, rows)
		for (int now = 0; now < REQUESTS; now++)
			assert_int_equal(states[request_next(now, r->event, r->action)],
					 r->next[now]);
}

/* Whatever happens, a buffer that the application sizes itself stays its own. */
TEST(any_sequence)
{
	enum request now = REQUEST_NONE;

	for (int i = 0; i < 100000; i++) {
		enum request_event event = random() % REQUEST_EVENTS;
		enum request_action action = random() % REQUEST_ACTIONS;
		enum request next = request_next(now, event, action);

		assert_true(next < REQUESTS);
		if (now == REQUEST_APPLICATION)
			assert_int_equal(next, now);
		/* only a policy that overrides hides a request */
		if (request_is_hidden(next) && !request_is_hidden(now))
			assert_int_equal(action, REQUEST_OVERRIDDEN);
		/* only a call of the application withholds one from the kernel */
		if (next == REQUEST_WITHHELD && now != next)
			assert_int_equal(event, REQUEST_SET);
		now = i % 50 ? next
			     : (enum request)(random() %
					      REQUESTS); /* or it ends as the application's */
	}
}
