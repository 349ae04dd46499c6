// SPDX-License-Identifier: Apache-2.0

/**
 * Lists of cards, from whatever sysfs says. The input is the tree, a file in each line:
 *
 *     PATH<tab>TEXT     a file; below /sys/class/infiniband, unless it begins with a slash
 *     PATH<tab>>TO      a link
 *     PATH              a file that cannot be read, as the attributes of an empty slot
 *     *N                from here on, a line with a '#' comes N times; each '#' is the number of the copy
 *
 * What is told is a part of the active ports that are this node's, or nothing; and the same if folders list their names
 * the other way round.
 *
 * The linker puts the functions at the end in the place of the ones that read files.
 */

#include "access/view.h"
#include "base/buf.h"
#include "node/rdma.h"

#include "fuzz.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define CARDS "/sys/class/infiniband/"

/** More copies, and more files, than a machine with 3,000 cards has. */
#define COPIES_MAX 3000
#define FILES_MAX  60000

enum kind { READABLE, LINK, UNREADABLE };

struct file {
	const char *path, *text;
	size_t len;
	enum kind kind;
};

static struct {
	/** Not the one of what is tested, which uses some of its memory again. */
	struct arena arena;
	struct file *files;
	uint32_t n, cap;
	/** The folder that is being read, and whether backwards. */
	const char **names;
	uint32_t n_names, at;
	bool backwards;
} tree;

// --- the tree -------------------------------------------------------------------------------------------

/** So that what is in a folder stands together. */
static int order(char c) {
	return c == '/' ? 1 : c ? (unsigned char)c + 1 : 0;
}

static int compare_paths(const char *a, const char *b) {
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return order(*a) - order(*b);
}

static int compare_files(const void *a, const void *b) {
	return compare_paths(((const struct file *)a)->path, ((const struct file *)b)->path);
}

/** The first file that is not before @path. */
static uint32_t find(const char *path) {
	uint32_t from = 0, to = tree.n;
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		bool before = compare_paths(tree.files[middle].path, path) < 0;
		from = before ? middle + 1 : from;
		to = before ? to : middle;
	}
	return from;
}

static const struct file *file_at(const char *path) {
	uint32_t i = find(path);
	return i < tree.n && strcmp(tree.files[i].path, path) == 0 ? &tree.files[i] : NULL;
}

static bool is_folder(const char *path) {
	const char *folder = arena_format(&tree.arena, "%s/", path);
	uint32_t i = find(folder);
	return i < tree.n && strncmp(tree.files[i].path, folder, strlen(folder)) == 0;
}

static void add_file(struct str line, uint32_t copy) {
	struct buf text = BUF(&tree.arena);
	if (line.len && line.p[0] != '/') {
		buf_puts(&text, CARDS);
	}
	for (size_t i = 0; i < line.len; i++) {
		if (line.p[i] == '#') {
			buf_putf(&text, "%u", copy);
		} else {
			buf_putc(&text, line.p[i]);
		}
	}
	size_t len = text.len;
	char *path = buf_text(&text), *tab = memchr(path, '\t', len);
	struct file file = {.path = path, .kind = UNREADABLE, .text = ""};
	if (tab) {
		*tab = '\0';
		file.kind = tab[1] == '>' ? LINK : READABLE;
		file.text = tab + 1 + (file.kind == LINK);
		file.len = (size_t)(path + len - file.text);
	}
	if (tree.n < FILES_MAX && len && strlen(path) == (tab ? (size_t)(tab - path) : len)) {
		tree.files = arena_more(&tree.arena, tree.files, tree.n, &tree.cap, sizeof(*tree.files));
		tree.files[tree.n++] = file;
	}
}

static void plant(struct str input) {
	struct str line;
	uint32_t copies = 1;
	while (str_cut(&input, '\n', &line)) {
		if (line.len && line.p[0] == '*') {
			unsigned long number =
				strtoul(arena_text(&tree.arena, line.p + 1, line.len - 1), NULL, 10);
			copies = number < COPIES_MAX ? (uint32_t)number : COPIES_MAX;
			continue;
		}
		bool several = str_find(line, '#') < line.len;
		for (uint32_t i = 0; i < (several ? copies : 1); i++) {
			add_file(line, i);
		}
	}
	if (tree.n) {
		qsort(tree.files, tree.n, sizeof(*tree.files), compare_files);
	}
}

// --- what holds -----------------------------------------------------------------------------------------

/** What a program reads in the file, as a line; NULL: nothing. */
static const char *line_of(const char *path) {
	const struct file *file = file_at(path);
	if (!file || file->kind == UNREADABLE) {
		return NULL;
	}
	size_t len = file->len;
	while (len && (unsigned char)file->text[len - 1] <= ' ') {
		len--;
	}
	return arena_text(&tree.arena, file->text, len);
}

