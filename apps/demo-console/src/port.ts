import { once } from 'node:events';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';

const preset = 15_672;

/** The port of `--port` or of the variable `PORT`; without either, the first free one from 15672 on. */
export async function choosePort(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { port: { type: 'string' } } });
  const given = values.port ?? env['PORT'];
  if (given === undefined) return freeFrom(preset);
  const port = Number(given);
  if (given === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port (or PORT) must be a whole number from 0 to 65535, but is '${given}'`);
  return port;
}

async function freeFrom(port: number): Promise<number> {
  for (let next = port; next < port + 100; next++) if (await isFree(next)) return next;
  return 0;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
