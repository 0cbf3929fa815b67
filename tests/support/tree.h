/* tree.h: folders of files copied. */
#ifndef BL_TEST_TREE_H
#define BL_TEST_TREE_H

#include <stddef.h>

/* A file's bytes, in the place of what is there. */
void test_copy_file(const char *from, const char *to);
/* All of a folder, to one that is not there yet; names that begin with '.' stay behind. */
void test_copy_tree(const char *from, const char *to);
/* Everything in the folder goes; the folder stays. */
void test_empty_tree(const char *folder);
/* Files below it, temporary ones and locks included. */
size_t test_count_files(const char *folder);

#endif
