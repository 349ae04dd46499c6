// SPDX-License-Identifier: Apache-2.0

/** A job, from choices. The first value of each list is the dull one. */

#include "job.h"

#include "base/clock.h"
#include "cluster/hosts.h"
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job job;
struct rules rules = {.faults = ~0U, .most = FAULTS_MAX, .together = -1, .skip = ""};

static const char job_name[] = "manual:sim";

/** Facts: all alike, or one group differs; in the last variant the master is named by its address. */
#define VARIANTS 7
static struct facts facts_of[VARIANTS][NODES_MAX + 2];
static struct cluster clusters[NODES_MAX + 2];
static struct key keys[3];
static struct arena forever;

void out_of_memory(size_t size) {
	fprintf(stderr, "sim: no memory for %zu bytes\n", size);
	abort();
}

static void put_fact(struct buf *out, struct fact_list *list, const char *name, const char *value) {
	unsigned char head[1] = {(unsigned char)strlen(name)}, length[2];
	buf_put(out, (struct str){(char *)head, 1});
	buf_puts(out, name);
	put_u16(length, (uint16_t)strlen(value));
	buf_put(out, (struct str){(char *)length, 2});
	buf_puts(out, value);
	list->at[list->n++] = (struct fact){name, value};
}

static void make_facts(struct facts *out, unsigned n, int variant) {
	static const char *const names[N_FACT_GROUPS][5] = {{"hosts", "manager", "master", "nodes"},
							    {"argv", "distinit"},
							    {"NCCL_DEBUG"},
							    {"gpus"},
							    {"cpus"}};
	for (int group = 0; group < N_FACT_GROUPS; group++) {
		struct buf payload = BUF(&forever);
		unsigned k = 0;
		out->list[group].at = arena_array(&forever, 4, sizeof(struct fact));
		out->list[group].n = 0;
		while (names[group][k]) {
			k++;
		}
		const char head[] = {(char)group, (char)k, 0};
		buf_put(&payload, (struct str){head, 3});
		for (unsigned i = 0; i < k; i++) {
			const char *name = names[group][i], *value = variant == group + 1 ? "other" : "same";
			if (strcmp(name, "nodes") == 0) {
				value = arena_format(&forever, "%u", n);
			} else if (strcmp(name, "master") == 0) {
				value = variant == VARIANTS - 1 ? "10.0.0.1" : "h0";
			}
			put_fact(&payload, &out->list[group], name, value);
		}
		out->payload[group] = (struct str){buf_text(&payload), payload.len};
		out->digest[group] = digest_64(out->payload[group]);
	}
}

void jobs_begin(void) {
	arena_init(&forever, NULL, 0, out_of_memory);
	key_of_job(STR(""), job_name, &keys[0]);
	key_of_job(STR("0123456789abcdef"), job_name, &keys[1]);
	key_of_job(STR("another secret!!"), job_name, &keys[2]);
	for (unsigned n = 1; n <= NODES_MAX + 1; n++) {
		struct buf list = BUF(&forever);
		struct err err;
		uint32_t empty;
		for (unsigned i = 0; i < n; i++) {
			buf_putf(&list, "%sh%u", i ? "," : "", i);
		}
		clusters[n] = (struct cluster){.scope = SCOPE_NODE, .nnodes = n};
		hosts_split(&forever, "HOSTS", buf_text(&list), ',', &clusters[n].place.hosts, &empty, &err);
		for (int variant = 0; variant < VARIANTS; variant++) {
			make_facts(&facts_of[variant][n], n, variant);
		}
	}
}

/** The key of the job; or one that somebody without its secret has. */
const struct key *plan_key(bool own) {
	return own ? &keys[job.secret] : &keys[2];
}

int plan_host_of(const char *name) {
	if (strncmp(name, "10.0.0.", 7) == 0) {
		return atoi(name + 7) - 1;
	}
	const int host = name[0] == 'h' ? atoi(name + 1) : -1;
	return host >= 0 && host < (int)job.n ? host : -1;
}

uint64_t plan_timeout(const struct node *node) {
	const uint64_t own = node->unable && job.timeout_ms > 10000 ? 10000 : job.timeout_ms;
	return own + job.late_ms + job.pause_ms;
}

static void say(void *context, enum roll_level level, const char *text) {
	static const char *const levels[] = {"warning", "info", "debug", "status"};
	struct node *node = context;
	if (level != ROLL_STATUS) {
		trace("%s: %s", levels[level], text);
	}
	check_saying(node, level, text);
	node->said_absent |=
		level == ROLL_WARNING &&
		(strstr(text, "; absent: ") || strstr(text, " counts ") || strstr(text, "still waiting for"));
	node->said_counts |= strstr(text, " counts ") != NULL;
	node->warned_deaf |= strstr(text, "may not have been read") != NULL;
	node->warned_clock |= strstr(text, "'s clock is ") != NULL;
	if (strstr(text, "=same on ")) {
		snprintf(node->difference, sizeof(node->difference), "%s", text);
	}
}

