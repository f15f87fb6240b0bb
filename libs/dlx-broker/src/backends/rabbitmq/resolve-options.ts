import { parseDuration, parseTimeLimit } from '../../platform/options/index.js';
import type { RabbitMqOptions, ResolvedRabbitMq } from './options.js';

/** @param options checked by name and type already @throws DlxConfigurationError for an invalid duration */
export function resolveRabbitMq(options: RabbitMqOptions): ResolvedRabbitMq {
  const milliseconds = (option: keyof RabbitMqOptions, preset: string): number =>
    parseDuration((options[option] as number | string | undefined) ?? preset, `option '${option}' of rabbitmq()`);
  return {
    urls: options.urls,
    credentials: options.credentials,
    tls: options.tls,
    connectionName: options.connectionName ?? `dlx-broker ${process.pid}`,
    heartbeat: options.heartbeat ?? 10,
    startAttempts: options.startAttempts ?? 20,
    connectTimeout: milliseconds('connectTimeout', '10s'),
    longestPause: milliseconds('longestPause', '2s'),
    publishTimeout: milliseconds('publishTimeout', '30s'),
    refusedFor: milliseconds('refusedFor', '30s'),
    unconfirmed: options.unconfirmed ?? 1_000,
    publishBuffer: { messages: 100_000, bytes: 64 * 1_024 * 1_024, ...options.publishBuffer },
    declareTimeout: milliseconds('declareTimeout', '30s'),
    closeTimeout: milliseconds('closeTimeout', '5s'),
    consumerTimeout:
      options.consumerTimeout === undefined
        ? undefined
        : parseTimeLimit(options.consumerTimeout, "option 'consumerTimeout' of rabbitmq()", 0),
    management: options.management,
    policies: options.policies ?? [],
    strictPolicies: options.strictPolicies ?? false,
  };
}
