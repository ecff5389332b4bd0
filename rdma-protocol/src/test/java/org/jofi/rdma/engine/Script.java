package org.jofi.rdma.engine;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** What a run sends and receives, drawn from a seed, and which send goes to which receive. */
public final class Script {
  public static final int MAX_BYTES = 4096;

  /** A receive: a tag and a length. */
  public record Receive(int tag, int bytes) {}

  /** A send: a tag, a length and the receive that it must end in, as group and place. */
  public record Send(int tag, int bytes, int group, int place) {}

  public final List<List<Receive>> groups = new ArrayList<>();
  public final List<Send> sends = new ArrayList<>();

  /** Of each group, the indexes of its sends. */
  private final List<List<Integer>> sendsOf = new ArrayList<>();

  public Script(Random random, int groupCount) {
    int[] tags = {0, -1, random.nextInt()};
    for (int i = 0; i < groupCount; i++) {
      List<Receive> group = new ArrayList<>();
      for (int n = random.nextInt(4) == 0 ? random.nextInt(1, 9) : 1; n > 0; n--) {
        group.add(new Receive(tags[random.nextInt(tags.length)], bytes(random)));
      }
      groups.add(group);
      sendsOf.add(new ArrayList<>());
    }
    List<Integer> order = new ArrayList<>();
    List<Integer> near = new ArrayList<>();
    for (int i = 0; i < groupCount; i++) {
      for (Receive receive : groups.get(i)) {
        near.add(receive.tag());
      }
      if (i % 20 == 19 || i == groupCount - 1) {
        Collections.shuffle(near, random);
        order.addAll(near);
        near.clear();
      }
    }
    Map<Integer, List<int[]>> places = new HashMap<>();
    for (int group = 0; group < groupCount; group++) {
      for (int place = 0; place < groups.get(group).size(); place++) {
        places
            .computeIfAbsent(groups.get(group).get(place).tag(), _ -> new ArrayList<>())
            .add(new int[] {group, place});
      }
    }
    Map<Integer, Integer> next = new HashMap<>();
    for (int tag : order) {
      int[] place = places.get(tag).get(next.merge(tag, 1, Integer::sum) - 1);
      // Often as long as its receive, else shorter.
      int room = groups.get(place[0]).get(place[1]).bytes();
      int bytes = random.nextInt(3) == 0 ? Math.min(bytes(random), room) : room;
      sendsOf.get(place[0]).add(sends.size());
      sends.add(new Send(tag, bytes, place[0], place[1]));
    }
  }

  private static int bytes(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> 0;
      case 1 -> random.nextInt(1, 300);
      default -> random.nextInt(MAX_BYTES + 1);
    };
  }

  /** The indexes of the sends that end in a group, in their order. */
  public List<Integer> sendsOf(int group) {
    return sendsOf.get(group);
  }
}
