// SPDX-License-Identifier: GPL-2.0-only
#include "rpc/control.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/lookup.h"
#include "rpc/events.h"
#include "rpc/json.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"

#define CLIENTS_MAX	  16
#define ROOT_CLIENTS	  2 /* of these, only for root */
#define STRANGERS_MAX	  4 /* users that may only ask for advice */
#define REQUEST_TIMEOUT_S 5
#define PERIOD_US	  1000000 /* between two looks at deadlines, and renewals of events */

/* Bytes of events that a client may leave unread; further events are lost to it. */
#define LISTENER_BYTES (256u << 10)

/* A process that retires lets clients read events so long, so that they need not ask again. */
#define REST_MS 100

/* Bytes of all answers that are not sent yet; beyond, no further request is served. */
#define PENDING_BYTES (64ull << 20)

enum state {
	FREE = 0,
	REQUESTING, /* its request has not arrived completely */
	ANSWERED,   /* its answer is being sent, then it is closed */
	LISTENING,  /* it gets events */
	STOPPING,   /* it waits for the daemon to exit */
};

struct client {
	struct tcptuned_control *control;
	sd_event_source *source; /* of its input and output */
	enum state state;
	int fd;
	pid_t pid;
	uid_t uid;
	bool stranger;	   /* neither root nor in control.group */
	__u64 deadline_ms; /* 0: none */
	size_t len;	   /* bytes of the request so far */
	char request[TCPTUNED_REQUEST_MAX + 1];
	char *out; /* what is sent to it, of which the first @sent bytes have been */
	size_t out_len, sent;
	struct tcptuned_filter filter; /* selects its events */
	__u64 lost;		       /* events that it missed, not yet reported to it */
};

struct tcptuned_control {
	struct tcptuned_control_options options;
	sd_event_source *listen_source;
	sd_event_source *timer;		/* runs while there is a client */
	struct tcptuned_events *events; /* while a client listens */
	sd_event_source *events_source;
	__s64 realtime_ns;
	bool retires; /* the process that comes next reads what is decided meanwhile */
	struct client clients[CLIENTS_MAX];
};

/* ---- clients ------------------------------------------------------------------------------ */

#define for_each_client(control, client)                                  \
	for (struct client *client = (struct client *)(control)->clients; \
	     client < (control)->clients + CLIENTS_MAX; client++)

/* The first client in @state, or NULL. */
static struct client *find_client(const struct tcptuned_control *control, enum state state)
{
	for_each_client (control, client)
		if (client->state == state)
			return client;
	return NULL;
}

/*
 * A free place for a client of @uid, or NULL. Two are root's, and a user may have half of all, so
 * that no member of control.group keeps others out; all strangers together have a quarter.
 */
static struct client *find_place(const struct tcptuned_control *control, uid_t uid, bool stranger)
{
	unsigned int used = 0, own = 0, strangers = 0;

	for_each_client (control, client) {
		used += client->state != FREE;
		own += client->state != FREE && client->uid == uid;
		strangers += client->state != FREE && client->stranger;
	}
	if (uid && (own >= CLIENTS_MAX / 2 || used >= CLIENTS_MAX - ROOT_CLIENTS))
		return NULL;
	if (stranger && strangers >= STRANGERS_MAX)
		return NULL;
	return find_client(control, FREE);
}

static void close_events(struct tcptuned_control *control)
{
	control->events_source = sd_event_source_disable_unref(control->events_source);
	tcptuned_events_close(control->events, control->retires);
	control->events = NULL;
}

static void end_client(struct client *client)
{
	struct tcptuned_control *control = client->control;

	sd_event_source_disable_unref(client->source);
	close(client->fd);
	free(client->out);
	client->state = FREE;
	if (!find_client(control, LISTENING))
		close_events(control);
}

static void discard_sent(struct client *client)
{
	size_t left = client->out_len - client->sent;

	if (left && client->sent < LISTENER_BYTES / 2)
		return;
	memmove(client->out, client->out + client->sent, left);
	client->out_len = left;
	client->sent = 0;
}

