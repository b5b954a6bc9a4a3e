import { type ReactNode, type Ref, useLayoutEffect, useRef, useState } from 'react';
import type { AdminOverview } from '@portal-auth/sdk/admin';
import { dateFormat } from '../../i18n/dates';
import { fill, useSpeech } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';

type Hour = AdminOverview['hours'][number];

const size = { height: 220, left: 40, bottom: 26, top: 8 } as const;
const height = size.height - size.bottom - size.top;
/** Room for one label of the hours. */
const labelWidth = 80;

/**
 * Logins and failures of each hour as bars. The table below has the same numbers, for people who cannot see the bars or
 * cannot point at them.
 */
export function LoginsChart({ hours }: { readonly hours: readonly Hour[] }): ReactNode {
  const t = useChartTexts();
  const [figure, width] = useWidth();
  const [at, setAt] = useState<number>();
  const most = Math.max(1, ...hours.map(({ logins, failures }) => logins + failures));
  const top = niceTop(most);
  const step = (width - size.left) / Math.max(1, hours.length);
  const every = [2, 3, 4, 6, 8].find((count) => count * step >= labelWidth) ?? 12;
  const y = (count: number) => size.top + height - (count / top) * height;
  const chosen = at === undefined ? undefined : hours[at];
  return (
    <figure className="chart" ref={figure}>
      <div className="legend" aria-hidden="true">
        <span className="swatch logins">{t.chart.logins}</span>
        <span className="swatch failures">{t.chart.failures}</span>
        <span className="reading">{chosen !== undefined && t.reading(chosen)}</span>
      </div>
      <svg
        viewBox={`0 0 ${width} ${size.height}`}
        role="img"
        aria-label={t.summary(hours)}
        onPointerLeave={() => setAt(undefined)}
      >
        {[0, 0.5, 1].map((share) => (
          <g key={share} className="rule">
            <line x1={size.left} x2={width} y1={y(top * share)} y2={y(top * share)} />
            <text x={size.left - 8} y={y(top * share) + 4} textAnchor="end">
              {t.number(top * share)}
            </text>
          </g>
        ))}
        {hours.map(({ from, logins, failures }, index) => {
          const x = size.left + index * step;
          return (
            <g key={from} className={at === index ? 'hour at' : 'hour'} onPointerEnter={() => setAt(index)}>
              <rect className="back" x={x} y={size.top} width={step} height={height} />
              {logins > 0 && (
                <rect
                  className="logins"
                  x={x + step * 0.16}
                  y={y(logins)}
                  width={step * 0.68}
                  height={y(0) - y(logins)}
                />
              )}
              {failures > 0 && (
                <rect
                  className="failures"
                  x={x + step * 0.16}
                  y={y(logins + failures)}
                  width={step * 0.68}
                  height={Math.max(1.5, y(logins) - y(logins + failures) - (logins > 0 ? 1.5 : 0))}
                />
              )}
              {index % every === 0 && (
                <text x={x + step / 2} y={size.height - 6} textAnchor="middle">
                  {t.hour(from)}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <details>
        <summary>{t.chart.table}</summary>
        <table>
          <caption className="heard">{t.chart.caption}</caption>
          <thead>
            <tr>
              <th scope="col">{t.chart.hour}</th>
              <th scope="col" className="number">
                {t.chart.logins}
              </th>
              <th scope="col" className="number">
                {t.chart.failures}
              </th>
            </tr>
          </thead>
          <tbody>
            {[...hours].reverse().map(({ from, logins, failures }) => (
              <tr key={from}>
                <th scope="row">{t.hour(from)}</th>
                <td className="number">{t.number(logins)}</td>
                <td className="number">{t.number(failures)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

function useChartTexts() {
  const { language } = useSpeech();
  const { chart } = useTexts();
  const clock = dateFormat(language, { hour: '2-digit', minute: '2-digit' });
  const numbers = new Intl.NumberFormat(language);
  return {
    chart,
    number: (count: number) => numbers.format(count),
    hour: (from: string) => clock.format(new Date(from)),
    reading: ({ from, logins, failures }: Hour) =>
      fill(chart.reading, {
        from: clock.format(new Date(from)),
        to: clock.format(new Date(new Date(from).getTime() + 3_600_000)),
        logins: numbers.format(logins),
        failures: numbers.format(failures),
      }),
    summary: (hours: readonly Hour[]) =>
      fill(chart.summary, {
        logins: numbers.format(hours.reduce((all, { logins }) => all + logins, 0)),
        failures: numbers.format(hours.reduce((all, { failures }) => all + failures, 0)),
      }),
  };
}

/** The width of the figure, so that the drawing has the unit of the page and its labels can be read on a phone. */
function useWidth(): [Ref<HTMLElement>, number] {
  const [width, setWidth] = useState(960);
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(200, Math.round(entry!.contentRect.width))));
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

/** A round number, half of which is a whole number too, so that each rule has a round label. */
function niceTop(most: number): number {
  for (let unit = 1; ; unit *= 10) {
    for (const times of unit === 1 ? [2, 4, 6, 8, 10] : [2, 3, 4, 5, 6, 8, 10])
      if (most <= unit * times) return unit * times;
  }
}
