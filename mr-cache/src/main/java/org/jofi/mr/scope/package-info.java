/** What registrations belong to, a domain or an endpoint, and the rails that they are made on. */
@NullMarked
package org.jofi.mr.scope;

import org.jspecify.annotations.NullMarked;
