/* Counts the file operations of a process below a folder. Before one of them it kills the
   process or lets the operation fail, and it records all of them for `power.py`.

   Loaded by LD_PRELOAD, and asleep until `arm` is called. Half of the bytes of a write before which
   SIGKILL comes are written. */

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
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { GOES_ON, FAILS, DIES };

static char folder[PATH_MAX];
static size_t folder_length = 0;
static atomic_long done = 0;
static long last = 0;
static int failure = 0;
static int record = -1;

/* Begins to count operations below a folder.

   n: the operation before which SIGKILL comes or that fails, from 1; 0 = none.
   error: number of the error with which the operation fails, 0 = SIGKILL comes. After ENOSPC all
     later ones fail too, but for removals.
   trace: file for the operations that succeed; empty = none. */
void arm(const char *path, long n, int error, const char *trace) {
  strncpy(folder, path, sizeof folder - 1);
  done = 0;
  last = n;
  failure = error;
  if (*trace) record = syscall(SYS_openat, AT_FDCWD, trace, O_CREAT | O_WRONLY | O_APPEND, 0600);
  folder_length = strlen(folder);
}

long count(void) { return done; }

static int below(const char *path) {
  return folder_length && path && strncmp(path, folder, folder_length) == 0 &&
         (path[folder_length] == '/' || path[folder_length] == 0);
}

/* Writes the path of an open file, "" if it is not known. */
static const char *fd_path(int fd, char *path) {
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  ssize_t size = folder_length ? readlink(name, path, PATH_MAX - 1) : -1;
  path[size < 0 ? 0 : size] = 0;
  return path;
}

static int fd_below(int fd) {
  char path[PATH_MAX];
  return below(fd_path(fd, path));
}

/* Writes the path that `name` has in the folder `fd`. */
static const char *at_path(int fd, const char *name, char *path) {
  if (!name || name[0] == '/' || fd == AT_FDCWD) return name;
  size_t length = strlen(fd_path(fd, path));
  snprintf(path + length, PATH_MAX - length, "/%s", name);
  return path;
}

