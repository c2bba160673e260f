/* A kernel's way through a page fault of anonymous memory, from the address to an entry in the page table (harness/faults.h).

   Ours, after the steps that textbooks give for Unix kernels (docs/guests.md): find the region in the address space's balanced
   tree, see that it allows the access and has no such page yet, take a frame off the free list, fill its descriptor in, walk
   down the page table, install the entry, put the frame on the list of those in use, count. What belongs to several
   processors is locked: an atomic exchange. How long it takes, the simulated machine says: no step is there, or repeated,
   for the sake of a number. */
#include "faults.h"

enum {
    FRAME = 4096,
    FRAMES_OF_HUGE = HUGE / FRAME,
    FRAMES = MAX_STREAM / FRAME + 2 * FRAMES_OF_HUGE, /* the longest stream, which begins and ends within a 2 MiB page */
    REGIONS = 31, /* about what a small program with a few libraries has; all levels of the tree are full */
    BELOW = 7,    /* of them, below the one that pages appear in */
};
#define PRESENT UINT64_C(1)
/* Address bits that a level of the page table decides. */
enum { FRAME_BITS = 12, LEVEL_BITS = 9 };

enum { READABLE = 1, WRITABLE = 2, ANONYMOUS = 4 };
enum { FREE = 1, IN_USE = 2, HEAD = 4, TAIL = 8, REFERENCED = 16, DIRTY = 32 };

struct region;

/* What a kernel keeps of every frame of 4 KiB: a line. */
struct frame {
    u64 state;
    u32 references, mappings;
    struct region *owner;
    u64 index; /* of the page in its region */
    struct frame *next, *previous;
    struct frame *head; /* of a 2 MiB page */
    u64 offset;         /* where the frame lies, from the windows' start */
};

struct region {
    u64 start, end;
    struct region *left, *right;
    u32 rights, flags;
    u64 resident;
    struct frame **pages; /* by index: those that are there */
    u32 lock;
};

/* The address space and the memory: everything is set anew for each mapping. */
struct memory {
    u32 space_readers, free_lock, use_lock, table_lock;
    struct region *tree;
    u64 *root_table;
    u64 free, in_use, resident, faults, zeroed;
    struct frame *free_list;
    struct frame used; /* the ring's own link */
};

_Static_assert(sizeof(struct frame) == 64, "a descriptor is a line");
_Static_assert(FRAMES * (u64)FRAME >= MAX_STREAM + HUGE, "frames for the longest stream");

#define LATE __attribute__((section(".late"), aligned(64)))
LATE static struct frame frames[FRAMES];
LATE static struct frame *pages[FRAMES];
LATE static struct region regions[REGIONS];
LATE static struct memory memory;

static void lock(u32 *word) {
    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE)) {
    }
}

static void unlock(u32 *word) { __atomic_store_n(word, 0, __ATOMIC_RELEASE); }

static void prepare_regions(u64 first, u64 last) {
    for (u64 i = 0; i < REGIONS; i++) {
        u64 below = WINDOWS_VIRTUAL - (BELOW - i) * HUGE, above = WINDOWS_VIRTUAL * 2 + i * HUGE;
        u64 start = i < BELOW ? below : i == BELOW ? first : above;
        regions[i] = (struct region){
            .start = start, .end = i == BELOW ? last : start + HUGE, .rights = READABLE | WRITABLE, .flags = ANONYMOUS};
        u64 down = ((i + 1) & -(i + 1)) / 2; /* in order, all levels full: the lowest bit of a node's number is its level's */
        if (down) {
            regions[i].left = &regions[i - down];
            regions[i].right = &regions[i + down];
        }
    }
    regions[BELOW].pages = pages;
    memory.tree = &regions[REGIONS / 2];
}

