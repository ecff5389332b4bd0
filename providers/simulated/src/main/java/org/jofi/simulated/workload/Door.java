package org.jofi.simulated.workload;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * A rail as its peers need to know it.
 *
 * @param address gives its endpoint's address
 * @param windowAddress where its window is, as its peers address it
 * @param windowKey the window's key
 * @param window the window itself, to look at
 * @param sourceAddress where peers may read
 * @param sourceKey the key for it
 */
record Door(
    Supplier<byte[]> address,
    long windowAddress,
    long windowKey,
    MemorySegment window,
    long sourceAddress,
    long sourceKey) {}
