import type { Resource } from '@opentelemetry/resources';
import { version } from '../version';

/** Who the service is, for its spans and its log records alike. A backend joins both by these attributes. */
export function serviceResource(resources: typeof import('@opentelemetry/resources')): Resource {
  const named = resources.resourceFromAttributes({
    'service.name': 'portal-authentication',
    'service.version': version,
  });
  // The environment comes last, so that OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
  return resources
    .defaultResource()
    .merge(named)
    .merge(resources.detectResources({ detectors: [resources.envDetector] }));
}
