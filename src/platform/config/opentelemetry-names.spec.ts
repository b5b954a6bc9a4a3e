import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testSettings } from '../../../test/support/settings';
import { loadConfig } from '../../settings/app-config';
import { effectiveNames } from './opentelemetry-names';

const doubts = (more: Record<string, string>) =>
  loadConfig({ ...testSettings, DATABASE_URL: 'sqlite::memory:', ...more }).effective.doubts;

describe('a misspelt variable of OpenTelemetry is told without its value, and does not stop the start', () => {
  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOIN', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    ['OTEL_EXPORTER_OTPL_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    ['OTEL_EXPORTER_OTLP_TRACE_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
    ['OTEL_EXPORTER_OTLP_LOG_HEADERS', 'OTEL_EXPORTER_OTLP_LOGS_HEADERS'],
    ['OTEL_EXPORTER_OTLP_HEADER', 'OTEL_EXPORTER_OTLP_HEADERS'],
    ['OTEL_LOG_EXPORTER', 'OTEL_LOGS_EXPORTER'],
    ['OTEL_SDK_DISABLE', 'OTEL_SDK_DISABLED'],
    ['otel_service_name', 'OTEL_SERVICE_NAME'],
    ['OTEL_TRACE_SAMPLER_ARG', 'OTEL_TRACES_SAMPLER_ARG'],
    ['OTEL_BSP_SCHEDULE_DELAY_MILLIS', 'OTEL_BSP_SCHEDULE_DELAY'],
  ])('%s', (name, meant) => {
    expect(doubts({ [name]: 'canary-value' })).toEqual([`${name} has no effect, DID_YOU_MEAN ${meant}`]);
  });

  it('is not told if its value is empty', () => {
    expect(doubts({ OTEL_EXPORTER_OTLP_ENDPOIN: '' })).toEqual([]);
  });
});

describe('no variable that OpenTelemetry or its operator for Kubernetes defines is told', () => {
  it.each([
    ...['OTEL_PROPAGATORS', 'OTEL_LOG_LEVEL', 'OTEL_TRACES_EXPORTER', 'OTEL_METRICS_EXPORTER', 'OTEL_ENTITIES'],
    ...['OTEL_CONFIG_FILE', 'OTEL_EXPERIMENTAL_CONFIG_FILE', 'OTEL_METRICS_EXEMPLAR_FILTER'],
    ...['OTEL_METRIC_EXPORT_INTERVAL', 'OTEL_METRIC_EXPORT_TIMEOUT', 'OTEL_EXPORTER_OTLP_PROTOCOL'],
    ...['OTEL_EXPORTER_OTLP_INSECURE', 'OTEL_EXPORTER_OTLP_SPAN_INSECURE', 'OTEL_EXPORTER_OTLP_METRIC_INSECURE'],
    ...['ENDPOINT', 'HEADERS', 'TIMEOUT', 'COMPRESSION', 'CERTIFICATE', 'CLIENT_KEY', 'CLIENT_CERTIFICATE'].flatMap(
      (part) => ['METRICS', 'PROFILES'].map((signal) => `OTEL_EXPORTER_OTLP_${signal}_${part}`),
    ),
    ...['TRACES', 'LOGS', 'METRICS', 'PROFILES'].map((signal) => `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`),
    'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE',
    'OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION',
    ...['OTEL_EXPORTER_ZIPKIN_ENDPOINT', 'OTEL_EXPORTER_ZIPKIN_TIMEOUT', 'OTEL_EXPORTER_JAEGER_ENDPOINT'],
    ...['OTEL_EXPORTER_JAEGER_TIMEOUT', 'OTEL_EXPORTER_PROMETHEUS_HOST', 'OTEL_EXPORTER_PROMETHEUS_PORT'],
    ...['SCHEDULE_DELAY', 'EXPORT_TIMEOUT', 'MAX_QUEUE_SIZE', 'MAX_EXPORT_BATCH_SIZE'].map((n) => `OTEL_BLRP_${n}`),
    ...['OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT', 'OTEL_LINK_ATTRIBUTE_COUNT_LIMIT', 'OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT'],
    'OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT',
    // The opposite of OTEL_SDK_DISABLED: who took the advice would switch traces off.
    'OTEL_SDK_ENABLED',
    ...['OTEL_NODE_RESOURCE_DETECTORS', 'OTEL_NODE_ENABLED_INSTRUMENTATIONS', 'OTEL_NODE_DISABLED_INSTRUMENTATIONS'],
    ...['OTEL_RESOURCE_ATTRIBUTES_POD_NAME', 'OTEL_RESOURCE_ATTRIBUTES_POD_UID', 'OTEL_RESOURCE_ATTRIBUTES_NODE_NAME'],
    ...[
      'OTEL_POD_IP',
      'OTEL_NODE_IP',
      'OTEL_SEMCONV_STABILITY_OPT_IN',
      'OTEL_JAVAAGENT_DEBUG',
      'OTEL_DOTNET_AUTO_HOME',
    ],
    ...['OTEL_PYTHON_LOG_CORRELATION', 'OTEL_GO_AUTO_TARGET_EXE', 'OTEL_INJECTOR_CONFIG_FILE', 'OTEL_COLLECTOR_HOST'],
  ])('%s', (name) => {
    expect(doubts({ [name]: '1' })).toEqual([]);
  });

  it('nor one that has an effect here', () => {
    const values = { OTEL_SDK_DISABLED: 'true', OTEL_LOGS_EXPORTER: 'none' };
    expect(
      doubts({ ...Object.fromEntries(effectiveNames.map((name) => [name, 'http://127.0.0.1:9'])), ...values }),
    ).toEqual([]);
  });
});

it('every variable that the packages of OpenTelemetry read has an effect', () => {
  const packages = join(__dirname, '../../../node_modules/@opentelemetry');
  const used = ['otlp-exporter-base', 'resources', 'sdk-trace', 'sdk-trace-base', 'sdk-logs'];
  const code = used
    .flatMap((name) => {
      const folder = join(packages, name, 'build/src');
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
      return files.map((file) => readFileSync(join(folder, file), 'utf8'));
    })
    .join('\n');
  const read = [
    ...code.matchAll(
      /["'`](OTEL_EXPORTER_OTLP_\$\{\w+\}_\w+|OTEL_(?:EXPORTER|BSP|BLRP|SPAN|ATTR|TRACES|RES|SER)\w+)["'`]/g,
    ),
  ]
    .map(([, name]) => name!.replace(/\$\{\w+\}/, 'TRACES'))
    // The constants of the semantic conventions are no variables.
    .filter((name) => !/^OTEL_SPAN_(PARENT|SAMPLING)_/.test(name));
  expect(new Set(read).size).toBeGreaterThan(20);
  expect([...new Set(read)].filter((name) => !effectiveNames.includes(name))).toEqual([]);
});
