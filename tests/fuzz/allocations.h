/* Allocations that can be made to fail. A program includes this, then says `#define malloc limited_malloc` and so on around
 * the headers whose allocations are meant. */
#ifndef INFORMIX_ARROW_FUZZ_ALLOCATIONS_H
#define INFORMIX_ARROW_FUZZ_ALLOCATIONS_H

#include <stdlib.h>

static long allocations_left = -1; /* -1: no limit */

static int may_allocate(void)
{
    return allocations_left < 0 || allocations_left-- > 0 || (allocations_left = 0);
}

static void *limited_realloc(void *p, size_t n)
{
    return may_allocate() ? realloc(p, n) : NULL;
}

static void *limited_calloc(size_t n, size_t size)
{
    return may_allocate() ? calloc(n, size) : NULL;
}

static void *limited_malloc(size_t n)
{
    return may_allocate() ? malloc(n) : NULL;
}

#ifdef __linux__ /* for huge pages, which no other system is asked for */
__attribute__((unused)) static void *limited_aligned_alloc(size_t alignment, size_t n)
{
    return may_allocate() ? aligned_alloc(alignment, n) : NULL;
}
#endif

#endif
