// Draws the figures of one run as an SVG.
import { median } from './report.mjs';

const width = 860;
const row = 26;
const left = 330;
const scale = 150; // pixels for a ratio of 1
const colours = { service: '#2563eb', reference: '#94a3b8', 'better-auth': '#d97706' };

/** Bars show the rate of each server as a ratio to the reference. The lines below show each figure with its bound. */
export function plot({ at, machine, trials, settings }, figures) {
  const rows = [];
  for (const [key, title] of [
    ['login32', 'logins, 32 clients'],
    ['login128', 'logins, 128 clients'],
    ['refresh32', 'refresh, 32 clients'],
    ['me32', 'session check, 32 clients'],
    ['storm', 'refresh beside 8 logins'],
  ]) {
    const rate = (name) => median(trials.filter((t) => t.key === key && t.name === name).map((t) => t.rate));
    const base = rate('reference');
    for (const name of ['service', 'reference', 'better-auth']) {
      const value = rate(name);
      if (Number.isFinite(value))
        rows.push({ title: name === 'service' ? title : '', name, value, ratio: value / base });
    }
  }
  const height = 70 + rows.length * row + 40 + figures.length * 20 + 20;
  const bars = rows.map(({ title, name, value, ratio }, i) => {
    const y = 56 + i * row;
    const long = Math.min(width - left - 120, ratio * scale);
    return (
      text(12, y + 15, title, 'font-weight="600"') +
      text(left - 10, y + 15, name, 'text-anchor="end" fill="#475569"') +
      `<rect x="${left}" y="${y}" width="${long.toFixed(1)}" height="20" rx="3" fill="${colours[name]}"/>` +
      text(left + long + 8, y + 15, `${value < 100 ? value.toFixed(1) : Math.round(value)}/s · ${ratio.toFixed(2)}`)
    );
  });
  const top = 56 + rows.length * row + 34;
  const lines = figures.map(({ what, value, kind, bound, unit, met }, i) => {
    const verdict = kind === undefined ? '' : `${kind} ${bound}${unit && ` ${unit}`} · ${met ? 'met' : 'not met'}`;
    const y = top + i * 20;
    return (
      text(12, y, what) +
      text(470, y, value.toFixed(value < 10 ? 2 : 0), 'text-anchor="end" font-weight="600"') +
      text(490, y, verdict, `fill="${met === false ? '#b91c1c' : '#475569'}"`)
    );
  });
  const caption = `${at.slice(0, 10)} · ${machine.cores} cores · Node ${machine.node} · MariaDB on the same machine · bcrypt cost 10 · medians of ${settings.rounds} rounds`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13">
<rect width="${width}" height="${height}" fill="#ffffff"/>
${text(12, 24, 'Answers per second, and their ratio to the reference in the same rounds', 'font-size="16" font-weight="600"')}
${text(12, 43, caption, 'fill="#475569"')}
${[...bars, ...lines].join('\n')}
</svg>
`;
}

function text(x, y, content, attributes = '') {
  const escaped = String(content).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" ${attributes.includes('fill=') ? '' : 'fill="#0f172a" '}${attributes}>${escaped}</text>`;
}
