/**
 * Registrations by role and scope, and the registration cache.
 *
 * <p><b>Who registers what, and where.</b>
 *
 * <table>
 * <caption>Roles</caption>
 * <tr><th>role</th><th>memory</th><th>rails</th><th>cached</th><th>gives</th></tr>
 * <tr><td>{@link org.jofi.mr.registration.DataRegistration}</td><td>an application's buffer, host or GPU</td>
 *     <td>data</td><td>yes</td><td>descriptor and key per rail</td></tr>
 * <tr><td>{@link org.jofi.mr.ControlRegistration}</td><td>control mailboxes</td>
 *     <td>control</td><td>no</td><td>descriptor and key per rail</td></tr>
 * <tr><td>{@link org.jofi.mr.LocalRegistration}</td><td>receive buffers, headers, landing places</td>
 *     <td>those that use it</td><td>no</td><td>descriptor per rail</td></tr>
 * </table>
 *
 * <p><b>From the top.</b> {@link org.jofi.mr.DeviceRegistrations} stands for the NICs of one
 * device; it chooses the {@link org.jofi.mr.scope.MrScope}, owns the keys and the {@link
 * org.jofi.mr.cache.RegistrationCache}. Each multi-rail endpoint ({@link
 * org.jofi.mr.scope.EndpointRails}) attaches to it and gets its {@link
 * org.jofi.mr.EndpointRegistrations}, where all registering happens. {@link
 * org.jofi.mr.teardown.Teardown} closes an endpoint, in the order that an {@link
 * org.jofi.mr.teardown.OwnershipGraph} finds.
 *
 * <p><b>A cached registration's life.</b>
 *
 * <pre>
 *             acquire: miss              last release or endUse
 *  (nothing) ----------------&gt; LEASED -------------------------&gt; IDLE
 *                              ^    |  ^                        /  |
 *                      endUse  |    |   \----------------------/   |
 *                    (last one)|    | beginUse  acquire: hit       | evicted, superseded,
 *                              |    v                              | cache off,
 *                              IN USE                              | allocation unknown
 *                                                                  v
 *                              LEASED ------------------------&gt; CLOSED
 *                                      invalidated, purged
 * </pre>
 *
 * On each rail of it, in endpoint scope: fi_mr_regattr, fi_mr_bind, fi_mr_enable, and only then
 * descriptor and key are read; in domain scope fi_mr_regattr alone. Closing is fi_close, in reverse
 * order of rails. After that, a key that the application chose goes back to its pool.
 *
 * <p><b>Threads.</b> Everything here may be called from any thread unless it says otherwise.
 * Nothing here starts threads, uses random numbers, or reads a clock that was not passed in.
 */
@NullMarked
package org.jofi.mr;

import org.jspecify.annotations.NullMarked;
