import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trace } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { loadApi } from './api.js';

it('shares the tracers of the application', () => {
  expect(loadApi().trace).toBe(trace);
});

it('names the package that is missing, and the command that installs it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dlx-otel-'));
  try {
    const load = (): unknown => loadApi(createRequire(join(folder, 'application.js')));
    expect(load).toThrow(expect.objectContaining({ name: 'DlxConfigurationError' }));
    expect(load).toThrow(
      'needs the package @opentelemetry/api, which is not installed: run npm install @opentelemetry/api',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