/* Send as much as the socket takes; this may end the client. */
static void send_pending(struct client *client)
{
	ssize_t sent = 0;

	while (client->sent < client->out_len) {
		sent = send(client->fd, client->out + client->sent, client->out_len - client->sent,
			    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0)
			break;
		client->sent += (size_t)sent;
	}
	if ((sent < 0 && errno != EAGAIN && errno != EINTR) ||
	    (client->state == ANSWERED && client->sent == client->out_len)) {
		end_client(client);
		return;
	}
	if (client->state == LISTENING)
		discard_sent(client);
	/* After a complete request, the end of the input would wake the loop each time. */
	sd_event_source_set_io_events(client->source,
				      (client->state == ANSWERED ? 0 : EPOLLIN) |
					      (client->sent < client->out_len ? EPOLLOUT : 0));
}

/* ---- events ------------------------------------------------------------------------------- */

static bool has_room(const struct client *client, size_t len)
{
	return client->out_len - client->sent + len <= LISTENER_BYTES;
}

/* Append @line and a newline to what is sent to @client. False: there is no memory. */
static bool append_line(struct client *client, const char *line)
{
	size_t len = strlen(line) + 1;
	char *out = realloc(client->out, client->out_len + len);

	if (!out)
		return false;
	memcpy(out + client->out_len, line, len);
	out[client->out_len + len - 1] = '\n';
	client->out = out;
	client->out_len += len;
	return true;
}

/* Report to @client how many events it has missed, if there is room for that. */
static void report_lost(struct client *client)
{
	char line[64];

	if (!client->lost || !has_room(client, sizeof(line)))
		return;
	snprintf(line, sizeof(line), "{\"event\":\"lost\",\"events\":%llu}", client->lost);
	if (append_line(client, line))
		client->lost = 0;
}

/* Append an event (NULL: no memory), unless @client has left too many unread. */
static void queue_event(struct client *client, const char *line)
{
	if (line && has_room(client, strlen(line) + 128)) {
		report_lost(client);
		if (append_line(client, line))
			return;
	}
	client->lost++;
}

static void on_event(void *ctx, const struct tcptuned_event *event)
{
	struct tcptuned_control *control = ctx;
	char policy[TCPTUNED_POLICY_NAME_MAX];
	_cleanup_free_ char *line = NULL;
	json_auto_t *object = NULL;

	tcptuned_policy_name(control->options.source.kernel, event->policy, policy);
	object = tcptuned_event_json(event, policy, control->realtime_ns);
	line = json_dumps(object, JSON_COMPACT);
	for_each_client (control, client)
		if (client->state == LISTENING && tcptuned_event_matches(event, &client->filter))
			queue_event(client, line);
}

/* Send events to the clients that listen, and that they have missed @lost others. */
static void send_events(struct tcptuned_control *control, __u64 lost)
{
	control->realtime_ns = (__s64)(tcptuned_clock_ns(CLOCK_REALTIME) - tcptuned_monotonic_ns());
	tcptuned_events_read(control->events);
	for_each_client (control, client) {
		if (client->state != LISTENING)
			continue;
		client->lost += lost;
		report_lost(client);
		send_pending(client);
	}
}

static int on_ring(sd_event_source *source, int fd, uint32_t events, void *control)
{
	send_events(control, 0);
	return 0;
}

static int listen_to_events(struct client *client, const struct tcptuned_filter *filter,
			    struct tcptuned_error *err)
{
	struct tcptuned_control *control = client->control;
	int error = 0;

	if (!control->events)
		error = tcptuned_events_open(&control->events, control->options.source.kernel,
					     control->options.events_lost, on_event, control)
				?: sd_event_add_io(control->options.loop, &control->events_source,
						   tcptuned_events_fd(control->events), EPOLLIN,
						   on_ring, control);
	if (error < 0)
		return FAIL(err, -error, KERNEL, "there are no events: %s", strerror(-error));
	client->state = LISTENING;
	client->filter = *filter;
	client->deadline_ms = 0;
	return 0;
}

static int handle_events(struct client *client, const struct tcptuned_filter *filter, FILE *out,
			 struct tcptuned_error *err)
{
	int error;