struct roll_call plan_call(struct node *node, struct arena *arena) {
	const uint64_t own_now = time_now / MS + node->process->clock_ahead;
	return (struct roll_call){
		.arena = arena,
		.cluster = &clusters[node->size],
		.rank = node->rank,
		.size = node->size,
		.noun = "nodes",
		.job = job_name,
		.key = keys[job.secret],
		.secret = job.secret,
		.nameless = job.nameless && !job.secret,
		.master = "h0",
		.port = JOB_PORT,
		.port_from = job.port_given ? "MASTER_PORT" : NULL,
		.node = node->name,
		.timeout_ms = plan_timeout(node),
		.late_at = job.restart ? own_now + job.late_ms : 0,
		.pause_ms = (uint32_t)job.pause_ms,
		.longer = "--wait",
		.facts = &facts_of[node->facts][node->size],
		.agree = 1U << FACTS_WORLD | job.agree,
		.unable = node->unable,
		.asked_to_end = node->asked,
		.starts = node->start,
		.max_restarts = job.together ? job.max_restarts : UINT32_MAX,
		.stay = job.stay,
		.pod = job.pod,
		.say = say,
		.context = node,
		.verbose = job.verbose,
		.rewrites = job.terminal,
	};
}

static void plan_weather(void) {
	weather.latency = CHOOSE(latency, 0, 0, 100, 20, 1 * MS, 10 * MS, 100 * MS);
	weather.jitter = CHOOSE(jitter_most, 0, 0, 0, 100, 1 * MS, 30 * MS, 1 * S);
	weather.late = CHOOSE(late_share, 0, 0, 0, 0, 20, 200);
	weather.late_by = CHOOSE(late_most, 0, 0, 20 * MS, 1 * MS, 200 * MS, 1 * S, 4 * S);
	weather.split = CHOOSE(split_share, 0, 0, 0, 100, 500);
	weather.interrupt = CHOOSE(interrupt_share, 0, 0, 0, 30, 200, 600);
	weather.interrupt_most = CHOOSE(interrupt_most, 0, 0, 100, 10, 2 * MS, 20 * MS);
	weather.call = CHOOSE(call_cost, 0, 0, 1, 5, 30);
	weather.lookup = CHOOSE(lookup_most, 0, 0, 0, 1 * MS, 100 * MS);
	weather.window = (uint32_t)CHOOSE(window, 0, 0, 200000, 200000, 200000, 1500);
}

static void plan_together(void) {
	job.stay = job.holds_signals = true;
	job.restart = false;
	job.late_ms = job.pause_ms = 0;
	job.relays = !CHOOSE(relays, 0, 0, 0, 0, 0, 1);
	job.always = CHOOSE(always, 0, 0, 0, 0, 0, 1);
	job.by_workers = CHOOSE(by_workers, 0, 0, 0, 1);
	job.max_restarts = (uint32_t)CHOOSE(max_restarts, 0, 0, 0, 1, 2, 3, RESTARTS_UNLIMITED);
	job.max_idle = (unsigned)CHOOSE(max_idle, 0, 0, 3, 1, 2, 0);
	job.final = (unsigned)CHOOSE(final, 0, 0, 0, 0, 0, 1, 137);
	job.linger_ms = CHOOSE(linger, 0, 0, 60000, 2000, 100);
	job.grace_ms = CHOOSE(grace, 0, 0, 3000, 300, 30000);
	job.limit_ms = CHOOSE(time_limit, 0, 0, CLOCK_NEVER, CLOCK_NEVER, CLOCK_NEVER, 4000, 30000);
	job.writes_once = CHOOSE(writes_once, 0, 0, 0, 0, 0, 1);
	job.progress_ms = CHOOSE(progress, 0, 0, 0, 0, 3000, 10000);
}

