// SPDX-License-Identifier: Apache-2.0

#include "world.h"

#include "access/place.h"
#include "base/num.h"
#include "flow/interface.h"
#include "net/lookup.h"
#include "net/wait.h"
#include "priv/credentials.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Nobody calls these functions by their names.
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/** Larger inputs, also by *N, only take time. */
#define INPUT_MAX (16U << 10)
/** More than is kept of what a tool prints. */
#define TOOL_MOST  (3U << 20)
#define PIECES_MAX 1024
/** More of all files, one that is named often counted as often, cannot be read: they hold up the fuzzer only. */
#define READ_MOST (8U << 20)

/**
 * What a run may ask for. The constant is what the program allows directives (EFFORT_MAX), times 5: under a sanitizer no
 * text grows in place. Host lists of a few bytes (HOSTS_MAX) take less.
 */
#define MEMORY_BASE ((size_t)640 << 20)
#define MEMORY_EACH 400
#define CPU_BASE_US 20000000
#define CPU_EACH_US 8

// --- reading the input

static void add_word(struct world *w, char ***list, unsigned *n, struct str text) {
	if ((*n & (*n - 1)) == 0) {
		char **more = arena_array(&w->arena, *n * 2 + 2, sizeof(*more));
		if (*n) {
			memcpy(more, *list, *n * sizeof(*more));
		}
		*list = more;
	}
	(*list)[(*n)++] = arena_text(&w->arena, text.p, text.len);
	(*list)[*n] = NULL;
}

static struct world_file *find_file(struct world_file *files, unsigned n, struct str path) {
	for (unsigned i = 0; i < n; i++) {
		if (str_eq(files[i].path, path)) {
			return &files[i];
		}
	}
	return NULL;
}

/** Append @text, in which '#' becomes @number if it comes several times. */
static void put_copy(struct buf *out, struct str text, uint64_t number, bool several) {
	struct str piece;
	while (several && str_find(text, '#') < text.len && str_cut(&text, '#', &piece)) {
		buf_put(out, piece);
		buf_putu(out, number);
	}
	buf_put(out, text);
}

static void add_file(struct world *w, struct world_file *files, unsigned *n, struct str piece,
		     uint64_t times) {
	struct str path;
	str_cut(&piece, '\n', &path);
	struct world_file *file = find_file(files, *n, path);
	if (!file) {
		file = &files[(*n)++];
		*file = (struct world_file){path, BUF(&w->arena)};
	}
	size_t most = files == w->tools ? TOOL_MOST : w->most;
	for (uint64_t i = 0; i < times && w->bytes + file->text.len < most; i++) {
		put_copy(&file->text, piece, i, times > 1);
	}
	buf_text(&file->text);
	w->bytes += file->text.len;
}

static void add_piece(struct world *w, struct str piece, uint64_t times) {
	char first = piece.len ? piece.p[0] : '\0';
	struct str rest = str_from(piece, first != '\0');
	if (first == '/') {
		add_file(w, w->files, &w->n_files, piece, times);
	} else if (first == '>' || first == '!') {
		add_file(w, w->tools, &w->n_tools, piece, times);
	} else if (first == '%') {
		w->called = arena_text(&w->arena, rest.p, rest.len);
	} else {
		for (uint64_t i = 0; i < times && w->bytes < w->most; i++) {
			struct buf copy = BUF(&w->arena);
			put_copy(&copy, first == '$' ? rest : piece, i, times > 1);
			buf_text(&copy);
			add_word(w, first == '$' ? &w->words : &w->env,
				 first == '$' ? &w->n_words : &w->n_env, buf_str(&copy));
			w->bytes += copy.len + 1;
		}
	}
}

bool world_begin(struct world *world, const uint8_t *data, size_t size, size_t most) {
	static char *none[] = {NULL};
	struct str rest = {(const char *)data, size}, piece;
	uint64_t times = 1;
	*world = (struct world){.arena = fuzz_arena(), .words = none, .env = none, .most = most};
	world->files = arena_array(&world->arena, PIECES_MAX, sizeof(*world->files));
	world->tools = arena_array(&world->arena, PIECES_MAX, sizeof(*world->tools));
	for (unsigned n = 0; size <= INPUT_MAX && n < PIECES_MAX && str_cut(&rest, '\0', &piece); n++) {
		if (piece.len && piece.p[0] == '*') {
			times = num_read(str_from(piece, 1), 1000000, &times) == 0 ? times : 1;
			continue;
		}
		add_piece(world, piece, times);
		times = 1;
	}
	world->memory_most = MEMORY_BASE + MEMORY_EACH * world->bytes;
	return size <= INPUT_MAX;
}

