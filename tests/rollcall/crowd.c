// SPDX-License-Identifier: Apache-2.0

/**
 * Many members of a roll call in one process, and people who are none. For tests, and to measure.
 *
 *     crowd hear PORT              play the coordinator for one member, and print its digests
 *     crowd hear PORT --act=flood  the same; then tell it for --wait=MS, without a pause, who is absent
 *     crowd call N PORT OPTION...  N members call at PORT; prints how it ended
 *
 *     --size=S --first=R --job=JOB --secret=TEXT --digests=A,B,C,D,E   what their HELLOs say
 *     --host=NAME       their host, with %u for the rank; --node=NAME likewise
 *     --from=A.B.C      source addresses A.B.C.1 and so on: 8,000 members each; default 127.0.1
 *     --clock=MS        how much their clocks are ahead
 *     --wait=MS         how long they stay without a word from the coordinator (default: 20000)
 *     --hold            once all are greeted, say "here", and stay until stdin ends
 *     --act=WHAT        instead of a member's part:
 *         silent, half  they say nothing; half a MEET; --stay=MS and leave
 *         idle          they prove themselves, and do not say HELLO
 *         slow          a byte of it each 100 ms
 *         torch, http, tls, noise      they say something else
 *         replay        they send the MEET of the first one
 *         flip          they send a MEET and a HELLO with one bit wrong: member i in byte i
 *         deaf          they reset the connection when GO comes
 *         version       their HELLO is of version 1
 *         leave         they leave after HELLO
 *         mute          they do not answer what they are asked
 *         stay          they stay after GO (--together), until END; with --fail=MS the program of the
 *                       first fails that long after the last GO; prints how long until all knew;
 *                       with --again all call once more, as with --max-restarts, and the second GO is
 *                       the end: prints how long that was after the failure
 *         flood         they send BYE after BYE, as fast as the kernel takes them; closed, they come again
 *         stay-flood    they stay after GO, even after END, and tell of processes just as fast
 */

#include "base/clock.h"
#include "rollcall/rollcall.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PER_ADDRESS 8000

/** A flood. No segment ends within a frame (12 bytes of it are the time): who reads it finds no pause. */
#define FLOOD_FRAMES  ((size_t)1 << 18)
#define FLOOD_AGAIN   ((size_t)1 << 10)
#define FLOOD_SEGMENT (1024 + 12)

enum act {
	MEMBER,
	SILENT,
	HALF,
	SLOW,
	TORCH,
	HTTP,
	TLS,
	NOISE,
	REPLAY,
	FLIP,
	DEAF,
	VERSION,
	LEAVE,
	MUTE,
	STAY,
	IDLE,
	FLOOD,
	STAY_FLOOD
};

static const char *const acts[] = {"member", "silent", "half",	"slow",	      "torch",	 "http",  "tls",
				   "noise",  "replay", "flip",	"deaf",	      "version", "leave", "mute",
				   "stay",   "idle",   "flood", "stay-flood", NULL};

struct caller {
	struct line line;
	unsigned char bytes[HELLO_MAX];
	size_t n;
	bool greeted, proved;
	double since;
	/** For SLOW: how much was sent. */
	unsigned char meet[MEET_BYTES];
	size_t sent;
	/** For FLOOD: it has begun, with these frames; how many bytes of them were sent. */
	bool floods;
	unsigned char *frames;
	size_t n_frames, at_frames;
};

static struct options {
	uint32_t n, size, first;
	uint16_t port;
	const char *job, *secret, *host, *node, *from;
	uint64_t digests[N_FACT_GROUPS];
	int64_t clock;
	uint64_t wait, stay, fail;
	bool hold, again;
	enum act act;
} options = {
	.job = "manual:room", .secret = "", .host = "h%u", .from = "127.0.1", .wait = 20000, .stay = 200};

static struct key job_key;
static uint32_t n_go, n_no, n_gone, n_open, n_end, n_hello, n_flooded, go_port;
static double first_go, last_go, fell, first_end, last_end;
/** With --again: how many have called once more. */
static uint32_t n_again;
static unsigned char first_meet[MEET_BYTES];

