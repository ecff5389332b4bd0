/**
 * Where the protocol meets the machine: the real clock, random numbers, sysfs, the providers that
 * are installed, and the thread that answers peers while an application computes. Nothing else of
 * the protocol knows of them.
 */
@NullMarked
package org.jofi.runtime;

import org.jspecify.annotations.NullMarked;