	if (client->control->retires) /* the next process reads the ring */
		return FAIL(err, EBUSY, DAEMON, "the configuration has just changed; listen again");
	error = listen_to_events(client, filter, err);
	if (!error)
		tcptuned_json_print_line(out, json_pack("{s:s}", "event", "listening"));
	return error;
}

/* ---- requests ----------------------------------------------------------------------------- */

/* options.change executes the others. */
static tcptuned_handler *const handlers[TCPTUNED_CMD_STOP + 1] = {
	[TCPTUNED_CMD_STATUS] = tcptuned_status_handle,
	[TCPTUNED_CMD_FLOWS] = tcptuned_flows_handle,
	[TCPTUNED_CMD_POLICIES] = tcptuned_policies_handle,
	[TCPTUNED_CMD_POLICY_TEST] = tcptuned_policies_handle_test,
	[TCPTUNED_CMD_PATHS] = tcptuned_paths_handle,
	[TCPTUNED_CMD_ADVISE] = tcptuned_advise_handle,
	[TCPTUNED_CMD_TRIAL] = tcptuned_trial_handle,
};

static void print_error(FILE *out, const struct tcptuned_error *err)
{
	tcptuned_json_print_line(out, json_pack("{s:s,s:i}", "error", err->text, "status",
						(int)err->status));
}

static int check_pending(const struct tcptuned_control *control, struct tcptuned_error *err)
{
	__u64 pending = 0;

	for_each_client (control, client)
		pending += client->out_len;
	if (pending <= PENDING_BYTES)
		return 0;
	return FAIL(err, EBUSY, DAEMON, "other clients have not read their answers yet; try again");
}

/* Any user may know of the paths of its network namespace: the kernel's tcp_metrics shows them. */
static int check_client(const struct client *client, struct tcptuned_request *request,
			struct tcptuned_error *err)
{
	socklen_t len = sizeof(request->netns_cookie);

	if (request->command == TCPTUNED_CMD_ADVISE) {
		/*
		 * A socket that is accepted belongs to the namespace of its peer
		 * (unix_stream_connect()).
		 */
		if (!getsockopt(client->fd, SOL_SOCKET, SO_NETNS_COOKIE, &request->netns_cookie,
				&len))
			return 0;
		return FAIL(err, errno, KERNEL,
			    "this kernel does not say from which network namespace you ask: %s",
			    strerror(errno));
	}
	if (client->stranger)
		return FAIL(err, EPERM, NOT_PERMITTED,
			    "you are neither root nor in the group that control.group names; other "
			    "users may ask for advice: tcptunectl advise");
	if (request->command == TCPTUNED_CMD_PATHS_FORGET && client->uid)
		return FAIL(err, EPERM, NOT_PERMITTED,
			    "paths forget: only root may have paths forgotten; run it with sudo");
	return 0;
}

static int handle(struct client *client, const struct tcptuned_request *request, FILE *out,
		  struct tcptuned_error *err)
{
	const struct tcptuned_control_options *options = &client->control->options;
	tcptuned_handler *handler = handlers[request->command];
	int error;

	if (request->command == TCPTUNED_CMD_EVENTS)
		return handle_events(client, &request->filter, out, err);
	/* The answer to it has none of what is kept for a second. */
	if (request->command != TCPTUNED_CMD_ADVISE)
		options->answering();
	if (request->command != TCPTUNED_CMD_STOP && check_pending(client->control, err))
		return -EBUSY;
	if (handler)
		return handler(&options->source, request, out, err);
	error = options->change(request, out, err);
	if (!error && request->command == TCPTUNED_CMD_STOP) {
		client->state = STOPPING;
		client->deadline_ms = 0;
		log_info("stop requested through the control socket by process %d of user %u",
			 client->pid, client->uid);
	}
	return error;
}

static void handle_request(struct client *client, size_t len)
{
	struct tcptuned_error err = {.status = TCPTUNED_EXIT_INTERNAL};
	FILE *out = open_memstream(&client->out, &client->out_len);
	struct tcptuned_request request;

	if (!out) {
		end_client(client);
		return;
	}
	client->state = ANSWERED;
	client->deadline_ms = tcptuned_monotonic_ms() + TCPTUNED_ANSWER_TIMEOUT_S * 1000ull;
	if (tcptuned_request_parse(client->request, len, &request, &err) ||
	    check_client(client, &request, &err) || handle(client, &request, out, &err))
		print_error(out, &err);
	if (fclose(out)) /* no memory */
		end_client(client);
	else
		send_pending(client);
}

