/** The counters of other processes, as tables, JSON, Prometheus' text and a census. */
@NullMarked
package org.jofi.cli.stat;

import org.jspecify.annotations.NullMarked;
