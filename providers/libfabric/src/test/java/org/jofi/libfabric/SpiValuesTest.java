package org.jofi.libfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;
import java.util.EnumSet;
import java.util.List;
import org.jofi.fabric.Access;
import org.jofi.fabric.AddressVector;
import org.jofi.fabric.Capability;
import org.jofi.fabric.CompletionFlags;
import org.jofi.fabric.FabricErrno;
import org.jofi.fabric.MessageOrder;
import org.jofi.fabric.MrMode;
import org.jofi.fabric.PostFlags;
import org.jofi.libfabric.bindings.LibfabricConstants;
import org.junit.jupiter.api.Test;

/** Where the SPI promises libfabric's numbers, they are. */
class SpiValuesTest {

  @Test
  void constantsAreThoseOfTheHeaders() throws IllegalAccessException, InvocationTargetException {
    int compared = 0;
    for (Class<?> type :
        List.of(Access.class, PostFlags.class, CompletionFlags.class, FabricErrno.class)) {
      for (Field field : type.getFields()) {
        if (!Modifier.isStatic(field.getModifiers())
            || List.of("LOCAL", "REMOTE", "ALL", "NONE").contains(field.getName())) {
          continue;
        }
        try {
          Number theirs =
              (Number) LibfabricConstants.class.getMethod("FI_" + field.getName()).invoke(null);
          assertEquals(theirs.longValue(), ((Number) field.get(null)).longValue(), field::toString);
          compared++;
        } catch (NoSuchMethodException absent) {
          // Linux's own: not all of them are among libfabric's.
          assertTrue(List.of("ENXIO", "EPIPE").contains(field.getName()), field::toString);
        }
      }
    }
    assertTrue(compared > 70, "compared only " + compared);
    assertEquals(LibfabricConstants.FI_ADDR_UNSPEC(), AddressVector.ANY);
  }

  @Test
  void setsSurviveTheWayToBitsAndBack() {
    EnumSet<Capability> capabilities = EnumSet.allOf(Capability.class);
    assertEquals(capabilities, Bits.capabilities(Bits.ofCapabilities(capabilities)));
    assertEquals(capabilities.size(), Long.bitCount(Bits.ofCapabilities(capabilities)));
    EnumSet<MrMode> modes = EnumSet.allOf(MrMode.class);
    assertEquals(modes, Bits.mrModes(Bits.ofMrModes(modes)));
    EnumSet<MessageOrder> orders = EnumSet.allOf(MessageOrder.class);
    for (MessageOrder order : orders) {
      EnumSet<MessageOrder> one = EnumSet.of(order);
      assertTrue(Bits.messageOrder(Bits.ofMessageOrder(one)).contains(order));
    }
  }
}
