package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.FabricHints;
import org.jofi.fabric.FabricInfo;
import org.jofi.libfabric.bindings.Libfabric;
import org.jofi.libfabric.bindings.LibfabricConstants;
import org.jofi.libfabric.bindings.fi_domain_attr;
import org.jofi.libfabric.bindings.fi_ep_attr;
import org.jofi.libfabric.bindings.fi_fabric_attr;
import org.jofi.libfabric.bindings.fi_info;
import org.junit.jupiter.api.Test;

/** The efa provider's two fabrics are two providers, and the plain one comes first. */
class EfaFabricTest {
  /** Provider, fabric and domain, as libfabric lists them. */
  private record Listed(String provider, String fabric, String domain) {}

  private static final List<Listed> NEW =
      List.of(
          new Listed("cxi", "cxi", "cxi0"),
          new Listed("efa", "efa-direct", "efa_0-rdm"),
          new Listed("efa", "efa-direct", "efa_1-rdm"),
          new Listed("efa", "efa", "efa_0-rdm"),
          new Listed("efa", "efa", "efa_1-rdm"),
          new Listed("tcp", "10.0.0.0/8", "eth0"));
  private static final List<Listed> OLD =
      List.of(new Listed("efa", "efa", "efa_0-rdm"), new Listed("tcp", "10.0.0.0/8", "eth0"));

  /** What libfabric was asked for: provider and fabric. */
  private final List<String> asked = new ArrayList<>();

  private List<String> find(List<Listed> listed, FabricHints hints) {
    EntryPoints library =
        new EntryPoints() {
          @Override
          public int getinfo(
              int version,
              MemorySegment node,
              MemorySegment service,
              long flags,
              MemorySegment wanted,
              MemorySegment infos) {
            MemorySegment fabric =
                InfoReader.struct(fi_info.fabric_attr(InfoReader.struct(wanted)));
            asked.add(LibC.text(fi_fabric_attr.prov_name(fabric)));
            asked.add(LibC.text(fi_fabric_attr.name(fabric)));
            infos.set(ValueLayout.ADDRESS, 0, list(listed));
            return 0;
          }

          @Override
          public int fabric(MemorySegment attributes, MemorySegment fabric, MemorySegment context) {
            throw new AssertionError("only asked for infos");
          }
        };
    return new Discovery(LibfabricLibrary.load(), library)
        .find(hints.withHmem(false)).stream().map(EfaFabricTest::name).toList();
  }

  private static String name(FabricInfo info) {
    return info.provider() + " " + info.domainName();
  }

  private static MemorySegment list(List<Listed> listed) {
    MemorySegment head = MemorySegment.NULL;
    List<Listed> backwards = new ArrayList<>(listed);
    Collections.reverse(backwards);
    for (Listed each : backwards) {
      MemorySegment pointer = Libfabric.fi_dupinfo(MemorySegment.NULL);
      MemorySegment info = InfoReader.struct(pointer);
      MemorySegment fabric = InfoReader.struct(fi_info.fabric_attr(info));
      fi_ep_attr.type(InfoReader.struct(fi_info.ep_attr(info)), LibfabricConstants.FI_EP_RDM());
      fi_fabric_attr.prov_name(fabric, LibC.strdup(each.provider));
      fi_fabric_attr.name(fabric, LibC.strdup(each.fabric));
      fi_domain_attr.name(InfoReader.struct(fi_info.domain_attr(info)), LibC.strdup(each.domain));
      fi_info.next(info, head);
      head = pointer;
    }
    return head;
  }

  @Test
  void unnamedTheyAreToldApartAndEfaIsFirst() {
    assertEquals(
        List.of(
            "cxi cxi0",
            "efa efa_0-rdm",
            "efa efa_1-rdm",
            "efa-direct efa_0-rdm",
            "efa-direct efa_1-rdm",
            "tcp eth0"),
        find(NEW, FabricHints.any()));
  }

  @Test
  void efaIsThatFabricOnly() {
    assertEquals(
        List.of("efa efa_0-rdm", "efa efa_1-rdm"),
        find(NEW, FabricHints.any().withProvider("efa")));
    assertEquals(List.of("efa", ""), asked);
  }

  @Test
  void efaDirectIsAskedForByItsFabric() {
    assertEquals(
        List.of("efa-direct efa_0-rdm", "efa-direct efa_1-rdm"),
        find(NEW, FabricHints.any().withProvider("efa-direct")));
    assertEquals(List.of("efa", "efa-direct"), asked);
  }

  /** Better nothing than the other one. */
  @Test
  void neitherStandsForTheOther() {
    assertEquals(List.of(), find(OLD, FabricHints.any().withProvider("efa-direct")));
    assertEquals(List.of(), find(NEW.subList(1, 3), FabricHints.any().withProvider("efa")));
  }

  @Test
  void aloneItStaysWhereItIs() {
    assertEquals(
        List.of("cxi cxi0", "efa-direct efa_0-rdm"), find(NEW.subList(0, 2), FabricHints.any()));
  }

  @Test
  void otherNamesAreMatchedAsBefore() {
    assertEquals(List.of("tcp eth0"), find(OLD, FabricHints.any().withProvider("tcp")));
    assertEquals(List.of("tcp", ""), asked);
  }

  @Test
  void whatPeersWriteTheDeviceMayReadInto() {
    assertEquals(Access.REMOTE_WRITE | Access.RECV, EfaFabric.access(Access.REMOTE_WRITE));
    assertEquals(Access.REMOTE_READ, EfaFabric.access(Access.REMOTE_READ));
    assertEquals(Access.SEND, EfaFabric.access(Access.SEND));
  }
}