void plan_job(void) {
	memset(&job, 0, sizeof(job));
	static const uint64_t either[] = {0, 1}, sizes[] = {2, 3, 3, 4, 5};
	const uint64_t together = (uint64_t)rules.together, nodes = rules.nodes;
	job.together = rules.together < 0 ? choose_always(C_together, either, 2, 0)
					  : choose_always(C_together, &together, 1, 0);
	job.n = (unsigned)(nodes ? choose_always(C_nodes, &nodes, 1, 0)
				 : choose_always(C_nodes, sizes, 5, 0));
	if (!nodes && job.together && choose_rarely(C_alone, 0, 0, 30, 1)) {
		job.n = 1;
	}
	const unsigned least = job.together ? 1 : 2;
	job.n = job.n < least ? least : job.n > NODES_MAX ? NODES_MAX : job.n;
	plan_weather();
	job.timeout_ms = CHOOSE(timeout, 0, 0, 10000, 10000, 5000, 5000, 60000, 60000);
	job.secret = CHOOSE(secret, 0, 0, 0, 1);
	job.nameless = CHOOSE(nameless, 0, 0, 0, 0, 0, 1);
	job.port_given = CHOOSE(port_given, 0, 0, 0, 0, 1);
	job.stay = CHOOSE(stay, 0, 0, 0, 1);
	job.holds_signals = CHOOSE(signals_held, 0, 0, 0, 1);
	job.terminal = CHOOSE(terminal, 0, 0, 0, 0, 0, 1);
	job.verbose = CHOOSE(verbose, 0, 0, 1, 0);
	job.pod = CHOOSE(pod, 0, 0, 0, 0, 0, 1);
	job.agree = CHOOSE(agree, 0, 0, 0, 0, 0, 1) ? 1U << FACTS_DEVICES : 0;
	job.restart = CHOOSE(restart, 0, 0, 0, 0, 0, 1);
	job.late_ms = job.restart ? CHOOSE(late, 0, 0, 7000, ROLL_LATE_MS, 20000) : 0;
	job.pause_ms = job.restart ? CHOOSE(pause_before, 0, 0, 0, 1000, 4000) : 0;
	if (job.together) {
		plan_together();
	}
	weather.no_children = CHOOSE(no_children, 0, 0, 0, 0, 0, 1);
	weather.oom_kills = (uint32_t)CHOOSE(oom_kills, 0, 0, OOM_UNKNOWN, OOM_UNKNOWN, 0, 2);
	job.spread = CHOOSE(spread, 0, 0, 0, 1 * MS, 20 * MS, 300 * MS, 3 * S);
	for (unsigned i = 0; i < job.n; i++) {
		const char name[8] = {'h', (char)('0' + i)};
		struct node *node = node_add(i, (int)i, name);
		node->start = job.restart;
		node->begins = BEGIN + choose(C_begins, i, 0, job.spread + 1);
	}
	job.n_faults = (unsigned)choose(C_faults, 0, 0, rules.most + 1);
	job.n_faults = job.n_faults > FAULTS_MAX ? FAULTS_MAX : job.n_faults;
	faults_plan();
}

void job_show(void) {
	printf("%u nodes, %llu s%s%s%s%s%s%s%s%s%s; latency %llu+%llu us, late %llu/1000 by %llu us, split "
	       "%llu/1000, interrupted %llu/1000 by %llu us\n",
	       job.n, (unsigned long long)(job.timeout_ms / 1000), job.secret ? ", secret" : "",
	       job.nameless ? ", nameless" : "", job.port_given ? ", port given" : "",
	       job.stay ? ", stays" : "", job.holds_signals ? ", --init" : "",
	       job.terminal ? ", terminal" : "", job.restart ? ", restart" : "",
	       job.together ? ", together" : "", job.by_workers ? ", workers" : "",
	       (unsigned long long)weather.latency, (unsigned long long)weather.jitter,
	       (unsigned long long)weather.late, (unsigned long long)weather.late_by,
	       (unsigned long long)weather.split, (unsigned long long)weather.interrupt,
	       (unsigned long long)weather.interrupt_most);
	if (job.together) {
		printf("  restarts %u, linger %llu ms, grace %llu ms%s%s\n", job.max_restarts,
		       (unsigned long long)job.linger_ms, (unsigned long long)job.grace_ms,
		       job.relays ? "" : ", failures", job.always ? ", always" : "");
	}
	for (unsigned i = 0; i < job.n_faults; i++) {
		const struct fault *f = &job.faults[i];
		printf("  %s %s: %s%s", what_names[f->what], job.nodes[f->node].name,
		       f->on == f->node ? "" : job.nodes[f->on].name, f->on == f->node ? "" : " ");
		if (f->when == WHEN_TIME) {
			printf("at %.3f ms", (double)(f->at - BEGIN) / 1000);
		} else {
			printf("%s %s %u, and %.3f ms", when_names[f->when],
			       f->when == WHEN_CALL    ? ""
			       : f->when == WHEN_PHASE ? phase_names[f->frame % N_PHASES]
						       : frame_name(f->frame),
			       f->nth, (double)f->at / 1000);
		}
		printf("; lasts %.3f ms, kind %u, code %u%s\n", (double)f->lasts / 1000, f->kind, f->code,
		       f->twice ? ", twice" : "");
	}
}
