import { useMemo } from 'preact/hooks';
import type { RatesSeries } from '../../api/overview';
import { deathReasons } from '../../api/types';
import { Chart } from '../../ui/chart';
import type { ChartSeries } from '../../ui/chart-data';
import { rate } from '../../ui/format';

const names = { rejected: 'rejected', expired: 'expired', maxlen: 'maxlen', delivery_limit: 'delivery_limit' } as const;
const colors = {
  rejected: '--rejected-fill',
  expired: '--expired-fill',
  maxlen: '--maxlen-fill',
  delivery_limit: '--delivery-limit-fill',
} as const;

/** Deaths per second by reason as bars on top of one another, and redriven messages as a line. */
export function DeathChart({ of, at }: { of: RatesSeries; at: number }) {
  const [times, series] = useMemo((): [readonly number[], readonly ChartSeries[]] => {
    const samples = of.rejected.length;
    const end = Math.floor(at / 1000) * 1000;
    return [
      Array.from({ length: samples }, (_, index) => end - (samples - 1 - index) * of.interval_ms),
      [
        ...deathReasons.map((reason) => ({
          name: names[reason],
          color: colors[reason],
          values: of[reason],
          kind: 'stack' as const,
        })),
        // A line along zero would only hide the foot of the bars.
        ...(of.redriven.some((value) => value > 0)
          ? [{ name: 'redriven', color: '--redriven', values: of.redriven }]
          : []),
      ],
    ];
  }, [of, at]);
  return <Chart label="Deaths by reason" times={times} series={series} unit="per second" format={rate} height={220} />;
}
