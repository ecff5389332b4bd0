/** What a case is: a rule, what it is about, and what a provider must claim for it to apply. */
@NullMarked
package org.jofi.conformance.rule;

import org.jspecify.annotations.NullMarked;
