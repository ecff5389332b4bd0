/**
 * What jofi tells about itself to those who operate it, for the modules of this project: events of
 * the JDK's flight recorder, and logs.
 */
@NullMarked
package org.jofi.transport.diagnostics;

import org.jspecify.annotations.NullMarked;
