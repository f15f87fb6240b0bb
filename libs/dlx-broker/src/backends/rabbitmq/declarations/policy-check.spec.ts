import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queueNamed } from '../../../../../../test/harnesses/declared.js';
import { policyPatterns } from '../../../platform/index.js';
import type { ManagementPlace } from './existing.js';
import { Policies } from './policies.js';

let status = 401;
const server = createServer((_, response) => void response.writeHead(status).end('[]'));
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => void server.close());

describe('policies that cannot be looked at', () => {
  it('are one warning until they can be, or until the reason is another', async () => {
    const { port } = server.address() as AddressInfo;
    const place: ManagementPlace = {
      base: `http://127.0.0.1:${port}`,
      user: 'ada',
      password: 'secret',
      virtualHost: '/',
    };
    const warnings: string[] = [];
    const warn = (text: string): void => void warnings.push(/answers (\d+)/.exec(text)?.[1] ?? text);
    const policies = new Policies({ own: [], patterns: policyPatterns, isStrict: false, warn });
    /** Looks twice, and returns when both have ended. */
    const look = async (as: number, ...names: readonly string[]): Promise<void> => {
      status = as;
      const queues = names.map((name) => queueNamed(name));
      await Promise.all([policies.look(place, queues), policies.look(place, queues)]);
      await policies.check(place, queues).catch(() => undefined);
    };
    await look(401, 'a');
    await look(403, 'a');
    await expect.poll(() => warnings).toEqual(['401', '403']);
    await look(200, 'a');
    await look(403, 'b');
    await expect.poll(() => warnings).toEqual(['401', '403', '403']);
  });
});
