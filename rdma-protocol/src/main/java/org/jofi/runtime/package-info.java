/**
 * Connects the protocol to the machine: the real clock, random numbers, sysfs, the installed
 * providers, and the thread that answers peers while an application computes. No other package of
 * the protocol uses them.
 */
@NullMarked
package org.jofi.runtime;

import org.jspecify.annotations.NullMarked;
