/*
 * Numbers of Erlang's virtual machine, which Node.js does not have. Tools read them, so they have the values that
 * RabbitMQ shows for unknown numbers: -1 for the garbage collector, and 0 for `reductions`, the steps of the scheduler.
 */

/** The garbage collector of an Erlang process. */
export const garbageCollection = {
  fullsweep_after: -1,
  max_heap_size: -1,
  min_bin_vheap_size: -1,
  min_heap_size: -1,
  minor_gcs: -1,
} as const;

/** RabbitMQ's name for an unknown user. This broker does not record who declared an object. */
export const unknownUser = 'rmq-internal';
