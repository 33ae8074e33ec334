// Scratch memory: one block, handed out from its beginning and given back in reverse order.
#include "base/base.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define ARENA_RED_ZONE 64 // bytes after each piece
#define ARENA_POISON(at, bytes) ASAN_POISON_MEMORY_REGION(at, bytes)
#define ARENA_UNPOISON(at, bytes) ASAN_UNPOISON_MEMORY_REGION(at, bytes)
#else
#define ARENA_RED_ZONE 0
#define ARENA_POISON(at, bytes) ((void)0)
#define ARENA_UNPOISON(at, bytes) ((void)0)
#endif
#define ARENA_ALIGN 64 // bytes: a cache line, and enough for every vector type

// Bytes of a piece with its red zone, rounded up to the alignment.
static size_t arena_piece(size_t bytes)
{
    return (bytes + ARENA_RED_ZONE + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
}

// SIZE_MAX instead of an overflow, which pl_arena_init then refuses.
size_t pl_arena_bytes(size_t count, size_t size)
{
    return count > (SIZE_MAX - ARENA_RED_ZONE - ARENA_ALIGN) / (size ? size : 1) ? SIZE_MAX
                                                                                 : arena_piece(count * size);
}

bool pl_arena_init(pl_arena *arena, size_t bytes)
{
    *arena = (pl_arena){0};
    if (bytes > SIZE_MAX - ARENA_ALIGN) {
        return false;
    }

    // one block, with slack to align its start
    arena->block = pl_resize_array(NULL, bytes + ARENA_ALIGN, 1);
    if (!arena->block) {
        return false;
    }

    const uintptr_t at = (uintptr_t)arena->block, over = at % ARENA_ALIGN;
    arena->first = (char *)arena->block + (over ? ARENA_ALIGN - over : 0);
    arena->size = bytes;
    ARENA_POISON(arena->first, bytes);

    return true;
}

void pl_arena_clear(pl_arena *arena)
{
    if (arena->block) {
        ARENA_UNPOISON(arena->first, arena->size);
    }
    pl_free(arena->block);
    *arena = (pl_arena){0};
}

size_t pl_arena_begin(const pl_arena *arena)
{
    return arena->used;
}

void *pl_arena_take(pl_arena *arena, size_t count, size_t size)
{
    const size_t bytes = pl_arena_bytes(count, size);
    PL_ASSERT(bytes <= arena->size - arena->used);
    void *piece = arena->first + arena->used;
    ARENA_UNPOISON(piece, count * size);
    arena->used += bytes;
    arena->most = arena->used > arena->most ? arena->used : arena->most;

    return piece;
}

void pl_arena_end(pl_arena *arena, size_t mark)
{
    PL_ASSERT(mark <= arena->used);
    ARENA_POISON(arena->first + mark, arena->used - mark);
    arena->used = mark;
}
