import { counters } from './metric-kinds';
import type { Registration } from './sources';

/** Sign-ins here, at applications and at identity providers, and provisioning. */
export function registerSignInMetrics(place: Registration): void {
  const { prometheus, registers, sources } = place;
  const counter = counters(place);

  counter(
    'auth_login_log_rows_lost_total',
    'Rows of login_logs that could not be written. The refusal of the login was answered all the same.',
    sources.lostLoginRows,
  );
  new prometheus.Counter({
    name: 'auth_proofs_refused_total',
    help: 'Proofs of possession, and bound tokens without one, that were refused (AUTH_401011), by reason.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of sources.refusedProofs()) this.inc({ reason }, count);
    },
  });

  new prometheus.Counter({
    name: 'auth_openid_answers_total',
    help: 'Answers of the OpenID provider: sign-ins (authorization) and requests for tokens by their grant.',
    labelNames: ['kind', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { kind, result, count } of sources.openIdAnswers()) this.inc({ kind, result }, count);
    },
  });

  new prometheus.Counter({
    name: 'auth_scim_requests_total',
    help: 'Requests by SCIM, by their method, the kind of resource, and the result: success or the status.',
    labelNames: ['method', 'kind', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { method, kind, result, count } of sources.scimRequests()) this.inc({ method, kind, result }, count);
    },
  });

  new prometheus.Gauge({
    name: 'auth_identity_provider_secret_days_left',
    help: 'Days until the secret of an enabled identity provider ends; negative when it has. Without an end there is no value.',
    labelNames: ['identity_provider'],
    registers,
    async collect() {
      const days = await sources.secretDays();
      this.reset();
      for (const [id, left] of days) this.set({ identity_provider: id }, left);
    },
  });

  new prometheus.Counter({
    name: 'auth_external_sign_ins_total',
    help: 'Sign-ins at identity providers: success, mfa (a code of this service is due), or the error code.',
    labelNames: ['provider', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { provider, result, count } of sources.externalSignIns()) this.inc({ provider, result }, count);
    },
  });

  new prometheus.Counter({
    name: 'auth_identity_provider_requests_total',
    help: 'Requests to identity providers. failed: no usable answer; refused: an address that is not allowed; skipped: it is avoided or busy.',
    labelNames: ['issuer', 'result'],
    registers,
    collect() {
      this.reset();
      for (const [issuer, results] of sources.providerRequests()) {
        for (const [result, count] of Object.entries(results)) this.inc({ issuer, result }, count);
      }
    },
  });
}
