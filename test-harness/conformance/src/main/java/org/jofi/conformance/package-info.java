/**
 * A conformance kit for providers of the fabric SPI: does a provider keep the contracts that a
 * multi-rail RDMA transport relies on?
 *
 * <p>A {@link org.jofi.conformance.rule.Case} tests one rule of libfabric's man pages with
 * endpoints of one {@link org.jofi.conformance.subject.Subject}, in one process. A provider that
 * does not promise what a rule is about is not judged by it. {@link
 * org.jofi.conformance.CaseRunner} runs cases in this process, {@link
 * org.jofi.conformance.ChildRunner} in processes of their own, which may crash or hang; {@link
 * org.jofi.conformance.ConformanceSuite} is the same as a JUnit class.
 */
@NullMarked
package org.jofi.conformance;

import org.jspecify.annotations.NullMarked;
