package org.jofi.headers;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.TreeMap;

/**
 * The integer constants of a class that jextract generated: its static methods without arguments.
 */
public final class GeneratedConstants {
  private GeneratedConstants() {}

  /**
   * Reads every constant.
   *
   * @return by name, an {@link Integer} or a {@link Long} as generated
   */
  public static Map<String, Number> of(Class<?> generated) {
    Map<String, Number> constants = new TreeMap<>();
    for (Method method : generated.getDeclaredMethods()) {
      if (isConstant(method)) {
        constants.put(method.getName(), value(method));
      }
    }
    return constants;
  }

  private static boolean isConstant(Method method) {
    return Modifier.isPublic(method.getModifiers())
        && Modifier.isStatic(method.getModifiers())
        && method.getParameterCount() == 0
        && (method.getReturnType() == int.class || method.getReturnType() == long.class)
        // Functions of the same libraries have lower-case names.
        && method.getName().matches("[A-Z][A-Z0-9]*_[A-Za-z0-9_]*");
  }

  private static Number value(Method constant) {
    try {
      return (Number) constant.invoke(null);
    } catch (IllegalAccessException | InvocationTargetException failed) {
      throw new IllegalStateException("cannot read " + constant, failed);
    }
  }
}
