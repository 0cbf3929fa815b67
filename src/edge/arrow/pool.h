/* pool.h: where decoded values, pages and blocks of files get their memory.
 *
 * A reader allocates and frees the same few sizes over and over, megabytes each. An allocator that gives such blocks
 * back to the system between two batches pays for every page again at its next touch, which is a sixth of the time of a
 * scan. This pool keeps what was freed, up to a bound, in classes of sizes. */
#ifndef BL_EDGE_ARROW_POOL_H
#define BL_EDGE_ARROW_POOL_H

#include <memory>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>

namespace bl {

/* The pool of all readers, writers and kernels of this folder. Safe for threads; lives as long as the process, since
 * arrays that were handed out may be released at any time. With ARROW_DEFAULT_MEMORY_POOL=system nothing is kept, so
 * that tools see each block. */
arrow::MemoryPool *pool();
/* n bytes of it. */
std::shared_ptr<arrow::Buffer> allocate(int64_t n); /* throws */

} // namespace bl
#endif