// --- changing the input

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/** Where the piece after the @n-th NUL, or the next one there is, begins and ends. */
static struct str nth_piece(const uint8_t *data, size_t size, unsigned n) {
	struct str rest = {(const char *)data, size}, piece = {(const char *)data, 0};
	for (unsigned i = 0; i <= n && str_cut(&rest, '\0', &piece); i++) {
	}
	return piece;
}

/** Put @text in the place of @old bytes at @at. Returns the new size. */
static size_t put_in(uint8_t *data, size_t size, size_t max, size_t at, size_t old, struct str text) {
	if (at + old > size || size - old + text.len > max) {
		return size;
	}
	memmove(data + at + text.len, data + at + old, size - at - old);
	memcpy(data + at, text.p, text.len);
	return size - old + text.len;
}

/**
 * Half of the changes are libFuzzer's. The others respect the pieces: one comes many times, comes again elsewhere, goes, or
 * changes alone.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
	static const char *const times[] = {"*2", "*9", "*300", "*3000", "*60000"};
	unsigned pieces = 1, how = seed % 8, which = seed / 8;
	for (size_t i = 0; i < size; i++) {
		pieces += data[i] == '\0';
	}
	struct str piece = nth_piece(data, size, which % pieces);
	size_t at = (size_t)(piece.p - (const char *)data);
	char copy[256] = "";
	size_t n = piece.len < sizeof(copy) - 1 ? piece.len : sizeof(copy) - 1;
	memcpy(copy, piece.p, n);
	which /= pieces;
	if (how == 0 && copy[0] == '*') {
		return put_in(data, size, max, at, piece.len, str_of(times[which % 5]));
	} else if (how == 0) {
		(void)snprintf(copy, sizeof(copy), "%s", times[which % 5]);
		return put_in(data, size, max, at, 0, (struct str){copy, strlen(copy) + 1});
	} else if (how == 1) {
		struct str other = nth_piece(data, size, which % pieces);
		return put_in(data, size, max, (size_t)(other.p - (const char *)data), 0,
			      (struct str){copy, n + 1});
	} else if (how == 2) {
		return put_in(data, size, max, at, piece.len + (at + piece.len < size), STR(""));
	} else if (how == 3) {
		n = LLVMFuzzerMutate((uint8_t *)copy, n, sizeof(copy));
		return put_in(data, size, max, at, piece.len < sizeof(copy) ? piece.len : sizeof(copy) - 1,
			      (struct str){copy, n});
	}
	return LLVMFuzzerMutate(data, size, max);
}

void world_end(struct world *world) {
	arena_done(&world->arena);
}

// --- secrets

static const char secret[] = "hunter2";

bool shows_secret(struct str text) {
	return text.len && memmem(text.p, text.len, secret, sizeof(secret) - 1);
}

static bool is_name_byte(char c) {
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/** Whether @name, in upper case, ends in one of the words that mean a secret. */
static bool is_secret_name(struct str name) {
	static const char *const ends[] = {"PASSWORD", "TOKEN",	 "SECRET", "_KEY",
					   "APIKEY",   "PASSWD", "_PASS"};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t len = strlen(ends[i]);
		if (name.len > len && memcmp(name.p + name.len - len, ends[i], len) == 0) {
			return true;
		}
	}
	return false;
}

/** Whether what is in @text at @at, to the end of its line, is the value of a secret name. */
static bool is_secret_value(struct str text, size_t at) {
	size_t end = at + sizeof(secret) - 1, from = at;
	if (at < 2 || text.p[at - 1] != '=' || (end < text.len && text.p[end] != '\n')) {
		return false;
	}
	for (from = at - 1; from > 0 && is_name_byte(text.p[from - 1]); from--) {
	}
	bool begins = from == 0 || strchr(" \n=", text.p[from - 1]);
	return begins && is_secret_name((struct str){text.p + from, at - 1 - from});
}

/** Whether it is PASSWORD in "://user:PASSWORD@host". */
static bool is_in_url(struct str text, size_t at) {
	static const char before[] = "://user:", after[] = "@host";
	size_t n = sizeof(before) - 1, m = sizeof(after) - 1, end = at + sizeof(secret) - 1;
	return at >= n && memcmp(text.p + at - n, before, n) == 0 && text.len - end >= m &&
	       memcmp(text.p + end, after, m) == 0;
}

