/**
 * Hosts and NICs, the life cycles of what is opened on them, and what all of these share: one lock,
 * the time, contracts and faults.
 */
@NullMarked
package org.jofi.simulated.network;

import org.jspecify.annotations.NullMarked;