/*
 * Read from a client whose request is complete, and which has nothing more to say. The end of the
 * input shows that a client that listens has disconnected; while one is answered, send() does.
 */
static void discard_input(struct client *client)
{
	char discarded[256];
	ssize_t received = recv(client->fd, discarded, sizeof(discarded), MSG_DONTWAIT);

	if (client->state == ANSWERED)
		send_pending(client);
	else if (!received || (received < 0 && errno != EAGAIN && errno != EINTR))
		end_client(client);
}

static void handle_input(struct client *client)
{
	size_t room = sizeof(client->request) - client->len;
	ssize_t received;
	char *newline;

	if (client->state != REQUESTING) {
		discard_input(client);
		return;
	}
	received = recv(client->fd, client->request + client->len, room, MSG_DONTWAIT);
	if (received < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (received <= 0 && !client->len) {
		end_client(client);
		return;
	}
	if (received > 0)
		client->len += (size_t)received;
	newline = memchr(client->request, '\n', client->len);
	if (newline)
		handle_request(client, (size_t)(newline - client->request));
	else if (received <= 0 || client->len == sizeof(client->request))
		handle_request(client, client->len); /* all there is, or too long */
}

static int on_client(sd_event_source *source, int fd, uint32_t events, void *client)
{
	if (events & EPOLLOUT)
		send_pending(client);
	else
		handle_input(client);
	return 0;
}

/* ---- new clients -------------------------------------------------------------------------- */

static bool is_member(int fd, gid_t gid)
{
	_cleanup_free_ gid_t *groups = NULL;
	socklen_t len = 0;

	/* The kernel returns ERANGE, and the length. */
	getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len);
	groups = malloc(len);
	if (!groups || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len))
		return false;
	for (size_t i = 0; i < len / sizeof(groups[0]); i++)
		if (groups[i] == gid)
			return true;
	return false;
}

static int look_at_peer(const struct tcptuned_control *control, int fd, struct ucred *ret,
			bool *ret_stranger, struct tcptuned_error *err)
{
	gid_t gid = control->options.listener->gid; /* 0: root alone, whatever its group */
	socklen_t len = sizeof(*ret);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret, &len))
		return FAIL(err, errno, NOT_PERMITTED, "your credentials are not known");
	*ret_stranger = ret->uid && (!gid || (ret->gid != gid && !is_member(fd, gid)));
	return 0;
}

