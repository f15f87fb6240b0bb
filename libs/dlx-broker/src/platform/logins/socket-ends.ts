import type { Socket } from 'node:net';

/** Both ends of a socket as one text: unique at a port, and the same for the encrypted and the plain side of a socket. */
export const endsOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;
