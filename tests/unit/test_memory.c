// SPDX-License-Identifier: GPL-2.0-only
/*
 * The path memory of tcptune-run: what it keeps, for how long, and what it does with other files.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/memory.h"

#include "test.h"

#define WINDOW 2000000 /* for 10 MB/s and 100 ms */

/* A busy host may need longer for 1,024 paths than a command's child may take. */
unsigned int alarm(unsigned int seconds)
{
	return 0;
}

/* Nor does a busy disk give SQLite's lock within the time that a command waits for it. */
static int wait_for_lock(void *ctx, int times)
{
	usleep(1000);
	return 1;
}

int sqlite3_busy_timeout(sqlite3 *db, int ms)
{
	return sqlite3_busy_handler(db, wait_for_lock, NULL);
}

static struct memory memory;
static time_t now_s; /* Unix time, which stands still */
static char file[64];

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int error = (int)syscall(SYS_clock_gettime, clock, ret);

	if (clock == CLOCK_REALTIME)
		ret->tv_sec = now_s;
	return error;
}

static void wait_for_child(void)
{
	int status;

	if (!memory.child)
		return;
	assert_int_equal(waitpid(memory.child, &status, 0), memory.child);
	memory_child_ended(&memory, status);
}

/* Begins as a new process that knows what is in the file. */
static void restart(void)
{
	memset(&memory, 0, sizeof(memory));
	memory_open(&memory);
	wait_for_child();
}

static void save_all(struct connection *first)
{
	memory_save(&memory, &(struct connections){.first = first});
	wait_for_child();
}

static int setup(void **state)
{
	if (make_directory(state))
		return -1;
	snprintf(file, sizeof(file), "%s/tcptuned/paths.db", test_directory);
	now_s = 1000000000;
	setenv("XDG_STATE_HOME", test_directory, 1);
	restart();
	return 0;
}

FIXTURE(setup, remove_directory)

/* A connection that received 10 MB/s over 100 ms. */
static struct connection receiver(const char *remote)
{
	struct connection c = {.closed = true};
	struct inet_diag_sockid *id = &c.socket.message.id;
	bool ipv6 = strchr(remote, ':');

	c.socket.message.idiag_family = ipv6 ? AF_INET6 : AF_INET;
	assert_int_equal(inet_pton(ipv6 ? AF_INET6 : AF_INET, remote, id->idiag_dst), 1);
	c.socket.info.tcp.tcpi_min_rtt = 100000;
	c.socket.info.tcp.tcpi_bytes_received = 30000000;
	c.tuner.receive.rate_best = 10000000;
	return c;
}

static void save(const char *remote)
{
	struct connection c = receiver(remote);

	save_all(&c);
}

static unsigned int window_for(const char *remote)
{
	struct connection c = receiver(remote);

	return memory_window(&memory, &(struct connections){}, &c);
}