static void send_error(int fd, const struct tcptuned_error *err)
{
	char line[2 * TCPTUNED_ERROR_TEXT + 64];
	FILE *out = fmemopen(line, sizeof(line), "w");

	if (!out)
		return;
	print_error(out, err);
	fclose(out);
	send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void start_timer(struct tcptuned_control *control)
{
	sd_event_source_set_time_relative(control->timer, PERIOD_US);
	sd_event_source_set_enabled(control->timer, SD_EVENT_ONESHOT);
}

/* Disconnect clients that are too slow, and let the programs continue to emit events. */
static int on_timer(sd_event_source *source, uint64_t now_us, void *ctx)
{
	struct tcptuned_control *control = ctx;
	__u64 now_ms = tcptuned_monotonic_ms();

	for_each_client (control, client)
		if (client->state != FREE && client->deadline_ms && client->deadline_ms <= now_ms)
			end_client(client);
	if (control->events)
		send_events(control, tcptuned_events_renew(control->events));
	if (tcptuned_control_has_clients(control))
		start_timer(control);
	return 0;
}

/* Returns whether @client has the descriptor from now on. */
static bool add_client(struct tcptuned_control *control, struct client *client, int fd,
		       const struct ucred *peer, bool stranger)
{
	sd_event_source *source = NULL;

	if (sd_event_add_io(control->options.loop, &source, fd, EPOLLIN, on_client, client) < 0)
		return false;
	if (!sd_event_source_get_enabled(control->timer, NULL))
		start_timer(control);
	memset(client, 0, sizeof(*client));
	client->control = control;
	client->source = source;
	client->state = REQUESTING;
	client->pid = peer->pid;
	client->uid = peer->uid;
	client->stranger = stranger;
	client->deadline_ms = tcptuned_monotonic_ms() + REQUEST_TIMEOUT_S * 1000ull;
	client->fd = fd;
	return true;
}

static void accept_one(struct tcptuned_control *control, int accepted)
{
	_cleanup_close_ int fd = accepted;
	struct tcptuned_error err = {0};
	struct client *client = NULL;
	bool stranger = true;
	struct ucred peer;
	int error = look_at_peer(control, fd, &peer, &stranger, &err);

	if (!error)
		client = find_place(control, peer.uid, stranger);
	if (!error && !client)
		error = FAIL(&err, EBUSY, DAEMON,
			     "the control socket has as many clients as it may have, of %s (%u) "
			     "or in all (%u); end one, or try again",
			     stranger ? "users outside of control.group" : "you",
			     stranger ? STRANGERS_MAX : CLIENTS_MAX / (peer.uid ? 2 : 1),
			     CLIENTS_MAX - (peer.uid ? ROOT_CLIENTS : 0));
	if (error)
		send_error(fd, &err);
	else if (add_client(control, client, fd, &peer, stranger))
		fd = -1;
}

/* Accept a bounded number, so that clients do not starve the rest of the daemon. */
static int on_connect(sd_event_source *source, int listen_fd, uint32_t events, void *control)
{
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			break;
		accept_one(control, fd);
	}
	return 0;
}

/* ---- start, stop -------------------------------------------------------------------------- */

int tcptuned_control_group(const char *name, gid_t *ret_gid, struct tcptuned_error *err)
{
	struct group *group;

	*ret_gid = 0;
	if (!name[0])
		return 0;
	group = getgrnam(name);
	if (!group)
		return FAIL(err, ENOENT, CONFIG,
			    "control.group: there is no group %s; name one of this host", name);
	*ret_gid = group->gr_gid;
	return 0;
}

static int socket_failed(const struct tcptuned_control_listener *listener,
			 struct tcptuned_error *err)
{
	return tcptuned_error_to_write(err, TCPTUNED_EXIT_INTERNAL, "tcptuned.runtime_directory",
				       listener->address.sun_path, "made");
}

/* Only the owner can connect before mode and group are set. */
static int make_socket(struct tcptuned_control_listener *listener, const char *group,
		       struct tcptuned_error *err)
{
	const char *path = listener->address.sun_path;
	mode_t before;
	int error;

	listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->fd < 0)
		return socket_failed(listener, err);
	unlink(path); /* this process holds the directory's lock, so that no other one uses it */
	before = umask(0177);
	error = bind(listener->fd, (struct sockaddr *)&listener->address,
		     sizeof(listener->address));
	umask(before);
	if (error)
		return socket_failed(listener, err);
	if (listener->gid && chown(path, (uid_t)-1, listener->gid))
		return FAIL(err, errno, NOT_PERMITTED,
			    "control.group: %s cannot be given to the group %s: %s; "
			    "under systemd, add SupplementaryGroups=%s to the unit",
			    path, group, strerror(errno), group);
	if (chmod(path, 0666) || listen(listener->fd, CLIENTS_MAX))
		return socket_failed(listener, err);
	return 0;
}

int tcptuned_control_listen(struct tcptuned_control_listener *ret, const char *directory,
			    const char *group, struct tcptuned_error *err)
{
	struct sockaddr_un *address = &ret->address;
	int error;

	ret->fd = -1;
	address->sun_family = AF_UNIX;
	if (snprintf(address->sun_path, sizeof(address->sun_path), "%s/control", directory) >=
	    (int)sizeof(address->sun_path))
		return FAIL(err, ENAMETOOLONG, CONFIG,
			    "tcptuned.runtime_directory: %s is too long for the control socket in "
			    "it; name one of at most %zu characters",
			    directory, sizeof(address->sun_path) - sizeof("/control"));
	error = tcptuned_control_group(group, &ret->gid, err) ?: make_socket(ret, group, err);
	if (error)
		tcptuned_control_unlisten(ret);
	return error;
}

