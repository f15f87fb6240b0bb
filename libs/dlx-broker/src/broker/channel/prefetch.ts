/** A limit of unsettled deliveries, of one consumer or of a whole channel; 0 is no limit (rule Q4). */
export class Prefetch {
  unsettled = 0;

  constructor(public limit: number) {}

  get hasRoom(): boolean {
    return this.limit === 0 || this.unsettled < this.limit;
  }
}
