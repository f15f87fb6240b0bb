import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { HandlerMeter } from '../../libs/dlx-broker/src/nest/core/handler-meter.js';
import { Histogram } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { noProperties } from '../../libs/dlx-broker/src/engine/message/index.js';
import { listen, publishText } from '../harnesses/listener.js';
import { metered, scraped, traffic } from './harness.js';
import { evaluate, type Scrapes } from './promql.js';
import { dashboardOf310, laterDashboard } from './rabbitmq-dashboard.js';

const root = `${import.meta.dirname}/../..`;

/** The variables of the dashboards, and what Grafana would put in their place. */
const variables: readonly (readonly [name: string, value: string])[] = [
  ['$rabbitmq_cluster', 'rabbit@localhost'],
  ['$namespace', 'shop'],
  ['$endpoint', 'aggregated'],
  ['$__rate_interval', '60s'],
  ['$__range', '60s'],
  ['$job', '.*'],
];

const filled = (query: string): string =>
  variables.reduce((text, [name, value]) => text.replaceAll(name, value), query);

/** Two scrapes of a broker, a minute apart. Between them there is traffic of every kind. */
async function scrapes(): Promise<Scrapes> {
  const journal = { bytes: 4_096, syncs: new Histogram([0.001, 0.01]) };
  const { broker, clock, meter } = metered({ journal });
  broker.parameters.set('internal_cluster_id', 'rabbitmq-cluster-id-x');
  const handlers = new HandlerMeter(() => clock.now());
  meter.handlers.add({
    broker: 'default',
    handlers: [handlers.of(orders)],
    letters: { retried: 0, parked: 0, redriven: 0 },
    unroutable: 0,
    state: 'ready',
    added: [],
  });
  traffic(broker);
  const first = await scraped(meter);
  const home = broker.virtualHost('/');
  home.pauseQueue(home.queues.get('full')!, {});
  const { channel, deliveries } = listen(broker);
  channel.confirmSelect();
  for (let count = 0; count < 120; count++) publishText(channel, '', 'work', 'm');
  for (let count = 0; count < 60; count++) channel.publish('', 'nowhere', noProperties, new Uint8Array());
  channel.consume('work');
  for (const { deliveryTag } of deliveries.slice(0, 60)) channel.ack(deliveryTag);
  for (const { deliveryTag } of deliveries.slice(60)) channel.nack(deliveryTag, false, false);
  handlers.begin(orders)(false);
  handlers.begin(orders)(true);
  handlers.begin(orders);
  journal.syncs.record(0.002);
  clock.advance(60_000);
  const target = { instance: '127.0.0.1:15692', job: 'dlx-broker', namespace: 'shop' };
  meter.start();
  const last = await scraped(meter);
  meter.stop();
  return { first, last, seconds: 60, target };
}

const orders = { handler: { origin: 'Orders.handle' }, queue: 'work', retry: undefined } as never;

const valueOf = (query: string, both: Scrapes): number => {
  const [value, ...others] = evaluate(filled(query), both);
  expect(others, query).toEqual([]);
  return value?.value ?? NaN;
};

describe.each([dashboardOf310(), laterDashboard()])("RabbitMQ's dashboard $version", ({ version, queries }) => {
  it(`has ${version === '3.10.8' ? 41 : 50} queries, and each of them has numbers`, async () => {
    const both = await scrapes();
    expect(queries).toHaveLength(version === '3.10.8' ? 41 : 50);
    for (const { panel, query } of queries) {
      const values = evaluate(filled(query), both);
      expect(values.length, panel).toBeGreaterThan(0);
      for (const { value } of values) expect(Number.isFinite(value), panel).toBe(true);
    }
  });

  it('shows what happened', async () => {
    const both = await scrapes();
    const shown = (panel: string) => valueOf(queries.find((one) => one.panel === panel)!.query, both);
    expect(shown('Nodes')).toBe(1);
    expect(shown('Queues')).toBe(5);
    expect(shown('Channels')).toBe(2);
    expect(shown('Incoming messages / s')).toBe(3);
    expect(shown('Messages published / s')).toBe(3);
    expect(shown('Messages routed to queues / s')).toBe(2);
    expect(shown('Messages confirmed to publishers / s')).toBe(3);
    expect(shown('Messages unconfirmed to publishers / s')).toBe(0);
    expect(shown('Unroutable messages dropped / s')).toBe(1);
    expect(shown('Messages acknowledged / s')).toBe(1);
    expect(shown('Memory available before publishers blocked')).toBe(3_000);
    expect(shown('File descriptors available')).toBe(1_004);
  });

  it('is empty for another cluster, and for another namespace', async () => {
    const both = await scrapes();
    for (const [name, value] of [
      ['$rabbitmq_cluster', 'other'],
      ['$namespace', 'other'],
    ] as const) {
      for (const { panel, query } of queries) {
        const values = evaluate(filled(query.replaceAll(name, value)), both);
        expect(
          values.filter((each) => !Number.isNaN(each.value)),
          panel,
        ).toEqual([]);
      }
    }
  });
});

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly id: number;
}

