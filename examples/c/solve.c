/* Solves a file, and shows what the library for C has: verdict, witness, JSON, cancelling.
 *
 *     cc -Iinclude examples/c/solve.c -Ltarget/release -lalphorn_c -lpthread -o solve
 *     LD_LIBRARY_PATH=target/release:third_party/z3/lib ./solve FILE [SECONDS]
 *
 * With SECONDS another thread ends the run after that time.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <alphorn.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct alarm {
    alphorn_problem *problem;
    double seconds;
};

static void *cancel_later(void *data) {
    struct alarm *alarm = data;
    struct timespec pause = {(time_t)alarm->seconds, 0};
    pause.tv_nsec = (long)((alarm->seconds - (double)pause.tv_sec) * 1e9);
    nanosleep(&pause, NULL);
    alphorn_cancel(alarm->problem);
    return NULL;
}

static char *contents(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, count;
    *length = 0;
    if (file == NULL) {
        return NULL;
    }
    do {
        size += 1 << 16;
        text = realloc(text, size);
        if (text == NULL) {
            break;
        }
        count = fread(text + *length, 1, size - *length, file);
        *length += count;
    } while (*length == size);
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    size_t length;
    char *text;
    alphorn_problem *problem;
    const char *verdict;
    pthread_t thread;
    struct alarm alarm;

    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE [SECONDS]\n", argv[0]);
        return 1;
    }
    text = contents(argv[1], &length);
    if (text == NULL) {
        perror(argv[1]);
        return 1;
    }
    problem = alphorn_parse(text, length);
    free(text);
    if (alphorn_error(problem) != NULL) {
        printf("error: %s\n", alphorn_error(problem));
        alphorn_free(problem);
        return 1;
    }
    /* An option that does not exist is an error, and changes nothing. */
    if (alphorn_set(problem, "no such option", "") != -1 || alphorn_error(problem) == NULL) {
        return 2;
    }
    alphorn_set(problem, "timeout", "600");
    if (argc > 2) {
        alarm.problem = problem;
        alarm.seconds = atof(argv[2]);
        pthread_create(&thread, NULL, cancel_later, &alarm);
    }
    verdict = alphorn_solve(problem);
    if (verdict == NULL) {
        printf("error: %s\n", alphorn_error(problem));
    } else {
        printf("%s\nsafe: %d\n", verdict, alphorn_safe(problem));
        if (alphorn_reason(problem) != NULL) {
            printf("reason: %s\n", alphorn_reason(problem));
        }
        if (alphorn_witness(problem) != NULL) {
            fputs(alphorn_witness(problem), stdout);
        }
        puts(alphorn_json(problem));
    }
    if (argc > 2) {
        pthread_join(thread, NULL);
    }
    alphorn_free(problem);
    return verdict == NULL;
}
