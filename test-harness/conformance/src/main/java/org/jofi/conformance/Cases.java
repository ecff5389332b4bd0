package org.jofi.conformance;

import java.util.List;
import java.util.stream.Stream;
import org.jofi.conformance.cancel.CancelCases;
import org.jofi.conformance.closing.CloseOrderCases;
import org.jofi.conformance.closing.LateWriteCases;
import org.jofi.conformance.closing.RegionCloseCases;
import org.jofi.conformance.discovery.DiscoveryCases;
import org.jofi.conformance.eagain.EagainCases;
import org.jofi.conformance.errors.QueueCases;
import org.jofi.conformance.errors.RemoteErrorCases;
import org.jofi.conformance.errors.TruncationCases;
import org.jofi.conformance.hmem.HmemCases;
import org.jofi.conformance.immediate.ArrivalCases;
import org.jofi.conformance.immediate.ImmediateValueCases;
import org.jofi.conformance.isolation.IsolationCases;
import org.jofi.conformance.keys.AddressingCases;
import org.jofi.conformance.keys.KeyCases;
import org.jofi.conformance.messages.InjectCases;
import org.jofi.conformance.messages.MatchingCases;
import org.jofi.conformance.messages.MessageCases;
import org.jofi.conformance.ordering.FenceCases;
import org.jofi.conformance.ordering.MessageOrderCases;
import org.jofi.conformance.ordering.RmaOrderCases;
import org.jofi.conformance.progress.ProgressCases;
import org.jofi.conformance.registration.DomainScopeCases;
import org.jofi.conformance.registration.EndpointScopeCases;
import org.jofi.conformance.registration.ProtectionCases;
import org.jofi.conformance.registration.RegistrationCases;
import org.jofi.conformance.rma.ReadCases;
import org.jofi.conformance.rma.WriteCases;
import org.jofi.conformance.rule.Area;
import org.jofi.conformance.rule.Case;
import org.jofi.conformance.threading.ThreadingCases;

/** All cases that there are. */
public final class Cases {
  private static final List<Case> ALL =
      Stream.of(
              DiscoveryCases.all(),
              RegistrationCases.all(),
              DomainScopeCases.all(),
              EndpointScopeCases.all(),
              ProtectionCases.all(),
              KeyCases.all(),
              AddressingCases.all(),
              MessageCases.all(),
              InjectCases.all(),
              MatchingCases.all(),
              WriteCases.all(),
              ReadCases.all(),
              ArrivalCases.all(),
              ImmediateValueCases.all(),
              MessageOrderCases.all(),
              RmaOrderCases.all(),
              FenceCases.all(),
              EagainCases.all(),
              CancelCases.all(),
              QueueCases.all(),
              TruncationCases.all(),
              RemoteErrorCases.all(),
              CloseOrderCases.all(),
              LateWriteCases.all(),
              RegionCloseCases.all(),
              ThreadingCases.all(),
              ProgressCases.all(),
              IsolationCases.all(),
              HmemCases.all())
          .flatMap(List::stream)
          .toList();

  private Cases() {}

  /** All of them, by area. */
  public static List<Case> all() {
    return ALL;
  }

  /** Those of an area. */
  public static List<Case> of(Area area) {
    return ALL.stream().filter(kase -> kase.area() == area).toList();
  }

  /**
   * The case of that id.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static Case named(String id) {
    return ALL.stream()
        .filter(kase -> kase.id().equals(id))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no case named '%s'".formatted(id)));
  }
}
