/*
 * The properties section: names and values, some of them sinter's own.
 */
#ifndef SINTER_SST_PROPERTIES_H
#define SINTER_SST_PROPERTIES_H

#include "base/alloc.h"
#include "sinter/sst.h"
#include "sst/layout.h"

/** Names that begin so are sinter's; user properties may not. */
#define SINTER__SST_OWN_PREFIX "sinter."

/**
 * Append the section: the built-in properties of `properties` (not those that the footer holds),
 * then `user`, which already has the form of the section.
 */
sinter_status
sinter__sst_put_properties(const sinter_env *env, const sinter_sst_properties *properties,
                           sinter_bytes user, sinter__buffer *out, sinter_error *err);

/** Let a block count in the properties that name the largest of its kind. */
void
sinter__sst_count_largest(sinter_sst_properties *properties, const sinter__sst_entry *entry);

/** Append one property in the form of the section. */
sinter_status
sinter__sst_put_property(const sinter_env *env, const char *name, sinter_bytes value,
                         sinter__buffer *out, sinter_error *err);

/**
 * Read a section. Bytes and strings in `out` point into `section`, which must live as long.
 * Fields that the footer holds are left alone. NULL, or what is wrong with the section.
 */
const char *
sinter__sst_get_properties(sinter_bytes section, sinter_sst_properties *out);

/** Find a user property; strings in a section end with a zero byte. NULL: none. */
const char *
sinter__sst_find_property(sinter_bytes section, const char *name);

#endif
