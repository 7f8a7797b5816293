. "$(dirname "$0")/lib.sh"

make_dir dir
before=$(view dir)
s 0 gc dir
has "$out" "removed: 0 retired, 0 orphan"
s 0 compact -q dir
same "$(ls dir/*.sst | wc -l)" 4

state_before=$(state dir)
s 0 gc dir --dry-run
has "$out" "would remove: 3 retired"
same "$(state dir)" "$state_before"
s 0 gc dir --older-than 1h
same "$(ls dir/*.sst | wc -l)" 4
s 0 gc dir --json
same "$(json 'all[-1]["retired_count"], len(all), all[0]["reason"]' <<<"$out")" '[3, 4, "retired"]'
same "$(ls dir/*.sst | wc -l)" 1
same "$(view dir)" "$before"
s 0 inspect dir --json
same "$(json 'd["retired_count"]' <<<"$out")" 0

# names that sinter never gives stay; a data file that no catalog names goes
orphan=$(basename "$(ls dir/*.sst)" | sed 's/[0-9a-f]\{8\}-/00000000-/')
cp dir/*.sst "dir/$orphan"
echo mine >dir/notes.txt
cp dir/notes.txt dir/mine.sst
s 0 gc dir
has "$out" "orphan"
[ ! -e "dir/$orphan" ] || die "the orphan is still there"
[ -e dir/notes.txt ] && [ -e dir/mine.sst ] || die "gc took a file that isn't sinter's"
same "$(view dir)" "$before"

s 2 gc dir --older-than soon
s 2 gc dir --older-than 3weeks
has "$err" "ms, s, m, h, d"
s 4 gc missing
