package org.jofi.rdma.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jofi.rdma.wire.ProtocolLimits;

class ByIdProperties {
  /** Against a map. */
  @Property(tries = 100)
  void itHoldsWhatWasAddedAndNotRemoved(@ForAll Random random) {
    ById<String> some = new ById<>(Integer::parseInt);
    Map<Integer, String> model = new HashMap<>();
    for (int step = 0; step < 500; step++) {
      int id = random.nextInt(40) * 105;
      switch (random.nextInt(4)) {
        case 0, 1 -> {
          some.add(Integer.toString(id));
          model.putIfAbsent(id, Integer.toString(id));
        }
        case 2 -> {
          some.remove(id);
          model.remove(id);
        }
        default -> {
          if (!some.isEmpty()) {
            int index = random.nextInt(some.size());
            model.remove(Integer.parseInt(some.get(index)));
            some.removeAt(index);
          }
        }
      }
      assertEquals(model.get(id), some.of(id));
      assertEquals(model.size(), some.size());
    }
    Set<String> left = new HashSet<>();
    for (int i = 0; i < some.size(); i++) {
      left.add(some.get(i));
    }
    assertEquals(new HashSet<>(model.values()), left);
    some.clear();
    assertTrue(some.isEmpty());
    model.keySet().forEach(id -> assertNull(some.of(id)));
  }

  /** Counted by how often ids are looked at. */
  @Example
  void manyCostNoMoreThanFewPerStep() {
    int[] looks = {0};
    ById<Integer> some =
        new ById<>(
            id -> {
              looks[0]++;
              return id;
            });
    for (int id = 1; id <= ProtocolLimits.MAX_COMMUNICATOR; id++) {
      some.add(id);
      some.add(id);
    }
    for (int id = 1; id <= ProtocolLimits.MAX_COMMUNICATOR; id++) {
      some.remove(id);
    }
    assertTrue(some.isEmpty());
    assertTrue(looks[0] <= 4 * ProtocolLimits.MAX_COMMUNICATOR, () -> looks[0] + " looks");
  }
}
