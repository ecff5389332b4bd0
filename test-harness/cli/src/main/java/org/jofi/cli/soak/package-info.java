/**
 * A long run under faults: what {@code jofi soak} does.
 *
 * <pre>
 * Soak            the process that chooses from the seed, injects, restarts and judges
 * FaultPlan       which fault comes next
 * FaultInjector   when it may come, and when it is mended
 * RailNetwork     network namespaces, and the rails between them
 * RankHandle      a rank, seen from there: Order goes to it, Report comes back
 * SoakRank        a rank: its transport stays open, generation after generation
 * Rounds          what a generation consists of
 * Vitals          what of a process must not grow; Growth compares two looks
 * </pre>
 */
@NullMarked
package org.jofi.cli.soak;

import org.jspecify.annotations.NullMarked;