/** Add how often the secret is in @text to @n. Returns false if it is there without being one. */
static bool count_secrets(struct str text, unsigned *n) {
	for (size_t at = 0; at + sizeof(secret) - 1 <= text.len; at++) {
		if (memcmp(text.p + at, secret, sizeof(secret) - 1) == 0) {
			++*n;
			if (!is_secret_value(text, at) && !is_in_url(text, at)) {
				return false;
			}
		}
	}
	return true;
}

/** Whether @text says that what it names holds something else than directives and variables. */
static bool is_other_use(const char *text) {
	return (strstr(text, "file") && !strstr(text, "env-file")) || strstr(text, "FILE=/") ||
	       strstr(text, "read=") || strstr(text, "_READ=") || strstr(text, "show");
}

/** Whether @word can have a variable: --set=NAME=VALUE, or NAME=VALUE behind --set or as a command. */
static bool sets_variable(char *const *words, unsigned at) {
	static const char *const heads[] = {
		"--set=", "--sett=", "--add=", "--append=", "--prepend=", "--first=", "--unset=", "-e"};
	const char *before = at ? words[at - 1] : "";
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		size_t len = strlen(heads[i]), bare = len - (heads[i][len - 1] == '=');
		if (strncmp(words[at], heads[i], len) == 0 ||
		    (strlen(before) == bare && strncmp(before, heads[i], bare) == 0)) {
			return true;
		}
	}
	return words[at][0] != '-' && (before[0] != '-' || strchr(before, '='));
}

bool world_has_secret(const struct world *world) {
	unsigned n = 0, before;
	bool only = true;
	for (unsigned i = 0; only && i < world->n_words; i++) {
		before = n;
		only = count_secrets(str_of(world->words[i]), &n) && !is_other_use(world->words[i]);
		only = only && (n == before || sets_variable(world->words, i));
	}
	for (char **entry = world->env; only && *entry; entry++) {
		only = count_secrets(str_of(*entry), &n) && !is_other_use(*entry);
	}
	for (unsigned i = 0; only && i < world->n_files; i++) {
		only = !shows_secret(world->files[i].path) &&
		       count_secrets(buf_str(&world->files[i].text), &n);
	}
	for (unsigned i = 0; only && i < world->n_tools; i++) {
		only = !shows_secret(buf_str(&world->tools[i].text));
	}
	return only && n && !(world->called && strstr(world->called, secret));
}

// --- a run

/** Memory of a run, which the program leaves to its end. */
struct block {
	struct block *before, *after;
	size_t size, unused;
};

/** The run that goes on; NULL: none, and all functions below are the real ones. */
static struct running {
	struct world *world;
	struct outcome *out;
	struct buf text[2];
	struct block blocks;
	/** The streams of the tool that is started. */
	int tool_fds[3];
	int tool_status;
	jmp_buf end;
} * run;

static _Noreturn void end_run(void) {
	longjmp(run->end, 1);
}

void *__real_malloc(size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);

static void *block_new(size_t size) {
	struct running *r = run;
	r->out->memory += size;
	if (r->out->memory > r->world->memory_most + MEMORY_EACH * r->out->read) {
		(void)fprintf(stderr, "asks for %zu bytes of memory for %zu of input\n", r->out->memory,
			      r->world->bytes);
		abort();
	}
	struct block *block = __real_malloc(sizeof(*block) + size);
	if (!block) {
		return NULL;
	}
	*block = (struct block){&r->blocks, r->blocks.after, size, 0};
	block->after->before = block;
	r->blocks.after = block;
	// Nobody may go by what was there before.
	memset(block + 1, 0xbe, size < 4096 ? size : 4096);
	return block + 1;
}

static void block_free(void *p) {
	struct block *block = (struct block *)p - 1;
	block->before->after = block->after;
	block->after->before = block->before;
	__real_free(block);
}

/** For whoever looks for the reason of a crash. */
static void show(char **argv, const struct outcome *out) {
	for (; *argv; argv++) {
		(void)fprintf(stderr, " %s", *argv);
	}
	(void)fprintf(stderr, "\n=> status %d%s, %zu bytes, %lu us\n%s%s", out->status,
		      out->started ? ", started" : "", out->memory, (unsigned long)out->cpu_us, out->err.p,
		      out->out.p);
	for (char **entry = out->env; entry && *entry; entry++) {
		(void)fprintf(stderr, "  %s\n", *entry);
	}
}

