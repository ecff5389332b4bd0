package org.jofi.nicdouble;

import java.util.List;

/**
 * What a double is built with, beside gcc.
 *
 * @param headers below {@code /usr/include}
 * @param advice what is told where one of them, or gcc, is missing: what needs it and how to have
 *     it
 */
public record Needs(List<String> headers, String advice) {}
