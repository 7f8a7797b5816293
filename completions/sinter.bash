# Completion of sinter for bash. Made from the option tables by sinter_gen_docs.
_sinter() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local verb=${COMP_WORDS[1]} options="" keys="" values=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "ingest compact plan run commit scan get inspect status verify create write snapshots schema files partitions expire remove-orphans stats rescue gc options version --help --version" -- "$word"))
        return
    fi
    keys=" --target-file-size --compaction.small-file-ratio --compaction.force-rewrite-all-files --num-sorted-run.compaction-trigger --num-sorted-run.stop-trigger --num-levels --compaction.max-size-amplification-percent --compaction.size-ratio --compaction.offpeak.start.hour --compaction.offpeak.end.hour --compaction.offpeak-ratio --compaction.optimization-interval --compaction.total-size-threshold --compaction.incremental-size-threshold --compaction.force-up-level-0 --lookup-compact --lookup-compact.max-interval --force-lookup --lookup-wait --full-compaction.delta-commits --commit.force-compact --write-only --write-buffer-size --write-buffer-spillable --write-buffer-spill.max-disk-size --target-file-row-num --compaction.min.file-num --compaction.file-num-limit --compaction.delete-ratio-threshold --source.split.open-file-cost --sort-engine --sort-spill-threshold --spill-compression --spill-compression.zstd-level --sinter.spill-limit --local-sort.max-num-file-handles --merge-engine --ignore-delete --file.compression --file.compression.per.level --file.compression.zstd-level --file.block-size --sinter.block-passthrough --sinter.filter.bits-per-key --sinter.io.direct --sinter.verify-output --sinter.sub-compactions --sinter.memory-budget"
    case $before in
    --format)
        values="auto json csv tsv" ;;
    --io)
        values="auto posix io_uring" ;;
    --progress)
        values="auto always never" ;;
    --drop-delete)
        values="auto yes no" ;;
    esac
    if [ -n "$values" ]; then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
        return
    fi
    case $verb in
    ingest)
        options="--key --columns --types --format --kind-column --deletes --buffer --buffer-rows --per-file --hex-strings --json --dry-run --option --io --memory --verbose --nice --io-priority --progress --quiet --help$keys" ;;
    compact)
        options="--output-level --max-level --unit --full --auto --drop-delete --partition --bucket --max-tasks --commit-user --branch --base-dir --result --catalog-out --rate --read-rate --control --threads --spill-dir --spill-limit --verify-output --json --dry-run --option --io --memory --verbose --nice --io-priority --progress --quiet --help$keys" ;;
    plan)
        options="--output-level --max-level --unit --full --auto --drop-delete --partition --bucket --max-tasks --commit-user --branch --base-dir --explain --max-task-size --json --option --io --memory --verbose --help$keys" ;;
    run)
        options="--base-dir --spill-dir --rate --threads --option --io --memory --verbose --nice --io-priority --help$keys" ;;
    commit)
        options="--keep --branch --json --help" ;;
    scan)
        options="--begin --end --limit --count --where --partition --bucket --snapshot --tag --timestamp --branch --columns --format --kinds --deletes --no-header --hex-strings --base-dir --spill-dir --json --option --io --memory --verbose --nice --io-priority --help$keys" ;;
    get)
        options="--format --kinds --deletes --hex-strings --base-dir --json --option --io --memory --verbose --help$keys" ;;
    inspect)
        options="--blocks --base-dir --sections --json --help" ;;
    status)
        options="--base-dir --json --option --help$keys" ;;
    verify)
        options="--base-dir --snapshot --tag --branch --all --metadata --json --io --memory --verbose --nice --io-priority --progress --quiet --help" ;;
    create)
        options="--schema --columns --primary-key --partition-by --comment --option --json --progress --quiet --help" ;;
    write)
        options="--format --user --identifier --buffer --spill-dir --threads --hex-strings --json --io --memory --verbose --nice --io-priority --progress --quiet --help" ;;
    snapshots)
        options="--branch --json --progress --quiet --help" ;;
    schema)
        options="--id --branch --json --help" ;;
    files)
        options="--snapshot --tag --branch --json --progress --quiet --help" ;;
    partitions)
        options="--snapshot --tag --branch --json --progress --quiet --help" ;;
    expire)
        options="--retain-min --retain-max --older-than --limit --branch --json --dry-run --progress --quiet --help" ;;
    remove-orphans)
        options="--older-than --json --dry-run --progress --quiet --help" ;;
    stats)
        options="--snapshot --tag --branch --buckets --json --help" ;;
    rescue)
        options="--out --like --json --io --memory --verbose --help" ;;
    gc)
        options="--older-than --json --dry-run --progress --quiet --help" ;;
    options)
        options="--json --help" ;;
    version)
        options="--json --io --memory --verbose --help" ;;
    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _sinter sinter
