/*
 * Strings and maps of Java, where files that it wrote show how it holds them.
 *
 * The order in which a HashMap is walked: an item stands in the slot that its hash means. In its
 * slot it stands behind those that were put in before with put(), and before those that were put
 * in before with computeIfAbsent(). Slots of eight items and more become trees in Java, whose order
 * isn't followed here.
 */
#ifndef SINTER_TABLE_JAVA_ORDER_H
#define SINTER_TABLE_JAVA_ORDER_H

#include "sinter/base.h"

/** Take the next character off a text of UTF-8, as UTF-16: one unit or two. 0: there is none. Of
 *  bytes that are no UTF-8 come any units. */
size_t
sinter__java_units(const char **text, uint16_t out[2]);

/** Java's hash of a string. */
uint32_t
sinter__java_string_hash(const char *text);

/** The slot of a hash in a map that was made for so many items: those that are in it, but without
 *  the last one if nothing was asked of the map behind its computeIfAbsent(), which looks at the
 *  size before it puts one in. */
uint32_t
sinter__java_slot(uint32_t hash, size_t items);

#endif
