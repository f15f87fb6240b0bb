import { createRequire } from 'node:module';
import type * as OpenTelemetry from '@opentelemetry/api';
import { DlxConfigurationError } from '../../platform/options/index.js';

/** The API of OpenTelemetry. All copies of it in a process share the tracers that the application registered. */
export type Api = typeof OpenTelemetry;

/**
 * Reads the API of OpenTelemetry, an optional peer of this package.
 * @throws DlxConfigurationError with the command that installs it
 */
export function loadApi(require: NodeJS.Require = createRequire(import.meta.url)): Api {
  try {
    return require('@opentelemetry/api') as Api;
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== 'MODULE_NOT_FOUND') throw cause;
    throw new DlxConfigurationError(
      'dlx-broker/otel needs the package @opentelemetry/api, which is not installed: run npm install @opentelemetry/api',
    );
  }
}