static double now_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static _Noreturn void die(const char *what) {
	fprintf(stderr, "crowd: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void read_option(const char *word) {
	struct {
		const char *name;
		const char **text;
		uint32_t *number;
	} table[] = {{"--size=", NULL, &options.size}, {"--first=", NULL, &options.first},
		     {"--job=", &options.job, NULL},   {"--secret=", &options.secret, NULL},
		     {"--host=", &options.host, NULL}, {"--node=", &options.node, NULL},
		     {"--from=", &options.from, NULL}};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		size_t len = strlen(table[i].name);
		if (strncmp(word, table[i].name, len) == 0) {
			if (table[i].text) {
				*table[i].text = word + len;
			} else {
				*table[i].number = (uint32_t)strtoul(word + len, NULL, 10);
			}
			return;
		}
	}
	if (strncmp(word, "--digests=", 10) == 0) {
		char *at = strchr(word, '=');
		for (int i = 0; i < N_FACT_GROUPS && *at; i++) {
			options.digests[i] = strtoull(at + 1, &at, 16);
		}
	} else if (strncmp(word, "--clock=", 8) == 0) {
		options.clock = strtoll(word + 8, NULL, 10);
	} else if (strncmp(word, "--wait=", 7) == 0) {
		options.wait = strtoull(word + 7, NULL, 10);
	} else if (strncmp(word, "--stay=", 7) == 0) {
		options.stay = strtoull(word + 7, NULL, 10);
	} else if (strncmp(word, "--fail=", 7) == 0) {
		options.fail = strtoull(word + 7, NULL, 10);
	} else if (strcmp(word, "--hold") == 0) {
		options.hold = true;
	} else if (strcmp(word, "--again") == 0) {
		options.again = true;
	} else if (strncmp(word, "--act=", 6) == 0) {
		for (int i = 0; acts[i]; i++) {
			if (strcmp(acts[i], word + 6) == 0) {
				options.act = (enum act)i;
				return;
			}
		}
		die(word);
	} else {
		errno = EINVAL;
		die(word);
	}
}

/** @pattern with the rank in the place of %u. */
static struct str named(const char *pattern, uint32_t rank, char *out, size_t size) {
	const char *mark = strstr(pattern, "%u");
	if (mark) {
		snprintf(out, size, "%.*s%u%s", (int)(mark - pattern), pattern, rank, mark + 2);
	} else {
		snprintf(out, size, "%s", pattern);
	}
	return str_of(out);
}

static bool stays(void) {
	return options.act == STAY || options.act == STAY_FLOOD;
}

/** The whole HELLO of member @i, sealed. Returns its length. */
static size_t make_hello(struct caller *c, uint32_t i, unsigned char *out) {
	char host[300], node[300];
	uint32_t rank = options.first + i;
	struct hello hello = {
		.rank = rank,
		.size = options.size,
		.clock_ms = (uint64_t)((int64_t)clock_wall_ms() + options.clock),
		.left_ms = UINT32_MAX,
		.host = named(options.host, rank, host, sizeof(host)),
		.node = named(options.node ? options.node : options.host, rank, node, sizeof(node)),
	};
	memcpy(hello.digest, options.digests, sizeof(hello.digest));
	if (getrandom(&hello.incarnation, sizeof(hello.incarnation), 0) < 0) {
		die("getrandom");
	}
	unsigned char payload[HELLO_MAX];
	size_t n = hello_encode(&hello, payload), length = n + FRAME_MIN;
	const unsigned char head[] = {(unsigned char)length, (unsigned char)(length >> 8), FRAME_HELLO,
				      options.act == VERSION ? 1 : ROLL_VERSION};
	memcpy(out, head, FRAME_HEAD);
	memcpy(out + FRAME_HEAD, payload, n);
	const struct sealed what = {out, FRAME_HEAD, out + FRAME_HEAD, n};
	key_seal(c->line.send_key, c->line.sent++, &what, out + FRAME_HEAD + n);
	return length;
}

