// SPDX-License-Identifier: GPL-2.0-only
/* The log: what a line looks like for the journal and for a person, which lines there are, and which
 * are not told again. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "util/log.h"

/* stderr while a test runs: a file that can be read back. */
static int file_fd, kept_fd;

static int setup(void **state)
{
	fflush(stderr);
	kept_fd = dup(STDERR_FILENO);
	file_fd = memfd_create("stderr", MFD_CLOEXEC);
	return kept_fd < 0 || file_fd < 0 || dup2(file_fd, STDERR_FILENO) < 0;
}

static int teardown(void **state)
{
	dup2(kept_fd, STDERR_FILENO);
	close(kept_fd);
	close(file_fd);
	unsetenv("JOURNAL_STREAM");
	tcptuned_log_set_level(TCPTUNED_LOG_INFO);
	return 0;
}

/* What was logged since the last call. */
static const char *logged(void)
{
	static char text[4096];
	ssize_t n = pread(file_fd, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	text[n] = '\0';
	assert_int_equal(ftruncate(file_fd, 0), 0);
	lseek(file_fd, 0, SEEK_SET);
	return text;
}

static void test_plain(void **state)
{
	unsigned int year, month, day, hour, minute;
	double second;
	char rest[64];

	tcptuned_log(TCPTUNED_LOG_WARNING, "%s is %d", "it", 5);
	assert_int_equal(sscanf(logged(), "%4u-%2u-%2u %2u:%2u:%lf %63[^\n]", &year, &month, &day,
				&hour, &minute, &second, rest),
			 7);
	assert_string_equal(rest, "warning: it is 5");
}

static void test_journal(void **state)
{
	char stream[64];
	struct stat st;

	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	tcptuned_log_set_level(TCPTUNED_LOG_DEBUG);
	tcptuned_log(TCPTUNED_LOG_ERROR, "a");
	tcptuned_log(TCPTUNED_LOG_WARNING, "b");
	tcptuned_log(TCPTUNED_LOG_INFO, "c");
	tcptuned_log(TCPTUNED_LOG_DEBUG, "d");
	assert_string_equal(logged(), "<3>a\n<4>b\n<6>c\n<7>d\n");
	/* Redirected after systemd connected it: for a person again. */
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev,
		 (uintmax_t)st.st_ino + 1);
	setenv("JOURNAL_STREAM", stream, 1);
	tcptuned_log(TCPTUNED_LOG_ERROR, "e");
	assert_non_null(strstr(logged(), " error: e\n"));
}

/* A journal that reads nothing is not waited for; once it reads again, it is told how much is lost. */
static void test_journal_hangs(void **state)
{
	char stream[64], text[4096] = "", lost[64];
	unsigned int lines = 0, kept = 0;
	struct stat st;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	dup2(fds[0], STDERR_FILENO);
	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	alarm(10);
	for (; lines < 20000; lines++)
		tcptuned_log(TCPTUNED_LOG_INFO, "line");
	alarm(0);
	while (recv(fds[1], text, strlen("<6>line\n"), MSG_DONTWAIT) > 0)
		kept++;
	assert_in_range(kept, 1, lines - 1);
	tcptuned_log(TCPTUNED_LOG_INFO, "line");
	assert_true(recv(fds[1], text, sizeof(text) - 1, MSG_DONTWAIT) > 0);
	snprintf(lost, sizeof(lost), "<4>%u lines before this one are lost: ", lines - kept);
	assert_non_null(strstr(text, lost));
	assert_non_null(strstr(text, "\n<6>line\n"));
	close(fds[0]);
	close(fds[1]);
}

static void test_level(void **state)
{
	tcptuned_log(TCPTUNED_LOG_DEBUG, "hidden");
	assert_string_equal(logged(), "");
	tcptuned_log_set_level(TCPTUNED_LOG_ERROR);
	tcptuned_log(TCPTUNED_LOG_WARNING, "hidden");
	assert_string_equal(logged(), "");
	tcptuned_log(TCPTUNED_LOG_ERROR, "shown");
	assert_non_null(strstr(logged(), "shown\n"));
}

/* One call is one line, whatever it quotes; and it does not lose the caller's errno. */
static void test_one_line(void **state)
{
	const char *text;

	errno = ENOENT;
	tcptuned_log(TCPTUNED_LOG_INFO, "a%sb", "\n\x1b[2J\x7f");
	assert_int_equal(errno, ENOENT);
	text = logged();
	assert_non_null(strstr(text, "info: a  [2J b\n"));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Each line as long as it stays so, once; what comes back is told again, and all when asked for. */
static void test_told(void **state)
{
	struct tcptuned_log_history history = {0};
	char stream[64];
	struct stat st;

	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	tcptuned_log_history_begin(&history, true);
	tcptuned_log_once(&history, TCPTUNED_LOG_WARNING, "no %s", "a");
	tcptuned_log_once(&history, TCPTUNED_LOG_INFO, "no b");
	assert_string_equal(logged(), "<4>no a\n<6>no b\n");
	tcptuned_log_history_begin(&history, false);
	tcptuned_log_once(&history, TCPTUNED_LOG_WARNING, "no a");
	tcptuned_log_once(&history, TCPTUNED_LOG_WARNING, "no c");
	assert_string_equal(logged(), "<4>no c\n");
	tcptuned_log_history_begin(&history, false);
	tcptuned_log_once(&history, TCPTUNED_LOG_WARNING, "no a");
	tcptuned_log_once(&history, TCPTUNED_LOG_INFO, "no b");
	assert_string_equal(logged(), "<6>no b\n");
	tcptuned_log_history_begin(&history, true);
	tcptuned_log_once(&history, TCPTUNED_LOG_WARNING, "no a");
	tcptuned_log_once(&history, TCPTUNED_LOG_INFO, "no b");
	assert_string_equal(logged(), "<4>no a\n<6>no b\n");
	tcptuned_log_history_free(&history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain),
		TEST(test_journal),
		TEST(test_journal_hangs),
		TEST(test_level),
		TEST(test_one_line),
		TEST(test_told),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
