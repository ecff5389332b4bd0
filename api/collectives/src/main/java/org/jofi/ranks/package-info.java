/**
 * Processes, or threads, that work together: each has a number, and they tell each other what they
 * need to connect. {@link org.jofi.ranks.Ranks} is one rank's view of them.
 */
@NullMarked
package org.jofi.ranks;

import org.jspecify.annotations.NullMarked;