static const char *line_in(const char *folder, const char *name, uint32_t index) {
	return line_of(arena_format(&tree.arena, "%s/%s/%u", folder, name, index));
}

struct port {
	const char *name, *folder;
	uint32_t number;
	bool ethernet;
};

static bool is_ours(const struct port *port, uint32_t index) {
	const char *gid = line_in(port->folder, "gids", index),
		   *type = line_in(port->folder, "gid_attrs/types", index);
	const char *net = line_in(port->folder, "gid_attrs/ndevs", index);
	const char *flags = net ? line_of(arena_format(&tree.arena, "/sys/class/net/%s/flags", net)) : NULL;
	return gid && gid[strspn(gid, "0:")] && strncmp(gid, "fe80:", 5) != 0 && type &&
	       strcmp(type, "RoCE v2") == 0 && flags && strtoul(flags, NULL, 16) & 1;
}

static bool has_index(const struct port *port, uint32_t index) {
	return file_at(arena_format(&tree.arena, "%s/gids/%u", port->folder, index));
}

static bool is_ipv4(const struct port *port, uint32_t index) {
	const char *gid = line_in(port->folder, "gids", index);
	return is_ours(port, index) && strncmp(gid, "0000:0000:0000:0000:0000:ffff:", 30) == 0;
}

static bool any(const struct port *port, bool (*holds)(const struct port *, uint32_t)) {
	for (uint32_t i = 0; has_index(port, i); i++) {
		if (holds(port, i)) {
			return true;
		}
	}
	return false;
}

static bool opens(const char *card) {
	const char *verbs = arena_format(&tree.arena, CARDS "%s/device/infiniband_verbs/", card);
	bool found = !is_folder("/dev/infiniband") && !file_at("/dev/infiniband");
	for (uint32_t i = find(verbs); i < tree.n && strncmp(tree.files[i].path, verbs, strlen(verbs)) == 0;
	     i++) {
		const char *name = tree.files[i].path + strlen(verbs);
		const char *device =
			arena_format(&tree.arena, "/dev/infiniband/%.*s", (int)strcspn(name, "/"), name);
		const struct file *file = file_at(device);
		// A star stands for any name there; no device is called so.
		found = found || strchr(name, '*') || is_folder(device) || (file && file->kind != UNREADABLE);
	}
	return found;
}

/** Read "NAME:P" of a list, which is an active port of this node. */
static struct port read_port(struct str item) {
	size_t colon = item.len;
	while (colon && item.p[colon - 1] != ':') {
		colon--;
	}
	HOLDS(colon > 1);
	const char *number = arena_text(&tree.arena, item.p + colon, item.len - colon);
	struct port port = {.name = arena_text(&tree.arena, item.p, colon - 1)};
	port.number = (uint32_t)strtoul(number, NULL, 10);
	// The number may stand there with zeros in front.
	const char *ports = arena_format(&tree.arena, CARDS "%s/ports/", port.name);
	for (uint32_t i = find(ports); i < tree.n && strncmp(tree.files[i].path, ports, strlen(ports)) == 0;
	     i++) {
		const char *name = tree.files[i].path + strlen(ports);
		size_t len = strcspn(name, "/");
		const char *folder = arena_format(&tree.arena, "%s%.*s", ports, (int)len, name);
		const char *state = line_of(arena_format(&tree.arena, "%s/state", folder));
		const char *layer = line_of(arena_format(&tree.arena, "%s/link_layer", folder));
		if (len && strspn(name, "0123456789") == len && strtoul(name, NULL, 10) == port.number &&
		    state && strncmp(state, "4:", 2) == 0 && layer) {
			port.ethernet = strcmp(layer, "Ethernet") == 0;
			port.folder =
				port.ethernet || strcmp(layer, "InfiniBand") == 0 ? folder : port.folder;
		}
		if (port.folder && (!port.ethernet || any(&port, is_ours))) {
			break;
		}
	}
	HOLDS(port.folder);
	HOLDS(opens(port.name));
	HOLDS(!port.ethernet || any(&port, is_ours));
	return port;
}

static bool is_plain(const char *text) {
	return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")] ==
	       '\0';
}