const ours = JSON.parse(readFileSync(`${root}/docs/grafana/dead-letters.json`, 'utf8')) as {
  readonly title: string;
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
};

describe('docs/grafana/dead-letters.json', () => {
  const shown = ours.panels.filter(({ type }) => type !== 'row');

  it('is a dashboard whose panels have ids, places and texts of their own', () => {
    expect(ours.title).toBe('Dead letters');
    expect(new Set(ours.panels.map(({ id }) => id)).size).toBe(ours.panels.length);
    const cells = ours.panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, place) => `${x + (place % w)} ${y + Math.floor(place / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...ours.panels.map(({ gridPos: { w, x } }) => w + x))).toBeLessThanOrEqual(24);
    for (const { title, description, targets = [] } of shown) {
      expect(description, title).toBeTruthy();
      expect(targets.length, title).toBeGreaterThan(0);
    }
  });

  it('uses only the variables that it has', () => {
    const known = ours.templating.list.map(({ name }) => name);
    const used = JSON.stringify(ours).matchAll(/\$\{?(\w+)/g);
    expect(
      [...used].map(([, name]) => name!).filter((name) => !name.startsWith('__') && !known.includes(name)),
    ).toEqual([]);
  });

  it('has numbers in every panel', async () => {
    const both = await scrapes();
    for (const { title, targets = [] } of shown) {
      for (const { expr } of targets) {
        const values = evaluate(filled(expr), both);
        expect(values.length, title).toBeGreaterThan(0);
        for (const { value } of values) expect(Number.isFinite(value), title).toBe(true);
      }
    }
  });

  it('shows what happened', async () => {
    const both = await scrapes();
    const of = (title: string): number =>
      valueOf(shown.find((panel) => panel.title === title)!.targets![0]!.expr, both);
    expect(of('Dead letters')).toBe(2 + 61);
    expect(of('Oldest dead letter')).toBe(60);
    expect(of('Deaths / s')).toBe(61 / 60);
    expect(of('Messages that no queue got / s')).toBe(1);
    expect(of('Failed runs')).toBe(0.5);
    expect(of('In flight')).toBe(1);
    expect(of('Paused queues')).toBe(1);
  });
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

describe('docs/grafana/alerts.yaml', () => {
  const { groups } = parse(readFileSync(`${root}/docs/grafana/alerts.yaml`, 'utf8')) as {
    readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);

  it('has rules of the form that Prometheus reads', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const rule of rules) {
      expect(
        Object.keys(rule).filter((key) => !['alert', 'expr', 'for', 'labels', 'annotations'].includes(key)),
      ).toEqual([]);
      if (rule.for !== undefined) expect(rule.for).toMatch(/^\d+[smh]$/);
      expect(['warning', 'critical']).toContain(rule.labels['severity']);
      expect(Object.keys(rule.annotations)).toEqual(['summary', 'description']);
    }
  });

  it('names labels in its texts that the result of its query has', async () => {
    const both = await scrapes();
    for (const { alert, expr, annotations } of rules) {
      const value = evaluate(expr.replace(/ (?:>|==) [\d.]+/g, ''), both)[0];
      expect(value, alert).toBeDefined();
      const named = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, name]) => name!);
      expect(
        named.filter((name) => !value!.labels.has(name)),
        alert,
      ).toEqual([]);
    }
  });

  it('raises those that the traffic calls for', async () => {
    const both = await scrapes();
    // How late the event loop is depends on the machine.
    const ofTraffic = rules.filter(({ alert }) => alert !== 'EventLoopIsLate');
    const raised = ofTraffic.filter(({ expr }) => evaluate(expr, both).length > 0).map(({ alert }) => alert);
    expect(raised).toEqual(['DeadLettersGrow', 'MessagesAreUnroutable', 'HandlersFail']);
  });
});
