/** Tests of registrations against a recording fabric. */
@NullMarked
package org.jofi.mr;

import org.jspecify.annotations.NullMarked;
