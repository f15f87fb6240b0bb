import type { ListenOptions, Server } from 'node:net';

/**
 * Binds a server to its address.
 * @param fault gets the later errors of the server
 * @returns a promise that resolves when clients can connect
 * @throws the error of the system, such as EADDRINUSE
 */
export function bind(server: Server, address: ListenOptions, fault: (error: Error) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.off('error', reject);
      server.on('error', fault);
      resolve();
    });
  });
}

/** A port that holds timers or files before it is open. */
export interface Port {
  open(host: string, port: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens a port, or closes it if it cannot be opened. @returns the port @throws the error of `open` */
export async function opened<P extends Port>(port: P, host: string, number: number): Promise<P> {
  try {
    await port.open(host, number);
    return port;
  } catch (error) {
    await port.close();
    throw error;
  }
}