static void hang_up(struct caller *c, bool reset) {
	struct linger linger = {.l_onoff = 1};
	if (reset) {
		setsockopt(c->line.fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	}
	close(c->line.fd);
	c->line.fd = -1;
	n_open--;
}

static void send_all(struct caller *c, const void *bytes, size_t n) {
	if (send(c->line.fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n) {
		n_gone++;
		hang_up(c, false);
	}
}

/** What is said after the greeting. */
static void speak(struct caller *c, uint32_t i, const unsigned char *greeting) {
	static const char torch[] = "\3\5\0\0\0\0\0\0\0init/", http[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	static const unsigned char tls[] = {0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3};
	unsigned char noise[300];
	if (getrandom(noise, sizeof(noise), 0) < 0) {
		die("getrandom");
	}
	memcpy(c->meet, noise, NONCE_BYTES);
	key_proof(&job_key, greeting, c->meet, c->meet + NONCE_BYTES);
	line_begin(&c->line, c->line.fd, 'm', &job_key, greeting, c->meet);
	switch (options.act) {
	case SILENT:
	case SLOW:
		return;
	case HALF:
		send_all(c, c->meet, MEET_BYTES / 2);
		return;
	case TORCH:
		send_all(c, torch, sizeof(torch) - 1);
		return;
	case HTTP:
		send_all(c, http, sizeof(http) - 1);
		return;
	case TLS:
		send_all(c, tls, sizeof(tls));
		return;
	case NOISE:
		send_all(c, noise, sizeof(noise));
		return;
	case FLIP:
		if (i < MEET_BYTES) {
			c->meet[i] ^= (unsigned char)(1 << i % 8);
		}
		break;
	case REPLAY:
		if (i == 0) {
			memcpy(first_meet, c->meet, sizeof(first_meet));
		}
		send_all(c, first_meet, sizeof(first_meet));
		return;
	default:
		break;
	}
	send_all(c, c->meet, sizeof(c->meet));
}

/** The coordinator has proved itself. */
static void say_hello(struct caller *c, uint32_t i) {
	unsigned char hello[HELLO_MAX];
	size_t n = make_hello(c, i, hello);
	c->proved = true;
	if (options.act == IDLE) {
		return;
	}
	if (options.act == FLIP) {
		hello[i % n] ^= (unsigned char)(1 << i % 8);
	}
	n_hello++;
	send_all(c, hello, n);
	c->floods = options.act == FLOOD;
	if (options.act == LEAVE && c->line.fd >= 0) {
		hang_up(c, false);
	}
}

static void take_frame(struct caller *c, uint32_t i, unsigned char *bytes, size_t n) {
	struct frame frame;
	struct go go;
	struct no no;
	struct ended end;
	if (line_receive(&c->line, bytes, n, &frame) < 0) {
		fprintf(stderr, "crowd: a frame with a wrong tag\n");
		exit(1);
	}
	if (frame.type == FRAME_PROOF && !c->proved) {
		say_hello(c, i);
	} else if (frame.type == FRAME_GO && go_decode(frame.payload, &go) == 0) {
		first_go = n_go++ == 0 ? now_ms() : first_go;
		last_go = now_ms();
		go_port = go.port;
		c->floods = options.act == STAY_FLOOD;
		if (!stays() || n_go > options.n) {
			line_send(&c->line, FRAME_HEARD, "", 0);
			hang_up(c, false);
		}
	} else if (frame.type == FRAME_END && ended_decode(frame.payload, &end) == 0) {
		if (n_end++ == 0) {
			first_end = now_ms();
			printf("end: %.*s (rank %u): %.*s\n", (int)end.host.len, end.host.p, end.rank,
			       (int)end.text.len, end.text.p);
		}
		last_end = now_ms();
		if (!c->floods) {
			hang_up(c, false);
		}
	} else if (frame.type == FRAME_NO && no_decode(frame.payload, &no) == 0) {
		if (n_no++ == 0) {
			printf("no: %.*s\n", (int)no.text.len, no.text.p);
		}
		hang_up(c, false);
	} else if (frame.type == FRAME_ASK && options.act != MUTE && !c->floods) {
		const unsigned char facts[] = {(unsigned char)frame.payload.p[0], 0, 0};
		line_send(&c->line, FRAME_FACTS, facts, sizeof(facts));
	}
}

static void take_bytes(struct caller *c, uint32_t i) {
	if (options.act == DEAF && c->proved) {
		hang_up(c, true);
		return;
	}
	ssize_t n = recv(c->line.fd, c->bytes + c->n, sizeof(c->bytes) - c->n, 0);
	if (n <= 0) {
		n_gone++;
		hang_up(c, false);
		return;
	}
	c->n += (size_t)n;
	if (!c->greeted && c->n >= GREETING_BYTES) {
		c->greeted = true;
		c->n -= GREETING_BYTES;
		unsigned char greeting[GREETING_BYTES];
		memcpy(greeting, c->bytes, sizeof(greeting));
		memmove(c->bytes, c->bytes + GREETING_BYTES, c->n);
		speak(c, i, greeting);
	}
	while (c->greeted && c->line.fd >= 0) {
		int length = frame_length(c->bytes, c->n, sizeof(c->bytes));
		if (length <= 0 || (size_t)length > c->n) {
			break;
		}
		take_frame(c, i, c->bytes, (size_t)length);
		c->n -= (size_t)length;
		memmove(c->bytes, c->bytes + length, c->n);
	}
}

static void call(struct caller *c, uint32_t i, int epoll, bool again) {
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(options.port)}, from = to;
	char address[40];
	snprintf(address, sizeof(address), "%s.%u", options.from, i / PER_ADDRESS + 1);
	int one = 1;
	inet_pton(AF_INET, address, &from.sin_addr);
	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	from.sin_port = 0;
	const double until = now_ms() + 60000;
	for (;;) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0) {
			die("socket");
		}
		if (options.act == FLOOD || options.act == STAY_FLOOD) {
			setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &(int){FLOOD_SEGMENT}, sizeof(int));
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		}
		setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
		if (bind(fd, (struct sockaddr *)&from, sizeof(from)) < 0) {
			die(address);
		}
		if (!again) {
			fcntl(fd, F_SETFL, O_NONBLOCK);
		}
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS) {
			fcntl(fd, F_SETFL, O_NONBLOCK);
			c->line.fd = fd;
			c->since = now_ms();
			break;
		}
		close(fd);
		if (errno != ECONNREFUSED || !again || now_ms() > until) {
			die("connect");
		}
		usleep(200);
	}
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
	epoll_ctl(epoll, EPOLL_CTL_ADD, c->line.fd, &event);
	n_open++;
}

