/* Decodes one reply, for counting instructions: the file holds int32 count, count x 4 int32 ops, then the wire bytes
 * (native order as Python's array writes it). The function `counted` is what is counted; it runs once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/decode_core.h"
#include "native/decode_plan.h"

static __attribute__((noinline)) int counted(struct ia_decoder *d, const uint8_t *data, const uint8_t *end)
{
    const uint8_t *stop;
    return ia_decoder_feed(d, data, end, &stop);
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    static struct ia_op ops[256];
    static uint8_t wire[64 << 20];
    int32_t count;
    if (!file || fread(&count, sizeof count, 1, file) != 1 || count < 1 || count > 256)
        return 2;
    if (fread(ops, sizeof *ops, (size_t)count, file) != (size_t)count)
        return 2;
    const size_t size = fread(wire, 1, sizeof wire, file);
    fclose(file);
    struct ia_decoder d;
    int bad;
    if (ia_decoder_init(&d, ops, count, INT64_C(1) << 30, INT64_C(1) << 30, 65536, NULL, &bad))
        return 3;
    if (counted(&d, wire, wire + size) != IA_NEED_MORE)
        return 4;
    printf("%lld\n", (long long)d.rows);
    ia_decoder_free(&d);
    return 0;
}
