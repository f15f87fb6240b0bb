import { describe, expect, it } from 'vitest';
import { LinkedServer, settled } from '../../../../../test/harnesses/amqp-link.js';
import { noting, recorded, silent } from '../../../../../test/harnesses/linked-client.js';

/** A client on a link of its own. */
async function connected(options: Parameters<typeof recorded>[2] = {}) {
  const server = new LinkedServer();
  const link = server.link();
  const client = recorded(link, server.runtime, options);
  await settled(link);
  return { server, link, ...client };
}

describe('a connection', () => {
  it('opens a virtual host, knows its server, and closes', async () => {
    const { connection, events, link, server } = await connected({ name: 'mine' });
    expect(events).toEqual(['opened RabbitMQ']);
    expect(connection.server?.version).toBe('4.3.6');
    expect(connection.server?.can('basic.nack')).toBe(true);
    expect(connection.server?.can('flying')).toBe(false);
    expect([...server.connections][0]?.client.connectionName).toBe('mine');
    connection.close();
    await settled(link);
    expect(events).toEqual(['opened RabbitMQ', 'closed']);
    expect(server.connections.size).toBe(0);
    expect(server.clock.nextWakeUp()).toBeUndefined();
  });

  it('closes its socket when a server does not answer the close in time', async () => {
    const { connection, events, link, server } = await connected({ closeTimeout: 700 });
    link.isSilent = true;
    connection.close();
    server.clock.advance(699);
    expect([events.length, link.isClosed]).toEqual([1, false]);
    server.clock.advance(1);
    await settled(link);
    expect([events, link.isClosed]).toEqual([['opened RabbitMQ', 'closed'], true]);
    expect(server.clock.nextWakeUp()).toBeUndefined();
  });

  it.each([
    ['PLAIN', { user: 'guest', password: 'guest' }],
    ['AMQPLAIN', { mechanism: 'AMQPLAIN', user: 'guest', password: 'guest' }],
  ] as const)('logs in by %s', async (_, credentials) => {
    expect((await connected({ credentials })).events).toEqual(['opened RabbitMQ']);
  });

  it('names place, virtual host, user and reason when its password is wrong, and not the password', async () => {
    const { events } = await connected({ credentials: { user: 'guest', password: 'secret' } });
    expect(events).toEqual([
      "ConnectionFailedError (credentials): cannot connect to server:5672 (virtual host '/'): login as user 'guest': ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.",
    ]);
  });

  it.each([
    ['that does not exist', 'none', "login as user 'guest': NOT_ALLOWED - vhost none not found"],
    ['with a name that is too long', 'x'.repeat(256), 'its name is longer than 255 bytes'],
  ])('names a virtual host %s', async (_, virtualHost, text) => {
    const { events } = await connected({ virtualHost });
    expect(events).toEqual([
      `ConnectionFailedError (virtual host): cannot connect to server:5672 (virtual host '${virtualHost}'): ${text}`,
    ]);
  });

  it('by EXTERNAL is refused where the server does not offer it', async () => {
    const { events } = await connected({ credentials: { mechanism: 'EXTERNAL' } });
    expect(events).toEqual([
      "ConnectionFailedError (credentials): cannot connect to server:5672 (virtual host '/'): the server takes logins by PLAIN AMQPLAIN, not by EXTERNAL; on RabbitMQ enable the plugin rabbitmq_auth_mechanism_ssl and list EXTERNAL in auth_mechanisms, or log in by a password",
    ]);
  });

  it('gives up when nothing answers', async () => {
    const server = new LinkedServer();
    const link = server.link();
    link.isSilent = true;
    const { events } = recorded(link, server.runtime, { handshakeTimeout: 700 });
    server.clock.advance(699);
    expect(events).toEqual([]);
    server.clock.advance(1);
    expect(events).toEqual([
      "ConnectionFailedError (timeout): cannot connect to server:5672 (virtual host '/'): no answer within 700 ms",
    ]);
  });

  it('fails all that is outstanding, once, when its socket is closed', async () => {
    const { connection, events, link } = await connected();
    const seen: string[] = [];
    const closed = noting(seen, 'closed');
    const channel = connection.openChannel({ closed });
    await settled(link);
    channel.declareQueue('q', {}, noting(seen, 'declare'));
    channel.qos(1, noting(seen, 'qos'));
    link.cut(new Error('read ECONNRESET'));
    await settled(link);
    const text = 'ConnectionClosedError (socket): connection to server:5672 lost: read ECONNRESET';
    expect(seen).toEqual([`declare: ${text}`, `qos: ${text}`, `closed: ${text}`]);
    expect(events).toEqual(['opened RabbitMQ', text]);
    channel.qos(1, noting(seen, 'later'));
    expect(seen.at(-1)).toBe(`later: ${text}`);
    connection.openChannel(silent, noting(seen, 'open'));
    expect(seen.at(-1)).toBe('open: UnsendableError: the connection to server:5672 is not open');
  });

  it('says why the server closed it', async () => {
    const { events, link, server } = await connected();
    server.broker.close();
    await settled(link);
    expect(events.at(-1)).toBe(
      "ConnectionClosedError (server): connection to server:5672 lost: CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'",
    );
  });

  it('hears of an alarm, and of its end', async () => {
    const { connection, events, link, server } = await connected();
    const channel = connection.openChannel(silent);
    server.isShort = true;
    server.check();
    channel.publish('', 'q', {}, Buffer.from('x'));
    await settled(link);
    expect(connection.isBlocked).toBe(true);
    server.isShort = false;
    server.check();
    await settled(link);
    expect(events).toEqual(['opened RabbitMQ', 'blocked: low on memory', 'unblocked']);
    expect(connection.isBlocked).toBe(false);
  });
});

