/** A fabric that records what is registered with it, and devices on it. */
@NullMarked
package org.jofi.mr.recording;

import org.jspecify.annotations.NullMarked;
