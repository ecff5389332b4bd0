/**
 * Runs the tests of all modules: {@code jofi test}. {@link org.jofi.runner.TestRun} plans and
 * counts, a {@link org.jofi.runner.Worker} in a process of its own runs one class after the other.
 */
@NullMarked
package org.jofi.runner;

import org.jspecify.annotations.NullMarked;
