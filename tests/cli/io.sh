. "$(dirname "$0")/lib.sh"
# A kernel that refuses io_uring, as in many containers: `auto` goes on with posix and says so once
# on request; who asks for io_uring by name gets a clear failure.
refusing=$SINTER_TOOLS/without_uring

make_dir dir
before=$(view dir)

run 0 "$refusing" "$SINTER" scan --format json dir
same "$out" "$before"
same "$err" ""
run 0 "$refusing" "$SINTER" scan --count dir --verbose
same "$(grep -c 'posix io serves instead' <<<"$err")" 1
has "$err" "io_uring"

state_before=$(state dir)
for verb in scan compact verify; do
    run 3 "$refusing" "$SINTER" "$verb" dir --io io_uring
    one_line
    has "$err" "io_uring"
done
same "$(state dir)" "$state_before"

run 0 "$refusing" "$SINTER" compact dir --verbose
same "$(grep -c 'posix io serves instead' <<<"$err")" 1
same "$(view dir)" "$before"
run 0 "$refusing" "$SINTER" version --json
same "$(json 'd["io"]' <<<"$out")" posix
