import type { Clock } from '../../shared/clock';
import type { CaptchaSettings, SiteverifyProviderName } from '../captcha-settings';
import type { Tracing } from '../../platform/tracing/tracing';
import type { CaptchaReceipts } from '../captcha-receipt.repository';
import type { AltchaChallenges } from './altcha-challenges';
import { CircuitedProvider } from './circuited-provider';
import { FailoverGateway } from './failover-gateway';
import type { CaptchaProvider } from './judgement';
import { SiteverifyProvider } from './siteverify-provider';

/** Builds the gateway of `CAPTCHA_PROVIDER`. The last provider is always asked; the others get a circuit breaker. */
export function configuredGateway(
  config: CaptchaSettings,
  altcha: AltchaChallenges,
  receipts: CaptchaReceipts,
  clock: Clock,
  tracing?: Tracing,
): FailoverGateway {
  const last = config.providers.at(-1);
  const providers = config.providers
    .filter((name) => name !== 'altcha')
    .map((name) => {
      const provider = traced(siteverify(config, name), tracing);
      return name === last ? provider : new CircuitedProvider(provider);
    });
  const selfHosted = config.providers.includes('altcha') ? altcha : undefined;
  return new FailoverGateway(selfHosted, providers, receipts, clock, config.timeoutMs);
}

/** Traces each request to the provider. The circuit breaker wraps this, so an open circuit makes no span. */
function traced(provider: CaptchaProvider, tracing: Tracing | undefined): CaptchaProvider {
  if (tracing === undefined) return provider;
  const { name } = provider;
  return {
    name,
    judge: (...question) =>
      tracing.span('siteverify', { attributes: { 'captcha.provider': name } }, () => provider.judge(...question)),
  };
}

function siteverify(config: CaptchaSettings, name: SiteverifyProviderName): CaptchaProvider {
  const settings = config.siteverify[name];
  if (settings === undefined) throw new Error(`${name} is configured without its settings`);
  return new SiteverifyProvider(name, settings, { hostname: config.expectedHostname, action: config.expectedAction });
}