TEST(a_later_process_knows_the_prefix)
{
	struct stat status;

	save("192.0.2.1");
	save("::ffff:198.51.100.1");
	save("2001:db8:0:1::1");
	restart();
	assert_int_equal(window_for("192.0.2.99"), WINDOW);
	assert_int_equal(window_for("198.51.100.2"), WINDOW);
	assert_int_equal(window_for("2001:db8:0:2::"), WINDOW);
	assert_int_equal(window_for("192.0.3.1"), 0);
	assert_int_equal(window_for("2001:db8:1::1"), 0);
	assert_int_equal(stat(file, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	*strrchr(file, '/') = '\0';
	assert_int_equal(stat(file, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
}

TEST(a_handshake_of_another_length_has_another_path)
{
	struct connection c = receiver("192.0.2.1");

	save("192.0.2.1");
	c.socket.info.tcp.tcpi_min_rtt = 49999;
	assert_int_equal(memory_window(&memory, &(struct connections){}, &c), 0);
	c.socket.info.tcp.tcpi_min_rtt = ~0u; /* it was not measured */
	assert_int_equal(memory_window(&memory, &(struct connections){}, &c), 0);
}

TEST(connections_of_the_same_command_count_once)
{
	struct connection open = receiver("192.0.2.1"), closed = receiver("192.0.2.2");
	struct connections all = {.first = &closed};

	closed.next = &open;
	open.closed = false;
	open.tuner.receive.rate_best = 20000000;
	assert_int_equal(memory_window(&memory, &all, &open), WINDOW);
	save_all(all.first);
	assert_int_equal(memory.known.paths[0].connections, 2);
	save_all(all.first);
	restart();
	assert_int_equal(memory.known.paths[0].connections, 2);
	assert_int_equal(window_for("192.0.2.1"), 2 * WINDOW);
}

TEST(what_was_not_measured_leaves_no_file)
{
	struct connection sender = receiver("192.0.2.1"), local = sender, lost_syn = sender;

	sender.tuner.receive.rate_best = 0;
	memcpy(local.socket.message.id.idiag_src, local.socket.message.id.idiag_dst, 16);
	lost_syn.socket.info.tcp.tcpi_min_rtt = ~0u;
	sender.next = &local;
	local.next = &lost_syn;
	save_all(&sender);
	assert_int_equal(access(file, F_OK), -1);
}

TEST(a_path_is_forgotten_after_a_day)
{
	save("192.0.2.1");
	now_s += MEMORY_EXPIRE_S / 4; /* a half-life */
	restart();
	assert_int_equal(window_for("192.0.2.1"), WINDOW / 2);
	now_s += MEMORY_EXPIRE_S;
	restart();
	assert_int_equal(memory.known.len, 0);
}

TEST(the_oldest_of_too_many_paths_is_forgotten)
{
	struct connection connections[MEMORY_PATHS];
	char remote[32];

	for (int i = 0; i < MEMORY_PATHS; i++) {
		snprintf(remote, sizeof(remote), "10.%d.%d.1", i >> 8, i & 255);
		connections[i] = receiver(remote);
		connections[i].next = i ? &connections[i - 1] : NULL;
	}
	save_all(&connections[MEMORY_PATHS - 1]);
	now_s++;
	for (int i = 0; i < MEMORY_PATHS; i++)
		connections[i].saved = i == 5; /* which is the oldest then */
	save_all(&connections[MEMORY_PATHS - 1]);
	now_s++;
	save("192.0.2.1");
	restart();
	assert_int_equal(memory.known.len, MEMORY_PATHS);
	assert_int_equal(window_for("10.0.5.1"), 0);
	assert_true(window_for("10.0.4.1") > 0);
	assert_true(window_for("192.0.2.1") > 0);
}

TEST(a_damaged_file_is_set_aside)
{
	static const char no_database[104] =
		"longer than the header of a database, which has 100 bytes";
	char damaged[96];

	snprintf(damaged, sizeof(damaged), "%s/tcptuned", test_directory);
	assert_int_equal(mkdir(damaged, 0700), 0);
	snprintf(damaged, sizeof(damaged), "%s.damaged", file);
	write_file(file, no_database, sizeof(no_database));
	restart();
	assert_int_equal(access(damaged, F_OK), 0);
	save("192.0.2.1");
	restart();
	assert_int_equal(window_for("192.0.2.1"), WINDOW);
}

/* Of a child that is killed the file's first state remains, and it is not used again. */
TEST(a_file_that_takes_too_long_is_given_up)
{
	struct connection c = receiver("192.0.2.1");
	struct connections all = {.first = &c};
	int status;

	memset(&memory, 0, sizeof(memory));
	memory_open(&memory);
	assert_non_null(memory.read);
	kill(memory.child, SIGSTOP);
	waitpid(memory.child, &status, WUNTRACED);
	memory_stop_reading(&memory);
	while (waitpid(-1, &status, 0) > 0)
		assert_int_equal(status, SIGKILL);
	assert_null(memory.read);
	assert_string_equal(memory.file, file);
	assert_true(memory_save(&memory, &all));
	kill(memory.child, SIGKILL);
	waitpid(memory.child, &status, 0);
	memory_child_ended(&memory, SIGALRM);
	assert_string_equal(memory.file, "");
	assert_int_equal(window_for("192.0.2.2"), WINDOW); /* until the end */
}

TEST(writers_at_the_same_time_lose_nothing)
{
	enum { WRITERS = 4, SAVES = 5 };
	char remote[32];
	int status;

	for (int i = 0; i < WRITERS; i++) {
		if (fork())
			continue;
		restart();
		for (int j = 0; j < SAVES; j++) {
			snprintf(remote, sizeof(remote), "10.%d.%d.1", i, j);
			save(remote);
		}
		_exit(0);
	}
	while (wait(&status) > 0)
		assert_int_equal(status, 0);
	restart();
	assert_int_equal(memory.known.len, WRITERS * SAVES);
}

TEST(the_directory_is_that_of_xdg)
{
	setenv("HOME", "/home/nobody", 1);
	restart();
	assert_string_equal(memory.file, file);
	setenv("XDG_STATE_HOME", "relative", 1);
	restart();
	assert_string_equal(memory.file, "/home/nobody/.local/state/tcptuned/paths.db");
	unsetenv("HOME");
	restart();
	save("192.0.2.1");
	assert_string_equal(memory.file, "");
	assert_int_equal(window_for("192.0.2.1"), 2000000); /* until the end */
	restart();
	assert_int_equal(window_for("192.0.2.1"), 0);
}
