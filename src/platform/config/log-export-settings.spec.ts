import { loadConfig } from '../../settings/app-config';
import { testSettings } from '../../../test/support/settings';
import { SettingsProblem } from './settings-reader';

const collector = 'http://collector:4318';
const load = (more: Record<string, string>) =>
  loadConfig({ ...testSettings, DATABASE_URL: 'sqlite::memory:', ...more }).logExport.url;

function problems(more: Record<string, string>): readonly string[] {
  try {
    load(more);
    return [];
  } catch (error) {
    if (error instanceof SettingsProblem) return error.problems;
    throw error;
  }
}

describe('OTEL_LOGS_EXPORTER', () => {
  it.each([
    ['an endpoint of OpenTelemetry alone', { OTEL_EXPORTER_OTLP_ENDPOINT: collector }],
    ['an endpoint of logs alone', { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${collector}/v1/logs` }],
    ['none', { OTEL_LOGS_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: collector }],
    ['OTEL_SDK_DISABLED', { OTEL_LOGS_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'true' }],
  ])('%s sends no log record', (_, settings) => {
    expect(load(settings)).toBeUndefined();
  });

  it('otlp sends log records to the path of logs, or to the whole address of OTEL_EXPORTER_OTLP_LOGS_ENDPOINT', () => {
    const otlp = { OTEL_LOGS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: `${collector}/` };
    expect(load(otlp)).toBe(`${collector}/v1/logs`);
    expect(load({ ...otlp, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'https://logs.example.com/x' })).toBe(
      'https://logs.example.com/x',
    );
  });

  it('with logs alone, there are no traces', () => {
    const settings = { OTEL_LOGS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${collector}/v1/logs` };
    const config = loadConfig({ ...testSettings, DATABASE_URL: 'sqlite::memory:', ...settings });
    expect([config.tracing.url, config.logExport.url]).toEqual([undefined, `${collector}/v1/logs`]);
  });

  it.each(['oltp', 'OTLP', 'console', 'otlp,console', 'true', 'http'])(
    '%s stops the start with one line that names the setting and no value',
    (value) => {
      const found = problems({ OTEL_LOGS_EXPORTER: value, OTEL_EXPORTER_OTLP_ENDPOINT: collector });
      expect(found).toEqual(['OTEL_LOGS_EXPORTER must be one of none, otlp']);
    },
  );

  it('otlp without an address stops the start, instead of records that go nowhere', () => {
    expect(problems({ OTEL_LOGS_EXPORTER: 'otlp' })).toEqual([
      'OTEL_LOGS_EXPORTER is otlp, so OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_LOGS_ENDPOINT is required',
    ]);
  });

  it.each(['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT'])('%s must be http or https', (key) => {
    expect(problems({ OTEL_LOGS_EXPORTER: 'otlp', [key]: 'collector:4318' })).toEqual([
      `${key} must be a URL that starts with http:// or https://`,
    ]);
  });
});
