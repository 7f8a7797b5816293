/*
 * Inside of a scan: what its other ends need of it.
 */
#ifndef SINTER_TABLE_SCAN_INTERNAL_H
#define SINTER_TABLE_SCAN_INTERNAL_H

#include "sinter/table_scan.h"

/** The environment of the scan's table. */
const sinter_env *
sinter__scan_env(const sinter_table_scan *scan);

#endif
