import { gzipSync } from 'node:zlib';
import { type DlxRecord, DlxRecordBuilder } from 'dlx-broker';
import type { Random } from './random.js';

/** What happens in the shop: a routing key of the exchange for events, a body, and properties. */
export interface ShopEvent {
  readonly key: string;
  readonly record: DlxRecord;
}

const people = [
  { name: 'Ada Kowalski', email: 'ada@mail.example' },
  { name: 'Zoë Müller-Lüdenscheidt', email: 'zoe@post.example' },
  { name: '山田 花子', email: 'hanako@mail.example' },
  { name: "Robert'); DROP TABLE orders;--", email: 'bobby@school.example' },
  { name: '<img src=x onerror=alert(1)>', email: 'ok@mail.example' },
  { name: 'Noor van Dijk', email: 'noor@nobody.invalid' },
];
const goods = ['tea-green', 'tea-black', 'cup-blue', 'pot-iron', 'spoon', 'honey', 'kettle'];
const cities = ['Berlin', 'Łódź', 'Gent', '京都', 'São Paulo'];

type DlxRecordOptions = NonNullable<ConstructorParameters<typeof DlxRecordBuilder>[1]>;

/** Makes a message of one kind. The `id` counts up. */
type Make = (random: Random, id: number) => readonly [key: string, body: unknown, options?: DlxRecordOptions];

const items = (random: Random, wrong = 0) =>
  Array.from({ length: random.whole(1, 4) }, () => ({
    sku: `${random.of(goods)}-${random.whole(100, 199)}`,
    quantity: random.chance(wrong) ? random.whole(-1, 0) : random.whole(1, 9),
    price: random.whole(199, 8_999) / 100,
  }));

const makers = {
  order: (random, id) => {
    const [customer, lines] = [random.of(people), items(random, 0.04)];
    const total = lines.reduce((sum, { quantity, price }) => sum + quantity * price, 0).toFixed(2);
    const address = { city: random.of(cities), postcode: String(random.whole(10_000, 99_999)) };
    return [
      'order.placed',
      { orderId: id, customer, address, items: lines, total, note: random.chance(0.1) ? null : '' },
    ];
  },
  payment: (random, id) => {
    const card = `**** **** **** ${random.chance(0.04) ? '0002' : random.whole(1_000, 9_999)}`;
    const bank = random.of(['nordbank', 'nordbank', 'kreditkasse', 'banco-sul']);
    return ['payment.requested', { orderId: id, amount: random.whole(5, 400), currency: 'EUR', bank, card }];
  },
  invoice: (random, id) => {
    const lines = items(random).map((line) => (random.chance(0.04) ? line : { ...line, vat: 0.19 }));
    return ['invoice.requested', { invoiceId: `2026-${id}`, customer: random.of(people), lines }];
  },
  refund: (random, id) => {
    const body = { refundId: id, amount: random.whole(5, 530), reason: random.of(['broken', 'late', 'changed mind']) };
    return ['refund.requested', body, { priority: random.whole(0, 5) }];
  },
  shipment: (random, id) => {
    const postcode = random.chance(0.06) ? '00000' : String(random.whole(10_000, 99_999));
    return ['order.packed', { shipmentId: id, city: random.of(cities), postcode, parcels: random.whole(1, 3) }];
  },
  mail: (random, id) => {
    const { email, name } = random.of(people);
    const body = { to: email, subject: `Your order ${id}`, template: 'receipt', variables: { name, id } };
    return [`mail.${random.of(['receipt', 'reminder'])}`, body, { expiration: '2h' }];
  },
  cart: (random, id) => ['cart.changed', { cartId: `c-${id}`, items: items(random), visitor: random.hex(12) }],
  stock: (random) => [
    'stock.counted',
    {
      sku: random.of(goods),
      shelf: `${random.whole(1, 40)}-${random.of(['A', 'B', 'C'])}`,
      count: random.whole(0, 900),
    },
  ],
  product: (random, id) => [
    'product.changed',
    { id, sku: random.of(goods), tags: ['new', 'tea'], stock: { berlin: 4 } },
  ],
  webhook: (random, id) => {
    const host = random.chance(0.05) ? 'gone.example' : random.of(['hooks.example', 'partner.example']);
    return [
      'webhook.order.paid',
      { deliveryId: id, url: `https://${host}/in/${random.whole(1, 9)}`, event: 'order.paid' },
    ];
  },
  legacy: (random, id) => {
    const line = `HDR;${id};${random.of(cities)}\nPOS;${random.of(goods)};${random.whole(1, 9)}\nEND;`;
    if (random.chance(0.3)) return ['legacy.zip', gzipSync(line), { contentEncoding: 'gzip', type: 'order.v1' }];
    if (random.chance(0.5)) return ['legacy.csv', Buffer.from(line), { contentType: 'text/csv', type: 'order.v1' }];
    return ['legacy.json', { old_id: id, payload: line.split('\n') }];
  },
} as const satisfies Record<string, Make>;

export type Kind = keyof typeof makers;

/** Makes the messages of the shop, with ids that count up. */
export class Messages {
  #id = 10_000;

  constructor(private readonly random: Random) {}

  next(kind: Kind): ShopEvent {
    const { random } = this;
    const id = ++this.#id;
    const [key, body, options = {}] = (makers[kind] as Make)(random, id);
    const headers = {
      traceparent: `00-${random.hex(32)}-${random.hex(16)}-01`,
      tenant: random.of(['acme', 'globex', 'initech']),
      'x-shop': { region: random.of(['eu', 'sa']), release: 214, flags: ['beta', random.chance(0.5)] },
    };
    const record = new DlxRecordBuilder(body, { headers, appId: 'shop', messageId: `m-${id}`, ...options }).build();
    return { key, record };
  }
}
