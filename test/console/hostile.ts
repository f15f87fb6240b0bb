import { array, int32, int64, longstr, table } from '../../libs/dlx-broker/src/engine/message/index.js';
import type { Shop } from './letters.js';

/** Names, bodies and headers that would run as code if a page treated them as HTML, or break an address or a layout. */
export const hostileTexts = {
  script: '<script>alert(1)</script>',
  image: '<img src=x onerror=alert(1)>',
  quotes: `"'\`><svg onload=alert(1)>`,
  path: '../../..%2F?#&=%00;',
  direction: 'paid\u202egnp.exe',
  long: 'x'.repeat(255),
  address: 'javascript:alert(1)',
} as const;

/** The queue of the hostile dead letters. */
export const hostileQueue = hostileTexts.script;

/** Fills a broker with hostile queues, exchanges, bindings, headers and bodies, and dead letters between them. */
export function declareHostile(shop: Shop): void {
  const { script, image, quotes, path, direction, long, address } = hostileTexts;
  shop.exchange(image, 'topic');
  for (const name of [quotes, path, direction, long, address]) {
    shop.queue(name, { 'x-dead-letter-exchange': image, 'x-dead-letter-routing-key': quotes });
    shop.publish('', name, name, { messageId: script });
  }
  shop.queue(script);
  shop.bind(script, image, quotes);
  shop.bind(quotes, image, path);
  const texts = { name: image, message: script, handler: long, host: direction };
  const fields = Object.entries(texts).map(([name, text]) => [name, longstr(text)] as const);
  const attempt = table(new Map([['attempt', int32(1)], ['at', int64(1_767_268_800_000)], ...fields]));
  for (const name of [path, address]) {
    shop.publish('', name, JSON.stringify({ [image]: script, nested: { [quotes]: [address, 1] } }), {
      contentType: image,
      headers: new Map([
        ...(shop.table({
          [script]: image,
          'dlx-error-class': image,
          'dlx-error-message': script,
          'dlx-fingerprint': long,
          ['__proto__']: quotes,
        }) ?? []),
        ['dlx-errors', array([attempt, attempt])],
      ]),
      correlationId: address,
      type: script,
      appId: image,
    });
    shop.reject(name);
  }
}
