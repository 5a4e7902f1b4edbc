// SPDX-License-Identifier: GPL-2.0-only
/* The log: lines for the journal and for a person; which are logged, and which not repeated. */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "test.h"
#include "util/error.h"
#include "util/log.h"
#include "util/text.h"

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

/* Sets JOURNAL_STREAM so that stderr is the journal; with @off, so that it is another file. */
static void claim_journal(int off)
{
	char stream[64];
	struct stat st;

	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev,
		 (uintmax_t)st.st_ino + off);
	setenv("JOURNAL_STREAM", stream, 1);
}

/* Returns what was logged since the last call. */
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

FIXTURE(setup, teardown)

TEST(plain)
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

TEST(journal)
{
	claim_journal(0);
	tcptuned_log(TCPTUNED_LOG_ERROR, "a");
	tcptuned_log(TCPTUNED_LOG_WARNING, "b");
	tcptuned_log(TCPTUNED_LOG_INFO, "c");
	assert_string_equal(logged(), "<3>a\n<4>b\n<6>c\n");
	/* If stderr was redirected after systemd connected it, lines are for a person again. */
	claim_journal(1);
	tcptuned_log(TCPTUNED_LOG_ERROR, "e");
	assert_contains(logged(), " error: e\n");
}

/* The log does not wait for a journal that does not read; later it reports the lost lines. */
TEST(journal_hangs)
{
	char text[4096] = "", lost[64];
	unsigned int lines = 0, kept = 0;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	dup2(fds[0], STDERR_FILENO);
	claim_journal(0);
	alarm(120);
	for (; lines < 20000; lines++)
		tcptuned_log(TCPTUNED_LOG_INFO, "line");
	alarm(0);
	while (recv(fds[1], text, strlen("<6>line\n"), MSG_DONTWAIT) > 0)
		kept++;
	assert_in_range(kept, 1, lines - 1);
	tcptuned_log(TCPTUNED_LOG_INFO, "line");
	assert_true(recv(fds[1], text, sizeof(text) - 1, MSG_DONTWAIT) > 0);
	snprintf(lost, sizeof(lost), "<4>%u lines before this one are lost: ", lines - kept);
	assert_contains(text, lost);
	assert_contains(text, "\n<6>line\n");
	close(fds[0]);
	close(fds[1]);
}

TEST(level)
{
	tcptuned_log_set_level(TCPTUNED_LOG_ERROR);
	tcptuned_log(TCPTUNED_LOG_WARNING, "hidden");
	assert_string_equal(logged(), "");
	tcptuned_log(TCPTUNED_LOG_ERROR, "shown");
	assert_contains(logged(), "shown\n");
}

/* Each call logs one line, and preserves errno. */
TEST(one_line)
{
	const char *text;

	errno = ENOENT;
	tcptuned_log(TCPTUNED_LOG_INFO, "a%sb", "\n\x1b[2J\x7f\xc2\x9b\xe2\x80\xae");
	assert_int_equal(errno, ENOENT);
	text = logged();
	assert_contains(text, "info: a??[2J??????b\n");
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

/*
 * A line is logged once as long as it recurs each time, again after it was missing, and always on
 * request.
 */
TEST(lines_logged_once)
{
	claim_journal(0);
	tcptuned_log_attempt(true);
	tcptuned_log_once(TCPTUNED_LOG_WARNING, "no %s", "a");
	tcptuned_log_once(TCPTUNED_LOG_INFO, "no b");
	assert_string_equal(logged(), "<4>no a\n<6>no b\n");
	tcptuned_log_attempt(false);
	tcptuned_log_once(TCPTUNED_LOG_WARNING, "no a");
	tcptuned_log_once(TCPTUNED_LOG_WARNING, "no c");
	assert_string_equal(logged(), "<4>no c\n");
	tcptuned_log_attempt(false);
	tcptuned_log_once(TCPTUNED_LOG_WARNING, "no a");
	tcptuned_log_once(TCPTUNED_LOG_INFO, "no b");
	assert_string_equal(logged(), "<6>no b\n");
	tcptuned_log_attempt(true);
	tcptuned_log_once(TCPTUNED_LOG_WARNING, "no a");
	tcptuned_log_once(TCPTUNED_LOG_INFO, "no b");
	assert_string_equal(logged(), "<4>no a\n<6>no b\n");
	tcptuned_log_attempt(true);
	tcptuned_log_attempt(true);
}

/* What a client wrote is printable in answers and in the log. */
TEST(printable)
{
	char text[] = " az~\n\x1f\x7f\xc3\xa9";
	struct tcptuned_error err;

	tcptuned_text_make_printable(text);
	assert_string_equal(text, " az~?????");
	tcptuned_error_fill(&err, EINVAL, TCPTUNED_EXIT_USAGE, "no %s", "caf\xe9\n");
	assert_string_equal(err.text, "no caf??");
}
