/**
 * What NICs without hardware share, whatever kind they are: how a test has some, with an
 * environment that shows them to its child processes.
 */
@NullMarked
package org.jofi.nicdouble;

import org.jspecify.annotations.NullMarked;
