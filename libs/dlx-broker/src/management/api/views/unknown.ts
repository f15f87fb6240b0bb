/*
 * Numbers of Erlang's machine that nothing here corresponds to. Tools read them, so they are answered with what RabbitMQ
 * itself answers when it does not know: -1 for the collector of garbage; `reductions`, the steps of its scheduler, are always 0.
 */

/** Of the garbage collector of one Erlang process. */
export const garbageCollection = {
  fullsweep_after: -1,
  max_heap_size: -1,
  min_bin_vheap_size: -1,
  min_heap_size: -1,
  minor_gcs: -1,
} as const;

/** RabbitMQ's name for an unknown user. This broker does not record who declared an object. */
export const unknownUser = 'rmq-internal';
