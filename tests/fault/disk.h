/* disk.h: what a power cut leaves of a folder: of each file the bytes that it had when it was last synced, of each
 * folder the names that it had when it was last synced, or all names of now (a file system may write them early). A
 * folder's own name lasts when the folder is synced, as journaling file systems have it.
 *
 *   disk d;
 *   disk_begin(&d, work);                  all that is there lasts
 *   …fault_sys_watch(disk_seen, &d)…       after each call that changes something: d.on_change, where it is set
 *   disk_leave(&d, false, to);             copies what a power cut leaves now; true: with the names of now */
#ifndef BL_TESTS_FAULT_DISK_H
#define BL_TESTS_FAULT_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct disk_file {
  ino_t ino;
  char *bytes;
  size_t n;
} disk_file;

typedef struct disk_name {
  char *name;
  ino_t ino;
  bool is_folder;
} disk_name;

typedef struct disk_folder {
  ino_t ino;
  disk_name *names;
  size_t n;
} disk_folder;

typedef struct disk {
  const char *root;
  disk_file *files;
  size_t n_files;
  disk_folder *folders;
  size_t n_folders;
  void (*on_change)(void *user, const char *call);
  void *user;
} disk;

void disk_begin(disk *d, const char *root);
void disk_seen(void *d, const char *call, int fd, const char *path);
void disk_leave(const disk *d, bool names_of_now, const char *to);
void disk_end(disk *d);

#endif
