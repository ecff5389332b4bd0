package org.jofi.cli.soak;

import java.time.Duration;
import java.util.Set;

/**
 * What a soak is to do.
 *
 * @param ranks how many, 2 or more
 * @param rails of each
 * @param length for how long faults come
 * @param seed chooses rounds and faults
 * @param faults which come; may be none
 * @param timeout how long a rank waits without progress
 */
public record SoakOptions(
    int ranks, int rails, Duration length, long seed, Set<FaultKind> faults, Duration timeout) {}