/** Seal all frames before: to send them takes less time then than to read them. */
static void make_frames(struct caller *c) {
	const struct died died = {.text = STR("12345")};
	unsigned char payload[HELLO_MAX];
	const size_t n = options.act == FLOOD ? bye_encode(BYE_SIGNAL, payload) : died_encode(&died, payload);
	const size_t length = FRAME_MIN + n;
	// After BYE no more is read of a connection.
	c->n_frames = length * (n_flooded++ < options.n && options.act != FLOOD ? FLOOD_FRAMES : FLOOD_AGAIN);
	unsigned char *at = malloc(c->n_frames);
	const unsigned char head[] = {(unsigned char)length, 0, options.act == FLOOD ? FRAME_BYE : FRAME_DIED,
				      ROLL_VERSION};
	if (!at) {
		die("a flood");
	}
	c->frames = at;
	for (; at < c->frames + c->n_frames; at += length) {
		memcpy(at, head, FRAME_HEAD);
		memcpy(at + FRAME_HEAD, payload, n);
		const struct sealed what = {at, FRAME_HEAD, at + FRAME_HEAD, n};
		key_seal(c->line.send_key, c->line.sent++, &what, at + FRAME_HEAD + n);
	}
	if (n_flooded == options.n) {
		printf("floods\n");
		fflush(stdout);
	}
}

