// SPDX-License-Identifier: Apache-2.0

#include "distinit/subcommands.h"

#include "base/num.h"
#include "base/secret.h"
#include "cluster/hostlist.h"

#include <errno.h>

static int read_hosts(struct session *s, struct hosts *out, struct err *err) {
	const char *list = s->settings.arguments[0];
	if (list) {
		return hostlist_expand(&s->arena, "HOSTLIST", str_of(list), out, err);
	}
	int r = session_cluster(s, err);
	if (r < 0) {
		return r;
	}
	say_notes(&s->speaker, &s->notes);
	if (!s->flow.has_cluster || s->flow.cluster.place.hosts.n == 0) {
		return err_set(err, ENOENT,
			       "no hosts of a cluster are known here; give a HOSTLIST, such as n[1-4]");
	}
	*out = s->flow.cluster.place.hosts;
	return 0;
}

static void put_line(struct buf *out, struct str host) {
	buf_put(out, host);
	buf_putc(out, '\n');
}

/** Print the host that --first or --nth selects. */
static int put_one(struct session *s, const struct hosts *hosts, struct buf *out, struct err *err) {
	const char *nth = s->settings.value[OPT_NTH];
	uint32_t n = 0;
	if (nth && num_read_u32(str_of(nth), &n) < 0) {
		return err_set(err, EINVAL, "--nth=%s is not a whole number", quote_text(nth).s);
	}
	if (n >= hosts->n) {
		return err_set(err, EINVAL, "%s%s%s: the list has %u hosts, counted from 0",
			       nth ? "--nth" : "--first", nth ? "=" : "", nth ? nth : "", hosts->n);
	}
	put_line(out, hosts_at(hosts, n));
	return 0;
}

static int check_usage(struct session *s, struct err *err) {
	const char *const *value = s->settings.value;
	char **arguments = s->settings.arguments;
	if (arguments[0] && arguments[1]) {
		return err_set(err, EINVAL,
			       "hosts takes one host list, not also %s; put options first, and join lists by "
			       "commas",
			       quote_text(secret_word(&s->arena, arguments, 1)).s);
	}
	if (!!value[OPT_COUNT] + !!value[OPT_FIRST] + !!value[OPT_NTH] + !!value[OPT_COMPRESS] > 1) {
		return err_set(err, EINVAL, "--count, --first, --nth and --compress exclude each other");
	}
	return 0;
}

/** Append the part of @hosts that the options select. */
static int put_hosts(struct session *s, const struct hosts *hosts, struct buf *out, struct err *err) {
	const char *const *value = s->settings.value;
	if (value[OPT_FIRST] || value[OPT_NTH]) {
		return put_one(s, hosts, out, err);
	}
	if (value[OPT_COMPRESS]) {
		hostlist_compress(hosts, out);
		buf_putc(out, '\n');
	} else if (value[OPT_COUNT]) {
		buf_putf(out, "%u\n", hosts->n);
	} else {
		for (uint32_t i = 0; i < hosts->n; i++) {
			put_line(out, hosts_at(hosts, i));
		}
	}
	return 0;
}

int command_hosts(struct session *s) {
	struct err err;
	struct hosts hosts = {0};
	struct buf out = BUF(&s->arena);
	const char *list = s->settings.arguments[0];
	int r = check_usage(s, &err);
	r = r < 0 ? r : read_hosts(s, &hosts, &err);
	r = r < 0 || hosts.n ? r : err_set(&err, EINVAL, "HOSTLIST=%s lists no host", quote_text(list).s);
	r = r < 0 ? r : put_hosts(s, &hosts, &out, &err);
	return r < 0 ? session_fail(s, &err) : say_result(&s->speaker, buf_str(&out));
}
