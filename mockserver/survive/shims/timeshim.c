/* The clock of a world in place of the machine's, for any program that calls the C library for time.
 *
 * Compiled where it is needed, and loaded by LD_PRELOAD. It maps the page of the world's clock, of which
 * survive/shared_clock.py says what is in it. Sleeping goes ahead on that page; a wait with a time-out does so too,
 * unless a request is on its way: then the world goes on to its late answer, and no further. Python and
 * Node have shims of their own. Programs that call the kernel by themselves, as Go does, are not reached.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000LL
#define SECOND 1000000000LL
#define DAY_MS 86400000LL
#define FOREVER INT64_MAX
#define MOST_FILES 4096
/* How long something that is ready soon is waited for, and how long an answer is that no clock holds: the server
 * may be as slow as a busy machine. */
#define PATIENCE_MS 5
#define PATIENCE_OF_THREADS_MS 20
#define LONGEST (60 * SECOND)

enum { LEAD, NOW, DUE, TAKEN, IN_TURNS };

static volatile int64_t *page;
static int64_t began, real_began, last;
static struct sockaddr_in peer;
static char path[512];
/* When a request was sent on each socket whose answer has not come; and which sockets lead to the mock. */
static volatile int64_t sent[MOST_FILES];
static volatile char ours[MOST_FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t sleepers[256];
/* Where this thread hears that the time has come that it has asked for; -1 where it has asked for none. */
static __thread int turn = -1;

#define REAL(name) ({ if (!real_##name) real_##name = dlsym(RTLD_NEXT, #name); real_##name; })
#define REALLY(type, name, ...) static type (*real_##name)(__VA_ARGS__)
REALLY(int, clock_gettime, clockid_t, struct timespec *);
REALLY(int, clock_nanosleep, clockid_t, int, const struct timespec *, struct timespec *);
REALLY(int, poll, struct pollfd *, nfds_t, int);
REALLY(int, ppoll, struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
REALLY(int, select, int, fd_set *, fd_set *, fd_set *, struct timeval *);
REALLY(int, epoll_wait, int, struct epoll_event *, int, int);
REALLY(int, epoll_pwait, int, struct epoll_event *, int, int, const sigset_t *);
REALLY(int, connect, int, const struct sockaddr *, socklen_t);
REALLY(ssize_t, send, int, const void *, size_t, int);
REALLY(ssize_t, sendto, int, const void *, size_t, int, const struct sockaddr *, socklen_t);
REALLY(ssize_t, sendmsg, int, const struct msghdr *, int);
REALLY(ssize_t, write, int, const void *, size_t);
REALLY(ssize_t, writev, int, const struct iovec *, int);
REALLY(ssize_t, recv, int, void *, size_t, int);
REALLY(ssize_t, recvfrom, int, void *, size_t, int, struct sockaddr *, socklen_t *);
REALLY(ssize_t, recvmsg, int, struct msghdr *, int);
REALLY(ssize_t, read, int, void *, size_t);
REALLY(ssize_t, readv, int, const struct iovec *, int);
REALLY(int, close, int);
REALLY(int, pthread_cond_timedwait, pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
REALLY(int, pthread_cond_clockwait, pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);

static int64_t nanos(const struct timespec *t) { return t->tv_sec * SECOND + t->tv_nsec; }

static struct timespec spec(int64_t ns) {
    if (ns < 0) ns = 0;
    return (struct timespec){ns / SECOND, ns % SECOND};
}

static int64_t real_ns(clockid_t clock) {
    struct timespec t;
    REAL(clock_gettime)(clock, &t);
    return nanos(&t);
}

static void really_sleep(int64_t ns) {
    struct timespec t = spec(ns);
    REAL(clock_nanosleep)(CLOCK_MONOTONIC, 0, &t, NULL);
}

static int64_t now_ms(void) { return page[LEAD] > page[NOW] ? page[LEAD] : page[NOW]; }

/* The world's time in nanoseconds; where it stands, it goes on by ten of them each time that it is read. */
static int64_t now(void) {
    int64_t before = __atomic_load_n(&last, __ATOMIC_SEQ_CST), time;
    do time = now_ms() * MS > before ? now_ms() * MS : before + 10;
    while (!__atomic_compare_exchange_n(&last, &before, time, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return time;
}

static int is_real(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI; }

static int is_shimmed(clockid_t clock) {
    return page && (is_real(clock) || clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
                    clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME);
}

static int64_t shown(clockid_t clock) { return is_real(clock) ? now() : now() - began + real_began; }

/* Send the clock of the world a request, and return the line on which its answer comes; -1 where nobody takes it. */
static int asked(const char *method, const char *body) {
    char text[800];
    int line = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line < 0) return -1;
    int length = snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
                          method, path, strlen(body), body);
    if (!REAL(connect)(line, (struct sockaddr *)&peer, sizeof peer) && REAL(send)(line, text, length, MSG_NOSIGNAL) == length) return line;
    REAL(close)(line);
    return -1;
}

/* Have the server look at the page: late answers go whose time has come, and whoever goes on for ever is stopped. */
static void tell(void) {
    char answer[2048];
    int line = asked("GET", "");
    if (line < 0) return;
    while (REAL(recv)(line, answer, sizeof answer, 0) > 0) continue;
    REAL(close)(line);
}

static void go_ahead(int64_t until_ns) {
    int64_t until = (until_ns + MS - 1) / MS, lead = page[LEAD];
    while (lead < until && !__atomic_compare_exchange_n(&page[LEAD], &lead, until, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) continue;
    if (page[LEAD] - page[NOW] > DAY_MS) tell();
}

static int is_waiting(void) {
    int64_t longest = real_ns(CLOCK_MONOTONIC) - LONGEST;
    for (int file = 0; file < MOST_FILES; file++)
        if (sent[file] > longest || (sent[file] && page[DUE])) return 1;
    return 0;
}

/* Threads of virtual machines wait again and again: their time-outs are no sleeping of the client. */
static int is_machinery(void) {
    static const char *names[] = {"GC Thread", "G1 ", "VM ", "C1 Comp", "C2 Comp", "Sweeper", "Common-Cleaner", "Reference Ha",
                                  "Finalizer", "Signal Disp", "Service Thr", "Monitor Def", "Notification", "Attach L", "Cleaner",
                                  "process reap", "HttpClient-", "Keep-Alive", "ForkJoinPool", "CompletableFut", ".NET", "ruby-timer"};
    char name[17] = "";
    prctl(PR_GET_NAME, name);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (!strncmp(name, names[n], strlen(names[n]))) return 1;
    return 0;
}

/* Note a sleeper, let it go, and tell whether it wakes the first; machinery is none. */
static int seat(int64_t until) {
    int place = -1;
    if (is_machinery()) return place;
    pthread_mutex_lock(&lock);
    for (int n = 0; n < 256 && place < 0; n++) if (!sleepers[n]) sleepers[place = n] = until;
    pthread_mutex_unlock(&lock);
    return place;
}

static void end_turn(void) {
    if (turn >= 0) REAL(close)(turn);
    turn = -1;
}

static void leave(int place) {
    if (place >= 0) sleepers[place] = 0;
    end_turn();
}

static int is_first(int64_t until) {
    for (int n = 0; n < 256; n++) if (sleepers[n] && sleepers[n] < until) return 0;
    return 1;
}

/* Ask for the time, and look whether it has come: another process may be the one that goes on. */
static void step_in_turn(int64_t until) {
    char body[64];
    int64_t left = until == FOREVER ? DAY_MS : (until - now_ms() * MS + MS - 1) / MS;
    if (turn < 0) {
        snprintf(body, sizeof body, "{\"%s\":\"%lldms\"}", is_waiting() ? "wait" : "advance", (long long)(left > 0 ? left : 1));
        turn = asked("POST", body);
    }
    struct pollfd look = {turn, POLLIN, 0};
    if (turn < 0) really_sleep(MS);
    else if (REAL(poll)(&look, 1, PATIENCE_MS) > 0) end_turn();
}

/* Take a step towards a time: to a late answer while a request is on its way, else there if nobody wakes before. */
static void step(int64_t until) {
    if (page[IN_TURNS] && !is_machinery()) {
        step_in_turn(until);
        return;
    }
    int64_t due = page[DUE] * MS;
    if (is_waiting()) {
        if (due) { go_ahead(due < until ? due : until); tell(); }
        else really_sleep(PATIENCE_MS * MS);
    } else if (until != FOREVER && !is_machinery() && is_first(until)) go_ahead(until);
    else really_sleep(MS);
}

static void sleep_until(int64_t until) {
    if (is_machinery()) {
        /* Nobody moves the world for it: a virtual machine that stops its threads sleeps for microseconds. */
        really_sleep(until - now());
        return;
    }
    int place = seat(until);
    if (is_waiting()) really_sleep(PATIENCE_MS * MS);
    while (now_ms() * MS < until) step(until);
    leave(place);
}

int clock_gettime(clockid_t clock, struct timespec *t) {
    if (!is_shimmed(clock)) return REAL(clock_gettime)(clock, t);
    *t = spec(shown(clock));
    return 0;
}

int gettimeofday(struct timeval *t, void *zone) {
    struct timespec full;
    clock_gettime(CLOCK_REALTIME, &full);
    if (t) *t = (struct timeval){full.tv_sec, full.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *where) {
    struct timespec full;
    clock_gettime(CLOCK_REALTIME, &full);
    if (where) *where = full.tv_sec;
    return full.tv_sec;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left) {
    if (!is_shimmed(clock)) return REAL(clock_nanosleep)(clock, flags, wanted, left);
    if (wanted->tv_nsec < 0 || wanted->tv_nsec >= SECOND || wanted->tv_sec < 0) return EINVAL;
    int64_t more = nanos(wanted) - (flags & TIMER_ABSTIME ? shown(clock) : 0);
    if (more > 0) sleep_until(now() + more);
    return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
    int error = clock_nanosleep(CLOCK_MONOTONIC, 0, wanted, left);
    if (error) errno = error;
    return error ? -1 : 0;
}

int usleep(useconds_t micros) {
    struct timespec t = spec(micros * 1000LL);
    return nanosleep(&t, NULL);
}

unsigned sleep(unsigned seconds) {
    struct timespec t = spec(seconds * SECOND);
    nanosleep(&t, NULL);
    return 0;
}

/* Wait for files: `LOOK(ms)` looks at them for so long in real time, and gives how many are ready. */
#define WAIT(timeout_ns, LOOK) \
    int ready = LOOK(0); \
    int64_t span = (timeout_ns); \
    if (ready || !span) return ready; \
    int64_t until = span < 0 ? FOREVER : now() + span; \
    int place = seat(until); \
    int64_t real_end = span < 0 || !is_machinery() ? FOREVER : real_ns(CLOCK_MONOTONIC) + span; \
    for (int ms = PATIENCE_MS; !(ready = LOOK(ms)) && now_ms() * MS < until && real_ns(CLOCK_MONOTONIC) < real_end; ms = 1) { \
        if (until == FOREVER && !is_waiting()) { ready = LOOK(50); if (ready) break; } \
        else step(until); \
    } \
    leave(place); \
    return ready

int poll(struct pollfd *files, nfds_t count, int timeout) {
    if (!page) return REAL(poll)(files, count, timeout);
#define LOOK(ms) REAL(poll)(files, count, ms)
    WAIT(timeout < 0 ? -1 : timeout * MS, LOOK);
#undef LOOK
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
    if (!page) return REAL(ppoll)(files, count, timeout, mask);
    struct timespec part;
#define LOOK(ms) (part = spec(ms * MS), REAL(ppoll)(files, count, &part, mask))
    WAIT(timeout ? nanos(timeout) : -1, LOOK);
#undef LOOK
}

int select(int count, fd_set *in, fd_set *out, fd_set *bad, struct timeval *timeout) {
    if (!page) return REAL(select)(count, in, out, bad, timeout);
    fd_set sets[3];
    struct timeval part;
    /* What is asked for is overwritten by each look, and so kept. */
    if (in) sets[0] = *in;
    if (out) sets[1] = *out;
    if (bad) sets[2] = *bad;
#define LOOK(ms) (in ? (void)(*in = sets[0]) : (void)0, out ? (void)(*out = sets[1]) : (void)0, \
                  bad ? (void)(*bad = sets[2]) : (void)0, part = (struct timeval){0, ms * 1000}, \
                  REAL(select)(count, in, out, bad, &part))
    WAIT(timeout ? timeout->tv_sec * SECOND + timeout->tv_usec * 1000LL : -1, LOOK);
#undef LOOK
}

int epoll_wait(int file, struct epoll_event *events, int most, int timeout) {
    if (!page) return REAL(epoll_wait)(file, events, most, timeout);
#define LOOK(ms) REAL(epoll_wait)(file, events, most, ms)
    WAIT(timeout < 0 ? -1 : timeout * MS, LOOK);
#undef LOOK
}

int epoll_pwait(int file, struct epoll_event *events, int most, int timeout, const sigset_t *mask) {
    if (!page) return REAL(epoll_pwait)(file, events, most, timeout, mask);
#define LOOK(ms) REAL(epoll_pwait)(file, events, most, ms, mask)
    WAIT(timeout < 0 ? -1 : timeout * MS, LOOK);
#undef LOOK
}

int connect(int file, const struct sockaddr *address, socklen_t length) {
    const struct sockaddr_in *to = (const void *)address;
    const struct sockaddr_in6 *to6 = (const void *)address;
    if (page && file >= 0 && file < MOST_FILES) {
        int port = address->sa_family == AF_INET ? to->sin_port : address->sa_family == AF_INET6 ? to6->sin6_port : 0;
        ours[file] = port == peer.sin_port, sent[file] = 0;
    }
    return REAL(connect)(file, address, length);
}

static int is_ours(int file) { return page && file >= 0 && file < MOST_FILES && ours[file]; }
static void sending(int file) { if (is_ours(file)) sent[file] = real_ns(CLOCK_MONOTONIC); }

ssize_t send(int file, const void *data, size_t size, int flags) { sending(file); return REAL(send)(file, data, size, flags); }
ssize_t sendto(int file, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length) {
    sending(file);
    return REAL(sendto)(file, data, size, flags, to, length);
}
ssize_t sendmsg(int file, const struct msghdr *message, int flags) { sending(file); return REAL(sendmsg)(file, message, flags); }
ssize_t write(int file, const void *data, size_t size) { sending(file); return REAL(write)(file, data, size); }
ssize_t writev(int file, const struct iovec *parts, int count) { sending(file); return REAL(writev)(file, parts, count); }

/* Wait for what a blocking socket reads, as long as it may wait; false where its time is over. */
static int is_readable(int file, int flags) {
    struct timeval most = {0, 0};
    socklen_t length = sizeof most;
    struct pollfd look = {file, POLLIN, 0};
    if (flags & MSG_DONTWAIT || fcntl(file, F_GETFL) & O_NONBLOCK) return 1;
    getsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &most, &length);
    int64_t ms = most.tv_sec * 1000LL + most.tv_usec / 1000;
    if (poll(&look, 1, ms ? (int)ms : -1)) return 1;
    errno = EAGAIN;
    return 0;
}

#define READING(file, flags, call) \
    if (!is_ours(file)) return call; \
    if (!is_readable(file, flags)) return -1; \
    ssize_t got = call; \
    if (got >= 0 || (errno != EAGAIN && errno != EINTR)) sent[file] = 0; \
    return got

ssize_t recv(int file, void *data, size_t size, int flags) { READING(file, flags, REAL(recv)(file, data, size, flags)); }
ssize_t recvfrom(int file, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *length) {
    READING(file, flags, REAL(recvfrom)(file, data, size, flags, from, length));
}
ssize_t recvmsg(int file, struct msghdr *message, int flags) { READING(file, flags, REAL(recvmsg)(file, message, flags)); }
ssize_t read(int file, void *data, size_t size) { READING(file, 0, REAL(read)(file, data, size)); }
ssize_t readv(int file, const struct iovec *parts, int count) { READING(file, 0, REAL(readv)(file, parts, count)); }

int close(int file) {
    if (is_ours(file)) ours[file] = 0, sent[file] = 0;
    return REAL(close)(file);
}

/* Conditions have deadlines on a clock that is not said: one of 2001 or later is a date. */
static int wait_for(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline, int named) {
    int64_t until = nanos(deadline) - shown(clock) + now();
    int64_t patience = PATIENCE_OF_THREADS_MS * MS, left;
    int place = seat(until), code;
    while (1) {
        left = until - now_ms() * MS;
        struct timespec part = spec(real_ns(clock) + (left < 0 ? 0 : is_machinery() ? left : left < patience ? left : patience));
        code = named ? REAL(pthread_cond_clockwait)(condition, mutex, clock, &part) : real_pthread_cond_timedwait(condition, mutex, &part);
        if (code != ETIMEDOUT || left <= 0 || is_machinery()) break;
        step(until);
        patience = MS;
    }
    leave(place);
    return code;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
    if (!real_pthread_cond_timedwait) {
        /* Without a version this would be that of 1999, which knows another layout. */
        real_pthread_cond_timedwait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
        if (!real_pthread_cond_timedwait) real_pthread_cond_timedwait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    }
    if (!page) return real_pthread_cond_timedwait(condition, mutex, deadline);
    return wait_for(condition, mutex, deadline->tv_sec > SECOND ? CLOCK_REALTIME : CLOCK_MONOTONIC, deadline, 0);
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline) {
    if (!page) return REAL(pthread_cond_clockwait)(condition, mutex, clock, deadline);
    return wait_for(condition, mutex, clock, deadline, 1);
}

static int has_shim_of_its_own(void) {
    char program[4096] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    const char *name = length > 0 && strrchr(program, '/') ? strrchr(program, '/') + 1 : "";
    return !strncmp(name, "python", 6) || !strncmp(name, "pypy", 4) || !strcmp(name, "node");
}

/* Who forks while a request is on its way reads its answer; the copy of it does not. */
static void forked(void) {
    for (int file = 0; file < MOST_FILES; file++) sent[file] = 0;
}

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("CROSSCHAIN_MOCK_CLOCK_PAGE"), *address = getenv("CROSSCHAIN_MOCK_CLOCK");
    char host[64];
    int port;
    if (!file || !address || has_shim_of_its_own()) return;
    if (sscanf(address, "http://%63[^:/]:%d%511s", host, &port, path) != 3) return;
    peer = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, host, &peer.sin_addr) != 1) return;
    int opened = open(file, O_RDWR | O_CLOEXEC);
    if (opened < 0) return;
    void *mapped = mmap(NULL, 56, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    REAL(close)(opened);
    if (mapped == MAP_FAILED) return;
    real_began = real_ns(CLOCK_MONOTONIC);
    page = mapped;
    began = now_ms() * MS;
    pthread_atfork(NULL, NULL, forked);
}