static int fate(int counted) {
  if (!counted) return GOES_ON;
  long n = ++done;
  if (!last || n < last || (n > last && failure != ENOSPC)) return GOES_ON;
  errno = failure;
  return failure ? FAILS : DIES;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* Whether the operation that begins now fails. */
static int fails(int counted) {
  int what = fate(counted);
  if (what == DIES) die();
  return what == FAILS;
}

/* Records an operation, its paths, a number and `size` bytes. */
static void note(const char *kind, const char *path, const char *other, long long number,
                 const void *data, size_t size) {
  char head[2 * PATH_MAX + 64];
  if (record < 0 || !(below(path) || below(other))) return;
  int error = errno, length = snprintf(head, sizeof head, "%s\t%s\t%s\t%lld\t%zu\n", kind, path,
                                       other ? other : "", number, size);
  struct iovec parts[] = {{head, length}, {(void *)data, size}};
  syscall(SYS_writev, record, parts, 2);
  errno = error;
}

static void note_fd(const char *kind, int fd, long long number, const void *data, size_t size) {
  char path[PATH_MAX];
  if (record >= 0) note(kind, fd_path(fd, path), NULL, number, data, size);
}

static int noted(int result, const char *kind, const char *path, const char *other) {
  if (result == 0) note(kind, path, other, 0, NULL, 0);
  return result;
}

#define REAL(result, name, ...)                                   \
  static result (*real)(__VA_ARGS__) = NULL;                      \
  if (!real) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define ALIAS(name) __attribute__((alias(#name)))  // both are one on 64-bit machines

#define MODE                       \
  va_list rest;                    \
  va_start(rest, flags);           \
  mode_t mode = va_arg(rest, mode_t); \
  va_end(rest)

static int opened(int fd, int flags) {
  if (fd >= 0 && flags & (O_CREAT | O_TRUNC)) note_fd("open", fd, flags & O_TRUNC, NULL, 0);
  return fd;
}

int openat(int fd, const char *path, int flags, ...) {
  REAL(int, "openat", int, const char *, int, ...);
  MODE;
  char whole[PATH_MAX];
  if (flags & (O_WRONLY | O_RDWR | O_CREAT) && fails(below(at_path(fd, path, whole)))) return -1;
  return opened(real(fd, path, flags, mode), flags);
}
int openat64(int fd, const char *path, int flags, ...) ALIAS(openat);

int open(const char *path, int flags, ...) {
  MODE;
  return openat(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) ALIAS(open);

FILE *fopen(const char *path, const char *mode) {
  REAL(FILE *, "fopen", const char *, const char *);
  if (strpbrk(mode, "wa+") && fails(below(path))) return NULL;
  FILE *file = real(path, mode);
  if (file && strpbrk(mode, "wa")) note("open", path, NULL, *mode == 'w', NULL, 0);
  return file;
}
FILE *fopen64(const char *path, const char *mode) ALIAS(fopen);

ssize_t write(int fd, const void *data, size_t size) {
  REAL(ssize_t, "write", int, const void *, size_t);
  int what = fate(fd_below(fd));
  if (what == FAILS) return -1;
  ssize_t written = real(fd, data, what == DIES ? size / 2 : size);
  if (what == DIES) die();
  if (written > 0 && record >= 0)
    note_fd("write", fd, lseek(fd, 0, SEEK_CUR) - written, data, written);
  return written;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
  REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
  int what = fate(fd_below(fd));
  if (what == FAILS) return -1;
  ssize_t written = real(fd, data, what == DIES ? size / 2 : size, offset);
  if (what == DIES) die();
  if (written > 0) note_fd("write", fd, offset, data, written);
  return written;
}
ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) ALIAS(pwrite);

ssize_t writev(int fd, const struct iovec *parts, int size) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  if (fails(fd_below(fd))) return -1;
  off_t at = record < 0 ? 0 : lseek(fd, 0, SEEK_CUR);
  ssize_t written = real(fd, parts, size);
  for (int k = 0; written >= 0 && k < size; at += parts[k++].iov_len)
    note_fd("write", fd, at, parts[k].iov_base, parts[k].iov_len);
  return written;
}

size_t fwrite(const void *data, size_t size, size_t n, FILE *file) {
  REAL(size_t, "fwrite", const void *, size_t, size_t, FILE *);
  int what = folder_length ? fate(fd_below(fileno(file))) : GOES_ON;
  if (what == FAILS) return 0;
  if (what == DIES) {
    real(data, 1, size * n / 2, file);
    fflush(file);
    die();
  }
  size_t written = real(data, size, n, file);
  if (written && record >= 0)
    note_fd("write", fileno(file), ftell(file) - size * written, data, size * written);
  return written;
}

int fflush(FILE *file) {
  REAL(int, "fflush", FILE *);
  if (folder_length && file && fails(fd_below(fileno(file)))) return EOF;
  return real(file);
}

int fclose(FILE *file) {
  REAL(int, "fclose", FILE *);
  int failed = folder_length && file && fails(fd_below(fileno(file)));
  int result = real(file);
  if (failed) errno = failure;
  return failed ? EOF : result;
}

#define PATH(name, type, number)                                   \
  int name(const char *path, type argument) {                      \
    REAL(int, #name, const char *, type);                          \
    if (fails(below(path))) return -1;                             \
    int result = real(path, argument);                             \
    if (result == 0) note(#name, path, NULL, number, NULL, 0);     \
    return result;                                                 \
  }
PATH(mkdir, mode_t, 0)
PATH(chmod, mode_t, 0)
PATH(truncate, off_t, argument)

int fsync(int fd) {
  REAL(int, "fsync", int);
  if (fails(fd_below(fd))) return -1;
  int result = real(fd);
  if (result == 0) note_fd("fsync", fd, 0, NULL, 0);
  return result;
}
int fdatasync(int fd) ALIAS(fsync);  // the disk has no less than was asked for

int ftruncate(int fd, off_t size) {
  REAL(int, "ftruncate", int, off_t);
  if (fails(fd_below(fd))) return -1;
  int result = real(fd, size);
  if (result == 0) note_fd("truncate", fd, size, NULL, 0);
  return result;
}
int ftruncate64(int fd, off_t size) ALIAS(ftruncate);

int unlinkat(int fd, const char *path, int flags) {
  REAL(int, "unlinkat", int, const char *, int);
  char whole[PATH_MAX];
  const char *named = at_path(fd, path, whole);
  if (fails(below(named)) && failure != ENOSPC) return -1;
  return noted(real(fd, path, flags), "remove", named, NULL);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
  int result = unlink(path);
  return result && errno == EISDIR ? rmdir(path) : result;
}

#define PAIR(name)                                             \
  int name(const char *from, const char *to) {                 \
    REAL(int, #name, const char *, const char *);              \
    if (fails(below(from) || below(to))) return -1;            \
    return noted(real(from, to), #name, from, to);             \
  }
PAIR(link)
PAIR(symlink)

int renameat(int fd, const char *from, int to_fd, const char *to) {
  REAL(int, "renameat", int, const char *, int, const char *);
  char old[PATH_MAX], new[PATH_MAX];
  const char *source = at_path(fd, from, old), *target = at_path(to_fd, to, new);
  if (fails(below(source) || below(target))) return -1;
  return noted(real(fd, from, to_fd, to), "rename", source, target);
}

int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }
