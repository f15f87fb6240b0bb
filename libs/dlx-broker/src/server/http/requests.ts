/*
 * What answers the requests of the ports. It is the larger part of this room, so a port loads it with its first request.
 */

export { answeredBy } from './answering.js';
export { createApi } from './app.js';
