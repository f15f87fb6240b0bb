/** In place of the engine's pages of long queues, which no queue has whose journal keeps no rows: the world has such a journal. */
export class Packer {
  constructor() {
    throw new Error('the playground has no pages of long queues');
  }
}

export { Packer as Backlog };

export const usualPacking = {};
