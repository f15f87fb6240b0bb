import type { ProfileName } from '../libs/dlx-broker/src/engine/broker/index.js';

/** A real RabbitMQ, with which tests compare this broker in the profile of its version. Tests use one only if a variable names it. */
export interface RabbitMqAddress {
  readonly profile: ProfileName;
  /** `amqp://user:password@host:port`; undefined: there is none */
  readonly amqpUrl: string | undefined;
  /** `http://host:port`, or with another user and password than those of AMQP. */
  readonly managementUrl: string;
  /** Why cases are skipped when there is none. */
  readonly notNamed: string;
}

function named(profile: ProfileName, suffix: string): RabbitMqAddress {
  const amqpUrl = process.env[`AMQP_URL${suffix}`] || undefined;
  const { hostname, port } = new URL(amqpUrl ?? 'amqp://127.0.0.1');
  const managementUrl = process.env[`RABBITMQ${suffix}_MANAGEMENT_URL`] || `http://${hostname}:1${port || '5672'}`;
  return { profile, amqpUrl, managementUrl, notNamed: `AMQP_URL${suffix} names no RabbitMQ` };
}

/** 3.10 of `AMQP_URL` and `RABBITMQ_MANAGEMENT_URL`, and 4.3 of `AMQP_URL_4` and `RABBITMQ_4_MANAGEMENT_URL`. */
export const rabbitMqServers = [named('3.10', ''), named('4', '_4')] as const;

export const { amqpUrl, managementUrl, notNamed } = rabbitMqServers[0];
/** Its plugin rabbitmq_prometheus. */
export const metricsUrl = `http://${new URL(managementUrl).hostname}:15692/metrics`;
