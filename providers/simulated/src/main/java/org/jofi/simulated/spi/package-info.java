/** The fabric SPI: discovery, domains, endpoints, queues, and the checks of what is posted. */
@NullMarked
package org.jofi.simulated.spi;

import org.jspecify.annotations.NullMarked;
