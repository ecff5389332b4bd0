/**
 * Closes a multi-rail endpoint and everything that belongs to it, in an order that providers
 * accept.
 */
@NullMarked
package org.jofi.mr.teardown;

import org.jspecify.annotations.NullMarked;
