package org.jofi.rdma.driver;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.IdentityHashMap;
import java.util.concurrent.Callable;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricProvider;

/** A provider, with all that comes from it, as it is but for what some calls answer. */
public final class AlteredProvider {
  /** Answers a call, with the real answer or another one. */
  public interface Alteration {
    /** The answer, given what the call would really answer. */
    Object answer(Method call, Object[] arguments, Callable<Object> real) throws Exception;
  }

  /** What stands for each object that was handed out, so that the same is always the same. */
  private final IdentityHashMap<Object, Object> stands = new IdentityHashMap<>();

  private final Alteration alteration;

  private AlteredProvider(Alteration alteration) {
    this.alteration = alteration;
  }

  /** One that answers so. */
  public static FabricProvider of(FabricProvider real, Alteration alteration) {
    return new AlteredProvider(alteration).altered(FabricProvider.class, real);
  }

  @SuppressWarnings("ReferenceEquality") // Each stands for itself.
  private <T> T altered(Class<T> type, T real) {
    Object found = stands.get(real);
    if (found == null) {
      found =
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (self, method, arguments) ->
                  method.getName().equals("equals")
                      ? self == arguments[0]
                      : standing(
                          alteration.answer(
                              method, arguments, () -> invoke(method, real, arguments))));
      stands.put(real, found);
    }
    return type.cast(found);
  }

  private static Object invoke(Method method, Object real, Object[] arguments) throws Exception {
    try {
      return method.invoke(real, arguments);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause() instanceof Exception cause ? cause : thrown;
    }
  }

  private Object standing(Object answer) {
    return switch (answer) {
      case Fabric fabric -> altered(Fabric.class, fabric);
      case Domain domain -> altered(Domain.class, domain);
      case Endpoint endpoint -> altered(Endpoint.class, endpoint);
      case null, default -> answer;
    };
  }
}
