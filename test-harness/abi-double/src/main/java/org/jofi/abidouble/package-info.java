/**
 * A double at libfabric's C boundary: objects whose tables of functions lead to Java, which check
 * what reaches them as a CXI provider would and hand it on to a real provider.
 */
@NullMarked
package org.jofi.abidouble;

import org.jspecify.annotations.NullMarked;
