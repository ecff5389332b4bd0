package org.jofi.conformance.rule;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jofi.conformance.subject.Subject;
import org.jofi.fabric.Capability;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.KeyOwner;
import org.jofi.fabric.MessageOrder;
import org.jofi.fabric.RegistrationScope;

/**
 * What a provider must claim for a case to apply.
 *
 * @param hints what is asked for in discovery on top of the subject's own hints
 * @param lacking why an answer to them does not claim it; empty if it does
 * @param request what was asked for, in words
 */
public record Need(
    UnaryOperator<FabricHints> hints,
    Function<FabricInfo, Optional<String>> lacking,
    String request) {

  /** Nothing: the case is for every provider. */
  public static final Need NOTHING = info(info -> true, "");

  /** That registrations belong to the domain. */
  public static final Need DOMAIN_SCOPE =
      info(info -> info.registrationScope() == RegistrationScope.DOMAIN, "demands FI_MR_ENDPOINT");

  /** That registrations belong to an endpoint. */
  public static final Need ENDPOINT_SCOPE =
      info(
          info -> info.registrationScope() == RegistrationScope.ENDPOINT,
          "does not demand FI_MR_ENDPOINT");

  /** That the application chooses keys. */
  public static final Need APPLICATION_KEYS =
      info(info -> info.keyOwner() == KeyOwner.APPLICATION, "chooses keys itself: FI_MR_PROV_KEY");

  /** That the provider chooses keys. */
  public static final Need PROVIDER_KEYS =
      info(info -> info.keyOwner() == KeyOwner.PROVIDER, "takes the application's keys");

  /** That it reaches device memory. */
  public static final Need HMEM =
      asking(
          hints -> hints.withHmem(true),
          info -> info.has(Capability.HMEM),
          "does not claim FI_HMEM",
          "FI_HMEM");

  /** That an answer is such. */
  static Need info(java.util.function.Predicate<FabricInfo> claimed, String otherwise) {
    return asking(UnaryOperator.identity(), claimed, otherwise, "");
  }

  /** That it has a capability, which is asked for. */
  public static Need capability(Capability capability) {
    return asking(
        hints -> {
          Set<Capability> required = EnumSet.copyOf(hints.required());
          required.add(capability);
          return hints.withRequired(required);
        },
        info -> info.has(capability),
        "does not claim FI_" + capability,
        "FI_" + capability);
  }

  /** That it keeps an order, which is asked for. */
  public static Need order(MessageOrder order) {
    return asking(
        hints -> hints.withMessageOrder(Set.of(order)),
        info -> info.messageOrder().contains(order),
        "does not claim FI_ORDER_" + order,
        "FI_ORDER_" + order);
  }

  private static Need asking(
      UnaryOperator<FabricHints> hints,
      java.util.function.Predicate<FabricInfo> claimed,
      String otherwise,
      String request) {
    return new Need(
        hints, info -> claimed.test(info) ? Optional.empty() : Optional.of(otherwise), request);
  }

  /** This and another one. */
  public Need and(Need other) {
    return new Need(
        asked -> other.hints.apply(hints.apply(asked)),
        info -> lacking.apply(info).or(() -> other.lacking.apply(info)),
        request.isEmpty() || other.request.isEmpty()
            ? request + other.request
            : request + " and " + other.request);
  }

  /** The NICs that a case with this need runs on; none if the subject does not claim it. */
  public List<FabricInfo> candidates(Subject subject) {
    return subject.discover(hints.apply(subject.hints()));
  }
}
