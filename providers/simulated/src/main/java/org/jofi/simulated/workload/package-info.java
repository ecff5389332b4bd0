/**
 * A random workload of sends, receives, writes, reads, registrations and closes that uses the
 * fabric SPI as a correct program does, checks every byte, and counts what went wrong.
 */
@NullMarked
package org.jofi.simulated.workload;

import org.jspecify.annotations.NullMarked;
