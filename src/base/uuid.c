#include "base/uuid.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/hash.h"

static sinter_status
random_bytes(uint8_t *target, size_t size, sinter_error *err)
{
    size_t filled = 0;

    while (filled < size) {
        const ssize_t n = getrandom(target + filled, size - filled, 0);

        if (n < 0 && errno != EINTR) {
            return SINTER__ERR_SYS(err, SINTER_E_IO, errno, NULL, -1,
                                   "the system gave no random bytes");
        }
        filled += n > 0 ? (size_t)n : 0;
    }
    return SINTER_OK;
}

sinter_status
sinter__uuid(const sinter_env *env, uint64_t nonce, char out[SINTER__UUID_CHARS + 1],
             sinter_error *err)
{
    uint8_t b[16] = {0};

    if (env->random_seed != 0) {
        sinter__put_le64(b, sinter__hash_seeded(&nonce, sizeof nonce, env->random_seed));
        sinter__put_le64(b + 8, sinter__hash_seeded(&nonce, sizeof nonce, ~env->random_seed));
    } else {
        SINTER__CHECK(random_bytes(b, sizeof b, err));
    }
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    (void)snprintf(out, SINTER__UUID_CHARS + 1,
                   "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                   b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                   b[14], b[15]);
    return SINTER_OK;
}
