. "$(dirname "$0")/lib.sh"
# What a compaction takes from others: rates, niceness, and a control file that changes them.

make_dir dir
cp -r dir copy
before=$(view dir)

# control LINES: replace the control file as a whole
control() {
    printf '%s\n' "$@" >.new
    mv .new control
}

# begin OPTIONS: a compaction of dir that looks at `control`; it has begun when it is nice
begin() {
    rm -rf dir && cp -rp copy dir
    state_before=$(state dir)
    env --default-signal=INT "$SINTER" compact dir --control control --nice 7 --quiet "$@" 2>.err &
    pid=$!
    until [ "$(nice_of $pid)" = 7 ]; do
        kill -0 $pid || die "it ended: $(cat .err)"
        sleep 0.02
    done
}

nice_of() {
    "$PYTHON" -c 'import os, sys; print(os.getpriority(os.PRIO_PROCESS, int(sys.argv[1])))' "$1"
}

# ends CODE: what was begun ends
ends() {
    local code=0
    wait $pid || code=$?
    err=$(cat .err)
    [ "$code" -eq "$1" ] || die "exit code $code instead of $1: $err"
}

# a pause lasts, keeps the directory as it was, and ends
control 'pause = true'
begin --io-priority best-effort:6
if command -v ionice >/dev/null; then
    same "$(ionice -p $pid)" "best-effort: prio 6"
fi
sleep 1.2
kill -0 $pid || die "it didn't stand still"
same "$(state dir)" "$state_before"
control 'pause = false'
ends 0
same "$(view dir)" "$before"
s 0 verify dir

# a paused one is cancelled at once
control 'pause = true'
begin
kill -s TERM $pid
ends 143
one_line
same "$(state dir)" "$state_before"

# a rate that would take days is changed while it is waited for; bad lines are told once
control
begin --rate 1 --read-rate 1 --file.compression none
control 'rate = fast' '# nothing' 'read_rate = 1'
until [ "$(grep -c ignored .err)" -ge 2 ]; do sleep 0.05; done
control 'rate = fast' 'rate = 100mb/s' 'read-rate = 0'
ends 0
same "$(grep -c '"fast" is no size' .err)" 1
same "$(wc -l <.err)" 2
has "$err" "control:1: "
has "$err" "control:3: unknown key 'read_rate'"
same "$(view dir)" "$before"

# who waits for tokens is cancelled at once
control
begin --rate 1
kill -s INT $pid
ends 130
same "$(state dir)" "$state_before"

# threads come and go; the rows are the same
control 'threads = 1'
begin --sinter.sub-compactions 4 --file.block-size 4kb --threads 4 --rate 1
control 'threads = 3' 'rate = 60kb'
ends 0
same "$(view dir)" "$before"

# a control file that can't be read is told once, and one that isn't there is waited for
rm control
mkdir control
rm -rf dir && cp -r copy dir
s 0 compact dir -q --control control
one_line
has "$err" "control: can't read"
rmdir control
rm -rf dir && cp -r copy dir
s 0 compact dir -q --control control
same "$err" ""

# reads have a rate of their own: the same rows, in the time that it asks for at least
rm -rf dir && cp -r copy dir
size=$(find dir -name '*.sst' -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
begin_ns=$(date +%s%N)
s 0 compact dir -q --read-rate 20kb/s
took=$((($(date +%s%N) - begin_ns) / 1000000))
[ "$took" -ge $((size * 1000 / 20480 - 200)) ] || die "$size bytes at 20 kb a second took $took ms"
same "$(view dir)" "$before"

s 2 compact dir --read-rate fast
has "$err" "option '--read-rate': \"fast\" is no size"
s 2 compact dir --nice 20
has "$err" "option '--nice' must be from 0 to 19"
for bad in fast best-effort:8 best-effort: best-effort:11 idle:1; do
    s 2 compact dir --io-priority $bad
    one_line
    has "$err" "option '--io-priority' is idle, best-effort"
done
s 0 verify dir --nice 1 --io-priority idle
s 0 scan dir --nice 1 --io-priority best-effort --limit 1
s 0 ingest -q dir a.csv --nice 3
