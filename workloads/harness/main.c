/* The guest's main loop: points in, results out, a batch at a time. */
#include "arch.h"
#include "point.h"

enum { BATCH = 32 };

static struct header header;
/* Both with one linkage: so they lie where they always did. */
struct point points[BATCH];
struct result results[BATCH];
static const char magic[8] = {'B', 'E', 'P', 'O', 'I', 'N', 'T', 'S'};

static int header_is_ours(void) {
    for (unsigned i = 0; i < sizeof magic; i++)
        if (header.magic[i] != magic[i])
            return 0;
    return (header.version == 1 || header.version == 2) && header.record_bytes == sizeof(struct point);
}

_Noreturn void guest_main(void) {
    arch_work_end();
    point_rehearse();
    if (arch_readfile(&header, sizeof header, 0) != sizeof header || !header_is_ours())
        arch_fail(FAIL_POINTS_FILE);
    for (u64 done = 0; done < header.count;) {
        u64 batch = header.count - done < BATCH ? header.count - done : BATCH;
        u64 bytes = batch * sizeof(struct point);
        if (arch_readfile(points, bytes, sizeof header + done * sizeof(struct point)) != bytes)
            arch_fail(FAIL_POINTS_SHORT);
        for (u64 i = 0; i < batch; i++) {
            results[i] = (struct result){.index = (u32)(done + i)};
            point_run(&points[i], &results[i]);
        }
        points_further(points, results, batch);
        arch_writefile(results, batch * sizeof(struct result), done * sizeof(struct result), "results.bin");
        done += batch;
    }
    arch_exit();
}