/** Send what the kernel takes. If the connection is over, that is seen where it is read. */
static void flood(struct caller *c) {
	ssize_t n = 1;
	if (!c->frames) {
		make_frames(c);
	}
	while (n > 0 && c->at_frames < c->n_frames) {
		n = send(c->line.fd, c->frames + c->at_frames, c->n_frames - c->at_frames, MSG_NOSIGNAL);
		c->at_frames += n > 0 ? (size_t)n : 0;
	}
}

/** All that flood do it a little. Those that were closed come again, while somebody is there. */
static void step_flood(struct caller *callers, int epoll) {
	for (uint32_t i = 0; i < options.n; i++) {
		if (callers[i].line.fd < 0 && callers[i].greeted && options.act == FLOOD) {
			free(callers[i].frames);
			memset(&callers[i], 0, sizeof(callers[i]));
			call(&callers[i], i, epoll, false);
		} else if (callers[i].line.fd >= 0 && callers[i].floods) {
			flood(&callers[i]);
		}
	}
}

static void step_slow(struct caller *callers) {
	for (uint32_t i = 0; i < options.n; i++) {
		struct caller *c = &callers[i];
		if (c->line.fd >= 0 && c->greeted && c->sent < MEET_BYTES) {
			send_all(c, c->meet + c->sent++, 1);
		}
	}
}

/** As members do: who is not greeted calls again. The kernel drops what its queue has no room for. */
static void call_again(struct caller *callers, uint32_t called, int epoll) {
	for (uint32_t i = 0; i < called; i++) {
		struct caller *c = &callers[i];
		if (c->line.fd >= 0 && !c->greeted && now_ms() > c->since + 2000) {
			hang_up(c, true);
			call(c, i, epoll, false);
		}
	}
}

/** All know of the failure: they call once more. The first one waits for the coordinator to listen. */
static void restart(struct caller *callers, int epoll) {
	for (uint32_t i = 0; i < options.n && n_end == options.n; i++, n_again++) {
		memset(&callers[i], 0, sizeof(callers[i]));
		call(&callers[i], i, epoll, i == 0);
	}
}

/** The program of the first one fails. */
static void fail(struct caller *c) {
	const struct ended own = {.status = 1,
				  .rank = options.first,
				  .host = STR(""),
				  .text = STR("exit status 1"),
				  .then = STR("")};
	unsigned char payload[HELLO_MAX];
	fell = now_ms();
	line_send(&c->line, FRAME_ENDED, payload, ended_encode(&own, payload));
}

/** Whether all are greeted, and whoever started us wants them to go. */
static bool may_go(void) {
	static bool said;
	char byte;
	if (!options.hold || n_hello < options.n) {
		return false;
	}
	if (!said) {
		said = true;
		printf("here\n");
		fflush(stdout);
	}
	return poll(&(struct pollfd){.events = POLLIN}, 1, 0) > 0 && read(0, &byte, 1) <= 0;
}

