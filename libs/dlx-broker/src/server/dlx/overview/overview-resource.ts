import type { VirtualHost } from '../../../engine/broker/index.js';
import { ok } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import type { Management } from '../../management.js';
import type { Measures } from '../../statistics/measures.js';
import type { DeadLetterGraph } from '../graph/dead-letter-graph.js';
import { onlyKnown } from '../input.js';
import { reasonsFor } from '../pause/pause-json.js';
import { redriveToJson } from '../redrive-json.js';
import { seenVhosts } from '../seen-vhosts.js';
import { type Alarm, brokerAlarms, loopAlarms, mostOfKind } from './alarms.js';
import { deathRates, ratesSeries } from './death-rates.js';
import { Totals } from './totals.js';

/** The state of dead letters at a glance: of one virtual host, or of all that the user may see. */
const show: Handler = async (request, management) => {
  onlyKnown(request.query.keys(), ['vhost'], 'parameter');
  const { dlx, statistics } = management;
  const vhosts = seenVhosts(request, management);
  const measures = management.measures(request);
  const graphs: DeadLetterGraph[] = [];
  for (const vhost of vhosts) graphs.push(await dlx.graphs.of(vhost));
  const totals = new Totals(management, management.now(), reasonsFor(management.broker, request.user));
  for (const graph of graphs) totals.add(graph);
  const loops = alarmsOfLoops(graphs, measures);
  const { shown, leftOut } = alarmsOf(request, management, vhosts, totals, loops);
  return ok({
    totals: totals.toJSON(),
    dead_letter_rates: deathRates(vhosts, measures),
    rates_series: ratesSeries(vhosts, statistics),
    top: totals.topToJson(measures),
    redrives: dlx.redrives
      .list()
      .filter((task) => !task.isOver && task.isWithin(vhosts))
      .map(redriveToJson),
    alarms: shown,
    more_alarms: leftOut,
  });
};

/** The alarms of loops, with the number of those that are left out. */
function alarmsOfLoops(graphs: readonly DeadLetterGraph[], measures: Measures): Alarms {
  const shown: Alarm[] = [];
  let leftOut = 0;
  for (const graph of graphs) {
    for (const alarm of loopAlarms(graph, measures)) {
      if (alarm !== undefined && shown.length < mostOfKind) shown.push(alarm);
      else if (alarm !== undefined) leftOut++;
    }
  }
  return { shown, leftOut };
}

interface Alarms {
  readonly shown: readonly Alarm[];
  /** The number of further alarms. */
  readonly leftOut: number;
}

/** All alarms: those of the broker first. */
function alarmsOf(
  request: ApiRequest,
  management: Management,
  vhosts: readonly VirtualHost[],
  { alarms }: Totals,
  loops: Alarms,
): Alarms {
  const seen = new Set(vhosts.map(({ name }) => name));
  const whole = [...brokerAlarms(request, management, seen)];
  const first = whole.slice(0, mostOfKind);
  return {
    shown: [...first, ...loops.shown, ...alarms.shown],
    leftOut: whole.length - first.length + loops.leftOut + alarms.leftOut,
  };
}

export const overview: readonly Resource[] = [{ path: '/dlx/overview', allows: 'management', GET: show }];