static size_t count(char *const *list) {
	size_t n = 0;
	while (list[n]) {
		n++;
	}
	return n;
}

void world_run(struct world *world, char *const *words, struct outcome *out) {
	static struct running running;
	char **before = environ, name[] = "distinit";
	const size_t n = count(words);
	char **argv = arena_array(&world->arena, n + 2, sizeof(*argv));
	argv[0] = world->called ? world->called : name;
	memcpy(argv + 1, words, (n + 1) * sizeof(*argv));
	// The program writes into its environment.
	char **env = arena_array(&world->arena, world->n_env + 1, sizeof(*env));
	for (unsigned i = 0; i < world->n_env; i++) {
		env[i] = arena_text(&world->arena, world->env[i], strlen(world->env[i]));
	}
	env[world->n_env] = NULL;
	*out = (struct outcome){.status = -1};
	running = (struct running){.world = world,
				   .out = out,
				   .text = {BUF(&world->arena), BUF(&world->arena)},
				   .tool_fds = {-1, -1, -1}};
	running.blocks.before = running.blocks.after = &running.blocks;
	int first_fd = dup(2);
	struct timespec from, to;
	close(first_fd);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	if (setjmp(running.end) == 0) {
		environ = env;
		run = &running;
		int status = program_main((int)count(argv), argv);
		run = NULL;
		out->status = status;
	}
	run = NULL;
	environ = before;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	out->cpu_us = (uint64_t)((to.tv_sec - from.tv_sec) * 1000000 + (to.tv_nsec - from.tv_nsec) / 1000);
	out->out = (struct str){buf_text(&running.text[0]), running.text[0].len};
	out->err = (struct str){buf_text(&running.text[1]), running.text[1].len};
	if (getenv("WORLD_SHOW")) {
		show(argv, out);
	}
	while (running.blocks.after != &running.blocks) {
		block_free(running.blocks.after + 1);
	}
	for (int fd = first_fd; fd < first_fd + 32; fd++) {
		close(fd);
	}
}

bool is_plain(struct str text) {
	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] != '\n' && (text.p[i] < ' ' || text.p[i] > '~')) {
			return false;
		}
	}
	return true;
}

void outcome_check(struct world *world, const struct outcome *out, const char *name) {
	struct str rest = out->err, line;
	struct str head = str_of(arena_format(&world->arena, "%s: ", name));
	struct str error = str_of(arena_format(&world->arena, "%s: error: ", name));
	unsigned errors = 0;
	HOLDS(is_plain(out->err));
	HOLDS(out->err.len == 0 || out->err.p[out->err.len - 1] == '\n');
	while (str_cut(&rest, '\n', &line) && (line.len || rest.p)) {
		HOLDS(str_starts(line, head));
		HOLDS(errors == 0 || !out->started);
		errors += str_starts(line, error);
	}
	HOLDS(errors <= 1);
	HOLDS(!errors || (!out->started && out->status > 0));
	HOLDS(out->started || out->status >= 0);
	if (out->cpu_us > CPU_BASE_US + CPU_EACH_US * (world->bytes + out->read)) {
		(void)fprintf(stderr, "takes %lu us for %zu bytes\n", (unsigned long)out->cpu_us,
			      world->bytes);
		abort();
	}
}

// --- what the C library would do

void *__wrap_malloc(size_t size) {
	return run ? block_new(size) : __real_malloc(size);
}

void __wrap_free(void *p) {
	if (run && p) {
		block_free(p);
	} else {
		__real_free(p);
	}
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t from) {
	return run ? block_new(size) : (void *)syscall(SYS_mmap, at, size, protection, flags, fd, from);
}

int __wrap_munmap(void *at, size_t size) {
	if (run) {
		block_free(at);
		return 0;
	}
	return (int)syscall(SYS_munmap, at, size);
}

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size) {
	struct running *r = run;
	if (!r || fd < 1 || fd > 2) {
		return __real_write(fd, data, size);
	}
	run = NULL;
	buf_put(&r->text[fd - 1], (struct str){data, size});
	run = r;
	return (ssize_t)size;
}