static double cpu_ms(void) {
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

static int run_call(void) {
	struct rlimit files;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	struct caller *callers = calloc(options.n, sizeof(*callers));
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event events[256];
	key_of_job(str_of(options.secret), options.job, &job_key);
	// The first one waits for the coordinator to listen.
	call(&callers[0], 0, epoll, true);
	double began = now_ms(), begun_cpu = cpu_ms();
	uint32_t called = 1;
	bool leaves = options.act == SILENT || options.act == HALF;
	double end = began + (double)(leaves ? options.stay : options.wait);
	bool floods = options.act == FLOOD || options.act == STAY_FLOOD;
	while ((n_open || called < options.n || n_again < options.n * options.again) && now_ms() < end &&
	       !may_go()) {
		// Some connect, some are served: as on many machines.
		for (int i = 0; i < 64 && called < options.n; i++, called++) {
			call(&callers[called], called, epoll, false);
		}
		int n = epoll_wait(epoll, events, 256, called < options.n || floods ? 0 : 100);
		for (int i = 0; i < n; i++) {
			if (callers[events[i].data.u32].line.fd >= 0) {
				take_bytes(&callers[events[i].data.u32], events[i].data.u32);
			}
		}
		if (options.fail > 0 && fell <= 0 && n_go == options.n &&
		    now_ms() > last_go + (double)options.fail) {
			fail(&callers[0]);
		}
		if (options.again && !n_again) {
			restart(callers, epoll);
		}
		if (n == 0 && called == options.n) {
			call_again(callers, called, epoll);
		}
		if (floods && called == options.n) {
			step_flood(callers, epoll);
		}
		if (options.act == SLOW && called == options.n) {
			usleep(n ? 0 : 1);
			step_slow(callers);
		}
	}
	for (uint32_t i = 0; i < called; i++) {
		if (callers[i].line.fd >= 0) {
			hang_up(&callers[i], false);
		}
	}
	printf("go=%u no=%u gone=%u hellos=%u port=%u wall_ms=%.1f skew_ms=%.1f cpu_ms=%.1f\n", n_go, n_no,
	       n_gone, n_hello, go_port, n_go ? last_go - began : 0, n_go ? last_go - first_go : 0,
	       cpu_ms() - begun_cpu);
	if (stays()) {
		printf("end=%u told_ms=%.1f end_skew_ms=%.1f\n", n_end, fell > 0 ? last_end - fell : 0,
		       last_end - first_end);
	}
	if (options.again) {
		printf("again_ms=%.1f\n", last_go - fell);
	}
	free(callers);
	return n_go == options.n * (1 + options.again) ? 0 : 1;
}

static int run_hear(void) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(options.port)};
	int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(listener, 8) < 0) {
		die("listen");
	}
	struct line line;
	struct frame frame;
	struct greeting greeting = {.lowest = ROLL_VERSION, .highest = ROLL_VERSION, .seconds = 10};
	unsigned char bytes[GREETING_BYTES], meet[MEET_BYTES], buffer[HELLO_MAX];
	struct hello hello;
	int fd = accept(listener, NULL, NULL);
	key_of_job(str_of(options.secret), options.job, &job_key);
	greeting_encode(&greeting, bytes);
	if (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) < 0 ||
	    recv(fd, meet, sizeof(meet), MSG_WAITALL) != sizeof(meet)) {
		die("meet");
	}
	line_begin(&line, fd, 'd', &job_key, bytes, meet);
	line_send(&line, FRAME_PROOF, buffer, proof_encode(options.port, buffer));
	ssize_t n = recv(fd, buffer, sizeof(buffer), 0);
	if (n < FRAME_MIN || line_receive(&line, buffer, (size_t)n, &frame) < 0 ||
	    hello_decode(frame.payload, &hello) < 0) {
		die("hello");
	}
	for (int i = 0; i < N_FACT_GROUPS; i++) {
		printf("%s%llx", i ? "," : "", (unsigned long long)hello.digest[i]);
	}
	printf("\n");
	fflush(stdout);
	const double until = now_ms() + (double)options.wait;
	const struct wait_news news = {.present = 1, .size = hello.size, .absent = hello.size - 1};
	size_t length = wait_encode(&news, buffer);
	while (options.act == FLOOD && now_ms() < until &&
	       line_send(&line, FRAME_WAIT, buffer, length) == 0) {
	}
	return 0;
}

int main(int argc, char **argv) {
	bool hear = argc >= 3 && strcmp(argv[1], "hear") == 0;
	if (!hear && (argc < 4 || strcmp(argv[1], "call") != 0)) {
		fprintf(stderr, "usage: crowd hear PORT | crowd call N PORT [OPTION]...\n");
		return 2;
	}
	options.first = 1;
	options.n = (uint32_t)strtoul(argv[2], NULL, 10);
	options.port = (uint16_t)strtoul(argv[hear ? 2 : 3], NULL, 10);
	options.size = options.n + 1;
	for (int i = hear ? 3 : 4; i < argc; i++) {
		read_option(argv[i]);
	}
	return hear ? run_hear() : run_call();
}
