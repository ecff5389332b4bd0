/**
 * Measures the collective operations of {@link org.jofi.collectives} between ranks, and checks each
 * element of what they give. {@link org.jofi.cli.collectives.CollectivesRun} is one rank's part,
 * {@link org.jofi.cli.collectives.Contributions} says what ranks contribute and what has to come of
 * it.
 */
@NullMarked
package org.jofi.cli.collectives;

import org.jspecify.annotations.NullMarked;