/** What is told of the ports in the list is true of each. */
static void check_list(const struct rdma *out) {
	struct str rest = str_of(out->choices[RDMA_LIST].value), item;
	const char *family = out->choices[RDMA_FAMILY].value, *index = out->choices[RDMA_INDEX].value;
	const char *prefix = out->choices[RDMA_PREFIX].value;
	uint32_t n = 0, n_ethernet = 0;
	while (str_cut(&rest, ',', &item)) {
		struct port port = read_port(item);
		HOLDS(is_plain(port.name));
		HOLDS(!family || !any(&port, is_ipv4));
		HOLDS(!index || !port.ethernet || is_ours(&port, (uint32_t)strtoul(index, NULL, 10)));
		HOLDS(!prefix ||
		      (strncmp(port.name, prefix, strlen(prefix)) == 0 && !strstr(port.name, "mlx5")));
		n_ethernet += port.ethernet;
		n++;
	}
	HOLDS(n == out->ports && n <= 32);
	HOLDS(n_ethernet == 0 || n_ethernet == n);
	HOLDS(n_ethernet || (!family && !index));
}

static bool same(const char *a, const char *b) {
	return a && b ? strcmp(a, b) == 0 : a == b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	memset(&tree, 0, sizeof(tree));
	tree.arena = fuzz_arena();
	// A block of its own: the sanitizer sees a byte too many.
	plant((struct str){(const char *)data, size});
	struct rdma found[2];
	struct arena arena = fuzz_arena();
	const struct machine m = {.arena = &arena};
	for (int i = 0; i < 2; i++) {
		tree.backwards = i;
		rdma_find(&m, &found[i]);
	}
	for (int i = 0; i < N_RDMA_MATTERS; i++) {
		const struct rdma_choice *told = &found[0].choices[i], *other = &found[1].choices[i];
		HOLDS(same(told->value, other->value) && same(told->why, other->why) &&
		      told->doubt == other->doubt);
		HOLDS(told->why || i > RDMA_PREFIX);
		HOLDS(!told->value || (*told->value && !told->doubt && i <= RDMA_PREFIX));
	}
	HOLDS(found[0].ports == found[1].ports && found[0].layer && found[0].family);
	HOLDS(found[0].ports || !found[0].choices[RDMA_LIST].value);
	if (found[0].choices[RDMA_LIST].value) {
		check_list(&found[0]);
	}
	HOLDS(!found[0].choices[RDMA_PREFIX].value || is_plain(found[0].choices[RDMA_PREFIX].value));
	arena_done(&arena);
	arena_done(&tree.arena);
	return 0;
}

// --- in the place of those that read files --------------------------------------------------------------

int __wrap_view_read(const struct view *view, struct arena *arena, const char *path, size_t max,
		     struct str *out);
int __wrap_view_read(const struct view *view, struct arena *arena, const char *path, size_t max,
		     struct str *out) {
	(void)view;
	const struct file *file = file_at(path);
	if (!file || file->kind == UNREADABLE || file->len > max) {
		return !file ? -ENOENT : file->kind == UNREADABLE ? -EINVAL : -EFBIG;
	}
	*out = (struct str){arena_text(arena, file->text, file->len), file->len};
	return 0;
}

const char *__wrap_view_link(const struct view *view, struct arena *arena, const char *path);
const char *__wrap_view_link(const struct view *view, struct arena *arena, const char *path) {
	(void)view;
	const struct file *file = file_at(path);
	return file && file->kind == LINK ? arena_text(arena, file->text, file->len) : NULL;
}

bool __wrap_view_exists(const struct view *view, const char *path);
bool __wrap_view_exists(const struct view *view, const char *path) {
	(void)view;
	return is_folder(path) || file_at(path);
}

bool __wrap_view_may_use(const struct view *view, const char *path);
bool __wrap_view_may_use(const struct view *view, const char *path) {
	(void)view;
	const struct file *file = file_at(path);
	return is_folder(path) || (file && file->kind != UNREADABLE);
}

void __wrap_view_entries(const struct view *view, const char *path, struct entries *entries);
void __wrap_view_entries(const struct view *view, const char *path, struct entries *entries) {
	(void)view;
	const char *folder = arena_format(&tree.arena, "%s/", path);
	size_t len = strlen(folder);
	uint32_t cap = 0, i = find(folder);
	(void)entries;
	tree.n_names = tree.at = 0;
	tree.names = NULL;
	for (; i < tree.n && strncmp(tree.files[i].path, folder, len) == 0; i++) {
		const char *name = tree.files[i].path + len;
		size_t n = strcspn(name, "/");
		const char *last = tree.n_names ? tree.names[tree.n_names - 1] : "";
		if (n && (strncmp(last, name, n) != 0 || last[n])) {
			tree.names =
				arena_more(&tree.arena, tree.names, tree.n_names, &cap, sizeof(*tree.names));
			tree.names[tree.n_names++] = arena_text(&tree.arena, name, n);
		}
	}
}

const char *__wrap_entries_next(struct entries *entries);
const char *__wrap_entries_next(struct entries *entries) {
	(void)entries;
	uint32_t at = tree.at++;
	return at >= tree.n_names ? NULL : tree.names[tree.backwards ? tree.n_names - 1 - at : at];
}
