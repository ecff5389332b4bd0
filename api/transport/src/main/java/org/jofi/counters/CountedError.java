package org.jofi.counters;

import java.time.Instant;

/**
 * Something that failed, once however often it did. What differs in numbers only is the same.
 *
 * @param text what failed, as it was put the first time
 * @param count how often, at least 1
 * @param first when first, to about 100 ms
 * @param last when last, likewise
 */
public record CountedError(String text, int count, Instant first, Instant last) {}
