export { ContractError } from './contract-error.js';
export {
  event,
  type Contract,
  EventContract,
  type EventOptions,
  request,
  RequestContract,
  type RequestOptions,
} from './contract.js';
export type { StandardSchema } from './standard-schema.js';
