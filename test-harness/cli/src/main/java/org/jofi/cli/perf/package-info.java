/** Latency and bandwidth between two ranks, and whether every byte arrived. */
@NullMarked
package org.jofi.cli.perf;

import org.jspecify.annotations.NullMarked;
