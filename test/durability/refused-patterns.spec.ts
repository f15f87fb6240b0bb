import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { policyPatterns } from '../../libs/dlx-broker/src/platform/index.js';
import { openBroker } from '../../libs/dlx-broker/src/server/serve/open-broker.js';
import { listen } from '../harnesses/listener.js';

const folder = mkdtempSync(join(tmpdir(), 'refused-patterns-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a policy with a pattern that is refused now does not stop a start, and the log names it', async () => {
  const data = { directory: folder, durability: 'none', diskFree: 0 } as const;
  const pattern = '(a)'.repeat(11_000);
  const anything = vi.spyOn(policyPatterns, 'compile').mockReturnValue({ matches: () => true });
  const before = await openBroker({ data }, {});
  before.broker.virtualHost('/').setPolicy('p', { pattern, definition: { 'max-length': 1 } });
  listen(before.broker).channel.declareQueue('q', { durable: true });
  await before.close();
  anything.mockRestore();

  const lines: string[] = [];
  const { broker, close } = await openBroker({ data }, { notice: (text) => lines.push(text) });
  const { policies, queues } = broker.virtualHost('/');
  expect(policies.user.get('p')?.pattern).toBe(pattern);
  expect(queues.get('q')?.inForce.policy).toBeUndefined();
  expect(lines).toContain(
    "policy 'p' in vhost '/': a stored pattern is refused now and matches no name: regular expression is too large at 33000. Set it again with another pattern",
  );
  await close();
});