/** A file of the program's own, with @text. */
static int make_file(struct str text) {
	struct running *r = run;
	int fd = memfd_create("world", MFD_CLOEXEC);
	HOLDS(fd >= 0);
	HOLDS(text.len == 0 || pwrite(fd, text.p, text.len, 0) == (ssize_t)text.len);
	run = r;
	return fd;
}

static struct world_file *file_at(const char *path) {
	return find_file(run->world->files, run->world->n_files, str_of(path));
}

/** What the tool @name says on stdout ('>') or stderr ('!'), or NULL. */
static const struct world_file *tool_named(char stream, const char *name) {
	char whole[64] = {stream};
	(void)snprintf(whole + 1, sizeof(whole) - 1, "%s", name);
	return find_file(run->world->tools, run->world->n_tools, str_of(whole));
}

int __wrap_open(const char *path, int flags, ...) {
	if (!run) {
		va_list args;
		va_start(args, flags);
		int mode = va_arg(args, int);
		va_end(args);
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	}
	const struct world_file *file = file_at(path);
	if (file && run->out->read + file->text.len > READ_MOST) {
		errno = EIO;
		return -1;
	}
	if (file || (flags & O_CREAT)) {
		run->out->read += file ? file->text.len : 0;
		return make_file(file ? buf_str(&file->text) : STR(""));
	}
	errno = ENOENT;
	return -1;
}

int __wrap_access(const char *path, int how) {
	if (!run) {
		return (int)syscall(SYS_faccessat, AT_FDCWD, path, how);
	}
	const char *slash = strrchr(path, '/');
	errno = ENOENT;
	return file_at(path) || (slash && tool_named('>', slash + 1)) ? 0 : -1;
}

static int stat_file(const char *path, struct stat *out) {
	const struct world_file *file = file_at(path);
	errno = ENOENT;
	*out = (struct stat){.st_mode = S_IFREG | 0644, .st_size = file ? (off_t)file->text.len : 0};
	return file ? 0 : -1;
}

int __wrap_stat(const char *path, struct stat *out) {
	return run ? stat_file(path, out) : (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, 0);
}

