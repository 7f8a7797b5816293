/*
 * sinter: an LSM compaction engine. This header includes all others.
 */
#ifndef SINTER_SINTER_H
#define SINTER_SINTER_H

#include "sinter/base.h"
#include "sinter/batch.h"
#include "sinter/bucket.h"
#include "sinter/catalog.h"
#include "sinter/compact.h"
#include "sinter/doc.h"
#include "sinter/env.h"
#include "sinter/format.h"
#include "sinter/io.h"
#include "sinter/levels.h"
#include "sinter/manager.h"
#include "sinter/merge.h"
#include "sinter/merge_tree.h"
#include "sinter/metrics.h"
#include "sinter/nested.h"
#include "sinter/predicate.h"
#include "sinter/rows.h"
#include "sinter/scheduler.h"
#include "sinter/sst.h"
#include "sinter/strategy.h"
#include "sinter/table.h"
#include "sinter/table_check.h"
#include "sinter/table_compact.h"
#include "sinter/table_create.h"
#include "sinter/table_files.h"
#include "sinter/table_maintenance.h"
#include "sinter/table_scan.h"
#include "sinter/table_stats.h"
#include "sinter/table_write.h"
#include "sinter/type.h"
#include "sinter/version.h"

#endif
