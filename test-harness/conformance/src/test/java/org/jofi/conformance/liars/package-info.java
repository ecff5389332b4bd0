/**
 * Deliberately broken providers, each of which breaks one rule: the simulated provider behind a
 * decorator that lies.
 */
@NullMarked
package org.jofi.conformance.liars;

import org.jspecify.annotations.NullMarked;
