import { expect, it } from 'vitest';
import { apiHarness } from '../../../../../test/harnesses/api-harness.js';

it('a pattern of names that is too large is refused as by RabbitMQ 3.10.8', async () => {
  const { call } = apiHarness();
  const get = (pattern: string) => call('GET', `/queues?page=1&use_regex=true&name=${encodeURIComponent(pattern)}`);
  expect((await get('a'.repeat(10_000))).status).toBe(200);
  expect(await get('a'.repeat(40_000))).toMatchObject({
    status: 400,
    body: { error: 'bad_request', reason: 'Pagination parameters are invalid' },
  });
});
