package org.jofi.abidouble;

/**
 * Something that happened to an object of the double.
 *
 * @param object its name
 * @param event the call, with its arguments or its answer
 */
public record TraceEntry(String object, String event) {}
