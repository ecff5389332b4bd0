package org.jofi.simulated.workload;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * What peers need to know about a rail: its address and the regions that they may access.
 *
 * @param address returns its endpoint's address
 * @param windowAddress where its window is, as peers address it; the window is the region that
 *     peers write into
 * @param windowKey the window's key
 * @param window the memory of the window, for checks
 * @param sourceAddress where its source is, as peers address it; the source is the region that
 *     peers read from
 * @param sourceKey the source's key
 */
record ConnectionInfo(
    Supplier<byte[]> address,
    long windowAddress,
    long windowKey,
    MemorySegment window,
    long sourceAddress,
    long sourceKey) {}
