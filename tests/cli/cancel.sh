. "$(dirname "$0")/lib.sh"
# INT and TERM cancel: exit code 130 or 143, and the directory is as before.

rows 1 3000 x >a.csv
s 0 ingest -q dir a.csv --key id:BIGINT
before=$(state dir)

# an ingest that waits for its input; the writer's end is held open. More than a pipe holds is
# written first, so that the program is at work when the signal comes.
rows 1 20000 "more than the pipe holds" >long.csv
for signal in INT TERM; do
    mkfifo "pipe$signal"
    # a background job of a shell ignores INT; env gives the default back
    env --default-signal=INT "$SINTER" ingest dir - --format csv <"pipe$signal" 2>.err &
    pid=$!
    exec 9>"pipe$signal"
    cat long.csv >&9
    kill -s "$signal" $pid
    code=0
    wait $pid || code=$?
    exec 9>&-
    err=$(cat .err)
    if [ $signal = INT ]; then same "$code" 130; else same "$code" 143; fi
    one_line
    has "$err" "cancelled by SIG$signal"
    same "$(state dir)" "$before"
done

# compactions cancelled at many points: cancelled and unchanged, or done before the signal came
for i in 1 2 3 4; do
    rows "$i" $((200000 / scale)) "run $i" >b.csv
    s 0 ingest -q big b.csv --key id:BIGINT --buffer 4mb
done
cp -r big copy
view_before=$(view big | sha256sum)
began=$(date +%s%N)
"$SINTER" compact -q big
took=$((($(date +%s%N) - began) / 1000))
cancelled=0
for i in $(seq 1 $((24 / scale))); do
    rm -rf big
    cp -rp copy big
    state_before=$(state big)
    signal=INT
    wanted=130
    if [ $((i % 2)) -eq 0 ]; then
        signal=TERM
        wanted=143
    fi
    code=0
    env --default-signal=INT "$SINTER" compact -q big 2>.err &
    pid=$!
    sleep "$(printf '0.%06d' $((took * i * scale / 26 % 1000000)))"
    kill -s $signal $pid 2>/dev/null || true
    wait $pid || code=$?
    if [ "$code" -eq "$wanted" ] && [ -s .err ]; then
        cancelled=$((cancelled + 1))
        err=$(cat .err)
        one_line
        same "$(state big)" "$state_before"
    elif [ "$code" -ne 0 ] && [ "$code" -ne "$wanted" ]; then
        die "exit code $code: $(cat .err)"
    fi
done
same "$(view big | sha256sum)" "$view_before"
[ "$cancelled" -gt 0 ] || die "no signal came in time ($took us)"
echo "$cancelled compactions cancelled"
