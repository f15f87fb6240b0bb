import type { Socket } from 'node:net';

/** Both ends of a socket as one text. No two sockets of a port have the same; the encrypted and the plain side of one do. */
export const endsOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;
