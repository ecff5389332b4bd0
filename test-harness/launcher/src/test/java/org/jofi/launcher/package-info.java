/**
 * The launcher's tests: they run it on a tree of their own, with a JDK, a Maven and an apt that
 * only take notes.
 */
@NullMarked
package org.jofi.launcher;

import org.jspecify.annotations.NullMarked;
