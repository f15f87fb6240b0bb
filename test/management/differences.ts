/** Where the shape of an answer of ours is not RabbitMQ's, and why. Everything else has to be. */
export interface Difference {
  /** Fits the whole line of a difference. */
  readonly where: RegExp;
  readonly why: string;
}

export const differences: readonly Difference[] = [
  {
    where: /^GET \/overview: body\.listeners\[\]\.socket_opts: /,
    why: "what Erlang's sockets are set to; there is no listener for other nodes here, which has a list instead",
  },
];