/* The frames that belong to [first, last), free, in order. */
static void prepare_frames(u64 first, u64 last, u64 each) {
    u64 count = (last - first) / FRAME;
    for (u64 i = 0; i < count; i++) {
        frames[i] = (struct frame){.state = FREE, .offset = first - WINDOWS_VIRTUAL + i * FRAME};
        frames[i].next = i + each < count ? &frames[i + each] : 0;
        pages[i] = 0;
    }
    memory.free_list = frames;
    memory.free = count;
}

void faults_prepare(u64 first, u64 last, u32 flags) {
    /* Field by field: of a whole structure the compiler makes a call of memset. */
    memory.space_readers = memory.free_lock = memory.use_lock = memory.table_lock = 0;
    memory.root_table = arch_root_table();
    memory.in_use = memory.resident = memory.faults = memory.zeroed = 0;
    memory.used.next = memory.used.previous = &memory.used;
    prepare_regions(first, last);
    prepare_frames(first, last, flags & MAP_HUGE ? FRAMES_OF_HUGE : 1);
}

static struct region *find(u64 address) {
    struct region *r = memory.tree;
    while (r && (address < r->start || address >= r->end))
        r = address < r->start ? r->left : r->right;
    return r;
}

static struct frame *take_free(u64 count) {
    lock(&memory.free_lock);
    struct frame *f = memory.free_list;
    if (f) {
        memory.free_list = f->next;
        memory.free -= count;
    }
    unlock(&memory.free_lock);
    return f;
}

/* A 2 MiB page is 512 frames, each with a descriptor that says so. */
static void describe(struct frame *f, struct region *r, u64 index, u64 count) {
    f->state = IN_USE | HEAD | REFERENCED | DIRTY;
    f->references = f->mappings = 1;
    f->owner = r;
    f->index = index;
    f->head = f;
    for (struct frame *tail = f + 1; tail < f + count; tail++) {
        tail->state = IN_USE | TAIL;
        tail->head = f;
    }
}

static void use(struct frame *f) {
    lock(&memory.use_lock);
    f->previous = &memory.used;
    f->next = memory.used.next;
    f->next->previous = memory.used.next = f;
    memory.in_use++;
    unlock(&memory.use_lock);
}

static u64 *entry_of(u64 address, u32 flags) {
    u64 *table = memory.root_table;
    for (unsigned level = TABLE_LEVELS - 1;; level--) {
        u64 *entry = &table[address >> (FRAME_BITS + level * LEVEL_BITS) & (TABLE - 1)];
        if (level == (flags & MAP_HUGE ? 1u : 0u))
            return entry;
        table = arch_next_table(*entry);
    }
}

static int install(u64 address, const struct frame *f, u32 flags) {
    u64 *entry = entry_of(address, flags);
    lock(&memory.table_lock);
    int absent = !(*entry & PRESENT);
    if (absent)
        *entry = arch_page_entry(f->offset, flags);
    unlock(&memory.table_lock);
    return absent;
}

/* A frame for the page at `start`, mapped. 0: there is one already, or none is left. */
static int add_page(struct region *r, u64 start, u32 flags) {
    u64 index = (start - r->start) / FRAME, count = flags & MAP_HUGE ? FRAMES_OF_HUGE : 1;
    lock(&r->lock);
    struct frame *f = r->pages[index] ? 0 : take_free(count);
    if (f) {
        describe(f, r, index, count);
        r->pages[index] = f;
        r->resident += count;
    }
    unlock(&r->lock);
    if (!f || !install(start, f, flags))
        return 0;
    use(f);
    __atomic_fetch_add(&memory.resident, count, __ATOMIC_RELAXED);
    memory.zeroed += count;
    return 1;
}

int faults_page_in(u64 start, u32 flags) {
    __atomic_fetch_add(&memory.space_readers, 1, __ATOMIC_ACQUIRE);
    memory.faults++;
    struct region *r = find(start);
    int added = r && r->rights & READABLE && r->flags & ANONYMOUS && r->pages && add_page(r, start, flags);
    __atomic_fetch_sub(&memory.space_readers, 1, __ATOMIC_RELEASE);
    if (added)
        arch_page_appeared(start);
    return added;
}
