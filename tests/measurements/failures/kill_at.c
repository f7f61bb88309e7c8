/* Counts the file operations of a process below a folder, and sends it a signal before one of them.

   Loaded by LD_PRELOAD, and asleep until `arm` is called. Half of the bytes of a write before which
   SIGKILL comes are written. Locks of files fail if they are told to. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static size_t folder_length = 0;
static atomic_long done = 0;
static long last = 0;
static int ending = SIGKILL;
static int lock_error = 0;

/* Begins to count operations below a folder.

   n: the operation before which the signal comes, from 1; 0 = none.
   number: of the signal, SIGKILL or SIGSTOP.
   error: number of the error with which locking fails; 0 = it works. */
void arm(const char *path, long n, int number, int error) {
  strncpy(folder, path, sizeof folder - 1);
  done = 0;
  last = n;
  ending = number;
  lock_error = error;
  folder_length = strlen(folder);
}

long count(void) { return done; }

static int below(const char *path) {
  return folder_length && path && strncmp(path, folder, folder_length) == 0 &&
         (path[folder_length] == '/' || path[folder_length] == 0);
}

static int fd_below(int fd) {
  char name[64], target[PATH_MAX];
  if (!folder_length) return 0;
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(name, target, sizeof target - 1);
  if (size < 0) return 0;
  target[size] = 0;
  return below(target);
}

static int at_below(int fd, const char *path) {
  return (path && path[0] == '/') || fd == AT_FDCWD ? below(path) : fd_below(fd);
}

/* Whether the operation that begins now is the last one; stops before it if that is the signal. */
static int is_last(int counted) {
  if (!counted || ++done != last) return 0;
  if (ending != SIGSTOP) return 1;
  kill(getpid(), SIGSTOP);
  return 0;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static void step(int counted) {
  if (is_last(counted)) die();
}

#define REAL(result, name, ...)                                   \
  static result (*real)(__VA_ARGS__) = NULL;                      \
  if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define OPEN(name)                                                \
  int name(const char *path, int flags, ...) {                    \
    REAL(int, #name, const char *, int, ...);                     \
    va_list rest;                                                 \
    va_start(rest, flags);                                        \
    mode_t mode = va_arg(rest, mode_t);                           \
    va_end(rest);                                                 \
    if (flags & (O_WRONLY | O_RDWR | O_CREAT)) step(below(path)); \
    return real(path, flags, mode);                               \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                      \
  int name(int fd, const char *path, int flags, ...) {                    \
    REAL(int, #name, int, const char *, int, ...);                        \
    va_list rest;                                                         \
    va_start(rest, flags);                                                \
    mode_t mode = va_arg(rest, mode_t);                                   \
    va_end(rest);                                                         \
    if (flags & (O_WRONLY | O_RDWR | O_CREAT)) step(at_below(fd, path));  \
    return real(fd, path, flags, mode);                                   \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                          \
  FILE *name(const char *path, const char *mode) {           \
    REAL(FILE *, #name, const char *, const char *);         \
    if (strpbrk(mode, "wa+")) step(below(path));             \
    return real(path, mode);                                 \
  }
FOPEN(fopen)
FOPEN(fopen64)

ssize_t write(int fd, const void *data, size_t size) {
  REAL(ssize_t, "write", int, const void *, size_t);
  if (is_last(fd_below(fd))) {
    real(fd, data, size / 2);
    die();
  }
  return real(fd, data, size);
}

#define PWRITE(name)                                                   \
  ssize_t name(int fd, const void *data, size_t size, off_t offset) {  \
    REAL(ssize_t, #name, int, const void *, size_t, off_t);            \
    if (is_last(fd_below(fd))) {                                       \
      real(fd, data, size / 2, offset);                                \
      die();                                                           \
    }                                                                  \
    return real(fd, data, size, offset);                               \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t writev(int fd, const struct iovec *parts, int size) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  step(fd_below(fd));
  return real(fd, parts, size);
}

size_t fwrite(const void *data, size_t size, size_t n, FILE *file) {
  REAL(size_t, "fwrite", const void *, size_t, size_t, FILE *);
  if (folder_length && is_last(fd_below(fileno(file)))) {
    real(data, 1, size * n / 2, file);
    fflush(file);
    die();
  }
  return real(data, size, n, file);
}

int fflush(FILE *file) {
  REAL(int, "fflush", FILE *);
  if (folder_length && file) step(fd_below(fileno(file)));
  return real(file);
}

int fclose(FILE *file) {
  REAL(int, "fclose", FILE *);
  if (folder_length && file) step(fd_below(fileno(file)));
  return real(file);
}

#define PATH(name, type)                     \
  int name(const char *path, type argument) { \
    REAL(int, #name, const char *, type);    \
    step(below(path));                       \
    return real(path, argument);             \
  }
PATH(mkdir, mode_t)
PATH(chmod, mode_t)
PATH(truncate, off_t)

#define FD(name)               \
  int name(int fd) {           \
    REAL(int, #name, int);     \
    step(fd_below(fd));        \
    return real(fd);           \
  }
FD(fsync)
FD(fdatasync)

#define FTRUNCATE(name)                  \
  int name(int fd, off_t size) {         \
    REAL(int, #name, int, off_t);        \
    step(fd_below(fd));                  \
    return real(fd, size);               \
  }
FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

#define REMOVE(name)                     \
  int name(const char *path) {           \
    REAL(int, #name, const char *);      \
    step(below(path));                   \
    return real(path);                   \
  }
REMOVE(unlink)
REMOVE(rmdir)
REMOVE(remove)

int unlinkat(int fd, const char *path, int flags) {
  REAL(int, "unlinkat", int, const char *, int);
  step(at_below(fd, path));
  return real(fd, path, flags);
}

#define PAIR(name)                                          \
  int name(const char *from, const char *to) {              \
    REAL(int, #name, const char *, const char *);           \
    step(below(from) || below(to));                         \
    return real(from, to);                                  \
  }
PAIR(rename)
PAIR(link)
PAIR(symlink)

int renameat(int fd, const char *from, int to_fd, const char *to) {
  REAL(int, "renameat", int, const char *, int, const char *);
  step(at_below(fd, from) || at_below(to_fd, to));
  return real(fd, from, to_fd, to);
}

int flock(int fd, int operation) {
  REAL(int, "flock", int, int);
  if (!lock_error) return real(fd, operation);
  errno = lock_error;
  return -1;
}