describe('heartbeats', () => {
  it('go out each half interval of silence, and the server is dead after two intervals', async () => {
    const { events, link, server } = await connected({ heartbeat: 10 });
    link.writes.length = 0;
    link.isSilent = true;
    for (let second = 1; second < 20; second++) {
      server.clock.advance('1s');
      await new Promise(setImmediate);
    }
    const beat = Buffer.from([8, 0, 0, 0, 0, 0, 0, 0xce]);
    expect(link.writes).toEqual([beat, beat, beat]);
    expect(events).toEqual(['opened RabbitMQ']);
    server.clock.advance('1s');
    await settled(link);
    expect(events.at(-1)).toBe(
      'ConnectionClosedError (silence): connection to server:5672 lost: nothing came from the server for 20 seconds',
    );
    expect(server.clock.nextWakeUp()).toBeUndefined();
  });

  it('do not end a connection that answers nothing: its owner does, and says why', async () => {
    const { connection, events, link } = await connected({ heartbeat: 10 });
    connection.destroy('no answer');
    await settled(link);
    expect(events.at(-1)).toBe('ConnectionClosedError (silence): connection to server:5672 lost: no answer');
    expect(connection.isOpen).toBe(false);
  });

  it('keep an idle connection on both sides', async () => {
    const { events, link, server } = await connected({ heartbeat: 10 });
    for (let half = 0; half < 200; half++) {
      server.clock.advance(500);
      server.check();
      await settled(link);
    }
    expect(events).toEqual(['opened RabbitMQ']);
    expect(server.connections.size).toBe(1);
  });

  it('do not end a connection whose process was busy while bytes came', async () => {
    const { events, link, server } = await connected({ heartbeat: 10 });
    const [connection] = [...server.connections];
    link.writes.length = 0;
    connection?.to.heartbeat();
    connection?.flow.flush();
    server.clock.advance('60s');
    await settled(link);
    expect(events).toEqual(['opened RabbitMQ']);
  });

  it('are switched off by 0', async () => {
    const { link, server } = await connected({ heartbeat: 0 });
    link.writes.length = 0;
    server.clock.advance('1h');
    await settled(link);
    expect(link.writes).toEqual([]);
  });
});
