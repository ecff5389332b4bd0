/** JMH benchmarks of jofi. */
@NullMarked
package org.jofi.benchmarks;

import org.jspecify.annotations.NullMarked;
