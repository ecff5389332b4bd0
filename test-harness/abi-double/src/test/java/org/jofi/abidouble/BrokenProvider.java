package org.jofi.abidouble;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jofi.fabric.Access;
import org.jofi.fabric.Domain;
import org.jofi.fabric.Endpoint;
import org.jofi.fabric.Fabric;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.fabric.FabricProvider;
import org.jofi.fabric.RegionRequest;
import org.jofi.fabric.UnboundRegion;
import org.jspecify.annotations.Nullable;

/**
 * jofi's provider with a mistake in it, mostly of a kind that no provider of an ordinary machine
 * minds: there, one endpoint's region is as good as another's, and local rights are not looked at.
 */
final class BrokenProvider implements FabricProvider {
  /** Which. */
  enum Mistake {
    /** Binds every region to the endpoint that was opened first: a data rail's. */
    ONE_ENDPOINT_FOR_ALL,
    /** Asks for the same key again and again. */
    ONE_KEY_FOR_ALL,
    /** Registers nothing for being read by peers. */
    NO_REMOTE_READ,
    /** Registers what reads land in for being written from. */
    WRITE_FOR_READ
  }

  private final FabricProvider real;
  private final Mistake mistake;

  BrokenProvider(FabricProvider real, Mistake mistake) {
    this.real = real;
    this.mistake = mistake;
  }

  @Override
  public String name() {
    return real.name();
  }

  @Override
  public String version() {
    return real.version();
  }

  @Override
  public List<FabricInfo> discover(FabricHints hints) {
    return real.discover(hints);
  }

  @Override
  public Fabric open(FabricInfo info) {
    Fabric fabric = real.open(info);
    return stand(
        Fabric.class,
        fabric,
        (method, arguments) ->
            method.getName().equals("openDomain")
                ? new BrokenDomain(fabric.openDomain()).asDomain()
                : method.invoke(fabric, arguments));
  }

  /** A domain whose endpoints and regions are wrapped, so that the mistake can be made. */
  private final class BrokenDomain {
    private final Domain domain;
    private final Map<Endpoint, Endpoint> endpoints = new HashMap<>();
    private @Nullable Endpoint first;

    BrokenDomain(Domain domain) {
      this.domain = domain;
    }

    Domain asDomain() {
      Domain[] self = new Domain[1];
      self[0] =
          stand(
              Domain.class,
              domain,
              (method, arguments) -> {
                Object result = method.invoke(domain, broken(arguments));
                return switch (result) {
                  case Endpoint endpoint -> wrap(endpoint, self[0]);
                  case UnboundRegion region -> wrap(region);
                  case null, default -> result;
                };
              });
      return self[0];
    }

    private Object @Nullable [] broken(Object @Nullable [] arguments) {
      if (arguments == null || !(arguments[0] instanceof RegionRequest request)) {
        return arguments;
      }
      long access = request.access();
      return new Object[] {
        switch (mistake) {
          case ONE_ENDPOINT_FOR_ALL -> request;
          case ONE_KEY_FOR_ALL -> request.withRequestedKey(7);
          case NO_REMOTE_READ -> withAccess(request, access & ~Access.REMOTE_READ);
          case WRITE_FOR_READ ->
              withAccess(
                  request,
                  (access & Access.READ) == 0 ? access : (access & ~Access.READ) | Access.WRITE);
        }
      };
    }

    private static RegionRequest withAccess(RegionRequest request, long access) {
      return new RegionRequest(
          request.kind(),
          request.device(),
          request.address(),
          request.lengthBytes(),
          access,
          request.requestedKey(),
          request.dmaBuf());
    }

    private Endpoint wrap(Endpoint endpoint, Domain shown) {
      Endpoint wrapped =
          stand(
              Endpoint.class,
              endpoint,
              (method, arguments) ->
                  method.getName().equals("domain") ? shown : method.invoke(endpoint, arguments));
      endpoints.put(wrapped, endpoint);
      first = first == null ? endpoint : first;
      return wrapped;
    }

    private UnboundRegion wrap(UnboundRegion region) {
      return stand(
          UnboundRegion.class,
          region,
          (method, arguments) -> {
            if (!method.getName().equals("bind")) {
              return method.invoke(region, arguments);
            }
            Endpoint right = endpoints.get(arguments[0]);
            return region.bind(mistake == Mistake.ONE_ENDPOINT_FOR_ALL ? first : right);
          });
    }
  }

  private interface Answer {
    @Nullable Object to(Method method, Object[] arguments) throws ReflectiveOperationException;
  }

  @SuppressWarnings("ReferenceEquality") // What equals means of what stands in for something.
  private static <T> T stand(Class<T> type, T behind, Answer answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              if (method.getDeclaringClass() == Object.class) {
                return switch (method.getName()) {
                  case "equals" -> self == arguments[0];
                  case "hashCode" -> System.identityHashCode(self);
                  default -> behind.toString();
                };
              }
              try {
                return answer.to(method, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            }));
  }
}
