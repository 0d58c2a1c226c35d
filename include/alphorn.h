/* alphorn for C: decides constrained Horn clauses.
 *
 *     alphorn_problem *problem = alphorn_parse(text, strlen(text));
 *     if (alphorn_error(problem) == NULL) {
 *         alphorn_set(problem, "timeout", "60");
 *         puts(alphorn_solve(problem));               // sat, unsat or unknown
 *         puts(alphorn_witness(problem));             // the model, or the refutation
 *     }
 *     alphorn_free(problem);
 *
 * Every answer is checked against the text before it is returned, as in the program.
 *
 * Strings are UTF-8 and end with a zero byte. Those that are returned belong to the problem: they are
 * valid until the next call of `alphorn_solve` or `alphorn_free` with it. One thread at a time may use a
 * problem, except for `alphorn_cancel`; different problems may be used at the same time.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef ALPHORN_H
#define ALPHORN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A problem with its options and its last answer. */
typedef struct alphorn_problem alphorn_problem;

/* The version of alphorn, as in "0.1.0"; it need not be freed. */
const char *alphorn_version(void);

/* Reads a text of `length` bytes in SMT-LIB 2 (HORN, or Z3's fixedpoint dialect). The result is never
 * NULL, unless `text` is; `alphorn_error` says whether the text was read. */
alphorn_problem *alphorn_parse(const char *text, size_t length);

/* What is wrong with the text or with the last option, as "line 3 column 7: ..." where there is a place;
 * NULL if nothing is. */
const char *alphorn_error(const alphorn_problem *problem);

/* Sets an option. Returns 0, or -1 and an error. The options are
 *
 *     timeout         seconds, which may have a fraction; "0" for none
 *     deterministic   "true" or "false": the limit counts work, and the answer is the same on any machine
 *     engine          a name, or "auto"
 *     without         names of engines that the default strategy leaves out, separated by commas
 *     passes          names of passes, separated by commas; "default", or "none"
 *     plain           "true" or "false": models with recursive functions count as unknown
 *     set             a setting ENGINE.NAME=VALUE; may be repeated */
int alphorn_set(alphorn_problem *problem, const char *option, const char *value);

/* Decides the problem. Returns "sat", "unsat" or "unknown" as the program prints it, or NULL after an
 * error. In the fixedpoint dialect "sat" says that the query is reachable. */
const char *alphorn_solve(alphorn_problem *problem);

/* Whether the clauses of the last answer have a model: 1 (safe), 0 (unsafe), or -1 for no answer. */
int alphorn_safe(const alphorn_problem *problem);

/* Why the last answer is unknown; NULL if it is not. */
const char *alphorn_reason(const alphorn_problem *problem);

/* The witness of the last answer: the model in SMT-LIB, or the refutation in numbered steps; NULL if
 * there is none. */
const char *alphorn_witness(const alphorn_problem *problem);

/* The last answer as one object of JSON, as `alphorn --output=json` prints it; NULL if there is none. */
const char *alphorn_json(const alphorn_problem *problem);

/* Ends a run of `alphorn_solve` in another thread, which then returns "unknown". It takes effect for the
 * run that is under way, or else for the next one. */
void alphorn_cancel(alphorn_problem *problem);

/* Frees a problem; no run may be under way. NULL is ignored. */
void alphorn_free(alphorn_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
