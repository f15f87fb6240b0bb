export { Backlog } from './backlog.js';
export { Packer, type Packing, usualPacking } from './packer.js';
