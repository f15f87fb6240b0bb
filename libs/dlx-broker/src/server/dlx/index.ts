import type { Resource } from '../http/resource.js';
import { audit } from './audit-resource.js';
import { capabilities } from './capabilities.js';
import { delayed } from './delayed-resource.js';
import { edits } from './edit-resource.js';
import { events } from './events.js';
import { exports } from './export/export-resource.js';
import { topology } from './graph/topology.js';
import { allGroups, groups } from './groups.js';
import { handlers } from './handlers/handlers-resource.js';
import { messages } from './messages.js';
import { overview } from './overview/overview-resource.js';
import { pauses } from './pause/pause-resource.js';
import { queues } from './queues/queues-resource.js';
import { redrives } from './redrives-resource.js';

/** The resources under `/api/dlx/`, which RabbitMQ does not have. */
export const dlx: readonly Resource[] = [
  ...capabilities,
  ...delayed,
  ...overview,
  ...queues,
  ...pauses,
  ...handlers,
  ...messages,
  ...edits,
  ...exports,
  ...groups,
  ...allGroups,
  ...topology,
  ...redrives,
  ...audit,
  ...events,
];
