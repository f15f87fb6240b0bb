import { cases } from '../amqp/cases.js';
import { openRabbit, type Server, startOurs } from '../amqp/servers.js';
import { shown } from '../results.js';
import type { Measurement, Workload } from '../workload.js';

/** Seconds of a run. `npm run amqp -w bench` has more cases, and can run them for longer. */
const pace = { warm: 1, measured: 2 };

/** The cases that are part of `npm run bench -w bench`: one connection that publishes, one that consumes, with the client that costs least. */
const chosen = cases.filter(
  ({ id, title, client }) =>
    client === 'lean' &&
    (/^W[1-3] .*(1024 B, transient|1024 B, 100 outstanding)/.test(`${id} ${title}`) || id === 'W1, one in flight'),
);

export const overAmqp: readonly Workload[] = chosen.map(({ id, title, unit, more, start, run }) => {
  const against = (open: () => Promise<Server | undefined>) => async (): Promise<Measurement> => {
    const server = await open();
    if (server === undefined) throw new Error('its process and its management API have to be on this machine');
    try {
      const { value, serverCpu, extra = {} } = await run(server.target, pace);
      const figures = Object.entries(extra).map(([name, figure]) => [name, shown(figure)]);
      const cpu: Record<string, string> =
        serverCpu === undefined ? {} : { 'server CPU microseconds each': serverCpu.toFixed(1) };
      return {
        value,
        ...(serverCpu !== undefined && { cpu: serverCpu }),
        extra: { ...cpu, ...Object.fromEntries(figures) },
      };
    } finally {
      await server.close();
    }
  };
  return {
    id: `AMQP ${id}`,
    title: `over AMQP: ${title}`,
    unit,
    more,
    peers: { 'dlx-broker': against(start ?? (() => startOurs())), RabbitMQ: against(openRabbit) },
    needs: { RabbitMQ: 'rabbitMq' },
  };
});