void tcptuned_control_unlisten(struct tcptuned_control_listener *listener)
{
	if (listener->fd < 0)
		return;
	unlink(listener->address.sun_path);
	close(listener->fd);
	listener->fd = -1;
}

int tcptuned_control_start(struct tcptuned_control **ret,
			   const struct tcptuned_control_options *options,
			   struct tcptuned_error *err)
{
	struct tcptuned_control *control = calloc(1, sizeof(*control));
	int error;

	if (!control)
		return FAIL(err, ENOMEM, INTERNAL, "control socket: out of memory");
	control->options = *options;
	error = sd_event_add_io(options->loop, &control->listen_source, options->listener->fd,
				EPOLLIN, on_connect, control);
	if (error >= 0)
		error = sd_event_add_time_relative(options->loop, &control->timer, CLOCK_MONOTONIC,
						   PERIOD_US, 0, on_timer, control);
	if (error < 0) {
		free(control);
		return FAIL(err, -error, INTERNAL, "control socket: %s", strerror(-error));
	}
	*ret = control;
	return 0;
}

void tcptuned_control_stop_failed(struct tcptuned_control *control,
				  const struct tcptuned_error *err)
{
	for_each_client (control, client)
		if (client->state == STOPPING)
			send_error(client->fd, err);
}

/* Send what has been read of the ring. The next process reads on. */
static void send_rest(struct client *client, __u64 end_ms)
{
	struct pollfd poll_fd = {.fd = client->fd, .events = POLLOUT};
	__u64 now_ms = tcptuned_monotonic_ms();

	report_lost(client);
	send_pending(client);
	while (client->state == LISTENING && client->sent < client->out_len && now_ms < end_ms &&
	       poll(&poll_fd, 1, (int)(end_ms - now_ms)) > 0) {
		send_pending(client);
		now_ms = tcptuned_monotonic_ms();
	}
}

/* One that does not read is sent the rest later, and has to ask again. */
void tcptuned_control_retire(struct tcptuned_control *control,
			     void (*pass)(int fd, const struct tcptuned_filter *filter))
{
	struct tcptuned_filter filters[CLIENTS_MAX];
	__u64 end_ms = tcptuned_monotonic_ms() + REST_MS;
	int fds[CLIENTS_MAX];
	size_t len = 0;

	control->listen_source = sd_event_source_disable_unref(control->listen_source);
	control->retires = true;
	for_each_client (control, client) {
		if (client->state == LISTENING)
			send_rest(client, end_ms);
		if (client->state != LISTENING)
			continue;
		if (client->sent < client->out_len) {
			append_line(client, "{\"error\":\"the configuration has changed while "
					    "events were unread; listen again\",\"status\":40}");
			client->state = ANSWERED;
			client->deadline_ms =
				tcptuned_monotonic_ms() + TCPTUNED_ANSWER_TIMEOUT_S * 1000ull;
			continue;
		}
		filters[len] = client->filter;
		fds[len++] = fcntl(client->fd, F_DUPFD_CLOEXEC, 0);
		end_client(client);
	}
	close_events(control);
	while (len--) {
		pass(fds[len], &filters[len]);
		tcptuned_closep(&fds[len]);
	}
}

void tcptuned_control_take_over(struct tcptuned_control *control, int passed,
				const struct tcptuned_filter *filter)
{
	struct client *client = find_client(control, FREE);
	_cleanup_close_ int fd = passed;
	bool stranger;
	struct ucred peer;

	if (!client || look_at_peer(control, fd, &peer, &stranger, NULL) ||
	    !add_client(control, client, fd, &peer, stranger))
		return;
	fd = -1;
	if (listen_to_events(client, filter, NULL))
		end_client(client);
}

bool tcptuned_control_has_clients(const struct tcptuned_control *control)
{
	for_each_client (control, client)
		if (client->state != FREE)
			return true;
	return false;
}