int __wrap_lstat(const char *path, struct stat *out) {
	return run ? stat_file(path, out)
		   : (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

int __wrap_fstat(int fd, struct stat *out) {
	if (run) {
		// One number for all files, so that each is the one that has its path.
		*out = (struct stat){.st_mode = S_IFREG | 0644, .st_size = lseek(fd, 0, SEEK_END)};
		lseek(fd, 0, SEEK_SET);
		return 0;
	}
	return (int)syscall(SYS_fstat, fd, out);
}

int __wrap_mkostemp(char *path, int flags) {
	(void)path, (void)flags;
	return make_file(STR(""));
}

/** The path of the place that was found last. */
static char found_path[PATH_MAX];

int __real_place_find(const char *path, bool follow, struct place *out);
int __wrap_place_find(const char *path, bool follow, struct place *out) {
	if (!run) {
		return __real_place_find(path, follow, out);
	}
	*out = (struct place){.folder = -1, .name = "file"};
	(void)snprintf(found_path, sizeof(found_path), "%s", path);
	return 0;
}

int __real_place_look(const struct place *place, struct stat *out);
int __wrap_place_look(const struct place *place, struct stat *out) {
	return run ? (stat_file(found_path, out) < 0 ? -ENOENT : 0) : __real_place_look(place, out);
}

int __real_place_open(const struct place *place, int flags, mode_t mode);
int __wrap_place_open(const struct place *place, int flags, mode_t mode) {
	if (!run) {
		return __real_place_open(place, flags, mode);
	}
	int fd = __wrap_open(found_path, flags, mode);
	return fd < 0 ? -errno : fd;
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to) {
	return run ? 0 : __real_rename(from, to);
}

int __real_renameat(int from_at, const char *from, int to_at, const char *to);
int __wrap_renameat(int from_at, const char *from, int to_at, const char *to) {
	return run ? 0 : __real_renameat(from_at, from, to_at, to);
}

int __real_unlink(const char *path);
int __wrap_unlink(const char *path) {
	return run ? 0 : __real_unlink(path);
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path) {
	if (run) {
		errno = ENOENT;
	}
	return run ? NULL : __real_opendir(path);
}

ssize_t __real_readlink(const char *path, char *at, size_t size);
ssize_t __wrap_readlink(const char *path, char *at, size_t size) {
	if (!run) {
		return __real_readlink(path, at, size);
	}
	const struct world_file *file = file_at(path);
	size_t n = file ? file->text.len : 0;
	errno = ENOENT;
	n = n < size ? n : size;
	if (file) {
		memcpy(at, file->text.p, n);
	}
	return file ? (ssize_t)n : -1;
}

int __wrap_gethostname(char *at, size_t size) {
	(void)snprintf(at, size, "here");
	return 0;
}

int __wrap_execve(const char *program, char *const *argv, char *const *env) {
	struct running *r = run;
	(void)argv;
	errno = ENOENT;
	// A program that is not there has a name with an 'x', so that errors are seen, too.
	if (strchr(program, 'x')) {
		return -1;
	}
	run = NULL;
	const size_t n = count(env);
	char **copy = arena_array(&r->world->arena, n + 1, sizeof(*copy));
	for (size_t i = 0; i < n; i++) {
		copy[i] = arena_text(&r->world->arena, env[i], strlen(env[i]));
	}
	copy[n] = NULL;
	r->out->env = copy;
	r->out->program = arena_text(&r->world->arena, program, strlen(program));
	r->out->started = true;
	r->out->status = 0;
	run = r;
	end_run();
}

_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status) {
	if (!run) {
		__real__exit(status);
	}
	run->out->status = status;
	end_run();
}

/** The child goes on in this process, to its execve(). */
pid_t __wrap_vfork(void) {
	return 0;
}

pid_t __real_fork(void);
pid_t __wrap_fork(void) {
	errno = EAGAIN;
	return run ? -1 : __real_fork();
}

pid_t __wrap_getpid(void) {
	return run ? WORLD_PID : (pid_t)syscall(SYS_getpid);
}

pid_t __wrap_getppid(void) {
	return run ? WORLD_PID : (pid_t)syscall(SYS_getppid);
}

int __real_sigaction(int number, const struct sigaction *new, struct sigaction *old);
int __wrap_sigaction(int number, const struct sigaction *new, struct sigaction *old) {
	if (run && old) {
		*old = (struct sigaction){.sa_handler = SIG_DFL};
	}
	return run ? 0 : __real_sigaction(number, new, old);
}

int __real_sigprocmask(int how, const sigset_t *new, sigset_t *old);
int __wrap_sigprocmask(int how, const sigset_t *new, sigset_t *old) {
	if (run && old) {
		sigemptyset(old);
	}
	return run ? 0 : __real_sigprocmask(how, new, old);
}

void (*__real_signal(int number, void (*handler)(int)))(int);
void (*__wrap_signal(int number, void (*handler)(int)))(int) {
	return run ? SIG_DFL : __real_signal(number, handler);
}

int __wrap_prctl(int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
	bool asks = what == PR_GET_SECUREBITS || what == PR_GET_NO_NEW_PRIVS || what == PR_CAPBSET_READ ||
		    what == PR_CAP_AMBIENT;
	return run && !asks ? 0 : (int)syscall(SYS_prctl, what, a, b, c, d);
}

/** The time of the world: a millisecond for each look at the clock. */
static uint64_t ms = 1700000000000;

int __wrap_clock_gettime(clockid_t id, struct timespec *out) {
	if (!run) {
		return (int)syscall(SYS_clock_gettime, id, out);
	}
	ms++;
	*out = (struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * 1000000)};
	return 0;
}

int __real_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout) {
	int ready = __real_poll(fds, n, run ? 0 : timeout);
	ms += run && ready == 0 && timeout > 0 ? (uint64_t)timeout : 0;
	return ready;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left) {
	return run ? 0 : (int)syscall(SYS_nanosleep, time, left);
}

/** Functions that do nothing here, and succeed or fail. */
#define NOTHING(name, result) \
	__attribute__((weak)) long __real_##name(long a, long b, long c); \
	long __wrap_##name(long a, long b, long c) { \
		return run ? (result) : __real_##name(a, b, c); \
	}

NOTHING(chdir, 0)
NOTHING(fchdir, 0)
NOTHING(setpgid, 0)
NOTHING(tcsetpgrp, 0)
NOTHING(kill, 0)
NOTHING(socket, -1)
NOTHING(setgroups, -1)
NOTHING(setuid, -1)
NOTHING(setgid, -1)
NOTHING(cap_set_proc, -1)
NOTHING(cap_setuid, -1)
NOTHING(place_close, 0)
NOTHING(unlinkat, 0)
NOTHING(rights_lower, 0)
NOTHING(rights_restore, 0)
NOTHING(priv_apply, 0)
NOTHING(session_wait, 0)
NOTHING(own_addresses, 0)
NOTHING(hash_begin, 0)

