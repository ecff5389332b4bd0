package org.jofi.abidouble;

import static org.jofi.libfabric.bindings.LibfabricConstants.FI_HMEM;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_MR_ALLOCATED;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_MR_ENDPOINT;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_MR_LOCAL;
import static org.jofi.libfabric.bindings.LibfabricConstants.FI_MR_PROV_KEY;

import java.lang.foreign.MemorySegment;
import java.util.function.ToIntFunction;
import org.jofi.fabric.FabricErrno;
import org.jofi.libfabric.bindings.Libfabric;
import org.jofi.libfabric.bindings.fi_domain_attr;
import org.jofi.libfabric.bindings.fi_info;

/**
 * What fi_getinfo answers: the real providers' infos, with what the double pretends written into
 * them, and back.
 */
final class Negotiation {
  private static final long PROVIDER_KEY_BYTES = 8;
  private static final long CLIENT_KEY_BYTES = 4;

  private final int modes;
  private final long keyBytes;

  Negotiation(DoubleSettings settings) {
    modes =
        FI_MR_ENDPOINT()
            | FI_MR_ALLOCATED()
            | (settings.providerKeys() ? FI_MR_PROV_KEY() : 0)
            | (settings.localDescriptors() ? FI_MR_LOCAL() : 0);
    keyBytes = settings.providerKeys() ? PROVIDER_KEY_BYTES : CLIENT_KEY_BYTES;
  }

  /**
   * Turns the real answer into the double's: without what it cannot stand in front of, which is
   * whatever has registration modes of its own or reaches device memory.
   */
  int answer(int code, MemorySegment hints, MemorySegment infos) {
    if (code != 0) {
      return code;
    }
    boolean served = Pointers.isNull(hints) || (modes(Pointers.struct(hints)) & modes) == modes;
    MemorySegment head = MemorySegment.NULL;
    MemorySegment last = MemorySegment.NULL;
    for (MemorySegment at = Pointers.read(infos), next; !Pointers.isNull(at); at = next) {
      MemorySegment info = Pointers.struct(at);
      next = fi_info.next(info);
      fi_info.next(info, MemorySegment.NULL);
      if (!served || modes(info) != 0 || (fi_info.caps(info) & FI_HMEM()) != 0) {
        Libfabric.fi_freeinfo(at);
        continue;
      }
      MemorySegment domain = domain(info);
      fi_domain_attr.mr_mode(domain, modes);
      fi_domain_attr.mr_key_size(domain, keyBytes);
      if (Pointers.isNull(head)) {
        head = at;
      } else {
        fi_info.next(Pointers.struct(last), at);
      }
      last = at;
    }
    Pointers.write(infos, head);
    return Pointers.isNull(head) ? -FabricErrno.ENODATA : 0;
  }

  /** Whether an info is one of the double's, as it was handed out. */
  boolean isOwn(MemorySegment info) {
    return !Pointers.isNull(info)
        && modes(Pointers.struct(info)) == modes
        && fi_domain_attr.mr_key_size(domain(Pointers.struct(info))) == keyBytes;
  }

  /** Calls with a copy of the info as the real provider has it. */
  int withReal(MemorySegment info, ToIntFunction<MemorySegment> call) {
    MemorySegment copy = Libfabric.fi_dupinfo(info);
    if (Pointers.isNull(copy)) {
      return -FabricErrno.ENOMEM;
    }
    try {
      MemorySegment domain = domain(Pointers.struct(copy));
      fi_domain_attr.mr_mode(domain, 0);
      fi_domain_attr.mr_key_size(domain, PROVIDER_KEY_BYTES);
      return call.applyAsInt(copy);
    } finally {
      Libfabric.fi_freeinfo(copy);
    }
  }

  private static int modes(MemorySegment info) {
    return fi_domain_attr.mr_mode(domain(info));
  }

  private static MemorySegment domain(MemorySegment info) {
    return Pointers.struct(fi_info.domain_attr(info));
  }
}
