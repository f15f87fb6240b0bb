import type { Histogram } from '../../engine/broker/index.js';

export type MetricType = 'counter' | 'gauge' | 'histogram' | 'untyped';

/** All series of one name. */
export interface Family {
  /** As Prometheus has it: `rabbitmq_queues`. A counter ends with `_total`. */
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  /** The names of the labels, in the order of the values of each series. */
  readonly labels: readonly string[];
}

/** One series of a family: the values of its labels, and its own value. */
export interface Series {
  readonly labels: readonly string[];
  readonly value: number | Histogram;
}

/** A family that is read from something of type T. Undefined series are places for a pause. */
export interface Metric<T> extends Family {
  read(from: T): Iterable<Series | undefined>;
}

const noLabels: readonly string[] = [];

/** A metric with one series, without labels. */
export const single = <T>(
  name: string,
  type: MetricType,
  help: string,
  read: (from: T) => number | Histogram,
): Metric<T> => ({ name, type, help, labels: noLabels, read: (from) => [{ labels: noLabels, value: read(from) }] });

/** A metric with labels. */
export const labelled = <T>(
  name: string,
  type: MetricType,
  labels: readonly string[],
  help: string,
  read: (from: T) => Iterable<Series | undefined>,
): Metric<T> => ({ name, type, help, labels, read });