/** The name resolves, and not to the loopback. */
int __wrap_wait_until_up(const struct wait_for *wait, struct wait_end *end) {
	*end = (struct wait_end){0};
	if (wait->found) {
		*wait->found = (struct addresses){
			.n = 1, .at[0] = {.v4.sin_family = AF_INET, .len = sizeof(struct sockaddr_in)}};
	}
	return 0;
}

/** The interface is called as this world's file says. */
int __wrap_interface_find(struct arena *arena, const void *cluster, struct interface *out, int *signal,
			  struct err *err) {
	const struct world_file *file = file_at("/interface");
	(void)arena, (void)cluster, (void)signal, (void)err;
	*out = (struct interface){
		.name = file && file->text.len ? file->text.p : NULL,
		.address = "192.0.2.1",
		.why = file ? "the world says so" : "there is none in this world",
	};
	return 0;
}

int __real_credentials_read(struct arena *arena, struct credentials *out, struct err *err);

/** The ids and capabilities are those of the file /ids, as far as it has numbers, in the order of the struct. */
int __wrap_credentials_read(struct arena *arena, struct credentials *out, struct err *err) {
	int r = __real_credentials_read(arena, out, err);
	const struct world_file *file = file_at("/ids");
	struct str rest = file ? buf_str(&file->text) : STR(""), word;
	uint64_t *caps[] = {&out->caps.effective, &out->caps.permitted, &out->caps.inheritable,
			    &out->caps.bounding, &out->caps.ambient};
	uint64_t number;
	for (unsigned i = 0; r == 0 && i < 13 && str_cut(&rest, ' ', &word); i++) {
		if (num_read(word, UINT64_MAX, &number) < 0) {
			continue;
		}
		if (i < 3) {
			out->uid[i] = (uint32_t)number;
		} else if (i < 6) {
			out->gid[i - 3] = (uint32_t)number;
		} else if (i < 11) {
			*caps[i - 6] = number & out->caps_known;
		} else if (i == 11) {
			out->securebits = (unsigned)number;
		} else {
			out->no_new_privs = number & 1;
		}
	}
	return r;
}

// --- tools, such as squeue

int __wrap_pipe2(int ends[2], int flags) {
	(void)flags;
	char path[40];
	ends[1] = make_file(STR(""));
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[1]);
	// A description of its own: what is written to one end is read from the other.
	ends[0] = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	HOLDS(ends[0] >= 0);
	return 0;
}

int __wrap_posix_spawn_file_actions_adddup2(void *actions, int from, int to) {
	(void)actions;
	run->tool_fds[to] = from;
	return 0;
}

int __wrap_posix_spawnp(pid_t *pid, const char *file, const void *actions, const void *attributes,
			char *const argv[], char *const envp[]) {
	(void)actions, (void)attributes, (void)argv, (void)envp;
	struct running *r = run;
	r->tool_status = 0;
	for (int i = 1; i <= 2; i++) {
		const struct world_file *said = tool_named(i == 1 ? '>' : '!', file);
		if (i == 1 && !said) {
			return ENOENT;
		}
		if (said) {
			HOLDS(pwrite(r->tool_fds[i], said->text.p, said->text.len, 0) ==
			      (ssize_t)said->text.len);
			r->tool_status = i == 2 && said->text.len ? 1 << 8 : 0;
		}
	}
	*pid = WORLD_PID + 1;
	return 0;
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options) {
	if (!run) {
		return (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
	}
	if (status) {
		*status = run->tool_status;
	}
	return pid;
}

#ifdef __GLIBC__
/** The same under the names of the C library for large files. */
#define ALIAS(name) __attribute__((alias(#name)))
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t from) ALIAS(__wrap_mmap);
int __wrap_open64(const char *path, int flags, ...) ALIAS(__wrap_open);
int __wrap_stat64(const char *path, struct stat *out) ALIAS(__wrap_stat);
int __wrap_lstat64(const char *path, struct stat *out) ALIAS(__wrap_lstat);
int __wrap_fstat64(int fd, struct stat *out) ALIAS(__wrap_fstat);
int __wrap_mkostemp64(char *path, int flags) ALIAS(__wrap_mkostemp);
#endif
