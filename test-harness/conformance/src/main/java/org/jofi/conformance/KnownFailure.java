package org.jofi.conformance;

import java.util.Optional;

/**
 * A rule that a provider is known to break, and what jofi does about it.
 *
 * @param subject the provider, as results call it
 * @param source how the library's name and version begin
 * @param caseId the case that fails
 * @param lack what the provider does
 * @param remedy what jofi does about it
 */
public record KnownFailure(
    String subject, String source, String caseId, String lack, String remedy) {

  /** The known failure that explains a result, if there is one. */
  public static Optional<KnownFailure> of(Report.Description examined, Result result) {
    return KnownFailures.ALL.stream()
        .filter(
            known ->
                known.subject.equals(examined.subject())
                    && examined.source().startsWith(known.source)
                    && known.caseId.equals(result.kase().id()))
        .findFirst();
  }
}
